"""Figures by any column of what units are made from, in the place of the source: on pages, by command, from files."""

import json

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis import queries
from analysis.models import StoredReport
from analysis.releases import freezing
from analysis.reports.metrics import get_report
from analysis.sources import splits
from analysis.sources.database import DatabaseSource
from analysis.sources.files import source_of_files
from analysis.sources.selected import SelectedSource
from analysis.sources.selection import Selection
from annotation.datasets.kinds import KIND_NAMED
from annotation.jobs import lifecycle
from annotation.models import Claim, Evidence, Job
from tests.factories import make_suggestions
from tests.kinds import EACH_KIND, answer_all, make_kind_project
from tests.world import client_of
from tests.world.labels import items_of, make_rater, of_dimension, of_name, project_of, say

pytestmark = pytest.mark.django_db
YES, NO = "relevant", "not_relevant"
ARTICLES = ("Ice", "Sun", "Sea & land")


@pytest.fixture
def project():
    """Nine pairs of three claims, each claim with evidence from three articles. People agree on evidence from the
    article on ice alone; one claim of the three has no verdict, and none a source."""
    project = project_of(9, claims=3)
    for place, evidence in enumerate(Evidence.objects.filter(dataset=project.dataset).order_by("key")):
        evidence.metadata = {"article": ARTICLES[place % 3]}
        evidence.url = f"https://www.{'north' if place < 4 else 'south'}.example/{place}"
        evidence.save()
    claims = Claim.objects.filter(dataset=project.dataset)
    claims.update(claimant="", source="")
    claims.exclude(key="c1").update(verdict="False", metadata={"tags": ["b", "a"]})
    claims.filter(key="c1").update(verdict="")
    for name in ("Anna", "Ben"):
        rater = make_rater(project, name)
        for number, item in enumerate(items_of(project)):
            is_ice = item.anchor.evidence.metadata["article"] == "Ice"
            said = YES if number % 2 else NO
            say(item, rater, said if is_ice or name == "Anna" else (NO if said == YES else YES))
    return project


def selected(project, **conditions) -> SelectedSource:
    return SelectedSource(DatabaseSource(project), Selection.of(conditions))


def by_source(source) -> dict[str, tuple[int, float]]:
    rows = of_dimension(get_report("agreement").compute(source), "relevance")["by_source"]
    return {row["source"]: (row["n_units"], row["percent_agreement"]["estimate"]) for row in rows}


def test_agreement_by_a_column_that_nobody_planned(project):
    assert by_source(DatabaseSource(project)) == {}  # no claim names a source
    found = by_source(selected(project, split="evidence.article"))
    assert found == {"Ice": (3, 1.0), "Sun": (3, 0.0), "Sea & land": (3, 0.0)}
    ice = of_dimension(
        get_report("agreement").compute(selected(project, split="evidence.article", source="Ice")), "relevance"
    )
    assert (ice["n_labels"], of_name(ice["figures"], "percent_agreement")["estimate"], ice["by_source"]) == (6, 1.0, [])


def test_columns_of_tables_sites_and_several_values(project):
    assert {name: n for name, (n, _) in by_source(selected(project, split="evidence.url")).items()} == {
        "north.example": 4,
        "south.example": 5,
    }
    assert by_source(selected(project, split="claim.verdict")).keys() == {"False", "unknown"}
    assert by_source(selected(project, split="claim.tags")).keys() == {"a; b", "unknown"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("  two\nwords ", "two words"),
        (3, "3"),
        (3.0, "3"),
        (0.25, "0.25"),
        (float("nan"), ""),
        (True, "yes"),
        (False, "no"),
        (["b", None, "a", "b", 1.0], "1; a; b"),
        ([], ""),
        ({"b": 1, "a": "ü"}, '{"a": "ü", "b": 1}'),
    ],
)
def test_any_value_becomes_the_name_of_a_group(value, text):
    assert splits.as_text(value) == text


@pytest.mark.parametrize(
    ("split", "message"),
    [
        ("article", "split is a kind of content and a column of it, such as evidence.article, not 'article'"),
        ("evidence.", "split is a kind of content"),
        ("nothing.article", "kinds are claim, question, .*evidence"),
        ("response.model", "what is judged here has no response; split is of claim, question, evidence"),
        ("evidence.artcle", "there is no evidence.artcle; there are evidence.url, .*evidence.article"),
        ("evidence.text", "there is no evidence.text"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(project, split, message):
    with pytest.raises(CommandError, match=message):
        call_command("report", project.slug, "agreement", only_split=split)
    answer = client_of(project.created_by).get(reverse("project_agreement", args=[project.slug]), {"split": split})
    if "there is no" not in message:
        assert answer.status_code == 404
        return
    job = lifecycle.run_here(Job.objects.get(kind=Job.Kind.REPORT))
    assert (job.state, message.partition(";")[0] in job.message) == ("failed", True)


def test_a_table_of_labels_says_where_to_write_what_it_is_split_by(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("item,rater,label,source\na,Anna,yes,Ice\na,Ben,yes,Ice\nb,Anna,no,Sun\nb,Ben,no,Sun\n")
    with pytest.raises(CommandError, match="a table of labels holds no content to split by; what its column `source`"):
        call_command("report", str(path), "agreement", from_files=True, only_split="question.date")


def test_the_page_offers_what_there_is_and_the_command_gives_the_same(project, capsys):
    client = client_of(project.created_by)
    page = reverse("project_agreement", args=[project.slug])
    address = f"{page}?split=evidence.article"
    client.get(address)
    lifecycle.run_here(Job.objects.get(kind=Job.Kind.REPORT))
    html = client.get(address).content.decode()
    assert '<option value="evidence.article" selected>article of the evidence</option>' in html
    assert '<option value="claim.verdict">verdict of the claim</option>' in html
    assert "Relevance: by article of the evidence</h2>" in html and "Sea &amp; land" in html
    assert '<label for="s-source">Article</label>' in html and "By source" not in html
    assert "Filters: none (all labels), by article of the evidence" in html
    assert "with the article of the evidence in the place of the source" in html
    assert f"report {project.slug} agreement --split evidence.article --format json" in html
    report = StoredReport.objects.get()
    assert report.pictures["by-source-relevance"]["spec"]["title"] == "Relevance: agreement by article of the evidence"
    call_command("report", project.slug, "agreement", "--split", "evidence.article", format="json")
    assert json.loads(capsys.readouterr().out) == report.result
    call_command("report", project.slug, "agreement", "--split", "evidence.article", format="md")
    assert "**Relevance: by article of the evidence**" in (said := capsys.readouterr().out) and "| Article |" in said
    call_command(
        "report", project.slug, "agreement", only_split="evidence.article", only_source="Ice", format="methods"
    )
    assert "only units of the article of the evidence Ice count" in capsys.readouterr().out


def test_columns_with_values_are_offered_and_any_can_be_named(project):
    everything = [
        "claim.verdict",
        "claim.tags",
        "evidence.url",
        "evidence.publisher",
        "evidence.rank",
        "evidence.article",
    ]
    assert queries.splits_of(project) == everything
    html = client_of(project.created_by).get(
        reverse("project_agreement", args=[project.slug]), {"split": "evidence.rare"}
    )
    assert '<option value="evidence.rare" selected>rare of the evidence</option>' in html.content.decode()


def test_what_is_offered_takes_as_many_queries_for_many_rows(project, django_assert_num_queries):
    kinds = splits.kinds_of("evidence")
    with django_assert_num_queries(2 * len(kinds)):
        queries.splits_of(project)
    claim, n = Claim.objects.filter(dataset=project.dataset).first(), 3 * queries.SAMPLED_ROWS
    more = {n // 2: {"buried": "here"}, n - 1: {"last": "here"}}
    Evidence.objects.bulk_create(
        Evidence(
            dataset=claim.dataset, batch=claim.batch, key=f"k{number:04}", claim=claim, metadata=more.get(number, {})
        )
        for number in range(n)
    )
    with django_assert_num_queries(2 * len(kinds)):
        offered = queries.splits_of(project)
    assert "evidence.last" in offered and "evidence.buried" not in offered


def test_every_report_of_sources_says_what_they_are_split_by(project):
    run = make_suggestions(project)
    source = selected(project, split="evidence.article")
    druid = get_report("druid")
    tables = druid.tables(druid.compute(source))
    table = next(
        one for one in tables if one.title == "Claims and evidence by article of the evidence (tables 1 and 2)"
    )
    assert table.columns[0] == "Article"
    # Every claim has evidence from each of the articles.
    assert [row[:3] for row in table.plain().rows] == [
        ("all", 3, 9),
        ("Ice", 3, 3),
        ("Sea & land", 3, 3),
        ("Sun", 3, 3),
    ]
    assert not any("ource" in one.title for one in tables)
    assert get_report("comparison").compute(source, run=str(run.uuid))["n_units"] == 9


@EACH_KIND
def test_every_column_splits_alike_from_the_database_and_from_a_releases_files(identifier, tmp_path):
    project = make_kind_project(identifier)
    answer_all(project)
    for kind in KIND_NAMED.values():
        for place, row in enumerate(kind.model.objects.filter(dataset=project.dataset)):
            row.metadata = {"part": ["left", place % 2], "share": place / 4} if place % 3 else {}
            row.save()
    freezing.write_release(project, tmp_path / "release")
    offered = queries.splits_of(project)
    assert offered and {split.partition(".")[0] for split in offered} <= set(splits.kinds_of(project.type.unit_kind))
    n_groups = []
    for split in offered:
        frames = [
            SelectedSource(source, Selection(split=split)).unit_frame(project.type.unit_kind)
            for source in (DatabaseSource(project), source_of_files(tmp_path / "release"))
        ]
        assert frames[0]["source"].tolist() == frames[1]["source"].tolist(), split
        n_groups.append(frames[0]["source"].nunique())
    assert max(n_groups) > 1

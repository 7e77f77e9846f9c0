"""A part of the labels, by source, label, arm, person, guidelines or time: in the address and by command."""

import html
import json
import re
from datetime import UTC, datetime

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.figures.results import PENDING
from analysis.models import StoredReport
from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from analysis.sources.selected import SelectedSource
from analysis.sources.selection import Selection
from annotation.jobs import lifecycle
from annotation.models import Claim, Job, Judgement
from tests.factories import make_suggestions
from tests.world import client_of
from tests.world.labels import items_of, make_rater, of_dimension, of_name, project_of, say
from tests.world.study import in_arm

pytestmark = pytest.mark.django_db
YES, NO = "relevant", "not_relevant"


@pytest.fixture
def project():
    """Eight pairs of four claims, of two sources; Anna and Ben agree on the first source's pairs only."""
    project = project_of(8, claims=4)
    for place, claim in enumerate(Claim.objects.filter(dataset=project.dataset).order_by("key")):
        claim.source = f"https://{'north' if place % 2 else 'south'}.example/{place}"
        claim.save()
    people = {name: make_rater(project, name) for name in ("Anna", "Ben")}
    for number, item in enumerate(items_of(project)):
        is_south = "south" in item.anchor.evidence.claim.source
        for name, rater in people.items():
            is_relevant = number % 3 > 0
            label = YES if is_relevant == (is_south or name == "Anna") else NO
            when = datetime(2026, 5, 1 + number, 23, 30, tzinfo=UTC)
            say(
                item,
                rater,
                label,
                "supports" if label == YES else None,
                submitted_at=when,
                guideline_version=1 + number // 4,
            )
    return project


def relevance(project, **conditions) -> dict:
    source = SelectedSource(DatabaseSource(project), Selection.of(conditions))
    return of_dimension(get_report("agreement").compute(source), "relevance")


def test_a_source_has_its_own_units_and_their_agreement(project):
    whole, south = relevance(project), relevance(project, source="south.example")
    assert (whole["n_labels"], south["n_labels"]) == (16, 8)
    assert of_name(south["figures"], "percent_agreement")["estimate"] == 1.0
    assert of_name(relevance(project, source="north.example")["figures"], "percent_agreement")["estimate"] == 0.0


def test_a_label_keeps_the_units_that_somebody_gave_it(project):
    relevant = relevance(project, label=f"relevance:{YES}")
    of_units = {item.pk: set() for item in items_of(project)}
    for item in items_of(project):
        of_units[item.pk] = {j.label for a in item.annotations.all() for j in a.revisions.get().judgements.all()}
    assert relevant["n_labels"] == 2 * sum(YES in labels for labels in of_units.values())


def test_people_versions_and_days_keep_labels(project):
    anna = project.raters.get(name="Anna")
    assert relevance(project, annotator=anna.pseudonym)["n_labels"] == 8
    assert relevance(project, guidelines="2")["n_labels"] == 8
    assert relevance(project, since="2026-05-02", until="2026-05-03")["n_labels"] == 4
    assert relevance(project, arm="shown")["n_labels"] == 0  # nobody knows in which arm these were given


def test_days_at_the_end_of_the_calendar_are_days(project):
    assert relevance(project, since="0001-01-01", until="9999-12-31")["n_labels"] == 16


def test_an_answer_replaced_under_another_version_counts_under_neither_name(project):
    """Neither revision saw a suggestion: the checker is compared with what Anna says now, as agreement counts it."""
    make_suggestions(project)
    anna = project.raters.get(name="Anna")
    for item in items_of(project)[:3]:
        say(item, anna, NO, submitted_at=datetime(2026, 6, 1, tzinfo=UTC), guideline_version=2)
    for conditions, n_labels in (({"guidelines": "1"}, 5), ({"until": "2026-05-31"}, 13), ({"guidelines": "2"}, 11)):
        assert relevance(project, **conditions)["n_labels"] == n_labels
        source = SelectedSource(DatabaseSource(project), Selection.of(conditions))
        report = get_report("comparison")
        found = of_dimension(report.compute(source, **report.values(source, {})), "relevance")
        assert (found["n_labels_all"], found["n_labels_untouched"]) == (n_labels, n_labels)


def test_an_arm_keeps_the_labels_that_were_given_in_it(project, capsys):
    """Answers about every fourth pair were given with a suggestion in view."""
    run = make_suggestions(project)
    for number, item in enumerate(items_of(project)):
        for name in ("Anna", "Ben"):
            in_arm(item.annotations.get(rater__name=name).revisions.get(), "off" if number % 4 else "shown",
                   None if number % 4 else run)  # fmt: skip
    by_arm = {arm: relevance(project, arm=arm) for arm in ("shown", "off", "after")}
    assert {arm: found["n_labels"] for arm, found in by_arm.items()} == {"shown": 4, "off": 12, "after": 0}
    chosen = [item for number, item in enumerate(items_of(project)) if number % 4 == 0]
    said = [Judgement.objects.filter(revision__annotation__item=item, dimension="relevance") for item in chosen]
    agreed = sum(len({judgement.label for judgement in labels}) == 1 for labels in said) / len(said)
    assert of_name(by_arm["shown"]["figures"], "percent_agreement")["estimate"] == agreed
    call_command("report", project.slug, "agreement", only_arm="shown", format="json")
    printed = of_dimension(json.loads(capsys.readouterr().out), "relevance")
    assert (printed["n_labels"], printed["figures"]) == (4, by_arm["shown"]["figures"])


def test_a_table_calls_its_arms_as_it_pleases(tmp_path, capsys):
    table = tmp_path / "labels.csv"
    rows = [(item, rater, YES, arm) for item, arm in ((1, "guided"), (2, "free"), (3, "free")) for rater in "ab"]
    table.write_text("\n".join(",".join(map(str, row)) for row in [("item", "rater", "label", "arm"), *rows]))
    call_command("report", str(table), "agreement", "--from-files", "--only-arm", "free", "--format", "json")
    assert json.loads(capsys.readouterr().out)["dimensions"][0]["n_labels"] == 4
    with pytest.raises(CommandError, match="arm is one of free, guided, not 'shown'"):
        call_command("report", str(table), "agreement", "--from-files", "--only-arm", "shown")


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({"since": "soon"}, "since is a day"),
        ({"guidelines": "new"}, "guidelines is a version"),
        ({"label": "supports"}, "label is dimension:label"),
        ({"label": "stance:nonsense"}, "label is one of relevance:"),
    ],
)
def test_wrong_conditions_are_refused_on_page_and_command(project, conditions, message):
    client = client_of(project.created_by)
    [(name, value)] = conditions.items()
    argument = {f"only_{name}": value}
    with pytest.raises(CommandError, match=message):
        call_command("report", project.slug, "agreement", **argument)
    if name != "label" or ":" not in value:
        assert client.get(reverse("project_agreement", args=[project.slug]), conditions).status_code == 404


def test_the_address_says_which_labels_and_the_command_gives_the_same(project, capsys):
    client = client_of(project.created_by)
    address = f"{reverse('project_agreement', args=[project.slug])}?source=south.example"
    client.get(address)
    lifecycle.run_here(Job.objects.get(kind=Job.Kind.REPORT))
    shown = client.get(address).content.decode()
    assert "only units of the source south.example count" in shown
    assert f"report {project.slug} agreement --only-source south.example" in shown
    report = StoredReport.objects.get()
    call_command("report", project.slug, "agreement", only_source="south.example", format="json")
    assert json.loads(capsys.readouterr().out) == report.result
    behind = reverse("project_behind", args=[project.slug, "agreement"])
    answer = client.get(behind, {"report": report.parameters_hash, "figure": "relevance=agree"})
    assert answer.context["page"].paginator.count == 4
    assert "source=south.example" in answer.content.decode()  # the way back
    assert "<dt>Anna</dt><dd>Relevant" in answer.content.decode()


def test_numbers_come_before_their_intervals(project, monkeypatch):
    client = client_of(project.created_by)
    address = reverse("project_agreement", args=[project.slug])
    client.get(address)
    pages = []
    whole = get_report("agreement").load().compute

    def looked_at(source, **options):
        pages.append(client.get(address).content.decode())
        return whole(source, **options)

    monkeypatch.setattr("analysis.reports.agreement.agreement.compute.compute", looked_at)
    lifecycle.run_here(Job.objects.get(kind=Job.Kind.REPORT))
    before, first = pages
    assert "Krippendorff" not in before
    alpha = of_name(relevance(project)["figures"], "krippendorff_alpha_nominal")["estimate"]
    assert f">{alpha:.3f}<" in first and PENDING in first and 'id="methods"' not in first
    last = client.get(address).content.decode()
    assert PENDING not in last and 'id="methods"' in last
    assert not StoredReport.objects.get().is_partial


def test_single_tables_are_files_too(project):
    client = client_of(project.created_by)
    client.get(reverse("project_agreement", args=[project.slug]))
    lifecycle.run_here(Job.objects.get(kind=Job.Kind.REPORT))
    report = StoredReport.objects.get()
    address = reverse("project_report_tables", args=[project.slug, "agreement"])
    tables = get_report("agreement").tables(report.result)
    query = {"report": report.parameters_hash, "format": "latex"}
    found = client.get(address, query | {"table": "relevance-agreement"}).content.decode()
    assert found.count(r"\begin{tabular}") == 1 and "Krippendorff" in found
    assert client.get(address, query).content.decode().count(r"\begin{tabular}") == len(tables)
    gone = client.get(address, query | {"table": "relevance-agreement-9"})
    assert gone.status_code == 404 and "relevance-agreement, " in gone.content.decode()
    assert client.get(address, query | {"format": "pdf"}).status_code == 404


def test_a_single_table_is_that_of_the_page_though_the_report_has_other_tables_by_now(project):
    """The pairs of people come to an end in between: what stood third is another table."""
    client = client_of(project.created_by)
    page = reverse("project_agreement", args=[project.slug])

    def copies() -> dict[str, str]:
        shown = client.get(page).content.decode()
        return dict(re.findall(r'data-copy-from="([^"]+)" aria-label="Copy (?:numbers of )?([^"]+) as CSV"', shown))

    client.get(page)
    lifecycle.run_here(Job.objects.get(kind=Job.Kind.REPORT))
    for address, title in copies().items():
        assert html.unescape(title) in client.get(html.unescape(address)).content.decode().splitlines()[1]
    before = list(copies())
    make_suggestions(project)
    project.raters.update(kind="slot", user=None)
    say(items_of(project)[0], make_rater(project), YES)
    client.get(page)
    lifecycle.run_here(Job.objects.filter(kind=Job.Kind.REPORT, state="queued").get())
    answers = [client.get(html.unescape(address)) for address in before]
    assert {answer.status_code for answer in answers} == {410} and "reload their page" in answers[0].content.decode()
    assert len(copies()) != len(before)


def test_a_source_that_no_unit_has_is_told_with_those_that_there_are(project, capsys):
    with pytest.raises(CommandError, match=r"no unit has the source 'nrth.example'; there are north.example, south"):
        call_command("report", project.slug, "agreement", only_source="nrth.example")
    client = client_of(project.created_by)
    address = reverse("project_agreement", args=[project.slug])
    client.get(address, {"source": "nrth.example"})
    lifecycle.run_here(Job.objects.get(kind=Job.Kind.REPORT))
    assert "no unit has the source" in client.get(address, {"source": "nrth.example"}).content.decode()

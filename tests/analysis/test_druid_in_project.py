"""DRUID's analyses in a project: its page, the items behind a cell, the command, and the same numbers from files."""

import html
import io
import json

import pytest
from django.core.management import call_command
from django.urls import reverse

from analysis.figures.items import Filter, Items
from analysis.figures.tabular import Linked
from analysis.models import StoredReport
from analysis.releases import freezing
from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from analysis.sources.files import source_of_files
from annotation.jobs import lifecycle
from annotation.models import CheckerRun, Job
from tests.factories import make_project
from tests.world.labels import items_of, make_rater, project_of, say
from tests.world.planted import score
from tests.world.remembered import remembered

pytestmark = pytest.mark.django_db
STANCES = ("supports", "refutes", "insufficient-neutral", None)


@pytest.fixture
@remembered
def project():
    """Twelve pairs of four claims of two sources, with two labels each and a model that answers True to everything,
    except to evidence that refutes the claim."""
    project = project_of(12, claims=4, slug="harbours")
    raters = [make_rater(project, name) for name in ("Anna", "Ben")]
    said = {}
    for place, item in enumerate(items_of(project)):
        stance = STANCES[place % 3 if place != 7 else 3]
        said[item.anchor.key] = stance
        for rater in raters:
            say(item, rater, "relevant" if stance else "not_relevant", stance)
    with_evidence = {key: (0.8, 0.1, 0.1) if one == "refutes" else (0.1, 0.1, 0.8) for key, one in said.items()}
    scores = {f"p_{answer}_without": dict.fromkeys(said, value) for answer, value in
              (("false", 0.2), ("none", 0.2), ("true", 0.6))}  # fmt: skip
    for place, answer in enumerate(("false", "none", "true")):
        scores[f"p_{answer}_with"] = {key: found[place] for key, found in with_evidence.items()}
    run = score(project, "answer-probabilities", scores)
    CheckerRun.objects.filter(pk=run.pk).update(provenance={"model": "org/yes-model"})
    lengths = {key: float(10 * (place % 5)) if place % 4 else None for place, key in enumerate(sorted(said))}
    score(project, "characteristics", {"evidence_length": lengths, "hedging": dict.fromkeys(said, 1.0)})
    return project


def test_the_page_has_tables_and_pictures_and_a_cell_opens_its_items(client, project):
    client.force_login(project.created_by)
    address = reverse("project_report", args=[project.slug, "druid"])
    assert client.get(address).status_code == 200
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        lifecycle.run_here(job)
    page = client.get(address).content.decode()
    for words in ("Claims with conflicting evidence", "Accumulated context usage", "yes-model", "Evidence length",
                  "“References to sources”", "“Perplexity of the evidence”"):  # fmt: skip
        assert words in page, words
    assert page.count("<svg") >= 4
    report = StoredReport.objects.get(project=project, name="druid")
    behind = reverse("project_behind", args=[project.slug, "druid"])
    query = {"report": report.parameters_hash, "figure": "stance=refutes&after0=false"}
    answer = client.get(behind, query)
    assert len(answer.context["rows"]) == 3
    assert "Stance: Refutes; Answer of yes-model with the evidence: False" in answer.content.decode()
    # Beside each text stand people's labels and what the model said of it.
    assert answer.content.decode().count("Relevant, Refutes") == 6
    assert answer.content.decode().count("p_false_with 0.8") == 3 and "no label" not in answer.content.decode()
    kind, items = get_report("druid"), Items.from_json(report.behind)
    cells = [cell for table in kind.tables(report.result) for row in table.rows for cell in row]
    figures = [Filter.decoded(cell.figure) for cell in cells if isinstance(cell, Linked)]
    by_columns = {tuple(one.units): one for one in figures}
    columns = {name for names in by_columns for name in names}
    of_model = {"usage0", "after0", "shift0", "before0", "change0.true"}
    assert {"source", "stance", "verdict", "value.hedging", "value.evidence_length", *of_model} <= columns
    for wanted in by_columns.values():  # one of each kind
        answer = client.get(behind, {"report": report.parameters_hash, "figure": wanted.encoded})
        assert len(answer.context["rows"]) == items.count(wanted) <= 12
        assert html.escape(items.words(wanted)) in answer.content.decode().replace("&#x27;", "&#39;")
    for nothing in ("value.perplexity=defined", "usage1=defined", "nothing=yes"):
        assert client.get(behind, {"report": report.parameters_hash, "figure": nothing}).status_code == 404
    assert client.get(address, {"evidence_beside": "nothing-of-the-kind"}).status_code == 404


def test_a_number_that_was_not_offered_is_answered_with_what_it_could_have_been(client, project):
    client.force_login(project.created_by)
    answer = client.get(reverse("project_report", args=[project.slug, "druid"]), {"alpha": "2"})
    page = html.unescape(answer.content.decode())
    assert answer.status_code == 404 and "“Significant below” is at least 0.0001 and at most 0.5, not 2" in page
    # The form stands ready for another choice.
    assert '<form method="get"' in page and 'name="alpha"' in page and "Not available yet" not in page


def test_claims_with_one_piece_of_evidence_say_why_none_can_be_in_conflict():
    project = project_of(3, claims=3, slug="lone-evidence")
    for item in items_of(project):
        say(item, make_rater(project, f"Anna {item.pk}"), "relevant", "supports")
    found = get_report("druid").compute(DatabaseSource(project))
    assert found["content"]["sources"][0]["conflicts"]["undefined"] == (
        "no claim has two pieces of evidence with a stance"
    )


def test_the_command_prints_the_numbers_that_were_planted(project):
    out = io.StringIO()
    call_command("report", project.slug, "druid", format="json", stdout=out)
    result = json.loads(out.getvalue())
    (model,) = result["usage"]["models"]
    refutes, supports = ({row["stance"]: row for row in model["stances"]}[name] for name in ("refutes", "supports"))
    # From (.2, .2, .6): False rises by .6 of .8, None falls by .1 of .2, True by .5 of .6; for a claim that holds,
    # False and None fall by half and True rises by .2 of .4.
    assert refutes["acu_sum"]["estimate"] == pytest.approx(0.75 + 0.5 + 5 / 6)
    assert supports["acu_sum"]["estimate"] == pytest.approx(1.5)
    assert refutes["memory_conflict"]["estimate"] == 1.0 and supports["memory_conflict"]["estimate"] == 0.0
    assert [row["n"] for row in result["content"]["dimensions"][0]["labels"]] == [11, 1]
    text = io.StringIO()
    call_command("report", project.slug, "druid", format="methods", stdout=text)
    assert "Context usage (DRUID, Hagström et al. 2024" in text.getvalue() and "yes-model" in text.getvalue()
    svg = io.StringIO()
    call_command("report", project.slug, "druid", format="svg", picture="usage", stdout=svg)
    assert svg.getvalue().lstrip().startswith("<?xml") and "acu_mean" in svg.getvalue()


def test_a_release_gives_the_same_numbers_and_stands_beside_another(project, tmp_path):
    other = make_project(project.dataset, "claim-evidence/three-way/1", slug="three-ways")
    score(other, "characteristics", {"hedging": {item.anchor.key: 0.0 for item in items_of(other)}})
    kind, options = get_report("druid"), {"evidence_beside": other.slug}
    found = kind.compute(DatabaseSource(project), **options)
    assert {one["title"]: one["characteristics"][-1]["estimate"] for one in found["beside"]} == {
        "Harbours": 1.0,
        "Three Ways": 0.0,
    }
    for one in (project, other):
        freezing.write_release(one, tmp_path / one.slug)
    from_files = kind.compute(source_of_files(tmp_path / project.slug, siblings=[tmp_path / other.slug]), **options)
    for result in (found, from_files):
        result.pop("behind")
        result.pop("made_from")
    assert json.dumps(from_files, sort_keys=True) == json.dumps(found, sort_keys=True)


def test_releases_of_several_data_sets_stand_side_by_side(project, tmp_path):
    folders = []
    for number in range(2):
        other = project_of(6, claims=2, slug=f"elsewhere-{number}")
        score(other, "characteristics", {"hedging": {item.anchor.key: float(number) for item in items_of(other)}})
        folders.append(tmp_path / other.slug)
        freezing.write_release(other, folders[-1])
    freezing.write_release(project, tmp_path / project.slug)
    out, arguments = io.StringIO(), ["report", str(tmp_path / project.slug), "druid", "--from-files"]
    arguments += [word for folder in folders for word in ("--beside", str(folder))]
    call_command(*arguments, "--evidence-beside", "all", "--format", "json", stdout=out)
    beside = {one["project"]: one for one in json.loads(out.getvalue())["beside"]}
    hedging = {
        slug: cell["estimate"]
        for slug, one in beside.items()
        for cell in one["characteristics"]
        if cell["title"] == "Contains hedging"
    }
    assert hedging == {"harbours": 1.0, "elsewhere-0": 0.0, "elsewhere-1": 1.0}
    assert [one["n_pairs"] for one in beside.values()] == [12, 6, 6]

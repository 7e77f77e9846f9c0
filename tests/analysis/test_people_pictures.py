"""Pictures of annotators, stand-ins and prevalence draw what the reports say, and captions say of what."""

import json
import re

import pytest
from django.core.management import call_command
from django.urls import reverse

from analysis.reports.metrics import get_report
from annotation.jobs import lifecycle
from annotation.models import Job, Suggestion
from tests.factories import make_suggestions
from tests.world.labels import items_of, make_rater, of_dimension, project_of, say
from tests.world.remembered import remembered

pytestmark = pytest.mark.django_db
YES, NO = "relevant", "not_relevant"
N = 40


@pytest.fixture
@remembered
def project():
    project = project_of(N, claims=N)
    for place, name in enumerate(("Anna", "Ben", "Cleo")):
        rater = make_rater(project, name)
        for number, item in enumerate(items_of(project)[: N - 8]):
            say(item, rater, NO if (number + place) % 5 == 0 else YES if number % 2 else NO)
    run = make_suggestions(project, labels={"relevance": YES})
    ids = [item.anchor_id for number, item in enumerate(items_of(project)) if number % 2 == 0]
    Suggestion.objects.filter(run=run, unit__in=ids, dimension="relevance").update(label=NO)
    return project


def drawn(project, name: str, **options):
    report = get_report(name)
    result = report.compute(project, **options)
    return result, next(picture for picture in report.pictures(result) if picture.name.endswith("relevance"))


def values(picture) -> dict[tuple[str, str], tuple]:
    return {(one.row, one.series): (one.value, one.low, one.high, one.n) for one in picture.items}


def test_annotators_beside_each_other(project):
    result, picture = drawn(project, "annotators")
    rows = of_dimension(result, "relevance")["raters"]
    series = {"agreement": "Agreement with others", "dawid_skene": "Dawid-Skene", "mace": "MACE"}
    assert values(picture) == {
        (row["id"], title): (row[name]["estimate"], row[name]["low"], row[name]["high"], row["n_shared"])
        for row in rows
        for name, title in series.items()
    }
    assert project.slug in picture.caption and "96 labels of 32 units" in picture.caption
    assert "bootstrap" in picture.caption and all(row["id"] in picture.alt for row in rows)


def test_checkers_in_place_of_a_person(project):
    result, picture = drawn(project, "alternative-annotator")
    row = of_dimension(result, "relevance")["checkers"][0]
    name = f"{row['checker']} {row['version']}"
    found = values(picture)
    for key, title in (("winning_rate", "Winning rate"), ("advantage", "Advantage probability")):
        assert found[name, title][:3] == (row[key]["estimate"], row[key]["low"], row[key]["high"])
    assert f"{name}: 32 with 3 people" in picture.caption and "epsilon" in picture.caption
    assert picture.level.value == 0.5


def test_prevalence_by_people_alone_and_with_the_checker(project):
    run = project.checker_runs.get()
    result, picture = drawn(project, "prevalence", run=str(run.uuid))
    rows = of_dimension(result, "relevance")["labels"]
    found = values(picture)
    for row in rows:
        both, alone = found[row["title"], "people and checker"], found[row["title"], "people alone"]
        assert both[0] == row["powered"]["estimate"] and alone[0] == row["people"]["estimate"]
        assert both[3] == 40 and alone[3] == 32
    assert "32 units labelled by people" in picture.caption and "40 by" in picture.caption


@pytest.mark.parametrize(
    ("name", "kind"),
    [("annotators", "competence"), ("alternative-annotator", "stand-in"), ("prevalence", "prevalence")],
)
def test_the_command_gives_the_picture_and_pages_show_it(client, project, capsys, name, kind):
    run = ["--run", str(project.checker_runs.get().uuid)] if name == "prevalence" else []
    call_command("report", project.slug, name, *run, "--format", "svg", "--picture", f"{kind}-relevance")
    assert capsys.readouterr().out.lstrip().startswith("<")
    client.force_login(project.created_by)
    report = get_report(name)
    address = reverse(report.page, args=report.address(project.slug))
    client.get(address)
    lifecycle.run_here(Job.objects.get(kind=Job.Kind.REPORT))
    page = client.get(address).content.decode()
    assert page.count('<svg class="plot"') >= 1 and "Picture as" in page
    if name == "annotators":  # by name on the page, by pseudonym in the picture's file
        [figure] = re.findall(r'<svg class="plot".*?</svg>', page, re.DOTALL)[:1]
        assert all(f">{person}</text>" in figure for person in ("Anna", "Ben", "Cleo")) and ">r-" not in figure
        query = {"report": project.stored_reports.get().parameters_hash}
        kept = client.get(reverse("project_picture", args=[project.slug, name, f"{kind}-relevance", "svg"]), query)
        assert "Anna" not in b"".join(kept).decode()
    call_command("report", project.slug, name, *run, "--format", "json")
    assert json.loads(capsys.readouterr().out)["report"] == name

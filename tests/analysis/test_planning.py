"""Planning from a pilot: what was planted comes out, the numbers come again, and what cannot be planned says why."""

import json

import numpy as np
import pytest
from django.core.management import call_command
from django.urls import reverse

from analysis.figures.page import first_that_applies
from analysis.figures.results import Figure
from analysis.models import StoredReport
from analysis.reports.metrics import get_report
from analysis.reports.planning.planning import compute as planning
from analysis.reports.planning.planning.report import (
    NEXT,
    RULES,
    NeededForAlpha,
    PlannedWidth,
    Planning,
    QuestionPlan,
    UnitsNeeded,
    on_overview,
)
from annotation.jobs import lifecycle
from annotation.models import Job, Membership, Suggestion
from tests.factories import make_suggestions, make_user
from tests.world.labels import items_of, make_rater, of_dimension, project_of, say
from tests.world.remembered import remembered

pytestmark = pytest.mark.django_db
YES, NO = "relevant", "not_relevant"


@pytest.fixture(autouse=True)
def fewer(monkeypatch):
    """Fewer sizes and studies than a page has: enough for what is asserted."""
    monkeypatch.setattr(planning, "SIZES", (50, 100, 200, 1000))
    monkeypatch.setattr(planning, "STUDIES", 300)


@remembered
def pilot(n: int = 60, right: float = 0.85, people: int = 3, seed: int = 5, relevant: float = 0.5):
    """Everybody finds whether each evidence, of a claim of its own, is relevant with this chance. The project has twice
    as many items as were labelled."""
    rng = np.random.default_rng(seed)
    project = project_of(2 * n, claims=2 * n)
    raters = [make_rater(project, f"Person {place}") for place in range(people)]
    truths = rng.random(2 * n) < relevant
    for item, truth in zip(items_of(project)[:n], truths, strict=False):
        for rater in raters:
            say(item, rater, YES if truth == (rng.random() < right) else NO)
    return project, truths


def report_of(project, **options):
    return get_report("planning").compute(project, **options)


@pytest.fixture
def project():
    return pilot()[0]


def test_half_widths_and_numbers_are_those_of_the_planted_people(project):
    """Two people who are right with .85 have an alpha of .49, and Donner and Eliasziw's half width at n units is
    1.96 sqrt((1 - k) ((1 - k) (1 - 2 k) + 2 k (2 - k)) / n): 0.12 at 200 and 0.05 at about 1,170. The pilot is small,
    so it is met within a quarter."""
    dimension = of_dimension(report_of(project, target=0.1), "relevance")
    assert (dimension["n_labels"], dimension["n_shared"], dimension["n_full"]) == (180, 60, 60)
    two = next(group for group in dimension["widths"] if group["judgements"] == 2)["plans"]
    at = {plan["n_units"]: plan for plan in two}
    kappa = 0.49
    variance = (1 - kappa) * ((1 - kappa) * (1 - 2 * kappa) + 2 * kappa * (2 - kappa))
    assert at[200]["half_width"] == pytest.approx(1.96 * np.sqrt(variance / 200), rel=0.25)
    needed = dimension["needed"]
    assert needed["by_units"]["n_units"] == pytest.approx((1.96 / 0.1) ** 2 * variance, rel=0.5)
    assert needed["by_units"]["more_units"] == needed["by_units"]["n_units"] - 60
    assert needed["by_units"]["half_width"] <= 0.1 < needed["now"]["half_width"]
    # The interval of the pilot itself is about as wide as the plan for as many units and judgements has it.
    three = report_of(project, judgements=3)
    now = of_dimension(three, "relevance")["needed"]["now"]["half_width"]
    alpha = dimension["alpha"]
    assert now == pytest.approx((alpha["high"] - alpha["low"]) / 2, rel=0.2)


def test_widths_fall_with_units_and_judgements(project):
    groups = of_dimension(report_of(project), "relevance")["widths"]
    for group in groups:
        widths = [plan["half_width"] for plan in group["plans"]]
        assert widths == sorted(widths, reverse=True)
    for few, many in zip(groups, groups[1:], strict=False):
        assert few["plans"][3]["half_width"] > many["plans"][3]["half_width"]


def test_a_share_takes_cochrans_number_of_units_and_fewer_with_a_checker():
    project, truths = pilot(right=0.97)
    run = make_suggestions(project)
    for item, truth in zip(items_of(project), truths, strict=True):
        Suggestion.objects.filter(run=run, unit=item.anchor, dimension="relevance").update(label=YES if truth else NO)
    rows = {row["label"]: row for row in of_dimension(report_of(project, target=0.1), "relevance")["rates"]}
    # 1.96^2 * .5 * .5 / .1^2 = 96, where half of the units have the label.
    assert rows[YES]["one"]["n_units"] == pytest.approx(96, rel=0.08)
    assert rows[YES]["checker"] is None
    with_run = report_of(project, target=0.1, run=str(run.uuid))
    together = {row["label"]: row for row in of_dimension(with_run, "relevance")["rates"]}[YES]["checker"]
    assert together["n_units"] is None or together["n_units"] < rows[YES]["one"]["n_units"]
    assert with_run["checker"] == "fake 1"
    assert [one["dimension"] for one in with_run["dimensions"]] == ["relevance"]  # nobody said anything about stance


def test_labels_that_the_checker_touched_are_no_pilot_of_it(project):
    run = make_suggestions(project)
    for item in items_of(project)[60:80]:
        for place in range(2):
            say(item, make_rater(project) if not place else project.raters.first(), YES, shown=True)
    assert of_dimension(report_of(project), "relevance")["n_shared"] == 80
    assert of_dimension(report_of(project, run=str(run.uuid)), "relevance")["n_shared"] == 60
    assert of_dimension(report_of(project, run=str(run.uuid), touched=True), "relevance")["n_shared"] == 80


def test_the_same_numbers_come_again(project):
    assert report_of(project, target=0.2) == report_of(project, target=0.2)


def test_what_cannot_be_planned_says_why():
    project = project_of(4)
    nobody = of_dimension(report_of(project), "relevance")
    assert "two labels" in nobody["undefined"] and nobody["needed"] is None
    for rater in (make_rater(project), make_rater(project)):
        for item in items_of(project):
            say(item, rater, YES)
    alike = of_dimension(report_of(project), "relevance")
    assert "always the same" in alike["needed"]["by_units"]["undefined"]
    for options, why in (({"target": 0}, "target lies"), ({"judgements": 1}, "judgements lie")):
        with pytest.raises(ValueError, match=why):
            report_of(project, **options)


def test_page_items_and_command(client, project, capsys):
    client.force_login(project.created_by)
    address = reverse("project_report", args=[project.slug, "planning"])
    client.get(address)
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        lifecycle.run_here(job)
    page = client.get(address).content.decode()
    report = StoredReport.objects.get()
    needed = of_dimension(report.result, "relevance")["needed"]["by_units"]
    assert str(needed["n_units"]) in page.replace(",", "") and "<svg" in page
    behind = reverse("project_behind", args=[project.slug, "planning"])
    answer = client.get(behind, {"report": report.parameters_hash, "figure": "relevance.shared=yes"}).content.decode()
    assert "60 units" in answer and "two or more labels" in answer
    call_command("report", project.slug, "planning", "--format", "json")
    assert json.loads(capsys.readouterr().out)["dimensions"] == report.result["dimensions"]
    for form, words in (("table", "More units"), ("latex", "More units"), ("methods", "Dawid-Skene")):
        call_command("report", project.slug, "planning", "--target", "0.1", "--format", form)
        assert words in capsys.readouterr().out


def test_the_overview_says_that_labels_are_enough_once_the_planned_interval_is_reached(client, project):
    overview = reverse("project_detail", args=[project.slug])
    client.force_login(project.created_by)
    for target, is_enough in (("0.02", False), ("0.5", True)):
        client.get(reverse("project_report", args=[project.slug, "planning"]), {"target": target})
        lifecycle.run_here(Job.objects.filter(kind=Job.Kind.REPORT).latest("pk"))
        assert ("Labels are enough to stop" in client.get(overview).content.decode()) == is_enough, target


def test_the_overview_tells_a_researcher_how_many_more_from_the_plan_that_a_worker_made(client, project):
    overview = reverse("project_detail", args=[project.slug])
    client.force_login(project.created_by)
    assert "Plan how many more labels" in client.get(overview).content.decode()
    assert not StoredReport.objects.exists()  # looking at the overview starts nothing
    client.get(reverse("project_report", args=[project.slug, "planning"]), {"target": "0.1"})
    [job] = Job.objects.filter(kind=Job.Kind.REPORT)
    lifecycle.run_here(job)
    needed = of_dimension(StoredReport.objects.get().result, "relevance")["needed"]["by_units"]
    page = client.get(overview).content.decode()
    assert f"Relevance {needed['more_units']} more units" in page and "to within 0.1" in page
    assert '/reports/planning/?target=0.1&amp;judgements=2"' in page
    say(items_of(project)[-1], make_rater(project), YES)
    client.get(overview)
    assert StoredReport.objects.get().job != job  # labels have overtaken it
    reader = make_user("annotator")
    Membership.objects.create(project=project, user=reader, role="annotator")
    client.force_login(reader)
    assert "more units" not in client.get(overview).content.decode()


def plan_of(more_units=12, undefined="", by_units=""):
    width = PlannedWidth(n_units=50, n_raters=2, half_width=0.1, estimate=0.5, undefined="")
    needed = UnitsNeeded(n_units=62, more_units=more_units, judgements=2, half_width=0.05, undefined=by_units)
    return QuestionPlan(
        dimension="d",
        title="Stance",
        level="nominal",
        undefined=undefined,
        n_labelled=50,
        n_shared=50,
        n_full=50,
        n_labels=100,
        cluster_size=1,
        correlation=None,
        alpha=Figure(estimate=0.5, undefined=""),
        widths=[],
        needed=None if undefined else NeededForAlpha(now=width, by_units=needed, by_judgements=needed),
        rates=[],
    )


def planning_of(plan: QuestionPlan) -> Planning:
    return Planning(
        report="planning",
        project="p",
        task_type="t",
        target=0.05,
        judgements=2,
        run="",
        checker="",
        touched=False,
        n_units=50,
        n_studies=500,
        dimensions=[plan],
        notes=[],
    )


def test_the_overview_says_when_labels_are_enough():
    title, words = on_overview(planning_of(plan_of(more_units=0)))
    assert title == "Labels are enough to stop"
    plan = "For alpha to within 0.05, with 2 judgements each: Stance"
    assert words == f"{plan} no more (within 0.100 now, with 50 units)."
    title, words = on_overview(planning_of(plan_of()))
    assert (title, words) == ("How many more labels?", f"{plan} 12 more units (within 0.100 now, with 50 units).")


@pytest.mark.parametrize(
    ("plan", "says", "next_step"),
    [
        (plan_of(undefined="nobody labelled"), "no number of units can be planned yet: nobody labelled", "as a pilot"),
        (plan_of(more_units=0), "the labels so far are enough", ""),
        (plan_of(by_units="too many"), "no number of units is known: too many", ""),
        (
            plan_of(),
            "62 units with 2 judgements each are needed, 12 more than there are",
            "have 12 more units labelled",
        ),
    ],
)
def test_the_page_begins_with_the_number(project, plan, says, next_step):
    result = planning_of(plan)
    assert says in first_that_applies(RULES, (result, plan))
    assert next_step in first_that_applies(NEXT, (result, plan))

"""Pages of figures in a browser, light and dark, wide and narrow: nothing that axe calls grave, nothing wider than the
window but tables, which scroll by themselves; and what a reader looks for is there once it is unfolded."""

import re
import uuid
from urllib.parse import urlencode

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotation.models import Decision, Membership, Suggestion
from tests.analysis.looks import compute_pages, is_fit_to_be_seen, opened, unfold
from tests.analysis.test_beside import CHECKERS, errs, run_of
from tests.analysis.test_difference import make_run, units_of
from tests.analysis.test_drift_and_attention import START, truth
from tests.analysis.test_prefill_trial import show
from tests.analysis.test_selected import ask_for_more, draw
from tests.analysis.test_spans_report import mark, marking_project
from tests.analysis.test_sufficiency import GRADE, SUFFICIENCY, N, records
from tests.factories import join, make_dataset, make_project, make_suggestions, make_user
from tests.kinds import bring_in
from tests.web.looks import grave_problems, scrolls_sideways
from tests.world.labels import items_of, make_rater, project_of, say
from tests.world.leaked import leaked, pair_labels, retrieve
from tests.world.planted import decide, suggest
from tests.world.study import measured_evidence

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
YES = "relevant"
STANCES = ("refutes", "insufficient-neutral", "supports")
INTERVAL = re.compile(r"^-?\d\.\d{3} \[-?\d\.\d{3}, -?\d\.\d{3}\]$")

# --- people and checkers side by side ---


def two_checkers():
    project = project_of(36, claims=18)
    for place, name in enumerate(("Anna", "Ben", "Cleo")):
        rater = make_rater(project, name)
        for number, item in enumerate(items_of(project)):
            stance = STANCES[number % 3] if (number + place) % 7 else STANCES[(number + 1) % 3]
            if number % 8 == 7:
                say(item, rater, "not_relevant", active_ms=4000 + 100 * number)
            else:
                say(item, rater, "relevant", stance, active_ms=9000 + 300 * number)
    for checker, wrong in (("first", 4), ("second", 6)):
        run = make_suggestions(project, checker=checker, labels={"relevance": "relevant", "stance": "supports"})
        for number, item in enumerate(items_of(project)):
            label = STANCES[number % 3] if number % wrong else STANCES[(number + 2) % 3]
            values = project.type.dimension("stance").values
            share = {
                value: 0.6 - number % 5 / 20 if value == label else (0.4 + number % 5 / 20) / 5 for value in values
            }
            Suggestion.objects.filter(run=run, unit=item.anchor, dimension="stance").update(
                label=label, probability=share[label], probabilities=share
            )
    return project


def pages_of_two_checkers(project) -> dict[str, str]:
    first, second = project.checker_runs.order_by("pk")
    names = {
        "agreement": "project_agreement",
        "annotators": "project_annotators",
        "alternative": "project_alternative_annotator",
        "comparison": "project_comparison",
        "prevalence": "project_prevalence",
    }
    found = {name: reverse(address, args=[project.slug]) for name, address in names.items()}
    found["comparison"] += f"?run={first.uuid}&other={second.uuid}"
    found["annotators"] += "?checkers=with"
    return found | {
        "all-of-agreement": f"{found['agreement']}?all=1",
        "all-of-comparison": f"{found['comparison']}&all=1",
    }


@pytest.mark.slow
def test_pages_of_figures_look_right(open_context, client):
    project = two_checkers()
    for name, page in opened(open_context, client, project.created_by, pages_of_two_checkers(project)):
        for summary in page.locator("#figures > section > details > summary, #figures details summary").all():
            if summary.is_visible() and not summary.evaluate("element => element.parentElement.open"):
                summary.click()
        assert page.locator("#figures table").count() > 1, name
        is_fit_to_be_seen(page, name)


# --- marked passages, two runs, labels that checkers touched: their numbers all have intervals ---


def marked_passages():
    """Three people who mark nearly the same; two runs with scores, and one answer given with a suggestion in view."""
    project = marking_project(24)
    raters = [make_rater(project, name) for name in ("Anna", "Ben", "Cleo")]
    for number, item in enumerate(items_of(project)):
        for place, rater in enumerate(raters):
            start = 4 * number + (number * place) % 7
            mark(item, rater, start, start + 20 + 3 * place, "supports" if (number + place) % 4 else "refutes")
    for version in (1, 2):
        sure = {
            unit: (2 + number * 7 % 5 + version * (number % 4 % 3)) / 10
            for number, unit in enumerate(units_of(project))
        }
        make_run(project, sure, version=str(version), scores=[(unit, 10 * share) for unit, share in sure.items()])
    say(items_of(project)[0], make_rater(project, "Dan"), "relevant", shown=True)
    return project


def pages_of_marked_passages(project) -> dict[str, str]:
    first, second = project.checker_runs.order_by("pk")
    return {
        "spans": reverse("project_report", args=[project.slug, "spans"]),
        "difference": reverse("project_difference", args=[project.slug]) + f"?run={second.uuid}&other={first.uuid}",
        "touched": reverse("project_annotators", args=[project.slug]) + "?checkers=with&touched=1",
    }


def test_pages_whose_numbers_have_intervals_look_right(open_context, client):
    project = marked_passages()
    for name, page in opened(open_context, client, project.created_by, pages_of_marked_passages(project)):
        unfold(page)
        if name == "difference":
            row = page.get_by_role("region", name="Scores of both runs").get_by_role("row").nth(1)
            expect(row.locator("td").filter(has_text=INTERVAL)).to_have_count(4)
        if name == "spans":
            pairs = page.get_by_role("region", name="highlights by pair of people")
            heads = pairs.get_by_role("columnheader").all_inner_texts()
            cells = pairs.locator("tbody tr").first.locator("th, td").all_inner_texts()
            assert INTERVAL.match(cells[heads.index("Character F1")]), cells
        if name == "touched":
            expect(page.get_by_label("Labels that these checkers touched")).to_be_checked()
            expect(page.get_by_text("The latest label of each person counts")).to_be_visible()
        is_fit_to_be_seen(page, f"intervals-{name}")


def test_no_table_of_evidence_and_its_use_is_wider_than_the_page(open_context, client):
    project = measured_evidence()
    addresses = {"druid": reverse("project_report", args=[project.slug, "druid"])}
    for name, page in opened(open_context, client, project.created_by, addresses):
        unfold(page)
        tables = page.locator(".section .table-wrap:visible")
        assert tables.count() > 15
        wide = "all => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.ariaLabel)"
        assert tables.evaluate_all(wide) == []
        assert grave_problems(page) == [] and not scrolls_sideways(page), name


# --- who said what where the other said what, and several checkers at once ---


def three_checkers():
    """Three people, of whom Ben takes a refutation for support now and then; three checkers."""
    project = project_of(24, claims=24)
    raters = {name: make_rater(project, name) for name in ("Anna", "Ben", "Cleo")}
    for number, item in enumerate(items_of(project)):
        for name, rater in raters.items():
            place = number % 3
            say(item, rater, YES, STANCES[2 if name == "Ben" and number % 6 == 0 else place])
    for name, every in CHECKERS.items():
        run_of(project, name, errs(every))
    return project


def test_pairs_and_several_checkers_look_right(open_context, client):
    project = three_checkers()
    pages = {
        "pairs": reverse("project_agreement", args=[project.slug]) + "?all=1",
        "several": reverse("project_comparison", args=[project.slug]) + "?all=1",
    }
    for name, page in opened(open_context, client, project.created_by, pages):
        if name == "several":
            table = page.get_by_role("region", name="Relevance: 3 checkers at once, accuracy")
            expect(table).to_be_hidden()
            unfold(page)
            expect(table.get_by_text("Cochran's Q", exact=True)).to_be_visible()
            is_fit_to_be_seen(page, name)
            continue
        title = "Stance: pairs of annotators"
        table = page.get_by_role("region", name=f"{title}, label by label")
        expect(table).to_be_hidden()
        page.locator("summary", has_text=f"{title}, label by label").click()
        expect(table).to_be_visible()
        is_fit_to_be_seen(page, name)
        row = table.get_by_role("row").filter(has_text=re.compile(r"Anna.*Ben.*Refutes.*Supports"))
        row.get_by_role("link", name="4", exact=True).click()
        expect(page.get_by_role("heading", name="4 units behind a figure")).to_be_visible()
        words = "Annotator: Anna, Label: Refutes; a judgement with Question: Stance, Annotator: Ben, Label: Supports"
        expect(page.get_by_text(words).first).to_be_visible()


# --- trials and planning; the sections on selection, time and known answers ---


def trial():
    """Three people, who see suggestions of every second item; some items are asked for once more, some are known."""
    project = project_of(30, claims=30, overlap=2)
    run = make_suggestions(project)
    raters = [make_rater(project, name) for name in ("Anna", "Ben", "Cleo")]
    for number, item in enumerate(draw(project, 0.5, set(range(0, 30, 2)))):
        if number % 5 == 1:
            ask_for_more(item)
        if number % 3 == 0:
            Decision.objects.create(
                project=project, unit=item.anchor, dimension="relevance", label=truth(number), method="imported"
            )
        for place, rater in enumerate(raters):
            seen = (number + place) % 2 == 0
            label = truth(number + (number + 3 * place) % 7 // 6)
            moment = START.replace(hour=number % 24, minute=place)
            fields = {"submitted_at": moment, "guideline_version": 1 + number // 15, "active_ms": 3000 + 200 * number}
            revision = say(item, rater, label, shown=seen, **fields)
            if seen:
                show(revision, run)
    return project


def pages_of_trial(project) -> dict[str, str]:
    return {
        "prefill-trial": reverse("project_report", args=[project.slug, "prefill-trial"]),
        "planning": reverse("project_report", args=[project.slug, "planning"]) + "?target=0.1",
        "selection": reverse("project_agreement", args=[project.slug]) + "?all=1",
        "time": reverse("project_annotators", args=[project.slug]),
    }


def test_pages_on_people_look_right(open_context, client):
    project = trial()
    headings = {"selection": "Relevance: corrected for the selection of items", "time": "Relevance: over time"}
    for name, page in opened(open_context, client, project.created_by, pages_of_trial(project)):
        if name == "planning":
            expect(page.get_by_role("region", name="The pilot: labels so far")).to_be_visible()
        else:
            expect(page.get_by_role("heading", name=headings.get(name, "Answers compared")).first).to_be_visible()
        unfold(page)
        is_fit_to_be_seen(page, name)
    page.goto(reverse("project_detail", args=[project.slug]))
    page.get_by_role("link", name="How many more labels?").click()
    expect(page).to_have_url(re.compile(r"target=0\.1"))
    expect(page.get_by_role("heading", name="How many more labels?")).to_be_visible()


# --- reports that join projects ---


def sufficiency():
    dataset = make_dataset()
    bring_in(dataset, records())
    first, second = make_project(dataset, SUFFICIENCY), make_project(dataset, GRADE)
    labels = {f"q{n:02}": "sufficient" if n < 20 else "insufficient" for n in range(N)}
    decide(first, labels, "sufficiency")
    suggest(first, labels, "sufficiency", {f"q{n:02}": {"sufficient": 1 - n / N} for n in range(N)})
    grades = {
        f"q{n:02}/{name}": ("perfect", "incorrect", "missing")[(n + place) % (3 if n > 19 else 2)]
        for n in range(N)
        for place, name in enumerate(("bold-rag", "bold-closed", "shy-rag"))
    }
    decide(second, grades, "grade")
    return first, {"reference": "imported", "grades": second.slug, "withhold": "confidence"}


def leakage():
    project = make_project(leaked(), "nli/two-way/1")
    labels = pair_labels("entailment", "non-entailment")
    decide(project, labels, "entailment")
    run = suggest(project, labels, "entailment")
    for repetition in (None, 0, 1):
        retrieve(project, repetition)
    return project, {"reference": "imported", "run": str(run.uuid)}


@pytest.mark.parametrize("make", [sufficiency, pytest.param(leakage, marks=pytest.mark.slow)])
def test_the_page_is_readable_in_light_and_dark(open_context, client, make):
    project, asked = make()
    address = f"{reverse('project_report', args=[project.slug, make.__name__])}?{urlencode(asked)}"
    compute_pages(client, project.created_by, [address])
    page = open_context(project.created_by, color_scheme="dark").new_page()
    page.goto(address)
    assert page.locator("#figures svg").count() >= 3 and page.locator("#figures table").count() >= 4
    is_fit_to_be_seen(page, make.__name__)


def test_figures_of_few_items_are_grey_on_progress_although_they_are_links(open_context):
    project = project_of(6)
    raters = [make_rater(project, name) for name in ("Ann", "Ben")]
    for item in items_of(project):
        for rater in raters:
            say(item, rater, "relevant", client_id=uuid.uuid4())
    page = open_context(join(project, make_user("lead"), Membership.Role.RESEARCHER)).new_page()
    page.goto(f"/projects/{project.slug}/progress/")
    colours = """links => links.map(link =>
      [link, link.parentElement.lastElementChild].map(one => getComputedStyle(one).color))"""
    found = page.locator("td.muted > a:has(+ br)").evaluate_all(colours)
    assert len(found) == 2 and all(figure == interval for figure, interval in found)

"""Preferences from a file to a ranking of systems, twenty pairs relabelled in the browser, and out as a release."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
import statsmodels.api as sm
from playwright.sync_api import Page, expect
from sklearn.metrics import cohen_kappa_score

from analysis.reports.metrics import get_report
from annotation.jobs import lifecycle
from annotation.models import Job, Judgement, OutputComparison, Project
from tests.analysis.test_preferences import released_and_back
from tests.analysis.test_published_preferences import needs_pandalm, pandalm_rows
from tests.factories import join, make_user
from tests.journeys.researching import unfold
from tests.web.pages import LabellingPage
from tests.world.preferred import PEOPLE, rows, write_rows

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

COLUMNS = ("prompt", "response_a", "response_b", "model_a", "model_b", "winner", "judge")
SCORES = {"model_a": 1, "tie": 0, "model_b": -1}
TWENTY = 20


def planted() -> list[dict]:
    return [one for one in rows(8) if one["judge"] in PEOPLE]


def pandalm() -> list[dict]:
    return [one for one in pandalm_rows() if one["judge"]]


def plain_strengths(found: list[dict]) -> dict[str, float]:
    """By Bradley, Terry and Davidson, as a log-linear model of how often each pair has each outcome."""
    names = sorted({one[f"model_{place}"] for one in found for place in "ab"})
    outcomes: Counter = Counter()
    for one in found:
        pair, score = [names.index(one[f"model_{place}"]) for place in "ab"], SCORES[one["winner"]]
        outcomes[min(pair), max(pair), score if pair[0] < pair[1] else -score] += 1
    pairs = [
        pair for pair in combinations(range(len(names)), 2) if any((*pair, score) in outcomes for score in (-1, 0, 1))
    ]
    design, counts = [], []
    for place, (one, other) in enumerate(pairs):
        for score in (-1, 0, 1):
            row = np.zeros(1 + len(names) + len(pairs))
            row[0], row[1 + one], row[1 + other], row[1 + len(names) + place] = score == 0, score / 2, -score / 2, 1
            design.append(np.delete(row, 1))  # the first system is at 0
            counts.append(outcomes[one, other, score])
    fitted = sm.GLM(counts, np.array(design), family=sm.families.Poisson()).fit(tol=1e-12)
    strengths = np.array([0.0, *fitted.params[1 : len(names)]])
    return dict(zip(names, strengths - strengths.mean(), strict=True))


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def work() -> None:
    """What a worker does; the page of the job notices by itself."""
    lifecycle.run_here(Job.objects.latest("pk"))


@pytest.mark.parametrize("made", [planted, pytest.param(pandalm, marks=needs_pandalm)])
def test_from_a_file_to_a_ranking_and_a_release(open_context, live_server, tmp_path, made):
    found = made()
    path = write_rows(tmp_path / "pairs.csv", [{name: one[name] for name in COLUMNS} for one in found])
    rosa = make_user("rosa", is_superuser=True)
    page = open_context(rosa).new_page()
    page.goto("/")
    page.get_by_role("link", name="New study").click()
    page.set_input_files("[name=files]", path)
    press(page, "Continue")
    expect(page.get_by_text("waiting for a worker")).to_be_visible()
    work()
    expect(page.get_by_role("button", name="Create the study")).to_be_visible()
    page.get_by_label("Judgements per item").fill("1")
    press(page, "Create the study")
    expect(page.get_by_role("button", name="Create the study")).to_have_count(0)
    work()
    project = Project.objects.get()
    assert strengths_on(page, project, live_server.url) == pytest.approx(plain_strengths(found), abs=6e-4)

    anna = join(project, make_user("anna"))
    sheet = LabellingPage(open_context(anna).new_page(), project).open()
    for _ in range(TWENTY):
        sheet.answer(key_of_most(sheet))
    sheet.is_saved()
    own = dict(Judgement.objects.filter(revision__annotation__rater__user=anna).values_list("unit__key", "label"))
    assert len(own) == TWENTY
    found += [row_of(key, label) for key, label in own.items()]
    assert strengths_on(page, project, live_server.url) == pytest.approx(plain_strengths(found), abs=6e-4)
    kappas = kappas_on(page, project, live_server.url)
    for person in project.raters.filter(user=None):
        labels = Judgement.objects.filter(revision__annotation__rater=person, unit__key__in=own)
        pairs = [(own[key], label) for key, label in labels.values_list("unit__key", "label")]
        assert kappas[person.name] == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)), abs=6e-4)

    other, first, again = released_and_back(project, tmp_path)
    assert (again["sha256"], again["labels_sha256"]) == (first["sha256"], first["labels_sha256"])
    here, there = (get_report("preferences").compute(one) for one in (project, other))
    assert here["systems"] == there["systems"]


def row_of(key: str, label: str) -> dict:
    """A person's label as a row of the file."""
    comparison = OutputComparison.objects.get(key=key)
    winner = label if label == "tie" else f"model_{label}"
    return {"model_a": comparison.system_a, "model_b": comparison.system_b, "winner": winner}


def strengths_on(page: Page, project: Project, address: str) -> dict[str, float]:
    """As the page of the report has them."""
    open_report(page, f"{address}/projects/{project.slug}/reports/preferences/")
    rows = page.get_by_role("region", name="Systems by strength", exact=True).locator("tbody tr").all()
    cells = [row.locator("th, td").all_inner_texts() for row in rows]
    return {system: number_in(strength) for system, _, _, _, strength, *_ in cells}


def number_in(cell: str) -> float:
    """Without its interval."""
    return float(cell.split()[0].replace("−", "-"))


def kappas_on(page: Page, project: Project, address: str) -> dict[str, float]:
    """Of Anna with each person of the file, as the page of agreement has them."""
    open_report(page, f"{address}/projects/{project.slug}/agreement/")
    rows = page.get_by_role("region", name="Preference: pairs of annotators", exact=True).locator("tbody tr").all()
    cells = [row.locator("th, td").all_inner_texts() for row in rows]
    named = [([one.split()[0], other.split()[0]], number_in(kappa)) for one, other, *_, kappa in cells]
    return {name: kappa for pair, kappa in named if "anna" in pair for name in pair if name != "anna"}


def open_report(page: Page, address: str) -> None:
    """With all sections unfolded, once workers have computed it."""
    page.goto(address)
    while (job := Job.objects.exclude(state__in=("done", "failed")).first()) is not None:
        lifecycle.run_here(job)
    page.reload()
    unfold(page)


def key_of_most(sheet: LabellingPage) -> str:
    """The key of what most people of the file chose, on the page's order of outputs."""
    labels = Judgement.objects.filter(revision__annotation__item=sheet.held.item_id).values_list("label", flat=True)
    [(label, _), *_] = Counter(sorted(labels)).most_common()
    if label == "tie":
        return "e"
    shown = sheet.page.locator("[data-field^=output_]").evaluate_all("all => all.map((one) => one.dataset.field)")
    return str(1 + shown.index(f"output_{label}"))

"""Precision, recall and F1 of an extractor against what people accepted, counted by hand."""

import pytest

from annotation.machines.drafts import reviewing
from annotation.machines.drafts.queries.drafts import figures_of
from annotation.models import Draft, Response
from annotation.projects.draft_kinds import DRAFT_KINDS
from tests.world.drafts import ANSWERS, drafts, extract, make_drafting_project, script

pytestmark = pytest.mark.django_db
TRIPLET = DRAFT_KINDS["triplet"]


def accept(draft: Draft, **changed) -> None:
    words = (draft.edited or draft.parts) | changed
    reviewing.accept(draft, TRIPLET, draft.project.created_by, words, reviewing.seen(draft))


def drop(draft: Draft) -> None:
    reviewing.drop(draft, draft.project.created_by, reviewing.seen(draft))


def add(project, key: str, *words: str) -> None:
    parts = dict(zip(TRIPLET.parts, words, strict=True))
    reviewing.add(project, TRIPLET, Response.objects.get(key=key), project.created_by, parts)


@pytest.fixture
def two_runs(monkeypatch):
    """Run one proposes a, b, c of the first answer and d of the second; run two proposes A (the same as a), e, f of the
    first and g of the third."""
    project = make_drafting_project()
    script(monkeypatch, {ANSWERS[0]: [(x, "is", "x") for x in "abc"], ANSWERS[1]: [("d", "is", "x")]})
    one = extract(project)
    script(monkeypatch, {ANSWERS[0]: [(x, "is", " x ") for x in "Aef"], ANSWERS[2]: [("g", "is", "x")]})
    two = extract(project, parameters={"seed": 2})
    return project, one, two


def test_against_what_was_accepted_of_any_run_or_by_hand(two_runs):
    project, one, two = two_runs
    a, b, c, d, again, e, f, g = drafts(project)
    accept(a)
    accept(b, head="bee")
    drop(c)
    drop(again)  # a double of the first run's
    accept(e)
    drop(f)
    add(project, "q0/r0", "hand", "is", "x")
    # The second answer is not decided yet, and the third neither. Accepted of the first: a, bee, e, hand.
    figures = figures_of(one)
    assert (figures.proposed, figures.accepted, figures.found, figures.found_edited) == (3, 4, 1, 2)
    assert (figures.unchanged, figures.edited, figures.dropped) == (1, 1, 1)
    assert (figures.precision, figures.recall) == (1 / 3, 1 / 4)
    assert figures.f1 == pytest.approx(2 * (1 / 3) * (1 / 4) / (1 / 3 + 1 / 4))
    assert (figures.lenient.precision, figures.lenient.recall, figures.lenient.f1) == (2 / 3, 2 / 4, 4 / 7)
    # What was dropped as a double is as right as the one that was kept: a and e of A, e, f.
    figures = figures_of(two)
    assert (figures.precision, figures.recall, figures.f1) == (2 / 3, 2 / 4, 4 / 7)
    assert figures.lenient.precision == 2 / 3


def test_sources_that_wait_for_a_decision_are_left_out(two_runs):
    project, one, two = two_runs
    a, b, c, d, *rest = drafts(project)
    for draft in (a, b, c):
        accept(draft)
    assert (figures_of(one).n_sources, figures_of(one).n_left_out) == (0, 3)  # d and the other run's are open
    drop(rest.pop())
    figures = figures_of(one)
    assert (figures.n_sources, figures.n_left_out, figures.proposed) == (1, 2, 0)
    assert figures.precision is None and figures.f1 is None
    reason = dict((row[0], row[3]) for row in figures.rows)["Precision"]
    assert reason == "proposed nothing in the sources that are reviewed completely"
    for draft in rest:
        drop(draft)
    figures = figures_of(one)
    assert (figures.n_sources, figures.n_left_out, figures.precision, figures.recall) == (2, 1, 1.0, 1.0)


def test_one_accepted_piece_makes_one_proposal_right(monkeypatch):
    project = make_drafting_project(texts=ANSWERS[:1])
    script(monkeypatch, {ANSWERS[0]: [("a", "is", "x"), ("A", "is", "X"), ("b", "is", "x")]})
    run = extract(project)
    first, double, other = drafts(project)
    accept(first)
    accept(double)
    accept(other, head="a", relation="was")
    add(project, "q0/r0", "b", "is", "x")
    # Accepted: a is x, a was x, b is x. The third proposal was edited, and what it said was added by hand: it counts
    # once, for its own words.
    figures = figures_of(run)
    assert (figures.found, figures.found_edited, figures.proposed, figures.accepted) == (2, 2, 3, 3)


def test_what_is_undefined_says_why(monkeypatch):
    project = make_drafting_project(texts=ANSWERS[:1])
    script(monkeypatch, {ANSWERS[0]: [("a", "is", "x")]})
    run = extract(project)
    assert {why for *_, why in figures_of(run).rows} == {"no source that it answered is reviewed completely"}
    drop(drafts(project)[0])
    rows = {name: (strict, why) for name, strict, _, why in figures_of(run).rows}
    assert rows["Precision"] == (0.0, "")
    assert rows["Recall"] == (None, "nothing was accepted in the sources that are reviewed completely")
    assert rows["F1"] == (None, rows["Recall"][1])


def test_failed_sources_do_not_count(two_runs):
    project, one, _ = two_runs
    one.sources.update(reason="refused")
    assert figures_of(one).n_sources == figures_of(one).n_left_out == 0

"""Checkers on every kind of task, through the job engine: what they are given, what is stored, what the page holds."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.jobs import lifecycle
from annotation.machines.runs import suggesting
from annotation.machines.runs.checker_inputs import checker_inputs, label_spaces, why_not
from annotation.models import Evidence, Job, Response, Score, Suggestion
from annotation.task_types import every_task_type
from annotation.work.queries import pages
from tests.factories import join, make_user
from tests.kinds import ANSWER, ASPECTS, DOCUMENT, GOLD, OTHER, make_kind_dataset, make_kind_project
from tests.work.browser import Annotator

pytestmark = pytest.mark.django_db

SUGGESTED = tuple(one.identifier for one in every_task_type() if one.checkers and not why_not(one))
BY_RETRIEVAL = {"claim-verdict"}
QUESTION = "When did harbour 0 freeze?"
PASSAGES = (OTHER, GOLD)
ASKED = "2024-05-01"  # the question's date
# What a checker is given about the first unit with something in it.
GIVEN = {
    "claim-evidence/six-way/1": {"claim": QUESTION, "evidence": OTHER},
    "claim-evidence/three-way/1": {"claim": QUESTION, "evidence": OTHER},
    "triplets/-/1": {"claim": "The harbour of Lindau froze in January 1963", "passages": PASSAGES},
    "triplets/sub-sentences/1": {"claim": "The harbour of Lindau froze in January 1963", "passages": PASSAGES},
    "aspect-coverage/-/1": {"claim": ASPECTS[0], "evidence": ANSWER, "question": QUESTION},
    "sufficient-context/-/1": {"claim": QUESTION, "passages": PASSAGES, "question_date": ASKED},
    "answer-grade/-/1": {
        "claims": ("January 1963", "early 1963"),
        "evidence": ANSWER,
        "question": QUESTION,
        "question_date": ASKED,
    },
    "nli/three-way/1": {"claim": "The harbour of Lindau froze.", "evidence": GOLD},
    "nli/two-way/1": {"claim": "The harbour of Lindau froze.", "evidence": GOLD},
    "nli/aspect-relevance/1": {"claim": ASPECTS[0], "evidence": QUESTION},
    "evidence-inclusion/-/1": {"claims": (GOLD,), "evidence": DOCUMENT},
}


def run_here(project, checker="fake", **parameters):
    run = suggesting.start_run(project, project.created_by, checker, parameters, wake_workers=False)
    job = lifecycle.run_here(run.job)
    assert job.state == Job.State.DONE, job.message
    run.refresh_from_db()
    return run


def test_every_task_type_says_what_checkers_are_given_or_why_there_are_none():
    assert set(GIVEN) == set(SUGGESTED)
    for description in every_task_type():
        retrieved = description.slug in BY_RETRIEVAL
        assert bool(why_not(description, retrieved=not retrieved))
        given = not why_not(description, retrieved=retrieved)
        assert bool(description.checkers) == given == bool(label_spaces(description))


@pytest.mark.parametrize("identifier", SUGGESTED)
def test_a_checker_is_given_what_the_page_shows(identifier):
    project = make_kind_project(identifier)
    ids = list(suggesting.run_units(project, project.type).values_list("pk", flat=True))
    with CaptureQueriesContext(
        connection,
    ) as captured:
        inputs = checker_inputs(project.type, ids)
    assert list(inputs) == ids and len(captured) <= 2
    assert inputs[ids[0]].fields == GIVEN[identifier]


@pytest.mark.parametrize("checker", ["fake", "lexical"])
@pytest.mark.parametrize("identifier", SUGGESTED)
def test_suggestions_are_stored_as_the_page_can_take_them(identifier, checker):
    project = make_kind_project(identifier, prefill="shown", overlap=1)
    rules = {dimension.slug: dimension.spans for dimension in project.type.dimensions if dimension.spans}
    carrying = [label for slug, rule in rules.items() for label in rule.labels]
    run_here(project, checker, **({"label": carrying[0]} if checker == "fake" and carrying else {}))
    project.refresh_from_db()
    person = Annotator(join(project, make_user()), project)
    accepted = with_spans = 0
    while (given := person.next())["state"] == "item":
        payload = given["payload"]
        # With those about what is asked once the others have been accepted.
        payload["suggestions"] = person.suggestions(payload, payload["suggestions"]).json()["suggestions"]
        page = pages.load_page(project.items.get(uuid=payload["item"]).pk, project.type)
        can_be_taken = True
        for one in payload["suggestions"]:
            rule = rules.get(one["dimension"])
            for span in one["spans"]:
                assert rule.may_carry(one["label"]) and rule.takes(span["field"])
                assert page.contents.texts[span["field"]][span["start"] : span["end"]] == span["quote"] != ""
                with_spans += 1
            can_be_taken &= bool(one["spans"] or not rule or not rule.required or not rule.may_carry(one["label"]))
        said = {(one["unit"], one["dimension"]) for one in payload["suggestions"]}
        asked = [dimension["slug"] for dimension in payload["dimensions"] if dimension["asked_when"] is None]
        if can_be_taken and said.issuperset((unit, slug) for unit in payload["units"] for slug in asked):
            # Taking every suggestion as it stands is an answer that the server takes.
            response = person.submit(payload, [_taken(one) for one in payload["suggestions"]])
            assert response.status_code == 200, response.content
            accepted += 1
        else:
            person.skip(payload, "nothing is suggested that could be taken")
    assert accepted
    assert bool(with_spans) == bool(rules)


def _taken(suggestion: dict) -> dict:
    """What the page sends for a suggestion that is accepted."""
    spans = [{name: span[name] for name in ("field", "start", "end", "quote")} for span in suggestion["spans"]]
    return {name: suggestion[name] for name in ("unit", "dimension", "label")} | {"spans": spans}


def labels_of(run, dimension) -> dict[str, str]:
    return dict(Suggestion.objects.filter(run=run, dimension=dimension).values_list("unit__key", "label"))


def test_an_answer_is_graded_by_the_alternative_that_fits_best_and_one_that_declines_is_missing():
    project = make_kind_project("answer-grade/-/1", n=1)
    run = run_here(project, "lexical")
    # January 1963 stands in the first answer; the second says that it does not know, the third says nothing.
    assert labels_of(run, "grade") == {"q0/r0": "perfect", "q0/r1": "missing", "q0/r2": "missing"}
    declined = Suggestion.objects.get(run=run, unit__key="q0/r1")
    assert declined.probability == 1.0 and declined.spans == []
    assert set(Score.objects.filter(run=run, unit__key="q0/r1").values_list("value", flat=True)) == {None}
    assert not run.failures.exists()


def test_an_aspect_is_looked_for_in_the_window_of_a_long_answer_that_has_most_of_it():
    filler = "Nothing is said here about the matter in question. " * 600
    sentence = "Ferries cost nine euros today, and children go free."
    dataset = make_kind_dataset(1)
    Response.objects.filter(key="q0/r0").update(text=f"{filler}{sentence} {filler}")
    project = make_kind_project("aspect-coverage/-/1", dataset=dataset)
    run = run_here(project, "lexical")
    found = labels_of(run, "coverage")
    # "what ferries cost today" has its words in one sentence; those of "when the harbour froze" are nowhere.
    assert (found["q0/r0 # q0/a1"], found["q0/r0 # q0/a0"]) == ("covered", "not_covered")
    (span,) = Suggestion.objects.get(run=run, unit__key="q0/r0 # q0/a1").spans
    assert (span["field"], span["quote"]) == ("response", sentence)
    assert span["start"] == len(filler)
    # An empty answer covers nothing that could be looked for: it fails alone, with the reason.
    reasons = run.failures.filter(unit__key__startswith="q0/r2").values_list("reason", flat=True)
    assert list(reasons) == ["empty-evidence"] * 2


def test_each_piece_of_gold_evidence_is_looked_for_in_the_document():
    project = make_kind_project("evidence-inclusion/-/1", n=1)
    run = run_here(project, "lexical")
    assert labels_of(run, "inclusion") == {"c0/d0": "included"}
    (span,) = Suggestion.objects.get(run=run).spans
    assert span["field"] == "response" and span["quote"].startswith("The harbour of Lindau froze")
    Evidence.objects.filter(key="c0/e1").update(text="Bread was baked at dawn by monks.")
    Evidence.objects.filter(key="c0/e0").update(text=DOCUMENT)  # not gold, so it is not looked for
    run = suggesting.start_run(project, project.created_by, "lexical", again=True, wake_workers=False)
    lifecycle.run_here(run.job)
    assert labels_of(run, "inclusion") == {"c0/d0": "not_included"}


def test_spans_name_the_passage_as_the_page_numbers_it():
    project = make_kind_project("triplets/-/1", n=1)
    run = run_here(project, "lexical")
    suggestion = Suggestion.objects.get(run=run, unit__key="q0/r0/t0")
    assert suggestion.label == "entailment"
    assert [span["field"] for span in suggestion.spans] == ["passage-2"]
    # A neutral triplet has nothing that decided.
    run = run_here(project, "fake", label="neutral")
    assert list(Suggestion.objects.filter(run=run).values_list("label", "spans")) == [("neutral", [])] * 2


def test_a_task_that_no_checker_answers_says_so():
    project = make_kind_project("nli/atomic-claim/1", n=1)
    with pytest.raises(suggesting.RunError, match="which no checker answers"):
        suggesting.start_run(project, project.created_by, "lexical", wake_workers=False)
    client = Client()
    client.force_login(project.created_by)
    html = client.get(f"/projects/{project.slug}/runs/").content.decode()
    assert "This task asks people for “Form” and “Main fault”, which no checker answers" in html
    assert "Start a run" not in html


@pytest.mark.parametrize("identifier", SUGGESTED)
def test_the_page_of_a_run_shows_what_was_read(identifier):
    project = make_kind_project(identifier, n=1)
    run = run_here(project, "lexical")
    client = Client()
    client.force_login(project.created_by)
    html = client.get(f"/runs/{run.uuid}/").content.decode()
    assert "Sample of answers" in html
    marked = Suggestion.objects.filter(run=run).exclude(spans=[])
    assert bool(marked) == ("<mark>" in html)


def test_a_question_that_the_project_hides_is_not_put_to_checkers():
    project = make_kind_project("claim-evidence/three-way/1", n=1, options={"hidden": ["relevance"]})
    run = run_here(project, "fake", label="supports")
    # The stance is asked of every pair then, whatever its relevance.
    assert labels_of(run, "stance") == dict.fromkeys(("q0/p0", "q0/p1", "c0/e0", "c0/e1"), "supports")
    assert labels_of(run, "relevance") == {}
    client = Client()
    client.force_login(project.created_by)
    html = client.get(f"/runs/{run.uuid}/").content.decode()
    assert "4 answered" in html and "0 answered" not in html

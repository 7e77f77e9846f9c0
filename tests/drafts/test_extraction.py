"""Extraction runs: what is asked, what is stored, what fails, what is recognised."""

import pytest

from annotation.jobs import lifecycle
from annotation.machines.drafts import extraction, extraction_job
from annotation.models import Chunk, Draft, ExtractedSource, Job, Question, Response
from models_runtime.contracts import ParameterError, PredictionError, UnavailableError
from tests import factories
from tests.world.drafts import (
    ANSWERS,
    ASPECTS,
    CLAIMS,
    RELEVANCE,
    TRIPLETS,
    drafts,
    extract,
    make_drafting_project,
    script,
    triplet,
)

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("identifier", "kind", "source"),
    [
        (TRIPLETS, "triplet", "response"),
        (CLAIMS, "atomic_claim", "response"),
        ("triplets/sub-sentences/1", "sub_sentence", "response"),
        (ASPECTS, "aspect", "question"),
        (RELEVANCE, "aspect", "question"),
    ],
)
def test_what_a_project_drafts_follows_from_what_it_judges(identifier, kind, source):
    project = make_drafting_project(identifier)
    run = extract(project)
    assert run.kind == kind
    found = drafts(project)
    assert found and {draft.kind for draft in found} == {kind}
    assert all(getattr(draft, f"{source}_id") for draft in found)
    assert run.sources.count() == len(ANSWERS)


@pytest.mark.parametrize("identifier", ["claim-evidence/six-way/1", "answer-grade/-/1"])
def test_other_projects_draft_nothing(identifier):
    project = make_drafting_project(identifier)
    with pytest.raises(extraction.RunError, match="does not judge pieces that extractors propose"):
        extraction.start_extraction(project, project.created_by, "fake-extractor")


def test_drafts_hold_what_was_proposed_and_where_it_stands(monkeypatch):
    project = make_drafting_project()
    script(
        monkeypatch,
        {ANSWERS[0]: [triplet("harbour", "froze in", "1963", 0, 26), (" ferries ", "stayed\r\nthere", "in\0port")]},
    )
    run = extract(project)
    first, second = drafts(project)
    assert (first.parts, first.start, first.end) == ({"head": "harbour", "relation": "froze in", "tail": "1963"}, 0, 26)
    assert second.parts == {"head": "ferries", "relation": "stayed\nthere", "tail": "in\N{REPLACEMENT CHARACTER}port"}
    assert (second.start, second.index, second.state) == (None, 1, "proposed")
    assert run.job.result == {"answered": 3, "failed": 0, "failures": {}, "empty": 2, "pieces": 2}
    assert (run.prompt_tokens, run.completion_tokens) == (30, 6)
    kept = run.sources.get(response=first.response).trace
    assert kept == {"prompt": ANSWERS[0], "output": "raw", "is_cut": False}


def test_only_sources_without_pieces_are_asked_unless_all_are_wanted(monkeypatch):
    project = make_drafting_project()
    factories.make_responses_with_triplets(project.dataset, 2, triplets=[1, 0])  # one has a triplet, one has no words
    scripted = script(monkeypatch, {})
    extract(project)
    asked = set(map(int, scripted.asked))
    assert asked == set(Response.objects.filter(key__endswith="/r0").values_list("pk", flat=True))
    scripted.asked.clear()
    extract(project, everything=True)
    assert len(scripted.asked) == len(ANSWERS) + 1


def test_nothing_to_take_apart_is_said():
    project = make_drafting_project(texts=("",))
    with pytest.raises(extraction.RunError, match="no responses with text"):
        extraction.start_extraction(project, project.created_by, "fake-extractor")
    factories.make_responses_with_triplets(project.dataset, 1)
    with pytest.raises(extraction.RunError, match="already has triplets; include those"):
        extraction.start_extraction(project, project.created_by, "fake-extractor")


def test_the_same_run_is_recognised_and_another_one_is_not():
    project = make_drafting_project()
    run = extract(project)
    with pytest.raises(extraction.SameRun) as same:
        extract(project)
    assert same.value.run == run
    assert extract(project, again=True) != run
    assert extract(project, parameters={"seed": 7}) != run
    with pytest.raises(ParameterError):
        extract(project, parameters={"most": 0})
    with pytest.raises(extraction.RunError, match="has no extractor 'lexical'"):
        extract(project, "lexical")


def test_failures_are_counted_by_reason_and_tried_again(monkeypatch):
    project = make_drafting_project()
    refused = PredictionError("refused", "The model refused", False)
    script(
        monkeypatch,
        {ANSWERS[0]: refused, ANSWERS[1]: ValueError("boom"), ANSWERS[2]: [triplet("a", "b", "c", 0, 10_000)]},
    )
    run = extract(project)
    assert run.job.result["failures"] == {"checker-broke": 1, "invalid-answer": 1, "refused": 1}
    assert not drafts(project)
    messages = dict(run.sources.values_list("reason", "message"))
    assert messages["invalid-answer"] == "Piece 1 comes from 0 to 10000, outside of the text of 56 characters"
    assert run.sources.get(reason="refused").trace["output"] == "refused"

    script(monkeypatch, {text: [("x", "is", "y")] for text in ANSWERS})
    assert extraction.retry_failures(run) == 2  # an answer that is no piece would be one again
    job = lifecycle.run_here(Job.objects.get(pk=run.job_id))
    assert (job.result["failed"], job.result["pieces"]) == (1, 2)
    assert extraction.retry_failures(run, include_permanent=True) == 1
    assert lifecycle.run_here(Job.objects.get(pk=run.job_id)).result["failed"] == 0
    assert ExtractedSource.objects.filter(run=run).count() == 3


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({"head": "a", "relation": "b"}, "does not have the parts head, relation, tail"),
        ({"head": "a", "relation": "b", "tail": 3}, "does not have the parts"),
        ({"head": " ", "relation": "", "tail": "\n"}, "is empty"),
    ],
)
def test_what_is_no_piece_fails_its_source(monkeypatch, parts, problem):
    project = make_drafting_project(texts=ANSWERS[:1])
    piece = triplet("a", "b", "c")
    object.__setattr__(piece, "parts", parts)
    script(monkeypatch, {ANSWERS[0]: [piece]})
    run = extract(project)
    assert problem in run.sources.get().message
    assert not drafts(project)


def test_workers_with_another_model_are_refused_and_another_device_is_noted(monkeypatch):
    monkeypatch.setattr(extraction, "CHUNK_SIZES", {"cpu": 1})
    project = make_drafting_project()
    run = extraction.start_extraction(project, project.created_by, "fake-extractor", wake_workers=False)
    assert run.job.chunks.exclude(index=lifecycle.FINISH_INDEX).count() == 3
    for number, described in enumerate(
        ({"model": "m", "device": "cpu"}, {"model": "m", "device": "cuda"}, {"model": "other", "device": "cpu"})
    ):
        script(monkeypatch, {}, described)
        lifecycle.work_on_chunk(run.job, lifecycle.claim_chunk(run.job_id))
        assert ExtractedSource.objects.count() == min(number + 1, 2)
    run.refresh_from_db()
    run.job.refresh_from_db()
    assert run.provenance == {"model": "m", "device": "cpu", "other_workers": [{"model": "m", "device": "cuda"}]}
    assert run.job.state == "failed" and "began with model 'm', and this worker has 'other'" in run.job.message


def test_a_cancelled_run_goes_on_where_it_stopped(monkeypatch):
    monkeypatch.setattr(extraction, "CHUNK_SIZES", {"cpu": 1})
    project = make_drafting_project()
    scripted = script(monkeypatch, {text: [("x", "is", "y")] for text in ANSWERS})
    run = extraction.start_extraction(project, project.created_by, "fake-extractor", wake_workers=False)
    lifecycle.work_on_chunk(run.job, lifecycle.claim_chunk(run.job_id))
    lifecycle.request_cancel(run.job)
    run.job.refresh_from_db()
    assert run.job.state == "cancelled" and len(drafts(project)) == 1
    lifecycle.resume(run.job)
    assert lifecycle.run_here(run.job).state == "done"
    assert len(drafts(project)) == 3 and len(scripted.asked) == 3


def test_a_chunk_whose_worker_lost_its_lease_stores_nothing(monkeypatch):
    project = make_drafting_project()
    run = extraction.start_extraction(project, project.created_by, "fake-extractor", wake_workers=False)
    late = lifecycle.claim_chunk(run.job_id)
    Chunk.objects.filter(pk=late.chunk.pk).update(lease_expires_at="2020-01-01T00:00Z")
    other = lifecycle.claim_chunk(run.job_id)
    extraction_job.HANDLER.run_chunk(other.chunk, other)
    stored = Draft.objects.count()
    with pytest.raises(lifecycle.LeaseLost):
        extraction_job.HANDLER.run_chunk(late.chunk, late)
    assert Draft.objects.count() == stored > 0


def test_a_text_that_was_replaced_after_the_start_is_a_failure(monkeypatch):
    project = make_drafting_project(ASPECTS)
    run = extraction.start_extraction(project, project.created_by, "fake-extractor", wake_workers=False)
    Question.objects.filter(key="q0").update(superseded_at="2026-01-01T00:00Z")
    assert lifecycle.run_here(run.job).result["failures"] == {"withdrawn": 1}


def test_a_server_that_is_away_is_no_texts_fault(monkeypatch, settings):
    settings.SERVER_WAIT_SECONDS, settings.CHUNK_RETRY_SECONDS = 0, 0
    project = make_drafting_project()
    script(monkeypatch, dict.fromkeys(ANSWERS, UnavailableError("nobody answers")))
    run = extraction.start_extraction(project, project.created_by, "fake-extractor", wake_workers=False)
    job = lifecycle.run_here(run.job)
    assert job.state == "failed" and "Nobody answers" in job.message
    assert not run.sources.exists()

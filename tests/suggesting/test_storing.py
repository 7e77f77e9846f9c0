"""What runs keep beside their answers: cost, and how some of the answers came about."""

from dataclasses import replace

import pytest

from annotation.jobs import lifecycle
from annotation.machines.runs import storing, suggesting
from annotation.models import CheckerRun, Job, RunSample, Unit
from models_runtime.contracts import Prediction, PredictionError, Usage
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(suggesting, "CHUNK_SIZE", 10)


def project_of(n, **options):
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, n)
    return factories.make_project(dataset, **options)


def start(project, checker="fake", **parameters) -> CheckerRun:
    return suggesting.start_run(project, project.created_by, checker, parameters, wake_workers=False)


def finished(project, checker="fake", **parameters) -> CheckerRun:
    run = start(project, checker, **parameters)
    assert lifecycle.run_here(run.job).state == Job.State.DONE, run.job.message
    return CheckerRun.objects.select_related("job", "project").get(pk=run.pk)


def words_of(project) -> int:
    units = Unit.objects.filter(dataset=project.dataset).select_related("evidence__claim")
    return sum(len(unit.evidence.claim.text.split()) + len(unit.evidence.text.split()) for unit in units)


class Scripted:
    """Answers as `say` says, under a description that the fake checker would give."""

    def __init__(self, monkeypatch, say):
        self.say = say
        monkeypatch.setattr(suggesting.registry, "load", lambda *args: self)

    def describe(self):
        return {"checker": "fake", "version": "1"}

    def predict(self, inputs):
        return [self.say(item) for item in inputs]


def test_tokens_and_seconds_add_up_over_chunks_and_a_repeated_chunk_counts_once():
    project = project_of(25)
    run = start(project)
    late = lifecycle.claim_chunk(run.job_id)
    run.job.chunks.filter(pk=late.chunk.pk).update(lease_expires_at="2020-01-01T00:00:00Z")
    assert lifecycle.run_here(run.job).state == Job.State.DONE
    with pytest.raises(lifecycle.LeaseLost):
        suggesting.HANDLER.run_chunk(late.chunk, late)
    run.refresh_from_db()
    assert run.prompt_tokens == words_of(project) and run.completion_tokens == 25
    assert run.device_seconds > 0 and run.n_reused == 0


def test_cost_is_stored_with_the_chunk_or_not_at_all(monkeypatch):
    run = start(project_of(10))
    with monkeypatch.context() as patch:
        patch.setattr(RunSample.objects, "bulk_create", lambda rows: 1 / 0)
        assert lifecycle.run_here(run.job).state == Job.State.FAILED
    run.refresh_from_db()
    assert (run.prompt_tokens, run.device_seconds) == (0, 0.0) and not run.suggestions.exists()


def test_seconds_are_measured_for_local_checkers_that_do_not_count_them_and_never_added_to_their_own(monkeypatch):
    own = Usage(1, 2, device_seconds=1000.0)
    Scripted(monkeypatch, lambda item: Prediction(item.id, scores={"one": 1.0}, usage=own))
    assert finished(project_of(4)).device_seconds == 4000.0
    Scripted(monkeypatch, lambda item: Prediction(item.id, scores={"one": 1.0}))
    assert 0 < finished(project_of(4)).device_seconds < 100
    elsewhere = replace(suggesting.registry.get_info("fake"), needs="server")
    monkeypatch.setattr(suggesting.registry, "get_info", lambda slug: elsewhere)
    monkeypatch.setattr(suggesting.registry, "not_configured", lambda slug: "")
    assert finished(project_of(4)).device_seconds == 0.0


def test_failed_inputs_cost_too_and_trying_again_adds_up(monkeypatch):
    def say(item):
        return Prediction(item.id, error=PredictionError("refused", "No", False), usage=Usage(7, 1))

    project = project_of(3)
    Scripted(monkeypatch, say)
    run = finished(project)
    assert (run.prompt_tokens, run.completion_tokens) == (21, 3)
    assert suggesting.retry_failures(run) == 3
    lifecycle.run_here(run.job)
    run.refresh_from_db()
    assert (run.prompt_tokens, run.completion_tokens) == (42, 6)
    assert run.samples.filter(reason="refused").count() == 3


def test_the_sample_is_the_same_in_every_run_and_holds_prompt_and_output(monkeypatch):
    monkeypatch.setattr(storing, "SAMPLE_SIZE", 5)
    project = project_of(30)
    first, second = finished(project, seed=1), finished(project, seed=2)
    sampled = set(first.samples.values_list("unit_id", flat=True))
    assert sampled == set(second.samples.values_list("unit_id", flat=True)) == set(first.job.parameters["sample"])
    assert len(sampled) == 5
    sample = first.samples.select_related("unit__evidence__claim").first()
    evidence = sample.unit.evidence
    assert sample.prompt == f"claim: {evidence.claim.text}\nevidence: {evidence.text}"
    assert sample.output.startswith("relevance: ") and not sample.is_cut and sample.reason == ""


def test_samples_are_drawn_without_regard_to_order_and_a_part_keeps_what_the_whole_would():
    keys = {number: f"claim-{number}" for number in range(500)}
    chosen = storing.sample_of(keys)
    assert len(chosen) == storing.SAMPLE_SIZE and storing.sample_of(dict(reversed(keys.items()))) == chosen
    assert chosen != list(range(50))
    part = {number: keys[number] for number in range(250)}
    assert {number for number in chosen if number < 250} <= set(storing.sample_of(part))


def test_of_each_reason_some_failures_are_kept_and_leave_when_they_are_answered(monkeypatch):
    monkeypatch.setattr(storing, "SAMPLES_PER_REASON", 4)
    answers = []

    def say(item):
        if answers:
            return Prediction(item.id, scores={"one": 1.0})
        reason = "odd" if int(item.id) % 2 else "even"
        return Prediction(item.id, error=PredictionError(reason, "", False), trace={"prompt": "p", "output": item.id})

    Scripted(monkeypatch, say)
    run = finished(project_of(30))
    assert run.failures.count() == 30
    assert sorted(run.samples.values_list("reason", flat=True)) == ["even"] * 4 + ["odd"] * 4
    assert all(sample.output == str(sample.unit_id) for sample in run.samples.all())
    answers.append(True)
    suggesting.retry_failures(run)
    lifecycle.run_here(run.job)
    assert not run.failures.exists() and not run.samples.exclude(reason="").exists()
    assert run.samples.filter(reason="").count() == 30


def test_a_trace_is_kept_as_databases_can_hold_it_and_cut_where_it_is_long(monkeypatch):
    long = "x" * (storing.TEXT_LIMIT + 5)
    prompts = {
        "plain": "a\0b\ud800c",
        "messages": [{"role": "user", "content": "say \0"}, {"role": "tool", "content": [1, 2.5, None, True]}],
        "long": [{"role": "user", "content": long}],
        "many": ["y" * 10_000] * 30,
        "odd": {"number": float("nan"), "thing": object},
    }
    names = list(prompts)

    def say(item):
        name = names[(int(item.id) - first) % len(names)]
        return Prediction(item.id, scores={"one": 1.0}, trace={"prompt": prompts[name], "output": {"raw": name}})

    project = project_of(5)
    first = min(Unit.objects.filter(dataset=project.dataset).values_list("pk", flat=True))
    Scripted(monkeypatch, say)
    run = finished(project)
    kept = {names[sample.unit_id - first]: sample for sample in run.samples.all()}
    assert kept["plain"].prompt == "a\N{REPLACEMENT CHARACTER}b?c" and not kept["plain"].is_cut
    assert kept["messages"].prompt[0]["content"] == "say \N{REPLACEMENT CHARACTER}"
    assert kept["messages"].prompt[1]["content"] == [1, 2.5, None, True]
    assert kept["long"].prompt == [{"role": "user", "content": long[: storing.TEXT_LIMIT]}] and kept["long"].is_cut
    assert len(kept["many"].prompt) == storing.PROMPT_LIMIT and kept["many"].is_cut
    assert kept["odd"].prompt["number"] == "nan"
    assert kept["odd"].output == '{"raw": "odd"}'

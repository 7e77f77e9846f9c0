"""A new run takes over what an earlier one of the same checker answered, and judges the rest."""

import pytest
from django.utils import timezone

from annotation.jobs import lifecycle
from annotation.machines.runs import reuse, storing, suggesting
from annotation.models import CheckerRun, Evidence, Job, Suggestion
from models_runtime.checkers import fake
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(suggesting, "CHUNK_SIZE", 10)
    monkeypatch.setattr(storing, "SAMPLE_SIZE", 8)


@pytest.fixture
def asked(monkeypatch):
    """Ids of the units that a checker was asked about."""
    ids = []
    real = fake.FakeChecker._answer

    def listening(self, item):
        ids.append(int(item.id))
        return real(self, item)

    monkeypatch.setattr(fake.FakeChecker, "_answer", listening)
    return ids


@pytest.fixture
def project():
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 25)
    return factories.make_project(dataset)


def finished(project, *, again=False, **parameters) -> CheckerRun:
    run = suggesting.start_run(project, project.created_by, "fake", parameters, again=again, wake_workers=False)
    assert lifecycle.run_here(run.job).state == Job.State.DONE, run.job.message
    return CheckerRun.objects.select_related("job").get(pk=run.pk)


def more(project, n=7):
    units = factories.make_claim_evidence(project.dataset, n, prefix="new-")
    factories.make_items(project)
    return {unit.pk for unit in units}


def answers(run, without=()):
    columns = ("unit_id", "dimension", "label", "probability", "probabilities", "spans", "input_hash")
    rows = run.suggestions.exclude(unit_id__in=without).order_by("unit_id", "dimension").values_list(*columns)
    scores = run.scores.exclude(unit_id__in=without).order_by("unit_id", "name").values_list("unit_id", "name", "value")
    return list(rows), list(scores)


def test_only_units_that_are_new_are_judged(project, asked):
    first = finished(project)
    assert len(asked) == 25
    new = more(project)
    asked.clear()
    second = finished(project)
    assert set(asked) == new and len(asked) == 7
    assert second.n_reused == 25 and second.job.progress_done == 32
    assert answers(second, without=new) == answers(first)
    assert second.suggestions.filter(unit_id__in=new, dimension="relevance").count() == 7
    assert second.provenance["reused_from"] == [str(first.uuid)]
    assert second.completion_tokens == 7 and second.prompt_tokens < first.prompt_tokens
    assert second.job.result["labels"]["relevance"] != first.job.result["labels"]["relevance"]


def test_prompts_and_raw_answers_come_along(project, asked):
    first = finished(project)
    new = more(project)
    second = finished(project)
    assert second.samples.count() == 8
    old = second.samples.exclude(unit_id__in=new)
    assert old.exists()
    for sample in old:
        assert sample.prompt and sample.prompt == first.samples.get(unit_id=sample.unit_id).prompt


def test_judging_everything_again_reuses_nothing(project, asked):
    finished(project)
    asked.clear()
    assert finished(project, again=True).n_reused == 0 and len(asked) == 25


@pytest.mark.parametrize("change", ["parameters", "version", "revision"])
def test_another_checker_is_not_reused(project, asked, monkeypatch, change):
    first = finished(project)
    more(project)
    asked.clear()
    if change == "version":
        CheckerRun.objects.filter(pk=first.pk).update(version="0")
    if change == "revision":
        CheckerRun.objects.filter(pk=first.pk).update(provenance=first.provenance | {"revision": "other weights"})
    assert finished(project, **({"seed": 5} if change == "parameters" else {})).n_reused == 0
    assert len(asked) == 32


def test_another_device_is_reused_and_named(project, asked):
    first = finished(project)
    CheckerRun.objects.filter(pk=first.pk).update(provenance=first.provenance | {"device": "cuda"})
    more(project)
    second = finished(project)
    assert second.n_reused == 25
    assert [other["device"] for other in second.provenance["other_workers"]] == ["cuda"]


def test_a_changed_text_is_judged_anew(project, asked):
    finished(project)
    more(project)
    changed = Evidence.objects.filter(dataset=project.dataset).first()
    Evidence.objects.filter(pk=changed.pk).update(text="Something else entirely.")
    asked.clear()
    second = finished(project)
    assert second.n_reused == 24 and changed.units.get().pk in asked


def test_other_questions_about_the_same_texts_are_asked_anew(project, asked):
    first = finished(project)
    more(project)
    asked.clear()
    project.options = {"hidden": ["stance"]}
    project.save()
    second = finished(project)
    assert second.n_reused == 0 and len(asked) == 32
    assert first.suggestions.filter(dimension="stance").exists()
    assert not second.suggestions.filter(dimension="stance").exists()


def test_the_same_run_is_not_the_same_once_other_questions_are_asked(project):
    finished(project)
    with pytest.raises(suggesting.SameRun):
        suggesting.start_run(project, project.created_by, "fake", {}, wake_workers=False)
    project.options = {"hidden": ["stance"]}
    project.save()
    assert suggesting.start_run(project, project.created_by, "fake", {}, wake_workers=False)


def test_a_project_with_the_same_questions_about_the_same_data_reuses_them(project, asked):
    first = finished(project)
    twin = factories.make_project(project.dataset)
    stranger = factories.make_project(project.dataset, "claim-evidence/three-way/1")
    asked.clear()
    second = finished(twin)
    assert second.n_reused == 25 and not asked and answers(second) == answers(first)
    assert second.device_seconds == 0 and second.prompt_tokens == 0
    assert finished(stranger).n_reused == 0 and len(asked) == 25


def test_failures_are_tried_again_and_not_taken_over(project, asked):
    first = finished(project, failure_share=0.4)
    failed = set(first.failures.values_list("unit_id", flat=True))
    assert failed
    new = more(project)
    asked.clear()
    second = finished(project, failure_share=0.4)
    assert second.n_reused == 25 - len(failed) and set(asked) == failed | new


def test_what_a_cancelled_run_had_stored_is_taken_over(project, asked):
    run = suggesting.start_run(project, project.created_by, "fake", {}, wake_workers=False)
    lifecycle.work_on(run.job_id, turn_seconds=0)
    lifecycle.request_cancel(run.job)
    asked.clear()
    assert finished(project).n_reused == 10 and len(asked) == 15


def test_a_repeated_chunk_takes_over_once(project, asked):
    finished(project)
    more(project)
    run = suggesting.start_run(project, project.created_by, "fake", {}, wake_workers=False)
    late = lifecycle.claim_chunk(run.job_id)
    run.job.chunks.filter(pk=late.chunk.pk).update(lease_expires_at=timezone.now())
    assert lifecycle.run_here(run.job).state == Job.State.DONE
    with pytest.raises(lifecycle.LeaseLost):
        suggesting.HANDLER.run_chunk(late.chunk, late)
    run.refresh_from_db()
    assert run.n_reused == 25 and run.suggestions.filter(dimension="relevance").count() == 32


def test_a_source_that_goes_away_in_between_costs_an_attempt_and_no_answer(project, asked, monkeypatch):
    first = finished(project)
    more(project)
    real = reuse.take_over

    def too_late(run, source, *rest):
        Suggestion.objects.filter(run=first).delete()
        monkeypatch.setattr(reuse, "take_over", real)
        real(run, source, *rest)

    monkeypatch.setattr(reuse, "take_over", too_late)
    second = suggesting.start_run(project, project.created_by, "fake", {}, wake_workers=False)
    assert lifecycle.run_here(second.job).state == Job.State.DONE
    assert second.suggestions.filter(dimension="relevance").count() == 32
    assert second.job.chunks.get(index=0).attempts == 2

"""A checker that works ahead: its slices overlap, and its large chunks are stored in parts."""

import threading

import pytest

from annotation.jobs import lifecycle
from annotation.machines.runs import gathering, predicting, suggesting
from annotation.models import Job, Suggestion
from models_runtime.contracts import LabelPrediction, Prediction
from tests.suggesting.test_storing import project_of

pytestmark = pytest.mark.django_db(transaction=True)


class Ahead:
    """Answers that every unit is relevant, or as `judge` does."""

    works_ahead = True

    def __init__(self, judge=None):
        self.judge, self.prepared, self.calls = judge, [], 0

    def describe(self):
        return {"checker": "embedding", "version": "2"}

    def prepare(self, inputs):
        self.prepared.append([item.id for item in inputs])
        return self.prepared[-1]

    def predict(self, inputs, ready=None):
        assert ready in (None, [item.id for item in inputs])
        self.calls += 1
        if self.judge:
            self.judge(self, inputs)
        return [Prediction(item.id, {"relevance": LabelPrediction("relevant", 1.0, {})}) for item in inputs]


def started(monkeypatch, checker, n=20, queue="gpu"):
    monkeypatch.setattr(suggesting.registry, "load", lambda *_: checker)
    monkeypatch.setattr(predicting, "SLICE_SIZE", 4)
    monkeypatch.setattr(predicting, "MAX_SLICE_SIZE", 4)
    monkeypatch.setattr(gathering, "PART", 6)
    project = project_of(n)
    return suggesting.start_run(project, project.created_by, "embedding", queue=queue, wake_workers=False)


def labelled(run) -> int:
    return Suggestion.objects.filter(run=run).values("unit").distinct().count()


def test_the_next_slice_is_prepared_while_the_model_judges_one(monkeypatch):
    third = threading.Event()

    class Noting(Ahead):
        def prepare(self, inputs):
            found = super().prepare(inputs)
            if len(self.prepared) == 2:
                third.set()
            return found

    waited = []
    checker = Noting(lambda self, _: waited.append(third.wait(20)))
    run = started(monkeypatch, checker)
    assert run.job.chunks.exclude(size=0).count() == 1  # of 20 units
    assert lifecycle.run_here(run.job).state == Job.State.DONE
    assert waited[0] and checker.calls == 5 and labelled(run) == 20
    assert [unit for part in checker.prepared for unit in part] == sorted(
        (unit for part in checker.prepared for unit in part), key=int
    )


def test_what_a_large_chunk_has_stored_is_not_asked_again_after_its_worker_died(monkeypatch):
    class Killed(BaseException):
        pass

    def die(self, _):
        if self.calls == 5:
            raise Killed

    run = started(monkeypatch, Ahead(die))
    with pytest.raises(Killed):
        lifecycle.run_here(run.job)
    assert labelled(run) == 12  # two parts of six
    run.job.refresh_from_db()
    assert run.job.progress_done == 12
    run.job.chunks.filter(state="leased").update(lease_expires_at="2020-01-01T00:00:00Z")
    later = Ahead()
    monkeypatch.setattr(suggesting.registry, "load", lambda *_: later)
    assert lifecycle.run_here(run.job).state == Job.State.DONE
    assert sum(map(len, later.prepared)) == 8 and labelled(run) == 20
    run.job.refresh_from_db()
    assert run.job.progress_done == run.job.progress_total


def test_an_input_that_breaks_a_slice_fails_alone(monkeypatch):
    def broken(self, inputs):
        if any(item.id == self.prepared[1][1] for item in inputs):
            raise RuntimeError("out of order")

    run = started(monkeypatch, Ahead(broken))
    assert lifecycle.run_here(run.job).state == Job.State.DONE
    assert labelled(run) == 19
    assert [(one.reason, "out of order" in one.message) for one in run.failures.all()] == [("checker-broke", True)]


def test_a_run_on_the_cpu_queue_keeps_small_chunks(monkeypatch):
    monkeypatch.setattr(suggesting, "CHUNK_SIZE", 10)
    run = started(monkeypatch, Ahead(), queue="cpu")
    assert sorted(run.job.chunks.exclude(size=0).values_list("size", flat=True)) == [10, 10]

"""Checker runs in real Celery workers, which are killed in the middle."""

import os
import socket

import psutil
import pytest
from celery import Celery
from kombu import Queue

from annotation.models import Chunk, Job
from annotation.services import jobs, run_storing, suggesting
from config.celery import app
from tests import factories
from tests.suggesting.workers import running_worker, wait_for, worker_environment

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def reachable(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def service(url: str, port: int, name: str):
    return pytest.param(
        url,
        marks=[
            pytest.mark.services,
            pytest.mark.skipif(not reachable(port), reason=f"{name} does not answer on {port}"),
        ],
        id=name,
    )


BROKERS = [
    pytest.param("filesystem://", id="embedded"),
    service("redis://127.0.0.1:6379/11", 6379, "Redis"),
    service("amqp://guest:guest@127.0.0.1:5672//", 5672, "RabbitMQ"),
]


@pytest.fixture
def broker(request, tmp_path, monkeypatch):
    """This process sends through the broker that the workers read from; its queues are emptied first."""
    url = request.param
    sender = Celery("sender", broker=url, set_as_current=False)
    sender.conf.update(
        task_queues=[Queue(queue.name, routing_key=queue.routing_key) for queue in app.conf.task_queues],
        task_default_queue=app.conf.task_default_queue,
        task_create_missing_queues=False,
    )
    if url.startswith("filesystem"):
        folders = {name: tmp_path / name for name in ("broker", "broker-control")}
        for folder in folders.values():
            folder.mkdir()
        sender.conf.broker_transport_options = {
            "data_folder_in": str(folders["broker"]),
            "data_folder_out": str(folders["broker"]),
            "control_folder": str(folders["broker-control"]),
        }
    with sender.connection_for_write() as link:
        for queue in sender.amqp.queues.values():
            bound = queue(link.default_channel)
            bound.declare()
            bound.purge()
            bound.delete()  # with the bindings of other versions
            bound.declare()
    monkeypatch.setattr(jobs, "current_app", sender)
    yield sender
    sender.close()


def messages_in(sender: Celery, name: str) -> int:
    with sender.connection_for_write() as link:
        return sender.amqp.queues[name](link.default_channel).queue_declare().message_count


def start(n: int, **parameters):
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, n)
    project = factories.make_project(dataset, overlap=1)
    return suggesting.start_run(project, project.created_by, "fake", parameters)


def done_chunks(run) -> dict[int, tuple]:
    rows = run.job.chunks.filter(state=Chunk.State.DONE).exclude(index=jobs.FINISH_INDEX)
    return {row.index: (row.attempts, row.started_at, row.done_at) for row in rows}


def state_of(run) -> str:
    return Job.objects.get(pk=run.job_id).state


@pytest.mark.parametrize("broker", BROKERS, indirect=True)
def test_a_killed_worker_loses_nothing_and_repeats_nothing(broker, tmp_path):
    run = start(2000, delay_ms=8)
    environment = worker_environment(tmp_path, broker.conf.broker_url)
    waiting = {name: messages_in(broker, name) for name in ("cpu", "gpu", "llm")}
    assert waiting == {"cpu": 8, "gpu": 0, "llm": 0}
    with running_worker(tmp_path, environment) as first:
        wait_for(lambda: len(done_chunks(run)) >= 2, 60, "some chunks were done", first)
        first.kill()
    before = done_chunks(run)
    in_hand = run.job.chunks.filter(state=Chunk.State.LEASED).count()
    assert 2 <= len(before) < 8 and 1 <= in_hand <= 2
    assert run.suggestions.filter(dimension="relevance").count() == sum(
        run.job.chunks.filter(index__in=before).values_list("size", flat=True)
    )
    with running_worker(tmp_path, environment) as second:
        wait_for(lambda: state_of(run) == Job.State.DONE, 60, "the run was done", second)
        assert second.stop() == 0, second.said()
    after = done_chunks(run)
    assert {index: after[index] for index in before} == before
    attempts = [attempt for attempt, _, _ in after.values()]
    assert len(attempts) == 8 and sorted(attempts)[-in_hand:] == [2] * in_hand and sum(attempts) == 8 + in_hand
    assert run.suggestions.filter(dimension="relevance").count() == 2000  # one per unit, by the constraint
    assert run.scores.filter(name="draw").count() == 2000
    run.job.refresh_from_db()
    assert run.job.progress_done == run.job.progress_total == 2000
    run.refresh_from_db()
    assert run.completion_tokens == 2000 and run.samples.count() == run_storing.SAMPLE_SIZE
    assert run.device_seconds >= 2000 * 0.008


def processes_of(group: int) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


@pytest.mark.parametrize("broker", BROKERS[:1], indirect=True)
def test_the_embedded_broker_survives_restarts_and_keeps_no_old_messages(broker, tmp_path):
    environment = worker_environment(tmp_path, broker.conf.broker_url)
    folder = tmp_path / "broker"
    with running_worker(tmp_path, environment) as first:
        wait_for(lambda: first.said().count(" succeeded in ") >= 4, 60, "the clock ticked", first)
        assert len(list(folder.glob("*.msg"))) <= 3
        first.kill()
    # Half a message and an empty routing table are what a writer leaves that is killed while it writes.
    (folder / "1_half.default.msg").write_bytes(b'{"body"')
    (tmp_path / "broker-control" / "default.exchange").write_bytes(b"")
    run = start(300)
    with running_worker(tmp_path, environment) as second:
        wait_for(lambda: state_of(run) == Job.State.DONE, 60, "the run was done", second)
        assert second.stop() == 0, second.said()
        assert "Traceback" not in second.said()
    assert len(list(folder.glob("*.msg"))) <= jobs.MAX_WAKE_MESSAGES + 3
    assert not list((tmp_path / "broker-control").glob("*.tmp"))


@pytest.mark.parametrize("broker", BROKERS[:1], indirect=True)
def test_no_process_outlives_a_killed_worker(broker, tmp_path):
    """The clock above all: another one would tick beside that of the next worker for good."""
    with running_worker(tmp_path, worker_environment(tmp_path, broker.conf.broker_url)) as worker:
        wait_for(lambda: " succeeded in " in worker.said(), 60, "the clock ticked", worker)
        group = worker.process.pid
        assert len(processes_of(group)) == 4  # itself, the clock and two to work
        worker.process.kill()
        worker.process.wait()
        wait_for(lambda: not processes_of(group), 15, "the others were gone")


@pytest.mark.parametrize("broker", BROKERS[:1], indirect=True)
def test_without_any_message_the_clock_alone_gets_a_run_done(broker, tmp_path):
    run = start(300)
    for path in (tmp_path / "broker").glob("*.msg"):
        path.unlink()
    with running_worker(tmp_path, worker_environment(tmp_path, broker.conf.broker_url)) as worker:
        wait_for(lambda: state_of(run) == Job.State.DONE, 60, "the run was done", worker)


@pytest.mark.parametrize("broker", BROKERS, indirect=True)
def test_other_work_gets_its_turn_while_a_long_run_keeps_every_process_busy(broker, tmp_path):
    long = start(4000, delay_ms=15)
    with running_worker(tmp_path, worker_environment(tmp_path, broker.conf.broker_url)) as worker:
        wait_for(lambda: len(done_chunks(long)) >= 2, 60, "the long run had begun", worker)
        other = start(50)
        wait_for(lambda: state_of(other) == Job.State.DONE, 60, "the other run was done", worker)
        assert state_of(long) == Job.State.RUNNING
        assert messages_in(broker, "default") <= 2
        # The sweep sends one a second while every process is busy; none of them stays when there is nothing to do.
        jobs.request_cancel(long.job)
        wait_for(lambda: messages_in(broker, "cpu") == 0, 60, "the messages were gone", worker)

"""Checker runs in real Celery workers, which are killed in the middle; and so are their brokers and connections."""

import json
import os
import time
from collections import Counter

import psutil
import pytest
from celery import Celery
from django.db import connection
from kombu import Queue

from annotation.jobs import lifecycle
from annotation.machines.runs import storing, suggesting
from annotation.models import Chunk, Job, Webhook
from annotation.webhooks.delivering import signature_of
from config.celery import app
from tests import factories
from tests.suggesting.brokers import Server, command_of
from tests.suggesting.workers import Worker, running_worker, wait_for, worker_environment

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def installed(name: str):
    needs = pytest.mark.skipif(command_of(name) is None, reason=f"{name} is not installed")
    return pytest.param(name, marks=[pytest.mark.services, needs], id=name)


EMBEDDED = pytest.param("embedded", id="embedded")
SERVERS = [installed("Redis"), installed("RabbitMQ")]


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    """The servers by name; each is started when it is first asked for."""
    found: dict[str, Server] = {}
    yield found
    for server in found.values():
        server.kill()


def server_of(servers: dict[str, Server], name: str, tmp_path_factory) -> Server:
    if name not in servers:
        servers[name] = Server(name, tmp_path_factory.mktemp(name))
        servers[name].start()
    return servers[name]


@pytest.fixture
def broker(request, servers, tmp_path, tmp_path_factory, monkeypatch):
    """This process sends through the broker that the workers read from; its queues are emptied first."""
    is_embedded = request.param == "embedded"
    url = "filesystem://" if is_embedded else server_of(servers, request.param, tmp_path_factory).url
    sender = Celery("sender", broker=url, set_as_current=False)
    sender.conf.update(
        task_queues=[Queue(queue.name, routing_key=queue.routing_key) for queue in app.conf.task_queues],
        task_default_queue=app.conf.task_default_queue,
        task_create_missing_queues=False,
    )
    if is_embedded:
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
    monkeypatch.setattr(lifecycle, "current_app", sender)
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
    job = Job.objects.get(pk=run.job_id)
    assert job.state != Job.State.FAILED, job.message
    rows = run.job.chunks.filter(state=Chunk.State.DONE).exclude(index=lifecycle.FINISH_INDEX)
    return {row.index: (row.attempts, row.started_at, row.done_at) for row in rows}


def state_of(run) -> str:
    return Job.objects.get(pk=run.job_id).state


def is_done(run) -> bool:
    state = state_of(run)
    assert state in (Job.State.DONE, *lifecycle.UNFINISHED), Job.objects.get(pk=run.job_id).message
    return state == Job.State.DONE


def kill_in_the_middle(run, worker: Worker, n_done: int, left: set) -> list[int]:
    """Kill the worker when that many parts are done and it works on others; their numbers. `left` has the leases of
    those killed before, which may not have run out, and gets this one's."""
    wait_for(lambda: len(done_chunks(run)) >= n_done, f"{n_done} parts were done", worker)
    in_hand = run.job.chunks.filter(state=Chunk.State.LEASED).exclude(lease_token__in=set(left))
    worker.freeze()
    while not in_hand.exists():  # between two parts
        worker.thaw()
        time.sleep(0.02)
        worker.freeze()
    worker.kill()
    held = dict(in_hand.values_list("index", "lease_token"))
    left.update(held.values())
    return list(held)


@pytest.mark.parametrize("broker", [EMBEDDED, *SERVERS], indirect=True)
def test_workers_killed_in_the_middle_lose_nothing_and_repeat_nothing(broker, tmp_path):
    run = start(2560, delay_ms=8)
    # Longer than any pause of a busy machine: a worker that lives is never taken for dead.
    environment = worker_environment(tmp_path, broker.conf.broker_url, ASSAY_CHUNK_LEASE_SECONDS="6")
    waiting = {name: messages_in(broker, name) for name in ("cpu", "gpu", "llm")}
    assert waiting == {"cpu": lifecycle.MAX_WAKE_MESSAGES, "gpu": 0, "llm": 0}
    taken, stored, left = Counter(range(10)), {}, set()
    # One that begins where another was killed is killed in its turn. To servers all deaths are alike.
    for n_done in (2, 5) if broker.conf.broker_url == "filesystem://" else (2,):
        with running_worker(tmp_path, environment) as worker:
            in_hand = kill_in_the_middle(run, worker, n_done, left)
        before, stored = stored, done_chunks(run)
        assert n_done <= len(stored) < 10 and 1 <= len(in_hand) <= 2 and not set(in_hand) & set(stored)
        assert {index: stored[index] for index in before} == before
        assert run.suggestions.filter(dimension="relevance").count() == sum(
            run.job.chunks.filter(index__in=stored).values_list("size", flat=True)
        )
        taken.update(in_hand)
    with running_worker(tmp_path, environment) as last:
        wait_for(lambda: is_done(run), "the run was done", last)
        assert last.stop() == 0, last.said()
    after = done_chunks(run)
    assert {index: after[index] for index in stored} == stored
    assert {index: attempts for index, (attempts, _, _) in after.items()} == taken
    # One per unit and dimension: by the constraint no more, by the count no less.
    units = set(run.suggestions.filter(dimension="relevance").values_list("unit", flat=True))
    assert len(units) == run.suggestions.filter(dimension="relevance").count() == 2560
    assert run.scores.filter(name="draw").count() == 2560
    run.job.refresh_from_db()
    assert run.job.progress_done == run.job.progress_total == 2560
    run.refresh_from_db()
    assert run.completion_tokens == 2560 and run.samples.count() == storing.SAMPLE_SIZE
    assert run.device_seconds >= 2560 * 0.008


@pytest.mark.parametrize("broker", SERVERS, indirect=True)
def test_a_broker_that_dies_and_comes_back_costs_nothing(broker, servers, tmp_path, request, receiver):
    """Redis comes back empty. What workers have in hand goes on meanwhile, and webhooks are told of its end."""
    server = servers[request.node.callspec.params["broker"]]
    run = start(3000, delay_ms=8)
    hook = Webhook.objects.create(
        project=run.project, url=receiver.url, events=["job.done"], secret="whsec_a", created_by=run.created_by
    )
    more = {"ASSAY_CHUNK_LEASE_SECONDS": "6", "ASSAY_WEBHOOK_HOSTS": receiver.host}
    environment = worker_environment(tmp_path, server.url, **more)
    with running_worker(tmp_path, environment) as worker:
        wait_for(lambda: len(done_chunks(run)) >= 2, "some parts were done", worker)
        server.kill()
        at_death = len(done_chunks(run))
        wait_for(lambda: len(done_chunks(run)) > at_death, "work went on", worker)
        during = start(50)  # its message reaches nobody
        server.start()
        after = start(50)
        for one in (run, during, after):
            wait_for(lambda one=one: is_done(one), "the run was done", worker)
        wait_for(lambda: hook.deliveries.filter(state="delivered").exists(), "the webhook was told", worker)
    [(_, headers, body)] = receiver.got
    assert json.loads(body)["job"]["uuid"] == str(run.job.uuid)
    moment = headers["Assay-Signature"].removeprefix("t=").partition(",")[0]
    assert headers["Assay-Signature"] == signature_of("whsec_a", int(moment), body)
    assert {attempts for attempts, _, _ in done_chunks(run).values()} == {1}
    assert [one.suggestions.filter(dimension="relevance").count() for one in (run, during, after)] == [3000, 50, 50]


@pytest.mark.parametrize("broker", SERVERS, indirect=True)
def test_a_broker_that_dies_again_and_again_ends_no_worker_and_strands_no_job(broker, servers, tmp_path, request):
    """Many short jobs, so that messages are received and acknowledged while it dies. Nobody starts anything anew."""
    server = servers[request.node.callspec.params["broker"]]
    environment = worker_environment(tmp_path, server.url)
    with running_worker(tmp_path, environment) as worker:
        runs = []
        for death in range(4):
            more = [start(40, delay_ms=3) for _ in range(8)]
            runs += more
            wait_for(lambda more=more: any(is_done(run) for run in more), "a job was done", worker)
            server.kill()
            time.sleep(0.5 * death)
            server.start()
        for run in runs:
            wait_for(lambda run=run: is_done(run), "all jobs were done", worker)
        assert worker.process.poll() is None
    assert all(run.suggestions.filter(dimension="relevance").count() == 40 for run in runs)


@pytest.mark.on_postgresql
@pytest.mark.skipif(connection.vendor != "postgresql", reason="a database server is what can go away")
@pytest.mark.parametrize("broker", [EMBEDDED], indirect=True)
def test_connections_that_the_database_cuts_lose_nothing_and_repeat_nothing(broker, tmp_path):
    """What workers see of a database that crashes and comes back: connections gone, open transactions undone."""
    run = start(2000, delay_ms=8)
    stored = {}
    with running_worker(tmp_path, worker_environment(tmp_path, broker.conf.broker_url)) as worker:
        for n_done in (2, 4):
            wait_for(lambda n=n_done: len(done_chunks(run)) >= n, "some parts were done", worker)
            with connection.cursor() as cursor:
                cursor.execute(
                    "select count(pg_terminate_backend(pid)) from pg_stat_activity"
                    " where datname = current_database() and pid <> pg_backend_pid()"
                )
                assert cursor.fetchone()[0] >= 1
            before, stored = stored, done_chunks(run)
            assert {index: stored[index] for index in before} == before
        wait_for(lambda: is_done(run), "the run was done", worker)
    after = done_chunks(run)
    assert {index: after[index] for index in stored} == stored
    assert run.suggestions.filter(dimension="relevance").count() == run.scores.filter(name="draw").count() == 2000
    run.refresh_from_db()
    assert run.completion_tokens == 2000


def processes_of(group: int) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return found


@pytest.mark.parametrize("broker", [EMBEDDED], indirect=True)
def test_the_embedded_broker_survives_restarts_and_keeps_no_old_messages(broker, tmp_path):
    environment = worker_environment(tmp_path, broker.conf.broker_url)
    folder = tmp_path / "broker"
    with running_worker(tmp_path, environment) as first:
        wait_for(lambda: first.said().count(" succeeded in ") >= 4, "the clock ticked", first)
        assert len(list(folder.glob("*.msg"))) <= 3
        first.kill()
    # Half a message and an empty routing table are what a writer leaves that is killed while it writes.
    (folder / "1_half.default.msg").write_bytes(b'{"body"')
    (tmp_path / "broker-control" / "default.exchange").write_bytes(b"")
    run = start(300)
    with running_worker(tmp_path, environment) as second:
        wait_for(lambda: is_done(run), "the run was done", second)
        assert second.stop() == 0, second.said()
        assert "Traceback" not in second.said()
    assert len(list(folder.glob("*.msg"))) <= lifecycle.MAX_WAKE_MESSAGES + 3
    assert not list((tmp_path / "broker-control").glob("*.tmp"))


@pytest.mark.parametrize("broker", [EMBEDDED], indirect=True)
def test_no_process_outlives_a_killed_worker(broker, tmp_path):
    """The clock above all: another one would tick beside that of the next worker for good."""
    with running_worker(tmp_path, worker_environment(tmp_path, broker.conf.broker_url)) as worker:
        wait_for(lambda: " succeeded in " in worker.said(), "the clock ticked", worker)
        group = worker.process.pid
        assert len(processes_of(group)) == 4  # itself, the clock and two to work
        worker.process.kill()
        worker.process.wait()
        wait_for(lambda: not processes_of(group), "the others were gone")


@pytest.mark.parametrize("broker", [EMBEDDED], indirect=True)
def test_without_any_message_the_clock_alone_gets_a_run_done(broker, tmp_path):
    run = start(300)
    for path in (tmp_path / "broker").glob("*.msg"):
        path.unlink()
    with running_worker(tmp_path, worker_environment(tmp_path, broker.conf.broker_url)) as worker:
        wait_for(lambda: is_done(run), "the run was done", worker)


@pytest.mark.parametrize("broker", [EMBEDDED, *SERVERS], indirect=True)
def test_other_work_gets_its_turn_while_a_long_run_keeps_every_process_busy(broker, tmp_path):
    long = start(4000, delay_ms=15)
    with running_worker(tmp_path, worker_environment(tmp_path, broker.conf.broker_url)) as worker:
        wait_for(lambda: len(done_chunks(long)) >= 2, "the long run had begun", worker)
        other = start(50)
        wait_for(lambda: is_done(other), "the other run was done", worker)
        assert state_of(long) == Job.State.RUNNING
        assert messages_in(broker, "default") <= 2
        # The sweep sends one a second while every process is busy; none of them stays when there is nothing to do.
        lifecycle.request_cancel(long.job)
        wait_for(lambda: messages_in(broker, "cpu") == 0, "the messages were gone", worker)

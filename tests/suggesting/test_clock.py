"""A worker whose clock is killed, and a killed worker: nothing stands still, and nothing stays behind."""

import os
import re
import signal

import psutil
import pytest

from annotation.machines.runs import suggesting
from annotation.models import Chunk, Job
from tests import factories
from tests.suggesting.workers import Worker, running_worker, wait_for, worker_environment

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def run_of(n: int, **parameters):
    """A run that no message announces: only the clock's sweep finds it."""
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, n)
    project = factories.make_project(dataset, overlap=1)
    return suggesting.start_run(project, project.created_by, "fake", parameters, wake_workers=False)


def is_done(run) -> bool:
    return Job.objects.get(pk=run.job_id).state == Job.State.DONE


def children_of(worker: Worker) -> list[psutil.Process]:
    return psutil.Process(worker.process.pid).children(recursive=True)


def clock_of(worker: Worker) -> psutil.Process:
    """As the worker last said; it is older or younger than the pool's processes."""
    wait_for(lambda: len(children_of(worker)) == 3, "there were a clock and two pool processes", worker)
    said = wait_for(lambda: re.findall(r"The clock's process is (\d+)", worker.said()), "it said which", worker)
    return psutil.Process(int(said[-1]))


def test_a_clock_that_dies_is_started_again(tmp_path):
    with running_worker(tmp_path, worker_environment(tmp_path, "filesystem://")) as worker:
        first = run_of(3)
        wait_for(lambda: is_done(first), "the clock found the first run", worker)
        clock_of(worker).kill()
        second = run_of(3)
        wait_for(lambda: is_done(second), "the clock found the second run", worker)
        assert len(children_of(worker)) == 3
        assert worker.said().count("The clock's process has ended; starting it again") == 1


def test_a_clock_that_was_started_again_ends_with_its_worker(tmp_path):
    with running_worker(tmp_path, worker_environment(tmp_path, "filesystem://")) as worker:
        clock_of(worker).kill()
        wait_for(lambda: "starting it again" in worker.said(), "the clock was started again", worker)
        wait_for(lambda: worker.said().count("The clock's process is ") == 2, "the new one was named", worker)
        clock_of(worker)
        children = children_of(worker)
        assert worker.stop() == 0
        assert psutil.wait_procs(children, timeout=10)[1] == []


def test_a_killed_workers_processes_end_in_the_middle_of_their_work(tmp_path):
    long = run_of(20, delay_ms=60_000)
    with running_worker(tmp_path, worker_environment(tmp_path, "filesystem://")) as worker:
        at_work = long.job.chunks.filter(state=Chunk.State.LEASED)
        wait_for(at_work.exists, "a pool process was at work", worker)
        children = children_of(worker)
        assert len(children) == 3
        os.kill(worker.process.pid, signal.SIGKILL)
        assert psutil.wait_procs(children, timeout=10)[1] == []

"""Workers have what first figures need before anybody asks for them; those that compute no reports load nothing."""

import json
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from analysis.models import StoredReport
from analysis.reports.metrics import get_report
from analysis.reports.stored import stored_report
from annotation.models import Job
from tests.suggesting.workers import ROOT, Worker, running_worker, wait_for, worker_environment
from tests.test_architecture import HEAVY
from tests.world.study import WORLDS, study

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
NEEDED = {"numpy", "pandas", "pyarrow", "scipy"}


def loaded(process: psutil.Process) -> set[str]:
    """The heavy libraries of which the process has compiled parts in its memory."""
    maps = Path(f"/proc/{process.pid}/maps").read_text()
    return {name for name in HEAVY if f"/site-packages/{name}/" in maps}


def children_of(worker: Worker) -> list[psutil.Process]:
    children = psutil.Process(worker.process.pid).children()
    return [child for child in children if child.status() != psutil.STATUS_ZOMBIE]


def wait_until_ready(worker: Worker) -> None:
    wait_for(lambda: " ready." in worker.said(), "the worker was ready", worker)


def test_processes_that_compute_reports_start_with_the_libraries_in_memory_that_they_share(tmp_path):
    with running_worker(tmp_path, worker_environment(tmp_path, "filesystem://"), "default") as worker:
        wait_until_ready(worker)
        children = children_of(worker)
        assert len(children) == 3  # the clock and two to work
        assert [loaded(child) for child in children] == [NEEDED] * 3
        # Shared: the libraries' data alone are several times as much as a process that does nothing has to itself.
        together = sum(child.memory_full_info().pss for child in children)
        assert together < max(child.memory_info().rss for child in children) * 1.5
        # One that takes the place of a killed one has them too.
        for child in children:
            child.kill()
        before = {child.pid for child in children}
        later = wait_for(
            lambda: found if len(found := [one for one in children_of(worker) if one.pid not in before]) == 2 else None,
            "others took their place",
            worker,
        )
        assert [loaded(child) for child in later] == [NEEDED] * 2


def test_workers_of_other_queues_load_nothing(tmp_path):
    with running_worker(tmp_path, worker_environment(tmp_path, "filesystem://"), "cpu,gpu,llm") as worker:
        wait_until_ready(worker)
        processes = [psutil.Process(worker.process.pid), *children_of(worker)]
        assert [loaded(process) for process in processes] == [set()] * 4


def test_a_report_that_is_asked_for_at_once_has_the_figures_of_any_other_process(tmp_path):
    project = study(12)
    with running_worker(tmp_path, worker_environment(tmp_path, "filesystem://"), "default") as worker:
        wait_until_ready(worker)
        report = stored_report(project, "agreement", {"raters": "all"}, project.created_by)
        wait_for(lambda: Job.objects.get(pk=report.job_id).is_finished, "the report was computed", worker)
    job = Job.objects.get(pk=report.job_id)
    assert job.state == Job.State.DONE, job.message
    report = StoredReport.objects.get(pk=report.pk)
    here = get_report("agreement").compute(project, raters="all")
    for result in (report.result, here):
        result.pop("made_from")
    here.pop("behind")
    assert report.result == json.loads(json.dumps(here)) and report.result["dimensions"][0]["figures"]
    assert not report.is_partial and report.pictures


LOADED_BY_FIRST_FIGURES = """
import json, sys
import django
django.setup()
from analysis import preloading
from analysis.reports.metrics import get_report
from annotation.models import Project
preloading.load()
loaded = {}
for name, slug, options in json.loads(sys.argv[1]):
    before = set(sys.modules)
    get_report(name).compute(Project.objects.get(slug=slug), quick=True, **options)
    loaded[name] = sorted(set(sys.modules) - before)
print(json.dumps(loaded))
"""
# pandas loads pyarrow, and that two small modules of its own when the first frame has text.
LIBRARIES = HEAVY - {"pyarrow"}


def test_first_figures_load_no_further_library(tmp_path):
    asked = []
    for name in ("agreement", "annotators", "comparison", "druid"):
        project, options = WORLDS[name]()
        asked.append((name, project.slug, options))
    done = subprocess.run(
        [sys.executable, "-c", LOADED_BY_FIRST_FIGURES, json.dumps(asked)],
        cwd=ROOT,
        env=worker_environment(tmp_path, "filesystem://"),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    heavy = {
        name: {module for module in modules if module.partition(".")[0] in LIBRARIES}
        for name, modules in json.loads(done.stdout).items()
    }
    assert heavy == {name: set() for name, *_ in asked}

"""The first report of a worker that has just started: how long until its page shows numbers, and what starting takes.

    python -m benchmarks.results.first_report [--pairs 48517] [--raters 3] [--delays 0 1 3] [--repeat 3] [--quick]

A worker is started anew for every report and delay, as `make demo` starts it. A report is asked for that many seconds
after the worker says that it is ready. Processor time is that of all of the worker's processes. Each number is the
least of its repetitions: what else the machine does only adds to them. PSS shares a page of memory out among the
processes that have it, so that the sum is what the worker takes.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.results.runs import add_run
from benchmarks.shared.processes import ROOT, run
from benchmarks.shared.project import PAIRS, SLUG, build

RATERS = 3
REPORTS = ("agreement", "annotators", "comparison", "druid")
COMMAND = ["-A", "config", "worker", "-B", "--pool", "prefork", "--concurrency", "2", "--loglevel", "INFO"]
COMMAND += ["--without-gossip", "--without-mingle"]
LOOK_SECONDS = 0.02
PATIENCE_SECONDS = 300


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--raters", type=int, default=RATERS)
    parser.add_argument("--reports", nargs="+", choices=REPORTS, default=REPORTS)
    parser.add_argument("--delays", nargs="+", type=float, default=[0, 1, 3])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="500 pairs, one report, once")
    options = parser.parse_args()
    if options.quick:
        options.pairs, options.reports, options.delays, options.repeat = 500, REPORTS[:1], [0], 1
    given = [*("--reports", *options.reports), *("--delays", *map(str, options.delays)), f"--repeat={options.repeat}"]
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        env = build(Path(name), options.pairs, raters=options.raters)
        print(f"{options.pairs:,} pairs with {options.raters} annotations each, SQLite", flush=True)
        run(env, "-m", "benchmarks.results.first_report", "--measure", *given)


def measure() -> None:
    import django

    django.setup()
    from annotation.models import CheckerRun, Project

    parser = argparse.ArgumentParser()
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--reports", nargs="+")
    parser.add_argument("--delays", nargs="+", type=float)
    parser.add_argument("--repeat", type=int)
    options = parser.parse_args()
    project = Project.objects.get(slug=SLUG)
    if "comparison" in options.reports and not CheckerRun.objects.filter(project=project).exists():
        add_run(project)
    print(f"{'queues':<10} {'ready s':>8} {'processor s':>12} {'PSS MB':>7} {'greatest RSS MB':>16}")
    for queues in ("default,cpu,gpu,llm", "cpu"):
        best = least(start_only(queues) for _ in range(options.repeat))
        ready, spent, pss, rss = best
        print(f"{queues[:10]:<10} {ready:>8.2f} {spent:>12.2f} {pss:>7.0f} {rss:>16.0f}", flush=True)
    print(f"{'report':<12} {'asked after s':>13} {'first figures s':>16} {'processor s':>12}")
    for name in options.reports:
        for delay in options.delays:
            seconds, spent = least(first_figures(project, name, delay) for _ in range(options.repeat))
            print(f"{name:<12} {delay:>13g} {seconds:>16.2f} {spent:>12.2f}", flush=True)


def least(rows) -> list[float]:
    return [min(column) for column in zip(*rows, strict=True)]


def start_only(queues: str) -> tuple[float, float, float, float]:
    """Seconds until ready, processor seconds until then, and MB two seconds later."""
    started = time.perf_counter()
    with worker(queues) as processes:
        ready, spent = time.perf_counter() - started, seconds_of(processes())
        time.sleep(2)
        memory = [process.memory_full_info() for process in processes()]
    return ready, spent, sum(one.pss for one in memory) / 2**20, max(one.rss for one in memory) / 2**20


def first_figures(project, name: str, delay: float) -> tuple[float, float]:
    """Seconds and processor seconds from asking for the report until its page has numbers to show."""
    from analysis.models import StoredReport
    from analysis.reports.stored import stored_report
    from annotation.models import CheckerRun, Job

    StoredReport.objects.all().delete()
    Job.objects.filter(kind=Job.Kind.REPORT).delete()
    parameters = {}
    if name == "comparison":
        parameters = {"run": str(CheckerRun.objects.get(project=project).uuid)}
    with worker("default,cpu,gpu,llm") as processes:
        time.sleep(delay)
        before, started = seconds_of(processes()), time.perf_counter()
        report = stored_report(project, name, parameters, project.created_by)
        end = started + PATIENCE_SECONDS
        while not StoredReport.objects.filter(pk=report.pk, computed_at__isnull=False).exists():
            report.job.refresh_from_db()
            if report.job.state == Job.State.FAILED or time.perf_counter() > end:
                raise SystemExit(f"{name}: {report.job.message or 'no figures'}")
            time.sleep(LOOK_SECONDS)
        return time.perf_counter() - started, seconds_of(processes()) - before


@contextlib.contextmanager
def worker(queues: str):
    """A worker that says that it is ready; what gives its processes. It is killed afterwards."""
    import psutil

    with tempfile.NamedTemporaryFile(suffix=".log") as log:
        command = [sys.executable, "-m", "celery", *COMMAND, "-Q", queues]
        parent = psutil.Popen(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT)
        end = time.perf_counter() + PATIENCE_SECONDS
        try:
            while b" ready." not in Path(log.name).read_bytes():
                if parent.poll() is not None or time.perf_counter() > end:
                    raise SystemExit(Path(log.name).read_text())
                time.sleep(LOOK_SECONDS)
            yield lambda: [parent, *parent.children(recursive=True)]
        finally:
            for process in [*parent.children(recursive=True), parent]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            parent.wait()


def seconds_of(processes) -> float:
    times = [process.cpu_times() for process in processes]
    return sum(one.user + one.system for one in times)


if __name__ == "__main__":
    measure() if "--measure" in sys.argv else main()

"""Memory of the web processes while checker runs go on and people load pages.

    python -m benchmarks.labelling.web_memory [--quick] [--items N] [--seconds N]

The production server over a database of its own, with a worker whose runs load a model. Every page below the
project that a link leads to is loaded again and again. What counts is the resident memory of the greatest gunicorn
process, shared libraries included.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request

from benchmarks.labelling.page import EVIDENCE, served
from benchmarks.shared.processes import ROOT

LIMIT_MB = 200
LINK = re.compile(r'href="(/[^"#?]*)')
CHECKERS = ("lexical", "embedding", "characteristics")


def fill(user, items: int) -> None:
    from annotation.machines.runs import suggesting
    from tests.factories import make_claim_evidence, make_dataset, make_project

    dataset = make_dataset(slug="claims")
    make_claim_evidence(dataset, items, texts=[f"{number} {EVIDENCE}" for number in range(items)])
    project = make_project(dataset, overlap=1, annotators=[user], slug="claims")
    project.memberships.update(role="owner")
    for checker in CHECKERS:
        suggesting.start_run(project, user, checker)
    suggesting.start_run(project, user, "fake", {"delay_ms": 20})


def resident_mb(command: str) -> list[float]:
    """Of the processes that this one started (and theirs) with `command` in their command line."""
    import psutil

    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if command in " ".join(process.cmdline()):
                found.append(process.memory_info().rss / 2**20)
        except psutil.NoSuchProcess:
            continue
    return found


def load(address: str, cookie: str) -> str:
    request = urllib.request.Request(address, headers={"Cookie": f"sessionid={cookie}"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            is_page = answer.headers.get_content_type() == "text/html"
            return answer.read().decode() if is_page else ""
    except urllib.error.HTTPError:
        return ""  # not for this person, or not by GET


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--items", type=int)
    parser.add_argument("--seconds", type=float)
    options = parser.parse_args()
    items = options.items or (300 if options.quick else 5000)
    seconds = options.seconds or (15 if options.quick else 120)

    import psutil

    with served(fill, items) as (address, cookie):
        worker = subprocess.Popen(
            [sys.executable, "-m", "celery", "-q", "-A", "config", "worker", "-B", "--pool", "prefork"]
            + ["--concurrency", "2", "-Q", "default,cpu", "--loglevel", "ERROR"],
            cwd=ROOT,
            env=os.environ | {"PYTHONWARNINGS": "ignore"},
        )
        try:
            waiting, known = ["/"], {"/"}
            loaded, greatest, of_worker = 0, 0.0, 0.0
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                path = waiting.pop(0)
                page = load(address + path, cookie)
                loaded += 1
                for link in LINK.findall(page):
                    if link not in known and not link.startswith("/static/"):
                        known.add(link)
                        waiting.append(link)
                waiting.append(path)
                greatest = max(greatest, *resident_mb("gunicorn"))
                of_worker = max(of_worker, *resident_mb("celery"))
        finally:
            # Its runs are not to be finished.
            for process in [*psutil.Process(worker.pid).children(recursive=True), worker]:
                process.kill()
            worker.wait()
    print(f"{items:,} items, {len(CHECKERS) + 1} runs, {loaded:,} pages of {len(known)} addresses in {seconds:.0f} s")
    print(f"greatest web process {greatest:.0f} MB (aim: below {LIMIT_MB}), greatest worker process {of_worker:.0f} MB")


if __name__ == "__main__":
    main()

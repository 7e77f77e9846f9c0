"""A lead opens a project of 1,000,000 items, searches, exports, releases and reads agreement while ten people label.

    python -m benchmarks.decisions.leading [--items 1000000] [--pause 2] [--patience 900] [--keep] [--quick]

Chromium and the annotators use the production server with two processes and a worker with two. Of each step `page` is
the time from the click until the new page is painted, `silent` the longest time in which nothing on the screen showed
that work was going on, and `all` that until what was asked for is there. Annotators pause between answers, as people
do. Their answers per second, and how long one takes, are compared with those of `--alone` seconds without the lead.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import statistics
import threading
import time
from collections.abc import Iterator
from typing import NamedTuple

from benchmarks.labelling.page import ARGUMENTS
from benchmarks.labelling.submit import SLUG, Page, session_of
from benchmarks.shared.large import add_options, databases
from benchmarks.shared.processes import run, web_server, worker

AIM_SILENT_MS, AIM_PACE = 1000, 0.95
ANNOTATORS = 10
LOOK_SECONDS = 0.02
# What is on the screen; null while it is the page that was left.
LOOK = """(done) => window.left || !performance.getEntriesByName("first-contentful-paint").length ? null : {
  shows: [...document.querySelectorAll("progress, [role=status]")].some((one) => one.checkVisibility()),
  done: Boolean(document.querySelector(done)),
}"""


class Step(NamedTuple):
    """`goes_to` is an address or a selector of what is clicked, after `typed` is entered in the search; `done` is a
    selector of what is there in the end."""

    title: str
    goes_to: str
    done: str = "main"
    typed: str = ""


OF_PROJECT = f"/projects/{SLUG}"
CREATE = "section[aria-labelledby=new] button[type=submit]"
STEPS = (
    Step("home", "/"),
    Step("project", f"{OF_PROJECT}/"),
    Step("items", f"{OF_PROJECT}/items/"),
    *(
        Step(f"search for {text}", "form[role=search] button", typed=text)
        for text in ("harbour", "c77/e3", "zzzz no such words")
    ),
    Step("disagreements", f"{OF_PROJECT}/items/?filter=disagreed"),
    Step("members", f"{OF_PROJECT}/members/", "tbody .num"),
    Step("members, most answers first", "a[href='?sort=judged']", "tbody .num"),
    Step("progress", f"{OF_PROJECT}/progress/", "tbody .num"),
    Step("exports", f"{OF_PROJECT}/exports/"),
    Step("an export", CREATE, "[aria-labelledby=export-1] a[href^='/artifacts/']"),
    Step("releases", f"{OF_PROJECT}/releases/"),
    Step("a release", CREATE, "a[href^='/artifacts/']"),
    Step("agreement, first figures", f"{OF_PROJECT}/agreement/", ".answer"),
    Step("agreement, whole", f"{OF_PROJECT}/agreement/", "#methods"),
)


class Annotators:
    """People at the labelling page, each in a thread."""

    def __init__(self, port: int, sessions: list[str], pause: float):
        self.pause, self.times, self.errors, self.stopped = pause, [], [], threading.Event()
        self.threads = [threading.Thread(target=self.label, args=(port, one), daemon=True) for one in sessions]
        for thread in self.threads:
            thread.start()

    def label(self, port: int, session: str) -> None:
        try:
            page = Page(port, session)
            page.start()
            while not self.stopped.wait(self.pause * random.uniform(0.5, 1.5)):
                self.times.append((time.perf_counter(), page.submit_and_go_on()))
        except Exception as error:
            self.errors.append(repr(error))

    def stop(self) -> None:
        self.stopped.set()
        for thread in self.threads:
            thread.join()

    def since(self, start: float) -> tuple[float, float, float]:
        """Answers per second, and the median and the 95th percentile of one in ms."""
        spent = sorted(took for at, took in self.times if at >= start)
        return (
            len(spent) / (time.perf_counter() - start),
            statistics.median(spent) * 1000,
            spent[-len(spent) // 20] * 1000,
        )


def take(page, step: Step, patience: float) -> tuple[float, float, float, bool]:
    """Seconds until the page, the longest silent ones, and all of them; whether what was asked for came."""
    page.evaluate("window.left = true")
    if step.typed:
        page.fill("#search", step.typed)
    started = last = time.perf_counter()
    if step.goes_to.startswith("/"):
        page.evaluate("(address) => location.assign(address)", step.goes_to)
    else:
        page.evaluate("(selector) => document.querySelector(selector).click()", step.goes_to)
    shown, silent = 0.0, 0.0
    while True:
        found = None
        with contextlib.suppress(Exception):  # between two pages there is none to look at
            found = page.evaluate(LOOK, step.done)
        now = time.perf_counter()
        silent = max(silent, now - last)
        if found and (found["shows"] or not shown):
            last = now
        if found and not shown:
            shown = now - started
        if found and found["done"] or now - started > patience:
            return shown, silent, now - started, bool(found and found["done"])
        time.sleep(LOOK_SECONDS)


@contextlib.contextmanager
def lead_at(port: int, session: str) -> Iterator:
    """A page of Chromium of a lead who has signed in."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        context = browser.new_context(base_url=f"http://127.0.0.1:{port}")
        context.add_cookies([{"name": "sessionid", "value": session, "url": f"http://127.0.0.1:{port}"}])
        page = context.new_page()
        page.goto("/accounts/login/")
        yield page
        browser.close()


def sessions_of_annotators() -> list[str]:
    import django

    django.setup()
    from analysis.models import StoredReport
    from annotation.models import Job, Project, User
    from annotation.projects import guidelines

    # Of an earlier run on a database that was kept.
    StoredReport.objects.all().delete()
    Job.objects.filter(state__in=[Job.State.QUEUED, Job.State.RUNNING]).update(state=Job.State.CANCELLED)
    people = User.objects.filter(username__startswith="annotator").order_by("pk")[:ANNOTATORS]
    for person in people:
        guidelines.acknowledge(Project.objects.get(slug=SLUG), person, 1)
    return [session_of(person) for person in people]


def measure(title: str, session: str, options: argparse.Namespace) -> None:
    sessions = sessions_of_annotators()
    with worker(os.environ, 2), web_server(os.environ) as (port, _), lead_at(port, session) as page:
        annotators = Annotators(port, sessions, options.pause)
        time.sleep(5)
        start = time.perf_counter()
        time.sleep(options.alone)
        alone, start = annotators.since(start), time.perf_counter()
        for step in STEPS:
            shown, silent, whole, came = take(page, step, options.patience)
            notes = [] if came else ["not finished"]
            notes += ["silent"] if silent * 1000 > AIM_SILENT_MS else []
            print(
                f"{title}\t{step.title}\t{shown * 1000:.0f}\t{silent * 1000:.0f}\t{whole:.1f}\t{', '.join(notes)}",
                flush=True,
            )
        together = annotators.since(start)
        for name, (rate, median, high) in (("alone", alone), ("with the lead", together)):
            print(f"{title}\tannotators {name}: {rate:.2f} answers/s, p50 {median:.0f} ms, p95 {high:.0f} ms")
        print(
            f"{title}\tratio of the pace: {together[0] / alone[0]:.2f} (aim: {AIM_PACE}) {' '.join(annotators.errors)}",
            flush=True,
        )
        annotators.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    parser.add_argument("--pause", type=float, default=2.0, help="seconds between an annotator's answers")
    parser.add_argument("--alone", type=float, default=60.0, help="seconds of labelling without the lead")
    parser.add_argument("--patience", type=float, default=900.0, help="seconds that the lead waits for a step at most")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        return measure(*options.measure, options)
    options.alone = min(options.alone, 10.0) if options.quick else options.alone
    print("database\tstep\tpage, ms\tsilent, ms\tall, s", flush=True)
    for title, large in databases(options):
        numbers = [f"--{name}={getattr(options, name)}" for name in ("pause", "alone", "patience")]
        run(large.env, "-m", "benchmarks.decisions.leading", *numbers, "--measure", title, large.sessions["owner"])


if __name__ == "__main__":
    main()

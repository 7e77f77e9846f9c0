"""The labelling page in Chromium against the production server: weight, requests, memory, time to the next item.

    python -m benchmarks.labelling.page [--quick]

Builds a database of its own (SQLite in a temporary folder), collects the static files, starts gunicorn on loopback and
labels with the keyboard. Time is measured in the page, from the key press that submits until the frame that shows the
next item has been painted; the script part ends when the item is in the document and laid out. 50 items per task, and
ten of the longest, whose labels take thousands of key presses.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.shared.processes import environment, web_server

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-precise-memory-info",
)
COLUMNS = ("task", "wire kB", "full kB", "requests", "heap MB", "script ms", "paint ms", "paint p95", "item kB")
EVIDENCE = (
    "The harbour office keeps a diary of every winter, and its pages report open water on all but two days. " * 12
)

# Tasks: slug of the project, its task type, triplets per item, and the digits that answer an item.
TASKS = {
    "claim-evidence": ("claim-evidence/six-way/1", 0, "16"),
    "triplets": ("triplets/-/1", 6, "1" * 6),
    "200 triplets": ("triplets/-/1", 200, "1" * 200),
}

# Presses Enter and waits for the paint of what follows: [milliseconds of script and layout, milliseconds to the paint].
SUBMIT = """() => new Promise((done) => {
  const before = document.querySelector("#stage [data-item]").dataset.item;
  const start = performance.now();
  document.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", code: "Enter", bubbles: true}));
  document.body.getBoundingClientRect();
  const script = performance.now() - start;
  const isNext = () => (document.querySelector("#stage [data-item]")?.dataset.item ?? before) !== before;
  const look = () => requestAnimationFrame(() => {
    if (!isNext()) return look();
    const channel = new MessageChannel();  // its message comes right after the frame's paint
    channel.port1.onmessage = () => done([script, performance.now() - start]);
    channel.port2.postMessage(null);
  });
  look();
})"""
HAS_AHEAD = "performance.getEntriesByName('assay:ahead').length >= performance.getEntriesByName('assay:shown').length"


def prepare(fill: Callable, items: int, out: Path) -> None:
    """Tables, static files and what `fill(user, items)` makes, in a process of its own; writes the session's cookie."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.test import Client

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    from annotation.models import Project
    from annotation.projects import guidelines
    from tests.factories import make_user

    user = make_user("ann")
    fill(user, items)
    for project in Project.objects.all():
        guidelines.acknowledge(project, user, 1)
    client = Client()
    client.force_login(user)
    out.write_text(client.cookies["sessionid"].value)


def fill(user, items: int) -> None:
    """One project per task."""
    from tests.factories import make_claim_evidence, make_dataset, make_project, make_responses_with_triplets

    for slug, (identifier, triplets, _) in TASKS.items():
        slug = slug.replace(" ", "-")
        dataset = make_dataset(slug=slug)
        if triplets:
            make_responses_with_triplets(dataset, items, triplets=triplets)
        else:
            make_claim_evidence(dataset, items, texts=[EVIDENCE] * items)
        make_project(dataset, identifier, overlap=1, annotators=[user], slug=slug)


@contextlib.contextmanager
def served(fill: Callable, items: int) -> Iterator[tuple[str, str]]:
    """The production server over a database that `fill(user, items)` made: its address and the session's cookie."""
    with tempfile.TemporaryDirectory(prefix="assay-page-") as folder:
        os.environ |= environment(Path(folder))  # of the builder, the server, and what the caller starts as well
        cookie = Path(folder) / "session"
        builder = multiprocessing.get_context("spawn").Process(target=prepare, args=(fill, items, cookie))
        builder.start()
        builder.join()
        if builder.exitcode:
            raise SystemExit("The benchmark's database could not be built")
        with web_server(os.environ) as (port, _):
            yield f"http://127.0.0.1:{port}", cookie.read_text()


def until(page, condition: str) -> None:
    end = time.monotonic() + 30
    while not page.evaluate(condition):
        if time.monotonic() > end:
            raise SystemExit(f"waited in vain for {condition}")
        page.wait_for_timeout(10)


def measure(browser, address: str, session: str, task: str, items: int) -> dict[str, float]:
    """Loads the task's page with an empty cache, then labels `items` items."""
    digits = TASKS[task][2]
    items = min(items, 10) if len(digits) > 50 else items
    context = browser.new_context(base_url=address, viewport={"width": 1280, "height": 800})
    context.add_cookies([{"name": "sessionid", "value": session, "url": address}])
    page = context.new_page()
    devtools = context.new_cdp_session(page)
    devtools.send("Network.enable")
    weights = {"wire": 0, "full": 0}
    requests: list[str] = []
    devtools.on("Network.requestWillBeSent", lambda event: requests.append(event["request"]["url"]))
    devtools.on("Network.loadingFinished", lambda event: add(weights, "wire", event["encodedDataLength"]))
    devtools.on("Network.dataReceived", lambda event: add(weights, "full", event["dataLength"]))
    page.goto(f"/projects/{task.replace(' ', '-')}/work/")
    until(page, HAS_AHEAD)
    page.wait_for_timeout(500)
    loaded = {"requests": len(requests), **weights}
    devtools.send("HeapProfiler.enable")
    devtools.send("HeapProfiler.collectGarbage")
    heap = page.evaluate("performance.memory.usedJSHeapSize")

    before = weights["wire"]
    times = []
    for _ in range(items):
        for digit in digits:
            page.keyboard.press(digit)
        times.append(page.evaluate(SUBMIT))
        until(page, HAS_AHEAD)
    script, paint = zip(*times, strict=True)
    context.close()
    return {
        "wire": loaded["wire"] / 1000,
        "full": loaded["full"] / 1000,
        "requests": loaded["requests"],
        "heap": heap / 1e6,
        "script": statistics.median(script),
        "paint": statistics.median(paint),
        "p95": sorted(paint)[int(len(paint) * 0.95) - 1],
        "item": (weights["wire"] - before) / items / 1000,
    }


def add(weights: dict[str, int], name: str, amount: float) -> None:
    weights[name] += amount


def main(quick: bool = False) -> list[dict]:
    """Prints the table and returns its rows."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        raise SystemExit("No Chromium on this machine")
    from playwright.sync_api import sync_playwright

    items = 10 if quick else 50
    rows = []
    print(f"The labelling page, empty cache, {items} items per task (ten of the longest)")
    print("Times are in ms from the key press: medians, and the 95th percentile of the paint")
    print("  ".join(f"{column:>14}" for column in COLUMNS))
    with served(fill, items + 3) as (address, session), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        for task in TASKS:
            row = measure(browser, address, session, task, items)
            rows.append({"task": task, **row})
            cells = (
                task,
                f"{row['wire']:.1f}",
                f"{row['full']:.1f}",
                f"{row['requests']:.0f}",
                f"{row['heap']:.2f}",
                f"{row['script']:.1f}",
                f"{row['paint']:.1f}",
                f"{row['p95']:.1f}",
                f"{row['item']:.1f}",
            )
            print("  ".join(f"{cell:>14}" for cell in cells), flush=True)
        browser.close()
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="10 items per task")
    main(parser.parse_args().quick)

"""Long items in Chromium: what typing, selecting and submitting cost the main thread, compared with a short item.

    python -m benchmarks.labelling.long_item [--quick]

Two tasks, each short (300 characters, 3 highlights) and long (50,000 characters, 500 highlights): a claim with one
piece of evidence, where all highlights belong to one judgement, and an answer with 20 aspects that share them. Every
interaction is made with real keys and the real mouse; its cost is all that the main thread did because of it until the
page was still again (Chromium's TaskDuration on the thread's own clock, so other jobs on the machine do not count):
script, style, layout and paint. Aim: 100 ms each.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
from functools import partial

from benchmarks.labelling.page import ARGUMENTS, HAS_AHEAD, served, until

AIM_MS = 100
SENTENCE = "The harbour office keeps a diary of every winter, and its pages report open water on all but two days. "
SIZES = {"short": (300, 3), "long": (50_000, 500)}
ASPECTS = 20
# Task -> its type, the text that is marked, the dimension whose judgement has the highlights, and its label.
TASKS = {
    "claim and evidence": ("claim-evidence/six-way/1", "evidence", "stance", "supports"),
    "aspects": ("aspect-coverage/-/1", "response", "coverage", "covered"),
}
COLUMNS = ("task", "interaction", "short ms", "long ms", "worst ms", "of the aim", "ratio")
# Two frames and a task after them: everything that an interaction set off has been done.
STILL = (
    """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))))"""
)


def slug_of(task: str, size: str) -> str:
    return f"{task.replace(' ', '-')}-{size}"


def fill(user, items: int) -> None:
    """A project per task and size."""
    from annotation.formats.records import response_aspect_key
    from annotation.models import Aspect, Question, Response, Unit
    from tests.factories import make_batch, make_claim_evidence, make_dataset, make_project

    for task, (identifier, field, _, _) in TASKS.items():
        for size, (length, _) in SIZES.items():
            text = (SENTENCE * (length // len(SENTENCE) + 1))[:length]
            dataset = make_dataset(slug=slug_of(task, size))
            if field == "evidence":
                make_claim_evidence(dataset, items, texts=[text] * items)
            else:
                base = {"dataset": dataset, "batch": make_batch(dataset)}
                for number in range(items):
                    question = Question.objects.create(**base, key=f"q{number}", text="When did the harbour freeze?")
                    response = Response.objects.create(**base, key=f"q{number}/r0", question=question, text=text)
                    Unit.objects.create(**base, kind="response", key=response.key, response=response)
                    for index in range(ASPECTS):
                        key = f"q{number}/a{index}"
                        aspect = Aspect.objects.create(
                            **base, key=key, question=question, index=index, text=f"aspect number {index}"
                        )
                        Unit.objects.create(
                            **base,
                            kind="response_aspect",
                            key=response_aspect_key(response.key, key),
                            response=response,
                            aspect=aspect,
                        )
            # A short answer has highlights for three of its aspects only.
            options = {"spans": {"coverage": "optional"}} if field == "response" else {}
            make_project(
                dataset, identifier, overlap=1, annotators=[user], slug=dataset.slug, options=options, order="file"
            )


def with_highlights(page, task: str, size: str) -> None:
    """Give the item on the screen its labels and highlights as a draft, and load the page with them."""
    _, field, dimension, label = TASKS[task]
    count = SIZES[size][1]
    draft = page.evaluate(
        """([field, dimension, label, count]) => {
          const item = document.querySelector("#stage [data-item]");
          const payload = JSON.parse(item.querySelector('script[type="application/json"]').textContent);
          const length = item.querySelector(`[data-field="${field}"]`).textContent.length;
          const labels = {}, spans = {};
          for (const unit of payload.units) {
            for (const one of payload.dimensions) labels[`${unit}\\n${one.slug}`] = one.labels[0].value;
            labels[`${unit}\\n${dimension}`] = label;
          }
          for (let i = 0; i < count; i += 1) {
            const key = `${payload.units[i % payload.units.length]}\\n${dimension}`;
            const start = Math.floor((i * (length - 60)) / count);
            (spans[key] ??= []).push({ field, start, end: start + 40 });
          }
          const { project, user } = document.getElementById("work").dataset;
          const draft = { labels, spans, text_hash: payload.text_hash, saved: Date.now() };
          return [`assay:draft:${project}:${user}:${payload.assignment}`, draft];
        }""",
        [field, dimension, label, count],
    )
    # Written when the page is gone: leaving it writes a draft of its own.
    page.goto("/accounts/login/")
    page.evaluate("([key, draft]) => localStorage.setItem(key, draft)", [draft[0], json.dumps(draft[1])])
    page.goto(f"/projects/{slug_of(task, size)}/work/")
    until(page, HAS_AHEAD)
    shown = page.evaluate("document.querySelectorAll('[data-chips] li').length")
    if shown != count:
        raise SystemExit(f"{task}: {shown} of {count} highlights are on the page")


class Meter:
    """Main-thread milliseconds of one interaction."""

    def __init__(self, page):
        self.page = page
        self.devtools = page.context.new_cdp_session(page)
        self.devtools.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent(self) -> float:
        metrics = self.devtools.send("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration") * 1000

    def of(self, work) -> float:
        self.page.evaluate(STILL)
        idle = self.spent()
        self.page.evaluate(STILL)
        before = self.spent()
        work()
        self.page.evaluate(STILL)
        return max(0.0, self.spent() - before - (before - idle))


def interactions(page, task: str, meter: Meter, rounds: int) -> dict[str, list[float]]:
    field = TASKS[task][1]
    picks = task == "aspects"
    found: dict[str, list[float]] = {}

    def measured(name: str, work) -> None:
        found.setdefault(name, []).append(meter.of(work))

    def keys(*names: str):
        return lambda: [page.keyboard.press(name) for name in names]

    def drag(number: int) -> None:
        box = page.locator(f'[data-field="{field}"]').bounding_box()
        top = max(box["y"], 60) + 12
        page.mouse.move(box["x"] + 20 + 40 * number, top)
        page.mouse.down()
        page.mouse.move(box["x"] + 150 + 40 * number, top)

    page.keyboard.press("c")
    for _ in range(rounds):
        measured("type a letter", keys("e"))
    page.keyboard.press("Escape")
    for number in range(rounds):
        measured("press and drag", partial(drag, number))
        measured("release" if picks else "release, which marks", page.mouse.up)
        if picks:
            measured("the aspect's digit, which marks", keys(str(number % 9 + 1)))
    measured("caret into the text", keys("h"))
    for _ in range(rounds):
        page.keyboard.press("Home")  # a short text soon ends
        measured("caret by a word", keys("ArrowRight"))
        measured("caret by a line", keys("ArrowDown"))
        measured("extend by a word", keys("Shift+ArrowRight"))
        measured("add under the caret", keys("Enter"))
        measured("remove under the caret", keys("Delete"))
    page.keyboard.press("Escape")
    for number in range(rounds):
        measured("undo", keys("z"))
        measured("other unit or group", keys("ArrowDown" if number % 2 else "ArrowUp"))
    return found


def measure(browser, address: str, session: str, task: str, size: str, rounds: int) -> dict[str, list[float]]:
    context = browser.new_context(base_url=address, viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    context.add_cookies([{"name": "sessionid", "value": session, "url": address}])
    page = context.new_page()
    page.goto(f"/projects/{slug_of(task, size)}/work/")
    until(page, HAS_AHEAD)
    found: dict[str, list[float]] = {}
    for number in range(3):
        with_highlights(page, task, size)
        meter = Meter(page)
        if number == 0:
            found = interactions(page, task, meter, rounds)
        before = page.evaluate("document.querySelector('#stage [data-item]').dataset.item")
        page.evaluate(STILL)
        # Until the next item is on the screen; fetching the one after that is not part of it.
        found.setdefault("submit", []).append(meter.of(lambda: page.keyboard.press("Enter")))
        if page.evaluate("document.querySelector('#stage [data-item]').dataset.item") == before:
            raise SystemExit(f"{task}: the answer was not taken: {page.locator('[data-status]').inner_text()}")
        until(page, "document.querySelector('[data-save-state=saved]') !== null")
    context.close()
    return found


def main(quick: bool = False) -> list[dict]:
    """Prints the table and returns its rows."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        raise SystemExit("No Chromium on this machine")
    from playwright.sync_api import sync_playwright

    rounds = 3 if quick else 10
    rows = []
    print("Main-thread time per interaction: medians, and the worst of the long item; the aim is " + f"{AIM_MS} ms")
    print("  ".join(f"{column:>22}" for column in COLUMNS))
    with served(fill, 6) as (address, session), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        for task in TASKS:
            by_size = {size: measure(browser, address, session, task, size, rounds) for size in SIZES}
            for name, times in by_size["long"].items():
                short, long = statistics.median(by_size["short"][name]), statistics.median(times)
                row = {"task": task, "interaction": name, "short": short, "long": long, "worst": max(times)}
                rows.append(row)
                cells = (
                    task,
                    name,
                    f"{short:.1f}",
                    f"{long:.1f}",
                    f"{max(times):.1f}",
                    f"{long / AIM_MS:.2f}",
                    f"{long / short:.1f}" if short else "undefined",
                )
                print("  ".join(f"{cell:>22}" for cell in cells), flush=True)
        browser.close()
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="three rounds of each")
    main(parser.parse_args().quick)

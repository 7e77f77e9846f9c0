"""What a key takes until it is painted: in long evidence, to the next item, and from a decision to the next one.

    python -m benchmarks.labelling.keys [--quick] [--only WORDS]

Chromium against the production server (SQLite, loopback: no latency), with real keys. A time runs from the key's event
to the paint of the frame that shows what it did, by the clock, so other work on the machine counts: median, fastest and
slowest. The last number is the main thread's own processor time (script, style, layout, paint), for which it does not.
Evidence of 20,000 characters, as Markdown too, of 100 turns, and of 300 kB, the latter in paragraphs and in a single
one, which is the worst case for layout. A decision is timed until the next item is on the screen, with the number of
its requests.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
from functools import partial

from benchmarks.labelling.long_item import SENTENCE, Meter
from benchmarks.labelling.page import ARGUMENTS, EVIDENCE, HAS_AHEAD, served, until

AIM_MS, AIM_DECISION_MS = 50, 60
PARAGRAPH = SENTENCE * 7
TEXTS = {
    "short": EVIDENCE,
    "20,000 characters": (f"{PARAGRAPH}\n\n" * 28)[:20_000],
    "300 kB, paragraphs": (f"{PARAGRAPH}\n\n" * 417)[:300_000],
    "300 kB, one paragraph": (SENTENCE * 2900)[:300_000],
}
SECTION = """## The *harbour* in winter

The office keeps a **diary** of every winter, and its [pages](https://example.org/pages) report `open water` on *all*
but two days.

- ships: **12**
  - boats: 3 &amp; more
- ice: none

| day | ice | ships |
|---|---|--:|
| 1 | _none_ | **12** |
| 2 | thin | 3 |

"""
MARKDOWN, TURNS = "20,000 characters of Markdown", "100 turns"
TEXTS[MARKDOWN] = (SECTION * 70)[:20_000]
TEXTS[TURNS] = "\n\n".join(f"[{role}]\n{SENTENCE} **Yes.**" for role in ("user", "assistant") * 50)
DESK = "desk"
# Notes for each key when the frame that follows it was painted.
LISTEN = """() => {
  window.painted = [];
  addEventListener("keydown", ({ timeStamp }) => requestAnimationFrame(() => {
    const channel = new MessageChannel();  // its message comes right after the frame's paint
    channel.port1.onmessage = () => window.painted.push(performance.now() - timeStamp);
    channel.port2.postMessage(null);
  }), true);
}"""
# The same, until another item is on the screen.
LISTEN_FOR_NEXT = """() => {
  window.next = [];
  const shown = () => document.querySelector("#stage [data-item]")?.dataset.item;
  addEventListener("keydown", ({ key, timeStamp }) => {
    if (key !== "Enter") return;
    const before = shown();
    const look = () => requestAnimationFrame(() => {
      if ((shown() ?? before) === before) return look();
      const channel = new MessageChannel();
      channel.port1.onmessage = () => window.next.push(performance.now() - timeStamp);
      channel.port2.postMessage(null);
    });
    look();
  }, true);
}"""


def slug_of(text: str) -> str:
    return f"evidence-{list(TEXTS).index(text)}"


def fill(user, items: int, only: str) -> None:
    """A project per text that is asked for, and one whose items two people answered differently, to be decided."""
    import uuid

    from annotation.access import assignment_for
    from annotation.models import Membership
    from annotation.work import annotating, assigning
    from tests.factories import join, make_claim_evidence, make_dataset, make_project, make_user

    for name, text in TEXTS.items():
        if only not in name:
            continue
        dataset = make_dataset(slug=slug_of(name))
        dataset.text_formats = {"evidence": "markdown"} if name == MARKDOWN else {}
        dataset.save()
        make_claim_evidence(dataset, items, texts=[text] * items)
        make_project(dataset, overlap=1, annotators=[user], slug=dataset.slug, order="file")
    if only not in DESK:
        return
    dataset = make_dataset(slug=DESK)
    make_claim_evidence(dataset, items, texts=[EVIDENCE] * items)
    people = {make_user("ben"): "supports", make_user("cem"): "refutes"}
    project = make_project(dataset, overlap=2, annotators=[*people], slug=DESK, order="file")
    join(project, user, Membership.Role.ADJUDICATOR)
    for person, stance in people.items():
        while taken := assigning.take(project, person):
            labels = {"relevance": "relevant", "stance": stance}
            said = [{"unit": taken.item.key, "dimension": name, "label": label} for name, label in labels.items()]
            body = {"client_id": str(uuid.uuid4()), "judgements": said}
            annotating.submit(assignment_for(person, taken.uuid), person, body)


def open_page(browser, address: str, session: str, path: str):
    context = browser.new_context(base_url=address, viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    context.add_cookies([{"name": "sessionid", "value": session, "url": address}])
    page = context.new_page()
    page.goto(path)
    return page


Times = list[tuple[float, float]]  # by the clock until the paint, and processor time


def keys(page, rounds: int) -> dict[str, Times]:
    """Milliseconds of each kind of key, on the item at hand."""
    found: dict[str, Times] = {}
    page.evaluate(LISTEN)
    meter = Meter(page)

    def press(name: str, key: str) -> None:
        before = page.evaluate("window.painted.length")
        spent = meter.of(lambda: page.keyboard.press(key))
        until(page, f"window.painted.length > {before}")
        found.setdefault(name, []).append((page.evaluate("window.painted.at(-1)"), spent))

    for number in range(rounds):
        press("digit", "1" if number % 2 else "2")
        press("other group", "ArrowUp")
    page.keyboard.press("1")
    press("caret into the text", "h")
    for _ in range(rounds):
        press("caret by a word", "ArrowRight")
        press("extend by a word", "Shift+ArrowRight")
        press("add the highlight", "Enter")
    press("caret to the end", "End")
    for _ in range(rounds):
        press("caret by a word, at the end", "ArrowLeft")
        press("caret by a line, at the end", "ArrowUp")
    page.keyboard.press("Escape")
    for _ in range(rounds):
        press("undo", "z")
    page.keyboard.press("c")
    for _ in range(rounds):
        press("letter of a comment", "e")
    page.keyboard.press("Escape")
    return found


def to_next(page, rounds: int, answer, is_ready) -> Times:
    page.evaluate(LISTEN_FOR_NEXT)
    meter, spent = Meter(page), []
    for number in range(rounds):
        is_ready()
        answer()

        def work(before: int = number) -> None:
            page.keyboard.press("Enter")
            until(page, f"window.next.length > {before}")

        spent.append(meter.of(work))
    return list(zip(page.evaluate("window.next"), spent, strict=True))


def measure(browser, address: str, session: str, name: str, rounds: int) -> dict[str, Times]:
    page = open_page(browser, address, session, f"/projects/{slug_of(name)}/work/")
    is_ready = partial(until, page, HAS_AHEAD)
    is_ready()
    found = keys(page, rounds)
    found["to the next item"] = to_next(page, rounds, lambda: page.keyboard.press("2"), is_ready)
    page.context.close()
    return found


def measure_desk(browser, address: str, session: str, rounds: int) -> tuple[Times, float]:
    """Milliseconds from each decision to the next item, and requests per decision."""
    page = open_page(browser, address, session, f"/projects/{DESK}/adjudication/")
    is_there = partial(until, page, "document.querySelector('#stage [data-item]') !== null")
    is_there()
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    times = to_next(page, rounds, lambda: page.keyboard.press("Shift+A"), is_there)
    page.context.close()
    return times, len(requests) / rounds


def page_bytes(browser, address: str, session: str, name: str) -> float:
    """Bytes of the page's HTML, uncompressed."""
    page = open_page(browser, address, session, f"/projects/{slug_of(name)}/work/")
    found = page.evaluate("performance.getEntriesByType('navigation')[0].decodedBodySize")
    page.context.close()
    return found


def main(quick: bool = False, only: str = "") -> None:
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        raise SystemExit("No Chromium on this machine")
    from playwright.sync_api import sync_playwright

    rounds = 4 if quick else 12
    print(
        f"Milliseconds from a key to its paint; aim: {AIM_MS} a key, {AIM_DECISION_MS} from a decision to the next item"
    )
    with served(partial(fill, only=only), rounds + 3) as (address, session), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        for name in TEXTS:
            if only not in name:
                continue
            print(f"{name:<31}{'kB of the page':<30}{page_bytes(browser, address, session, name) / 1000:>8.1f}")
            for key, times in measure(browser, address, session, name, rounds).items():
                show(name, key, times)
        if only in DESK:
            times, requests = measure_desk(browser, address, session, rounds)
            show(DESK, "decision to the next item", times)
            print(f"{DESK:<31}{'requests per decision':<30}{requests:>8g}")
        browser.close()


def show(name: str, key: str, times: Times) -> None:
    painted, spent = zip(*times, strict=True)
    found = (statistics.median(painted), min(painted), max(painted), statistics.median(spent))
    print(f"{name:<31}{key:<30}" + "".join(f"{time:>8.1f}" for time in found), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="four rounds of each")
    parser.add_argument("--only", default="", help="texts whose names have these words")
    arguments = parser.parse_args()
    main(arguments.quick, arguments.only)

"""Texts as they look: a highlight made in either view is the same one, and nothing in a text loads or runs."""

import json

import pytest
from playwright.sync_api import expect

from annotation.models import Judgement
from annotation.rendering.conversation import to_text
from tests.factories import make_claim_evidence, make_dataset, make_project
from tests.web.pages import eventually

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MARKDOWN = """# The *harbour*

The 👩‍👩‍👧 family saw **grey ships** leave the _old_ harbour, see [the log](https://example.org/log "of 1900").

- one `boat & oar`
  - two &amp; three

| ship | tons |
|------|-----:|
| **Anna** | 12 |

![a pier](https://example.org/pier.png) שלום **עולם** <script>alert(1)</script>
"""
# Where words stand on the screen, in the view that is shown.
FIND = """(words) => {
  const view = document.querySelector('[data-field="evidence"] [data-view]:not([hidden])');
  const walker = document.createTreeWalker(view, NodeFilter.SHOW_TEXT);
  const nodes = [];
  let all = "";
  while (walker.nextNode()) { nodes.push([walker.currentNode, all.length]); all += walker.currentNode.data; }
  const put = (offset, isEnd) => {
    const [node, at] = nodes.findLast(([, from]) => (isEnd ? from < offset : from <= offset));
    return [node, offset - at];
  };
  const range = document.createRange(), start = all.indexOf(words);
  range.setStart(...put(start, false));
  range.setEnd(...put(start + words.length, true));
  return range;
}"""
PLACE = f"""(words) => {{
  const range = ({FIND})(words);
  const boxes = [...range.getClientRects()].filter((box) => box.width), first = boxes[0], last = boxes.at(-1);
  return [first.left, first.top + first.height / 2, last.right, last.top + last.height / 2];
}}"""
MARKED = """(elements) => elements.map((element) => element.textContent)"""


def drag(labelling, words: str) -> None:
    page = labelling.page
    left, top, right, bottom = page.evaluate(PLACE, words)
    page.mouse.move(left + 1, top)
    page.mouse.down()
    page.mouse.move(right - 1, bottom, steps=4)
    page.mouse.up()


def marked(labelling, view: str) -> list[str]:
    found = labelling.page.locator(f'[data-field="evidence"] [data-view="{view}"] mark.chosen')
    return found.evaluate_all(MARKED)


@pytest.fixture
def opened(label, ann):
    def open_page(text: str, **formats: str):
        dataset = make_dataset()
        dataset.text_formats = formats
        dataset.save()
        make_claim_evidence(dataset, 2, texts=[text, text])
        return label(make_project(dataset, overlap=1, annotators=[ann]), ann)

    return open_page


def stored() -> list[tuple[int, int, str]]:
    spans = Judgement.objects.exclude(spans=None).get().spans.order_by("start")
    return [(span.start, span.end, span.quote) for span in spans]


def test_a_highlight_made_in_either_view_is_the_same(opened):
    asked = []
    page = opened(MARKDOWN, evidence="markdown")
    page.page.on("request", lambda request: asked.append(request.url))
    page.press("1", "6")
    drag(page, "grey ships")
    eventually(page.page, page.chips, ["grey ships"])
    drag(page, "boat & oartwo & three")  # across code, a list and an entity
    quote = "boat & oar`\n  - two &amp; three"
    eventually(page.page, page.chips, ["grey ships", quote])
    drag(page, "Anna")
    eventually(page.page, page.chips, ["grey ships", quote, "Anna"])
    assert marked(page, "rendered") == ["grey ships", "boat & oar", "two ", "&", " three", "Anna"]
    page.press("m")
    assert marked(page, "source") == ["grey ships", quote, "Anna"]
    drag(page, "old")  # a word of a source with the mark of its format around it
    eventually(page.page, page.chips, ["grey ships", "old", quote, "Anna"])
    drag(page, "עולם")
    page.press("m")
    assert "old" in marked(page, "rendered") and "עולם" in marked(page, "rendered")
    drag(page, "tons")
    eventually(page.page, lambda: "tons" in page.chips(), True)
    page.answer()
    page.is_saved()
    for start, end, words in stored():
        assert MARKDOWN[start:end] == words
    assert [words for *_, words in stored()] == ["grey ships", "old", quote, "tons", "Anna", "עולם"]
    assert not [url for url in asked if "example.org" in url]


def test_a_formula_is_highlighted_as_a_whole(opened):
    page = opened("The force is $F = ma$ here, or \\(a\\).", evidence="markdown")
    page.press("1", "6")
    drag(page, "is F=m")  # the end lies within the formula
    eventually(page.page, page.chips, ["is $F = ma$"])
    expect(page.page.locator('[data-field="evidence"] mark.chosen math')).to_have_count(1)
    drag(page, "a.")
    eventually(page.page, page.chips, ["is $F = ma$", "\\(a\\)."])
    page.press("z", "z")
    eventually(page.page, page.chips, [])
    expect(page.page.locator('[data-field="evidence"] math')).to_have_count(2)
    expect(page.page.locator('[data-field="evidence"] mark')).to_have_count(0)


def test_the_caret_goes_through_what_is_shown(opened):
    page = opened(MARKDOWN, evidence="markdown")
    page.press("1", "6", "h")
    page.press("Tab")  # from the claim to the evidence
    words = []
    for _ in range(16):
        words += marked_by_caret(page)
        page.press("ArrowRight")
    assert words[:2] == ["The", "harbour"]
    assert "log" in words and "https" not in words and "1900" not in words
    page.press("Home", "ArrowRight", "Enter")
    eventually(page.page, page.chips, ["harbour"])


def marked_by_caret(labelling) -> list[str]:
    return labelling.page.locator('[data-field="evidence"] .rendered mark.caret').evaluate_all(MARKED)


def test_a_conversation_is_labelled_by_keyboard_and_folded_results_open(opened):
    turns = [
        {"role": "user", "content": "What is the **weather** in Bern?"},
        {"role": "tool", "content": "sunny"},
        {"role": "assistant", "content": "It is sunny."},
    ]
    text = to_text(
        turns,
    )
    page = opened(text)
    fold = page.page.locator("details.turn")
    expect(fold).not_to_have_attribute("open", "")
    page.press("1", "6", "h")
    if page.page.locator('[data-field="evidence"].has-caret').count() == 0:
        page.press("Tab")
    page.press("End")
    for _ in range(12):
        if marked_by_caret(page) == ["sunny"] and fold.get_attribute("open") is not None:
            break
        page.press("ArrowLeft")
    expect(fold).to_have_attribute("open", "")
    page.press("Enter", "Escape")
    eventually(page.page, page.chips, ["sunny"])
    page.answer()
    page.is_saved()
    [(start, end, _)] = stored()
    assert text[start:end] == "sunny" and start < text.index("It is")


def test_a_text_that_cannot_be_rendered_says_why(opened):
    page = opened(">" * 500 + " deep", evidence="markdown")
    expect(page.page.get_by_text("Shown as its source, not as Markdown")).to_be_visible()
    assert page.text("evidence") == ">" * 500 + " deep"
    expect(page.page.locator("[data-do=source]")).to_have_count(0)


def test_what_is_copied_is_the_source(opened):
    page = opened(MARKDOWN, evidence="markdown")
    copied = page.page.evaluate(
        f"""(words) => new Promise((done) => {{
          document.getSelection().removeAllRanges();
          document.getSelection().addRange(({FIND})(words));
          document.addEventListener("copy", (event) => done(event.clipboardData.getData("text/plain")));
          document.execCommand("copy");
        }})""",
        "grey ships leave the old harbour",
    )
    assert copied == "grey ships** leave the _old_ harbour"


def restyled(page, key: str) -> list[int]:
    """How many elements get a style anew, each time that the page is styled after a key."""
    browser = page.context.browser
    browser.start_tracing(page=page, categories=["devtools.timeline"])
    page.keyboard.press(key)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    events = json.loads(browser.stop_tracing())["traceEvents"]
    return [one["args"]["elementCount"] for one in events if one["name"] == "UpdateLayoutTree"]


def test_a_highlight_does_not_style_the_whole_text_anew(opened):
    page = opened("- **one** `two` *three*\n" * 200, evidence="markdown").page
    runs = page.locator("[data-view=rendered] [data-at]")
    in_sight = runs.evaluate_all("all => all.filter((one) => one.getBoundingClientRect().top < innerHeight).length")
    assert in_sight > 80
    for key in ("1", "h", "ArrowRight", "Shift+ArrowRight"):
        page.keyboard.press(key)
    counts = restyled(page, "Enter")
    assert counts and max(counts) < in_sight / 2
    expect(page.locator("[data-chips] .quote")).to_have_count(1)

"""Long texts: what is found near a place, and painted where something changed, is what the whole text would give."""

import pytest
from playwright.sync_api import expect

from tests.factories import make_project, make_user
from tests.web.long_answers import make_answers

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
FAMILY = "\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL}"
TEXTS = {
    "words": "The harbour's diary, e\u0301tude 3.14 said: open water. " * 120,
    "blank lines": ("One two three\n\n\n  four \u0301five\t\t" * 300) + " \n",
    "no spaces": "港口办公室每年冬天都写日记二月三月" * 400,
    "emoji alone": FAMILY * 900,
    "right to left": "قال التقرير إن الميناء بقي مفتوحا طوال الشتاء \U00010330 " * 80,
}

# Loads the page's own module; `text` becomes the content of an element.
MAKE = """
  const { createText } = await import("/static/js/work/texts/text.js");
  const element = Object.assign(document.createElement("div"), { textContent: text });
  const made = createText(element);
"""


@pytest.fixture
def page(label):
    ann = make_user()
    project = make_project(make_answers(1, aspects=["one"]), "aspect-coverage/-/1", overlap=1, annotators=[ann])
    return label(project, ann).page


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_graphemes_and_code_points_are_those_of_the_whole_text(page, text):
    found = page.evaluate(
        "async (text) => {"
        + MAKE
        + """
          const steps = [], back = [];
          for (let at = 0; at < text.length; steps.push(at)) at = made.step(at, 1);
          for (let at = text.length; at > 0; at = made.step(at, -1)) back.unshift(at);
          const points = steps.map(made.toCodePoints);
          const graphemes = [...new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text)];
          return {
            steps, back, points,
            again: points.map(made.toUtf16),
            graphemes: graphemes.map((part) => part.index + part.segment.length),
            counted: steps.map((at) => Array.from(text.slice(0, at)).length),
          };
        }""",
        text,
    )
    assert found["steps"] == found["back"] == found["graphemes"]
    assert found["points"] == found["counted"]
    assert found["again"] == found["steps"]


@pytest.mark.parametrize("name", ["words", "blank lines", "right to left"])
def test_words_are_those_of_the_whole_text(page, name):
    forth, back, words = page.evaluate(
        "async (text) => {"
        + MAKE
        + """
          const forth = [], back = [];
          for (let word = made.nextWord(0, () => true); word; ) {
            const { start, end } = word;
            forth.push([start, end]);
            word = made.nextWord(end, (one) => one.start >= end);
          }
          for (let word = made.previousWord(text.length, () => true); word; ) {
            const { start, end } = word;
            back.unshift([start, end]);
            word = made.previousWord(start, (one) => one.start < start);
          }
          const parts = [...new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)];
          const words = parts.filter((part) => part.isWordLike);
          return [forth, back, words.map((part) => [part.index, part.index + part.segment.length])];
        }""",
        TEXTS[name],
    )
    assert forth == words
    assert back == words


SENTENCE = "The harbour office keeps a diary of every winter and its pages report open water. "


@pytest.mark.parametrize(
    "text", [SENTENCE * 3, (SENTENCE * 20 + "\n\n") * 4 + SENTENCE * 150], ids=["short", "in parts"]
)
def test_painting_what_changed_gives_what_painting_everything_gives(page, text):
    """Three hundred random steps: highlights of several units come and go, the caret moves."""
    outcome = page.evaluate(
        "async (text) => {"
        + MAKE
        + """
          let seed = 7;
          const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
          const layers = [];
          for (let step = 0; step < 300; step += 1) {
            if (layers.length && random(3) === 0) layers.splice(random(layers.length), 1);
            else {
              const longest = random(9) ? 29 : text.length >> 2;  // over several parts
              const start = random(text.length - longest - 1);
              const kind = ["chosen", "chosen", "suggested", "caret", "other"][random(5)];
              const number = kind === "caret" ? 0 : 1 + random(4);
              layers.push({ start, end: start + 1 + random(longest), kind, number });
            }
            made.paint([...layers]);
            const fresh = Object.assign(document.createElement("div"), { textContent: text });
            createText(fresh).paint([...layers]);
            if (element.textContent !== text) return `step ${step}: the text changed`;
            if (element.innerHTML !== fresh.innerHTML) return `step ${step}: ${element.innerHTML} ${fresh.innerHTML}`;
            const part = element.querySelectorAll(".part")[random(element.childNodes.length)] ?? element;
            const node = part.childNodes[random(part.childNodes.length)];
            const range = document.createRange();
            range.setStart(element, 0);
            for (const [at, offset] of [[node.firstChild ?? node, 1], [part, random(part.childNodes.length)]]) {
              range.setEnd(at, offset);
              if (made.offsetOf(at, offset) !== range.toString().length) return `step ${step}: a place is elsewhere`;
            }
          }
          made.paint([]);
          return element.textContent === text && !element.querySelector("mark") ? "same" : element.innerHTML;
        }""",
        text,
    )
    assert outcome == "same"


def test_a_long_text_is_laid_out_in_parts_and_its_lines_stay_where_they_are(page):
    """A key changes one part, so the others are not laid out anew; parts end with a line feed."""
    parts, apart, whole = page.evaluate(
        "async (text) => {"
        + MAKE
        + """
          const plain = Object.assign(document.createElement("div"), { textContent: text });
          for (const one of [element, plain]) {
            one.className = "text";
            document.querySelector(".sheet").append(one);
          }
          for (const part of element.children) part.style.contentVisibility = "visible";
          const parts = [...element.children].map((part) => part.textContent);
          return [parts, element.offsetHeight, plain.offsetHeight];
        }""",
        TEXTS["blank lines"].replace("\t\t", "\n") * 2,
    )
    assert len(parts) > 4 and max(map(len, parts)) < 4000
    assert all(part.endswith("\n") for part in parts[:-1])
    assert apart == whole


def test_the_caret_goes_by_screenfuls_and_back_to_where_it_was_left(label):
    ann = make_user()
    text = " ".join(f"word{number}" for number in range(4000))
    project = make_project(make_answers(1, text=text), "aspect-coverage/-/1", overlap=1, annotators=[ann])
    page = label(project, ann)
    caret = page.page.locator("mark.caret")

    def place() -> int:
        return int(caret.inner_text().removeprefix("word"))

    page.press("h", "PageDown")
    down = place()
    assert 20 < down < 2000
    expect(caret).to_be_in_viewport()
    page.press("Escape", "h")
    assert place() == down
    page.press("PageUp", "PageUp")
    assert place() < down
    page.press("End", "PageDown")
    assert place() == 3999
    page.press("ArrowUp", "1")
    assert place() < 3999 and page.chips() == [caret.inner_text()]
    assert page.text("response") == text

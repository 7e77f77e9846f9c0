"""The tutorials, step by step as they are written: the words in bold are on the page when their step is due."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from .demo import ROOT, made_before, running_demo

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def steps_of(name: str) -> list[str]:
    """The numbered steps of a tutorial, each as one line."""
    text = (ROOT / "docs" / "tutorials" / f"{name}.md").read_text("utf-8").partition("\n## ")[0]
    return [" ".join(step.split()) for step in re.split(r"^\d+\. ", text, flags=re.M)[1:]]


def follow(page: Page, steps: list[str], acts: list[Callable[[Page], None]]) -> None:
    for step, act in zip(steps, acts, strict=True):
        for words in re.findall(r"\*\*(.+?)\*\*", step):
            expect(page.get_by_text(words).filter(visible=True).first, step).to_be_visible()
        act(page)


def test_label_your_first_items(chromium, tmp_path_factory):
    def read_guidelines(page: Page) -> None:
        expect(page.get_by_text("Choose: Relevance")).to_be_visible()
        page.keyboard.press("g")
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_be_hidden()

    def support(page: Page) -> None:
        page.keyboard.press("6")
        expect(page.get_by_role("radio", name="Supports")).to_be_checked()

    def highlight(page: Page) -> None:
        for key in ("h", "Shift+ArrowRight", "Enter", "Escape"):
            page.keyboard.press(key)
        expect(page.locator("mark.chosen").first).to_be_visible()
        page.keyboard.press("h")
        page.keyboard.press("Delete")
        expect(page.locator("mark.chosen")).to_have_count(0)
        page.keyboard.press("Enter")
        page.keyboard.press("Escape")
        expect(page.locator("mark.chosen").first).to_be_visible()

    def submit(page: Page) -> None:
        page.keyboard.press("Enter")
        expect(page.get_by_text("You: 19 done")).to_be_visible()

    def go_on(page: Page) -> None:
        page.keyboard.press("Enter")
        expect(page.get_by_text("Choose: Relevance")).to_be_visible()

    def look_again(page: Page) -> None:
        page.keyboard.press("ArrowLeft")
        expect(page.get_by_role("radio", name="Supports")).to_be_checked()
        page.get_by_text("Leans in favour").click()
        page.keyboard.press("Control+Enter")
        expect(page.get_by_text("Go on")).to_be_visible()
        go_on(page)

    def skip(page: Page) -> None:
        page.keyboard.press("s")
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("1")
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_be_hidden()

    def keys(page: Page) -> None:
        page.keyboard.press("?")
        expect(page.get_by_role("heading", name="Keyboard shortcuts")).to_be_visible()

    acts = [
        lambda page: page.get_by_role("button", name="Annotator", exact=True).click(),
        lambda page: page.get_by_role("link", name=re.compile("Continue labelling.*open work")).click(),
        read_guidelines,
        lambda page: page.keyboard.press("1"),
        support,
        highlight,
        submit,
        go_on,
        look_again,
        skip,
        keys,
    ]
    with running_demo(made_before(tmp_path_factory, "tutorial")) as demo:
        context = chromium.new_context()
        page = context.new_page()
        page.goto(demo.address)
        follow(page, steps_of("annotator"), acts)
        page.goto(f"{demo.address}/projects/demo-open/")
        page.get_by_role("link", name="Your answers").first.click()
        expect(page.get_by_text("Leans in favour").first).to_be_visible()
        context.close()

"""The tutorials, step by step as they are written: what they print in bold is seen or pressed at its step."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from .browser import JOB_MS
from .demo import ROOT, environment, made_before, running_demo

pytestmark = [pytest.mark.browser, pytest.mark.slow]

STEP = re.compile(r"^\d+\. (.*?)(?=^\d+\. |^#|^\S(?!\d*\. )|\Z)", re.M | re.S)


class Tutorial:
    """The numbered steps of a tutorial; each has to be taken, and its words in bold seen."""

    def __init__(self, name: str):
        self.text = (ROOT / "docs" / "tutorials" / f"{name}.md").read_text("utf-8")
        self.steps = [" ".join(step.split()) for step in STEP.findall(self.text)]
        self.n_taken = 0
        self.unseen: set[str] = set()

    @contextmanager
    def step(self) -> Iterator[None]:
        words = self.steps[self.n_taken]
        self.n_taken += 1
        self.unseen = set(re.findall(r"\*\*(.+?)\*\*", words))
        yield
        assert not self.unseen, words

    def see(self, page: Page, *all_words: str) -> None:
        for words in all_words:
            expect(page.get_by_text(words).filter(visible=True).first).to_be_visible()
            self.unseen.discard(words)

    def press(self, page: Page, words: str) -> None:
        found = re.compile(rf"^\s*{re.escape(words)}\b")
        page.get_by_role("button", name=found).or_(page.get_by_role("link", name=found)).first.click()
        self.unseen.discard(words)

    def finish(self) -> None:
        assert self.n_taken == len(self.steps)

    def blocks(self, language: str) -> list[str]:
        return re.findall(rf"^```{language}\n(.*?)^```$", self.text, re.M | re.S)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    with running_demo(made_before(tmp_path_factory, "tutorials")) as running:
        yield running


@pytest.fixture
def browsers(chromium, demo):
    """Opens pages of people who have nothing in common."""
    contexts = []

    def another() -> Page:
        contexts.append(chromium.new_context(permissions=["clipboard-read", "clipboard-write"]))
        page = contexts[-1].new_page()
        page.goto(demo.address)
        return page

    yield another
    for context in contexts:
        context.close()


def next_item(page: Page) -> None:
    expect(page.get_by_text("Choose: Relevance")).to_be_visible()


def test_label_your_first_items(browsers, demo):
    tutorial, page = Tutorial("annotator"), browsers()
    with tutorial.step():
        tutorial.press(page, "Annotator")
    with tutorial.step():
        page.get_by_role("link", name=re.compile("Continue labelling.*open work")).click()
        tutorial.unseen.discard("Continue labelling")
        next_item(page)
    with tutorial.step():
        tutorial.see(page, "Guidelines")
        page.keyboard.press("g")
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_be_hidden()
    with tutorial.step():
        tutorial.see(page, "Relevant")
        page.keyboard.press("1")
    with tutorial.step():
        tutorial.see(page, "Supports")
        page.keyboard.press("6")
        expect(page.get_by_role("radio", name="Supports")).to_be_checked()
    with tutorial.step():
        for key in ("h", "Shift+ArrowRight", "Enter", "Escape"):
            page.keyboard.press(key)
        expect(page.locator("mark.chosen").first).to_be_visible()
        for key in ("h", "Delete"):
            page.keyboard.press(key)
        expect(page.locator("mark.chosen")).to_have_count(0)
        for key in ("Enter", "Escape"):
            page.keyboard.press(key)
        expect(page.locator("mark.chosen").first).to_be_visible()
    with tutorial.step():
        tutorial.see(page, "Submit")
        page.keyboard.press("Enter")
        tutorial.see(page, "You: 19 done")
    with tutorial.step():
        tutorial.see(page, "Keep")
        page.keyboard.press("Enter")
        next_item(page)
    with tutorial.step():
        page.keyboard.press("ArrowLeft")
        expect(page.get_by_role("radio", name="Supports")).to_be_checked()
        page.get_by_text("Leans in favour").click()
        page.keyboard.press("Control+Enter")
        next_item(page)
    with tutorial.step():
        tutorial.see(page, "Skip", "Flag")
        page.keyboard.press("s")
        expect(page.get_by_role("dialog")).to_be_visible()
        tutorial.see(page, "Park for later")
        page.keyboard.press("1")
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_be_hidden()
    with tutorial.step():
        tutorial.see(page, "Keys")
        page.keyboard.press("?")
        tutorial.see(page, "Keyboard shortcuts")
    tutorial.finish()
    page.goto(f"{demo.address}/projects/demo-open/")
    page.get_by_role("link", name="My work").first.click()
    expect(page.get_by_role("region", name="My work").get_by_role("row")).not_to_have_count(0)


def label_all(page: Page) -> None:
    for n in range(6):
        next_item(page)
        page.keyboard.press("1")
        page.keyboard.press("6" if n % 2 else "4")
        page.keyboard.press("Enter")
    expect(page.get_by_text("You: 6 done")).to_be_visible()


def test_from_a_csv_file_to_a_paper(browsers, demo, tmp_path):
    tutorial, page = Tutorial("csv-to-paper"), browsers()
    file = tmp_path / "lakes.csv"
    file.write_text(tutorial.blocks("text")[0])
    with tutorial.step():
        tutorial.press(page, "Researcher")
        tutorial.press(page, "New study")
    with tutorial.step():
        page.locator("[name=files]").set_input_files(file)
        tutorial.press(page, "Continue")
    with tutorial.step():
        tutorial.see(page, "Role")
        expect(page.get_by_label("Role of url")).to_have_value("claim-evidence/evidence_url")
        tutorial.press(page, "Continue")
    with tutorial.step():
        expect(page.get_by_text("fits the file")).to_be_visible(timeout=JOB_MS)
        tutorial.see(page, "fits the file")
        expect(page.get_by_label("Claim and evidence, six-way stance")).to_be_checked()
        tutorial.press(page, "Create the study")
    with tutorial.step():
        expect(page.get_by_role("link", name="Next: people and guidelines")).to_be_visible(timeout=JOB_MS)
        tutorial.press(page, "Next: people and guidelines")
    with tutorial.step():
        tutorial.see(page, "Annotators", "Guidelines")
        page.get_by_label("Annotators").fill("annotator@demo.invalid")
        page.get_by_label("I label too").check()
        tutorial.unseen.discard("I label too")
        tutorial.press(page, "Start")
    with tutorial.step():
        link = page.get_by_role("row", name="annotator@demo.invalid").locator("code").inner_text()
        tutorial.press(page, "Copy all links")
    project = page.url.rpartition("/start/")[0]
    with tutorial.step():
        other = browsers()
        other.goto(link)
        other.get_by_role("link", name="Sign in").first.click()
        other.get_by_role("button", name="Annotator", exact=True).click()
        other.goto(link)
        tutorial.press(other, "Join")
        tutorial.press(other, "Start labelling")
        tutorial.press(other, "I have read them")
        label_all(other)
    with tutorial.step():
        page.goto(f"{project}/agreement/")
        expect(page.locator(".headlines")).to_have_count(0)
        page.goto(f"{project}/work/")
        tutorial.press(page, "I have read them")
        label_all(page)
    with tutorial.step():
        page.goto(f"{project}/")
        tutorial.press(page, "See the agreement")
        expect(page.locator(".headlines strong").first).to_be_visible(timeout=JOB_MS)
    with tutorial.step():
        tutorial.press(page, "Releases")
        tutorial.press(page, "Freeze the labels as they are now")
        expect(page.get_by_text("@1").first).to_be_visible(timeout=JOB_MS)
    tutorial.finish()
    run_commands(tutorial, demo.folder)


def run_commands(tutorial: Tutorial, data: Path) -> None:
    [commands] = tutorial.blocks("sh elsewhere")
    done = subprocess.run(
        ["bash", "-e", "-u", "-o", "pipefail", "-c", commands.replace("var/lakes.zip", str(data / "lakes.zip"))],
        cwd=ROOT,
        env=environment(data),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "\\begin{table" in done.stdout and "Krippendorff" in done.stdout

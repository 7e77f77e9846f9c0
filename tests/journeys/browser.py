"""What people do in the browser, one function per step."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect

from tests.conftest import PATIENCE_MS
from tests.web.pages import PATIENT

STEP_MS = PATIENCE_MS
JOB_MS = 300_000  # an import, a run of a checker, an export, on a machine that has other things to do


@dataclass(frozen=True, slots=True)
class Answer:
    """What somebody says about one item, and what they say when they have seen the suggestion."""

    relevant: bool
    stance: str = ""  # the key of the label
    words: int = 0  # how many words to highlight, from the second word on
    instead: str = ""  # another stance, in view of the suggestion


def is_left(said: str) -> bool:
    """Whether htmx tells that a request was under way when its page was left."""
    return said.startswith(("htmx:sendAbort", "htmx:afterRequest"))


@contextmanager
def person(chromium: Browser, address: str, title: str) -> Iterator[Page]:
    """Somebody with a browser of their own, signed in with one click. Anything wrong on a page fails the test."""
    context = chromium.new_context(accept_downloads=True)
    context.set_default_timeout(STEP_MS)
    context.add_init_script(PATIENT)
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "console", lambda said: problems.append(said.text) if said.type == "error" and not is_left(said.text) else None
    )
    page.on(
        "response", lambda answer: problems.append(f"{answer.status} {answer.url}") if answer.status >= 400 else None
    )
    try:
        page.goto(address)
        page.get_by_role("button", name=title, exact=True).click()
        expect(page.get_by_role("button", name="Sign out")).to_be_visible()
        yield page
        assert not problems, problems
    finally:
        context.close()


def new_dataset(page: Page, title: str, slug: str) -> None:
    page.get_by_role("link", name="Data sets").first.click()
    page.get_by_role("link", name="New data set").click()
    page.get_by_label("Title").fill(title)
    page.get_by_label("Short name").fill(slug)
    page.get_by_role("button", name="Create and choose a file").click()
    expect(page.get_by_role("heading", name="Import a file")).to_be_visible()


def look_at(page: Page, file: Path) -> dict[str, str]:
    """Upload for a dry run. Returns kind -> how many would be created, and that nothing else would happen."""
    page.get_by_label("Files").set_input_files(file)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", name="Contents of the file")).to_be_visible(timeout=JOB_MS)
    expect(page.get_by_role("columnheader", name="would be created")).to_be_visible()
    page.wait_for_load_state()  # all rows
    found = {}
    for row in page.get_by_role("table").first.get_by_role("row").all()[1:]:
        kind, created, changed, unchanged = [cell.inner_text() for cell in row.locator("th, td").all()]
        assert (changed, unchanged) == ("0", "0")
        found[kind] = created
    return found


def import_now(page: Page) -> None:
    """Import what the dry run showed; reload the page in the middle and see the progress again."""
    looked_at = page.url
    page.get_by_role("button", name="Import now").click()
    page.wait_for_url(lambda address: "/imports/" in address and address != looked_at)
    for _ in range(2):
        page.reload()
        progress = page.locator("#job-progress progress")
        done = page.get_by_text("The file was imported.")
        expect(progress.or_(done).first).to_be_visible()
    expect(done).to_be_visible(timeout=JOB_MS)


def new_project(page: Page, title: str, dataset: str, task: str, guidelines: str) -> str:
    """Two judgements per item, suggestions after the first answer. Returns the project's address."""
    page.get_by_role("link", name="Go to the data set").click()
    page.get_by_role("link", name="New project").click()
    page.get_by_label("Title").fill(title)
    expect(page.get_by_label("Data set").locator("option:checked")).to_have_text(dataset)
    page.get_by_label(task).check()
    page.get_by_label("Judgements per item").fill("2")
    page.get_by_role("spinbutton", name="Seed").fill("11")
    page.get_by_label("Shown after the first answer").check()
    page.get_by_role("textbox", name=re.compile("Guidelines")).fill(guidelines)
    page.get_by_role("button", name="Create the project").click()
    expect(page.get_by_role("heading", name=title)).to_be_visible()
    address = page.url
    page.wait_for_load_state()  # what says that they are being made would be there
    expect(page.get_by_role("heading", name="Creating items")).to_be_hidden(timeout=JOB_MS)
    return address


def invite(page: Page, project: str, email: str) -> str:
    """Returns the link that the page gives to pass on."""
    page.goto(f"{project}members/")
    page.get_by_label("Email address").fill(email)
    expect(
        page.locator("form").filter(has=page.get_by_label("Email address")).get_by_label("Annotator")
    ).to_be_checked()
    page.get_by_role("button", name="Invite", exact=True).click()
    link = page.locator("p").filter(has=page.get_by_text(email, exact=True)).locator("+ code")
    expect(link).to_contain_text("://")  # all of it is there
    return link.inner_text()


def join(page: Page, link: str) -> None:
    page.goto(link)
    page.get_by_role("button", name="Join").click()
    page.wait_for_url("**/projects/*/")


def run_checker(page: Page, project: str, title: str, units: str) -> None:
    """Start a checker, see how far it is, and that annotators will see what it says."""
    page.goto(f"{project}runs/")
    entry = page.locator("details").filter(has=page.locator("summary", has_text=title))
    entry.locator("summary").click()
    entry.get_by_role("button", name="Start").click()
    page.wait_for_url("**/runs/*/")
    expect(page.locator("#run-progress progress")).to_be_visible()
    expect(page.locator("#run-progress .badge")).to_have_text("done", timeout=JOB_MS)
    expect(page.locator("#run-progress")).to_contain_text(f"{units} of {units}")
    # A project that shows suggestions and has none yet shows those of its first run.
    expect(page.get_by_text("shown to annotators", exact=True)).to_be_visible()


def acknowledge(page: Page) -> int | None:
    """Read the guidelines on the labelling page, where it asks for that before the first item: their version. None
    where there are none to read."""
    newer = page.locator("template[data-newer-guidelines]")
    if not newer.count():
        return None
    page.get_by_role("button", name="I have read").click()
    return int(newer.get_attribute("data-newer-guidelines"))


def label_items(page: Page, project: str, answers: list[Answer], checker: str) -> list[str]:
    """Answer by keyboard alone, in one sitting. Returns claim and evidence of each item, in the order they came."""
    page.goto(project)
    page.get_by_role("link", name="Start labelling").click()
    page.get_by_role("button", name="I have read them").click()
    shown = []
    item = page.locator("[data-item]")
    suggestion = page.locator("[data-suggestion]:visible")
    for answer in answers:
        expect(item.locator(".is-current")).to_have_count(1)  # the scripts are there
        assignment = item.get_attribute("data-item")
        shown.append("\n".join(item.locator(f'[data-field="{field}"]').inner_text() for field in ("claim", "evidence")))
        assert suggestion.count() == 0 and checker not in page.content()
        page.keyboard.press("1" if answer.relevant else "2")
        if answer.relevant:
            page.keyboard.press(answer.stance)
            expect(page.locator('[data-dimension="stance"] input:checked')).to_have_count(1)
        if answer.words:
            highlight(page, answer.words)
        expect(page.locator("[data-status]")).to_have_text("Complete")
        page.keyboard.press("Enter")
        expect(suggestion.first).to_contain_text(f"{checker} suggests")
        expect(page.locator("[data-submit-text]")).to_have_text("Keep")
        if answer.instead:
            page.locator('[data-group][data-dimension="stance"]').focus()
            page.keyboard.press(answer.instead)
            expect(page.locator("[data-submit-text]")).to_have_text("Send change")
        page.keyboard.press("Enter")
        expect(page.locator(f'[data-item="{assignment}"]')).to_have_count(0)
    expect(page.locator("[data-mine]")).to_have_text(str(len(answers)))
    expect(page.locator("[data-save-text]")).to_have_text("Saved")
    return shown


def highlight(page: Page, words: int) -> None:
    """Words of the evidence from the second on; a one-word text has its only one highlighted."""
    chips = page.locator("[data-chips] li")
    before = chips.count()
    page.keyboard.press("h")
    page.keyboard.press("ArrowRight")
    for _ in range(words - 1):
        page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(chips).to_have_count(before + 1)


def section_of(page: Page, title: str) -> Locator:
    """A section of a report's page, unfolded."""
    section = page.locator("details.section").filter(has=page.get_by_role("heading", name=title, exact=True))
    expect(section).to_be_visible(timeout=JOB_MS)
    are_at_rest(page)
    section.evaluate("section => (section.open = true)")
    return section


def figures(page: Page, section: str) -> dict[str, list[str]]:
    """The rows of a section's first table: measure -> the other cells; the first is a value, then its interval."""
    rows = section_of(page, section).locator("table").first.locator("tbody tr").all()
    found = {row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in rows}
    return {name: [*value_and_interval(value), *cells] for name, (value, *cells) in found.items()}


def value_and_interval(cell: str) -> tuple[str, str]:
    value, _, ends = cell.partition(" [")
    return value, ends.removesuffix("]")


def are_computed(page: Page) -> None:
    """The figures are those of the whole report and of all labels."""
    expect(page.locator("#state")).to_contain_text("Computed", timeout=JOB_MS)


def are_at_rest(page: Page) -> None:
    """The figures are those of the whole report, of labels of some minutes ago perhaps: nothing on the page comes or
    goes for now."""
    expect(page.locator("#state")).to_contain_text(re.compile("Computed|will be computed again soon"), timeout=JOB_MS)


def stats(page: Page, section: str) -> dict[str, str]:
    return {
        one.locator("dt").inner_text(): one.locator("dd").inner_text()
        for one in section_of(page, section).locator("dl.stats > div").all()
    }


def export(page: Page, project: str, folder: Path) -> list[Path]:
    """Everything that the export page offers, downloaded by clicking."""
    page.goto(f"{project}exports/")
    page.get_by_role("button", name="Export", exact=True).click()
    links = page.locator('a[href^="/artifacts/"]')
    expect(links.first).to_be_visible(timeout=JOB_MS)
    page.wait_for_load_state()  # all of them
    folder.mkdir()
    for link in links.all():
        with page.expect_download() as started:
            link.click()
        started.value.save_as(folder / started.value.suggested_filename)
    return sorted(folder.iterdir())

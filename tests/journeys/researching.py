"""What a researcher does with figures in the browser, one function per step."""

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from .browser import JOB_MS, are_computed, value_and_interval
from .demo import Demo, manage

ALPHA = re.compile("^Krippendorff's alpha, nominal")


@dataclass(frozen=True, slots=True)
class Study:
    """A project in a running demo."""

    demo: Demo
    slug: str

    def address(self, where: str = "") -> str:
        return f"{self.demo.address}/projects/{self.slug}/{where}"


def go(page: Page, study: Study, where: str) -> None:
    """A page of figures, once the whole report has been computed."""
    page.goto(study.address(where))
    are_computed(page)


def alpha_of(page: Page, heading: str) -> str:
    """Krippendorff's nominal alpha as the page writes it."""
    row = table_of(page, f"{heading}: agreement").get_by_role("row", name=ALPHA)
    return value_of(row.locator("td").first.inner_text())


def value_of(cell: str) -> str:
    """Without the interval that stands in the same cell."""
    return value_and_interval(cell)[0]


def table_of(page: Page, title: str | re.Pattern) -> Locator:
    """A table by its title, with all sections of the page unfolded."""
    unfold(page)
    return page.get_by_role("region", name=title, exact=True)


def unfold(page: Page) -> None:
    page.locator("details.section").evaluate_all("sections => sections.forEach((one) => (one.open = true))")


def choose(page: Page, option: str, **choice: str | int) -> None:
    """Choose an option of a report, in its panel where it has one."""
    page.locator("details.options").evaluate_all("panels => panels.forEach((one) => (one.open = true))")
    page.get_by_label(option, exact=True).select_option(**choice)


def column(table: Locator, place: int) -> dict[str, str]:
    """First cell of each row -> the one in that place, counted from the first after it."""
    return dict(
        table.locator("tbody tr").evaluate_all(
            "(rows, place) => rows.map((row) => [0, place].map((at) => row.cells[at].innerText.trim()))", place
        )
    )


def saved(page: Page, link: Locator, folder: Path) -> Path:
    with page.expect_download() as started:
        link.click()
    target = folder / started.value.suggested_filename
    started.value.save_as(target)
    return target


def start_checker(page: Page, study: Study, title: str) -> str:
    """Start a checker on everything. Returns the address of its run, which goes on."""
    page.goto(study.address("runs/"))
    entry = page.locator("details").filter(has=page.locator("summary", has_text=title))
    entry.locator("summary").click()
    entry.get_by_role("button", name="Start").click()
    page.wait_for_url("**/runs/*/")
    return page.url


def finished(page: Page, run: str, timeout: float = JOB_MS) -> str:
    """Wait for a run. Returns its UUID."""
    if page.url != run:
        page.goto(run)
    expect(page.locator("#run-progress .badge")).to_have_text("done", timeout=timeout)
    return run.rstrip("/").rpartition("/")[2]


def train(page: Page, study: Study, **choices: str | bool) -> str:
    """Train a checker on the project's labels, and run it over the project. Returns its run's UUID.

    `choices` are names of the form's fields, and the titles to choose there or whether to tick them.
    """
    page.goto(study.address("training/"))
    for name, chosen in choices.items():
        field = page.locator(f"[name={name}]")
        if isinstance(chosen, bool):
            field.set_checked(chosen)
        else:
            field.select_option(label=chosen)
    page.get_by_role("button", name="Train", exact=True).click()
    page.wait_for_url("**/training/*/")
    run_it = page.get_by_role("button", name="Run on this project")
    expect(run_it).to_be_visible(timeout=JOB_MS)
    run_it.click()
    page.wait_for_url("**/runs/*/")
    return finished(page, page.url)


def set_beside(page: Page, dimension: str, **choice) -> Locator:
    """Choose another run on the page of a comparison. Returns the p value of McNemar's test between the two."""
    choose(page, "Compare with", **choice)
    tests = page.get_by_role("region", name=f"{dimension}: tests of the difference", exact=True, include_hidden=True)
    expect(tests).to_have_count(1, timeout=JOB_MS)
    are_computed(page)
    expect(table_of(page, re.compile(f"^{dimension}: .* and .* against the same people$")).first).to_be_visible()
    return tests.get_by_role("row", name=re.compile("McNemar")).locator("td").first


def open_an_item(page: Page, cell: Locator) -> str:
    """From a cell of a picture to the first item behind it. Returns the item's key."""
    cell.click()
    expect(page.get_by_role("heading", name=re.compile("units? behind a figure"))).to_be_visible()
    link = page.locator("ol.plain li.card a").first
    key = link.inner_text()
    link.click()
    expect(page.get_by_role("heading", name=key)).to_be_visible()
    return key


def download_figures(page: Page, folder: Path) -> str:
    """Every form of the first picture, and all tables. Returns these in LaTeX."""
    unfold(page)
    for form, head in (("SVG", b"<"), ("PDF", b"%PDF"), ("PNG", b"\x89PNG")):
        link = page.get_by_role("link", name=re.compile(form)).first
        assert saved(page, link, folder).read_bytes().startswith(head)
    return saved(page, page.get_by_role("link", name="LaTeX").first, folder).read_text()


def freeze(page: Page, study: Study, folder: Path) -> tuple[str, Path, str]:
    """Freeze the labels, and download them: the release's number, its files, and their hash."""
    page.goto(study.address("releases/"))
    page.get_by_role("button", name="Freeze the labels as they are now").click()
    page.wait_for_url(re.compile(r"/releases/\d+/$"))
    number = page.url.rstrip("/").rpartition("/")[2]
    link = page.get_by_role("link", name=f"{study.slug}-release-{number}.zip")
    expect(link).to_be_visible(timeout=JOB_MS)
    archive = saved(page, link, folder)
    return number, archive, page.locator("code.hash").first.inner_text()


def reports(*asked: tuple[Path, tuple[str, ...]]) -> list[dict]:
    """What the command prints, two at a time: each on the data in a folder, with arguments."""

    def one(folder: Path, arguments: tuple[str, ...]) -> dict:
        return json.loads(manage(folder, "report", *arguments, "--format", "json"))

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda each: one(*each), asked))


def of_dimension(report: dict, slug: str) -> dict:
    return next(one for one in report["dimensions"] if one["dimension"] == slug)


def figure(dimension: dict, name: str) -> float:
    return next(one["estimate"] for one in dimension["figures"] if one["name"] == name)

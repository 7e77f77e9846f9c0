"""Tables of figures in a browser: what buttons copy is what the command prints, also where a browser gives pages no
clipboard; names with commas, quotes, other scripts and what LaTeX takes for commands come through; long names and
reasons in place of intervals leave numbers in sight."""

import csv
import io
import re
from copy import deepcopy

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils.timezone import now
from playwright.sync_api import expect

from analysis.figures.tabular import Grid
from analysis.models import StoredReport
from analysis.reports.metrics import get_report
from analysis.templatetags.figures import table_rows
from annotation.models import Claim
from tests.analysis.looks import compute_pages
from tests.web.looks import grave_problems
from tests.world.labels import items_of, make_rater, project_of, say
from tests.world.study import study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

READ, WRITE = "clipboard-read", "clipboard-write"
PEOPLE = ('O\'Neil, "Ann" 100 %_x', "王小明 & {Söhne}", "=1+1")
SOURCES = ('[blog], "no_1" 5 %', "=تقرير $ ~ #2")
FORMS = {"Markdown": "md", "LaTeX": "latex", "CSV": "csv"}
# Where in each form's whole output another table begins.
BEGINNINGS = {"md": r"\n\n(?=\*\*)", "latex": r"\n\n(?=\\begin\{table\})", "csv": r"\n\n(?=table,)"}


@pytest.fixture
def project():
    """Twelve pairs under claims of two sources; three people who differ now and then."""
    project = project_of(12, "claim-evidence/three-way/1", claims=6, slug="ports")
    for number, source in enumerate(SOURCES):
        Claim.objects.filter(source=f"source{number}.example.org").update(source=source)
    for place, name in enumerate(PEOPLE):
        rater = make_rater(project, name)
        for number, item in enumerate(items_of(project)):
            say(item, rater, "relevant", ("refutes", "supports")[(number + (number + place) % 5 // 4) % 2])
    return project


@pytest.fixture
def printed(monkeypatch, capsys):
    """What the command prints about the project, without the last line break; computed once for all forms."""
    done = {}

    def run(name: str, form: str) -> str:
        module = get_report(name).load()
        if name not in done:
            compute = module.compute
            done[name] = None
            monkeypatch.setattr(
                module, "compute", lambda *args, **options: deepcopy(done[name] or keep(compute(*args, **options)))
            )

        def keep(result: dict) -> dict:
            done[name] = result
            return result

        capsys.readouterr()
        call_command("report", "ports", name, *(["--all"] if name == "agreement" else []), "--format", form)
        return capsys.readouterr().out.removesuffix("\n")

    return run


@pytest.fixture
def opened(open_context, client, project):
    """Opens the page of a report, computed, with its single tables unfolded."""

    def open_page(name: str = "agreement", *, permissions=(READ, WRITE), script: str = ""):
        address = f"/projects/ports/{'agreement/?all=1' if name == 'agreement' else f'reports/{name}/'}"
        compute_pages(client, project.created_by, [address])
        page = open_context(project.created_by, permissions=list(permissions)).new_page()
        page.add_init_script(script)
        page.goto(address)
        page.locator("summary", has_text="For your paper").click()
        page.get_by_text("Copy single tables").click()
        return page

    return open_page


def button_of(page, place: int, link: str):
    return page.locator("ul.copies > li").nth(place).get_by_role("button", name=re.compile(f"as {link}$"))


def clipboard(page) -> str:
    return page.evaluate("navigator.clipboard.readText()")


def copied(page, button) -> str:
    button.click()
    expect(button).to_have_text("Copied")
    return clipboard(page).removesuffix("\n")


@pytest.mark.parametrize("name", ["agreement", "druid"])
def test_every_form_of_a_table_is_what_the_command_prints(opened, printed, name):
    page = opened(name)
    for link, form in FORMS.items():
        tables = re.split(BEGINNINGS[form], printed(name, form))
        assert page.locator("ul.copies > li").count() == len(tables)
        # Those of sources or people, which have their names in them.
        named = [
            place for place, table in enumerate(tables) if "تقرير" in table or re.search(r"\br-[0-9a-f]{8}", table)
        ]
        for place in {0, named[0], named[-1]}:
            assert copied(page, button_of(page, place, link)) == tables[place]
    paragraph = copied(page, page.locator("[data-copy=methods]"))
    assert re.sub(r" as of [\d-]+ [\d:]+ UTC", "", paragraph) == printed(name, "methods")


def test_the_numbers_of_a_picture_are_copied_in_every_form_of_tables(opened, client, project):
    page = opened()
    report = project.stored_reports.get()
    name = "by-source-stance"
    title, numbers = report.pictures[name]["spec"]["title"], page.locator(f"#n-{name}")
    page.locator("summary", has_text="Stance: by source").click()
    page.locator("details", has=numbers).locator("summary", has_text="The numbers as a table").click()
    rows = [[words.strip() for words in row.locator("th, td").all_inner_texts()] for row in numbers.locator("tr").all()]
    forms = {}
    for link, form in FORMS.items():
        button = page.get_by_role("button", name=f"Copy numbers of {title} as {link}", exact=True)
        forms[form] = copied(page, button)
        assert forms[form] + "\n" == client.get(button.get_attribute("data-copy-from")).content.decode()
    head, *found = csv.reader(io.StringIO(forms["csv"]))
    assert head[1:] == rows[0] and {row[0] for row in found} == {title}
    assert {row[1] for row in found} == {SOURCES[0], f"'{SOURCES[1]}"}  # nothing that a spreadsheet runs
    assert [[row[1].removeprefix("'"), row[2], f"{float(row[3]):.3f}"] for row in found] == [
        row[:3] for row in rows[1:]
    ]
    markdown = forms["md"].split("\n")
    assert markdown[0] == f"**{title}**" and len(markdown) == len(rows) + 3
    assert r'| \[blog], "no\_1" 5 % |' in forms["md"]
    assert rf"\caption{{{title}}}" in forms["latex"] and forms["latex"].count(r" \\") == len(rows)
    assert r'{}[blog], "no\_1" 5 \% &' in forms["latex"] and r"=تقرير \$ \textasciitilde{} \#2 &" in forms["latex"]
    # Where the page is older than the numbers, a button says so.
    StoredReport.objects.update(computed_at=now())
    button.click()
    expect(button).to_have_text("Outdated: reload the page")


def test_a_table_on_the_page_is_copied_for_a_spreadsheet_and_a_button_says_why_it_copied_nothing(opened):
    page = opened()
    page.locator("summary", has_text="Stance: by source").click()
    button = page.get_by_role("button", name="Copy table: Stance: by source", exact=True)
    rows = [line.split("\t") for line in copied(page, button).split("\n")]
    assert rows[0][:3] == ["Source", "Units", "With a pair"] and {len(row) for row in rows} == {len(rows[0])}
    assert {row[0] for row in rows[1:]} == {SOURCES[0], f"'{SOURCES[1]}"}  # nothing that a spreadsheet runs
    button.click()  # before it has its own words back
    expect(page.get_by_role("status").filter(has_text="Copied: Copy table")).to_have_count(1)
    expect(button).to_have_text("Copy table")

    page.evaluate("navigator.clipboard.writeText('before')")
    button = button_of(page, 0, "Markdown")
    page.context.set_offline(True)
    button.click()
    expect(button).to_have_text("No answer")
    page.context.set_offline(False)
    expect(button).to_have_text("Markdown")
    page.context.clear_cookies()
    button.click()
    expect(button).to_have_text("Signed out")
    assert clipboard(page) == "before"


# As on plain http; and a browser of some years ago.
NO_CLIPBOARD, NO_ITEMS = "delete Navigator.prototype.clipboard;", "delete window.ClipboardItem;"


@pytest.mark.slow
def test_a_page_without_the_clipboard_copies_the_old_way_or_lets_somebody_copy(opened, client):
    for permissions, script in (([READ], ""), ([READ, WRITE], NO_ITEMS), ([READ, WRITE], NO_CLIPBOARD)):
        page = opened("druid", permissions=permissions, script=script)
        table = button_of(page, 0, "LaTeX")
        for button, wanted in (
            (table, client.get(table.get_attribute("data-copy-from")).content.decode()),
            (page.locator("[data-copy=methods]"), page.locator("#methods").inner_text()),
        ):
            button.click()
            expect(button).to_have_text("Copied")
            expect(button).to_be_focused()
            reader = page.context.new_page()
            reader.goto("/")
            reader.bring_to_front()
            assert clipboard(reader) == wanted
            reader.close()

    page = opened("druid", script=NO_CLIPBOARD + "document.execCommand = () => false;")
    button = button_of(page, 0, "CSV")
    button.click()
    field = page.get_by_role("dialog", name="Copy by hand").get_by_role("textbox", name="What to copy")
    expect(field).to_be_focused()
    expect(field).to_have_value(client.get(button.get_attribute("data-copy-from")).content.decode())
    assert page.evaluate("getSelection().toString()") == field.input_value()
    assert grave_problems(page) == []
    page.keyboard.press("Escape")
    expect(field).to_have_count(0)
    expect(button).to_be_focused()
    expect(button).to_have_text("CSV")


def test_a_button_says_that_the_figures_have_changed(open_context, client):
    project = study(8)
    address = reverse("project_agreement", args=[project.slug])
    compute_pages(client, project.created_by, [address])
    page = open_context(project.created_by, permissions=["clipboard-read", "clipboard-write"]).new_page()
    page.route(
        "**/agreement/", lambda route: route.abort() if route.request.headers.get("hx-request") else route.continue_()
    )
    page.goto(address)
    page.locator("summary", has_text="For your paper").click()
    page.get_by_text("Copy single tables").click()
    button = page.locator("ul.copies > li").first.get_by_role("button", name="as CSV")
    button.click()
    expect(button).to_have_text("Copied")
    expect(button).to_have_text("CSV")
    say(items_of(project)[0], make_rater(project), "relevant", "supports")
    compute_pages(client, project.created_by, [address])
    button.click()
    expect(button).to_have_text("Outdated: reload the page")


# --- how tables are laid out ---

SHEETS = ("assay", "figures", "pictures")
WHY = "every resample gives the same figure, so resampling cannot tell how uncertain it is"

# Where the words of a row's name begin.
LEFT = """(place) => {
  const words = document.createRange();
  words.selectNodeContents(document.querySelectorAll("tbody th")[place]);
  return words.getBoundingClientRect().left;
}"""
FITS = "(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector('.table-wrap'))"


@pytest.fixture
def bare_page(open_context, live_server):
    page = open_context().new_page()
    page.goto(f"{live_server.url}/accounts/login/")  # for the addresses of the style sheets
    return page


def show_table(page, table: str) -> None:
    sheets = "".join(f'<link rel="stylesheet" href="/static/css/{name}.css">' for name in SHEETS)
    body = f'<div class="figures"><div class="table-wrap"><table class="table">{table}</table></div></div>'
    page.set_content(f'<!doctype html><html lang="en"><head>{sheets}</head><body>{body}</body></html>')
    page.wait_for_load_state()


def test_a_long_name_leaves_numbers_in_sight_and_every_name_begins_at_the_left(bare_page):
    page = bare_page
    rows = [(name, 100, 0.5) for name in ("gpt4", "x" * 90, "نموذج_اللغة_العربية_الكبير")]
    show_table(page, table_rows(Grid("Rates", ("Model", "Answers", "Share"), rows)))
    page.set_viewport_size({"width": 600, "height": 800})
    assert page.evaluate(FITS)
    first, last = (page.evaluate(LEFT, place) for place in (0, 2))
    assert last == pytest.approx(first, abs=2)


def test_a_reason_in_place_of_an_interval_makes_no_tall_row(bare_page):
    page = bare_page
    plain, reason = "<span class='interval'>[0.10, 0.20]</span>", f"<span class='why'>{WHY}</span>"
    rows = ""
    for third in (reason, plain):
        cells = (f"<td class='num'>10</td><td>{one}</td>" for one in (plain, plain, third, plain) * 2)
        rows += f"<tr><th scope='row'>model</th>{''.join(cells)}</tr>"
    show_table(page, f"<tbody>{rows}</tbody>")
    page.set_viewport_size({"width": 900, "height": 800})
    tall, short = (row.bounding_box()["height"] for row in page.locator("tr").all())
    assert tall < 3 * short

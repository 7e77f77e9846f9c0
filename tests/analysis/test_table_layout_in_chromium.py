"""How a browser lays out tables of figures: long names, names in other scripts, reasons in place of intervals."""

import pytest

from analysis.reports.tabular import Grid
from analysis.templatetags.figures import percent_interval, table_rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
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
def page(open_context, live_server):
    page = open_context().new_page()
    page.goto(f"{live_server.url}/accounts/login/")  # for the addresses of the style sheets
    return page


def show(page, table: str) -> None:
    sheets = "".join(f'<link rel="stylesheet" href="/static/css/{name}.css">' for name in SHEETS)
    body = f'<div class="figures"><div class="table-wrap"><table class="table">{table}</table></div></div>'
    page.set_content(f'<!doctype html><html lang="en"><head>{sheets}</head><body>{body}</body></html>')
    page.wait_for_load_state()


def test_a_long_name_leaves_numbers_in_sight_and_every_name_begins_at_the_left(page):
    rows = [(name, 100, 0.5) for name in ("gpt4", "x" * 90, "نموذج_اللغة_العربية_الكبير")]
    show(page, table_rows(Grid("Rates", ("Model", "Answers", "Share"), rows)))
    page.set_viewport_size({"width": 600, "height": 800})
    assert page.evaluate(FITS)
    first, last = (page.evaluate(LEFT, place) for place in (0, 2))
    assert last == pytest.approx(first, abs=2)


def test_a_reason_in_place_of_an_interval_makes_no_tall_row(page):
    figure = {"undefined": "", "low": None, "high": None, "interval": {"undefined": WHY}}
    plain = {"undefined": "", "low": 0.1, "high": 0.2, "interval": {"undefined": ""}}
    rows = ""
    for third in (figure, plain):
        cells = (f"<td class='num'>10</td><td>{percent_interval(one)}</td>" for one in (plain, plain, third, plain) * 2)
        rows += f"<tr><th scope='row'>model</th>{''.join(cells)}</tr>"
    show(page, f"<tbody>{rows}</tbody>")
    page.set_viewport_size({"width": 900, "height": 800})
    tall, short = (row.bounding_box()["height"] for row in page.locator("tr").all())
    assert tall < 3 * short

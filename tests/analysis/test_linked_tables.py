"""Every table of every report whose rows count units opens them, or stands here with the reason why it does not."""

import html
import re
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

import pytest
from django.urls import reverse

from analysis.models import StoredReport
from analysis.reports.metrics import REPORTS
from annotation.jobs import lifecycle
from annotation.models import Job
from tests.world import client_of
from tests.world.study import WORLDS

pytestmark = pytest.mark.django_db

# Heads of columns that count units, or what units belong to.
COUNTING = re.compile(
    r"n|Units\b.*|Shared units|With a pair|Same label|Other label|Against the majority|Labels\b.*|Answers\b.*|"
    r"Documents|Responses|Agree, .*|People|Checker|Correct|Failed|Matched|Not|Undecided|Marks|Claims|Samples|Evidence"
)
# Columns of these heads count something else: how much would be needed, whole people.
NOT_COUNTING = re.compile(r"Units (needed|that would decide|per claim).*")

SIMULATED = "sizes of simulated studies, of which no unit exists"
OF_ANSWERS = "answers in the order or at the speed in which each person gave them; the units of each person open above"
OF_MANY = "how often a measure was taken: pairs of people, characters or answers, not units"
NOT_LINKED = {
    "agreement": {": against chance": "labels that a test permutes; the units of all of them open above"},
    "spans": {
        ": agreement on highlights": OF_MANY,
    },
    "annotators": {
        ": agreement by speed": OF_ANSWERS,
        ": correlation of time with agreement": OF_ANSWERS,
        ": agreement with others over time": OF_ANSWERS,
        ": agreement by version of the guidelines": OF_ANSWERS,
    },
    "calibration": {": alternative annotator test of each version": "people; the units of a version open above"},
    "planning": {"expected half width": SIMULATED},
    "prefill-trial": {"Time of an answer": OF_ANSWERS},
}
# Computing all reports whole takes long.
AT_EVERY_RUN = ("agreement", "annotators", "rates", "matched")


class Tables(HTMLParser):
    """Tables of a page, each with its name, heads, and rows of (words, address) cells."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[dict] = []
        self.region, self.cell = "", None

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if given.get("role") == "region" and tag == "div":
            self.region = given.get("aria-label", "")
        elif tag == "table":
            self.found.append({"name": self.region, "id": given.get("id", ""), "heads": [], "rows": [], "body": False})
        elif tag == "tbody":
            self.found[-1]["body"] = True
        elif tag == "tr" and self.found[-1]["body"]:
            self.found[-1]["rows"].append([])
        elif tag in ("th", "td"):
            self.cell = ["", ""]
        elif tag == "a" and self.cell is not None and "/behind/" in given.get("href", ""):
            self.cell[1] = given["href"]

    def handle_data(self, data):
        if self.cell is not None:
            self.cell[0] += data

    def handle_endtag(self, tag):
        if tag in ("th", "td") and self.cell is not None:
            words, address = self.cell
            table = self.found[-1]
            if table["body"]:
                table["rows"][-1].append((" ".join(words.split()), address))
            else:
                table["heads"].append(" ".join(words.split()))
            self.cell = None


def computed(name: str):
    """The page of a report in its world, as text, its stored report, and who looks at it."""
    project, options = WORLDS[name]()
    client, report = client_of(project.created_by), REPORTS[name]
    address = reverse(report.page, args=report.address(project.slug))
    client.get(address, options)
    lifecycle.run_here(Job.objects.get(kind=Job.Kind.REPORT, state="queued"))
    return client, client.get(address, options).content.decode(), StoredReport.objects.get()


def tables_of(page: str) -> list[dict]:
    parser = Tables()
    parser.feed(page)
    return [table for table in parser.found if table["rows"] and not table["id"].startswith("n-")]


def number(words: str) -> int | None:
    return int(words.replace(",", "")) if re.fullmatch(r"\d[\d,]*", words) else None


def counts_without_a_link(table: dict) -> list[list]:
    """Rows that count something above 0 and open nothing."""
    places = [
        place
        for place, head in enumerate(table["heads"])
        if COUNTING.fullmatch(head) and not NOT_COUNTING.fullmatch(head)
    ]
    return [
        row
        for row in table["rows"]
        if any(place < len(row) and number(row[place][0]) for place in places) and not any(link for _, link in row)
    ]


@pytest.mark.parametrize(
    "name", [name if name in AT_EVERY_RUN else pytest.param(name, marks=pytest.mark.slow) for name in WORLDS]
)
def test_every_table_that_counts_units_opens_them(name):
    client, page, report = computed(name)
    tables, kind = tables_of(page), REPORTS[name]
    reasons = NOT_LINKED.get(name, {})
    without = {table["name"]: rows for table in tables if (rows := counts_without_a_link(table))}
    left = {title: rows for title, rows in without.items() if not any(part in title for part in reasons)}
    assert not left, left
    # A reason that nothing needs any more is no reason.
    assert not [part for part in reasons if not any(part in title for title in without)]
    links = {html.unescape(link) for link in re.findall(r'href="([^"]*/behind/[^"]*)"', page)}
    figures = {parse_qs(urlsplit(link).query, keep_blank_values=True)["figure"][0]: link for link in links}
    assert figures
    sizes = {figure: kind.units_behind(report.behind, figure) for figure in figures}
    assert None not in sizes.values()
    shown = {}
    for figure, link in figures.items():
        shown.setdefault((figure.count("/"), re.sub(r"[0-9a-f-]{12,}|p[0-9]+", "", figure)), link)
    for link in list(shown.values())[:: max(len(shown) // 12, 1)]:
        answer = client.get(link)
        figure = parse_qs(urlsplit(link).query, keep_blank_values=True)["figure"][0]
        n = len(sizes[figure])
        assert f"<h1>{n} unit{'' if n == 1 else 's'} behind a figure</h1>" in answer.content.decode(), figure
        words = answer.context["figure"]
        assert words not in ("", figure)

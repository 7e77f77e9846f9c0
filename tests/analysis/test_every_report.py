"""What every report has: each form by the command, and its numbers on the page before their intervals."""

import copy
import csv
import io
import json
import re

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.figures.items import LABEL, Filter, Items
from analysis.models import StoredReport
from analysis.reports.metrics import REPORTS
from analysis.sources.database import DatabaseSource
from annotation import __version__
from annotation.jobs import lifecycle
from annotation.models import Job
from tests.analysis.captions import lacks
from tests.analysis.golden_pages import golden
from tests.analysis.opened_figures import figures
from tests.world import client_of
from tests.world.labels import STUDIES
from tests.world.study import WORLDS

pytestmark = pytest.mark.django_db


def test_there_is_a_project_for_every_report():
    assert list(WORLDS) == list(REPORTS)


KNOWN: dict[tuple, tuple] = {}  # what reports computed of their worlds, for all tests here


@pytest.fixture
def world_of(monkeypatch):
    """A report by its name, its project and options; what was computed of them before is not computed again."""
    monkeypatch.setattr(STUDIES, 50)

    def world(name: str):
        project, options = WORLDS[name]()
        report = REPORTS[name]
        whole = report.load().compute

        def once(source, **given):
            key = (name, project.pk, *sorted((option, str(value)) for option, value in given.items()))
            if key not in KNOWN:
                KNOWN[key] = whole(source, **given)
            return copy.deepcopy(KNOWN[key])

        monkeypatch.setattr(f"{report.module}.compute", once)
        return report, project, options

    return world


@pytest.mark.parametrize("name", WORLDS)
def test_the_command_writes_every_report_in_every_form(name, world_of, capsys):
    report, project, options = world_of(name)
    arguments = [
        part
        for option, value in options.items()
        for part in (f"--{option.replace('_', '-')}", value)
        if part is not True
    ]

    def written(form: str, *more: str) -> str:
        call_command("report", project.slug, name, *arguments, "--format", form, *more)
        return capsys.readouterr().out

    result = json.loads(written("json"))
    assert (result["report"], result["project"]) == (name, project.slug)
    tables = report.tables(result)
    assert tables and any(table.rows for table in tables)
    said, text = written("methods").strip(), written("table")
    paragraphs = text.split("\n\n")
    assert len(paragraphs) == len(set(paragraphs))  # a note stands once, whether the page or the result gives it
    words, known_words = golden(name, text, said)
    assert words == known_words, "if the new words are right: CONTRIBUTING.md says how to store them"
    markdown = written("md")
    assert all(table.title in markdown.replace("\\", "") for table in tables)
    assert written("latex").count(r"\begin{tabular}") == len(tables)
    assert len(list(csv.reader(io.StringIO(written("csv"))))) > sum(len(table.rows) for table in tables)
    assert f"Computed with Assay {__version__} from the labels of {project.slug}" in said
    assert said.index("Computed with Assay") > 0 and said.endswith(".")  # its own sentences come first
    pictures = report.pictures(result)
    if ends_of(result):
        assert re.search(r"95 ?%", said) and "interval" in said.lower()
    for picture in pictures:
        assert [] in (lacks(picture, project.slug), lacks(picture, project.title))
        assert "</svg>" in written("svg", "--picture", picture.name)
    if not pictures:
        with pytest.raises(CommandError, match="has no picture"):
            written("svg")


def ends_of(value) -> int:
    """How many intervals a result has."""
    if isinstance(value, dict):
        return (value.get("low") is not None) + sum(map(ends_of, value.values()))
    return sum(map(ends_of, value)) if isinstance(value, list) else 0


QUICK = [name for name, report in REPORTS.items() if report.quick]


def test_reports_that_take_long_have_a_first_pass():
    assert {"agreement", "comparison", "annotators", "spans", "icat", "refchecker", "leakage", "druid"} <= set(QUICK)


@pytest.mark.parametrize("name", QUICK)
def test_pages_show_numbers_before_their_intervals(name, world_of, monkeypatch):
    report, project, options = world_of(name)
    client = client_of(project.created_by)
    address = reverse(report.page, args=report.address(project.slug))
    client.get(address, options)
    seen = []
    whole = report.load().compute

    def looked_at(source, **given):
        stored = StoredReport.objects.get()
        seen.append((client.get(address, options).content.decode(), stored.is_partial, stored.result))
        return whole(source, **given)

    monkeypatch.setattr(f"{report.module}.compute", looked_at)
    lifecycle.run_here(Job.objects.get(kind=Job.Kind.REPORT, state="queued"))
    (before, _, nothing), (first, is_partial, numbers) = seen
    assert not nothing and "<td" not in before.partition('id="figures"')[2]
    assert is_partial and "<td" in first and 'id="methods"' not in first
    assert "intervals and tests are being computed" in first and "Labels have changed" not in first
    stored = StoredReport.objects.get()
    last = client.get(address, options).content.decode()
    assert not stored.is_partial and 'id="methods"' in last
    assert ends_of(numbers) < ends_of(stored.result)


@pytest.mark.parametrize("name", REPORTS)
def test_every_figure_opens_as_many_items_as_it_counts(name, world_of):
    report, project, options = world_of(name)
    source = DatabaseSource(project)
    result = report.compute(source, **report.values(source, options))
    items = Items.from_json(result["behind"])
    assert items.units_of(Filter()) == items.units and -1 not in items.units
    found = list(figures(report.page_of(result)))
    assert found
    wrong = []
    for place, wanted, n, of in found:
        there = items.count(wanted, of)
        if (n is None and not there) or (n is not None and there != n):
            wrong.append(f"{place}: {wanted.encoded} says {n}, opens {there}")
        assert items.words(wanted) and Filter.decoded(wanted.encoded).encoded == wanted.encoded
    assert wrong == []


def test_a_pair_is_two_judgements_and_units_that_are_gone_are_not_opened():
    """Units 5 and -1 (gone) have two judgements of the same label, unit 7 one alone."""
    items, labels = Items([5, -1, 7]), ("yes", "no")
    items.judge(np.array([0, 0, 1, 1, 2]), {LABEL: ("Label", np.array([0, 0, 1, 1, 0]), labels, labels, "")})
    pair = Filter({}, ({LABEL: labels}, {LABEL: labels}), "same")
    assert items.count(pair) == 2 and items.units_of(pair) == [5]
    assert items.units_of(Filter({}, ({LABEL: "yes"},))) == [5, 7]

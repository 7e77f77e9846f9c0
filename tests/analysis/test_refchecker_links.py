"""Every cell of the RefChecker report opens what it stands for, counted here by hand, whatever models are called."""

import html
import re
from collections import Counter
from urllib.parse import quote as quoted
from urllib.parse import unquote

import pytest
from django.urls import reverse

from analysis.pictures import Intervals
from analysis.releases import freezing
from analysis.reports.figures import quickly
from analysis.reports.metrics import get_report
from analysis.reports.refchecker_data import study_of
from analysis.reports.refchecker_texts import copying
from analysis.reports.tabular import Linked, Table, value_of
from analysis.sources.database import DatabaseSource
from analysis.sources.files import source_of_files
from annotation.models import Job, Project, Unit
from annotation.services import jobs
from tests.analysis.pieces_world import LEFT_OUT, SETTINGS, TITLES, Expected, make_world
from tests.analysis.test_behind import frozen
from tests.analysis.test_refchecker_report import C, E, N
from tests.world import client_of

pytestmark = pytest.mark.django_db
REPORT = get_report("refchecker")


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker):
    from django.db import transaction

    with django_db_blocker.unblock(), transaction.atomic():
        yield make_world()
        transaction.set_rollback(True)


def compute(source, **options) -> dict:
    """All of the report but its intervals."""
    with quickly():
        result = REPORT.compute(source, **options)
        study = study_of(source)
        copied, behind = copying(study, study.people(source.label_frame(study.units), "majority"))
    return result | {"copying": copied, "behind": result["behind"] | behind}


def tables_of(result: dict) -> list[Table]:
    return [part for part in REPORT.body(result) if isinstance(part, Table)]


def rows_of(table: Table) -> list[dict]:
    assert len(set(table.columns)) == len(table.columns), table.title
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


@pytest.mark.parametrize("without", ["", LEFT_OUT])
def test_every_cell_opens_what_it_stands_for(world, without):
    result = compute(DatabaseSource(world.project), other_pieces="coarser", without=without)
    expected, tables = Expected(world, without), tables_of(result)
    keys = dict(Unit.objects.values_list("pk", "key"))
    n_opened, n_empty = Counter(), 0
    for table in tables:
        for row in rows_of(table):
            wanted = expected.cells(table.title, {name: value_of(cell) for name, cell in row.items()})
            assert set(wanted) <= set(row), table.title
            assert {name for name, cell in row.items() if isinstance(cell, Linked)} <= set(wanted), table.title
            for column, units in wanted.items():
                where = table.title, column, list(row.values())[:3]
                if not units:
                    assert not isinstance(row[column], Linked), where
                    n_empty += 1
                    continue
                found = REPORT.units_behind(result["behind"], row[column].figure)
                assert found is not None and set(found) == units, where
                assert len(found) == len(units), where
                if column != "Abstained":
                    assert [keys[unit] for unit in found] == sorted(keys[unit] for unit in units), where
                n_opened[table.title] += 1
    assert len(tables) == len(n_opened) == 21 and sum(n_opened.values()) > 400 and n_empty > 30


def test_counts_are_those_of_what_they_open(world):
    """Of columns that count pieces; others count answers or labels, or are shares."""
    result = compute(DatabaseSource(world.project), other_pieces="coarser")
    counted = Counter()
    for table in tables_of(result):
        for row in rows_of(table):
            of_pieces = {"By both", "Differ", "By people", "n", "Nothing masked"} if "Answers" not in row else set()
            of_pieces |= {name for name in row if name.endswith(" by the checker") and "People" in row}
            of_pieces |= {name for name in row if re.match("(yes|no|unsure), ", name)}
            for column in of_pieces & set(row):
                if isinstance(row[column], Linked):
                    cell = row[column]
                    assert cell.value == len(REPORT.units_behind(result["behind"], cell.figure)), (table.title, column)
                    counted[column] += 1
    assert len(counted) == 5 + 3 + 9 and sum(counted.values()) > 100


def test_places_of_the_picture_open_what_the_table_s_cells_do(world):
    result = compute(DatabaseSource(world.project))
    pictures = [part for part in REPORT.body(result) if isinstance(part, Intervals)]
    expected = Expected(world)
    assert len(pictures) == 2
    for picture, setting in zip(pictures, SETTINGS, strict=True):
        for item in picture.items:
            units = expected.rates("soft", setting, {"Model": item.row})[item.series]
            assert bool(item.figure) == bool(units) == bool(item.value)
            if units:
                assert set(REPORT.units_behind(result["behind"], item.figure)) == units


def test_decided_by_touched_labels_too_the_checkers_cells_follow(world):
    result = compute(DatabaseSource(world.project), touched=True)
    run = world.runs["poor 1"]
    expected = {one.unit for one in world.pieces if (one.now, one.said["poor 1"]) == (C, E)}
    found = [
        unit
        for table in tables_of(result)
        for row in rows_of(table)
        for cell in row.values()
        if isinstance(cell, Linked) and cell.figure.startswith(f"checker/{run}/cell/{C}/{E}/")
        for unit in REPORT.units_behind(result["behind"], cell.figure)
    ]
    assert sorted(found) == sorted(expected) and expected


def quote(name: str) -> str:
    return quoted(name, safe="")


def figures_of(result: dict) -> set[str]:
    cells = (cell for table in tables_of(result) for row in table.rows for cell in row)
    return {cell.figure for cell in cells if isinstance(cell, Linked)}


def test_a_release_s_files_open_the_same(world, tmp_path):
    for slug in (world.project.slug, "coarser"):
        freezing.write_release(Project.objects.get(slug=slug), tmp_path / slug)
    files = source_of_files(tmp_path / world.project.slug, beside=[tmp_path / "coarser"])
    found = []
    for source in (files, DatabaseSource(world.project)):
        result = compute(source, other_pieces="coarser")
        units, items = source.unit_frame("triplet"), source.item_frame()
        keys = dict(zip(units["unit"], units["unit_key"], strict=True))
        without = items[items["n_units"] == 0]
        keys |= dict(zip(source.anchors(without["item"].tolist()), without["item_key"], strict=True))
        opened = {one: REPORT.units_behind(result["behind"], one) for one in figures_of(result)}
        found.append({one: [keys[unit] for unit in ids] for one, ids in opened.items()})
    assert found[0] == found[1] and any(one.startswith("abstained") for one in found[0])


def opened_report(project: Project, client, **asked):
    """The report's page with its first figures."""
    page = reverse("project_report", args=[project.slug, "refchecker"])
    client.get(page, asked)
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        with quickly():
            jobs.run_here(job)
    return client.get(page, asked)


def links_of(page) -> dict[str, str]:
    """Address by figure, of the tables and pictures of a page."""
    found = map(html.unescape, re.findall(r'href="([^"]*/behind/[^"]*figure=[^"]*)"', page.content.decode()))
    return {unquote(address.rsplit("figure=", 1)[1]): address for address in found}


def head_of(answer) -> str:
    return html.unescape(re.search(r'<p class="muted">(.*?); (?:as of|of <a)', answer.content.decode(), re.DOTALL)[1])


def test_the_pages_say_what_they_open(world):
    client = client_of(world.project.created_by)
    page = opened_report(world.project, client, other_pieces="coarser")
    links = links_of(page)
    assert set(links) >= figures_of(page.context["result"])
    of_kind = {}
    for figure in sorted(links, reverse=True):
        what, *parts = figure.split("/")
        kind = parts[1] if what == "checker" else parts[0] if what == "counted" else ""
        of_kind.setdefault((what, kind, len(parts)), figure)
    heads = {figure: REPORT.in_words(world.project.type, figure) for figure in of_kind.values()}
    same = [words for words, times in Counter(heads.values()).items() if times > 1]
    assert not same and len(heads) > 30
    for figure in list(heads)[::3]:
        answer = client.get(links[figure])
        assert answer.status_code == 200, figure
        assert len(answer.context["rows"]) == min(answer.context["page"].paginator.count, 50) > 0, figure
        assert head_of(answer) == f"Hallucinations, piece by piece: {heads[figure]}"
    run, silent = world.runs["poor 1"], f"abstained/noisy/{quote('zürich & co?')}"
    words = {
        f"people/{C}/{quote(SETTINGS[1])}/a%2Ab": f"triplets that people judge contradiction, of a*b ({SETTINGS[1]})",
        f"checker/{run}/factual/not/{E}/noisy": "triplets of answers that people or the checker do not find factual "
        "(noisy)",
        silent: "answers without triplets, of zürich & co? (noisy)",
    }
    for figure, expected in words.items():
        assert head_of(client.get(links[figure])) == f"Hallucinations, piece by piece: {expected}"
    for wrong, status in (("%2Fmore", 404), ("%2F", 404), ("%00", 400)):
        assert client.get(links[silent] + wrong).status_code == status
    assert "Answer 0-" in client.get(links[silent]).content.decode()


def test_pages_of_a_release_show_its_answers_without_pieces_too(world, settings, tmp_path):
    frozen(world.project, settings, tmp_path)
    client, (_, odd) = client_of(world.project.created_by), SETTINGS
    links = links_of(opened_report(world.project, client, release="1"))
    silent = {one.unit for one in Expected(world).answers(odd, "", lambda one: not one.pieces)}
    answer = client.get(links[f"abstained/{quote(odd)}"])
    assert {row.unit.pk for row in answer.context["rows"]} == silent and len(silent) > 1
    assert all(row.item and row.text.startswith("Answer 1-") for row in answer.context["rows"])
    assert "release 1</a>, with labels and texts as they were frozen on" in answer.content.decode()
    run = world.runs["good 1"]
    shown = client.get(links[f"checker/{run}/cell/{N}/{N}/noisy"]).context["rows"]
    expected = Expected(world).confusion("good 1", "noisy", {"People": "Neutral"})["Neutral by the checker"]
    assert {row.unit.pk for row in shown} == expected


def test_beside_a_checkers_cells_stand_the_labels_that_it_did_not_touch(world):
    client, run = client_of(world.project.created_by), world.runs["poor 1"]
    links = links_of(opened_report(world.project, client))
    figures = [f"checker/{run}/cell/{said}/{C}/noisy" for said in (E, N, C)]
    answers = [client.get(links[figure]) for figure in figures]
    titles = {label: title for title, label in TITLES.items()}
    n_changed = 0
    for said, answer in zip((E, N, C), answers, strict=True):
        people, runs = answer.context["beside"].people, answer.context["beside"].runs
        for row in answer.context["rows"]:
            [anna] = people[row.unit.pk]
            assert anna.counts and anna.words == titles[said]
            assert runs[row.unit.pk][0].words.startswith("Contradiction") and runs[row.unit.pk][0].name == "poor 1"
            n_changed += "before the suggestion" in anna.aside
    assert n_changed
    [piece, *_] = [one for one in world.pieces if one.now == C and one.before is None and one.setting == "noisy"]
    now = client.get(links[f"people/{C}/noisy"]).context["beside"].people[piece.unit]
    assert [one.words for one in now] == ["Contradiction"]

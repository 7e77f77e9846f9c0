"""Every cell of the RefChecker report opens what it stands for, counted here by hand, whatever models are called."""

import html
import re
from collections import Counter
from urllib.parse import unquote

import pytest
from django.urls import reverse

from analysis.figures.items import Filter, Items
from analysis.figures.pictures import Intervals
from analysis.figures.tables import Table
from analysis.releases import freezing
from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from analysis.sources.files import source_of_files
from annotation.jobs import lifecycle
from annotation.models import Job, Project, Unit
from tests.analysis.test_behind import frozen
from tests.analysis.test_refchecker_report import C, E, N
from tests.world import client_of
from tests.world.pieces import LEFT_OUT, SETTINGS, TITLES, Expected, make_world

pytestmark = pytest.mark.django_db
REPORT = get_report("refchecker")
# How the part of a table that counts is called in what is expected of the whole.
WHOLE = {": counts": "", "accuracy over answers": "answers"}


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker):
    from django.db import transaction

    with django_db_blocker.unblock(), transaction.atomic():
        yield make_world()
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def whole(world) -> dict:
    return compute(DatabaseSource(world.project), other_pieces="coarser")


def compute(source, **options) -> dict:
    return REPORT.compute(source, **REPORT.values(source, {}) | options)


def tables_of(result: dict) -> list[Table]:
    return REPORT.page_of(result).tables()


def filters_of(table: Table, row) -> dict[str, Filter | None]:
    """What each cell that can be opened opens, by column; None where there is nothing behind it."""
    return {
        column.title: column.items(row) if column.value(row) not in (None, 0) else None
        for column in table.columns
        if column.items
    }


@pytest.mark.parametrize("without", ["", LEFT_OUT])
def test_every_cell_opens_what_it_stands_for(world, whole, without):
    result = compute(DatabaseSource(world.project), other_pieces="coarser", without=without) if without else whole
    expected, tables, items = Expected(world, without), tables_of(result), Items.from_json(result["behind"])
    keys = dict(Unit.objects.values_list("pk", "key"))
    n_opened, n_empty = Counter(), 0
    for table in tables:
        title = table.title
        for part, of in WHOLE.items():
            title = title.replace(part, of)
        for row in table.rows:
            filters = filters_of(table, row)
            words = {column.title: column.value(row) for column in table.columns if not column.interval}
            wanted = expected.cells(title, words)
            assert set(filters) <= set(wanted), table.title
            for column, found in filters.items():
                units, where = wanted[column], (table.title, column, list(words.values())[:3])
                if not units:
                    assert found is None or not items.units_of(found), where
                    n_empty += 1
                    continue
                opened = items.units_of(found)
                assert set(opened) == units and len(opened) == len(units), where
                if column != "Abstained":
                    assert [keys[unit] for unit in opened] == sorted(keys[unit] for unit in units), where
                n_opened[table.title] += 1
    assert len(tables) == len(n_opened) == 24 and sum(n_opened.values()) > 400 and n_empty > 30


def test_places_of_the_picture_open_what_the_table_s_cells_do(world, whole):
    pictures = [picture for picture in REPORT.pictures(whole) if isinstance(picture, Intervals)]
    expected, items = Expected(world), Items.from_json(whole["behind"])
    assert len(pictures) == 2
    for picture, setting in zip(pictures, SETTINGS, strict=True):
        for item in picture.items:
            units = expected.rates("soft", setting, {"Model": item.row})[item.series]
            assert bool(item.figure) == bool(units) == bool(item.value)
            if units:
                assert set(items.units_of(Filter.decoded(item.figure))) == units


def test_decided_by_touched_labels_too_the_checkers_cells_follow(world):
    result = compute(DatabaseSource(world.project), touched=True, quick=True)
    expected = {one.unit for one in world.pieces if (one.now, one.said["poor 1"]) == (C, E)}
    items, wanted = Items.from_json(result["behind"]), Filter({"c1.people": C, "c1": E})
    assert sorted(items.units_of(wanted)) == sorted(expected) and expected
    assert {judged["label"] for unit in expected for judged in items.judgements_on(unit)} == {C}
    assert items.counting(wanted) == "counts"


def test_a_release_s_files_open_the_same(world, tmp_path):
    for slug in (world.project.slug, "coarser"):
        freezing.write_release(Project.objects.get(slug=slug), tmp_path / slug)
    files = source_of_files(tmp_path / world.project.slug, siblings=[tmp_path / "coarser"])
    found = []
    for source in (files, DatabaseSource(world.project)):
        items = Items.from_json(compute(source, other_pieces="coarser", quick=True)["behind"])
        units, rows = source.unit_frame("triplet"), source.item_frame()
        keys = dict(zip(units["unit"], units["unit_key"], strict=True))
        without = rows[rows["n_units"] == 0]
        keys |= dict(zip(source.anchors(without["item"].tolist()), without["item_key"], strict=True))
        found.append(items.to_json() | {"units": [keys[unit] for unit in items.units]})
    assert found[0] == found[1] and "abstained" in found[0]["columns"]


def opened_report(project: Project, client, **asked):
    """The report's page."""
    page = reverse("project_report", args=[project.slug, "refchecker"])
    client.get(page, asked)
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        lifecycle.run_here(job)
    return client.get(page, asked)


def links_of(page) -> dict[str, str]:
    """Address by figure, of the tables and pictures of a page."""
    found = map(html.unescape, re.findall(r'href="([^"]*/behind/[^"]*figure=[^"]*)"', page.content.decode()))
    return {unquote(address.rsplit("figure=", 1)[1]): address for address in found}


def head_of(answer) -> str:
    return html.unescape(re.search(r'<p class="muted">(.*?); (?:as of|of <a)', answer.content.decode(), re.DOTALL)[1])


def in_setting(setting: str, **conditions) -> str:
    named = {name.replace("_", "."): value for name, value in conditions.items()}
    return Filter({"setting": setting} | named).encoded


def test_the_pages_say_what_they_open(world):
    client = client_of(world.project.created_by)
    page = opened_report(world.project, client, other_pieces="coarser")
    links, items = links_of(page), Items.from_json(page.context["report"].behind)
    tables = tables_of(page.context["result"])
    every = {one.encoded for table in tables for row in table.rows for one in filters_of(table, row).values() if one}
    assert set(links) >= every
    heads = {figure: items.words(Filter.decoded(figure)) for figure in links}
    assert len(set(heads.values())) == len(heads) > 100
    for figure in sorted(links)[::40]:
        answer = client.get(links[figure])
        assert answer.status_code == 200, figure
        assert len(answer.context["rows"]) == min(answer.context["page"].paginator.count, 50) > 0, figure
        assert head_of(answer) == f"Hallucinations, piece by piece: {heads[figure]}"
    silent = Filter({"setting": "noisy", "model": "zürich & co?", "abstained": "yes"}).encoded
    words = {
        Filter({"setting": SETTINGS[1], "model": "a*b", "people": C}).encoded: f"Setting: {SETTINGS[1]}; Model: a*b; "
        "People: Contradiction",
        in_setting("noisy", c1_factual=("people", "checker", "neither")): "Setting: noisy; Factual by poor 1 and by "
        "people: people only or the checker only or neither",
        silent: "Setting: noisy; Model: zürich & co?; Answers without triplets",
    }
    for figure, expected in words.items():
        assert head_of(client.get(links[figure])) == f"Hallucinations, piece by piece: {expected}"
    for wrong, status in (("%26model=nobody", 404), ("%26nothing=1", 404), ("%00", 400)):
        assert client.get(links[silent] + wrong).status_code == status
    assert "Answer 0-" in client.get(links[silent]).content.decode()


def test_pages_of_a_release_show_its_answers_without_pieces_too(world, settings, tmp_path):
    frozen(world.project, settings, tmp_path)
    client, (_, odd) = client_of(world.project.created_by), SETTINGS
    links = links_of(opened_report(world.project, client, release="1"))
    silent = {one.unit for one in Expected(world).answers(odd, "", lambda one: not one.pieces)}
    answer = client.get(links[in_setting(odd, abstained="yes")])
    assert {row.unit.pk for row in answer.context["rows"]} == silent and len(silent) > 1
    assert all(row.item and row.texts[1].text.startswith("Answer 1-") for row in answer.context["rows"])
    assert "release 1</a>, with labels and texts as they were frozen on" in answer.content.decode()
    shown = client.get(links[in_setting("noisy", c0_people=N, c0=N)]).context["rows"]
    expected = Expected(world).confusion("good 1", "noisy", {"People": "Neutral"})["Neutral by the checker"]
    assert {row.unit.pk for row in shown} == expected


def test_beside_a_checkers_cells_stand_the_labels_that_it_did_not_touch(world):
    client = client_of(world.project.created_by)
    links = links_of(opened_report(world.project, client))
    answers = [client.get(links[in_setting("noisy", c1_people=said, c1=C)]) for said in (E, N, C)]
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
    now = client.get(links[in_setting("noisy", people=C)]).context["beside"].people[piece.unit]
    assert [one.words for one in now] == ["Contradiction"]

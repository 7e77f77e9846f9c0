"""Columns that sources read in blocks."""

import pytest

from analysis.sources import blocks
from analysis.sources.blocks import CodeReader, FlagReader, StringReader, read_columns, renamed
from annotation.models import Item, Revision
from tests.world.labels import items_of, make_rater, project_of, say

pytestmark = pytest.mark.django_db
KINDS = {"key": StringReader, "state": CodeReader}


def test_blocks_are_one_column(monkeypatch):
    project = project_of(5)
    monkeypatch.setattr(blocks, "AT_ONCE", 2)
    rows = Item.objects.filter(project=project).order_by("pk")
    frame = read_columns(rows, {"item": "pk", "key": "key", "state": "state"}, KINDS)
    assert frame["item"].tolist() == [one.pk for one in rows]
    assert frame["key"].tolist() == [one.key for one in rows]
    assert frame["state"].tolist() == [one.state for one in rows]


def test_without_rows_columns_are_there():
    frame = read_columns(Item.objects.none(), {"item": "pk", "key": "key", "state": "state"}, KINDS)
    assert list(frame) == ["item", "key", "state"] and frame.empty


@pytest.mark.parametrize("shown", [[True, False], [True, None], [None, None]])
def test_truth_values_are_none_where_unknown(shown):
    project = project_of(2)
    anna = make_rater(project, "Anna")
    for item, value in zip(items_of(project), shown, strict=True):
        say(item, anna, "relevant")
        Revision.objects.filter(annotation__item=item).update(suggestion_shown=value)
    rows = Revision.objects.order_by("annotation__item__position")
    frame = read_columns(rows, {"shown": "suggestion_shown"}, {"shown": FlagReader})
    assert frame["shown"].tolist() == shown


def test_other_names_of_categories_are_in_their_order():
    project = project_of(1)
    [item] = items_of(project)
    for name in ("Anna", "Ben"):
        say(item, make_rater(project, name), "relevant")
    first, second = item.annotations.order_by("pk").values_list("rater_id", flat=True)
    rows = item.annotations.order_by("pk")
    found = renamed(
        read_columns(rows, {"rater": "rater_id"}, {"rater": CodeReader})["rater"], {first: "b", second: "a"}
    )
    assert found.tolist() == ["b", "a"] and found.cat.codes.tolist() == [1, 0]

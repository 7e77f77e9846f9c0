"""Finding items by a part of their key, or of the words that they are about.

Both are stored for each item in lower case (`ItemWords`), with an index of all runs of three characters: pg_trgm's on
PostgreSQL, FTS5's on SQLite (migration 0047). Without one, as where the extension is not installed, and for fewer than
three characters, only the first items in the order of work are looked through.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from django.db import connection
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_noop as N_

from annotation.models import ItemWords, Project, Unit

INDEX = "item_words_by_parts"
LEAST_CHARACTERS = 3
MOST_FOUND = MOST_SCANNED = 1000

# Kind of unit -> where its title stands, seen from the unit.
TITLE_COLUMNS: dict[str, tuple[str, ...]] = {
    "claim": ("claim__text",),
    "evidence": (
        "evidence__claim__text",
        "evidence__question__text",
        "evidence__atomic_claim__text",
        "evidence__aspect__text",
    ),
    "question": ("question__text",),
    "response": ("response__claim__text", "response__question__text"),
    "triplet": ("triplet__head", "triplet__relation", "triplet__tail"),
    "sub_sentence": ("sub_sentence__text",),
    "atomic_claim": ("atomic_claim__text",),
    "aspect": ("aspect__text",),
    "response_aspect": ("aspect__text",),
    "pair": ("pair__hypothesis", "pair__premise"),
    "comparison": ("comparison__question__text",),
}

# What a piece of content is titled by in a type whose pieces may have several parents.
PARENTS = {"evidence": N_("claim or question"), "response": N_("claim or question")}
# The kinds of parents that task types name, and what is searched where there is none.
SEARCHED = (N_("claim"), N_("question"), N_("text"))


def searched_words(project: Project, *, searches_keys: bool) -> str:
    """What `first_matches` looks through, for the page. What is judged about a claim or question is not part of it."""
    title = project.type.anchor_parent or PARENTS.get(project.type.anchor_kind, "text")
    return f"key or {title}" if searches_keys else title


def titles_of(kind: str, units: Iterable[int]) -> dict[int, str]:
    """By unit of this kind, what a search for words looks through: one query."""
    rows = Unit.objects.filter(pk__in=list(units)).order_by().values_list("pk", *TITLE_COLUMNS[kind])
    return {pk: " · ".join(filter(None, texts)).casefold() for pk, *texts in rows}


def refresh(units: QuerySet[Unit]) -> None:
    """After content was corrected where it stands: store the titles of items of these units anew."""
    of_items = ItemWords.objects.filter(item__anchor__in=units).select_related("item__anchor")
    by_kind: dict[str, list[ItemWords]] = defaultdict(list)
    for words in of_items:
        by_kind[words.item.anchor.kind].append(words)
    for kind, rows in by_kind.items():
        titles = titles_of(kind, [words.item.anchor_id for words in rows])
        changed = [words for words in rows if words.title != titles[words.item.anchor_id]]
        for words in changed:
            words.title = titles[words.item.anchor_id]
        ItemWords.objects.bulk_update(changed, ["title"], batch_size=500)


@dataclass(frozen=True)
class Matches:
    """`is_cut`: there are more, and these are any of them. `scanned`: so many items were looked through, no others."""

    items: list[int]
    is_cut: bool = False
    scanned: int = 0


def first_matches(project: Project, text: str, *, searches_keys: bool) -> Matches:
    """Up to MOST_FOUND items that have the text in their title, or in their key."""
    text, columns = text.casefold(), ("title", "key") if searches_keys else ("title",)
    if len(text) < LEAST_CHARACTERS or not _has_index():
        first = list(project.items.order_by("position").values_list("pk", flat=True)[: MOST_SCANNED + 1])
        is_part = len(first) > MOST_SCANNED
        found = all_matches(project, text, searches_keys=searches_keys).filter(item__in=first[:MOST_SCANNED])
        return Matches(list(found), scanned=MOST_SCANNED if is_part else 0)
    found = dict.fromkeys(pk for column in columns for pk in _by_index(project, column, text))
    return Matches(list(found)[:MOST_FOUND], is_cut=len(found) > MOST_FOUND)


def all_matches(project: Project, text: str, *, searches_keys: bool) -> QuerySet:
    """Ids of all items that match, however long that takes."""
    matches = Q(title__contains=text.casefold())
    if searches_keys:
        matches |= Q(key__contains=text.casefold())
    return ItemWords.objects.filter(matches, project=project).values_list("item", flat=True)


def _has_index() -> bool:
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [INDEX])
        else:
            cursor.execute("SELECT COUNT(*) FROM sqlite_master WHERE name = %s", [f"{INDEX}_title"])
        return bool(cursor.fetchone()[0])


def _by_index(project: Project, column: str, text: str) -> list[int]:
    """By hand: an escaped pattern, as Django's, would not use the index on SQLite. There, wildcards that are left in
    are found by the index and sorted out by what follows."""
    if connection.vendor == "postgresql":
        escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        rows = f"SELECT item_id FROM annotation_itemwords WHERE {column} LIKE %s AND project_id = %s"
        values = [f"%{escaped}%", project.pk]
    else:
        bounds = "SELECT {}(id) FROM annotation_itemwords WHERE project_id = %s"
        rows = (
            f"SELECT words.item_id FROM {INDEX}_{column} AS parts CROSS JOIN annotation_itemwords AS words "
            f"ON words.id = parts.rowid WHERE parts.{column} LIKE %s AND parts.rowid BETWEEN ({bounds.format('MIN')}) "
            f"AND ({bounds.format('MAX')}) AND instr(words.{column}, %s) AND words.project_id = %s"
        )
        values = [f"%{text}%", project.pk, project.pk, text, project.pk]
    with connection.cursor() as cursor:
        cursor.execute(f"{rows} LIMIT {MOST_FOUND + 1}", values)
        return [pk for (pk,) in cursor.fetchall()]

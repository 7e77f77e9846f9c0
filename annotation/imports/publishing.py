"""The two ways in which staged rows end: published in one short transaction, or taken back in short batches.

A changed row is updated where it stands while nobody has judged it. What was judged, or what a checker has results for,
is never rewritten: a new version is added next to the old one, together with everything that is shown on one page with
it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from django.db import connection, transaction
from django.utils import timezone

from annotation.bulk import bulk_insert, reserve_ids
from annotation.datasets.kinds import (
    KIND_NAMED,
    KINDS,
    PIECE_SET,
    UNITS_BELOW,
    Kind,
    claims_with_documents,
    from_json,
    root_of,
    uses_of,
)
from annotation.datasets.response_aspects import renew_response_aspects
from annotation.imports.staging import OF_SET
from annotation.jobs.lifecycle import JobError
from annotation.models import ContentBatch, Item, Project, StagedChange, Unit
from annotation.projects import item_making, searching

REFUSE, SUPERSEDE, KEEP = "refuse", "supersede", "keep"
ON_JUDGED = (REFUSE, SUPERSEDE, KEEP)

CHUNK = 1000
DELETE_AT_ONCE = 4000
PAUSE_SECONDS = 0.02


def publish(
    batch: ContentBatch, on_judged: str, guard: Callable[[], None], and_then: Callable[[], None] = lambda: None
) -> dict:
    """Make the batch visible and apply its changes. Does nothing a second time, but for calling `and_then` in the
    transaction. The counts of what was done."""
    with transaction.atomic():
        guard()
        batch = ContentBatch.objects.select_for_update().get(pk=batch.pk)
        if batch.state == ContentBatch.State.PUBLISHED:
            and_then()
            return batch.job.result.get("published", {})
        if batch.state == ContentBatch.State.DISCARDED:
            raise JobError("The rows of this import were already removed; start it again")
        done = _apply_changes(batch, on_judged) if batch.changes.exists() else Counter()
        batch.state, batch.published_at = ContentBatch.State.PUBLISHED, timezone.now()
        batch.save(update_fields=["state", "published_at"])
        batch.changes.all().delete()
        job = batch.job
        job.result["published"] = dict(done)
        job.save(update_fields=["result"])
        and_then()
    return dict(done)


def _apply_changes(batch: ContentBatch, on_judged: str) -> Counter:
    done: Counter = Counter()
    roots: dict[str, set[int]] = {name: set() for name in UNITS_BELOW}
    renewed: dict[tuple[str, int], dict] = {}  # changed rows that get a new version: (kind, id) -> new values
    kept_parents: list[tuple[str, int, str]] = []
    for kind, changes in _changes_by_kind(batch):
        rows = _current_rows(kind, batch, [change.key for change in changes])
        documented = claims_with_documents(kind, {rows[each.key][0]: each.fields.get("is_gold") for each in changes})
        change_roots = {pk: root_of(kind, pk, parents, documented) for pk, parents in rows.values()}
        uses = {}
        if _lock_units(change_roots.values()):
            for alters in {change.alters for change in changes}:
                altered = [change for change in changes if change.alters == alters]
                uses[alters] = uses_of(
                    {change_roots[rows[change.key][0]] for change in altered},
                    count_items=any(not change.fields for change in altered),
                    piece_set=alters.removeprefix(OF_SET) if alters else None,
                )
        in_place = []
        for change in changes:
            pk, _ = rows[change.key]
            root, use = change_roots[pk], uses.get(change.alters)
            is_judged = use is not None and root in use.judged
            if is_judged and on_judged == REFUSE:
                raise JobError(
                    f"{kind.name.capitalize()} {change.key} was judged while this import was being prepared. Nothing "
                    "was imported; start it again and say what to do with rows that were judged."
                )
            if is_judged and on_judged == KEEP:
                done["kept"] += 1
                if not change.fields:
                    kept_parents.append((kind.name, pk, change.alters))
            elif is_judged or (use is not None and root in use.depended_on):
                roots[root[0]].add(root[1])
                if change.fields:
                    renewed[kind.name, pk] = change.fields
                done["superseded"] += 1
            elif change.fields:
                in_place.append((pk, change.fields))
        _update(kind, batch, in_place)
        done["updated"] += len(in_place)
    _drop_children(batch, kept_parents)
    if any(roots.values()):
        _renew(batch, roots, renewed)
    return done


def _changes_by_kind(batch: ContentBatch) -> Iterator[tuple[Kind, list[StagedChange]]]:
    for kind in KINDS:
        last = 0
        while changes := list(batch.changes.filter(kind=kind.name, pk__gt=last).order_by("pk")[:CHUNK]):
            last = changes[-1].pk
            yield kind, changes


def _current_rows(kind: Kind, batch: ContentBatch, keys: list[str]) -> dict[str, tuple[int, dict]]:
    links = [f"{name}_id" for name in kind.parents]
    rows = (
        kind.model.objects.published().filter(dataset=batch.dataset_id, key__in=keys).values_list("key", "id", *links)
    )
    return {row[0]: (row[1], dict(zip(kind.parents, row[2:], strict=True))) for row in rows}


def _lock_units(roots: Iterable[tuple[str, int]]) -> bool:
    """Hold off judgements about these until the transaction ends: storing one needs a lock on its unit's row."""
    found = False
    by_kind: dict[str, set[int]] = {}
    for name, pk in roots:
        by_kind.setdefault(name, set()).add(pk)
    for name, pks in by_kind.items():
        for path in UNITS_BELOW[name]:
            units = Unit.objects.filter(**{f"{path}__in": pks}).order_by("pk").select_for_update(of=("self",))
            found = bool(units.values_list("pk", flat=True)) or found
    return found


def _update(kind: Kind, batch: ContentBatch, changes: list[tuple[int, dict]]) -> None:
    if not changes:
        return
    names = [*kind.columns, *kind.parents]
    table_fields = [kind.model._meta.get_field(name) for name in names]
    parents = _parent_ids(kind, batch, (fields for _, fields in changes))
    rows = []
    for pk, fields in changes:
        values = from_json(kind, fields) | {
            name: parents[name].get(fields[name]) for name in kind.parents if name in fields
        }
        rows.append(
            [field.get_db_prep_save(values[name], connection) for name, field in zip(names, table_fields, strict=True)]
            + [pk]
        )
    sets = ", ".join(f'"{field.column}" = %s' for field in table_fields)
    with connection.cursor() as cursor:
        cursor.executemany(f'UPDATE "{kind.model._meta.db_table}" SET {sets} WHERE id = %s', rows)
    for path in UNITS_BELOW[kind.name]:
        searching.refresh(Unit.objects.filter(**{f"{path}__in": [pk for pk, _ in changes]}))


def _parent_ids(kind: Kind, batch: ContentBatch, changed: Iterable[dict]) -> dict[str, dict[str, int]]:
    """Ids of parents by key, those that this import brings included."""
    changed = list(changed)
    ids = {}
    for name in kind.parents:
        keys = {fields.get(name) for fields in changed} - {None}
        newest = KIND_NAMED[name].model.objects.filter(dataset=batch.dataset_id, superseded_at=None, key__in=keys)
        ids[name] = dict(newest.values_list("key", "pk"))
    return ids


def _drop_children(batch: ContentBatch, parents: list[tuple[str, int, str]]) -> None:
    """Judged parents stay as they are, so the further children that the file has for them are left out."""
    for name, pk, alters in parents:
        for kind in KINDS:
            is_beside = name == "claim" and kind.is_beside_documents
            if (name in kind.shown_with and (kind.has_sets or not alters)) or is_beside:
                only = {"is_gold": True} if is_beside else {}
                only |= {PIECE_SET: alters.removeprefix(OF_SET)} if alters else {}
                rows = kind.model.objects.filter(batch=batch, **{name: pk}, **only)
                Unit.objects.filter(batch=batch, **{f"{kind.name}__in": rows.values("pk")}).delete()
                rows.delete()


# --- new versions ---------------------------------------------------------------------------------------------------


def _renew(batch: ContentBatch, roots: dict[str, set[int]], renewed: dict[tuple[str, int], dict]) -> None:
    """New versions of the roots and of all that hangs below them, with the changed values where there are any."""
    now = timezone.now()
    copies: dict[str, dict[int, int]] = {}  # kind -> old id -> new id
    old_units: list[int] = []
    for kind in KINDS:
        stored = kind.model.objects.published().filter(dataset=batch.dataset_id)
        old = {row.pk: row for row in stored.filter(pk__in=roots.get(kind.name, ()))}
        for name in kind.parents if kind.follows_parents else ():
            old.update((row.pk, row) for row in stored.filter(**{f"{name}__in": list(copies.get(name, ()))}))
        copies[kind.name] = _copy(kind, batch, old, copies, renewed, now)
        for name in kind.parents:
            # Rows that this import brings hang below the new version, too, and so do those that it leaves as they are.
            moved = {"batch": batch} if kind.follows_parents else {"superseded_at": None}
            for old_pk, new_pk in copies[name].items():
                kind.model.objects.filter(**moved, **{name: old_pk}).update(**{name: new_pk})
        if kind.unit_kind and old:
            old_units += _renew_units(kind, batch, old, copies[kind.name], now)
    old_units += renew_response_aspects(batch, copies["response"], copies["aspect"], now)
    item_making.retire_items_of(old_units)


def _copy(kind: Kind, batch: ContentBatch, old: dict, copies: dict, renewed: dict, now) -> dict[int, int]:
    if not old:
        return {}
    ids = reserve_ids(kind.model, len(old))
    changed = [renewed[kind.name, pk] for pk in old if (kind.name, pk) in renewed]
    parents = _parent_ids(kind, batch, changed)
    kind.model.objects.filter(pk__in=list(old)).update(superseded_at=now)
    rows = []
    for new_pk, (pk, row) in zip(ids, old.items(), strict=True):
        values = {name: getattr(row, name) for name in kind.columns}
        links = {name: getattr(row, f"{name}_id") for name in kind.parents}
        if fields := renewed.get((kind.name, pk)):
            values |= from_json(kind, fields)
            links |= {name: parents[name].get(fields[name]) for name in kind.parents}
        links = {name: copies[name].get(link, link) for name, link in links.items()}
        rows.append((new_pk, batch.dataset_id, batch.pk, row.key, row.version + 1, *values.values(), *links.values()))
    bulk_insert(
        kind.model,
        rows,
        ["id", "dataset_id", "batch_id", "key", "version", *kind.columns, *(f"{name}_id" for name in kind.parents)],
    )
    return dict(zip(old, ids, strict=True))


def _renew_units(kind: Kind, batch: ContentBatch, old: dict, copies: dict[int, int], now) -> list[int]:
    units = list(
        Unit.objects.filter(kind=kind.unit_kind, superseded_at=None, **{f"{kind.name}__in": list(old)}).values_list(
            "pk", "key", "version", f"{kind.name}_id"
        )
    )
    Unit.objects.filter(pk__in=[pk for pk, *_ in units]).update(superseded_at=now)
    bulk_insert(
        Unit,
        [(batch.dataset_id, batch.pk, kind.unit_kind, key, version + 1, copies[row]) for _, key, version, row in units],
        ["dataset_id", "batch_id", "kind", "key", "version", f"{kind.name}_id"],
    )
    return [pk for pk, *_ in units]


def projects_with_retired_items(batch: ContentBatch) -> list[Project]:
    """Projects in which content of this batch replaces what was on a page, and has no page yet."""
    retired = Item.objects.filter(
        project__dataset=batch.dataset_id, state=Item.State.RETIRED, anchor__superseded_at__gte=batch.created_at
    )
    return list(Project.objects.filter(pk__in=retired.values("project_id")))


# --- taking back ----------------------------------------------------------------------------------------------------


def discard(batch: ContentBatch, beat: Callable[[], None] = lambda: None) -> None:
    """Delete the staged rows in short transactions, then close the batch. Goes on where a killed one stopped."""
    delete_staged_rows(batch, beat)
    ContentBatch.objects.filter(pk=batch.pk, state=ContentBatch.State.STAGED).update(state=ContentBatch.State.DISCARDED)


def delete_staged_rows(batch: ContentBatch, beat: Callable[[], None] = lambda: None) -> None:
    if not ContentBatch.objects.filter(pk=batch.pk, state=ContentBatch.State.STAGED).exists():
        return
    for model in (StagedChange, Unit, *(kind.model for kind in reversed(KINDS))):
        while _delete_some(model._meta.db_table, batch.pk):
            beat()
            time.sleep(PAUSE_SECONDS)


def _delete_some(table: str, batch_id: int) -> int:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            f'DELETE FROM "{table}" WHERE id IN (SELECT id FROM "{table}" WHERE batch_id = %s LIMIT %s)',
            [batch_id, DELETE_AT_ONCE],
        )
        return cursor.rowcount

"""Units 'this aspect in this response': one for every response to a question and every aspect of that question.

No file has rows for them. They follow from responses and aspects, which may come in different files, so the import
makes them: each new response meets the aspects that are there by then, each new aspect the responses.
"""

from __future__ import annotations

from contextlib import contextmanager

from django.db import DataError, connection
from django.utils import timezone

from annotation.bulk import bulk_insert
from annotation.formats.records import RESPONSE_ASPECT, AspectRecord, ResponseRecord
from annotation.jobs.lifecycle import JobError
from annotation.models import Aspect, ContentBatch, Response, Unit, UnitKind

KEY_CHARS = Unit._meta.get_field("key").max_length - len(RESPONSE_ASPECT)
TOO_LONG = (
    f"has more than {KEY_CHARS} characters together with that of an aspect or a response of its question; "
    "shorten one of them"
)
SIDES = {"response": "r", "aspect": "a"}


def insert_response_aspects(batch: ContentBatch, side: str, first: int) -> None:
    """The units of the batch's rows of the kind `side` (response or aspect) from this id on."""
    new, other = SIDES[side], next(alias for name, alias in SIDES.items() if name != side)
    units, responses, aspects = (model._meta.db_table for model in (Unit, Response, Aspect))
    batches = ContentBatch._meta.db_table
    with connection.cursor() as cursor, _told_of_long_keys():
        cursor.execute(
            f"INSERT INTO {units} (dataset_id, batch_id, kind, key, version, superseded_at, response_id, aspect_id) "
            f"SELECT r.dataset_id, %s, %s, r.key || %s || a.key, 1, NULL, r.id, a.id FROM {responses} r "
            f"JOIN {aspects} a ON a.question_id = r.question_id JOIN {batches} b ON b.id = {other}.batch_id "
            f"WHERE {new}.batch_id = %s AND {new}.id >= %s AND {other}.superseded_at IS NULL "
            f"AND (b.state = %s OR b.id = %s) ORDER BY r.id, a.id",
            [
                batch.pk,
                UnitKind.RESPONSE_ASPECT,
                RESPONSE_ASPECT,
                batch.pk,
                first,
                ContentBatch.State.PUBLISHED,
                batch.pk,
            ],
        )


class KeyLengths:
    """Of the responses and aspects of each question in a file: whether their ids fit into one key together."""

    def __init__(self) -> None:
        self.longest: dict[str, dict[type, int]] = {}

    def problem(self, record: object) -> tuple[str, str, str] | None:
        """Column, value and reason for a response or an aspect whose id is too long and collides with an earlier
        one."""
        if not isinstance(record, ResponseRecord | AspectRecord) or not record.question:
            return None
        of_question = self.longest.setdefault(record.question, {})
        kind = type(record)
        of_question[kind] = max(of_question.get(kind, 0), len(record.key))
        return ("id", record.key, TOO_LONG) if sum(of_question.values()) > KEY_CHARS else None


@contextmanager
def _told_of_long_keys():
    """A database that keeps to the length of keys refuses those of two long ids if one was stored before."""
    try:
        yield
    except DataError as error:
        raise JobError(f"An id {TOO_LONG}") from error


def renew_response_aspects(
    batch: ContentBatch, responses: dict[int, int], aspects: dict[int, int], now: timezone.datetime
) -> list[int]:
    """New versions of the units whose response or aspect got one (old id -> new id); units that this batch staged
    point at the new versions instead. Returns the ids of the units that were superseded."""
    renewed: dict[int, tuple] = {}
    for link, copies in (("response", responses), ("aspect", aspects)):
        rows = Unit.objects.filter(
            kind=UnitKind.RESPONSE_ASPECT, superseded_at=None, **{f"{link}__in": list(copies)}
        ).values_list("pk", "key", "version", "response_id", "aspect_id", "batch_id")
        renewed |= {row[0]: row[1:] for row in rows}
    staged = [pk for pk, row in renewed.items() if row[-1] == batch.pk]
    for unit in Unit.objects.filter(pk__in=staged):
        unit.response_id = responses.get(unit.response_id, unit.response_id)
        unit.aspect_id = aspects.get(unit.aspect_id, unit.aspect_id)
        unit.save(update_fields=["response", "aspect"])
    old = {pk: row for pk, row in renewed.items() if row[-1] != batch.pk}
    Unit.objects.filter(pk__in=list(old)).update(superseded_at=now)
    bulk_insert(
        Unit,
        [
            (
                batch.dataset_id,
                batch.pk,
                UnitKind.RESPONSE_ASPECT,
                key,
                version + 1,
                responses.get(response, response),
                aspects.get(aspect, aspect),
            )
            for key, version, response, aspect, _ in old.values()
        ],
        ["dataset_id", "batch_id", "kind", "key", "version", "response_id", "aspect_id"],
    )
    return list(old)

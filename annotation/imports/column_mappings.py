"""How somebody mapped a table's columns, kept for the next file with the same header."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace

from annotation.formats.tables.mapping import SURE, Guess, MappingGuess, guess_mapping
from annotation.models import ColumnMapping, User


def header_hash(columns: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps(list(columns)).encode()).hexdigest()


def remember(user: User, columns: Sequence[str], layout: str, mapping: dict, values: dict) -> None:
    ColumnMapping.objects.update_or_create(
        owner=user,
        header_hash=header_hash(columns),
        layout=layout,
        defaults={"mapping": {"mapping": mapping, "values": values}},
    )


def recall(user: User, columns: Sequence[str], rows: Sequence[dict], layout: str = "") -> tuple[MappingGuess, bool]:
    """What the columns mean: as this person said last for such a header, else guessed. Tells which of the two."""
    known = ColumnMapping.objects.filter(owner=user, header_hash=header_hash(columns))
    if layout:
        known = known.filter(layout=layout)
    last = known.order_by("-updated_at").first()
    guess = guess_mapping(columns, rows, last.layout if last else layout)
    if last is None:
        return guess, False
    said = last.mapping
    fields = {target: Guess(column, SURE) for target, column in said["mapping"].items() if column in columns}
    values = {target: {**found, **said["values"].get(target, {})} for target, found in guess.values.items()}
    return replace(guess, fields=fields, values=values), True

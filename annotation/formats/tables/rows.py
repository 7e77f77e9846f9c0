"""What the layouts of a table share: cells by target field, labels, ids from content."""

from __future__ import annotations

from collections.abc import Mapping

from annotation.formats.cells import (
    NO_LABEL,
    SeenKeys,
    accepted_labels,
    digest,
    guess_label,
    normal,
    required_text,
    to_key,
    to_text,
    unknown_label,
)
from annotation.formats.sources import Options

# What a label of a finer scale is on a coarser one, where only that is wanted.
COARSER = {"neutral": "non-entailment", "contradiction": "non-entailment"}


class Rows:
    """What all layouts share: cells by target field, labels, and what stood on earlier rows."""

    # Dimension -> labels that a file of the layout may use, where these are not the standard ones.
    own_labels: Mapping[str, tuple[str, ...]] = {}

    def __init__(self, options: Options):
        self.options, self.mapping, self.limit = options, dict(options.mapping), options.limits.key_chars
        self.mapped = frozenset(self.mapping.values())
        self.seen = SeenKeys()
        self.values = {target: {normal(k): v for k, v in values.items()} for target, values in options.values.items()}

    def get(self, cells: dict, target: str) -> object:
        return cells.get(self.mapping.get(target))

    def column(self, target: str) -> str:
        return self.mapping.get(target, target)

    def text(self, cells: dict, target: str) -> str:
        return to_text(self.get(cells, target), self.column(target))

    def required(self, cells: dict, target: str) -> str:
        return required_text(self.get(cells, target), self.column(target))

    def key(self, cells: dict, target: str) -> str:
        """The id in the row; "" where the column is not mapped. A mapped id must be there."""
        return to_key(self.get(cells, target), self.column(target), self.limit) if target in self.mapping else ""

    def label(self, cells: dict, target: str, dimension: str) -> str | None:
        value = self.text(cells, target)
        spelling = normal(value)
        chosen = self.values.get(target, {}).get(spelling)
        if chosen == "" or (chosen is None and spelling in NO_LABEL):
            return None
        own = self.own_labels.get(dimension, ())
        accepted = tuple(self.options.labels.get(dimension, ())) or own or accepted_labels({}, dimension)
        # What was chosen, or guessed before the task type was, may be another spelling of the task type's label.
        label = guess_label(chosen or value, dimension, (*accepted, *own))
        if label not in accepted:
            label = COARSER.get(label)
        if label not in accepted:
            raise unknown_label(value, self.column(target), accepted)
        return label

    def metadata(self, cells: dict) -> dict:
        unmapped = ((name, value) for name, value in cells.items() if name not in self.mapped)
        return {name: plain(value) for name, value in unmapped if value is not None and value != ""}


def plain(value: object) -> object:
    """A value that JSON has: Parquet brings dates, decimals and bytes."""
    if isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    if isinstance(value, dict):
        return {str(name): plain(inner) for name, inner in value.items()}
    return None if value is None else str(value)


def hashed(prefix: str, *parts: str) -> str:
    return f"{prefix}-{digest(*parts).hex()[:20]}"

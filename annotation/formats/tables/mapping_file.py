"""The mapping of a table's columns as a small JSON file, for the next file with such columns:

    {"format": "ratings", "mapping": {"text": "summary", "label/fluency": "fluency"},
     "values": {"fluency": {"n/a": ""}}, "ranges": {"fluency": "1-5"},
     "checkers": {"rouge_l": {"version": "1.5.5", "parameters": {"stemmer": true}}}}

`values` says what values of the file mean: a label, or "" for none. `checkers` gives the version and parameters of the
scores and labels of a checker are; other ones under the same version and parameters are refused, unless
`"existing": "new"` stands there, too.
`mapping` alone will do. It is role -> column for texts with labels and scores, target field -> column for the other
layouts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotation import incoming
from annotation.formats.files.tables import listed
from annotation.formats.records import FormatError
from annotation.formats.tables.guessing.roles import ROLE_TITLES, check_roles
from annotation.formats.tables.mapping import LAYOUTS, RATINGS, layout_of
from annotation.formats.tables.questions import range_in

VERSION_CHARS = 40
# What a column can be, by what the table holds: role or target field -> title.
ROLES = {layout: {target.slug: target.title for target in targets} for layout, targets in LAYOUTS.items()}
ROLES[RATINGS] = ROLE_TITLES


@dataclass(frozen=True, slots=True)
class ChosenMapping:
    layout: str  # RATINGS, or a key of LAYOUTS
    mapping: Mapping[str, str]
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    ranges: Mapping[str, str] = field(default_factory=dict)
    checkers: Mapping[str, Mapping] = field(default_factory=dict)

    def check(self, columns: Sequence[str]) -> None:
        """FormatError where the table lacks a column of the mapping."""
        if missing := [column for column in self.mapping.values() if column not in columns]:
            raise FormatError(
                f"The table does not have these columns of the mapping: {', '.join(missing)}. It has {listed(columns)}"
            )


def read_mapping(raw: bytes, format: str = "") -> ChosenMapping:
    """What the file says; FormatError says what is wrong with it. `format` is what it is for, where it says nothing."""
    try:
        data = incoming.json_value(raw)
    except incoming.Refused as error:
        raise FormatError(f"The file of the mapping {error}") from None
    try:
        json.loads(raw, object_pairs_hook=incoming.each_name_once)
    except incoming.RepeatedNameError as error:
        raise FormatError(f"The file of the mapping names {error.name!r} twice; give it one column") from None
    whole = data if isinstance(data, dict) else {}
    mapping = whole.get("mapping", {} if "format" in whole or "values" in whole else whole)
    values = whole.get("values", {})
    if not _is_of_texts(mapping) or not mapping:
        raise FormatError("The file of the mapping has no object “mapping” of fields or roles and their columns")
    if not isinstance(values, dict) or not all(map(_is_of_texts, values.values())):
        raise FormatError("In the file of the mapping, “values” is not an object of fields, values and labels")
    ranges = whole.get("ranges", {})
    if not _is_of_texts(ranges):
        raise FormatError("In the file of the mapping, “ranges” is not an object of questions and ranges such as 1-5")
    for question, text in ranges.items():
        range_in(text, question)
    checkers = whole.get("checkers", {})
    check_checkers(checkers)
    check_once(mapping)
    if (whole.get("format") or format) == RATINGS:
        check_roles(mapping)
        return ChosenMapping(RATINGS, mapping, values, ranges, checkers)
    layout = layout_of(mapping)
    known = {target.slug for target in LAYOUTS[layout]}
    if unknown := sorted({*mapping, *values} - known):
        raise FormatError(f"There is no field {unknown[0]!r}; the fields are {', '.join(sorted(known))}")
    return ChosenMapping(layout, mapping, values)


def check_checkers(checkers: object) -> None:
    """FormatError where it does not say versions and parameters by checker."""
    for described in checkers.values() if isinstance(checkers, dict) else [checkers]:
        is_object = isinstance(described, dict) and described.keys() <= {"version", "parameters", "existing"}
        is_object = is_object and described.get("existing", "refuse") in ("refuse", "new")
        version, parameters = (
            (described.get("version", ""), described.get("parameters", {})) if is_object else (None, None)
        )
        if not isinstance(version, str) or len(version) > VERSION_CHARS or not isinstance(parameters, dict):
            raise FormatError(
                "“checkers” is not an object of checkers, each with “version”, a text of at most "
                f"{VERSION_CHARS} characters, “parameters”, an object, or both, and “existing”, refuse or new"
            )


def check_once(mapping: Mapping[str, str]) -> None:
    """FormatError for a column that means two things."""
    [(column, number)] = Counter(mapping.values()).most_common(1)
    if number > 1:
        roles = ", ".join(role for role, other in mapping.items() if other == column)
        raise FormatError(f"The mapping names the column {column!r} for {roles}; a column means one thing")


def _is_of_texts(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(part, str) for part in value.values())

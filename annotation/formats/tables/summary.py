"""What a mapping of columns to roles means, in sentences: shown before anything is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from annotation.formats.cells import shorten
from annotation.formats.tables.nested import NESTED, lists_in

MOST_NAMED = 8


def sentences(mapping: Mapping[str, str], n_raters: int | None = None) -> list[str]:
    """What each part of the mapping is read as; `n_raters` is how many there are, once they were counted."""
    parts = [(role.split("/"), column) for role, column in mapping.items()]

    def of(*kinds: str) -> list[tuple[list[str], str]]:
        return [(names, column) for (kind, *names), column in parts if kind in kinds]

    found = []
    texts = [f"{words} from {shorten(mapping[role])}" for role, words in _TEXTS.items() if role in mapping]
    if texts:
        found.append(_sentence(", ".join(texts)))
    if lists := sorted(lists_in(mapping.values())):
        found.append(_sentence(f"one row for each entry of {_named(one[:-2] for one in lists)}"))
    labels = of("label", "labels")
    described = [column for _, column in of("about")]
    if "rater" in mapping:
        number = "raters" if n_raters is None else _counted(n_raters, "rater")
        words = f"{number} from {shorten(mapping['rater'])}"
        if described:
            verb = "describes" if len(described) == 1 else "describe"
            words += f"; {_counted(len(described), 'column')} {verb} them: {_named(described)}"
        found.append(_sentence(words))
    elif wide := [(names, column) for names, column in labels if len(names) > 1]:
        raters = dict.fromkeys("/".join(names[1:]) for names, _ in wide)
        bases = dict.fromkeys(match["base"] for _, column in wide if (match := NESTED.match(column)))
        if bases:
            words = f"{_counted(len(raters), 'rater')}, one for each place in {_named(bases)}"
        else:
            own = "a column of their own" if len(wide) == 1 else "columns of their own"
            words = f"{_counted(len(raters), 'rater')} with {own}: {_named(raters)}"
        found.append(_sentence(words))
    elif labels and "checker" not in mapping:
        found.append("No column names a rater: labels are final if each text has one, and by unnamed raters otherwise.")
    if "question" in mapping:
        found.append(
            _sentence(f"labels from {shorten(mapping['label'])}, questions from {shorten(mapping['question'])}")
        )
    elif labels:
        questions = dict.fromkeys(names[0] for names, _ in labels)
        found.append(_sentence(f"{_counted(len(questions), 'question')}: {_named(questions)}"))
    for kinds, one in ((("score",), "score"), (("prediction", "probability"), "column of a checker's labels")):
        if checked := of(*kinds):
            more = one.replace("column", "columns") if " " in one else f"{one}s"
            words = f"{len(checked):,} {one if len(checked) == 1 else more}"
            found.append(_sentence(f"{words}: {_named(column for _, column in checked)}"))
    if {"marked", "start", "quote", "spans"} & {role.partition("/")[0] for role in mapping}:
        columns = [column for role, column in mapping.items() if role.partition("/")[0] in _OF_SPANS]
        found.append(_sentence(f"highlights from {_named(columns)}"))
    return found


_TEXTS = {
    "text": "texts",
    "marked": "texts",
    "context": "their context",
    "id": "ids",
    "document": "documents",
    "system": "systems",
}
_OF_SPANS = ("marked", "spans", "start", "end", "quote", "highlight")


def raters_in(mapping: Mapping[str, str], rows: Sequence[Mapping]) -> int | None:
    """How many raters the column names in the rows."""
    column = mapping.get("rater")
    return len({str(row[column]) for row in rows if row.get(column) not in (None, "")}) if column else None


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _named(names: Iterable[str]) -> str:
    names = [shorten(name) for name in names]
    return ", ".join(names[:MOST_NAMED]) + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "")

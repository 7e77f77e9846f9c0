"""What a unit or item is called in lists, where only its key would say little: words of any kind of unit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from annotation.models import EVIDENCE_PARENTS, Unit
from annotation.rendering import ShownText


@dataclass(frozen=True)
class Words:
    """How a kind of unit is put in words. `links` are the joins that bring them; `read` gives the title, and the text
    that the unit is found in or looked for in ("" where none). `fields` are what highlights call these two."""

    links: tuple[str, ...]
    read: Callable[[Unit], tuple[str, str]]
    fields: tuple[str, str] = ("", "response")


def _parent(row) -> str:
    return (row.claim or row.question).text


def _of_evidence(unit: Unit) -> tuple[str, str]:
    return unit.evidence.parent.text, unit.evidence.text


def _of_response(unit: Unit) -> tuple[str, str]:
    return _parent(unit.response), unit.response.text


def _of_triplet(unit: Unit) -> tuple[str, str]:
    row = unit.triplet
    return f"{row.head} · {row.relation} · {row.tail}", row.response.text


def _piece(name: str) -> Words:
    """A piece of a response that is a text."""

    def read(unit: Unit) -> tuple[str, str]:
        row = getattr(unit, name)
        return row.text, row.response.text

    return Words((f"{name}__response",), read)


WORDS: dict[str, Words] = {
    "claim": Words(("claim",), lambda unit: (unit.claim.text, ""), ("claim", "")),
    "evidence": Words(tuple(f"evidence__{parent}" for parent in EVIDENCE_PARENTS), _of_evidence, ("claim", "evidence")),
    "question": Words(("question",), lambda unit: (unit.question.text, ""), ("question", "")),
    "response": Words(("response__claim", "response__question"), _of_response, ("question", "response")),
    "triplet": Words(("triplet__response",), _of_triplet),
    "sub_sentence": _piece("sub_sentence"),
    "atomic_claim": _piece("atomic_claim"),
    "aspect": Words(
        ("aspect__question",), lambda unit: (unit.aspect.text, unit.aspect.question.text), ("", "question")
    ),
    "response_aspect": Words(("aspect", "response"), lambda unit: (unit.aspect.text, unit.response.text)),
    "pair": Words(("pair",), lambda unit: (unit.pair.hypothesis, unit.pair.premise), ("hypothesis", "premise")),
    "comparison": Words(("comparison__question",), lambda unit: (unit.comparison.question.text, ""), ("question", "")),
}


def units_in_words(kind: str, unit_ids: Iterable[int]) -> dict[int, Unit]:
    """Units of one kind by number, with all that their words are read from: one query."""
    units = Unit.objects.filter(pk__in=list(unit_ids), kind=kind).select_related(*WORDS[kind].links)
    return {unit.pk: unit for unit in units}


def words_of(kind: str, unit_ids: Iterable[int]) -> dict[int, tuple[str, str]]:
    """Title and text by unit, for units of one kind: one query."""
    return {pk: WORDS[kind].read(unit) for pk, unit in units_in_words(kind, unit_ids).items()}


def texts_of(unit: Unit, formats: Mapping[str, str]) -> tuple[ShownText, ShownText]:
    """Title and text as they are shown by the formats of the data set."""
    words, below = WORDS[unit.kind], unit.evidence or unit.response

    def kind_of(name: str) -> str:
        is_asked = below is not None and name in ("claim", "question")
        return ("question" if below.question_id else "claim") if is_asked else name

    return tuple(
        ShownText(text, formats.get(kind_of(name), ""), name)
        for name, text in zip(words.fields, words.read(unit), strict=True)
    )

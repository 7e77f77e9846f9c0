"""What a unit or item is called in lists, where only its key would say little: words of any kind of unit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.db.models import Q

from annotation.models import EVIDENCE_PARENTS, Unit


@dataclass(frozen=True)
class Words:
    """How a kind of unit is put in words. `links` are the joins that bring them, `columns` where its title stands, seen
    from the unit; `read` gives the title, and the text that the unit is found in or looked for in ("" where none)."""

    links: tuple[str, ...]
    columns: tuple[str, ...]
    read: Callable[[Unit], tuple[str, str]]


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

    return Words((f"{name}__response",), (f"{name}__text",), read)


def _below(name: str) -> tuple[str, ...]:
    return f"{name}__claim__text", f"{name}__question__text"


WORDS: dict[str, Words] = {
    "claim": Words(("claim",), ("claim__text",), lambda unit: (unit.claim.text, "")),
    "evidence": Words(
        tuple(f"evidence__{parent}" for parent in EVIDENCE_PARENTS),
        tuple(f"evidence__{parent}__text" for parent in EVIDENCE_PARENTS),
        _of_evidence,
    ),
    "question": Words(("question",), ("question__text",), lambda unit: (unit.question.text, "")),
    "response": Words(("response__claim", "response__question"), _below("response"), _of_response),
    "triplet": Words(("triplet__response",), ("triplet__head", "triplet__relation", "triplet__tail"), _of_triplet),
    "sub_sentence": _piece("sub_sentence"),
    "atomic_claim": _piece("atomic_claim"),
    "aspect": Words(
        ("aspect__question",), ("aspect__text",), lambda unit: (unit.aspect.text, unit.aspect.question.text)
    ),
    "response_aspect": Words(
        ("aspect", "response"), ("aspect__text",), lambda unit: (unit.aspect.text, unit.response.text)
    ),
    "pair": Words(
        ("pair",), ("pair__hypothesis", "pair__premise"), lambda unit: (unit.pair.hypothesis, unit.pair.premise)
    ),
}


def units_in_words(kind: str, unit_ids: Iterable[int]) -> dict[int, Unit]:
    """Units of one kind by number, with all that their words are read from: one query."""
    units = Unit.objects.filter(pk__in=list(unit_ids), kind=kind).select_related(*WORDS[kind].links)
    return {unit.pk: unit for unit in units}


def words_of(kind: str, unit_ids: Iterable[int]) -> dict[int, tuple[str, str]]:
    """Title and text by unit, for units of one kind: one query."""
    return {pk: WORDS[kind].read(unit) for pk, unit in units_in_words(kind, unit_ids).items()}


def title_contains(kind: str, text: str, path: str) -> Q:
    """Rows whose unit at `path` (such as `anchor`) has the text in its title."""
    condition = Q()
    for column in WORDS[kind].columns:
        condition |= Q(**{f"{path}__{column}__icontains": text})
    return condition

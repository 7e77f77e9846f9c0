"""Where a unit's row finds what it is made from and what it comes in, seen from ItemUnit."""

from __future__ import annotations

from dataclasses import dataclass, field

from annotation.models import UnitKind


@dataclass(frozen=True, slots=True)
class Origin:
    """`cluster`: the first of these keys that a unit has. `links`: column -> paths to keys; the first that is there
    counts. `source` is what figures are split by; `response` the path to the model's answer that it is about."""

    cluster: tuple[str, ...]
    source: str | None = None
    response: str | None = None
    is_piece: bool = False  # taken out of the answer, so that an answer without any says nothing
    links: dict[str, tuple[str, ...]] = field(default_factory=dict)


def _of_response(path: str, *, is_piece: bool = False, **links: tuple[str, ...]) -> Origin:
    question, claim = f"{path}__question__key", f"{path}__claim__key"
    return Origin(
        (question, claim),
        f"{path}__context_setting",
        path,
        is_piece,
        {"question": (question,), "claim": (claim,), "response": (f"{path}__key",), **links},
    )


ORIGINS = {
    UnitKind.CLAIM: Origin(("unit__claim__key",), "unit__claim__source", links={"claim": ("unit__claim__key",)}),
    UnitKind.EVIDENCE: Origin(
        (
            "unit__evidence__claim__key",
            "unit__evidence__question__key",
            "unit__evidence__atomic_claim__response__question__key",
            "unit__evidence__atomic_claim__response__claim__key",
            "unit__evidence__aspect__question__key",
        ),
        "unit__evidence__claim__source",
        links={
            "claim": ("unit__evidence__claim__key",),
            "question": ("unit__evidence__question__key", "unit__evidence__aspect__question__key"),
            "evidence": ("unit__key",),
        },
    ),
    # Pairs that were made elsewhere come in nothing: each stands for itself.
    UnitKind.PAIR: Origin(
        (
            "unit__pair__response__claim__key",
            "unit__pair__evidence__claim__key",
            "unit__pair__response__question__key",
            "unit__pair__evidence__question__key",
            "unit__key",
        ),
        "unit__pair__response__method",
        "unit__pair__response",
        links={
            "claim": ("unit__pair__response__claim__key", "unit__pair__evidence__claim__key"),
            "question": ("unit__pair__response__question__key", "unit__pair__evidence__question__key"),
            "evidence": ("unit__pair__evidence__key",),
            "response": ("unit__pair__response__key",),
        },
    ),
    UnitKind.QUESTION: Origin(("unit__question__key",), links={"question": ("unit__question__key",)}),
    UnitKind.ASPECT: Origin(
        ("unit__aspect__question__key",),
        links={"question": ("unit__aspect__question__key",), "aspect": ("unit__aspect__key",)},
    ),
    UnitKind.COMPARISON: Origin(
        ("unit__comparison__question__key",), links={"question": ("unit__comparison__question__key",)}
    ),
    UnitKind.RESPONSE: _of_response("unit__response"),
    UnitKind.RESPONSE_ASPECT: _of_response("unit__response", aspect=("unit__aspect__key",)),
    UnitKind.TRIPLET: _of_response("unit__triplet__response", is_piece=True),
    UnitKind.SUB_SENTENCE: _of_response("unit__sub_sentence__response", is_piece=True),
    UnitKind.ATOMIC_CLAIM: _of_response("unit__atomic_claim__response", is_piece=True),
}
LINKS = ("claim", "question", "evidence", "response", "aspect")
OF_RESPONSE = {"model": "model", "method": "method", "setting": "context_setting"}

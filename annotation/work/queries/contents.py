"""Which texts an item shows, by the name that its task type gives (`TaskType.contents`), and the words of its units.

A source names columns as seen from the anchor unit, so that a page's texts come in one query, and passages in a second
where it has any. What an annotator must not know (which model answered, the claim's verdict) is never read here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from annotation.models import EVIDENCE_PARENTS, Evidence, Unit
from annotation.task_types.base import OUTPUTS


@dataclass(frozen=True)
class Contents:
    """`context` is what the template shows; `texts` are those of its texts that are judged, by field. `kinds` says of
    fields what their texts are, where they are not called so (`annotation.rendering.TEXTS`)."""

    context: dict
    texts: dict[str, str]
    kinds: Mapping[str, str] = field(default_factory=dict)

    def format_of(self, name: str, formats: Mapping[str, str]) -> str:
        """The format of a field's text by those of the data set; "" where they say nothing."""
        word = name.partition("-")[0]
        kind = self.kinds.get(word) or KIND_OF_FIELD.get(word, word)
        return formats.get(kind, "")


# What a field's text is, whatever the page, where it is not called so.
KIND_OF_FIELD = {"passage": "evidence"} | dict.fromkeys(OUTPUTS, "response")


@dataclass(frozen=True)
class ContentColumns:
    """Columns by path from the anchor unit, what to make of them (by the same paths), and the names of the texts that
    this gives, as spans name them; one that ends in `*` stands for all that begin so."""

    paths: tuple[str, ...]
    read: Callable[[dict], Contents]
    fields: tuple[str, ...]


def _evidence(row: dict) -> Contents:
    """A piece of evidence under what it is about."""
    has_claim, is_asked = row["evidence__claim__text"] is not None, row["evidence__question__text"] is not None
    texts = (row[f"evidence__{parent}__text"] for parent in EVIDENCE_PARENTS)
    claim = next((text for text in texts if text is not None), "")
    return Contents(
        {
            "claim": claim,
            "claimant": row["evidence__claim__claimant"] or "",
            "claim_date": row["evidence__claim__date"] if has_claim else row["evidence__question__date"],
            "claim_source": row["evidence__claim__source"] or "",
            "evidence": row["evidence__text"],
            "evidence_url": row["evidence__url"],
            "publisher": row["evidence__publisher"],
            "evidence_date": row["evidence__date"],
        },
        {"claim": claim, "evidence": row["evidence__text"]},
        {"claim": "question"} if is_asked else {},
    )


EVIDENCE = ContentColumns(
    (
        "evidence__text",
        "evidence__url",
        "evidence__publisher",
        "evidence__date",
        "evidence__claim__text",
        "evidence__claim__claimant",
        "evidence__claim__date",
        "evidence__claim__source",
        "evidence__question__text",
        "evidence__question__date",
        "evidence__atomic_claim__text",
        "evidence__aspect__text",
    ),
    _evidence,
    ("claim", "evidence"),
)

PASSAGE = "passage-"  # and its number, from 1, in the order of `Evidence.in_order`


def passages_of(parent: dict[str, int], **only: object) -> list[dict]:
    """The passages of a question or claim, as pages show and number them."""
    rows = Evidence.objects.published().in_order().filter(**parent, **only)
    return [
        {"key": f"{PASSAGE}{number}", "title": publisher, "date": date, "url": url, "text": text}
        for number, (publisher, date, url, text) in enumerate(rows.values_list("publisher", "date", "url", "text"), 1)
    ]


def _texts_of(passages: list[dict]) -> dict[str, str]:
    return {passage["key"]: passage["text"] for passage in passages}


# The passages that a page shows, by the name of its contents: conditions on the evidence of its question or claim.
PASSAGES: dict[str, dict] = {"response": {}, "question": {}, "document": {"is_gold": True}}

RESPONSE = (
    "response__text",
    "response__question_id",
    "response__claim_id",
    "response__question__text",
    "response__question__date",
    "response__question__answers",
    "response__claim__text",
    "response__claim__date",
)


def _response(row: dict, *, passages: dict | None, has_answers: bool = False) -> Contents:
    """A model's answer to its question, or a document generated for its claim; which model it was stays hidden.

    `passages` are conditions on the evidence that is shown with it; None: none is.
    """
    kind = "claim" if row["response__claim_id"] is not None else "question"
    asked = row[f"response__{kind}__text"]
    context = {
        "question": asked,
        "question_date": row[f"response__{kind}__date"],
        "is_claim": kind == "claim",
        "response": row["response__text"],
    }
    texts = {"question": asked, "response": row["response__text"]}
    if passages is not None:
        context["passages"] = passages_of({kind: row[f"response__{kind}_id"]}, **passages)
        texts |= _texts_of(context["passages"])
    if has_answers:
        context["answers"] = row["response__question__answers"] or []
        texts |= {f"answer-{number}": answer for number, answer in enumerate(context["answers"], 1)}
    return Contents(context, texts, {"question": kind})


QUESTION = ("question_id", "question__text", "question__date")


def _question(row: dict, *, passages: dict | None) -> Contents:
    """A question; the true answers stay hidden, since whether passages suffice must not depend on knowing them."""
    context = {"question": row["question__text"], "question_date": row["question__date"]}
    texts = {"question": row["question__text"]}
    if passages is not None:
        context["passages"] = passages_of({"question": row["question_id"]}, **passages)
        texts |= _texts_of(context["passages"])
    return Contents(context, texts)


def _pair(row: dict) -> Contents:
    texts = {"premise": row["pair__premise"], "hypothesis": row["pair__hypothesis"]}
    return Contents(dict(texts), texts)


def _comparison(row: dict) -> Contents:
    """Outputs for one prompt; their systems stay hidden."""
    question = row["comparison__question__text"]
    outputs = {name: text for name in OUTPUTS if (text := row[f"comparison__{name}"])}
    return Contents({"question": question}, {"question": question} | outputs)


def _claim(row: dict) -> Contents:
    texts = {"claim": row["claim__text"]}
    return Contents(texts | {"claim_date": row["claim__date"]}, texts)


def _atomic_claim(row: dict) -> Contents:
    texts = {"claim": row["atomic_claim__text"]}
    return Contents(dict(texts), texts)


CONTENTS: dict[str, ContentColumns] = {
    "evidence": EVIDENCE,
    "response": ContentColumns(
        RESPONSE, partial(_response, passages=PASSAGES["response"]), ("question", "response", f"{PASSAGE}*")
    ),
    "response-alone": ContentColumns(RESPONSE, partial(_response, passages=None), ("question", "response")),
    "response-graded": ContentColumns(
        RESPONSE, partial(_response, passages=None, has_answers=True), ("question", "response", "answer-*")
    ),
    "document": ContentColumns(
        RESPONSE, partial(_response, passages=PASSAGES["document"]), ("question", "response", f"{PASSAGE}*")
    ),
    "question": ContentColumns(
        QUESTION, partial(_question, passages=PASSAGES["question"]), ("question", f"{PASSAGE}*")
    ),
    "question-alone": ContentColumns(QUESTION, partial(_question, passages=None), ("question",)),
    "claim": ContentColumns(("claim__text", "claim__date"), _claim, ("claim",)),
    "pair": ContentColumns(("pair__premise", "pair__hypothesis"), _pair, ("premise", "hypothesis")),
    "comparison": ContentColumns(
        ("comparison__question__text", *(f"comparison__{name}" for name in OUTPUTS)),
        _comparison,
        ("question", "output_*"),
    ),
    "atomic-claim": ContentColumns(("atomic_claim__text",), _atomic_claim, ("claim",)),
}


@dataclass(frozen=True)
class UnitText:
    head: str = ""
    relation: str = ""
    tail: str = ""
    title: str = ""


def _triplet(unit: Unit) -> UnitText:
    row = unit.triplet
    return UnitText(row.head, row.relation, row.tail, " ".join(filter(None, (row.head, row.relation, row.tail))))


# Units with words of their own: the join that brings them and how they are shown.
UNIT_TEXTS: dict[str, tuple[str, Callable[[Unit], UnitText]]] = {
    "triplet": ("triplet", _triplet),
    "sub_sentence": ("sub_sentence", lambda unit: UnitText(title=unit.sub_sentence.text)),
    "aspect": ("aspect", lambda unit: UnitText(title=unit.aspect.text)),
    "response_aspect": ("aspect", lambda unit: UnitText(title=unit.aspect.text)),
}


def unit_text(unit: Unit) -> UnitText:
    """The words of a unit on a page of several; none for a unit that is the page itself."""
    return UNIT_TEXTS[unit.kind][1](unit) if unit.kind in UNIT_TEXTS else UnitText()

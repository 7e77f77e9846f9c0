"""What a checker is given about a unit, by what the unit's page shows, and what it is asked, from the task type.

The reasons for each choice are in docs/checkers.md.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Q

from annotation.machines.runs.retrieved import RetrievedPassages
from annotation.models import EVIDENCE_PARENTS, Aspect, AtomicClaim, Evidence, Question, Unit
from annotation.task_types import Dimension, Label, TaskType
from annotation.work.queries.contents import PASSAGE, PASSAGES
from models_runtime.contracts import CheckerInput, LabelSpace

Fields = dict[str, str | tuple[str, ...]]


@dataclass(frozen=True)
class Reader:
    """How the input about a unit is made. `links` are the joins that bring its texts; `below` leads from a unit to the
    row whose question or claim has the passages, where there are some. `looks_in` is the page's name of the text that
    the checker calls `evidence`; its `passages` are the page's. `origin` tells where the texts come from or what they
    are made of, and `measured` reads for many units what else there is about each, for scores alone: it is nothing
    that a judgement may rest on. `finds` is what people call the text to be found. `needs_retrieval`: a page shows no
    text to look in, so passages are those of a retrieval."""

    links: tuple[str, ...]
    read: Callable[[Unit, tuple[str, ...]], Fields]
    below: Callable[[Unit], object] | None = None
    looks_in: str = ""
    origin: Callable[[Unit], dict[str, str]] | None = None
    measured: Callable[[list[Unit]], dict[int, Fields]] | None = None
    finds: str = "claim"
    needs_retrieval: bool = False

    def page_field(self, field: str) -> str:
        """The page's name of a field of the input (`evidence`, `passages[i]`)."""
        name, _, index = field.partition("[")
        return self.looks_in if name == "evidence" else f"{PASSAGE}{int(index.rstrip(']')) + 1}"


def _of_evidence(unit: Unit, passages: tuple[str, ...]) -> Fields:
    return {"claim": unit.evidence.parent.text, "evidence": unit.evidence.text}


def _origin_of_evidence(unit: Unit) -> dict[str, str]:
    """Texts, empty where unknown; days as in ISO 8601."""
    evidence = unit.evidence
    day = getattr(evidence.parent, "date", None)
    return {
        "url": evidence.url,
        "publisher": evidence.publisher,
        "evidence_date": evidence.date.isoformat() if evidence.date else "",
        "claim_date": day.isoformat() if day else "",
        "is_gold": {True: "yes", False: "no", None: ""}[evidence.is_gold],
    }


def _of_pair(unit: Unit, passages: tuple[str, ...]) -> Fields:
    return {"claim": unit.pair.hypothesis, "evidence": unit.pair.premise}


def _of_triplet(unit: Unit, passages: tuple[str, ...]) -> Fields:
    parts = (unit.triplet.head, unit.triplet.relation, unit.triplet.tail)
    return {"claim": " ".join(part.strip() for part in parts if part.strip()), "passages": passages}


def _elements_of_triplet(unit: Unit) -> dict[str, str]:
    return {"subject": unit.triplet.head, "object": unit.triplet.tail}


def _of_sub_sentence(unit: Unit, passages: tuple[str, ...]) -> Fields:
    return {"claim": unit.sub_sentence.text, "passages": passages}


def _of_response_aspect(unit: Unit, passages: tuple[str, ...]) -> Fields:
    question = unit.response.question.text
    return {"claim": unit.aspect.text, "evidence": unit.response.text, "question": question}


def _measured_answers(units: list[Unit]) -> dict[int, Fields]:
    """All aspects of the question that are in the unit's set, the answer's atomic claims of the set of that name (or
    without a set, where the data set has none in it), the passages of the question, and each claim's own evidence."""
    found = {}
    for piece_set in {unit.aspect.piece_set for unit in units}:
        found |= _measured_set([unit for unit in units if unit.aspect.piece_set == piece_set], piece_set)
    return found


def _measured_set(units: list[Unit], piece_set: str) -> dict[int, Fields]:
    questions, responses = {unit.response.question_id for unit in units}, {unit.response_id for unit in units}
    of_claims = AtomicClaim.objects.published().filter(dataset__in={unit.dataset_id for unit in units})
    of_claims = piece_set if of_claims.filter(piece_set=piece_set).exists() else ""
    aspects = Aspect.objects.filter(question__in=questions, piece_set=piece_set).order_by("index", "id")
    aspects = _texts_by(aspects, "question_id")
    rows = AtomicClaim.objects.published().filter(response__in=responses, piece_set=of_claims).order_by("index", "id")
    claims = defaultdict(list)
    for response, pk, text in rows.values_list("response_id", "pk", "text"):
        claims[response].append((pk, text))
    passages = _texts_by(Evidence.objects.filter(question__in=questions).in_order(), "question_id")
    of_claim = _texts_by(Evidence.objects.filter(atomic_claim__response__in=responses).in_order(), "atomic_claim_id")
    return {
        unit.pk: {
            "aspects": aspects.get(unit.response.question_id, ()),
            "atomic_claims": tuple(text for _, text in claims.get(unit.response_id, ())),
            "sources": passages.get(unit.response.question_id, ()),
            # Each claim's own evidence, in the order of the claims; the question's passages where it has none.
            **_claim_sources(claims.get(unit.response_id, ()), of_claim),
        }
        for unit in units
    }


def _claim_sources(claims: Sequence[tuple[int, str]], of_claim: dict[int, tuple[str, ...]]) -> dict[str, tuple]:
    found = tuple(of_claim.get(pk, ()) for pk, _ in claims)
    return {"claim_sources": found} if any(found) else {}


def _texts_by(rows, parent: str) -> dict[int, tuple[str, ...]]:
    """The published texts below each parent, in the order of the rows."""
    found = defaultdict(list)
    for pk, text in rows.published().values_list(parent, "text"):
        found[pk].append(text)
    return {pk: tuple(texts) for pk, texts in found.items()}


def _of_question(unit: Unit, passages: tuple[str, ...]) -> Fields:
    return {"claim": unit.question.text, "passages": passages} | _asked_on(unit.question)


def _asked_on(question: Question) -> Fields:
    """The day as people are shown it, where it is known: what is true may have changed since."""
    return {"question_date": question.date.isoformat()} if question.date else {}


def _of_graded_response(unit: Unit, passages: tuple[str, ...]) -> Fields:
    question = unit.response.question
    return {"claims": tuple(question.answers), "evidence": unit.response.text, "question": question.text} | _asked_on(
        question
    )


def _of_document(unit: Unit, passages: tuple[str, ...]) -> Fields:
    return {"claims": passages, "evidence": unit.response.text}


def _of_claim(unit: Unit, passages: tuple[str, ...]) -> Fields:
    return {"claim": unit.claim.text, "passages": passages}


def _of_aspect(unit: Unit, passages: tuple[str, ...]) -> Fields:
    return {"claim": unit.aspect.text, "evidence": unit.aspect.question.text}


# (what the page shows, kind of unit) -> how the input is made. What has no line here, no checker can judge.
READERS: dict[tuple[str, str], Reader] = {
    ("evidence", "evidence"): Reader(
        tuple(f"evidence__{parent}" for parent in EVIDENCE_PARENTS),
        _of_evidence,
        looks_in="evidence",
        origin=_origin_of_evidence,
    ),
    ("pair", "pair"): Reader(("pair",), _of_pair, looks_in="premise", finds="hypothesis"),
    ("response", "triplet"): Reader(
        ("triplet__response",), _of_triplet, lambda unit: unit.triplet.response, origin=_elements_of_triplet
    ),
    ("response", "sub_sentence"): Reader(
        ("sub_sentence__response",), _of_sub_sentence, lambda unit: unit.sub_sentence.response
    ),
    ("response-alone", "response_aspect"): Reader(
        ("aspect", "response__question"),
        _of_response_aspect,
        looks_in="response",
        measured=_measured_answers,
        finds="aspect",
    ),
    ("question", "question"): Reader(("question",), _of_question, lambda unit: unit, finds="question"),
    ("response-graded", "response"): Reader(
        ("response__question",), _of_graded_response, looks_in="response", finds="ground truth"
    ),
    ("document", "response"): Reader(
        ("response",), _of_document, lambda unit: unit.response, looks_in="response", finds="gold evidence"
    ),
    ("claim", "claim"): Reader(("claim",), _of_claim, needs_retrieval=True),
    ("question-alone", "aspect"): Reader(("aspect__question",), _of_aspect, looks_in="question", finds="aspect"),
}


def reader_of(task_type: TaskType) -> Reader | None:
    return READERS.get((task_type.contents, task_type.unit_kind))


def why_not(task_type: TaskType, *, retrieved: bool = False) -> str:
    """Why no checker can judge the units of this task, by passages of a retrieval where these are `retrieved`; empty
    where some can."""
    if not label_spaces(task_type):
        asked = " and ".join(f"“{dimension.title}”" for dimension in task_type.asked_dimensions)
        return f"This task asks people for {asked}, which no checker answers"
    reader = reader_of(task_type)
    if reader is None:
        return "No checker can be given what a page of this task shows"
    if reader.needs_retrieval and not retrieved:
        return "A page of this task shows no evidence; checkers judge it by passages that a retrieval found"
    if retrieved and not reader.needs_retrieval:
        return "A page of this task shows what is judged; passages of a retrieval cannot take its place"
    return ""


def label_spaces(task_type: TaskType) -> tuple[LabelSpace, ...]:
    """The task type's questions as checkers understand them; a dimension without a role is nobody's to suggest."""
    return tuple(_space(task_type, dimension) for dimension in task_type.asked_dimensions if dimension.role)


def _space(task_type: TaskType, dimension: Dimension) -> LabelSpace:
    condition, rule, reader = dimension.asked_when, dimension.spans, reader_of(task_type)
    span_field = None
    if rule and reader:
        span_field = next((name for name in ("evidence", "passages[0]") if rule.takes(reader.page_field(name))), None)
    return LabelSpace(
        dimension=dimension.slug,
        role=dimension.role,
        labels=tuple((label.value, label.polarity) for label in dimension.labels),
        asked_when=(condition.dimension, condition.labels) if condition else None,
        span_field=span_field and span_field.partition("[")[0],
        span_labels=rule.labels if span_field else (),
        no_answer=next((label.value for label in dimension.labels if label.means_no_answer), None),
        question=dimension.question or dimension.title,
        meanings=tuple((label.value, _meaning(label)) for label in dimension.labels),
        called=(reader.finds, reader.looks_in or "passage") if reader else ("claim", "evidence"),
    )


def _meaning(label: Label) -> str:
    return f"{label.title}. {label.hint}".rstrip()


def checker_inputs(
    task_type: TaskType,
    unit_ids: Iterable[int],
    *,
    with_origin: bool = False,
    retrieved: RetrievedPassages | None = None,
) -> dict[int, CheckerInput]:
    """Inputs by unit, for those of `unit_ids` that readers may see now, in the order of their ids: two queries.

    `with_origin` adds where the texts come from and what else there is about them, if the reader knows it; `retrieved`
    are the passages of a reader that needs a retrieval."""
    reader = reader_of(task_type)
    found = Unit.objects.published().filter(pk__in=list(unit_ids), kind=task_type.unit_kind)
    units = list(found.select_related(*reader.links).order_by("pk"))
    passages = _passages(units, reader.below, PASSAGES.get(task_type.contents)) if reader.below else {}
    if retrieved is not None:
        passages = retrieved.texts(units)
    origin = reader.origin if with_origin and reader.origin else _no_origin
    measured = reader.measured(units) if with_origin and reader.measured else {}
    return {
        unit.pk: CheckerInput(
            str(unit.pk), reader.read(unit, passages.get(unit.pk, ())) | origin(unit) | measured.get(unit.pk, {})
        )
        for unit in units
    }


def _no_origin(unit: Unit) -> dict[str, str]:
    return {}


def _passages(units: list[Unit], below: Callable[[Unit], object], only: dict) -> dict[int, tuple[str, ...]]:
    """The passages that each unit's page shows, in the order of the page."""
    parents = {unit.pk: _parent(below(unit)) for unit in units}
    by_parent = defaultdict(list)
    wanted = Q()
    for name in ("question_id", "claim_id"):
        wanted |= Q(**{f"{name}__in": {pk for column, pk in parents.values() if column == name}})
    rows = Evidence.objects.published().in_order().filter(wanted, **only)
    for question, claim, text in rows.values_list("question_id", "claim_id", "text"):
        by_parent[("question_id", question) if question else ("claim_id", claim)].append(text)
    return {pk: tuple(by_parent[parent]) for pk, parent in parents.items()}


def _parent(row) -> tuple[str, int]:
    """The question or claim that a row hangs below, as a column of its passages. Passages hang below one of them."""
    claim = getattr(row, "claim_id", None)
    return ("claim_id", claim) if claim is not None else ("question_id", row.question_id)

"""What a format reads a file into, and writes a file from: plain records, known to no database.

Keys are built by the format from the file's own ids and are unique per dataset and kind of record. Parents are named by
their key and come before their children.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from operator import attrgetter

from annotation.task_types.base import OUTPUTS, PLACES


@dataclass(frozen=True, slots=True)
class ClaimRecord:
    key: str
    text: str
    claimant: str = ""
    date: date | None = None
    source: str = ""
    verdict: str = ""
    metadata: dict = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QuestionRecord:
    key: str
    text: str = ""  # empty where a file only has the question's id
    date: date | None = None
    answers: tuple[str, ...] = ()
    metadata: dict = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EvidenceRecord:
    """A passage about a claim, a question, an atomic claim or an aspect: exactly one of the parents is set."""

    key: str
    text: str
    claim: str | None = None
    question: str | None = None
    url: str = ""
    publisher: str = ""
    date: date | None = None
    is_gold: bool | None = None
    rank: int | None = None
    metadata: dict = field(default_factory=dict)
    atomic_claim: str | None = None
    aspect: str | None = None


@dataclass(frozen=True, slots=True)
class ResponseRecord:
    """A model's answer to a question, or a document generated for a claim: exactly one of the two parents is set."""

    key: str
    text: str
    question: str | None = None
    claim: str | None = None
    model: str = ""
    method: str = ""
    repetition: int = 0
    context_setting: str = ""
    metadata: dict = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TripletRecord:
    """`piece_set`, of this and the other pieces: the set that it belongs to, such as an extractor's; empty: the unnamed
    one. Keys of several sets differ (`piece_key`)."""

    key: str
    response: str
    index: int
    head: str
    relation: str
    tail: str
    metadata: dict = field(default_factory=dict)
    piece_set: str = ""


@dataclass(frozen=True, slots=True)
class SubSentenceRecord:
    key: str
    response: str
    index: int
    text: str
    metadata: dict = field(default_factory=dict)
    piece_set: str = ""


@dataclass(frozen=True, slots=True)
class AtomicClaimRecord:
    key: str
    response: str
    index: int
    text: str
    metadata: dict = field(default_factory=dict)
    piece_set: str = ""


@dataclass(frozen=True, slots=True)
class AspectRecord:
    """An aspect (subtopic) of a question. Whether a response covers it is judged of the unit `response_aspect_key`."""

    key: str
    question: str
    index: int
    text: str
    metadata: dict = field(default_factory=dict)
    piece_set: str = ""


@dataclass(frozen=True, slots=True)
class PairRecord:
    """Premise and hypothesis, with the evidence and the response that they come from where that is known."""

    key: str
    premise: str
    hypothesis: str
    evidence: str | None = None
    response: str | None = None
    metadata: dict = field(default_factory=dict)


SYSTEMS = tuple(f"system_{place}" for place in PLACES)  # of a comparison's outputs, where they are known


@dataclass(frozen=True, slots=True)
class ComparisonRecord:
    """Two to five outputs for one prompt, which is a question. A system is what made an output, where that is known."""

    key: str
    question: str
    output_a: str
    output_b: str
    output_c: str = ""
    output_d: str = ""
    output_e: str = ""
    system_a: str = ""
    system_b: str = ""
    system_c: str = ""
    system_d: str = ""
    system_e: str = ""
    metadata: dict = field(default_factory=dict)

    def problem(self) -> tuple[str, str, str] | None:
        """Column, value and reason where these are no outputs to choose from."""
        texts = [getattr(self, name) for name in OUTPUTS]
        last = max((place for place, text in enumerate(texts) if text.strip()), default=0)
        first: dict[str, str] = {}
        for name, text in zip(OUTPUTS[: max(2, last + 1)], texts, strict=False):
            if not text.strip():
                return name, text, "is empty: a comparison needs the text of each of its outputs, at least two"
            if (other := first.setdefault(text.strip(), name)) != name:
                return name, text, f"is the same text as {other}: there is nothing to choose; leave the comparison out"
        for name, system in zip(SYSTEMS[last + 1 :], (getattr(self, one) for one in SYSTEMS[last + 1 :]), strict=True):
            if system:
                return name, system, "is the system of an output that is not there"
        return None


# Between the names of several systems whose output is the same.
SAME_OUTPUT = " + "

# In an answer's metadata: the order in which texts that each person sees in another one were shown, by their names.
SHOWN_ORDER = "shown_order"

# In a piece's metadata: the stretch of its response that it was taken from, {"start", "end" (code points), "quote"}.
STATED_IN = "stated_in"


def piece_key(parent: str, index: int, mark: str = "", piece_set: str = "") -> str:
    """The key of a piece whose id the file leaves out. No two sets have one alike: a set's name has no slash, and what
    follows the last slash has a colon where the set has a name, and none where it has not."""
    return f"{parent}/{piece_set}:{mark}{index}" if piece_set else f"{parent}/{mark}{index}"


# Stands between a response's key and an aspect's in the key of the unit that pairs them.
RESPONSE_ASPECT = " # "


def response_aspect_key(response: str, aspect: str) -> str:
    """The key of the unit 'this aspect in this response'. It is made by the import from every such pair, and so is
    no record; annotations and decisions name it."""
    return f"{response}{RESPONSE_ASPECT}{aspect}"


@dataclass(frozen=True, slots=True)
class SpanRecord:
    field: str
    start: int  # code points, half open
    end: int
    quote: str
    label: str = ""  # empty where spans have none, as are the others
    severity: str = ""
    reason: str = ""


# What is stored of a span, under the same names everywhere.
SPAN_VALUES = tuple(one.name for one in fields(SpanRecord))
values_of_span = attrgetter(*SPAN_VALUES)


def span_of(values: Mapping) -> SpanRecord:
    """The span of a JSON object."""
    return SpanRecord(*(values.get(name, "") for name in SPAN_VALUES))


# What no two spans of a judgement share, and the order in which they are.
place_of_span = attrgetter("field", "start", "end", "label", "severity")


@dataclass(frozen=True, slots=True)
class JudgementRecord:
    unit: str  # key of the unit; its kind is the annotation's task type's
    dimension: str
    label: str
    spans: tuple[SpanRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class AnnotationRecord:
    """All answers of one rater to one item at one time (one revision).

    `rater_kind` is `person` where the file says who judged, `slot` where raters are exchangeable: a slot's name is only
    a position and no pairwise figure may be made from it.
    """

    item: str  # key of the item's anchor unit
    rater: str
    judgements: tuple[JudgementRecord, ...]
    rater_kind: str = "person"
    revision: int = 1
    shown_at: datetime | None = None
    submitted_at: datetime | None = None
    active_ms: int | None = None
    guideline_version: int | None = None
    suggestion_shown: bool | None = None
    labels_seen: bool | None = None
    comment: str = ""
    metadata: dict = field(default_factory=dict)
    task_type: str = ""  # identifier, where the file says it
    surplus: bool = False  # outside the overlap that was asked for
    rater_group: str = ""  # experts, crowd; empty where the file names none


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """A label that stands for the unit, such as DRUID's `evidence_stance`.

    A file that knows the history of its decisions numbers them by unit, dimension and method; an empty label is then a
    decision that was withdrawn. `seen` is what its person had been shown, None where that is not known.
    """

    unit: str
    dimension: str
    label: str
    method: str = "imported"
    number: int | None = None
    rater: str = ""
    note: str = ""
    seen: dict | None = None
    decided_at: datetime | None = None
    version: int | None = None  # of the rule's run; the method is then `rule:NAME`
    outcome: str = ""  # no-answer or dropped, where it is no label
    posterior: float | None = None
    unit_kind: str = ""  # where it is another than what the project judges
    reason: str = ""  # why an adjudicator had to decide, as `Decision.Reason` has it
    spans: tuple[SpanRecord, ...] = ()
    for_guidelines: bool = False  # an example that the guidelines need


@dataclass(frozen=True, slots=True)
class ScoreRecord:
    """A number that a checker elsewhere gave a unit."""

    unit: str
    checker: str
    value: float


@dataclass(frozen=True, slots=True)
class SuggestionRecord:
    """A label that a checker elsewhere gave a unit."""

    unit: str
    checker: str
    dimension: str
    label: str
    probability: float | None = None
    probabilities: dict[str, float] = field(default_factory=dict)  # of every label, where the file says them
    explanation: str = ""
    spans: tuple[SpanRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class LostRecord:
    """Valid data that Assay cannot import."""

    what: str
    number: int
    first: str  # where it stands first


@dataclass(frozen=True, slots=True)
class OddRecord:
    """Rows of one class that are neither right nor wrong (`tables.oddities`). `what` names the value or text, `is_open`
    means that the user has to say what to do with them before anything is imported."""

    kind: str
    what: str
    number: int
    first: str  # where it stands first
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class RowError:
    """A row that cannot be taken, and why. `line` counts lines of text, or rows where the format has no lines.

    `cells` is the row as it stands in the file, where its format tells. With `is_chosen` nothing is wrong with the row:
    the user chose to leave such rows out.
    """

    file: str
    line: int | None
    column: str
    value: str  # shortened for showing
    reason: str
    cells: dict | None = field(default=None, compare=False)
    is_chosen: bool = False


Record = (
    ClaimRecord
    | QuestionRecord
    | EvidenceRecord
    | ResponseRecord
    | TripletRecord
    | SubSentenceRecord
    | AtomicClaimRecord
    | AspectRecord
    | PairRecord
    | ComparisonRecord
    | AnnotationRecord
    | DecisionRecord
    | ScoreRecord
    | SuggestionRecord
    | LostRecord
    | OddRecord
    | RowError
)


class FormatError(Exception):
    """The file as a whole cannot be read: wrong format or encoding, broken container. The message says what to do."""

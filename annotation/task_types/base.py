"""The vocabulary in which a task type is described.

A task type is data. Forms, validation, keyboard shortcuts, the API schema, the export header and the agreement
measures are all derived from the description, so nothing else in the project asks which type it is dealing with.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction

# How an answer of several labels is stored: their values in the scale's order, between them what no value may hold.
SEPARATOR = "|"
NONE_CHOSEN = "(none)"
NONE_TITLE = "None of these"
EQUAL_TITLE = "Equal to the next one"
# What a person answers who cannot answer, where the question allows it.
CANNOT_JUDGE, CANNOT_JUDGE_TITLE = "(cannot judge)", "Cannot judge"
LEVEL_MARK, MAX_LEVELS = "/", 5  # between the parts of a group, where groups stand in groups
# The outputs that a comparison may have, and their texts, as columns and highlights call them.
PLACES = ("a", "b", "c", "d", "e")
OUTPUTS = tuple(f"output_{place}" for place in PLACES)
LETTERS = dict(zip(OUTPUTS, PLACES, strict=True))
Ranks = tuple[tuple[str, ...], ...]
REST = ()
# How a ranking is stored, by the letters of the outputs: b-a.c, where a and c are equal, and b-_-c, where only the best
# and the worst are named.
ABOVE, EQUAL, UNNAMED = "-", ".", "_"
# What is chosen where none of them is best.
TIE, NONE_GOOD = "tie", "none"
# What an answer is: one label, any number of labels, a number, a text.
ANSWERS = ("label", "labels", "number", "text")
TEXT_CHARS = 10_000
REASON_CHARS = 2_000  # of a span
MAX_OWN_LABELS = 60  # of spans; the 20 colours begin again
VALUE_CHARS = 80  # of a label's value, where that is not the label as it is written
# What parts the labels of highlights in the form: `Irony, Insult = slur`.
OWN_MARKS = (",", "=")
# What browsers and Python both take for space around a text: each also takes what the other lets stand.
SPACES = "".join(one for one in map(chr, range(0x3001)) if one.isspace() and one not in "\x1c\x1d\x1e\x1f\x85")


def trimmed(text: str) -> str:
    return text.strip(SPACES)


MAX_LABELS = 1_000  # of a question
MANY_LABELS = 40  # more are searched, and more different numbers of a file are no labels


@dataclass(frozen=True, slots=True)
class Label:
    """One answer. `value` is what is stored and exported and never changes; the rest is presentation.

    `polarity` places the label between -1 (the evidence speaks against) and 1 (it speaks for); None where the label
    lies outside that scale. Checkers map their scores to labels with it, so one checker serves every label set.
    """

    value: str
    title: str
    hint: str = ""
    polarity: float | None = None
    # The key that picks it: needed where digits pick units, elsewhere in place of the digit of its place on the screen.
    key: str = ""
    # The label of a text that is no answer at all (empty, "I don't know"), which checkers tell by rule.
    means_no_answer: bool = False
    # The texts that the label puts in an order, the best first, equal ones together. REST stands for those that it does
    # not name, in no known order; without REST it names all. There is no such label on pages with other texts, and on a
    # page where texts stand in another order, the label is called by its texts' places.
    ranks: Ranks = ()
    # The heading that it stands under where a question has many labels. `Cards/Lost`: Lost stands under Cards.
    group: str = ""

    @property
    def path(self) -> tuple[str, ...]:
        """The headings that it stands under, from the top."""
        return tuple(map(str.strip, self.group.split(LEVEL_MARK))) if self.group else ()

    def suits(self, fields: Collection[str]) -> bool:
        """Whether a page with these shuffled texts has the label."""
        named = [text for rank in self.ranks for text in rank]
        return not named or (set(named) <= set(fields) and (REST in self.ranks or len(named) == len(fields)))

    def compares(self, one: str, other: str) -> int | None:
        """1 where the label says that one text is better than the other, -1 worse, 0 equal; None: it does not say."""
        places = {text: place for place, rank in enumerate(self.ranks) for text in rank}
        rest = self.ranks.index(REST) if REST in self.ranks else -1
        first, second = places.get(one, rest), places.get(other, rest)
        if min(first, second) < 0 or first == second == rest:
            return None
        return (second > first) - (second < first)


@dataclass(frozen=True, slots=True)
class Severity:
    """How grave an error is that a span marks, and what it weighs in the score of the text."""

    value: str
    title: str
    weight: float = 0.0


@dataclass(frozen=True, slots=True)
class Weight:
    """What an error of a label weighs instead: at one severity, or at any where that is empty."""

    label: str
    severity: str
    weight: float


@dataclass(frozen=True, slots=True)
class SpanRule:
    """Spans that made the annotator decide, attached to the judgement of the dimension that has the rule."""

    # Names of the texts that may be marked. One that ends in `*` stands for all that begin so: `passage-*`.
    fields: tuple[str, ...]
    title: str
    required: bool = False
    # Labels of the dimension that may carry spans; empty means all of them.
    labels: tuple[str, ...] = ()
    # What a span itself may be called; each has one of these. Empty: spans have no labels.
    own_labels: tuple[Label, ...] = ()
    # How grave an error is; each span has one of these. Empty: spans have none.
    severities: tuple[Severity, ...] = ()
    weights: tuple[Weight, ...] = ()  # of labels that do not weigh what their severity does
    takes_reasons: bool = False  # a span may have a reason, in words
    # One key marks a whole text as what decided (which of several passages it was).
    takes_whole_texts: bool = False

    def takes(self, field: str) -> bool:
        return any(field.startswith(name[:-1]) if name.endswith("*") else field == name for name in self.fields)

    def may_carry(self, label: str) -> bool:
        return not self.labels or label in self.labels

    @property
    def own_values(self) -> tuple[str, ...]:
        return tuple(label.value for label in self.own_labels)

    @property
    def known_severities(self) -> tuple[str, ...]:
        return tuple(one.value for one in self.severities)

    def problem_of(self, own_label: str, severity: str = "", reason: str = "") -> str:
        """What is wrong with the label, the severity or the reason of a span; empty where nothing is."""
        parts = (
            ("label", "labels", own_label, self.own_values),
            ("severity", "severities", severity, self.known_severities),
        )
        for one, many, value, known in parts:
            if known and value not in known:
                return f"has none of the {many} {', '.join(known)}"
            if value and not known:
                return f"has a {one}, and spans have none here"
        if reason and not self.takes_reasons:
            return "has a reason, and spans have none here"
        return f"has a reason of more than {REASON_CHARS:,} characters" if len(reason) > REASON_CHARS else ""

    def own_title(self, own_label: str) -> str:
        return next((one.title for one in self.own_labels if one.value == own_label), own_label)

    def severity_title(self, severity: str) -> str:
        return next((one.title for one in self.severities if one.value == severity), severity)

    def weight_of(self, own_label: str, severity: str) -> float:
        """What one error weighs; an error of a severity that there is no more weighs nothing."""
        for one in self.weights:
            if one.label == own_label and one.severity in ("", severity):
                return one.weight
        return next((one.weight for one in self.severities if one.value == severity), 0.0)

    @property
    def formula(self) -> str:
        """How errors become a score, in words."""
        usual = ", ".join(f"{one.title} {number_text(one.weight)}" for one in self.severities)
        others = "".join(
            "; "
            + " ".join(filter(None, (self.severity_title(one.severity), self.own_title(one.label))))
            + f" {number_text(one.weight)}"
            for one in self.weights
        )
        return f"The score is minus the sum of the errors’ weights: {usual}{others}."


@dataclass(frozen=True, slots=True)
class Condition:
    """A dimension is asked of a unit only when another dimension of that unit has one of these labels."""

    dimension: str
    labels: tuple[str, ...]

    def is_met(self, chosen: Iterable[str]) -> bool:
        return any(value in self.labels for value in chosen)


def number_text(value: float) -> str:
    """The one way in which a number is stored: in the fewest digits that identify it, without an exponent."""
    text = f"{Decimal(repr(float(value) + 0.0)):f}"  # -0 is 0
    return text.rstrip("0").rstrip(".") if "." in text else text


@dataclass(frozen=True, slots=True)
class Anchor:
    """What a number on a scale means, in words."""

    at: float
    title: str


@dataclass(frozen=True, slots=True)
class NumberRange:
    """What numbers answer a question; None: no bound, any number in between. Steps count from `least`, or from 0. With
    anchors, from low to high, the numbers are shown as a scale."""

    least: float | None = None
    most: float | None = None
    step: float | None = None
    unit: str = ""
    anchors: tuple[Anchor, ...] = ()

    def holds(self, answer: str) -> bool:
        """Whether this is such a number, written as it is stored."""
        try:
            value = float(answer)
        except ValueError:
            return False
        if not math.isfinite(value) or number_text(value) != answer:
            return False
        if (self.least is not None and value < self.least) or (self.most is not None and value > self.most):
            return False
        if self.step is None:
            return True
        start = Fraction(repr(float(self.least or 0)))
        return (Fraction(answer) - start) % Fraction(repr(float(self.step))) == 0  # of any size, unlike decimals

    def __str__(self) -> str:
        least, most, step = (None if one is None else number_text(one) for one in (self.least, self.most, self.step))
        parts = [f"from {least}" if least else "", f"to {most}" if most else "", f"in steps of {step}" if step else ""]
        return " ".join(filter(None, ("a number", *parts)))


@dataclass(frozen=True, slots=True)
class Derived:
    """Coarser labels that follow from a dimension's own, such as correct / hallucinate / abstain from a grade.

    Never stored: computed wherever they are shown. `of` pairs every label of the dimension with one of `labels`.
    """

    slug: str
    title: str
    labels: tuple[Label, ...]
    of: tuple[tuple[str, str], ...]

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(label.value for label in self.labels)

    def label_for(self, value: str) -> str:
        return dict(self.of)[value]


@dataclass(frozen=True, slots=True)
class FreeText:
    """A question answered in words, once per item; the words go with the revision and into the export."""

    title: str
    hint: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class Dimension:
    """One question about a unit. Labels are ordered as stored order (for ordinal levels: the scale's order)."""

    slug: str
    title: str
    labels: tuple[Label, ...]
    level: str = "nominal"  # nominal | ordinal | interval | ratio
    answer: str = "label"  # one of ANSWERS
    question: str = ""
    asked_when: Condition | None = None
    spans: SpanRule | None = None
    # What checkers understand the question as: relevance | coverage | stance | entailment | correctness, each explained
    # in models_runtime/contracts.py. Empty: no checker answers it.
    role: str = ""
    derived: tuple[Derived, ...] = ()
    number: NumberRange | None = None  # of a question that is answered by one
    is_optional: bool = False  # may be left without an answer; only questions that are answered in words
    # Whether people may answer CANNOT_JUDGE. It is no label: no decision or checker gives it, and no figure counts it.
    has_cannot_judge: bool = False
    # Values in the order of the screen where that differs from the stored order. Only a project's options set it.
    shown_order: tuple[str, ...] = ()
    # Not asked in a project that hides it. Its labels from elsewhere stay readable.
    is_hidden: bool = False

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(label.value for label in self.labels)

    @property
    def shown_labels(self) -> tuple[Label, ...]:
        """The labels in the order of the screen, which is also the order of their keys."""
        return tuple(self.label(value) for value in self.shown_order) if self.shown_order else self.labels

    def label(self, value: str) -> Label:
        for label in self.labels:
            if label.value == value:
                return label
        raise KeyError(f"{self.slug} has no label {value!r}; it has {', '.join(self.values)}")

    @property
    def has_many_labels(self) -> bool:
        """Whether they are searched rather than read: so are those in groups of groups."""
        return len(self.labels) > MANY_LABELS or any(len(label.path) > 1 for label in self.labels)

    @property
    def compares_texts(self) -> bool:
        """Whether its labels say which texts are better."""
        return any(label.ranks for label in self.labels)

    @property
    def takes_ranking(self) -> bool:
        """Whether texts are picked one after the other, until one label is left."""
        return any(len(label.ranks) - (REST in label.ranks) > 1 for label in self.labels)

    @property
    def takes_ties(self) -> bool:
        return any(len(rank) > 1 for label in self.labels for rank in label.ranks)

    @property
    def takes_several(self) -> bool:
        return self.answer == "labels"

    @property
    def takes_number(self) -> bool:
        return self.answer == "number"

    @property
    def takes_text(self) -> bool:
        return self.answer == "text"

    def answer_of(self, values: Iterable[str]) -> str:
        """The answer that holds these labels, as it is stored. KeyError names one that there is not."""
        chosen = set(values)
        for value in chosen:
            self.label(value)
        return SEPARATOR.join(value for value in self.values if value in chosen) or NONE_CHOSEN

    def chosen(self, answer: str) -> tuple[str, ...]:
        """The labels that an answer holds: of a single choice, the answer itself."""
        if not self.takes_several:
            return (answer,)
        return () if answer == NONE_CHOSEN else tuple(answer.split(SEPARATOR))

    def takes(self, answer: str) -> bool:
        """Whether this is an answer to the question, written as it is stored."""
        if self.number is not None:
            return self.number.holds(answer)
        if self.takes_text:
            return 0 < len(answer) <= TEXT_CHARS and answer == trimmed(answer) and "\r" not in answer
        chosen = self.chosen(answer)
        return all(value in self.values for value in chosen) and (
            not self.takes_several or answer == self.answer_of(chosen)
        )

    def may_answer(self, answer: str) -> bool:
        """Whether a person may answer so."""
        return self.takes(answer) or (self.has_cannot_judge and answer == CANNOT_JUDGE)

    def title_of(self, answer: str) -> str:
        """The answer in words; one of an older version is shown as it is stored."""
        if answer == CANNOT_JUDGE:
            return CANNOT_JUDGE_TITLE
        if self.number is not None:
            return f"{answer} {self.number.unit}".strip()
        if self.takes_text or not self.takes(answer):
            return answer
        return ", ".join(self.label(value).title for value in self.chosen(answer)) or NONE_TITLE

    @property
    def known_answers(self) -> str:
        """For messages: what an answer may be."""
        if self.number is not None:
            return str(self.number)
        if self.takes_text:
            return f"a text of 1 to {TEXT_CHARS:,} characters"
        if self.takes_ranking and self.has_many_labels:
            ties = "ties such as a.b" if self.takes_ties else "no ties"
            return f"rankings such as {', '.join(self.values[:4])}, with {ties}"
        several = f", several with {SEPARATOR!r} between them in this order, or {NONE_CHOSEN}"
        return ", ".join(self.values) + (several if self.takes_several else "")

    def may_carry(self, answer: str) -> bool:
        """Whether the answer may have spans."""
        rule = self.spans
        if rule is None or answer == CANNOT_JUDGE:
            return False
        return not rule.labels or any(map(rule.may_carry, self.chosen(answer)))


@dataclass(frozen=True, slots=True)
class Metric:
    """A default measure on the project page. `missing_as` adds a label for pairs where the dimension was not asked;
    `derived` names coarser labels of the dimension to measure instead of its own."""

    name: str
    dimension: str
    level: str = "nominal"
    missing_as: str = ""
    derived: str = ""


@dataclass(frozen=True, slots=True)
class ShuffledTexts:
    """Texts that each person sees in an order of their own. `title` is what one is called, with its place there
    (`is_arranged`: the fields are those of a page, in its order), or with a letter in the order in which they are
    stored."""

    fields: tuple[str, ...]
    title: str
    is_arranged: bool = False

    @property
    def stored_titles(self) -> tuple[str, ...]:
        return tuple(f"{self.title} {chr(ord('A') + place)}" for place in range(len(self.fields)))

    @property
    def names(self) -> dict[str, str]:
        """What each text is called."""
        placed = tuple(f"{self.title} {place}" for place in range(1, len(self.fields) + 1))
        return dict(zip(self.fields, placed if self.is_arranged else self.stored_titles, strict=True))


@dataclass(frozen=True, slots=True)
class TaskType:
    slug: str
    variant: str  # variants of one slug live side by side; "" where there is only one
    version: int  # a changed label set is a new version; old versions stay readable
    title: str
    summary: str
    anchor_kind: str  # the kind of unit that an item is made from
    unit_kind: str  # the kind of unit that is judged
    contents: str  # which texts an item shows: a name in annotation.work.queries.contents.CONTENTS
    dimensions: tuple[Dimension, ...]
    template: str  # what shows an item, below templates/
    export_layout: str  # a name in annotation.exports.layouts.LAYOUTS
    # Responses belong to a question or a claim; a type that judges only those of one kind says which.
    anchor_parent: str = ""  # question | claim | "" for any
    units_title: str = ""  # what the units of one item are called together; empty where an item has one unit
    # Digits pick one of the labels of the current unit, or one of the units (labels then have keys of their own).
    keys_pick: str = "labels"  # labels | units
    has_unit_colours: bool = False  # spans of different units differ in colour and number
    shuffled: ShuffledTexts | None = None
    free_text: FreeText | None = None
    checkers: tuple[str, ...] = ()  # slugs in models_runtime's registry that can suggest answers
    metrics: tuple[Metric, ...] = field(default_factory=tuple)

    @property
    def identifier(self) -> str:
        """`slug/variant/version`, as stored on projects and written into exports."""
        return f"{self.slug}/{self.variant or '-'}/{self.version}"

    @property
    def asked_dimensions(self) -> tuple[Dimension, ...]:
        """Those that a person is asked in this project."""
        return tuple(dimension for dimension in self.dimensions if not dimension.is_hidden)

    @property
    def is_for_checkers(self) -> bool:
        """Whether checkers can understand a question that is asked."""
        return any(dimension.role for dimension in self.asked_dimensions)

    @property
    def comparing(self) -> Dimension | None:
        """The question which of several texts are better; None where it is not asked."""
        return next((dimension for dimension in self.dimensions if dimension.compares_texts), None)

    def dimension(self, slug: str) -> Dimension:
        for dimension in self.dimensions:
            if dimension.slug == slug:
                return dimension
        raise KeyError(f"{self.identifier} has no dimension {slug!r}")

    def is_asked(self, dimension: Dimension, answers: Mapping[str, str]) -> bool:
        """Whether `dimension` is asked of a unit that has `answers` (dimension slug to answer).

        A condition on a hidden dimension holds: nobody could answer it.
        """
        if dimension.is_hidden:
            return False
        condition = dimension.asked_when
        if condition is None:
            return True
        before = self.dimension(condition.dimension)
        return before.is_hidden or (before.slug in answers and condition.is_met(before.chosen(answers[before.slug])))

    def on_page(self, fields: Collection[str], order: tuple[str, ...] = ()) -> TaskType:
        """The task as a page with these texts asks it: without labels of texts that it lacks. Where texts stand in
        another `order`, labels of theirs stand in it, too, and are called by the place."""
        if self.shuffled is None:
            return self
        here = order or tuple(field for field in self.shuffled.fields if field in fields)
        shuffled = replace(self.shuffled, fields=here, is_arranged=bool(order))
        return replace(self, shuffled=shuffled, dimensions=tuple(_on_page(one, shuffled) for one in self.dimensions))


def ranking_value(ranks: Ranks) -> str:
    """A ranking as it is stored, with equal texts in the order of their letters."""
    return ABOVE.join(EQUAL.join(sorted(LETTERS[text] for text in rank)) or UNNAMED for rank in ranks)


def ranking_title(ranks: Ranks, names: Mapping[str, str]) -> str:
    """What a label is called that puts texts with these names in an order."""
    written = [" = ".join(names[text] for text in rank) or "…" for rank in ranks]
    return " > ".join(written if ranks[-1] else written[:-1])


def _on_page(dimension: Dimension, shuffled: ShuffledTexts) -> Dimension:
    labels = tuple(label for label in dimension.labels if label.suits(shuffled.fields))
    kept = tuple(label.value for label in labels)
    shown = [label for label in dimension.shown_labels if label.value in kept]
    if shuffled.is_arranged:
        places = {field: place for place, field in enumerate(shuffled.fields)}
        in_order = iter(
            sorted(
                (label for label in labels if label.ranks),
                key=lambda label: [[len(rank), *sorted(places[text] for text in rank)] for rank in label.ranks],
            )
        )
        shown = [next(in_order) if label.ranks else label for label in shown]
        labels = tuple(
            replace(label, title=ranking_title(label.ranks, shuffled.names)) if label.ranks else label
            for label in labels
        )
    values = tuple(label.value for label in shown)
    return replace(dimension, labels=labels, shown_order=() if values == kept else values)

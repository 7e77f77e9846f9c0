"""The vocabulary in which a task type is described.

A task type is data. Forms, validation, keyboard shortcuts, the API schema, the export header and the agreement
measures are all derived from the description, so nothing else in the project asks which type it is dealing with.
"""

from __future__ import annotations

from dataclasses import dataclass, field


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


@dataclass(frozen=True, slots=True)
class SpanRule:
    """Spans of `field` that made the annotator decide, attached to the judgement of the dimension that has the rule."""

    field: str
    title: str
    required: bool = False
    # Labels of the dimension that may carry spans; empty means all of them.
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Condition:
    """A dimension is asked of a unit only when another dimension of that unit has one of these labels."""

    dimension: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dimension:
    """One question about a unit. Labels are ordered as stored order (for ordinal levels: the scale's order)."""

    slug: str
    title: str
    labels: tuple[Label, ...]
    level: str = "nominal"  # nominal | ordinal
    question: str = ""
    asked_when: Condition | None = None
    spans: SpanRule | None = None
    # What checkers understand the question as: relevance | stance | entailment.
    role: str = ""

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(label.value for label in self.labels)

    def label(self, value: str) -> Label:
        for label in self.labels:
            if label.value == value:
                return label
        raise KeyError(f"{self.slug} has no label {value!r}; it has {', '.join(self.values)}")


@dataclass(frozen=True, slots=True)
class Metric:
    """A default measure on the project page. `missing_as` adds a label for pairs where the dimension was not asked."""

    name: str
    dimension: str
    level: str = "nominal"
    missing_as: str = ""


@dataclass(frozen=True, slots=True)
class TaskType:
    slug: str
    variant: str  # variants of one slug live side by side; "" where there is only one
    version: int  # a changed label set is a new version; old versions stay readable
    title: str
    summary: str
    anchor_kind: str  # the kind of unit that an item is made from
    unit_kind: str  # the kind of unit that is judged
    dimensions: tuple[Dimension, ...]
    template: str  # what shows an item, below templates/
    export_layout: str  # druid | responses
    checkers: tuple[str, ...] = ()  # slugs in models_runtime's registry that can suggest answers
    metrics: tuple[Metric, ...] = field(default_factory=tuple)

    @property
    def identifier(self) -> str:
        """`slug/variant/version`, as stored on projects and written into exports."""
        return f"{self.slug}/{self.variant or '-'}/{self.version}"

    def dimension(self, slug: str) -> Dimension:
        for dimension in self.dimensions:
            if dimension.slug == slug:
                return dimension
        raise KeyError(f"{self.identifier} has no dimension {slug!r}")

    def is_asked(self, dimension: Dimension, answers: dict[str, str]) -> bool:
        """Whether `dimension` is asked of a unit that has `answers` (dimension slug to label)."""
        condition = dimension.asked_when
        return condition is None or answers.get(condition.dimension) in condition.labels

"""Which aspects of a question a long answer covers, and where (ICAT, the human study of section 5)."""

from .base import Dimension, Label, Metric, SpanRule, TaskType

ASPECT_COVERAGE = TaskType(
    slug="aspect-coverage",
    variant="",
    version=1,
    title="Aspects that an answer covers",
    summary="Say for each aspect of a question whether a long answer covers it, and mark where.",
    anchor_kind="response",
    unit_kind="response_aspect",
    contents="response-alone",
    anchor_parent="question",
    dimensions=(
        Dimension(
            slug="coverage",
            title="Coverage",
            question="Does the answer cover the aspect?",
            labels=(
                Label("covered", "Covered", "The answer says something that bears on the aspect.", 1.0, key="y"),
                Label("not_covered", "Not covered", "The answer says nothing about it.", 0.0, key="n"),
            ),
            spans=SpanRule(
                fields=("response",), title="Where the answer covers it", required=True, labels=("covered",)
            ),
            role="coverage",
        ),
    ),
    template="annotation/tasks/aspect_coverage.html",
    export_layout="content",
    units_title="Aspects",
    keys_pick="units",
    has_unit_colours=True,
    checkers=(
        *("lexical", "embedding", "trained", "nli", "llm", "aspect-alignment", "fake"),
        *("icat", "icat-server", "text-baselines"),
    ),
    metrics=(Metric("coverage", "coverage"),),
)

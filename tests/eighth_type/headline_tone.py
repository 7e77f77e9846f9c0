"""A task type that Assay does not have: the tone of a report about a claim. It lies outside the package, as the file
of somebody who follows CONTRIBUTING.md would lie beside the others in `annotation/task_types/`."""

from annotation.task_types import Condition, Derived, Dimension, FreeText, Label, Metric, SpanRule, TaskType

HEADLINE_TONE = TaskType(
    slug="headline-tone",
    variant="",
    version=1,
    title="Tone of a report",
    summary="Judge the tone in which a report speaks of what is claimed.",
    anchor_kind="evidence",
    unit_kind="evidence",
    contents="evidence",
    dimensions=(
        Dimension(
            slug="tone",
            title="Tone",
            question="In which tone does the report speak of it?",
            labels=(
                Label("alarmed", "Alarmed", "It warns, or expects the worst."),
                Label("sober", "Sober", "It tells what happened."),
                Label("cheerful", "Cheerful", "It is glad about it."),
            ),
            level="ordinal",
            spans=SpanRule(fields=("evidence", "claim"), title="Words that set the tone"),
            derived=(
                Derived(
                    slug="stirred",
                    title="Stirred",
                    labels=(Label("calm", "Calm"), Label("stirred", "Stirred")),
                    of=(("alarmed", "stirred"), ("sober", "calm"), ("cheerful", "stirred")),
                ),
            ),
        ),
        Dimension(
            slug="reason",
            title="Reason",
            question="Is the tone borne out by what is told?",
            labels=(Label("borne_out", "Borne out"), Label("put_on", "Put on")),
            asked_when=Condition("tone", ("alarmed", "cheerful")),
        ),
    ),
    template="annotation/tasks/headline_tone.html",
    export_layout="content",
    free_text=FreeText("Headline that you would write"),
    metrics=(
        Metric("tone", "tone", level="ordinal"),
        Metric("stirred or calm", "tone", derived="stirred"),
        Metric("reason", "reason", missing_as="sober_anyway"),
    ),
)

"""Which of two to five outputs for one prompt is best.

What is stored is in the comparison's own terms (output A, B, ...); each person sees the outputs in an order of their
own, by which the labels are called on the page.
"""

from .base import (
    NONE_GOOD,
    OUTPUTS,
    PLACES,
    REST,
    TIE,
    Condition,
    Dimension,
    FreeText,
    Label,
    Metric,
    ShuffledTexts,
    SpanRule,
    TaskType,
)

SHUFFLED = ShuffledTexts(OUTPUTS, "Output")

CHOICE = Dimension(
    slug="preference",
    title="Preference",
    question="Which output is best?",
    labels=(
        *(
            Label(place, title, ranks=((name,), REST))
            for place, title, name in zip(PLACES, SHUFFLED.stored_titles, OUTPUTS, strict=True)
        ),
        Label(TIE, "Tie", "The best ones are equally good.", key="e"),
        Label(NONE_GOOD, "All bad", "None of them is of use.", key="n"),
    ),
    spans=SpanRule(fields=OUTPUTS, title="What decides"),
)
STRENGTH = Dimension(
    slug="strength",
    title="Strength",
    question="How much better is it?",
    labels=(Label("slightly", "Slightly"), Label("clearly", "Clearly"), Label("much", "Much")),
    level="ordinal",
    asked_when=Condition("preference", PLACES),
)


def of_outputs(slug: str, variant: str, title: str, summary: str, reason: str, *dimensions: Dimension) -> TaskType:
    """A task about outputs side by side, in an order of each person's."""
    return TaskType(
        slug=slug,
        variant=variant,
        version=1,
        title=title,
        summary=summary,
        anchor_kind="comparison",
        unit_kind="comparison",
        contents="comparison",
        dimensions=dimensions,
        template="annotation/tasks/outputs.html",
        export_layout="content",
        shuffled=SHUFFLED,
        free_text=FreeText("Reason", reason),
        metrics=tuple(
            Metric(derived or one.slug, one.slug, one.level, derived=derived)
            for one in dimensions
            for derived in ("", *(coarser.slug for coarser in one.derived))
        ),
    )


SUMMARY = "Choose the best of two to five outputs for a prompt, or say that they are equally good or all bad."
WHY = "Why it is best."
PREFERENCE = of_outputs("preference", "", "Preference between outputs", SUMMARY, WHY, CHOICE)
PREFERENCE_WITH_STRENGTH = of_outputs(
    "preference", "strength", "Preference between outputs and its strength", SUMMARY, WHY, CHOICE, STRENGTH
)

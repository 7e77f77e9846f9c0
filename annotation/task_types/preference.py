"""Which of two to five outputs for one prompt is best.

What is stored is in the comparison's own terms (output A, B, ...); each person sees the outputs in an order of their
own, by which the labels are called on the page.
"""

from .base import (
    NONE_GOOD,
    OUTPUTS,
    PLACES,
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
            Label(place, title, of_text=name)
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


def preference(variant: str, title: str, dimensions: tuple[Dimension, ...]) -> TaskType:
    return TaskType(
        slug="preference",
        variant=variant,
        version=1,
        title=title,
        summary="Choose the best of two to five outputs for a prompt, or say that they are equally good or all bad.",
        anchor_kind="comparison",
        unit_kind="comparison",
        contents="comparison",
        dimensions=dimensions,
        template="annotation/tasks/preference.html",
        export_layout="content",
        shuffled=SHUFFLED,
        free_text=FreeText("Reason", "Why it is best."),
        metrics=tuple(Metric(one.slug, one.slug, one.level) for one in dimensions),
    )


PREFERENCE = preference("", "Preference between outputs", (CHOICE,))
PREFERENCE_WITH_STRENGTH = preference("strength", "Preference between outputs and its strength", (CHOICE, STRENGTH))

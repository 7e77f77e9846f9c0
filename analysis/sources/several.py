"""Questions whose answer is no label, as figures see them.

Of one that takes several labels: for each label, whether it was chosen.

A question `topics` with the label `health` becomes the question `topics=health`, whose labels are CHOSEN and
NOT_CHOSEN. So whatever is computed of a label is computed of each of several, too. `with_answers` adds the answers as a
whole, for figures of sets.

Numbers are no labels: only reports that say so take such questions (`of_numbers`), and others leave them out. No
report takes texts.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from annotation.task_types import NONE_CHOSEN, SEPARATOR, Condition, Dimension, Label, TaskType
from annotation.task_types.base import CANNOT_JUDGE

if TYPE_CHECKING:
    import pandas as pd

CHOSEN, NOT_CHOSEN = "chosen", "not_chosen"
_LABELS = (Label(NOT_CHOSEN, "not chosen"), Label(CHOSEN, "chosen"))


def slug_of(dimension: Dimension, *values: str) -> str:
    return f"{dimension.slug}={dimension.answer_of(values)}"


def parts_of(kind: TaskType, dimension: Dimension) -> dict[str, tuple[str, ...]]:
    """The questions that stand for one that takes several labels, and the labels that make them CHOSEN: each label by
    itself, and those that are the condition of a later question."""
    parts = {slug_of(dimension, value): (value,) for value in dimension.values}
    conditions = [one.asked_when for one in kind.dimensions if one.asked_when]
    on_this = [one.labels for one in conditions if one.dimension == dimension.slug]
    return parts | {slug_of(dimension, *values): values for values in on_this}


@lru_cache(maxsize=64)
def per_label(kind: TaskType) -> TaskType:
    """The task type with a question for each label of those that take several, and without those that are answered by a
    number or in words; itself where there are none of these.

    A condition on some of several labels is one on the question whether any of them was chosen (`parts_of`).
    """
    several = {one.slug: one for one in kind.dimensions if one.takes_several}
    if all(one.answer == "label" for one in kind.dimensions):
        return kind
    dimensions: list[Dimension] = []
    for dimension in kind.dimensions:
        if dimension.takes_number or dimension.takes_text:
            continue
        condition = dimension.asked_when
        if condition and condition.dimension in several:
            condition = Condition(slug_of(several[condition.dimension], *condition.labels), (CHOSEN,))
        dimension = replace(dimension, asked_when=condition)
        if dimension.slug not in several:
            dimensions.append(dimension)
            continue
        dimensions += [
            Dimension(
                slug=slug,
                title=f"{dimension.title}: {' or '.join(dimension.label(value).title for value in values)}",
                labels=_LABELS,
                asked_when=condition,
                is_hidden=dimension.is_hidden,
            )
            for slug, values in parts_of(kind, dimension).items()
        ]
    return replace(kind, dimensions=tuple(dimensions))


def rows_per_label(kind: TaskType, rows: pd.DataFrame) -> pd.DataFrame:
    """A frame with columns dimension and label: rows of questions that take several become one for each label,
    and texts are left out, and so is that a person cannot judge."""
    import pandas as pd

    if any(one.has_cannot_judge for one in kind.dimensions) and len(rows):
        rows = rows[rows["label"] != CANNOT_JUDGE].reset_index(drop=True)
    words = [one.slug for one in kind.dimensions if one.takes_text]
    if words and len(rows):
        rows = rows[~rows["dimension"].isin(words)].reset_index(drop=True)
    several = [one for one in kind.dimensions if one.takes_several]
    if not several or not len(rows):
        return rows
    frames = [rows[~rows["dimension"].isin([one.slug for one in several])]]
    for dimension in several:
        mine = rows[rows["dimension"] == dimension.slug]
        held = {answer: set(dimension.chosen(answer)) for answer in mine["label"].unique()}
        for slug, values in parts_of(kind, dimension).items():
            is_any = {answer: NOT_CHOSEN if of.isdisjoint(values) else CHOSEN for answer, of in held.items()}
            frames.append(mine.assign(dimension=slug, label=mine["label"].map(is_any)))
    # One answer's rows stay together, in the order of the frame.
    return pd.concat(frames).sort_index(kind="stable").reset_index(drop=True)


def with_answers(asked: TaskType, labels: pd.DataFrame) -> pd.DataFrame:
    """Labels one by one (`rows_per_label`), and the whole answers."""
    import pandas as pd

    frames = [labels]
    for dimension in (one for one in asked.dimensions if one.takes_several):
        of = {slug_of(dimension, value): value for value in dimension.values}
        mine = labels[labels["dimension"].isin(of)]
        if not len(mine):
            continue
        place = ["annotation", "number", "unit"]
        answers = mine[mine["dimension"] == next(iter(of))].assign(dimension=dimension.slug)
        chosen = mine[mine["label"] == CHOSEN]
        order = list(of)
        chosen = chosen.assign(value=chosen["dimension"].map(of), at=chosen["dimension"].map(order.index))
        joined = chosen.sort_values("at", kind="stable").groupby(place)["value"].agg(SEPARATOR.join)
        keys = pd.MultiIndex.from_frame(answers[place])
        frames.append(answers.assign(label=joined.reindex(keys).fillna(NONE_CHOSEN).to_numpy()))
    return pd.concat(frames, ignore_index=True) if len(frames) > 1 else labels


def of_answers(dimension: Dimension, labels: pd.DataFrame) -> Dimension:
    """The question with the answers that were given (`with_answers`) as its labels, in the order of the scale."""
    places = {value: place for place, value in enumerate(dimension.values)}

    def order(answer: str) -> tuple:
        chosen = dimension.chosen(answer)
        return len(chosen), [places.get(value, len(places)) for value in chosen]

    answers = sorted(labels.loc[labels["dimension"] == dimension.slug, "label"].unique().tolist(), key=order)
    return replace(dimension, labels=tuple(Label(answer, dimension.title_of(answer)) for answer in answers))


def of_numbers(dimension: Dimension, *rows: pd.DataFrame) -> Dimension:
    """The question with the numbers that occur in these frames as its labels, in their order."""
    numbers = {label for frame in rows for label in frame.loc[frame["dimension"] == dimension.slug, "label"].unique()}
    return replace(dimension, labels=tuple(Label(value, value) for value in sorted(numbers, key=float)))

"""Disagreement that is kept: each rater's label of a unit, and the soft label, as columns of tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping

from annotation.formats.tools.flat_tables import RATERS, SOFT
from annotation.task_types import Dimension
from annotation.task_types.base import CANNOT_JUDGE

SOFT_COLUMNS = {
    RATERS: "Each rater's label of {}, by pseudonym, as JSON",
    SOFT: "Soft label of {}: the share of raters who gave each label, as JSON",
}


def has_soft_label(question: Dimension) -> bool:
    """Answers in words have no distribution."""
    return not question.takes_text


def soft_label(question: Dimension, by_rater: Mapping[str, str]) -> dict[str, float]:
    """The share of raters who gave each label; empty without any. Where a question takes several labels, the shares of
    those who chose each, which may add up to more than 1. `by_rater` is rater -> answer as it is stored."""
    answers = [answer for answer in by_rater.values() if answer != CANNOT_JUDGE]
    counts = Counter(label for answer in answers for label in question.chosen(answer))
    return {label: n / len(answers) for label, n in counts.items()}


def cells_of(question: Dimension, by_rater: Mapping[str, str]) -> dict[str, str | None]:
    """A cell for each of SOFT_COLUMNS; None without a rater."""
    values = {RATERS: by_rater, SOFT: soft_label(question, by_rater)}
    return {
        part: json.dumps(value, ensure_ascii=False, sort_keys=True) if by_rater else None
        for part, value in values.items()
    }

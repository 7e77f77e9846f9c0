"""How often each person gave the answer that is known: by attention checks, or by decisions made elsewhere."""

from __future__ import annotations

import pandas as pd

from analysis.figures.items import Items
from analysis.figures.results import Ends, Figure, number
from analysis.reports.common import REFERENCES
from analysis.reports.estimates import ends
from analysis.reports.people.annotators.known_answers import FAILED, METHODS, RIGHT, Attention, RaterAttention
from analysis.sources.base import Source
from analysis.stats import wilson_interval
from annotation.task_types import Dimension


def known_answers(source: Source) -> dict[str, pd.DataFrame]:
    """Decisions by each method that says what is right, where there are any."""
    methods = source.decision_methods()
    return {method: source.decision_frame(method) for method in METHODS if method in methods}


def attention(
    items: Items,
    dimension: Dimension,
    labels: pd.DataFrame,
    known: dict[str, pd.DataFrame],
    names: dict[str, str],
    *,
    quick: bool,
) -> tuple[list[Attention], pd.DataFrame]:
    """For each method, each person's labels of units with a known answer: how many are that answer and how many not.

    `labels` are people's labels of one dimension. They are given back with a column per method: whether a label is
    the known answer (None where none is known).
    """
    attentions = []
    for method, decisions in known.items():
        answers = decisions[decisions["dimension"] == dimension.slug].set_index("unit")["label"]
        is_check = labels["unit"].isin(answers.index).to_numpy()
        if not is_check.any():
            continue
        right = labels["label"].eq(labels["unit"].map(answers)).map({True: RIGHT, False: FAILED})
        labels = labels.assign(**{method: right.where(is_check, None)})
        checks = labels[is_check]
        people = [
            _person(who, names[who], part[method].eq(RIGHT), quick) for who, part in checks.groupby("rater", sort=True)
        ]
        people.sort(key=lambda one: (one.share.estimate, one.id))
        units = set(checks["unit"])
        words = f"{dimension.title}: with a known answer, {REFERENCES[method].lower()}"
        is_known = pd.Series(items.units).isin(units).to_numpy()
        items.add_flag(f"{dimension.slug}.known.{method}", words, is_known, decisions=method)
        attentions.append(Attention(method=method, n_units=len(units), people=people))
    return attentions, labels


def _person(who: str, name: str, right: pd.Series, quick: bool) -> RaterAttention:
    n, n_right = len(right), int(right.sum())
    of_share = ends(None)
    if not quick:
        interval = wilson_interval(n_right, n)
        how = Ends(method=interval.method, level=interval.level, undefined="")
        of_share = {"low": number(interval.low), "high": number(interval.high), "interval": how}
    return RaterAttention(
        id=who,
        name=name,
        n=n,
        n_right=n_right,
        n_failed=n - n_right,
        share=Figure(estimate=n_right / n, undefined="", **of_share),
    )

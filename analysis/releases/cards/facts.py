"""What the numbers of a data set card are: computed from a release's files alone, so that anybody gets the same."""

from __future__ import annotations

from collections import Counter

from analysis.releases.cards.final_labels import FinalLabel
from analysis.reports.agreement.agreement.result import Agreement
from analysis.reports.agreement.agreement.show import REPORT
from analysis.sources.base import Source, unanswered
from analysis.sources.outline import SLOT
from analysis.sources.scoped import as_source
from annotation.task_types import Dimension


def facts_of(source: Source, found: dict[tuple[int, str], FinalLabel]) -> dict:
    """Plain data. Times are whole seconds in UTC; figures are rounded, since the last digits are the processor's."""
    units = source.unit_frame(source.type.unit_kind)
    labels, answers = source.label_frame(units), source.answer_frame()
    people = source.rater_frame()
    moments = answers["submitted_at"].dropna()
    shown = answers["suggestion_shown"].eq(True)
    runs = sorted(source.runs(), key=lambda run: run.uuid)
    methods = Counter(one.method for one in found.values() if one.method)
    return {
        "units": len(units),
        "items": len(source.item_frame()),
        "clusters": int(units["cluster"].nunique()),
        "answers": len(answers),
        "judgements": len(labels),
        "raters": _raters(people, answers),
        "hours": round(float(answers["seconds"].sum()) / 3600, 2),
        "answers_without_time": int(answers["seconds"].isna().sum()),
        "first_answer": _instant(moments.min()) if len(moments) else None,
        "last_answer": _instant(moments.max()) if len(moments) else None,
        "suggestion_shown": int(shown.sum()),
        "labels_seen": len(source.labels_seen()),
        "further": len(source.further()),
        "decided_by": dict(sorted(methods.items())),
        "undecided": sum(_undecided(source, found, one)[0] for one in source.type.asked_dimensions),
        "questions": [_question(source, one, units["unit"].tolist(), found) for one in source.type.asked_dimensions],
        "not_answered": unanswered(source.type, labels),
        "agreement": agreement_of(source),
        "checkers": [
            {"checker": run.checker, "version": run.version} for run in sorted(runs, key=lambda run: run.uuid)
        ],
    }


def _raters(people, answers) -> list[dict]:
    """People in the order of pseudonyms: who gave how many answers in how many hours."""
    seconds = answers.groupby("rater")["seconds"].agg(["size", "sum"])
    kinds = dict(zip(people["rater"].tolist(), people["kind"].tolist(), strict=True))
    return [
        {
            "rater": rater,
            "kind": str(kinds.get(rater, "")),
            "answers": int(seconds.loc[rater, "size"]),
            "hours": round(float(seconds.loc[rater, "sum"]) / 3600, 2),
        }
        for rater in sorted(seconds.index.tolist())
    ]


def is_slot(rater: dict) -> bool:
    return rater["kind"] == SLOT


def _instant(value) -> str:
    return value.tz_convert("UTC").strftime("%Y-%m-%dT%H:%M:%SZ")


def _undecided(source: Source, found: dict, dimension: Dimension) -> tuple[int, int, int]:
    """Units without a label although the question is asked of them; those people are divided about, and those that
    nobody judged."""
    ties = silent = 0
    for (unit, name), one in found.items():
        if name != dimension.slug or one.label is not None or _is_not_asked(source, found, unit, dimension):
            continue
        if one.votes:
            ties += 1
        else:
            silent += 1
    return ties + silent, ties, silent


def _is_not_asked(source: Source, found: dict, unit: int, dimension: Dimension) -> bool:
    condition = dimension.asked_when
    if condition is None:
        return False
    before = source.type.dimension(condition.dimension)
    label = found[unit, before.slug].label
    return label is not None and not condition.is_met(before.chosen(label))


def _question(source: Source, dimension: Dimension, units: list[int], found: dict) -> dict:
    counts = Counter(found[unit, dimension.slug].label for unit in units)
    undecided, ties, silent = _undecided(source, found, dimension)
    labels = {label: counts.pop(label, 0) for label in dimension.values} if dimension.values else {}
    nothing = counts.pop(None, 0)
    if dimension.takes_number or dimension.takes_text:
        counts = Counter()
    return {
        "dimension": dimension.slug,
        "title": dimension.title,
        "labelled": len(units) - nothing,
        "labels": labels | dict(sorted(counts.items())),
        "undecided": undecided,
        "divided": ties,
        "not_judged": silent,
        "not_asked": nothing - undecided,
    }


def agreement_of(source: Source) -> list[dict]:
    """Coefficients with intervals, per question; none where the task has no labels that they are for."""
    if REPORT.fits(source.type):
        return []
    source = as_source(source)
    result, _ = REPORT.load().compute(source, **REPORT.values(source, {}), overall=True)
    assert isinstance(result, Agreement)
    return [
        {
            "dimension": question.dimension,
            "title": question.title,
            "labels": question.n_labels,
            "units": question.n_paired,
            "figures": [
                {
                    "name": one.name,
                    "title": one.title,
                    "estimate": _rounded(one.estimate),
                    "low": _rounded(one.low),
                    "high": _rounded(one.high),
                    "undefined": one.undefined,
                }
                for one in question.figures
            ],
        }
        for question in result.headline_questions
    ]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)

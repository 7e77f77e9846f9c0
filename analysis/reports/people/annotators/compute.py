"""Whom to trust how far: competence by Dawid-Skene and MACE, agreement with others, and speed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from analysis.figures.items import Items
from analysis.figures.results import PENDING, Ends, Figure, NamedLabel, number
from analysis.reports.common import REFERENCES
from analysis.reports.estimates import coded_labels, to_figure
from analysis.reports.labels.derived import derived_from, fields_of_question, read_labels, with_derived_labels
from analysis.reports.labels.judgements import ROW, add_judgements, new_items
from analysis.reports.labels.raters import CHECKER, NO_PEOPLE, NamedRater, people_of
from analysis.reports.people.annotators import drift, speed
from analysis.reports.people.annotators.attention import attention, known_answers
from analysis.reports.people.annotators.checking import checks_of
from analysis.reports.people.annotators.checks import ANY
from analysis.reports.people.annotators.competences import (
    MIN_SHARED,
    CompetenceModel,
    Posterior,
    RaterCompetence,
    UnitPosterior,
)
from analysis.reports.people.annotators.known_answers import FAILED, KNOWN, RIGHT
from analysis.reports.people.annotators.report import Annotators, RatedQuestion, RunAsRater
from analysis.reports.words.numbers import n_of
from analysis.sources.base import Source, dimensions_to_show
from analysis.sources.outline import SLOT, Run
from analysis.sources.touched import latest, untouched_by_all
from analysis.stats import Labels, LatentTruth, Majority, agreement_with_others, dawid_skene, mace, majority
from analysis.stats.annotators.competence import CompetenceIntervals, competence_intervals, no_intervals
from analysis.stats.resampling.intervals import few_note
from annotation.task_types import Dimension, TaskType

MAX_LISTED = 100
MAX_RATERS = 200
# A posterior below this leaves the unit's label open.
CERTAIN = 0.95
# Labels fitted anew in all resamples together, so that a large project does not take minutes.
RESAMPLED_LABELS = 20_000_000
RESAMPLES = (50, 200)
TOO_FEW_SHARED = "shares {} with others, fewer than {}"
NOTHING_SHARED = "no two of them share a unit"


def compute(
    source: Source,
    *,
    checkers: str = "without",
    units: str = "uncertain",
    touched: bool = False,
    passed: str = ANY,
    quick: bool = False,
) -> tuple[Annotators, Items]:
    """The report on annotators. `checkers` is a key of CHECKERS, `units` of UNITS: whether the posterior is listed for
    the most uncertain units or for all.

    With checkers, only labels of people count that none of these checkers touched; with `touched`, people's latest
    labels. `passed` is a key of PASSED: of who failed checks, no label counts.
    """
    kind, frame, labels = read_labels(source, every_revision=True)
    who = people_of(source)
    last, shown = latest(labels), dimensions_to_show(kind, labels)
    checks = checks_of(source.check_frame(), passed, last[last["rater_kind"] != SLOT], frame, shown, who, quick=quick)
    if checks is not None and passed != ANY:
        labels = labels[~labels["rater"].isin([row.id for row in checks.failed])].reset_index(drop=True)
    runs = source.newest_labelling_runs() if checkers == "with" else []
    everything = latest(labels) if quick else source.with_moments(latest(labels))
    counted = untouched_by_all(source, labels, runs) if runs and not touched else everything
    slots = counted["rater_kind"] == SLOT
    of_people = everything[everything["rater_kind"] != SLOT]
    rated, known = _with_runs(source, kind, counted[~slots].assign(who=counted["rater"]), who, runs, frame)
    origins = derived_from(kind)
    seconds = {} if quick else source.active_seconds()
    names = {one.id: one.name for one in known.values()}
    answers = {method: with_derived_labels(kind, decided) for method, decided in known_answers(source).items()}
    items = new_items(frame, runs=[run.uuid for run in runs])
    questions, against, checked = [], [pd.DataFrame(columns=[*ROW, "against"])], [pd.DataFrame(columns=ROW)]
    for dimension in dimensions_to_show(kind, everything):
        mine = rated[rated["dimension"] == dimension.slug]
        named = of_people[of_people["dimension"] == dimension.slug]
        competences, outvoted = _competences(items, dimension, mine, frame, known, units, quick=quick)
        of_checks, with_checks = attention(items, dimension, named, answers, names, quick=quick)
        against.append(outvoted)
        checked.append(with_checks)
        questions.append(
            RatedQuestion(
                **fields_of_question(dimension, origins),
                level=dimension.level,
                labels=NamedLabel.of(dimension),
                n_labels_of_slots=int((slots & (counted["dimension"] == dimension.slug)).sum()),
                speed=speed.NOT_YET if quick else speed.speed(named, frame, dimension, seconds, names),
                drift=drift.NOT_YET if quick else drift.drift_of(named, frame, dimension, names),
                attention=of_checks,
                **competences,
            )
        )
    add_judgements(
        items,
        kind,
        counted.merge(pd.concat(against), on=ROW, how="left"),
        everything,
        {
            "against": ("which is not the majority's", {"yes": ""}),
            **{
                method: (
                    f"by {REFERENCES[method].lower()}",
                    {RIGHT: "the known answer", FAILED: "not the known answer"},
                )
                for method in answers
            },
        },
        {KNOWN: _with_checks(everything, pd.concat(checked), answers)} if answers else {},
    )
    return Annotators(
        checkers=checkers,
        runs=list(map(RunAsRater.taking, runs)),
        units=units,
        touched=touched,
        min_shared=MIN_SHARED,
        certain=CERTAIN,
        n_units=len(frame),
        n_labels_touched=len(of_people) - int((~slots).sum()),
        passed=passed,
        checks=checks,
        dimensions=questions,
    ), items


def _with_checks(labels: pd.DataFrame, checked: pd.DataFrame, methods: Iterable[str]) -> pd.DataFrame:
    """Everybody's last labels, with a column per method: whether it is the known answer."""
    there = [method for method in methods if method in checked]
    return labels.merge(checked[[*ROW, *there]], on=ROW, how="left")


def _with_runs(
    source: Source,
    kind: TaskType,
    labels: pd.DataFrame,
    known: dict[str, NamedRater],
    runs: list[Run],
    units: pd.DataFrame,
) -> tuple[pd.DataFrame, dict[str, NamedRater]]:
    parts = [labels]
    for run in runs:
        suggestions = with_derived_labels(kind, source.suggestion_frame(run)[["unit", "dimension", "label"]])
        suggestions = suggestions[suggestions["unit"].isin(units["unit"]) & suggestions["label"].notna()]
        known = known | {run.uuid: NamedRater(run.uuid, run.name, CHECKER)}
        parts.append(suggestions.assign(who=run.uuid))
    return (pd.concat(parts, ignore_index=True) if runs else labels), known


def _competences(
    items: Items,
    dimension: Dimension,
    mine: pd.DataFrame,
    units: pd.DataFrame,
    known: dict[str, NamedRater],
    listed: str,
    *,
    quick: bool,
) -> tuple[dict, pd.DataFrame]:
    """What the models say of one question, as fields of a `RatedQuestion`, and which labels are against the majority
    (ROW and `against`)."""
    slug, title = dimension.slug, dimension.title
    coded = coded_labels(mine, units, dimension.values, by="who")
    per_unit = np.bincount(coded.unit, minlength=coded.n_units)
    is_shared = per_unit[coded.unit] > 1
    n_shared = np.bincount(coded.rater[is_shared], minlength=coded.n_raters)
    nothing = pd.DataFrame(columns=[*ROW, "against"])
    items.add_flag(f"{slug}.shared", f"{title}: with two labels or more", per_unit > 1)
    counts = {
        "n_labels": coded.n_labels,
        "n_raters": coded.n_raters,
        "n_units_labelled": int((per_unit > 0).sum()),
        "n_units_shared": int((per_unit > 1).sum()),
    }
    if not is_shared.any():
        return counts | {"undefined": NOTHING_SHARED if coded.n_labels else NO_PEOPLE}, nothing
    fits = {"dawid_skene": dawid_skene(coded), "mace": mace(coded)}
    if fits["mace"].undefined:
        return counts | {"undefined": fits["mace"].undefined}, nothing
    order = sorted(range(coded.n_raters), key=lambda code: (-int(n_shared[code]), coded.rater_name(code)))
    listed_raters = order[:MAX_RATERS]
    intervals = {name: _intervals(coded, fit, listed_raters, quick=quick) for name, fit in fits.items()}
    truth, vote = fits["dawid_skene"], majority(coded)
    against = (vote.code[coded.unit] >= 0) & (vote.code[coded.unit] != coded.value)
    n_against = np.bincount(coded.rater[against], minlength=coded.n_raters)
    others = agreement_with_others(coded)
    raters = []
    for place, code in enumerate(listed_raters):
        who = known[coded.rater_name(code)]
        raters.append(
            RaterCompetence.taking(
                who,
                n_labels=int((coded.rater == code).sum()),
                n_shared=int(n_shared[code]),
                n_against=int(n_against[code]),
                agreement=to_figure(others[code], quick=quick),
                confusion=[[number(share) for share in row] for row in truth.confusion[code].tolist()],
                confusion_ends=_ends(intervals["dawid_skene"], place),
                counts=_counts(coded, truth, code).tolist(),
                **{name: _competence(fits[name], intervals[name], code, int(n_shared[code])) for name in fits},
            )
        )
        if who.kind == CHECKER:
            _add_checker(items, dimension, who, coded, code, against)
    items.add_labels(f"{slug}.true", f"{title} by Dawid-Skene", truth.label, dimension)
    rows = np.flatnonzero(against)
    outvoted = pd.DataFrame(
        {
            "unit": units["unit"].to_numpy()[coded.unit[rows]],
            "rater": np.array(coded.rater_names, dtype=object)[coded.rater[rows]],
            "dimension": slug,
            "against": "yes",
        }
    )
    return counts | {
        "undefined": "",
        "models": [_model(name, fits[name], intervals[name]) for name in fits],
        "raters": raters,
        "n_raters_not_listed": len(order) - len(raters),
        "posterior": _posterior(items, dimension, coded, fits, vote, units, listed),
    }, outvoted


def _add_checker(
    items: Items, dimension: Dimension, who: NamedRater, coded: Labels, code: int, against: np.ndarray
) -> None:
    """What a checker that is one of the raters says, as columns of units."""
    rows = coded.rater == code
    labels, outvoted = np.full(coded.n_units, -1), np.zeros(coded.n_units, dtype=bool)
    labels[coded.unit[rows]] = coded.value[rows]
    outvoted[coded.unit[rows & against]] = True
    slug, title = dimension.slug, f"{dimension.title} by {who.name}"
    items.add_labels(f"{slug}.by.{who.id}", title, labels, dimension, run=who.id)
    words = f"{title}: another label than the majority's"
    items.add_flag(f"{slug}.against.{who.id}", words, outvoted, run=who.id)


def _intervals(coded: Labels, fit: LatentTruth, raters: list[int], *, quick: bool) -> CompetenceIntervals:
    """Of everybody's competence, of the labels' shares and of the tables of these raters, from the same resamples."""
    if quick:
        return no_intervals(coded.n_raters, len(coded.categories), len(raters), reason=PENDING)
    n_resamples = int(np.clip(RESAMPLED_LABELS // coded.n_labels, *RESAMPLES))
    return competence_intervals(coded, fit, n_resamples, tables_of=raters)


def _ends(intervals: CompetenceIntervals, place: int) -> list[list[list[float] | None]]:
    """Both ends of each share of a table; None where it has no interval."""
    low, high = intervals.confusion[:, place].tolist()
    return [
        [None if number(a) is None else [a, b] for a, b in zip(*row, strict=True)]
        for row in zip(low, high, strict=True)
    ]


def _model(name: str, fit: LatentTruth, intervals: CompetenceIntervals) -> CompetenceModel:
    shares = zip(fit.prevalence.tolist(), *intervals.prevalence.tolist(), intervals.prevalence_reason, strict=True)
    return CompetenceModel.taking(
        fit,
        name=name,
        title=fit.method,
        prevalence=[
            Figure(
                estimate=number(share),
                low=number(low),
                high=number(high),
                undefined="",
                interval=Ends(undefined=reason),
            )
            for share, low, high, reason in shares
        ],
        n_resamples=intervals.n_resamples,
        n_clusters=intervals.n_clusters,
    )


def _competence(fit: LatentTruth, intervals: CompetenceIntervals, code: int, n_shared: int) -> Figure:
    reason = TOO_FEW_SHARED.format(n_of(n_shared, "units"), MIN_SHARED) if n_shared < MIN_SHARED else ""
    bounds = (intervals.low[code], intervals.high[code]) if not reason else (None, None)
    is_clustered = intervals.n_clusters is not None
    note = few_note(intervals.n_drawn[code], is_clustered) if number(bounds[0]) is not None else ""
    return Figure(
        estimate=None if reason else number(fit.competence[code]),
        low=number(bounds[0]),
        high=number(bounds[1]),
        undefined=reason,
        interval=Ends(undefined=intervals.reason[code], note=note),
    )


def _counts(coded: Labels, truth: LatentTruth, code: int) -> np.ndarray:
    """Labels of a rater (columns) by the most probable label of their unit (rows)."""
    q, rows = len(coded.categories), coded.rater == code
    cell = truth.label[coded.unit[rows]] * q + coded.value[rows]
    return np.bincount(cell, minlength=q * q).reshape(q, q)


def _posterior(
    items: Items,
    dimension: Dimension,
    coded: Labels,
    fits: dict[str, LatentTruth],
    vote: Majority,
    units: pd.DataFrame,
    listed: str,
) -> Posterior:
    """What the models make of every labelled unit; the most uncertain first."""
    truth, other = fits["dawid_skene"], fits["mace"]
    labelled = truth.label >= 0
    highest = np.where(labelled, np.nan_to_num(truth.posterior).max(axis=1), 2.0)
    uncertain = labelled & (highest < CERTAIN)
    groups = {
        "uncertain": ("the label stays uncertain by Dawid-Skene", uncertain),
        "outvoted": (
            "Dawid-Skene finds another label than the majority",
            labelled & (vote.code >= 0) & (vote.code != truth.label),
        ),
        "models": ("Dawid-Skene and MACE find different labels", labelled & (truth.label != other.label)),
    }
    items.add_sets(dimension.slug, dimension.title, groups)
    order = np.argsort(highest, kind="stable")[: int(labelled.sum())]
    shown = order if listed == "all" else order[uncertain[order]][:MAX_LISTED]
    counts = np.zeros((coded.n_units, len(coded.categories)), dtype=int)
    np.add.at(counts, (coded.unit, coded.value), 1)
    keys, names = units["unit_key"].tolist(), dimension.values
    rows = [
        UnitPosterior(
            unit=keys[unit],
            votes=counts[unit].tolist(),
            dawid_skene=[round(share, 4) for share in truth.posterior[unit].tolist()],
            mace=[round(share, 4) for share in other.posterior[unit].tolist()],
            label=names[truth.label[unit]],
            majority=names[vote.code[unit]] if vote.code[unit] >= 0 else "",
        )
        for unit in shown.tolist()
    ]
    return Posterior(
        n_units=int(labelled.sum()),
        n_tied=int((vote.tied & labelled).sum()),
        units=rows,
        n_not_listed=int(labelled.sum()) - len(rows),
        **{f"n_{name}": int(where.sum()) for name, (_, where) in groups.items()},
    )

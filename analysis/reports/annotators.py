"""Whom to trust how far: competence by Dawid-Skene and MACE, agreement with others, and speed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.reports import drift, methods_people, people_pictures, speed
from analysis.reports.attention import attention, known_answers
from analysis.reports.coding import coded_labels
from analysis.reports.derived import derived_from, with_derived, with_derived_labels
from analysis.reports.figures import PENDING, figure, is_quick, number
from analysis.reports.numbers import n_of
from analysis.reports.opened import UNITS as ALL_UNITS
from analysis.reports.opened import Behind, below, by_code, in_order
from analysis.sources import Run, Source
from analysis.sources.base import SLOT, dimensions_to_show
from analysis.sources.touched import latest, untouched_by_all
from annotation.task_types import Dimension, TaskType

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from analysis.stats import CompetenceIntervals, Labels, LatentTruth, Majority

CHECKERS = {"without": "People only", "with": "People, and each checker's newest run as one more"}
HAS_QUICK_PASS = True
UNITS = {"uncertain": "the most uncertain", "all": "all"}
# Whoever shares fewer units with others gets no competence: it would be read off a handful of labels.
MIN_SHARED = 10
MAX_LISTED = 100
MAX_RATERS = 200
# A posterior below this leaves the unit's label open.
CERTAIN = 0.95
# Labels fitted anew in all resamples together, so that a large project does not take minutes.
RESAMPLED_LABELS = 20_000_000
RESAMPLES = (50, 200)
TOO_FEW_SHARED = "shares {} with others, fewer than {}"
NO_PEOPLE = "no label is by a named person: nobody has given one yet, or the file does not say who voted"
NOTHING_SHARED = "no two of them share a unit"


@dataclass(frozen=True)
class Who:
    """Someone whose labels count: `id` stands in addresses, `name` on pages."""

    id: str
    name: str
    kind: str  # person or checker


methods = methods_people.annotators
pictures = people_pictures.annotators


def compute(source: Source, checkers: str = "without", units: str = "uncertain", touched: bool = False) -> dict:
    """The report on annotators. `checkers` is a key of CHECKERS, `units` of UNITS: whether the posterior is listed for
    the most uncertain units or for all. Wrong values raise ValueError.

    With checkers, only labels of people count that none of these checkers touched; with `touched`, what people last
    said.
    """
    for name, value, known in (("checkers", checkers, CHECKERS), ("units", units, UNITS)):
        if value not in known:
            raise ValueError(f"{name} is one of {', '.join(known)}, not {value!r}")
    kind = with_derived(source.type)
    frame = source.unit_frame(kind.unit_kind)
    runs = source.newest_labelling_runs() if checkers == "with" else []
    labels = with_derived_labels(kind, source.label_frame(frame, every_revision=True))
    everything = latest(labels) if is_quick() else source.with_moments(latest(labels))
    people = untouched_by_all(source, labels, runs) if runs and not touched else everything
    slots = people["rater_kind"] == SLOT
    who = people_of(source)
    said, known = _with_runs(source, kind, people[~slots].assign(who=people["rater"]), who, runs, frame)
    origins = derived_from(kind)
    seconds = {} if is_quick() else source.active_seconds()
    names = {one.id: one.name for one in known.values()}
    answers = {method: with_derived_labels(kind, decided) for method, decided in known_answers(source).items()}
    found, behind = [], {ALL_UNITS: frame["unit"].tolist()}
    for dimension in dimensions_to_show(kind, everything):
        mine = said[said["dimension"] == dimension.slug]
        result, ids = _dimension(dimension, mine, frame, known, units)
        of_slots = int((slots & (people["dimension"] == dimension.slug)).sum())
        of_people = everything[(everything["dimension"] == dimension.slug) & (everything["rater_kind"] != SLOT)]
        named = of_people.assign(who=of_people["rater"])
        result |= {"derived_from": origins.get(dimension.slug), "n_labels_of_slots": of_slots}
        result["speed"] = speed.NOT_YET if is_quick() else speed.speed(named, frame, dimension, seconds, names)
        result["drift"] = drift.NOT_YET if is_quick() else drift.drift_of(named, frame, dimension, names)
        result["attention"], of_checks = attention(dimension, named, answers, names)
        found.append(result)
        behind |= ids | of_checks
    return {
        "report": "annotators",
        "project": source.slug,
        "task_type": source.task_type,
        "checkers": checkers,
        "runs": [{"uuid": run.uuid, "checker": run.checker, "version": run.version} for run in runs],
        "units": units,
        "touched": touched,
        "min_shared": MIN_SHARED,
        "certain": CERTAIN,
        "n_units": len(frame),
        "n_labels_touched": int((everything["rater_kind"] != SLOT).sum() - (~slots).sum()),
        "dimensions": found,
        "behind": behind,
    }


def people_of(source: Source) -> dict[str, Who]:
    """Pseudonym -> person; people who are called alike are told apart by their pseudonyms."""
    raters = source.rater_frame()
    raters = raters[raters["kind"] != SLOT]
    alike = raters["name"].duplicated(keep=False)
    names = raters["name"].where(~alike, raters["name"] + " (" + raters["rater"] + ")")
    rows = zip(raters["rater"].tolist(), names.tolist(), strict=True)
    return {pseudonym: Who(pseudonym, name, "person") for pseudonym, name in rows}


def _with_runs(
    source: Source, kind: TaskType, said: pd.DataFrame, known: dict[str, Who], runs: list[Run], units: pd.DataFrame
) -> tuple[pd.DataFrame, dict[str, Who]]:
    import pandas as pd

    parts = [said]
    for run in runs:
        found = with_derived_labels(kind, source.suggestion_frame(run)[["unit", "dimension", "label"]])
        found = found[found["unit"].isin(units["unit"]) & found["label"].notna()]
        known = known | {run.uuid: Who(run.uuid, f"{run.checker} {run.version}".strip(), "checker")}
        parts.append(found.assign(who=run.uuid))
    return (pd.concat(parts, ignore_index=True) if runs else said), known


def _dimension(
    dimension: Dimension, mine: pd.DataFrame, units: pd.DataFrame, known: dict[str, Who], listed: str
) -> tuple[dict, dict[str, list[int]]]:
    import numpy as np

    from analysis.stats import agreement_with_others, dawid_skene, mace, majority

    coded = coded_labels(mine, units, dimension.values, by="who")
    per_unit = np.bincount(coded.unit, minlength=coded.n_units)
    is_shared = per_unit[coded.unit] > 1
    n_shared = np.bincount(coded.rater[is_shared], minlength=coded.n_raters)
    result = {
        "dimension": dimension.slug,
        "title": dimension.title,
        "level": dimension.level,
        "labels": [{"label": label.value, "title": label.title} for label in dimension.labels],
        "n_labels": coded.n_labels,
        "n_raters": coded.n_raters,
        "n_units_labelled": int((per_unit > 0).sum()),
        "n_units_shared": int((per_unit > 1).sum()),
        "undefined": "" if is_shared.any() else NOTHING_SHARED if coded.n_labels else NO_PEOPLE,
        "models": [],
        "raters": [],
        "n_raters_not_listed": 0,
        "posterior": None,
    }
    if result["undefined"]:
        return result, {}
    fits = {"dawid_skene": dawid_skene(coded), "mace": mace(coded)}
    if fits["mace"].undefined:
        return result | {"undefined": fits["mace"].undefined}, {}
    order = sorted(range(coded.n_raters), key=lambda code: (-int(n_shared[code]), coded.rater_name(code)))
    listed_raters = order[:MAX_RATERS]
    intervals = {name: _intervals(coded, fit, listed_raters) for name, fit in fits.items()}
    truth = fits["dawid_skene"]
    ids, vote = units["unit"].to_numpy(), majority(coded)
    against = (vote.code[coded.unit] >= 0) & (vote.code[coded.unit] != coded.value)
    n_against = np.bincount(coded.rater[against], minlength=coded.n_raters)
    result["models"] = [_model(name, fits[name], intervals[name]) for name in fits]
    others = agreement_with_others(coded)
    for place, code in enumerate(listed_raters):
        who = known[coded.rater_name(code)]
        result["raters"].append(
            {
                "id": who.id,
                "name": who.name,
                "kind": who.kind,
                "n_labels": int((coded.rater == code).sum()),
                "n_shared": int(n_shared[code]),
                "n_against": int(n_against[code]),
                "agreement": figure(others[code]),
                **{name: _competence(fits[name], intervals[name], code, int(n_shared[code])) for name in fits},
                "confusion": [[number(share) for share in row] for row in truth.confusion[code].tolist()],
                "confusion_ends": _ends(intervals["dawid_skene"], place),
                "counts": _counts(coded, truth, code).tolist(),
            }
        )
    result["n_raters_not_listed"] = len(order) - len(result["raters"])
    result["posterior"], behind = _posterior(dimension, coded, fits, vote, units, listed)
    names = [f"{dimension.slug}/by/{coded.rater_name(code)}/against" for code in range(coded.n_raters)]
    behind |= by_code(ids, coded.unit, np.where(against, coded.rater, -1), names)
    behind[f"{dimension.slug}/shared"] = ids[per_unit > 1].tolist()
    return result, behind | _cells(dimension, coded, truth, units, listed_raters)


def opened(behind: Behind, figure: str) -> list[int] | None:
    """What somebody labelled, all of it or what somebody else labelled too: their table of what they say has it."""
    match figure.split("/"):
        case [slug, "by", who, *rest] if rest in ([], ["shared"]):
            cells = below(behind, f"{slug}/said/{who}")
            labelled = {unit for key in cells for unit in behind[key]}
            return in_order(behind, labelled.intersection(behind[f"{slug}/shared"]) if rest else labelled) or None
    return None


def _intervals(coded: Labels, fit: LatentTruth, raters: list[int]) -> CompetenceIntervals:
    """Of everybody's competence, of the labels' shares and of the tables of these raters, from the same resamples."""
    import numpy as np

    from analysis.stats.competence import competence_intervals, no_intervals

    if is_quick():
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


def _model(name: str, fit: LatentTruth, intervals: CompetenceIntervals) -> dict:
    return {
        "name": name,
        "title": fit.method,
        "prevalence": [
            {
                "estimate": number(share),
                "low": number(low),
                "high": number(high),
                "undefined": "",
                "interval": {"undefined": reason},
            }
            for share, low, high, reason in zip(
                fit.prevalence.tolist(), *intervals.prevalence.tolist(), intervals.prevalence_reason, strict=True
            )
        ],
        "log_likelihood": number(fit.log_likelihood),
        "n_iterations": fit.n_iterations,
        "converged": fit.converged,
        "n_resamples": intervals.n_resamples,
        "n_clusters": intervals.n_clusters,
    }


def _competence(fit: LatentTruth, intervals: CompetenceIntervals, code: int, n_shared: int) -> dict:
    from analysis.stats.intervals import few_note

    reason = TOO_FEW_SHARED.format(n_of(n_shared, "units"), MIN_SHARED) if n_shared < MIN_SHARED else ""
    bounds = (intervals.low[code], intervals.high[code]) if not reason else (None, None)
    is_clustered = intervals.n_clusters is not None
    note = few_note(intervals.n_drawn[code], is_clustered) if number(bounds[0]) is not None else ""
    return {
        "estimate": None if reason else number(fit.competence[code]),
        "low": number(bounds[0]),
        "high": number(bounds[1]),
        "undefined": reason,
        "interval": {"undefined": intervals.reason[code], "note": note},
    }


def _counts(coded: Labels, truth: LatentTruth, code: int) -> np.ndarray:
    """Labels of a rater (columns) by the most probable label of their unit (rows)."""
    import numpy as np

    q, rows = len(coded.categories), coded.rater == code
    cell = truth.label[coded.unit[rows]] * q + coded.value[rows]
    return np.bincount(cell, minlength=q * q).reshape(q, q)


def _cells(
    dimension: Dimension, coded: Labels, truth: LatentTruth, units: pd.DataFrame, codes: list[int]
) -> dict[str, list[int]]:
    """Units of each cell of each rater's table, in the order of work; empty cells are left out."""
    import numpy as np

    q, names = len(coded.categories), [coded.rater_name(code) for code in range(coded.n_raters)]
    code = (coded.rater.astype(np.int64) * q + truth.label[coded.unit]) * q + coded.value
    keys = [
        f"{dimension.slug}/said/{who}/{real}/{said}"
        for who in names
        for real in coded.categories
        for said in coded.categories
    ]
    return by_code(units["unit"].to_numpy(), coded.unit, np.where(np.isin(coded.rater, codes), code, -1), keys)


def _posterior(
    dimension: Dimension,
    coded: Labels,
    fits: dict[str, LatentTruth],
    vote: Majority,
    units: pd.DataFrame,
    listed: str,
) -> tuple[dict, dict[str, list[int]]]:
    """What the models make of every labelled unit; the most uncertain first."""
    import numpy as np

    truth, other = fits["dawid_skene"], fits["mace"]
    labelled = truth.label >= 0
    highest = np.where(labelled, np.nan_to_num(truth.posterior).max(axis=1), 2.0)
    uncertain = labelled & (highest < CERTAIN)
    outvoted = labelled & (vote.code >= 0) & (vote.code != truth.label)
    differ = labelled & (truth.label != other.label)
    order = np.argsort(highest, kind="stable")[: int(labelled.sum())]
    shown = order if listed == "all" else order[uncertain[order]][:MAX_LISTED]
    counts = np.zeros((coded.n_units, len(coded.categories)), dtype=int)
    np.add.at(counts, (coded.unit, coded.value), 1)
    keys, names = units["unit_key"].tolist(), dimension.values
    rows = [
        {
            "unit": keys[unit],
            "votes": counts[unit].tolist(),
            "dawid_skene": [round(share, 4) for share in truth.posterior[unit].tolist()],
            "mace": [round(share, 4) for share in other.posterior[unit].tolist()],
            "label": names[truth.label[unit]],
            "majority": names[vote.code[unit]] if vote.code[unit] >= 0 else "",
        }
        for unit in shown.tolist()
    ]
    ids = units["unit"].to_numpy()
    groups = {"uncertain": uncertain, "outvoted": outvoted, "models": differ}
    return {
        "n_units": int(labelled.sum()),
        **{f"n_{name}": int(found.sum()) for name, found in groups.items()},
        "n_tied": int((vote.tied & labelled).sum()),
        "units": rows,
        "n_not_listed": int(labelled.sum()) - len(rows),
    }, {f"{dimension.slug}/{name}": ids[found].tolist() for name, found in groups.items()}

"""How far a checker agrees with people, by default over labels that the checker did not touch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.reports.associations import associations
from analysis.reports.beside import (
    PARTS,
    adjust,
    beside_another,
    beside_everybody,
    other_of,
    other_score_of,
    score_of,
)
from analysis.reports.comparison_pictures import pictures
from analysis.reports.derived import derived_from, measured_by, with_derived, with_derived_labels
from analysis.reports.equivalence import MARGIN
from analysis.reports.figures import RESAMPLES, figure, is_quick, named_figure, plain_figure
from analysis.reports.labellers import cluster_codes
from analysis.reports.methods_checkers import comparison as methods
from analysis.reports.opened import UNITS, Behind, in_order, of_pair, together
from analysis.reports.probabilities import probabilities
from analysis.reports.reference import WITH_MODEL, Reference, as_answered, checker_codes, decisions_left_out, references
from analysis.reports.score_pairs import score_pair, scored_units
from analysis.sources import Run, Source
from analysis.sources.base import dimensions_to_show, unanswered
from analysis.sources.touched import latest, untouched, untouched_by_all
from annotation.task_types import Dimension, TaskType

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from analysis.stats import Classification

__all__ = ["HAS_QUICK_PASS", "compute", "methods", "opened", "pictures"]

HAS_QUICK_PASS = True


def compute(
    source: Source,
    run: str,
    reference: str = "majority",
    touched: bool = False,
    score: str = "",
    other: str = "",
    other_score: str = "",
    margin: float = MARGIN,
    own_units: bool = False,
) -> dict:
    """The comparison report of one checker run.

    `run` is the run's UUID; `reference` a key of WITH_MODEL; with `touched`, labels given after the checker's
    suggestion was seen count too; `score` names one of the run's scores to be correlated (default: the first); `other`
    is the UUID of a run that is set against the same people (labels untouched by both, unless `touched`), and
    `other_score` a score of it, or without it of this run, that is set against `score`. Differences below `margin`
    would not matter. Checkers are compared on the units that all of them label, with `own_units` each on its own. Wrong
    values raise ValueError.
    """
    if margin <= 0:
        raise ValueError(f"margin is the largest difference that would not matter, above 0, not {margin:g}")
    checker_run = source.run(run)
    against = other_of(source, checker_run, other)
    score = score_of(checker_run, score)
    other_score = other_score_of(checker_run, score, against, other_score)

    kind = with_derived(source.type)
    origins = derived_from(kind)
    units = source.unit_frame(kind.unit_kind)
    labels = with_derived_labels(kind, source.label_frame(units, every_revision=True))
    everything, clean = latest(labels), untouched(source, labels, checker_run)
    answered = everything
    if reference in source.decision_methods():
        answered = with_derived_labels(kind, source.decision_frame(reference))
    kind = as_answered(kind, answered)
    of_one = () if touched else (checker_run,)
    people = references(kind, source, reference, units, everything if touched else clean, of_one)
    suggestions = with_derived_labels(kind, source.suggestion_frame(checker_run))
    shown = dimensions_to_show(kind, everything)
    sides = [
        side
        for side in _sides(kind, people, units, suggestions)
        if side.dimension in shown or side.people.counts()["decided"]
    ]
    gives_scores_only = checker_run.gives == "scores"
    versus_people = people
    if against is not None and not touched:
        both = untouched_by_all(source, labels, [checker_run, against])
        versus_people = references(kind, source, reference, units, both, [checker_run, against])
    behind = {UNITS: units["unit"].tolist()}
    behind |= {name: ids for side in sides for name, ids in _behind(side, units).items()}
    found: dict[str, dict] = {side.dimension.slug: dict.fromkeys(PARTS) for side in sides}
    if not gives_scores_only and not is_quick():
        behind |= _of_labels(source, units, sides, checker_run, found)
        if against is not None:
            behind |= beside_another(source, kind, units, sides, versus_people, against, margin, found)
        newest = [checker_run, *(one for one in source.newest_labelling_runs() if one.checker != checker_run.checker)]
        counted = everything if touched else untouched_by_all(source, labels, newest)
        behind |= beside_everybody(
            source, kind, units, sides, counted, reference, newest, margin, own_units, found, touched
        )
    if gives_scores_only:  # then all that can be said is how scores go with the place of people's labels
        sides = [side for side in sides if side.dimension.level == "ordinal"]
    values = source.score_frame(checker_run, score) if score else None
    if not is_quick():
        if other_score:
            others = source.score_frame(against or checker_run, other_score)
            behind |= _two_scores(sides, versus_people, units, (values, others), margin, found)
        if values is not None:
            behind |= _one_score(sides, units, values, found)
    families = adjust([found[side.dimension.slug] for side in sides])
    return {
        "report": "comparison",
        "project": source.slug,
        "task_type": source.task_type,
        "margin": margin,
        "run": checker_run.uuid,
        "checker": checker_run.checker,
        "gives": "scores" if gives_scores_only else "labels",
        "version": checker_run.version,
        "reference": reference,
        "reference_title": WITH_MODEL[reference],
        "touched": touched,
        "decisions_left_out": decisions_left_out(source, reference, units, of_one),
        "score": score,
        "scores": list(checker_run.scores),
        "other_score": other_score,
        "score_pair": _score_pair(checker_run, score, against, other_score),
        "other": {"run": against.uuid, "checker": against.checker, "version": against.version}
        if against is not None
        else None,
        "families": families,
        "n_units": len(units),
        "own_units": own_units,
        "unanswered": unanswered(source.type, everything),
        "dimensions": [
            {
                "dimension": side.dimension.slug,
                "derived_from": origins.get(side.dimension.slug),
                "title": side.dimension.title,
                "level": side.dimension.level,
                "n_labels_all": int((everything["dimension"] == side.dimension.slug).sum()),
                "n_labels_untouched": int((clean["dimension"] == side.dimension.slug).sum()),
                "votes": side.people.counts(),
                "n_suggestions": int((side.checker >= 0).sum()),
                "n_checker_not_asked": int(side.checker_not_asked.sum()),
                **_figures(side, units),
                "with_unasked": _with_unasked(kind, side, units),
                "correlations": _correlations(side, units, values),
                **found[side.dimension.slug],
            }
            for side in sides
        ],
        "behind": behind,
    }


def _two_scores(
    sides: list[Sides],
    people: dict[str, Reference],
    units: pd.DataFrame,
    pair: tuple[pd.DataFrame, pd.DataFrame],
    margin: float,
    found: dict[str, dict],
) -> Behind:
    """Which of two scores goes with people's labels more, put among what was `found`; the units behind it."""
    behind = {}
    for side in sides:
        slug = side.dimension.slug
        rows = score_pair(side.dimension, people[slug].code, *pair, units, margin)
        key, ids = f"{slug}/of/scores", scored_units(people[slug].code, units, *pair)
        found[slug]["scores"] = [row | {"figure": key} for row in rows]
        behind |= {key: ids} if rows else {}
    return behind


def _one_score(sides: list[Sides], units: pd.DataFrame, values: pd.DataFrame, found: dict[str, dict]) -> Behind:
    """How a score goes with people's labels, put among what was `found`; the units behind it."""
    behind = {}
    for side in sides:
        part = associations(side.dimension, side.people.code, values, units)
        slug, ids = side.dimension.slug, scored_units(side.people.code, units, values)
        found[slug]["associations"] = part and part | {"figure": f"{slug}/of/score", "n_scored": len(ids)}
        behind[f"{slug}/of/score"] = ids
    return behind


def _score_pair(run: Run, score: str, against: Run | None, other_score: str) -> list[list[str]] | None:
    """Both scores with the runs that they are of, where these differ."""
    if not other_score:
        return None
    return [[score, run.name if against else ""], [other_score, against.name if against else ""]]


def _of_labels(
    source: Source, units: pd.DataFrame, sides: list[Sides], run: Run, found: dict[str, dict]
) -> dict[str, list[int]]:
    """What the run's probabilities are worth; the units behind."""
    behind = {}
    for side in sides:
        part, ids = probabilities(source, side.dimension, run, side.people.code, side.checker_not_asked, units)
        found[side.dimension.slug]["probabilities"] = part
        behind |= ids
    return behind


@dataclass(frozen=True, eq=False)
class Sides:
    """Both sides of one dimension, one entry per unit. A label on a unit that its own side judged not to be asked
    (a stance on irrelevant evidence) does not count."""

    dimension: Dimension
    people: Reference
    checker: np.ndarray
    checker_not_asked: np.ndarray


def _sides(kind: TaskType, people: dict[str, Reference], units: pd.DataFrame, suggestions: pd.DataFrame) -> list[Sides]:
    suggested = checker_codes(kind, units, suggestions)
    return [Sides(dimension, people[dimension.slug], *suggested[dimension.slug]) for dimension in kind.dimensions]


def _figures(side: Sides, units: pd.DataFrame) -> dict:
    from analysis.stats import classification

    dimension = side.dimension
    result = classification(side.people.code, side.checker, dimension.values, cluster_codes(units))
    return {
        "labels": [{"label": label.value, "title": label.title} for label in dimension.labels],
        "accuracy": figure(result.accuracy),
        "macro_f1": figure(result.macro_f1),
        "balanced_accuracy": figure(result.balanced_accuracy),
        "mcc": figure(result.mcc),
        "per_label": _per_label(result, dimension),
        "confusion": result.confusion.tolist(),
    }


def _per_label(found: Classification, dimension: Dimension) -> list[dict]:
    from analysis.stats import label_intervals

    intervals = [None] * len(found.labels) if is_quick() else label_intervals(found, RESAMPLES)
    rests_on = {"precision": "predicted", "recall": "support", "f1": "either"}
    return [
        {
            "label": row.label,
            "title": dimension.label(row.label).title,
            **{
                name: plain_figure(
                    getattr(row, name),
                    row.undefined.get(name, ""),
                    getattr(row, of),
                    interval and getattr(interval, name),
                )
                for name, of in rests_on.items()
            },
            "support": row.support,
            "predicted": row.predicted,
        }
        for row, interval in zip(found.labels, intervals, strict=True)
    ]


def _with_unasked(kind: TaskType, side: Sides, units: pd.DataFrame) -> dict | None:
    """The same with 'not asked' as one more label, so that units that one side judged irrelevant count too."""
    import numpy as np

    from analysis.stats import classification

    dimension = side.dimension
    extra = next((m.missing_as for m in kind.metrics if measured_by(m) == dimension.slug and m.missing_as), "")
    if not extra or dimension.asked_when is None:
        return None
    code = len(dimension.values)
    result = classification(
        np.where(side.people.not_asked, code, side.people.code),
        np.where(side.checker_not_asked, code, side.checker),
        (*dimension.values, extra),
        cluster_codes(units),
    )
    return {
        "label": extra,
        "figures": [
            named_figure("accuracy", "Accuracy", result.accuracy),
            named_figure("macro_f1", "Macro-F1", result.macro_f1),
        ],
    }


def _correlations(side: Sides, units: pd.DataFrame, scores: pd.DataFrame | None) -> list[dict]:
    """The score with the people's label as a place on its scale; what label the checker made of it does not matter."""
    if scores is None or side.dimension.level != "ordinal":
        return []
    from analysis.stats import kendall_tau_b, pearson, spearman

    value = scores.set_index("unit")["value"].reindex(units["unit"]).to_numpy(dtype=float)
    cluster = cluster_codes(units)
    return [
        named_figure(name, title, measure(value, side.people.code, cluster))
        for name, title, measure in (
            ("pearson", "Pearson", pearson),
            ("spearman", "Spearman", spearman),
            ("kendall_tau_b", "Kendall's tau-b", kendall_tau_b),
        )
    ]


def _behind(side: Sides, units: pd.DataFrame) -> dict[str, list[int]]:
    """Units of every cell of the confusion matrix ("" where a side has no label that counts), in the order of work."""
    dimension, width = side.dimension, len(side.dimension.values) + 1
    names = ("", *dimension.values)  # code -1 comes first
    cell = (side.people.code + 1) * width + side.checker + 1
    ids = units["unit"].to_numpy()
    cells = {
        f"{dimension.slug}/{said}/{found}": ids[cell == row * width + column].tolist()
        for row, said in enumerate(names)
        for column, found in enumerate(names)
    }
    groups = {
        "tied": side.people.tied,
        "single": side.people.single,
        "not-asked": side.people.not_asked,
        "checker-not-asked": side.checker_not_asked,
    }
    return cells | {f"{dimension.slug}/of/{name}": ids[where].tolist() for name, where in groups.items()}


def opened(behind: Behind, figure: str) -> list[int] | None:
    """Rows and columns of the confusion matrix, and other groups of its cells."""
    slug, *parts = figure.split("/")
    cells = [key for key in behind if key.startswith(f"{slug}/") and key.count("/") == 2 and _is_cell(key)]
    if not cells:
        return None
    match parts:
        case ["people", label]:
            chosen = [key for key in cells if key.split("/")[1] == label and key.split("/")[2]]
        case ["checker", label]:
            chosen = [key for key in cells if key.split("/")[2] == label and key.split("/")[1]]
        case ["of", "compared"]:
            chosen = [key for key in cells if all(key.split("/"))]
        case ["of", "by-people"]:
            chosen = [key for key in cells if key.split("/")[1]]
        case ["of", "unlabelled"]:
            named = together(behind, [f"{slug}/of/tied", f"{slug}/of/not-asked"])
            without = together(behind, [key for key in cells if not key.split("/")[1]])
            return in_order(behind, set(without).difference(named))
        case ["of", "with-unasked"]:
            people = together(behind, [*(key for key in cells if key.split("/")[1]), f"{slug}/of/not-asked"])
            checker = [*(key for key in cells if key.split("/")[2]), f"{slug}/of/checker-not-asked"]
            return in_order(behind, set(people).intersection(together(behind, checker)))
        case ["taken", label, n]:
            order = behind.get(f"{slug}/taken/{label}/order", [])
            return in_order(behind, set(order[: int(n)])) if n.isdecimal() and int(n) <= len(order) else None
        case ["pair", a, b, way]:
            return of_pair(behind, f"{slug}/said", a, b, way)
        case _:
            return None
    return together(behind, chosen)


def _is_cell(key: str) -> bool:
    return key.split("/")[1] not in ("of", "against", "rival")

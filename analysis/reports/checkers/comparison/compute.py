"""How far a checker agrees with people, by default over labels that the checker did not touch."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from msgspec import UNSET

from analysis.figures.items import Items
from analysis.figures.results import NamedFigure, NamedLabel, ReferenceCounts
from analysis.reports.agreement.raters import groups_among
from analysis.reports.checkers.comparison.associations import associations
from analysis.reports.checkers.comparison.labellers import codes_of_runs, labellers, on_same_units
from analysis.reports.checkers.comparison.on_scale import on_scale
from analysis.reports.checkers.comparison.probabilities import probabilities
from analysis.reports.checkers.comparison.result import (
    Baseline,
    ComparedDimension,
    ComparedRun,
    Comparison,
    LabelMeasures,
    MeasuresWithUnasked,
    Rival,
)
from analysis.reports.checkers.comparison.score_pairs import score_pair
from analysis.reports.checkers.comparison.show import MARGIN
from analysis.reports.checkers.comparison.significance import adjust, significance
from analysis.reports.checkers.comparison.soft import soft_labels
from analysis.reports.checkers.comparison.versus import add_who_is_right, several, versus
from analysis.reports.common import DAWID_SKENE, FINAL, MEDIAN, NUMERIC, REFERENCES, WITH_MODEL
from analysis.reports.estimates import RESAMPLES, cluster_codes, named_figure, plain_figure, to_figure
from analysis.reports.labels.derived import (
    derived_from,
    fields_of_question,
    measured_by,
    read_labels,
    with_derived_labels,
)
from analysis.reports.labels.judgements import add_judgements, new_items
from analysis.reports.labels.reference import Reference, as_answered, checker_codes, decisions_left_out, references
from analysis.reports.labels.scales import rated_by, values_of_people
from analysis.sources.base import Source, dimensions_to_show, unanswered
from analysis.sources.final import final_decisions
from analysis.sources.outline import Run
from analysis.sources.several import of_numbers
from analysis.sources.touched import latest, untouched, untouched_by_all
from analysis.stats import (
    Classification,
    classification,
    kendall_tau_b,
    label_intervals,
    majority_baseline,
    pearson,
    spearman,
)
from annotation.task_types import Dimension, TaskType

# What is computed of each dimension in addition to the run's own figures; None where it was not asked or has to wait.
PARTS = ("probabilities", "versus", "several", "rivals", "labellers", "baseline", "scores", "associations")
PARTS += ("on_scale", "soft")
# Some figures count labels that are untouched by the other run as well, or by the newest run of every checker.
BY_BOTH, BY_ALL = "both", "all"


@dataclass(frozen=True, eq=False)
class Sides:
    """Both sides of one dimension, one entry per unit. A label on a unit that its own side judged not to be asked
    (a stance on irrelevant evidence) does not count."""

    dimension: Dimension
    people: Reference
    checker: np.ndarray
    checker_not_asked: np.ndarray


def compute(
    source: Source,
    *,
    run: str,
    reference: str = "majority",
    touched: bool = False,
    score: str = "",
    other: str = "",
    other_score: str = "",
    ratings: str = "",
    margin: float = MARGIN,
    own_units: bool = False,
    all: bool = False,
    quick: bool = False,
) -> tuple[Comparison, Items]:
    """The comparison report of one checker run.

    `run` is the run's UUID; `reference` a key of WITH_MODEL; with `touched`, labels given after the checker's
    suggestion was seen count too; `score` names one of the run's scores to be correlated (default: the first); `other`
    is the UUID of a run that is set against the same people (labels untouched by both, unless `touched`), and
    `other_score` a score of it, or without it of this run, that is set against `score`. `ratings`, a key of RATINGS,
    says what of people's labels a score goes with. Differences below `margin`
    would not matter. Checkers are compared on the units that all of them label, with `own_units` each on its own.
    `all`: with more statistics, which take longest. Wrong values raise ValueError.
    """
    if margin <= 0:
        raise ValueError(f"margin, the smallest difference of interest, is above 0, not {margin:g}")
    checker_run = source.run(run)
    against = _other(source, checker_run, other)
    score = _score(checker_run, score)
    other_score = _other_score(checker_run, score, against, other_score)

    kind, units, labels = read_labels(source, every_revision=True)
    origins = derived_from(kind)
    everything, clean = latest(labels), untouched(source, labels, checker_run)
    answered = everything
    if reference in source.decision_methods():
        answered = with_derived_labels(kind, source.decision_frame(reference))
    elif reference == FINAL:
        decided = final_decisions(source).frame
        decided = with_derived_labels(kind, decided.loc[decided["label"] != "", ["unit", "dimension", "label"]])
        answered = pd.concat([everything, decided], ignore_index=True)
    by_numbers = [one for one in source.asked.dimensions if one.takes_number] if checker_run.gives == "scores" else []
    if reference != DAWID_SKENE:  # scores go with numbers, where labels do not
        numbers = [of_numbers(one, labels, answered) for one in by_numbers]
        kind = replace(kind, dimensions=(*kind.dimensions, *numbers))
    kind = as_answered(kind, answered)
    of_one = () if touched else (checker_run,)
    counted = everything if touched else clean
    people = references(kind, source, reference, units, counted, of_one)
    suggested = checker_codes(kind, units, with_derived_labels(kind, source.suggestion_frame(checker_run)))
    shown = dimensions_to_show(kind, everything)
    sides = [
        Sides(dimension, people[dimension.slug], *suggested[dimension.slug])
        for dimension in kind.dimensions
        if dimension in shown or people[dimension.slug].counts()["decided"]
    ]
    by_decisions = reference if reference == FINAL or (reference in REFERENCES and reference != "majority") else ""
    items = new_items(units, runs=[checker_run.uuid], scores=[score, other_score], decisions=by_decisions)
    judged = {}
    for side in sides:
        _add_side(items, side, checker_run)
    people_of_both = people
    if against is not None and not touched:
        both = untouched_by_all(source, labels, [checker_run, against])
        people_of_both = references(kind, source, reference, units, both, [checker_run, against])
        judged[BY_BOTH] = both
    parts: dict[str, dict] = {side.dimension.slug: dict.fromkeys(PARTS) for side in sides}
    gives_labels = checker_run.gives != "scores"
    if gives_labels and not quick:
        for side in sides if all else ():
            parts[side.dimension.slug]["probabilities"] = probabilities(
                items, source, side.dimension, checker_run, side.people.code, side.checker_not_asked, units
            )
        if against is not None and against.gives == "labels":
            theirs = codes_of_runs(source, kind, units, [against])[against]
            for side in sides:
                dimension, slug = side.dimension, side.dimension.slug
                codes = people_of_both[slug].code, side.checker, theirs[slug]
                parts[slug]["versus"] = versus(dimension, *codes, units, margin)
                title = f"{dimension.title}, {checker_run.name} and {against.name}"
                add_who_is_right(items, f"{slug}.versus", title, *codes, against, BY_BOTH)
        newest = [checker_run, *(one for one in source.newest_labelling_runs() if one.checker != checker_run.checker)]
        by_all = everything if touched else untouched_by_all(source, labels, newest)
        judged |= {} if touched else {BY_ALL: by_all}
        seen = () if touched else newest
        final = final_decisions(source, seen) if reference == FINAL else None
        of_all = references(kind, source, reference, units, by_all, seen, final)
        codes_of_all = codes_of_runs(source, kind, units, newest)
        dimensions = [side.dimension for side in sides]
        compared = codes_of_all if own_units else on_same_units(codes_of_all, dimensions)
        of_everybody = labellers(
            items, source, kind, units, by_all, reference, of_all, compared, dimensions, BY_ALL, final, all=all
        )
        for side in sides:
            parts[side.dimension.slug]["baseline"] = _baseline(side, units)
            parts[side.dimension.slug]["labellers"] = of_everybody[side.dimension.slug]
            if all:
                parts[side.dimension.slug] |= _rivals(items, side, of_all, codes_of_all, units, margin)
    if not gives_labels:  # then only the correlation of scores with the place of people's labels is defined
        sides = [side for side in sides if side.dimension.level != "nominal"]
    rated = {side.dimension.slug: rated_by(side.dimension, ratings, reference) for side in sides}
    codes_of_run = {
        side.dimension.slug: values_of_people(side.dimension, side.people, units, counted, rated[side.dimension.slug])
        for side in sides
    }
    if gives_labels and not quick:
        for side in sides:
            dimension = side.dimension
            how = rated_by(dimension, "" if dimension.level in NUMERIC else MEDIAN, reference)
            by_people = values_of_people(dimension, side.people, units, counted, how)
            of_people = counted if reference == "majority" else None
            compared = side.checker, side.people, by_people, of_people, units
            if not dimension.takes_number:
                of_checker = side.checker, side.checker_not_asked
                parts[dimension.slug]["soft"] = soft_labels(
                    items, source, dimension, checker_run, *of_checker, counted, units
                )
            parts[dimension.slug]["on_scale"] = on_scale(
                items, dimension, checker_run.name, *compared, are_named=source.has_people()
            )
    values = _values(source, checker_run, score, units)
    others = _values(source, against or checker_run, other_score, units)
    for side in sides:
        dimension, slug = side.dimension, side.dimension.slug
        if values is None:
            continue
        by_people = codes_of_run[slug]
        _add_scored(items, f"{slug}.score", f"{dimension.title} by people, and {score}", by_people, values)
        if others is not None:
            title = f"{dimension.title} by people, {score} and {other_score}"
            of_both = values_of_people(
                dimension, people_of_both[slug], units, judged.get(BY_BOTH, counted), rated[slug]
            )
            _add_scored(items, f"{slug}.scores", title, of_both, values + others, BY_BOTH)
        if quick:
            continue
        if others is not None:
            parts[slug]["scores"] = score_pair(dimension, of_both, values, others, units, margin)
        parts[slug]["associations"] = associations(
            dimension, by_people, values, units, with_levels=all or not gives_labels
        )
    add_judgements(items, kind, counted, everything, of_runs=judged)
    families = adjust([parts[side.dimension.slug] for side in sides])
    left_out = decisions_left_out(source, reference, units, of_one)
    return Comparison(
        all=all,
        margin=margin,
        run=checker_run.uuid,
        checker=checker_run.checker,
        gives="labels" if gives_labels else "scores",
        version=checker_run.version,
        reference=reference,
        reference_title=WITH_MODEL[reference],
        touched=touched,
        decisions_left_out=left_out,
        score=score,
        scores=list(checker_run.scores),
        other_score=other_score,
        score_pair=[[score, checker_run.name if against else ""], [other_score, against.name if against else ""]]
        if other_score
        else None,
        other=ComparedRun(run=against.uuid, checker=against.checker, version=against.version) if against else None,
        families=families,
        n_units=len(units),
        own_units=own_units,
        unanswered=unanswered(source.type, everything),
        pooled=groups_among(source.rater_frame()) or UNSET,
        without_labels=[one.title for one in by_numbers] if by_numbers and reference == DAWID_SKENE else UNSET,
        dimensions=[
            ComparedDimension(
                **fields_of_question(side.dimension, origins),
                level=side.dimension.level,
                n_labels_all=int((everything["dimension"] == side.dimension.slug).sum()),
                n_labels_untouched=int((clean["dimension"] == side.dimension.slug).sum()),
                votes=ReferenceCounts(**side.people.counts()),
                n_suggestions=int((side.checker >= 0).sum()),
                n_checker_not_asked=int(side.checker_not_asked.sum()),
                labels=[] if side.dimension.takes_number else NamedLabel.of(side.dimension),
                **_measures(side, units, quick=quick),
                with_unasked=_with_unasked(kind, side, units, quick=quick),
                rated_by=rated[side.dimension.slug],
                correlations=_correlations(side, units, codes_of_run[side.dimension.slug], values, quick=quick),
                **parts[side.dimension.slug],
            )
            for side in sides
        ],
    ), items


# ---- which run and which scores ----


def _other(source: Source, run: Run, uuid: str) -> Run | None:
    """The run that this one is set against; None where none is named."""
    if not uuid:
        return None
    other = source.run(uuid)
    if other == run:
        raise ValueError("a run cannot be compared with itself; name another one")
    if "scores" in (other.gives, run.gives) and not (other.scores and run.scores):
        raise ValueError("two runs can be compared with people by labels or by scores; these two share neither")
    return other


def _score(run: Run, score: str) -> str:
    if score and score not in run.scores:
        raise ValueError(f"the run has no score {score!r}; it has {', '.join(run.scores) or 'none'}")
    return score or next(iter(run.scores), "")


def _other_score(run: Run, score: str, against: Run | None, name: str) -> str:
    """The score that `score` is set against; "" where there is none to be compared."""
    theirs = run.scores if against is None else against.scores
    if name and name not in theirs:
        raise ValueError(f"the run has no score {name!r}; it has {', '.join(theirs) or 'none'}")
    if against is None and name == score and name:
        raise ValueError(f"score {name!r} cannot be compared with itself; name another one")
    if not name and against is not None and score:
        return score if score in theirs else next(iter(theirs), "")
    return name if score else ""


def _values(source: Source, run: Run, score: str, units: pd.DataFrame) -> np.ndarray | None:
    """Each unit's value of a score, nan where it has none; None without a score."""
    if not score:
        return None
    values = source.score_frame(run, score).set_index("unit")["value"]
    return values.reindex(units["unit"]).to_numpy(dtype=float)


# ---- items behind figures ----


def _add_side(items: Items, side: Sides, run: Run) -> None:
    """Labels of people and the checker, and why one of them has no label that counts."""
    slug, people, checker = side.dimension.slug, side.people, side.checker
    by_people, by_run = f"{side.dimension.title} by people", f"{side.dimension.title} by {run.name}"
    items.add_labels(f"{slug}.people", by_people, people.code, side.dimension)
    items.add_labels(f"{slug}.checker", by_run, checker, side.dimension)
    items.add(
        f"{slug}.people.has",
        by_people,
        np.select([people.code >= 0, people.tied, people.not_asked], [0, 1, 2], 3),
        {"label": "a label that counts", "tied": "divided", "not-asked": "not asked", "none": "no label that counts"},
    )
    items.add(
        f"{slug}.checker.has",
        by_run,
        np.select([checker >= 0, side.checker_not_asked], [0, 1], 2),
        {"label": "a label", "not-asked": "not asked", "none": "no label"},
    )
    items.add_flag(f"{slug}.single", f"{by_people}: decided by one label", people.single)


def _add_scored(
    items: Items, name: str, title: str, by_people: np.ndarray, values: np.ndarray, judged: str = ""
) -> None:
    items.add_flag(name, title, np.isfinite(by_people) & np.isfinite(values), judged=judged)


# ---- figures ----


def _rivals(
    items: Items,
    side: Sides,
    people: dict[str, Reference],
    codes: dict[Run, dict[str, np.ndarray]],
    units: pd.DataFrame,
    margin: float,
) -> dict:
    """The run against the newest run of every other checker, and all of them at once; the run is the first."""
    dimension, slug, parts = side.dimension, side.dimension.slug, {"rivals": [], "several": None}
    first, *others = codes
    for other in others:
        compared = people[slug].code, side.checker, codes[other][slug]
        figures = versus(dimension, *compared, units, margin)
        parts["rivals"].append(Rival.extending(figures, run=other.uuid, name=other.name))
        title = f"{dimension.title}, {first.name} and {other.name}"
        add_who_is_right(items, f"{slug}.rival.{other.uuid}", title, *compared, other, BY_ALL)
    if len(codes) > 2:
        every = {run: by[slug] for run, by in codes.items()}
        parts["several"], shared = several(dimension, people[slug].code, every, units)
        title = f"{dimension.title} by people and by every checker"
        items.add_flag(f"{slug}.several", title, shared, judged=BY_ALL)
    return parts


def _baseline(side: Sides, units: pd.DataFrame) -> Baseline | None:
    dimension = side.dimension
    if dimension.takes_number:
        return None
    found = majority_baseline(side.people.code, side.checker, len(dimension.values), cluster_codes(units))
    if not found.n_pairable:
        return None
    title = dimension.labels[found.label].title
    return Baseline(title=title, share=found.share, test=significance(found.test))


def _measures(side: Sides, units: pd.DataFrame, *, quick: bool) -> dict:
    is_number = side.dimension.takes_number  # it has a score and no label
    values = ("number", "none") if is_number else side.dimension.values
    people = np.full(len(units), -1) if is_number else side.people.code
    measures = classification(people, side.checker, values, cluster_codes(units))
    return {
        **{
            name: to_figure(getattr(measures, name), quick=quick)
            for name in ("accuracy", "macro_f1", "balanced_accuracy", "mcc")
        },
        "per_label": [] if is_number else _per_label(measures, side.dimension, quick=quick),
        "confusion": [] if is_number else measures.confusion.tolist(),
    }


def _per_label(classification: Classification, dimension: Dimension, *, quick: bool) -> list[LabelMeasures]:
    intervals = [None] * len(classification.labels) if quick else label_intervals(classification, RESAMPLES)
    rests_on = {"precision": "predicted", "recall": "support", "f1": "either"}
    return [
        LabelMeasures(
            label=row.label,
            title=dimension.label(row.label).title,
            **{
                name: plain_figure(
                    getattr(row, name),
                    row.undefined.get(name, ""),
                    getattr(row, of),
                    interval and getattr(interval, name),
                )
                for name, of in rests_on.items()
            },
            support=row.support,
            predicted=row.predicted,
        )
        for row, interval in zip(classification.labels, intervals, strict=True)
    ]


def _with_unasked(kind: TaskType, side: Sides, units: pd.DataFrame, *, quick: bool) -> MeasuresWithUnasked | None:
    """The same with 'not asked' as one more label, so that units that one side judged irrelevant count too."""
    dimension = side.dimension
    extra = next((m.missing_as for m in kind.metrics if measured_by(m) == dimension.slug and m.missing_as), "")
    if not extra or dimension.asked_when is None:
        return None
    code = len(dimension.values)
    measures = classification(
        np.where(side.people.not_asked, code, side.people.code),
        np.where(side.checker_not_asked, code, side.checker),
        (*dimension.values, extra),
        cluster_codes(units),
    )
    return MeasuresWithUnasked(
        label=extra,
        figures=[
            named_figure("accuracy", "Accuracy", measures.accuracy, quick=quick),
            named_figure("macro_f1", "Macro-F1", measures.macro_f1, quick=quick),
        ],
    )


def _correlations(
    side: Sides, units: pd.DataFrame, label: np.ndarray, value: np.ndarray | None, *, quick: bool
) -> list[NamedFigure]:
    """The score with what people give as a number; what label the checker made of it does not matter."""
    if value is None or side.dimension.level == "nominal":
        return []
    cluster = cluster_codes(units)
    return [
        named_figure(name, title, measure(value, label, cluster), quick=quick)
        for name, title, measure in (
            ("pearson", "Pearson", pearson),
            ("spearman", "Spearman", spearman),
            ("kendall_tau_b", "Kendall's tau-b", kendall_tau_b),
        )
    ]

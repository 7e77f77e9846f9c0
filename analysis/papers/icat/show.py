"""The page on facts and coverage of long answers (ICAT)."""

from __future__ import annotations

import math

from analysis.figures.items import COUNTED, COUNTS, Filter
from analysis.figures.page import Answer, Page, Part, Rule, Section, first_that_applies
from analysis.figures.pictures import Axis, Lines, Picture, Point, Scatter, Series
from analysis.figures.results import Figure
from analysis.figures.tables import Column, Table
from analysis.papers.icat.choices import offered, offered_baselines
from analysis.papers.icat.result import (
    CONVENTIONS,
    AspectSets,
    CoverageCorrelation,
    Icat,
    MachineCoverage,
    Measure,
    OtherAspects,
    OtherCoverage,
    ScoreOverBeta,
    ScoresOfModel,
)
from analysis.reports.common import REFERENCE, TOUCHED
from analysis.reports.labels.aspects import LABELS_NEEDED, TIED_ASPECT, covering_dimension
from analysis.reports.options import CHECKER, LABELS, STATISTICS, Option, sibling_projects
from analysis.reports.report import Report
from analysis.reports.words.numbers import n_of
from analysis.reports.words.sentences import sentences
from analysis.sources.outline import Outline
from annotation.task_types import TaskType

ALL = "all models"
SCORES = {"factuality": "Factuality", "coverage": "Coverage by supported claims"}
DETECTION = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
# Aspects that a figure over all aspects together is computed from, by what both say.
POOLED = {
    "precision": ("both", "machine"),
    "recall": ("both", "people"),
    "f1": ("both", "machine", "people", "neither"),
}
CELL_TITLES = {
    "both": "Covered by both",
    "machine": "By the machine alone",
    "people": "By people alone",
    "neither": "By neither",
}
MAX_OPENED = 200  # points; each opens its answer
ANSWERS = "answer"  # the column whose values a figure over answers counts


def refuses(kind: TaskType) -> str:
    if covering_dimension(kind) is None:
        return f"It needs judgements of aspects in answers; {kind.title!r} judges something else"
    return ""


def page(result: Icat) -> Page:
    curve, scatter = _curve(result), _scatter(result)
    scores: list[Part] = [*curve, *_scores(result)]
    sections = [
        Section("Coverage, factuality and ICAT", scores),
        Section("Automatic measures against people's coverage", [*scatter, *_correlations(result)]),
        Section("Aspects judged covered", _detection(result)),
        *([Section("Other sets of aspects", _of_sets(result, result.sets))] if result.sets else []),
        Section("Agreement of the annotators", [_agreement(result)]),
    ]
    picture = next(iter((*curve, *scatter)), None)
    return Page(_answer(result, picture), sections, result.notes)


def _name(model: str) -> str:
    return model or "a model without a name"


# ---- scores of models ----


def _scores(result: Icat) -> list[Table]:
    def of(row: ScoresOfModel, **more: str) -> Filter:
        return Filter(({} if row is result.all else {"model": row.model}) | more)

    def mean(title: str, name: str) -> Column:
        return Column(
            title,
            lambda row: getattr(row, name),
            interval=True,
            items=lambda row: of(row, **{f"with.{name}": "yes"}) if getattr(row, name).n_pairable else None,
            counts=ANSWERS,
        )

    model = Column("Model", lambda row: ALL if row is result.all else _name(row.model))
    rows = [*result.models, result.all]
    answers = Column("Answers", "n_responses", items=of, counts=None)
    title = "Coverage by people"
    tables = [Table(title, [model, answers, mean(title, "people")], rows, _left_out(result, ("people",)))]
    if result.automatic:
        scored = Column(
            "Answers with a score",
            "score.n_pairable",
            items=lambda row: of(row, **{"with.score": "yes"}),
            counts=ANSWERS,
        )
        titles = {**SCORES, "score": f"ICAT, beta {result.beta:g}"}
        note = f"An undefined figure is {result.convention_title}. {_left_out(result, tuple(titles))}".strip()
        columns = [model, scored, *(mean(title, name) for name, title in titles.items())]
        tables.append(Table(f"Factuality, coverage and ICAT, by {result.automatic_title}", columns, rows, note))
    return tables


def _left_out(result: Icat, names: tuple[str, ...]) -> str:
    words = {"people": "coverage by people", "score": "ICAT"}
    sentences = []
    for name in names:
        if counts := getattr(result.all, name).left_out:
            reasons = ", ".join(f"{n:,} {reason}" for reason, n in counts.items())
            sentences.append(f"Left out of {words.get(name, name)}: {reasons}.")
    return " ".join(sentences)


def _curve(result: Icat) -> list[Picture]:
    rows = [row for row in result.curve or [] if row.n]
    if not rows:
        return []
    betas = result.betas
    drawn = (*rows[1:], rows[0]) if len(rows) > 2 else rows[-1:]
    series = [_of_model(betas, row, is_all=row is rows[0] and not row.model, banded=len(rows) <= 2) for row in drawn]
    at_one = betas.index(1.0)
    words = "; ".join(
        f"{one.title} {one.points[0][1]:.2f} at {betas[0]:g}, {one.points[at_one][1]:.2f} at 1 and "
        f"{one.points[-1][1]:.2f} at {betas[-1]:g}"
        for one in series
    )
    interval = "; pointwise 95 % bootstrap intervals over questions" if series[0].low else ""
    return [
        Lines(
            name="icat-over-beta",
            title="ICAT over beta",
            caption=(
                "Mean over answers of (1 + beta^2) F C / (beta^2 F + C), with factuality F and coverage C by "
                f"{result.automatic_title}, {result.project}, {n_of(rows[0].n, 'answers')} to at most "
                f"{n_of(result.n_queries, 'questions')}{interval}. beta runs from {betas[0]:g} to {betas[-1]:g} on "
                "a scale of doublings; to the right of 0 it favours coverage."
            ),
            alt=f"Curves of the mean score by model: {words}.",
            series=tuple(series),
            x=Axis("log2 of beta", math.log2(betas[0]), math.log2(betas[-1])),
            y=Axis("ICAT", 0, 1),
            series_title="Model",
        )
    ]


def _of_model(betas: list[float], row: ScoreOverBeta, *, is_all: bool, banded: bool) -> Series:
    has_band = banded and row.low is not None and None not in row.low
    return Series(
        title=ALL if is_all else _name(row.model),
        points=tuple(zip(map(math.log2, betas), row.estimate, strict=True)),
        low=tuple(row.low) if has_band else (),
        high=tuple(row.high) if has_band else (),
    )


# ---- measures against people ----


def _scatter(result: Icat) -> list[Picture]:
    points = result.points
    if not points or not points.answers:
        return []
    row = next(one for one in result.compared if one.key == points.key)
    correlations = "; ".join(f"{one.title} {_written(one.figure)}" for one in row.correlations if one.figure.is_defined)
    several = len({one.model for one in points.answers}) > 1
    people = "the majority of people" if result.reference == "majority" else result.reference_title.lower()
    return [
        Scatter(
            name="coverage-by-people-and-machine",
            title=f"Coverage of each answer, by people and by {points.title}",
            caption=(
                f"Share of the question's aspects that an answer covers, by {people} and by {points.title}, "
                f"{result.project}, {n_of(points.n, 'answers')}. {correlations or 'No correlation is defined'}."
            ),
            alt=(
                f"A dot for each answer, with coverage by people across and by {points.title} upwards. {correlations}"
            ).strip(),
            points=tuple(
                Point(
                    one.response,
                    one.people,
                    one.automatic,
                    _name(one.model) if several else "",
                    figure=Filter({"answer": one.response}).encoded if points.n <= MAX_OPENED else "",
                )
                for one in points.answers
            ),
            x=Axis("Coverage by people", 0, 1),
            y=Axis(f"Coverage by {points.title}", 0, 1),
            points_title="Answer",
            series_title="Model",
            diagonal="equal coverage",
            square=True,
            named=False,
        )
    ]


def _written(figure: Figure) -> str:
    return figure.written() + (f" ({figure.note})" if figure.low is not None and figure.note else "")


def _correlations(result: Icat) -> list[Table]:
    machines = [(f"m{place}", one) for place, one in enumerate(result.compared)]
    baselines = [(one.key, one) for one in result.baseline_rows]
    parts = {
        "Automatic coverage of answers against people's": machines,
        f"Baselines ({result.baselines_title}) against people's coverage": baselines,
    }
    return [_correlated(title, measures) for title, measures in parts.items() if measures]


def _correlated(title: str, measures: list[tuple[str, Measure]]) -> Table:
    rows: list[tuple[str, Measure, CoverageCorrelation | None]] = []
    for name, measure in measures:
        is_missing = bool(getattr(measure, "missing", ""))
        rows += [(name, measure, one) for one in ([None] if is_missing else measure.correlations)]

    def both(row) -> Filter | None:
        return Filter({f"{row[0]}.correlated": "yes"}) if row[2] and row[2].figure.n_pairable else None

    def test(name: str):
        return lambda row: getattr(row[2].test, name) if row[2] and row[2].test else None

    columns = [
        Column("Measure", lambda row: row[1].title),
        Column("Coefficient", lambda row: row[2].title if row[2] else "all three"),
        Column("Answers", lambda row: row[2].figure.n_pairable if row[2] else 0, items=both, counts=ANSWERS),
        Column(
            "Correlation",
            lambda row: row[2].figure if row[2] else Figure(estimate=None, undefined=row[1].missing),
            interval=True,
            items=both,
            counts=ANSWERS,
        ),
        Column("p", test("p_value")),
        Column("p, Holm", test("p_holm")),
    ]
    note = (
        "Per answer. Intervals resample questions. p is of a permutation test that swaps whole questions; "
        "Holm's adjustment is over all measures of both tables, for each coefficient."
    )
    return Table(title, columns, rows, note)


def _detection(result: Icat) -> list[Table]:
    rows = [(place, one) for place, one in enumerate(result.compared) if one.detection]

    def labels(name: str) -> Filter:
        return Filter(judgements=({name: COUNTED},))

    machine = Column("Machine", lambda row: row[1].title)
    counted = [
        Column("Labels that count", lambda row: row[1].n_labels_untouched),
        Column("All labels", lambda row: row[1].n_labels_all, items=lambda row: labels(COUNTS), counts=None),
    ]

    def figures(of: str, opens, counts: str | None) -> list[Column]:
        def column(name: str, title: str) -> Column:
            def figure(row: tuple[int, MachineCoverage]) -> Figure:
                return getattr(row[1].detection, of)[name]

            def items(row) -> Filter | None:
                return opens(f"m{row[0]}", name) if figure(row).is_defined else None

            return Column(title, figure, interval=True, items=items, counts=counts)

        return [column(name, title) for name, title in DETECTION.items()]

    def cell(name: str, title: str) -> Column:
        return Column(
            title, lambda row: row[1].detection.counts[name], items=lambda row: Filter({f"m{row[0]}.cell": name})
        )

    mean = figures("mean", lambda column, name: Filter({f"{column}.{name}": "yes"}), ANSWERS)
    pooled = figures("pooled", lambda column, name: Filter({f"{column}.cell": POOLED[name]}), None)
    title = "Aspects judged covered, against people"
    return [
        Table(
            f"{title}: mean over answers",
            [machine, *counted, *mean],
            rows,
            "Per answer, then averaged: the mean F1 is not the harmonic mean of the other two.",
        ),
        Table(f"{title}: all aspects together", [machine, *counted, *pooled], rows),
        Table(f"{title}: counts", [machine, *(cell(name, title) for name, title in CELL_TITLES.items())], rows),
    ]


def projects_beside(source: Outline) -> dict[str, str]:
    """Other projects on the data set that judge aspects in answers."""
    return sibling_projects(source, lambda kind: not refuses(kind), several=True)


def _of_sets(result: Icat, sets: AspectSets) -> list[Table]:
    columns = [
        Column("Aspects", "title"),
        Column("Machine", "machine"),
        *(Column(title, name, interval=True) for name, title in SCORES.items()),
        Column(f"ICAT, beta {result.beta:g}", "score", interval=True),
    ]
    title = "Factuality, coverage and ICAT by each set of aspects"
    note = f"Means over all answers of each project. An undefined figure is {result.convention_title}."
    scores = [Table(title, columns, sets.scores, note)] if sets.scores else []
    return [*scores, _against_this_set(sets)]


def _against_this_set(sets: AspectSets) -> Table:
    """Each other set compared with this one, over the answers that have coverage by both."""
    rows = [(other, row) for other in sets.others for row in other.rows]

    def both(row: tuple[OtherAspects, OtherCoverage]) -> Filter | None:
        return Filter({f"{row[1].name}.correlated": "yes"}) if row[1].here.n_pairable else None

    def figure(title: str, name: str) -> Column:
        return Column(title, lambda row: getattr(row[1], name), interval=True, items=both, counts=ANSWERS)

    def correlation(place: int, title: str) -> Column:
        return Column(title, lambda row: row[1].correlations[place].figure, interval=True, items=both, counts=ANSWERS)

    columns = [
        Column("Aspects there", lambda row: f"{row[0].units_title} ({row[0].project})"),
        Column("Coverage there by", lambda row: row[1].title),
        Column("Answers", lambda row: row[1].here.n_pairable, items=both, counts=ANSWERS),
        figure("Here, by people", "here"),
        figure("There", "there"),
        figure("Mean distance", "distance"),
        *(correlation(place, one.title) for place, one in enumerate(rows[0][1].correlations)),
    ]
    sizes = "; ".join(f"{_average(one.n_aspects)} in {one.project}" for one in sets.others)
    note = (
        f"Aspects to an answer, on average: {_average(sets.n_aspects)} here; {sizes}. Over answers with coverage by "
        "both sets. Intervals resample questions."
    )
    return Table("Coverage of the same answers by other sets of aspects", columns, rows, note)


def _average(n: float | None) -> str:
    return "none" if n is None else f"{n:.1f}"


def _agreement(result: Icat) -> Table:
    several = Filter({"labels": ("two", "three")})
    columns = [
        Column("Measure", lambda row: "Fleiss' kappa"),
        Column("Labels", "n_labels"),
        Column("Aspects", "fleiss.n_pairable", items=lambda row: several),
        Column("With three labels or more", "n_three", items=lambda row: Filter({"labels": "three"})),
        Column("Kappa", "fleiss", interval=True, items=lambda row: several if row.fleiss.n_pairable else None),
    ]
    return Table("Agreement of the annotators", columns, [result.agreement], f"{result.agreement.form}.")


# ---- what the page begins with ----


COVERAGE_RULES = (
    Rule(
        "unknown",
        lambda result: not result.all.people.is_defined,
        lambda result: f"People's coverage of aspects is not known: {result.all.people.undefined}.",
    ),
    Rule(
        "known",
        lambda result: True,
        lambda result: (
            f"According to people, an answer covers on average {result.all.people.written()} of its question's "
            f"aspects{result.all.people.level_noted}."
        ),
    ),
)


def _score(result: Icat) -> str:
    return f"The mean ICAT score by {result.automatic_title} (beta = {result.beta:g}) is {result.all.score.written()}"


def _best_and_worst(result: Icat) -> str:
    known = sorted((one for one in result.models if one.score.is_defined), key=lambda one: one.score.estimate)
    low, high = known[0], known[-1]
    return (
        f"{_score(result)}; it is highest for {_name(high.model)}, {high.score.written()}, and lowest for "
        f"{_name(low.model)}, {low.score.written()}."
    )


SCORE_RULES = (
    Rule("no machine", lambda result: not result.automatic, lambda result: ""),
    Rule(
        "undefined",
        lambda result: not result.all.score.is_defined,
        lambda result: f"There is no ICAT score by {result.automatic_title}: {result.all.score.undefined}.",
    ),
    Rule("several models", lambda result: sum(one.score.is_defined for one in result.models) > 1, _best_and_worst),
    Rule("one model", lambda result: True, lambda result: f"{_score(result)}."),
)


def _spearman(measure: Measure | OtherCoverage) -> Figure:
    return next(one.figure for one in measure.correlations if one.name == "spearman")


def _best_measure(result: Icat) -> Measure | None:
    """The measure with the greatest correlation with people's coverage."""
    known = [one for one in result.measures if _spearman(one).is_defined]
    return max(known, key=lambda one: _spearman(one).estimate, default=None)


def _correlation(result: Icat) -> str:
    best = _best_measure(result)
    among = f" has the greatest of {n_of(len(result.measures), 'measures')}" if len(result.measures) > 1 else ""
    return f"Spearman's correlation with people's coverage is {_spearman(best).written()} for {best.title}" + (
        f", which{among}" if among else ""
    )


def _is_shown(result: Icat) -> bool:
    """The best of several is the best by chance too, so its interval is adjusted for their number."""
    best = _spearman(_best_measure(result))
    return best.low is None or best.is_apart_from(0, len(result.measures))


MEASURE_RULES = (
    Rule("no measure", lambda result: not result.measures, lambda result: ""),
    Rule(
        "undefined",
        lambda result: _best_measure(result) is None,
        lambda result: "No automatic measure has a defined correlation with people's coverage.",
    ),
    Rule(
        "not shown",
        lambda result: not _is_shown(result),
        lambda result: f"{_correlation(result)}; it is not shown to increase with people's coverage.",
    ),
    Rule("correlated", lambda result: True, lambda result: f"{_correlation(result)}."),
)
NEXT = (
    Rule("no answers", lambda result: not result.n_units, lambda result: "import answers to questions with aspects"),
    Rule(
        "few labels",
        lambda result: not result.all.people.is_defined,
        lambda result: "label the aspects of answers",
    ),
    Rule(
        "no machine",
        lambda result: not result.automatic,
        lambda result: "start the checker “Facts and aspects (ICAT)”",
    ),
    Rule(
        "no baselines",
        lambda result: not result.baselines,
        lambda result: "start the checker “ROUGE, BLEU, METEOR and BERTScore”, to compare it with baselines",
    ),
)


def _sentences(result: Icat) -> tuple[str, ...]:
    chosen = (first_that_applies(rules, result) for rules in (COVERAGE_RULES, SCORE_RULES, MEASURE_RULES))
    return tuple(filter(None, chosen))


def _answer(result: Icat, picture: Picture | None) -> Answer:
    n = result.all.people.n_pairable
    return Answer(
        sentences=_sentences(result),
        n=f"n = {n_of(n, 'answers')} with coverage by people, of {result.n_responses:,} to "
        f"{n_of(result.n_queries, 'questions')}; {n_of(result.n_units, 'aspects')} in answers",
        picture=picture,
        next=first_that_applies(NEXT, result),
    )


# ---- the paragraph for a paper ----


def methods(result: Icat) -> str:
    kappa = result.agreement.fleiss
    return sentences(
        f"Coverage was judged for {n_of(result.n_responses, 'answers')} to {n_of(result.n_queries, 'questions')} "
        f"({n_of(result.n_units, 'aspects')} in answers).",
        _by_people(result),
        f"Fleiss' kappa is {_written(kappa)} ({result.agreement.form}, n = {kappa.n_pairable:,})."
        if kappa.is_defined
        else "",
        "Factuality is the share of an answer's atomic claims that are supported, and coverage the share of aspects "
        f"that supported claims cover (Samarinas et al. 2025), both by {result.automatic_title}. They are combined as "
        f"(1 + beta^2) F C / (beta^2 F + C) with beta = {result.beta:g}, per answer, and averaged; an undefined figure "
        f"is {result.convention_title}."
        if result.automatic
        else "",
        *(_of_measures(result) if result.measures else ()),
        *(filter(None, map(_of_other, result.sets.others)) if result.sets else ()),
        f"Intervals are {kappa.interval.level:.0%} bootstrap intervals (BCa, expanded) that resample questions; "
        "answers without a figure are left out of it.",
        *_sentences(result),
    )


def _by_people(result: Icat) -> str:
    if result.reference != "majority":
        return f"Whether an aspect is covered was taken from {result.reference_title.lower()}."
    at_least = f" of at least {result.k} labels" if result.k > 1 else ""
    ties = f"{result.ties_title[:1].lower()}{result.ties_title[1:]}"
    return (
        f"An aspect counts as covered where most people say so{at_least}; {ties}. An answer with an aspect that has "
        "too few labels has no coverage."
    )


def _of_other(other: OtherAspects) -> str:
    found = [
        f"by {row.title[:1].lower()}{row.title[1:]} {row.there.written()} there and {row.here.written()} here "
        f"(n = {row.here.n_pairable:,}; Spearman {_spearman(row).written()})"
        for row in other.rows
        if row.here.is_defined
    ]
    return f"Of {other.units_title.lower()} of {other.project}, coverage is {'; '.join(found)}." if found else ""


def _of_measures(result: Icat) -> list[str]:
    tests = [one.test for row in result.measures for one in row.correlations if one.test]
    n_permutations = max((test.n_permutations for test in tests), default=0)
    tested = (
        f", tested by up to {n_of(n_permutations, 'permutations')} of whole questions with Holm's adjustment over "
        f"{n_of(len(result.measures), 'measures')}"
        if n_permutations
        else ""
    )
    compared = (
        "Automatic coverage was compared with people's per answer by Pearson's, Spearman's and Kendall's (tau-b) "
        f"correlations{tested}, and per aspect by precision, recall and F1."
    )
    untouched = "Labels that people gave after a checker's suggestion was shown do not count against it."
    return [compared, *([] if result.touched else [untouched])]


REPORT = Report(
    "icat",
    "Facts and coverage of long answers",
    "analysis.papers.icat.compute",
    (
        REFERENCE,
        LABELS_NEEDED,
        TIED_ASPECT,
        TOUCHED,
        Option(
            "automatic",
            "Factuality and coverage by",
            choices=offered,
            missing="start the checker “Facts and aspects (ICAT)” first",
            group=CHECKER,
        ),
        Option(
            "baselines",
            "Baselines of",
            choices=offered_baselines,
            missing="start the checker “ROUGE, BLEU, METEOR and BERTScore” first",
            group=CHECKER,
        ),
        Option(
            "beta", "beta (above 1 favours coverage)", kind="number", default=1.0, low=0.01, high=100, group=STATISTICS
        ),
        Option("convention", "An undefined figure is", choices=CONVENTIONS, default="undefined", group=STATISTICS),
        Option(
            "other_aspects",
            "Compare with other aspects",
            kind="project",
            choices=projects_beside,
            default="",
            several=True,
            help="the aspects of other projects on the data set, A or A+B",
            missing="no other project on this data set judges aspects in answers",
            group=LABELS,
        ),
    ),
    "How factual answers are, how many aspects of their questions they cover, ICAT's score of both, and which "
    "automatic measures see the coverage that people see.",
    kind=Icat,
    declares=page,
    paragraph=methods,
    refuses=refuses,
    quick=True,
)

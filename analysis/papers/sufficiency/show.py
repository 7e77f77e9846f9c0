"""The page on sufficient context: whether it suffices, who sees that, and what models do with and without it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from analysis.figures.items import Filter
from analysis.figures.page import Answer, Page, Rule, Section, first_that_applies
from analysis.figures.pictures import Axis, IntervalRow, Intervals, Lines, Series
from analysis.figures.results import Figure
from analysis.figures.tables import Column, Table
from analysis.papers.sufficiency.choices import (
    GROUPS,
    OUTCOMES,
    PEOPLE,
    grade_projects,
    judges,
    offered_scores,
    refuses,
)
from analysis.papers.sufficiency.result import AccuracyCurve, Answers, Autorater, Contains, Sufficiency, Sweep
from analysis.reports.common import A_RUN_OR_NONE, BY, REFERENCE, TOUCHED
from analysis.reports.options import LABELS, STATISTICS, Option
from analysis.reports.report import Report
from analysis.reports.words.captions import counted
from analysis.reports.words.numbers import n_of
from analysis.reports.words.sentences import sentences

MOST_LINES = 8
IN_WORDS = {"correct": "correct answers", "abstain": "abstentions", "hallucinate": "hallucinated answers"}
MEASURES = {"f1": "F1", "accuracy": "Accuracy", "precision": "Precision", "recall": "Recall"}
RATED = {"hits": "Both sufficient", "false": "Autorater only", "missed": "People only", "rest": "Neither"}
# The cells that a figure of an autorater is computed from.
RATED_BY = {
    "f1": tuple(RATED),
    "accuracy": tuple(RATED),
    "precision": ("hits", "false"),
    "recall": ("hits", "missed"),
}
CELLS = {
    "both": "Contains and judged correct",
    "contains": "Contains only",
    "judge": "Judged correct only",
    "neither": "Neither",
}
SYSTEM = "Data set / model / setting"


def page(result: Sufficiency) -> Page:
    shares, curve = _share_pictures(result), _curve_picture(result)
    sections = [Section("Does the context suffice?", [_questions(result)])]
    if result.autoraters:
        sections.append(Section("Do autoraters see it?", [_autoraters(result), *_thresholds(result)]))
    if result.systems:
        parts = [_shares(result), *shares, _differences(result), _settings(result)]
        sections.append(Section("How do models answer with and without it?", parts))
    if result.curves:
        parts = [_curves(result), curve, _points(result)]
        sections.append(Section("What is gained by withholding answers?", parts))
    if result.contains:
        sections.append(Section("Do answers contain the ground truth?", [_contains(result)]))
    picture = next(iter(shares), None) or _autorater_picture(result)
    return Page(_answer(result, picture), sections, result.notes)


def _in_context(group: str) -> dict[str, str | tuple[str, ...]]:
    return {} if group == "all" else {"context": GROUPS if group == "decided" else group}


def _of_answers(result: Sufficiency, title: str, which: str, group: str = "all") -> Filter:
    """Questions with such answers of a system."""
    place = next(place for place, row in enumerate(result.systems) if row.title == title)
    return Filter({f"system{place}.{which}": "yes"} | _in_context(group))


def _figures(
    titles: dict[str, str], value: Callable[[object, str], Figure | None], items: Callable[[object, str], Filter | None]
) -> list[Column]:
    """A column for each of these figures of a row, which are of answers, not of the questions that they open."""
    return [
        Column(
            title,
            lambda row, name=name: value(row, name),
            interval=True,
            items=lambda row, name=name: items(row, name),
            counts=None,
        )
        for name, title in titles.items()
    ]


def _questions(result: Sufficiency) -> Table:
    def context(title: str, name: str) -> Column:
        return Column(title, lambda row: getattr(row, f"n_{name}"), items=lambda row: Filter({"context": name}))

    return Table(
        f"Context of the questions, by {result.by_title}",
        [
            Column("Questions", lambda row: row.n_questions, items=lambda row: Filter()),
            *(context(name.capitalize(), name) for name in (*GROUPS, "undecided")),
            Column(
                "Share sufficient",
                lambda row: row.share_sufficient,
                interval=True,
                items=lambda row: Filter({"context": GROUPS}) if row.share_sufficient.n_pairable else None,
            ),
        ],
        [result],
    )


# ---- autoraters ----


def _rated(row: Autorater, cells: tuple[str, ...]) -> Filter | None:
    return Filter({f"rated.{row.run}": cells}) if any(getattr(row.counts, cell) for cell in cells) else None


def _autoraters(result: Sufficiency) -> Table:
    def cell(name: str, title: str) -> Column:
        return Column(title, lambda row: getattr(row.counts, name), items=lambda row: _rated(row, (name,)))

    return Table(
        "Autoraters against people",
        [
            Column("Autorater", lambda row: row.name),
            Column("Questions", lambda row: row.f1.n_pairable, items=lambda row: _rated(row, tuple(RATED))),
            *_figures(MEASURES, getattr, lambda row, name: _rated(row, RATED_BY[name])),
            *(cell(name, title) for name, title in RATED.items()),
        ],
        result.autoraters,
        "F1, precision and recall are of sufficient context.",
    )


def _reached(row: Autorater, sweep: Sweep, least: int) -> Filter:
    """Questions labelled by people whose score reaches so many thresholds."""
    reached = tuple(str(place) for place in range(least, len(sweep.rows) + 1))
    return Filter({f"reached.{row.run}.{sweep.score}": reached})


def _thresholds(result: Sufficiency) -> list[Table]:
    swept = [(row, sweep) for row in result.autoraters for sweep in row.thresholds]
    names = {"roc_auc": "ROC area", "f1": "F1 out of fold", "accuracy": "Accuracy out of fold"}
    who = [Column("Autorater", lambda one: one[0].name), Column("Score", lambda one: one[1].score)]
    summary = [
        *who,
        *_figures(names, lambda one, name: getattr(one[1], name), lambda one, name: _reached(*one, 0)),
        Column("Thresholds", lambda one: ", ".join(f"{chosen:g}" for chosen in one[1].chosen)),
    ]
    at_each = [
        *who,
        Column("Threshold", lambda one: one[2].threshold),
        Column("Taken", lambda one: one[2].n_taken, items=lambda one: _reached(*one[:2], one[3])),
        *(
            Column(MEASURES[name], lambda one, name=name: getattr(one[2], name))
            for name in ("precision", "recall", "f1", "accuracy")
        ),
    ]
    every = [(row, sweep, at, place) for row, sweep in swept for place, at in enumerate(sweep.rows, 1)]
    note = "The threshold of greatest F1 is chosen on four fifths of the questions and applied to the others."
    return [
        Table("Autoraters' scores, with the threshold chosen out of fold", summary, swept, note),
        Table("Autoraters at every threshold", at_each, every, "Of all questions, in sample."),
    ]


def _autorater_picture(result: Sufficiency) -> Intervals | None:
    items = tuple(
        IntervalRow(
            row.name,
            figure.estimate,
            figure.low,
            figure.high,
            n=figure.n_pairable,
            series=MEASURES[name],
            undefined=figure.undefined,
            figure=wanted.encoded if (wanted := _rated(row, RATED_BY[name])) else "",
        )
        for row in {row.name: row for row in result.autoraters}.values()
        for name in ("f1", "accuracy")
        for figure in (getattr(row, name),)
    )
    if all(item.value is None for item in items):
        return None
    said = "; ".join(f"{one.row}, {one.series}: {one.value:.3f}" for one in items if one.value is not None)
    return Intervals(
        name="sufficiency-autoraters",
        title="Autoraters of sufficient context against people",
        caption=(
            f"F1 of sufficient context, and accuracy, on the questions of {result.project} that people labelled too "
            f"({result.reference_title.lower()}), {counted(items, 'questions')}. 95 % bootstrap intervals over "
            "questions."
        ),
        alt=f"F1 and accuracy by autorater. {said}.",
        items=items,
        values=Axis("Value", 0.0, 1.0),
        rows_title="Autorater",
        series_title="Measure",
    )


# ---- models ----


def _shares(result: Sufficiency) -> Table:
    def graded(one: tuple[Answers, str], name: str = "") -> Filter | None:
        row, group = one
        is_any = getattr(row.groups, group).correct.n_pairable
        return _of_answers(result, row.title, "graded", group) if is_any else None

    def share(one: tuple[Answers, str], name: str) -> Figure:
        return getattr(getattr(one[0].groups, one[1]), name)

    def n_of_outcome(name: str) -> Column:
        return Column(
            f"{name}, n",
            lambda one: share(one, name).n,
            items=lambda one: _of_answers(result, one[0].title, name, one[1]) if share(one, name).n else None,
            counts=None,
        )

    return Table(
        f"Answers by sufficiency, graded by {result.judge}",
        [
            Column(SYSTEM, lambda one: one[0].title),
            Column("Context", lambda one: one[1]),
            Column("Answers", lambda one: share(one, "correct").n_pairable, items=graded, counts=None),
            *(n_of_outcome(name) for name in OUTCOMES),
            *_figures({name: name.capitalize() for name in OUTCOMES}, share, graded),
        ],
        [(row, group) for row in result.systems for group in ("all", *GROUPS)],
        "Answers without a grade are left out; those to undecided questions count in “all” alone.",
    )


def _differences(result: Sufficiency) -> Table:
    def both(row: Answers, name: str) -> Filter | None:
        is_any = any(getattr(row.groups, group).correct.n_pairable for group in GROUPS)
        return _of_answers(result, row.title, "graded", "decided") if is_any else None

    return Table(
        "Sufficient minus insufficient context",
        [
            Column(SYSTEM, lambda row: row.title),
            *_figures(
                {name: name.capitalize() for name in OUTCOMES}, lambda row, name: getattr(row.difference, name), both
            ),
        ],
        result.systems,
    )


def _settings(result: Sufficiency) -> Table:
    def either(one: tuple, name: str) -> Filter | None:
        place, row = one
        return Filter({f"setting{place}": "yes"}) if row.difference.correct.n_pairable else None

    return Table(
        "Context settings against each other",
        [
            Column("Data set", lambda one: one[1].dataset),
            Column("Model", lambda one: one[1].model),
            Column("Setting", lambda one: one[1].setting or "-"),
            Column("Minus", lambda one: one[1].start or "-"),
            *_figures(
                {name: name.capitalize() for name in OUTCOMES},
                lambda one, name: getattr(one[1].difference, name),
                either,
            ),
        ],
        list(enumerate(result.settings)),
    )


def _share_pictures(result: Sufficiency) -> list[Intervals]:
    pictures = []
    for outcome in OUTCOMES:
        items = tuple(
            IntervalRow(
                row.title,
                found.estimate,
                found.low,
                found.high,
                n=found.n_pairable,
                series=f"{group} context",
                undefined=found.undefined,
                figure=_of_answers(result, row.title, outcome, group).encoded if found.n else "",
            )
            for row in result.systems
            for group in GROUPS
            for found in (getattr(getattr(row.groups, group), outcome),)
        )
        if all(item.value is None for item in items):
            continue
        said = "; ".join(f"{one.row}, {one.series}: {one.value:.3f}" for one in items if one.value is not None)
        who = f"Answers of {result.grades} to the questions of {result.project}, graded by {result.judge}"
        pictures.append(
            Intervals(
                name=f"sufficiency-{outcome}",
                title=f"Share of {IN_WORDS[outcome]}, by sufficiency of the context",
                caption=(
                    f"{who}, by whether the context suffices according to {result.by_title}, "
                    f"{counted(items, 'answers')}. 95 % bootstrap intervals over questions."
                ),
                alt=f"Share of {IN_WORDS[outcome]} by model and sufficiency. {said}.",
                items=items,
                values=Axis("Share of answers", 0.0, 1.0),
                rows_title="Model",
                series_title="Context",
                style="bars",
            )
        )
    return pictures


# ---- answers that are withheld ----


def _curves(result: Sufficiency) -> Table:
    def answered(row: AccuracyCurve, name: str = "") -> Filter | None:
        return _of_answers(result, row.title, "answered") if row.area.n_pairable else None

    return Table(
        f"Withholding answers by {result.score_title}",
        [
            Column(SYSTEM, lambda row: row.title),
            Column("Answers", lambda row: row.area.n_pairable, items=answered, counts=None),
            Column(
                "Abstained",
                lambda row: row.n_abstained,
                items=lambda row: _of_answers(result, row.title, "abstained") if row.n_abstained else None,
                counts=None,
            ),
            *_figures({"area": "Area", "overall": "Accuracy of all answers", "gain": "Gain"}, getattr, answered),
            Column("Best possible area", lambda row: row.best),
            Column("Greatest coverage", lambda row: row.most),
        ],
        result.curves,
        "The area is the mean accuracy over all coverages that are reached; the gain is what it has more than the "
        "accuracy of all answers, which withholding at random would give.",
    )


def _points(result: Sufficiency) -> Table:
    def accuracy(one: tuple) -> Figure:
        return Figure(estimate=one[1].accuracy, undefined="", low=one[1].low, high=one[1].high)

    return Table(
        f"Accuracy at coverages, by {result.score_title}",
        [
            Column(SYSTEM, lambda one: one[0].title),
            Column("Coverage", lambda one: one[1].coverage),
            Column("Accuracy", accuracy, interval=True),
        ],
        [(row, point) for row in result.curves for point in row.points if point.accuracy is not None],
    )


def _curve_picture(result: Sufficiency) -> Lines | None:
    drawn = [row for row in result.curves if row.line][:MOST_LINES]
    # With a single system "all" is the same line again.
    drawn = drawn[1:] if len(drawn) == 2 else drawn
    if not drawn:
        return None
    n = "; ".join(f"{row.title} {row.overall.n_pairable:,}" for row in drawn)
    said = "; ".join(
        f"{row.title}: {row.overall.estimate:.3f} of all answers, {row.area.estimate:.3f} on average" for row in drawn
    )
    return Lines(
        name="sufficiency-accuracy-coverage",
        title="Accuracy of the answers that are given, by how many are given",
        caption=(
            f"Answers of {result.grades} to the questions of {result.project}, graded by {result.judge} (n: {n}), "
            f"given where {result.score_title} is at least a threshold. Coverage is of all questions; models that "
            "abstain do not reach 1."
        ),
        alt=f"Accuracy against coverage. {said}.",
        series=tuple(Series(row.title, tuple(row.line)) for row in drawn),
        x=Axis("Coverage", 0.0, 1.0),
        y=Axis("Accuracy of answers given", 0.0, 1.0),
        series_title="Model",
    )


# ---- answers and ground truth ----


def _contains(result: Sufficiency) -> Table:
    def such(row: Contains, which: str, n: int) -> Filter | None:
        return _of_answers(result, row.title, which, row.group) if n else None

    def compared(row: Contains, name: str = "") -> Filter | None:
        which = {"contains": "containing", "judged": "right"}.get(name, "compared")
        other = {"contains": row.counts.contains, "judged": row.counts.judge}.get(name, row.n)
        return such(row, which, row.counts.both + other if name in ("contains", "judged") else row.n)

    def cell(name: str, title: str) -> Column:
        return Column(
            title,
            lambda row: getattr(row.counts, name),
            items=lambda row: such(row, name, getattr(row.counts, name)),
            counts=None,
        )

    names = {
        "contains": "Contain an answer",
        "judged": "Judged correct",
        "agreement": "Agreement",
        "kappa": "Cohen's kappa",
    }
    return Table(
        f"Contains-answer against {result.judge}",
        [
            Column(SYSTEM, lambda row: row.title),
            Column("Context", lambda row: row.group),
            Column("Answers", lambda row: row.n, items=compared, counts=None),
            *_figures(names, getattr, compared),
            *(cell(name, title) for name, title in CELLS.items()),
            Column(
                "Without ground truth",
                lambda row: row.n_without_answers,
                items=lambda row: such(row, "without", row.n_without_answers),
                counts=None,
            ),
        ],
        result.contains,
        "An answer contains a ground truth if its words stand there in a row, whatever their case and punctuation.",
    )


# ---- what the page begins with ----


def _best(result: Sufficiency) -> Autorater | None:
    known = [row for row in result.autoraters if row.f1.is_defined]
    return max(known, key=lambda row: row.f1.estimate, default=None)


def _is_shown(figure: Figure) -> bool:
    return figure.low is not None and (figure.low > 0 or figure.high < 0)


def _by_context(result: Sufficiency) -> str:
    groups = result.systems[0].groups
    correct, hallucinated = (
        " and ".join(getattr(getattr(groups, group), one).written() for group in GROUPS)
        for one in ("correct", "hallucinate")
    )
    return (
        f"With sufficient and with insufficient context the shares of correct answers are {correct}, those of "
        f"hallucinated ones {hallucinated}"
    )


CONTEXT_RULES = (
    Rule(
        "nothing decided",
        lambda result: not result.share_sufficient.is_defined,
        lambda result: f"Whether the context suffices is not known: no question is decided by {result.by_title}.",
    ),
    Rule(
        "decided",
        lambda result: True,
        lambda result: (
            f"According to {result.by_title}, the context suffices for a share of {result.share_sufficient.written()} "
            "of the decided questions (95 % interval)."
        ),
    ),
)
AUTORATER_RULES = (
    Rule("nothing to compare", lambda result: _best(result) is None, lambda result: ""),
    Rule(
        "one autorater",
        lambda result: len(result.autoraters) == 1,
        lambda result: (
            f"The autorater {_best(result).name} has an F1 of {_best(result).f1.written()} for sufficient context, "
            "against people."
        ),
    ),
    Rule(
        "several autoraters",
        lambda result: True,
        lambda result: (
            f"Of {n_of(len(result.autoraters), 'autoraters')}, the one that agrees best with people is "
            f"{_best(result).name}, with an F1 of {_best(result).f1.written()} for sufficient context."
        ),
    ),
)
MODEL_RULES = (
    Rule("no answers", lambda result: not result.systems, lambda result: ""),
    Rule(
        "nothing graded",
        lambda result: not result.systems[0].groups.all.correct.is_defined,
        lambda result: f"No answer is graded by {result.judge} yet.",
    ),
    Rule(
        "one context",
        lambda result: not result.systems[0].difference.correct.is_defined,
        lambda result: (
            f"The share of correct answers is {result.systems[0].groups.all.correct.written()}; answers with "
            "sufficient and with insufficient context cannot be compared, since there are not both."
        ),
    ),
    Rule(
        "without interval",
        lambda result: result.systems[0].difference.correct.low is None,
        lambda result: f"{_by_context(result)}.",
    ),
    Rule(
        "difference",
        lambda result: _is_shown(result.systems[0].difference.correct),
        lambda result: (
            f"{_by_context(result)}: a difference of {result.systems[0].difference.correct.written()} in correct ones."
        ),
    ),
    Rule(
        "no difference",
        lambda result: True,
        lambda result: (
            f"{_by_context(result)}; a difference in correct ones is not shown "
            f"({result.systems[0].difference.correct.written()})."
        ),
    ),
)
CURVE_RULES = (
    Rule(
        "no curve",
        lambda result: not result.curves or not result.curves[0].gain.is_defined,
        lambda result: "",
    ),
    Rule(
        "gain",
        lambda result: _is_shown(result.curves[0].gain) and result.curves[0].gain.estimate > 0,
        lambda result: (
            f"Withholding answers by {result.score_title} gains {result.curves[0].gain.written()} in mean accuracy."
        ),
    ),
    Rule(
        "loss",
        lambda result: _is_shown(result.curves[0].gain),
        lambda result: (
            f"Withholding answers by {result.score_title} is worse than at random, by "
            f"{result.curves[0].gain.written()} in mean accuracy."
        ),
    ),
    Rule(
        "nothing shown",
        lambda result: True,
        lambda result: (
            f"That withholding answers by {result.score_title} gains accuracy is not shown "
            f"({result.curves[0].gain.written()})."
        ),
    ),
)
NEXT = (
    Rule(
        "nothing decided",
        lambda result: not result.share_sufficient.is_defined,
        lambda result: "label whether the context suffices, or choose a run and split by its labels",
    ),
    Rule(
        "no autorater",
        lambda result: not result.autoraters,
        lambda result: "run a checker on this project as autorater",
    ),
    Rule(
        "no answers",
        lambda result: not result.systems,
        lambda result: "choose the project that grades the answers to these questions, or make one",
    ),
    Rule(
        "nothing graded",
        lambda result: not result.systems[0].groups.all.correct.is_defined,
        lambda result: f"grade answers in {result.grades}, or run a checker there and choose it as the judge",
    ),
    Rule(
        "no curve",
        lambda result: not result.curves,
        lambda result: "run a checker that gives a score to withhold answers by",
    ),
)


def _sentences(result: Sufficiency) -> Iterator[str]:
    for rules in (CONTEXT_RULES, AUTORATER_RULES, MODEL_RULES, CURVE_RULES):
        if said := first_that_applies(rules, result):
            yield said


def _answer(result: Sufficiency, picture: Intervals | None) -> Answer:
    n = (
        f"n = {n_of(result.n_questions, 'questions')}: {result.n_sufficient:,} with sufficient context, "
        f"{result.n_insufficient:,} with insufficient context, {result.n_undecided:,} undecided"
    )
    if result.systems:
        n += f"; {n_of(result.systems[0].groups.all.correct.n_pairable, 'answers')} graded by {result.judge}"
    return Answer(tuple(_sentences(result)), f"{n}.", picture, first_that_applies(NEXT, result))


# ---- the paragraph for a paper ----


def methods(result: Sufficiency) -> str:
    by = f"the {result.reference_title.lower()}" if result.by == PEOPLE else result.checker
    is_untouched = result.autoraters and not result.touched
    return sentences(
        f"Whether the context of a question suffices was taken from {by}; undecided questions were left out.",
        "Intervals are 95 % bootstrap intervals that draw questions; those of shares of questions or answers that are "
        "0 or 1 are exact ones (Clopper and Pearson).",
        "Autoraters were compared with people by F1 (of sufficient) and accuracy; thresholds on scores were chosen "
        "for F1 in five folds and judged on the questions left out."
        if result.autoraters
        else "",
        "Labels given after an autorater's suggestion was shown did not count for it." if is_untouched else "",
        f"Answers were graded by {result.judge}: perfect and acceptable ones are correct, incorrect ones "
        "hallucinated, missing ones abstentions."
        if result.systems
        else "",
        "Contains-answer holds where the words of any ground truth stand in the answer in a row, in lower case and "
        "without punctuation; it was compared with the grade by agreement and Cohen's kappa."
        if result.contains
        else "",
        f"Accuracy against coverage withholds answers by {result.score_title}; an answer that abstains is never "
        "given, equal scores are given together, and the area is the mean accuracy over the coverage reached."
        if result.curves
        else "",
        *_sentences(result),
    )


REPORT = Report(
    "sufficiency",
    "Sufficient context",
    "analysis.papers.sufficiency.compute",
    (
        REFERENCE,
        A_RUN_OR_NONE,
        TOUCHED,
        BY,
        Option(
            "grades",
            "Answers graded in",
            kind="project",
            choices=grade_projects,
            default="",
            missing="no project on this data set grades answers; make one first",
            group=LABELS,
        ),
        Option(
            "judge", "Graded by", choices=judges, default=PEOPLE, help="people, or UUID of a run there", group=LABELS
        ),
        Option("withhold", "Withhold answers by", choices=offered_scores, default="", group=STATISTICS),
    ),
    "Autoraters of context against people, and how models answer with and without enough context.",
    kind=Sufficiency,
    declares=page,
    said=methods,
    refuses=refuses,
    quick=True,
)

"""The report on versions of a prompt side by side."""

from __future__ import annotations

from msgspec.structs import replace

from analysis.figures.items import Filter
from analysis.figures.page import Page, Part, Rule, Section, Text, first_that_applies, page_of_each
from analysis.figures.pictures import Axis, IntervalRow, Intervals, picture_name
from analysis.figures.results import Figure, Record, ReportedQuestion, Result
from analysis.figures.tables import Column, Table
from analysis.reports.checkers.alternative_annotator.report import EPSILON, MAY, MIN_UNITS
from analysis.reports.common import TOUCHED
from analysis.reports.options import STATISTICS, Option
from analysis.reports.report import Report
from analysis.reports.words.captions import lines_are
from analysis.reports.words.numbers import either, n_of
from analysis.reports.words.sentences import intervals_in, listed, sentences
from analysis.sources.outline import Outline
from annotation.machines.runs.workers import CALIBRATION

# ---- rows ----


class TriedVersion(Record):
    """One run of a version on one part: agreement with people, and the alternative annotator test."""

    run: str
    version: int
    part: str
    model: str
    reasoning: str
    n_suggestions: int
    n_failed: int
    n_touched: int
    agreement: Figure
    kappa: Figure
    passes: bool | None
    why_untested: str
    winning_rate: Figure
    advantage: Figure
    n_people: int


class CalibratedQuestion(ReportedQuestion):
    versions: list[TriedVersion]


class PromptCalibration(Result):
    epsilon: float
    min_units: int
    touched: bool
    n_units: int
    n_tested: int  # versions that were run on the held-out part
    dimensions: list[CalibratedQuestion]


# ---- the page ----

NO_RUN = "no version of a prompt has been run yet: run one on the page of prompts"
PARTS = {"test": "held out", "tune": "tuned on"}
IS_EQUAL = {"equal": "as the majority of people", "other": "otherwise than the majority of people"}
READING = (
    "Agreement is with the majority of people over the units of the part that they labelled; ties are left out. No "
    "claim or question is in both parts. Only figures on the held-out part say how well a version does: on the other "
    "part it was chosen to do well. Picking the best of many versions by the held-out part tunes on that part too. "
    "The alternative annotator test (Calderon, Reichart and Dror 2025) asks whether it may stand in for a person."
)


def page(result: PromptCalibration) -> Page:
    return page_of_each(
        result.dimensions,
        rules=RULES,
        draw=lambda one: _picture(result, one),
        sections=lambda one, picture: [Section(one.title, _parts(one, picture))],
        n="; ".join(
            f"{one.title}: n = {n_of(max(row.agreement.n_pairable for row in one.versions), 'units')} with labels "
            "of people and a run"
            for one in result.dimensions
        ),
    )


def _counted(one: CalibratedQuestion, row: TriedVersion) -> Filter:
    return Filter({f"{one.dimension}.{row.run}": ("equal", "other")})


WHICH = [
    Column("Prompt", lambda row: f"version {row.version}"),
    Column("Part", lambda row: PARTS[row.part]),
    Column("Model", lambda row: f"{row.model}{f', {row.reasoning}' if row.reasoning else ''}"),
]


def _parts(one: CalibratedQuestion, picture: Intervals | None) -> list[Part | None]:
    return [
        Table(
            f"{one.title}: agreement of each version with people",
            [
                *WHICH,
                Column("Agreement", lambda row: row.agreement, interval=True),
                Column("Cohen's kappa", lambda row: row.kappa, interval=True),
                Column("Units", "agreement.n_pairable", items=lambda row: _counted(one, row)),
                Column("Without an answer", "n_failed", items=lambda row: Filter({f"failed.{row.run}": "yes"})),
            ],
            one.versions,
        ),
        picture,
        Table(
            f"{one.title}: alternative annotator test of each version",
            [
                *WHICH,
                Column("May stand in", lambda row: MAY[row.passes]),
                Column("Winning rate", lambda row: _defined(row, row.winning_rate), interval=True),
                Column("Advantage probability", lambda row: _defined(row, row.advantage), interval=True),
                Column("People", "n_people"),
            ],
            one.versions,
        ),
        Text(READING),
    ]


def _defined(row: TriedVersion, figure: Figure) -> Figure:
    return replace(figure, undefined=row.why_untested)


def _picture(result: PromptCalibration, one: CalibratedQuestion) -> Intervals | None:
    rows = [row for row in one.versions if row.agreement.estimate is not None]
    if not rows:
        return None
    n = "; ".join(f"{_name(row)}: {n_of(row.agreement.n_pairable, 'units')}" for row in rows)
    return Intervals(
        name=picture_name("calibration", one.dimension),
        title=f"{one.title}: agreement of each version with people",
        caption=(
            f"{result.project}: share of units on which a version of the prompt gives the label of the majority of "
            f"people, on the part that it was tuned on and on the part held out ({n})."
            f"{lines_are(row.agreement for row in rows)}"
        ),
        alt="; ".join(f"{_name(row)}: {row.agreement.written(2)}" for row in rows) + ".",
        items=tuple(
            IntervalRow.of_figure(
                f"version {row.version}, {row.model}",
                row.agreement,
                _counted(one, row),
                series=PARTS[row.part],
                n=row.agreement.n_pairable,
            )
            for row in rows
        ),
        values=Axis("Agreement", 0, 1),
        rows_title="Prompt",
        series_title="Part",
    )


def _name(row: TriedVersion) -> str:
    return f"version {row.version} ({row.model}, {PARTS[row.part]})"


def _of(one: CalibratedQuestion, part: str) -> list[TriedVersion]:
    return [row for row in one.versions if row.part == part and row.agreement.estimate is not None]


def _best(rows: list[TriedVersion]) -> TriedVersion:
    return max(rows, key=lambda row: row.agreement.estimate)


def _on_held_out(one: CalibratedQuestion) -> str:
    rows = _of(one, "test")
    best = _best(rows)
    of_several = f", the best of {len(rows)} runs there," if len(rows) > 1 else ""
    return (
        f"{one.title}: on claims or questions held out, version {best.version} of the prompt{of_several} agrees with "
        f"the majority of people on {best.agreement.written()} of {n_of(best.agreement.n_pairable, 'units')}."
    )


def _on_tuned(one: CalibratedQuestion) -> str:
    best = _best(_of(one, "tune"))
    return (
        f"{one.title}: version {best.version} of the prompt agrees best with people on the part that it was tuned on "
        f"({best.agreement.written()}); it has not been run on the part held out."
    )


RULES = (
    Rule("held out", lambda one: bool(_of(one, "test")), _on_held_out),
    Rule("tuned only", lambda one: bool(_of(one, "tune")), _on_tuned),
    Rule("undefined", lambda one: True, lambda one: f"{one.title}: no unit has a label of people and of a run."),
)


def methods(result: PromptCalibration) -> str:
    models = sorted({row.model for one in result.dimensions for row in one.versions if row.model})
    return sentences(
        f"Prompts for {listed(models) or 'a language model'} were written on one part of the claims or questions and "
        f"tested on another that they share nothing with; {n_of(result.n_tested, 'versions')} "
        f"{either(result.n_tested, 'was', 'were')} tested.",
        "Agreement is the share of units on which the model gives the label of the majority of people"
        + ("." if result.touched else ", over labels that its suggestion had not touched."),
        "The alternative annotator test (Calderon, Reichart and Dror 2025) was computed for each version with "
        f"epsilon = {result.epsilon:g}, over people with at least {result.min_units} units.",
        intervals_in(result),
        *(first_that_applies(RULES, one) for one in result.dimensions),
    )


def resolve_options(source: Outline, values: dict) -> dict:
    """Without a run of a version ValueError."""
    if not any(CALIBRATION in run.provenance for run in source.runs()):
        raise ValueError(NO_RUN)
    return values


REPORT = Report(
    "calibration",
    "Which version of a prompt agrees with people?",
    "analysis.reports.checkers.calibration.compute",
    (
        Option(
            "epsilon",
            "Discount (epsilon)",
            kind="number",
            default=EPSILON,
            low=0,
            high=1,
            help="of the alternative annotator test: 0.1 where it stands in for crowd workers, 0.15 for skilled "
            "annotators, 0.2 for experts",
            group=STATISTICS,
        ),
        Option("min_units", "Fewest units per person", kind="count", default=MIN_UNITS, low=2, group=STATISTICS),
        TOUCHED,
    ),
    "Versions of a prompt side by side: agreement with the majority of people on the part that they were tuned on and "
    "on the part held out, with the alternative annotator test of each.",
    tab="project_comparison",
    kind=PromptCalibration,
    needs_raters="labels by at least two raters",
    declares=page,
    paragraph=methods,
    needs_run=True,
    resolve_options=resolve_options,
)

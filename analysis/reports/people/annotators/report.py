"""The report on annotators: whom to trust how far."""

from __future__ import annotations

from dataclasses import replace

from analysis.figures.page import Page, Rule, Section, Text, first_sentence, first_that_applies, page_of_each
from analysis.figures.pictures import Intervals
from analysis.figures.results import Record, Result
from analysis.reports.common import TOUCHED
from analysis.reports.labels.derived import DERIVED_NOTE
from analysis.reports.labels.raters import public_name
from analysis.reports.options import LABELS, STATISTICS, Option
from analysis.reports.people.annotators import checks, competences, known_answers, work_over_time
from analysis.reports.people.annotators.checks import ANY, PASSED, Checks
from analysis.reports.people.annotators.competences import MIN_SHARED, RatedLabels, RaterCompetence
from analysis.reports.people.annotators.known_answers import Attention
from analysis.reports.people.annotators.work_over_time import Speed, WorkDrift
from analysis.reports.report import Report
from analysis.reports.words.numbers import either, n_of
from analysis.reports.words.sentences import checker_name, clusters_of, defined_clusters, listed, sentences

CHECKERS = {"without": "People only", "with": "People, and the newest run of each checker"}
UNITS = {"uncertain": "the most uncertain", "all": "all"}
MOST_NAMED = 5


class RunAsRater(Record):
    uuid: str
    checker: str
    version: str


class RatedQuestion(RatedLabels):
    speed: Speed
    drift: WorkDrift
    attention: list[Attention]


class Annotators(Result):
    checkers: str
    runs: list[RunAsRater]
    units: str
    touched: bool
    min_shared: int
    certain: float
    n_units: int
    n_labels_touched: int
    passed: str = ANY
    checks: Checks | None = None
    dimensions: list[RatedQuestion]


def page(result: Annotators) -> Page:
    made = page_of_each(
        result.dimensions,
        rules=RULES,
        draw=lambda question: competences.picture(result.project, question),
        sections=_sections,
        n="; ".join(
            f"{question.title}: n = {n_of(question.n_units_shared, 'units')} with two labels or more, by "
            f"{n_of(question.n_raters, 'raters')}"
            for question in result.dimensions
        ),
        next_step=first_sentence(NEXT, result.dimensions),
        notes=[_with_runs(result)] if result.runs else [],
    )
    if result.checks is None:
        return made
    return replace(made, sections=[*made.sections, Section("Checks", checks.parts(result.checks))])


def _sections(question: RatedQuestion, picture: Intervals | None) -> list[Section]:
    title = question.title
    head = [competences.counted(question), Text(DERIVED_NOTE) if question.derived_from else None]
    if question.undefined:
        sections = [Section(title, [*head, Text(f"Undefined: {question.undefined}.")])]
    else:
        sections = [
            Section(title, [*head, competences.raters(question), picture]),
            Section(f"{title}: share of each true label", competences.models(question)),
            Section(f"{title}: confusion tables", competences.confusions(question)),
            Section(f"{title}: the most uncertain units", competences.units(question)),
        ]
    return [
        *sections,
        Section(f"{title}: speed", work_over_time.speed_parts(title, question.speed)),
        Section(f"{title}: over time", work_over_time.drift_parts(title, question.drift)),
        Section(f"{title}: known answers", known_answers.parts(question, question.attention)),
    ]


def _with_runs(result: Annotators) -> str:
    counts = (
        "The latest label of each person counts, even if it was given after a suggestion was seen."
        if result.touched
        else "Only labels given before any of their suggestions was seen count."
    )
    n = result.n_labels_touched
    left = (
        f"{n_of(n, 'labels')} given or changed after one of their suggestions was seen {either(n, 'is', 'are')} left "
        "out."
        if n
        else ""
    )
    return sentences(f"With {listed([checker_name(run) for run in result.runs])} as raters.", counts, left)


# ---- what the page begins with ----


def _known(question: RatedQuestion) -> list[RaterCompetence]:
    """Who has a competence, the lowest first."""
    known = [row for row in question.raters if row.dawid_skene.is_defined]
    return sorted(known, key=lambda row: (row.dawid_skene.estimate, row.id))


def _low(question: RatedQuestion) -> list[RaterCompetence]:
    """Who is below the median annotator, by intervals that are adjusted for the number of annotators: of many who are
    alike, the interval of one or another always lies apart from the rest."""
    known = _known(question)
    middle = known[len(known) // 2].dawid_skene.estimate
    return [
        row for row in known if row.dawid_skene.estimate < middle and row.dawid_skene.is_apart_from(middle, len(known))
    ]


def _range(question: RatedQuestion) -> str:
    known = _known(question)
    first, last = known[0], known[-1]
    name = question.title
    if len(known) == 1:
        return f"{name}: the estimated accuracy of {public_name(first)} is {first.dawid_skene.written()} (Dawid-Skene)."
    return (
        f"{name}: the estimated accuracy of {n_of(len(known), 'annotators')} (Dawid-Skene, 95 % intervals) runs from "
        f"{first.dawid_skene.written()} ({public_name(first)}) to {last.dawid_skene.written()} ({public_name(last)})."
    )


def _with_low(question: RatedQuestion) -> str:
    low = _low(question)
    more = [f"{len(low) - MOST_NAMED} more"] if len(low) > MOST_NAMED else []
    names = listed([*map(public_name, low[:MOST_NAMED]), *more])
    adjusted = f"by intervals adjusted for {n_of(len(_known(question)), 'annotators')}"
    return f"{_range(question)} {names} {either(len(low), 'is', 'are')} below the median annotator ({adjusted})."


RULES = (
    Rule(
        "undefined",
        lambda one: bool(one.undefined),
        lambda one: f"{one.title}: the accuracy of annotators cannot be estimated: {one.undefined}.",
    ),
    Rule(
        "nobody shares enough",
        lambda one: not _known(one),
        lambda one: (
            f"{one.title}: nobody's accuracy is estimated, since nobody shares {MIN_SHARED} units or more with others."
        ),
    ),
    Rule(
        "two",
        lambda one: one.n_raters == 2,
        lambda one: f"{_range(one)} With two annotators the model cannot tell who is wrong in a disagreement.",
    ),
    Rule("without intervals", lambda one: all(row.dawid_skene.low is None for row in _known(one)), _range),
    Rule("some are low", lambda one: bool(_low(one)), _with_low),
    Rule(
        "alike",
        lambda one: True,
        lambda one: f"{_range(one)} No annotator is shown to be below the median.",
    ),
)

NEXT = (
    Rule(
        "undefined",
        lambda one: bool(one.undefined) or not _known(one),
        lambda one: f"have people label the same units: {MIN_SHARED} or more shared ones each",
    ),
    Rule(
        "some are low",
        lambda one: one.n_raters > 2 and bool(_low(one)),
        lambda one: (
            f"read the units on which {public_name(_low(one)[0])} disagrees with the majority on {one.title.lower()}"
        ),
    ),
    Rule(
        "open units",
        lambda one: one.posterior is not None and one.posterior.n_uncertain > 0,
        lambda one: (
            f"adjudicate the {n_of(one.posterior.n_uncertain, 'units')} whose {one.title.lower()} stays uncertain by "
            "Dawid-Skene"
        ),
    ),
)


# ---- the paragraph for a paper ----


def methods(result: Annotators) -> str:
    with_runs = [checker_name(run) for run in result.runs]
    touched = (
        ", labels given after a suggestion of theirs was seen counting too"
        if result.touched
        else f" ({n_of(result.n_labels_touched, 'labels')} that saw a suggestion of theirs "
        f"{either(result.n_labels_touched, 'was', 'were')} left out)"
    )
    models = [model for question in result.dimensions for model in question.models]
    resamples = sorted({model.n_resamples for model in models})
    more = (
        "Speed is active time per answer, in quarters of each person's own answers."
        if any(not question.speed.undefined for question in result.dimensions)
        else "",
        work_over_time.methods([question.drift for question in result.dimensions], clusters_of(result)),
        checks.methods(result.checks, result.passed != ANY),
        known_answers.methods([one for question in result.dimensions for one in question.attention]),
    )
    if not models:
        reasons = listed(list(dict.fromkeys(question.undefined for question in result.dimensions)))
        why = f" ({reasons})" if reasons else ""
        defined = defined_clusters(result) if more[1] else ""
        return sentences(f"Competence of annotators could not be estimated{why}.", *more, defined)
    return sentences(
        f"Competence of annotators was estimated without a gold standard on {n_of(result.n_units, 'units')}"
        + (f", with {listed(with_runs)} as raters{touched}." if with_runs else ", from labels of people alone."),
        "Dawid and Skene's model (1979) gives everybody a confusion table and every unit a posterior, by expectation "
        "maximisation from the shares of votes; competence is the chance of a right label over the estimated "
        "prevalence. MACE (Hovy et al. 2013) estimates the chance that a rater knows rather than guesses.",
        f"An annotator who shares fewer than {result.min_shared} units with others has no estimate.",
        "The models also estimate the share of each true label.",
        f"Intervals of all these (95 %) refit both models to {listed([f'{n:,}' for n in resamples], 'or')} bootstrap "
        f"resamples of whole {clusters_of(result)[1]}.",
        "The plain share of other people's labels that are equal is given as well.",
        *more,
        defined_clusters(result),
        *(first_that_applies(RULES, question) for question in result.dimensions),
    )


REPORT = Report(
    "annotators",
    "Annotators",
    "analysis.reports.people.annotators.compute",
    (
        Option("checkers", "Labels of", choices=CHECKERS, default="without", group=LABELS),
        # A page cannot list all units; the command does.
        Option("units", "Units listed", choices=UNITS, default="uncertain", on_pages=False, group=STATISTICS),
        replace(TOUCHED, title="Labels that these checkers touched"),
        Option(
            "passed",
            "Labels that count",
            choices=PASSED,
            default=ANY,
            group=LABELS,
            hides=lambda source: not source.has_checks(),
        ),
    ),
    "How reliably each annotator labels, estimated without gold labels. Dawid-Skene's competence is the chance that "
    "someone labels a unit right; MACE's is the chance that someone does not guess. Both follow the majority where "
    "most people are wrong, and with two annotators they cannot tell who is wrong in a disagreement.",
    own_page="project_annotators",
    kind=Annotators,
    needs_raters="labels by at least two raters",
    declares=page,
    paragraph=methods,
    quick=True,
)

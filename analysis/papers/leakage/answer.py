"""What the page on leakage begins with: a sentence of each table of rules, and what to do next."""

from __future__ import annotations

from analysis.figures.page import Answer, Rule, all_that_apply, first_that_applies
from analysis.figures.pictures import Intervals
from analysis.figures.results import Figure
from analysis.papers.leakage.result import Generator, Leakage
from analysis.papers.leakage.tables import Measured, measure_title, measured_families
from analysis.reports.words.differences import difference_rules
from analysis.reports.words.numbers import n_of

ALPHA = 0.05


def _most_matched(result: Leakage) -> Generator | None:
    known = [row for row in result.generators if row.sides[result.by].share.is_defined]
    return max(known, key=lambda row: row.sides[result.by].share.estimate, default=None)


def _greatest_share(result: Leakage) -> Figure:
    return _most_matched(result).sides[result.by].share


def _most_different(result: Leakage) -> Measured | None:
    """Of the first measure, the retrieval in which matched and unmatched claims differ most."""
    rows = measured_families(result, next(iter(result.measures))) if result.measures else []
    known = [row for row in rows if row[2].difference.is_defined]
    return max(known, key=lambda row: abs(row[2].difference.estimate), default=None)


def _difference(result: Leakage) -> Figure:
    return _most_different(result)[2].difference


def _by_group(result: Leakage) -> str:
    _, family, measured = _most_different(result)
    title = measure_title(result, next(iter(result.measures)))
    matched, unmatched = measured.groups.matched.written(), measured.groups.unmatched.written()
    return f"{title} of {family.title} is {matched} for matched and {unmatched} for unmatched claims"


def _is_shown(result: Leakage) -> bool:
    """By the test of the difference, adjusted since it is the greatest of several; where there is no
    test, by the interval, adjusted likewise."""
    test, difference = _most_different(result)[2].test, _difference(result)
    if test.p_holm is not None:
        return test.p_holm <= ALPHA
    return difference.is_apart_from(0, len(measured_families(result, next(iter(result.measures)))))


MATCHED_RULES = (
    Rule(
        "nothing decided",
        lambda result: _most_matched(result) is None,
        lambda result: f"Whether generations contain gold evidence is not known: none is decided by {result.by_title}.",
    ),
    Rule(
        "one generator",
        lambda result: len(result.generators) == 1,
        lambda result: (
            f"According to {result.by_title}, a share of {_greatest_share(result).written()} of the generations "
            f"contains gold evidence{_greatest_share(result).level_noted}."
        ),
    ),
    Rule(
        "several generators",
        lambda result: True,
        lambda result: (
            f"According to {result.by_title}, gold evidence is most common in the generations of "
            f"{_most_matched(result).title}, with a share of {_greatest_share(result).written()}"
            f"{_greatest_share(result).level_noted}."
        ),
    ),
)
AGREEMENT_RULES = (
    Rule(
        "nothing to compare",
        lambda result: not result.comparisons or not result.comparisons[0].f1.is_defined,
        lambda result: "",
    ),
    Rule(
        "compared",
        lambda result: True,
        lambda result: (
            f"Against {result.comparisons[0].people}, {result.comparisons[0].checker} has an F1 of "
            f"{result.comparisons[0].f1.written()} for matched {result.comparisons[0].level}."
        ),
    ),
)
RETRIEVAL_RULES = (
    Rule("no retrieval", lambda result: not result.families, lambda result: ""),
    Rule(
        "one group",
        lambda result: _most_different(result) is None,
        lambda result: (
            "Whether retrieval is better where evidence leaks is not known: it takes both matched and unmatched claims."
        ),
    ),
    *difference_rules(_difference, _by_group, is_shown=_is_shown),
)
NEXT = (
    Rule(
        "nothing decided",
        lambda result: _most_matched(result) is None,
        lambda result: f"label {result.unit}, or choose a run and split by its labels",
    ),
    Rule("no checker", lambda result: not result.run, lambda result: "run a checker, and choose its run"),
    Rule(
        "no retrieval",
        lambda result: not result.families,
        lambda result: "run a retrieval for the claims, with query expansion and without",
    ),
    Rule(
        "no verdicts",
        lambda result: not result.verdict_run,
        lambda result: "choose a project in which a checker gave verdicts on what the retrievals found",
    ),
)


def answer_sentences(result: Leakage) -> tuple[str, ...]:
    return all_that_apply((MATCHED_RULES, AGREEMENT_RULES, RETRIEVAL_RULES), result)


def answer(result: Leakage, picture: Intervals | None) -> Answer:
    n = (
        f"{n_of(sum(row.n_documents for row in result.generators), 'documents')} of "
        f"{n_of(len(result.generators), 'generators')}; {n_of(len(result.families), 'retrievals')}."
    )
    pairs = f"{n_of(result.n_units, result.unit)} in " if result.unit == "pairs" else ""
    return Answer(answer_sentences(result), f"n = {pairs}{n}", picture, first_that_applies(NEXT, result))

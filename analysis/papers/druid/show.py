"""The page on DRUID's analyses."""

from __future__ import annotations

from analysis.figures.page import Answer, Page, Rule, Section, all_that_apply, first_that_applies
from analysis.figures.results import Figure
from analysis.papers.druid.offered import EVERY, NEWEST, offered_answers, offered_features, projects_beside, refuses
from analysis.papers.druid.pictures import (
    against_all_picture,
    compared_pictures,
    correlations_picture,
    shares_picture,
    usage_picture,
)
from analysis.papers.druid.result import (
    ACU,
    BARS,
    CONVENTIONS,
    CORRECTIONS,
    NO_ANSWERS,
    NO_FEATURES,
    TESTS,
    Druid,
    ModelUsage,
    PairMean,
)
from analysis.papers.druid.tables import (
    characteristics_tables,
    compared_tables,
    conflicts_table,
    correlations_tables,
    labels_tables,
    shifts_tables,
    sources_table,
    usage_tables,
    verdicts_table,
)
from analysis.papers.druid.words import methods_of
from analysis.reports.common import REFERENCE
from analysis.reports.options import CHECKER, LABELS, STATISTICS, Option
from analysis.reports.report import Report
from analysis.reports.words.numbers import n_of
from analysis.reports.words.sentences import listed, sentences


def page(result: Druid) -> Page:
    usage = usage_picture(result)
    correlations = [
        part
        for place in range(len(result.correlations))
        for part in (correlations_picture(result, place), *correlations_tables(result, place))
    ]
    sections = [
        ("Claims and evidence", [sources_table(result), verdicts_table(result)]),
        ("Conflicting evidence", [conflicts_table(result)]),
        ("Labels", [table for one in result.content.dimensions for table in labels_tables(result, one)]),
        (
            "Characteristics of evidence",
            [
                shares_picture(result),
                against_all_picture(result, "stance"),
                against_all_picture(result, "source"),
                *characteristics_tables(result),
            ],
        ),
        ("Several data sets", [*compared_pictures(result), *compared_tables(result)]),
        ("Use of the evidence", [usage, *usage_tables(result)]),
        ("Answers without and with the evidence", shifts_tables(result)),
        ("Correlates of the use of evidence", correlations),
    ]
    picture = usage or shares_picture(result) or against_all_picture(result, "stance")
    return Page(_answer(result, picture), [Section(*section) for section in sections], result.notes)


# ---- what the page begins with ----


def _conflicts(result: Druid) -> Figure:
    return result.content.sources[0].conflicts


CONFLICT_RULES = (
    Rule(
        "no two stances",
        lambda result: not _conflicts(result).is_defined,
        lambda result: f"The share of claims with conflicting evidence is unknown: {_conflicts(result).undefined}.",
    ),
    Rule(
        "share",
        lambda result: True,
        lambda result: (
            f"Of the claims with a stance of at least two pieces of evidence, a share of "
            f"{_conflicts(result).written()} has conflicting evidence: one piece supports and another refutes them"
            f"{_conflicts(result).level_noted}."
        ),
    ),
)


def _used(result: Druid, model: ModelUsage) -> PairMean:
    """The mean use of all relevant evidence."""
    return getattr(model.stances[0], ACU[result.acu][0])


def _measured(result: Druid) -> list[ModelUsage]:
    models = result.usage.models if result.usage else []
    return sorted(
        (one for one in models if _used(result, one).is_defined), key=lambda one: -_used(result, one).estimate
    )


def _use_by_model(result: Druid) -> str:
    texts = [f"{one.model} {_used(result, one).written()}" for one in _measured(result)[:MOST_NAMED]]
    more = len(_measured(result)) - MOST_NAMED
    name, bound = ACU[result.acu]
    of = f"{name}, from -{bound} to {bound}"
    rest = f" and {n_of(more, 'further models')}" if more > 0 else ""
    return f"Mean context usage ({of}) of relevant evidence is {listed(texts)}{rest}"


def _ways(result: Druid) -> dict[str, list[str]]:
    """Models by whether they are shown to move towards what the evidence says, or away from it."""
    ways: dict[str, list[str]] = {"towards": [], "away": [], "unknown": []}
    for one in _measured(result):
        cell = _used(result, one)
        is_shown = cell.is_apart_from(0, len(_measured(result)))
        way = "unknown" if not is_shown else "towards" if cell.estimate > 0 else "away"
        ways[way].append(one.model)
    return ways


def _mixed(result: Druid) -> str:
    ways, clauses = _ways(result), []
    for way, words in (
        ("towards", "moves towards what the evidence says"),
        ("away", "moves away from it"),
        ("unknown", "is not shown to do either"),
    ):
        if names := ways[way]:
            clauses.append(
                f"{listed(names[:MOST_NAMED])} {words}" if len(names) == 1 else f"{len(names)} {_many(words)}"
            )
    return f"{_use_by_model(result)}: {listed(clauses)}."


def _many(words: str) -> str:
    first, _, rest = words.partition(" ")
    return f"{'are' if first == 'is' else first.removesuffix('s')} {rest}"


MOST_NAMED = 3
USE_RULES = (
    Rule("not measured", lambda result: not result.usage, lambda result: ""),
    Rule(
        "undefined",
        lambda result: not _measured(result),
        lambda result: "How models use the evidence is undefined for every pair.",
    ),
    Rule(
        "not shown",
        lambda result: len(_ways(result)["unknown"]) == len(_measured(result)),
        lambda result: f"{_use_by_model(result)}; it is not shown that the evidence is used.",
    ),
    Rule("shown", lambda result: True, _mixed),
)


def _significant(result: Druid) -> list[tuple[float, str, str, str]]:
    """Correlations that are significant after correction, the strongest first."""
    significant = [
        (row.spearman.estimate, row.feature, result.titles[row.stance], one.model)
        for one in result.correlations
        for row in one.rows
        if row.spearman.is_significant(result.correction, result.alpha)
    ]
    return sorted(significant, key=lambda one: -abs(one[0]))


def _strongest(result: Druid) -> str:
    significant = _significant(result)
    estimate, feature, stance, model = significant[0]
    return (
        f"{n_of(len(significant), 'correlations')} of characteristics with context usage "
        f"{'is' if len(significant) == 1 else 'are'} significant after correction; the strongest is that of "
        f"{feature.lower()} (Spearman {estimate:.3f}; {stance.lower()}; {model})."
    )


CORRELATION_RULES = (
    Rule("not measured", lambda result: not result.correlations, lambda result: ""),
    Rule(
        "none",
        lambda result: not _significant(result),
        lambda result: "No correlation of a characteristic with context usage is shown after correction.",
    ),
    Rule("some", lambda result: True, _strongest),
)

NEXT = (
    Rule("no stances", lambda result: not result.n_stances, lambda result: "label the evidence: no pair has a stance"),
    Rule(
        "unlabelled",
        lambda result: result.n_stances < result.n_pairs,
        lambda result: f"label or decide the {n_of(result.n_pairs - result.n_stances, 'pairs')} without a stance",
    ),
    Rule(
        "no answers",
        lambda result: NO_ANSWERS in result.notes,
        lambda result: "start the checker “Answer probabilities”, to see whether models use the evidence",
    ),
    Rule(
        "no characteristics",
        lambda result: NO_FEATURES in result.notes,
        lambda result: "start the checker “Context characteristics”, to see what the evidence is like",
    ),
)


def _answer(result: Druid, picture) -> Answer:
    return Answer(
        sentences=all_that_apply((USE_RULES, CORRELATION_RULES, CONFLICT_RULES), result),
        n=f"n = {n_of(result.n_pairs, 'pairs')} of evidence and {n_of(result.n_claims, 'claims')}; "
        f"{result.n_stances:,} have a stance ({result.reference_title.lower()})",
        picture=picture,
        next=first_that_applies(NEXT, result),
    )


def methods(result: Druid) -> str:
    return sentences(methods_of(result), *all_that_apply((CONFLICT_RULES, USE_RULES, CORRELATION_RULES), result))


REPORT = Report(
    "druid",
    "Evidence, its characteristics and its use",
    "analysis.papers.druid.compute",
    (
        REFERENCE,
        Option(
            "probabilities",
            "Answer probabilities of",
            choices=offered_answers,
            default=EVERY,
            missing="start the checker “Answer probabilities” first",
            group=CHECKER,
        ),
        Option(
            "characteristics",
            "Characteristics of",
            choices=offered_features,
            default=NEWEST,
            missing="start the checker “Context characteristics” first",
            group=CHECKER,
        ),
        Option("acu", "Context usage as", choices=CONVENTIONS, default="mean", group=STATISTICS),
        Option("bars", "Error bars", choices=BARS, default="sd", group=STATISTICS),
        Option("test", "Correlations tested", choices=TESTS, default="clusters", group=STATISTICS),
        Option("correction", "Corrected by", choices=CORRECTIONS, default="holm", group=STATISTICS),
        Option("alpha", "Significant below", kind="number", default=0.05, low=0.0001, high=0.5, group=STATISTICS),
        Option(
            "evidence_beside",
            "Compare with",
            kind="project",
            choices=projects_beside,
            default="",
            missing="no other project on this data set judges evidence",
            group=LABELS,
        ),
    ),
    "The figures that DRUID's authors report, for your data: claims and evidence by source, conflicts, characteristics "
    "of evidence, how language models use it, and what correlates with that.",
    kind=Druid,
    declares=page,
    paragraph=methods,
    refuses=refuses,
    quick=True,
)

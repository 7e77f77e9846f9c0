"""Agreement of all labels of a question, by each coefficient: of labels, of sets of labels and of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from analysis.reports.agreement.agreement.result import ClosedForm, Coefficient, WithClosedForm
from analysis.reports.estimates import to_figure
from analysis.stats import (
    Estimate,
    Labels,
    brennan_prediger,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    percent_agreement,
    pooled_percent_agreement,
    set_alpha,
)
from annotation.task_types import Dimension

# Alpha compares every number, or set of labels, with every other.
MOST_ANSWERS = 2000
# Coefficients that are computed in any case; the others are more statistics.
FIRST = ("percent_agreement", "krippendorff_alpha_", "alpha_masi", "fleiss_kappa")
Measures = dict[str, tuple[str, Callable[[Labels], Estimate]]]  # by name: a title, and what computes it


def figures_of(
    coded: Labels, dimension: Dimension, sets: list[tuple[str, ...]] | None, *, quick: bool, all: bool
) -> list[Coefficient]:
    if dimension.takes_number:
        return _number_figures(coded, dimension.level, quick=quick, all=all)
    if sets is not None:
        return _set_figures(coded, sets, quick=quick, all=all)
    return coefficients(coded, dimension.level, quick=quick, all=all)


def coefficients(coded: Labels, level: str, *, quick: bool, all: bool) -> list[Coefficient]:
    measures: Measures = {
        "percent_agreement": ("Percent agreement (mean over items)", percent_agreement),
        "pooled_percent_agreement": ("Percent agreement (pooled over pairs)", pooled_percent_agreement),
        "krippendorff_alpha_nominal": ("Krippendorff's alpha, nominal", krippendorff_alpha),
        "krippendorff_alpha_ordinal": ("Krippendorff's alpha, ordinal", partial(krippendorff_alpha, level="ordinal")),
        f"krippendorff_alpha_{level}": (f"Krippendorff's alpha, {level}", partial(krippendorff_alpha, level=level)),
        "fleiss_kappa": ("Fleiss' kappa", fleiss_kappa),
        "gwet_ac1": ("Gwet's AC1", gwet_ac),
        "gwet_ac2_ordinal": ("Gwet's AC2, ordinal weights", partial(gwet_ac, weights="ordinal")),
        "brennan_prediger": ("Brennan-Prediger", brennan_prediger),
        "brennan_prediger_ordinal": (
            "Brennan-Prediger, ordinal weights",
            partial(brennan_prediger, weights="ordinal"),
        ),
    }
    if level == "nominal":
        measures = {name: one for name, one in measures.items() if not name.endswith("_ordinal")}
    return _named(coded, measures, quick=quick, all=all)


def _number_figures(coded: Labels, level: str, *, quick: bool, all: bool) -> list[Coefficient]:
    measures: Measures = {
        f"krippendorff_alpha_{name}": (
            f"Krippendorff's alpha, {name}",
            _unless_many("numbers", partial(krippendorff_alpha, level=name)),
        )
        for name in (("interval", "ratio") if level == "ratio" else ("interval",))
    }
    measures["percent_agreement"] = ("Equal numbers (percent agreement, mean over items)", percent_agreement)
    return _named(coded, measures, quick=quick, all=all)


def _set_figures(coded: Labels, sets: list[tuple[str, ...]], *, quick: bool, all: bool) -> list[Coefficient]:
    """Of answers that are sets, which may agree in part."""
    alphas = {
        "alpha_masi": ("MASI distance of sets", partial(set_alpha, sets=sets, distance="masi")),
        "alpha_jaccard": ("Jaccard distance of sets", partial(set_alpha, sets=sets, distance="jaccard")),
        "krippendorff_alpha_nominal": ("equal sets", krippendorff_alpha),
    }
    measures: Measures = {
        name: (f"Krippendorff's alpha, {title}", _unless_many("sets of labels", alpha))
        for name, (title, alpha) in alphas.items()
    }
    measures["percent_agreement"] = ("Equal sets (percent agreement, mean over items)", percent_agreement)
    return _named(coded, measures, quick=quick, all=all)


def _unless_many(what: str, alpha: Callable[[Labels], Estimate]) -> Callable[[Labels], Estimate]:
    def measure(coded: Labels) -> Estimate:
        if len(coded.categories) <= MOST_ANSWERS:
            return alpha(coded)
        why = f"there are more than {MOST_ANSWERS:,} different {what}"
        return replace(percent_agreement(coded), estimate=math.nan, undefined=why)

    return measure


def _named(coded: Labels, measures: Measures, *, quick: bool, all: bool) -> list[Coefficient]:
    return [
        Coefficient.extending(with_closed_form(measure(coded), quick=quick, all=all), name=name, title=title)
        for name, (title, measure) in measures.items()
        if all or name.startswith(FIRST)
    ]


def with_closed_form(estimate: Estimate, *, quick: bool, all: bool) -> WithClosedForm:
    """A figure; with `all` also its interval in closed form for independent units, in addition to the bootstrap."""
    closed = {"analytic": ClosedForm.taking(estimate.analytic_interval())} if all else {}
    return WithClosedForm.extending(to_figure(estimate, quick=quick), **closed)

"""Coefficients of a set of labels: over everybody, per label, per pair of people, against chance, of two parts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from analysis.reports.figures import PENDING, figure, is_quick, named_figure, number, unknown_figure
from annotation.task_types import Dimension

if TYPE_CHECKING:
    import numpy as np

    from analysis.stats import Labels

# Pairs of annotators are quadratic in their number; beyond this only those who share most units are listed.
MAX_PAIRS = 200
# Labels permuted in one test, so that a large project does not wait for the last digit of p.
PERMUTED_LABELS = 20_000_000
PERMUTATIONS = (99, 999)
NO_TEST = {
    "statistic": None,
    "p_value": None,
    "n_permutations": 0,
    "null": "",
    "chance_mean": None,
    "chance_high": None,
    "n_labels": 0,
    "n_movable": 0,
}


def figures_of(coded: Labels, level: str) -> list[dict]:
    from analysis.stats import (
        brennan_prediger,
        fleiss_kappa,
        gwet_ac,
        krippendorff_alpha,
        percent_agreement,
        pooled_percent_agreement,
    )

    found = {
        "percent_agreement": ("Percent agreement (mean over items)", percent_agreement(coded)),
        "pooled_percent_agreement": ("Percent agreement (pooled over pairs)", pooled_percent_agreement(coded)),
        "krippendorff_alpha_nominal": ("Krippendorff's alpha, nominal", krippendorff_alpha(coded)),
    }
    if level != "nominal":
        ordinal = krippendorff_alpha(coded, "ordinal")
        found["krippendorff_alpha_ordinal"] = ("Krippendorff's alpha, ordinal", ordinal)
    if level == "interval":
        found["krippendorff_alpha_interval"] = ("Krippendorff's alpha, interval", krippendorff_alpha(coded, "interval"))
    found["fleiss_kappa"] = ("Fleiss' kappa", fleiss_kappa(coded))
    found["gwet_ac1"] = ("Gwet's AC1", gwet_ac(coded))
    if level != "nominal":
        found["gwet_ac2_ordinal"] = ("Gwet's AC2, ordinal weights", gwet_ac(coded, "ordinal"))
    found["brennan_prediger"] = ("Brennan-Prediger", brennan_prediger(coded))
    if level != "nominal":
        weighted = brennan_prediger(coded, "ordinal")
        found["brennan_prediger_ordinal"] = ("Brennan-Prediger, ordinal weights", weighted)
    return [named_figure(name, title, estimate) | _analytic(estimate) for name, (title, estimate) in found.items()]


def _analytic(estimate) -> dict:
    """The interval in closed form for independent units, beside the bootstrap."""
    interval = estimate.analytic_interval()
    ends = {"low": number(interval.low), "high": number(interval.high)}
    return {"analytic": {**ends, "method": interval.method, "note": interval.note}}


def _with_analytic(estimate) -> dict:
    return figure(estimate) | _analytic(estimate)


def per_label(coded: Labels, dimension: Dimension) -> list[dict]:
    """Each label against the rest; nothing for two labels, where it would say the same twice. A first pass does without
    the coefficients that no picture shows."""
    import numpy as np

    from analysis.stats import brennan_prediger, fleiss_kappa, gwet_ac, krippendorff_alpha, percent_agreement

    if len(dimension.labels) < 3:
        return []
    rows = []
    for code, label in enumerate(dimension.labels):
        either = (f"not {label.value}", label.value)
        one = replace(coded, value=(coded.value == code).astype(np.int64), categories=either)
        agreement = percent_agreement(one)
        if is_quick():
            further = dict.fromkeys(("fleiss_kappa", "brennan_prediger"), unknown_figure(agreement, PENDING))
        else:
            further = {
                "fleiss_kappa": figure(fleiss_kappa(one)),
                "brennan_prediger": figure(brennan_prediger(one)),
            }
        rows.append(
            {
                "label": label.value,
                "title": label.title,
                "n": int((coded.value == code).sum()),
                "percent_agreement": figure(agreement),
                "alpha": figure(krippendorff_alpha(one)),
                "gwet_ac1": figure(gwet_ac(one)),
                **further,
            }
        )
    return rows


def against_chance(coded: Labels, level: str) -> dict:
    from analysis.stats import agreement_permutation_test

    if is_quick():
        return NO_TEST | {"level": "nominal" if level == "nominal" else "ordinal", "undefined": PENDING}
    n = min(max(PERMUTED_LABELS // max(coded.n_labels, 1), PERMUTATIONS[0]), PERMUTATIONS[1])
    test = agreement_permutation_test(coded, "nominal" if level == "nominal" else "ordinal", n)
    return {
        "level": test.level,
        "statistic": number(test.statistic),
        "p_value": number(test.p_value),
        "n_permutations": test.n_permutations,
        "null": test.null,
        "chance_mean": number(test.chance_mean),
        "chance_high": number(test.chance_high),
        "n_labels": test.n_labels,
        "n_movable": test.n_movable,
        "undefined": test.undefined,
    }


def difference(a: Labels, b: Labels, level: str) -> dict:
    """Alpha of a minus alpha of b, at the level of the scale."""
    from analysis.stats import agreement_difference, krippendorff_alpha

    found = agreement_difference(lambda labels: krippendorff_alpha(labels, level), a, b)
    return {**figure(found), "of_a": number(found.of_a), "of_b": number(found.of_b), "n_shared": found.n_shared}


def rows_of(coded: Labels, keep: np.ndarray) -> Labels:
    """Some of the labels, on the same numbered units and by the same raters."""
    return replace(coded, unit=coded.unit[keep], rater=coded.rater[keep], value=coded.value[keep])


def pairs(coded: Labels, level: str, names: dict[str, str]) -> dict:
    """Every two people who share units: Cohen's kappa, weighted ones on a scale, Scott's pi, and what they say label by
    label.

    People of `coded` are pseudonyms, in whose order pairs are resampled; they are listed by their `names`, so that the
    same labels give the same rows, whoever was faster.
    """
    from analysis.stats import cohen_kappa, cohen_kappa_table, scott_pi

    pseudonyms = sorted(coded.rater_names)
    table = cohen_kappa_table(coded)
    named = [(sorted((names[who], who) for who in (kappa.rater_a, kappa.rater_b)), kappa) for kappa in table]
    # Which pairs are listed must not depend on names, which a release's files do not have.
    listed = sorted(named, key=lambda row: (-row[1].n_pairable, sorted(who for _, who in row[0])))[:MAX_PAIRS]
    listed.sort(key=lambda row: (-row[1].n_pairable, row[0]))
    rows = []
    for ((a, a_id), (b, b_id)), kappa in listed:
        people = sorted((kappa.rater_a, kappa.rater_b), key=pseudonyms.index)
        plain = kappa if people == [kappa.rater_a, kappa.rater_b] else cohen_kappa(coded, *people)
        n_agree = round(float(kappa.agreement) * kappa.n_pairable) if kappa.n_pairable else 0
        row = {"a": a, "b": b, "a_id": a_id, "b_id": b_id, "n_agree": n_agree, "n_differ": kappa.n_pairable - n_agree}
        row |= {"percent_agreement": _with_analytic(kappa.percent_agreement()), **_with_analytic(plain)}
        row["counts"] = (plain.table if plain.rater_a == a_id else plain.table.T).tolist()  # a's labels are the rows
        row["scott_pi"] = _with_analytic(scott_pi(coded, *people))
        for weights in ("linear", "quadratic"):
            row[weights] = _with_analytic(cohen_kappa(coded, *people, weights)) if level != "nominal" else None
        rows.append(row)
    return {"pairs": rows, "n_pairs_not_listed": len(table) - len(listed)}

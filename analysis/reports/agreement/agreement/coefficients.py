"""Coefficients of a set of labels: over everybody, per label, per pair of people, against chance, of two parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from analysis.figures.results import PENDING, Figure, number
from analysis.reports.agreement.agreement.result import (
    AgreementOfPart,
    Chance,
    ClosedForm,
    Coefficient,
    Difference,
    LabelAgreement,
    RaterPair,
    WithClosedForm,
)
from analysis.reports.estimates import to_figure, unknown_figure
from analysis.stats import (
    Estimate,
    Labels,
    agreement_difference,
    agreement_permutation_test,
    brennan_prediger,
    cohen_kappa,
    cohen_kappa_table,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
    percent_agreement,
    pooled_percent_agreement,
    scott_pi,
)
from annotation.task_types import Dimension

# Pairs of annotators are quadratic in their number; beyond this only those who share most units are listed.
MAX_PAIRS = 200
# Labels permuted in one test, so that a large project does not wait for the last digit of p.
PERMUTED_LABELS = 20_000_000
PERMUTATIONS = (99, 999)


def coefficients(coded: Labels, level: str, *, quick: bool) -> list[Coefficient]:
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
    return [
        Coefficient(name=name, title=title, **_with_closed_form(estimate, quick))
        for name, (title, estimate) in found.items()
    ]


def _with_closed_form(estimate: Estimate, quick: bool) -> dict:
    """Fields of a figure with the interval in closed form for independent units, beside the bootstrap."""
    interval = estimate.analytic_interval()
    ends = {"low": number(interval.low), "high": number(interval.high)}
    closed = ClosedForm(**ends, method=interval.method, note=interval.note)
    return _fields(to_figure(estimate, quick=quick)) | {"analytic": closed}


def _fields(figure: Figure) -> dict:
    return {name: getattr(figure, name) for name in figure.__struct_fields__}


def per_label(coded: Labels, dimension: Dimension, *, quick: bool) -> list[LabelAgreement]:
    """Each label against the rest; nothing for two labels, where it would say the same twice. A first pass does without
    the coefficients that no picture shows."""
    if len(dimension.labels) < 3:
        return []
    rows = []
    for code, label in enumerate(dimension.labels):
        either = (f"not {label.value}", label.value)
        one = replace(coded, value=(coded.value == code).astype(np.int64), categories=either)
        agreement = percent_agreement(one)
        pending = unknown_figure(agreement, PENDING, quick=True)
        rows.append(
            LabelAgreement(
                label=label.value,
                title=label.title,
                n=int((coded.value == code).sum()),
                percent_agreement=to_figure(agreement, quick=quick),
                alpha=to_figure(krippendorff_alpha(one), quick=quick),
                gwet_ac1=to_figure(gwet_ac(one), quick=quick),
                fleiss_kappa=pending if quick else to_figure(fleiss_kappa(one), quick=quick),
                brennan_prediger=pending if quick else to_figure(brennan_prediger(one), quick=quick),
            )
        )
    return rows


def against_chance(coded: Labels, level: str, *, quick: bool) -> Chance:
    level = "nominal" if level == "nominal" else "ordinal"
    if quick:
        unknown = dict.fromkeys(("statistic", "p_value", "chance_mean", "chance_high"))
        return Chance(level=level, **unknown, n_permutations=0, null="", n_labels=0, n_movable=0, undefined=PENDING)
    n = min(max(PERMUTED_LABELS // max(coded.n_labels, 1), PERMUTATIONS[0]), PERMUTATIONS[1])
    test = agreement_permutation_test(coded, level, n)
    return Chance(
        level=test.level,
        statistic=number(test.statistic),
        p_value=number(test.p_value),
        n_permutations=test.n_permutations,
        null=test.null,
        chance_mean=number(test.chance_mean),
        chance_high=number(test.chance_high),
        n_labels=test.n_labels,
        n_movable=test.n_movable,
        undefined=test.undefined,
    )


def difference(a: Labels, b: Labels, level: str, /, *, quick: bool, kind: type[Difference] = Difference, **more):
    """Alpha of a minus alpha of b, at the level of the scale, as a record of `kind`."""
    found = agreement_difference(lambda labels: krippendorff_alpha(labels, level), a, b)
    of_both = {"of_a": number(found.estimate_a), "of_b": number(found.estimate_b), "n_shared": found.n_shared}
    return kind(**_fields(to_figure(found, quick=quick)), **of_both, **more)


def rows_of(coded: Labels, keep: np.ndarray) -> Labels:
    """Some of the labels, on the same numbered units and by the same raters."""
    return replace(coded, unit=coded.unit[keep], rater=coded.rater[keep], value=coded.value[keep])


def figures_of_part(part: Labels, level: str, *, quick: bool, kind: type[AgreementOfPart], **more) -> AgreementOfPart:
    """Figures of some of the labels, as a record of `kind`."""
    return kind(
        percent_agreement=to_figure(percent_agreement(part), quick=quick),
        alpha_nominal=to_figure(krippendorff_alpha(part), quick=quick),
        alpha_ordinal=to_figure(krippendorff_alpha(part, "ordinal"), quick=quick) if level != "nominal" else None,
        **more,
    )


def pairs(coded: Labels, level: str, names: dict[str, str], *, quick: bool) -> tuple[list[RaterPair], int]:
    """Every two people who share units, and how many pairs are not listed: Cohen's kappa, weighted ones on a scale,
    Scott's pi, and what they say label by label.

    People of `coded` are pseudonyms, in whose order pairs are resampled; they are listed by their `names`, so that the
    same labels give the same rows, whoever was faster.
    """
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

        def figure(estimate: Estimate) -> WithClosedForm:
            return WithClosedForm(**_with_closed_form(estimate, quick))

        weighted = {
            weights: figure(cohen_kappa(coded, *people, weights)) if level != "nominal" else None
            for weights in ("linear", "quadratic")
        }
        rows.append(
            RaterPair(
                a=a,
                b=b,
                a_id=a_id,
                b_id=b_id,
                n_agree=n_agree,
                n_differ=kappa.n_pairable - n_agree,
                percent_agreement=figure(kappa.percent_agreement()),
                counts=(plain.table if plain.rater_a == a_id else plain.table.T).tolist(),
                scott_pi=figure(scott_pi(coded, *people)),
                **weighted,
                **_with_closed_form(plain, quick),
            )
        )
    return rows, len(table) - len(listed)

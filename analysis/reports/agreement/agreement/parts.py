"""Agreement of parts of the labels: per label, pair of people, source, arm, version and group; and against chance."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd

from analysis.figures.folding import MOST_SHOWN, MOST_SHOWN_WHOLE
from analysis.figures.results import PENDING, number
from analysis.reports.agreement.agreement.coefficients import with_closed_form
from analysis.reports.agreement.agreement.result import (
    AgreementOfPart,
    BetweenArms,
    BetweenVersions,
    Chance,
    Difference,
    LabelAgreement,
    Members,
    OfArm,
    OfSource,
    OfVersion,
    RaterPair,
)
from analysis.reports.estimates import to_figure, unknown_figure
from analysis.sources.outline import MEMBER
from analysis.stats import (
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
    scott_pi,
    shared_units,
)
from annotation.models import Project
from annotation.task_types import Dimension

# Pairs of annotators are quadratic in their number; beyond this only those who share most units are listed.
MAX_PAIRS = 200
MAX_SOURCES = 50
# Labels permuted in one test, so that a large project does not wait for the last digit of p.
PERMUTED_LABELS = 20_000_000
PERMUTATIONS = (99, 999)


def per_label(coded: Labels, dimension: Dimension, *, quick: bool, all: bool) -> list[LabelAgreement]:
    """Each label against the rest, of many the most frequent; nothing for two labels, where it would repeat itself.
    A first pass does without the coefficients that no picture shows."""
    if len(dimension.labels) < 3:
        return []
    rows, counts = [], np.bincount(coded.value, minlength=len(dimension.labels))
    codes = range(len(counts))
    if len(counts) > MOST_SHOWN_WHOLE:
        codes = np.argsort(-counts, kind="stable")[:MOST_SHOWN].tolist()
    for code in codes:
        label = dimension.labels[code]
        either = (f"not {label.value}", label.value)
        one = replace(coded, value=(coded.value == code).astype(np.int64), categories=either)
        agreement = percent_agreement(one)
        pending = unknown_figure(agreement, PENDING, quick=True)
        others = {"gwet_ac1": gwet_ac, "fleiss_kappa": fleiss_kappa, "brennan_prediger": brennan_prediger}
        rows.append(
            LabelAgreement(
                label=label.value,
                title=label.title,
                n=int(counts[code]),
                percent_agreement=to_figure(agreement, quick=quick),
                alpha=to_figure(krippendorff_alpha(one), quick=quick),
                **{
                    name: pending if quick and name != "gwet_ac1" else to_figure(measure(one), quick=quick)
                    for name, measure in (others.items() if all else ())
                },
            )
        )
    return rows


def against_chance(coded: Labels, level: str, *, quick: bool) -> Chance:
    if quick:
        unknown = dict.fromkeys(("statistic", "p_value", "chance_mean", "chance_high"))
        return Chance(level=level, **unknown, n_permutations=0, null="", n_labels=0, n_movable=0, undefined=PENDING)
    n = min(max(PERMUTED_LABELS // max(coded.n_labels, 1), PERMUTATIONS[0]), PERMUTATIONS[1])
    test = agreement_permutation_test(coded, level, n)
    return Chance.taking(test)


def not_tested(level: str) -> Chance:
    """Of numbers, whose alpha is not held against permutations."""
    unknown = dict.fromkeys(("statistic", "p_value", "chance_mean", "chance_high"))
    why = "alpha of numbers is not tested by permutation"
    return Chance(level=level, **unknown, n_permutations=0, null="", n_labels=0, n_movable=0, undefined=why)


def difference(a: Labels, b: Labels, level: str, /, *, quick: bool, kind: type[Difference] = Difference, **more):
    """Alpha of a minus alpha of b, at the level of the scale, as a record of `kind`."""
    estimate = agreement_difference(lambda labels: krippendorff_alpha(labels, level), a, b)
    of_both = {"of_a": number(estimate.estimate_a), "of_b": number(estimate.estimate_b), "n_shared": estimate.n_shared}
    return kind.extending(to_figure(estimate, quick=quick), **of_both, **more)


def rows_of(coded: Labels, keep: np.ndarray) -> Labels:
    """Some of the labels, on the same numbered units and by the same raters."""
    return replace(coded, unit=coded.unit[keep], rater=coded.rater[keep], value=coded.value[keep])


def figures_of_part(part: Labels, level: str, *, quick: bool, kind: type[AgreementOfPart], **more) -> AgreementOfPart:
    """Figures of some of the labels, as a record of `kind`."""
    return kind(
        percent_agreement=to_figure(percent_agreement(part), quick=quick),
        alpha_nominal=to_figure(krippendorff_alpha(part), quick=quick),
        alpha_of_level=to_figure(krippendorff_alpha(part, level), quick=quick) if level != "nominal" else None,
        **more,
    )


def pairs(coded: Labels, level: str, names: dict[str, str], *, quick: bool, all: bool) -> tuple[list[RaterPair], int]:
    """Every two people who share units, and how many pairs are not listed: Cohen's kappa, weighted ones on a scale,
    with `all` Scott's pi, and what they say label by label.

    People of `coded` are pseudonyms, in whose order pairs are resampled; they are listed by their `names`, so that the
    same labels give the same rows, in whatever order they were given.
    """
    pseudonyms = sorted(coded.rater_names)
    place = {who: position for position, who in enumerate(pseudonyms)}
    of_code = [place[who] for who in coded.rater_names]
    shared = shared_units(coded)
    # Which pairs are listed must not depend on names, which a release's files do not have.
    most = sorted(shared, key=lambda pair: (-shared[pair], *sorted((of_code[pair[0]], of_code[pair[1]]))))[:MAX_PAIRS]
    table = cohen_kappa_table(coded, pairs=most)
    named = [(sorted((names[who], who) for who in (kappa.rater_a, kappa.rater_b)), kappa) for kappa in table]
    rows = []
    for ((a, a_id), (b, b_id)), kappa in sorted(named, key=lambda row: (-row[1].n_pairable, row[0])):
        people = sorted((kappa.rater_a, kappa.rater_b), key=place.__getitem__)
        plain = kappa if people == [kappa.rater_a, kappa.rater_b] else cohen_kappa(coded, *people)
        n_agree = round(float(kappa.agreement) * kappa.n_pairable) if kappa.n_pairable else 0

        figure = partial(with_closed_form, quick=quick, all=all)
        more = {
            weights: figure(cohen_kappa(coded, *people, weights)) if level != "nominal" else None
            for weights in (("linear", "quadratic") if all else ("quadratic",))
        }
        if all:
            more["scott_pi"] = figure(scott_pi(coded, *people))
        rows.append(
            RaterPair.extending(
                figure(plain),
                a=a,
                b=b,
                a_id=a_id,
                b_id=b_id,
                n_agree=n_agree,
                n_differ=kappa.n_pairable - n_agree,
                percent_agreement=figure(kappa.percent_agreement()),
                counts=(plain.table if plain.rater_a == a_id else plain.table.T).tolist(),
                **more,
            )
        )
    return rows, len(shared) - len(table)


def by_source(coded: Labels, units: pd.DataFrame, level: str, quick: bool) -> dict:
    """Figures of each source's units, the sources with most units first; nothing where all come from one, or where
    nobody has labelled any."""
    if not coded.n_labels:
        return {}
    sources = units["source"].to_numpy()
    sizes = units["source"].value_counts()
    sizes = sizes.loc[sorted(sizes.index, key=lambda name: (-sizes[name], name))]
    listed = sizes.index[:MAX_SOURCES] if len(sizes) > 1 else []
    rows = []
    for name in listed:
        here = sources == name
        inside = here[coded.unit]
        against = difference(rows_of(coded, inside), rows_of(coded, ~inside), level, quick=quick)
        more = {"source": name, "n_units": int(sizes[name]), "against_the_rest": against}
        rows.append(figures_of_part(coded.select_units(here), level, quick=quick, kind=OfSource, **more))
    return {"by_source": rows, "n_sources_not_listed": len(sizes) - len(listed) if len(sizes) > 1 else 0}


def by_arm(coded: Labels, labels: pd.DataFrame, level: str, quick: bool) -> dict:
    """Figures of the labels given in each arm, over pairs of labels of one arm; nothing where there is only one."""
    of_label = labels["arm"].to_numpy()
    arms = [Project.Prefill(name) for name, _ in Project.ARMS]
    arms = [arm for arm in arms if (of_label == arm.value).any()]
    if len(arms) < 2:
        return {}
    parts = {arm: rows_of(coded, of_label == arm.value) for arm in arms}
    return {
        "by_arm": [
            figures_of_part(part, level, quick=quick, kind=OfArm, arm=arm.value, title=arm.label, **_sizes(part))
            for arm, part in parts.items()
        ],
        "arm_differences": [
            difference(parts[a], parts[b], level, quick=quick, kind=BetweenArms, a=a.value, b=b.value)
            for place, a in enumerate(arms)
            for b in arms[place + 1 :]
        ],
    }


def _sizes(part: Labels) -> dict[str, int]:
    return {"n_units": len(set(part.unit.tolist())), "n_labels": part.n_labels}


def by_version(coded: Labels, labels: pd.DataFrame, level: str, quick: bool) -> dict:
    """Figures of the labels given under each version of the guidelines, over pairs of labels of one version, and what
    each version changed; nothing where there is only one, nor in a first pass."""
    if quick:
        return {}
    of_label = pd.to_numeric(labels["guideline_version"]).to_numpy(dtype=float, na_value=float("nan"))
    known = of_label[of_label == of_label]
    versions = sorted({int(version) for version in known})
    if len(versions) < 2:
        return {}
    parts = {version: rows_of(coded, of_label == version) for version in versions}
    return {
        "by_version": [
            figures_of_part(part, level, quick=quick, kind=OfVersion, version=version, **_sizes(part))
            for version, part in parts.items()
        ],
        "version_differences": [
            difference(
                parts[version], parts[before], level, quick=quick, kind=BetweenVersions, version=version, before=before
            )
            for before, version in pairwise(versions)
        ],
        "n_labels_without_version": len(labels) - len(known),
    }


def members_against_imported(coded: Labels, labels: pd.DataFrame, level: str, quick: bool) -> Members | None:
    """The agreement among members minus that among raters of files, on the same units where they share some."""
    is_member = (labels["rater_kind"] == MEMBER).to_numpy()
    if not is_member.any() or is_member.all():
        return None
    members, imported = rows_of(coded, is_member), rows_of(coded, ~is_member)
    n = {
        f"n_paired_{name}": int((labels_per_unit(part) > 1).sum())
        for name, part in (("members", members), ("imported", imported))
    }
    return difference(members, imported, level, quick=quick, kind=Members, **n)


def labels_per_unit(coded: Labels) -> np.ndarray:
    """How many labels each unit has."""
    return np.bincount(coded.unit, minlength=coded.n_units)

"""What a project's data are (DRUID, tables 1 to 3, 8 and 9): claims and evidence by source, labels, conflicts."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
from msgspec.structs import replace

from analysis.figures.items import Items
from analysis.papers.druid.data import MAX_SOURCES, Pairs
from analysis.papers.druid.means import n_resamples
from analysis.papers.druid.offered import relevance_dimension, stance_dimension
from analysis.papers.druid.result import (
    ALL,
    NOT_RELEVANT,
    ClaimVerdict,
    ConflictShare,
    EvidenceContent,
    EvidenceLabel,
    EvidenceLabels,
    EvidenceOfSource,
    MetricAlpha,
    WithoutLabel,
)
from analysis.reports.estimates import coded_labels, share_figures, to_figure
from analysis.reports.labels.reference import Reference
from analysis.sources.base import Source
from analysis.sources.outline import SLOT
from analysis.stats import Labels, inter_context_conflicts, krippendorff_alpha, mean_share
from analysis.stats.generation.shifts import AGAINST, FOR
from annotation.task_types import Dimension, Metric

MAX_VERDICTS = 50
NO_TWO_STANCES = "no claim has two pieces of evidence with a stance"
NO_LABEL = "no pair has a label"
NO_REASON = {"tied": "people are divided", "unlabelled": "nobody has labelled it"}


def content(source: Source, pairs: Pairs, items: Items, *, quick: bool) -> EvidenceContent:
    """The part of the result; its columns go to the items."""
    is_gold = _is_gold(source, pairs)
    if is_gold is not None:
        items.add_flag("gold", "Gold evidence", is_gold)
    coded = {
        f"{metric.name}, {metric.level}": (_coded(pairs, metric), metric.level)
        for metric in pairs.kind.metrics
        if not metric.derived and not pairs.kind.dimension(metric.dimension).is_hidden
    }
    for title, (labels, _) in coded.items():
        is_pairable = np.bincount(labels.unit, minlength=labels.n_units) > 1
        items.add_flag(f"pairable.{title}", f"With two labels or more ({title})", is_pairable)
    conflicts = inter_context_conflicts(pairs.cluster, pairs.n_claims, pairs.stances)
    has_both = conflicts.n_stances > 1
    several = has_both[pairs.cluster] & pairs.has_stance(*pairs.names)
    items.add_flag("several", "With a stance, of claims with two stances or more", several)
    in_conflict = conflicts.conflicting[pairs.cluster] & pairs.has_stance(AGAINST, FOR)
    items.add_flag("conflict", "Supports or refutes a claim in conflict", in_conflict)
    rows = []
    for place, name in enumerate((ALL, *pairs.sources)):
        here = pairs.source_code == place - 1 if place else np.ones(len(pairs.units), dtype=bool)
        # Those with evidence of the source: evidence of one claim may be split.
        its_claims = np.bincount(pairs.cluster[here], minlength=pairs.n_claims) > 0
        if place:
            items.add_sets("of", "", {name: (f"Of claims with evidence under {name}", its_claims[pairs.cluster])})
        conflicting, with_both = conflicts.conflicting & its_claims, has_both & its_claims
        rows.append(
            EvidenceOfSource(
                source=name,
                n_claims=int(its_claims.sum()),
                n_pairs=int(here.sum()),
                n_gold=int(is_gold[here].sum()) if is_gold is not None else None,
                alpha=[
                    MetricAlpha.extending(to_figure(_alpha(labels, level, here), quick=quick), name=title)
                    for title, (labels, level) in coded.items()
                ],
                n_claims_with_both=int(with_both.sum()),
                conflicts=_share_of_claims(conflicting, with_both, quick),
            )
        )
    verdicts, n_verdicts = _verdicts(source, pairs, items)
    return EvidenceContent(
        sources=rows,
        n_sources_not_listed=max(0, int(pairs.units["source"].nunique()) - MAX_SOURCES),
        metrics=list(coded),
        dimensions=_labels(pairs, items, quick),
        verdicts=verdicts,
        n_verdicts_not_listed=max(0, n_verdicts - MAX_VERDICTS),
    )


def _verdicts(source: Source, pairs: Pairs, items: Items) -> tuple[list[ClaimVerdict], int]:
    """Claims by verdict, the most frequent first, and how many verdicts there are."""
    claims = source.content("claim").set_index("key")["verdict"]
    names = claims.reindex(pairs.units["claim"].dropna().unique()).fillna("")
    counts = Counter(names.tolist())
    listed = sorted(counts.items(), key=lambda row: (-row[1], row[0]))[:MAX_VERDICTS]
    titles = {verdict: verdict or "none" for verdict, _ in listed}
    codes = pd.Index(list(titles), dtype=object).get_indexer(pairs.units["claim"].map(names))
    items.add("verdict", "Verdict on the claim", codes, titles)
    return [ClaimVerdict(verdict=verdict, n_claims=n) for verdict, n in listed], len(counts)


def _is_gold(source: Source, pairs: Pairs) -> np.ndarray | None:
    """Where the evidence is the claim's gold evidence; None where the data do not say of any."""
    evidence = source.content("evidence").set_index("key")["is_gold"].reindex(pairs.units["evidence"])
    return evidence.eq(True).fillna(False).to_numpy(dtype=bool) if evidence.notna().any() else None


def _coded(pairs: Pairs, metric: Metric) -> Labels:
    """People's labels of a metric of the task type."""
    dimension, labels = pairs.kind.dimension(metric.dimension), pairs.labels
    mine, values = labels[labels["dimension"] == dimension.slug], dimension.values
    if metric.missing_as:
        condition = dimension.asked_when
        unasked = labels[(labels["dimension"] == condition.dimension) & ~labels["label"].isin(condition.labels)]
        mine, values = pd.concat([mine, unasked.assign(label=metric.missing_as)]), (*values, metric.missing_as)
    units = pairs.units.assign(cluster=pairs.cluster)
    exchangeable = bool((mine["rater_kind"] == SLOT).any())
    return coded_labels(mine, units, values, exchangeable=exchangeable)


def _alpha(labels: Labels, level: str, here: np.ndarray):
    return krippendorff_alpha(labels if here.all() else labels.select_units(here), level)


def _share_of_claims(conflicting: np.ndarray, counted: np.ndarray, quick: bool) -> ConflictShare:
    """Claims are independent of each other."""
    figure = to_figure(mean_share(conflicting[counted].astype(float)), quick=quick)
    share = ConflictShare.extending(figure, n=int(conflicting.sum()))
    return share if counted.any() else replace(share, undefined=NO_TWO_STANCES)


def _labels(pairs: Pairs, items: Items, quick: bool) -> list[EvidenceLabels]:
    """How many pairs have each label, of all that have any, and by source; and those without one by reason."""
    relevance = relevance_dimension(pairs.kind)
    dimensions = [(relevance, pairs.relevance)] if relevance is not None else []
    dimensions.append((stance_dimension(pairs.kind), pairs.stance))
    return [_labels_of(pairs, items, *one, quick=quick) for one in dimensions]


def _labels_of(
    pairs: Pairs, items: Items, dimension: Dimension, reference: Reference, *, quick: bool
) -> EvidenceLabels:
    places = [(label.value, label.title, reference.code == place) for place, label in enumerate(dimension.labels)]
    if reference.not_asked.any():
        places.append((NOT_RELEVANT, pairs.titles[NOT_RELEVANT], reference.not_asked))
    none = {"tied": reference.tied, "unlabelled": (reference.code < 0) & ~reference.tied & ~reference.not_asked}
    titles = {value: title for value, title, _ in places} | NO_REASON
    parts = {value: where for value, _, where in places}
    items.add_parts(dimension.slug, dimension.title, parts | none, titles)
    of_source = [pairs.source_code == place for place in range(len(pairs.sources))]
    shares = share_figures(
        parts,
        pairs.cluster,
        quick=quick,
        n_resamples=n_resamples(pairs.n_claims),
        undefined=NO_LABEL,
    )
    return EvidenceLabels(
        dimension=dimension.slug,
        title=dimension.title,
        labels=[
            EvidenceLabel(
                label=value,
                title=title,
                n=int(where.sum()),
                share=shares[value],
                by_source=[int((where & here).sum()) for here in of_source],
            )
            for value, title, where in places
        ],
        without=[
            WithoutLabel(reason=name, title=NO_REASON[name], n=int(np.count_nonzero(where)))
            for name, where in none.items()
        ],
    )

"""What a project's data are (DRUID, tables 1 to 3, 8 and 9): claims and evidence by source, labels, conflicts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from analysis.reports.coding import coded_labels
from analysis.reports.druid_data import MAX_SOURCES, NOT_RELEVANT, Pairs, relevance_dimension
from analysis.reports.figures import figure
from analysis.sources import Source
from analysis.sources.base import SLOT
from annotation.task_types import Metric

if TYPE_CHECKING:
    import numpy as np

    from analysis.stats import Estimate, Labels

ALL = ""  # the row of all sources; a source always has a name
MAX_VERDICTS = 50
NO_REASON = {"tied": "people are divided", "unlabelled": "nobody has labelled it"}


def content(source: Source, pairs: Pairs) -> tuple[dict, dict[str, list[int]]]:
    """The part of the result, and the units behind its figures."""
    import numpy as np

    from analysis.stats import inter_context_conflicts

    of_source = pairs.units["source"].to_numpy()
    claims = source.content("claim").set_index("key")
    is_gold = _is_gold(source, pairs)
    coded = {
        f"{metric.name}, {metric.level}": _coded(pairs, metric)
        for metric in pairs.kind.metrics
        if not metric.derived and not pairs.kind.dimension(metric.dimension).is_hidden
    }
    found = inter_context_conflicts(pairs.cluster, pairs.n_claims, pairs.stances)
    rows: list[dict] = []
    behind: dict[str, list[int]] = {}
    for name in (ALL, *pairs.sources):
        here = np.ones(len(of_source), dtype=bool) if name == ALL else of_source == name
        # Those with evidence of the source: evidence of one claim may be split.
        its_claims = np.bincount(pairs.cluster[here], minlength=pairs.n_claims) > 0
        conflicting = found.conflicting & its_claims
        behind[f"source/{name}"] = pairs.ids(here)
        behind[f"conflicts/{name}"] = pairs.ids(conflicting[pairs.cluster] & _is_decided(pairs))
        rows.append(
            {
                "source": name,
                "n_claims": int(its_claims.sum()),
                "n_pairs": int(here.sum()),
                "n_gold": int(is_gold[here].sum()) if is_gold is not None else None,
                "alpha": [
                    {"name": metric, **figure(_alpha(labels, level, here))} for metric, (labels, level) in coded.items()
                ],
                "n_claims_with_both": int((its_claims & (found.n_stances > 1)).sum()),
                "conflicts": _share_of_claims(conflicting, its_claims & (found.n_stances > 1)),
            }
        )
    dimensions, ids = _labels(pairs)
    verdicts = Counter(claims["verdict"].reindex(pairs.units["claim"].dropna().unique()).fillna("").tolist())
    return {
        "sources": rows,
        "n_sources_not_listed": max(0, int(pairs.units["source"].nunique()) - MAX_SOURCES),
        "metrics": list(coded),
        "dimensions": dimensions,
        "verdicts": [
            {"verdict": verdict, "n_claims": n}
            for verdict, n in sorted(verdicts.items(), key=lambda row: (-row[1], row[0]))
        ][:MAX_VERDICTS],
        "n_verdicts_not_listed": max(0, len(verdicts) - MAX_VERDICTS),
    }, behind | ids


def _is_gold(source: Source, pairs: Pairs) -> np.ndarray | None:
    """Where the evidence is the claim's gold evidence; None where the data do not say of any."""
    evidence = source.content("evidence").set_index("key")["is_gold"].reindex(pairs.units["evidence"])
    return evidence.eq(True).fillna(False).to_numpy(dtype=bool) if evidence.notna().any() else None


def _is_decided(pairs: Pairs) -> np.ndarray:
    from analysis.stats.shifts import AGAINST, FOR

    return pairs.has_stance(AGAINST) | pairs.has_stance(FOR)


def _coded(pairs: Pairs, metric: Metric) -> tuple[Labels, str]:
    """People's labels of a metric of the task type, and the level that its alpha has."""
    import pandas as pd

    dimension, labels = pairs.kind.dimension(metric.dimension), pairs.labels
    mine, values = labels[labels["dimension"] == dimension.slug], dimension.values
    if metric.missing_as:
        condition = dimension.asked_when
        unasked = labels[(labels["dimension"] == condition.dimension) & ~labels["label"].isin(condition.labels)]
        mine, values = pd.concat([mine, unasked.assign(label=metric.missing_as)]), (*values, metric.missing_as)
    units = pairs.units.assign(cluster=pairs.cluster)
    exchangeable = bool((mine["rater_kind"] == SLOT).any())
    return coded_labels(mine, units, values, exchangeable=exchangeable), metric.level


def _alpha(labels: Labels, level: str, here: np.ndarray) -> Estimate:
    from analysis.stats import krippendorff_alpha

    return krippendorff_alpha(labels if here.all() else labels.select_units(here), level)


def _share_of_claims(conflicting: np.ndarray, counted: np.ndarray) -> dict:
    """Of claims with a stance of at least two pieces of evidence, the share in conflict; claims are independent."""
    from analysis.stats import mean_share

    return figure(mean_share(conflicting[counted].astype(float))) | {"n": int(conflicting.sum())}


def _labels(pairs: Pairs) -> tuple[list[dict], dict[str, list[int]]]:
    """How many pairs have each label, by source, and those without one by reason."""
    import numpy as np

    of_source = pairs.units["source"].to_numpy()
    relevance = relevance_dimension(pairs.kind)
    dimensions = [(relevance, pairs.relevance)] if relevance is not None else []
    dimensions.append((next(one for one in pairs.kind.dimensions if one.role == "stance"), pairs.stance))
    found, behind = [], {}
    for dimension, reference in dimensions:
        places = [(label.value, label.title, reference.code == place) for place, label in enumerate(dimension.labels)]
        if reference.not_asked.any():
            places.append((NOT_RELEVANT, pairs.titles[NOT_RELEVANT], reference.not_asked))
        n_decided = sum(int(where.sum()) for _, _, where in places)
        rows = []
        for value, title, where in places:
            behind[f"label/{dimension.slug}/{value}"] = pairs.ids(where)
            rows.append(
                {
                    "label": value,
                    "title": title,
                    "n": int(where.sum()),
                    "share": int(where.sum()) / n_decided if n_decided else None,
                    "by_source": [int((where & (of_source == name)).sum()) for name in pairs.sources],
                }
            )
        none = {"tied": reference.tied, "unlabelled": (reference.code < 0) & ~reference.tied & ~reference.not_asked}
        behind |= {f"label/{dimension.slug}/{name}": pairs.ids(where) for name, where in none.items()}
        found.append(
            {
                "dimension": dimension.slug,
                "title": dimension.title,
                "labels": rows,
                "without": [
                    {"reason": name, "title": NO_REASON[name], "n": int(np.count_nonzero(where))}
                    for name, where in none.items()
                ],
            }
        )
    return found, behind

"""What a project's data are (DRUID, tables 1 to 3, 8 and 9): claims and evidence by source, labels, conflicts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from analysis.reports.behind_sets import UnitSets, key
from analysis.reports.coding import coded_labels
from analysis.reports.druid_data import (
    MAX_SOURCES,
    NOT_RELEVANT,
    SHOWN_SOURCES,
    Pairs,
    relevance_dimension,
    stance_dimension,
)
from analysis.reports.druid_means import n_resamples
from analysis.reports.figures import figure
from analysis.reports.shares import shares_of
from analysis.sources import Source
from analysis.sources.base import SLOT
from annotation.task_types import Metric

if TYPE_CHECKING:
    import numpy as np

    from analysis.stats import Estimate, Labels

ALL = ""  # the row of all sources; a source always has a name
MAX_VERDICTS = 50
NO_TWO_STANCES = "no claim has two pieces of evidence with a stance"
NO_LABEL = "no pair has a label"
NO_REASON = {"tied": "people are divided", "unlabelled": "nobody has labelled it"}


def content(source: Source, pairs: Pairs) -> tuple[dict, UnitSets]:
    """The part of the result, and the units behind its figures."""
    import numpy as np

    from analysis.stats import inter_context_conflicts
    from analysis.stats.shifts import AGAINST, FOR

    sets = UnitSets(pairs.units["unit"].to_numpy())
    is_gold = _is_gold(source, pairs)
    coded = {
        f"{metric.name}, {metric.level}": (metric.name, *_coded(pairs, metric))
        for metric in pairs.kind.metrics
        if not metric.derived and not pairs.kind.dimension(metric.dimension).is_hidden
    }
    found = inter_context_conflicts(pairs.cluster, pairs.n_claims, pairs.stances)
    has_both = found.n_stances > 1
    is_decided, has_stance = pairs.has_stance(AGAINST, FOR), pairs.has_stance(*pairs.names)
    rows: list[dict] = []
    for place, name in enumerate((ALL, *pairs.sources)):
        here = pairs.source_code == place - 1 if place else np.ones(len(pairs.units), dtype=bool)
        # Those with evidence of the source: evidence of one claim may be split.
        its_claims = np.bincount(pairs.cluster[here], minlength=pairs.n_claims) > 0
        conflicting, with_both = found.conflicting & its_claims, has_both & its_claims
        of_source = key("source", name)
        sets.put(here, of_source)
        sets.put(conflicting[pairs.cluster] & is_decided, key("conflicts", name))
        rows.append(
            {
                "source": name,
                "figure": of_source,
                "n_claims": int(its_claims.sum()),
                "n_pairs": int(here.sum()),
                "n_gold": int(is_gold[here].sum()) if is_gold is not None else None,
                "gold": sets.add(is_gold & here, key("gold", name), of_source) if is_gold is not None else "",
                "alpha": [
                    {
                        "name": title,
                        **figure(_alpha(labels, level, here)),
                        "figure": sets.add(_is_pairable(labels) & here, key("pairable", metric, name), of_source),
                    }
                    for title, (metric, labels, level) in coded.items()
                ],
                "n_claims_with_both": int(with_both.sum()),
                "with_both": sets.add(with_both[pairs.cluster] & has_stance, key("several", name), of_source),
                "conflicts": _share_of_claims(conflicting, with_both),
            }
        )
    verdicts, n_verdicts = _verdicts(source, pairs, sets)
    return {
        "sources": rows,
        "n_sources_not_listed": max(0, int(pairs.units["source"].nunique()) - MAX_SOURCES),
        "metrics": list(coded),
        "dimensions": _labels(pairs, sets),
        "verdicts": verdicts,
        "n_verdicts_not_listed": max(0, n_verdicts - MAX_VERDICTS),
    }, sets


def _verdicts(source: Source, pairs: Pairs, sets: UnitSets) -> tuple[list[dict], int]:
    """Claims by verdict, the most frequent first, and how many verdicts there are; behind each, their evidence."""
    claims = source.content("claim").set_index("key")["verdict"]
    names = claims.reindex(pairs.units["claim"].dropna().unique()).fillna("")
    counts = Counter(names.tolist())
    of_pair = pairs.units["claim"].map(names).to_numpy(dtype=object)
    listed = sorted(counts.items(), key=lambda row: (-row[1], row[0]))[:MAX_VERDICTS]
    for verdict, _ in listed:
        sets.put(of_pair == verdict, key("verdict", verdict))
    return [{"verdict": verdict, "n_claims": n} for verdict, n in listed], len(counts)


def _is_gold(source: Source, pairs: Pairs) -> np.ndarray | None:
    """Where the evidence is the claim's gold evidence; None where the data do not say of any."""
    evidence = source.content("evidence").set_index("key")["is_gold"].reindex(pairs.units["evidence"])
    return evidence.eq(True).fillna(False).to_numpy(dtype=bool) if evidence.notna().any() else None


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


def _is_pairable(labels: Labels) -> np.ndarray:
    """Units with two labels or more, which is what agreement is about."""
    import numpy as np

    return np.bincount(labels.unit, minlength=labels.n_units) > 1


def _share_of_claims(conflicting: np.ndarray, counted: np.ndarray) -> dict:
    """Of claims with a stance of at least two pieces of evidence, the share in conflict; claims are independent."""
    from analysis.stats import mean_share

    share = figure(mean_share(conflicting[counted].astype(float))) | {"n": int(conflicting.sum())}
    return share if counted.any() else share | {"undefined": NO_TWO_STANCES}


def _labels(pairs: Pairs, sets: UnitSets) -> list[dict]:
    """How many pairs have each label, of all that have any, and by source; and those without one by reason."""
    import numpy as np

    of_source = [pairs.source_code == place for place in range(len(pairs.sources))]
    relevance = relevance_dimension(pairs.kind)
    dimensions = [(relevance, pairs.relevance)] if relevance is not None else []
    dimensions.append((stance_dimension(pairs.kind), pairs.stance))
    found = []
    for dimension, reference in dimensions:
        places = [(label.value, label.title, reference.code == place) for place, label in enumerate(dimension.labels)]
        if reference.not_asked.any():
            places.append((NOT_RELEVANT, pairs.titles[NOT_RELEVANT], reference.not_asked))
        drawn = n_resamples(pairs.n_claims)
        shares = shares_of({value: where for value, _, where in places}, pairs.cluster, drawn, NO_LABEL)
        rows = []
        for value, title, where in places:
            sets.put(where, key("label", dimension.slug, value))
            rows.append(
                {
                    "label": value,
                    "title": title,
                    "n": int(where.sum()),
                    "share": shares[value],
                    "by_source": [int((where & here).sum()) for here in of_source],
                    "figures": [
                        sets.add(where & here, key("label", dimension.slug, value, name), key("source", name))
                        for name, here in zip(pairs.sources[:SHOWN_SOURCES], of_source, strict=False)
                    ],
                }
            )
        none = {"tied": reference.tied, "unlabelled": (reference.code < 0) & ~reference.tied & ~reference.not_asked}
        for name, where in none.items():
            sets.put(where, key("label", dimension.slug, name))
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
    return found

"""What the texts and the models' own knowledge have to do with it: copying from the context, answers from memory."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import pandas as pd
from msgspec.structs import replace

from analysis.figures.results import Figure, number
from analysis.papers.refchecker.columns import PieceItems
from analysis.papers.refchecker.data import NONE, Study
from analysis.papers.refchecker.result import (
    KNOWLEDGE,
    CopiedLabel,
    Copying,
    CopyingOfSetting,
    CopyRate,
    Knowledge,
    Known,
    Masked,
    MaskedRow,
    Test,
)
from analysis.reports.estimates import cluster_codes, to_figure
from analysis.sources.outline import Run
from analysis.stats import copy_rates, correlation_test, holm, spearman, system_means

WORD = re.compile(r"\w+")
# Enough to tell the usual levels apart, and as few as keep large projects waiting for seconds only.
PERMUTATIONS = 999
LARGE = 20_000
FEWER_PERMUTATIONS = 99
# The score of a checker that asks a model whether it knows a piece to be so.
KNOWS = "knows"
# The score of one that reads references in which what a piece says is masked.
MASKED = "masked_label"


def words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def copying(study: Study, items: PieceItems, people: np.ndarray, *, quick: bool) -> Copying | None:
    """Copy rate of pieces by label: per setting, of all models and of each, and its correlation with how bad the label
    is (codes count from the best). None where no passage is known."""
    rate = _copy_rates(study)
    if rate is None:
        return None
    settings = [_copied(study, setting, people, rate, quick=quick) for setting in study.settings]
    p_values = iter(
        holm([np.nan if (test := one.test) is None or test.p_value is None else test.p_value for one in settings])
    )
    without = np.isnan(rate)
    items.add("copied", "With passages to be copied from", np.where(without, NONE, 0), ["yes"], [""])
    return Copying(
        settings=[
            replace(one, test=replace(one.test, p_holm=p_holm) if one.test else None)
            for one, p_holm in zip(settings, map(number, p_values), strict=True)
        ],
        n_without=int(without.sum()),
    )


def _copy_rates(study: Study) -> np.ndarray | None:
    passages = study.source.content("evidence")
    texts: dict[str, list[list[str]]] = {}
    for parent in ("question", "claim"):
        mine = passages[passages[parent].notna()].sort_values([parent, "number"])
        for key, text in zip(mine[parent], mine["text"], strict=True):
            texts.setdefault(f"{parent} {key}", []).append(words(text))
    responses = study.responses
    parents = [
        f"question {question}" if isinstance(question, str) else f"claim {claim}"
        for question, claim in zip(responses["question"], responses["claim"], strict=True)
    ]
    if not any(parent in texts for parent in parents):
        return None
    place = {key: row for row, key in enumerate(texts)}
    context = [place.get(parents[row], -1) for row in study.units["place"]]
    pieces = [words(text) for text in piece_texts(study)]
    return copy_rates(pieces, list(texts.values()), context).rate


def piece_texts(study: Study) -> list[str]:
    """What each piece says: a triplet's three parts one after the other."""
    content = study.source.content(study.kind.unit_kind).set_index("key").reindex(study.units["unit_key"])
    columns = [name for name in ("head", "relation", "tail", "text") if name in content]
    return content[columns].fillna("").agg(" ".join, axis=1).tolist()


def _copied(study: Study, setting: str, people: np.ndarray, rate: np.ndarray, *, quick: bool) -> CopyingOfSetting:
    where = ((study.units["setting"] == setting) & (people >= 0)).to_numpy()
    units, codes, rates = study.units[where], people[where], rate[where]
    cluster = cluster_codes(units)
    test = None
    if not quick:
        drawn = FEWER_PERMUTATIONS if len(units) > LARGE else PERMUTATIONS
        correlation = correlation_test(rates, codes, cluster=cluster, n_permutations=drawn)
        test = Test.taking(correlation)
    return CopyingOfSetting(
        setting=setting,
        spearman=to_figure(spearman(rates, codes, cluster), quick=quick),
        test=test,
        labels=[
            _mean_rate(label, title, units[codes == place], rates[codes == place], quick=quick)
            for place, (label, title) in enumerate(zip(study.labels, study.titles, strict=True))
        ],
    )


def _mean_rate(label: str, title: str, units: pd.DataFrame, rates: np.ndarray, *, quick: bool) -> CopiedLabel:
    clusters = units["cluster"].tolist()
    every = system_means(rates, ["all"] * len(units), clusters, ["all"]).means[0]
    models = system_means(rates, units["model"].tolist(), clusters)
    return CopiedLabel(
        label=label,
        title=title,
        all=to_figure(every, quick=quick),
        models=[
            CopyRate(model=name, rate=to_figure(one, quick=quick))
            for name, one in zip(models.systems, models.means, strict=True)
        ],
    )


def knowledge(
    study: Study, items: PieceItems, people: np.ndarray, runs: Iterable[Run], *, quick: bool
) -> list[Knowledge]:
    """What the pieces' labels are where a model knows, does not know, or is unsure of what they say, for each run whose
    scores tell that (the newest run of each model asked, of each form of asking)."""
    found: dict[tuple[str, bool], Knowledge] = {}
    for run in runs:
        asked, by_question = asked_of(run), run.parameters.get("form") == "question"
        if KNOWS not in run.scores or (asked, by_question) in found:
            continue
        knows = _scores(study, run, KNOWS)
        rows = _known(study, people, knows, quick=quick)
        one = Knowledge(run=run.uuid, asked=asked, by_question=by_question, rows=rows)
        items.add_known(len(found), one.title, run, np.where(people >= 0, knows, np.nan))
        found[asked, by_question] = one
    return list(found.values())


def _scores(study: Study, run: Run, name: str) -> np.ndarray:
    """The run's score of each piece, nan where it has none."""
    scores = study.source.score_frame(run, name).set_index("unit")["value"]
    return scores.reindex(study.units["unit"]).to_numpy(dtype=float)


def _known(study: Study, people: np.ndarray, knows: np.ndarray, *, quick: bool) -> list[Known]:
    both = (people >= 0) & np.isin(knows, list(KNOWLEDGE))
    is_best = people == 0
    kinds = {
        "memory": (knows == 1) & ~is_best,
        "context": (knows < 1) & is_best,
        "neither": (knows == -1) & (people == len(study.labels) - 1),
    }
    rows = []
    for (setting, model), part in study.units[both].groupby(["setting", "model"]):
        place = part.index.to_numpy()
        cluster = part["cluster"].tolist()
        rows.append(
            Known(
                setting=setting,
                model=model,
                n=len(place),
                counts={
                    name: [int(((knows[place] == value) & (people[place] == code)).sum()) for code in study.worst_first]
                    for value, name in KNOWLEDGE.items()
                },
                **{kind: _share(is_kind[place], cluster, quick=quick) for kind, is_kind in kinds.items()},
            )
        )
    return rows


def masked(study: Study, items: PieceItems, runs: Iterable[Run], *, quick: bool) -> list[Masked]:
    """How often each label was given by a checker that read references in which a piece's subject or object is masked:
    all but neutral come from what it remembers. Of each checker, model, mask and way of masking the newest run; per
    setting and model of the answers. Pieces in which nothing could be masked have no label, and are counted."""
    by_run: dict[str, Masked] = {}
    for run in runs:
        mask = str(run.parameters.get("mask", ""))
        by_model = " by a model" if run.parameters.get("masking") == "model" else ""
        title = f"{asked_of(run)}, {mask} masked{by_model}" if mask else asked_of(run)
        if MASKED not in run.scores or title in by_run:
            continue
        polarity = _scores(study, run, MASKED)
        items.add_masked(len(by_run), title, run, polarity)
        by_run[title] = Masked(run=run.uuid, title=title, rows=_masked_rows(study, polarity, quick=quick))
    return list(by_run.values())


def _masked_rows(study: Study, polarity: np.ndarray, *, quick: bool) -> list[MaskedRow]:
    rows = []
    for (setting, model), part in study.units.groupby(["setting", "model"]):
        known = part[~np.isnan(polarity[part.index])]
        labels, cluster = polarity[known.index], known["cluster"].tolist()
        shares = [_share(labels == value, cluster, quick=quick) for value in study.polarities]
        n_without = len(part) - len(known)
        rows.append(MaskedRow(setting=setting, model=model, n=len(known), n_without=n_without, shares=shares))
    return rows


def asked_of(run: Run) -> str:
    """The model that a run asked."""
    return str(run.provenance.get("model") or run.parameters.get("endpoint") or run.name)


def _share(is_so: np.ndarray, cluster: list, *, quick: bool) -> Figure:
    mean = system_means(is_so.astype(float), ["all"] * len(is_so), cluster, ["all"]).means[0]
    return to_figure(mean, quick=quick)

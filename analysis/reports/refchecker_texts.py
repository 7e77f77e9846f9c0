"""What the texts and the models' own knowledge have to do with it: copying from the context, answers from memory."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from analysis.reports.figures import figure, is_quick, number
from analysis.reports.opened import Behind
from analysis.reports.refchecker_behind import of_masked, of_memory
from analysis.reports.refchecker_data import NONE, Study

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from analysis.sources import Run

WORD = re.compile(r"\w+")
# Enough to tell the usual levels apart, and as few as keep large projects waiting for seconds only.
PERMUTATIONS = 999
LARGE = 20_000
FEWER_PERMUTATIONS = 99
# The score of a checker that asks a model whether it knows a piece to be so.
KNOWS = "knows"
# The score of one that reads references in which what a piece says is masked.
MASKED = "masked_label"
KNOWLEDGE = {1.0: "yes", -1.0: "no", 0.0: "unsure"}


def words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def copying(study: Study, people: np.ndarray) -> tuple[dict | None, Behind]:
    """Copy rate of pieces by label: per setting, of all models and of each, and its correlation with how bad the label
    is (codes count from the best); and pieces that have no copy rate. None where no passage is known."""
    rate = _copy_rates(study)
    if rate is None:
        return None, {}
    import numpy as np

    from analysis.stats import holm

    found = [_copied(study, setting, people, rate) for setting in study.settings]
    p_values = [one["test"]["p_value"] if one["test"] else None for one in found]
    for one, adjusted in zip(found, holm([np.nan if p is None else p for p in p_values]), strict=True):
        if one["test"]:
            one["test"]["p_holm"] = number(adjusted)
    without = np.isnan(rate)
    return {"settings": found, "n_without": int(without.sum())}, {"uncopied": study.units["unit"][without].tolist()}


def _copy_rates(study: Study) -> np.ndarray | None:
    from analysis.stats import copy_rates

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


def _copied(study: Study, setting: str, people: np.ndarray, rate: np.ndarray) -> dict:
    from analysis.stats import correlation_test, spearman

    where = ((study.units["setting"] == setting) & (people >= 0)).to_numpy()
    units, codes, rates = study.units[where], people[where], rate[where]
    cluster = units["cluster"].astype("category").cat.codes.to_numpy()
    test = None
    if not is_quick():
        drawn = FEWER_PERMUTATIONS if len(units) > LARGE else PERMUTATIONS
        found = correlation_test(rates, codes, cluster=cluster, n_permutations=drawn)
        test = {"p_value": number(found.p_value), "n_permutations": found.n_permutations, "undefined": found.undefined}
    return {
        "setting": setting,
        "spearman": figure(spearman(rates, codes, cluster)),
        "test": test,
        "labels": [
            {"label": label, "title": title, **_mean_rate(units, rates, codes == place)}
            for place, (label, title) in enumerate(zip(study.labels, study.titles, strict=True))
        ],
    }


def _mean_rate(units: pd.DataFrame, rates: np.ndarray, where: np.ndarray) -> dict:
    from analysis.stats import system_means

    rows, values = units[where], rates[where]
    clusters = rows["cluster"].tolist()
    every = system_means(values, ["all"] * len(rows), clusters, ["all"]).means[0]
    models = system_means(values, rows["model"].tolist(), clusters)
    return {
        "all": figure(every),
        "models": [
            {"model": name, "rate": figure(one)} for name, one in zip(models.systems, models.means, strict=True)
        ],
    }


def knowledge(study: Study, people: np.ndarray, runs: Iterable[Run]) -> tuple[list[dict], Behind]:
    """What the pieces' labels are where a model knows, does not know, or is unsure of what they say, for each run whose
    scores tell that (the newest run of each model asked); and the pieces behind it."""
    found: dict[str, dict] = {}
    behind: Behind = {}
    for run in runs:
        if KNOWS not in run.scores:
            continue
        asked = asked_of(run)
        if asked not in found:
            knows = _scores(study, run, KNOWS)
            found[asked] = {"run": run.uuid, "asked": asked, "rows": _known(study, people, knows)}
            behind |= of_memory(study, run, _asked(people, knows), _words(knows), people)
    return list(found.values()), behind


def _scores(study: Study, run: Run, name: str) -> np.ndarray:
    """The run's score of each piece, nan where it has none."""
    scores = study.source.score_frame(run, name).set_index("unit")["value"]
    return scores.reindex(study.units["unit"]).to_numpy(dtype=float)


def _asked(people: np.ndarray, knows: np.ndarray) -> np.ndarray:
    import numpy as np

    return (people >= 0) & np.isin(knows, list(KNOWLEDGE))


def _words(knows: np.ndarray) -> np.ndarray:
    import numpy as np

    return np.array([KNOWLEDGE.get(value, "") for value in knows.tolist()], dtype=object)


def _known(study: Study, people: np.ndarray, knows: np.ndarray) -> list[dict]:
    both = _asked(people, knows)
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
            {
                "setting": setting,
                "model": model,
                "n": len(place),
                "counts": {
                    name: [int(((knows[place] == value) & (people[place] == code)).sum()) for code in study.worst_first]
                    for value, name in KNOWLEDGE.items()
                },
                **{kind: _share(is_kind[place], cluster) for kind, is_kind in kinds.items()},
            }
        )
    return rows


def masked(study: Study, runs: Iterable[Run]) -> tuple[list[dict], Behind]:
    """How often each label was given by a checker that read references in which a piece's subject or object is masked:
    all but neutral come from what it remembers. Of each checker, model and mask the newest run; per setting and model
    of the answers. Pieces of which nothing could be masked have no label, and are counted. And the pieces behind it."""
    import numpy as np

    found: dict[str, dict] = {}
    behind: Behind = {}
    places = {study.dimension.label(label).polarity: place for place, label in enumerate(study.labels)}
    for run in runs:
        if MASKED in run.scores:
            mask = str(run.parameters.get("mask", ""))
            title = f"{asked_of(run)}, {mask} masked" if mask else asked_of(run)
            if title not in found:
                polarity = _scores(study, run, MASKED)
                found[title] = {"run": run.uuid, "title": title, "rows": _masked_rows(study, polarity)}
                codes = np.array([places.get(value, NONE) for value in polarity.tolist()], dtype=int)
                behind |= of_masked(study, run, codes, np.isnan(polarity))
    return list(found.values()), behind


def _masked_rows(study: Study, polarity: np.ndarray) -> list[dict]:
    import numpy as np

    rows = []
    for (setting, model), part in study.units.groupby(["setting", "model"]):
        known = part[~np.isnan(polarity[part.index])]
        said, cluster = polarity[known.index], known["cluster"].tolist()
        shares = [_share(said == study.dimension.label(label).polarity, cluster) for label in study.labels]
        rows.append(
            {"setting": setting, "model": model, "n": len(known), "n_without": len(part) - len(known), "shares": shares}
        )
    return rows


def asked_of(run: Run) -> str:
    """The model that a run asked."""
    return str(run.provenance.get("model") or run.parameters.get("endpoint") or run.name)


def _share(is_so: np.ndarray, cluster: list) -> dict:
    from analysis.stats import system_means

    return figure(system_means(is_so.astype(float), ["all"] * len(is_so), cluster, ["all"]).means[0])

"""Checkers against people: piece by piece, answer by answer, and across granularities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.figures import figure
from analysis.reports.refchecker_data import NONE, OFF_SCALE, Study

if TYPE_CHECKING:
    import numpy as np

    from analysis.stats import Classification, ResponseEvaluation


def pieces(study: Study, people: np.ndarray, checker: np.ndarray) -> dict:
    """Accuracy and macro-F1 over pieces per setting, and the unweighted mean of settings. Bad pieces do not count."""
    from analysis.stats import mean_of

    found = {setting: _classified(study, setting, people, checker) for setting in study.settings}
    return {
        "settings": [{"setting": setting, **_as_dict(study, one)} for setting, one in found.items()],
        "mean": {
            name: figure(mean_of([getattr(one, name) for one in found.values()], "setting"))
            for name in ("accuracy", "macro_f1")
        }
        if len(found) > 1
        else None,
    }


def _classified(study: Study, setting: str, people: np.ndarray, checker: np.ndarray) -> Classification:
    import numpy as np

    from analysis.stats import classification

    where = (study.units["setting"] == setting).to_numpy() & (people != OFF_SCALE)
    cluster = study.units["cluster"].astype("category").cat.codes.to_numpy()[where]
    return classification(people[where], np.maximum(checker[where], NONE), study.labels, cluster)


def _as_dict(study: Study, found: Classification) -> dict:
    return {
        "accuracy": figure(found.accuracy),
        "macro_f1": figure(found.macro_f1),
        "n_people": int(found.accuracy.n_pairable + found.accuracy.left_out.get("no prediction", 0)),
        "n_differ": int(found.confusion.sum() - found.confusion.trace()),
        "confusion": found.confusion.tolist(),
    }


def answers(study: Study, people: np.ndarray, checker: np.ndarray, without: frozenset[str]) -> list[dict]:
    """Figures over answers per setting, of the models that are not left out.

    An answer counts where every piece has a label by people, and the checker has one for every piece that people did
    not find bad.
    """
    import numpy as np

    from analysis.stats import response_evaluation

    reference = np.where(study.complete(people)[:, None], study.counts(people), 0)
    asked = study.beside(people, checker)
    predicted = np.where(study.complete(asked)[:, None], study.counts(asked), 0)
    kept = ~study.responses["model"].isin(without).to_numpy()
    found = []
    for setting in study.settings:
        where = kept & (study.responses["setting"] == setting).to_numpy()
        n_abstained = None
        if not study.abstained_unknown:
            n_abstained = int((study.responses["n_units"].to_numpy()[where] == 0).sum())
        result = response_evaluation(
            reference[where],
            predicted[where],
            study.labels,
            study.worst_first,
            [0],
            study.item_codes()[where],
        )
        found.append(
            {"setting": setting, "n_responses": int(where.sum()), "n_abstained": n_abstained, **_level(result)}
        )
    return found


def _level(found: ResponseEvaluation) -> dict:
    strict = found.strict.confusion  # an answer is factual where its worst label is the best one
    return {
        "n": found.accuracy.n_pairable,
        "n_factual": found.n_factual,
        "n_predicted_factual": found.n_predicted_factual,
        "accuracy": figure(found.accuracy),
        "factual_f1": figure(found.factual_f1),
        "non_factual_f1": figure(found.non_factual_f1),
        "pearson": figure(found.pearson),
        "spearman": figure(found.spearman),
        "strict_accuracy": figure(found.strict.accuracy),
        "strict_macro_f1": figure(found.strict.macro_f1),
        "n_differ": int(strict[0, 1:].sum() + strict[1:, 0].sum()),
        "n_strict_differ": int(strict.sum() - strict.trace()),
    }


def strict_by_response(study: Study, codes: np.ndarray) -> dict[str, int]:
    """The worst label among its pieces, of each response whose pieces all have one."""
    code = study.worst_labels(codes)
    return {key: place for key, place in zip(study.responses["response"], code.tolist(), strict=True) if place >= 0}


def granularity(study: Study, by_people: dict[str, int], by_checker: dict[str, int]) -> dict:
    """Strict labels of answers: by people, from this project's pieces, and by a checker, from some project's pieces.
    Only answers that both label count."""
    import numpy as np

    from analysis.stats import classification, mean_of

    responses = study.responses
    settings, macro, accuracy = [], [], []
    for setting in study.settings:
        mine = responses[responses["setting"] == setting]
        sides = [
            np.array([side.get(key, NONE) for key in mine["response"]], dtype=int) for side in (by_people, by_checker)
        ]
        cluster = mine["item"].astype("category").cat.codes.to_numpy()
        found = classification(*sides, study.labels, cluster)
        macro.append(found.macro_f1)
        accuracy.append(found.accuracy)
        settings.append(
            {
                "setting": setting,
                "n_differ": int(found.confusion.sum() - found.confusion.trace()),
                "accuracy": figure(found.accuracy),
                "macro_f1": figure(found.macro_f1),
            }
        )
    return {
        "settings": settings,
        "mean": {"accuracy": figure(mean_of(accuracy, "setting")), "macro_f1": figure(mean_of(macro, "setting"))}
        if len(settings) > 1
        else None,
    }

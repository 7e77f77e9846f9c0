"""Checkers against people: piece by piece, answer by answer, and across granularities."""

from __future__ import annotations

import numpy as np

from analysis.papers.refchecker.data import NONE, OFF_SCALE, Study
from analysis.papers.refchecker.result import (
    Accuracy,
    AnswersOfSetting,
    Granularity,
    GranularityOfSetting,
    Pieces,
    PiecesOfSetting,
)
from analysis.reports.estimates import cluster_codes, to_figure
from analysis.stats import Classification, Estimate, ResponseEvaluation, classification, mean_of, response_evaluation


def pieces(study: Study, people: np.ndarray, checker: np.ndarray, *, quick: bool) -> Pieces:
    """Accuracy and macro-F1 over pieces per setting, and the unweighted mean of settings. Bad pieces do not count."""
    classifications = {setting: _classified(study, setting, people, checker) for setting in study.settings}
    return Pieces(
        settings=[_of_setting(setting, one, quick=quick) for setting, one in classifications.items()],
        mean=_mean_of_settings(list(classifications.values()), quick=quick),
    )


def _mean_of_settings(classifications: list[Classification], *, quick: bool) -> Accuracy | None:
    if len(classifications) < 2:
        return None
    means = {
        name: mean_of([getattr(one, name) for one in classifications], "setting") for name in ("accuracy", "macro_f1")
    }
    return Accuracy(**{name: to_figure(one, quick=quick) for name, one in means.items()})


def _classified(study: Study, setting: str, people: np.ndarray, checker: np.ndarray) -> Classification:
    where = (study.units["setting"] == setting).to_numpy() & (people != OFF_SCALE)
    cluster = cluster_codes(study.units)[where]
    return classification(people[where], np.maximum(checker[where], NONE), study.labels, cluster)


def _of_setting(setting: str, classification: Classification, *, quick: bool) -> PiecesOfSetting:
    return PiecesOfSetting(
        setting=setting,
        accuracy=to_figure(classification.accuracy, quick=quick),
        macro_f1=to_figure(classification.macro_f1, quick=quick),
        n_people=int(classification.accuracy.n_pairable + classification.accuracy.left_out.get("no prediction", 0)),
        n_differ=int(classification.confusion.sum() - classification.confusion.trace()),
        confusion=classification.confusion.tolist(),
    )


def answers(
    study: Study, people: np.ndarray, checker: np.ndarray, without: frozenset[str], *, quick: bool
) -> list[AnswersOfSetting]:
    """Figures over answers per setting, of the models that are not left out.

    An answer counts where every piece has a label by people, and the checker has one for every piece that people did
    not find bad.
    """
    reference = np.where(study.complete(people)[:, None], study.counts(people), 0)
    asked = study.aligned(people, checker)
    predicted = np.where(study.complete(asked)[:, None], study.counts(asked), 0)
    kept = ~study.responses["model"].isin(without).to_numpy()
    answers_of_settings = []
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
        strict = result.strict.confusion  # an answer is factual where its worst label is the best one
        answers_of_settings.append(
            AnswersOfSetting(
                setting=setting,
                n_responses=int(where.sum()),
                n_abstained=n_abstained,
                n=result.accuracy.n_pairable,
                n_factual=result.n_factual,
                n_predicted_factual=result.n_predicted_factual,
                n_differ=int(strict[0, 1:].sum() + strict[1:, 0].sum()),
                n_strict_differ=int(strict.sum() - strict.trace()),
                **{name: to_figure(one, quick=quick) for name, one in _estimates(result).items()},
            )
        )
    return answers_of_settings


def _estimates(evaluation: ResponseEvaluation) -> dict[str, Estimate]:
    names = ("accuracy", "factual_f1", "non_factual_f1", "pearson", "spearman")
    of_strict = {"strict_accuracy": evaluation.strict.accuracy, "strict_macro_f1": evaluation.strict.macro_f1}
    return {name: getattr(evaluation, name) for name in names} | of_strict


def strict_by_response(study: Study, codes: np.ndarray) -> dict[str, int]:
    """The worst label among its pieces, of each response whose pieces all have one."""
    code = study.worst_labels(codes)
    return {key: place for key, place in zip(study.responses["response"], code.tolist(), strict=True) if place >= 0}


def granularity(
    study: Study, of: str, checker: str, by_people: dict[str, int], by_checker: dict[str, int], *, quick: bool
) -> Granularity:
    """Strict labels of answers: by people, from this project's pieces, and by a checker, from some project's pieces,
    which are called `of`. Only answers that both label count."""
    responses = study.responses
    settings, every = [], []
    for setting in study.settings:
        mine = responses[responses["setting"] == setting]
        sides = [
            np.array([side.get(key, NONE) for key in mine["response"]], dtype=int) for side in (by_people, by_checker)
        ]
        cluster = mine["item"].astype("category").cat.codes.to_numpy()
        measures = classification(*sides, study.labels, cluster)
        every.append(measures)
        settings.append(
            GranularityOfSetting(
                setting=setting,
                n_differ=int(measures.confusion.sum() - measures.confusion.trace()),
                accuracy=to_figure(measures.accuracy, quick=quick),
                macro_f1=to_figure(measures.macro_f1, quick=quick),
            )
        )
    return Granularity(pieces=of, checker=checker, settings=settings, mean=_mean_of_settings(every, quick=quick))

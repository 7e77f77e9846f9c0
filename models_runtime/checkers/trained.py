"""Judging by what people judged before: a classifier per dimension, trained on a project's own labels (`training`).

The label is the most probable one of the dimension's classifier, with the classifier's probabilities. A dimension
that was not trained is not answered; one that is asked only under some answers to another is answered only when those
were predicted. The rationale is the sentence nearest to the claim, in the passage that stands for the input.

An input that the classifier was trained on would get its own label back. It gets the prediction of the fold that left
it, and every other text of its claim or question, out of training; the score `out_of_fold` is 1 then, and 0 for
an input that the classifier never met (in between where both hold, by dimension).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..contracts import (
    ROLES,
    CheckerInfo,
    CheckerInput,
    LabelPrediction,
    LabelSpace,
    ModelError,
    ParameterInfo,
    PredictedSpan,
    Prediction,
    ScoreInfo,
)
from ..inputs import failed
from ..labels.labelling import answer, kept_spans, prediction, without_answer
from ..loading.parameters import DEVICE
from ..packages import MINILM, SCIKIT_LEARN, SENTENCE_TRANSFORMERS, SPACY, TORCH
from ..provenance import versions
from ..training import store
from ..training.features import VERSION, Features
from ..training.learning import input_hash

INFO = CheckerInfo(
    slug="trained",
    version="1",
    kind="trained",
    title="Trained on this project",
    summary="A classifier trained on this project's labels.",
    roles=ROLES,
    needs="cpu",
    packages=(TORCH, SENTENCE_TRANSFORMERS, MINILM, SPACY, SCIKIT_LEARN),
    model="",
    licence="Apache-2.0",
    parameters=(
        ParameterInfo("model", "Trained checker", "str", ""),
        DEVICE,
    ),
    scores=(
        ScoreInfo("out_of_fold", "Answered by a classifier that had not seen its claim's texts", 0, 1),
        ScoreInfo("nearness", "Nearness of the sentence that stands for the evidence", -1, 1),
    ),
)


class TrainedChecker:
    def __init__(self, info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> None:
        if not parameters["model"]:
            raise ModelError("no trained checker was chosen: name one in the parameter 'model'")
        self.info, self.parameters = info, parameters
        self.model = store.read(parameters["model"])
        self.spaces = tuple(space for space in spaces if space.dimension in self.model.dimensions)
        if not self.spaces:
            asked = ", ".join(space.dimension for space in spaces)
            raise ModelError(f"this checker was trained for {', '.join(self.model.dimensions)}, not for {asked}")
        for space in self.spaces:
            foreign = set(self.model.labels(space.dimension)) - set(space.values)
            if foreign:
                raise ModelError(f"{space.dimension}: it was trained on labels that are not asked: {sorted(foreign)}")
        features = self.model.metadata["features"]
        self.features = Features.of(features, parameters["device"])
        here = self.features.describe()
        for name in ("features", "encoder", "encoder_revision", "layers", "pooling", "prompt"):
            if features.get(name) != here.get(name):
                raise ModelError(
                    f"it was trained on {name.replace('_', ' ')} {features.get(name)}, and here is {here.get(name)}: "
                    "train it again"
                )
        self.predictors = {one.dimension: self.model.predictor(one.dimension, self.features) for one in self.spaces}
        self.out_of_fold = {space.dimension: self.model.out_of_fold(space.dimension) for space in self.spaces}

    def describe(self) -> dict[str, Any]:
        described = self.features.describe()
        return {
            "checker": self.info.slug,
            "version": self.info.version,
            "model": self.parameters["model"],
            "revision": f"sha256:{self.model.id}",
            "parameters": dict(self.parameters),
            "device": self.features.used_device(),
            "classifier": self.model.metadata["settings"]["classifier"],
            "representation": described["representation"],
            "features": VERSION,
            "encoder": described.get("encoder", ""),
            "encoder_revision": described.get("encoder_revision", ""),
            **{name: described[name] for name in ("layers", "pooling", "prompt", "dtype") if name in described},
            "trained_on": f"sha256:{self.model.metadata['data_sha256']}",
            "libraries": described["libraries"] | versions("numpy"),
            "dimensions": [space.dimension for space in self.spaces],
        }

    def predict(self, inputs: Sequence[CheckerInput]) -> list[Prediction]:
        import numpy as np

        predictions: list[Prediction | None] = []
        for item in inputs:
            try:
                predictions.append(without_answer(self.spaces, item, [score.name for score in self.info.scores]))
            except Exception as error:
                predictions.append(failed(item, error))
        asked = [place for place, prediction in enumerate(predictions) if prediction is None]
        rows = dict(zip(asked, self.features.rows([inputs[place] for place in asked]), strict=True))
        readable = [place for place, row in rows.items() if not isinstance(row, Exception)]
        matrix = np.array([rows[place].values for place in readable])  # of a cross-encoder, texts
        by_dimension = {
            dimension: dict(zip(readable, predictor.probabilities(matrix), strict=True)) if readable else {}
            for dimension, predictor in self.predictors.items()
        }
        for place, row in rows.items():
            if isinstance(row, Exception):
                predictions[place] = failed(inputs[place], row)
            else:
                by_label = {dimension: values[place] for dimension, values in by_dimension.items()}
                predictions[place] = self._answer(inputs[place], row, by_label)
        return predictions

    def _answer(self, item: CheckerInput, row, probabilities: dict[str, Any]) -> Prediction:
        key = input_hash(item)
        known = {dimension: values[key] for dimension, values in self.out_of_fold.items() if key in values}

        def label_of(space: LabelSpace) -> LabelPrediction:
            values = known.get(space.dimension, probabilities[space.dimension])
            labels = self.model.labels(space.dimension)
            return prediction(space, {label: float(value) for label, value in zip(labels, values, strict=True)})

        labels = answer(self.spaces, label_of)
        span = PredictedSpan(row.field, row.start, row.end, row.quote, row.nearness)
        share = sum(dimension in known for dimension in labels) / len(labels)
        scores = {"out_of_fold": share, "nearness": row.nearness}
        return Prediction(item.id, labels, scores, kept_spans(self.spaces, labels, span))


build = TrainedChecker

"""Checkers that are fine-tuned transformers: a tiny one, on texts whose words decide."""

from __future__ import annotations

import random

import numpy as np
import pytest

from models_runtime import STANCE, CheckerInput, load
from models_runtime.contracts import ModelError
from models_runtime.loading.model_files import weights_hash
from models_runtime.training import Example, Settings, store, train
from models_runtime.training import cross_encoder as network
from models_runtime.training.features import Features

from .tiny import tiny_bert, voting_bert

WORDS = ["ice", "so", "then", "it", "was", "confirmed", "refuted"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "_root", None)
    monkeypatch.setattr(network, "LEARNING_RATE", 3e-2)  # there are few steps
    store.keep_in(tmp_path / "models")


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """Its state tells the words that decide. Its head of three labels gives way to one of the two that are learnt."""
    votes = {"confirmed": "entailment", "refuted": "contradiction"}
    return str(voting_bert(tmp_path_factory.mktemp("bert"), WORDS, {}, second_votes=votes))


def examples(shuffled=False) -> list[Example]:
    draw, found = random.Random(0), []
    for number in range(20):
        for word, label in (("confirmed", "supports"), ("refuted", "refutes")):
            text = "so " * draw.randrange(4) + f"it was {word} " + "then " * draw.randrange(4)
            item = CheckerInput(f"{number}-{label}", {"claim": "ice " * (number + 1), "evidence": text})
            found.append(Example(item, f"c{number}", {"stance": label}))
    if shuffled:
        labels = [one.labels for one in found]
        draw.shuffle(labels)
        found = [Example(one.input, one.group, said) for one, said in zip(found, labels, strict=True)]
    return found


def trained_on(found, base, **more):
    return train(found, Settings("cross-encoder"), representation="cross-encoder", encoder=base, device="cpu", **more)


def accuracy(trained) -> float:
    return trained.metadata["dimensions"]["stance"]["evaluation"]["scores"]["accuracy"]


@pytest.mark.slow
def test_the_words_that_decide_are_learnt_and_permuted_labels_are_not(base):
    trained = trained_on(examples(), base)
    assert accuracy(trained) == 1.0
    assert abs(accuracy(trained_on(examples(shuffled=True), base, folds=3)) - 0.5) < 0.25
    metadata = trained.metadata
    assert metadata["features"]["encoder"] == base and metadata["settings"]["classifier"] == "cross-encoder"
    assert [one["share"] for one in metadata["dimensions"]["stance"]["evaluation"]["curve"]] == [1.0]
    # A text that it never met, and one that it was trained on, whose answer is that of the fold without it.
    checker = load("trained", STANCE, {"model": trained.id, "device": "cpu"})
    new = CheckerInput("new", {"claim": "then", "evidence": "so so it was refuted"})
    known, met = checker.predict([examples()[0].input, new])
    assert (known.labels["stance"].label, known.scores["out_of_fold"]) == ("supports", 1.0)
    assert (met.labels["stance"].label, met.scores["out_of_fold"]) == ("refutes", 0.0)
    assert checker.describe()["encoder_revision"] == metadata["features"]["encoder_revision"]


def test_weights_stored_and_read_again_say_the_same(base):
    features = Features("cross-encoder", "cpu", encoder=base)
    pairs = np.array([row.values for row in features.rows([one.input for one in examples()])])
    from models_runtime.training.classifiers import Data

    labels = [one.labels["stance"] for one in examples()]
    fitted = features.encoder.fit(Data(pairs, labels, [one.group for one in examples()], 2), Settings("cross-encoder"))
    again = features.encoder.restored(fitted.labels, fitted.arrays())
    found = fitted.probabilities(pairs)
    assert np.allclose(found.sum(axis=1), 1) and found.std(axis=0).min() > 0.1
    assert np.array_equal(again.probabilities(pairs), found)
    # Against the library: one pair alone, without padding, is what it is among others.
    import torch

    with torch.no_grad():
        logits = fitted.model(**fitted.tokenizer(*pairs[3], return_tensors="pt")).logits
    assert found[3] == pytest.approx(torch.softmax(logits.double(), dim=1)[0].numpy(), abs=1e-5)


def test_it_can_be_stopped_between_two_steps_and_stores_nothing(base, tmp_path):
    def beat(done, total, doing):
        told.append(doing)
        if len(told) > 5:
            raise KeyboardInterrupt

    told: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        trained_on(examples(), base, beat=beat)
    assert told[-1] == told[-2] == "Training and testing: stance" and not (tmp_path / "models").exists()


def test_another_base_under_its_name_is_refused(base, tmp_path):
    other = tmp_path / "base"
    trained = trained_on(examples(), str(tiny_bert(other, WORDS)), folds=2)
    tiny_bert(other, WORDS, seed=9)
    weights_hash.cache_clear()  # a process reads a folder once
    with pytest.raises(ModelError, match="train it again"):
        load("trained", STANCE, {"model": trained.id, "device": "cpu"})


def test_texts_and_networks_go_together(base):
    with pytest.raises(ValueError, match="learns from texts"):
        train(examples(), Settings("svm"), representation="cross-encoder", encoder=base)
    with pytest.raises(ModelError, match="no folder"):
        trained_on(examples(), "/nowhere")

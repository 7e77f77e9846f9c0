"""Checkers trained on hidden states of a causal language model: with models whose states are known."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest

from models_runtime import STANCE, CheckerInput, load
from models_runtime.contracts import ModelError, ParameterError
from models_runtime.training import Example, Settings, store, train
from models_runtime.training.hidden import HiddenEncoder, HiddenStates, read_prompt

from .tiny import tiny_llama
from .tiny_causal import voting_llama

VOTES = {"confirmed": "True", "refuted": "False"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "_root", None)
    store.keep_in(tmp_path / "models")


@pytest.fixture(scope="module")
def voting(tmp_path_factory):
    """After its one layer, the last token's state says which words the text has; before it, nothing."""
    return str(voting_llama(tmp_path_factory.mktemp("voting"), VOTES))


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    return str(tiny_llama(tmp_path_factory.mktemp("llama"), seed=6))


def examples(claims=24, shuffled=False) -> list[Example]:
    draw, found = random.Random(0), []
    for number in range(claims):
        for word, label in (("confirmed", "supports"), ("refuted", "refutes")):
            text = "so " * draw.randrange(9) + f"it was {word} " + "then " * draw.randrange(9)
            item = CheckerInput(f"{number}-{label}", {"claim": "ice " * (number + 1), "evidence": text})
            found.append(Example(item, f"c{number}", {"stance": label}))
    if shuffled:
        labels = [one.labels for one in found]
        draw.shuffle(labels)
        found = [Example(one.input, one.group, said) for one, said in zip(found, labels, strict=True)]
    return found


def trained_on(found, model, layers="-1", classifier="logistic", pooling="last"):
    hidden = HiddenStates(model, layers, pooling)
    return train(found, Settings(classifier), representation="hidden-states", hidden=hidden, shares=(), device="cpu")


def accuracy(trained) -> float:
    return trained.metadata["dimensions"]["stance"]["evaluation"]["scores"]["accuracy"]


@pytest.mark.parametrize("classifier", ["logistic", "svm", "ensemble"])
def test_what_a_hidden_state_tells_is_learnt_and_permuted_labels_are_not(voting, classifier):
    assert accuracy(trained_on(examples(), voting, classifier=classifier)) == 1.0
    assert abs(accuracy(trained_on(examples(shuffled=True), voting, classifier=classifier)) - 0.5) < 0.25


def test_it_is_the_chosen_layer_that_is_read(voting):
    """Before any layer the last token knows only itself, and the mean knows all words."""
    assert accuracy(trained_on(examples(), voting, layers="0")) < 0.7
    assert accuracy(trained_on(examples(), voting, layers="0", pooling="mean")) == 1.0


def test_an_ensemble_of_layers_asks_a_classifier_of_each(voting):
    trained = trained_on(examples(), voting, layers="0, -1", pooling="mean")
    assert trained.metadata["features"]["layers"] == "0,1"
    arrays = store.read(trained.id).predictor("stance").arrays
    assert {name.partition("/")[0] for name in arrays} == {"0", "1"}
    assert accuracy(trained) == 1.0


@pytest.mark.parametrize("classifier", ["logistic", "ensemble"])
def test_the_stored_checker_answers_as_it_was_trained_and_says_on_what(voting, classifier):
    trained = trained_on(examples(), voting, layers="all", classifier=classifier)
    checker = load("trained", STANCE, {"model": trained.id, "device": "cpu"})
    texts = ["well it was refuted", "confirmed so far", " "]
    refuted, confirmed, empty = checker.predict(
        [CheckerInput(str(n), {"claim": "snow", "evidence": text}) for n, text in enumerate(texts)]
    )
    assert refuted.labels["stance"].label == "refutes" and confirmed.labels["stance"].label == "supports"
    assert empty.error.reason == "empty-evidence" and refuted.scores["out_of_fold"] == 0
    described = checker.describe()
    assert described["encoder"] == voting and described["encoder_revision"].startswith("sha256:")
    assert (described["layers"], described["pooling"]) == ("1", "last") and "sha256:" in described["prompt"]
    assert json.loads(json.dumps(described)) == described
    again = checker.predict([one.input for one in examples()])
    assert {one.scores["out_of_fold"] for one in again} == {1.0}


def test_another_model_under_the_same_name_is_refused(tmp_path):
    name = str(voting_llama(tmp_path / "model", VOTES))
    trained = trained_on(examples(), name)
    voting_llama(tmp_path / "model", {"confirmed": "False", "refuted": "True"})
    from models_runtime.loading.model_files import weights_hash
    from models_runtime.loading.models import _load

    _load.cache_clear(), weights_hash.cache_clear()
    with pytest.raises(ModelError, match="trained on encoder revision"):
        load("trained", STANCE, {"model": trained.id, "device": "cpu"})


def by_hand(folder, text) -> list[np.ndarray]:
    """Each layer's states of one text, without padding: tokens by hidden size."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    ids = AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        found = AutoModelForCausalLM.from_pretrained(folder)(ids, output_hidden_states=True).hidden_states
    return [layer[0].numpy() for layer in found]


@pytest.mark.parametrize("pooling", ["last", "mean"])
def test_states_are_those_of_each_text_alone(llama, pooling):
    pairs = [("Ice melts", "It is warm."), ("Ice melts", "It is cold, very cold. " * 9), ("é", "😀")]
    outcome = HiddenEncoder(HiddenStates(llama, "all", pooling), "cpu").states(pairs)
    template, _ = read_prompt()
    for (claim, evidence), found in zip(pairs, outcome.values, strict=True):
        layers = by_hand(llama, template.substitute(claim=claim, evidence=evidence.strip()))[1:]
        expected = [layer[-1] if pooling == "last" else layer.mean(axis=0) for layer in layers]
        assert found.shape == (2, 128) and found == pytest.approx(np.array(expected), abs=1e-4)


def test_evidence_too_long_is_cut_and_a_claim_too_long_fails_alone(llama):
    pairs = [("Ice", "cold " * 5000), ("ice " * 3000, "cold"), ("Ice", "cold")]
    outcome = HiddenEncoder(HiddenStates(llama), "cpu").states(pairs)
    assert outcome.values[0] is not None and outcome.values[2] is not None
    assert outcome.failures[1].reason == "too-long"


def test_what_is_asked_for_is_checked(llama):
    assert HiddenStates("/m", "all").places(4) == [1, 2, 3, 4]
    assert HiddenStates("/m", "-1, 0,2,4").places(4) == [0, 2, 4]
    for problem in ({"layers": "first"}, {"layers": ""}, {"pooling": "max"}, {"model": "../x"}):
        with pytest.raises(ParameterError):
            HiddenStates(**{"model": "/m", **problem})
    with pytest.raises(ModelError, match="there is no layer 9"):
        HiddenEncoder(HiddenStates(llama, "9"), "cpu")
    with pytest.raises(ModelError, match="there is no folder"):
        HiddenEncoder(HiddenStates("/nowhere/at/all"), "cpu")

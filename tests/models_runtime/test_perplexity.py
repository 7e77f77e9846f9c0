"""Perplexity by a sliding window: against every token computed alone, and where it is known by hand."""

from __future__ import annotations

import doctest
import math

import pytest

from models_runtime import CheckerInput, load
from models_runtime.contracts import ParameterError
from models_runtime.scorers import perplexity
from models_runtime.scorers.perplexity import sliding_windows

from .tiny import tiny_llama
from .tiny_causal import unigram_llama

TEXT = "In January 1963 the harbour froze from shore to shore, and people walked across."


def texts(*found):
    return [CheckerInput(str(place), {"evidence": text}) for place, text in enumerate(found)]


def scorer(folder, **parameters):
    return load("perplexity", parameters={"model": str(folder), "device": "cpu"} | parameters)


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    return tiny_llama(tmp_path_factory.mktemp("llama"), seed=5)


def brute_force(folder, text: str, contexts) -> list[float]:
    """Negative log probability of each token but the first, alone, after the tokens from `contexts(place)` on."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    ids = AutoTokenizer.from_pretrained(folder)(text)["input_ids"]
    model = AutoModelForCausalLM.from_pretrained(folder)
    found = []
    for place in range(1, len(ids)):
        with torch.no_grad():
            logits = model(torch.tensor([ids[contexts(place) : place]])).logits[0, -1].double()
        found.append(-float(torch.log_softmax(logits, -1)[ids[place]]))
    return found


def test_a_text_that_fits_is_read_at_once(llama):
    losses = brute_force(llama, TEXT, lambda place: 0)
    found, again = scorer(llama).predict(texts(TEXT, TEXT))
    assert found.scores["tokens"] == len(losses)
    assert found.scores["perplexity"] == pytest.approx(math.exp(sum(losses) / len(losses)), rel=1e-4)
    assert found.scores["perplexity_window_mean"] == pytest.approx(found.scores["perplexity"])
    assert again.scores == found.scores


def test_with_a_stride_of_one_each_token_has_the_longest_context_that_fits(llama):
    losses = brute_force(llama, TEXT, lambda place: max(0, place - 15))
    (found,) = scorer(llama, window=16, stride=1).predict(texts(TEXT))
    assert found.scores["perplexity"] == pytest.approx(math.exp(sum(losses) / len(losses)), rel=1e-4)


def test_a_longer_text_weighs_each_token_once_and_the_public_variant_each_window(llama):
    size, stride, text = 16, 6, TEXT[:40]
    n = len(brute_force(llama, text, lambda place: place - 1)) + 1
    windows = sliding_windows(n, size, stride)
    # The first token of the window that predicts each place.
    starts = {place: window.start for window in windows for place in range(window.first, window.end)}
    alone = brute_force(llama, text, starts.__getitem__)
    losses = [alone[window.first - 1 : window.end - 1] for window in windows]
    assert len({len(part) for part in losses}) > 1
    (found,) = scorer(llama, window=size, stride=stride).predict(texts(text))
    everything = sum(losses, [])
    assert len(everything) == n - 1 == found.scores["tokens"]
    assert found.scores["perplexity"] == pytest.approx(math.exp(sum(everything) / len(everything)), rel=1e-4)
    means = [sum(part) / len(part) for part in losses]
    assert found.scores["perplexity_window_mean"] == pytest.approx(math.exp(sum(means) / len(means)), rel=1e-4)
    assert found.scores["perplexity"] != pytest.approx(found.scores["perplexity_window_mean"], rel=1e-3)


@pytest.mark.parametrize(("length", "size", "stride"), [(2, 2, 1), (9, 4, 3), (10, 4, 1), (100, 7, 2), (5, 9, 4)])
def test_windows_predict_every_token_but_the_first_once_with_enough_before_it(length, size, stride):
    found = sliding_windows(length, size, stride)
    assert [place for window in found for place in range(window.first, window.end)] == list(range(1, length))
    for window in found:
        assert window.end - window.start <= size
        assert window.start == 0 or window.first - window.start >= size - stride
    assert sliding_windows(1, size, stride) == sliding_windows(0, size, stride) == []


def test_the_perplexity_of_a_model_that_is_known(tmp_path):
    folder = unigram_llama(tmp_path, {"ice": 0.5, "melts": 0.25, "now": 0.125}, ["and", "then"])
    found = scorer(folder, window=4, stride=2).predict(
        texts("ice ice", "melts ice now", "melts now now now melts now", "ice", "now and")
    )
    expected = [2, math.sqrt(2 * 8), (8**4 * 4) ** (1 / 5), None]
    for prediction, value in zip(found, expected, strict=False):
        assert prediction.scores["perplexity"] == (value and pytest.approx(value, rel=1e-5))
    # The first token of all is predicted by nothing, as this tokenizer begins no text with a mark.
    assert [prediction.scores["tokens"] for prediction in found] == [1, 2, 5, 0, 1]
    assert found[3].scores["perplexity_window_mean"] is None


@pytest.mark.parametrize("padding_side", ["left", "right"])
def test_batches_and_padding_change_nothing(tmp_path, padding_side):
    from transformers import AutoTokenizer

    folder = tiny_llama(tmp_path, seed=6)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.padding_side = padding_side
    tokenizer.save_pretrained(folder)
    items = texts(*("word " * number + TEXT for number in range(6)))
    together = scorer(folder, window=64, stride=20).predict(items)
    alone = [scorer(folder, window=64, stride=20, token_budget=256).predict([item])[0] for item in items]
    for one, other in zip(alone, together, strict=True):
        assert one.scores == pytest.approx(other.scores, rel=1e-4)


def test_what_cannot_be_read_fails_alone(llama, tmp_path):
    items = texts("", " ", "\0", "\ud800", "😀 " * 5_000, "word " * 20_000, TEXT)
    found = scorer(unigram_llama(tmp_path, {"word": 0.5}), window=2048, stride=2000).predict(items)
    reasons = [prediction.error.reason if prediction.error else "" for prediction in found]
    assert reasons == ["empty-evidence", "empty-evidence", "nul-character", "lone-surrogate", "", "", ""]
    assert all(math.isfinite(value) and value >= 0 for one in found for value in one.scores.values())
    with pytest.raises(ParameterError, match="stride.*is not below the window of 16 tokens"):
        scorer(llama, window=16, stride=16)


def test_examples_in_docstrings_hold():
    results = doctest.testmod(perplexity)
    assert results.attempted > 0 and results.failed == 0

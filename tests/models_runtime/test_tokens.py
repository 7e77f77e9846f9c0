"""Tokens from a tokenizer's core, and padded arrays, against the library's own calls."""

from __future__ import annotations

import numpy as np
import pytest

from models_runtime.loading.tokens import count_tokens, encode, padded

from .tiny import byte_tokenizer, word_tokenizer

TEXTS = ["Ice melts.", "", "  Ice  melts in spring 🧊🧊 [...] É.", "never " * 40, "[SEP] <s> ice"]
PAIRS = [(text, other) for text in TEXTS for other in TEXTS[:3]]


class WithoutCore:
    """A tokenizer in Python, as the library has for some models."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def __call__(self, *texts, **options):
        return self.tokenizer(*texts, **options)


@pytest.fixture(params=["words", "bytes", "words, without a core"])
def tokenizer(request):
    made = byte_tokenizer(TEXTS) if request.param == "bytes" else word_tokenizer(["ice", "melts", "in", "spring", "."])
    return made if request.param in ("words", "bytes") else WithoutCore(made)


@pytest.mark.parametrize("window", [None, 20])
@pytest.mark.parametrize("texts", [TEXTS, PAIRS], ids=["texts", "pairs"])
def test_tokens_are_those_of_the_library(tokenizer, texts, window):
    library = getattr(tokenizer, "tokenizer", tokenizer)
    columns = map(list, zip(*texts, strict=True)) if texts is PAIRS else (texts,)
    cut = {"truncation": True, "max_length": window} if window else {}
    expected = library(*columns, return_token_type_ids=True, **cut)
    # What was asked before, with other settings, leaves nothing behind.
    library(TEXTS, padding="max_length", max_length=7, truncation=True)
    found = encode(tokenizer, texts, window)
    assert [row.ids for row in found] == expected["input_ids"]
    assert [row.types for row in found] == expected["token_type_ids"]
    assert count_tokens(tokenizer, TEXTS) == list(map(len, library(TEXTS, add_special_tokens=False)["input_ids"]))
    assert encode(tokenizer, []) == [] and count_tokens(tokenizer, []) == []


@pytest.mark.parametrize("side", ["left", "right"])
def test_padded_arrays_are_those_of_the_library_padded_on_the_right(side):
    tokenizer = word_tokenizer(["ice", "melts"], padding_side=side)
    found = padded(tokenizer, encode(tokenizer, PAIRS))
    expected = tokenizer(*map(list, zip(*PAIRS, strict=True)), padding=True, padding_side="right", return_tensors="np")
    assert found.keys() == expected.keys() and "token_type_ids" in found
    for name, array in found.items():
        np.testing.assert_array_equal(array, expected[name])
    tokenizer.model_input_names = ["input_ids", "attention_mask"]
    assert padded(tokenizer, encode(tokenizer, PAIRS)).keys() == {"input_ids", "attention_mask"}

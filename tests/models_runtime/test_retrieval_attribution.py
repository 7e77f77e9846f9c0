"""Which stretches of a reference a triplet rests on: by hand-set embeddings, by words, and by the real model."""

from __future__ import annotations

import doctest
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models_runtime.checkers.embedding import PACKAGED_MODEL, Embedded, Encoder
from models_runtime.retrieval import attribution
from models_runtime.retrieval.attribution import attribute, by_embeddings, by_words, candidates

LAKE = "Lake Constance lies in the Alps. It froze over in 1963. Bread is baked."


def test_examples_in_docstrings_hold():
    results = doctest.testmod(attribution)
    assert results.attempted > 0 and results.failed == 0


class ByHand:
    """A plane: 0 degrees is the lake, 90 the frost."""

    def __init__(self, **degrees: float) -> None:
        self.degrees = {name.replace("_", " "): value for name, value in degrees.items()}

    def embed(self, texts):
        import numpy as np

        angles = {text: math.radians(self.degrees[text]) for text in texts if text in self.degrees}
        failures = {text: RuntimeError("bad tensor") for text in texts if text not in self.degrees}
        return Embedded({text: np.array([math.cos(a), math.sin(a)]) for text, a in angles.items()}, set(), failures)


def test_similarities_of_vectors_set_by_hand():
    encoder = ByHand(lake=0, froze=60, A=0, B=30, C=180)
    text = "A\nB\nC"
    found = by_embeddings(text, ("lake", " ", "froze"), encoder, threshold=0.5)
    # A: cos 0 = 1 and cos 60 = 0.5, 0.75 in the mean; B: cos 30 twice; C: -1 and cos 120 = -0.5.
    assert [(one.text, one.start, one.end) for one in found] == [("B", 2, 3), ("A", 0, 1)]
    assert [one.score for one in found] == pytest.approx([math.sqrt(3) / 2, 0.75])
    assert found[1].by_part == pytest.approx((1.0, 0.5))
    assert [one.text for one in by_embeddings(text, ("lake",), encoder, threshold=0.99)] == ["A"]
    assert by_embeddings(text, ("lake",), encoder, threshold=1.01) == []


def test_a_score_at_the_threshold_is_kept_and_of_overlapping_spans_the_better():
    text = "a b c d"
    spans = [(0, 3), (2, 5), (4, 7)]
    found = attribute(text, spans, [[0.5, 0.7], [0.65, 0.65], [0.6, 0.6]], 0.6)
    assert [(one.text, one.score) for one in found] == [("b c", 0.65)]
    found = attribute(text, spans, [[0.7], [0.65], [0.6]], 0.6)
    assert [one.text for one in found] == ["a b", "c d"]
    assert [one.text for one in attribute(text, spans, [[0.7], [0.65], [0.59]], 0.6)] == ["a b"]


def test_by_words():
    triplet = ("Lake Constance", "froze over in", "1963")
    (found,) = by_words(LAKE, triplet)
    assert found.text == "It froze over in 1963." and found.by_part == (0.0, 1.0, 1.0)
    # "over" and "in" are stop words: of the relation only "froze" counts.
    assert [one.text for one in by_words(LAKE, triplet, threshold=0.3)] == [
        "It froze over in 1963.", "Lake Constance lies in the Alps."
    ]  # fmt: skip
    (window,) = by_words(LAKE, ("", "froze", "1963"), threshold=1.0, window=4)
    assert window.text == "froze over in 1963."


def test_the_real_model_finds_the_sentence_in_other_words():
    encoder = Encoder(PACKAGED_MODEL, "cpu", 4096)
    text = "Ovens are for bread. The museum opens at nine. Ocean levels have gone up for decades!"
    found = by_embeddings(text, ("the sea", "has been", "rising"), encoder, threshold=0.2)
    assert found[0].text == "Ocean levels have gone up for decades!" == text[found[0].start : found[0].end]


def test_what_cannot_be_embedded_is_said():
    with pytest.raises(ValueError, match="'froze' cannot be embedded.*bad tensor"):
        by_embeddings("A", ("froze",), ByHand(A=0))
    with pytest.raises(ValueError, match="1 rows"):
        attribute("a b", [(0, 1), (2, 3)], [[0.5]], 0.5)
    with pytest.raises(ValueError, match="an element or more"):
        attribute("a", [(0, 1)], [[]], 0.5)


@pytest.mark.parametrize("parts", [(), ("", " ", "\t"), ("?!",)])
@pytest.mark.parametrize("text", ["", " \n", LAKE])
def test_nothing_to_attribute_gives_nothing(text, parts):
    assert by_words(text, parts) == []


@settings(max_examples=100, deadline=None)
@given(
    text=st.one_of(st.text(max_size=120), st.text("ab .\n😀", max_size=80)),
    parts=st.lists(st.text("ab 😀\0", max_size=6), max_size=3),
    window=st.integers(0, 5),
)
def test_spans_lie_in_the_text_and_never_overlap(text, parts, window):
    found = by_words(text, parts, threshold=0.0, window=window)
    ordered = sorted(found, key=lambda one: one.start)
    assert all(one.text == text[one.start : one.end] != "" for one in found)
    assert all(one.end <= other.start for one, other in zip(ordered, ordered[1:], strict=False))
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert all(span in candidates(text, window) for span in ((one.start, one.end) for one in found))


def test_a_hundred_thousand_characters():
    for text in ("a" * 100_000, "Ice melts. " * 9_091, "😀" * 100_000):
        found = by_words(text, ("ice", "melts"), threshold=1.0)
        assert len(found) == (9_091 if text.startswith("Ice") else 0)

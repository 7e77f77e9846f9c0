"""Words and sentences."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models_runtime.texts import measures, splitting


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        ("Don't panic, it's 3.5%.", ["do", "n't", "panic", "it", "'s", "3.5"]),
        ("Don\u2019t", ["do", "n't"]),
        ("1,000 well-known and/or", ["1,000", "well-known", "and/or"]),
        ('"--..." (!)', []),
        ("Cafe\u0301 CAFÉ", ["cafe\u0301", "café"]),
        ("जलवायु परिवर्तन।", ["जलवायु", "परिवर्तन"]),
        ("😀 ice", ["😀", "ice"]),
        ("", []),
    ],
)
def test_words(given_text, expected):
    assert splitting.words(given_text) == expected


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        ("It rose 3.5 %. Dr. Smith said so! Why?", ["It rose 3.5 %.", "Dr. Smith said so!", "Why?"]),
        ("One snippet [...] another […] a third", ["One snippet", "another", "a third"]),
        ("A line\r\nanother\n\n  a third  ", ["A line", "another", "a third"]),
        ("冰在融化。海平面上升。", ["冰在融化。", "海平面上升。"]),
        ("😀😀. Next 👨‍👩‍👧 one.", ["😀😀.", "Next 👨‍👩‍👧 one."]),
        ("[...]", ["[...]"]),
        (" \n ", []),
        ("", []),
    ],
)
def test_sentences(given_text, expected):
    assert [given_text[start:end] for start, end in splitting.sentence_offsets(given_text)] == expected


@given(st.text(max_size=300))
def test_sentences_are_in_order_trimmed_and_lose_only_space_and_snippet_marks(value):
    offsets = splitting.sentence_offsets(value)
    position = 0
    for start, end in offsets:
        assert position <= start < end <= len(value)
        assert value[start:end] == value[start:end].strip()
        assert value[position:start].replace("[...]", "").replace("[…]", "").strip() == ""
        position = end
    assert value[position:].replace("[...]", "").replace("[…]", "").strip() == ""


@pytest.mark.parametrize("unit", ["a", "😀", ".", " ", "\n", "don't ", "a.b!", "[...]", "a-", "\u0301", "['"])
def test_a_hundred_thousand_characters_take_seconds_at_most(unit):
    value = (unit * 100_000)[:100_000]
    started = time.process_time()
    splitting.sentence_offsets(value)
    splitting.words(value)
    assert time.process_time() - started < 15


def test_reading_ease_by_hand():
    # "The cat sat. It ran." : 5 words, 2 sentences, 5 syllables -> 206.835 - 1.015 * 2.5 - 84.6 * 1
    assert measures.flesch_reading_ease("The cat sat. It ran.") == pytest.approx(119.6975)
    assert measures.flesch_reading_ease("12 34!") is None


def test_measures_without_words_are_undefined():
    assert measures.jaccard(set(), set()) is None
    assert measures.claim_overlap(set(), {"ice"}) is None

"""Segments of a text: known results, and for any text that they fit, follow each other and lose nothing."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from models_runtime.texts import segments as module
from models_runtime.texts.segments import segments
from models_runtime.texts.splitting import content_bounds, sentence_offsets


def words(texts):
    return [len(text.split()) for text in texts]


def characters(texts):
    return [len(text) for text in texts]


def quotes(text, size, count):
    return [text[start:end] for start, end in segments(text, size, count)]


def test_the_example_in_the_docstring_holds():
    results = doctest.testmod(module)
    assert results.attempted > 0 and results.failed == 0


@pytest.mark.parametrize(
    ("text", "size", "expected"),
    [
        ("", 5, []),
        (" \n\t", 5, []),
        ("One two three.", 3, ["One two three."]),
        # Sentences of 2, 2, 3 and 1 words.
        ("Aa bb. Cc dd. Ee ff gg. Hh.", 4, ["Aa bb. Cc dd.", "Ee ff gg. Hh."]),
        ("Aa bb. Cc dd. Ee ff gg. Hh.", 3, ["Aa bb.", "Cc dd.", "Ee ff gg.", "Hh."]),
        ("Aa bb. Cc dd. Ee ff gg. Hh.", 2, ["Aa bb.", "Cc dd.", "Ee ff", "gg.", "Hh."]),
        # Snippet marks and line breaks end sentences and belong to no piece.
        ("A b c [...] d e f\ng h i", 3, ["A b c", "d e f", "g h i"]),
        ("  Aa bb.  Cc dd.  ", 2, ["Aa bb.", "Cc dd."]),
    ],
)
def test_pieces_of_whole_sentences(text, size, expected):
    assert quotes(text, size, words) == expected


def test_a_piece_may_reach_over_a_mark_between_sentences_which_then_counts():
    text = "A b [...] c d [...] e f"
    assert quotes(text, 5, words) == ["A b [...] c d", "e f"]
    assert quotes(text, 4, words) == ["A b", "c d", "e f"]


def test_a_word_that_is_too_long_is_cut_within():
    assert quotes("ab abcdefghij. k", 4, characters) == ["ab", "abcd", "efgh", "ij.", "k"]
    # Every character of this script counts three.
    assert quotes("åß∂ƒ", 6, lambda texts: [3 * len(text) for text in texts]) == ["åß", "∂ƒ"]
    # No room for a single character: one each all the same.
    assert quotes("abc", 1, lambda texts: [2 * len(text) for text in texts]) == ["a", "b", "c"]


def test_what_belongs_together_is_not_torn_apart():
    accented = "e\u0301" * 5
    assert quotes(accented, 3, characters) == ["e\u0301"] * 5
    family = "👨\u200d👩\u200d👧"
    assert quotes(family * 2, 7, characters) == [family, family]
    # A mark on nothing, longer than a piece: there is no better place.
    assert quotes("\u0301" * 5, 2, characters) == ["\u0301\u0301", "\u0301\u0301", "\u0301"]


def test_a_size_that_holds_nothing_is_refused():
    with pytest.raises(ValueError, match="0 tokens"):
        segments("a", 0, words)


TEXT = st.text(st.sampled_from("ab .!?\n😀🌊e\u0301\u200d👩é漢。[…]"), max_size=80) | st.text(max_size=60)


def without_marks(text: str) -> str:
    """The text without white space and snippet marks, of which pieces keep some and leave some out."""
    text, before = "".join(text.split()), None
    while text != before:
        before, text = text, text.replace("[...]", "").replace("[…]", "")
    return text


@settings(max_examples=200, deadline=None)
@given(text=TEXT, size=st.integers(1, 12))
@example(text="[...]", size=1)
@example(text="a [...] b", size=3)
def test_pieces_fit_follow_each_other_and_hold_every_word(text, size):
    sentences = sentence_offsets(text)
    assert content_bounds(text) == ((sentences[0][0], sentences[-1][1]) if sentences else None)
    found = segments(text, size, characters)
    places = [place for piece in found for place in piece]
    assert places == sorted(places) and all(end - start <= size and start < end for start, end in found)
    kept = "".join(text[start:end] for start, end in found)
    assert without_marks(kept) == without_marks(text)


@pytest.mark.parametrize("unit", ["word ", "a", "😀", "?", "Ice melts. ", "e\u0301", "\n", "漢。"])
def test_a_hundred_thousand_characters_take_counts_that_grow_with_their_length(unit):
    asked = []

    def count(texts):
        asked.append(sum(map(len, texts)))
        return characters(texts)

    text = (unit * 100_000)[:100_000]
    found = segments(text, 200, count)
    assert all(end - start <= 200 for start, end in found)
    assert sum(end - start for start, end in found) >= len("".join(text.split()))
    # In characters counted: no more than some passes over the text.
    assert sum(asked) < 40 * len(text)

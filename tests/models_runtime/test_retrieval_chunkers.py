"""Cutting documents: what each chunker gives, and what holds of all of them whatever the text."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models_runtime.contracts import ParameterError
from models_runtime.retrieval import chunkers
from models_runtime.retrieval.chunkers import CHUNKERS, Chunker, paragraphs, sentences, words

TEXT = st.one_of(
    st.text(max_size=300),
    st.lists(st.sampled_from(["a", "Ice melts.", "\n", "\r\n", " ", "\u00a0", "\u2028", "😀", "\x1c", "[...]"])).map(
        " ".join
    ),
    st.integers(0, 700).map(lambda count: " ".join(map(str, range(count)))),
)


def test_examples_in_docstrings_hold():
    results = doctest.testmod(chunkers)
    assert results.attempted > 0 and results.failed == 0


def numbers(count: int) -> str:
    return " ".join(map(str, range(count)))


def read(text: str, offsets) -> list[list[int]]:
    return [[int(word) for word in text[start:end].split()] for start, end in offsets]


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        # First and last word of each passage of 128 words with 32 of the one before: it moves on by 96.
        (1, [(0, 0)]),
        (128, [(0, 127)]),
        (129, [(0, 127), (96, 128)]),
        (224, [(0, 127), (96, 223)]),
        (225, [(0, 127), (96, 223), (192, 224)]),
    ],
)
def test_icat_passages(count, expected):
    text = numbers(count)
    found = read(text, Chunker("words-128-32").cut(text))
    assert [(passage[0], passage[-1]) for passage in found] == expected
    assert all(passage == list(range(passage[0], passage[-1] + 1)) for passage in found)


@pytest.mark.parametrize(
    ("count", "lengths"), [(199, [199]), (200, [200]), (201, [200, 1]), (400, [200, 200]), (450, [200, 200, 50])]
)
def test_druid_divides_a_paragraph_above_200_words(count, lengths):
    text = f"A short one.\n{numbers(count)}\r\n \n\nAnother."
    found = Chunker("paragraphs").cut(text)
    quotes = [text[start:end] for start, end in found]
    assert quotes[0] == "A short one." and quotes[-1] == "Another."
    assert [len(quote.split()) for quote in quotes[1:-1]] == lengths


def test_merged_paragraphs_stop_before_the_limit_and_long_ones_stay_alone():
    text = "\n".join([numbers(150), numbers(50), numbers(1), numbers(250), numbers(3), numbers(4)])
    counts = [len(text[start:end].split()) for start, end in Chunker("paragraphs-merged").cut(text)]
    assert counts == [200, 1, 200, 50, 7]


def test_sentences_are_never_divided():
    text = "Ice melts in spring. Seas rise! " + "word " * 12 + "end. Why so?"
    found = [text[start:end] for start, end in sentences(text, 6)]
    assert found == ["Ice melts in spring. Seas rise!", "word " * 12 + "end.", "Why so?"]


@pytest.mark.parametrize("name", CHUNKERS)
@settings(max_examples=80, deadline=None)
@given(text=TEXT, size=st.integers(1, 12), overlap=st.integers(0, 11))
def test_every_word_is_in_a_passage_and_passages_are_in_order(name, text, size, overlap):
    chunker = Chunker(name, size, min(overlap, size - 1))
    found = chunker.cut(text)
    inside = [False] * len(text)
    for start, end in found:
        assert 0 <= start < end <= len(text)
        assert not text[start].isspace() and not text[end - 1].isspace()
        inside[start:end] = [True] * (end - start)
    left_out = "".join(character for character, taken in zip(text, inside, strict=True) if not taken)
    if name == "sentences":  # marks between snippets are borders of sentences
        left_out = left_out.replace("[...]", "")
    assert not left_out.strip()
    assert found == sorted(found)
    assert len({start for start, _ in found}) == len(found) == len({end for _, end in found})


@settings(max_examples=150, deadline=None)
@given(text=TEXT, size=st.integers(1, 9), overlap=st.integers(0, 8))
def test_words_overlap_by_exactly_so_many(text, size, overlap):
    overlap = min(overlap, size - 1)
    cut = [text[start:end].split() for start, end in words(text, size, overlap)]
    assert all(len(passage) == size for passage in cut[:-1])
    for one, other in zip(cut, cut[1:], strict=False):
        assert overlap < len(other) <= size
        assert one[len(one) - overlap :] == other[:overlap]
    again = cut[0] + [word for passage in cut[1:] for word in passage[overlap:]] if cut else []
    assert again == text.split()


@settings(max_examples=100, deadline=None)
@given(text=TEXT, size=st.integers(1, 9))
def test_merging_paragraphs_loses_none_and_keeps_the_limit(text, size):
    apart, together = paragraphs(text, size), paragraphs(text, size, merge=True)
    assert all(len(text[start:end].split()) <= size for start, end in [*apart, *together])
    assert {start for start, _ in together} <= {start for start, _ in apart}
    assert {end for _, end in together} <= {end for _, end in apart}


def test_a_chunker_that_does_not_exist_or_stands_still_is_refused():
    with pytest.raises(ParameterError, match="'lines' is not one of whole, paragraphs"):
        Chunker("lines")
    with pytest.raises(ParameterError, match="not below the 5 words"):
        Chunker("words", 5, 5)
    with pytest.raises(ParameterError, match="holds nothing"):
        Chunker("sentences", 0)


def test_what_made_the_passages_is_named_with_its_numbers():
    made = [Chunker(name, 50, 10).label for name in CHUNKERS]
    assert made == [
        "whole",
        "paragraphs-200",
        "paragraphs-merged-200",
        "words-200",
        "words-128-32",
        "words-50-10",
        "sentences-50",
    ]

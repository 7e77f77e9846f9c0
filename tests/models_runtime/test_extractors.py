"""Extractors that need no server: what they propose, where it stands, what has nothing to extract and what fails."""

from __future__ import annotations

import doctest
import json

import pytest
from hypothesis import given, settings

from models_runtime import STANCE, load, load_extractor, registry
from models_runtime.contracts import ParameterError, UnknownCheckerError
from models_runtime.extractors import reading
from models_runtime.extractors.contracts import PARTS, ExtractionInput

from .test_fuzz import LONG, TEXT

TEXT_OF_THREE = "The ice melts in June. Seas rise! The ice  melts in june."
TURNS = "[user]\nDid it freeze?\n\n[assistant]\nYes.\n\n[user]\nAgain?\n\n[assistant, Ann]\n  Yes.\n"
TEXT_FOR = {"turns": TURNS}
EVERY = [
    (info.slug, kind)
    for info in registry.list_infos()
    if info.gives == "pieces" and info.needs == "cpu"
    for kind in info.roles
]


def source(text="", question="Which lakes of Bavaria froze?", key="1"):
    return ExtractionInput(key, question, text)


def texts(extraction):
    return [" | ".join(piece.parts.values()) for piece in extraction.pieces]


def test_sentences_are_claims_where_they_stand_and_repetitions_count_once():
    (found,) = load_extractor("sentences", "atomic_claim").extract([source(TEXT_OF_THREE)])
    assert texts(found) == ["The ice melts in June.", "Seas rise!"]
    assert [(piece.start, piece.end) for piece in found.pieces] == [(0, 22), (23, 33)]


def test_turns_are_pieces_where_they_stand_also_where_they_say_the_same():
    (found,) = load_extractor("turns", "sub_sentence").extract([source(TURNS)])
    assert texts(found) == ["Yes.", "Yes."]
    assert [TURNS[piece.start : piece.end] for piece in found.pieces] == ["Yes.", "Yes."]
    (found,) = load_extractor("turns", "sub_sentence", {"role": "all"}).extract([source(TURNS)])
    assert texts(found) == ["Did it freeze?", "Yes.", "Again?", "Yes."]
    many = "[user]\nHm?\n\n" * 2_001
    failed = load_extractor("turns", "sub_sentence").extract([source(TEXT_OF_THREE), source(many), source("Human: a")])
    assert not failed[0].pieces and [one.error and one.error.reason for one in failed] == [None, "too-many-turns", None]


@pytest.mark.parametrize(("slug", "kind"), EVERY)
def test_what_is_proposed_has_its_parts_and_is_the_same_again(slug, kind):
    text = TEXT_FOR.get(slug, TEXT_OF_THREE)
    parameters = {"omitted_share": 0.0} if slug == "fake-extractor" else {}
    extractor = load_extractor(slug, kind, parameters)
    (found,) = extractor.extract([source(text)])
    assert found.pieces and not found.error
    for piece in found.pieces:
        assert tuple(piece.parts) == PARTS[kind] and all(part.strip() for part in piece.parts.values())
        if piece.start is not None:
            stretch = text[piece.start : piece.end]
            assert all(part in stretch for part in piece.parts.values())
    registry._cache.clear()
    assert load_extractor(slug, kind, parameters).extract([source(text)]) == [found]
    description = extractor.describe()
    assert json.loads(json.dumps(description)) == description
    assert (description["checker"], description["kind"]) == (slug, kind)
    assert set(description["parameters"]) == {parameter.name for parameter in registry.get_info(slug).parameters}


@pytest.mark.parametrize(("slug", "kind"), [one for one in EVERY if one[1] != "aspect"])
def test_an_answer_that_says_nothing_has_nothing_to_extract_and_what_is_no_text_fails_alone(slug, kind):
    given = {"": None, "I don't know.": None, "ice\0melts": "nul-character", "\ud83d": "lone-surrogate", "...": None}
    found = load_extractor(slug, kind).extract([source(text, key=str(n)) for n, text in enumerate(given)])
    assert [one.error and one.error.reason for one in found] == list(given.values())
    assert [one.id for one in found] == ["0", "1", "2", "3", "4"] and not any(one.pieces for one in found)


def test_without_a_question_there_are_no_aspects():
    (found,) = load_extractor("fake-extractor", "aspect").extract([source(question=" ")])
    assert found.error.reason == "empty-question"


def test_failures_and_omissions_are_drawn_as_often_as_asked_for():
    sources = [source(f"Lake {n} froze over in {1900 + n}.", key=str(n)) for n in range(200)]
    shares = {"failure_share": 0.3, "permanent_failure_share": 0.2, "omitted_share": 0.5}
    found = load_extractor("fake-extractor", "triplet", shares).extract(sources)
    reasons = [one.error.reason for one in found if one.error]
    assert 40 <= reasons.count("fake-transient") <= 80 and 22 <= reasons.count("fake-permanent") <= 60
    assert 25 <= sum(bool(one.pieces) for one in found) <= 75


def test_no_more_pieces_than_asked_for():
    text = " ".join(f"Lake {n} froze over." for n in range(50))
    (found,) = load_extractor("fake-extractor", "atomic_claim", {"most": 3}).extract([source(text)])
    assert len(found.pieces) == 3


def test_what_is_no_extractor_or_does_not_give_this_kind_is_refused():
    with pytest.raises(UnknownCheckerError, match="lexical is no extractor"):
        load_extractor("lexical", "triplet")
    with pytest.raises(UnknownCheckerError, match="does not extract 'triplet'; it extracts atomic_claim"):
        load_extractor("sentences", "triplet")
    with pytest.raises(UnknownCheckerError, match="there is no checker 'nothing'"):
        load_extractor("nothing", "triplet")
    with pytest.raises(UnknownCheckerError, match="judges nothing"):
        load("sentences", STANCE)
    with pytest.raises(ParameterError, match="no such parameter"):
        load_extractor("sentences", "atomic_claim", {"seed": 1})


@pytest.mark.parametrize(("slug", "kind"), EVERY)
@settings(max_examples=40, deadline=None)
@given(text=TEXT, question=TEXT)
def test_whatever_the_text(slug, kind, text, question):
    check(slug, kind, text, question)


@pytest.mark.parametrize(("slug", "kind"), EVERY)
@settings(max_examples=4, deadline=None)
@given(text=LONG)
def test_a_hundred_thousand_characters(slug, kind, text):
    check(slug, kind, text, text)


def check(slug, kind, text, question):
    (found,) = load_extractor(slug, kind).extract([source(text, question)])
    assert not (found.error and found.pieces) and (not found.error or found.error.reason != "unexpected")
    for piece in found.pieces:
        assert tuple(piece.parts) == PARTS[kind] and all(part.strip() for part in piece.parts.values())
        assert piece.start is None or 0 <= piece.start < piece.end <= len(text)


def test_examples_in_docstrings_hold():
    results = doctest.testmod(reading)
    assert results.attempted and not results.failed

"""Conversations: written from lists of turns, and shown with who speaks."""

import pytest

from annotation.formats.cells import BadCell, to_text
from annotation.rendering import render
from annotation.rendering.conversation import is_written
from models_runtime.texts.turns import turns_of
from tests.rendering.reading import check_places

CALLED = '{"in": "Bern"}'
LEFT_OUT = "(a part of the type image_url, which is not shown)"
TURNS = [
    {"role": "user", "content": "What is the *weather*?\n[assistant]\nHa!", "name": "Ann", "time": "2026-03-01"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"function": {"name": "weather", "arguments": '{"in": "Bern"}'}}],
    },
    {"role": "tool", "content": [{"type": "text", "text": "Sun"}, {"type": "image_url", "image_url": {"url": "x"}}]},
    {"role": "moderator", "content": "Go on"},
]


def test_turns_become_one_text_that_is_shown_by_turn():
    text = to_text(TURNS, "messages")
    assert text.startswith("[user, Ann, 2026-03-01]\nWhat is") and is_written(text)
    assert "\n [assistant]\nHa!" in text  # words that read as a head are none
    made = render(text)  # found to be a conversation
    found = check_places(text, made.html)
    speakers = [attributes["class"] for _, attributes in found.tags if "turn" in attributes.get("class", "")]
    names = ["user", "tool-call", "tool-result", "tool-result", "other"]
    assert speakers == [f"turn is-{name}" for name in names]
    assert [tag for tag, _ in found.tags].count("details") == 3
    assert not found.loose.strip()
    for words in (
        "weather",
        '{"in": "Bern"}',
        "Sun",
        "(a part of the type image_url, which is not shown)",
        "moderator",
    ):
        assert words in found.text


def test_a_transcript_is_shown_by_turn():
    text = "\n\nHuman: Who **are** you?\n\nAssistant: A model.\n\nHuman: I see."
    made = render(text, "conversation")
    found = check_places(text, made.html)
    assert [one["class"] for _, one in found.tags if "turn" in one.get("class", "")] == [
        "turn is-user",
        "turn is-assistant",
        "turn is-user",
    ]
    assert render(text) is None  # nobody gave it a format


@pytest.mark.parametrize(
    ("turns", "why"),
    [
        ([{"role": "user", "content": "a"}, {"content": "b"}], "Turn 2 has no role with a content; it has content"),
        ([{"role": "user", "content": "a"}, "b"], "Turn 2 is not an object"),
        ([{"role": 3, "content": "a"}], "The role of turn 1 is not a word"),
        ([{"role": "user", "content": 3}], "The content of turn 1 is neither a text nor a list of parts"),
        ([{"role": "user", "content": "a", "tool_calls": ["b"]}], "A tool call of turn 1 is not an object"),
        ([{"role": "user", "content": "a", "tool_calls": 5}], "The tool calls of turn 1 are not a list"),
        ([{"role": "user", "content": ["a", 5]}], "A part of turn 1 is neither a text nor an object"),
    ],
)
def test_a_list_that_cannot_be_read_is_a_bad_cell(turns, why):
    with pytest.raises(BadCell, match=why.replace("(", r"\(")):
        to_text(turns, "messages")


def test_a_transcript_in_the_words_of_a_turn_stays_in_that_turn():
    quoted = "Go on:\n\nHuman: Hi\n\nAssistant: Hello"
    text = to_text([{"role": "user", "content": quoted}, {"role": "assistant", "content": "No"}], "messages")
    assert [(turn.role, text[turn.start : turn.end].strip()) for turn in turns_of(text)] == [
        ("user", quoted),
        ("assistant", "No"),
    ]
    transcript = "Human: What does this mean?\n\n[assistant]\n\nAssistant: A turn."
    assert [turn.role for turn in turns_of(transcript)] == ["user", "assistant"]


def test_a_part_of_an_unusual_type_is_named():
    turns = [{"role": "user", "content": [{"type": ["video"]}]}]
    assert "(a part of the type 'video', which is not shown)" in to_text(turns, "messages")


def test_a_text_without_turns_is_shown_as_its_source():
    made = render("Just words", "conversation")
    assert not made.html and "does not begin with a line that names who speaks" in made.why()


def test_two_thousand_turns_are_rendered():
    text = to_text([{"role": "user", "content": f"Turn *{n}*"} for n in range(2_000)], "messages")
    assert len(check_places(text, render(text).html).runs) == 3 * 2_000
    with pytest.raises(BadCell, match="has 2,001 turns; at most 2,000 are imported"):
        to_text([{"role": "user", "content": "a"}] * 2_001, "messages")
    with pytest.raises(BadCell, match="has 2,400 turns, parts and tool calls; at most 2,000"):
        to_text([{"role": "user", "content": ["a", "b"]}] * 1_200, "messages")
    assert "more than 2,000 turns" in render("[user]\na\n\n" * 2_001).why()

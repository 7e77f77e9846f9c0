"""Files that do not say whether a character past U+FFFF counts once or twice: their words tell, or it is asked."""

import json
import random
from contextlib import suppress
from dataclasses import replace

import pytest

from annotation.formats import Options
from annotation.formats.cells import BadCell
from annotation.formats.records import AnnotationRecord, OddRecord, RowError
from annotation.formats.tables import ratings
from annotation.formats.tables.oddities import OFFSETS
from annotation.formats.tools import argilla, doccano, prodigy
from annotation.formats.tools.label_studio import reading as label_studio
from annotation.formats.tools.offsets import COUNTED, MarkedPlaces, offset_of

from .helpers import put

ROCKET = "\U0001f680 rocket launch"  # rocket: code points 2 to 8, UTF-16 code units 3 to 9


def as_doccano(text: str, *places: tuple[int, int]) -> dict:
    return {"text": text, "label": [[*place, "THING"] for place in places], "id": text}


def as_argilla(text: str, *places: tuple[int, int]) -> dict:
    spans = [{"start": start, "end": end, "label": "THING"} for start, end in places]
    return {"id": text, "fields": {"text": text}, "responses": {"ents": [{"value": spans, "user_id": "u1"}]}}


def as_prodigy(text: str, *places: tuple[int, int]) -> dict:
    spans = [{"start": start, "end": end, "label": "THING"} for start, end in places]
    return {"text": text, "spans": spans, "answer": "accept", "_annotator_id": "ann"}


def as_label_studio(text: str, *places: tuple[int, int]) -> dict:
    results = [
        {
            "from_name": "label",
            "to_name": "text",
            "type": "labels",
            "value": {"start": start, "end": end, "labels": ["THING"]},
        }
        for start, end in places
    ]
    return {"id": text, "data": {"text": text}, "annotations": [{"completed_by": 1, "result": results}]}


def as_table(text: str, *places: tuple[int, int]) -> dict:
    return {"text": text, "who": "ann", "marks": [[*place, "THING"] for place in places]}


class table:
    """A table of ratings with a column of highlights."""

    @staticmethod
    def read(sources, options):
        return ratings.read(sources, replace(options, mapping=ROLES))

    @staticmethod
    def label_set_of(sources, options, name):
        return ratings.label_set_of(sources, replace(options, mapping=ROLES), name)


ROLES = {"text": "text", "rater": "who", "spans": "marks"}
TOOLS = {
    "table": (table, as_table),
    "doccano": (doccano, as_doccano),
    "argilla": (argilla, as_argilla),
    "prodigy": (prodigy, as_prodigy),
    "label-studio": (label_studio, as_label_studio),
}


def read(tmp_path, tool: str, *rows: tuple, **treat: str) -> list:
    module, as_row = TOOLS[tool]
    made = [as_row(*row) for row in rows]
    is_list = tool in ("argilla", "label-studio")
    text = json.dumps(made) if is_list else "\n".join(map(json.dumps, made))
    source = put(tmp_path, "records.json" if is_list else "rows.jsonl", text)
    options = Options(treat=treat)
    return list(module.read([source], Options(treat=treat, label_set=module.label_set_of([source], options, "Set"))))


def quotes(records: list) -> list[str]:
    said = [one for record in records if isinstance(record, AnnotationRecord) for one in record.judgements]
    return [span.quote for one in said for span in one.spans]


def odd(records: list) -> list[OddRecord]:
    return [record for record in records if isinstance(record, OddRecord)]


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("place", [(3, 9), (2, 8)], ids=["utf-16", "code points"])
def test_the_words_tell_how_a_file_counts(tmp_path, tool, place):
    found = read(tmp_path, tool, (ROCKET, place), ("plain rocket", (6, 12)))
    assert quotes(found) == ["rocket", "rocket"]
    [one] = odd(found)
    assert (one.kind, one.number, one.is_open) == (OFFSETS, 1, False)
    assert f"UTF-16 code units alone {int(place == (3, 9))}, code points alone {int(place == (2, 8))}" in one.what


@pytest.mark.parametrize("tool", TOOLS)
def test_all_places_of_a_file_decide_together(tmp_path, tool):
    """One person marked half a word; the others did not."""
    found = read(tmp_path, tool, (ROCKET, (3, 9), (4, 9), (10, 16)))
    assert quotes(found) == ["rocket", "ocket", "launch"] and not odd(found)[0].is_open


@pytest.mark.parametrize("tool", TOOLS)
def test_what_no_word_tells_is_asked(tmp_path, tool):
    half = (ROCKET, (4, 7))  # within a word either way
    [one] = odd(read(tmp_path, tool, half))
    assert one.is_open
    for choice, words in (("utf-16", "ock"), ("code-points", "cke")):
        found = read(tmp_path, tool, half, **{OFFSETS: choice})
        assert quotes(found) == [words] and not odd(found)[0].is_open


@pytest.mark.parametrize("tool", TOOLS)
def test_places_that_contradict_each_other_are_asked_about(tmp_path, tool):
    """Two count UTF-16 code units and one code points: the majority would cut the third one."""
    idea = "\U0001f680 idea"
    rows = ((ROCKET, (3, 9), (10, 16)), (idea, (2, 6)))
    [one] = odd(read(tmp_path, tool, *rows))
    assert one.is_open and one.number == 3 and "code units alone 2, code points alone 1" in one.what


@pytest.mark.parametrize("tool", TOOLS)
def test_bytes_are_told_by_the_words_or_chosen(tmp_path, tool):
    rows = ((ROCKET, (5, 11)), ("Straße nach Köln", (13, 18)))
    found = read(tmp_path, tool, *rows)
    assert quotes(found) == ["rocket", "Köln"] and [one.is_open for one in odd(found)] == [False]
    half = (ROCKET, (6, 9))
    assert odd(read(tmp_path, tool, half))[0].is_open
    assert quotes(read(tmp_path, tool, half, **{OFFSETS: "bytes"})) == ["ock"]


def test_each_file_counts_in_its_own_way(tmp_path):
    first = put(tmp_path, "ann.jsonl", json.dumps(as_doccano(ROCKET, (3, 9))))
    second = put(tmp_path, "ben.jsonl", json.dumps(as_doccano("\U0001f680 idea", (2, 6))))
    made = doccano.label_set_of([first, second], Options(), "Set")
    found = list(doccano.read([first, second], Options(label_set=made)))
    assert sorted(quotes(found)) == ["idea", "rocket"] and not any(one.is_open for one in odd(found))


def test_quotes_that_contradict_each_other_leave_a_place_without_one_open(tmp_path):
    """As two versions of a tool write into one export: each quote is placed, and what has none is asked about."""
    rows = [
        as_label_studio(ROCKET, (3, 9)),
        as_label_studio("\U0001f680 idea", (2, 6)),
        as_label_studio(ROCKET + "!", (3, 9)),
    ]
    for row, quote in zip(rows, ("rocket", "idea"), strict=False):
        row["annotations"][0]["result"][0]["value"]["text"] = quote
    source = put(tmp_path, "records.json", json.dumps(rows))
    made = label_studio.label_set_of([source], Options(), "Set")
    [one] = odd(list(label_studio.read([source], Options(label_set=made))))
    assert one.is_open and one.number == 1
    found = list(label_studio.read([source], Options(label_set=made, treat={OFFSETS: "utf-16"})))
    assert quotes(found) == ["rocket", "idea", "rocket"]


@pytest.mark.parametrize("tool", TOOLS)
def test_nothing_is_said_of_texts_that_all_tools_count_alike(tmp_path, tool):
    assert not odd(read(tmp_path, tool, ("Straße nach Köln", (0, 6)), ("one two", (4, 6))))


@pytest.mark.parametrize("tool", ["doccano", "argilla", "prodigy"])
def test_a_region_without_a_place_takes_no_other_along(tmp_path, tool):
    found = read(tmp_path, tool, ("plain rocket", (6, 12), (6, 99)), ("another rocket", (8, 14)))
    assert quotes(found) == ["rocket", "rocket"]
    [error] = [record for record in found if isinstance(record, RowError)]
    assert "is not a position in the text" in error.reason


def test_white_space_folds_where_a_quote_is_matched(tmp_path):
    row = as_label_studio("Text: Berlin,  Germany.", (6, 22))
    row["annotations"][0]["result"][0]["value"]["text"] = "Berlin, Germany"
    source = put(tmp_path, "records.json", json.dumps([row]))
    made = label_studio.label_set_of([source], Options(), "Set")
    assert quotes(list(label_studio.read([source], Options(label_set=made)))) == ["Berlin,  Germany"]


WORDS = [
    "the",
    "rocket",
    "🚀",
    "idea",
    "Straße",
    "Köln",
    "😀",
    "👩🏽\u200d🔬",
    "x",
    "a",
    "launch,",
    "日本語",
    "שלום",
    "ét",
]


def test_no_way_of_counting_is_taken_for_another_one_in_silence():
    """Files of one to six highlights of whole words, counted in any way: right, asked about, or a bad row."""
    draw, n_right = random.Random(3), 0
    for _ in range(600):
        encoding, places, marked = draw.choice(list(COUNTED.values())), MarkedPlaces(), []
        places.is_counting = True
        for _ in range(draw.randint(1, 6)):
            words = draw.choices(WORDS, k=draw.randint(3, 9))
            first = draw.randrange(len(words))
            start = len(" ".join([*words[:first], ""]))
            quote, text = " ".join(words[first : first + draw.randint(1, 3)]), " ".join(words)
            ends = [offset_of(text, at, encoding) for at in (start, start + len(quote))]
            places.find(text, *ends, "marks")
            marked.append((text, *ends, quote))
        places.is_counting = False
        if any(one.is_open for one in places.odd()):
            continue
        n_right += 1
        for text, start, end, quote in marked:
            with suppress(BadCell):
                assert places.find(text, start, end, "marks")[2] == quote
    assert n_right > 500

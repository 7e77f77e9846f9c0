"""Label Studio's files: what comes in, what is listed as lost, and what comes out again."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from annotation.formats import FormatError, Options, SourceFile, detect, get_format
from annotation.formats.records import (
    AnnotationRecord,
    ClaimRecord,
    LostRecord,
    PairRecord,
    SuggestionRecord,
)
from annotation.formats.tools.offsets import CODE_POINTS, UTF_8, UTF_16, code_point, offset_of, place
from annotation.formats.tools.tasks import label_value, question_slug
from annotation.task_types.problems import VALUE, problems_of
from tests.formats.helpers import errors, of, put

SAMPLES = Path(__file__).parent / "samples"
TASKS = SourceFile(SAMPLES / "label-studio.json")
CONFIG = SourceFile(SAMPLES / "label-studio.xml")


def read(*sources: SourceFile, **options) -> tuple[dict, list]:
    known = get_format("label-studio")
    made = known.label_set_of(list(sources), Options(**options), "sample")
    return made, list(known.read(list(sources), Options(label_set=made, **options)))


def task(text="A text", results=(), data=None, **more) -> dict:
    annotations = [{"completed_by": 1, "result": list(results)}] if results else []
    return {"id": 1, "data": data or {"text": text}, "annotations": annotations} | more


def choice(*labels, name="tone", to="text", **more) -> dict:
    return {"from_name": name, "to_name": to, "type": "choices", "value": {"choices": list(labels)} | more}


def of_tasks(tmp_path, *tasks, **options) -> tuple[dict, list]:
    return read(put(tmp_path, "tasks.json", json.dumps(tasks)), **options)


def test_a_real_export_with_two_annotators_and_a_model():
    assert detect(TASKS.path) == "label-studio" and detect(CONFIG.path) == "label-studio"
    made, found = read(TASKS)
    assert problems_of(made) == []
    asked = {one["slug"]: [label["title"] for label in one["labels"]] for one in made["questions"] if "labels" in one}
    assert asked == {
        "entity": ["Marked", "None"],
        "sentiment": ["Bad 👎", "so-so", "Very Good"],
        "stars": ["1", "3", "5"],
        "topics": ["boats", "weather"],
    }
    assert [one.key for one in of(found, ClaimRecord)] == ["101", "102", "103"]
    said = {
        (one.item, one.rater): {each.dimension: each.label for each in one.judgements}
        for one in of(found, AnnotationRecord)
    }
    assert said[("101", "1")] == {
        "sentiment": "Very Good", "stars": "5", "topics": "boats|weather", "entity": "marked", "share": "12.5",
        "why": "It froze 😀.",
    }  # fmt: skip
    assert said[("101", "2")] == {
        "sentiment": "so-so", "stars": "3", "topics": "boats", "entity": "marked",
    }  # fmt: skip
    spans = {(one.item, each.start, each.end, each.quote, each.label) for one in of(found, AnnotationRecord)
             for judgement in one.judgements for each in judgement.spans}  # fmt: skip
    first, second = (one.text for one in of(found, ClaimRecord)[:2])
    assert {(item, quote) for item, *_, quote, _ in spans} == {
        ("101", "harbour of Zürich 👩🏽‍🔬"),
        ("101", "Zürich 👩🏽‍🔬 froze in 1963"),
        ("101", "Zürich"),
        ("102", "😀 Bergen"),
    }
    texts = {"101": first, "102": second}
    assert all(texts[item][start:end] == quote for item, start, end, quote, _ in spans)
    assert {label for *_, label in spans} == {"Place", "Time"}
    assert set(said) == {("101", "1"), ("101", "2"), ("102", "1")}  # a cancelled annotation is none
    first = of(found, AnnotationRecord)[0]
    assert (first.rater_kind, first.active_ms, first.submitted_at.minute) == ("person", 12_500, 1)
    models = [(one.unit, one.checker, one.label, one.probability) for one in of(found, SuggestionRecord)]
    assert models == [
        ("101", "stars-v2", "marked", 0.875),
        ("101", "stars-v2", "Very Good", 0.875),
        ("102", "stars-v2", "so-so", 0.5),
    ]
    marked, *others = of(found, SuggestionRecord)
    assert [one.explanation for one in others] == ["It names\na harbour 😀.", ""]
    assert [(texts["101"][one.start : one.end], one.quote, one.label) for one in marked.spans] == [
        ("1963", "1963", "Time")
    ]
    lost = {one.what: one.number for one in of(found, LostRecord)}
    assert lost["Relations between regions"] == 1 and lost["Cancelled annotations"] == 1
    assert lost["Fields of tasks: inner_id"] == 3 and not errors(found)


def test_the_configuration_tells_labels_that_nobody_used_and_the_field():
    made, found = read(TASKS, CONFIG)
    stars = next(one for one in made["questions"] if one["slug"] == "stars")
    assert [label["value"] for label in stars["labels"]] == ["1", "2", "3", "4", "5"]
    sentiment = next(one for one in made["questions"] if one["slug"] == "sentiment")
    assert [label["title"] for label in sentiment["labels"]] == ["Very Good", "so-so", "Bad 👎"]
    assert [one.metadata["label_studio"]["fields"] for one in of(found, ClaimRecord)] == [["body"]] * 3


def test_the_configuration_may_lie_in_the_archive_of_the_tasks(tmp_path):
    path = tmp_path / "both.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(TASKS.path, "export/tasks.json")
        archive.write(CONFIG.path, "export/config.xml")
    assert detect(path) == "label-studio"
    made, found = read(SourceFile(path))
    assert [one["labels"] for one in made["questions"] if "labels" in one] == [
        one["labels"] for one in read(TASKS, CONFIG)[0]["questions"] if "labels" in one
    ]
    assert len(of(found, ClaimRecord)) == 3
    with pytest.raises(FormatError, match="is a second labelling configuration"):
        read(SourceFile(path), CONFIG)


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE View [<!ENTITY a "b">]><View>&a;</View>',
        '<!DOCTYPE View SYSTEM "http://example.org/x.dtd"><View/>',
        "<View><Text></View>",
        "<View>" + "x" * 2_000_000 + "</View>",
    ],
)
def test_a_configuration_with_entities_or_broken_is_refused(tmp_path, text):
    config = put(tmp_path, "config.xml", text)
    with pytest.raises(FormatError, match="config.xml: "):
        read(TASKS, config)
    with pytest.raises(FormatError, match="configuration alone"):
        list(get_format("label-studio").read([CONFIG], Options()))


def test_two_texts_of_the_configuration_are_a_pair(tmp_path):
    config = put(
        tmp_path,
        "config.xml",
        '<View><Text name="q" value="$prompt"/><Text name="a" value="$reply"/>'
        '<Choices name="tone" toName="a"><Choice value="kind"/><Choice value="rude"/></Choices></View>',
    )
    tasks = put(
        tmp_path,
        "t.json",
        json.dumps([task(data={"reply": "No.", "prompt": "May I?"}, results=[choice("rude", to="a")])]),
    )
    made, found = read(tasks, config)
    assert made["page"] == "pair"
    assert [(one.premise, one.hypothesis) for one in of(found, PairRecord)] == [("May I?", "No.")]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"url": "https://e.org/a.png", "body": "Told."}, "Told."),
        ({"title": "T", "text": "Told."}, "Told."),
        ({"title": "T", "note": "N", "x": "Told."}, "Told."),  # what the results are about
        ({"x": [{"author": "A", "text": "Hi"}, {"text": "Ho"}]}, "A: Hi\nHo"),
    ],
)
def test_the_field_of_the_text_is_guessed(tmp_path, data, text):
    _, found = of_tasks(tmp_path, task(data=data, results=[choice("a", to="x")]))
    assert [one.text for one in of(found, ClaimRecord)] == [text]


@pytest.mark.parametrize(
    ("broken", "column", "reason"),
    [
        ({"data": "text"}, "data", "JSON object"),
        ({"data": {"image": "https://e.org/a.png"}}, "data", "no text"),
        ({"annotations": {"result": []}}, "annotations", "list of JSON objects"),
        ({"annotations": [{"result": "x"}]}, "annotations[0].result", "not a list"),
        ({"annotations": [{"result": [{"type": "choices"}]}]}, "annotations[0].result[0]", "from_name"),
        ({"annotations": [{"result": [choice("a") | {"value": {"choices": "a"}}]}]}, "choices", "list of texts"),
        (
            {"predictions": [{"result": [choice("a") | {"type": "rating", "value": {"rating": "x"}}]}]},
            "rating",
            "number",
        ),
        ({"id": " "}, "id", "empty"),
    ],
)
def test_a_broken_task_is_told_and_the_rest_is_read(tmp_path, broken, column, reason):
    sound = task("Sound.", [choice("a")]) | {"id": 2}
    _, found = of_tasks(tmp_path, task() | broken, sound, sound)
    first, again = errors(found)
    assert column in first.column and reason in first.reason and first.line == 1
    assert "already occurs" in again.reason
    assert [one.text for one in of(found, ClaimRecord)] == ["Sound."]


def test_annotators_without_a_name_are_places_and_again_is_a_revision(tmp_path):
    nobody = {"result": [choice("a")]}
    ann = {"completed_by": {"id": 3, "email": "ann@example.org"}, "result": [choice("b")]}
    _, found = of_tasks(tmp_path, task(annotations=[nobody, ann, nobody, ann | {"result": [choice("a")]}]))
    said = [(one.rater, one.rater_kind, one.revision, one.judgements[0].label) for one in of(found, AnnotationRecord)]
    assert said == [
        ("place 1", "slot", 1, "a"),
        ("ann@example.org", "person", 1, "b"),
        ("place 2", "slot", 1, "a"),
        ("ann@example.org", "person", 2, "a"),
    ]


def test_what_assay_cannot_hold_is_listed(tmp_path):
    region = {"id": "r", "from_name": "who", "to_name": "text", "type": "brushlabels", "value": {"rle": [1]}}
    results = [choice("a"), choice("b", start=1, end=2), region, choice("x", "y", name="many")]
    told = choice("a") | {"meta": {"text": ["e" * 20_001]}}
    prediction = {"model_version": "m", "score": 7.5, "result": [told]}
    results.append(choice("z", name="many") | {"meta": {"text": ["a person's"]}})
    made, found = of_tasks(tmp_path, task(results=results, predictions=[prediction, prediction], meta={"a": 1}))
    assert [(one["slug"], one.get("answer")) for one in made["questions"]] == [("tone", None), ("many", "labels")]
    assert {one.what: one.number for one in of(found, LostRecord)} == {
        "Results of the type brushlabels (who)": 1,
        "Answers about single regions (tone)": 1,
        "Scores of predictions that are no probability": 2,
        "Further predictions of one model for one text (tone)": 1,
        "Explanations of more than 20,000 characters (tone)": 1,
        "Fields of results: meta": 1,
        "Fields of tasks: meta": 1,
    }


def test_too_many_labels_or_questions_are_refused(tmp_path):
    with pytest.raises(FormatError, match="more than 1,000 different labels"):
        of_tasks(tmp_path, *(task(str(n), [choice(f"l{n}")]) | {"id": n} for n in range(1, 1010)))
    with pytest.raises(FormatError, match="asks 13 questions"):
        of_tasks(tmp_path, task(results=[choice("a", name=f"q{n}") for n in range(13)]))


def test_numbers_are_answers_of_their_own(tmp_path):
    def number(value: object) -> dict:
        return {"from_name": "share", "to_name": "text", "type": "number", "value": {"number": value}}

    many = [task(str(n), [number(n / 8)]) | {"id": n} for n in range(1, 60)]
    made, found = of_tasks(tmp_path, *many, task("x", [number("x")]) | {"id": 99})
    assert made["questions"] == [{"slug": "share", "title": "share", "level": "interval", "answer": "number"}]
    assert problems_of(made) == [] and "is not a number" in errors(found)[0].reason
    said = [one.judgements[0].label for one in of(found, AnnotationRecord)]
    assert said[:8] == ["0.125", "0.25", "0.375", "0.5", "0.625", "0.75", "0.875", "1"] and len(said) == 59


def test_names_of_any_kind_are_names_that_can_be_stored(tmp_path):
    names = [
        ">10",
        "<10",
        "C++",
        "C#",
        "👍",
        "не знаю",
        "x" * 300,
        "1e400",
        "1e300",
        "a|b",
        "-",
        "½",
        "\u202e",
        "  Yes ",
    ]
    values = [label_value(name) for name in names]
    assert len(set(values)) == len(names)
    assert all(value == name.strip() or (VALUE.fullmatch(value) and len(value) <= 80)
               for name, value in zip(names, values, strict=True))  # fmt: skip
    assert label_value(" YES") == "YES" and label_value("3.0") == "3"
    assert question_slug("Tone") == "tone" and question_slug("情感") != question_slug("主题")
    made, found = of_tasks(tmp_path, *(task(results=[choice(name, name="Q " + name)]) | {"id": n} for n, name in
                                       enumerate(names[:12], 1)))  # fmt: skip
    assert problems_of(made) == [] and len(of(found, AnnotationRecord)) == 12


def test_offsets_are_converted_and_held_against_the_quote():
    text = "a😀b\r\nc👩🏽‍🔬d"
    plain = text.replace("\r\n", "\n")
    for encoding in (UTF_16, UTF_8, CODE_POINTS):
        for start in range(len(plain)):
            for end in range(start + 1, len(plain) + 1):
                given = [offset_of(plain, at, encoding) for at in (start, end)]
                assert [code_point(plain, at, encoding) for at in given] == [start, end]
                assert place(plain, *given, plain[start:end], (encoding,)) == (start, end)
    start = offset_of(text, text.index("c"), UTF_16)
    assert place(text, start, start + 1, "c", (UTF_16,)) == (plain.index("c"), plain.index("c") + 1)
    assert place(plain, 2, 3, "b", (UTF_16, CODE_POINTS)) == (2, 3)  # counted in code points, as the quote tells
    assert place(plain, 3, 4, None, (UTF_16, CODE_POINTS)) == (2, 3)
    assert place(plain, 2, 3, None, (UTF_16,)) is None  # within a character
    assert place(plain, 0, 99, None, (UTF_16,)) is None and place(plain, 1, 1, None, (UTF_16,)) is None
    assert place(plain, 0, 1, "z", (UTF_16, CODE_POINTS)) is None


def region(start: int, end: int, quote: str | None, *labels: str, name="entity") -> dict:
    value = {"start": start, "end": end, "labels": list(labels)} | ({} if quote is None else {"text": quote})
    return {"from_name": name, "to_name": "text", "type": "labels", "value": value}


def test_a_region_that_is_not_what_it_quotes_is_listed_and_the_rest_of_its_task_comes_in(tmp_path):
    sound = region(3, 4, "b", "X")
    for wrong in (region(0, 1, "b", "X"), region(1, 2, None, "X"), region(0, 99, None, "X"), region(2, 1, None, "X")):
        both, alone = task("a😀b", [wrong, sound, choice("good")]), task("a😀b", [wrong, choice("bad")]) | {"id": 2}
        _, found = of_tasks(tmp_path, both, alone)
        assert errors(found) == []
        assert [(one.what, one.number, one.first) for one in of(found, LostRecord)] == [
            ("Regions whose place holds another text than they quote (entity)", 2, "tasks.json, line 1")
        ]
        said = [{one.dimension: len(one.spans) for one in each.judgements} for each in of(found, AnnotationRecord)]
        assert said == [{"entity": 1, "tone": 0}, {"tone": 0}]  # who lost a region has not said that there is none


def test_regions_of_several_labels_and_twice_and_of_too_many_labels(tmp_path):
    made, found = of_tasks(tmp_path, task("Snow", [region(0, 4, "Snow", "A, b", "B=c"), region(0, 4, "Snow", "A, b")]))
    assert problems_of(made) == []
    [judgement] = of(found, AnnotationRecord)[0].judgements
    assert len(judgement.spans) == 2
    assert {one.what: one.number for one in of(found, LostRecord)} == {
        "Passages that one person marked twice (entity)": 1,
        "Regions of several labels, which become several regions": 1,
    }
    made, found = of_tasks(tmp_path, task("Snow", [region(0, 4, "Snow", f"L{n}") for n in range(61)]))
    lost = {one.what: one.number for one in of(found, LostRecord)}
    assert made == {} and lost["Labelled passages (entity): 61 labels; highlights have at most 60"] == 61


MEASURED = """
import resource, sys
from annotation.formats import FormatError, Options, SourceFile, get_format
known, sources = get_format("label-studio"), [SourceFile(sys.argv[1])]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    made = known.label_set_of(sources, Options(), "sample")
    print(sum(1 for _ in known.read(sources, Options(label_set=made))))
except FormatError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
def test_a_file_of_200_megabytes_is_read_in_under_80_megabytes(tmp_path):
    """Whole, and cut off in the middle, which is told."""
    path, words = tmp_path / "tasks.json", "Ships wait in the harbour. " * 800
    with open(path, "w") as out:
        for number in range(10_000):
            of_one = task(f"{number} {words}", [choice("calm" if number % 2 else "rough")]) | {"id": number}
            out.write("[" * (not number) + json.dumps(of_one) + ("]" if number == 9_999 else ",\n"))
    assert path.stat().st_size > 200_000_000
    for size, expected in ((None, "20000"), (150_000_000, "the file ends in the middle of a value")):
        if size:
            os.truncate(path, size)
        done = subprocess.run([sys.executable, "-c", MEASURED, str(path)], capture_output=True, text=True, check=True)
        said, kilobytes = done.stdout.strip().rsplit("\n", 1)
        assert expected in said
        assert int(kilobytes) * 1024 < 80_000_000

"""Logs that Inspect wrote with its mock model, as JSON and as a zip compressed with zstd."""

import json
import zipfile
from pathlib import Path

import pytest

from annotation.formats import FormatError, Options, SourceFile, detect, get_format
from annotation.formats.records import LostRecord, QuestionRecord, ResponseRecord, ScoreRecord, SuggestionRecord
from annotation.task_types.label_sets import problems_of
from tests.formats.helpers import errors, of, put

SAMPLES = Path(__file__).parent / "samples"
HEADER = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}}
SAMPLE = {"id": 1, "epoch": 1, "input": "Who?", "target": "me", "output": {"completion": "Me."}, "scores": {}}


def read(*sources: SourceFile) -> tuple[dict, list]:
    known = get_format("inspect")
    made = known.label_set_of(list(sources), Options(), "sample")
    assert problems_of(made) == []
    return made, list(known.read(list(sources), Options(label_set=made)))


def log(tmp_path, *samples: dict, name="log.json", **more) -> SourceFile:
    return put(tmp_path, name, json.dumps(HEADER | {"samples": list(samples)} | more))


@pytest.mark.parametrize("name", ["inspect.json", "inspect.eval"])
def test_a_log_of_two_epochs_and_two_scorers(name):
    source = SourceFile(SAMPLES / name)
    assert detect(source.path) == "inspect"
    made, found = read(source)
    assert made["page"] == "graded-response"
    assert [label["value"] for label in made["questions"][0]["labels"]] == ["correct", "incorrect"]
    assert {one.key: (one.text, one.answers) for one in of(found, QuestionRecord)} == {
        "harbour/a1": ("When did the harbour 😀 freeze?", ("1963",)),
        "harbour/a2": ("Is it cold?", ("yes", "Yes")),
        "harbour/3": ("Which?\nA) snow\nB) rain", ("A",)),
    }
    answers = {one.key: (one.text, one.model, one.repetition) for one in of(found, ResponseRecord)}
    assert len(answers) == 6
    assert answers["harbour/a2/mockllm/model/1"] == ("Yes 👩🏽‍🔬", "mockllm/model", 1)
    grades = {one.unit: one.label for one in of(found, SuggestionRecord) if one.checker == "includes"}
    assert [grades[f"harbour/a1/mockllm/model/{epoch}"] for epoch in (1, 2)] == ["correct", "incorrect"]
    scores = {one.unit: one.value for one in of(found, ScoreRecord) if one.checker == "length"}
    assert scores["harbour/a1/mockllm/model/1"] == 1.7 and len(scores) == 6
    assert "Fields of samples: events" in {one.what for one in of(found, LostRecord)} and not errors(found)


def test_two_models_answer_the_same_questions(tmp_path):
    other = HEADER | {"eval": {"task": "t", "model": "n"}, "samples": [SAMPLE]}
    _, found = read(log(tmp_path, SAMPLE), put(tmp_path, "other.json", json.dumps(other)))
    assert len(of(found, QuestionRecord)) == 1 and [one.model for one in of(found, ResponseRecord)] == ["m", "n"]
    _, found = read(log(tmp_path, SAMPLE), log(tmp_path, SAMPLE, name="again.json"))
    assert "already occurs" in errors(found)[0].reason


def test_messages_attachments_and_scores_of_all_kinds(tmp_path):
    talk = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": [{"type": "text", "text": "Who?"}]}]
    long = SAMPLE | {"id": 2, "input": "attachment://ab", "attachments": {"ab": "Long."}, "target": ""}
    values = {"p": "P", "yes": True, "parts": {"f": 0.5, "why": "x"}, "odd": "maybe", "nan": None}
    scored = SAMPLE | {"input": talk, "scores": {name: {"value": value} for name, value in values.items()}}
    failed = SAMPLE | {"id": 3, "output": {}, "error": {"message": "x"}}
    made, found = read(log(tmp_path, scored, long, failed))
    assert made["page"] == "response" and len(of(found, ResponseRecord)) == 2
    assert [one.text for one in of(found, QuestionRecord)] == ["system: Be brief.\n\nWho?", "Long."]
    assert {(one.checker, one.label) for one in of(found, SuggestionRecord)} == {("p", "partial"), ("yes", "correct")}
    assert [(one.checker, one.value) for one in of(found, ScoreRecord)] == [("parts/f", 0.5)]
    lost = {one.what: one.number for one in of(found, LostRecord)}
    assert lost["Samples that failed"] == 1 and lost["Scores that are neither grades nor numbers (odd)"] == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"version": 2, "status": "success", "samples": [{}]}', "not an Inspect log"),
        ('{"version": 2, "eval": {"task": 1}}', "names no task"),
        ('{"version": 2, "eval": {"task": "t", "model": "m"}, "samples": [{"id": 1}', "cut short|expected"),
        ('{"eval": {"task": "t", "model": "m"}, "samples": [{} {}]}', "expected ','"),
        ('{"eval": {"task": "t", "model": "m"} "samples": []}', "expected ','"),
        ('{"eval" {}}', "expected ':'"),
        ("[]", "expected '{'"),
        ('{"eval": {"task": "t", "model": "m"}} x', "follows"),
    ],
)
def test_a_broken_log_is_refused(tmp_path, text, reason):
    with pytest.raises(FormatError, match=reason):
        read(put(tmp_path, "log.json", text))


def test_a_damaged_archive_is_refused(tmp_path):
    raw = bytearray((SAMPLES / "inspect.eval").read_bytes())
    with zipfile.ZipFile(SAMPLES / "inspect.eval") as archive:
        entry = archive.getinfo("header.json")
    at = entry.header_offset + 30 + len("header.json")
    raw[at : at + 40] = b"\0" * 40
    with pytest.raises(FormatError, match="damaged"):
        read(put(tmp_path, "log.eval", bytes(raw)))

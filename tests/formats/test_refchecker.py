"""RefChecker: names from paths, keys, passages, labels, and bad entries."""

import json

import pytest

from annotation.formats import FormatError
from annotation.formats.records import (
    AnnotationRecord,
    EvidenceRecord,
    JudgementRecord,
    QuestionRecord,
    ResponseRecord,
    SuggestionRecord,
    TripletRecord,
)
from annotation.formats.studies.refchecker import Names, RefCheckerRow, guess_names, write

from .helpers import errors, of, put, read

PATH = "zero_context/nq_gpt4_answers.json"


def triplet(*parts, label="Entailment", **extra) -> dict:
    return {"triplet": list(parts), "human_label": label} | extra


def answer(identifier="-7", response="It is blue.", kg=None, **extra) -> dict:
    return {"id": identifier, "response": response, "claude2_response_kg": kg or []} | extra


@pytest.mark.parametrize(
    ("path", "names"),
    [
        (PATH, Names("zero_context", "gpt4", "nq")),
        (
            "up/accurate_context/dolly_llama2_70b_chat_answers.json",
            Names("accurate_context", "llama2_70b_chat", "dolly"),
        ),
        ("nq_falcon_40B_instruct_answers.json.gz", Names("zero_context", "falcon_40B_instruct", "nq")),
        ("all.zip/noisy_context/msmarco_gpt4_answers.json", Names("noisy_context", "gpt4", "msmarco")),
        ("C:\\data\\dolly_gpt4_answers.json", Names("accurate_context", "gpt4", "dolly")),
        ("my_model_answers.json", Names("", "my_model", "")),
        ("zero_context/whatever.json", Names("zero_context", "", "")),
    ],
)
def test_names_are_guessed_from_the_path(path, names):
    assert guess_names(path) == names


def test_an_answer_becomes_question_passages_response_triplets_and_one_annotation(tmp_path):
    kg = [
        triplet('"a"', "is", "b"),
        triplet('"a"', "is", "b", label="bad_triplet", sents=[1]),
        triplet("c", "", "d", label=None),
    ]
    entry = answer(kg=kg, question="What colour?", context=["One\r\ntwo.", "Three."], note="n")
    assert read("refchecker", put(tmp_path, PATH, json.dumps([entry]))) == [
        QuestionRecord("zero_context/-7", "What colour?"),
        EvidenceRecord("zero_context/-7/passage-0", "One\ntwo.", question="zero_context/-7", rank=1),
        EvidenceRecord("zero_context/-7/passage-1", "Three.", question="zero_context/-7", rank=2),
        ResponseRecord(
            "zero_context/gpt4/-7",
            "It is blue.",
            question="zero_context/-7",
            model="gpt4",
            context_setting="zero_context",
            metadata={"note": "n", "extractor": "claude2", "dataset": "nq"},
        ),
        TripletRecord("zero_context/gpt4/-7/0", "zero_context/gpt4/-7", 0, '"a"', "is", "b"),
        TripletRecord("zero_context/gpt4/-7/1", "zero_context/gpt4/-7", 1, '"a"', "is", "b", {"sents": [1]}),
        TripletRecord("zero_context/gpt4/-7/2", "zero_context/gpt4/-7", 2, "c", "", "d"),
        AnnotationRecord(
            "zero_context/gpt4/-7",
            "RefChecker annotators",
            (
                JudgementRecord("zero_context/gpt4/-7/0", "entailment", "entailment"),
                JudgementRecord("zero_context/gpt4/-7/1", "entailment", "bad_triplet"),
            ),
            rater_kind="slot",
        ),
    ]


def test_models_of_a_setting_share_questions_and_an_empty_list_abstained(tmp_path):
    one = put(tmp_path, PATH, json.dumps([answer(question="What?")]))
    two = put(tmp_path, PATH.replace("gpt4", "claude2"), json.dumps([answer(response="I cannot say.")]))
    records = read("refchecker", one, two)
    assert len(of(records, QuestionRecord)) == 1
    assert [record.key for record in of(records, ResponseRecord)] == ["zero_context/gpt4/-7", "zero_context/claude2/-7"]
    assert not of(records, TripletRecord) and not of(records, AnnotationRecord)


def test_a_question_may_not_change_or_get_its_text_late(tmp_path):
    one = put(tmp_path, PATH, json.dumps([answer(question="What?"), answer("8")]))
    two = put(tmp_path, PATH.replace("gpt4", "x"), json.dumps([answer(question="Who?"), answer("8", question="Late?")]))
    found = errors(read("refchecker", one, two))
    assert [(error.column, error.value) for error in found] == [("question", "Who?"), ("question", "Late?")]
    assert "differs from line 1 of zero_context/nq_gpt4" in found[0].reason
    assert "read the files that have it before the others" in found[1].reason


@pytest.mark.parametrize(
    ("entry", "column", "reason"),
    [
        (answer(kg=[triplet("a", "b")]), "claude2_response_kg[0].triplet", "is not a list of three texts"),
        (answer(kg=[triplet("a", "b", 3)]), "claude2_response_kg[0].triplet", "is not a list of three texts"),
        (
            answer(kg=[triplet("a", "b", "c", label="Yes")]),
            "claude2_response_kg[0].human_label",
            "is not one of the labels",
        ),
        (answer(kg=["a"]), "claude2_response_kg[0]", "is not a JSON object"),
        (answer(identifier=""), "id", "is empty"),
        (answer(response=" ", kg=[triplet("a", "b", "c")]), "response", "is empty, but has triplets"),
        ({"id": "1", "response": "x"}, "", "is the list of <extractor>_response_kg columns; at least one"),
        ({"id": "1", "claude2_response_kg": []}, "response", "is missing"),
        (answer(context=[1]), "context", "is not a list of passages"),
        (answer("0"), "id", "already occurs on line 2"),
    ],
)
def test_a_bad_answer_is_one_row_error_on_its_line(tmp_path, entry, column, reason):
    text = "[\n" + ",\n".join(json.dumps(each) for each in (answer("0"), entry, answer("2"))) + "\n]"
    records = read("refchecker", put(tmp_path, PATH, text))
    (error,) = errors(records)
    assert (error.file, error.line, error.column) == (PATH, 3, column)
    assert error.reason.startswith(reason)
    assert len(of(records, ResponseRecord)) == 2


def test_the_user_corrects_names_for_all_files_or_for_one(tmp_path):
    source = put(tmp_path, "answers.json", json.dumps([answer()]))
    with pytest.raises(FormatError, match="answers.json: the setting is neither in the file's path nor in its rows"):
        read("refchecker", source)
    key = of(read("refchecker", source, setting="s", model="m"), ResponseRecord)[0].key
    assert key == "s/m/-7"
    per_file = {"answers.json": {"model": "other"}}
    assert of(read("refchecker", source, setting="s", model="m", per_file=per_file), ResponseRecord)[0].model == "other"


def test_rows_are_written_in_the_published_layout(tmp_path):
    row = RefCheckerRow("s", "m", "1", "Yes.", triplets=[("a", "b", "c", "neutral", {})], question="Q?", context=("p",))
    write([row], tmp_path / "o.jsonl", names=False)
    assert json.loads((tmp_path / "o.jsonl").read_text()) == {
        "id": "1",
        "question": "Q?",
        "context": ["p"],
        "response": "Yes.",
        "claude2_response_kg": [{"triplet": ["a", "b", "c"], "human_label": "Neutral"}],
    }


def test_labels_of_checkers_are_read_as_theirs_and_kept_with_the_triplet(tmp_path):
    said = {"gemini_label": "Contradiction", "nli_label": "neutral", "gpt4_label": "Abstain", "topic_label": "Sports"}
    records = read("refchecker", put(tmp_path, PATH, json.dumps([answer(kg=[triplet("a", "is", "b", **said)])])))
    unit = "zero_context/gpt4/-7/0"
    assert of(records, SuggestionRecord) == [
        SuggestionRecord(unit, "gemini", "entailment", "contradiction"),
        SuggestionRecord(unit, "nli", "entailment", "neutral"),
    ]
    assert of(records, TripletRecord)[0].metadata == said
    assert [one.label for one in of(records, AnnotationRecord)[0].judgements] == ["entailment"]

"""Files of doccano, Prodigy and Potato as they write them: what comes in, and what is listed as lost."""

import json
import re
import zipfile

import pytest

from annotation.formats import FormatError, Options, SourceFile, detect, get_format
from annotation.formats.records import AnnotationRecord, ClaimRecord, LostRecord, PairRecord, SuggestionRecord
from annotation.formats.tools.potato import writing as potato
from annotation.formats.tools.tool_tasks import WrittenQuestion, WrittenTask, names_of
from annotation.task_types.label_sets import problems_of
from tests.formats.helpers import errors, of, put, real


def read(slug: str, *sources: SourceFile) -> tuple[dict, list]:
    known = get_format(slug)
    made = known.label_set_of(list(sources), Options(), "sample")
    assert not made or problems_of(made) == []
    return made, list(known.read(list(sources), Options(label_set=made)))


def lines(*rows: dict) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def zipped(tmp_path, name: str, files: dict[str, str]) -> SourceFile:
    path = tmp_path / name
    with zipfile.ZipFile(path, "w") as archive:
        for entry, text in files.items():
            archive.writestr(entry, text)
    return SourceFile(path, name)


def said(found: list) -> dict[tuple[str, str, int], dict[str, str]]:
    return {
        (one.item, one.rater, one.revision): {each.dimension: each.label for each in one.judgements}
        for one in of(found, AnnotationRecord)
    }


def lost(found: list) -> dict[str, int]:
    return {one.what: one.number for one in of(found, LostRecord)}


# --- doccano --------------------------------------------------------------------------------------------------------


def test_a_doccano_export_with_a_file_per_annotator(tmp_path):
    ann = lines(
        {"id": 7, "text": "Snow 😀 fell.", "label": ["cold"], "Comments": ["sure"], "source": "log"},
        {"id": 8, "text": "It rained.", "label": ["wet", "cold"], "Comments": []},
        {"id": 9, "text": "Sun.", "label": [], "Comments": []},
    )
    ben = lines({"id": 7, "text": "Snow 😀 fell.", "label": ["wet"], "Comments": [], "source": "log"})
    nobody = lines({"id": 10, "text": "Fog.", "label": [], "Comments": []})
    source = zipped(tmp_path, "export.zip", {"ann.jsonl": ann, "ben.jsonl": ben, "unknown.jsonl": nobody})
    assert detect(source.path, "export.zip") == "doccano"
    made, found = read("doccano", source)
    assert [(one["slug"], one["answer"]) for one in made["questions"]] == [("label", "labels")]
    assert [(one.key, one.metadata) for one in of(found, ClaimRecord)] == [
        ("7", {"source": "log"}), ("8", {}), ("9", {}), ("10", {}),
    ]  # fmt: skip
    assert said(found) == {
        ("7", "ann", 1): {"label": "cold"},
        ("8", "ann", 1): {"label": "cold|wet"},
        ("9", "ann", 1): {"label": "(none)"},
        ("7", "ben", 1): {"label": "wet"},
    }
    assert of(found, AnnotationRecord)[0].comment == "sure" and not errors(found) and not lost(found)


def test_one_doccano_file_names_nobody_and_may_hold_written_texts(tmp_path):
    source = put(
        tmp_path, "mine.jsonl", lines({"id": 1, "text": "A b.", "label": ["x"]}, {"text": "C.", "label": ["y"]})
    )
    _, found = read("doccano", source)
    assert [(one.rater, one.rater_kind) for one in of(found, AnnotationRecord)] == [("place 1", "slot")] * 2
    written = put(tmp_path, "w.jsonl", lines(*({"text": f"T {n}", "label": [f"Translated {n}"]} for n in range(60))))
    made, found = read("doccano", written)
    assert [one["answer"] for one in made["questions"]] == ["text"]
    assert [one["label"] for one in said(found).values()][:2] == ["Translated 0", "Translated 1"]


def test_doccano_in_its_other_layouts(tmp_path):
    """As its own examples and its versions before 1.0 have them."""
    text = "Find a flight from Memphis to Tacoma"
    old = {"meta": {}, "annotation_approver": None}
    intent = put(tmp_path, "a.jsonl", lines({"text": text, "entities": [[19, 26, "City"]], "cats": ["flight"]}))
    labels = put(tmp_path, "b.jsonl", lines({"id": 1, "text": text, "labels": [[19, 26, "City"]]} | old))
    by_user = [
        {"label": 4, "start_offset": 19, "end_offset": 26, "user": 1},
        {"label": 4, "start_offset": 30, "end_offset": 36, "user": 2},
    ]
    users = put(tmp_path, "c.jsonl", lines({"id": 1, "text": text, "annotations": by_user} | old))
    approved = old | {"annotation_approver": "cy"}
    numbers = put(
        tmp_path, "d.jsonl", lines({"id": 1, "text": text, "annotations": [{"label": 2, "user": 1}]} | approved)
    )
    assert [detect(one.path) for one in (intent, labels, users, numbers)] == ["doccano"] * 4
    made, found = read("doccano", intent)
    assert sorted(one["slug"] for one in made["questions"]) == ["category", "label"]
    [one] = said(found).values()
    assert one["label"] == "marked" and one["category"] == "flight"
    _, found = read("doccano", labels)
    assert [span.quote for one in of(found, AnnotationRecord) for span in one.judgements[0].spans] == ["Memphis"]
    _, found = read("doccano", users)
    marked = [(one.rater, span) for one in of(found, AnnotationRecord) for span in one.judgements[0].spans]
    assert [(rater, span.quote, span.label) for rater, span in marked] == [
        ("user 1", "Memphis", "label 4"), ("user 2", "Tacoma", "label 4"),
    ]  # fmt: skip
    assert not of(found, ClaimRecord)[0].metadata
    _, found = read("doccano", numbers)
    assert said(found) == {("1", "user 1", 1): {"label": "label 2"}}
    assert lost(found) == {"Who approved the annotations": 1} and not of(found, ClaimRecord)[0].metadata


@pytest.mark.parametrize(
    ("row", "column"),
    [
        ({"text": "", "label": ["x"]}, "text"),
        ({"text": "A", "annotation_approver": None, "annotations": ["x"]}, "annotations[0]"),
        ({"text": "A", "annotation_approver": None, "annotations": [{"user": 1}]}, "annotations[0].label"),
        ({"text": "A", "entities": [[0, 1]]}, "entities[0]"),
        ({"text": "A", "entities": ["x"]}, "entities[0]"),
        ({"text": "A", "label": [[0, 9, "x"]]}, "label[0]"),
        ({"text": "A", "label": [["0", 1, "x"]]}, "label[0]"),
        ({"text": "A", "label": [[0, 1]]}, "label[0]"),
        ({"text": "A", "label": {"x": 1}}, "label"),
        ({"text": "A", "label": [{"x": 1}]}, "label[0]"),
        ({"text": "A", "entities": [{"label": "x", "start_offset": 1, "end_offset": 1}]}, "entities[0]"),
        ({"id": 1, "text": "Another", "label": ["x"]}, "text"),
    ],
)
def test_a_broken_line_of_doccano_is_told(tmp_path, row, column):
    source = put(tmp_path, "a.jsonl", lines({"id": 1, "text": "One.", "label": ["x"]}, row))
    _, found = read("doccano", source)
    [error] = errors(found)
    assert error.column == column and error.line == 2
    has_no_place = error.reason.startswith("is not a position in the text")  # the text and its other answers count
    assert len(of(found, ClaimRecord)) == 1 + has_no_place


# --- Prodigy --------------------------------------------------------------------------------------------------------

SHARED = {"_input_hash": 1, "_task_hash": 2, "_view_id": "choice", "_timestamp": 1717156800}


def test_prodigy_choices_and_accepted_labels(tmp_path):
    options = [{"id": "G", "text": "Good"}, {"id": "B", "text": "Bad"}]
    choice = {"text": "Snow 😀 fell.", "options": options, "meta": {"source": "log"}} | SHARED
    binary = {"text": "It rained.", "label": "WEATHER"} | SHARED
    source = put(
        tmp_path,
        "annotations.jsonl",
        lines(
            choice | {"accept": ["G"], "answer": "accept", "_annotator_id": "set-ann", "_session_id": "set-ann"},
            choice | {"accept": ["B"], "answer": "accept", "_session_id": "set-ben"},
            choice | {"accept": ["B"], "answer": "ignore", "_session_id": "set-cy"},
            choice | {"accept": ["G"], "answer": "accept", "_session_id": "set-ben"},
            binary | {"answer": "reject", "_annotator_id": "set-ann"},
            binary | {"answer": "accept", "_annotator_id": None, "_session_id": None},
        ),
    )
    assert detect(source.path) == "prodigy"
    made, found = read("prodigy", source)
    assert {one["slug"]: [each["title"] for each in one["labels"]] for one in made["questions"]} == {
        "choice": ["Bad", "Good"], "weather": ["accept", "reject"],
    }  # fmt: skip
    snow, rain = [one.key for one in of(found, ClaimRecord)]
    assert said(found) == {
        (snow, "set-ann", 1): {"choice": "Good"},
        (snow, "set-ben", 1): {"choice": "Bad"},
        (snow, "set-ben", 2): {"choice": "Good"},
        (rain, "set-ann", 1): {"weather": "reject"},
        (rain, "place 1", 1): {"weather": "accept"},
    }
    assert of(found, AnnotationRecord)[0].submitted_at.isoformat() == "2024-05-31T12:00:00+00:00"
    assert lost(found)["Texts that annotators ignored"] == 1 and not errors(found)


@pytest.mark.parametrize(
    ("row", "column"),
    [
        ({"text": None}, "text"),
        ({"answer": "maybe"}, "answer"),
        ({"options": [1], "accept": []}, "options"),
        ({"options": [], "accept": "G"}, "accept"),
        ({"spans": [{"start": 0, "end": 99, "label": "X"}]}, "spans[0]"),
        ({"spans": [{"start": 0, "end": 1, "label": "X", "text": "B"}]}, "spans[0]"),
        ({"label": ["x"]}, "label"),
    ],
)
def test_a_broken_line_of_prodigy_is_told(tmp_path, row, column):
    sound = {"text": "A b.", "label": "X", "answer": "accept"} | SHARED
    source = put(tmp_path, "a.jsonl", lines(sound, sound | row))
    _, found = read("prodigy", source)
    [error] = errors(found)
    assert error.column == column and error.line == 2


def test_labels_that_one_person_gave_on_several_lines_stand_together(tmp_path):
    said_of = {"text": "It rained.", "_annotator_id": "ann"} | SHARED
    source = put(
        tmp_path,
        "a.jsonl",
        lines(
            said_of | {"label": "WET", "answer": "accept"},
            said_of | {"label": "COLD", "answer": "reject"},
            said_of | {"label": "WET", "answer": "reject"},
        ),
    )
    _, found = read("prodigy", source)
    assert list(said(found).values()) == [
        {"wet": "accept"}, {"wet": "accept", "cold": "reject"}, {"wet": "reject", "cold": "reject"},
    ]  # fmt: skip


def test_a_text_in_which_nobody_marked_anything_is_answered(tmp_path):
    """Prodigy writes no `spans` then."""
    tokens = [{"text": "A", "start": 0, "end": 1, "id": 0}]
    row = {"tokens": tokens, "answer": "accept", "_annotator_id": "ann"} | SHARED
    marked = {"text": "A b.", "spans": [{"start": 0, "end": 1, "label": "X"}]}
    source = put(
        tmp_path, "a.jsonl", lines(row | marked, row | {"text": "A c."}, row | {"text": "A d.", "_is_binary": True})
    )
    _, found = read("prodigy", source)
    assert [one["spans"] for one in said(found).values()] == ["marked", "none"]


# --- Potato ---------------------------------------------------------------------------------------------------------


def state(user: str, labels: dict, **more) -> str:
    """A user's file of Potato 2, laid out as it is written."""
    stored = {
        key: [[{"schema": schema, "name": name}, value] for schema, name, value in entries]
        for key, entries in labels.items()
    }
    return json.dumps({"user_id": user, "instance_id_to_label_to_value": stored} | more, indent=2)


CONFIG = """
annotation_schemes:
  - annotation_type: radio
    name: tone
    labels: [bad, {name: good}, fair]
  - annotation_type: multiselect
    name: topics
    labels: [snow, rain]
  - annotation_type: text
    name: why
"""


def test_potato_2_with_texts_and_configuration(tmp_path):
    changes = [
        {"timestamp": when, "schema_name": "tone", "label_name": label, "action": "select"}
        for when, label in ((3.0, "bad"), (1.0, "good"), (2.0, "good"))
    ]
    behaviour = {"1": {"total_time_ms": 1500, "annotation_changes": changes}}
    labels = {
        "1": [("tone", "bad", "bad"), ("tone", "good", "good"), ("why", "text_box", "because")],
        "2": [("tone", "good", "true"), ("topics", "rain", "true"), ("topics", "snow", "false")],
    }
    source = zipped(
        tmp_path,
        "out.zip",
        {
            "out/ann/user_state.json": state("ann", labels, instance_id_to_behavioral_data=behaviour),
            "out/ben/user_state.json": state("ben", {"1": [("tone", "fair", "3")]}),
            "out/ben/annotation_order.txt": "1\n2\n",
        },
    )
    texts = put(tmp_path, "data.json", lines({"id": "1", "text": "Snow\r\n😀."}, {"id": 2, "text": "Rain."}))
    assert detect(source.path, "out.zip") == "potato"
    _, found = read("potato", source, texts)
    assert said(found)["1", "ann", 1]["tone"] == "bad|good"  # which of them holds, only the configuration tells
    made, found = read("potato", source, texts, put(tmp_path, "config.yaml", CONFIG))
    assert [(one["slug"], [each["value"] for each in one.get("labels", ())]) for one in made["questions"]] == [
        ("tone", ["bad", "good", "fair"]), ("topics", ["snow", "rain"]), ("why", []),
    ]  # fmt: skip
    assert said(found) == {
        ("1", "ann", 1): {"tone": "bad", "why": "because"},
        ("2", "ann", 1): {"tone": "good", "topics": "rain"},
        ("1", "ben", 1): {"tone": "fair"},
    }
    files = {"out/ann/user_state.json": state("ann", labels), "configs/config.yaml": CONFIG}
    assert read("potato", zipped(tmp_path, "project.zip", files))[0]["questions"] == made["questions"]
    assert [one.text for one in of(found, ClaimRecord)] == ["Snow\n😀.", "Rain."]
    assert of(found, AnnotationRecord)[0].active_ms == 1500
    assert not lost(found) and not errors(found)


def test_spans_of_potato_1_belong_to_the_question_that_has_their_label(tmp_path):
    spans = [{"start": at, "end": at + 4, "annotation": label} for at, label in ((0, "cold"), (5, "Event"))]
    row = {"id": "1", "displayed_text": "Snow fell.", "label_annotations": {}, "span_annotations": spans}
    schemes = [
        f"{{annotation_type: span, name: {name}, labels: [{label}]}}" for name, label in (("a", "cold"), ("b", "event"))
    ]
    config = put(tmp_path, "config.yaml", f"annotation_schemes: [{{annotation_type: [span]}}, {', '.join(schemes)}]")
    _, found = read("potato", zipped(tmp_path, "out.zip", {"ann/annotated_instances.jsonl": lines(row)}), config)
    [one] = of(found, AnnotationRecord)
    marked = {each.dimension: [span.quote for span in each.spans] for each in one.judgements}
    assert marked == {"a": ["Snow"], "b": ["fell"]}


def test_a_wrong_highlight_or_text_of_potato_leaves_the_other_answers_of_its_user(tmp_path):
    labels = {key: [("tone", "good", "true")] for key in ("1", "2", "4")} | {"3": []}
    spans = {"1": {"parts": [{"start": start, "end": start + 4, "name": "cold"} for start in (0, 90)]}, "3": 3}
    row = state("ann", labels, instance_id_to_span_to_value=spans)
    texts = put(tmp_path, "data.json", lines(*({"id": key, "text": f"Snow fell {key}."} for key in "1234")))
    _, found = read("potato", put(tmp_path, "user_state.json", row), texts)
    assert set(said(found)) == {(key, "ann", 1) for key in ("1", "2", "4")}
    assert said(found)["1", "ann", 1] == {"tone": "good", "parts": "marked"}
    assert [one.column for one in errors(found)] == ["1: parts[1]", "instance_id_to_span_to_value.3"]


def test_a_question_that_is_written_keeps_its_title_only_where_reading_gives_its_slug():
    asked = [WrittenQuestion(slug, title, {}) for slug, title in (("tone", "Tone?"), ("tone2", "Tone"), ("why", "Why"))]
    assert names_of(asked, re.compile("[A-Za-z]+")) == {"tone": "tone", "tone2": "tone2", "why": "Why"}


def test_every_text_of_potato_has_all_fields_that_are_shown(tmp_path):
    texts = {"1": {"p": "A", "response": "1"}, "2": {"p": "A", "q": "A", "response": "2"}}
    tasks = [WrittenTask(key, shown, {}) for key, shown in texts.items()]
    potato.write(tasks, [WrittenQuestion("tone", "Tone", {"a": "A", "b": "B"})], tmp_path)
    with zipfile.ZipFile(tmp_path / "potato.zip") as written:
        rows = [json.loads(line) for line in written.read("data.jsonl").splitlines()]
    assert rows == [{"p": "A", "q": q, "id": key, "text": key} for key, q in (("1", ""), ("2", "A"))]


def test_a_configuration_of_potato_is_read_as_texts_alone(tmp_path):
    source = put(tmp_path, "user_state.json", state("ann", {"1": [("tone", "good", "true")]}))
    merged = "".join(f"a{n}: &a{n}\n  <<: [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30))
    scheme = "annotation_schemes:\n  - {annotation_type: radio, name: tone, labels: [good, 0x1" + "f" * 5000 + "]}\n"
    harmless = "a0: &a0\n  k: !!python/object:os.system {}\n"
    with pytest.raises(FormatError, match="config.yaml: its aliases expand to"):
        read("potato", source, put(tmp_path, "config.yaml", harmless + merged + scheme))
    made, _ = read("potato", source, put(tmp_path, "config.yaml", harmless + "a1:\n  <<: [*a0, *a0]\n" + scheme))
    assert [each["title"][:5] for each in made["questions"][0]["labels"]] == ["good", "0x1ff"]


@pytest.mark.parametrize("config", ["a: [", "a: &a [*a]", "x" * 2_000_000])
def test_a_broken_configuration_of_potato_is_refused(tmp_path, config):
    source = put(tmp_path, "user_state.json", state("ann", {"1": [("tone", "good", "true")]}))
    with pytest.raises(FormatError, match="config.yaml: "):
        read("potato", source, put(tmp_path, "config.yaml", config))
    with pytest.raises(FormatError, match="neither annotated_instances.jsonl nor user_state.json"):
        read("potato", put(tmp_path, "data.json", "{}"))


def test_the_real_folders_of_potato_1():
    sources = [
        SourceFile(path, "/".join(path.parts[-2:])) for path in sorted(real("potato_v1").rglob("*")) if path.is_file()
    ]
    made, found = read("potato", *sources)
    assert {one["slug"] for one in made["questions"]} == {"sentiment", "aspects", "which_is_uncertain"}
    assert len(of(found, ClaimRecord)) == 5 and not errors(found)
    assert said(found)["0", "annotator_1", 1] == {
        "aspects": "Number",
        "which_is_uncertain": "Probability/Effect/Connection",
    }
    assert {one.item: one.active_ms for one in of(found, AnnotationRecord)}["0"] == 13_000
    assert lost(found) == {"Answers on survey pages": 1}


def test_the_real_folders_of_potato_2():
    folder = real("potato_v2")
    states = sorted((folder / "seed_annotations").rglob("*.json"))
    sources = [SourceFile(path, "/".join(path.parts[-2:])) for path in (*states, folder / "data/reviews.json")]
    _, found = read("potato", *sources)
    assert len(of(found, ClaimRecord)) == 6 and len(of(found, AnnotationRecord)) == 12
    assert said(found)["r3", "alice", 1] == {"sentiment": "neutral", "aspects": "music|visuals"}
    solo = sorted((folder / "solo_annotations").rglob("*.json"))
    _, found = read("potato", *(SourceFile(path, "/".join(path.parts[-2:])) for path in solo))
    assert len(of(found, AnnotationRecord)) == 37 and {one.text for one in of(found, ClaimRecord)} >= {"1", "20"}
    assert any(what.startswith("Texts: the file of the data") for what in lost(found))


# --- Argilla and the alternative annotator test ----------------------------------------------------------------------


SETTINGS = {
    "guidelines": None,
    "fields": [{"name": "prompt", "settings": {"type": "text"}}, {"name": "reply", "settings": {"type": "text"}}],
    "questions": [
        {"name": "tone", "settings": {"type": "label_selection", "options": [{"value": "kind"}, {"value": "rude"}]}},
        {"name": "stars", "settings": {"type": "rating", "options": [{"value": n} for n in range(1, 6)]}},
        {
            "name": "topics",
            "settings": {"type": "multi_label_selection", "options": [{"value": "snow"}, {"value": "rain"}]},
        },
        {"name": "why", "settings": {"type": "text"}},
    ],
}
RECORD = {
    "id": "r1",
    "fields": {"prompt": "May I?", "reply": "No 😀."},
    "metadata": {"source": "log"},
    "suggestions": {"tone": {"value": "rude", "score": 0.75, "agent": "gpt"}, "stars": {"value": 2, "score": None}},
    "responses": {
        "tone": [{"value": "rude", "user_id": "u1"}, {"value": "kind", "user_id": "u2"}],
        "stars": [{"value": 1, "user_id": "u1"}],
        "topics": [{"value": ["snow"], "user_id": "u2"}, {"value": [], "user_id": "u1"}],
        "why": [{"value": "because", "user_id": "u1"}],
    },
    "vectors": {},
    "status": "completed",
    "_server_id": "1b",
}


def test_argilla_records_with_their_settings(tmp_path):
    records = put(tmp_path, "records.json", json.dumps([RECORD]))
    settings = put(tmp_path, "settings.json", json.dumps(SETTINGS))
    assert detect(records.path) == "argilla" and detect(settings.path) == "argilla"
    made, found = read("argilla", settings, records)
    assert made["page"] == "pair" and [(one["slug"], len(one.get("labels", ()))) for one in made["questions"]] == [
        ("tone", 2), ("stars", 5), ("topics", 2), ("why", 0),
    ]  # fmt: skip
    assert [(one.premise, one.hypothesis, one.metadata) for one in of(found, PairRecord)] == [
        ("May I?", "No 😀.", {"source": "log"})
    ]
    assert said(found) == {
        ("r1", "u1", 1): {"tone": "rude", "stars": "1", "topics": "(none)", "why": "because"},
        ("r1", "u2", 1): {"tone": "kind", "topics": "snow"},
    }
    models = [(one.checker, one.dimension, one.label, one.probability) for one in of(found, SuggestionRecord)]
    assert models == [("gpt", "tone", "rude", 0.75), ("suggestions", "stars", "2", None)]
    assert lost(found) == {"Fields of records: status": 1, "Fields of records: _server_id": 1}
    _, found = read("argilla", put(tmp_path, "b.json", json.dumps([RECORD | {"responses": {"tone": "x"}}, RECORD])))
    assert [(one.column, one.line) for one in errors(found)] == [("responses.tone", 1)]


def test_spans_of_argilla_by_people_and_models_and_that_there_is_none(tmp_path):
    options = [{"value": "PER"}, {"value": "LOC"}]
    asked = {"name": "entity", "settings": {"type": "span", "field": "text", "options": options}}
    settings = put(tmp_path, "settings.json", json.dumps(SETTINGS | {"questions": [asked]}))
    mark = {"start": 3, "end": 6, "label": "PER"}
    said = {"value": [mark, mark | {"start": 0, "label": "LOC"}], "user_id": "u1"}
    record = {
        "id": "r1",
        "fields": {"text": "😀 Ada came."},
        "suggestions": {"entity": {"value": [mark | {"start": 2, "end": 5}], "score": None, "agent": "tagger"}},
        "responses": {"entity": [said, {"value": [], "user_id": "u2"}]},
    }
    made, found = read("argilla", settings, put(tmp_path, "records.json", json.dumps([record])))
    own = made["questions"][0]["spans"]["own_labels"]
    assert [label["title"] for label in own] == ["PER", "LOC"]
    assert {one.rater: one.judgements[0].label for one in of(found, AnnotationRecord)} == {"u1": "marked", "u2": "none"}
    [suggested] = of(found, SuggestionRecord)
    assert [(span.quote, span.label) for span in suggested.spans] == [("Ada", "PER")] and not errors(found)


@pytest.mark.parametrize(("name", "texts", "people", "models"), [("wax", 246, 8, 6), ("ten_k_prompts", 1698, 13, 6)])
def test_the_real_folders_of_the_alternative_annotator_test(name, texts, people, models):
    folder = real(f"alt_test/{name}")
    sources = [SourceFile(path, path.name) for path in sorted(folder.glob("*.json"))]
    assert {detect(source.path, source.name) for source in sources} == {"alt-test"}
    made, found = read("alt-test", *sources)
    assert len(of(found, ClaimRecord)) == texts and not errors(found)
    raw = json.loads((folder / "human_annotations.json").read_text())
    assert len({one.rater for one in of(found, AnnotationRecord)}) == people == len(raw)
    assert len(of(found, AnnotationRecord)) == sum(len(labels) for labels in raw.values())
    assert len({one.checker for one in of(found, SuggestionRecord)}) == models
    assert made["questions"][0]["level"] == ("interval" if name == "ten_k_prompts" else "nominal")


def test_items_of_the_alternative_annotator_test_with_their_texts(tmp_path):
    people = {"ann": {"1": "good", "2": None}, "ben": {"1": "bad"}}
    source = zipped(
        tmp_path,
        "set.zip",
        {
            "set/human_annotations.json": json.dumps(people),
            "set/llm_annotations.json": json.dumps({"gpt": {"1": "good"}, "odd": [1]}),
            "set/items.csv": "id,text\n1,Snow fell.\n",
        },
    )
    assert detect(source.path, "set.zip") == "alt-test"
    _, found = read("alt-test", source)
    assert [(one.key, one.text) for one in of(found, ClaimRecord)] == [("1", "Snow fell."), ("2", "2")]
    assert set(said(found)) == {("1", "ann", 1), ("1", "ben", 1)} and [one.column for one in errors(found)] == ["odd"]


def test_texts_of_potato_stand_in_the_columns_that_the_configuration_names(tmp_path):
    state = {"user_id": "ann", "instance_id_to_label_to_value": {"t1": [[{"schema": "tone", "name": "good"}, "true"]]}}
    texts = lines({"tweet": "t1", "body": "Snow fell.", "text": "not this"})
    config = "item_properties: {id_key: tweet, text_key: body}\nannotation_schemes: []\n"
    files = {"ann/user_state.json": json.dumps(state), "texts.jsonl": texts, "config.yaml": config}
    _, found = read("potato", zipped(tmp_path, "named.zip", files))
    assert [(one.key, one.text) for one in of(found, ClaimRecord)] == [("t1", "Snow fell.")] and errors(found) == []
    del files["config.yaml"]
    [error] = errors(list(get_format("potato").read([zipped(tmp_path, "bare.zip", files)], Options())))
    assert "it is expected in id, item_id" in error.reason and "id_key" in error.reason

"""Files of doccano, Prodigy, Potato, Argilla and others become projects, and come out again."""

import json
import uuid
import zipfile
from pathlib import Path

import pytest
import yaml
from django.core.management import CommandError

from annotation.imports.queries import import_result
from annotation.models import Decision, Job, Judgement, Rater, Span
from annotation.task_types.base import NONE_CHOSEN
from tests.formats.helpers import real
from tests.formats.tools.test_inception import ADA, PLACE, cas
from tests.importing.tools.files import export, import_by_command, import_in_browser
from tests.world.labels import items_of, make_rater, say

pytestmark = pytest.mark.django_db

SAMPLES = Path(__file__).parents[2] / "formats/tools/samples"

ANN = [
    {"id": 7, "text": "Snow 😀 fell.", "label": ["Cold!"], "Comments": [], "source": "log"},
    {"id": 8, "text": "It rained.", "label": ["Cold!", "wet"], "Comments": []},
]
BEN = [{"id": 7, "text": "Snow 😀 fell.", "label": ["wet"], "Comments": [], "source": "log"}]
NOBODY = [{"id": 10, "text": "Fog.", "label": [], "Comments": []}]


def archive(path: Path, files: dict[str, list[dict]]) -> Path:
    with zipfile.ZipFile(path, "w") as out:
        for name, rows in files.items():
            out.writestr(name, "".join(json.dumps(row) + "\n" for row in rows))
    return path


def rows_of(path: Path) -> dict[str, list[dict]]:
    with zipfile.ZipFile(path) as opened:
        return {name: [json.loads(line) for line in opened.read(name).splitlines()] for name in opened.namelist()}


def without_comments(rows: list[dict]) -> list[dict]:
    return [{name: value for name, value in row.items() if name != "Comments"} for row in rows]


def test_doccano_in_and_out(tmp_path):
    files = {"ann.jsonl": ANN, "ben.jsonl": BEN, "unknown.jsonl": NOBODY}
    project, dry = import_in_browser(archive(tmp_path / "doccano.zip", files))
    assert dry["lost"] == [] and dry["raters"] == 2
    names = dict(project.raters.values_list("name", "pseudonym"))
    manifest = export(project, "doccano", tmp_path / "out")
    assert manifest["lost"]["doccano"]
    written = rows_of(tmp_path / "out/doccano.zip")
    assert written == {
        f"{names['ann']}.jsonl": without_comments(ANN),
        f"{names['ben']}.jsonl": without_comments(BEN),
        "unknown.jsonl": without_comments(NOBODY),
    }
    again = import_by_command(tmp_path / "out/doccano.zip", format="doccano", slug="again")
    assert set(again.raters.values_list("name", flat=True)) == set(names.values())
    export(again, "doccano", tmp_path / "more")
    twice = rows_of(tmp_path / "more/doccano.zip")
    assert sorted(map(str, twice.values())) == sorted(map(str, written.values()))


def test_passages_of_doccano_in_and_out(tmp_path):
    text = "Snow 😀 fell on Bergen."
    rows = [
        {"id": 7, "text": text, "label": [[0, 6, "Weather"], [0, 11, "Event"], [15, 21, "Place"]]},
        {"id": 8, "text": "It rained.", "label": []},
    ]
    project, dry = import_in_browser(archive(tmp_path / "doccano.zip", {"ann.jsonl": rows}))
    assert dry["lost"] == [] and [one.slug for one in project.type.dimensions] == ["label"]
    assert set(Span.objects.values_list("quote", "label")) == {
        ("Snow 😀", "Weather"), ("Snow 😀 fell", "Event"), ("Bergen", "Place"),
    }  # fmt: skip
    assert sorted(Judgement.objects.values_list("unit__key", "label")) == [("7", "marked"), ("8", "none")]
    export(project, "doccano", tmp_path / "out")
    [name] = project.raters.values_list("pseudonym", flat=True)
    assert rows_of(tmp_path / "out/doccano-passages.zip") == {f"{name}.jsonl": rows}


def test_a_folder_of_potato_becomes_a_project():
    project = import_by_command(
        real("potato_v2") / "seed_annotations", real("potato_v2") / "data/reviews.json", format="potato"
    )
    assert {(one.slug, one.answer) for one in project.type.dimensions} == {
        ("sentiment", "label"),
        ("aspects", "labels"),
    }
    assert set(project.raters.values_list("name", "kind", "user")) == {
        ("alice", Rater.Kind.EXTERNAL, None), ("bob", Rater.Kind.EXTERNAL, None),
    }  # fmt: skip
    assert Judgement.objects.filter(dimension="aspects", label="music|visuals").count() == 1


def test_potato_in_and_out(tmp_path):
    """A project of Potato 2.9 comes out as it came in: buttons, boxes, a scale, a number, words, and highlights."""
    text, other = "Ada 👩🏽‍🔬 met Ada in Köln 😀.", "It <b>rained</b>,  twice."
    shown = {"fields": [{"key": "text", "type": "text", "span_target": True}]}
    schemes = [
        {"annotation_type": "radio", "name": "Tone", "labels": ["Bad!", "Good", "0"]},
        {"annotation_type": "multiselect", "name": "topics", "labels": ["snow", "rain", "never chosen"]},
        {"annotation_type": "likert", "name": "stars", "size": 5, "min_label": "1", "max_label": "5"},
        {"annotation_type": "number", "name": "people"},
        {"annotation_type": "text", "name": "why", "textarea": {"on": True}},
        {"annotation_type": "span", "name": "marks", "labels": ["PER", "LOC", "ORG"]},
    ]
    config = {
        "item_properties": {"id_key": "id", "text_key": "text"},
        "data_files": ["data.jsonl"],
        "annotation_schemes": [scheme | {"description": scheme["name"]} for scheme in schemes],
    }
    said = {
        "7": [("Tone", "0", "0"), ("topics", "rain", "rain"), ("topics", "snow", "snow"), ("stars", "5", "5")],
        "a/8": [("stars", "1", "1"), ("people", "number", "-2.5"), ("why", "text_box", "Because\n😀 of 0.")],
    }
    labels = {key: [[{"schema": of, "name": name}, value] for of, name, value in each] for key, each in said.items()}
    second = text.rindex("Ada")
    places = ("PER", 0, text.index(" met")), ("PER", second, second + 3), ("LOC", text.index("K"), text.index(" 😀"))
    elsewhere = [{"schema": "marks", "name": "LOC", "start": 0, "end": 3, "target_field": "title"}, 1]
    marked = [
        [{"schema": "marks", "name": n, "title": n, "start": a, "end": b, "target_field": "text"}, n]
        for n, a, b in places
    ]
    state = {
        "user_id": "ann",
        "current_phase_and_page": ["annotation", "annotation"],
        "instance_id_to_presentation_order": {},
        "instance_id_ordering": ["7", "a/8"],
        "instance_id_to_label_to_value": labels,
        "instance_id_to_span_to_value": {"7": [*marked, elsewhere]},
        "instance_id_to_behavioral_data": {"7": {"instance_id": "7", "total_time_ms": 1500}},
    }
    lines = "".join(json.dumps({"id": key, "text": words}) + "\n" for key, words in (("7", text), ("a/8", other)))
    with zipfile.ZipFile(tmp_path / "potato.zip", "w") as out:
        out.writestr("annotation_output/ann/user_state.json", json.dumps(state))
        out.writestr("data.jsonl", lines)
        out.writestr("annotation_output/ann/history.jsonl", '{"action": "add"}\n')  # one of Potato's own files
        out.writestr("config.yaml", yaml.safe_dump(config))
    project, dry = import_in_browser(tmp_path / "potato.zip")
    assert [one["what"] for one in dry["lost"]] == ["Labelled passages of title"]
    [quote] = Span.objects.filter(start=second).values_list("quote", flat=True)
    assert quote == "Ada"
    manifest = export(project, "potato", tmp_path / "out")
    assert any(what.startswith("Answers that none of several") for what, _ in manifest["lost"]["potato"])
    [name] = project.raters.values_list("pseudonym", flat=True)
    with zipfile.ZipFile(tmp_path / "out/potato.zip") as opened:
        written = json.loads(opened.read(f"annotation_output/{name}/user_state.json"))
        made, texts = yaml.safe_load(opened.read("config.yaml")), opened.read("data.jsonl")
        assert len(opened.namelist()) == 3
    for key, entries in written["instance_id_to_label_to_value"].items():
        assert in_any_order(entries) == in_any_order(labels[key])
    assert in_any_order(written["instance_id_to_span_to_value"].pop("7")) == in_any_order(marked)
    parts = ("instance_id_to_label_to_value", "instance_id_to_span_to_value")
    assert written | dict.fromkeys(parts) == state | dict.fromkeys(parts) | {"user_id": name}
    assert [json.loads(line) for line in texts.splitlines()] == [json.loads(line) for line in lines.splitlines()]
    assert made["annotation_schemes"] == config["annotation_schemes"] and made["instance_display"] == shown
    # Read back, but for what is listed: here, that nobody's boxes were checked.
    stored = ("unit__key", "dimension", "label", "spans__start", "spans__quote", "spans__label")
    before = set(Judgement.objects.values_list(*stored))
    say(items_of(project)[1], make_rater(project)).judgements.create(
        unit=items_of(project)[1].anchor, dimension="topics", label=NONE_CHOSEN
    )
    export(project, "potato", tmp_path / "more")
    again = import_by_command(tmp_path / "more/potato.zip", format="potato", slug="again")
    assert set(Judgement.objects.filter(revision__annotation__item__project=again).values_list(*stored)) == before
    assert again.type.dimensions == project.type.dimensions
    assert again.raters.get().name == name


def test_a_dry_run_lists_some_of_the_answers_in_words(tmp_path):
    rows = [{"id": number, "text": f"Text {number}", "label": [f"{number} " + "long " * 40]} for number in range(130)]
    _, dry = import_in_browser(archive(tmp_path / "doccano.zip", {"ann.jsonl": rows}))
    listed = dry["labels"]["label"]
    assert len(listed) == 101 and listed["others"] == 30 and max(map(len, listed)) <= 80
    assert Judgement.objects.count() == 130


def test_a_dry_run_shows_labels_as_the_file_calls_them(tmp_path):
    rows = [{"id": 1, "text": "A", "label": ["<5", "א|ב"]}, {"id": 2, "text": "B", "label": ["≥5"]}]
    _, dry = import_in_browser(archive(tmp_path / "doccano.zip", {"ann.jsonl": rows}))
    shown = import_result(Job.objects.filter(kind="import").earliest("pk")).labels
    assert sorted(shown["label"].items()) == [("<5, א|ב", 1), ("≥5", 1)] and shown["label"] != dry["labels"]["label"]


def test_inception_in_and_out(tmp_path):
    """Out and in again the same: passages with labels, and what was said of whole texts."""
    text = "Snow 😀 fell on Bergen."
    rows = [
        {"id": 7, "text": text, "entities": [[0, 6, "Weather"], [15, 21, "Place"]], "cats": ["sad"]},
        {"id": "a/8", "text": "It rained.", "entities": [], "cats": ["calm"]},
    ]
    project, _ = import_in_browser(archive(tmp_path / "doccano.zip", {"ann.jsonl": rows}))
    manifest = export(project, "inception", tmp_path / "out")
    assert any(what.startswith("Titles of questions") for what, _ in manifest["lost"]["inception"])
    spans = set(Span.objects.values_list("start", "end", "quote", "label"))
    labels = set(Judgement.objects.values_list("unit__key", "dimension", "label"))
    assert len(spans) == 2 and ("a/8", "category", "calm") in labels
    again = import_by_command(tmp_path / "out/inception.zip", format="inception", slug="again")
    mine = Judgement.objects.filter(revision__annotation__item__project=again)
    assert set(mine.values_list("unit__key", "dimension", "label")) == labels
    assert set(Span.objects.filter(judgement__in=mine).values_list("start", "end", "quote", "label")) == spans
    assert list(again.raters.values_list("name", flat=True)) == list(project.raters.values_list("pseudonym", flat=True))
    export(project, "inception-xmi", tmp_path / "xmi")
    third = import_by_command(tmp_path / "xmi/inception-xmi.zip", format="inception", slug="third")
    mine = Judgement.objects.filter(revision__annotation__item__project=third)
    assert set(mine.values_list("unit__key", "dimension", "label")) == labels
    assert set(Span.objects.filter(judgement__in=mine).values_list("start", "end", "quote", "label")) == spans
    export(again, "inception", tmp_path / "more")
    with (
        zipfile.ZipFile(tmp_path / "out/inception.zip") as one,
        zipfile.ZipFile(tmp_path / "more/inception.zip") as two,
    ):
        parts = [sorted(opened.read(name) for name in opened.namelist()) for opened in (one, two)]
    assert parts[0] == parts[1]


def test_highlights_of_a_curation_are_those_of_its_decision(tmp_path):
    """A curation that was changed comes in as a further decision; the same one changes nothing."""

    def curated(*spans) -> list[Decision]:
        path = tmp_path / "project.zip"
        with zipfile.ZipFile(path, "w") as out:
            out.writestr("exportedproject1.json", "{}")
            out.writestr("annotation/a.txt/ada.json", cas().to_json())
            out.writestr("curation/a.txt/CURATION_USER.json", cas(spans=spans).to_json())
        import_by_command(path, format="inception")
        return list(Decision.objects.filter(dimension="namedentity").order_by("number"))

    assert len(curated((*ADA, "PER"), (*PLACE, "LOC"))) == 1
    [stored] = curated((*ADA, "PER"), (*PLACE, "LOC"))
    assert [(one["quote"], one["label"]) for one in stored.spans] == [("Ada 👩🏽‍🔬", "PER"), ("Köln", "LOC")]
    _, changed = curated((*PLACE, "LOC"))
    assert (changed.label, [one["quote"] for one in changed.spans], changed.is_latest) == ("marked", ["Köln"], True)


def test_a_folder_that_argilla_wrote_in_and_out(tmp_path):
    """Equal but for what the export lists: whose answers they are, the state of records, one suggestion a question."""
    project, dry = import_in_browser(packed(tmp_path / "argilla.zip", SAMPLES / "argilla"))
    assert [one["what"] for one in dry["lost"]] == ["Fields of records: status"]
    manifest = export(project, "argilla", tmp_path / "out")
    assert any(what.startswith("Suggestions of further models") for what, _ in manifest["lost"]["argilla"])
    given, written = [], []
    for found, archive_of in ((given, tmp_path / "argilla.zip"), (written, tmp_path / "out/argilla.zip")):
        with zipfile.ZipFile(archive_of) as opened:
            found += [json.loads(opened.read(name)) for name in ("records.json", ".argilla/settings.json")]
    users = {
        user: str(uuid.uuid5(uuid.NAMESPACE_URL, pseudonym))
        for user, pseudonym in project.raters.values_list("name", "pseudonym")
    }
    for record, other in zip(given[0], written[0], strict=True):
        for name in ("id", "metadata", "suggestions"):
            assert record[name] == other[name]
        assert list(record["fields"].values()) == list(other["fields"].values())
        for name, responses in record["responses"].items():
            said = {users[one["user_id"]]: in_any_order(one["value"]) for one in responses}
            assert said == {one["user_id"]: in_any_order(one["value"]) for one in other["responses"][name]}
        assert record["responses"].keys() == other["responses"].keys()
    for one, other in zip(given[1]["questions"], written[1]["questions"], strict=True):
        values = [[option["value"] for option in each["settings"].get("options", [])] for each in (one, other)]
        assert (one["name"], one["settings"]["type"], values[0]) == (
            other["name"],
            other["settings"]["type"],
            values[1],
        )
    again = import_by_command(tmp_path / "out/argilla.zip", format="argilla", slug="again")
    export(again, "argilla", tmp_path / "more")
    assert sorted(map(str, again.raters.values_list("name", flat=True))) == sorted(users.values())


def in_any_order(value):
    return sorted(value, key=str) if isinstance(value, list) else value


def packed(path: Path, folder: Path) -> Path:
    with zipfile.ZipFile(path, "w") as out:
        for file in folder.rglob("*.json"):
            out.write(file, file.relative_to(folder).as_posix())
    return path


def test_prodigy_in_and_out(tmp_path):
    """A file for each question: choices, a label that was accepted or rejected, and highlights that overlap."""
    text, other = "Ada 👩🏽‍🔬 met Bo in Köln 😀.", "It rained."
    who = {"_annotator_id": "db-ada", "_session_id": "db-ada", "_timestamp": 1717156800}
    options = [{"id": "bad", "text": "Bad"}, {"id": "good", "text": "Good"}]
    choices = [
        {"text": text, "options": options, "accept": ["good"], "answer": "accept", "meta": {"page": 3}} | who,
        {"text": other, "options": options, "accept": ["bad"], "answer": "accept"} | who,
        {"text": other, "options": options, "accept": ["good"], "answer": "accept"},  # of nobody in particular
    ]
    accepted = [{"text": other, "label": "WEATHER", "answer": "reject"} | who]
    ada, koeln = text.index(" met"), text.index("Köln")
    marked = [
        {"start": 0, "end": ada, "label": "PER"},
        {"start": 4, "end": ada + 4, "label": "ACT"},
        {"start": koeln, "end": koeln + 4, "label": "LOC"},
    ]
    spans = [{"text": text, "spans": marked, "answer": "accept", "meta": {"page": 3}} | who]
    spans.append({"text": other, "spans": [], "answer": "accept"} | who)
    files = {"choice.jsonl": choices, "weather.jsonl": accepted, "spans.jsonl": spans}
    project, dry = import_in_browser(archive(tmp_path / "prodigy.zip", files))
    assert dry["lost"] == []
    export(project, "prodigy", tmp_path / "out")
    [name] = project.raters.exclude(kind=Rater.Kind.SLOT).values_list("pseudonym", flat=True)
    written = rows_of(tmp_path / "out/prodigy.zip")
    assert written.keys() == files.keys()
    views = {"choice.jsonl": "choice", "weather.jsonl": "classification", "spans.jsonl": "spans_manual"}
    for file, rows in files.items():
        expected = [row | {"_view_id": views[file]} for row in rows]
        for row in expected:
            row |= {"_annotator_id": name, "_session_id": name} if "_annotator_id" in row else {}
        assert sorted(written[file], key=str_of) == sorted(expected, key=str_of)
    again = import_by_command(tmp_path / "out/prodigy.zip", format="prodigy", slug="again")
    export(again, "prodigy", tmp_path / "more")
    assert [*map(len, rows_of(tmp_path / "more/prodigy.zip").values())] == [*map(len, written.values())]


def str_of(row: dict) -> str:
    return json.dumps(row, sort_keys=True)


def test_the_alternative_annotator_test_in_and_out(tmp_path):
    people = {"ann": {"1": "good", "2": "so so 😀"}, "ben": {"1": "bad"}}
    models = {"gpt-4": {"1": "good", "2": "bad"}, "llama": {"2": "good"}}
    path = tmp_path / "set.zip"
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("set/human_annotations.json", json.dumps(people))
        out.writestr("set/llm_annotations.json", json.dumps(models))
        out.writestr("set/items.csv", "id,text\n1,Snow fell.\n2,It rained.\n")
    project = import_by_command(path, format="alt-test")
    export(project, "alt-test", tmp_path / "out")
    names = dict(project.raters.values_list("name", "pseudonym"))
    with zipfile.ZipFile(tmp_path / "out/alt-test.zip") as opened:
        said, guessed = (json.loads(opened.read(f"{who}_annotations.json")) for who in ("human", "llm"))
        texts = [json.loads(line) for line in opened.read("items.jsonl").splitlines()]
    assert said == {names[who]: labels for who, labels in people.items()} and guessed == models
    assert texts == [{"id": "1", "text": "Snow fell."}, {"id": "2", "text": "It rained."}]
    again = import_by_command(tmp_path / "out/alt-test.zip", format="alt-test", slug="again")
    assert set(again.raters.values_list("name", flat=True)) == set(names.values())
    assert Judgement.objects.filter(revision__annotation__item__project=again).count() == 3
    # A project of which the files could hold nothing is told so, and nothing is written.
    rows = [{"id": 1, "text": "Snow.", "label": ["cold", "wet"]}]
    several, _ = import_in_browser(archive(tmp_path / "doccano.zip", {"ann.jsonl": rows}))
    with pytest.raises(CommandError, match="its files can hold no question of"):
        export(several, "alt-test", tmp_path / "none")
    assert not (tmp_path / "none").exists()

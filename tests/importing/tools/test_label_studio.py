"""A Label Studio export becomes a project, and goes out equal but for what is listed."""

import json
from pathlib import Path

import pytest
from django.core.management import call_command
from playwright.sync_api import expect

from annotation.formats.records import SpanRecord, SuggestionRecord
from annotation.formats.tools.offsets import UTF_16, offset_of
from annotation.imports import outside_runs
from annotation.jobs import lifecycle
from annotation.jobs.lifecycle import JobError
from annotation.models import CheckerRun, Claim, Job, Judgement, LabelSet, Rater, Span, Suggestion
from tests.factories import make_claim_evidence, make_dataset, make_project, make_user
from tests.importing.tools.files import export, import_by_command, import_in_browser

pytestmark = pytest.mark.django_db

SAMPLES = Path(__file__).parents[2] / "formats/tools/samples"
TASKS, CONFIG = SAMPLES / "label-studio.json", SAMPLES / "label-studio.xml"


def stripped(tasks: list, lost: list[str]) -> list:
    """The tasks without what the dry run listed and what says nothing; annotators are not told by their names."""
    return [_stripped(task, lost) for task in tasks]


def _stripped(task: dict, lost: list[str]) -> dict:
    found = _fields(task, "tasks", lost)
    found["data"] = {
        name: value.replace("\r\n", "\n") if isinstance(value, str) else value for name, value in task["data"].items()
    }
    for kind in ("annotations", "predictions"):
        said = []
        for one in task.get(kind, []):
            results = [_fields(each, "results", lost) for each in one["result"] if each["type"] != "relation"]
            said.append(_fields(one, kind, lost) | {"result": sorted(results, key=_in_order)})
            said[-1].pop("completed_by", None)
        found[kind] = sorted((one for one in said if not one.get("was_cancelled")), key=_in_order)
    return found


def _fields(given: dict, of: str, lost: list[str]) -> dict:
    return {
        name: value
        for name, value in given.items()
        if f"Fields of {of}: {name}" not in lost and value not in (None, False, 0, "", [], {})
    }


def _in_order(one: dict) -> str:
    return json.dumps(one, sort_keys=True)


def test_in_and_out_is_equal_but_for_what_is_listed(tmp_path):
    project, dry = import_in_browser(TASKS, CONFIG)
    assert project.task_type == LabelSet.objects.get().identifier
    assert set(project.raters.values_list("kind", "user")) == {(Rater.Kind.EXTERNAL, None)}
    assert project.raters.count() == 2 and Claim.objects.count() == 3
    run = CheckerRun.objects.get()
    assert run.checker == "outside:stars-v2" and run.origin["outside"] == "stars-v2"
    assert Span.objects.filter(label="Place").count() == 3 and Span.objects.filter(label="Time").count() == 1
    assert sorted(Suggestion.objects.values_list("label", "probability", "explanation")) == [
        ("Very Good", 0.875, "It names\na harbour 😀."),
        ("marked", 0.875, ""),
        ("so-so", 0.5, ""),
    ]
    manifest = export(project, "label-studio", tmp_path / "out")
    written = json.loads((tmp_path / "out/label-studio.json").read_text(encoding="utf-8"))
    lost = [one["what"] for one in dry["lost"]]
    assert stripped(written, lost) == stripped(json.loads(TASKS.read_text(encoding="utf-8")), lost)
    assert {task["annotations"][0]["completed_by"]["email"] for task in written if task["annotations"]} <= set(
        project.raters.values_list("pseudonym", flat=True)
    )
    assert manifest["lost"]["label-studio"] and "label-studio.xml" in manifest["files"]
    # Once more: nothing but what was lost the first time differs, and the configuration says the same.
    again = import_by_command(tmp_path / "out/label-studio.json", tmp_path / "out/label-studio.xml",
                              format="label-studio", slug="again")  # fmt: skip
    assert [one.values for one in again.type.dimensions] == [one.values for one in project.type.dimensions]
    export(again, "label-studio", tmp_path / "more")
    twice = json.loads((tmp_path / "more/label-studio.json").read_text(encoding="utf-8"))
    assert stripped(twice, ["Fields of results: id"]) == stripped(written, ["Fields of results: id"])


def test_the_command_names_what_is_lost_and_the_same_file_twice_changes_nothing(capsys):
    project = import_by_command(TASKS, CONFIG, format="label-studio")
    said = capsys.readouterr().out
    assert "Not imported: Relations between regions: 1, first in" in said
    assert "Project: 3 items, 3 new annotations" in said
    before = Judgement.objects.count(), CheckerRun.objects.count(), Claim.objects.count()
    import_by_command(TASKS, CONFIG, format="label-studio")
    assert (Judgement.objects.count(), CheckerRun.objects.count(), Claim.objects.count()) == before
    assert project.raters.count() == 2


def test_tasks_alone_make_content_without_a_project(tmp_path):
    file = tmp_path / "plain.json"
    file.write_text(json.dumps([{"data": {"text": "One."}, "annotations": []}]))
    make_user("owner", is_staff=True)
    call_command("import_dataset", str(file), format="label-studio", dataset="plain", verbosity=0)
    assert [(one.key[:2], one.text) for one in Claim.objects.all()] == [("t-", "One.")]


def test_a_native_project_goes_to_label_studio(tmp_path):
    """A project that never saw the tool: a task per unit, its texts by their names, and a configuration for it."""
    dataset = make_dataset(make_user("rosa", is_staff=True))
    make_claim_evidence(dataset, 3)
    project = make_project(dataset)
    manifest = export(project, "label-studio", tmp_path / "out")
    tasks = json.loads((tmp_path / "out/label-studio.json").read_text(encoding="utf-8"))
    assert tasks and list(tasks[0]["data"])[:2] == ["claim", "evidence"] and tasks[0]["data"]["assay_key"]
    config = (tmp_path / "out/label-studio.xml").read_text(encoding="utf-8")
    assert '<Text name="claim" value="$claim" />' in config and 'choice="single"' in config
    assert manifest["counts"]["items"] == len(tasks)


REVIEWS = (
    "La paella de la señora Núñez 🥘🔥 llegó fría, pero el postre era magnífico.",
    "🧑🏽‍🍳👩‍👩‍👧: «¡Qué sabor!»\r\nVolveremos a Zaragoza en e\u0301poca de fiestas 🎉.",
    "ラーメン🍜は最高でしたが、店員さんは無愛想でした。",
)


def result(text: str, quote: str, *labels: str) -> dict:
    start = text.index(quote)
    start, end = (offset_of(text, at, UTF_16) for at in (start, start + len(quote)))
    value = {"start": start, "end": end, "text": quote, "labels": list(labels)}
    return {"from_name": "aspect", "to_name": "review", "type": "labels", "origin": "manual", "value": value}


def mood(word: str) -> dict:
    return {"from_name": "mood", "to_name": "review", "type": "choices", "value": {"choices": [word]}}


def reviews(texts=REVIEWS) -> list[dict]:
    """Highlights that overlap, nest and touch, by two people and a tagger."""
    first, second, third = texts
    said = (
        [
            [
                result(first, "paella de la señora Núñez 🥘🔥", "Food"),
                result(first, "Núñez 🥘", "Person"),
                mood("mixed"),
            ],
            [result(first, "🥘🔥 llegó fría", "Service"), mood("bad")],
        ],
        [
            [
                result(second, "🧑🏽‍🍳👩‍👩‍👧: «¡Qué", "Food"),
                result(second, "👩‍👩‍👧", "Person"),
                result(second, "e\u0301poca", "Service"),
                mood("good"),
            ]
        ],
        [
            [result(third, "ラーメン🍜", "Food"), result(third, "🍜は最高", "Food"), mood("mixed")],
            [result(third, "🍜は", "Service"), result(third, "最高", "Food"), mood("good")],
        ],
    )
    guessed = (
        [result(first, "🔥 llegó", "Food")],
        [],
        [result(third, "ン🍜", "Food"), result(third, "🍜は最", "Service")],
    )
    return [
        {
            "id": number,
            "data": {"review": text, "stars": "★★★☆☆"},
            "annotations": [
                {"id": number * 10 + who, "completed_by": who, "result": results, "lead_time": 4.5}
                for who, results in enumerate(of_text, 1)
            ],
            "predictions": [{"model_version": "tagger-3", "score": 0.5, "result": spans}] if spans else [],
        }
        for number, (text, of_text, spans) in enumerate(zip(texts, said, guessed, strict=True), 41)
    ]


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_file_with_emoji_and_overlapping_highlights_goes_in_and_out_in_chromium(open_context, tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path / "media"
    file = tmp_path / "project-3-at-2026.json"
    file.write_text(json.dumps(reviews(), ensure_ascii=False), encoding="utf-8")

    def done() -> Job:
        job = Job.objects.filter(state=Job.State.QUEUED).get()
        with page.expect_navigation():  # the page notices by itself
            assert lifecycle.run_here(job).state == Job.State.DONE, job.message
        return Job.objects.get(pk=job.pk)

    page = open_context(make_user("owner", is_staff=True)).new_page()
    page.goto("/datasets/new/")
    page.get_by_label("Title").fill("Reviews")
    page.get_by_label("Short name").fill("reviews")
    page.get_by_role("button", name="Create and choose a file").click()
    page.get_by_label("Files").set_input_files(file)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", name="Dry run")).to_be_visible()
    lost = [one["what"] for one in done().result["lost"]]
    assert lost == [
        "Fields of annotations: id",
        "Fields of results: origin",
        "Line ends of Windows, which become plain ones",
    ]
    for what in lost:
        expect(page.get_by_role("main")).to_contain_text(what)
    page.get_by_label("Title").fill("What guests praise")
    page.get_by_role("button", name="Import now").click()
    expect(page.get_by_text("Import now")).to_have_count(0)
    done()
    page.get_by_role("link", name="Go to the project").click()
    page.get_by_role("link", name="Results").click()
    page.get_by_role("link", name="Exports").click()
    page.get_by_text("Other formats and labels").click()
    page.get_by_label("Label Studio JSON").check()
    page.get_by_role("button", name="Export", exact=True).click()
    expect(page.get_by_role("heading", name="Export of")).to_be_visible()
    done()
    with page.expect_download() as started:
        page.get_by_role("link", name="label-studio.json").click()
    written = json.loads(Path(started.value.path()).read_text(encoding="utf-8"))
    given = reviews([text.replace("\r\n", "\n") for text in REVIEWS])
    ids = ["Fields of results: id", "Fields of annotations: id", "Fields of predictions: id", *lost]
    assert stripped(written, ids) == stripped(given, ids)


def test_highlights_of_a_model_that_are_not_in_the_text_are_refused_or_left_out():
    project = import_by_command(TASKS, CONFIG, format="label-studio")
    text, owner = Claim.objects.get(key="101").text, project.created_by
    good = SuggestionRecord("101", "tagger", "entity", "marked", spans=(SpanRecord("claim", 0, 3, text[:3], "Place"),))
    for wrong in (SpanRecord("claim", 0, 3, "???", "Place"), SpanRecord("claim", 0, 3, text[:3], "river")):
        bad = SuggestionRecord("102", "tagger", "entity", "marked", spans=(wrong,))
        with pytest.raises(JobError, match="tagger, spans"):
            outside_runs.bring_in(project, [good, bad], owner)
        assert not CheckerRun.objects.filter(checker="outside:tagger").exists()
    outside_runs.bring_in(project, [good, bad], owner, leaves_out=True)
    [stored] = Suggestion.objects.filter(run__checker="outside:tagger")
    assert stored.spans == [{"field": "claim", "start": 0, "end": 3, "quote": text[:3], "label": "Place"}]
    # The same again is the same, other spans are another run.
    assert outside_runs.bring_in(project, [good], owner).runs == 0
    other = SuggestionRecord("101", "tagger", "entity", "marked", spans=(SpanRecord("claim", 0, 2, text[:2], "Place"),))
    assert outside_runs.bring_in(project, [other], owner).runs == 1

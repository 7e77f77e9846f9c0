"""A Label Studio export becomes a project, and goes out equal but for what is listed."""

import json
from pathlib import Path

import pytest
from django.core.management import call_command

from annotation.models import CheckerRun, Claim, Judgement, LabelSet, Rater, Span, Suggestion
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
            results = [_fields(each, "results", lost) for each in one["result"] if not _is_lost(each, kind, lost)]
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


def _is_lost(result: dict, kind: str, lost: list[str]) -> bool:
    name = result.get("from_name")
    return result["type"] == "relation" or (kind == "predictions" and f"Labelled passages of models ({name})" in lost)


def test_in_and_out_is_equal_but_for_what_is_listed(tmp_path):
    project, dry = import_in_browser(TASKS, CONFIG)
    assert project.task_type == LabelSet.objects.get().identifier
    assert set(project.raters.values_list("kind", "user")) == {(Rater.Kind.EXTERNAL, None)}
    assert project.raters.count() == 2 and Claim.objects.count() == 3
    run = CheckerRun.objects.get()
    assert run.checker == "outside:stars-v2" and run.origin["outside"] == "stars-v2"
    assert Span.objects.filter(label="place").count() == 3 and Span.objects.filter(label="time").count() == 1
    assert sorted(Suggestion.objects.values_list("label", "probability", "explanation")) == [
        ("so_so", 0.5, ""),
        ("very_good", 0.875, "It names\na harbour 😀."),
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

"""The settings of an exported project, taken over by a project that an import makes."""

import json
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from analysis.releases.freezing import write_release
from annotation.imports import uploads
from annotation.jobs import lifecycle
from annotation.models import Job, Project, Upload
from annotation.projects import guidelines
from annotation.projects.carried_settings import SettingsProblem, parse
from annotation.projects.options import set_options
from tests.factories import make_dataset, make_project, make_user
from tests.world.exported import make_rich_project

pytestmark = pytest.mark.django_db
KIND = "claim-evidence/six-way/1"
RUN = {"name": "plain", "version": 1, "created_at": "2026-01-01T00:00:00Z", "kind": "majority"}
PLAIN = {
    "description": "Two winters.",
    "overlap": 3,
    "multiple_share": 0.5,
    "order": "random",
    "seed": 77,
    "prefill": "after",
    "minimum_seconds": 4,
    "lease_minutes": 90,
}
OPTIONS = (
    {"hidden": ["relevance"]},
    {
        "captions": {"stance": {"title": "Haltung", "labels": {"refutes": {"title": "Widerlegt"}}}},
        "spans": {"stance": "off"},
        "free_text": {"title": "Why?", "hint": "", "required": True},
    },
)


@pytest.fixture
def owner():
    return make_user("owner", is_superuser=True)


@pytest.fixture
def project(owner):
    """With labels, made before its options were changed twice and its guidelines once."""
    made = make_rich_project()
    Project.objects.filter(pk=made.pk).update(title="Harbours", **PLAIN)
    made.refresh_from_db()
    for options in OPTIONS:
        set_options(made, owner, options)
    guidelines.publish(made, owner, "# Read\nthe *claim* first.")
    return made


@pytest.fixture
def client(owner):
    client = Client()
    client.force_login(owner)
    return client


def manifest_of(project, folder) -> dict:
    call_command("export_dataset", project.slug, str(folder), verbosity=0)
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


def bring_in(folder, *arguments: str, slug="again") -> None:
    files = [str(folder / name) for name in ("annotations.jsonl", "claims.jsonl", "decisions.jsonl", "manifest.json")]
    chosen = ["--format", "assay", "--dataset", slug, "--project", slug, "--owner", "owner@example.org"]
    call_command("import_dataset", *files, *chosen, *arguments, verbosity=0)


def test_a_project_set_up_by_an_import_is_exported_with_the_same_settings_and_plans_the_same(project, tmp_path):
    first = manifest_of(project, tmp_path / "first")
    assert first["settings"] == {
        "title": "Harbours",
        **PLAIN,
        "guidelines": ["Read twice, judge once.", "# Read\nthe *claim* first."],
    }
    assert list(first["options_versions"]) == ["1", "2"]
    bring_in(tmp_path / "first", "--with-settings", "--overlap", "3")
    again = Project.objects.get(slug="again")
    second = manifest_of(again, tmp_path / "second")
    assert second | {"project": "rich"} == first
    for name in ("annotations.jsonl", "claims.jsonl"):
        assert (tmp_path / "second" / name).read_bytes() == (tmp_path / "first" / name).read_bytes()
    assert again.type == project.type and again.type.dimension("stance").title == "Haltung"
    drawn = dict(again.items.values_list("key", "planned"))
    other = make_project(project.dataset, KIND, overlap=3, multiple_share=0.5, seed=77, slug="drawn")
    assert drawn == dict(other.items.values_list("key", "planned")) and set(drawn.values()) == {1, 3}


def test_nobody_is_asked_to_label_unless_that_is_wanted(project, tmp_path):
    manifest_of(project, tmp_path / "first")
    bring_in(tmp_path / "first", "--with-settings")
    again = Project.objects.get(slug="again")
    assert (again.overlap, again.assignments.count()) == (0, 0)
    assert (again.minimum_seconds, again.options_version) == (4, 2)


def test_a_manifest_among_the_files_changes_nothing_by_itself(project, tmp_path):
    manifest_of(project, tmp_path / "first")
    bring_in(tmp_path / "first")
    again = Project.objects.get(slug="again")
    assert (again.title, again.options_version, again.minimum_seconds, again.prefill) == ("again", 0, 0, "off")
    assert again.items.count() == 7


def test_manifests_from_before_there_were_settings_bring_what_they_have(project, tmp_path):
    first = manifest_of(project, tmp_path / "first")
    del first["settings"]
    export = parse(first)
    assert (export.title, export.overlap, dict(export.plain), export.guidelines) == ("", 0, {}, ())
    assert export.options == tuple(first["options_versions"].values()) == tuple(OPTIONS)
    said = {"title": "Harbours", "overlap": 3, "multiple_share": 0.5, "prefill": "after", "note": "n", "version": 1}
    release = parse(first | {"release": said})
    assert (release.title, release.overlap) == ("Harbours", 3)
    assert release.plain == {name: said[name] for name in ("title", "overlap", "multiple_share", "prefill")}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"task_type": "claim-evidence/six-way/9"}, "this Assay has no task type 'claim-evidence/six-way/9'"),
        ({"settings": []}, "settings: is not a JSON object"),
        ({"settings": {"overlap": -1}}, "overlap: -1 is not a whole number from 0 to 1,000"),
        ({"settings": {"lease_minutes": True}}, "lease_minutes: True is not a whole number"),
        ({"settings": {"prefill": ["off"]}}, r"prefill: \['off'\] is not one of off, shown, after"),
        ({"settings": {"multiple_share": float("nan")}}, "multiple_share: nan is not a share"),
        ({"settings": {"guidelines": "Read."}}, "guidelines: is not a list"),
        ({"settings": {"title": 3}}, "title: is not a text"),
        ({"settings": {"rules": {}}}, "rules: is not a list"),
        ({"settings": {"rules": [RUN, RUN]}}, "rules.1: version 1 of plain occurs twice"),
        ({"settings": {"rules": [{}]}}, "rules.0.name: must be text"),
        ({"settings": {"rules": [RUN | {"version": 0}]}}, "rules.0.version: must be a whole number from 1"),
        ({"settings": {"rules": [RUN | {"created_at": "now"}]}}, "rules.0.created_at: must be a date and time"),
        ({"settings": {"rules": [RUN | {"parameters": {"ties": ["first"]}}]}}, "rules.0.parameters: must be texts and"),
        ({"options_versions": {"2": {}}}, "options_versions: is not a JSON object with the versions 1, 2"),
        ({"options_versions": {"1": {"hidden": ["mood"]}}}, "options_versions.1: hidden.mood: is not one of"),
    ],
)
def test_settings_that_cannot_be_taken_over_are_named(changed, message):
    with pytest.raises(SettingsProblem, match=message):
        parse({"assay_export": 1, "task_type": KIND} | changed)


def test_only_a_new_project_of_the_same_task_takes_over_settings(project, tmp_path):
    manifest_of(project, tmp_path / "first")
    with pytest.raises(CommandError, match="name it with --project"):
        call_command("import_dataset", str(tmp_path / "first" / "manifest.json"), "--format", "assay", "--dataset", "x",
                     "--with-settings")  # fmt: skip
    with pytest.raises(CommandError, match="has the task type|belongs to another data set"):
        bring_in(tmp_path / "first", "--with-settings", slug="rich")
    with pytest.raises(
        CommandError, match=f"The settings are of a project with the task type {KIND}, not nli/two-way/1"
    ):
        bring_in(tmp_path / "first", "--with-settings", "--task-type", "nli/two-way/1")
    (tmp_path / "first" / "manifest.json").write_text((tmp_path / "first" / "claims.jsonl").read_text())
    with pytest.raises(CommandError, match="The files contain no settings; add the manifest.json"):
        bring_in(tmp_path / "first", "--with-settings")
    assert not Project.objects.filter(slug="again").exists()


def test_a_project_is_set_up_wholly_or_not_at_all(project, tmp_path):
    first = manifest_of(project, tmp_path / "first")
    first["options_versions"]["2"] = first["options_versions"]["1"]
    (tmp_path / "first" / "manifest.json").write_text(json.dumps(first, sort_keys=True))
    with pytest.raises(CommandError, match="Two versions of the options or guidelines in a row say the same"):
        bring_in(tmp_path / "first", "--with-settings")
    assert not Project.objects.filter(slug="again").exists()


def send(client, dataset, path):
    files = [SimpleUploadedFile(path.name, path.read_bytes())]
    return looked_at(client, client.post(f"/datasets/{dataset.slug}/import/", {"files": files}))


def looked_at(client, response):
    assert response.status_code == 302, response.content.decode()
    job = Job.objects.order_by("-pk").first()
    lifecycle.run_here(job)
    return job, client.get(response["Location"]).content.decode()


def zipped(folder, target, inside=""):
    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            archive.write(path, inside + path.relative_to(folder).as_posix())
    return target


@pytest.mark.parametrize("inside", ["", "harbours/"], ids=["as packed", "packed with its folder"])
def test_a_release_is_shown_before_it_is_set_up_in_the_browser(client, owner, project, tmp_path, inside):
    (tmp_path / "release").mkdir()
    frozen = write_release(project, tmp_path / "release")
    dry, page = send(client, make_dataset(owner), zipped(tmp_path / "release", tmp_path / "r.zip", inside))
    assert dry.parameters["format"] == "assay"
    for words in (
        "Version 2 of the project&#x27;s options: highlights: Stance off; ",
        "its own captions for Stance; free-text question: Why?",
        "3 for 50% of the items, 1 for the others",
        "Shown after the first answer, which is kept",
        "2 versions; the newest has 25 characters",
        "besides those in the file",
        'value="Harbours"',
    ):
        assert words in page, words
    assert not Project.objects.filter(title="Harbours").exclude(pk=project.pk).exists()
    chosen = {"with_project": "on", "project_title": "Ports", "task_type": KIND, "with_settings": "on"}
    start = f"/imports/{dry.uuid}/start/"
    refused = client.post(start, chosen | {"task_type": "nli/two-way/1"})
    assert refused.status_code == 422 and "choose that, or leave the settings out" in refused.content.decode()
    refused = client.post(start, {"with_project": "on", "project_title": "P", "task_type": KIND, "with_people": "on"})
    assert refused.status_code == 422 and "use these as well" in refused.content.decode()
    job, page = looked_at(client, client.post(start, chosen | {"with_people": "on"}))
    assert job.state == "done", job.message
    made = Project.objects.get(slug="ports")
    assert (made.title, made.state, made.overlap, made.seed, made.options_version) == ("Ports", "open", 3, 77, 2)
    assert made.type == project.type
    (tmp_path / "again").mkdir()
    again = write_release(made, tmp_path / "again")
    assert again["release"]["labels_sha256"] == frozen["release"]["labels_sha256"]


def test_a_project_without_labels_can_be_made_anew_from_its_files(client, owner, project, tmp_path):
    """Also where their content is there already."""
    other = make_project(project.dataset, KIND, slug="unlabelled", minimum_seconds=9)
    (tmp_path / "release").mkdir()
    write_release(other, tmp_path / "release")
    packed, dataset = zipped(tmp_path / "release", tmp_path / "r.zip"), make_dataset(owner)
    dry, _ = send(client, dataset, packed)
    looked_at(client, client.post(f"/imports/{dry.uuid}/start/"))
    dry, page = send(client, dataset, packed)
    assert "already contains all of this" in page and "Import now" in page
    chosen = {"with_project": "on", "project_title": "Anew", "task_type": KIND, "with_settings": "on"}
    job, _ = looked_at(client, client.post(f"/imports/{dry.uuid}/start/", chosen))
    assert job.state == "done", job.message
    anew = Project.objects.get(slug="anew")
    assert (anew.minimum_seconds, anew.items.count()) == (9, 7)


def test_settings_that_cannot_be_taken_over_do_not_stop_the_rest(client, owner, project, tmp_path):
    (tmp_path / "release").mkdir()
    frozen = write_release(project, tmp_path / "release")
    frozen["settings"]["order"] = "backwards"
    (tmp_path / "release" / "manifest.json").write_text(json.dumps(frozen, sort_keys=True))
    dry, page = send(client, make_dataset(owner), zipped(tmp_path / "release", tmp_path / "r.zip"))
    assert "The settings in the file cannot be used: order: &#x27;backwards&#x27; is not one of random, file" in page
    assert "with_settings" not in page and "The rest can be imported" in page
    chosen = {"with_project": "on", "project_title": "Ports", "task_type": KIND, "with_settings": "on"}
    job, _ = looked_at(client, client.post(f"/imports/{dry.uuid}/start/", chosen))
    assert job.state == "done", job.message
    assert Project.objects.get(slug="ports").options_version == 0


def test_nothing_is_said_to_be_importable_where_the_files_are_gone(client, owner, project, tmp_path):
    (tmp_path / "release").mkdir()
    write_release(project, tmp_path / "release")
    dry, page = send(client, make_dataset(owner), zipped(tmp_path / "release", tmp_path / "r.zip"))
    assert "Import now" in page
    uploads.path_of(Upload.objects.get()).unlink()
    page = client.get(f"/imports/{dry.uuid}/").content.decode()
    assert "is no longer on the server; upload it again" in page
    assert "Import now" not in page and "can be imported" not in page

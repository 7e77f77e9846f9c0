"""A package from outside with a task type, a format, a checker and a report, as CONTRIBUTING.md shows it: used in the
browser, by command and in a release."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from django.core.checks import run_checks
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.urls import reverse

from analysis.releases.freezing import write_release
from analysis.reports.metrics import REPORTS
from analysis.reports.stored import stored_report
from analysis.reports.words.methods import paragraph
from annotation import __version__
from annotation.formats import FORMATS
from annotation.jobs import lifecycle
from annotation.models import CheckerRun, Job, Project
from annotation.task_types import task_type
from models_runtime import registry
from plugins import TABLES, template_folders
from tests.factories import join, make_dataset, make_project, make_user
from tests.importing.files import command
from tests.work.browser import Annotator
from tests.world import client_of

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "tests" / "plugin"
LETTERS = [
    {"letter_id": "l1", "about": "The bridge was closed.", "letter": "They closed it!"},
    {"letter_id": "l2", "about": "The bridge was sold.", "letter": "Nobody sold it."},
]
JSONL = "".join(json.dumps(one) + "\n" for one in LETTERS)


def install(folder: Path, name: str = "", entry_points: str = "") -> Path:
    """What pip puts into a folder: the package of this test, or one of that name with these entry points."""
    if not name:
        project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
        name, groups = project["name"], project["entry-points"]
        shutil.copytree(PACKAGE / "assay_tone", folder / "assay_tone", ignore=shutil.ignore_patterns("__pycache__"))
        entry_points = "".join(
            f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
            for group, points in groups.items()
        )
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(entry_points)
    return folder


def forget() -> None:
    for table in TABLES.values():
        table.forget()
    for name in [name for name in sys.modules if name.partition(".")[0] == "assay_tone"]:
        del sys.modules[name]
    registry._cache.clear()


@pytest.fixture
def installed(tmp_path, monkeypatch, settings):
    monkeypatch.syspath_prepend(install(tmp_path / "site"))
    forget()
    [engine] = settings.TEMPLATES
    settings.TEMPLATES = [engine | {"DIRS": [*engine["DIRS"], *template_folders()]}]
    yield
    monkeypatch.undo()
    forget()


def run_latest() -> Job:
    job = lifecycle.run_here(Job.objects.latest("pk"))
    assert job.state == "done", job.message
    return job


@pytest.fixture
def project(installed) -> Project:
    """Made in the browser of a file in the package's format, with the package's task type."""
    owner = make_user("owner", is_staff=True)
    dataset = make_dataset(owner, slug="post")
    client = client_of(owner)
    assert "Letters to the editor" in client.get("/datasets/post/import/").content.decode()
    client.post("/datasets/post/import/", {"files": [SimpleUploadedFile("post.jsonl", JSONL.encode())]})
    assert Job.objects.latest("pk").parameters["format"] == "letters"
    dry = run_latest()
    assert client.post(f"/imports/{dry.uuid}/start/", {}).status_code == 302
    assert run_latest().result["package"] == "assay-tone 1.0"
    assert "Tone of a letter" in client.get("/projects/new/").content.decode()
    sent = {
        "title": "Post", "dataset": dataset.pk, "task_type": "tone/-/1", "overlap": 1, "multiple_percent": 100,
        "order": "file", "prefill": "off", "minimum_seconds": 0, "lease_minutes": 60,
    }  # fmt: skip
    assert client.post("/projects/new/", sent).status_code == 302
    run_latest()
    return Project.objects.get()


def label(project: Project) -> None:
    anna = make_user("anna")
    join(project, anna)
    annotator = Annotator(anna, project)
    while (given := annotator.next())["state"] == "item":
        [unit] = given["payload"]["units"]
        answer = {"unit": unit, "dimension": "tone", "label": "calm", "spans": []}
        assert annotator.submit(given["payload"], [answer]).status_code == 200


def test_contributing_shows_the_package():
    shown = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    files = dict(re.findall(r"`(\S+)`:\n\n```\w+\n(.*?)```", shown, re.DOTALL))
    written = {
        path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8")
        for path in PACKAGE.rglob("*")
        if path.is_file() and path.suffix != ".pyc" and path.stat().st_size
    }
    assert len(written) == 6 and {name: files.get(name) for name in written} == written


@pytest.mark.django_db
def test_it_passes_the_checks_at_start(installed):
    assert [error.msg for error in run_checks() if error.id and error.id.startswith("assay.E0")] == []
    assert str(REPORTS.package_of("tones")) == "assay-tone 1.0" and REPORTS.package_of("agreement") is None
    assert registry.package_of("exclamations") == "assay-tone 1.0"


@pytest.mark.django_db
def test_all_of_it_works_in_the_browser(project):
    assert project.task_type == "tone/-/1"
    client = client_of(project.created_by)
    label(project)
    runs = reverse("project_runs", args=[project.slug])
    assert "Exclamation marks" in client.get(runs).content.decode()
    client.post(runs, {"checker": "exclamations"})
    run_latest()
    run = CheckerRun.objects.get()
    assert run.provenance["package"] == "assay-tone 1.0"
    assert sorted(run.suggestions.values_list("label", flat=True)) == ["calm", "loud"]
    where = reverse("project_report", args=[project.slug, "tones"])
    assert "Tones of letters" in client.get(reverse("project_reports", args=[project.slug])).content.decode()
    client.get(where)
    run_latest()
    html = client.get(where).content.decode()
    assert "2 labels of tones." in html and "assay-tone 1.0 from the labels" in html


@pytest.mark.django_db
def test_its_format_can_be_chosen_in_the_api_and_its_files_in_the_browser(installed):
    owner = make_user("owner", is_staff=True)
    make_dataset(owner, slug="post")
    client = client_of(owner)
    [accepted] = re.findall(r'type="file"[^>]* accept="([^"]*)"', client.get("/datasets/post/import/").content.decode())
    assert {".post", ".jsonl", ".csv", ".gz", ".zip"} <= {*accepted.split(",")}
    sent = client.post("/api/v1/datasets/post/imports/?format=letters", data=JSONL, content_type="application/x-ndjson")
    assert sent.status_code == 202, sent.content
    assert run_latest().parameters["format"] == "letters"


@pytest.mark.django_db
def test_all_of_it_works_by_command_and_its_release_names_it(installed, tmp_path, capsys):
    owner = make_user("owner", is_staff=True)
    path = tmp_path / "post.jsonl"
    path.write_text(JSONL, encoding="utf-8")
    code, said = command(path, "--format", "letters", "--dataset", "post", "--project", "post", "--overlap", "1")
    assert code == 0, said
    project = Project.objects.get()
    label(project)
    call_command("run_checker", project.slug, "exclamations", "--here", "--user", owner.username, verbosity=0)
    call_command("release", project.slug, tmp_path / "release", verbosity=0)
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text())
    assert manifest["release"]["packages"] == ["assay-tone 1.0"]
    assert "assay-tone 1.0" in (tmp_path / "release" / "README.md").read_text()
    capsys.readouterr()
    call_command("report", str(tmp_path / "release"), "tones", "--from-files", format="json")
    result = json.loads(capsys.readouterr().out)
    assert result["labels"] == [{"label": "calm", "n": 2}] and result["made_from"]["packages"] == ["assay-tone 1.0"]
    assert "with Assay" in paragraph(REPORTS["tones"], result) and "assay-tone 1.0" in paragraph(
        REPORTS["tones"], result
    )


@pytest.mark.django_db
def test_another_version_of_the_package_computes_its_reports_again(project, tmp_path):
    before = stored_report(project, "tones", {}, project.created_by)
    agreement = stored_report(project, "agreement", {}, project.created_by)
    run_latest()
    lifecycle.run_here(Job.objects.get(pk=before.job_id))
    assert stored_report(project, "tones", {}, project.created_by).pk == before.pk
    [metadata] = tmp_path.glob("site/assay_tone-*/METADATA")
    metadata.write_text(metadata.read_text().replace("Version: 1.0", "Version: 1.1"))
    forget()
    after = stored_report(project, "tones", {}, project.created_by)
    assert after.pk != before.pk and not after.job.is_finished
    before.refresh_from_db()
    assert "with Assay 0.0.9 and assay-tone 1.0" in paragraph(
        REPORTS["tones"], before.result | {"made_from": before.result["made_from"] | {"assay": "0.0.9"}}
    )
    assert agreement.pk != stored_report(project, "agreement", {}, project.created_by).pk  # the task type's labels


@pytest.mark.django_db
def test_a_release_of_several_projects_names_the_packages_of_all(project, tmp_path):
    anchor = make_project(project.dataset, "claim-verdict/three-way/1", slug="anchor")
    manifest = write_release(anchor, tmp_path / "release", others=[project])
    assert manifest["release"]["packages"] == ["assay-tone 1.0"]
    assert manifest["release"]["software"] == f"Assay {__version__}, assay-tone 1.0"


@pytest.mark.django_db
def test_without_the_package_only_its_project_cannot_be_opened(project, monkeypatch):
    client = client_of(project.created_by)
    client.raise_request_exception = False
    shutil.rmtree(template_folders()[0].parents[1])
    forget()
    assert "tone/-/1 is not installed" in client.get("/").content.decode()
    refused = client.get(f"/projects/{project.slug}/")
    assert refused.status_code == 503 and "There is no task type &#x27;tone/-/1&#x27;" in refused.content.decode()
    assert client.get(f"/api/v1/projects/{project.slug}/").status_code == 503


TAKEN = f"[assay.reports]\na = {REPORTS.own[0]}\n[assay.task_types]\na = newer_nli:NEWER\n"
NEWER = """from dataclasses import replace

from annotation.task_types import task_type

NEWER = replace(task_type("nli/two-way/1"), version=2)
"""
TWIN = "[assay.reports]\nb = assay_tone.tones:REPORT\n"
BROKEN = "[assay.reports]\nc = no_such_module:REPORT\n[assay.formats]\nd = json:dumps\n"


def test_what_is_wrong_is_left_out_and_named(installed, tmp_path, caplog):
    site = tmp_path / "site"
    for name, points in (("taken", TAKEN), ("twin", TWIN), ("broken", BROKEN)):
        install(site, name, points)
    (site / "newer_nli.py").write_text(NEWER)
    forget()
    assert REPORTS["agreement"] and "tones" not in REPORTS and task_type("tone/-/1")
    problems = [*REPORTS.problems, *FORMATS.problems, *TABLES["assay.task_types"].problems]
    assert problems == [
        "broken 1.0: the report c (no_such_module:REPORT) is left out: "
        "ModuleNotFoundError: No module named 'no_such_module'",
        "Assay and taken 1.0 both have the report 'agreement'; that of Assay is used",
        "assay-tone 1.0 and twin 1.0 both have the report 'tones'; none of them is used",
        "broken 1.0: the format d (json:dumps) is left out: it is no annotation.formats.Format",
        "Assay and taken 1.0 both have the task type 'nli'; that of Assay is used",
    ]
    assert [error.msg for error in run_checks() if error.id == "assay.E003"] == [
        problem for table in TABLES.values() for problem in table.problems
    ]
    assert all(problem in caplog.messages for problem in problems)


def test_manage_py_check_fails_with_the_reason(tmp_path):
    site = install(install(tmp_path / "site"), "broken", BROKEN)
    environment = os.environ | {"PYTHONPATH": str(site), "DJANGO_SETTINGS_MODULE": "tests.settings"}
    done = subprocess.run(
        [sys.executable, "manage.py", "check"], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1 and "broken 1.0: the report c" in done.stderr
    shutil.rmtree(site / "broken-1.0.dist-info")
    done = subprocess.run(
        [sys.executable, "manage.py", "check"], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr

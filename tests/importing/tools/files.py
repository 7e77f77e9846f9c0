"""What a person clicks to bring a tool's files in, and what an export writes."""

from __future__ import annotations

import json
from pathlib import Path

from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from annotation.jobs import lifecycle
from annotation.models import Dataset, Job, Project
from tests.factories import make_dataset, make_user
from tests.world import client_of


def import_in_browser(*files: Path, slug: str = "brought", **data) -> tuple[Project, dict]:
    """The project that an upload makes, and the result of its dry run."""
    owner = make_user("owner", is_staff=True)
    dataset = make_dataset(owner, slug=slug)
    client = client_of(owner)
    sent = [SimpleUploadedFile(file.name, file.read_bytes()) for file in files]
    answer = client.post(f"/datasets/{dataset.slug}/import/", {"files": sent} | data, follow=True)
    assert answer.redirect_chain, answer.content.decode()
    dry = _done()
    page = client.get(f"/imports/{dry.uuid}/")
    shown = page.content.decode()
    for lost in dry.result["lost"]:
        assert lost["first"] in shown, lost
    form = page.context["form"]
    said = {field.html_name: field.value() for field in form if field.value()}
    client.post(f"/imports/{dry.uuid}/start/", said | {"project_title": slug})
    _done()
    assert client.get(f"/imports/{dry.uuid}/").status_code == 200
    return Project.objects.get(dataset__slug=slug), dry.result


def _done() -> Job:
    job = Job.objects.filter(kind="import").latest("pk")
    lifecycle.run_here(job)
    job.refresh_from_db()
    assert job.state == "done", job.message
    return job


def import_by_command(*files: Path, format: str, slug: str = "told", **options) -> Project:
    if not Dataset.objects.filter(slug=slug).exists():
        make_user(f"owner-{slug}", is_staff=True)
    paths = [str(file) for file in files]
    call_command("import_dataset", *paths, format=format, dataset=slug, project=slug, verbosity=0, **options)
    return Project.objects.get(slug=slug)


def export(project: Project, kind: str, folder: Path) -> dict:
    """Write the files of one tool; the manifest."""
    call_command("export_dataset", project.slug, str(folder), kinds=[kind], verbosity=0)
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))

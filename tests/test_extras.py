"""Libraries of the extras `formats`, `checkers` and `statistics`: without one, what needs it is refused before anything
is stored, with what to type."""

import importlib.util
import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.releases.kept import FreezingProblem, start_freezing
from annotation.exports.forms import ExportForm
from annotation.exports.releasing import start_export
from annotation.formats import FormatError, SourceFile, get_format
from annotation.imports.from_hub import fetched
from annotation.imports.importing import ImportProblem
from annotation.imports.pairs.pairing import PairingProblem, PairRequest, settled
from annotation.models import Job
from config.health.machine import check_libraries
from plugins import extras
from tests.factories import make_dataset, make_project, make_user

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def bare(monkeypatch):
    """As if none of them were installed."""
    real = importlib.util.find_spec
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name in extras.LIBRARIES else real(name))


def test_each_is_pinned_by_its_extra_and_not_by_the_server():
    server = (ROOT / "requirements.txt").read_text()
    for module, library in extras.LIBRARIES.items():
        pinned = f"^{library.distribution}=="
        assert re.search(pinned, (ROOT / f"requirements-{library.extra}.txt").read_text(), re.MULTILINE), module
        assert not re.search(pinned, server, re.MULTILINE), module
        assert extras.why_missing(module) == ""


@pytest.mark.parametrize(
    ("slug", "name", "content"),
    [
        ("druid", "rows.parquet", b"PAR1"),
        ("druid", "rows.arrow", b"ARROW1"),
        ("inception", "one.json", b"{}"),
        ("pdf", "one.pdf", b"%PDF-1.7"),
    ],
)
def test_a_file_that_needs_one_is_refused(bare, tmp_path, slug, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FormatError, match=r"not installed here: pip install 'assay\[formats\]'"):
        list(get_format(slug).read([SourceFile(tmp_path / name)]))


@pytest.mark.django_db
def test_exports_have_what_can_be_written_here(bare, client):
    user = make_user()
    project = make_project(make_dataset(user), researchers=[user])
    form = ExportForm(project, {"kinds": ["parquet"]})
    assert "parquet" not in dict(form.fields["kinds"].choices) and "table-csv" in form.tools
    assert "Parquet files, Arrow files and releases need pyarrow" in form.errors["kinds"][0]
    assert "INCEpTION need dkpro-cassis" in ExportForm(project, {"kinds": ["inception"]}).errors["kinds"][0]
    assert "parquet" not in start_export(project, user).parameters["kinds"]
    client.force_login(user)
    assert "Parquet" not in client.get(reverse("project_exports", args=[project.slug])).content.decode()


@pytest.mark.django_db
def test_releases_pairs_and_hubs_are_refused_before_anything_is_stored(bare, tmp_path):
    user = make_user()
    project = make_project(make_dataset(user), researchers=[user])
    before = Job.objects.count()
    with pytest.raises(FreezingProblem, match="releases need pyarrow"):
        start_freezing(project, user)
    with pytest.raises(CommandError, match="releases need pyarrow"):
        call_command("release", project.slug, str(tmp_path / "release"))
    with pytest.raises(PairingProblem, match="sentences needs spacy"):
        settled(project.dataset, PairRequest())
    with pytest.raises(ImportProblem, match="need huggingface_hub"):
        fetched("hf:owner/name")
    assert Job.objects.count() == before and not project.releases.exists() and not (tmp_path / "release").exists()


def test_the_doctor_names_each_with_its_command(bare):
    found = list(check_libraries())
    assert len(found) == len(extras.LIBRARIES)
    assert ("To use them: pip install 'assay[formats]'") in [one.todo for one in found]

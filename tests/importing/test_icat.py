"""ICAT's files through the front door: content, units, a project with labels, and what a second import changes."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.jobs import lifecycle
from annotation.models import (
    Annotation,
    Aspect,
    AtomicClaim,
    Dataset,
    Decision,
    Evidence,
    Item,
    Job,
    Judgement,
    Project,
    Question,
    Rater,
    Response,
    Unit,
)
from tests.factories import make_dataset, make_user
from tests.formats.icat_samples import COFFEE, annotation, everything, lines
from tests.importing.files import command

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner():
    return make_user("owner", is_superuser=True, is_staff=True)


def import_into(slug: str, *files, project: str = "coverage", more=()) -> tuple[int, str]:
    return command(*files, "--format", "icat", "--dataset", slug, "--project", project, *more)


def test_everything_comes_in_with_decided_labels(owner, tmp_path):
    paths = [source.path for source in everything(tmp_path).values()]
    code, out = import_into("icat", *paths, more=["--dry-run"])
    assert code == 0, out
    assert not Dataset.objects.exists()
    code, out = import_into("icat", *paths)
    assert code == 0, out
    counts = {model: model.objects.count() for model in (Question, Aspect, Response, Evidence, AtomicClaim)}
    assert list(counts.values()) == [2, 5, 3, 3, 2]
    units = Unit.objects.filter(kind="response_aspect")
    assert units.count() == 3 + 2 + 3
    project = Project.objects.get()
    assert project.task_type == "aspect-coverage/-/1" and Item.objects.filter(project=project).count() == 3
    decided = dict(Decision.objects.values_list("unit__key", "label"))
    assert len(decided) == 8 and decided["gpt-4/1 # 1/a2"] == "covered" == decided["mixtral/1 # 1/a1"]
    assert set(Decision.objects.values_list("method", flat=True)) == {"imported"}
    assert Response.objects.get(key="mixtral/1").metadata["icat"]["S"]["metrics"]["f1"] == 0.4
    assert AtomicClaim.objects.get(key="mixtral/1/c0").metadata == {"entailed": True, "aspects": ["1/a0"]}
    code, out = import_into("icat", *paths)
    assert code == 0 and "Imported: Response: 0 created, 0 changed, 3 unchanged".lower() in out.lower(), out
    assert Decision.objects.count() == 8


def test_labels_of_several_annotators_are_slots(owner, tmp_path):
    path = tmp_path / "gpt-4.jsonl"
    path.write_text(lines([annotation(1, [[COFFEE[0]], [], [1, 3]]), annotation(2, {"ann": [1]}, "Hooves.")]))
    code, out = import_into("icat", path)
    assert code == 0, out
    kinds = dict(Rater.objects.exclude(kind="member").values_list("name", "kind"))
    assert kinds == {"annotator 1": "slot", "annotator 2": "slot", "annotator 3": "slot", "ann": "external"}
    assert Annotation.objects.count() == 4 and Judgement.objects.count() == 3 * 3 + 2
    assert Judgement.objects.filter(label="covered").count() == 4 and not Decision.objects.exists()


@pytest.mark.parametrize("is_dry_run", [True, False])
def test_a_bad_row_keeps_everything_out_and_is_named(owner, tmp_path, is_dry_run):
    files = everything(tmp_path)
    files["annotations"].path.write_text(lines([annotation(covered=["sleep"])]))
    paths = [source.path for source in files.values()]
    code, out = import_into("icat", *paths, more=["--dry-run"] if is_dry_run else [])
    assert code == 1 and "annotations/gpt-4.jsonl" in out and "covered[0]" in out and "not a subtopic" in out, out
    assert not Response.objects.published().exists() and not Decision.objects.exists()


def test_answers_may_come_after_their_queries(owner, tmp_path):
    files = everything(tmp_path)
    assert command(files["queries"].path, "--format", "icat", "--dataset", "icat")[0] == 0
    assert Unit.objects.filter(kind="response_aspect").count() == 0
    code, out = import_into("icat", files["queries"].path, files["annotations"].path)
    assert code == 0, out
    assert Unit.objects.filter(kind="response_aspect").count() == 5 == Decision.objects.count()


def test_files_sent_together_in_the_browser_are_taken_for_icat(client, owner, tmp_path):
    dataset = make_dataset(owner)
    client.force_login(owner)
    files = [
        SimpleUploadedFile(source.path.name, source.path.read_bytes())
        for kind, source in everything(tmp_path).items()
        if kind != "qrels"
    ]
    files.append(SimpleUploadedFile("qrels.txt", b"1 1 d1 1\n1 0 d2 0\n2 2 d1 2\n"))
    response = client.post(reverse("import_new", args=[dataset.slug]), {"files": files})
    assert response.status_code == 302, response.content.decode()
    dry = lifecycle.run_here(Job.objects.get())
    assert (dry.state, dry.parameters["format"]) == ("done", "icat"), dry.message
    html = client.get(response["Location"]).content.decode()
    assert "Import now" in html and "aspect-coverage" in html
    sent = {"with_project": "on", "project_title": "Web track", "task_type": "aspect-coverage/-/1"}
    client.post(reverse("import_start", args=[dry.uuid]), sent)
    done = lifecycle.run_here(Job.objects.order_by("-pk").first())
    assert done.state == "done", done.message
    assert Decision.objects.filter(project__slug="web-track").count() == 8 and Evidence.objects.count() == 3

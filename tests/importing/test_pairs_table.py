"""Tables of premises and hypotheses through the front doors: the page of columns, the command, and its project."""

import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.jobs import lifecycle
from annotation.models import Decision, Job, Pair, Project, Unit
from tests.factories import make_dataset, make_user
from tests.importing.files import command

pytestmark = pytest.mark.django_db

TWO_WAY = """sentence1,sentence2,gold_label,page
Ice is water.,Ice is wet.,entailment,1
Ice is water.,Ice is red.,not_entailment,2
"""


@pytest.fixture
def client():
    client = Client()
    client.force_login(make_user("owner", is_superuser=True, is_staff=True))
    return client


def after_the_job(client, response):
    assert response.status_code == 302, response.content.decode()
    job = lifecycle.run_here(Job.objects.order_by("-pk").first())
    return job, client.get(f"/imports/{job.uuid}/").content.decode()


def test_from_the_file_to_the_two_way_project(client):
    make_dataset(slug="ice")
    sent = client.post("/datasets/ice/import/", {"files": [SimpleUploadedFile("nli.csv", TWO_WAY.encode())]})
    page = client.get(sent["Location"]).content.decode()
    assert re.search(r'layout=pairs" aria-current="page">Premises and hypotheses', page)
    assert re.search(r'name="role-1".*?<option value="pairs/hypothesis" selected>', page, re.S)
    assert re.search(r"“not_entailment” means.*?<option value=\"non-entailment\" selected>", page, re.S)
    columns = {"role-0": "pairs/premise", "role-1": "pairs/hypothesis", "role-2": "pairs/label"}
    labels = {"value-label-0": "entailment", "value-label-1": "non-entailment"}
    dry, page = after_the_job(client, client.post(sent["Location"], columns | labels))
    assert dry.result["labels"] == {"entailment": {"entailment": 1, "non-entailment": 1}}
    assert "Pairs" in page and '<option value="nli/two-way/1" selected>' in page
    wish = {"with_project": "on", "project_title": "Ice", "task_type": "nli/two-way/1"}
    job, _ = after_the_job(client, client.post(f"/imports/{dry.uuid}/start/", wish))
    assert job.state == "done", job.message
    project = Project.objects.get()
    assert (project.type.variant, project.items.count()) == ("two-way", 2)
    found = Decision.objects.values_list("unit__pair__hypothesis", "label")
    assert dict(found) == {"Ice is wet.": "entailment", "Ice is red.": "non-entailment"}
    page = client.get("/datasets/ice/").content.decode()
    assert "<dt>Pairs</dt><dd>2</dd>" in page and "New project" in page


def written(tmp_path, labels):
    rows = [{"premise": "p", "hypothesis": f"h{n}", "label": label} for n, label in enumerate(labels)]
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_the_command_takes_the_task_type_from_the_labels_and_changes_nothing_the_second_time(tmp_path):
    make_user("admin", is_superuser=True)
    path = written(tmp_path, ["entailment", "neutral", "contradiction", None])
    arguments = (path, "--format", "table", "--dataset", "d", "--project", "p")
    assert command(*arguments)[0] == 0
    assert Project.objects.get().task_type == "nli/three-way/1"
    assert (Pair.objects.count(), Unit.objects.filter(kind="pair").count(), Decision.objects.count()) == (4, 4, 3)
    code, said = command(*arguments)
    assert code == 0 and "nothing changed" in said
    assert (Pair.objects.count(), Decision.objects.count()) == (4, 3)


def test_a_two_way_project_of_three_way_labels_is_for_the_user_to_ask_for(tmp_path):
    make_user("admin", is_superuser=True)
    path = written(tmp_path, ["entailment", "neutral", "contradiction"])
    wish = ("--project", "p", "--task-type", "nli/two-way/1")
    assert command(path, "--format", "table", "--dataset", "d", *wish)[0] == 0
    labels = Decision.objects.order_by("unit__pair__hypothesis").values_list("label", flat=True)
    assert list(labels) == ["entailment", "non-entailment", "non-entailment"]


def test_numbers_stop_the_import_until_they_are_given_a_meaning(tmp_path):
    make_user("admin", is_superuser=True)
    path = written(tmp_path, [0, 1])
    code, said = command(path, "--format", "table", "--dataset", "d", "--project", "p")
    assert code == 1 and "'0' is not one of the labels" in said and not Pair.objects.exists()
    mapping = tmp_path / "mapping.json"
    mapping.write_text(
        json.dumps(
            {
                "mapping": {"premise": "premise", "hypothesis": "hypothesis", "label": "label"},
                "values": {"label": {"0": "non-entailment", "1": "entailment"}},
            }
        ),
        encoding="utf-8",
    )
    assert command(path, "--format", "table", "--dataset", "d", "--project", "p", "--mapping", mapping)[0] == 0
    assert Project.objects.get().task_type == "nli/two-way/1"
    assert set(Decision.objects.values_list("label", flat=True)) == {"entailment", "non-entailment"}


@pytest.mark.parametrize(
    ("table", "task", "labels"),
    [
        (
            "claim,evidence,label\nIce is wet.,It is.,supports\nIce is red.,It is not.,refutes\n",
            "claim-evidence/six-way/1",
            {("stance", "supports"), ("stance", "refutes")},
        ),
        (
            "question,response,model,head,relation,tail,label\n"
            "What is ice?,Ice is water.,m,ice,is,water,entailment\nWhat is ice?,Ice is water.,m,ice,is,red,neutral\n",
            "triplets/-/1",
            {("entailment", "entailment"), ("entailment", "neutral")},
        ),
    ],
)
def test_the_other_tables_ask_for_the_project_before_the_import_too(client, table, task, labels):
    make_dataset(slug="ice")
    sent = client.post("/datasets/ice/import/", {"files": [SimpleUploadedFile("t.csv", table.encode())]}, follow=True)
    form = sent.context["form"]
    said = {field.html_name: field.value() for field in form if field.value()}
    dry, _ = after_the_job(client, client.post(sent.redirect_chain[-1][0], said))
    asked = client.get(f"/imports/{dry.uuid}/").context["form"]
    assert asked["task_type"].value() == task and not Project.objects.exists()
    wish = {"with_project": "on", "project_title": "Ice", "task_type": task}
    job, _ = after_the_job(client, client.post(f"/imports/{dry.uuid}/start/", wish))
    assert job.state == "done", job.message
    assert Project.objects.get().task_type == task
    assert set(Decision.objects.values_list("dimension", "label")) == labels

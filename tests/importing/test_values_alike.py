"""A table's labels mean the same by command without a mapping and in the browser as guessed."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation.jobs import lifecycle
from annotation.models import Decision, Job, Project
from tests.factories import make_dataset, make_user
from tests.importing.files import command
from tests.world import client_of

pytestmark = pytest.mark.django_db
VALUES = ("Supports", "Refutes", "Neutral", "supports", "NEI", "not applicable", "")
TABLE = "claim,evidence,label\n" + "".join(
    f"Tea cures colds {number}.,A trial of tea {number}.,{value}\n" for number, value in enumerate(VALUES)
)


def labels_of(slug: str) -> dict[str, str]:
    rows = Decision.objects.filter(project__slug=slug).values_list("unit__evidence__text", "dimension", "label")
    return {text: (dimension, label) for text, dimension, label in rows}


def by_command(path, task_type: str) -> dict[str, str]:
    more = ("--task-type", task_type) if task_type else ()
    code, said = command(path, "--format", "table", "--dataset", "typed", "--project", "typed", *more)
    assert code == 0, said
    return labels_of("typed")


def in_browser(user, task_type: str) -> dict[str, str]:
    """Every choice as the pages offer it, but the task type where one is named."""
    client, dataset = client_of(user), make_dataset(user, slug="clicked")
    sent = {"files": [SimpleUploadedFile("table.csv", TABLE.encode())]}
    where = client.post(f"/datasets/{dataset.slug}/import/", sent)["Location"]
    guessed = client.get(where).context["form"]
    fields = {name: field.initial for name, field in guessed.fields.items() if field.initial not in (None, "")}
    where = client.post(where, fields)["Location"]
    dry = Job.objects.order_by("-pk").first()
    lifecycle.run_here(dry)
    offered = client.get(where).context["form"]
    task_type = task_type or offered.fields["task_type"].initial
    sent = {"with_project": "on", "project_title": "clicked", "task_type": task_type}
    client.post(f"/imports/{dry.uuid}/start/", sent)
    job = Job.objects.order_by("-pk").first()
    lifecycle.run_here(job)
    assert job.state == "done", job.message
    return labels_of(Project.objects.get(dataset=dataset).slug)


@pytest.mark.parametrize(
    ("task_type", "neutral"),
    [
        ("", None),
        ("claim-evidence/six-way/1", "insufficient-neutral"),
        ("claim-evidence/three-way/1", "not_enough_info"),
    ],
)
def test_values_mean_the_same_by_command_and_in_the_browser(tmp_path, task_type, neutral):
    user = make_user("admin", is_superuser=True)
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    typed = by_command(path, task_type)
    assert typed == in_browser(user, task_type)
    assert len(typed) == 5
    if neutral:
        assert typed["A trial of tea 2."] == typed["A trial of tea 4."] == ("stance", neutral)
        assert typed["A trial of tea 0."] == typed["A trial of tea 3."] == ("stance", "supports")

"""How often each label stands in a file, as the dry run lists it."""

import random

import pytest
from django.core.management import call_command

from annotation.imports.queries import import_result
from annotation.jobs import lifecycle
from annotation.models import Job
from tests.factories import make_dataset, make_user
from tests.formats import shaped
from tests.importing.test_guesses import dropped
from tests.world import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def rosa():
    rosa = make_user("rosa", is_staff=True)
    make_dataset(rosa, slug="texts")
    return rosa


def listed(rosa, name: str, text: str) -> tuple[dict, str]:
    """Labels by question in the order of the page, and the page."""
    client = client_of(rosa)
    page = dropped(client, (name, text))
    if "form" in page.context and page.context.get("layout"):
        data = {field.html_name: field.value() for field in page.context["form"] if field.value()}
        client.post(page.redirect_chain[-1][0], data)
    job = Job.objects.get(kind="import")
    lifecycle.run_here(job)
    job.refresh_from_db()
    assert job.state == "done", job.message
    labels = {name: list(counts.items()) for name, counts in import_result(job).labels.items()}
    return labels, client.get(f"/imports/{job.uuid}/").content.decode()


def ratings(values) -> str:
    rows = [f"q{n},Answer number {n} to this question.,ann,{value}" for n, value in enumerate(values)]
    random.Random(1).shuffle(rows)
    return "\n".join(["id,text,annotator,rating", *rows, ""])


@pytest.mark.parametrize("values", [[1, 2, 2, 9, 10, 11, 100], [*range(1, 61), 7], [-2, -10, 0, 0.5, 3, 3]])
def test_numbers_are_listed_by_value(rosa, values):
    labels, page = listed(rosa, "r.csv", ratings(values))
    expected = [(str(value), values.count(value)) for value in sorted(set(values))]
    assert labels == {"Rating": expected}
    places = [page.index(f'<bdi>{value}</bdi>: <span class="num">{n}</span>') for value, n in expected]
    assert places == sorted(places)


def test_numbers_come_before_words(rosa):
    labels, _ = listed(rosa, "r.csv", ratings([10, 2, 2, "unclear", "Bad", "bad", 1, 1]))
    assert [label for label, _ in labels["Rating"]] == ["1", "2", "10", "Bad", "bad", "unclear"]


def test_labels_of_a_task_are_called_as_its_pages_call_them(rosa):
    labels, _ = listed(rosa, "pairs.csv", shaped.pairwise())
    [(question, counts)] = labels.items()
    assert question == "Preference" and {"Output A", "Output B"} <= dict(counts).keys()
    assert [label for label, _ in counts] == sorted(dict(counts), key=["Output A", "Output B", "Tie", "All bad"].index)


def test_the_command_lists_them_so_too(rosa, tmp_path, capsys):
    path = tmp_path / "r.csv"
    path.write_text(ratings([10, 2, 1, 9, 2, 1]), encoding="utf-8")
    call_command("import_dataset", str(path), dataset="texts", owner=rosa.email, dry_run=True)
    assert "Labels of rating: 1 2, 2 2, 9 1, 10 1" in capsys.readouterr().out

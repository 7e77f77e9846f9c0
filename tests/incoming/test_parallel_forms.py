"""The same form sent several times at once: never an error, and nothing twice under one address."""

import pytest

from annotation.models import Dataset, Project
from tests import factories
from tests.accounts.test_parallel_clicks import clicked
from tests.world import client_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.on_postgresql]
TIMES = 4


@pytest.fixture
def clients():
    person = factories.make_user("researcher", is_staff=True)
    return [client_of(person, raise_request_exception=False) for _ in range(TIMES)], person


def test_a_project_made_by_several_clicks(clients):
    clients, person = clients
    dataset = factories.make_dataset(person)
    factories.make_claim_evidence(dataset, 1)
    data = {"title": "Ports", "dataset": dataset.pk, "task_type": "claim-evidence/six-way/1", "overlap": 2}
    data |= {"multiple_percent": 100, "order": "random", "prefill": "off", "minimum_seconds": 0, "lease_minutes": 60}
    answers = clicked(["/projects/new/"] * TIMES, clients, data)
    assert {answer.status_code for answer in answers} == {302}
    assert sorted(Project.objects.values_list("slug", flat=True)) == ["ports", "ports-2", "ports-3", "ports-4"]


def test_a_data_set_made_by_several_clicks(clients):
    clients, _ = clients
    answers = clicked(["/datasets/new/"] * TIMES, clients, {"title": "Harbour", "slug": "harbour"})
    assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 302]
    assert Dataset.objects.count() == 1

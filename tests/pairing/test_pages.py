"""Making pairs in the browser: what is offered, the preview, the making, rights."""

import re

import pytest
from django.test import Client

from annotation.jobs import lifecycle
from annotation.models import DatasetGrant, Job, Pair
from tests.factories import make_user
from tests.pairing.harbour import CLAIM, bring_in, line, make, pairs

pytestmark = pytest.mark.django_db
CHOICE = {"threshold": "0.95", "segmenter": "sentencizer", "limit": "", "seed": "0"}


@pytest.fixture
def dataset(tmp_path):
    other = {"id": "c1/d9", "text": "Another one. And more.", "model": "m2", "method": "query2doc"}
    dataset = bring_in(tmp_path, line(documents=(line()["responses"][0]["text"], other)), line(2, gold=()))
    dataset.owner.is_staff = True
    dataset.owner.save()
    return dataset


@pytest.fixture
def client(dataset):
    client = Client()
    client.force_login(dataset.owner)
    return client


def after_the_job(client, response) -> tuple[Job, str]:
    assert response.status_code == 302, response.content.decode()
    job = Job.objects.order_by("-pk").first()
    assert response["Location"] == f"/pairs/{job.uuid}/"
    assert 'hx-get="/jobs/' in client.get(response["Location"]).content.decode()
    job = lifecycle.run_here(job)
    return job, client.get(response["Location"]).content.decode()


def numbers(page: str) -> dict[str, int]:
    """The large numbers of a page by their titles."""
    found = re.findall(r"<dt>([^<]+)</dt><dd>([\d,]+)</dd>", page)
    return {title: int(number.replace(",", "")) for title, number in found}


def test_from_the_data_set_to_the_pairs_and_a_new_project(client, dataset):
    page = client.get(f"/datasets/{dataset.slug}/").content.decode()
    where = f"/datasets/{dataset.slug}/pairs/"
    assert where in page
    page = client.get(where).content.decode()
    assert numbers(page) == {
        "Generated documents": 3,
        "of claims with gold evidence": 2,
        "Gold evidence": 2,
        "Pairs so far": 0,
    }
    assert "hyde (2)" in page and "query2doc (1)" in page
    job, page = after_the_job(client, client.post(where, CHOICE))
    assert numbers(page) == {"Claims": 1, "Gold evidence": 2, "Documents": 2, "Sentences": 7, "Pairs": 8}
    assert "1 document of a claim without gold evidence" in page
    assert "1: reproduces the claim" in page and CLAIM in page
    assert not Pair.objects.exists()
    job, page = after_the_job(client, client.post(f"/pairs/{job.uuid}/start/"))
    assert job.state == "done" and len(pairs(dataset)) == 8
    assert "The pairs were made" in page
    [link] = re.findall(r'href="(/projects/new/[^"]+)"', page)
    form = client.get(link.replace("&amp;", "&")).content.decode()
    assert re.search(r'value="nli/two-way/1"[^>]*checked', form)
    assert f'<option value="{dataset.pk}" selected>' in form
    page = client.get(f"/datasets/{dataset.slug}/").content.decode()
    assert "dry run, pairs" in page and numbers(page)["Pairs"] == 8
    assert client.get(f"/jobs/{job.uuid}/")["Location"] == f"/pairs/{job.uuid}/"


def test_making_them_again_is_not_offered(client, dataset):
    make(dataset)
    job, page = after_the_job(client, client.post(f"/datasets/{dataset.slug}/pairs/", CHOICE))
    assert "already has all of these pairs" in page and "Make the pairs</button>" not in page
    refused = client.post(f"/pairs/{job.uuid}/start/", follow=True).content.decode()
    assert "There are no pairs to make" in refused


def test_the_choice_of_documents_is_kept(client, dataset):
    chosen = CHOICE | {"methods": ["query2doc"], "limit": "1", "seed": "7", "threshold": "0.8"}
    job, page = after_the_job(client, client.post(f"/datasets/{dataset.slug}/pairs/", chosen))
    assert job.parameters["methods"] == ["query2doc"]
    made, _ = after_the_job(client, client.post(f"/pairs/{job.uuid}/start/"))
    names = ("methods", "models", "limit", "seed", "threshold", "segmenter")
    assert [made.parameters[name] for name in names] == [["query2doc"], [], 1, 7, 0.8, "sentencizer"]
    assert {pair.response.key for pair in pairs(dataset).values()} == {"c1/d9"}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"threshold": "1.5"}, "less than or equal to 1"),
        ({"limit": "0"}, "greater than or equal to 1"),
        ({"segmenter": "nltk"}, "Select a valid choice"),
        ({"methods": ["rm3"]}, "Select a valid choice"),
        ({"methods": ["query2doc"], "models": ["m1"]}, "No document of a claim has the chosen method"),
    ],
)
def test_choices_that_cannot_be_are_answered_on_the_form(client, dataset, changed, message):
    response = client.post(f"/datasets/{dataset.slug}/pairs/", CHOICE | changed)
    assert response.status_code == 200 and message in response.content.decode()
    assert not Job.objects.filter(kind="pairs").exists()


def test_a_data_set_without_documents_offers_nothing_and_says_what_is_missing(client, dataset, tmp_path):
    empty = bring_in(tmp_path, line(documents=()))
    empty.owner = dataset.owner
    empty.save()
    assert "/pairs/" not in client.get(f"/datasets/{empty.slug}/").content.decode()
    page = client.post(f"/datasets/{empty.slug}/pairs/", CHOICE).content.decode()
    assert "import responses to claims" in page


def test_cancel_and_try_again(client, dataset):
    where = client.post(f"/datasets/{dataset.slug}/pairs/", CHOICE)["Location"]
    job = Job.objects.get(kind="pairs")
    assert "cancelled" in client.post(f"/jobs/{job.uuid}/cancel/", follow=True).content.decode()
    client.post(f"/jobs/{job.uuid}/resume/")
    assert lifecycle.run_here(job).state == "done" and "Make the pairs</button>" in client.get(where).content.decode()


def test_only_who_may_change_the_data_set_makes_pairs(client, dataset):
    job, _ = after_the_job(client, client.post(f"/datasets/{dataset.slug}/pairs/", CHOICE))
    stranger, reader = make_user(), make_user()
    DatasetGrant.objects.create(dataset=dataset, user=reader, can_edit=False)
    for person, status in ((stranger, 404), (reader, 403)):
        other = Client()
        other.force_login(person)
        assert other.get(f"/datasets/{dataset.slug}/pairs/").status_code == status
        assert other.post(f"/datasets/{dataset.slug}/pairs/", CHOICE).status_code == status
        assert other.get(f"/pairs/{job.uuid}/").status_code == 404
        assert other.post(f"/pairs/{job.uuid}/start/").status_code == 404
    imported = Job.objects.filter(kind="import").first()
    assert client.get(f"/pairs/{imported.uuid}/").status_code == 404
    assert client.get(f"/imports/{job.uuid}/").status_code == 404

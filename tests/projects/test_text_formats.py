"""Formats of a data set's texts: chosen in its settings, shown on the pages of items."""

import pytest

from annotation.formats.records import ComparisonRecord, QuestionRecord
from annotation.models import Dataset
from annotation.work.queries.pages import load_page
from tests.factories import make_claim_evidence, make_dataset, make_project, make_user
from tests.kinds import bring_in
from tests.world import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset():
    dataset = make_dataset(slug="harbour")
    make_claim_evidence(dataset, 1, texts=["The **harbour** froze."])
    return dataset


def save(dataset: Dataset, **formats: str):
    data = {"title": dataset.title, "description": "", **{f"format_{name}": value for name, value in formats.items()}}
    return client_of(dataset.owner).post(f"/datasets/{dataset.slug}/settings/", data, follow=True)


def test_a_format_is_stored_with_its_history_and_shown(dataset):
    save(dataset, evidence="markdown")
    dataset.refresh_from_db()
    assert dataset.text_formats == {"evidence": "markdown"}
    history = client_of(dataset.owner).get("/datasets/harbour/settings/").content.decode()
    assert "Format of evidence and passages" in history and "as found" in history and "Format of claims" not in history
    project = make_project(dataset, overlap=1, annotators=[ann := make_user()], researchers=[rosa := make_user()])
    shown = client_of(ann).get(f"/projects/{project.slug}/work/").content.decode()
    assert '<strong><span data-at="6">harbour</span></strong>' in shown
    assert '<div data-view="source" hidden>The **harbour** froze.</div>' in shown
    item = client_of(rosa).get(f"/projects/{project.slug}/items/{project.items.get().uuid}/").content.decode()
    assert '<strong><span data-at="6">harbour</span></strong>' in item and "The **harbour** froze." in item


def test_the_hash_of_what_is_judged_does_not_depend_on_the_format(dataset):
    project = make_project(dataset, overlap=1)
    item = project.items.get().pk
    before = load_page(item, project.type).text_hash
    save(dataset, evidence="html")
    assert load_page(item, project.type).text_hash == before


def test_outputs_have_the_format_of_answers():
    dataset = make_dataset()
    save(dataset, response="markdown")
    outputs = ComparisonRecord("c", "q", output_a="The **harbour** froze.", output_b="It did *not*.")
    bring_in(dataset, [QuestionRecord("q", "Did it **freeze**?"), outputs])
    project = make_project(dataset, "preference/-/1", overlap=1)
    shown = load_page(project.items.get().pk, project.type).rendered
    assert set(shown) == {"output_a", "output_b"} and "<strong>" in shown["output_a"].html


def test_an_unknown_format_is_refused(dataset):
    page = save(dataset, evidence="latex")
    assert "Select a valid choice" in page.content.decode()
    dataset.refresh_from_db()
    assert dataset.text_formats == {}


def test_other_settings_keep_formats_that_are_sent_with_them(dataset):
    save(dataset, claim="plain", response="conversation")
    dataset.refresh_from_db()
    assert dataset.text_formats == {"claim": "plain", "response": "conversation"}
    save(dataset)
    dataset.refresh_from_db()
    assert dataset.text_formats == {}

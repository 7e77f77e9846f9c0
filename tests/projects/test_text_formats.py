"""Formats of a data set's texts: chosen in its settings, shown on the pages of items."""

import pytest

from annotation.formats.records import ComparisonRecord, EvidenceRecord, QuestionRecord
from annotation.models import Dataset, Decision
from annotation.work.queries.pages import load_page
from tests.factories import make_claim_evidence, make_dataset, make_project, make_user
from tests.kinds import bring_in
from tests.world import client_of
from tests.world.labels import make_rater, say

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


def test_highlights_are_shown_in_the_text_as_it_looks(dataset):
    save(dataset, evidence="markdown")
    project = make_project(dataset, overlap=1, researchers=[rosa := make_user()])
    item, marked = project.items.get(), '<strong><span data-at="6"><mark>harbour</mark></span></strong>'
    say(item, make_rater(project, "Ann"), "relevant", "supports", spans=(("evidence", 6, 13, "harbour"),))
    page = f"/projects/{project.slug}/items/{item.uuid}/"
    shown = client_of(rosa).get(page).content.decode()
    assert marked in shown and "The **<mark>harbour</mark>** froze." in shown
    assert marked not in client_of(rosa).get(f"{page}key/").content.decode()  # people's highlights are no right answer
    span = {"field": "evidence", "start": 6, "end": 13, "quote": "harbour"}
    place = {"project": project, "unit": item.anchor, "dimension": "stance", "label": "supports"}
    Decision.objects.create(**place, method="imported", spans=[span])
    assert marked in client_of(rosa).get(f"{page}key/").content.decode()


def test_a_question_under_which_evidence_stands_has_the_format_of_questions(dataset):
    save(dataset, question="markdown", evidence="plain")
    evidence = EvidenceRecord("e", "It **froze**.", question="q")
    bring_in(dataset, [QuestionRecord("q", "Did it **freeze**?"), evidence])
    project = make_project(dataset, overlap=1)
    shown = [load_page(item, project.type).rendered for item in project.items.values_list("pk", flat=True)]
    assert [set(one) for one in shown] == [set(), {"claim"}]


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

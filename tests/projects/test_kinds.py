"""Every kind of task has the pages, figures and addresses that a project has."""

import html
import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from analysis.models import StoredReport
from analysis.reports import handler
from annotation.decisions import queries as item_queries
from annotation.jobs import lifecycle
from annotation.machines.runs import suggesting
from annotation.models import Case, Decision, Job, Membership
from annotation.projects import cases
from annotation.projects.item_making import anchors_in
from annotation.task_types import every_task_type, task_type
from annotation.work.queries.pages import load_page
from tests.factories import join, make_items, make_suggestions, make_user
from tests.kinds import DOCUMENT, EACH_KIND, GOLD, answer_all, bring_in, make_kind_project, records

pytestmark = pytest.mark.django_db
# Rows are read by what items are made from: the first kind of each is enough to count queries.
FIRST_OF_ANCHOR = {
    (kind.anchor_kind, kind.anchor_parent): kind.identifier for kind in reversed(every_task_type())
}.values()
SHOWS_REPORT = re.compile("/(agreement|comparison|rates)/$").search
# What the item made from the first row of the content is about, as the list of items says it.
ABOUT = {
    "evidence": "When did harbour 0 freeze?",
    "response": "When did harbour 0 freeze?",
    "question": "When did harbour 0 freeze?",
    "claim": "The harbour froze in winter 0.",
    "pair": "The harbour of Lindau froze.",
    "comparison": "When did harbour 0 freeze?",
    "atomic_claim": "The harbour of Lindau froze in January 1963",
}


@pytest.fixture(autouse=True)
def no_rate_limits(settings):
    settings.ACCOUNT_RATE_LIMITS = False


def client_of(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def words_of(response) -> str:
    """The page's text, without tags, in single spaces."""
    assert response.status_code == 200, response.content.decode()[:2000]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode())).split())


@EACH_KIND
def test_items_are_made_and_can_be_judged(identifier):
    project = make_kind_project(identifier)
    assert project.items.count() == anchors_in(project.dataset_id, task_type(identifier)).count() > 0
    judged = project.items.filter(unit_count__gt=0).count()
    assert judged > 0
    revisions = answer_all(project)
    assert len(revisions) == 2 * judged
    labels = {judgement.label for revision in revisions for judgement in revision.judgements.all()}
    assert len(labels) > 1


def addresses_of(project) -> list[str]:
    item = project.items.filter(unit_count__gt=0).order_by("position").first()
    base, api = f"/projects/{project.slug}/", f"/api/v1/projects/{project.slug}/"
    return [
        base,
        f"{base}items/",
        f"{base}items/?search=froze",
        f"{base}items/?filter=undecided",
        f"{base}items/{item.uuid}/",
        f"{base}runs/",
        f"{base}agreement/",
        f"{base}comparison/",
        f"{base}exports/",
        f"{base}settings/",
        f"/datasets/{project.dataset.slug}/",
        api,
        f"{api}items/",
        f"{api}annotations/",
    ] + ([f"{base}rates/"] if project.type.anchor_kind == "response" else [])


def queries_of(client, address: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        assert client.get(address).status_code == 200, address
    return len(captured)


def visit(client, addresses: list[str]) -> None:
    """So that reports are computed, and what is looked up once per process."""
    for address in addresses:
        assert client.get(address).status_code == 200, address
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state=Job.State.QUEUED):
        assert lifecycle.run_here(job).state == Job.State.DONE, job.message


@EACH_KIND
def test_every_page_is_there_and_takes_as_many_queries_for_many_rows_as_for_few(identifier, monkeypatch):
    project = make_kind_project(identifier)
    client = client_of(project.created_by)
    answer_all(project, comment="I was not sure.")
    make_suggestions(project)
    addresses = addresses_of(project)
    visit(client, addresses)
    reports = list(filter(SHOWS_REPORT, addresses))
    visit(client, reports)
    if identifier not in FIRST_OF_ANCHOR:
        return
    few = {address: queries_of(client, address) for address in addresses}
    bring_in(project.dataset, records(4, prefix="more-"))
    make_items(project)
    answer_all(project)
    pictures = dict(StoredReport.objects.values_list("name", "pictures"))
    monkeypatch.setattr(handler, "drawn", lambda report, *more: pictures[report.name])
    visit(client, reports)
    many = {address: queries_of(client, address) for address in addresses}
    assert {address: (few[address], many[address]) for address in addresses if many[address] > few[address]} == {}


@EACH_KIND
def test_the_list_says_what_each_item_is_about_and_finds_it_by_that(identifier):
    project = make_kind_project(identifier)
    client = client_of(project.created_by)
    about = ABOUT[project.type.anchor_kind]
    if project.type.anchor_parent == "claim":
        about = "The harbour froze in winter 0."
    address = f"/projects/{project.slug}/items/"
    assert about in words_of(client.get(address))
    found = list(item_queries.find_items(project, search=about.upper()))
    assert 0 < len(found) <= project.items.count()
    assert {row.title for row in item_queries.item_rows(project, found)} == {about}
    assert about in words_of(client.get(address, {"search": about}))
    assert "No items found" in words_of(client.get(address, {"search": "zeppelin"}))


@EACH_KIND
def test_the_item_page_shows_all_texts_and_everybodys_answers(identifier):
    project = make_kind_project(identifier)
    revisions = answer_all(project, free_text="What is missing: the year.", comment="I was not sure.")
    client = client_of(project.created_by)
    for revision in revisions:
        item, kind = revision.annotation.item, project.type
        address = f"/projects/{project.slug}/items/{item.uuid}/"
        page = words_of(client.get(address))
        for text in load_page(item.pk, kind).shown_texts():
            assert " ".join(text.text.split()) in page and text.title in page
        for judgement in revision.judgements.select_related("unit"):
            dimension = kind.dimension(judgement.dimension)
            assert dimension.title in page and dimension.label(judgement.label).title in page
            for derived in dimension.derived:
                outcome = derived.label_for(judgement.label)
                assert next(one.title for one in derived.labels if one.value == outcome) in page
            for span in judgement.spans.all():
                assert span.quote in page
        if kind.units_title:
            for unit in item.item_units.select_related("unit__aspect", "unit__sub_sentence", "unit__triplet"):
                row = unit.unit
                words = row.triplet.head if row.triplet else (row.aspect or row.sub_sentence).text
                assert words in page
        assert "I was not sure." in page
        assert ("What is missing: the year." in page) == bool(kind.free_text)


def test_the_item_page_says_in_which_passage_something_was_marked():
    project = make_kind_project("triplets/-/1", n=1)
    run = suggesting.start_run(project, project.created_by, "lexical", wake_workers=False)
    lifecycle.run_here(run.job)
    item = project.items.get(key="q0/r0")
    page = words_of(client_of(project.created_by).get(f"/projects/{project.slug}/items/{item.uuid}/"))
    assert "Passage 2: The harbour of Lindau froze in January 1963." in page
    assert "Passage 2 Chronicle 1 " + GOLD in page


def test_the_texts_of_a_generated_document_have_their_own_names():
    project = make_kind_project("evidence-inclusion/-/1", n=1)
    item = project.items.get()
    texts = {text.title: text.text for text in load_page(item.pk, project.type).shown_texts()}
    assert texts == {
        "Claim": "The harbour froze in winter 0.",
        "Generated document": DOCUMENT,
        "Gold evidence 1": GOLD,
    }
    graded = make_kind_project("answer-grade/-/1", dataset=project.dataset)
    item = graded.items.get(key="q0/r2")
    assert [text.title for text in load_page(item.pk, graded.type).shown_texts()] == [
        "Question",
        "Answer",
        "Ground truth 1",
        "Ground truth 2",
    ]
    page = words_of(client_of(graded.created_by).get(f"/projects/{graded.slug}/items/{item.uuid}/"))
    assert "Answer This text is empty." in page


@EACH_KIND
def test_every_unit_can_be_decided_and_the_decision_taken_back(identifier):
    """At the desk by taking over A's answer; the item's page lists the decisions and withdraws them."""
    project = make_kind_project(identifier, n=1)
    adjudicator = join(project, make_user(), Membership.Role.ADJUDICATOR)
    answer_all(project)
    client, slugs = client_of(adjudicator), [dimension.slug for dimension in project.type.dimensions]
    for item in project.items.filter(unit_count__gt=0):
        address, desk = (f"/projects/{project.slug}/{room}/{item.uuid}/" for room in ("items", "adjudication/items"))
        opened = client.post(desk, "{}", content_type="application/json").json()
        shown, payload = " ".join(html.unescape(opened["html"]).split()), opened["payload"]
        texts = load_page(item.pk, project.type).contents.texts.values()
        assert all(" ".join(text.split()) in re.sub("<[^>]*>", "", shown) for text in texts)
        taken = payload["said"][0]
        assert (taken["letter"], payload["answers"]) == ("A", [])
        body = {"basis": payload["basis"], "judgements": taken["judgements"], "note": "Looked twice."}
        assert client.post(f"{desk}decide/", body, content_type="application/json").status_code == 200
        decided = Decision.objects.in_force().filter(project=project, unit__item_units__item=item)
        again = client.post(desk, "{}", content_type="application/json").json()["payload"]["answers"]

        def said(judgements):
            spans = [[(one["field"], one["start"], one["quote"]) for one in row["spans"]] for row in judgements]
            return sorted(
                (row["unit"], row["dimension"], row["label"], *of_row)
                for row, of_row in zip(judgements, spans, strict=True)
            )

        assert said(again) == said(taken["judgements"]) and len(again) == decided.count() > 0
        # A link to the desk for each question, and one for the item.
        page = client.get(address)
        keys = item.item_units.values_list("unit__key", flat=True)
        assert page.content.decode().count(f"/adjudication/?item={item.uuid}") == len(keys) * len(slugs) + 1
        assert "Looked twice." in words_of(page)
        forms = re.findall(
            r'name="unit" value="([^"]*)"><input type="hidden" name="dimension" value="([^"]*)">'
            r'<input type="hidden" name="number" value="(\d+)">',
            page.content.decode(),
        )
        rows = [{"unit": html.unescape(unit), "dimension": slug, "number": number} for unit, slug, number in forms]
        assert len(rows) == decided.count()
        # One that was decided again meanwhile stays, and that is said.
        stale = client.post(f"{address}withdraw/", rows[0] | {"number": "7"}, follow=True)
        assert "was decided again" in words_of(stale) and decided.count() == len(rows)
        client.post(f"{address}withdraw/", rows[0])
        assert decided.count() == len(rows) - 1
        assert client.post(f"{address}withdraw/", rows[0] | {"unit": "elsewhere"}).status_code == 404
        label = {"unit": rows[0]["unit"], "dimension": rows[0]["dimension"], "label": "no such label"}
        api = f"/api/v1/projects/{project.slug}/decisions/"
        assert client.post(api, label, content_type="application/json").status_code == 422
    assert not list(cases.mismatches(project)) and not Case.objects.filter(undecided__gt=1).exists()


def test_a_decision_shows_what_follows_from_it():
    project = make_kind_project("answer-grade/-/1", n=1)
    item = project.items.get(key="q0/r0")
    Decision.objects.create(project=project, unit=item.anchor, dimension="grade", method="imported", label="acceptable")
    page = words_of(client_of(project.created_by).get(f"/projects/{project.slug}/items/{item.uuid}/"))
    assert "Acceptable → Correct" in page


def test_a_data_set_counts_every_kind_of_row():
    project = make_kind_project("nli/three-way/1")
    page = words_of(client_of(project.created_by).get(f"/datasets/{project.dataset.slug}/"))
    for words in (
        "Claims 2",
        "Questions 2",
        "Evidence 8",
        "Responses 8",
        "Triplets 4",
        "Sub-sentences 4",
        "Atomic claims 4",
        "Aspects 4",
        "Pairs 4",
    ):
        assert words in page


def test_the_interface_says_what_follows_from_a_label():
    project = make_kind_project("answer-grade/-/1", n=1)
    [grade] = client_of(project.created_by).get(f"/api/v1/projects/{project.slug}/").json()["dimensions"]
    outcome = {"perfect": "correct", "acceptable": "correct", "incorrect": "hallucinate", "missing": "abstain"}
    assert grade["derived"] == {"outcome": outcome}
    assert grade["labels"] == list(outcome)

"""What a researcher changes about the questions in the browser, and what it means for people at work."""

import json

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from analysis.reports.metrics import get_report
from annotation.decisions import queries as item_queries
from annotation.models import Judgement, ProjectOptions, Revision
from annotation.projects.options import set_options
from tests import factories
from tests.work.browser import Annotator, answers_to
from tests.world import client_of

pytestmark = pytest.mark.django_db

WHY = {"title": "Why?", "hint": "One sentence.", "required": True}


@pytest.fixture
def researcher():
    return factories.make_user("rosa", is_staff=True)


@pytest.fixture
def annotator():
    return factories.make_user("anna")


@pytest.fixture
def project(researcher, annotator):
    dataset = factories.make_dataset(researcher)
    factories.make_claim_evidence(dataset, 6)
    return factories.make_project(dataset, overlap=1, annotators=[annotator])


def address(project) -> str:
    return f"/projects/{project.slug}/questions/"


def filled(client, project, **changes) -> dict:
    """The form as the page shows it, with changes by field; None leaves a field out."""
    values = {}
    for field in client.get(address(project)).context["form"]:
        value = field.value()
        if value is True:
            value = "on"
        if value not in (None, False):
            values[field.html_name] = value
    values |= {name.replace("__", "."): value for name, value in changes.items()}
    return {name: value for name, value in values.items() if value is not None}


def change(person, project, **changes):
    client = client_of(person)
    response = client.post(address(project), filled(client, project, **changes), follow=True)
    project.refresh_from_db()
    return response


def test_a_form_that_is_sent_as_it_came_changes_nothing(researcher, project):
    page = change(researcher, project)
    assert "There are no changes" in page.content.decode()
    assert (project.options, project.options_version, ProjectOptions.objects.count()) == ({}, 0, 0)


def test_every_change_is_a_version_and_the_tasks_own_is_one_too(researcher, project):
    before = project.label_version
    change(researcher, project, hidden__relevance="on", spans__stance="required", captions__stance__title="Attitude")
    first = {"hidden": ["relevance"], "spans": {"stance": "required"}, "captions": {"stance": {"title": "Attitude"}}}
    assert (project.options, project.options_version) == (first, 1)
    assert project.label_version > before  # figures leave out what is hidden
    assert [one.slug for one in project.type.asked_dimensions] == ["stance"]
    change(researcher, project, hidden__relevance=None, free_text__title="Why?", free_text__required="on")
    page = client_of(researcher).post(address(project), {"reset": "1"}, follow=True).content.decode()
    project.refresh_from_db()
    assert (project.options, project.options_version) == ({}, 3)
    assert "own questions are used again" in page and "Version 2" in page
    stored = list(project.options_versions.order_by("version").values_list("version", "options"))
    assert stored[0] == (1, first) and stored[2] == (3, {})
    assert stored[1][1]["free_text"] == {"title": "Why?", "hint": "", "required": True}


def test_labels_move_by_buttons_without_a_script_and_nothing_is_saved_before_save(researcher, project):
    client = client_of(researcher)
    data = filled(client, project, captions__stance__title="Attitude")
    for step in ("stance/supports/up", "stance/supports/up", "stance/refutes/up", "stance/supports/down", "no/such/up"):
        page = client.post(address(project), data | {"move": step})
        assert page.status_code == 200 and "Not saved yet" in page.content.decode()
        data = {field.html_name: field.value() for field in page.context["form"] if field.value()}
    assert data["captions.stance.title"] == "Attitude"
    project.refresh_from_db()
    assert project.options == {}
    client.post(address(project), data)
    project.refresh_from_db()
    values = list(project.type.dimension("stance").values)
    assert [label.value for label in project.type.dimension("stance").shown_labels] == [
        *values[:4], values[5], values[4],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"captions__stance__title": "x" * 201}, "captions.stance.title"),
        ({"captions__stance__labels__refutes__hint": "x" * 501}, "captions.stance.labels.refutes.hint"),
        ({"spans__stance": "sometimes"}, "spans.stance"),
        ({"order__stance": ["refutes", "maybe"]}, "order.stance"),
        ({"order__stance": ["refutes"]}, "order.stance"),
        ({"free_text__hint": "only a hint"}, "free_text.title"),
        ({"free_text__required": "on"}, "free_text.title"),
        ({"hidden__relevance": "on", "hidden__stance": "on"}, "__all__"),
        ({"captions__stance__labels__refutes__title": "Supports"}, "__all__"),
        ({"captions__stance__title": "Relevance"}, "__all__"),
    ],
)
def test_what_does_not_fit_stands_at_its_field_and_nothing_is_saved(researcher, project, changes, field):
    page = change(researcher, project, **changes)
    assert list(page.context["form"].errors) == [field]
    assert "Nothing is saved" in page.content.decode()
    for message in page.context["form"].errors[field]:
        assert message in page.content.decode()
    assert project.options == {}


def test_the_preview_is_the_panel_that_annotators_get(researcher, annotator, project):
    client = client_of(researcher)
    data = filled(client, project, hidden__relevance="on", captions__stance__title="Attitude", free_text__title="Why?")
    shown = client.post(address(project) + "preview/", data).content.decode()
    assert "Attitude" in shown and "Why?" in shown and 'data-dimension="relevance"' not in shown
    set_options(project, researcher, {"hidden": ["relevance"], "captions": {"stance": {"title": "Attitude"}}})
    html = Annotator(annotator, project).next()["html"]
    start, end = html.index("<fieldset"), html.index("</fieldset>")
    assert html[start:end].split('data-unit="')[0] in shown and "Attitude" in html[start:end]
    broken = client.post(address(project) + "preview/", data | {"free_text.title": "", "free_text.hint": "x"})
    assert "say what is asked" in broken.content.decode()


def test_the_preview_does_without_items(researcher, project):
    empty = factories.make_project(project.dataset, with_items=False)
    assert "data-group" in client_of(researcher).get(address(empty)).content.decode()


@pytest.mark.parametrize(
    "identifier", ["triplets/-/1", "aspect-coverage/-/1", "sufficient-context/-/1", "answer-grade/-/1"]
)
def test_every_kind_of_task_has_its_form(researcher, identifier):
    dataset = factories.make_dataset(researcher)
    factories.make_responses_with_triplets(dataset, 2)
    project = factories.make_project(dataset, identifier, with_items=identifier.startswith("triplets"))
    page = change(researcher, project)
    assert "There are no changes" in page.content.decode()
    # A task with one question cannot hide it.
    assert not [name for name in page.context["form"].fields if name.startswith("hidden")]


def test_a_new_project_can_be_adapted_right_away(researcher, project):
    data = {
        "title": "New", "dataset": project.dataset.pk, "task_type": "claim-evidence/three-way/1", "overlap": 1,
        "multiple_percent": 100, "order": "file", "prefill": "off", "minimum_seconds": 0, "lease_minutes": 5,
    }  # fmt: skip
    response = client_of(researcher).post("/projects/new/", data | {"adapt": "1"})
    assert response.url == "/projects/new-project/questions/"


# ---- changes while people work ----


def stored(annotator) -> Revision:
    return Revision.objects.get(annotation__rater__user=annotator, is_latest=True)


NARROWER = [
    pytest.param({"hidden": ["relevance"]}, id="a dimension is hidden"),
    pytest.param({"spans": {"stance": "required"}}, id="a span is required"),
    pytest.param({"spans": {"stance": "off"}}, id="spans are off"),
    pytest.param({"free_text": WHY}, id="words are required"),
]


def old_answer(payload, text="Report"):
    """What the page before the change lets a person say; with a span, since one of the changes forbids it."""
    judgements = answers_to(payload)
    judgements[1]["spans"] = [{"field": "evidence", "start": 0, "end": len(text), "quote": text}]
    return judgements


@pytest.mark.parametrize("options", NARROWER)
def test_a_page_from_before_the_change_is_answered_as_it_was_asked(researcher, annotator, project, options):
    person = Annotator(annotator, project)
    payload = person.next()["payload"]
    assert payload["options_version"] == 0
    set_options(project, researcher, options)
    judgements = answers_to(payload) if "required" in str(options) else old_answer(payload)
    response = person.submit(payload, judgements, options_version=payload["options_version"])
    assert response.status_code == 200, response.content
    assert "options_version" not in stored(annotator).metadata
    assert stored(annotator).judgements.count() == 2
    # The next page asks the new way, and its answer says so.
    payload = person.next()["payload"]
    assert payload["options_version"] == 1
    span = {"field": "evidence", "start": 0, "end": 6, "quote": "Report"}
    judgements = answers_to(payload, spans=[] if options.get("spans") == {"stance": "off"} else [span])
    judgements = [one | {"spans": one["spans"] if one["dimension"] == "stance" else []} for one in judgements]
    words = {"free_text": "Because."} if "free_text" in options else {}
    assert person.submit(payload, judgements, options_version=1, **words).status_code == 200
    assert [one.metadata.get("options_version") for one in Revision.objects.order_by("pk")] == [None, 1]


@pytest.mark.parametrize("options", NARROWER)
def test_an_answer_that_names_no_version_and_does_not_fit_is_told_what_to_do(researcher, annotator, project, options):
    person = Annotator(annotator, project)
    payload = person.next()["payload"]
    set_options(project, researcher, options)
    judgements = answers_to(payload) if "required" in str(options) else old_answer(payload)
    response = person.submit(payload, judgements)
    assert response.status_code == 422
    told = response.json()["errors"]
    assert "open the item again" in told[0]["message"] and told[0]["field"] == "options_version"
    assert len(told) > 1  # and what it is about
    assert not Judgement.objects.exists()
    again = person.item(payload["assignment"]).json()["payload"]  # it is still theirs, and now asks the new way
    assert again["options_version"] == 1


def test_an_old_version_does_not_help_around_the_new_one(researcher, annotator, project):
    set_options(project, researcher, {"spans": {"stance": "required"}})
    person = Annotator(annotator, project)
    payload = person.next()["payload"]
    refused = person.submit(payload, answers_to(payload), options_version=0)
    assert refused.status_code == 422
    [error] = refused.json()["errors"]
    assert "nothing is highlighted" in error["message"]  # and no word of changes: there were none meanwhile


@pytest.mark.parametrize("version", [7, "1", -1, 1.5, True])
def test_a_version_that_never_was_counts_for_nothing(researcher, annotator, project, version):
    set_options(project, researcher, {"hidden": ["relevance"]})
    person = Annotator(annotator, project)
    payload = person.next()["payload"]
    response = person.submit(payload, answers_to(payload), options_version=version)
    if version == 7:
        assert response.status_code == 200 and stored(annotator).metadata == {"options_version": 1}
    else:
        assert response.status_code == 422 and "options_version must be" in response.json()["errors"][0]["message"]


def test_a_repeated_request_is_answered_again_whatever_changed_since(researcher, annotator, project):
    person = Annotator(annotator, project)
    payload = person.next()["payload"]
    body = {"client_id": "6f9d2c7e-1f1c-4c50-9f5e-0f6b9cf0a001"}
    assert person.submit(payload, **body).status_code == 200
    set_options(project, researcher, {"hidden": ["relevance"], "free_text": WHY})
    again = person.submit(payload, **body)
    assert again.status_code == 200 and again.json()["revision"] == 1
    assert Revision.objects.count() == 1


def test_an_answer_can_be_changed_under_other_options(researcher, annotator, project):
    """What is not asked any more comes neither back nor in the way; the first revision keeps it."""
    set_options(project, researcher, {"free_text": WHY})
    person = Annotator(annotator, project)
    payload = person.next()["payload"]
    assert person.submit(payload, old_answer(payload), free_text="So.").status_code == 200
    set_options(project, researcher, {"hidden": ["relevance"], "spans": {"stance": "off"}})
    again = person.item(payload["assignment"]).json()["payload"]
    assert [(one["dimension"], one["spans"]) for one in again["answers"]] == [("stance", [])]
    assert (again["free_text"], again["free_text_answer"]) == (None, "")
    assert person.submit(again, again["answers"], options_version=2).status_code == 200
    first, second = Revision.objects.order_by("number")
    assert [first.judgements.count(), second.judgements.count()] == [2, 1]
    assert (first.metadata["options_version"], second.metadata) == (1, {"options_version": 2})


def test_required_highlights_are_not_required_of_a_page_without_texts(annotator):
    dataset = factories.make_dataset()
    factories.make_responses_with_triplets(dataset, 1, triplets=1, passages=0)
    options = {"spans": {"entailment": "required"}}
    project = factories.make_project(dataset, "triplets/-/1", overlap=1, annotators=[annotator], options=options)
    person = Annotator(annotator, project)
    payload = person.next()["payload"]
    assert person.submit(payload, answers_to(payload)).status_code == 200


# ---- what others see ----


def test_the_api_tells_how_a_project_asks(researcher, annotator, project):
    options = {
        "hidden": ["relevance"],
        "captions": {"stance": {"labels": {"refutes": {"title": "Contra"}}}},
        "order": {"stance": list(reversed(project.type.dimension("stance").values))},
    }
    set_options(project, researcher, options)
    shown = client_of(researcher).get(f"/api/v1/projects/{project.slug}/").json()
    relevance, stance = shown["dimensions"]
    assert (shown["options_version"], relevance["hidden"], stance["hidden"]) == (1, True, False)
    assert stance["labels"][0] == "refutes" and stance["shown_labels"][-1]["value"] == "refutes"
    assert stance["shown_labels"][-1]["title"] == "Contra"
    person = Annotator(annotator, project)
    payload = person.next()["payload"]
    assert [dimension["slug"] for dimension in payload["dimensions"]] == ["stance"]
    assert [label["key"] for label in payload["dimensions"][0]["labels"]] == list("123456")
    person.submit(payload)
    [row] = client_of(researcher).get(f"/api/v1/projects/{project.slug}/annotations/").json()["results"]
    assert row["options_version"] == 1 and row["judgements"][0]["label"] == "supports"  # the first on the screen


def test_a_hidden_dimension_is_left_out_until_somebody_has_labelled_it(researcher, annotator, project):
    set_options(project, researcher, {"hidden": ["relevance"]})
    person = Annotator(annotator, project)
    payload = person.next()["payload"]
    person.submit(payload)
    item = project.items.get(uuid=payload["item"])
    page = client_of(researcher).get(f"/projects/{project.slug}/items/{item.uuid}/").content.decode()
    assert "Stance" in page and "Relevance" not in page
    assert [one["dimension"] for one in get_report("agreement").compute(project)["dimensions"]] == ["stance"]
    set_options(project, researcher, {})
    payload = person.next()["payload"]
    person.submit(payload)
    set_options(project, researcher, {"hidden": ["relevance"]})
    assert [one["dimension"] for one in get_report("agreement").compute(project)["dimensions"]] == [
        "relevance",
        "stance",
    ]
    second = project.items.get(uuid=payload["item"])
    assert {one.dimension.slug for one in item_queries.item_view(project, second).questions} == {"relevance", "stance"}
    assert {one.dimension.slug for one in item_queries.item_view(project, item).questions} == {"stance"}


def test_an_adjudicator_decides_with_the_projects_words(researcher, project):
    set_options(project, researcher, {"captions": {"stance": {"labels": {"refutes": {"title": "Contra"}}}}})
    adjudicator = factories.join(project, factories.make_user("ada"), "adjudicator")
    item = project.items.first()
    where = f"/projects/{project.slug}/items/{item.uuid}/"
    client = client_of(adjudicator)
    desk = client.post(
        f"/projects/{project.slug}/adjudication/items/{item.uuid}/", "{}", content_type="application/json"
    )
    assert "Contra" in desk.json()["html"]
    assert f"/adjudication/?item={item.uuid}" in client.get(where).content.decode()
    said = {"unit": item.key, "dimension": "stance", "label": "refutes"}
    client.post(f"/api/v1/projects/{project.slug}/decisions/", said, "application/json")
    assert project.decisions.get().label == "refutes"
    assert "Contra" in client.get(where).content.decode()


def test_options_cost_a_submit_no_query(researcher, annotator, project):
    counts = []
    for options in ({}, {"hidden": ["relevance"], "free_text": WHY}):
        set_options(project, researcher, options)
        person = Annotator(annotator, project)
        payload = person.next()["payload"]
        with CaptureQueriesContext(connection) as queries:
            response = person.submit(
                payload, options_version=payload["options_version"], free_text="So." if options else ""
            )
        assert response.status_code == 200
        counts.append(len(queries))
    assert counts[1] <= counts[0]


def test_the_version_of_the_questions_goes_into_the_export_and_comes_back(researcher, annotator, project, tmp_path):
    person = Annotator(annotator, project)
    for options in ({}, {"hidden": ["relevance"]}, {"free_text": WHY}):
        set_options(project, researcher, options)
        payload = person.next()["payload"]
        words = "So." if payload["free_text"] else ""
        assert person.submit(payload, options_version=payload["options_version"], free_text=words).status_code == 200
    call_command("export_dataset", project.slug, str(tmp_path / "first"), verbosity=0)
    lines = (tmp_path / "first" / "annotations.jsonl").read_bytes()
    asked = sorted(json.loads(line).get("options_version", 0) for line in lines.splitlines())
    assert asked == [0, 1, 2]
    manifest = json.loads((tmp_path / "first" / "manifest.json").read_text())
    assert manifest["options_versions"] == {
        "1": {"hidden": ["relevance"]}, "2": {"free_text": WHY}
    }  # fmt: skip
    files = [str(tmp_path / "first" / name) for name in ("claims.jsonl", "annotations.jsonl")]
    chosen = ["--format", "assay", "--dataset", "again", "--project", "again", "--task-type", project.task_type]
    factories.make_user("owner", is_superuser=True)
    call_command("import_dataset", *files, *chosen, "--owner", "owner@example.org", verbosity=0)
    call_command("export_dataset", "again", str(tmp_path / "second"), verbosity=0)
    assert (tmp_path / "second" / "annotations.jsonl").read_bytes() == lines


def test_who_labelled_before_is_told_once_that_the_questions_changed(project, researcher, annotator):
    person, notice = Annotator(annotator, project), "The questions have changed since you last labelled here"
    assert person.submit(person.next()["payload"]).status_code == 200
    assert notice not in person.page().content.decode()
    set_options(project, researcher, {"spans": {"stance": "off"}})
    assert notice in person.page().content.decode()
    newcomer = factories.make_user("nora")
    factories.join(project, newcomer)
    assert notice not in Annotator(newcomer, project).page().content.decode()
    payload = person.next()["payload"]
    assert person.submit(payload, options_version=payload["options_version"]).status_code == 200
    assert notice not in person.page().content.decode()

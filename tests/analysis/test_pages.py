"""Pages of figures: they show what workers stored, refresh it when labels move on, and never compute."""

import json
from urllib.parse import quote

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.html import escape

from analysis.figures.items import Filter, Items
from analysis.models import StoredReport
from analysis.reports.checkers.comparison import filters
from annotation.jobs import lifecycle
from annotation.models import Job, Membership
from tests.factories import join, make_suggestions, make_user
from tests.world.labels import STUDIES, items_of, make_rater, make_scores, of_dimension, project_of, say
from tests.world.remembered import remembered

pytestmark = pytest.mark.django_db
YES, NO = "relevant", "not_relevant"


@pytest.fixture
def project(db):
    return labelled()


@remembered
def labelled():
    project = project_of(6)
    people = [make_rater(project, name) for name in ("Anna", "Ben")]
    for number, item in enumerate(items_of(project)):
        for rater in people:
            say(item, rater, NO if number == 3 else YES, None if number == 3 else "supports")
    say(items_of(project)[0], people[1], YES, "refutes")
    return project


@pytest.fixture
def page(client, project):
    client.force_login(project.created_by)

    def get(name="project_agreement", status=200, headers=None, **query):
        response = client.get(reverse(name, args=[project.slug]), query, headers=headers or {})
        assert response.status_code == status
        return response

    return get


def compute():
    """What the workers have to do now."""
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        lifecycle.run_here(job)


def test_the_first_look_starts_a_job_and_the_next_one_shows_its_figures(page):
    html = page().content.decode()
    assert "Computing the figures for the first time" in html and "Fleiss" not in html
    assert Job.objects.filter(kind="report").count() == 1
    page()
    assert Job.objects.filter(kind="report").count() == 1
    compute()
    html = page().content.decode()
    assert "no label has changed since" in html
    report = StoredReport.objects.get()
    for figure in of_dimension(report.result, "relevance")["figures"]:
        assert escape(figure["title"]) in html and f"{figure['estimate']:.3f}" in html


def test_lists_of_units_are_offered_only_where_there_are_units(page, project):
    page()
    compute()
    html, items = page().content.decode(), Items.from_json(StoredReport.objects.get().behind)
    lists = [Filter({dimension: name}) for dimension in ("relevance", "stance") for name in ("single", "unlabelled")]
    counts = [items.count(wanted) for wanted in lists]
    assert {bool(n) for n in counts} == {True, False}
    assert [f'figure={quote(wanted.encoded)}"' in html for wanted in lists] == [bool(n) for n in counts]


def test_the_command_prints_what_the_page_stores(page, project, capsys):
    page()
    compute()
    call_command("report", project.slug, "agreement", "--format", "json")
    assert json.loads(capsys.readouterr().out) == StoredReport.objects.get().result


def test_new_labels_make_it_refresh_by_itself(page, project):
    page()
    compute()
    before = StoredReport.objects.get()
    say(items_of(project)[5], make_rater(project), NO)
    html = page().content.decode()
    assert "are being computed again" in html and "Fleiss" in html  # the last good figures stay
    compute()
    after = StoredReport.objects.get()
    assert after.computed_at > before.computed_at
    assert (
        of_dimension(after.result, "relevance")["n_labels"] == of_dimension(before.result, "relevance")["n_labels"] + 1
    )
    assert "no label has changed since" in page().content.decode()


def test_a_report_that_takes_long_is_not_computed_at_every_label(page, project, monkeypatch):
    page()
    compute()
    monkeypatch.setattr("analysis.reports.stored.FREE_SECONDS", 0)
    monkeypatch.setattr("analysis.reports.stored.REST_PER_SECOND", 10_000)
    say(items_of(project)[5], make_rater(project), NO)
    assert "will be computed again soon" in page().content.decode()
    assert Job.objects.filter(kind="report").count() == 1


def test_htmx_gets_only_what_has_changed(page, project):
    page()
    compute()
    html = page().content.decode()
    seen = html.split('"X-Seen": "')[1].split('"')[0]
    asked = {"HX-Request": "true", "X-Seen": seen}
    assert page(status=204, headers=asked).content == b""
    say(items_of(project)[5], make_rater(project), NO)
    state = page(headers=asked)
    assert state["HX-Retarget"] == "#state" and b"<table" not in state.content
    compute()
    part = page(headers=asked).content.decode()
    assert part.strip().startswith('<div id="figures"') and "<html" not in part
    assert "HX-Request" in page()["Vary"]


def test_a_failure_is_shown_and_not_tried_again_until_labels_change(page, project, monkeypatch):
    def refuse(*arguments, **parameters):
        raise ValueError("these labels cannot be read")

    monkeypatch.setattr("analysis.reports.agreement.agreement.compute.compute", refuse)
    page()
    compute()
    assert "could not be computed: these labels cannot be read" in page().content.decode()
    page()
    assert Job.objects.filter(kind="report").count() == 1
    monkeypatch.undo()
    say(items_of(project)[5], make_rater(project), NO)
    page()
    compute()
    assert "no label has changed since" in page().content.decode()


@pytest.mark.parametrize("name", ["project_agreement", "project_comparison"])
def test_who_may_see_figures(client, project, name):
    where = reverse(name, args=[project.slug])
    people = [
        (join(project, make_user(), Membership.Role.RESEARCHER), 200),
        (join(project, make_user(), Membership.Role.ADJUDICATOR), 200),
        (join(project, make_user(), Membership.Role.RESEARCHER, Membership.Role.ANNOTATOR), 403),  # has open work
        (join(project, make_user()), 403),
        (make_user(), 404),
    ]
    for user, status in people:
        client.force_login(user)
        assert client.get(where).status_code == status
    client.logout()
    assert client.get(where).status_code == 302
    assert client.post(where).status_code in (302, 405)


def test_cells_of_the_confusion_open_exactly_their_units(client, page, project):
    run = make_suggestions(project, labels={"relevance": YES, "stance": "supports"})
    page("project_comparison")
    compute()
    report = StoredReport.objects.get()
    dimension = of_dimension(report.result, "relevance")
    values = [label["label"] for label in dimension["labels"]]
    html = page("project_comparison").content.decode()
    assert f"confusion of people and {run.checker}" in html
    for row, counts in enumerate(dimension["confusion"]):
        for column, count in enumerate(counts):
            figure = filters.of_cell("relevance", values[row], values[column]).encoded
            where = reverse("project_behind", args=[project.slug, "comparison"])
            response = client.get(where, {"report": report.parameters_hash, "figure": figure})
            assert response.status_code == 200
            assert response.context["page"].paginator.count == count
            keys = {row.unit.key for row in response.context["rows"]}
            expected = {item.key for n, item in enumerate(items_of(project)) if (n == 3) == (values[row] == NO)}
            assert keys == (expected if values[column] == YES else set())
            assert (f"figure={quote(figure)}" in html) == bool(count)


def test_wrong_parameters_are_not_found_and_store_nothing(client, page, project):
    run = make_suggestions(project)
    make_scores(run, "overlap", {items_of(project)[0].anchor_id: 0.5})
    page(raters="nobody", status=404)
    for query in ({"run": "x"}, {"reference": "imported"}, {"touched": "2"}, {"score": "nothing"}):
        page("project_comparison", status=404, **query)
    assert "judges something else" in page("project_rates").content.decode()  # the items are no answers of models
    assert not StoredReport.objects.exists() and not Job.objects.filter(kind="report").exists()
    page("project_comparison", score="overlap")
    page()
    compute()
    report = StoredReport.objects.get(name="agreement")
    where = reverse("project_behind", args=[project.slug, "agreement"])
    assert client.get(where, {"report": report.parameters_hash, "figure": "relevance=agree"}).status_code == 200
    for query in (
        {"figure": "relevance=agree"},
        {"report": "x"},
        {"report": report.parameters_hash, "figure": "relevance=nonsense"},
    ):
        assert client.get(where, query).status_code == 404
    assert client.get(reverse("project_behind", args=[project.slug, "nothing"])).status_code == 404
    other = project_of(1)
    assert client.get(reverse("project_behind", args=[other.slug, "agreement"]), query).status_code == 404


@pytest.mark.parametrize("name", ["project_agreement", "project_comparison"])
def test_pages_ask_the_database_no_more_for_more_labels(page, project, name):
    make_suggestions(project)
    page(name)
    compute()
    page(name)
    with CaptureQueriesContext(connection) as few:
        page(name)
    for _ in range(3):
        rater = make_rater(project)
        for item in items_of(project):
            say(item, rater, YES, "supports")
    page(name)
    compute()
    with CaptureQueriesContext(connection) as many:
        page(name)
    # Nine of them for the choice of labels: releases, people, versions of the guidelines, and columns of claims,
    # questions and evidence from both ends. The comparison asks for two more: whether anybody has a name, so that a
    # model of them can be learned, and what scores there are.
    assert len(many) <= len(few) <= 27


def test_whose_labels_can_be_chosen_before_anything_is_computed(page, project):
    assert 'name="raters"' not in page("project_agreement").content.decode()
    outside = make_rater(project, "Of a file", "external")
    assert 'name="raters"' not in page("project_agreement").content.decode()  # labels are chosen among, not names
    say(items_of(project)[0], outside, YES, "supports")
    assert 'name="raters"' in page("project_agreement").content.decode()


def test_the_filter_gets_many_names_only_when_it_is_opened(page, monkeypatch):
    assert ">Anna</option>" in page().content.decode()
    monkeypatch.setattr("analysis.pages.frame.MANY_RATERS", 1)
    html = page().content.decode()
    assert ">Anna</option>" not in html and 'hx-target="#s-annotator"' in html
    opened = page(headers={"HX-Request": "true", "HX-Target": "s-annotator"}).content.decode()
    assert ">Anna</option>" in opened and "<select" not in opened


def test_a_project_without_runs_says_how_to_get_one(page):
    assert "has no finished checker run" in page("project_comparison").content.decode()


def test_rates_are_shown_for_answers_of_models(client):
    project = project_of(2, "triplets/-/1", triplets=[2, 0])
    say(items_of(project)[0], make_rater(project), labels={0: "entailment", 1: "contradiction"})
    client.force_login(project.created_by)
    where = reverse("project_rates", args=[project.slug])
    client.get(where)
    compute()
    html = client.get(where).content.decode()
    assert ">Contradiction<" in html and "0.500" in html and "mean over models" in html
    assert "Intervals draw whole claims or questions" in html  # as the methods paragraph says
    assert where in client.get(reverse("project_agreement", args=[project.slug])).content.decode()


def test_names_of_people_and_labels_cannot_smuggle_markup(page, project):
    villain = make_rater(project, "<script>alert(1)</script>")
    for item in items_of(project):
        say(item, villain, YES)
    page()
    compute()
    html = page().content.decode()
    assert "<script>alert(1)" not in html and "&lt;script&gt;alert(1)" in html
    assert " style=" not in html


def test_what_another_version_computed_is_shown_nowhere_and_removed(page, client, project, monkeypatch):
    """Its result may have another shape, and the paragraph for a paper would name a version that did not compute it."""
    monkeypatch.setattr(STUDIES, 50)
    page()
    client.get(reverse("project_report", args=[project.slug, "planning"]))
    compute()
    overview = reverse("project_detail", args=[project.slug])
    assert "more units" in client.get(overview).content.decode()
    before = set(StoredReport.objects.values_list("pk", flat=True))
    monkeypatch.setattr("analysis.reports.stored.__version__", "9.9")
    StoredReport.objects.update(result={"of": "another shape"})
    assert "Plan how many more labels" in client.get(overview).content.decode()
    assert "Computing the figures for the first time" in page().content.decode()
    client.get(reverse("project_report", args=[project.slug, "planning"]))
    compute()
    assert "Fleiss" in page().content.decode() and "more units" in client.get(overview).content.decode()
    assert not before & set(StoredReport.objects.values_list("pk", flat=True))

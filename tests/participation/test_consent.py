"""Consent before the first item, and withdrawing it."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.decisions.moments import Moment
from annotation.exports.queries import exported_items
from annotation.models import Annotation, Assignment, Consent, ConsentWithdrawal, Participation, Rater, SettingsChange
from annotation.participation import consent
from tests import factories
from tests.participation.test_study_links import joined, make_link
from tests.work.browser import Annotator, answers_to
from tests.world import client_of

pytestmark = pytest.mark.django_db


def make_study(on_withdrawal: str = consent.KEEP):
    """A project with a study link and a consent form, and a browser that has joined."""
    link = make_link()
    consent.publish(link.project, link.created_by, "# Harbours\n\nWe store what you answer.", on_withdrawal)
    browser, _ = joined(link)
    return link, browser


def answer(person, project, n: int = 1) -> None:
    annotator = Annotator(person, project)
    for _ in range(n):
        payload = annotator.next()["payload"]
        assert annotator.submit(payload, answers_to(payload, choice=0)).status_code == 200


def consented(browser, slug: str, version: int = 1):
    return browser.post(f"/projects/{slug}/taking-part/consent/", {"consent": "yes", "version": version})


def test_consent_comes_before_the_first_item():
    link, browser = make_study()
    slug = link.project.slug
    page = f"/projects/{slug}/taking-part/consent/"
    assert "Your consent is needed" in browser.get(f"/projects/{slug}/").content.decode()
    assert browser.get(f"/projects/{slug}/work/").url == page
    given = browser.get(f"/api/v1/projects/{slug}/work/next").json()
    assert (given["state"], given["outlook"]) == ("empty", "step") and page in given["html"]
    text = browser.get(page).content.decode()
    assert "We store what you answer" in text and "kept under a pseudonym" in text
    assert consented(browser, slug).url == f"/projects/{slug}/work/"
    assert browser.get(f"/projects/{slug}/work/").context["state"] == "item"
    given = Consent.objects.get()
    assert given.form.version == 1 and given.given_at is not None


def test_a_new_version_is_asked_for_and_an_old_page_is_not_taken_for_it():
    link, browser = make_study()
    project, slug = link.project, link.project.slug
    consented(browser, slug)
    consent.publish(project, project.created_by, "Another text.", consent.REMOVE)
    assert browser.get(f"/projects/{slug}/work/").status_code == 302
    assert consented(browser, slug, 1).url == f"/projects/{slug}/taking-part/consent/"
    assert Consent.objects.count() == 1
    consented(browser, slug, 2)
    assert browser.get(f"/projects/{slug}/work/").status_code == 200
    consent.publish(project, project.created_by, "", consent.KEEP)
    project.refresh_from_db()
    assert project.study_steps == ["finish"]


def test_who_declines_frees_the_place():
    link, browser = make_study()
    slug = link.project.slug
    browser.post(f"/projects/{slug}/taking-part/consent/", {"consent": "no"})
    link.refresh_from_db()
    assert link.places_used == 0 and Participation.objects.get().state == "returned"
    end = browser.get(f"/join/{link.token}/").url
    assert end == f"/projects/{slug}/taking-part/finish/" and browser.get(end).status_code == 200


def labelled(promise: str):
    """A person who has answered two items and holds a third, and their project."""
    link, browser = make_study(promise)
    consented(browser, link.project.slug)
    person = Participation.objects.get().user
    answer(person, link.project, 2)
    browser.get(f"/projects/{link.project.slug}/work/")
    return link, browser, person


def test_withdrawing_gives_back_at_once_and_keeps_answers_where_that_was_promised():
    link, browser, person = labelled(consent.KEEP)
    rater = Rater.objects.get(user=person)
    assert Assignment.objects.filter(rater=rater, state="leased").exists()
    browser.post(f"/projects/{link.project.slug}/taking-part/withdraw/")
    link.refresh_from_db()
    rater.refresh_from_db()
    assert (link.places_used, rater.is_excluded) == (0, False)
    assert not Assignment.objects.filter(rater=rater, state="leased").exists()
    assert Annotation.objects.filter(rater=rater, is_surplus=False).count() == 2
    assert "withdrew your consent" in browser.get(f"/projects/{link.project.slug}/taking-part/").content.decode()
    [change] = SettingsChange.objects.filter(what="consent", about=str(person))
    assert change.changes["answers"][1].startswith("Answers are kept")
    browser.post(f"/projects/{link.project.slug}/taking-part/withdraw/")
    assert ConsentWithdrawal.objects.count() == 1


def test_withdrawn_answers_leave_figures_and_files_where_that_was_promised():
    link, browser, person = labelled(consent.REMOVE)
    project, rater = link.project, Rater.objects.get(user=person)
    items = set(Annotation.objects.filter(rater=rater).values_list("item_id", flat=True))
    other = factories.join(project, factories.make_user("other"), "annotator")
    consented(client_of(other), project.slug)
    answer(other, project, 3)
    # The lead does it for a person who asked; a later version promises nothing to who consented before.
    consent.publish(project, project.created_by, "Later text.", consent.KEEP)
    lead = client_of(project.created_by)
    address = f"/projects/{project.slug}/members/{person.uuid}/withdraw/"
    assert "left out of all figures" in lead.get(address).content.decode()
    assert lead.post(address).status_code == 302
    kept = Annotation.objects.filter(rater=rater)
    assert kept.count() == 2 and not kept.filter(is_surplus=False).exists()
    assert {one.item_id for one in Assignment.objects.filter(item__in=items, state="open")} == items
    batches = exported_items(project, Moment.now(project))
    exported = [one.rater for batch in batches for item in batch for one in item.annotations]
    assert rater.pseudonym not in exported
    # Others fill the places.
    third = factories.join(project, factories.make_user("third"), "annotator")
    consent.give(project, third, 2)
    answer(third, project, 3)
    counted = Annotation.objects.filter(item__in=items, is_surplus=False)
    assert counted.count() == 2 * len(items)


def test_a_project_without_steps_is_asked_nothing(settings):
    settings.PREPARED_STATEMENTS = False  # or there is no text to look at
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 3)
    person = factories.make_user("ada")
    project = factories.make_project(dataset, annotators=[person])
    browser, address = client_of(person), f"/api/v1/projects/{project.slug}/work/next"
    browser.get(address)
    with CaptureQueriesContext(connection) as captured:
        browser.get(address)
    assert not [one for one in captured if "consent" in one["sql"] or "participation" in one["sql"]]
    consent.publish(project, project.created_by, "Text.", consent.KEEP)
    consent.give(project, person, 1)
    with CaptureQueriesContext(connection) as more:
        browser.get(address)
    assert len(more) == len(captured) + 1

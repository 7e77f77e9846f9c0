"""Study links: who gets in, who reads why not, and how people come back."""

import re
import threading
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.db import connections
from django.test import Client
from django.utils import timezone

from annotation.models import Assignment, Membership, Participation, Project, Rater, SettingsChange, StudyLink, User
from annotation.participation import joining, links
from annotation.projects import managing
from tests import factories
from tests.work.browser import Annotator
from tests.world import client_of

CODE = re.compile(r'id="code">([A-Z2-9-]{19})<')


def make_link(places: int = 50, items: int = 3, **values) -> StudyLink:
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, items)
    project = factories.make_project(dataset)
    return links.make_link(project, project.created_by, title="Harbours", places=places, **values)


def at_once(threads: int, act) -> None:
    """`act()` in so many threads, which begin together and have connections of their own."""
    barrier = threading.Barrier(threads)

    def begin() -> None:
        try:
            barrier.wait()
            act()
        finally:
            connections.close_all()

    running = [threading.Thread(target=begin) for _ in range(threads)]
    for one in running:
        one.start()
    for one in running:
        one.join()


def fresh(link: StudyLink) -> StudyLink:
    return StudyLink.objects.select_related("project").get(pk=link.pk)


def path_of(link: StudyLink) -> str:
    return f"/join/{link.token}/"


def joined(link: StudyLink) -> tuple[Client, str]:
    """A browser that has joined, and the code that it was shown."""
    browser = Client()
    page = browser.post(path_of(link))
    assert page.status_code == 200, page.content
    return browser, CODE.search(page.content.decode())[1]


@pytest.mark.django_db
def test_who_has_no_account_joins_and_labels():
    link = make_link(group="crowd")
    browser = Client()
    assert "Harbours" in browser.get(path_of(link)).content.decode()
    browser, code = joined(link)
    person = User.objects.get(participations__link=link)
    assert (person.email, person.has_usable_password()) == ("", False)
    assert Rater.objects.get(user=person).group == "crowd"
    assert browser.get(f"/projects/{link.project.slug}/work/").context["state"] == "item"
    link.refresh_from_db()
    assert link.places_used == 1
    # Opened again, it leads on and takes no second place.
    assert browser.get(path_of(link)).url == f"/projects/{link.project.slug}/"
    assert browser.post(path_of(link)).url == f"/projects/{link.project.slug}/"
    link.refresh_from_db()
    assert link.places_used == 1


@pytest.mark.django_db
def test_the_code_brings_back_on_another_device_until_it_is_renewed():
    link = make_link()
    browser, code = joined(link)
    person = User.objects.get(participations__link=link)
    assert code not in str(list(Participation.objects.values()))
    elsewhere = Client()
    assert code in elsewhere.get(f"/return/?code={code}").content.decode()
    assert elsewhere.post("/return/", {"code": code.lower().replace("-", " ")}).url == f"/projects/{link.project.slug}/"
    assert elsewhere.get("/").wsgi_request.user == person
    new = CODE.search(browser.post(f"/projects/{link.project.slug}/return-code/").content.decode())[1]
    assert "No participant has this code" in Client().post("/return/", {"code": code}).content.decode()
    assert Client().post("/return/", {"code": new}).status_code == 302


@pytest.mark.django_db
def test_wrong_codes_are_limited_as_wrong_passwords_are():
    link = make_link()
    _, code = joined(link)
    cache.clear()
    guessed = [Client().post("/return/", {"code": f"WRNG-{number}"}).status_code for number in range(51)]
    assert guessed == [200] * 50 + [429]
    assert Client(REMOTE_ADDR="192.0.2.7").post("/return/", {"code": code}).status_code == 302
    cache.clear()


@pytest.mark.django_db
def test_hundreds_come_from_one_address():
    link = make_link(places=200)
    cache.clear()
    for _ in range(120):
        joined(link)
    assert Membership.objects.filter(project=link.project, role="annotator").count() == 120


@pytest.mark.django_db
def test_who_has_an_account_joins_with_it():
    link, person = make_link(), factories.make_user("ada")
    browser = client_of(person)
    assert "signed in as ada" in browser.get(path_of(link)).content.decode()
    assert browser.post(path_of(link)).url == f"/projects/{link.project.slug}/"
    assert browser.post(path_of(link)).status_code == 302
    assert Participation.objects.get(user=person).return_digest == ""
    assert browser.post(f"/projects/{link.project.slug}/return-code/").status_code == 404
    link.refresh_from_db()
    assert link.places_used == 1


@pytest.mark.django_db
def test_who_was_removed_does_not_come_back_by_a_link():
    link, person = make_link(), factories.make_user("ada")
    managing.add_member(link.project, person, "annotator")
    managing.remove_member(link.project, person, "annotator")
    answer = client_of(person).post(path_of(link))
    assert answer.status_code == 410 and "no longer label" in answer.content.decode()


@pytest.mark.django_db
def test_each_way_of_being_shut_has_its_sentence():
    sentences = set()
    for change, project_state in (
        ({"closed_at": timezone.now()}, None),
        ({"expires_at": timezone.now() - timedelta(days=1)}, None),
        ({"places_used": 50}, None),
        ({}, Project.State.PAUSED),
        ({}, Project.State.PREPARING),
    ):
        link = make_link()
        StudyLink.objects.filter(pk=link.pk).update(**change)
        if project_state:
            Project.objects.filter(pk=link.project_id).update(state=project_state)
        for answer in (Client().get(path_of(link)), Client().post(path_of(link))):
            assert answer.status_code == 410
            sentences.add(re.search(r"<p>(Th[^<]+)</p>", answer.content.decode())[1])
    assert len(sentences) == 5
    assert not User.objects.filter(username__startswith="participant-").exists()
    assert Client().get("/join/unknown/").status_code == 404


@pytest.mark.django_db
def test_nobody_joins_where_no_answer_is_needed_or_their_groups_last_day_is_over():
    link = make_link(items=1, group="crowd")
    project, place = link.project, path_of(link)

    def shut() -> str:
        answer = Client().get(place)
        assert answer.status_code == Client().post(place).status_code == 410
        return answer.content.decode()

    yesterday = timezone.localdate() - timedelta(days=1)
    Project.objects.filter(pk=project.pk).update(group_quotas=f"crowd: until {yesterday}")
    assert f"{yesterday:%-d %B %Y} was its last day" in shut()
    Project.objects.filter(pk=project.pk).update(group_quotas="crowd: 1")
    browser, _ = joined(link)
    person = Annotator(Participation.objects.get().user, project)
    held = person.next()["payload"]
    assert Client().get(place).status_code == 200, "it may come back"
    person.submit(held)
    assert "all the answers that it needs" in shut()
    Project.objects.filter(pk=project.pk).update(group_quotas="")
    assert Client().get(place).status_code == 200
    Assignment.objects.filter(state="open").update(state="cancelled")
    assert "all the answers that it needs" in shut()
    assert browser.get(place).status_code == 302, "who has joined comes back"


@pytest.mark.django_db
def test_a_link_is_made_extended_and_closed():
    project = make_link().project
    browser, pages = client_of(project.created_by), f"/projects/{project.slug}/study-links/"
    values = {"title": "Second wave", "places": 2, "last_day": "2120-05-31", "group": "crowd"}
    address = browser.post(pages, values).url
    link = StudyLink.objects.get(title="Second wave")
    page = browser.get(address).content.decode()
    assert f"/join/{link.token}/" in page and "leads to this machine only" in page
    assert "0 of 2" in browser.get(pages).content.decode()
    joined(link)
    joined(link)
    assert "2 places are taken already" in browser.post(address, values | {"places": 1}).content.decode()
    assert browser.post(address, values | {"places": 3, "last_day": ""}).status_code == 302
    link.refresh_from_db()
    assert (link.places, link.places_used, link.expires_at) == (3, 2, None)
    browser.post(f"{address}state/", {"do": "close"})
    assert Client().post(path_of(link)).status_code == 410
    browser.post(f"{address}state/", {"do": "reopen"})
    assert Client().post(path_of(link)).status_code == 200
    changed = [one for one in SettingsChange.objects.filter(what="study-link", about="Second wave") if one.changes]
    assert len(changed) == 4
    assert browser.get(f"/projects/{project.slug}/settings/history/").status_code == 200


@pytest.mark.django_db
def test_a_link_by_the_api():
    project = make_link().project
    browser, address = client_of(project.created_by), f"/api/v1/projects/{project.slug}/study-links/"
    made = browser.post(address, {"title": "Wave", "places": 1}, content_type="application/json").json()
    assert (made["state"], made["places_used"], made["expires_at"]) == ("open", 0, None)
    joined(StudyLink.objects.get(title="Wave"))
    own = f"{address}{made['uuid']}/"
    assert browser.get(own).json()["state"] == "full"
    assert browser.post(own, {"places": 5}, content_type="application/json").json()["state"] == "open"
    assert browser.post(own, {"closed": True}, content_type="application/json").json()["state"] == "closed"
    assert len(browser.get(address).json()["results"]) == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.on_postgresql
def test_two_hundred_people_at_once_get_fifty_places(settings):
    settings.ACCOUNT_RATE_LIMITS = False
    link = make_link(places=50)
    people, threads = 200, 20
    got, full = [], []

    def come() -> None:
        for _ in range(people // threads):
            try:
                got.append(joining.join_as_new(fresh(link)))
            except joining.CannotJoin as refused:
                full.append(str(refused))

    at_once(threads, come)
    assert (len(got), full) == (50, ["This study is full: all places are taken."] * 150)
    link.refresh_from_db()
    assert link.places_used == Participation.objects.filter(link=link).count() == 50
    assert Membership.objects.filter(project=link.project, role="annotator", is_active=True).count() == 50


@pytest.mark.django_db(transaction=True)
@pytest.mark.on_postgresql
def test_several_clicks_of_one_person_take_one_place():
    link, person = make_link(places=5), factories.make_user("ada")
    got = []
    at_once(4, lambda: got.append(joining.join(fresh(link), person).pk))
    link.refresh_from_db()
    assert len(got) == 4 and len(set(got)) == 1 and link.places_used == 1

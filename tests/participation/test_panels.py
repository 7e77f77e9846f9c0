"""Panels: who comes with which ids, signed or not, how it ends, and a researcher who plays a participant."""

import base64
import hashlib
import hmac
import io
import json
import time
import zipfile
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from analysis.releases.kept import start_freezing
from annotation.decisions.moments import Moment
from annotation.exports import releasing
from annotation.exports.queries import exported_items
from annotation.jobs import lifecycle
from annotation.models import Annotation, Artifact, Assignment, Membership, Participation, Project, Rater, User
from annotation.participation import joining, leaving, links, panels
from annotation.participation.panels import PanelIds
from annotation.projects import managing
from annotation.projects.queries.projects import count_annotators
from tests.participation.test_consent import answer
from tests.participation.test_study_links import at_once, fresh, make_link, path_of
from tests.work.browser import Annotator, answers_to
from tests.world import client_of

pytestmark = pytest.mark.django_db
PROLIFIC = {"panel": "prolific", "endings": {"complete": "C0DE1", "returned": "C0DE2", "timed-out": "C0DE3"}}


def query(pid: str = "5f00aa", session: str = "s1") -> str:
    return f"?PROLIFIC_PID={pid}&STUDY_ID=study9&SESSION_ID={session}"


def arrived(link, pid: str = "5f00aa", session: str = "s1") -> Client:
    browser = Client()
    assert browser.post(path_of(link) + query(pid, session)).status_code == 302
    return browser


def finish_of(link) -> str:
    return f"/projects/{link.project.slug}/taking-part/finish/"


def test_a_participant_comes_works_and_takes_a_code_back():
    link = make_link(most_items=2, **PROLIFIC)
    browser = arrived(link)
    found = Participation.objects.get()
    assert (found.panel_participant, found.panel_study, found.panel_session) == ("5f00aa", "study9", "s1")
    assert "5f00aa" not in f"{found.user.username} {found.user.name}"
    assert "Stop before the end" in browser.get(finish_of(link)).content.decode()
    answer(found.user, link.project, 2)
    work = browser.get(f"/projects/{link.project.slug}/work/")
    assert work.context["state"] == "empty" and finish_of(link) in work.content.decode()
    assert "Finish the study" in browser.get(f"/projects/{link.project.slug}/").content.decode()
    browser.post(finish_of(link))
    page = browser.get(finish_of(link)).content.decode()
    assert "C0DE1" in page and 'href="https://app.prolific.com/submissions/complete?cc=C0DE1"' in page
    # The place stays theirs, and the panel leads back to the same page.
    link.refresh_from_db()
    assert link.places_used == 1
    assert arrived(link, session="s2").get(finish_of(link)).status_code == 200
    assert Participation.objects.get().panel_session == "s2"


def test_nobody_gets_more_items_than_their_number_while_others_are_fetched_ahead():
    link = make_link(most_items=2)
    participation, _ = joining.join_as_new(link)
    person = Annotator(participation.user, link.project)
    first = person.next()["payload"]
    given = person.submit(first, answers_to(first), want_next=True).json()["ahead"]
    assert given["state"] == "item"
    second = given["payload"]
    last = person.submit(second, answers_to(second), want_next=True).json()["ahead"]
    assert (last["state"], last["outlook"]) == ("empty", "step")
    page = person.client.get(f"/projects/{link.project.slug}/work/")
    assert (page.context["progress"]["mine"], page.context["progress"]["mine_total_open"]) == (2, 0)


def test_the_same_id_leads_to_the_same_place():
    link = make_link(**PROLIFIC)
    arrived(link)
    arrived(link, session="again")
    other = links.make_link(link.project, link.created_by, title="Second", places=5, **PROLIFIC)
    arrived(other)
    assert Participation.objects.count() == 1 and User.objects.filter(email="").count() == 1
    link.refresh_from_db()
    assert link.places_used == 1
    # On a shared computer, the panel's id counts, not who is signed in.
    browser = arrived(link)
    page = browser.get(path_of(link) + query("another")).content.decode()
    assert "will be signed out" in page
    browser.post(path_of(link) + query("another"))
    assert browser.get("/").wsgi_request.user.participations.get().panel_participant == "another"


def test_a_url_without_the_participant_is_refused():
    link = make_link(**PROLIFIC)
    answer = Client().post(path_of(link))
    assert answer.status_code == 403 and "PROLIFIC_PID" in answer.content.decode()
    for panel in ("prolific", "connect", "sona"):  # as the page of the link shows it
        made = make_link(panel=panel)
        answer = Client().post(f"{path_of(made)}?{panels.query_of(made).replace('%', '%25')}")
        assert answer.status_code == 403 and "has not filled in" in answer.content.decode()
    link = make_link(panel="url", parameters={"participant": "worker"})
    assert Client().post(path_of(link) + "?worker=w1").status_code == 302


def jwt_of(claims: dict, key: str, algorithm: str = "HS256") -> str:
    def part(value: bytes) -> str:
        return base64.urlsafe_b64encode(value).decode().rstrip("=")

    body = f"{part(json.dumps({'alg': algorithm}).encode())}.{part(json.dumps(claims).encode())}"
    return f"{body}.{part(hmac.new(key.encode(), body.encode(), hashlib.sha256).digest())}"


def test_a_signed_link_takes_what_its_key_signs_and_nothing_else():
    link = make_link(panel="url", parameters={"participant": "pid", "session": "sid"}, signing_key="secret")
    right = panels.sign("secret", {"pid": "w1", "sid": "7"})
    refused = [
        "?pid=w1&sid=7",
        f"?pid=w2&sid=7&signature={right}",
        f"?pid=w1&sid=7&signature={panels.sign('guess', {'pid': 'w1', 'sid': '7'})}",
        "?token=a.b.c",
        f"?token={jwt_of({'pid': 'w1'}, 'guess')}",
        f"?token={jwt_of({'pid': 'w1'}, 'secret', 'none')}",
        f"?token={jwt_of({'pid': 'w1', 'exp': time.time() - 5}, 'secret')}",
        "?pid=w1&sid=7&signature=%C3%A9",
    ]
    for one in refused:
        answer = Client().post(path_of(link) + one)
        assert answer.status_code == 403 and "signature" in answer.content.decode(), one
    assert not Participation.objects.exists()
    assert Client().post(path_of(link) + f"?pid=w1&sid=7&signature={right}").status_code == 302
    token = jwt_of({"pid": "w9", "exp": time.time() + 60}, "secret")
    assert Client().post(path_of(link) + f"?pid=forged&token={token}").status_code == 302
    assert set(Participation.objects.values_list("panel_participant", flat=True)) == {"w1", "w9"}


def test_places_and_items_of_who_returns_or_times_out_go_back():
    link = make_link(places=2, minutes=30, **PROLIFIC)
    returns, dawdles = arrived(link, "one"), arrived(link, "two")
    for browser in (returns, dawdles):
        assert browser.get(f"/projects/{link.project.slug}/work/").context["state"] == "item"
    assert Client().post(path_of(link) + query("three")).status_code == 410
    assert "Stop and return" in returns.get(finish_of(link)).content.decode()
    returns.post(finish_of(link), {"do": "return"})
    assert "C0DE2" in returns.get(finish_of(link)).content.decode()
    assert Assignment.objects.filter(project=link.project, state="leased").count() == 1
    arrived(link, "three")
    # The time of the second is up when the next one asks.
    Participation.objects.filter(panel_participant="two").update(due_at=timezone.now())
    arrived(link, "four")
    assert "C0DE3" in dawdles.get(finish_of(link)).content.decode()
    assert Participation.objects.get(panel_participant="two").state == "timed-out"
    link.refresh_from_db()
    assert link.places_used == 2
    assert not Assignment.objects.filter(project=link.project, state="leased").exists()
    assert leaving.end_timed_out() == 0


@pytest.mark.parametrize("is_over", [False, True])
def test_who_comes_back_to_a_paused_study_can_finish_it_once_its_last_day_is_over(is_over):
    link = make_link(**PROLIFIC)
    browser, project = arrived(link), link.project
    answer(Participation.objects.get().user, project, 1)
    Project.objects.filter(pk=project.pk).update(last_day=timezone.localdate() - timedelta(days=is_over))
    managing.pause_project(project)
    work = browser.get(f"/projects/{project.slug}/work/").content.decode()
    assert ("Your part is done" in work, "The project is paused" in work) == (is_over, not is_over)
    browser.post(finish_of(link))
    assert ("C0DE1" in browser.get(finish_of(link)).content.decode()) == is_over


def test_an_answer_that_comes_after_the_time_is_kept():
    link = make_link(minutes=30)
    participation, _ = joining.join_as_new(link)
    person = Annotator(participation.user, link.project)
    payload = person.next()["payload"]
    leaving.end(participation, "timed-out")
    assert person.submit(payload, answers_to(payload)).json()["status"] == "saved"
    assert person.next()["outlook"] == "step"


def test_the_lead_says_how_it_ended_and_pays_by_a_table():
    link = make_link(**PROLIFIC)
    arrived(link, "=one")
    lead = client_of(link.created_by)
    found = Participation.objects.get()
    address = f"/projects/{link.project.slug}/study-links/{link.uuid}/"
    assert lead.post(f"{address}people/{found.uuid}/", {"outcome": "nothing"}).status_code == 400
    lead.post(f"{address}people/{found.uuid}/", {"outcome": "failed"})
    page = lead.get(address).content.decode()
    assert "Failed checks" in page and "PROLIFIC_PID={{%PROLIFIC_PID%}}" in page
    table = lead.get(f"{address}participants.csv").content.decode().splitlines()
    assert table[1].startswith("'=one,study9,s1,failed,")
    link.refresh_from_db()
    assert link.places_used == 1


def test_panels_are_chosen_on_the_page_and_their_key_is_not_shown():
    link = make_link()
    lead = client_of(link.created_by)
    address = f"/projects/{link.project.slug}/study-links/"
    values = {"title": "Own", "places": 5, "panel": "url", "ending_complete": "https://panel.example/?p={participant}"}
    assert "Name the parameter" in lead.post(address, values).content.decode()
    values |= {"parameter_participant": "pid", "signing_key": "very secret"}
    assert "begins with https" in lead.post(address, values | {"ending_failed": "javascript:x"}).content.decode()
    own = lead.post(address, values).url
    assert "very secret" not in lead.get(own).content.decode()
    made = link.project.study_links.get(title="Own")
    lead.post(own, values | {"signing_key": "", "title": "Ours"})
    made.refresh_from_db()
    assert (made.title, made.signing_key, made.parameters) == ("Ours", "very secret", {"participant": "pid"})
    participation, _ = joining.join_as_new(made, PanelIds("a b"))
    leaving.end(participation, "complete")
    assert panels.ending_of(participation) == ("", "https://panel.example/?p=a%20b")


def test_no_id_of_a_panel_is_in_an_export_or_a_release():
    link = make_link(group="crowd", **PROLIFIC)
    arrived(link, "secretpid", "secretsession")
    participation = Participation.objects.get()
    answer(participation.user, link.project, 2)
    leaving.end(participation, "complete")
    jobs = [
        releasing.start_export(link.project, link.created_by, ["jsonl"]),
        start_freezing(link.project, link.created_by, "").job,
    ]
    read = 0
    for job in jobs:
        assert lifecycle.run_here(job).state == "done"
        for artifact in Artifact.objects.filter(job=job):
            data = releasing.artifact_path(artifact).read_bytes()
            if zipfile.is_zipfile(io.BytesIO(data)):
                archive = zipfile.ZipFile(io.BytesIO(data))
                data = b"".join(archive.read(name) for name in archive.namelist())
            read += b"crowd" in data
            for secret in (b"secretpid", b"secretsession", b"study9", participation.user.username.encode()):
                assert secret not in data, artifact.file_name
    assert read >= 2


def test_a_researcher_plays_a_participant_and_comes_back():
    link = make_link(places=1, most_items=2, **PROLIFIC)
    lead = client_of(link.created_by)
    lead.post(f"/projects/{link.project.slug}/study-links/{link.uuid}/play/")
    played = Participation.objects.get()
    assert played.is_test and lead.get("/").wsgi_request.user == played.user
    assert "You play a participant" in lead.get(f"/projects/{link.project.slug}/").content.decode()
    assert count_annotators(link.project) == 0
    answer(played.user, link.project, 2)
    rater = Rater.objects.get(user=played.user)
    assert Annotation.objects.filter(rater=rater, is_surplus=True).count() == 2
    assert not Assignment.objects.filter(project=link.project, rater=rater).exists()
    lead.post(finish_of(link))
    assert "C0DE1" in lead.get(finish_of(link)).content.decode()
    batches = exported_items(link.project, Moment.now(link.project))
    assert not [one for batch in batches for item in batch for one in item.annotations]
    back = lead.post("/play/end/")
    assert back.url == f"/projects/{link.project.slug}/study-links/{link.uuid}/"
    assert lead.get("/").wsgi_request.user == link.created_by
    link.refresh_from_db()
    assert link.places_used == 0
    assert not played.user.memberships.get().is_active
    assert Client().post("/play/end/").status_code == 302
    assert lead.post("/play/end/").status_code == 404


@pytest.mark.django_db(transaction=True)
@pytest.mark.on_postgresql
def test_a_participant_in_two_tabs_gets_one_place():
    link = make_link(places=5, **PROLIFIC)
    got = []
    at_once(4, lambda: got.append(joining.join_as_new(fresh(link), PanelIds("p1"))[0].pk))
    link.refresh_from_db()
    assert len(got) == 4 and len(set(got)) == 1 and link.places_used == 1
    assert Membership.objects.filter(project=link.project, role="annotator").count() == 1

"""Who both researches and labels: what they were served of others' labels is noted and marks what they say
from then on."""

import threading

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from analysis.models import StoredReport
from analysis.releases.kept import start_freezing, start_public_page
from annotation.exports import releasing
from annotation.jobs import lifecycle
from annotation.models import Artifact, Job, LabelAccess, Membership, Project, Rater, Revision
from annotation.projects import tokens
from annotation.projects.raters import rater_of
from tests import factories
from tests import test_role_matrix as matrix
from tests.blindness.planted import marker
from tests.kinds import answer_all, make_kind_project
from tests.routes import all_routes
from tests.work.browser import Annotator, answers_to
from tests.world import make_world
from tests.world.labels import STUDIES

ROLES = (Membership.Role.ANNOTATOR, Membership.Role.RESEARCHER, Membership.Role.ADJUDICATOR)
SAID = (marker("comment"), marker("words"), marker("decision"))


def make_both(project) -> Annotator:
    """Somebody of all roles, who has done all that they can do as annotator."""
    person = Annotator(factories.join(project, factories.make_user("Both"), *ROLES), project)
    person.payloads = []
    while (given := person.next())["state"] == "item":
        person.payloads.append(given["payload"])
        assert person.submit(given["payload"]).status_code == 200
    return person


def make_shared(**fields) -> tuple[Project, Annotator]:
    project = make_kind_project("claim-evidence/six-way/1", overlap=3, **fields)
    answer_all(project, people=1, comment=marker("comment"))
    return project, make_both(project)


def look(person, path: str, status: int = 200):
    response = person.client.get(f"/projects/{person.project.slug}/{path}")
    assert response.status_code == status, response.content
    return response


def marks(person) -> list[bool | None]:
    rows = Revision.objects.filter(annotation__rater__user=person.user).order_by("pk")
    return list(rows.values_list("labels_seen", flat=True))


def change(person, place: int = 0) -> None:
    assert person.submit(person.payloads[place], answers_to(person.payloads[place], 1)).status_code == 200


@pytest.mark.django_db
def test_a_change_after_looking_at_an_item_is_marked_for_good():
    project, person = make_shared()
    n = len(person.payloads)
    assert marks(person) == [False] * n
    look(person, "")
    look(person, "items/")
    look(person, "exports/")
    change(person)
    assert marks(person) == [False] * (n + 1)  # they could have looked, and did not
    look(person, f"items/{person.payloads[0]['item']}/")
    assert LabelAccess.objects.get(project=project, user=person.user).channel == "page"
    change(person, 1)
    Membership.objects.filter(user=person.user, role="researcher").update(is_active=False)
    change(person, 0)
    assert marks(person) == [False] * (n + 1) + [True, True]
    other = Annotator(factories.join(project, factories.make_user()), project)
    other.submit(other.next()["payload"])
    assert marks(other) == [False]


@pytest.mark.django_db
def test_closing_looking_and_opening_again_marks_what_is_said_then():
    project = make_kind_project("claim-evidence/six-way/1", overlap=3)
    answer_all(project, people=1)
    person = Annotator(factories.join(project, factories.make_user("Both"), *ROLES), project)
    first = person.next()["payload"]
    look(person, f"items/{first['item']}/", 403)
    person.submit(first)
    assert not LabelAccess.objects.exists()

    def move(where):
        assert person.client.post(f"/projects/{project.slug}/state/", {"move": where}).status_code == 302

    move("close")
    rows = person.client.get(f"/api/v1/projects/{project.slug}/annotations/").json()["results"]
    assert {row["labels_seen"] for row in rows} == {False}
    assert LabelAccess.objects.get().channel == "api"
    move("open")
    person.submit(person.next()["payload"])
    assert marks(person) == [False, True]
    move("close")
    rows = person.client.get(f"/api/v1/projects/{project.slug}/annotations/").json()["results"]
    assert sorted(row["labels_seen"] for row in rows).count(True) == 1


@pytest.mark.django_db
def test_ones_own_labels_are_nobody_elses():
    project = make_kind_project("claim-evidence/six-way/1", overlap=1)
    person = make_both(project)
    item = person.payloads[0]["item"]
    look(person, f"items/{item}/")
    look(person, "items/?filter=disagreed")
    person.client.get(f"/api/v1/projects/{project.slug}/annotations/")
    assert not LabelAccess.objects.exists()


@pytest.mark.django_db
def test_they_are_told_before_they_open_labels():
    project, person = make_shared()
    before = look(person, "").content.decode()
    assert "are permanently marked" in before and not LabelAccess.objects.exists()
    look(person, f"items/{person.payloads[0]['item']}/")
    assert "You have seen others’ labels" in look(person, "").content.decode()
    client = Client()
    client.force_login(project.created_by)  # who does not label is told nothing
    assert "data-labels-seen" not in client.get(f"/projects/{project.slug}/").content.decode()


def compute_reports() -> None:
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        lifecycle.run_here(job)


@pytest.mark.django_db
@pytest.mark.parametrize("who", ["both", pytest.param("admin", marks=pytest.mark.slow)])
def test_whatever_serves_labels_notes_it_and_nothing_else_does(who, settings, tmp_path, monkeypatch):
    monkeypatch.setattr(STUDIES, 50)
    settings.ACCOUNT_RATE_LIMITS = False
    world = make_world()
    project = world.project
    Project.objects.filter(pk=project.pk).update(overlap=3)
    answer_all(project, people=1, comment=marker("comment"))
    for item in project.items.filter(assignments__state="open").distinct():
        item.assignments.filter(state="open").update(state="cancelled")
    person = world.people["admin"] if who == "admin" else factories.join(project, factories.make_user(), *ROLES)
    factories.make_suggestions(project, checker="other")
    project.assignments.filter(state="leased").update(state="cancelled", rater=None, lease_expires_at=None)
    project.decisions.create(
        unit=world.item.anchor, dimension="stance", label="supports", method="adjudicated",
        decided_by=rater_of(project, world.people["adjudicator"]), note=marker("decision"),
    )  # fmt: skip
    lifecycle.run_here(releasing.start_export(project, world.people["researcher"], ["jsonl"]))
    frozen = start_freezing(project, world.people["researcher"], "")
    lifecycle.run_here(frozen.job)
    lifecycle.run_here(start_public_page(frozen, world.people["researcher"], with_comments=False))
    client = Client()
    client.force_login(person)
    here = f"/projects/{project.slug}"

    def left_by(address: str, method: str = "get") -> set[str]:
        LabelAccess.objects.all().delete()
        response = getattr(client, method)(address)
        assert response.status_code in (200, 206), (address, response.status_code)
        body = b"".join(response).decode(errors="replace")
        served = set(LabelAccess.objects.filter(project=project, user=person).values_list("channel", flat=True))
        assert served or not any(mark in body for mark in SAID), address
        return served

    pages = [f"{here}/{name}/" for name in ("agreement", "comparison", "annotators", "alternative-annotator")]
    pages += [f"{here}/prevalence/", f"{here}/reports/spans/", f"{here}/reports/planning/"]
    difference = f"{here}/difference/"
    for address in (*pages, difference):
        assert left_by(address) == set(), f"{address} shows no figures yet"
    compute_reports()
    for address in pages:
        assert left_by(address) == {"page"}, address
    assert left_by(difference) == set()  # machines alone
    report = StoredReport.objects.get(name="agreement")
    drawn = next(one for one in StoredReport.objects.exclude(name="difference") if one.pictures)
    of_machines = StoredReport.objects.get(name="difference")
    artifacts = [f"/artifacts/{one}/" for one in Artifact.objects.exclude(sha256="").values_list("uuid", flat=True)]
    assert len(artifacts) >= 2
    item = f"{here}/items/{world.item.uuid}/"
    model = f"/training/{world.trained_model.uuid}/"
    served = {
        "page": [
            *(item, f"{item}?filter=undecided", f"{here}/items/?filter=disagreed", f"{here}/training/", model),
            *(f"{item}key/", f"{here}/adjudication/guidelines/"),
            *(f"{here}/comments/", f"{here}/comments/{world.thread.uuid}/"),
            # Members who label get its figures only once they have seen labels.
            *([f"{here}/reports/", f"{here}/progress/"] if who == "admin" else []),
            f"/releases/{frozen.uuid}/",
            *(f"{here}/rules/", f"{here}/rules/plain/", f"/rules/{world.rule_job.uuid}/"),
            f"{here}/behind/agreement/?report={report.parameters_hash}&figure=",
            f"{here}/behind/difference/?report={of_machines.parameters_hash}&figure=",
        ],
        "file": [
            *artifacts,
            f"/api/v1{here}/releases/{frozen.number}/file/",
            f"/releases/{frozen.uuid}/file/",
            f"{here}/tables/agreement/?report={report.parameters_hash}&format=csv",
            f"{here}/pictures/{drawn.name}/{next(iter(drawn.pictures))}.csv?report={drawn.parameters_hash}",
        ],
        "api": [
            *(
                f"/api/v1{here}/{one}/"
                for one in ("annotations", "decisions", "rules", "trainings", "reports/agreement")
            ),
            *([f"/api/v1{here}/progress/"] if who == "admin" else []),
            f"/api/v1/trainings/{world.trained_model.uuid}/",
        ],
    }
    for channel, addresses in served.items():
        for address in addresses:
            assert left_by(address) == {channel}, address
    assert left_by(artifacts[0], "head") == set()
    # A token is its owner: what a program reads, they have read.
    _, secret = tokens.make_token(person, "notebook", ["read"], 30)
    LabelAccess.objects.all().delete()
    by_token = Client(headers={"Authorization": f"Bearer {secret}"})
    assert by_token.get(f"/api/v1{here}/releases/{frozen.number}/file/").status_code == 200
    assert LabelAccess.objects.get(project=project).user == person
    # Everything else, as the role matrix lists it: a page with what others said has noted it; the rest notes nothing.
    noted, known = [], {address.partition("?")[0] for one in served.values() for address in one} | set(pages)
    for pattern in all_routes():
        address = matrix.address_of(pattern, world)
        if address in known or "logout" in address:
            continue
        LabelAccess.objects.all().delete()
        response = client.get(address)
        body = b"".join(response).decode(errors="replace")
        assert not any(mark in body for mark in SAID), address
        if LabelAccess.objects.filter(project=project, user=person).exists():
            noted.append(address)
    assert noted == []


@pytest.mark.on_postgresql
@pytest.mark.django_db(transaction=True)
def test_labels_served_just_before_an_answer_are_seen_by_it():
    """The answer waits for another one of the same person while the page with labels goes out."""
    project, person = make_shared()
    payload, held, given = person.payloads[0], threading.Event(), threading.Event()

    def hold():
        with transaction.atomic():
            list(Rater.objects.select_for_update().filter(project=project, user=person.user))
            held.set()
            given.wait(10)
        connection.close()

    def send():
        change(person)
        connection.close()

    holder, sender = threading.Thread(target=hold), threading.Thread(target=send)
    holder.start()
    assert held.wait(10)
    look(person, f"items/{payload['item']}/")
    sender.start()
    given.set()
    sender.join()
    holder.join()
    assert marks(person)[-1] is True and marks(person).count(True) == 1


@pytest.mark.django_db
def test_the_mark_costs_an_answer_no_query(monkeypatch, settings):
    settings.PREPARED_STATEMENTS = False  # or there is no text to look at
    # However slow this machine is, what is counted and looked for every few seconds comes before the first of the two.
    for name in ("queries.work.SHORTEST_SECONDS", "queries.work.LONGEST_SECONDS", "assigning.EXPIRY_CHECK_SECONDS"):
        monkeypatch.setattr(f"annotation.work.{name}", 3600.0)
    project, person = make_shared(n=4)
    counts = []
    change(person)  # from here on the item is as divided as it stays
    for _ in range(2):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            change(person)
        counts.append([query["sql"].split()[0] for query in queries])
        assert sum("labelaccess" in query["sql"] for query in queries) == 1
        assert all("labelaccess" not in query["sql"] or query["sql"].startswith("UPDATE") for query in queries)
        look(person, f"items/{person.payloads[0]['item']}/")
    assert counts[0] == counts[1]

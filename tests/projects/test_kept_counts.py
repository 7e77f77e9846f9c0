"""Numbers of large projects: workers count them, one at a time, and readers see the last with their age."""

import threading
from datetime import timedelta

import pytest
from django.db import connections, transaction
from django.utils import timezone

from annotation.jobs import counts
from annotation.models import Assignment, KeptCount, Project
from annotation.work.queries import work
from tests import factories
from tests.work.browser import Annotator
from tests.world import client_of, label_one, make_world

PAGES = ("", "members/", "settings/", "training/", "exports/", "releases/")


@pytest.fixture
def world(db, monkeypatch):
    monkeypatch.setattr(counts, "SMALL", 1)
    return make_world()


def is_due(**of_it) -> None:
    KeptCount.objects.filter(**of_it).update(due_at=timezone.now())


def count_all(world) -> None:
    for name, count in counts.COUNTS.items():
        owner = world.project if count.of is Project else world.dataset
        is_due(name=name, **{count.owner: owner})
        assert counts.count_anew(name, owner.pk), name


def page_of(client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200, address
    return response.content.decode()


def test_no_request_counts_what_is_large(world, monkeypatch):
    client, project = client_of(world.people["admin"]), world.project
    places = ["/", f"/datasets/{world.dataset.slug}/", *(f"/projects/{project.slug}/{page}" for page in PAGES)]
    monkeypatch.setattr(counts.Count, "count", lambda count, owners: pytest.fail(f"{count} of {owners}"))
    for place in places:
        page = page_of(client, place)
        assert place.endswith("/settings/") or "ounting …" in page or "being counted" in page, place
    page = page_of(client, f"/datasets/{world.dataset.slug}/")
    assert "No content yet" not in page and f"?dataset={world.dataset.pk}" in page  # a project can be made of it
    monkeypatch.undo()
    monkeypatch.setattr(counts, "SMALL", 1)
    count_all(world)
    monkeypatch.setattr(counts.Count, "count", lambda count, owners: pytest.fail(f"{count} of {owners}"))
    for place in places[1:]:  # home has projects that nobody counted
        page = page_of(client, place)
        assert "ounting …" not in page and (place.endswith("/settings/") or "Counted" in page), place


def test_what_readers_see_is_as_old_as_it_says(world, monkeypatch):
    asked = []
    monkeypatch.setattr(counts, "_send", lambda *message: asked.append(message))
    project, name = world.project, "progress"
    is_due(project=project)
    assert counts.count_anew(name, project.pk)
    before = counts.counted(name, project)
    assert before.values == work.count_progress([project])[project.pk]
    label_one(project, factories.join(project, factories.make_user("late"), "annotator"))
    assert counts.counted(name, project) == before
    assert not counts.count_anew(name, project.pk), "it is not due yet"
    counts.changed(project_id=project.pk)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(transaction, "on_commit", lambda function: function())
        for _ in range(3):
            assert counts.counted(name, project) == before
    assert asked == [(name, project.pk)], "of many readers one asks"
    assert counts.count_anew(name, project.pk)
    after = counts.counted(name, project)
    assert after.values["done"] == before.values["done"] + 1 and after.counted_at > before.counted_at
    assert after.values == work.count_progress([project])[project.pk]


def test_what_follows_from_labels_is_counted_again_once_they_change(world, monkeypatch):
    project, counted = world.project, []
    count = counts.Count.count
    monkeypatch.setattr(counts.Count, "count", lambda one, owners: counted.append(one) or count(one, owners))
    for expected in (1, 1):
        is_due(project=project)
        assert counts.count_anew("release", project.pk) and len(counted) == expected
    answers = counts.counted("release", project).values["answers"]
    label_one(project, factories.join(project, factories.make_user("late"), "annotator"))
    is_due(project=project)
    assert counts.count_anew("release", project.pk) and len(counted) == 2
    assert counts.counted("release", project).values["answers"] == answers + 1


def test_a_worker_that_died_is_replaced(world, monkeypatch):
    project = world.project

    def die(count, owners):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(counts.Count, "count", die)
        with pytest.raises(KeyboardInterrupt):
            counts.count_anew("members", project.pk)
    assert not counts.count_anew("members", project.pk), "another may be at it"
    KeptCount.objects.filter(project=project).update(held_until=timezone.now() - timedelta(seconds=1))
    assert counts.count_anew("members", project.pk)


def test_what_became_small_is_counted_when_it_is_asked_for(world, monkeypatch):
    count_all(world)
    monkeypatch.setattr(counts, "SMALL", 100)
    assert not counts.count_anew("progress", world.project.pk)
    assert counts.counted("progress", world.project).counted_at is None


@pytest.mark.on_postgresql
@pytest.mark.django_db(transaction=True)
def test_numbers_equal_a_recount_after_people_and_killed_transactions(monkeypatch):
    """Eight people answer, some of their transactions are killed, and workers count meanwhile, never two at once."""
    monkeypatch.setattr(counts, "SMALL", 1)
    monkeypatch.setattr(counts, "SHORTEST_WAIT", timedelta(0))
    monkeypatch.setattr(counts, "COUNTING_SHARE", 1e9)
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 20)
    project = factories.make_project(dataset, overlap=3)
    people = [factories.join(project, factories.make_user(f"p{n}"), "annotator") for n in range(8)]
    at_once, most, errors = [], [], []
    count = work.count_progress

    def watched(projects):
        at_once.append(1)
        most.append(len(at_once))
        found = count(projects)
        at_once.pop()
        return found

    monkeypatch.setattr(work, "count_progress", watched)

    def answer(person) -> None:
        browser = Annotator(person, project)
        for turn in range(4):
            payload = browser.next().get("payload")
            if payload and turn != 2:
                browser.submit(payload)
            elif payload:  # the process is killed before it commits
                with transaction.atomic():
                    Assignment.objects.filter(uuid=payload["assignment"]).update(is_flagged=True)
                    Project.objects.filter(pk=project.pk).update(title="Never")
                    transaction.set_rollback(True)

    def count_on(_) -> None:
        for _ in range(10):
            counts.count_anew("progress", project.pk)

    def run(function, person) -> None:
        try:
            function(person)
        except Exception as error:
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(answer, person)) for person in people]
    threads += [threading.Thread(target=run, args=(count_on, None)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not errors and max(most) == 1
    counts.changed(project_id=project.pk)
    assert counts.count_anew("progress", project.pk)
    kept = counts.counted("progress", project).values
    assert kept == count([project])[project.pk]
    assert kept["done"] == Assignment.objects.filter(project=project, state="done").count() > 8

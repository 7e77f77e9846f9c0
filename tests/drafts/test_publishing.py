"""Accepted drafts become content and items: keys, repeats, duplicates, judged sources, killed workers."""

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.jobs import lifecycle
from annotation.machines.drafts import publishing, reviewing
from annotation.models import Assignment, AtomicClaim, Chunk, ContentBatch, Draft, Item, Membership, Response, Triplet
from annotation.projects.draft_kinds import drafted_for
from annotation.work import assigning
from annotation.work.queries import pages
from tests import factories
from tests.world import label_one
from tests.world.drafts import (
    ANSWERS,
    ASPECTS,
    CLAIMS,
    RELEVANCE,
    TRIPLETS,
    drafts,
    extract,
    items,
    make_drafting_project,
    publish,
    script,
    triplet,
)

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]


class Killed(BaseException):
    """In place of SIGKILL: unlike SIGTERM it gives no lease back."""


def accept_all(project) -> None:
    for draft in Draft.objects.filter(project=project, state="proposed"):
        kind = drafted_for(project.type)
        reviewing.accept(draft, kind, project.created_by, draft.parts, reviewing.seen(draft))


def add(project, response, *words) -> Draft:
    parts = dict(zip(("head", "relation", "tail"), words, strict=True))
    return reviewing.add(project, drafted_for(project.type), response, project.created_by, parts)


def triplets(project) -> dict[str, tuple[str, str, str]]:
    rows = Triplet.objects.published().filter(dataset=project.dataset).order_by("pk")
    return {row.key: (row.head, row.relation, row.tail) for row in rows}


@pytest.fixture
def project(monkeypatch):
    """One answer with two proposals, one with one, one with none."""
    script(
        monkeypatch,
        {
            ANSWERS[0]: [triplet("harbour", "froze in", "1963", 0, 26), ("ferries", "stayed in", "port")],
            ANSWERS[1]: [("a", "b", "c")],
        },
    )
    project = make_drafting_project(TRIPLETS, annotators=[factories.make_user()], overlap=1)
    extract(project)
    return project


def test_accepted_drafts_become_triplets_and_open_work(project):
    first, second, third = drafts(project)
    kind, user = drafted_for(project.type), project.created_by
    reviewing.accept(first, kind, user, first.parts, "proposed")
    reviewing.drop(second, user, "proposed")
    reviewing.accept(third, kind, user, {"head": "lighthouse", "relation": "built", "tail": "1856"}, "proposed")
    assert not Assignment.objects.exists() and items(project)["q0/r0"].unit_count == 0
    job = publish(project)
    assert job.state == "done", job.message
    assert triplets(project) == {
        "q0/r0/t0": ("harbour", "froze in", "1963"),
        "q1/r0/t0": ("lighthouse", "built", "1856"),
    }
    made = items(project)
    assert {key: (item.unit_count, item.planned) for key, item in made.items()} == {
        "q0/r0": (1, 1),
        "q1/r0": (1, 1),
        "q2/r0": (0, 0),
    }
    assert Assignment.objects.filter(state="open").count() == 2
    assert [draft.published_key for draft in drafts(project)] == ["q0/r0/t0", "", "q1/r0/t0"]
    run = Draft.objects.get(pk=first.pk).run
    assert Triplet.objects.get(key="q1/r0/t0").metadata == {
        "draft": str(third.uuid),
        "drafted_by": "fake-extractor 1",
        "extraction": str(run.uuid),
        "edited": True,
    }
    said = Triplet.objects.get(key="q0/r0/t0")
    assert said.metadata["stated_in"] == {"start": 0, "end": 26, "quote": "The harbour froze in 1963."}
    assert (job.result["noted"], job.result["not_published"], job.result["items"]) == (2, 0, 2)


def test_publishing_again_changes_nothing(project):
    accept_all(project)
    publish(project)
    before = triplets(project)
    with pytest.raises(publishing.PublishingProblem, match="No accepted draft waits"):
        publishing.start(project.created_by, project)
    assert triplets(project) == before and Triplet.objects.count() == 3


def test_what_says_the_same_is_published_once(project):
    accept_all(project)
    response = Response.objects.get(key="q0/r0")
    again = add(project, response, "HARBOUR", "froze  in", "1963")
    publish(project)
    again.refresh_from_db()
    assert again.published_key == "q0/r0/t0" and len(triplets(project)) == 3
    late = add(project, response, "Ferries", "stayed in", "port")
    job = publish(project)
    late.refresh_from_db()
    assert (job.state, late.published_key) == ("done", "q0/r0/t1")
    assert len(triplets(project)) == Triplet.objects.count() == 3


def test_pieces_of_a_file_keep_their_keys_and_new_ones_come_after_them():
    dataset = factories.make_dataset()
    [anchor] = factories.make_responses_with_triplets(dataset, 1, triplets=2)
    project = factories.make_project(dataset, TRIPLETS)
    add(project, anchor.response, "one", "more", "thing")
    assert publish(project).state == "done"
    assert triplets(project)[f"{anchor.key}/t2"] == ("one", "more", "thing")
    rows = Triplet.objects.published().filter(dataset=dataset)
    assert sorted(rows.values_list("index", flat=True)) == [0, 1, 2]
    assert items(project)[anchor.key].unit_count == 3  # nobody had it before them, so its page has all three now


def test_a_judged_source_is_refused_until_somebody_says_what_becomes_of_it(project):
    accept_all(project)
    publish(project)
    annotator = project.memberships.get(role=Membership.Role.ANNOTATOR).user
    label_one(project, annotator)
    judged = Item.objects.get(assignments__state="done")
    response = judged.anchor.response
    late = add(project, response, "one", "more", "thing")
    job = publish(project)
    assert job.state == "failed" and "1 changed row already judged; nothing was published" in job.message
    assert late.uuid and not Triplet.objects.filter(head="one").exists()

    kept = publish(project, "keep")
    assert (kept.state, kept.result["not_published"]) == ("done", 1)
    assert not Triplet.objects.filter(head="one").exists()

    job = publish(project, "supersede")
    assert job.state == "done", job.message
    late.refresh_from_db()
    judged.refresh_from_db()
    newest = Response.objects.published().get(key=response.key)
    assert late.published_key and late.response == newest and newest.version == 2
    assert judged.state == "retired" and judged.unit_count == (2 if response.key == "q0/r0" else 1)
    assert Triplet.objects.published().filter(response=newest).count() == judged.unit_count + 1
    assert items(project)[response.key].unit_count == judged.unit_count + 1
    assert Draft.objects.filter(response=response).count() == 0  # its drafts went with it


def test_drafts_of_a_text_that_has_been_replaced_are_left_out(project):
    accept_all(project)
    old = Response.objects.get(key="q0/r0")
    Response.objects.filter(pk=old.pk).update(superseded_at=timezone.now())
    Response.objects.create(
        dataset=old.dataset, batch=old.batch, key=old.key, version=2, question=old.question, text="Another text."
    )
    job = publish(project)
    assert (job.state, job.result["left_out"], job.result["not_published"]) == ("done", 2, 2)
    assert list(triplets(project)) == ["q1/r0/t0"]


def test_a_key_that_another_source_has_is_a_problem_and_publishes_nothing(project):
    accept_all(project)
    elsewhere = Response.objects.get(key="q2/r0")
    Triplet.objects.create(dataset=project.dataset, batch=elsewhere.batch, key="q0/r0/t0", response=elsewhere, index=0)
    job = publish(project)
    assert job.state == "failed" and job.result["errors"][0]["reason"].startswith("is the key of another triplet")
    assert not any(draft.published_key for draft in drafts(project))
    assert Triplet.objects.count() == 1


def test_two_at_once_get_one_job(project):
    accept_all(project)
    publishing.start(project.created_by, project, wake_workers=False)
    with pytest.raises(publishing.PublishingProblem, match="being published already"):
        publishing.start(project.created_by, project, wake_workers=False)
    with pytest.raises(reviewing.ReviewError, match="being published"):
        add(project, Response.objects.first(), "a", "b", "c")


def test_a_worker_that_dies_between_staging_and_the_end_loses_nothing(project, monkeypatch):
    accept_all(project)
    job = publishing.start(project.created_by, project, wake_workers=False)
    killed = lifecycle.claim_chunk(job.pk)

    def die(*_):
        raise Killed  # as from outside: no handler of the job hears of it

    with monkeypatch.context() as patched:
        patched.setattr(publishing, "found_in", die)
        with pytest.raises(Killed):
            publishing.HANDLER.run_chunk(killed.chunk, killed)
    assert ContentBatch.objects.get(job=job).state == "staged" and Triplet.objects.count() == 3
    assert not triplets(project)
    Chunk.objects.filter(pk=killed.chunk.pk).update(lease_expires_at=timezone.now())
    with monkeypatch.context() as patched:
        patched.setattr(publishing, "make_items", die)
        with pytest.raises(Killed):
            lifecycle.run_here(job)
    assert len(triplets(project)) == 3 and not Assignment.objects.exists()
    job.chunks.filter(index=lifecycle.FINISH_INDEX).update(lease_expires_at=timezone.now())
    job = lifecycle.run_here(job)
    assert job.state == "done", job.message
    assert Triplet.objects.count() == 3 and Assignment.objects.count() == 2
    assert all(draft.published_key for draft in drafts(project))


def test_what_was_published_and_not_noted_is_not_published_twice(project, monkeypatch):
    accept_all(project)
    job = publishing.start(project.created_by, project, wake_workers=False)

    def die(*_):
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(publishing, "_note", die)
        with pytest.raises(Killed):
            lifecycle.run_here(job)
    assert len(triplets(project)) == 3 and not any(draft.published_key for draft in drafts(project))
    job.chunks.filter(index=lifecycle.FINISH_INDEX).update(lease_expires_at=timezone.now())
    lifecycle.request_cancel(job)
    job = publish(project)
    assert (job.state, job.result["noted"]) == ("done", 3), job.message
    assert len(triplets(project)) == Triplet.objects.count() == 3
    assert all(draft.published_key for draft in drafts(project)) and Assignment.objects.count() == 2


def test_a_cancelled_publishing_can_be_started_anew(project):
    accept_all(project)
    job = publishing.start(project.created_by, project, wake_workers=False)
    lifecycle.work_on_chunk(job, lifecycle.claim_chunk(job.pk))
    lifecycle.request_cancel(job)
    job.refresh_from_db()
    assert job.state == "cancelled" and not Triplet.objects.exists()
    assert publish(project).state == "done" and Triplet.objects.count() == 3


@pytest.mark.parametrize(
    ("identifier", "keys", "with_work"),
    [
        (CLAIMS, ["q0/r0/c0", "q0/r0/c1", "q0/r0/c2"], ["q0/r0/c0", "q0/r0/c1", "q0/r0/c2"]),
        (ASPECTS, ["q0/a0", "q0/a1"], ["q0/r0"]),
        (RELEVANCE, ["q0/a0", "q0/a1"], ["q0"]),
    ],
)
def test_every_kind_of_pieces_becomes_work(identifier, keys, with_work):
    project = make_drafting_project(identifier, ANSWERS[:1], annotators=[factories.make_user()])
    extract(project)
    accept_all(project)
    assert publish(project).state == "done"
    made = drafted_for(project.type).model.objects.published().order_by("pk")
    assert list(made.values_list("key", flat=True)) == keys
    assert [key for key, item in items(project).items() if item.planned] == with_work
    taken = assigning.take(project, project.memberships.get(role=Membership.Role.ANNOTATOR).user)
    assert len(pages.load_page(taken.item_id, project.type).unit_keys) == taken.item.unit_count >= 1
    if identifier == CLAIMS:
        assert AtomicClaim.objects.first().text == "The harbour froze in 1963."


def test_drafts_published_into_a_set_alter_nothing_that_is_judged_without_it(project, client):
    accept_all(project)
    publish(project)
    label_one(project, Membership.objects.get(project=project, role="annotator").user)
    judged = {key: (item.pk, item.unit_count) for key, item in items(project).items()}
    extract(project, everything=True, again=True)
    accept_all(project)
    client.force_login(project.created_by)
    page = client.get(reverse("project_drafts", args=[project.slug])).content.decode()
    assert 'name="piece_set"' in page and "This project judges the unnamed set" in page
    address = reverse("drafts_publish", args=[project.slug])
    client.post(address, {"piece_set": "a/b", "on_judged": "refuse"})
    assert not project.jobs.filter(kind="drafts", state="queued").exists()
    client.post(address, {"piece_set": "scripted", "on_judged": "refuse"})
    job = lifecycle.run_here(project.jobs.filter(kind="drafts").latest("pk"))
    assert (job.state, job.result["noted"]) == ("done", 3), job.message
    assert {key: (item.pk, item.unit_count) for key, item in items(project).items()} == judged
    in_set = Triplet.objects.published().filter(piece_set="scripted").order_by("pk")
    assert list(in_set.values_list("key", flat=True)) == ["q0/r0/scripted:t0", "q0/r0/scripted:t1", "q1/r0/scripted:t0"]
    beside = factories.make_project(project.dataset, TRIPLETS, piece_set="scripted")
    assert set(beside.items.values_list("unit_count", flat=True)) == {2, 1, 0}

"""Drafts in the browser: the whole way from a data set without pieces to labels, and what one page of it does."""

import html
import re

import pytest
from django.test import Client
from django.urls import reverse

from annotation.jobs import lifecycle
from annotation.machines.drafts import reviewing
from annotation.machines.runs import suggesting
from annotation.models import Assignment, DatasetGrant, Draft, ExtractionRun, Job, Membership, Project, Response
from annotation.projects.draft_kinds import drafted_for
from tests import factories
from tests.world import client_of, label_one
from tests.world.drafts import (
    ANSWERS,
    CLAIMS,
    TRIPLETS,
    drafts,
    extract,
    make_answers,
    make_drafting_project,
    publish,
    script,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(monkeypatch):
    script(
        monkeypatch,
        {
            ANSWERS[0]: [("harbour", "froze in", "1963"), ("ferries", "stayed in", "port")],
            ANSWERS[1]: [("a", "b", "c")],
        },
    )
    project = make_drafting_project(TRIPLETS, slug="answers")
    extract(project)
    return project


@pytest.fixture
def client(project):
    return client_of(project.created_by)


def text_of(response) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode())).split())


def page_of(draft: Draft) -> str:
    return reverse("draft_source", args=[draft.project.slug, draft.response_id])


def decide(client: Client, draft: Draft, act: str, *, htmx: bool = False, **changed):
    """As the row that was shown sends it."""
    given = {"seen": reviewing.seen(draft), "act": act, **(draft.edited or draft.parts), **changed}
    headers = {"HX-Request": "true"} if htmx else {}
    return client.post(reverse("draft_decide", args=[draft.project.slug, draft.uuid]), given, headers=headers)


@pytest.mark.parametrize("identifier", [TRIPLETS, CLAIMS])
def test_the_whole_way_from_answers_to_labels_and_checkers(identifier):
    researcher = factories.make_user(is_staff=True)
    dataset = factories.make_dataset(researcher)
    make_answers(dataset, ANSWERS[:2])
    client = client_of(researcher)
    form = {"title": "Harbours", "dataset": dataset.pk, "task_type": identifier, "overlap": 1, "multiple_percent": 100}
    form |= {"order": "random", "prefill": "off", "minimum_seconds": 0, "lease_minutes": 60}
    made = client.post("/projects/new/", form)
    assert made.status_code == 302, text_of(made)
    project = Project.objects.get()
    kind = drafted_for(project.type)
    lifecycle.run_here(project.jobs.get(kind=Job.Kind.ITEMS))
    overview = client.get(made["Location"])
    assert f"Extract {kind.several} first : there is nothing to judge yet" in text_of(overview)
    listing = f"/projects/{project.slug}/drafts/"
    assert f'href="{listing}"' in overview.content.decode()
    assert "No drafts yet" in text_of(client.get(listing))

    started = client.post(f"{listing}extract/", {"extractor": "fake-extractor", "fake-extractor-seed": 1, **OTHERS})
    run = ExtractionRun.objects.get()
    assert started["Location"] == f"/extractions/{run.uuid}/"
    lifecycle.run_here(run.job)
    assert "Review its drafts" in text_of(client.get(started["Location"]))
    first, *others = drafts(project)
    assert f"Review drafts of {kind.several} : 2 responses left" in text_of(client.get(made["Location"]))
    assert decide(client, first, "drop").status_code == 302
    for draft in others:
        decide(client, draft, "accept", **{kind.parts[0]: "The harbour master"})
    assert "undefined" not in text_of(client.get(started["Location"]))
    assert not Assignment.objects.exists()

    assert client.post(f"{listing}publish/", {"on_judged": "refuse"})["Location"] == listing
    job = Job.objects.get(kind=Job.Kind.DRAFTS)
    assert 'hx-get="/jobs/' in client.get(listing).content.decode()
    assert lifecycle.run_here(job).state == "done"
    assert f"{len(others)} published" in text_of(client.get(listing)).replace("published ", f"{len(others)} published")
    annotator = factories.join(project, factories.make_user(), Membership.Role.ANNOTATOR)
    assert Assignment.objects.filter(project=project, state="open").exists()
    if identifier == TRIPLETS:
        label_one(project, annotator)
        lexical = suggesting.start_run(project, researcher, "lexical", wake_workers=False)
        assert lifecycle.run_here(lexical.job).state == "done" and lexical.suggestions.exists()


OTHERS = {
    "fake-extractor-most": 10,
    "fake-extractor-omitted_share": 0,
    "fake-extractor-failure_share": 0,
    "fake-extractor-permanent_failure_share": 0,
}


def test_a_data_set_without_answers_makes_no_such_project():
    researcher = factories.make_user(is_staff=True)
    dataset = factories.make_dataset(researcher)
    factories.make_claim_evidence(dataset, 1)
    form = {"title": "T", "dataset": dataset.pk, "task_type": CLAIMS}
    page = client_of(researcher).post("/projects/new/", form)
    assert "has nothing to judge in this task (no atomic claim)" in text_of(page)


def test_a_row_is_accepted_edited_dropped_and_put_back(project, client):
    first, second, _ = drafts(project)
    page = client.get(page_of(first))
    assert "2 of 2 to decide" in text_of(page)
    answer = decide(client, first, "accept", htmx=True, head="The harbour")
    assert "accepted, edited" in text_of(answer) and "proposed: harbour" in text_of(answer)
    assert "1 of 2 to decide" in text_of(answer)
    first.refresh_from_db()
    assert first.parts["head"] == "harbour" and first.edited["head"] == "The harbour"
    assert (first.state, first.reviewed_by) == ("accepted", project.created_by)
    decide(client, first, "accept", head="harbour")
    first.refresh_from_db()
    assert first.edited is None  # as it was proposed again
    decide(client, first, "undo")
    decide(client, second, "drop")
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.state, first.reviewed_at, second.state) == ("proposed", None, "dropped")
    assert "is empty" in text_of(decide(client, first, "accept", htmx=True, head=" ", relation="", tail="\n"))
    assert "at most 10,000 are stored" in text_of(decide(client, first, "accept", htmx=True, head="x" * 10_001))
    assert decide(client, first, "eat").status_code == 400


def test_the_last_write_does_not_silently_win(project, client):
    draft, *_ = drafts(project)
    other = factories.join(project, factories.make_user("Ada"), Membership.Role.RESEARCHER)
    DatasetGrant.objects.create(dataset=project.dataset, user=other, can_edit=True)
    assert decide(client_of(other), draft, "drop").status_code == 302
    late = decide(client, draft, "accept", htmx=True, head="mine")
    assert "This was dropped by" in text_of(late) and "Nothing was stored" in text_of(late)
    draft.refresh_from_db()
    assert (draft.state, draft.edited, draft.reviewed_by) == ("dropped", None, other)
    plain = client.post(
        reverse("draft_decide", args=[project.slug, draft.uuid]), {"seen": "proposed", "act": "accept", "head": "m"}
    )
    assert "This was dropped by" in text_of(client.get(plain["Location"]))
    # What the page shows now can be decided on.
    assert decide(client, draft, "undo").status_code == 302
    draft.refresh_from_db()
    assert draft.state == "proposed"


def test_all_that_is_left_is_accepted_with_the_words_of_the_page(project, client):
    first, second, other = drafts(project)
    decide(client, first, "drop")
    where = reverse("drafts_accept", args=[project.slug, first.response_id])
    both = {"draft": [str(second.uuid)], "head": ["Two ferries"], "relation": ["stayed in"], "tail": ["port"]}
    answer = client.post(where, both, headers={"HX-Request": "true"})
    assert "All 2 decided" in text_of(answer)
    states = [(draft.state, (draft.edited or {}).get("head")) for draft in drafts(project)]
    assert states == [("dropped", None), ("accepted", "Two ferries"), ("proposed", None)]
    client.post(reverse("drafts_accept", args=[project.slug, other.response_id]))
    other.refresh_from_db()
    assert (other.state, other.edited) == ("accepted", None)


def test_what_nobody_decided_about_is_accepted_at_once_and_decisions_stay(project, client):
    first, second, other = drafts(project)
    decide(client, first, "drop")
    run = first.run
    assert "Accept all 2 undecided as proposed" in text_of(client.get(f"/extractions/{run.uuid}/"))
    address = reverse("drafts_accept_undecided", args=[project.slug])
    assert client.post(address, {"run": "0" * 32}).status_code == 404
    assert "2 accepted as proposed" in text_of(client.post(address, {"run": run.uuid}, follow=True))
    assert [draft.state for draft in drafts(project)] == ["dropped", "accepted", "accepted"]
    assert "undecided as proposed" not in text_of(client.get(f"/extractions/{run.uuid}/"))


def test_one_is_added_by_hand_and_removed_again(project, client):
    response = Response.objects.get(key="q2/r0")
    where = reverse("draft_add", args=[project.slug, response.pk])
    refused = client.post(where, {"head": "", "relation": "", "tail": " "}, headers={"HX-Request": "true"})
    assert "This triplet is empty" in text_of(refused) and "<li" not in refused.content.decode()
    client.post(where, {"head": "Anna", "relation": "kept", "tail": "the light"})
    draft = Draft.objects.get(run=None)
    assert (draft.state, draft.reviewed_by) == ("accepted", project.created_by)
    assert "by hand" in text_of(client.get(page_of(draft)))
    decide(client, draft, "drop", htmx=True)
    assert not Draft.objects.filter(run=None).exists()


def test_what_is_published_stays_as_it_is(project, client):
    first, *_ = drafts(project)
    decide(client, first, "accept")
    publish(project)
    first.refresh_from_db()
    assert "This is published" in text_of(decide(client, first, "undo", htmx=True))
    assert "q0/r0/t0" in text_of(client.get(page_of(first)))


def test_where_a_proposal_comes_from_is_marked_and_quoted(monkeypatch):
    from tests.world.drafts import triplet

    ferries = ANSWERS[0].index("Ferries")
    script(
        monkeypatch,
        {ANSWERS[0]: [triplet("harbour", "froze in", "1963", 0, 26), triplet("x", "y", "z", ferries, len(ANSWERS[0]))]},
    )
    project = make_drafting_project(TRIPLETS, ANSWERS[:1])
    extract(project)
    page = client_of(project.created_by).get(page_of(drafts(project)[0])).content.decode()
    assert '<mark data-drafts="1">The harbour froze in 1963.</mark>' in page
    assert f'<mark data-drafts="2">{ANSWERS[0][ferries:]}</mark>' in page
    assert page.count("from: <q") == 2


def test_the_list_is_filtered_by_its_address(project, client):
    def keys(query: str) -> list[str]:
        return re.findall(
            r"/drafts/of/\d+/\">([^<]+)</a>", client.get(f"/projects/answers/drafts/?{query}").content.decode()
        )

    first, second, other = drafts(project)
    assert keys("") == ["q0/r0", "q1/r0", "q2/r0"]
    assert keys("state=to-review") == ["q0/r0", "q1/r0"] and keys("state=empty") == ["q2/r0"]
    decide(client, other, "accept")
    assert keys("state=to-review") == ["q0/r0"]
    assert keys("state=reviewed") == keys("state=to-publish") == ["q1/r0"]
    publish(project)
    assert keys("state=published") == ["q1/r0"] and keys("state=to-publish") == []
    run = ExtractionRun.objects.get()
    run.sources.filter(response__key="q2/r0").update(reason="refused")
    assert keys(f"run={run.uuid}&failed=1") == keys("failed=1") == ["q2/r0"]
    assert "No matches" in text_of(client.get("/projects/answers/drafts/?failed=1&state=published"))


def test_a_refused_publishing_says_why_on_the_page(project, client):
    for draft in drafts(project):
        decide(client, draft, "accept")
    publish(project)
    label_one(project, factories.join(project, factories.make_user(), Membership.Role.ANNOTATOR))
    judged = Assignment.objects.filter(state="done").get().item.anchor.response
    client.post(reverse("draft_add", args=[project.slug, judged.pk]), {"head": "one", "relation": "more", "tail": "x"})
    client.post("/projects/answers/drafts/publish/", {"on_judged": "refuse"})
    lifecycle.run_here(Job.objects.filter(kind=Job.Kind.DRAFTS).latest("pk"))
    said = text_of(client.get("/projects/answers/drafts/"))
    assert "already judged; nothing was published" in said and f"Affected: {judged.key}" in said


def test_who_may_not_change_the_data_set_reviews_nothing(project):
    reader = factories.join(project, factories.make_user(), Membership.Role.RESEARCHER)
    client, draft = client_of(reader), drafts(project)[0]
    for address in ("/projects/answers/drafts/", page_of(draft), f"/extractions/{draft.run.uuid}/"):
        assert client.get(address).status_code == 403
    assert decide(client, draft, "accept").status_code == 403
    assert "drafts" not in client.get("/projects/answers/").content.decode()
    DatasetGrant.objects.create(dataset=project.dataset, user=reader, can_edit=True)
    assert client.get("/projects/answers/drafts/").status_code == 200


def test_projects_that_draft_nothing_have_no_such_pages():
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 1)
    project = factories.make_project(dataset)
    assert client_of(dataset.owner).get(f"/projects/{project.slug}/drafts/").status_code == 404


def test_the_same_run_is_offered_instead_of_a_second_one(project, client):
    run = ExtractionRun.objects.get()
    form = {"extractor": "fake-extractor", "fake-extractor-seed": 0, **OTHERS}
    page = client.post("/projects/answers/drafts/extract/", form)
    assert "The same run already exists" in text_of(page) and str(run.uuid) in page.content.decode()
    page = client.post("/projects/answers/drafts/extract/", form | {"fake-extractor-most": 0})
    assert page.status_code == 200 and ExtractionRun.objects.count() == 1

"""Passages of a run become evidence and pages of work: what is made, what is left out, what is never altered."""

import hashlib
import json

import pytest
from django.core.management import call_command

from annotation.exports.releasing import write_export
from annotation.jobs import lifecycle
from annotation.machines.kinds import kind_of
from annotation.machines.retrieval import index, publishing
from annotation.machines.retrieval.publishing import PublishingProblem, passage_key
from annotation.models import ContentBatch, Evidence, Item, Question
from tests.factories import make_items, make_project, make_user
from tests.retrieval.harbour import CLAIMS, EVIDENCE, WHOLE, bring_in, corpus, harbour, search
from tests.world import client_of, label_one

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.on_postgresql]


@pytest.fixture(autouse=True)
def no_index():
    index.forget()


def publish(run, top=2):
    job = lifecycle.run_here(publishing.start(run.created_by, run, top, wake_workers=False))
    assert job.state == "done", job.message
    return job


def evidence_of(run, **only) -> dict[str, Evidence]:
    found = Evidence.objects.published().filter(dataset=run.project.dataset, **only).order_by("pk")
    return {each.key: each for each in found}


@pytest.fixture
def without_evidence(tmp_path, settings):
    """Claims alone, and a corpus in which something is said about them."""
    corpus(tmp_path, settings)
    return search(harbour(tmp_path, evidence=()), corpus="papers", top=3, parameters=WHOLE)


def test_passages_become_evidence_with_where_they_come_from_and_pages_of_work(without_evidence):
    run = without_evidence
    assert Item.objects.filter(project=run.project).count() == 0
    job = publish(run, top=1)
    made = evidence_of(run)
    assert list(made) == [f"{claim}/run-{run.uuid.hex[:12]}/1" for claim in CLAIMS]
    light = made[passage_key("light", run, 1)]
    [_, _, words, _] = EVIDENCE[4]
    assert (light.text, light.rank, light.is_gold, light.url) == (words, 1, None, "")
    passage = run.rankings.get(claim__key="light").passages.get(rank=1)
    assert light.metadata == {
        "retrieval": {
            "run": str(run.uuid),
            "corpus": "papers",
            "score": passage.score,
            "scores": {"bm25": passage.score},
            "document": "light/a",
            "start": 0,
            "end": len(words),
            "sha256": hashlib.sha256(words.encode()).hexdigest(),
            "retrieved_at": run.created_at.isoformat(timespec="seconds").replace("+00:00", "Z"),
        }
    }
    assert job.result["new_evidence"] == job.result["new_items"] == 3
    items = Item.objects.filter(project=run.project)
    assert set(items.values_list("key", flat=True)) == set(made) and all(
        each.assignments.count() == 1 for each in items
    )


def test_publishing_again_changes_nothing_and_publishing_more_only_adds(without_evidence):
    run = without_evidence
    publish(run, top=1)
    before = {key: (each.pk, each.version) for key, each in evidence_of(run).items()}
    again = publish(run, top=1)
    assert (again.result["new_evidence"], again.result["new_items"]) == (0, 0)
    assert again.result["content"] == {"evidence": {"unchanged": 3, "created": 0, "changed": 0}}
    ranked = run.rankings.filter(passages__rank=2).count()
    more = publish(run, top=2)
    assert more.result["new_evidence"] == more.result["new_items"] == ranked > 0
    after = {key: (each.pk, each.version) for key, each in evidence_of(run).items()}
    assert {key: after[key] for key in before} == before and len(after) == 3 + ranked


def test_words_that_the_claim_has_already_are_left_out_and_counted(tmp_path):
    """All evidence of the data set is searched, so each claim finds its own again, and that of others."""
    run = search(harbour(tmp_path), top=5, parameters=WHOLE)
    passages = [
        (ranking.claim.key, passage)
        for ranking in run.rankings.select_related("claim")
        for passage in ranking.passages.all()
    ]
    own = [passage for claim, passage in passages if passage.document.startswith(f"{claim}/")]
    job = publish(run, top=5)
    assert len(own) == job.result["counts"]["repeated"] and job.result["new_evidence"] == len(passages) - len(own) > 0
    other = evidence_of(run)[passage_key("ice", run, 2)]
    assert (other.url, other.publisher) == ("https://fish/b.example.org", "The Example")
    # Gold is what is gold for this claim: what is gold for another one is known not to be.
    assert {each.is_gold for key, each in evidence_of(run).items() if "/run-" in key} == {False}
    texts = list(Evidence.objects.published().values_list("claim__key", "text"))
    assert len(texts) == len(set(texts))


def test_published_copies_of_its_own_documents_are_not_searched_as_further_documents(tmp_path, settings):
    project = harbour(tmp_path)
    first = search(project, top=5, parameters=WHOLE)
    assert publish(first, top=5).result["new_evidence"] > 0
    again = search(project, top=5, parameters=WHOLE)
    assert again.corpus_hash == first.corpus_hash and again.provenance["documents"] == len(EVIDENCE)
    corpus(tmp_path, settings, rows=(("", "further", "A harbour in ice is closed.", None),))
    assert publish(search(project, corpus="papers", top=1, parameters=WHOLE), top=1).result["new_evidence"] > 0
    assert search(project, top=5, parameters=WHOLE).provenance["documents"] > len(EVIDENCE)


SOURCE = {
    "url": "https://example.org/1",
    "publisher": "The Example",
    "date": "2020-01-02",
    "is_gold": ["light"],
    "title": "A tower",
    "retrieved_at": "2021-01-01T00:00:00Z",
}


@pytest.mark.parametrize(
    "wanted",
    [
        {"retriever": "bm25", "parameters": WHOLE},
        {"retriever": "dense", "parameters": WHOLE},
        {"retriever": "evidence", "parameters": {"search": "hybrid"}},
    ],
)
def test_where_a_document_is_from_travels_from_the_corpus_to_the_evidence(tmp_path, settings, wanted):
    corpus(tmp_path, settings, **SOURCE)
    run = search(harbour(tmp_path, evidence=()), corpus="papers", top=1, **wanted)
    publish(run, top=1)
    made = {each.claim.key: each for each in evidence_of(run).values()}
    light = made["light"]
    assert (light.url, light.publisher, str(light.date), light.rank) == (
        "https://example.org/1",
        "The Example",
        "2020-01-02",
        1,
    )
    assert {claim: each.is_gold for claim, each in made.items()} == {"ice": False, "fish": False, "light": True}
    trace = light.metadata["retrieval"]
    assert trace["title"] == "A tower" and trace["retrieved_at"] == "2021-01-01T00:00:00Z" and trace["score"] > 0
    assert trace["sha256"] == hashlib.sha256(EVIDENCE[4][2].encode()).hexdigest()


def test_atomic_claims_and_aspects_get_evidence_of_their_own_which_goes_out_and_comes_in_again(tmp_path, settings):
    corpus(tmp_path, settings)
    line = {
        "question": {"id": "q", "text": "What about the harbour?"},
        "aspects": [{"id": "q/a", "text": "the ice in the harbour"}],
        "responses": [
            {
                "id": "q/r",
                "text": "Ice closed it. The lighthouse is from 1856.",
                "atomic_claims": [
                    {"id": "q/r/c0", "text": "Ice closed the harbour in January."},
                    {"id": "q/r/c1", "text": "The tower with its lamp is from 1856."},
                ],
            }
        ],
    }
    dataset = bring_in(tmp_path, line)
    project = make_project(dataset, "claim-evidence/six-way/1", overlap=1)
    for asks in ("atomic_claim", "aspect"):
        publish(search(project, asks=asks, corpus="papers", top=1, parameters=WHOLE), top=1)
    found = {each.parent.key: each.text for each in Evidence.objects.published().filter(dataset=dataset)}
    assert found.keys() == {"q/a", "q/r/c0", "q/r/c1"} and found["q/r/c1"] == EVIDENCE[4][2]
    assert Item.objects.filter(project=project).count() == 3
    write_export(project, tmp_path / "out")
    lines = [json.loads(line) for line in (tmp_path / "out/content.jsonl").read_text().splitlines()]
    again = bring_in(tmp_path, *lines)
    assert {each.parent.key: each.text for each in Evidence.objects.published().filter(dataset=again)} == found


def test_the_same_words_twice_in_one_ranking_are_published_once(tmp_path, settings):
    rows = (*EVIDENCE, ("", "copy", EVIDENCE[4][2], None))
    corpus(tmp_path, settings, rows=rows)
    run = search(harbour(tmp_path, evidence=()), corpus="papers", top=2, parameters=WHOLE)
    assert [*run.rankings.get(claim__key="light").passages.values_list("document", flat=True)] == ["copy", "light/a"]
    job = publish(run)
    assert job.result["counts"]["repeated"] == 1
    assert [each for each in evidence_of(run) if each.startswith("light/")] == [passage_key("light", run, 1)]
    assert publish(run).result["new_evidence"] == 0


def test_a_claim_that_says_something_else_by_now_gets_no_passages(without_evidence, tmp_path):
    run = without_evidence
    bring_in(tmp_path, {"claim": {"id": "light", "text": "It was never built."}}, dataset=run.project.dataset)
    job = publish(run, top=1)
    assert job.result["counts"]["replaced"] == 1 and job.result["new_evidence"] == 2


QUESTIONS = [
    {"question": {"id": f"q{n}", "text": text}, "passages": [{"id": f"q{n}/a", "text": f"Nothing about {n}."}]}
    for n, text in enumerate(["When was the lighthouse built?", "What happened to perch?"])
]


def test_questions_get_new_pages_with_the_passages_and_judged_ones_stay(tmp_path, settings):
    corpus(tmp_path, settings)
    annotator = make_user()
    project = make_project(bring_in(tmp_path, *QUESTIONS), "sufficient-context/-/1", overlap=1, annotators=[annotator])
    judged = label_one(project, annotator).item.anchor.question
    run = search(project, asks="question", corpus="papers", top=1, parameters=WHOLE)
    job = publish(run, top=1)
    assert job.result["published"] == {"kept": 1, "superseded": 1, "updated": 0} and job.result["new_evidence"] == 1
    other = Question.objects.exclude(key=judged.key).get(superseded_at=None)
    assert other.version == 2 and other.evidence_set.filter(superseded_at=None).count() == 2
    judged.refresh_from_db()
    assert judged.superseded_at is None and judged.evidence_set.count() == 1
    active = Item.objects.filter(project=project, state="active")
    assert set(active.values_list("anchor__question", flat=True)) == {judged.pk, other.pk}
    beside = publishing.start(run.created_by, run, 1, "papers", wake_workers=False)
    assert lifecycle.run_here(beside).state == "done"
    context = Question.objects.published().get(key=f"{judged.key}/context-papers")
    assert (context.text, context.metadata["context"]) == (judged.text, {"name": "papers", "question": judged.key})
    assert context.evidence_set.count() == 1 and judged.evidence_set.count() == 1
    assert Item.objects.filter(project=project, state="active", anchor__question=context).exists()
    with pytest.raises(PublishingProblem, match="no / and no line breaks"):
        publishing.start(run.created_by, run, 1, "a/b")
    again = publish(run, top=1)  # the other one says the same as what was searched for, though it is a new version
    assert again.result["new_evidence"] == 0 and again.result["counts"].get("replaced", 0) == 0


def test_a_context_is_named_by_page_program_and_command_alike(tmp_path, settings):
    file = corpus(tmp_path, settings)
    annotator = make_user()
    project = make_project(bring_in(tmp_path, *QUESTIONS), "sufficient-context/-/1", overlap=1, annotators=[annotator])
    judged = label_one(project, annotator).item.anchor.question
    wanted = {"asks": "question", "corpus": "papers", "top": 1}
    run = search(project, parameters=WHOLE, **wanted)
    client = client_of(project.created_by)
    shown = client.get(f"/retrieval/{run.uuid}/").content.decode()
    assert "Context for questions that were judged already" in shown
    refused = client.post(f"/retrieval/{run.uuid}/publish/", {"publish-top": 1, "publish-context": "a/b"})
    assert refused.status_code == 422 and "no / and no line breaks" in refused.content.decode()
    client.post(f"/retrieval/{run.uuid}/publish/", {"publish-top": 1, "publish-context": "page"})
    assert lifecycle.run_here(kind_of(run).publishing.jobs_of(run)[0]).result["counts"]["contexts"] == 1
    assert "got the context page" in client.get(f"/retrieval/{run.uuid}/").content.decode()
    address = f"/api/v1/retrievals/{run.uuid}/publish/"
    made = client.post(address, {"top": 1, "context": "program"}, content_type="application/json")
    assert made.status_code == 202, made.content
    assert lifecycle.run_here(kind_of(run).publishing.jobs_of(run)[0]).state == "done"
    file.write_text(json.dumps({"id": "new", "text": f"Something else about it: {judged.text}"}))
    call_command("retrieve", project.slug, "bm25", publish=1, context="command", param=["chunker=whole"], **wanted)
    # It searches for the questions that are contexts, too, and leaves their passages as they are.
    last = kind_of(run).publishing.jobs_of(project.retrieval_runs.last())[0]
    assert last.result["counts"]["kept_contexts"] == 2 and last.result["new_evidence"] == 1
    contexts = Question.objects.published().filter(metadata__context__question=judged.key)
    assert {one.metadata["context"]["name"] for one in contexts} == {"page", "program", "command"}
    assert all(one.evidence_set.count() == 1 and one.answers == judged.answers for one in contexts)


def test_labels_stay_where_they_are_when_claims_get_further_evidence(tmp_path):
    annotator = make_user()
    project = harbour(tmp_path, annotators=[annotator])
    judged = label_one(project, annotator).item
    claim = judged.anchor.evidence.claim
    before = set(claim.evidence_set.values_list("pk", flat=True))
    publish(search(project, top=5, parameters=WHOLE), top=5)
    judged.refresh_from_db()
    assert judged.state == "active" and judged.anchor.superseded_at is None
    assert judged.annotations.count() == 1
    claim.refresh_from_db()
    added = set(claim.evidence_set.filter(superseded_at=None).values_list("pk", flat=True)) - before
    assert claim.superseded_at is None and added
    new = Item.objects.filter(project=project, state="active", anchor__evidence__in=added)
    assert new.count() == len(added) and all(one.assignments.count() == 1 for one in new)


def test_what_cannot_be_published_says_why(without_evidence, tmp_path):
    run = without_evidence
    for top in (0, 4):
        with pytest.raises(PublishingProblem, match="publish from 1 to 3"):
            publishing.start(run.created_by, run, top)
    waiting = publishing.start(run.created_by, run, 1, wake_workers=False)
    lifecycle.claim_chunk(waiting.pk)
    ContentBatch.objects.create(dataset=run.project.dataset, job=waiting)
    with pytest.raises(PublishingProblem, match="The publishing of passages in .* is being prepared"):
        publishing.start(run.created_by, run, 1)
    run.job.state = "running"
    with pytest.raises(PublishingProblem, match="Only a run that is done"):
        publishing.start(run.created_by, run, 1)


def test_a_worker_that_dies_while_publishing_leaves_nothing_and_the_next_one_does_it(without_evidence, monkeypatch):
    run = without_evidence
    job = publishing.start(run.created_by, run, 1, wake_workers=False)

    class Killed(BaseException):
        pass

    def die(*args, **kwargs):
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(publishing, "found_in", die)
        with pytest.raises(Killed):
            lifecycle.run_here(job)
    assert Evidence.objects.count() == 3 and not evidence_of(run)  # staged, seen by nobody
    job.chunks.filter(state="leased").update(lease_expires_at=job.created_at)
    with monkeypatch.context() as patched:
        patched.setattr(publishing, "make_items", die)
        with pytest.raises(Killed):
            lifecycle.run_here(job)
    job.chunks.filter(state="leased").update(lease_expires_at=job.created_at)
    assert lifecycle.run_here(job).result["new_items"] == 3
    assert len(evidence_of(run)) == Evidence.objects.count() == Item.objects.count() == 3


def test_cancelled_publishing_is_taken_back(without_evidence):
    run = without_evidence
    job = publishing.start(run.created_by, run, 1, wake_workers=False)
    lifecycle.request_cancel(job)
    assert lifecycle.run_here(job).state == "cancelled" and not Evidence.objects.exists()
    lifecycle.resume(job)
    assert lifecycle.run_here(job).result["new_evidence"] == 3


def test_other_projects_of_the_data_set_get_the_pages_when_their_items_are_made(without_evidence):
    run = without_evidence
    other = make_project(run.project.dataset, slug="other")
    publish(run, top=1)
    assert other.items.count() == 0
    make_items(other)
    assert other.items.count() == 3

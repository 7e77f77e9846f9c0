"""Retrieval runs, worked off in this process: what is stored, what fails alone, what is recognised, what changes."""

import hashlib
import json

import pytest

from annotation.jobs import lifecycle
from annotation.machines.retrieval import index as retrieval_index
from annotation.machines.retrieval import retrieving
from annotation.machines.retrieval.retrieving import RunError, SameRun
from annotation.models import Evidence, Job, QueryRanking, RankedPassage
from models_runtime import registry
from models_runtime.checkers.embedding import Encoder
from models_runtime.contracts import ParameterError, PredictionError, UnavailableError, Usage
from models_runtime.retrieval.contracts import Passage, PassageHit, Ranking
from tests.factories import make_project
from tests.retrieval.harbour import CLAIMS, EVIDENCE, WHOLE, bring_in, corpus, found, harbour, search, start
from tests.world import client_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def no_index():
    retrieval_index.forget()
    yield
    retrieval_index.forget()


class Scripted:
    """Gives its documents in the order in which they came, and does to a query what its text asks for."""

    built = 0

    def __init__(self) -> None:
        self.documents = []

    def describe(self):
        return {"retriever": "bm25", "documents": len(self.documents), "libraries": {"x": "1"}}

    def index(self, documents):
        Scripted.built += 1
        self.documents = list(documents)

    def search(self, queries, top):
        return [self.one(query, top) for query in queries]

    def one(self, query, top):
        if "breaks" in query.text:
            raise RuntimeError("the query broke it")
        if "refused" in query.text:
            return Ranking(query.id, error=PredictionError("refused", "no", True), usage=Usage(7, 1))
        score = float("nan") if "nan" in query.text else 1.0
        kept = [each for each in self.documents if query.documents is None or each.id in query.documents][:top]
        hits = [
            PassageHit(Passage(each.id, 0, len(each.text), each.text), rank, score / rank)
            for rank, each in enumerate(kept, 1)
        ]
        return Ranking(query.id, tuple(hits), expanded=f"{query.text} and more", usage=Usage(10, 2))


@pytest.fixture
def scripted(monkeypatch):
    Scripted.built = 0
    monkeypatch.setattr(registry, "load_retriever", lambda slug, parameters=None: Scripted())
    return Scripted


def asked(tmp_path, *texts: str):
    lines = [{"claim": {"id": f"c{n}", "text": text}, "passages": [{"id": f"c{n}/p", "text": f"Passage {n}."}]}
             for n, text in enumerate(texts)]  # fmt: skip
    return make_project(bring_in(tmp_path, *lines), overlap=1)


def test_every_claim_gets_its_ranking_with_scores_places_and_provenance(tmp_path):
    run = search(harbour(tmp_path), top=2, parameters=WHOLE)
    assert {claim: documents[0] for claim, documents in found(run).items()} == {
        "ice": "ice/a", "fish": "fish/a", "light": "light/a",
    }  # fmt: skip
    assert found(run)["ice"] == ["ice/a", "fish/b"]
    first = RankedPassage.objects.get(ranking__run=run, ranking__claim__key="light", rank=1)
    [_, _, words, _] = EVIDENCE[4]
    assert (first.start, first.end, first.text) == (0, len(words), words)
    assert first.evidence.key == "light/a" and first.scores == {"bm25": first.score} and first.score > 0
    assert run.provenance["retriever"] == "bm25" and run.provenance["documents"] == 5
    documents = [json.dumps([key, text]) for _, key, text, _ in EVIDENCE]
    assert run.corpus_hash == hashlib.sha256("".join(line + "\n" for line in documents).encode()).hexdigest()
    # By hand: each of the three gold pieces is first for its own claim.
    assert run.job.result["gold"] == {"queries": 3, "hit": 3, "gold": 3, "found": 3}
    assert run.job.result["answered"] == 3 and run.job.result["failed"] == 0
    assert run.device_seconds > 0


def test_meaning_finds_what_shares_no_word(tmp_path):
    """With the real MiniLM; that the two sentences are near each other is what it is known for."""
    lines = [
        {"claim": {"id": "cat", "text": "One cat sleeps upon the sofa."},
         "passages": [{"id": "near", "text": "Some kitten naps on a couch."}, {"id": "far", "text": "Taxes rose."}]},
        {"claim": {"id": "tax", "text": "People owe more money to governments."}},
    ]  # fmt: skip
    run = search(make_project(bring_in(tmp_path, *lines)), retriever="dense", top=2, parameters=WHOLE)
    assert found(run) == {"cat": ["near", "far"], "tax": ["far", "near"]}
    best = run.rankings.get(claim__key="cat").passages.get(rank=1)
    assert 0.4 < best.score <= 1 and best.scores == {"dense": best.score}
    assert run.provenance["model"] == "all-MiniLM-L6-v2" and run.provenance["documents"] == 2
    assert search(run.project, top=2, parameters=WHOLE).provenance["retriever"] == "bm25"


def test_passages_are_embedded_once_for_all_runs_retrievers_and_processes(tmp_path, settings, monkeypatch):
    settings.DATA_DIR = tmp_path / "data"
    embedded, embed = [], Encoder.embed
    monkeypatch.setattr(Encoder, "embed", lambda self, texts: embedded.extend(texts) or embed(self, texts))
    corpus(tmp_path, settings)
    project = harbour(tmp_path, evidence=())
    first = search(project, corpus="papers", retriever="dense", parameters=WHOLE | {"vector_index": "ivf"})
    passages = {text for _, _, text, _ in EVIDENCE}
    assert passages <= set(embedded)
    page = client_of(project.created_by).get(f"/retrieval/{first.uuid}/").content.decode()
    assert "index ivf" in page and "recall_at_10 1.0" in page
    for wanted in (
        {"retriever": "dense", "parameters": WHOLE | {"vector_index": "hnsw"}},
        {"retriever": "hybrid", "parameters": WHOLE},
        {"retriever": "evidence", "parameters": {"search": "dense", "chunker": "whole", "rerank": "bm25"}},
    ):
        retrieval_index.forget()  # as in another process
        embedded.clear()
        search(project, corpus="papers", **wanted)
        assert set(embedded) == set(CLAIMS.values())
    corpus(tmp_path, settings, rows=(*EVIDENCE, ("", "more", "A further text.", None)))
    embedded.clear()
    grown = search(project, corpus="papers", retriever="dense", parameters=WHOLE)
    assert set(embedded) == {*CLAIMS.values(), "A further text."} and grown.provenance["documents"] == len(EVIDENCE) + 1


def test_gold_of_another_claim_is_not_found_gold(tmp_path, scripted):
    """The scripted retriever gives everybody the first document, which is gold of `ice` alone."""
    run = search(harbour(tmp_path), top=1)
    assert set(map(tuple, found(run).values())) == {("ice/a",)}
    assert run.job.result["gold"] == {"queries": 3, "hit": 1, "gold": 3, "found": 1}


def test_a_claims_own_passages_are_ranked_anew(tmp_path):
    run = search(harbour(tmp_path), corpus="each", parameters=WHOLE)
    assert found(run)["light"] == ["light/a"]
    assert found(run)["ice"][0] == "ice/a" and set(found(run)["ice"]) <= {"ice/a", "ice/b"}
    assert set(found(run)["fish"]) <= {"fish/a", "fish/b"}


def test_chunks_of_a_run_and_the_next_run_over_the_same_documents_share_one_index(tmp_path, scripted, monkeypatch):
    monkeypatch.setattr(retrieving, "CHUNK_SIZE", 1)
    project = harbour(tmp_path)
    first = search(project)
    assert first.job.chunks.count() == 3 + 1 and scripted.built == 1
    search(project, top=3)
    assert scripted.built == 1
    bring_in(
        tmp_path, {"claim": {"id": "new", "text": "New."}, "passages": [{"text": "Another."}]}, dataset=project.dataset
    )
    last = search(project)
    assert scripted.built == 2 and last.corpus_hash != first.corpus_hash
    search(project, parameters={"k1": 2.0})
    assert scripted.built == 3


def test_a_query_that_fails_fails_alone_and_can_be_tried_again(tmp_path, scripted, monkeypatch):
    project = asked(tmp_path, "good", "this breaks", "refused", "nan", "also good")
    run = search(project)
    failed = {each.claim.text: each for each in run.rankings.exclude(reason="").select_related("claim")}
    assert {text: (each.reason, each.is_permanent) for text, each in failed.items()} == {
        "this breaks": ("checker-broke", False), "refused": ("refused", True), "nan": ("invalid-answer", True),
    }  # fmt: skip
    assert failed["this breaks"].message == "RuntimeError: the query broke it"
    assert failed["nan"].message == "a score of the passage at rank 1 is not finite"
    answered = run.rankings.filter(reason="")
    assert set(answered.values_list("text", "expanded")) == {
        ("good", "good and more"), ("also good", "also good and more"),
    }  # fmt: skip
    assert all(each.passages.count() == 5 for each in answered)
    assert (run.prompt_tokens, run.completion_tokens) == (10 + 10 + 10 + 7, 2 + 2 + 2 + 1)
    assert run.job.result["failed"] == 3 and run.job.result["answered"] == 2
    monkeypatch.setattr(
        scripted, "one", lambda self, query, top: Ranking(query.id, (PassageHit(Passage("c0/p", 0, 1, "P"), 1, 2.0),))
    )
    assert retrieving.retry_failures(run) == 1
    assert lifecycle.run_here(run.job).state == "done"
    assert set(run.rankings.exclude(reason="").values_list("claim__text", flat=True)) == {"refused", "nan"}
    assert run.rankings.count() == 5 and run.rankings.get(claim__text="this breaks").passages.get().score == 2.0
    assert retrieving.retry_failures(run, include_permanent=True) == 2
    assert lifecycle.run_here(run.job).result["failed"] == 0


@pytest.mark.parametrize(
    ("hits", "message"),
    [
        ([PassageHit(Passage("c0/p", 0, 1, "P"), 2, 1.0)], "ranks do not count from 1"),
        ([PassageHit(Passage("c0/p", 0, 5, "P"), 1, 1.0)], "the passage at rank 1 is not the stretch that it says"),
        (
            [PassageHit(Passage("c0/p", n, n + 1, "P"), n + 1, 1.0) for n in range(3)],
            "3 passages, and 2 were asked for",
        ),
    ],
)
def test_what_cannot_be_a_ranking_is_a_failure(tmp_path, scripted, monkeypatch, hits, message):
    monkeypatch.setattr(scripted, "one", lambda self, query, top: Ranking(query.id, tuple(hits)))
    run = search(asked(tmp_path, "good"), top=2)
    [failed] = run.rankings.all()
    assert (failed.reason, failed.message) == ("invalid-answer", message) and not failed.passages.exists()


def test_the_same_run_is_recognised_and_another_one_is_not(tmp_path):
    project = harbour(tmp_path)
    first = search(project, top=2)
    with pytest.raises(SameRun) as same:
        start(project, top=2)
    assert same.value.run == first
    others = ({"top": 3}, {"corpus": "each"}, {"parameters": {"b": 0.5}})
    assert len({start(project, **wanted).pk for wanted in others}) == 3
    assert start(project, top=2, again=True).pk != first.pk
    bring_in(
        tmp_path,
        {"claim": {"id": "ice", "text": CLAIMS["ice"]}, "passages": [{"text": "New."}]},
        dataset=project.dataset,
    )
    assert start(project, top=2).pk != first.pk


def test_a_run_searches_the_documents_of_its_start_whatever_comes_later(tmp_path, monkeypatch):
    monkeypatch.setattr(retrieving, "CHUNK_SIZE", 1)
    project = harbour(tmp_path)
    run = start(project, parameters=WHOLE)
    lease = lifecycle.claim_chunk(run.job_id)
    lifecycle.work_on_chunk(run.job, lease)
    bring_in(
        tmp_path,
        {"claim": {"id": "light", "text": CLAIMS["light"]}, "passages": [{"text": CLAIMS["light"]}]},
        dataset=project.dataset,
    )
    retrieval_index.forget()  # as in another worker
    assert lifecycle.run_here(run.job).state == "done"
    assert {document for documents in found(run).values() for document in documents} <= {key for _, key, *_ in EVIDENCE}
    assert found(search(project, parameters=WHOLE))["light"][0] == "light/p0"


def test_documents_that_were_rewritten_meanwhile_end_the_run_with_the_reason(tmp_path, monkeypatch):
    monkeypatch.setattr(retrieving, "CHUNK_SIZE", 1)
    project = harbour(tmp_path)
    run = start(project)
    lifecycle.work_on_chunk(run.job, lifecycle.claim_chunk(run.job_id))
    Evidence.objects.filter(key="light/a").update(text="Something else.")
    retrieval_index.forget()
    job = lifecycle.run_here(run.job)
    assert job.state == "failed" and "documents have changed since this run began" in job.message
    assert run.rankings.count() == 1


def test_a_worker_with_another_model_does_not_go_on_with_the_run(tmp_path, scripted, monkeypatch):
    monkeypatch.setattr(retrieving, "CHUNK_SIZE", 1)
    run = start(harbour(tmp_path))
    lifecycle.work_on_chunk(run.job, lifecycle.claim_chunk(run.job_id))
    retrieval_index.forget()
    monkeypatch.setattr(
        scripted, "describe", lambda self: {"retriever": "bm25", "documents": 5, "libraries": {"x": "2"}}
    )
    lifecycle.work_on_chunk(run.job, lifecycle.claim_chunk(run.job_id))
    run.refresh_from_db()
    assert [each["libraries"] for each in run.provenance["other_workers"]] == [{"x": "2"}]
    retrieval_index.forget()
    monkeypatch.setattr(scripted, "describe", lambda self: {"retriever": "bm25", "documents": 4, "libraries": {}})
    job = lifecycle.run_here(run.job)
    assert job.message == "This run began with documents 5, and this worker has 4"


def test_a_server_that_is_away_is_waited_for(tmp_path, scripted, monkeypatch):
    calls = []

    def away(self, queries, top):
        calls.append(1)
        if len(calls) < 3:
            raise UnavailableError("the server is away")
        return [self.one(query, top) for query in queries]

    monkeypatch.setattr(scripted, "search", away)
    run = search(harbour(tmp_path))
    # Waiting is no attempt.
    assert run.job.chunks.get(index=0).attempts == 1 and run.job.result["failed"] == 0


def test_cancelled_and_resumed(tmp_path, scripted, monkeypatch):
    monkeypatch.setattr(retrieving, "CHUNK_SIZE", 1)
    run = start(harbour(tmp_path))
    lifecycle.work_on_chunk(run.job, lifecycle.claim_chunk(run.job_id))
    lifecycle.request_cancel(run.job)
    assert lifecycle.run_here(run.job).state == "cancelled" and run.rankings.count() == 1
    lifecycle.resume(run.job)
    assert lifecycle.run_here(run.job).state == "done" and run.rankings.count() == 3


def test_atomic_claims_and_questions_are_searched_for(tmp_path):
    line = {
        "question": {"id": "q", "text": "When did the harbour freeze?"},
        "passages": [{"id": "q/a", "text": "It froze in 1963."}, {"id": "q/b", "text": "A lighthouse stands there."}],
        "responses": [{"id": "r", "text": "In 1963.", "atomic_claims": [{"text": "The harbour froze in 1963."}]}],
    }
    project = make_project(bring_in(tmp_path, line), "sufficient-context/-/1", overlap=1)
    assert retrieving.can_be_asked(project.dataset) == {"question": 1, "atomic_claim": 1}
    questions = search(project, asks="question", parameters=WHOLE)
    assert questions.rankings.get().question.key == "q" and questions.job.result["gold"] is None
    pieces = search(project, asks="atomic_claim", corpus="each", top=1, parameters=WHOLE)
    assert list(found(pieces).values()) == [["q/a"]]
    with pytest.raises(RunError, match="no claims with a text"):
        start(project, asks="claim")


def test_a_corpus_of_the_site_is_searched(tmp_path, settings):
    corpus(tmp_path, settings)
    run = search(harbour(tmp_path, evidence=()), corpus="papers", top=1, parameters=WHOLE)
    assert found(run) == {"ice": ["ice/a"], "fish": ["fish/a"], "light": ["light/a"]}
    assert not RankedPassage.objects.exclude(evidence=None).exists() and run.job.result["gold"] is None
    folder = tmp_path / "notes"
    folder.mkdir()
    for _, key, text, _ in EVIDENCE:
        (folder / f"{key.replace('/', '-')}.txt").write_text(text)
    settings.CORPORA = {"notes": folder}
    wanted = {"corpus": "notes", "top": 1, "parameters": WHOLE}
    assert found(search(run.project, **wanted)) == {name: [f"{name}-a.txt"] for name in CLAIMS}
    with pytest.raises(SameRun):
        start(run.project, **wanted)
    (folder / "ice-a.txt").write_text("Nothing of the kind.")
    assert found(search(run.project, **wanted))["ice"] == ["fish-b.txt"]


def test_bad_lines_of_a_corpus_are_told_and_the_others_searched(tmp_path, settings):
    corpus(tmp_path, settings).write_text("nonsense")
    run = start(harbour(tmp_path, evidence=()), corpus="papers")
    job = lifecycle.run_here(run.job)
    assert job.state == "failed" and job.message.startswith(
        "There is no document with a text to search in: 1 bad lines"
    )
    assert "line 1: is not JSON" in job.message and not QueryRanking.objects.exists()
    corpus(tmp_path, settings).write_text("\n")
    lifecycle.resume(job)
    assert lifecycle.run_here(job).message == "There is no document with a text to search in"
    corpus(tmp_path, settings).write_text('{"id": "a", "text": "ice"}\nnonsense')
    lifecycle.resume(job)
    assert lifecycle.run_here(job).state == "done"
    run.refresh_from_db()
    assert (
        run.provenance["bad_lines"]["number"] == 1 and "line 2: is not JSON" in run.provenance["bad_lines"]["first"][0]
    )


def test_a_corpus_that_is_not_on_the_workers_machine(tmp_path, settings):
    path = corpus(tmp_path, settings)
    run = start(harbour(tmp_path, evidence=()), corpus="papers")
    path.unlink()
    assert "cannot be read on this worker's machine" in lifecycle.run_here(run.job).message
    settings.CORPORA = {}
    lifecycle.resume(run.job)
    assert "ASSAY_CORPORA must name it for the workers" in lifecycle.run_here(run.job).message


def test_what_cannot_be_started_says_why(tmp_path):
    project = harbour(tmp_path)
    for wanted, message in (
        ({"retriever": "lexical"}, "There is no retriever 'lexical'; available: bm25"),
        ({"asks": "verdict"}, "one of claim, question, atomic_claim"),
        ({"corpus": "wiki"}, "There is no corpus 'wiki' here; available: own, each"),
        ({"top": 0}, "from 1 to 1000"),
        ({"queue": "llm"}, "not on the queue 'llm'"),
    ):
        with pytest.raises(RunError, match=message):
            start(project, **wanted)
    with pytest.raises(ParameterError, match="k1"):
        start(project, parameters={"k1": -1.0})
    with pytest.raises(RunError, match="no evidence to search in"):
        start(harbour(tmp_path, evidence=()))
    assert not Job.objects.filter(kind="retrieval").exists()

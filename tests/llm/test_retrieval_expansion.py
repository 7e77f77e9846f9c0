"""Searching with made-up documents, through a scripted server: what is searched for, what it costs, and what fails."""

from __future__ import annotations

import math

import pytest

from models_runtime import load_retriever
from models_runtime.checkers.embedding import Embedded, Encoder
from models_runtime.contracts import ModelError, ParameterError, UnavailableError, Usage
from models_runtime.llm import client
from models_runtime.retrieval.contracts import Document, Query

from .server import Reply, completion

DOCUMENTS = [
    Document("ice", "Ice melts."),
    Document("sea", "The sea rises, sea by sea."),
    Document("bread", "Bread is baked in ovens."),
]


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.02)
    monkeypatch.setattr(client, "POLL_SECONDS", 0.05)


def query_of(request) -> str:
    return request["messages"][1]["content"].split("]\n")[1].split("\n[end")[0]


def indexed(slug, **parameters):
    retriever = load_retriever(slug, parameters)
    retriever.index(DOCUMENTS)
    return retriever


def test_query2doc_searches_for_the_query_five_times_and_what_was_made_up(serve):
    serve(lambda request, n: completion("Ovens bake bread.", usage=(10, 5)))
    retriever = indexed("bm25", expansion="query2doc")
    (found,) = retriever.search([Query("q", "sea ice")], 3)
    assert found.expanded == "sea ice sea ice sea ice sea ice sea ice Ovens bake bread."
    assert found.usage == Usage(10, 5)
    # The same as searching for that text: each of the query's words counts five times.
    (plain,) = indexed("bm25").search([Query("q", found.expanded)], 3)
    assert found.hits == plain.hits and {hit.passage.document for hit in found.hits} == {"ice", "sea", "bread"}
    (alone,) = indexed("bm25").search([Query("q", "sea ice")], 3)
    scores = {hit.passage.document: hit.score for hit in alone.hits}
    assert {hit.passage.document: hit.score for hit in found.hits if hit.passage.document in scores} == pytest.approx(
        {name: 5 * score for name, score in scores.items()}, abs=1e-5
    )


def test_hyde_searches_half_way_between_the_query_and_what_was_made_up(serve, monkeypatch):
    import numpy as np

    angles = {"q: east": 0, "p: north": 90, "p: Ice melts.": 45, "p: The sea rises, sea by sea.": 0}
    angles["p: Bread is baked in ovens."] = 180

    def embed(self, texts):
        turned = {text: math.radians(angles[text]) for text in texts}
        return Embedded({one: np.array([math.cos(a), math.sin(a)]) for one, a in turned.items()}, set(), {})

    monkeypatch.setattr(Encoder, "embed", embed)
    serve(lambda request, n: completion("north"))
    retriever = indexed("dense", expansion="hyde", query_prefix="q: ", passage_prefix="p: ")
    (found,) = retriever.search([Query("q", "east")], 3)
    # One passage: 45 degrees, which is where the ice is.
    assert [hit.passage.document for hit in found.hits] == ["ice", "sea", "bread"]
    assert [hit.score for hit in found.hits] == pytest.approx(
        [1, math.cos(math.pi / 4), -math.cos(math.pi / 4)], abs=1e-6
    )
    assert found.expanded == "east\n\nnorth"
    (found,) = indexed(
        "dense", expansion="hyde", expansion_passages=2, query_prefix="q: ", passage_prefix="p: "
    ).search([Query("q", "east")], 1)
    # Two passages: the mean of (1, 0), (0, 1) and (0, 1) has a tangent of 2.
    assert found.hits[0].score == pytest.approx(math.cos(math.atan(2) - math.pi / 4), abs=1e-6)


def test_a_query_whose_passage_fails_fails_alone_and_costs_what_it_cost(serve):
    serve(lambda request, n: completion("" if query_of(request) == "fire" else "A sea.", usage=(10, 5)))
    queries = [Query("1", "ice"), Query("2", "fire"), Query("3", " "), Query("4", "bread")]
    found = indexed("bm25", expansion="query2doc").search(queries, 1)
    assert [one.error and one.error.reason for one in found] == [None, "malformed", "empty-query", None]
    assert found[1].usage == Usage(10, 5) and found[2].usage is None
    assert [hit.passage.document for hit in (found[0].hits + found[3].hits)] == ["ice", "bread"]


def test_the_pipeline_searches_for_what_a_model_would_type(serve):
    said = {"The sea rose.": '"bread ovens"\nand more', "Ice.": "\n", "Bread.": "ice"}
    server = serve(lambda request, n: completion(said[query_of(request)], usage=(10, 5)))
    retriever = indexed("evidence", query="generated")
    found = retriever.search([Query(text, text, about={"claimant": "A sailor"}) for text in said], 1)
    assert [one.expanded for one in found] == ["bread ovens", "", "ice"]
    assert [one.error and one.error.reason for one in found] == [None, "malformed", None]
    assert [hit.passage.document for one in found for hit in one.hits] == ["bread", "ice"]
    assert found[0].usage == found[1].usage == Usage(10, 5) and "A sailor" in str(server.requests[0])
    assert retriever.describe()["queries_by"]["model"] == "m"


def test_provenance_names_the_server_the_prompt_and_the_seed(serve):
    server = serve(lambda request, n: completion("A sea."))
    retriever = indexed("bm25", expansion="query2doc", expansion_seed=7)
    retriever.search([Query("1", "ice")], 1)
    assert [request["seed"] for request in server.requests] == [7]
    described = retriever.describe()
    expansion = described["stages"]["expansion"]
    assert (expansion["model"], expansion["method"], expansion["seed"]) == ("m", "query2doc", 7)
    assert expansion["prompt"]["name"] == "query2doc" and len(expansion["prompt"]["sha256"]) == 64
    assert described["model"] == "" and described["libraries"]["openai"]
    assert retriever.slice_at_least > 1 and indexed("bm25").slice_at_least == 1


def test_a_server_that_is_away_is_nobodys_failure(serve, monkeypatch):
    server = serve(lambda request, n: Reply({}, 500))
    retriever = indexed("bm25", expansion="query2doc")
    server.stop()
    monkeypatch.setattr(retriever.expansion.server, "wait_seconds", 0)
    with pytest.raises(UnavailableError):
        retriever.search([Query("1", "ice")], 1)


def test_without_a_server_nothing_is_expanded_and_it_is_said(monkeypatch):
    monkeypatch.delenv("ASSAY_LLM_ENDPOINTS", raising=False)
    assert indexed("bm25").search([Query("1", "ice")], 1)[0].expanded == ""
    with pytest.raises(ModelError, match="ASSAY_LLM_ENDPOINTS"):
        load_retriever("bm25", {"expansion": "query2doc"})
    with pytest.raises(ParameterError, match="none, query2doc"):
        load_retriever("bm25", {"expansion": "hyde"})
    with pytest.raises(ParameterError, match="no such parameter"):
        load_retriever("hybrid", {"expansion": "none"})

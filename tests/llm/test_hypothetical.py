"""Documents that are made up for queries: what is asked, how often, and what is no document."""

from __future__ import annotations

import doctest

import pytest

from models_runtime.contracts import ModelError, UnavailableError
from models_runtime.llm import asking, client, hypothetical, prompts
from models_runtime.llm.asking import Server
from models_runtime.llm.hypothetical import METHODS, expanded_query, hypothetical_documents

from .server import Reply, completion


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.02)
    monkeypatch.setattr(client, "POLL_SECONDS", 0.05)


def query_of(request) -> str:
    return request["messages"][1]["content"].split("]\n")[1].split("\n[end")[0]


def drawn(request, n):
    return completion(f" {query_of(request)} by seed {request['seed']}.\n", usage=(10, 5))


def test_each_query_gets_its_own_passages_in_order(serve):
    server = serve(drawn)
    found = hypothetical_documents(["ice", "fire"], Server(), "hyde", 3, seed=7)
    assert [one.query for one in found] == ["ice", "fire"]
    assert found[0].texts == ("ice by seed 7.", "ice by seed 8.", "ice by seed 9.")
    assert found[1].texts[2] == "fire by seed 9." and found[0].usage.completion_tokens == 15
    assert {(one["temperature"], one["top_p"], one["max_tokens"]) for one in server.requests} == {(0.7, 1.0, 512)}
    assert len(server.requests) == 6


def test_each_method_has_instructions_of_its_own(serve):
    server = serve(drawn)
    for method in METHODS:
        hypothetical_documents(["ice"], Server(), method)
    sent = [request["messages"][0]["content"] for request in server.requests]
    assert sent == [prompts.shipped(method).instructions for method in METHODS] and len(set(sent)) == len(METHODS)
    with pytest.raises(ValueError, match="no method 'rm3'; available: query2doc, hyde"):
        hypothetical_documents(["ice"], Server(), "rm3")
    with pytest.raises(ValueError, match="0 passages"):
        hypothetical_documents(["ice"], Server(), n=0)


def test_query2doc_repeats_the_query_five_times_before_the_passage():
    assert expanded_query("who froze", "A lake.") == "who froze " * 5 + "A lake."


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (completion(" \n"), "malformed"),
        (completion("a\0b"), "malformed"),
        (completion(None), "malformed"),
        (completion(None, refusal="no"), "refused"),
        (Reply({}, 500), "server-error"),
    ],
)
def test_what_is_no_passage_fails_its_query_alone(serve, body, reason):
    serve(lambda request, n: body if query_of(request) == "bad" and request["seed"] == 1 else drawn(request, n))
    bad, good, nul, blank = hypothetical_documents(["bad", "good", "a\0b", " "], Server(retries=0), n=2)
    assert (bad.error.reason, bad.texts) == (reason, ()) and len(good.texts) == 2
    assert (nul.error.reason, blank.error.reason) == ("nul-character", "empty-query")


def test_a_passage_that_is_cut_off_counts_as_it_stands(serve):
    serve(lambda request, n: completion("The lake froze and then", finish="length"))
    assert hypothetical_documents(["ice"], Server())[0].texts == ("The lake froze and then",)


def test_a_server_that_stays_away_is_no_querys_failure(serve):
    server = serve(drawn)
    asked = Server(wait_seconds=0, retries=0)
    server.stop()
    with pytest.raises(UnavailableError):
        hypothetical_documents(["ice"], asked)
    server.start()
    assert hypothetical_documents(["ice"], asked)[0].texts


def test_a_server_is_named_and_what_is_not_configured_is_refused_with_what_is(serve):
    serve(drawn)
    assert Server().endpoint == Server("main").endpoint
    with pytest.raises(ModelError, match="no endpoint 'other'; available: main"):
        Server("other")


def test_examples_in_docstrings_hold():
    for module in (hypothetical, asking):
        results = doctest.testmod(module)
        assert results.attempted and not results.failed

"""Whatever the text, the judge answers every input or says why not, and what it sends is what it was given."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings

from models_runtime import registry
from models_runtime.llm.endpoints import VARIABLE
from tests.models_runtime.samples import SPACES
from tests.models_runtime.test_fuzz import FIELDS, LONG, check, st

from .server import FakeServer, picked


@pytest.fixture(scope="module")
def server():
    def answer(request, n):
        letters = request["structured_outputs"]["choice"]
        return picked(letters[n % len(letters)], {letter: 1 / len(letters) for letter in letters})

    found = FakeServer(answer)
    found.start()
    yield found
    found.stop()


@pytest.fixture
def endpoint(server, monkeypatch):
    registry._cache.clear()
    monkeypatch.setenv(VARIABLE, json.dumps({"main": {"url": server.url, "model": "m"}}))


SETTINGS = {"deadline": None, "suppress_health_check": list(HealthCheck)}


@pytest.mark.parametrize("name", list(SPACES))
@settings(max_examples=15, **SETTINGS)
@given(fields=st.lists(FIELDS, max_size=4))
def test_short_texts(endpoint, name, fields):
    check("llm", SPACES[name], fields)


@settings(max_examples=4, **SETTINGS)
@given(claim=st.one_of(st.just("Ice melts"), LONG), evidence=LONG)
def test_a_hundred_thousand_characters(endpoint, server, claim, evidence):
    check("llm", SPACES["three"], [{"claim": claim, "evidence": evidence}])
    if claim.strip() and evidence.strip():
        assert evidence in server.requests[-1]["messages"][1]["content"]

import json

import pytest

from models_runtime import registry
from models_runtime.llm.endpoints import VARIABLE

from .server import FakeServer


@pytest.fixture(autouse=True)
def fresh_checkers():
    """A checker keeps the endpoint that it was loaded with."""
    registry._cache.clear()
    yield
    registry._cache.clear()


@pytest.fixture
def serve(monkeypatch):
    """`serve(answer)` starts a scripted server and makes it the endpoint `main`; it is stopped after the test."""
    started = []

    def start(answer, **settings) -> FakeServer:
        server = FakeServer(answer)
        server.start()
        started.append(server)
        monkeypatch.setenv(VARIABLE, json.dumps({"main": {"url": server.url, "model": "m", **settings}}))
        return server

    yield start
    for server in started:
        server.stop()

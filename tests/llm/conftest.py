import json
import socket

import pytest

from annotation.machines.retrieval import index
from models_runtime import registry
from models_runtime.llm.endpoints import VARIABLE

from .server import FakeServer
from .vllm_server import VllmServer, make_model, python_of_vllm


@pytest.fixture(autouse=True)
def fresh_checkers():
    """A checker keeps the endpoint that it was loaded with, and so does a retriever with its index."""
    registry._cache.clear()
    index.forget()
    yield
    registry._cache.clear()
    index.forget()


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


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("tiny-llama"))


@pytest.fixture(scope="session")
def server(model, tmp_path_factory):
    """A real vLLM with `model`; one for all, since it takes a minute to start. Whoever kills it starts it again."""
    python = python_of_vllm()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    found = VllmServer(python, model, port, tmp_path_factory.mktemp("vllm") / "vllm.log")
    found.start()
    yield found
    found.kill()

"""Requests of every kind at one vLLM at the same time, from several processes: each gets what it gets alone."""

from __future__ import annotations

import json
import multiprocessing
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import pytest

from models_runtime import CheckerInput, load, load_extractor
from models_runtime.extractors.contracts import ExtractionInput
from models_runtime.llm.endpoints import VARIABLE
from tests.models_runtime.samples import SPACES, TRIPLETS, pair, triplet

pytestmark = [pytest.mark.slow, pytest.mark.services]

PAIRS = [pair(f"Ice melts at {n} degrees", f"It is {n * 7 % 40} degrees. The ice melts!", str(n)) for n in range(24)]
PIECES = [triplet(f"ice melts at {n}", "It is warm.", "Ice melts.", key=str(n)) for n in range(12)]
SOURCES = [ExtractionInput(str(n), "When does ice melt?", f"Ice melts at {n} degrees.") for n in range(4)]
ROUNDS = 3
# By name: the checker, its questions, parameters and inputs.
ASKED = {
    "judge": ("llm", SPACES["six"], {}, PAIRS),
    "judge by a schema": ("llm", TRIPLETS, {"answers": "json_schema"}, PIECES),
    "judge, joint": ("llm", TRIPLETS, {"pieces": "joint"}, PIECES),
    "known": ("model-knowledge", (), {}, PAIRS[:12]),
    "next token": ("answer-probabilities-server", (), {"reading": "next-token", "shots": 0}, PAIRS[:8]),
    "prompt": ("answer-probabilities-server", (), {"reading": "prompt", "shots": 0}, PAIRS[:4]),
    "perplexity": ("perplexity-server", (), {}, PAIRS[:8]),
}


@pytest.fixture(autouse=True)
def endpoint(server, monkeypatch):
    monkeypatch.setenv(VARIABLE, json.dumps({"tiny": {"url": server.url, "model": "tiny", "max_in_flight": 8}}))


def numbers(name: str, rounds: int = 1) -> list[list[dict]]:
    """What is said about each input, as numbers by name, in every round."""
    slug, spaces, parameters, inputs = ASKED[name]
    found = []
    for turn in range(rounds):
        # Its cache would answer from the second round on.
        checker = load(slug, spaces, {**parameters, "timeout_seconds": 300 + turn})
        found.append([_flat(one) for one in checker.predict([CheckerInput(one.id, one.fields) for one in inputs])])
    return found


def _flat(prediction) -> dict[str, float | str | None]:
    if prediction.error:
        return {"error": prediction.error.reason}
    told = {f"{name} {label}": p for name, one in prediction.labels.items() for label, p in one.probabilities.items()}
    return told | {name: value for name, value in prediction.scores.items() if value is not None}


def extract(rounds: int) -> int:
    extractor = load_extractor("llm-extractor", "atomic_claim", {"most": 1, "max_tokens": 200})
    return sum(len(extractor.extract(SOURCES)) for _ in range(rounds))


def test_every_kind_of_request_gets_the_same_answers_in_a_mixed_load_as_alone():
    alone = {name: numbers(name)[0] for name in ASKED}
    assert not any("error" in one for found in alone.values() for one in found)
    with ProcessPoolExecutor(len(ASKED) + 2, multiprocessing.get_context("spawn")) as pool:
        writing = pool.submit(extract, 4)
        asked = [(name, pool.submit(numbers, name, ROUNDS)) for name in [*ASKED, "judge"]]
        assert writing.result() == 4 * len(SOURCES)
        spoilt = Counter(
            name
            for name, future in asked
            for answers in future.result()
            for one, expected in zip(answers, alone[name], strict=True)
            if one != pytest.approx(expected, abs=1e-3, rel=1e-2)
        )
    assert not spoilt

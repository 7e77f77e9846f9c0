"""On a GPU every model answers as it does on the CPU, within its precision. Skipped where there is no CUDA device.

CUDA_VISIBLE_DEVICES=0 .venv/bin/python -m pytest tests/models_runtime/test_gpu.py
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from models_runtime import ENTAILMENT, STANCE, CheckerInput, load, load_retriever, registry
from models_runtime.retrieval.contracts import Document, Query
from models_runtime.training import Example, Settings, train
from models_runtime.training.hidden import HiddenStates

from .samples import CLAIM, GOOD
from .test_fuzz_every import BESIDE, RECIPES, known, parameters_of, slugs
from .tiny import tiny_bert, tiny_deberta

WORDS = [word for text in (CLAIM, GOOD, "Bread is baked at night .") for word in text.split()]
# What has a model of its own, or asks an entry that has: no server, whose answers have no device.
ON_DEVICE = [
    slug
    for slug in slugs("labels", "scores")
    if registry.get_info(slug).needs != "server"
    and any(parameter.name == "device" for parameter in registry.get_info(slug).parameters)
]


@pytest.fixture(scope="module", autouse=True)
def cuda():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("No CUDA device, or none in CUDA_VISIBLE_DEVICES")
    return torch.cuda


@pytest.fixture(scope="module")
def models(models, tmp_path_factory):
    folder = tmp_path_factory.mktemp("more")
    return models | {
        "deberta": str(tiny_deberta(folder / "deberta", WORDS)),
        "reranker": str(tiny_bert(folder / "reranker", WORDS, ["score"])),
        "trained": train(examples(12), Settings("logistic"), representation="embeddings", shares=()).id,
    }


def examples(claims: int) -> list[Example]:
    draw, found = random.Random(0), []
    for number in range(claims):
        for word, label in (("melts", "supports"), ("opens", "refutes")):
            text = " ".join([*draw.choices(WORDS, k=draw.randrange(1, 30)), word, *draw.choices(WORDS, k=3)])
            item = CheckerInput(f"{number}-{label}", {"claim": "ice " * (number + 1), "evidence": text})
            found.append(Example(item, f"c{number}", {"stance": label}))
    return found


def inputs(slug: str, count: int = 40) -> list[CheckerInput]:
    """Texts of many lengths, so that batches are padded."""
    draw = random.Random(1)
    return [
        CheckerInput(
            str(place),
            {"claim": CLAIM, "evidence": " ".join(draw.choices(WORDS, k=1 + place * 3))} | BESIDE.get(slug, {}),
        )
        for place in range(count)
    ]


def answers(slug: str, parameters: dict) -> tuple[list[dict], dict]:
    """Every number that an entry gives, probabilities included, and what it says of itself."""
    checker = load(slug, RECIPES[slug][1], parameters)
    found = checker.predict(inputs(slug))
    assert not [one.error for one in found if one.error]
    return [
        known(one.scores)
        | {
            f"{name}/{label}": value
            for name, answer in one.labels.items()
            for label, value in (answer.probabilities or {}).items()
        }
        for one in found
    ], checker.describe()


def without_labels(found: list[dict]) -> list[dict]:
    """A label turns where two probabilities are nearly equal."""
    return [{name: value for name, value in one.items() if not name.endswith("_label")} for one in found]


def farthest(found: list[dict], wanted: list[dict]) -> float:
    """The greatest difference, relative where a number is above 1, as perplexities are."""
    assert [set(one) for one in found] == [set(one) for one in wanted]
    return max(
        abs(one[name] - other[name]) / max(1.0, abs(other[name]))
        for one, other in zip(found, wanted, strict=True)
        for name in one
    )


@pytest.mark.parametrize("slug", ON_DEVICE)
def test_checkers_and_scorers_answer_as_on_the_cpu(slug, models):
    parameters = parameters_of(slug, models)
    names = {parameter.name for parameter in registry.get_info(slug).parameters}
    wanted, _ = answers(slug, parameters | {"device": "cpu"})
    assert any(wanted)
    automatic, described = answers(slug, parameters | {"device": "auto"})
    assert str(described["device"]).startswith("cuda")
    assert farthest(without_labels(automatic), without_labels(wanted)) < 0.1
    if "dtype" in names:
        assert described["dtype"] == "bfloat16"
        exact, described = answers(slug, parameters | {"device": "cuda", "dtype": "float32"})
        assert (described["device"], described["dtype"]) == ("cuda", "float32")
        assert farthest(exact, wanted) < 1e-4


def test_the_quick_deberta_of_the_cpu_agrees_with_the_library_on_the_gpu(models):
    def judged(**more):
        checker = load("nli", ENTAILMENT, {"model": models["deberta"], "dtype": "float32"} | more)
        return [one.labels["entailment"].probabilities for one in checker.predict(inputs("nli"))]

    assert farthest(judged(device="cuda"), judged(device="cpu")) < 1e-4


def test_a_model_that_is_no_longer_used_gives_its_memory_back(tmp_path, cuda):
    from models_runtime.loading.models import _load, load_model, release_memory

    _load.cache_clear()
    registry._cache.clear()
    release_memory()
    sizes = []
    for seed in range(5):
        load_model("classification", str(tiny_bert(tmp_path / str(seed), WORDS, seed=seed)))
        release_memory()
        sizes.append(cuda.memory_allocated())
    assert sizes[0] < sizes[1] == sizes[2] == sizes[4]


@pytest.mark.parametrize("reranker", [False, True])
@pytest.mark.parametrize("slug", ["dense", "hybrid"])
def test_retrievers_rank_as_on_the_cpu(slug, reranker, models):
    documents = [Document(one.id, one.fields["evidence"]) for one in inputs("dense")]

    def ranked(device: str):
        given = {"device": device} | ({"reranker": models["reranker"]} if reranker else {})
        retriever = load_retriever(slug, given)
        retriever.index(documents)
        (found,) = retriever.search([Query("q", "the ice melts in spring")], 40)
        return retriever.describe()["device"], {hit.passage.document: dict(hit.scores) for hit in found.hits}

    (_, wanted), (device, found) = ranked("cpu"), ranked("cuda")
    assert device.startswith("cuda") and set(found) == set(wanted)
    assert farthest(list(map(found.get, wanted)), list(wanted.values())) < (0.1 if reranker else 1e-3)


LEARNERS = {
    "embeddings": lambda models: {"representation": "embeddings"},
    "paired": lambda models: {"representation": "paired"},
    "hidden-states": lambda models: {
        "representation": "hidden-states",
        "hidden": HiddenStates(models["causal"], "all", "mean"),
    },
    "cross-encoder": lambda models: {"representation": "cross-encoder", "encoder": models["nli"], "folds": 2},
}


@pytest.mark.parametrize("representation", LEARNERS)
def test_what_was_trained_on_a_gpu_answers_alike_on_both(representation, models):
    settings = Settings("cross-encoder" if representation == "cross-encoder" else "logistic")
    trained = train(examples(12), settings, shares=(), device="cuda", **LEARNERS[representation](models))
    new = [CheckerInput(f"new-{one.input.id}", one.input.fields) for one in examples(20)[24:]]

    def told(device: str):
        checker = load("trained", STANCE, {"model": trained.id, "device": device})
        found = checker.predict(new)
        return checker.describe()["device"], [one.labels["stance"].probabilities for one in found]

    (_, on_cpu), (device, on_gpu) = told("cpu"), told("cuda")
    assert device.startswith("cuda")
    assert np.std([one["supports"] for one in on_gpu]) > 0
    assert farthest(on_gpu, on_cpu) < (0.15 if representation == "hidden-states" else 1e-3)

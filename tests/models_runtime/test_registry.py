"""The registry: what it lists, what it refuses, and that reading it costs nothing."""

from __future__ import annotations

import doctest
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import models_runtime
from models_runtime import RELEVANCE, STANCE, LabelSpace, load, registry
from models_runtime.contracts import MissingPackageError, ModelError, ParameterError, SpaceError, UnknownCheckerError
from models_runtime.texts import matching, splitting

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("torch", "transformers", "sentence_transformers", "spacy", "sklearn", "pandas", "scipy", "numpy", "pyarrow")


def test_reading_the_registry_imports_nothing_heavy():
    code = (
        "import sys, json, models_runtime.registry as r, models_runtime.contracts\n"
        "[r.missing_packages(info.slug) for info in r.list_infos()]\n"
        f"print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(result.stdout) == []


@pytest.mark.parametrize("module", [models_runtime, matching, splitting])
def test_examples_in_docstrings_hold(module):
    results = doctest.testmod(module)
    assert results.attempted > 0 and results.failed == 0


def test_an_unknown_checker_is_refused_with_what_exists():
    with pytest.raises(UnknownCheckerError, match="'lexicall'; available: lexical, embedding, .*fake"):
        load("lexicall", STANCE)


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("threshold", 0.3, "no such parameter"),
        ("softness", "0.1", "not of type float"),
        ("softness", True, "not of type float"),
        ("softness", 0, "outside"),
        ("softness", float("nan"), "outside"),
    ],
)
def test_a_wrong_parameter_is_refused_by_name(name, value, problem):
    with pytest.raises(ParameterError, match=problem) as refusal:
        load("lexical", STANCE, {name: value})
    assert refusal.value.name == name


def test_a_choice_outside_the_list_is_refused():
    with pytest.raises(ParameterError, match="auto, cpu, cuda"):
        load("embedding", STANCE, {"device": "gpu"})


def test_a_missing_package_is_named_with_the_command(monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "spacy" else real(name))
    with pytest.raises(MissingPackageError, match=r"pip install spacy==\d"):
        load("lexical", STANCE)


def test_required_versions_are_those_the_project_pins():
    pins = set()
    for file in ROOT.glob("requirements*.txt"):
        pins |= set(re.findall(r"^\S+==\S+", file.read_text("utf-8"), re.MULTILINE))
    required = {package.requirement for info in registry.list_infos() for package in info.packages}
    assert required <= pins


def test_equal_arguments_give_the_same_checker_and_others_another():
    first = load("fake", [STANCE], {"seed": 5})
    assert load("fake", STANCE, {"seed": 5, "delay_ms": 0}) is first
    assert load("fake", [STANCE], {"seed": 6}) is not first
    assert load("fake", [RELEVANCE], {"seed": 5}) is not first


def test_the_cache_is_bounded_and_keeps_what_was_used_last():
    kept = load("fake", STANCE, {"seed": 100})
    dropped = load("fake", STANCE, {"seed": 101})
    for seed in range(102, 102 + registry.CACHE_SIZE - 1):
        load("fake", STANCE, {"seed": seed})
        load("fake", STANCE, {"seed": 100})
    assert load("fake", STANCE, {"seed": 100}) is kept
    assert load("fake", STANCE, {"seed": 101}) is not dropped
    assert len(registry._cache) == registry.CACHE_SIZE


def test_spaces_that_cannot_be_answered_are_refused():
    with pytest.raises(SpaceError, match="role 'mood'"):
        LabelSpace("mood", "mood", (("good", 1.0),))
    with pytest.raises(SpaceError, match="distinct"):
        LabelSpace("stance", "stance", (("for", 1.0), ("for", -1.0)))
    with pytest.raises(SpaceError, match="no label has a polarity"):
        load("lexical", LabelSpace("stance", "stance", (("a", None), ("b", None))))
    with pytest.raises(SpaceError, match="one or more"):
        load("lexical", [])
    with pytest.raises(SpaceError, match="distinct dimensions"):
        load("lexical", [STANCE, STANCE])


@pytest.mark.parametrize("slug", ["lexical", "embedding", "fake"])
def test_each_checker_gives_the_scores_that_it_announces_and_serialisable_provenance(slug):
    from .samples import pair

    checker = load(slug, STANCE)
    (prediction,) = checker.predict([pair("Ice melts", "Ice melts in spring.")])
    assert list(prediction.scores) == [score.name for score in registry.get_info(slug).scores]
    description = checker.describe()
    assert json.loads(json.dumps(description)) == description
    assert description["checker"] == slug
    assert set(description["parameters"]) == {parameter.name for parameter in registry.get_info(slug).parameters}


def test_a_model_folder_with_pickles_or_code_of_its_own_is_refused(tmp_path):
    with pytest.raises(ModelError, match="neither the absolute path of a local folder nor a hub name"):
        load("embedding", STANCE, {"model": "some-model"})
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80")
    with pytest.raises(ModelError, match="it needs .*.safetensors"):
        load("embedding", STANCE, {"model": str(tmp_path)})
    (tmp_path / "dense").mkdir()
    (tmp_path / "dense" / "model.safetensors").write_bytes(b"")
    with pytest.raises(ModelError, match="pickle"):
        load("embedding", STANCE, {"model": str(tmp_path)})
    (tmp_path / "pytorch_model.bin").unlink()
    (tmp_path / "modules.json").write_text('[{"type": "mine.Module", "path": ""}]')
    with pytest.raises(ModelError, match="running its own code"):
        load("embedding", STANCE, {"model": str(tmp_path)})

"""Finding and loading models: from safetensors and library code only, and saying what to do where that fails."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from models_runtime import registry
from models_runtime.contracts import ModelError
from models_runtime.loading import model_files, models
from models_runtime.loading.models import load_model

from .tiny import tiny_bert, tiny_deberta, tiny_llama


@pytest.fixture
def folder(tmp_path):
    return tiny_bert(tmp_path / "model", ["ice"])


def edit_config(folder: Path, **changes) -> None:
    file = folder / "config.json"
    config = json.loads(file.read_text()) | changes
    file.write_text(json.dumps({name: value for name, value in config.items() if value is not None}))


@pytest.mark.parametrize(("make", "task"), [(tiny_bert, "classification"), (tiny_deberta, "classification")])
def test_a_model_is_loaded_once_ready_to_judge(tmp_path, make, task):
    place = make(tmp_path, ["ice"], positions=128)
    found = load_model(task, str(place))
    assert load_model(task, str(place), "auto") is found
    assert not found.model.training and found.window == 128
    assert (found.device, found.dtype) in (("cpu", "float32"), ("cuda", "bfloat16"), ("cuda", "float16"))
    assert str(found.model.dtype) == f"torch.{found.dtype}"
    assert found.revision == f"sha256:{model_files.weights_hash(place)}"


def test_a_causal_model_is_loaded_with_its_tokenizer_and_another_precision_on_request(tmp_path):
    found = load_model("causal", str(tiny_llama(tmp_path)), "cpu", "bfloat16")
    assert str(found.model.dtype) == "torch.bfloat16" and found.window == 2048
    assert found.tokenizer.padding_side == "left" and found.tokenizer.pad_token_id is not None


def test_the_revision_tells_weights_and_settings(tmp_path):
    one, same, other = (tiny_bert(tmp_path / name, ["ice"], seed=seed) for name, seed in [("a", 1), ("b", 1), ("c", 2)])
    assert model_files.weights_hash(one) == model_files.weights_hash(same) != model_files.weights_hash(other)
    edit_config(same, id2label={"0": "contradiction", "1": "neutral", "2": "entailment"})
    model_files.weights_hash.cache_clear()
    assert model_files.weights_hash(one) != model_files.weights_hash(same)


def test_a_model_without_the_weights_for_its_task_is_refused(folder, tmp_path):
    """Its classifier would be drawn at random, and every answer with it."""
    from transformers import BertModel

    BertModel.from_pretrained(folder).save_pretrained(tmp_path / "headless")
    load_model("classification", str(folder)).tokenizer.save_pretrained(tmp_path / "headless")
    with pytest.raises(ModelError, match=r"is BertModel; what is needed is a text classifier"):
        load_model("classification", str(tmp_path / "headless"))
    edit_config(tmp_path / "headless", architectures=["BertForSequenceClassification"])
    with pytest.raises(ModelError, match="lacks weights .*classifier.bias"):
        load_model("classification", str(tmp_path / "headless"))
    with pytest.raises(ModelError, match="what is needed is a causal language model"):
        load_model("causal", str(folder))


class Explodes:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was read",))


def test_pickles_are_not_read(folder):
    (folder / "model.safetensors").unlink()
    with (folder / "pytorch_model.bin").open("wb") as file:
        pickle.dump(Explodes(), file)
    with pytest.raises(ModelError, match="it needs .* and .safetensors weights"):
        load_model("classification", str(folder))


def test_code_of_a_models_own_is_not_run(folder, tmp_path):
    mark = tmp_path / "it-ran"
    (folder / "own.py").write_text(f"open({str(mark)!r}, 'w')\n")
    own = {"AutoConfig": "own.Config", "AutoModelForSequenceClassification": "own.Model"}
    edit_config(folder, model_type="own", auto_map=own)
    with pytest.raises(ModelError, match="running its own code"):
        load_model("classification", str(folder))
    assert not mark.exists()


def test_what_is_no_model_is_told_apart(tmp_path, folder):
    with pytest.raises(ModelError, match="neither the absolute path of a local folder nor a hub name"):
        load_model("classification", "no model")
    with pytest.raises(ModelError, match="there is no folder"):
        load_model("classification", str(tmp_path / "away"))
    (folder / "config.json").unlink()
    with pytest.raises(ModelError, match="it needs config.json"):
        load_model("classification", str(folder))


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """An empty hub cache, and no hub."""
    import huggingface_hub

    asked = []

    def unreachable(name, **options):
        asked.append(name)
        raise ConnectionError("Name or service not known\nand more")

    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", lambda self, name, **options: unreachable(name))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    return asked


def test_a_model_of_the_hub_that_is_not_here_is_named_with_the_command(hub, monkeypatch):
    name = registry.get_info("nli").model
    with pytest.raises(ModelError) as refusal:
        load_model("classification", name)
    assert f"hf download {name} --include" in str(refusal.value) and "Name or service not known" in str(refusal.value)
    assert hub == [name]

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match="HF_HUB_OFFLINE"):
        load_model("classification", name)
    assert hub == [name]


def test_a_model_that_was_fetched_is_found_without_the_hub(hub, tmp_path):
    kept = tmp_path / "hub" / "models--somebody--some-model"
    assert registry.fetch_command("nli").startswith("hf download")
    assert not model_files.is_here("somebody/some-model")
    tiny_bert(kept / "snapshots" / "abc123", ["ice"])
    (kept / "refs").mkdir()
    (kept / "refs" / "main").write_text("abc123")
    assert model_files.is_here("somebody/some-model")
    assert load_model("classification", "somebody/some-model").folder == kept / "snapshots" / "abc123"
    assert hub == []


def test_the_cache_is_where_the_hubs_own_library_has_it(monkeypatch):
    from huggingface_hub import constants

    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert model_files.hub_cache() == Path(constants.default_cache_path).parent / "hub"
    monkeypatch.setenv("HF_HOME", "/elsewhere")
    assert model_files.hub_cache() == Path("/elsewhere/hub")
    monkeypatch.setenv("HF_HUB_CACHE", "/there")
    assert model_files.hub_cache() == Path("/there")


def test_a_device_that_is_not_there_is_refused():
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has a CUDA device")
    with pytest.raises(ModelError, match="no CUDA device"):
        models.choose_device("cuda")
    assert models.choose_device("auto") == "cpu" and models.choose_dtype("auto", "cpu") == "float32"


def test_windows_of_models_that_count_positions_from_behind_the_padding():
    from transformers import RobertaConfig, RobertaForSequenceClassification

    config = RobertaConfig(
        vocab_size=9,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        max_position_embeddings=14,
    )

    class Unlimited:
        model_max_length = 10**30

    assert models._window(RobertaForSequenceClassification(config), Unlimited) == 12

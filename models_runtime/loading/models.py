"""Loading transformers models: from safetensors and library code only, once per process, on the device there is."""

from __future__ import annotations

import functools
import gc
import json
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from ..contracts import ModelError
from . import allowed_models
from .model_files import (
    WANTED_FILES,
    cached_folder,
    check_safetensors,
    fetch_command,
    is_hub_name,
    no_model,
    weights_hash,
)

# What a model does -> the library's class that loads it, and how its architectures end.
TASKS = {
    "classification": ("AutoModelForSequenceClassification", "ForSequenceClassification", "a text classifier"),
    "causal": ("AutoModelForCausalLM", "ForCausalLM", "a causal language model"),
    "encoder": ("AutoModel", "", "an encoder of texts"),
}
# Weights that a task does without, though the library's class has a place for them.
UNUSED = {"encoder": ("pooler.",)}


@dataclass(frozen=True)
class LoadedModel:
    """A model in evaluation mode with its tokenizer. `window` is the most tokens that it reads, specials included, or
    None where neither says; `revision` tells its weights and settings."""

    name: str
    folder: Path
    model: Any
    tokenizer: Any
    device: str
    dtype: str
    window: int | None

    @property
    def revision(self) -> str:
        return f"sha256:{weights_hash(self.folder)}"

    def describe(self) -> dict[str, Any]:
        """Its part of a run's provenance."""
        names = ("revision", "device", "dtype", "window")
        return {"model": self.name} | {name: getattr(self, name) for name in names}


def find_folder(model: str) -> Path:
    """The folder with the files of `model`: an absolute path, or a hub name whose files are here or can be fetched.

    ModelError says what to type or to give where neither is so. HF_HUB_OFFLINE=1 keeps it from fetching.
    """
    path = Path(model)
    if path.is_absolute():
        if path.is_dir():
            return path
        raise no_model(model)
    if not is_hub_name(model):
        raise ModelError(f"model {model!r} is neither the absolute path of a local folder nor a hub name (owner/name)")
    revision = allowed_models.revision_of(model)
    return cached_folder(model, revision) or _fetch(model, revision)


def _fetch(model: str, revision: str) -> Path:
    from huggingface_hub import HfApi, constants, snapshot_download

    problem = "the hub is switched off by HF_HUB_OFFLINE"
    if not constants.is_offline_mode():
        try:
            siblings = (
                HfApi().model_info(model, revision=revision or None, timeout=10, files_metadata=True).siblings or ()
            )
            wanted = [one for one in siblings if any(fnmatch(one.rfilename, pattern) for pattern in WANTED_FILES)]
            allowed_models.check_size(model, sum(one.size or 0 for one in wanted))
            folder = snapshot_download(
                model, revision=revision or None, allow_patterns=list(WANTED_FILES), etag_timeout=5
            )
            return Path(folder)
        except ModelError:
            raise
        except Exception as error:  # of the network, the hub or the disk: each fails in its own way
            problem = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
    raise ModelError(
        f"the model {model} is not on this machine and could not be fetched ({problem}). On a machine with a network "
        f"run: {fetch_command(model)}   Or give as model the absolute path of a folder that holds one."
    )


def choose_device(device: str) -> str:
    """`cuda` or `cpu`; `auto` is the first of them that there is."""
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise ModelError("device cuda: this machine has no CUDA device, or its torch is built without CUDA; give cpu")
    return device


def choose_dtype(dtype: str, device: str) -> str:
    """`auto` is half precision on a GPU (bfloat16 where it computes in that) and float32 on a CPU."""
    import torch

    if dtype != "auto":
        return dtype
    if device == "cpu":
        return "float32"
    return "bfloat16" if torch.cuda.is_bf16_supported() else "float16"


def load_model(task: str, model: str, device: str = "auto", dtype: str = "auto") -> LoadedModel:
    """`model` for one of TASKS, loaded once per process for as long as it is among the last that were used.

    ModelError if it is not there, has no safetensors, requires running its own code, or was not trained for the task.
    """
    folder = find_folder(model)
    device = choose_device(device)
    return _load(task, model, folder, device, choose_dtype(dtype, device))


# Models are large and checkers small: checkers with other questions or thresholds share the model.
@functools.lru_cache(maxsize=2)
def _load(task: str, name: str, folder: Path, device: str, dtype: str) -> LoadedModel:
    check_safetensors(folder)
    _check_architecture(task, name, folder)
    import torch
    import transformers
    from transformers.utils import logging

    logging.disable_progress_bar()
    options = {"local_files_only": True, "trust_remote_code": False}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **options)
        model, info = getattr(transformers, TASKS[task][0]).from_pretrained(
            folder, dtype=getattr(torch, dtype), use_safetensors=True, output_loading_info=True, **options
        )
    except Exception as error:
        if "trust_remote_code" in str(error):
            raise ModelError(f"{name} requires running its own code, which is not done") from None
        raise ModelError(f"{name} cannot be loaded: {type(error).__name__}: {error}") from error
    if missing := sorted(key for key in info["missing_keys"] if not key.startswith(UNUSED.get(task, ()))):
        # They would be drawn at random, and every answer with them.
        raise ModelError(f"{name} lacks weights ({', '.join(missing[:3])}), so it is not {TASKS[task][2]}")
    if tokenizer.pad_token_id is None:
        if tokenizer.eos_token is None:
            raise ModelError(f"the tokenizer of {name} has no padding token")
        tokenizer.pad_token = tokenizer.eos_token
    try:
        model.eval().to(device)
    except Exception as error:
        raise ModelError(f"{name} does not fit on {device}: {type(error).__name__}: {error}") from error
    if device == "cpu":
        from . import quick_deberta, quick_linear

        quick_linear.quicken(model)
        quick_deberta.quicken(model)
    return LoadedModel(name, folder, model, tokenizer, device, dtype, _window(model, tokenizer))


def _check_architecture(task: str, name: str, folder: Path) -> None:
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        architectures = [str(architecture) for architecture in config.get("architectures") or ()]
    except (OSError, ValueError, AttributeError):
        raise no_model(folder) from None
    _, ending, words = TASKS[task]
    if architectures and not any(architecture.endswith(ending) for architecture in architectures):
        raise ModelError(f"{name} is {', '.join(architectures)}; what is needed is {words} (…{ending})")


def _window(model, tokenizer) -> int | None:
    positions = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    for part_name, part in model.named_modules():
        # RoBERTa's family counts positions from behind the padding token's.
        offset = getattr(part, "padding_idx", None)
        if part_name.endswith("position_embeddings") and offset is not None and hasattr(part, "num_embeddings"):
            positions = part.num_embeddings - offset - 1
    limits = [limit for limit in (positions, tokenizer.model_max_length) if limit and 0 < limit < 10**9]
    return int(min(limits)) if limits else None


def release_memory() -> None:
    """Give back what no tensor holds any longer, before something smaller is tried."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()

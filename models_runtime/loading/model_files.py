"""Where a model's files are and whether they may be loaded. Standard library only, so that web pages can ask too.

A model is given by the absolute path of a folder or by its name on the Hugging Face Hub (`owner/name`). What was
fetched from there lies in the hub's cache, which this reads without the hub's own library.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
from pathlib import Path

from ..contracts import ModelError, ParameterError
from .allowed_models import check_size, problem_of

_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
# What is fetched: weights that run nothing when read, and what configures models and tokenizers.
WANTED_FILES = ("*.safetensors", "*.json", "*.txt", "*.model", "*.jinja")


def is_hub_name(model: str) -> bool:
    return _HUB_NAME.fullmatch(model) is not None


def check_name(parameter: str, model: str) -> None:
    """ParameterError unless `model` can name a model, and one that may be named here."""
    if not (is_hub_name(model) or Path(model).is_absolute()):
        raise ParameterError(parameter, f"{model!r} is neither the absolute path of a folder nor a hub name")
    if problem := problem_of(model):
        raise ParameterError(parameter, problem)


def fetch_command(model: str) -> str:
    """What to type where there is a network, so that `model` is on this machine."""
    return f"hf download {model} " + " ".join(f'--include "{pattern}"' for pattern in WANTED_FILES)


def hub_cache() -> Path:
    """Where the hub's library keeps what it fetched, by the variables that it reads itself."""
    if folder := os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE"):
        return Path(folder).expanduser()
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    return Path(home).expanduser() / "hub"


def cached_folder(model: str, revision: str = "") -> Path | None:
    """The folder of a hub model that was fetched to this machine, or None. `revision`: a commit, a branch or a tag."""
    kept = hub_cache() / ("models--" + model.replace("/", "--"))
    try:
        commit = (kept / "refs" / (revision or "main")).read_text("ascii").strip()
    except (OSError, ValueError):
        commit = revision
    if not commit:
        return None
    folder = kept / "snapshots" / commit
    return folder if (folder / "config.json").exists() and any(folder.glob("*.safetensors")) else None


def is_here(model: str) -> bool:
    """Whether `model` is on this machine, as far as its files tell."""
    if is_hub_name(model):
        return cached_folder(model) is not None
    return Path(model).is_absolute() and Path(model).is_dir()


def no_model(folder: Path | str, needed: str = "config.json of transformers") -> ModelError:
    """The same whether the folder is missing or holds something else, which is nobody's business who starts a run."""
    return ModelError(
        f"there is no folder {folder} with a model on this machine: it needs {needed} and .safetensors weights; other "
        "kinds of weights are not loaded"
    )


def check_safetensors(folder: Path) -> None:
    """ModelError unless the weights in `folder` are safetensors, with no pickle that might be read in their place, and
    as small as the site wants them."""
    weights = list(folder.rglob("*.safetensors"))
    if not weights:
        raise no_model(folder)
    check_size(str(folder), sum(path.stat().st_size for path in weights))
    for weights in folder.rglob("*.bin"):
        if not any(weights.parent.glob("*.safetensors")):
            raise ModelError(f"{weights} is a pickle; only .safetensors weights are loaded")


@functools.lru_cache(maxsize=8)
def weights_hash(folder: Path) -> str:
    """sha256 over the names and contents of the weights and of the JSON files that say how they are used."""
    total = hashlib.sha256()
    for path in sorted([*folder.rglob("*.safetensors"), *folder.rglob("*.json")]):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        total.update(f"{path.relative_to(folder).as_posix()} {digest}\n".encode())
    return total.hexdigest()

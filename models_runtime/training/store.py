"""Trained checkers on disk: `model.json` and `arrays.safetensors` in a folder that is called by its own hash.

The id of a model is the SHA-256 of its `model.json`, which holds the hash of the arrays; so a file that was changed
afterwards is refused, and the id is the model's revision. Nothing in it is a pickle, and nothing in it is run.

`keep_in` says once where models lie; ids are looked up below that folder and nowhere else.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import shutil
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..contracts import ModelError

if TYPE_CHECKING:
    import numpy as np

    from .arrays import Predictor
    from .cross_encoder import FineTuned
    from .features import Features

FORMAT = 1
METADATA = "model.json"
ARRAYS = "arrays.safetensors"
LEFT_SECONDS = 3600
_ID = re.compile(r"[0-9a-f]{64}")
_root: Path | None = None


def keep_in(folder: Path | str) -> None:
    """From now on trained models are looked for, and stored, below this folder."""
    global _root
    _root = Path(folder)


def root() -> Path:
    if _root is None:
        raise ModelError(
            "no folder of trained models was named: call models_runtime.training.store.keep_in(folder) first"
        )
    return _root


@dataclass(frozen=True, slots=True)
class StoredModel:
    """What was learnt about each dimension. `metadata` is JSON: features, settings, and per dimension its labels,
    figures and the hash of what it was trained on."""

    id: str
    metadata: dict[str, Any]
    arrays: dict[str, np.ndarray]

    @property
    def dimensions(self) -> tuple[str, ...]:
        return tuple(self.metadata["dimensions"])

    def labels(self, dimension: str) -> tuple[str, ...]:
        return tuple(self.metadata["dimensions"][dimension]["labels"])

    def predictor(self, dimension: str, features: Features | None = None) -> Predictor | FineTuned:
        """What gives probabilities. What was fine-tuned needs `features`, which know the base of its weights."""
        from .arrays import Predictor

        labels, arrays = self.labels(dimension), self._below(f"{dimension}/")
        if features and features.is_fine_tuned:
            return features.encoder.restored(labels, arrays)
        return Predictor(labels, self.metadata["settings"]["classifier"], arrays)

    def out_of_fold(self, dimension: str) -> dict[bytes, np.ndarray]:
        """Hash of an input that this dimension was trained on -> its probabilities by the fold that left it out."""
        keys, values = self.arrays[f"out_of_fold/{dimension}/keys"], self.arrays[f"out_of_fold/{dimension}/values"]
        return {key.tobytes(): value for key, value in zip(keys, values, strict=True)}

    def _below(self, prefix: str) -> dict[str, np.ndarray]:
        return {name.removeprefix(prefix): value for name, value in self.arrays.items() if name.startswith(prefix)}


def write(metadata: dict[str, Any], arrays: dict[str, np.ndarray]) -> str:
    """Store a model and give its id. All or nothing: a process that dies half-way leaves nothing under an id."""
    from safetensors.numpy import save_file

    folder = root()
    folder.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(folder)
    working = folder / f"working-{uuid.uuid4().hex}"
    working.mkdir()
    try:
        save_file(dict(sorted(arrays.items())), working / ARRAYS)
        text = _text(metadata | {"format": FORMAT, "arrays_sha256": _sha256(working / ARRAYS)})
        (working / METADATA).write_bytes(text)
        identifier = hashlib.sha256(text).hexdigest()
        try:
            os.rename(working, folder / identifier)
        except OSError:
            if not (folder / identifier).is_dir():
                raise
            read(identifier)  # the same model is there already, and whole
        return identifier
    finally:
        shutil.rmtree(working, ignore_errors=True)


def _remove_leftovers(folder: Path) -> None:
    """What was written by processes that died before they could put it in place."""
    for left in folder.glob("working-*"):
        if time.time() - left.stat().st_mtime > LEFT_SECONDS:
            shutil.rmtree(left, ignore_errors=True)


def read(identifier: str) -> StoredModel:
    """The model of that id; ModelError where there is none, or where a file is not what was stored."""
    if not _ID.fullmatch(identifier):
        raise ModelError(f"{identifier[:80]!r} is not the id of a trained checker (64 digits and letters a to f)")
    return _read(root() / identifier)


def _read(folder: Path) -> StoredModel:
    try:
        stamps = tuple((path.stat().st_mtime_ns, path.stat().st_size) for path in (folder / METADATA, folder / ARRAYS))
    except OSError:
        raise ModelError(f"the trained checker {folder.name} is not in {folder.parent}; train it again") from None
    return _loaded(folder, stamps)


@functools.lru_cache(maxsize=4)
def _loaded(folder: Path, stamps: tuple) -> StoredModel:
    from safetensors.numpy import load_file

    text = (folder / METADATA).read_bytes()
    if hashlib.sha256(text).hexdigest() != folder.name:
        raise ModelError(f"{folder / METADATA} was changed after training: its hash is not {folder.name}")
    metadata = json.loads(text)
    if metadata["format"] != FORMAT:
        raise ModelError(f"{folder / METADATA} is of format {metadata['format']}, and this Assay reads {FORMAT}")
    if _sha256(folder / ARRAYS) != metadata["arrays_sha256"]:
        raise ModelError(f"{folder / ARRAYS} was changed after training: its hash is not {metadata['arrays_sha256']}")
    return StoredModel(folder.name, metadata, load_file(folder / ARRAYS))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _text(metadata: dict[str, Any]) -> bytes:
    return (json.dumps(metadata, sort_keys=True, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()

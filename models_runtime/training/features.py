"""What a trained checker sees of an input: frozen sentence embeddings of both sides, and measures of shared words.

Of all pairs of a claim and a passage, the one with the greatest cosine stands for the input (the first of equals). With
`u` the claim's unit vector and `v` the passage's, the features are, in this order:

- `u`, `v`, `|u - v|` and `u * v`, each of the model's dimension. A passage of several sentences is read twice, as a
  whole and by its sentence nearest to the claim: `v` is then the sum of both vectors, scaled to length 1, so that a
  long text does not drown what it says about the claim.
- `LEXICAL`: cosines and those of `texts.measures`, which are 0 where undefined.

The representation `paired` has, before `LEXICAL`, what the encoder makes of both texts read together (module `paired`).
`embeddings` leaves out the measures, `lexical` leaves out the embeddings and needs no model: the pair and the sentence
are those that share most of the claim's words. `hidden-states` chooses as `lexical` does, and is the states of a causal
language model that reads both texts at once (module `hidden`), layer by layer. `cross-encoder` chooses like that, too,
and keeps the two texts, which are all that is learnt from (module `cross_encoder`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..checkers.embedding import Encoder
from ..contracts import CheckerInput, InputError
from ..failures import is_interruption
from ..inputs import read_claims, read_passages
from ..loading.model_files import check_name, weights_hash
from ..provenance import versions
from ..texts import cues, measures
from ..texts.splitting import content_words, sentence_offsets, words
from .cross_encoder import CrossEncoder
from .hidden import HiddenEncoder, HiddenStates
from .paired import PairReader
from .settings import FINE_TUNED

if TYPE_CHECKING:
    import numpy as np

VERSION = "1"  # raised whenever the same input may get other features
REPRESENTATIONS = {
    "combined": "Sentence embeddings and shared words",
    "paired": "These, and both texts read together",
    "embeddings": "Sentence embeddings",
    "lexical": "Shared words",
    "hidden-states": "Hidden states of a language model",
    FINE_TUNED: "None: a transformer is fine-tuned on both texts",
}
HIDDEN, PAIRED = "hidden-states", "paired"
LEXICAL = (
    "overlap",
    "content_overlap",
    "sentence_overlap",
    "jaccard",
    "bigram_overlap",
    "number_overlap",
    "claim_negates",
    "evidence_negates",
    "sentence_negates",
    "claim_contradicts",
    "evidence_contradicts",
    "sentence_contradicts",
    "negation_mismatch",
    "contradiction_mismatch",
    "repeats_claim",
    "contains_true",
    "contains_false",
    "claim_words",
    "evidence_words",
    "sentences",
    "flesch",
)
COSINES = ("cosine", "sentence_cosine")
MODEL = "all-MiniLM-L6-v2"
_NUMBER = re.compile(r"\d")


def check_encoder(name: str) -> None:
    """ParameterError unless `name` can name an encoder, and one that may be named here."""
    if name != MODEL:
        check_name("encoder", name)


@dataclass(frozen=True, slots=True)
class FeatureRow:
    """The features of one input (floats, in the order above; of a cross-encoder two texts), and where it looked.

    `field` is `evidence` or `passages[i]`; `start` and `end` are the sentence that decided, in code points of it.
    """

    values: np.ndarray
    field: str
    start: int
    end: int
    quote: str
    nearness: float  # of that sentence to the claim
    pair: tuple[str, str]  # the claim and the text that stand for the input


@dataclass(frozen=True, slots=True)
class _Pair:
    claim: str
    field: str
    text: str
    sentences: list[tuple[int, int]]

    @property
    def texts(self) -> tuple[str, str]:
        return self.claim.strip(), self.text.strip()

    def sentence(self, index: int) -> str:
        start, end = self.sentences[index]
        return self.text[start:end]


class Features:
    """Turns inputs into rows of numbers. Models are loaded when they are first needed."""

    def __init__(
        self,
        representation: str = "combined",
        device: str = "auto",
        hidden: HiddenStates | None = None,
        encoder: str = MODEL,
    ) -> None:
        if representation not in REPRESENTATIONS:
            raise ValueError(f"{representation!r} is not one of {', '.join(REPRESENTATIONS)}")
        if (representation == HIDDEN) != (hidden is not None):
            raise ValueError(f"{HIDDEN} need a model and its layers, and nothing else does")
        self.representation, self.device, self.hidden, self.encoder_name = representation, device, hidden, encoder
        self._encoder = None
        self._reader: PairReader | None = None

    @classmethod
    def of(cls, described: Mapping[str, Any], device: str) -> Features:
        """As `describe` gives it for others."""
        hidden = None
        if described["representation"] == HIDDEN:
            hidden = HiddenStates(described["encoder"], described["layers"], described["pooling"])
        return cls(described["representation"], device, hidden, described.get("encoder", MODEL))

    @property
    def encoder(self):
        if self._encoder is None:
            if self.hidden:
                self._encoder = HiddenEncoder(self.hidden, self.device)
            elif self.is_fine_tuned:
                self._encoder = CrossEncoder(self.encoder_name, self.device)
            else:
                self._encoder = Encoder(self.encoder_name, self.device)
        return self._encoder

    @property
    def is_fine_tuned(self) -> bool:
        return self.representation == FINE_TUNED

    @property
    def uses_embeddings(self) -> bool:
        return self.representation in ("combined", PAIRED, "embeddings")

    def describe(self) -> dict[str, Any]:
        """What the features depend on. JSON."""
        description = {"representation": self.representation, "features": VERSION}
        libraries = ["spacy"]
        if self.hidden or self.is_fine_tuned:
            description |= self.encoder.describe()
            libraries += ["transformers", "torch"]
        elif self.uses_embeddings:
            revision = f"sha256:{weights_hash(self.encoder.folder)}"
            description |= {"encoder": self.encoder_name, "encoder_revision": revision}
            libraries += ["sentence-transformers", "transformers", "torch"]
        return description | {"libraries": versions(*libraries)}

    def used_device(self) -> str:
        if self.hidden:
            return self.encoder.loaded.device
        if self.is_fine_tuned:
            return self.encoder.device
        return str(self.encoder.model.device) if self.uses_embeddings else "cpu"

    def lexical_from(self, width: int) -> int:
        """The place where the measures of shared words begin among `width` features; `width` where there are none."""
        if self.representation in ("embeddings", HIDDEN, FINE_TUNED):
            return width
        return max(0, width - len(LEXICAL) - len(COSINES))

    def parts(self) -> int:
        """Into how many parts of equal size the features fall that a classifier of its own should learn from."""
        return len(self.encoder.places) if self.hidden else 1

    def rows(self, inputs: Sequence[CheckerInput]) -> list[FeatureRow | Exception]:
        """A row per input, or why there is none: an InputError, or what nobody foresaw."""
        read = [_read(item) for item in inputs]
        if self.hidden:
            return self._hidden_rows(read)
        texts = [text for pairs in read if isinstance(pairs, list) for pair in pairs for text in _texts(pair)]
        embedded = self.encoder.embed(texts) if self.uses_embeddings else None
        rows = [_attempt(self._row, pairs, embedded) if isinstance(pairs, list) else pairs for pairs in read]
        return self._with_pairs(rows) if self.representation == PAIRED else rows

    def _with_pairs(self, rows: list[FeatureRow | Exception]) -> list[FeatureRow | Exception]:
        """The rows with the states of the pairs that they stand for put before the measures."""
        import numpy as np

        if self._reader is None:
            self._reader = PairReader(self.encoder.model, self.encoder.batcher.token_budget)
        places = [place for place, row in enumerate(rows) if isinstance(row, FeatureRow)]
        outcome = self._reader.states([rows[place].pair for place in places])
        measures = len(LEXICAL) + len(COSINES)
        for index, place in enumerate(places):
            if error := outcome.failures.get(index):
                message = f"{type(error).__name__}: {error}"
                rows[place] = InputError("encoding-failed", message, permanent=False)
            else:
                values = rows[place].values
                parts = [values[:-measures], outcome.values[index], values[-measures:]]
                rows[place] = replace(rows[place], values=np.concatenate(parts))
        return rows

    def _hidden_rows(self, read: Sequence[list[_Pair] | Exception]) -> list[FeatureRow | Exception]:
        rows: list[Any] = list(read)
        chosen = {place: _nearest_by_words(pairs) for place, pairs in enumerate(read) if isinstance(pairs, list)}
        outcome = self.encoder.states([(pair.claim, pair.text) for pair, _, _ in chosen.values()])
        for index, (place, (pair, sentence, nearness)) in enumerate(chosen.items()):
            error = outcome.failures.get(index)
            if error is not None and not isinstance(error, InputError):
                error = InputError("encoding-failed", f"{type(error).__name__}: {error}", permanent=False)
            start, end = pair.sentences[sentence]
            rows[place] = error or FeatureRow(
                outcome.values[index].reshape(-1),
                pair.field,
                start,
                end,
                pair.sentence(sentence),
                nearness,
                pair.texts,
            )
        return rows

    def _row(self, pairs: list[_Pair], embedded) -> FeatureRow:
        import numpy as np

        if embedded is None:
            pair, place, nearness = _nearest_by_words(pairs)
            if self.is_fine_tuned:
                start, end = pair.sentences[place]
                texts = np.array(pair.texts, dtype=object)
                return FeatureRow(texts, pair.field, start, end, pair.sentence(place), nearness, pair.texts)
            return _row_of([], pair, place, nearness)
        for text in {text for pair in pairs for text in _texts(pair)}:
            if text in embedded.failures:
                error = embedded.failures[text]
                raise InputError("encoding-failed", f"{type(error).__name__}: {error}", permanent=False)
        # The first of equals.
        pair = max(pairs, key=lambda one: _cosine(embedded.vectors, one, one.text.strip()))
        cosines = [_cosine(embedded.vectors, pair, pair.sentence(index)) for index in range(len(pair.sentences))]
        place = max(range(len(cosines)), key=cosines.__getitem__)
        return self._embedded_row(pair, place, cosines[place], embedded.vectors)

    def _embedded_row(self, pair: _Pair, place: int, nearness: float, vectors: dict) -> FeatureRow:
        import numpy as np

        u = vectors[pair.claim.strip()].astype(np.float64)
        whole, sentence = (vectors[text].astype(np.float64) for text in (pair.text.strip(), pair.sentence(place)))
        v = whole + sentence
        v /= max(float(np.linalg.norm(v)), 1e-12)
        blocks = [u, v, np.abs(u - v), u * v]
        if self.representation == "embeddings":
            start, end = pair.sentences[place]
            values = np.concatenate(blocks)
            return FeatureRow(values, pair.field, start, end, pair.sentence(place), nearness, pair.texts)
        return _row_of([*blocks, np.array([u @ whole, nearness])], pair, place, nearness)


def _row_of(blocks: list, pair: _Pair, place: int, nearness: float) -> FeatureRow:
    import numpy as np

    start, end = pair.sentences[place]
    values = np.concatenate([*blocks, np.array(_measures(pair, place))])
    return FeatureRow(values, pair.field, start, end, pair.sentence(place), nearness, pair.texts)


def _read(item: CheckerInput) -> list[_Pair] | Exception:
    def read() -> list[_Pair]:
        passages = [(field, text, sentence_offsets(text)) for field, text in read_passages(item)]
        return [_Pair(claim, *passage) for claim in read_claims(item) for passage in passages]

    return _attempt(read)


def _attempt(function, *arguments):
    """What the function gives, or its exception: one bad input fails alone."""
    try:
        return function(*arguments)
    except Exception as error:
        if is_interruption(error):
            raise
        return error.with_traceback(None)


def _texts(pair: _Pair) -> list[str]:
    return [pair.claim.strip(), pair.text.strip(), *(pair.sentence(index) for index in range(len(pair.sentences)))]


def _cosine(vectors: dict, pair: _Pair, text: str) -> float:
    return float(vectors[pair.claim.strip()] @ vectors[text])


def _nearest_by_words(pairs: list[_Pair]) -> tuple[_Pair, int, float]:
    """The pair and the sentence of it that share most of the claim's words; the first of equals."""
    nearest = []
    for pair in pairs:
        claim_words = set(words(pair.claim))
        shared = [
            measures.claim_overlap(claim_words, set(words(pair.sentence(index)))) or 0.0
            for index in range(len(pair.sentences))
        ]
        place = max(range(len(shared)), key=shared.__getitem__)
        nearest.append((pair, place, shared[place]))
    return max(nearest, key=lambda one: one[2])


def _measures(pair: _Pair, place: int) -> list[float]:
    """The numbers of `LEXICAL`, in its order; what is undefined is 0."""
    claim, evidence, sentence = words(pair.claim), words(pair.text), words(pair.sentence(place))
    claim_set, evidence_set = set(claim), set(evidence)
    numbers = {word for word in claim_set if _NUMBER.search(word)}
    content = set(content_words(pair.claim))
    of_claim, of_evidence, of_sentence = map(cues.kinds, (claim, evidence, sentence))
    measures_of = {
        "overlap": measures.claim_overlap(claim_set, evidence_set),
        "content_overlap": measures.claim_overlap(content, evidence_set),
        "sentence_overlap": measures.claim_overlap(claim_set, set(sentence)),
        "jaccard": measures.jaccard(claim_set, evidence_set),
        "bigram_overlap": measures.claim_overlap(_bigrams(claim), _bigrams(evidence)),
        "number_overlap": measures.claim_overlap(numbers, evidence_set),
        "claim_negates": "negation" in of_claim,
        "evidence_negates": "negation" in of_evidence,
        "sentence_negates": "negation" in of_sentence,
        "claim_contradicts": "contradiction" in of_claim,
        "evidence_contradicts": "contradiction" in of_evidence,
        "sentence_contradicts": "contradiction" in of_sentence,
        "negation_mismatch": ("negation" in of_claim) != ("negation" in of_sentence),
        "contradiction_mismatch": ("contradiction" in of_claim) != ("contradiction" in of_sentence),
        "repeats_claim": measures.repeats_claim(pair.claim, pair.text),
        "contains_true": measures.mentions(pair.text, "true"),
        "contains_false": measures.mentions(pair.text, "false"),
        "claim_words": math.log1p(len(claim)),
        "evidence_words": math.log1p(len(evidence)),
        "sentences": math.log1p(len(pair.sentences)),
        "flesch": measures.flesch_reading_ease(pair.text),
    }
    return [float(measures_of[name] or 0.0) for name in LEXICAL]


def _bigrams(text: list[str]) -> set[tuple[str, str]]:
    return set(zip(text, text[1:], strict=False))

"""Judging by shared words alone: the measures of DRUID 4.1 that need no model, and a plain rule to a label.

The rule, for one passage, with `overlap` = distinct shared words / distinct words of the claim:

- relevance = logistic((overlap - relevance_threshold) / softness)
- strength  = logistic((overlap - support_threshold) / softness)
- support   = strength, or -strength where the sentence with the greatest overlap and the claim differ in negation or
  contradiction cues (`cues.mismatch`)

and from there as in `labelling`. So with labels at -1, 0 and 1 a passage supports (or refutes) above support_threshold
and is neutral up to it. The rationale is the sentence that shares most words with the claim. It is a baseline to beat:
it sees neither synonyms nor word order. The default thresholds suit single sentences (they do best on CLIMATE-FEVER);
long passages share more words by chance and want greater ones.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from typing import Any

from .. import characteristics
from ..contracts import CheckerInfo, CheckerInput, InputError, LabelSpace, PredictedSpan, Prediction
from ..inputs import answer_each, read_claim, read_passages
from ..labelling import Reading, answer, check_spaces, deciding, kept_spans, label, logistic
from ..text import sentence_offsets, words
from . import cues


class LexicalChecker:
    def __init__(self, info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> None:
        check_spaces(spaces)
        self.info, self.spaces, self.parameters = info, spaces, parameters

    def describe(self) -> dict[str, Any]:
        return {
            "checker": self.info.slug,
            "version": self.info.version,
            "model": "",
            "revision": "",
            "parameters": dict(self.parameters),
            "device": "cpu",
            "libraries": {"spacy": importlib.metadata.version("spacy")},
            "dimensions": [space.dimension for space in self.spaces],
        }

    def predict(self, inputs: Sequence[CheckerInput]) -> list[Prediction]:
        return answer_each(inputs, self._answer)

    def _answer(self, item: CheckerInput) -> Prediction:
        claim = read_claim(item)
        claim_words = set(words(claim))
        if not claim_words:
            raise InputError("no-words", "claim has no words, so the overlap is undefined")
        passages = read_passages(item)
        readings = [self._read(claim, claim_words, field, passage) for field, passage in passages]
        best = readings[deciding(self.spaces, readings)]
        labels = answer(self.spaces, lambda space: label(space, best.relevance, best.support))
        return Prediction(item.id, labels, best.scores, kept_spans(self.spaces, labels, best.rationale))

    def _read(self, claim: str, claim_words: set[str], field: str, passage: str) -> Reading:
        sentences = [(start, end, words(passage[start:end])) for start, end in sentence_offsets(passage)]
        passage_words = set(words(passage))
        overlap = characteristics.claim_overlap(claim_words, passage_words)
        # The first of equals.
        start, end, sentence_words = max(sentences, key=lambda sentence: len(claim_words.intersection(sentence[2])))
        sentence_overlap = characteristics.claim_overlap(claim_words, set(sentence_words))
        opposed = cues.mismatch(claim_words, sentence_words)
        strength = logistic(overlap, self.parameters["support_threshold"], self.parameters["softness"])
        support = -strength if opposed else strength
        scores = {
            "overlap": overlap,
            "jaccard": characteristics.jaccard(claim_words, passage_words),
            "sentence_overlap": sentence_overlap,
            "support": support,
            "cue_mismatch": float(opposed),
            "repeats_claim": float(characteristics.repeats_claim(claim, passage)),
            "contains_true": float(characteristics.mentions(passage, "true")),
            "contains_false": float(characteristics.mentions(passage, "false")),
            "claim_length": float(len(claim)),
            "evidence_length": float(len(passage)),
            "evidence_flesch": characteristics.flesch(sentence[2] for sentence in sentences),
        }
        span = PredictedSpan(field, start, end, passage[start:end], sentence_overlap) if sentence_overlap else None
        relevance = logistic(overlap, self.parameters["relevance_threshold"], self.parameters["softness"])
        return Reading(relevance, support, scores, span)


build = LexicalChecker

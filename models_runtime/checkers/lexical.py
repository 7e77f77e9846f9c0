"""Judging by shared words alone: the measures of DRUID 4.1 that need no model, and a plain rule to a label.

A text of more than `window_words` words is read in windows of whole sentences of at most that many (RefChecker's
segments), since a long text shares some words with anything. The rule, for one window, with `overlap` = distinct
shared words / distinct words of the claim:

- relevance = logistic((overlap - relevance_threshold) / softness)
- strength  = logistic((overlap - support_threshold) / softness)
- support   = strength, or -strength where the sentence with the greatest overlap and the claim differ in negation or
  contradiction cues (`cues.mismatch`)

and from there as in `labelling`. So with labels at -1, 0 and 1 a passage supports (or refutes) above support_threshold
and is neutral up to it. Asked for coverage or correctness, stop words of the claim do not count, unless it has no
other words: claims are short then, and any text has "the". The rationale is the sentence that shares most words with
the claim, in the window that decided.

It is a baseline to beat: it sees neither synonyms nor word order. The default thresholds suit single sentences (they
do best on CLIMATE-FEVER); long passages share more words by chance and want greater ones. The scores `overlap` and
`jaccard` are those of the whole text whatever its length; `window_overlap` is what the rule went by.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..contracts import (
    ROLES,
    CheckerInfo,
    CheckerInput,
    InputError,
    LabelSpace,
    ParameterInfo,
    PredictedSpan,
    Prediction,
    ScoreInfo,
)
from ..inputs import answer_each, read_claims, read_passages
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
from ..packages import SPACY
from ..provenance import dimensions_of, provenance, versions
from ..texts import cues, measures
from ..texts.splitting import content_words, sentence_offsets, windows, words

INFO = CheckerInfo(
    slug="lexical",
    version="2",
    kind="lexical",
    title="Shared words",
    summary="Counts the claim's words that the evidence shares, and reverses the answer where only one is negated.",
    roles=ROLES,
    needs="cpu",
    packages=(SPACY,),
    licence="GPL-3.0-or-later",
    parameters=(
        ParameterInfo("relevance_threshold", "Overlap above which evidence is relevant", "float", 0.1, 0, 1),
        ParameterInfo("support_threshold", "Overlap above which evidence takes a side", "float", 0.3, 0, 1),
        ParameterInfo(
            "softness", "Softness", "float", 0.1, 0.001, 1, hint="The greater, the more slowly probabilities rise."
        ),
        ParameterInfo(
            "window_words",
            "Words in a window",
            "int",
            200,
            1,
            1_000_000,
            hint="Longer texts are read in windows of whole sentences.",
        ),
    ),
    scores=(
        ScoreInfo("overlap", "Claim words found in the evidence", 0, 1),
        ScoreInfo("window_overlap", "Claim words found in the window that decided", 0, 1),
        ScoreInfo("jaccard", "Jaccard similarity of words", 0, 1),
        ScoreInfo("sentence_overlap", "Claim words found in the nearest sentence", 0, 1),
        SUPPORT,
        CUE_MISMATCH,
        ScoreInfo("repeats_claim", "Evidence repeats the claim verbatim", 0, 1),
        ScoreInfo("contains_true", "Evidence contains 'true'", 0, 1),
        ScoreInfo("contains_false", "Evidence contains 'false'", 0, 1),
        ScoreInfo("claim_length", "Claim length (characters)", 0),
        ScoreInfo("evidence_length", "Evidence length (characters)", 0),
        ScoreInfo("evidence_flesch", "Flesch reading ease of the evidence"),
    ),
)


class LexicalChecker:
    def __init__(self, info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> None:
        check_spaces(spaces)
        self.info, self.spaces, self.parameters = info, spaces, parameters

    def describe(self) -> dict[str, Any]:
        return provenance(
            self.info, self.parameters, libraries=versions("spacy"), dimensions=dimensions_of(self.spaces)
        )

    def predict(self, inputs: Sequence[CheckerInput]) -> list[Prediction]:
        return answer_each(inputs, self._answer)

    def _answer(self, item: CheckerInput) -> Prediction:
        if prediction := without_answer(self.spaces, item, [score.name for score in self.info.scores]):
            return prediction
        claims = [(claim, counted) for claim in read_claims(item) if (counted := self._counted_words(claim))]
        if not claims:
            raise InputError("no-words", "claim has no words, so the overlap is undefined")
        passages = [_Passage(field, passage, *_sentences(passage)) for field, passage in read_passages(item)]
        decided = []
        for claim, counted in claims:
            readings = [reading for passage in passages for reading in self._read(claim, counted, passage)]
            decided.append(readings[deciding(self.spaces, readings)])
        best = best_alternative(self.spaces, decided)
        labels = answer(self.spaces, lambda space: label(space, best.relevance, best.support))
        scores = {score.name: best.scores[score.name] for score in self.info.scores}
        return Prediction(item.id, labels, scores, kept_spans(self.spaces, labels, best.rationale))

    def _counted_words(self, claim: str) -> set[str]:
        is_sought = any(space.role in ("coverage", "correctness") for space in self.spaces)
        return (set(content_words(claim)) if is_sought else set()) or set(words(claim))

    def _read(self, claim: str, counted: set[str], passage: _Passage) -> list[Reading]:
        """A reading of every window; what is measured of the whole text is the same in all."""
        text = passage.text
        of_text = {
            "overlap": measures.claim_overlap(counted, passage.words),
            "jaccard": measures.jaccard(set(words(claim)), passage.words),
            "repeats_claim": float(measures.repeats_claim(claim, text)),
            "contains_true": float(measures.mentions(text, "true")),
            "contains_false": float(measures.mentions(text, "false")),
            "claim_length": float(len(claim)),
            "evidence_length": float(len(text)),
            "evidence_flesch": passage.flesch,
        }
        claim_words = words(claim)
        return [
            self._read_window(claim_words, counted, passage, window, of_text)
            for window in windows([len(found) for _, _, found in passage.sentences], self.parameters["window_words"])
        ]

    def _read_window(
        self, claim_words: list[str], counted: set[str], passage: _Passage, window: range, of_text: dict
    ) -> Reading:
        sentences = [passage.sentences[place] for place in window]
        overlap = measures.claim_overlap(counted, {word for _, _, found in sentences for word in found})
        # The first of equals.
        start, end, sentence_words = max(sentences, key=lambda sentence: len(counted.intersection(sentence[2])))
        sentence_overlap = measures.claim_overlap(counted, set(sentence_words))
        opposed = cues.mismatch(claim_words, sentence_words)
        strength = logistic(overlap, self.parameters["support_threshold"], self.parameters["softness"])
        support = -strength if opposed else strength
        scores = of_text | {
            "window_overlap": overlap,
            "sentence_overlap": sentence_overlap,
            "support": support,
            "cue_mismatch": float(opposed),
        }
        quote = passage.text[start:end]
        span = PredictedSpan(passage.field, start, end, quote, sentence_overlap) if sentence_overlap else None
        relevance = logistic(overlap, self.parameters["relevance_threshold"], self.parameters["softness"])
        return Reading(relevance, support, scores, span)


@dataclass(frozen=True, slots=True)
class _Passage:
    field: str
    text: str
    sentences: tuple[tuple[int, int, list[str]], ...]  # start, end, words
    words: frozenset[str]
    flesch: float | None


# Inputs come in the order of their units: the aspects of one answer, or its triplets, look into the same texts.
@functools.lru_cache(maxsize=64)
def _sentences(text: str) -> tuple[tuple[tuple[int, int, list[str]], ...], frozenset[str], float | None]:
    """Sentences with their words, the words of all, and the reading ease."""
    sentences = tuple((start, end, words(text[start:end])) for start, end in sentence_offsets(text))
    return sentences, frozenset(words(text)), measures.flesch(sentence[2] for sentence in sentences)


build = LexicalChecker

"""Pairs of gold evidence and generated sentences, as the study of knowledge leakage in query expansion makes them.

Yoon, Jung, Yoon, Park (2025), "Hypothetical Documents or Knowledge Leakage? Rethinking LLM-based Query Expansion",
section 3.3: the document that a model generated for a claim is divided into sentences, sentences that reproduce the
claim are removed, and every (gold evidence, sentence) is labelled by natural language inference with the evidence as
the premise. The claim is matched if any of its pairs is entailment.

>>> claim = "The harbour of Lindau froze over in 1963."
>>> document = "The harbour of Lindau froze over in 1963. Ferries stopped!\\n***\\nFerries stopped!"
>>> found = document_sentences(claim, document)
>>> [(sentence.text, sentence.start, sentence.times) for sentence in found.kept]
[('Ferries stopped!', 42, 2)]
>>> [(sentence.text, reason) for sentence, reason in found.dropped if reason != DUPLICATE]
[('The harbour of Lindau froze over in 1963.', 'reproduces the claim'), ('***', 'has no word')]
>>> [(place, sentence.text) for place, sentence in matching_pairs(claim, ["No ferry ran in 1963."], document)]
[(0, 'Ferries stopped!')]
"""

from __future__ import annotations

import functools
import importlib.util
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from .splitting import sentence_offsets

# The study's threshold, which its authors chose by looking at sentences.
THRESHOLD = 0.95
# The study used en_core_web_lg. Packages of models are not on PyPI, so those who want the study's borders install one.
SENTENCIZER = "sentencizer"
MODELS = ("en_core_web_lg", "en_core_web_md", "en_core_web_sm")

REPRODUCED, WORDLESS, DUPLICATE = "reproduces the claim", "has no word", "stands in the document before"
REASONS = (REPRODUCED, WORDLESS, DUPLICATE)


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text` is document[start:end], in code points; `place` counts all sentences of the document from 0, dropped ones
    too, so that it does not depend on the threshold."""

    place: int
    start: int
    end: int
    text: str
    rouge_2: float  # F-measure against the claim
    times: int = 1  # how often the document says exactly this


@dataclass(frozen=True, slots=True)
class DocumentSentences:
    kept: tuple[Sentence, ...]
    dropped: tuple[tuple[Sentence, str], ...]  # with the reason, one of REASONS


@dataclass(frozen=True, slots=True)
class Rouge2:
    precision: float
    recall: float
    fmeasure: float


def installed_segmenters() -> tuple[str, ...]:
    """What can divide a text into sentences here, best first: spaCy's English models that are installed, and the
    rule-based sentencizer of its blank English pipeline; none without spaCy. Imports nothing."""
    if importlib.util.find_spec("spacy") is None:
        return ()
    return (*(name for name in MODELS if importlib.util.find_spec(name) is not None), SENTENCIZER)


def sentences(text: str, segmenter: str = SENTENCIZER) -> list[tuple[int, int]]:
    """(start, end) of every sentence in code points, without the white space around it.

    `segmenter` is one of `installed_segmenters()`; an unknown one raises ValueError, as does a text that is too long
    for the model.
    """
    if segmenter == SENTENCIZER:
        return sentence_offsets(text)
    pipeline = _pipeline(segmenter)
    if len(text) > pipeline.max_length:
        raise ValueError(
            f"has {len(text):,} characters; {segmenter} takes {pipeline.max_length:,}, the sentencizer any number"
        )
    matched = []
    for sentence in pipeline(text).sents:
        part = text[sentence.start_char : sentence.end_char]
        start = sentence.start_char + len(part) - len(part.lstrip())
        end = sentence.start_char + len(part.rstrip())
        if start < end:
            matched.append((start, end))
    return matched


@functools.cache
def _pipeline(name: str):
    if name not in MODELS:
        raise ValueError(f"There is no sentence segmenter {name!r}; available: {', '.join((*MODELS, SENTENCIZER))}")
    import spacy

    return spacy.load(name, exclude=["ner", "lemmatizer", "attribute_ruler", "tagger"])


_WORD = re.compile(r"[^\W_]+")


def rouge_words(text: str) -> list[str]:
    """Lower-cased runs of letters and digits. On ASCII exactly the tokens of rouge-score 0.1.2 (which the study used)
    without stemming; that package drops letters outside ASCII, here they are kept."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).lower())


def rouge_2(target: str, prediction: str) -> Rouge2:
    """ROUGE-2 (Lin 2004): the overlap of word bigrams, each counted as often as both texts have it.

    Recall is the share of the target's bigrams, precision that of the prediction's, fmeasure their harmonic mean. A
    text of fewer than two words has no bigram; all three are then 0, as in rouge-score.

    >>> rouge_2("the harbour froze over", "In 1963 the harbour froze over")
    Rouge2(precision=0.6, recall=1.0, fmeasure=0.75)
    """
    return _rouge(_bigrams(rouge_words(target)), _bigrams(rouge_words(prediction)))


def _bigrams(words: Sequence[str]) -> Counter:
    return Counter(zip(words, words[1:], strict=False))


def _rouge(target: Counter, prediction: Counter) -> Rouge2:
    n_target, n_prediction = target.total(), prediction.total()
    if not (n_target and n_prediction):
        return Rouge2(0.0, 0.0, 0.0)
    shared = (target & prediction).total()
    # 2PR / (P + R), written so that no rounding moves a score across the threshold.
    return Rouge2(shared / n_prediction, shared / n_target, 2 * shared / (n_target + n_prediction))


def document_sentences(
    claim: str, document: str, threshold: float = THRESHOLD, segmenter: str = SENTENCIZER
) -> DocumentSentences:
    """The sentences of a document that are compared with the evidence, and those that are not, with the reason.

    Dropped are sentences without a letter or digit, those that reproduce the claim, and repetitions. A sentence
    reproduces the claim if the F-measure of ROUGE-2 is at least `threshold`, or if it has the same words in the same
    order (which tells where a claim is too short for bigrams). The paper names the measure and the threshold but not
    which of the three numbers it took: the F-measure drops what says as much as the claim and no more, whereas recall
    would drop a sentence that repeats the claim and goes on to say something that only the evidence could tell.
    """
    words = rouge_words(claim)
    of_claim = _bigrams(words)
    kept: dict[str, Sentence] = {}
    dropped = []
    for place, (start, end) in enumerate(sentences(document, segmenter)):
        text = document[start:end]
        own = rouge_words(text)
        score = _rouge(of_claim, _bigrams(own)).fmeasure
        sentence = Sentence(place, start, end, text, score)
        if not any(character.isalnum() for character in text):
            dropped.append((sentence, WORDLESS))
        elif score >= threshold or own == words:
            dropped.append((sentence, REPRODUCED))
        elif text in kept:
            kept[text] = replace(kept[text], times=kept[text].times + 1)
            dropped.append((sentence, DUPLICATE))
        else:
            kept[text] = sentence
    return DocumentSentences(tuple(kept.values()), tuple(dropped))


def matching_pairs(
    claim: str,
    evidences: Sequence[str],
    document: str,
    threshold: float = THRESHOLD,
    segmenter: str = SENTENCIZER,
) -> Iterator[tuple[int, Sentence]]:
    """Every (place of the gold evidence, sentence of the document): the evidence is the premise, the sentence the
    hypothesis. See `document_sentences` for what is left out."""
    kept = document_sentences(claim, document, threshold, segmenter).kept
    for place in range(len(evidences)):
        for sentence in kept:
            yield place, sentence

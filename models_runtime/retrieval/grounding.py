"""Which claims a corpus supports, and from where (ICAT, section 4.3, and its public code).

The passages that a retriever ranks first for a claim are judged by natural language inference, with the passage as the
premise. The claim is grounded if the entailment probability of any of them is above the threshold; the first such
passage, in the order of the ranking, is its source. ICAT has passages of 128 words with 32 of the one before (chunker
`words-128-32`), a dense index, the first 10 passages and a threshold of 0.5.

A claim for which no passage is found is not grounded; its greatest entailment is undefined. Where one of its passages
cannot be judged, the claim has an error, since the source might be that one.

>>> from models_runtime import load, load_retriever
>>> from models_runtime.retrieval.contracts import Document, Query
>>> retriever = load_retriever("bm25")
>>> retriever.index([Document("a", "Ovens bake bread."), Document("b", "In spring the ice melts.")])
>>> (found,) = ground([Query("1", "The ice melts in spring")], retriever, load("lexical", ENTAILED))
>>> found.is_grounded, found.source.passage.document, found.source.rank
(True, 'b', 1)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..contracts import Checker, CheckerInput, LabelSpace, Prediction, PredictionError, Usage
from .contracts import PassageHit, Query, Ranking, Retriever

# What checkers are asked about a claim and a passage; the probability of the first label is that of entailment.
ENTAILED = LabelSpace("grounded", "entailment", (("entailed", 1.0), ("not_entailed", 0.0)))
THRESHOLD, TOP = 0.5, 10


@dataclass(frozen=True, slots=True)
class Grounding:
    """`probabilities[i]` is that of `hits[i]` entailing the claim. `is_grounded` is None where there is an error."""

    id: str
    is_grounded: bool | None
    source: PassageHit | None = None
    hits: tuple[PassageHit, ...] = ()
    probabilities: tuple[float, ...] = ()
    error: PredictionError | None = None
    usage: Usage | None = None

    @property
    def greatest(self) -> float | None:
        return max(self.probabilities, default=None)


def ground(
    claims: Sequence[Query],
    retriever: Retriever,
    checker: Checker,
    threshold: float = THRESHOLD,
    top: int = TOP,
) -> list[Grounding]:
    """One grounding per claim, in their order. `retriever` has its index, `checker` was loaded for ENTAILED."""
    return judge(claims, retriever.search(claims, top), checker, threshold)


def judge(
    claims: Sequence[Query], rankings: Sequence[Ranking], checker: Checker, threshold: float = THRESHOLD
) -> list[Grounding]:
    """The same for rankings that were made before; each is its claim's."""
    places = [(number, place) for number, one in enumerate(rankings) for place in range(len(one.hits))]
    inputs = [
        CheckerInput(
            f"{number}/{place}",
            {"claim": claims[number].text, "evidence": rankings[number].hits[place].passage.text},
        )
        for number, place in places
    ]
    judged: list[list[Prediction]] = [[] for _ in claims]
    for (number, _), prediction in zip(places, checker.predict(inputs) if inputs else [], strict=True):
        judged[number].append(prediction)
    return [_grounding(ranking, judgement, threshold) for ranking, judgement in zip(rankings, judged, strict=True)]


def _grounding(ranking: Ranking, judged: Sequence[Prediction], threshold: float) -> Grounding:
    usages = [one.usage for one in (ranking, *judged) if one.usage]
    usage = sum(usages, Usage()) if usages else None
    error = ranking.error or next((one.error for one in judged if one.error), None)
    if error:
        return Grounding(ranking.id, None, hits=ranking.hits, error=error, usage=usage)
    probabilities = tuple(one.labels[ENTAILED.dimension].probabilities["entailed"] for one in judged)
    place = source_place(probabilities, threshold)
    source = None if place is None else ranking.hits[place]
    return Grounding(ranking.id, source is not None, source, ranking.hits, probabilities, usage=usage)


def source_place(probabilities: Sequence[float], threshold: float = THRESHOLD) -> int | None:
    """The place of the first probability above the threshold, or None.

    >>> source_place([0.2, 0.5, 0.6, 0.9]), source_place([0.5]), source_place([])
    (2, None, None)
    """
    return next((place for place, value in enumerate(probabilities) if value > threshold), None)

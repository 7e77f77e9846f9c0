"""Whether the texts that a unit comes with support its claim, by the rule of `retrieval.grounding`: they are cut into
passages, ranked for the claim, and the first ones judged by a checker.

| score | what it is | undefined |
|---|---|---|
| grounded | 1 where any of the first passages entails the claim | |
| max_entailment | the greatest entailment probability of them | no passage was found |
| source_rank | the rank of the first passage that entails the claim | there is none |
| source_passage | the place of its text among the unit's, from 1 | there is none |

Only a unit's own texts are searched, so BM25 counts words in these alone, and a unit's scores do not hang on others.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from ..building import build_entry
from ..checkers import lexical, nli
from ..checkers.embedding import PACKAGED_MODEL
from ..contracts import CheckerInfo, CheckerInput, InputError, LabelSpace, ParameterInfo, Prediction, ScoreInfo
from ..failures import is_interruption
from ..inputs import failed, read_claim, read_passages
from ..loading.parameters import DEVICE
from ..packages import BM25S, SPACY, TORCH, TRANSFORMERS
from ..provenance import provenance
from ..retrieval import bm25, dense
from ..retrieval.contracts import Document, Query, Ranking
from ..retrieval.grounding import ENTAILED, Grounding, judge

# A passage is judged as a whole wherever it fits the model's window.
_SEGMENT_TOKENS = 512
CHECKERS = {"nli": nli, "lexical": lexical}
RETRIEVERS = {"bm25": bm25, "dense": dense}
_Texts = tuple[tuple[str, str], ...]  # the field's name, and its text
PARAMETERS = (
    ParameterInfo(
        "checker",
        "Checker of passages",
        "str",
        "nli",
        choices=("nli", "lexical"),
        hint="nli: the inference model below. lexical: shared words, without a model.",
    ),
    ParameterInfo(
        "model",
        "Inference model",
        "model",
        nli.MODEL,
        hint="A name on the Hugging Face Hub, or the absolute path of a folder on the workers' machine.",
    ),
    ParameterInfo("retriever", "Retriever", "str", "bm25", choices=("bm25", "dense")),
    ParameterInfo(
        "embeddings",
        "Embedding model",
        "model",
        PACKAGED_MODEL,
        hint="For dense: a name on the Hugging Face Hub, or the absolute path of a folder on the workers' machine.",
    ),
    ParameterInfo("top", "Passages per claim", "int", 10, 1, 1000, hint="ICAT uses 10."),
    ParameterInfo("threshold", "Threshold", "float", 0.5, 0, 1, hint="Of the entailment probability; ICAT uses 0.5."),
    ParameterInfo("chunk_words", "Words in a passage", "int", 128, 1, 1_000_000),
    ParameterInfo("chunk_overlap", "Words shared with the previous passage", "int", 32, 0, 999_999),
    DEVICE,
)
INFO = CheckerInfo(
    slug="grounding",
    version="1",
    kind="grounding",
    title="Grounding",
    summary="Splits the texts into passages, ranks them for the claim, and finds the first that entails it.",
    roles=(),
    needs="cpu",
    packages=(BM25S, TORCH, TRANSFORMERS, SPACY),
    model=nli.MODEL,
    licence="MIT",
    gives="scores",
    parameters=PARAMETERS,
    scores=(
        ScoreInfo("grounded", "A passage entails the claim", 0, 1),
        ScoreInfo("max_entailment", "Greatest entailment of the passages judged", 0, 1),
        ScoreInfo("source_rank", "Rank of the source", 1),
        ScoreInfo("source_passage", "Place of the text that the source is from", 1),
    ),
)


class GroundingScorer:
    def __init__(self, info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> None:
        self.info, self.parameters = info, parameters
        chunking = {"chunker": "words"} | {name: parameters[name] for name in ("chunk_words", "chunk_overlap")}
        if parameters["retriever"] == "dense":
            chunking |= {"model": parameters["embeddings"], "device": parameters["device"]}
        self.retriever = build_entry(RETRIEVERS[parameters["retriever"]], chunking)
        self.checker = _checker(parameters)

    def describe(self) -> dict[str, Any]:
        judging, ranking = self.checker.describe(), self.retriever.describe()
        return provenance(
            self.info,
            self.parameters,
            {name: judging[name] for name in ("model", "revision", "device")},
            ranked_by={name: ranking[name] for name in ("retriever", "version", "model", "revision", "chunker")},
            judged_by={name: judging[name] for name in ("checker", "version", "parameters")},
            libraries=ranking["libraries"] | judging["libraries"],
            dimensions=[],
        )

    def predict(self, inputs: Sequence[CheckerInput]) -> list[Prediction]:
        predictions: dict[int, Prediction] = {}
        read: list[tuple[int, str, _Texts]] = []
        for number, item in enumerate(inputs):
            try:
                read.append((number, read_claim(item), tuple(read_passages(item))))
            except InputError as error:
                predictions[number] = failed(item, error)
        queries, rankings = [], []
        # Inputs come in the order of their units: the triplets of one answer look into the same passages.
        for texts, together in groupby(read, key=lambda one: one[2]):
            asked = [Query(str(number), claim) for number, claim, _ in together]
            try:
                rankings += self._rank(asked, texts)
                queries += asked
            except Exception as error:
                if is_interruption(error):
                    raise
                predictions |= {int(query.id): failed(inputs[int(query.id)], error) for query in asked}
        for query, grounding in zip(
            queries, judge(queries, rankings, self.checker, self.parameters["threshold"]), strict=True
        ):
            predictions[int(query.id)] = _prediction(inputs[int(query.id)], query, grounding)
        return [predictions[number] for number in range(len(inputs))]

    def _rank(self, claims: list[Query], texts: _Texts) -> list[Ranking]:
        self.retriever.index(Document(field, text) for field, text in texts)
        return self.retriever.search(claims, self.parameters["top"])


def _prediction(item: CheckerInput, claim: Query, grounding: Grounding) -> Prediction:
    if grounding.error:
        return Prediction(item.id, error=grounding.error, usage=grounding.usage)
    source = grounding.source
    scores = {
        "grounded": float(grounding.is_grounded),
        "max_entailment": grounding.greatest,
        "source_rank": float(source.rank) if source else None,
        "source_passage": float(_place(source.passage.document)) if source else None,
    }
    shown = source or next(
        (hit for hit in grounding.hits if grounding.probabilities[hit.rank - 1] == grounding.greatest), None
    )
    trace = {
        "prompt": f"Premise: {shown.passage.text if shown else '(no passage was found)'}\n\nHypothesis: {claim.text}",
        "output": ", ".join(
            f"rank {hit.rank}: {value:.4f}" for hit, value in zip(grounding.hits, grounding.probabilities, strict=True)
        ),
    }
    return Prediction(item.id, scores=scores, usage=grounding.usage, trace=trace)


def _place(field: str) -> int:
    """From 1, of `evidence` or `passages[i]`."""
    _, bracket, index = field.partition("[")
    return int(index.rstrip("]")) + 1 if bracket else 1


def _checker(parameters: dict[str, Any]):
    chosen = {}
    if parameters["checker"] == "nli":
        chosen = {"model": parameters["model"], "device": parameters["device"], "max_segment_tokens": _SEGMENT_TOKENS}
        chosen |= {"rule": "max-entailment", "threshold": parameters["threshold"]}
    return build_entry(CHECKERS[parameters["checker"]], chosen, (ENTAILED,))


build = GroundingScorer

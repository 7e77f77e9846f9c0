"""Shared words and meaning together: BM25 and embeddings, joined by reciprocal rank fusion."""

from __future__ import annotations

from typing import Any

from ..checkers.embedding import PACKAGED_MODEL
from ..contracts import CheckerInfo
from ..packages import BM25S
from . import bm25, dense
from .parameters import BM25, BY_BM25, CHUNKS, COSINE, DENSE, FUSED, FUSION, RERANKED, RERANKING
from .retriever import StagedRetriever

INFO = CheckerInfo(
    slug="hybrid",
    version="1",
    kind="retriever",
    title="Shared words and meaning together",
    summary="Combines the rankings by BM25 and by embeddings (reciprocal rank fusion).",
    roles=(),
    needs="cpu",
    packages=(BM25S, *dense.INFO.packages),
    model=PACKAGED_MODEL,
    licence="Apache-2.0",
    gives="rankings",
    parameters=(*CHUNKS, *BM25, *DENSE, *FUSION, *RERANKING),
    scores=(BY_BM25, COSINE, FUSED, RERANKED),
)


def build(info: CheckerInfo, parameters: dict[str, Any]) -> StagedRetriever:
    return StagedRetriever(info, parameters, [bm25.stage_of(parameters), dense.stage_of(parameters)])

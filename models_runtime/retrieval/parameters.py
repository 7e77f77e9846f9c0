"""Parameters and scores that the retrievers share."""

from __future__ import annotations

from ..checkers.embedding import PACKAGED_MODEL
from ..contracts import ParameterInfo, ScoreInfo
from ..loading.parameters import DEVICE, TOKEN_BUDGET
from .chunkers import CHUNKERS

CHUNKS = (
    ParameterInfo(
        "chunker",
        "Passages",
        "str",
        "words-128-32",
        choices=CHUNKERS,
        hint="paragraphs: lines of at most 200 words, as in DRUID. words-128-32: 128 words with 32 of the passage "
        "before, as in ICAT.",
    ),
    ParameterInfo(
        "chunk_words", "Words in a passage", "int", 128, 1, 1_000_000, hint="Of the choices words and sentences."
    ),
    ParameterInfo("chunk_overlap", "Words shared with the passage before", "int", 0, 0, 999_999, hint="Of words."),
)
BM25 = (
    ParameterInfo("k1", "k1", "float", 1.5, 0, 100, hint="Greater: a word that comes again and again counts for more."),
    ParameterInfo("b", "b", "float", 0.75, 0, 1, hint="How far long passages count for less: 0 not at all, 1 fully."),
)
DENSE = (
    ParameterInfo(
        "model",
        "Model",
        "model",
        PACKAGED_MODEL,
        hint="Of sentence-transformers: a name on the Hugging Face Hub, or the absolute path of a folder on the "
        "workers' machine.",
    ),
    ParameterInfo(
        "query_prefix", "Before each query", "str", "", hint="What the model wants to see there, such as “query: ”."
    ),
    ParameterInfo(
        "passage_prefix", "Before each passage", "str", "", hint="Likewise, such as “passage: ”."
    ),
)  # fmt: skip
RERANKING = (
    ParameterInfo(
        "reranker",
        "Cross-encoder that orders again",
        "model",
        "",
        hint="A name on the Hugging Face Hub or an absolute path: a classifier with a single score. Empty: none.",
    ),
    ParameterInfo("rerank_top", "Passages that it orders again", "int", 50, 1, 10_000),
    DEVICE,
    TOKEN_BUDGET,
)
FUSION = (
    ParameterInfo("depth", "Passages taken from each", "int", 100, 1, 10_000),
    ParameterInfo("rrf_constant", "Constant of the fusion", "int", 60, 0, 100_000),
)
_SERVED = (
    ParameterInfo("endpoint", "Endpoint", "endpoint", "", hint="The server that makes them up."),
    ParameterInfo("expansion_seed", "Seed of what is made up", "int", 0, 0, 2**31 - 1),
)
QUERY2DOC = (
    ParameterInfo(
        "expansion",
        "Search with a made-up passage",
        "str",
        "none",
        choices=("none", "query2doc"),
        hint="query2doc: the query five times, and a passage that a language model made up for it.",
    ),
    *_SERVED,
)
HYDE = (
    ParameterInfo(
        "expansion",
        "Search with made-up passages",
        "str",
        "none",
        choices=("none", "hyde"),
        hint="hyde: nearest to the mean of the query and of passages that a language model made up for it.",
    ),
    ParameterInfo("expansion_passages", "Passages made up", "int", 1, 1, 64),
    *_SERVED,
)
BY_BM25 = ScoreInfo("bm25", "BM25", 0)
COSINE = ScoreInfo("dense", "Cosine", -1, 1)
FUSED = ScoreInfo("fused", "Reciprocal ranks", 0)
RERANKED = ScoreInfo("rerank", "Score of the cross-encoder")

"""Parameters and scores that the retrievers share."""

from __future__ import annotations

from ..checkers.embedding import PACKAGED_MODEL
from ..contracts import ParameterInfo, ScoreInfo
from ..llm.hypothetical import ANY, STYLES
from ..loading.parameters import DEVICE, TOKEN_BUDGET
from .chunkers import CHUNKERS
from .contracts import DOCUMENTS, SERVER
from .vectors import KINDS

CHUNKS = (
    ParameterInfo(
        "chunker",
        "Passages are",
        "str",
        "words-128-32",
        choices=CHUNKERS,
        hint="paragraphs: lines of at most 200 words, as in DRUID. words-128-32: 128 words, 32 of them shared with "
        "the previous passage, as in ICAT.",
    ),
    ParameterInfo(
        "chunk_words", "Words in a passage", "int", 128, 1, 1_000_000, hint="For passages of words or sentences."
    ),
    ParameterInfo(
        "chunk_overlap", "Words shared with the previous passage", "int", 0, 0, 999_999, hint="For passages of words."
    ),
)
BM25 = (
    ParameterInfo("k1", "k1", "float", 1.5, 0, 100, hint="The greater, the more a repeated word counts."),
    ParameterInfo("b", "b", "float", 0.75, 0, 1, hint="Correction for the length of passages: 0 is none, 1 full."),
)
DENSE = (
    ParameterInfo(
        "model",
        "Model",
        "model",
        PACKAGED_MODEL,
        hint="A sentence-transformers model: a name on the Hugging Face Hub, or the absolute path of a folder on the "
        "workers' machine.",
    ),
    ParameterInfo(
        "query_prefix", "Query prefix", "str", "", hint="Text that the model expects before a query, such as “query: ”."
    ),
    ParameterInfo(
        "passage_prefix", "Passage prefix", "str", "", hint="Text that it expects before a passage: “passage: ”."
    ),
    ParameterInfo(
        "vector_index",
        "Index of vectors",
        "str",
        "auto",
        choices=KINDS,
        hint="exact: every passage is compared. ivf, hnsw: approximate. auto: exact below 200,000 passages, ivf above.",
    ),
    ParameterInfo(
        "probes", "Lists searched of an approximate index", "int", 0, 0, 100_000, hint="0: chosen by its size."
    ),
)  # fmt: skip
RERANKING = (
    ParameterInfo(
        "reranker",
        "Reranking model",
        "model",
        "",
        hint="A cross-encoder with a single score: a name on the Hugging Face Hub or an absolute path. Empty: none.",
    ),
    ParameterInfo("rerank_top", "Passages to rerank", "int", 50, 1, 10_000),
    DEVICE,
    TOKEN_BUDGET,
)
FUSION = (
    ParameterInfo("depth", "Passages taken from each ranking", "int", 100, 1, 10_000),
    ParameterInfo("rrf_constant", "Constant of reciprocal rank fusion", "int", 60, 0, 100_000),
)
EXPANDED = (
    ParameterInfo(
        "expansion_prompt",
        "Prompt for generated passages",
        "prompt",
        "",
        hint="Instructions of your own; the query follows in a message of its own. Empty: those of the method.",
    ),
    ParameterInfo("expansion_seed", "Seed for generated passages", "int", 0, 0, 2**31 - 1),
    ParameterInfo(
        "expansion_from",
        "Generated passages come from",
        "str",
        SERVER,
        choices=(SERVER, DOCUMENTS),
        hint="server: a language model. documents: those stored in the data set.",
    ),
)
STYLE = ParameterInfo(
    "expansion_style",
    "Generated passages look like",
    "str",
    ANY,
    choices=STYLES,
    hint="For hyde: an encyclopaedia (as for FEVER), a scientific paper (SciFact), a fact-check (AVeriTeC).",
)
_SERVED = (
    ParameterInfo("endpoint", "Endpoint", "endpoint", "", hint="The server that generates the passages."),
    *EXPANDED,
)
QUERY2DOC = (
    ParameterInfo(
        "expansion",
        "Query expansion",
        "str",
        "none",
        choices=("none", "query2doc"),
        hint="query2doc: the query five times, followed by a passage that a language model generates for it.",
    ),
    *_SERVED,
)
HYDE = (
    ParameterInfo(
        "expansion",
        "Query expansion",
        "str",
        "none",
        choices=("none", "hyde"),
        hint="hyde: the mean vector of the query and of passages that a language model generates for it.",
    ),
    ParameterInfo("expansion_passages", "Generated passages", "int", 1, 1, 64),
    STYLE,
    *_SERVED,
)
BY_BM25 = ScoreInfo("bm25", "BM25", 0)
COSINE = ScoreInfo("dense", "Cosine", -1, 1)
FUSED = ScoreInfo("fused", "Reciprocal ranks", 0)
RERANKED = ScoreInfo("rerank", "Score of the cross-encoder")

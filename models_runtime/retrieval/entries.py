"""The registry's entries that give rankings, and of the scores that rest on them. Imports nothing that computes."""

from __future__ import annotations

from ..checkers.nli_entry import MODEL as NLI_MODEL
from ..contracts import CheckerInfo, Package, ParameterInfo, ScoreInfo
from .chunkers import CHUNKERS

BM25S = Package("bm25s", "bm25s==0.3.16")
FAISS = Package("faiss", "faiss-cpu==1.15.1")
_MODEL = "all-MiniLM-L6-v2"

_CHUNKS = (
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
_BM25 = (
    ParameterInfo("k1", "k1", "float", 1.5, 0, 100, hint="Greater: a word that comes again and again counts for more."),
    ParameterInfo("b", "b", "float", 0.75, 0, 1, hint="How far long passages count for less: 0 not at all, 1 fully."),
)
_DENSE = (
    ParameterInfo(
        "model",
        "Model",
        "model",
        _MODEL,
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
_RERANKING = (
    ParameterInfo(
        "reranker",
        "Cross-encoder that orders again",
        "model",
        "",
        hint="A name on the Hugging Face Hub or an absolute path: a classifier with a single score. Empty: none.",
    ),
    ParameterInfo("rerank_top", "Passages that it orders again", "int", 50, 1, 10_000),
    ParameterInfo("device", "Device", "str", "auto", choices=("auto", "cpu", "cuda")),
    ParameterInfo("token_budget", "Tokens in one batch", "int", 4096, 256, 4_194_304),
)
_FUSION = (
    ParameterInfo("depth", "Passages taken from each", "int", 100, 1, 10_000),
    ParameterInfo("rrf_constant", "Constant of the fusion", "int", 60, 0, 100_000),
)
_SERVED = (
    ParameterInfo("endpoint", "Endpoint", "endpoint", "", hint="The server that makes them up."),
    ParameterInfo("expansion_seed", "Seed of what is made up", "int", 0, 0, 2**31 - 1),
)
_QUERY2DOC = (
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
_HYDE = (
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
_BY_BM25 = ScoreInfo("bm25", "BM25", 0)
_COSINE = ScoreInfo("dense", "Cosine", -1, 1)
_FUSED = ScoreInfo("fused", "Reciprocal ranks", 0)
_RERANKED = ScoreInfo("rerank", "Score of the cross-encoder")


GROUNDING = (
    ParameterInfo(
        "checker",
        "Judges passages",
        "str",
        "nli",
        choices=("nli", "lexical"),
        hint="nli: by the model below. lexical: by shared words, without a model.",
    ),
    ParameterInfo(
        "model",
        "Model for inference",
        "model",
        NLI_MODEL,
        hint="A name on the Hugging Face Hub, or the absolute path of a folder on the workers' machine.",
    ),
    ParameterInfo("retriever", "Ranks passages", "str", "bm25", choices=("bm25", "dense")),
    ParameterInfo(
        "embeddings",
        "Model that ranks",
        "model",
        _MODEL,
        hint="Of dense: a name on the Hugging Face Hub, or the absolute path of a folder on the workers' machine.",
    ),
    ParameterInfo("top", "Passages judged", "int", 10, 1, 1000, hint="10 as in ICAT."),
    ParameterInfo("threshold", "Threshold", "float", 0.5, 0, 1, hint="Of the entailment probability: 0.5 as in ICAT."),
    ParameterInfo("chunk_words", "Words in a passage", "int", 128, 1, 1_000_000),
    ParameterInfo("chunk_overlap", "Words shared with the passage before", "int", 32, 0, 999_999),
    ParameterInfo("device", "Device", "str", "auto", choices=("auto", "cpu", "cuda")),
)


def entries(
    spacy: Package, torch: Package, sentence_transformers: Package, minilm: Package, transformers: Package
) -> tuple[tuple[CheckerInfo, str], ...]:
    """Each entry as in the registry's table: what is known, and `module:builder`."""
    dense = (torch, sentence_transformers, minilm, FAISS, spacy)
    return (
        (
            CheckerInfo(
                slug="bm25",
                version="1",
                kind="retriever",
                title="Shared words (BM25)",
                summary="Ranks passages by the words they share with the query; rare words count for more.",
                roles=(),
                needs="cpu",
                packages=(BM25S, spacy),
                licence="MIT",
                gives="rankings",
                parameters=(*_CHUNKS, *_BM25, *_QUERY2DOC, *_RERANKING),
                scores=(_BY_BM25, _RERANKED),
            ),
            "models_runtime.retrieval.retriever:build_bm25",
        ),
        (
            CheckerInfo(
                slug="dense",
                version="1",
                kind="retriever",
                title="Nearest in meaning",
                summary="Ranks passages by the cosine of sentence embeddings, compared with every passage.",
                roles=(),
                needs="cpu",
                packages=dense,
                model=_MODEL,
                licence="Apache-2.0",
                gives="rankings",
                parameters=(*_CHUNKS, *_DENSE, *_HYDE, *_RERANKING),
                scores=(_COSINE, _RERANKED),
            ),
            "models_runtime.retrieval.retriever:build_dense",
        ),
        (
            CheckerInfo(
                slug="hybrid",
                version="1",
                kind="retriever",
                title="Shared words and meaning together",
                summary="Joins the rankings by BM25 and by embeddings: whatever is high in either comes high.",
                roles=(),
                needs="cpu",
                packages=(BM25S, *dense),
                model=_MODEL,
                licence="Apache-2.0",
                gives="rankings",
                parameters=(*_CHUNKS, *_BM25, *_DENSE, *_FUSION, *_RERANKING),
                scores=(_BY_BM25, _COSINE, _FUSED, _RERANKED),
            ),
            "models_runtime.retrieval.retriever:build_hybrid",
        ),
        (
            CheckerInfo(
                slug="grounding",
                version="1",
                kind="grounding",
                title="Grounding",
                summary="Cuts the texts into passages, ranks them for the claim, and tells whether one of the first "
                "entails it, and which.",
                roles=(),
                needs="cpu",
                packages=(BM25S, torch, transformers, spacy),
                model=NLI_MODEL,
                licence="MIT",
                gives="scores",
                parameters=GROUNDING,
                scores=(
                    ScoreInfo("grounded", "A passage entails the claim", 0, 1),
                    ScoreInfo("max_entailment", "Greatest entailment of the passages judged", 0, 1),
                    ScoreInfo("source_rank", "Rank of the source", 1),
                    ScoreInfo("source_passage", "Place of the text that the source is from", 1),
                ),
            ),
            "models_runtime.scorers.grounding:build",
        ),
    )

"""The registry's entries of ICAT's scores. Nothing is imported here that computes."""

from __future__ import annotations

from ..checkers.nli_entry import MODEL as NLI_MODEL
from ..contracts import CheckerInfo, Package, ParameterInfo, ScoreInfo
from ..llm.entries import ENDPOINT, FORMAT_PROMPT, PATIENCE
from ..retrieval.entries import BM25S, GROUNDING

_SCORES = (
    ScoreInfo("claims", "Atomic claims of the answer", 1),
    ScoreInfo("claims_supported", "Supported claims of the answer", 0),
    ScoreInfo("factuality", "Factuality of the answer", 0, 1),
    ScoreInfo("claims_covering", "Supported claims that deal with the aspect", 0),
    ScoreInfo("covered", "Aspect covered by a supported claim", 0, 1),
)
_ALIGNMENT = ParameterInfo(
    "alignment",
    "Tells which aspects a claim deals with",
    "str",
    "embedding",
    choices=("embedding", "nli", "lexical"),
    hint="embedding: by nearness. nli: by the model for inference. lexical: by shared words.",
)


def entries(
    spacy: Package,
    torch: Package,
    transformers: Package,
    sentence_transformers: Package,
    minilm: Package,
    openai: Package,
) -> tuple[tuple[CheckerInfo, str], ...]:
    """Each entry as in the registry's table: what is known, and `module:builder`."""
    grounding = (BM25S, torch, transformers, spacy)
    return (
        (
            CheckerInfo(
                slug="icat",
                version="1",
                kind="icat",
                title="Facts and aspects (ICAT)",
                summary="Tells which atomic claims of the answer the question's passages support, and which aspects "
                "the supported ones deal with. The answers need atomic claims, and the questions passages.",
                roles=(),
                needs="cpu",
                packages=(*grounding, sentence_transformers, minilm),
                model=NLI_MODEL,
                licence="MIT",
                gives="scores",
                parameters=(_ALIGNMENT, *GROUNDING),
                scores=_SCORES,
            ),
            "models_runtime.scorers.icat:build",
        ),
        (
            CheckerInfo(
                slug="icat-server",
                version="1",
                kind="icat",
                title="Facts and aspects (ICAT), aligned by a language model",
                summary="The same, with a language model that is shown all supported claims and all aspects at once. "
                "The worker itself looks the claims up.",
                roles=(),
                needs="server",
                packages=(*grounding, openai),
                gives="scores",
                parameters=(ENDPOINT, FORMAT_PROMPT, *GROUNDING, *PATIENCE),
                scores=_SCORES,
            ),
            "models_runtime.scorers.icat:build_served",
        ),
    )

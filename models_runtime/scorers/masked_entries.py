"""The registry's entries for masked references. Nothing is imported here that computes."""

from __future__ import annotations

from ..checkers.nli_entry import MODEL
from ..checkers.nli_entry import entries as nli
from ..contracts import CheckerInfo, Package, ParameterInfo, ScoreInfo
from ..llm.entries import entries as llm

_MASK = ParameterInfo(
    "mask",
    "Masked in the passages",
    "str",
    "object",
    choices=("subject", "object", "both"),
    hint="Wherever it stands there word for word. A triplet of which nothing is masked gets no label.",
)
_SCORES = (
    ScoreInfo("masked_label", "Entailment (1), neutral (0), contradiction (-1)", -1, 1),
    ScoreInfo("masked_entailment", "P(entailment)", 0, 1),
    ScoreInfo("masked_neutral", "P(neutral)", 0, 1),
    ScoreInfo("masked_contradiction", "P(contradiction)", 0, 1),
    ScoreInfo("masked_places", "Stretches masked", 0),
)
# What the checker that reads is asked with; the rest keeps its defaults.
_OF_NLI = ("model", "device", "dtype", "max_segment_tokens", "token_budget")
_OF_LLM = ("endpoint", "passages", "answers", "timeout_seconds", "retries", "wait_seconds")
_BUILT_BY = "models_runtime.scorers.masked:build"


def entries(
    torch: Package, transformers: Package, spacy: Package, openai: Package
) -> tuple[tuple[CheckerInfo, str], ...]:
    """Each entry as in the registry's table: what is known, and `module:builder`."""
    same = {"roles": (), "gives": "scores", "scores": _SCORES}
    return (
        (
            CheckerInfo(
                slug="masked-reference",
                version="1",
                kind="nli",
                title="Masked references",
                summary="Reads passages in which a triplet's subject or object is masked. A model for inference that "
                "then says anything but neutral goes by what it remembers.",
                needs="cpu",
                packages=(torch, transformers, spacy),
                model=MODEL,
                licence="MIT",
                parameters=(_MASK, *_named(nli(torch, transformers, spacy), "nli", _OF_NLI)),
                **same,
            ),
            _BUILT_BY,
        ),
        (
            CheckerInfo(
                slug="masked-reference-server",
                version="2",
                kind="llm",
                title="Masked references, by a language model",
                summary="Reads passages in which a triplet's subject or object is masked. A language model that then "
                "says anything but neutral goes by what it remembers.",
                needs="server",
                packages=(openai,),
                parameters=(_MASK, *_named(llm(openai, spacy), "llm", _OF_LLM)),
                **same,
            ),
            _BUILT_BY,
        ),
    )


def _named(table: tuple[tuple[CheckerInfo, str], ...], slug: str, names: tuple[str, ...]) -> tuple[ParameterInfo, ...]:
    """These parameters of an entry, as they are there."""
    [info] = [info for info, _ in table if info.slug == slug]
    return tuple(parameter for parameter in info.parameters if parameter.name in names)

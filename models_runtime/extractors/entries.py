"""The registry's entries that give pieces. `roles` are the kinds of pieces. Nothing is imported here but contracts."""

from __future__ import annotations

from ..contracts import CheckerInfo, Package, ParameterInfo
from ..extraction import PARTS
from ..llm.entries import ENDPOINT, FORMAT_PROMPT, PATIENCE


def entries(spacy: Package, openai: Package) -> tuple[tuple[CheckerInfo, str], ...]:
    """Each entry as in the registry's table: what is known, and `module:builder`, called with (info, kind,
    parameters)."""
    return (
        (
            CheckerInfo(
                slug="sentences",
                version="1",
                kind="sentences",
                title="Sentence by sentence",
                summary="Takes every sentence as one claim: a baseline that needs no model.",
                roles=("atomic_claim",),
                needs="cpu",
                packages=(spacy,),
                licence="GPL-3.0-or-later",
                gives="pieces",
            ),
            "models_runtime.extractors.sentences:SentenceExtractor",
        ),
        (
            CheckerInfo(
                slug="fake-extractor",
                version="1",
                kind="fake",
                title="Cut at random",
                summary="Cuts sentences and questions by a hash of their words: for tests and demonstrations.",
                roles=tuple(PARTS),
                needs="cpu",
                licence="GPL-3.0-or-later",
                gives="pieces",
                parameters=(
                    ParameterInfo("seed", "Seed", "int", 0, 0, 2**31 - 1),
                    ParameterInfo("most", "Pieces of one text at most", "int", 10, 1, 1000),
                    ParameterInfo("omitted_share", "Share of pieces that are left out", "float", 0.1, 0, 1),
                    ParameterInfo("failure_share", "Share of texts that fail", "float", 0.0, 0, 1),
                    ParameterInfo("permanent_failure_share", "Share of texts that fail for good", "float", 0.0, 0, 1),
                ),
            ),
            "models_runtime.extractors.fake:FakeExtractor",
        ),
        (
            CheckerInfo(
                slug="llm-extractor",
                version="1",
                kind="llm",
                title="Language model",
                summary="Asks a language model on a server of this site's choice for triplets, claims or aspects.",
                roles=tuple(PARTS),
                needs="server",
                packages=(openai, spacy),
                gives="pieces",
                parameters=(
                    ENDPOINT,
                    ParameterInfo("most", "Pieces of one text at most", "int", 40, 1, 200, hint="ICAT has 10 aspects."),
                    FORMAT_PROMPT,
                    ParameterInfo(
                        "max_tokens",
                        "Tokens of an answer at most",
                        "int",
                        4096,
                        16,
                        32_768,
                        hint="Fewer where the model has less room beside the text. An answer that is cut off fails.",
                    ),
                    *PATIENCE,
                ),
            ),
            "models_runtime.extractors.llm:LlmExtractor",
        ),
    )

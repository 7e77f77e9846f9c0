"""The registry's entries of checkers that compute on the worker and give labels. Nothing is imported but contracts."""

from __future__ import annotations

from ..contracts import ROLES, CheckerInfo, Package, ParameterInfo, ScoreInfo

_CUE = ScoreInfo("cue_mismatch", "Negation or contradiction in one of the two only", 0, 1)
_SUPPORT = ScoreInfo("support", "Support", -1, 1)


def entries(
    spacy: Package, torch: Package, sentence_transformers: Package, minilm: Package
) -> tuple[tuple[CheckerInfo, str], ...]:
    """Each entry as in the registry's table: what is known, and `module:builder`, called with (info, spaces,
    parameters)."""
    return (
        (
            CheckerInfo(
                slug="lexical",
                version="2",
                kind="lexical",
                title="Shared words",
                summary="Counts the claim's words that the evidence shares, and turns round where only one negates.",
                roles=ROLES,
                needs="cpu",
                packages=(spacy,),
                licence="GPL-3.0-or-later",
                parameters=(
                    ParameterInfo(
                        "relevance_threshold", "Overlap above which evidence is relevant", "float", 0.1, 0, 1
                    ),
                    ParameterInfo("support_threshold", "Overlap above which evidence takes a side", "float", 0.3, 0, 1),
                    ParameterInfo(
                        "softness", "Softness", "float", 0.1, 0.001, 1, hint="Greater: probabilities rise more slowly."
                    ),
                    ParameterInfo(
                        "window_words",
                        "Words in a window",
                        "int",
                        200,
                        1,
                        1_000_000,
                        hint="Longer texts are read in windows of whole sentences.",
                    ),
                ),
                scores=(
                    ScoreInfo("overlap", "Claim words found in the evidence", 0, 1),
                    ScoreInfo("window_overlap", "Claim words found in the window that decided", 0, 1),
                    ScoreInfo("jaccard", "Jaccard similarity of words", 0, 1),
                    ScoreInfo("sentence_overlap", "Claim words found in the nearest sentence", 0, 1),
                    _SUPPORT,
                    _CUE,
                    ScoreInfo("repeats_claim", "Evidence repeats the claim verbatim", 0, 1),
                    ScoreInfo("contains_true", "Evidence contains 'true'", 0, 1),
                    ScoreInfo("contains_false", "Evidence contains 'false'", 0, 1),
                    ScoreInfo("claim_length", "Claim length (characters)", 0),
                    ScoreInfo("evidence_length", "Evidence length (characters)", 0),
                    ScoreInfo("evidence_flesch", "Flesch reading ease of the evidence"),
                ),
            ),
            "models_runtime.checkers.lexical:build",
        ),
        (
            CheckerInfo(
                slug="embedding",
                version="2",
                kind="embedding",
                title="Nearest sentence",
                summary="Finds the sentence of the evidence nearest to the claim in meaning, by sentence embeddings.",
                roles=ROLES,
                needs="cpu",
                packages=(torch, sentence_transformers, minilm, spacy),
                model="all-MiniLM-L6-v2",
                licence="Apache-2.0",
                parameters=(
                    ParameterInfo(
                        "relevance_threshold", "Cosine above which evidence is relevant", "float", 0.3, -1, 1
                    ),
                    ParameterInfo(
                        "support_threshold", "Cosine above which evidence takes a side", "float", 0.55, -1, 1
                    ),
                    ParameterInfo(
                        "softness", "Softness", "float", 0.1, 0.001, 1, hint="Greater: probabilities rise more slowly."
                    ),
                    ParameterInfo(
                        "model",
                        "Model",
                        "model",
                        "all-MiniLM-L6-v2",
                        hint="Or the absolute path of a local model folder.",
                    ),
                    ParameterInfo("device", "Device", "str", "auto", choices=("auto", "cpu", "cuda")),
                    ParameterInfo("token_budget", "Tokens in one batch", "int", 4096, 256, 4_194_304),
                ),
                scores=(
                    ScoreInfo("cosine", "Cosine of claim and evidence", -1, 1),
                    ScoreInfo("sentence_cosine", "Cosine of claim and nearest sentence", -1, 1),
                    _SUPPORT,
                    _CUE,
                    ScoreInfo("truncated", "Evidence was longer than the model's window", 0, 1),
                ),
            ),
            "models_runtime.checkers.embedding:build",
        ),
        (
            CheckerInfo(
                slug="trained",
                version="1",
                kind="trained",
                title="Trained on this project",
                summary="A small classifier on frozen sentence embeddings that learned from what people said in this "
                "project.",
                roles=ROLES,
                needs="cpu",
                packages=(torch, sentence_transformers, minilm, spacy),
                model="",
                licence="Apache-2.0",
                parameters=(
                    ParameterInfo("model", "Trained checker", "str", ""),
                    ParameterInfo("device", "Device", "str", "auto", choices=("auto", "cpu", "cuda")),
                ),
                scores=(
                    ScoreInfo("out_of_fold", "Answered by a classifier that had not seen its claim's texts", 0, 1),
                    ScoreInfo("nearness", "Nearness of the sentence that stands for the evidence", -1, 1),
                ),
            ),
            "models_runtime.checkers.trained:build",
        ),
        (
            CheckerInfo(
                slug="fake",
                version="1",
                kind="fake",
                title="Random draw",
                summary="Draws its answers from a hash of the text, and fails on demand: for tests and demonstrations.",
                roles=ROLES,
                needs="cpu",
                licence="GPL-3.0-or-later",
                parameters=(
                    ParameterInfo("seed", "Seed", "int", 0, 0, 2**31 - 1),
                    ParameterInfo("delay_ms", "Delay per input (milliseconds)", "int", 0, 0, 60_000),
                    ParameterInfo("failure_share", "Share of inputs that fail", "float", 0.0, 0, 1),
                    ParameterInfo("permanent_failure_share", "Share of inputs that fail for good", "float", 0.0, 0, 1),
                    ParameterInfo("label", "Fixed label", "str", "", hint="Given wherever it is one of the labels."),
                ),
                scores=(ScoreInfo("draw", "Draw", 0, 1),),
            ),
            "models_runtime.checkers.fake:build",
        ),
    )

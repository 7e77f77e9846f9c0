"""What the registry says about the checker for natural language inference. Imports nothing but the contracts."""

from __future__ import annotations

from ..contracts import ROLES, CheckerInfo, Package, ParameterInfo, ScoreInfo

MODEL = "MoritzLaurer/DeBERTa-v3-base-mnli-fever-anli"


def entries(*packages: Package) -> tuple[tuple[CheckerInfo, str], ...]:
    """The registry's entries; `packages` are those that it pins."""
    return (
        (
            CheckerInfo(
                slug="nli",
                version="1",
                kind="nli",
                title="Natural language inference",
                summary="Reads text and claim together with a model trained to tell entailment, and splits long texts.",
                roles=ROLES,
                needs="cpu",
                packages=packages,
                model=MODEL,
                licence="MIT",
                parameters=(
                    ParameterInfo(
                        "model",
                        "Model",
                        "model",
                        MODEL,
                        hint="A name on the Hugging Face Hub, or the absolute path of a folder on the workers' "
                        "machine.",
                    ),
                    ParameterInfo("device", "Device", "str", "auto", choices=("auto", "cpu", "cuda")),
                    ParameterInfo(
                        "dtype",
                        "Precision",
                        "str",
                        "auto",
                        choices=("auto", "float32", "bfloat16", "float16"),
                        hint="auto: half on a GPU, float32 on a CPU, where bfloat16 can be faster and differs "
                        "slightly.",
                    ),
                    ParameterInfo(
                        "rule",
                        "How segments merge",
                        "str",
                        "refchecker",
                        choices=("refchecker", "max-entailment"),
                        hint="refchecker: entailed if any segment entails, else contradicted if any contradicts. "
                        "max-entailment: entailed if the greatest probability of it is above the threshold.",
                    ),
                    ParameterInfo(
                        "threshold",
                        "Threshold of max-entailment",
                        "float",
                        0.5,
                        0,
                        1,
                        hint="0.5 as in ICAT; 0.05 as for sufficient context.",
                    ),
                    ParameterInfo(
                        "max_segment_tokens",
                        "Tokens in a segment",
                        "int",
                        200,
                        16,
                        100_000,
                        hint="Longer texts are read in segments of whole sentences.",
                    ),
                    ParameterInfo(
                        "about_template",
                        "Hypothesis for aspects and relevance",
                        "str",
                        "This text is about {claim}.",
                        hint="{claim} stands for the aspect or claim, {question} for the question.",
                        must_hold="{claim}",
                    ),
                    ParameterInfo(
                        "question_template",
                        "Hypothesis for questions",
                        "str",
                        "This text answers the question: {claim}",
                        hint="{claim} stands for the question.",
                        must_hold="{claim}",
                    ),
                    ParameterInfo(
                        "answer_template",
                        "Hypothesis for ground-truth answers",
                        "str",
                        "The answer to the question “{question}” is {claim}.",
                        hint="{claim} stands for the answer, {question} for the question.",
                        must_hold="{claim}",
                    ),
                    ParameterInfo(
                        "token_budget",
                        "Tokens in one batch",
                        "int",
                        0,
                        0,
                        4_194_304,
                        hint="0 leaves it to the device. It halves itself where memory runs out.",
                    ),
                ),
                scores=(
                    ScoreInfo("p_entailment", "Entailment (segment that decided)", 0, 1),
                    ScoreInfo("p_neutral", "Neutral (segment that decided)", 0, 1),
                    ScoreInfo("p_contradiction", "Contradiction (segment that decided)", 0, 1),
                    ScoreInfo("max_entailment", "Greatest entailment of all segments", 0, 1),
                    ScoreInfo("relevance", "Relevance", 0, 1),
                    ScoreInfo("n_segments", "Segments read", 1),
                ),
            ),
            "models_runtime.checkers.nli:build",
        ),
    )

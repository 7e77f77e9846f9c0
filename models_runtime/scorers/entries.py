"""The registry's entries that give scores only. Nothing is imported here but the contracts."""

from __future__ import annotations

from ..contracts import CheckerInfo, Package, ParameterInfo, ScoreInfo

# Small enough for a laptop. DRUID studied EleutherAI/pythia-6.9b and meta-llama/Llama-3.1-8B.
_MODEL = "EleutherAI/pythia-410m"
_MODEL_PARAMETERS = (
    ParameterInfo(
        "model",
        "Model",
        "model",
        _MODEL,
        hint="A causal language model: a name on the Hugging Face Hub, or the absolute path of a folder on the "
        "workers' machine with config.json, .safetensors weights and tokenizer.",
    ),
    ParameterInfo("device", "Device", "str", "auto", choices=("auto", "cpu", "cuda")),
    ParameterInfo("dtype", "Numbers", "str", "auto", choices=("auto", "float32", "bfloat16", "float16")),
    ParameterInfo("token_budget", "Tokens in one batch", "int", 4096, 256, 4_194_304),
)
_SERVER_PARAMETERS = (
    ParameterInfo("endpoint", "Endpoint", "endpoint", "", hint="One of the servers that this site has set up."),
    ParameterInfo("timeout_seconds", "Seconds for one request, retries included", "int", 120, 1, 3600),
    ParameterInfo("retries", "Retries of one request", "int", 4, 0, 10),
    ParameterInfo(
        "wait_seconds",
        "Seconds in which a server that is away may come back",
        "int",
        5,
        0,
        3600,
        hint="10 at most; then the run gives its worker back, and goes on when the server answers again.",
    ),
)
_SHOTS = ParameterInfo("shots", "Examples before the claim", "int", 3, 0, 3, hint="0 and 3 are DRUID's two settings.")
_NORMALISE = ParameterInfo(
    "normalise",
    "Probabilities are shares of",
    "str",
    "vocabulary",
    choices=("vocabulary", "answers"),
    hint="vocabulary: everything the model might say; answers: the three answers.",
)
_MAX_TOKENS = ParameterInfo(
    "max_tokens",
    "Tokens of a prompt at most",
    "int",
    4096,
    64,
    1_000_000,
    hint="Or the model's window, if that is smaller. Longer evidence is cut at its end.",
)
_STRIDE = ParameterInfo(
    "stride",
    "Tokens that a window moves on by",
    "int",
    512,
    1,
    1_000_000,
    hint="Smaller: more context for each token, and slower.",
)
_PERPLEXITIES = (
    ScoreInfo("perplexity", "Perplexity of the evidence", 1),
    ScoreInfo("perplexity_window_mean", "Perplexity, windows averaged as in common public code", 1),
    ScoreInfo("tokens", "Tokens predicted", 0),
)
_ANSWERS = tuple(
    score
    for mode, words in (("without", "without evidence"), ("with", "with evidence"))
    for score in (
        *(
            ScoreInfo(f"p_{answer.lower()}_{mode}", f"P({answer}) {words}", 0, 1)
            for answer in ("True", "False", "None")
        ),
        ScoreInfo(f"answers_{mode}", f"Probability of the three answers together, {words}", 0, 1),
    )
)


def _is(name: str, title: str) -> ScoreInfo:
    return ScoreInfo(name, title, 0, 1)


def entries(
    spacy: Package, torch: Package, transformers: Package, openai: Package, overlap: tuple[Package, ...]
) -> tuple[tuple[CheckerInfo, str], ...]:
    """Each entry as in the registry's table: what is known, and `module:builder`."""
    return (
        (
            CheckerInfo(
                slug="characteristics",
                version="1",
                kind="characteristics",
                title="Context characteristics",
                summary="Measures the evidence and how it relates to the claim: words and names in common, reading "
                "ease, hedging, source and date. Names are found where a spaCy model is installed (python -m spacy "
                "download en_core_web_sm); otherwise that one score is undefined.",
                roles=(),
                needs="cpu",
                packages=(spacy,),
                licence="GPL-3.0-or-later",
                gives="scores",
                parameters=(
                    ParameterInfo(
                        "lexicons",
                        "Lists",
                        "str",
                        "",
                        hint="Name of a folder of lists that an administrator put below ASSAY_LEXICONS_DIR; empty: "
                        "the lists that come with Assay.",
                    ),
                    ParameterInfo(
                        "entity_model",
                        "Model that finds names",
                        "model",
                        "en_core_web_sm",
                        hint="A spaCy model by name, or the absolute path of its folder. Without en_core_web_sm "
                        "installed, or left empty, the overlap of names is undefined.",
                    ),
                ),
                scores=(
                    _is("jaccard", "Jaccard similarity of words"),
                    _is("jaccard_treebank", "Jaccard similarity of words, as NLTK counts them"),
                    _is("overlap", "Claim words found in the evidence"),
                    _is("overlap_treebank", "Claim words found in the evidence, as NLTK counts them"),
                    _is("repeats_claim", "Evidence repeats the claim verbatim"),
                    _is("entity_overlap", "Claim entities found in the evidence"),
                    ScoreInfo("evidence_flesch", "Flesch reading ease of the evidence"),
                    ScoreInfo("claim_length", "Claim length (characters)", 0),
                    ScoreInfo("evidence_length", "Evidence length (characters)", 0),
                    _is("hedging", "Evidence contains hedging"),
                    _is("hedging_discourse", "Evidence contains hedging discourse"),
                    _is("contains_true", "Evidence contains 'true'"),
                    _is("contains_false", "Evidence contains 'false'"),
                    _is("unreliable_source", "Unreliable source"),
                    _is("published_after_claim", "Published after the claim"),
                    _is("fact_check_source", "Fact-check source"),
                    _is("gold_source", "Gold source"),
                ),
            ),
            "models_runtime.scorers.characteristics:build",
        ),
        (
            CheckerInfo(
                slug="answer-probabilities",
                version="1",
                kind="answer-probabilities",
                title="Answer probabilities",
                summary="How probable a language model finds True, False and None for the claim, without and with the "
                "evidence. It needs a model: fetch the one below, or give the folder of another.",
                roles=(),
                needs="gpu",
                packages=(torch, transformers),
                model=_MODEL,
                licence="Apache-2.0",
                gives="scores",
                parameters=(
                    *_MODEL_PARAMETERS,
                    _SHOTS,
                    _NORMALISE,
                    _MAX_TOKENS,
                ),
                scores=(*_ANSWERS, _is("truncated", "Evidence was cut to fit")),
            ),
            "models_runtime.scorers.answer_probabilities:build",
        ),
        (
            CheckerInfo(
                slug="perplexity",
                version="1",
                kind="perplexity",
                title="Perplexity of the evidence",
                summary="How unexpected the evidence is to a language model, by a sliding window. It needs a model: "
                "fetch the one below, or give the folder of another.",
                roles=(),
                needs="gpu",
                packages=(torch, transformers),
                model=_MODEL,
                licence="Apache-2.0",
                gives="scores",
                parameters=(
                    *_MODEL_PARAMETERS,
                    ParameterInfo(
                        "window",
                        "Tokens in a window",
                        "int",
                        2048,
                        2,
                        1_000_000,
                        hint="Or the model's window, if that is smaller.",
                    ),
                    _STRIDE,
                ),
                scores=_PERPLEXITIES,
            ),
            "models_runtime.scorers.perplexity:build",
        ),
        (
            CheckerInfo(
                slug="answer-probabilities-server",
                version="1",
                kind="answer-probabilities",
                title="Answer probabilities, from a server",
                summary="How probable a language model on a vLLM server finds True, False and None for the claim, "
                "without and with the evidence.",
                roles=(),
                needs="server",
                packages=(openai,),
                gives="scores",
                parameters=(
                    *_SERVER_PARAMETERS,
                    _SHOTS,
                    _NORMALISE,
                    _MAX_TOKENS,
                    ParameterInfo(
                        "reading",
                        "How the server is read",
                        "str",
                        "auto",
                        choices=("auto", "next-token", "prompt"),
                        hint="The numbers are the same. prompt suits any vLLM, and costs it a pass for each spelling.",
                    ),
                ),
                scores=(*_ANSWERS, _is("truncated", "Evidence was cut to fit")),
            ),
            "models_runtime.scorers.answer_probabilities_server:build",
        ),
        (
            CheckerInfo(
                slug="perplexity-server",
                version="1",
                kind="perplexity",
                title="Perplexity of the evidence, from a server",
                summary="How unexpected the evidence is to a language model on a vLLM server, by a sliding window.",
                roles=(),
                needs="server",
                packages=(openai,),
                gives="scores",
                parameters=(
                    *_SERVER_PARAMETERS,
                    ParameterInfo(
                        "window",
                        "Tokens in a window",
                        "int",
                        2048,
                        2,
                        16_384,
                        hint="Or what the server takes at once, if that is smaller.",
                    ),
                    _STRIDE,
                ),
                scores=_PERPLEXITIES,
            ),
            "models_runtime.scorers.perplexity_server:build",
        ),
        (
            CheckerInfo(
                slug="text-baselines",
                version="1",
                kind="text-baselines",
                title="ROUGE, BLEU, METEOR and BERTScore",
                summary="Compares the whole answer with all aspects of its question, by the measures that papers take "
                "as baselines. METEOR needs WordNet in a folder that NLTK_DATA names, and is undefined without it.",
                roles=(),
                needs="cpu",
                packages=overlap,
                model="all-MiniLM-L6-v2",
                licence="Apache-2.0",
                gives="scores",
                parameters=(
                    ParameterInfo(
                        "model",
                        "Model of BERTScore",
                        "model",
                        "all-MiniLM-L6-v2",
                        hint="An encoder: a name on the Hugging Face Hub, or the absolute path of a folder on the "
                        "workers' machine. Left empty, BERTScore is undefined.",
                    ),
                    ParameterInfo(
                        "layer", "Layer of BERTScore", "int", 0, 0, 1000, hint="Whose embeddings; 0 is the last one."
                    ),
                    ParameterInfo("stem", "ROUGE by stems", "bool", False),
                    ParameterInfo("device", "Device", "str", "auto", choices=("auto", "cpu", "cuda")),
                ),
                scores=(
                    _is("rouge1", "ROUGE-1"),
                    _is("rouge2", "ROUGE-2"),
                    _is("rougeL", "ROUGE-L"),
                    _is("bleu", "BLEU"),
                    _is("meteor", "METEOR"),
                    ScoreInfo("bertscore", "BERTScore", -1, 1),
                    ScoreInfo("bertscore_precision", "BERTScore, precision", -1, 1),
                    ScoreInfo("bertscore_recall", "BERTScore, recall", -1, 1),
                    _is("truncated", "A text was longer than the model's window"),
                ),
            ),
            "models_runtime.scorers.text_baselines:build",
        ),
    )

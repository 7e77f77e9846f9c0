"""Parameters that entries with a model of their own share."""

from __future__ import annotations

from ..contracts import ParameterInfo

# Small enough for a laptop. DRUID studied EleutherAI/pythia-6.9b and meta-llama/Llama-3.1-8B.
CAUSAL_MODEL = "EleutherAI/pythia-410m"

DEVICE = ParameterInfo("device", "Device", "str", "auto", choices=("auto", "cpu", "cuda"))
DTYPE = ParameterInfo(
    "dtype",
    "Precision",
    "str",
    "auto",
    choices=("auto", "float32", "bfloat16", "float16"),
    hint="auto: half on a GPU, float32 on a CPU, where bfloat16 can be faster and differs slightly.",
)
MOST_TOKENS = 4_194_304
TOKEN_BUDGET = ParameterInfo(
    "token_budget",
    "Tokens in one batch",
    "int",
    0,
    0,
    MOST_TOKENS,
    hint="0 chooses it by the device. It is halved where memory runs out.",
)
CAUSAL = (
    ParameterInfo(
        "model",
        "Model",
        "model",
        CAUSAL_MODEL,
        hint="A causal language model: a name on the Hugging Face Hub, or the absolute path of a folder on the "
        "workers' machine with config.json, .safetensors weights and tokenizer.",
    ),
    DEVICE,
    DTYPE,
    # The same on a GPU: the probabilities of every word at every token take far more memory than the tokens.
    ParameterInfo("token_budget", "Tokens in one batch", "int", 4096, 256, MOST_TOKENS),
)

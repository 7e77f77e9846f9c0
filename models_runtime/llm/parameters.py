"""Parameters and the score that entries which ask a language model share."""

from __future__ import annotations

from ..contracts import ParameterInfo, ScoreInfo

# How a server is asked, whatever about.
ENDPOINT = ParameterInfo("endpoint", "Endpoint", "endpoint", "", hint="One of the servers that this site has set up.")
PATIENCE = (
    ParameterInfo("timeout_seconds", "Timeout per request, retries included (seconds)", "int", 120, 1, 3600),
    ParameterInfo("retries", "Retries per request", "int", 4, 0, 10),
    ParameterInfo(
        "wait_seconds",
        "Wait for an unavailable server (seconds)",
        "int",
        5,
        0,
        3600,
        hint="At most 10; after that the run releases its worker, and continues when the server answers again.",
    ),
)
ANSWERS = ParameterInfo(
    "answers",
    "Constrained decoding",
    "str",
    "auto",
    choices=("auto", "choice", "json_schema", "text"),
    hint="auto: as the endpoint has it, or else choice on vLLM and json_schema elsewhere. text: nothing holds the "
    "model to the letters.",
)
PROMPT = ParameterInfo(
    "prompt",
    "Custom instructions",
    "prompt",
    "",
    hint="Used instead of the shipped ones. They must hold $options, and may hold $task and $letters.",
    must_hold="$options",
)
FORMAT_PROMPT = ParameterInfo(
    "prompt",
    "Custom instructions",
    "prompt",
    "",
    hint="Used instead of the shipped ones. They must hold $format, the form of the answer, and may hold $most.",
    must_hold="$format",
)
LABEL_MASS = ScoreInfo("label_mass", "Probability of all labels together among the model's words", 0, 1)

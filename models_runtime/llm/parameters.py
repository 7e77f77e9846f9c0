"""Parameters and the score that entries which ask a language model share."""

from __future__ import annotations

from ..contracts import ParameterInfo, ScoreInfo

# How a server is asked, whatever about.
ENDPOINT = ParameterInfo("endpoint", "Endpoint", "endpoint", "", hint="One of the servers that this site has set up.")
PATIENCE = (
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
ANSWERS = ParameterInfo(
    "answers",
    "How answers are constrained",
    "str",
    "auto",
    choices=("auto", "choice", "json_schema"),
    hint="auto: by choice on vLLM, else by a JSON schema.",
)
PROMPT = ParameterInfo(
    "prompt",
    "Instructions of your own",
    "prompt",
    "",
    hint="Instead of the shipped ones. They must hold $options, and may hold $task and $letters.",
    must_hold="$options",
)
FORMAT_PROMPT = ParameterInfo(
    "prompt",
    "Instructions of your own",
    "prompt",
    "",
    hint="Instead of the shipped ones. They must hold $format, the form of the answer, and may hold $most.",
    must_hold="$format",
)
LABEL_MASS = ScoreInfo("label_mass", "Probability of all labels together among the model's words", 0, 1)

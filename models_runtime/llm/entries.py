"""What the registry says about checkers and scorers that ask a language model. Imports nothing but the contracts."""

from __future__ import annotations

from ..contracts import ROLES, CheckerInfo, Package, ParameterInfo, ScoreInfo

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
_MASS = ScoreInfo("label_mass", "Probability of all labels together among the model's words", 0, 1)


def entries(openai: Package, spacy: Package) -> tuple[tuple[CheckerInfo, str], ...]:
    """Each entry as in the registry's table: what is known, and `module:builder`."""
    return (
        (
            CheckerInfo(
                slug="llm",
                version="2",
                kind="llm",
                title="Language model as judge",
                summary="Asks a language model on a server of this site's choice, which picks one of the labels.",
                roles=ROLES,
                needs="server",
                packages=(openai,),
                parameters=(
                    ENDPOINT,
                    ParameterInfo(
                        "passages",
                        "Several passages",
                        "str",
                        "joint",
                        choices=("joint", "each"),
                        hint="In one request together, or in one request each with the answers merged.",
                    ),
                    ParameterInfo(
                        "pieces",
                        "Several pieces of one answer",
                        "str",
                        "each",
                        choices=("each", "joint"),
                        hint="In one request each, or up to 25 that have the same passages together, which costs less. "
                        "Only where the question is whether passages entail a piece.",
                    ),
                    PROMPT,
                    ParameterInfo(
                        "prompt_for",
                        "Your instructions are for",
                        "str",
                        "all",
                        choices=("all", *ROLES),
                        hint="One role of questions; the others keep theirs.",
                    ),
                    ANSWERS,
                    *PATIENCE,
                ),
                scores=(_MASS,),
            ),
            "models_runtime.checkers.llm:build",
        ),
        (
            CheckerInfo(
                slug="aspect-alignment",
                version="1",
                kind="alignment",
                title="Alignment of aspects",
                summary="Shows a language model all sentences of an answer and all aspects at once, and asks which "
                "sentence deals with which aspect.",
                roles=("coverage",),
                needs="server",
                packages=(openai, spacy),
                parameters=(ENDPOINT, FORMAT_PROMPT, *PATIENCE),
            ),
            "models_runtime.checkers.aspect_alignment:AspectAlignment",
        ),
        _asked(
            openai,
            "source-reference",
            "References to sources",
            "Asks a language model whether the evidence refers to a source outside itself, one of DRUID's "
            "characteristics.",
            ScoreInfo("refers_to_external_source", "Refers to an external source", 0, 1),
            ScoreInfo("p_refers_to_external_source", "P(refers to an external source)", 0, 1),
        ),
        _asked(
            openai,
            "model-knowledge",
            "What the model itself knows",
            "Asks the language model, without any passage, whether it knows the piece to be so. Name the endpoint that "
            "serves the model which wrote the answers.",
            ScoreInfo("knows", "Knows it (1), unsure (0), knows otherwise (-1)", -1, 1),
            *(ScoreInfo(f"knows_{word}", f"P({word})", 0, 1) for word in ("yes", "no", "unsure")),
        ),
        _asked(
            openai,
            "verdict",
            "Verdict from the evidence",
            "Asks a language model whether the evidence makes the claim true, false, or neither.",
            ScoreInfo("verdict", "True (1), none (0), false (-1)", -1, 1),
            *(ScoreInfo(f"verdict_{word.lower()}", f"P({word})", 0, 1) for word in ("True", "False", "None")),
        ),
    )


def _asked(openai: Package, slug: str, title: str, summary: str, *scores: ScoreInfo) -> tuple[CheckerInfo, str]:
    """One question with scores for an answer."""
    info = CheckerInfo(
        slug=slug,
        version="2",
        kind="llm",
        title=title,
        summary=summary,
        roles=(),
        needs="server",
        packages=(openai,),
        gives="scores",
        parameters=(ENDPOINT, PROMPT, ANSWERS, *PATIENCE),
        scores=(*scores, _MASS),
    )
    return info, "models_runtime.scorers.asked:AskedScorer"

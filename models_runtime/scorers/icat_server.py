"""ICAT's scores (`icat`), with aspects aligned by a language model that is shown all claims and all aspects at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..checkers import aspect_alignment
from ..contracts import CheckerInfo, LabelSpace
from ..inputs import failed
from ..llm import prompts
from ..llm.alignment import PROMPT, Alignable, ask_alignment
from ..llm.asking import Exchange, Server
from ..llm.parameters import ENDPOINT, FORMAT_PROMPT, PATIENCE
from ..packages import OPENAI
from . import grounding
from .icat import SCORES, AnswerAspects, IcatScorer

INFO = CheckerInfo(
    slug="icat-server",
    version="1",
    kind="icat",
    title="Facts and aspects (ICAT), aligned by a language model",
    summary="The same, with a language model that is shown all supported claims and all aspects at once. "
    "The worker itself checks the claims against passages.",
    roles=(),
    needs="server",
    packages=(*grounding.INFO.packages, OPENAI),
    gives="scores",
    parameters=(ENDPOINT, FORMAT_PROMPT, *grounding.PARAMETERS, *PATIENCE),
    scores=SCORES,
)


class ServerAligner:
    """Shows a language model the supported claims of an answer and all aspects at once."""

    def __init__(self, parameters: dict[str, Any]) -> None:
        self.server = Server.of(parameters)
        own = parameters["prompt"].strip()
        self.prompt = prompts.own(own, "$format") if own else prompts.shipped(PROMPT)

    def describe(self) -> dict[str, Any]:
        return {
            "checker": aspect_alignment.INFO.slug,
            "version": aspect_alignment.INFO.version,
            "parameters": {},
            **self.server.describe(),
            "prompts": {PROMPT: [self.prompt.described()]},
        }

    def align(self, answers: Sequence[AnswerAspects]) -> None:
        asked = [
            Alignable(one.question, tuple(one.claims[place] for place in one.supported), one.aspects) for one in answers
        ]
        for one, outcome in zip(answers, self.server.ask_each(asked, self._ask), strict=True):
            one.usage = outcome.usage
            if outcome.error:
                one.error = failed(one.work[0][0], outcome.error).error
                continue
            for place, aspects in zip(one.supported, outcome.result or (), strict=True):
                for aspect in aspects:
                    one.covering.setdefault(one.aspects[aspect], set()).add(place)

    def _ask(self, answer: Alignable, exchange: Exchange):
        return ask_alignment(answer, exchange, self.prompt)


def build(info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> IcatScorer:
    return IcatScorer(info, parameters, ServerAligner(parameters))

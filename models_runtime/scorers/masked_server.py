"""Masked references (`masked`), read by a language model on a server.

What is masked are an element's own words or, with `masking` = `model`, also the stretches of each passage that the
model finds to name it in other words (RefChecker, appendix D.2, has a model mask each document); those that do not
stand in the passage are passed over, and a passage in which it finds none stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..checkers import llm
from ..contracts import CheckerInfo, CheckerInput, InputError, LabelSpace, ParameterInfo, Prediction
from ..inputs import failed
from ..llm import prompts
from ..llm.answers import json_options, object_schema, read_json
from ..llm.asking import Exchange, Server
from ..packages import OPENAI
from .masked import MASK_PARAMETER, SCORES, MaskedInput, MaskedReference, handed_on, masked

# The rest of the judge's parameters keep their defaults.
HANDED_ON = ("endpoint", "passages", "answers", "timeout_seconds", "retries", "wait_seconds")
WORDS, MODEL = "words", "model"
PROMPT, NAME, MOST, TOKENS = "mask-references", "stretches", 20, 1024
INFO = CheckerInfo(
    slug="masked-reference-server",
    version="2",
    kind="llm",
    title="Masked references, by a language model",
    summary="Reads passages in which a triplet's subject or object is masked. A language model that then "
    "says anything but neutral goes by what it remembers.",
    needs="server",
    packages=(OPENAI,),
    parameters=(
        MASK_PARAMETER,
        ParameterInfo(
            "masking",
            "Masked",
            "str",
            WORDS,
            choices=(WORDS, MODEL),
            hint="words: the part's own words. model: also what the model finds to name it in other words, by a "
            "request for each passage.",
        ),
        *handed_on(llm, HANDED_ON),
    ),
    roles=(),
    gives="scores",
    scores=SCORES,
)


class MaskedByModel(MaskedReference):
    def __init__(self, info: CheckerInfo, parameters: dict[str, Any]) -> None:
        super().__init__(info, parameters, llm)
        self.server = Server.of(parameters)
        self.prompt = prompts.shipped(PROMPT)
        self.instructions = self.prompt.with_values(format=f'{{"{NAME}": ["\u2026"]}}', most=MOST)

    def describe(self) -> dict[str, Any]:
        found = super().describe()
        return found | {"prompts": found["prompts"] | {"masking": [self.prompt.described()]}}

    def _masked(self, inputs: Sequence[CheckerInput]) -> list[MaskedInput | Prediction]:
        found: list[MaskedInput | Prediction | None] = [None] * len(inputs)
        asked = {}
        for place, item in enumerate(inputs):
            try:
                asked[place] = self.read(item)
            except InputError as error:
                found[place] = failed(item, error)
        for place, outcome in zip(asked, self.server.ask_each(list(asked.values()), self._mask), strict=True):
            item = inputs[place]
            if outcome.error:
                error = failed(item, outcome.error).error
                found[place] = Prediction(item.id, error=error, usage=outcome.usage, trace=outcome.trace)
            else:
                found[place] = MaskedInput.of(item, asked[place][0], outcome.result, outcome.usage)
        return [one for one in found if one is not None]

    def _mask(self, read: tuple[str, list[str], list[str]], exchange: Exchange) -> list[tuple[str, int]]:
        """Each passage masked, and how many stretches that are."""
        claim, elements, passages = read
        named = [("statement", claim), *prompts.numbered("part", elements)]
        schema = object_schema({NAME: {"type": "array", "items": {"type": "string"}, "maxItems": MOST}})
        found = []
        for passage in passages:
            message = prompts.texts_before([*named, ("passage", passage)], "The stretches, in the JSON form:")
            body = exchange.ask(prompts.both(self.instructions, message), **json_options(NAME, schema, TOKENS))
            found.append(masked(passage, [*elements, *_stretches(read_json(body, TOKENS))]))
        return found


def _stretches(found: Any) -> list[str]:
    rows = found.get(NAME) if isinstance(found, dict) and set(found) == {NAME} else None
    if not isinstance(rows, list) or len(rows) > MOST or not all(isinstance(row, str) for row in rows):
        raise InputError("malformed", f"the answer is not an object with a list of {NAME}")
    return rows


def build(info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> MaskedReference:
    if parameters["masking"] == MODEL:
        return MaskedByModel(info, parameters)
    return MaskedReference(info, parameters, llm)

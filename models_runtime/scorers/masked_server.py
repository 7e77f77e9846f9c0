"""Masked references (`masked`), read by a language model on a server."""

from __future__ import annotations

from typing import Any

from ..checkers import llm
from ..contracts import CheckerInfo, LabelSpace
from ..packages import OPENAI
from .masked import MASK_PARAMETER, SCORES, MaskedReference, handed_on

# The rest of the judge's parameters keep their defaults.
HANDED_ON = ("endpoint", "passages", "answers", "timeout_seconds", "retries", "wait_seconds")
INFO = CheckerInfo(
    slug="masked-reference-server",
    version="2",
    kind="llm",
    title="Masked references, by a language model",
    summary="Reads passages in which a triplet's subject or object is masked. A language model that then "
    "says anything but neutral goes by what it remembers.",
    needs="server",
    packages=(OPENAI,),
    parameters=(MASK_PARAMETER, *handed_on(llm, HANDED_ON)),
    roles=(),
    gives="scores",
    scores=SCORES,
)


def build(info: CheckerInfo, spaces: tuple[LabelSpace, ...], parameters: dict[str, Any]) -> MaskedReference:
    return MaskedReference(info, parameters, llm)

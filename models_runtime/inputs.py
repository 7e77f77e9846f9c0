"""Reading a checker's inputs: what is no usable text is refused with a reason, one input at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from .contracts import CheckerInput, InputError, Prediction, PredictionError
from .failures import is_interruption, is_out_of_memory

Input = TypeVar("Input")
Answer = TypeVar("Answer")


def check_text(name: str, value: Any) -> str:
    """`value` if it is text that can be stored and encoded; InputError otherwise. It may be empty."""
    if not isinstance(value, str):
        raise InputError("not-text", f"{name} is {type(value).__name__}, not text")
    if "\0" in value:
        raise InputError("nul-character", f"{name} has a NUL at {value.index(chr(0))}")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError("lone-surrogate", f"{name} has half a surrogate pair at {error.start}") from None
    return value


def read_claim(item: CheckerInput) -> str:
    claim = check_text("claim", _field(item, "claim"))
    if not claim.strip():
        raise InputError("empty-claim", "claim is empty")
    return claim


def read_claims(item: CheckerInput) -> list[str]:
    """The claim, or those of the alternatives that are not blank."""
    if "claims" not in item.fields:
        return [read_claim(item)]
    claims = item.fields["claims"]
    if not isinstance(claims, Iterable) or isinstance(claims, str | bytes):
        raise InputError("not-text", "claims is not a sequence of texts")
    readable = [check_text(f"claims[{index}]", claim) for index, claim in enumerate(claims)]
    present = [claim for claim in readable if claim.strip()]
    if not present:
        raise InputError("empty-claim", "there is no claim to look for")
    return present


def read_passages(item: CheckerInput) -> list[tuple[str, str]]:
    """(field, text) of each passage that is not blank: `evidence`, or `passages[i]` with i the place in the tuple."""
    if "passages" in item.fields:
        passages = item.fields["passages"]
        if not isinstance(passages, Iterable) or isinstance(passages, str | bytes):
            raise InputError("not-text", "passages is not a sequence of texts")
        named = [(f"passages[{index}]", passage) for index, passage in enumerate(passages)]
    else:
        named = [("evidence", _field(item, "evidence"))]
    readable = [(name, check_text(name, passage)) for name, passage in named]
    present = [(name, passage) for name, passage in readable if passage.strip()]
    if not present:
        raise InputError("empty-evidence", "there is no passage to judge against")
    return present


def _field(item: CheckerInput, name: str) -> Any:
    try:
        return item.fields[name]
    except KeyError:
        fields = ", ".join(sorted(item.fields)) or "nothing"
        raise InputError("missing-field", f"there is no {name}; given: {fields}") from None


def failed(item: CheckerInput, error: Exception) -> Prediction:
    """The prediction of an input that could not be answered. What nobody foresaw may pass on a retry."""
    if isinstance(error, InputError):
        reason, message, permanent = error.reason, error.message, error.permanent
    else:
        reason = "out-of-memory" if is_out_of_memory(error) else "unexpected"
        message, permanent = f"{type(error).__name__}: {error}", False
    return Prediction(item.id, error=PredictionError(reason, message, permanent))


def answer_each(
    inputs: Sequence[Input],
    answer: Callable[[Input], Answer],
    failed: Callable[[Input, Exception], Answer] = failed,
) -> list[Answer]:
    """`answer` of every input in order; an exception fails its own input only (a worker's time limit passes on)."""
    answers = []
    for item in inputs:
        try:
            answers.append(answer(item))
        except Exception as error:
            if is_interruption(error):
                raise
            answers.append(failed(item, error))
    return answers

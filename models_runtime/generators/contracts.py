"""What every generator takes and gives: a question, and an answer to it.

Nothing here imports anything but the standard library. Like a checker, a generator keeps order and length, and an input
that it cannot answer fails alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..contracts import PredictionError, Usage


@dataclass(frozen=True, slots=True)
class GenerationInput:
    """A question, with what is shown with it. `repetition` counts from 0 and moves the seed: each is drawn anew."""

    id: str
    text: str
    date: str = ""  # the day on which it is asked
    passages: tuple[str, ...] = ()
    repetition: int = 0


@dataclass(frozen=True, slots=True)
class Generation:
    """The text, or why there is none. `facts` are what is kept with it, as JSON: its seed, the tokens, how it ended.
    `usage` and `trace` are as in `contracts.Prediction`."""

    id: str
    text: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    error: PredictionError | None = None
    usage: Usage | None = None
    trace: dict[str, Any] | None = None


class TextGenerator(Protocol):
    def describe(self) -> dict[str, Any]:
        """Provenance, as of a checker."""

    def generate(self, inputs: Sequence[GenerationInput]) -> list[Generation]:
        """One text per input, in the order of the inputs."""

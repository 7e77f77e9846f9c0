"""What reports begin with where a project has decisions and no labels by raters, as after an import of gold labels."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.reports.common import REFERENCES
from analysis.reports.words.numbers import either, n_of
from analysis.reports.words.sentences import listed

DECISIONS_ALONE = "decisions_alone"  # in what a result was made from


@dataclass(frozen=True)
class DecisionsAlone:
    """The decisions of one set, the questions that they answer, and whether they are the report's reference."""

    set: str
    n: int
    questions: list[str]
    are_used: bool

    @property
    def called(self) -> str:
        """The set in the middle of a sentence."""
        title = REFERENCES[self.set]
        return f"{title[0].lower()}{title[1:]}"

    def begins(self, report: str, needs_raters: str) -> str:
        there = f"{n_of(self.n, self.called)} ({listed(self.questions)})"
        if self.are_used:
            return f"Reference: {there}; there are no labels by raters."
        if needs_raters:
            are = either(self.n, "is", "are")
            return f"There {are} {there} and no labels by raters: “{report}” needs {needs_raters}."
        return (
            f"There are no labels by raters, but {there}. To use them, choose “{REFERENCES[self.set]}” as the "
            f"reference (reference: {self.set})."
        )


def decisions_alone(result: dict) -> DecisionsAlone | None:
    """As the report found them; None where there are labels by raters, or no decisions."""
    found = result.get("made_from", {}).get(DECISIONS_ALONE)
    return DecisionsAlone(**found) if found else None

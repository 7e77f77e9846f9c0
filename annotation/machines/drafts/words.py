"""The words of a draft's parts: how they are stored, and when two pieces say the same."""

from collections.abc import Mapping

from annotation.machines.runs.storing import storable
from annotation.projects.draft_kinds import DraftKind


def as_words(text: str) -> str:
    """A part as it is stored: without outer white space, with line ends as a form sends them back after reading."""
    return storable(text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def same_words(kind: DraftKind, parts: Mapping[str, str]) -> tuple[str, ...]:
    """Two pieces say the same where this is equal: their parts in order, without regard to case and white space."""
    return tuple(" ".join(parts[name].split()).casefold() for name in kind.parts)

"""Turns of a conversation that is one text: a line names who speaks, and the words follow it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MOST_TURNS = 2_000  # of a conversation
# Roles by the names that files give them.
ROLES = {
    "assistant": ("assistant", "ai", "bot", "chatbot", "chatgpt", "gpt", "model"),
    "developer": ("developer",),
    "other": ("other",),
    "system": ("system",),
    "tool call": ("tool call", "function_call", "tool_call", "tool_use"),
    "tool result": ("tool result", "function", "function_call_output", "observation", "tool", "tool_result"),
    "user": ("user", "customer", "human", "prompter"),
}
ROLE_OF = {name: role for role, names in ROLES.items() for name in names}

_NAMES = "|".join(ROLES)
# The second form is that of transcripts: "Human: ..." after an empty line.
HEAD = re.compile(
    rf"^\[(?P<role>{_NAMES})(?P<more>, [^\]\r\n]*)?\][ \t]*$"
    r"|(?:(?<=\n\n)|\A\s*)(?P<speaker>Human|User|Assistant|System): ?",
    re.M,
)


@dataclass(frozen=True, slots=True)
class Turn:
    head: re.Match
    end: int

    @property
    def start(self) -> int:
        """Where its words begin."""
        return self.head.end()

    @property
    def role(self) -> str:
        return self.head["role"] or ROLE_OF[self.head["speaker"].lower()]


def turns_of(text: str) -> Iterator[Turn]:
    """In order; none where the text does not begin with a line that names who speaks. The first turn's form holds for
    all: a line of the other form belongs to the words of a turn, such as a transcript that a user pasted.

    >>> [turn.role for turn in turns_of("[user]\\nDid it freeze?\\n\\n[assistant]\\nIt did.")]
    ['user', 'assistant']
    """
    before = None
    for head in HEAD.finditer(text):
        if before is None and text[: head.start()].strip():
            return
        if before is not None and bool(head["role"]) != bool(before["role"]):
            continue
        if before is not None:
            yield Turn(before, head.start())
        before = head
    if before is not None:
        yield Turn(before, len(text))

"""The prompts that answer probabilities are read after: templates in a file, with a version and a hash."""

from __future__ import annotations

import functools
import hashlib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

FILE = Path(__file__).parent / "prompts" / "verdict-1.toml"
# The answers in a fixed order, by the names that scores have.
ANSWERS = ("true", "false", "none")


@dataclass(frozen=True)
class VerdictPrompts:
    """`version` and `sha256` say which prompts these are; `spellings` which texts count as each of ANSWERS."""

    version: str
    sha256: str
    spellings: dict[str, tuple[str, ...]]
    _parts: dict[str, Any]

    def text(self, claim: str, evidence: str | None, shots: int) -> str:
        """The prompt, up to where the answer would begin; `evidence` None asks without. 0 to 3 examples come before."""
        mode = self._parts["without" if evidence is None else "with"]
        item = Template(mode["item"])
        examples = "".join(
            f"{item.substitute(example)} {example['answer']}\n" for example in self._parts["examples"][:shots]
        )
        return mode["instruction"] + examples + item.substitute(claim=claim.strip(), evidence=(evidence or "").strip())

    @property
    def ending(self) -> str:
        """What stands before the answer in every prompt."""
        return "\n" + self._parts["with"]["item"].rpartition("\n")[2]


@functools.cache
def read_prompts() -> VerdictPrompts:
    content = FILE.read_bytes()
    parts = tomllib.loads(content.decode())
    spellings = {answer: tuple(parts["answers"][answer]) for answer in ANSWERS}
    return VerdictPrompts(parts["version"], hashlib.sha256(content).hexdigest(), spellings, parts)

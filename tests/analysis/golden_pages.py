"""What reports say of the tests' projects, as text files of their words: each line once, and 0 for every number."""

import os
import re
from pathlib import Path

FOLDER = Path(__file__).parent / "golden"
SENTENCE = re.compile(r"(?<=[.?]) (?=[A-Z])")
NUMBER = re.compile(r"\br-[0-9a-f]{8}\b|-?\d+(?:[.,]\d+)*(?:e[-+]\d+)?")  # or the random pseudonym of a person
ONLY_NUMBERS = re.compile(r"(?:\s*(?:\||\b0\b))++$")  # possessive: a long row of a table takes no seconds


def words_of(*texts: str) -> str:
    """Cells and sentences of reports as text, in their order. Lines that differ in numbers alone are one."""
    lines = SENTENCE.sub("\n", "\n".join(texts)).splitlines()
    lines = [re.sub(r" {2,}", " | ", NUMBER.sub("0", line).strip()) for line in lines]
    return "".join(f"{line}\n" for line in dict.fromkeys(ONLY_NUMBERS.sub("", line) for line in lines) if line)


def golden(name: str, *texts: str) -> tuple[str, str]:
    """The words of these texts, and those that are stored; with RENEW_GOLDEN in the environment they are stored."""
    path, words = FOLDER / f"{name}.txt", words_of(*texts)
    if os.environ.get("RENEW_GOLDEN"):
        path.write_text(words, encoding="utf-8")
    return words, path.read_text(encoding="utf-8") if path.exists() else ""

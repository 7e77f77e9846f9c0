"""Words that pages, messages, documents and docstrings do without (docs/glossary.md)."""

import re

from benchmarks.lines import ROOT
from benchmarks.strings import FOLDERS, files_in, strings_of

# Rewritten next; until then they are not covered.
LEFT = ("annotation/api/", "annotation/machines/")
# Language models are asked with these words, and their answers are kept by them.
ASKED = ("models_runtime/prompts/", "models_runtime/lexicons/", "annotation/task_types/answer_grade.py")
WORDS = re.compile(
    r"\b(?:somebody|whoever|house|of which|settl(?!e the claim|e it)\w+)\b"
    r"|(?<![-`'])(?<!Shown: )\bbeside\b(?![-`'])|^whose [^?]*$",  # "Shown: beside the empty form": a migration has it
    re.IGNORECASE,
)
RAW = re.compile(r"somebody|whoever|house|of\s+(?:#\s+|\*\s+)?which|settl|beside|whose", re.IGNORECASE)


def place(path):
    return str(path.relative_to(ROOT))


def covered(paths):
    return [path for path in paths if not place(path).startswith((*LEFT, *ASKED))]


def test_sentences_do_without_these_words():
    found = [
        f"{place(path)}:{line}: {match.group()}"
        for path in covered(files_in(FOLDERS))
        if RAW.search(path.read_text(encoding="utf-8"))  # parsing all files takes seconds
        for line, text in strings_of(path)
        if (match := WORDS.search(text))
    ]
    assert found == []

"""Words that pages, messages, documents, docstrings and names do without (docs/glossary.md)."""

import ast
import re

from benchmarks.lines import PRODUCT, ROOT, tracked
from benchmarks.strings import FOLDERS, files_in, strings_of

# Rewritten next; until then they are not covered.
LEFT = ()
# Language models are asked with these words, and their answers are kept by them.
ASKED = ("models_runtime/prompts/", "models_runtime/lexicons/", "annotation/task_types/answer_grade.py")
WORDS = re.compile(
    r"\b(?:somebody|whoever|house|of which|settl(?!e the claim|e it)\w+)\b"
    r"|(?<![-`'])(?<!Shown: )\bbeside\b(?![-`'])|^whose [^?]*$",  # "Shown: beside the empty form": a migration has it
    re.IGNORECASE,
)
RAW = re.compile(r"somebody|whoever|house|of\s+(?:#\s+|\*\s+)?which|settl|beside|whose", re.IGNORECASE)

NAMES = {"told", "said", "given", "taken", "beside", "settle", "house"}
NAMED = re.compile(rf"\b_?(?:{'|'.join(NAMES)})\b", re.IGNORECASE)
KEY = ("analysis/papers/druid/result.py", "beside")  # a key of a report's JSON


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


def names_in(path):
    """Line and name of functions, classes, parameters, variables and attributes that a module of Python makes."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)) if NAMED.search(text) else ():
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name


def test_names_say_what_they_hold():
    modules = [path for path in covered(tracked("*.py")) if path.relative_to(ROOT).parts[0] in PRODUCT]
    assert len(modules) > 500
    named = {
        f"{place(path)}:{line}: {name}"
        for path in modules
        for line, name in names_in(path)
        if name.strip("_").lower() in NAMES and (place(path), name) != KEY and "migrations" not in path.parts
    }
    declared = re.compile(rf"(?:const|let|function)\s+(?:{'|'.join(NAMES)})\b")
    named |= {place(path) for path in tracked("static/js/*.js") if declared.search(path.read_text(encoding="utf-8"))}
    assert named == set()

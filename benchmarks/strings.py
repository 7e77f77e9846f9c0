"""Every sentence of the product, with its place, to be read in one go: templates, Python, scripts, documents.

python -m benchmarks.strings                        all of it
python -m benchmarks.strings annotation/work docs   these folders and files

Of Python: docstrings, comments, and strings of several words (messages, help, labels, errors); parts of an f-string are
joined, with {} for its values.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from benchmarks.lines import ROOT, tracked

DOCUMENTS = ("docs", "README.md", "CONTRIBUTING.md")
FOLDERS = ("templates", "static/js", *DOCUMENTS, "analysis", "annotation", "models_runtime", "plugins", "config")
ENDINGS = (".py", ".html", ".txt", ".js", ".md")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
SHOWN_ATTRIBUTES = re.compile(r"""\b(?:title|placeholder|aria-label|alt|data-[a-z-]+)=("[^"]+"|'[^']+')""")
JS_PARTS = (*(rf"({mark}[^{mark}\n]* [^{mark}\n]*{mark})" for mark in "\"'`"), r"//([^\n]+)", r"/\*(.*?)\*/")
JS_STRINGS = re.compile("|".join(JS_PARTS), re.DOTALL)

Found = Iterator[tuple[int, str]]


def strings_of_python(text: str) -> Found:
    """Line and text of docstrings, strings with a space in them, and comments."""
    joined = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node):
            joined.add(node.body[0].value)
            yield node.body[0].lineno, ast.get_docstring(node)
        elif isinstance(node, ast.JoinedStr):
            parts = [part if isinstance(part, ast.Constant) else None for part in node.values]
            joined.update(part for part in parts if part)
            yield node.lineno, "".join(str(part.value) if part else "{}" for part in parts)
        elif isinstance(node, ast.Constant) and node not in joined and " " in str(node.value).strip():
            yield node.lineno, str(node.value)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def strings_of_template(text: str) -> Found:
    """Line and text between tags, and of attributes that are shown or read out."""

    def blank(match: re.Match) -> str:
        shown = " ".join(one.group(1) for one in SHOWN_ATTRIBUTES.finditer(match.group()))
        return "\n" * match.group().count("\n") + f" {shown} "

    text = re.sub(r"{#.*?#}", lambda found: found.group()[2:-2], text)
    text = re.sub(r"{%-?\s*(?:translate|trans)\s+(\"[^\"]*\").*?%}", r"\1", text)
    text = re.sub(r"{%.*?%}", " ", re.sub(r"{{.*?}}", "{}", text), flags=re.DOTALL)
    text = re.sub(r"<[a-zA-Z/!][^>]*>", blank, text, flags=re.DOTALL)
    for number, line in enumerate(text.splitlines(), 1):
        if re.search("[A-Za-z]", line):
            yield number, line


def strings_of_script(text: str) -> Found:
    """Line and text of strings with a space in them, and of comments."""
    for found in JS_STRINGS.finditer(text):
        yield text.count("\n", 0, found.start()) + 1, next(part for part in found.groups() if part)


def strings_of_document(text: str) -> Found:
    """Line and text of paragraphs, without blocks of code."""
    text = re.sub(r"```.*?```", lambda found: "\n" * found.group().count("\n"), text, flags=re.DOTALL)
    for found in re.finditer(r"(?:.+\n?)+", text):
        yield text.count("\n", 0, found.start()) + 1, found.group()


READERS = {".py": strings_of_python, ".js": strings_of_script, ".html": strings_of_template}


def strings_of(path: Path) -> Found:
    """Line and text of each sentence of a file, in the order of its lines, with single spaces."""
    found = READERS.get(path.suffix, strings_of_document)(path.read_text(encoding="utf-8"))
    return sorted((line, " ".join(text.split())) for line, text in found if text.strip())


def files_in(folders: list[str]) -> list[Path]:
    """Tracked files that have sentences, without migrations."""
    paths = sorted(path for path in tracked(*folders) if path.suffix in ENDINGS)
    return [path for path in paths if "migrations" not in path.parts]


def main() -> None:
    parser = argparse.ArgumentParser(prog="strings", description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", default=FOLDERS, metavar="FOLDER")
    for path in files_in(parser.parse_args().folders):
        print(path.relative_to(ROOT))
        for line, text in strings_of(path):
            print(f"{line:5} {text}")


if __name__ == "__main__":
    main()

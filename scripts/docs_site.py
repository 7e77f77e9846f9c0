"""What `make docs` adds to the pages in docs/: references made from the tables that the code reads, and files from the
top of the checkout that belong to the documentation."""

import contextlib
import io
import os
import re
from collections.abc import Iterable
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
# Outside docs/, under the name that they have in the site.
OUTSIDE = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
METHODS = ("get", "post", "put", "patch", "delete")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    os.environ.setdefault("ASSAY_SECRET_KEY", "of no use: nothing is signed while pages are written")
    import django

    django.setup()
    made = {
        "reference/commands.md": commands(),
        "reference/reports.md": reports(),
        "reference/checkers.md": checkers(),
        "reference/http-api.md": routes(),
        **{name: _from_the_top((ROOT / path).read_text("utf-8")) for path, name in OUTSIDE.items()},
    }
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links to files outside docs/ lead to their page here; blocks say in words that they need another machine."""
    up = "../" * page.file.src_uri.count("/")
    for path, name in OUTSIDE.items():
        markdown = markdown.replace(f"](../{up}{path}", f"]({up}{name}")
    return re.sub(r"^```(\w+) elsewhere$", r"```\1", markdown, flags=re.MULTILINE)


def _from_the_top(text: str) -> str:
    return text.replace("](docs/", "](")


def commands() -> str:
    from assay.command import COMMANDS, usage

    parts = ["# Commands", "What each command prints with `--help`.", _code(usage())]
    parts += [f"## {name}\n\n{_code(_help(name))}" for name in COMMANDS if name != "manage"]
    return "\n\n".join(parts)


def _help(*words: str) -> str:
    from assay.command import main

    with contextlib.redirect_stdout(io.StringIO()) as output, contextlib.suppress(SystemExit):
        main([*words, "--help"])
    return output.getvalue()


def reports() -> str:
    from analysis.reports.metrics import REPORTS
    from annotation.task_types import TASK_TYPES

    parts = [
        "# List of reports",
        "Each report with what it can be made of, and its options. [Reports](../statistics/reports.md) describes what "
        "they compute.",
    ]
    for name, report in REPORTS.items():
        fits = [kind.identifier for kind in TASK_TYPES.values() if not report.fits(kind)]
        options = [
            (f"`{option.argument}`", option.title, option.help, ", ".join(map(str, option.known or ())))
            for option in report.options
        ]
        kinds = "of every task type" if len(fits) == len(TASK_TYPES) else "of " + ", ".join(f"`{one}`" for one in fits)
        parts += [f"## {name}", f"**{report.title}**, {kinds}. {report.intro}".strip()]
        if options:
            parts.append(_table(("option", "on the page", "meaning", "values"), options))
    return "\n\n".join(parts)


def checkers() -> str:
    from models_runtime.table import CHECKERS

    gives = {"labels": "Checkers", "scores": "Scorers", "pieces": "Extractors", "rankings": "Retrievers"}
    parts = [
        "# List of checkers",
        "Everything that labels, scores, takes texts apart, searches or writes, by what it gives. "
        "[Checkers](../checkers.md) describes how.",
    ]
    kinds = list(dict.fromkeys(entry.INFO.gives for entry in CHECKERS.values()))
    for kind in kinds:
        rows = [
            (f"`{slug}`", entry.INFO.summary, entry.INFO.needs, entry.INFO.model and f"`{entry.INFO.model}`",
             ", ".join(f"`{one.name}`" for one in entry.INFO.parameters))
            for slug, entry in CHECKERS.items() if entry.INFO.gives == kind
        ]  # fmt: skip
        parts += [
            f"## {gives.get(kind, 'Generators')}",
            _table(("name", "what it does", "queue", "default model", "parameters"), rows),
        ]
    return "\n\n".join(parts)


def routes() -> str:
    from drf_spectacular.generators import SchemaGenerator

    schema = SchemaGenerator().get_schema(public=True)
    groups: dict[str, list[tuple[str, ...]]] = {}
    for path, operations in schema["paths"].items():
        for method in METHODS:
            if operation := operations.get(method):
                named = (f"`{one['name']}`" for one in operation.get("parameters", ()) if one["in"] == "query")
                scope = re.search(r"Scope: (.+)\.", operation.get("description", ""))
                row = (method.upper(), f"`{path}`", operation.get("summary", ""), scope[1] if scope else "",
                       ", ".join(named))  # fmt: skip
                groups.setdefault(operation["tags"][0], []).append(row)
    parts = [
        "# Routes of the API",
        "Every route with the scope that a token needs. `/api/v1/schema/` of a running Assay has the fields of bodies "
        "and responses as OpenAPI; [API](../api.md) says how to use them.",
    ]
    for tag, rows in sorted(groups.items()):
        parts += [f"## {tag}", _table(("method", "address", "what it does", "scope", "query string"), rows)]
    return "\n\n".join(parts)


def _code(text: str) -> str:
    return f"```text\n{text.strip()}\n```"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(head)]
    lines.append(["---"] * len(lines[0]))
    lines += [[str(cell or "").replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)

"""Everything that reports of a data folder's projects say, as files, so that two versions of Assay can be compared.

    ASSAY_DATA_DIR=var/demo python -m benchmarks.results.dumps FOLDER [--against OLDER] [--only PROJECT] [--all]
    python -m benchmarks.results.dumps FOLDER --worlds [--against OLDER]

A file holds a report of a project in every form: as text, tables, Markdown, CSV and LaTeX, methods, pictures and the
numbers of units behind each figure. With `--worlds` the projects are those of the tests, one for each report, in a
database of their own, with the options that they are made for. `--against` lists the files that differ from those of
an older folder, with the first lines that differ, and ends with 1 where any does.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import random
import re
import secrets
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import django
from django.db import connections

MOST_LINES = 12
DATE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC")


def dumped(report, project, options: dict | None = None) -> str:
    from analysis.figures.items import Items
    from analysis.figures.tabular import WRITERS
    from analysis.reports.text import as_text
    from analysis.reports.words.methods import paragraph
    from analysis.sources.scoped import as_source

    source = as_source(project)
    if reason := report.fits(source.asked):
        return f"refused: {reason}\n"
    try:
        result = report.compute(source, **report.values(source, options or {}))
    except ValueError as error:
        return f"refused: {error}\n"
    behind = report.stored_behind(source, result.pop("behind"))
    page = report.page_of(result)
    answer = [*page.answer.sentences, page.answer.n, page.answer.next]
    parts = {
        "answer": "\n".join(answer),
        "text": as_text(result),
        **{name: write(report.tables(result)) for name, write in WRITERS.items()},
        "methods": paragraph(report, result),
        "pictures": "\n".join(json.dumps(one.to_dict(), sort_keys=True) for one in report.pictures(result)),
        "items": "\n".join(f"{figure}: {units}" for figure, units in units_of(page, Items.from_json(behind))),
    }
    return "".join(f"== {name}\n{text.rstrip()}\n" for name, text in parts.items())


def units_of(page, items):
    """Each figure that opens units, with their number and the sum of their ids."""
    for table in page.tables():
        for row in table.rows:
            for column in table.columns:
                if figure := column.items and column.items(row):
                    units = items.units_of(figure)
                    yield f"{table.title} / {column.title}", f"{len(units)} units, sum {sum(units)}"


def compare(new: Path, old: Path) -> int:
    differ = 0
    for name in sorted(path.relative_to(new) for path in new.rglob("*.txt")):
        texts = [
            DATE.sub("DATE", path.read_text(encoding="utf-8")).splitlines() if path.exists() else []
            for path in (old / name, new / name)
        ]
        lines = [
            line for line in difflib.unified_diff(*texts, lineterm="", n=0) if not re.match(r"(---|\+\+\+|@@)", line)
        ]
        if lines:
            differ += 1
            print(f"{name}: {len(lines)} lines differ", *lines[:MOST_LINES], sep="\n    ")
    print(f"{differ} files differ")
    return int(differ > 0)


def of_projects(only: list[str] | None, is_all: bool) -> Iterator[tuple[str, str]]:
    """Files with their texts, of the projects of ASSAY_DATA_DIR; with `is_all` of reports with more statistics."""
    from analysis.reports.metrics import REPORTS
    from annotation.models import Project

    for project in Project.objects.order_by("slug"):
        if only is None or project.slug in only:
            for name, report in REPORTS.items():
                options = {"all": True} if is_all and report.more else {}
                yield f"{project.slug}/{name}.txt", dumped(report, project, options)


def of_worlds(only: list[str] | None) -> Iterator[tuple[str, str]]:
    """The same of the tests' projects, which keep nothing behind."""
    from django.core.management import call_command

    from analysis.reports.metrics import REPORTS
    from tests.world.study import WORLDS

    call_command("migrate", verbosity=0)
    for name, make in WORLDS.items():
        if only is None or name in only:
            call_command("flush", interactive=False, verbosity=0)
            project, options = make()
            yield f"worlds/{name}.txt", dumped(REPORTS[name], project, options)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--against", type=Path, metavar="OLDER")
    parser.add_argument("--only", action="append", metavar="NAME", help="a project; with --worlds a report")
    parser.add_argument("--worlds", action="store_true", help="the tests' projects, with all figures defined")
    parser.add_argument("--all", action="store_true", help="with what is under More statistics; --worlds has it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-dumps-") as name:
        if options.worlds:
            os.environ |= {"ASSAY_DATA_DIR": name, "ASSAY_SECRET_KEY": "x" * 50, "ASSAY_DEMO": "1"}
            draw = random.Random(0)  # so that pseudonyms and what is drawn by them are the same each time
            uuid.uuid4 = lambda: uuid.UUID(int=draw.getrandbits(128), version=4)
            secrets.token_hex = lambda n: draw.randbytes(n).hex()
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        django.setup()
        found = of_worlds(options.only) if options.worlds else of_projects(options.only, options.all)
        for path, text in found:
            options.folder.joinpath(path).parent.mkdir(parents=True, exist_ok=True)
            options.folder.joinpath(path).write_text(text, encoding="utf-8")
        connections.close_all()
    return compare(options.folder, options.against) if options.against else 0


if __name__ == "__main__":
    sys.exit(main())

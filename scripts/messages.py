#!/usr/bin/env python
"""Bring the catalogues in locale/ up to date: `python scripts/messages.py`; a language's code as argument adds it.

Reads the texts that templates, Python modules and scripts mark for translation and the words of Assay's own task types,
adds new ones to each language's `.po` files, drops those that are gone, and compiles the `.mo` files that Django reads.
"""

import ast
import os
import re
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from babel import Locale
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
LOCALES = ROOT / "locale"
PYTHON = ("annotation", "analysis/progress", "config")
KEYWORDS = {
    "gettext": None,
    "gettext_lazy": None,
    "N_": None,
    "_": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
}
SCRIPT_KEYWORDS = {"gettext": None, "ngettext": (1, 2)}
SCRIPT_OPTIONS = {"parse_template_string": True}
STRING = r"u?(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
# What Django makes of a template's tags.
CALL = re.compile(rf"\b(n?p?gettext|_)\(({STRING}(?:, ?{STRING})*)(?:, ?count)?\)")


def texts_of_templates() -> Iterator[tuple[str | tuple[str, str], str | None]]:
    from django.utils.translation.template import templatize

    for file in sorted((ROOT / "templates").rglob("*.html")) + sorted((ROOT / "templates").rglob("*.txt")):
        for name, arguments in CALL.findall(templatize(file.read_text("utf-8"))):
            parts = ast.literal_eval(f"({arguments},)")
            context = parts[0] if "p" in name.removesuffix("gettext") else None
            forms = parts[1:] if context else parts
            yield (forms if len(forms) > 1 else forms[0]), context


def texts_of_modules() -> Iterator[tuple[str | tuple[str, str], str | None]]:
    for folder in PYTHON:
        for file in sorted((ROOT / folder).rglob("*.py")):
            for _, text, _, context in extract_from_file("python", file, KEYWORDS):
                yield text, context


def words_of_task_types() -> Iterator[tuple[str, str | None]]:
    from annotation import task_words
    from annotation.task_types import keys, own_task_types

    for identifier in own_task_types():
        for text in sorted(task_words.declared_words(identifier)):
            yield text, task_words.CONTEXT
    for one in keys.SHORTCUTS:
        for text in filter(None, (one.labelling, one.desk, one.title)):
            yield text, None


def texts_of_scripts() -> Iterator[tuple[str | tuple[str, str], None]]:
    for file in sorted((ROOT / "static/js").rglob("*.js")):
        for _, text, _, _ in extract_from_file("javascript", file, SCRIPT_KEYWORDS, options=SCRIPT_OPTIONS):
            yield text, None


def template_of(texts) -> Catalog:
    catalog = Catalog()
    for text, context in texts:
        catalog.add(text, context=context)
    return catalog


def templates() -> dict[str, Catalog]:
    """All that there is to translate, by domain."""
    return {
        "django": template_of([*texts_of_templates(), *texts_of_modules(), *words_of_task_types()]),
        "djangojs": template_of(texts_of_scripts()),
    }


def read_catalog(folder: Path, domain: str) -> Catalog:
    file = folder / "LC_MESSAGES" / f"{domain}.po"
    if not file.exists():
        return Catalog(folder.name, project="Assay", fuzzy=False)
    with file.open("rb") as source:
        return read_po(source, folder.name, domain)


def compiled(catalog: Catalog) -> bytes:
    target = BytesIO()
    write_mo(target, catalog)
    return target.getvalue()


def is_missing(message) -> bool:
    strings = message.string if isinstance(message.string, tuple) else (message.string,)
    return bool(message.id) and not all(strings)


def update(folder: Path, domain: str, template: Catalog) -> None:
    catalog = read_catalog(folder, domain)
    template.creation_date = catalog.creation_date  # a date that changes with each run would be in every comparison
    catalog.update(template, no_fuzzy_matching=True, update_header_comment=False)
    catalog.obsolete.clear()
    target = folder / "LC_MESSAGES"
    target.mkdir(parents=True, exist_ok=True)
    with (target / f"{domain}.po").open("wb") as file:
        write_po(file, catalog, width=120, sort_output=True)
    (target / f"{domain}.mo").write_bytes(compiled(read_catalog(folder, domain)))
    print(f"{folder.name} {domain}: {len(catalog)} texts, {sum(map(is_missing, catalog))} not translated")


def main() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    for code in sys.argv[1:]:
        Locale.parse(code)
        (LOCALES / code).mkdir(parents=True, exist_ok=True)
    for domain, template in templates().items():
        for folder in sorted(one for one in LOCALES.iterdir() if one.is_dir()):
            update(folder, domain, template)


if __name__ == "__main__":
    main()

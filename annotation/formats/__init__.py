"""Every file format. To add one: a module with `INFO` (`info.Format`), and a line in `FORMATS`; or a package of one's
own with an entry point in the group `assay.formats`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from plugins import EntryTable

from .info import Format
from .records import FormatError
from .sources import Limits, Options, SourceFile


def _problem_of(entry: Any) -> str:
    if not isinstance(entry, Format):
        return "it is no annotation.formats.Format"
    if not callable(entry.reader):
        return "it has no reader"
    return ""


# In the order in which lists show them.
FORMATS: EntryTable[Format] = EntryTable(
    "assay.formats",
    "format",
    (
        "annotation.formats.studies.druid:INFO",
        "annotation.formats.studies.climate_fever:INFO",
        "annotation.formats.studies.claim_review:INFO",
        "annotation.formats.studies.averitec:INFO",
        "annotation.formats.studies.beir:INFO",
        "annotation.formats.studies.scifact:INFO",
        "annotation.formats.studies.refchecker:INFO",
        "annotation.formats.studies.icat.format:INFO",
        "annotation.formats.tools.rankings:INFO",
        "annotation.formats.tools.preferences:INFO",
        "annotation.formats.studies.wmt_mqm:INFO",
        "annotation.formats.studies.wmt_esa:INFO",
        "annotation.formats.tables.format:INFO",
        "annotation.formats.tables.ratings:INFO",
        "annotation.formats.tools.label_studio:INFO",
        "annotation.formats.tools.doccano:INFO",
        "annotation.formats.tools.prodigy:INFO",
        "annotation.formats.tools.potato:INFO",
        "annotation.formats.tools.alt_test:INFO",
        "annotation.formats.tools.argilla:INFO",
        "annotation.formats.tools.inception:INFO",
        "annotation.formats.tools.inspect_logs:INFO",
        "annotation.formats.tools.pdf:INFO",
        "annotation.formats.tools.traces:INFO",
        "annotation.formats.content.format:INFO",
        "annotation.formats.content.assay:INFO",
    ),
    name_of=lambda info: info.slug,
    problem_of=_problem_of,
)


def get_format(slug: str) -> Format:
    """The format of that name. Unknown names raise KeyError."""
    try:
        return FORMATS[slug]
    except KeyError:
        raise KeyError(f"There is no format {slug!r}; available: {', '.join(FORMATS)}") from None


def detect(path, original_name: str = "") -> str | None:
    """The slug of the format that a file most likely has, from its beginning; None where it has no readable row."""
    return import_module("annotation.formats.detection").detect(SourceFile(path, original_name))


__all__ = ["FORMATS", "Format", "FormatError", "Limits", "Options", "SourceFile", "detect", "get_format"]

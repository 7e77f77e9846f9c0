"""Every file format. To add one: a module with `INFO` (`info.Format`), and a line in `FORMATS`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from importlib import import_module

from .info import Format
from .records import FormatError
from .sources import Limits, Options, SourceFile


class Formats(Mapping[str, Format]):
    """Slug -> format, in the order in which lists show them. A module is imported when its format is first used."""

    def __init__(self, modules: Mapping[str, str]):
        self.modules = dict(modules)

    def register(self, slug: str, module: str) -> None:
        """Add a format by the dotted name of its module. ValueError where there is one of that slug."""
        if slug in self.modules:
            raise ValueError(f"There is a format {slug!r} already: {self.modules[slug]}")
        self.modules[slug] = module

    def __getitem__(self, slug: str) -> Format:
        return import_module(self.modules[slug]).INFO

    def __iter__(self) -> Iterator[str]:
        return iter(self.modules)

    def __len__(self) -> int:
        return len(self.modules)

    def problems(self, task_types: Collection[str]) -> Iterator[str]:
        """What is wrong with the modules, for the check at start. `task_types` are the identifiers that there are."""
        for slug, name in self.modules.items():
            try:
                info = getattr(import_module(name), "INFO", None)
            except ImportError as error:
                yield f"{name}: cannot be imported: {error}"
                continue
            if not isinstance(info, Format):
                yield f"{name}: has no INFO, a Format"
                continue
            if info.slug != slug:
                yield f"{name}: is the format {info.slug!r}, and registered as {slug!r}"
            if not callable(info.reader):
                yield f"{name}: has no reader"
            if info.task_type and info.task_type not in task_types:
                yield f"{name}: there is no task type {info.task_type!r}"


FORMATS = Formats(
    {
        "druid": "annotation.formats.studies.druid",
        "climate-fever": "annotation.formats.studies.climate_fever",
        "claim-review": "annotation.formats.studies.claim_review",
        "averitec": "annotation.formats.studies.averitec",
        "beir": "annotation.formats.studies.beir",
        "scifact": "annotation.formats.studies.scifact",
        "refchecker": "annotation.formats.studies.refchecker",
        "icat": "annotation.formats.studies.icat.format",
        "table": "annotation.formats.tables.format",
        "ratings": "annotation.formats.tables.ratings",
        "label-studio": "annotation.formats.tools.label_studio",
        "doccano": "annotation.formats.tools.doccano",
        "prodigy": "annotation.formats.tools.prodigy",
        "potato": "annotation.formats.tools.potato",
        "alt-test": "annotation.formats.tools.alt_test",
        "argilla": "annotation.formats.tools.argilla",
        "inception": "annotation.formats.tools.inception",
        "inspect": "annotation.formats.tools.inspect_logs",
        "content": "annotation.formats.content.format",
        "assay": "annotation.formats.content.assay",
    }
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

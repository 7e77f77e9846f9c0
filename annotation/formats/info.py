"""What a format's module says of itself in `INFO`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from annotation.formats.sources import Options, SourceFile

if TYPE_CHECKING:
    from annotation.formats.detection import Head
    from annotation.formats.records import Record
    from annotation.formats.tools.tool_tasks import WrittenQuestion, WrittenTask

# How well the beginning of a file fits a format; 0 where it does not.
SURE, LIKELY, POSSIBLE, LAST_RESORT = 4, 3, 2, 1
TEXT_TABLES = (".tsv", ".csv", ".jsonl", ".json", ".parquet", ".arrow")


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """The files of a tool, of a project's texts and answers. `loses` says what they never hold, in sentences, and
    `holds` which questions have a place in them, `needs` a library (`plugins.extras`)."""

    title: str
    write: Callable[[Iterable[WrittenTask], list[WrittenQuestion], Path], None]
    loses: tuple[str, ...]
    holds: Callable[[WrittenQuestion], bool] = lambda question: True
    has_suggestions: bool = False
    needs: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One external format.

    reader: called as `reader(sources, options)`; yields records of the sources, streamed, and raises FormatError where
        a file as a whole cannot be read.
    extensions: of the files that the browser offers to choose; each also with .gz, and several files in a .zip.
    detect: how well the beginning of a file fits; of formats that fit alike, the first in the table is taken.
    is_of_exports: Assay's own exports may have their content in it.
    has_content_file: its files come together with a file of the content, which may look like another format.
    needs_mapping: the user says what the columns mean; `read_as` puts a mapping in sentences, with the number of raters
        once they were counted.
    task_type: the identifier of the task type that fits its labels; or `task_type_of(sources, options)` finds it; or
        it is the one that has the labels of `labels_in(sources, options)`: kinds of unit, dimensions and labels.
    needs_all_labels: whether, with this mapping, all of the file has to be read to find it.
    label_set_of: called with sources, options and a name where labels in the file make the questions: the description
        of their label set, {} where there are none.
    carries_settings: a manifest among the files may have the settings of a project, its label set and a release's
        frames; annotators are pseudonyms already.
    writers: kind of export -> the tool's files.
    """

    slug: str
    title: str
    extensions: tuple[str, ...]
    reader: Callable[[list[SourceFile], Options], Iterator[Record]]
    detect: Callable[[Head], int] = lambda head: 0
    is_of_exports: bool = False
    has_content_file: bool = False
    needs_mapping: bool = False
    read_as: Callable[[Mapping[str, str], int | None], list[str]] = lambda mapping, n_raters: []
    task_type: str = ""
    task_type_of: Callable[[list[SourceFile], Options], str] | None = None
    labels_in: Callable[[list[SourceFile], Options], Iterable[tuple[str, str, str]]] | None = None
    needs_all_labels: Callable[[Mapping[str, str]], bool] | None = None
    label_set_of: Callable[[list[SourceFile], Options, str], dict] | None = None
    carries_settings: bool = False
    writers: Mapping[str, Writer] = field(default_factory=dict)

    @property
    def makes_label_set(self) -> bool:
        return self.label_set_of is not None

    def read(self, sources: list[SourceFile], options: Options | None = None) -> Iterator[Record]:
        return self.reader(sources, options if options is not None else Options())


def has_columns(*signs: str) -> Callable[[Head], int]:
    """`detect` of a format that alone has all columns of one of the signs, each written as words."""
    known = [frozenset(one.split()) for one in signs]
    return lambda head: SURE if any(one <= head.columns for one in known) else 0

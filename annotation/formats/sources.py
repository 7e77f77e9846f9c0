"""What a format is given to read: files with the names they were uploaded under, limits, and what the user chose."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from annotation.formats.tables.oddities import ReadingNotes

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file on disk. `name` is its original name or relative path, which errors show and names are guessed from;
    `entry` is the one file that is meant of an archive."""

    path: str | Path
    name: str = ""
    entry: str = ""

    @property
    def label(self) -> str:
        return self.name or Path(self.path).name


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a file is believed. They bound memory and time whatever the file says about itself."""

    record_bytes: int = 16 * MIB  # one line, one row or one JSON value
    total_bytes: int = 8 * 1024 * MIB  # one source after decompression
    ratio: int = 200  # bytes out per byte in, looked at from `ratio_from` bytes on
    ratio_from: int = 16 * MIB
    records: int = 20_000_000  # lines or rows of one file: more would keep a worker busy for hours
    batch_bytes: int = 256 * MIB  # what rows of Parquet that are read together unfold to
    entries: int = 2000  # files in an archive
    columns: int = 1000
    column_chars: int = 300  # of a column's name
    key_chars: int = 500


@dataclass(slots=True)
class Options:
    """What the user chose. Every field has a default, and a format looks only at those that it documents.

    labels: dimension -> labels that are accepted (a task type's own); a format's standard labels where absent.
    titles: dimension -> {label: its title}, by which labels are found too.
    unit_kind: the kind of unit that these labels are of, for formats whose files label units of several kinds.
    mapping: target field -> column, for the generic table.
    values: target field -> {value in the file -> label}, for the generic table; other values are guessed.
    ranges: question -> "least-most", the ends of a scale where the file does not hold all of it, for ratings.
    checkers: checker of a column -> {"version": text, "parameters": object}, of the runs that are made of ratings.
    treat: kind of odd rows -> what to do with them (`tables.oddities`): `encoding` and `characters` for every format
        of text, others for those that mark places in texts, for ratings, and for PDF files.
    noted: gathers what readers of files have to say of `encoding` and `characters`. Without it nobody would hear of a
        guess, and text that is not UTF-8 is refused unless its encoding is chosen.
    keeps_line_ends: CRLF stays in the cells of delimited text, for who counts characters as the file does.
    plain_quotes: in tables with tabs, quotes that do not match are characters like others, as translators' tools mean.
    setting, model, dataset: RefChecker's names (the model ICAT's too) where the path does not say them or says them
        wrongly.
    per_file: source name -> {"setting" | "model" | "dataset": value}, stronger than the three above.
    label_set: the description of what is asked, for formats that make one from their files.
    passage_separator: what stands between the passages of one text cell.
    progress: called as progress(bytes_done, bytes_total), in bytes on disk, at most once per block read.
    """

    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    titles: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    unit_kind: str = ""
    mapping: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    ranges: Mapping[str, str] = field(default_factory=dict)
    checkers: Mapping[str, Mapping] = field(default_factory=dict)
    treat: Mapping[str, str] = field(default_factory=dict)
    noted: ReadingNotes | None = None
    keeps_line_ends: bool = False
    plain_quotes: bool = False
    setting: str = ""
    model: str = ""
    dataset: str = ""
    per_file: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    label_set: Mapping | None = None
    passage_separator: str = "\n\n"
    progress: Callable[[int, int], None] | None = None
    limits: Limits = field(default_factory=Limits)

    def quiet(self) -> Options:
        """For reading once more what another pass tells of."""
        return replace(self, progress=None, noted=None if self.noted is None else ReadingNotes())

"""What a verdict is about, so that a later one can be compared with it: the judge, as far as it is described, and the
data that it is held against."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from analysis.judge.table import TableProblem, folded
from annotation.formats.files.tables import open_tables
from annotation.formats.records import FormatError, RowError
from annotation.formats.sources import Options, SourceFile

# What describes a judge, also as columns of the file: judge.model or judge_model.
DESCRIBED = ("model", "prompt", "parameters", "code")
MOST_CHARS = 200  # of a description; longer ones are kept as their hash


def described(pairs: Sequence[str]) -> dict[str, str]:
    """NAME=VALUE as a description; the value @FILE is the hash of the file. TableProblem for what is neither."""
    found = {}
    for one in pairs:
        name, mark, value = one.partition("=")
        if not mark or not name.strip():
            raise TableProblem(f"--describe takes NAME=VALUE, such as model=gpt-5 or prompt=@prompt.txt, not {one!r}")
        found[name.strip()] = _hash_of_file(Path(value[1:])) if value.startswith("@") else value.strip()
    return found


def _hash_of_file(path: Path) -> str:
    try:
        return _hash(path.read_bytes())
    except OSError as error:
        raise TableProblem(f"{path}: {error.strerror}") from None


def fingerprints(
    path: Path,
    judges: Sequence[str],
    kept: Collection[str],
    labels: Collection[str],
    description: dict[str, str] | None = None,
    is_long: bool = False,
    probabilities: str = "",
) -> dict[str, dict]:
    """Of each judge of a file: `judge` is its description, `labels` the hash of what it gave, and `data` that of the
    other columns, without those that hold `labels` alone and are not `kept`: other judges, and further runs. With a row
    per label (`is_long`) the rows that name a judge are its own. The column of `probabilities` is the first judge's."""
    of_judges = {judge: {f"{judge}{mark}{name}": name for name in DESCRIBED for mark in "._"} for judge in judges}
    apart = {*judges, *filter(None, [probabilities]), *(column for columns in of_judges.values() for column in columns)}
    spelled = {folded(label) for label in labels}
    data: dict[str, ColumnHash] = {}
    digests = {judge: hashlib.sha256() for judge in judges}
    values: dict[str, dict[str, set[str]]] = {judge: {} for judge in judges}
    for number, row in enumerate(_rows(path)):
        if is_long and (named := [judge for judge in judges if judge not in row and judge in row.values()]):
            digests[named[0]].update(_line(row))
            continue
        for judge, digest in digests.items():
            digest.update(_line(row.get(judge)))
            if probabilities and judge == judges[0]:
                digest.update(_line(row.get(probabilities)))
            for column, name in of_judges[judge].items():
                if row.get(column) not in (None, ""):
                    values[judge].setdefault(name, set()).add(str(row[column]))
        for name, value in row.items():
            if name not in apart and value not in (None, ""):
                data.setdefault(name, ColumnHash()).add(number, value, spelled)
    columns = {name: one.hash for name, one in data.items() if name in kept or is_long or not one.holds_labels}
    of_data = _hash(_line(columns))
    found = {}
    for judge, digest in digests.items():
        from_file = {name: _one_text(texts) for name, texts in values[judge].items()}
        found[judge] = {
            "judge": dict(sorted((from_file | (description or {})).items())),
            "labels": f"sha256:{digest.hexdigest()}",
            "data": of_data,
        }
    return found


class ColumnHash:
    """The hash of a column, and whether it holds labels alone."""

    def __init__(self):
        self.digest, self.holds_labels = hashlib.sha256(), True

    def add(self, number: int, value: object, spelled: set[str]) -> None:
        self.digest.update(_line([number, value]))
        self.holds_labels = self.holds_labels and folded(str(value).strip()) in spelled

    @property
    def hash(self) -> str:
        return self.digest.hexdigest()


def _one_text(texts: set[str]) -> str:
    text = texts.pop() if len(texts) == 1 else json.dumps(sorted(texts), ensure_ascii=False)
    return text if len(text) <= MOST_CHARS else _hash(text.encode())


def _hash(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _line(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str).encode() + b"\n"


def _rows(path: Path) -> Iterator[dict]:
    try:
        for table in open_tables([SourceFile(path)], Options()):
            for row in table.rows:
                if not isinstance(row, RowError):
                    yield row[1]
    except FormatError as error:
        raise TableProblem(str(error)) from None

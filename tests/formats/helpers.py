"""Files to read in tests, and what comes out of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.formats import Options, SourceFile, get_format
from annotation.formats.records import RowError

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
DRUID_HEADER = (
    "id\tclaim_id\tclaim_source\tclaim\tclaimant\tclaim_date\tevidence_source\tevidence\tevidence_date\t"
    "factcheck_verdict\tis_gold\trelevant\tevidence_stance"
)
DRUID_ROW = (
    "c1\tc1\t-\tThe sky is green\tAnn\t2020-01-02\thttps://e.org/1\tIt is blue\t2020-01-03\tFalse\tTrue\tTrue\trefutes"
)


def put(tmp_path: Path, name: str, content: str | bytes) -> SourceFile:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return SourceFile(path, name)


def read(slug: str, *sources: SourceFile, **options) -> list:
    return list(get_format(slug).read(list(sources), Options(**options)))


def errors(records: list) -> list[RowError]:
    return [record for record in records if isinstance(record, RowError)]


def of(records: list, kind: type) -> list:
    return [record for record in records if isinstance(record, kind)]


def druid_line(**changes: str) -> str:
    cells = dict(zip(DRUID_HEADER.split("\t"), DRUID_ROW.split("\t"), strict=True)) | changes
    return "\t".join(cells.values())


def druid_tsv(*lines: str, end: str = "\n") -> str:
    return end.join([DRUID_HEADER, *lines]) + end


def real(path: str) -> Path:
    found = DATA / path
    if not found.exists():
        pytest.skip(f"the real file {path} is not at {DATA}")
    return found

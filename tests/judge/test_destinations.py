"""Scores of a judged file for tools of traces."""

import csv
import json

import pytest

from tests.judge.test_judge import said, written


def rows(**more) -> list[dict]:
    found = [{"trace_id": f"t{n}", "judge": "ab"[n % 2], "human": "ab"[n % 2 if n else 1]} | more for n in range(120)]
    return found


def write(tmp_path, capsys, tool: str, table: list[dict]):
    file, out = written(tmp_path / "a.csv", table), tmp_path / "scores"
    code, _, error = said(capsys, file, "--judge", "judge", "--human", "human", "--scores", tool, str(out))
    return code, error, out


def test_langfuse_reads_a_body_for_each_score(tmp_path, capsys):
    code, _, out = write(tmp_path, capsys, "langfuse", rows())
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert code == 0 and len(found) == 3 * 120
    assert found[0] == {"traceId": "t0", "name": "judge.verdict", "value": "usable", "dataType": "CATEGORICAL"}
    of_people = [one["value"] for one in found if one["name"] == "judge.people"]
    assert of_people == [row["human"] for row in rows()]


def test_phoenix_and_mlflow_read_tables_with_numbers_as_scores(tmp_path, capsys):
    table = [row | {"judge": str(1 + n % 5), "human": str(1 + n % 4)} for n, row in enumerate(rows())]
    for row in table:
        row["context.span_id"] = f"s{row['trace_id']}"
    out = write(tmp_path, capsys, "phoenix", table)[2]
    with open(out, newline="") as file:
        found = list(csv.DictReader(file))
    assert found[0] == {"context.span_id": "st0", "name": "judge.people", "label": "", "score": "1"}
    with open(write(tmp_path, capsys, "mlflow", table)[2], newline="") as file:
        found = list(csv.DictReader(file))
    errors = {one["trace_id"]: float(one["value"]) for one in found if one["name"] == "judge.error"}
    assert errors["t4"] == 5 - 1 and {one["source_type"] for one in found} == {"CODE"}


@pytest.mark.parametrize(
    ("tool", "change", "words"),
    [
        ("excel", {}, "--scores writes for one of langfuse, phoenix, mlflow, not for 'excel'"),
        ("phoenix", {}, "has no column of ids for phoenix; call it one of context.span_id, span_id, id"),
        ("mlflow", {"trace_id": "t1"}, "row 2: the id in the column 'trace_id' repeats that of row 1"),
        ("mlflow", {"trace_id": ""}, "row 1: the id in the column 'trace_id' is empty"),
    ],
)
def test_what_has_no_ids_is_refused_and_nothing_is_written(tmp_path, capsys, tool, change, words):
    code, error, out = write(tmp_path, capsys, tool, rows(**change))
    assert code == 2 and words in error and not out.exists()

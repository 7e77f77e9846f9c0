"""Scores of a judged file for tools of traces."""

import json
import zipfile
from pathlib import Path

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


def test_phoenix_and_mlflow_read_numbers_as_numbers(tmp_path, capsys):
    table = [row | {"judge": str(1 + n % 5), "human": str(1 + n % 4)} for n, row in enumerate(rows())]
    for n, row in enumerate(table):
        row["context.span_id"] = f"00{n}e4"
    found = [json.loads(line) for line in write(tmp_path, capsys, "phoenix", table)[2].read_text().splitlines()]
    assert found[0] == {"span_id": "000e4", "name": "judge.people", "annotator_kind": "CODE", "score": 1}
    found = [json.loads(line) for line in write(tmp_path, capsys, "mlflow", table)[2].read_text().splitlines()]
    errors = {one["trace_id"]: one["value"] for one in found if one["name"] == "judge.error"}
    assert errors["t4"] == 5 - 1 and {one["source_type"] for one in found} == {"CODE"}


def test_values_of_a_name_are_all_numbers_or_all_texts(tmp_path, capsys):
    table = [row | {"human": "1" if row["human"] == "a" else "n/a", "judge": "1"} for row in rows()]
    found = [json.loads(line) for line in write(tmp_path, capsys, "langfuse", table)[2].read_text().splitlines()]
    assert {(one["value"], one["dataType"]) for one in found if one["name"] == "judge.people"} == {
        ("1", "CATEGORICAL"),
        ("n/a", "CATEGORICAL"),
    }


LOG = Path(__file__).parents[1] / "formats/tools/samples/inspect.json"


def inspect(tmp_path, capsys, log: Path, ids: list[tuple], *more: str):
    table = [
        {"id": one, "epoch": epoch, "judge": "ab"[n % 2], "human": "ab"[n % 2]} for n, (one, epoch) in enumerate(ids)
    ]
    file, out = written(tmp_path / "a.csv", table), tmp_path / "out.log"
    code, _, error = said(capsys, file, "--judge", "judge", "--human", "human", "--inspect", str(log), str(out), *more)
    return code, error, out


@pytest.mark.parametrize("name", ["inspect.json", "inspect.eval"])
def test_a_log_of_inspect_gets_scores_and_keeps_all_else(tmp_path, capsys, name):
    ids = [(one, epoch) for one in ("a1", "a2", "3") for epoch in (1, 2)][:5]
    code, error, out = inspect(tmp_path, capsys, LOG.with_name(name), ids)
    assert code == 0, error
    if name.endswith(".eval"):
        with zipfile.ZipFile(out) as archive:
            found = [json.loads(archive.read(one)) for one in archive.namelist() if one.startswith("samples/")]
            assert {"header.json", "summaries.json"} <= {*archive.namelist()}
            summary = json.loads(archive.read("summaries.json"))
            assert sum("judge.people" in one["scores"] for one in summary) == 5
    else:
        found, before = (json.loads(path.read_text())["samples"] for path in (out, LOG))
        for sample in found:
            sample["scores"] = {name: one for name, one in sample["scores"].items() if "judge." not in name}
        assert found == before
        found = json.loads(out.read_text())["samples"]
    scores = {(str(one["id"]), one["epoch"]): one["scores"] for one in found}
    assert scores["a1", 1]["judge.people"]["value"] == "a" and scores["a1", 2]["judge.differs"]["value"] == "no"
    assert len(scores) == 6 and sum("judge.people" in one for one in scores.values()) == 5
    code, error, _ = inspect(tmp_path, capsys, out.rename(tmp_path / "again.log"), ids)
    assert code == 2 and "has a score 'judge." in error


@pytest.mark.parametrize(
    ("ids", "log", "words"),
    [
        ([("a1", 1), ("zz", 1)], "inspect.json", "has no sample 'zz' in epoch 1"),
        ([("a1", 1), ("a1", 1)], "inspect.json", "has the sample 'a1' twice"),
        ([("a1", 1), ("a2", "x")], "inspect.json", "row 2: has no id of a sample, or an epoch that is no whole number"),
        ([("a1", 1), ("a2", 1)], "traces_phoenix.json", "is no log of Inspect"),
        ([("a1", 1), ("a2", 1)], "nowhere.json", "No such file"),
    ],
)
def test_a_log_that_does_not_fit_is_refused_and_nothing_is_written(tmp_path, capsys, ids, log, words):
    code, error, out = inspect(tmp_path, capsys, LOG.with_name(log), ids)
    assert code == 2 and words in error and not out.exists() and not [*tmp_path.glob("*.part")]


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

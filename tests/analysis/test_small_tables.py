"""Small tables as reports read them: without a mapping, in another encoding, in two files joined by an id."""

import csv
import io
import json

import pytest
from django.core.management import CommandError, call_command

LABELS = ["good", "bad", "fair"] * 8
GIVEN = [(f"t{place}", f"The river froze {place} times.", label) for place, label in enumerate(LABELS)]


def other(label: str, place: int) -> str:
    return "bad" if place % 6 == 0 else label


def write(path, header, rows, encoding="utf-8"):
    out = io.StringIO()
    csv.writer(out).writerows([header, *rows])
    path.write_bytes(out.getvalue().encode(encoding))
    return path


def report(capsys, path, name="agreement", *more) -> tuple[dict, str]:
    call_command("report", str(path), name, "--from-files", "--format", "json", *map(str, more))
    said = capsys.readouterr()
    return json.loads(said.out), said.err


def wide(path, columns=("ann_1", "ann_2", "ann_3"), **more):
    rows = [[key, text, label, other(label, place), label] for place, (key, text, label) in enumerate(GIVEN)]
    return write(path, ["text_id", "text", *columns], [row[: 2 + len(columns)] for row in rows], **more)


def test_a_column_per_person_is_read_as_a_row_per_label_is(tmp_path, capsys):
    result, said = report(capsys, wide(tmp_path / "wide.csv"))
    assert "Columns read as: Texts from text, ids from text_id. 3 raters with columns of their own" in said
    rows = [[f"ann_{n}", key, given] for place, (key, _, label) in enumerate(GIVEN)
            for n, given in ((1, label), (2, other(label, place)), (3, label))]  # fmt: skip
    long, said = report(capsys, write(tmp_path / "long.csv", ["annotator", "text_id", "rating"], rows))
    assert said.strip() == "Columns read as: Items from text_id, raters from annotator, labels from rating."
    [one], [same] = result["dimensions"], long["dimensions"]
    assert one["figures"] == same["figures"] and one["n_labels"] == 3 * len(GIVEN)


def test_a_judge_beside_a_person_is_a_checker(tmp_path, capsys):
    result, said = report(capsys, wide(tmp_path / "t.csv", ("human", "judge")), "comparison")
    assert "1 column of a checker's labels: judge" in said
    assert "judge" in json.dumps(result) and result["n_units"] == len(GIVEN)


def test_a_table_in_another_encoding_is_read_as_imports_read_it(tmp_path, capsys):
    rows = [[key, who, f"{label} für"] for key, _, label in GIVEN for who in ("a", "b")]
    path = write(tmp_path / "t.csv", ["text_id", "annotator", "rating"], rows, encoding="cp1252")
    _, said = report(capsys, path)
    assert "read as Windows-1252" in said


def test_two_files_are_joined_by_an_id(tmp_path, capsys):
    people = write(tmp_path / "people.csv", ["id", "text", "label"], GIVEN)
    judged = [[key, other(label, place)] for place, (key, _, label) in reversed([*enumerate(GIVEN)])]
    judge = write(tmp_path / "judge.csv", ["id", "label"], judged)
    result, said = report(capsys, people, "comparison", "--beside", judge, "--join", "id")
    assert "1 rater with a column of their own: people" in said and "judge.label" in said
    whole, _ = report(capsys, wide(tmp_path / "t.csv", ("human", "judge")), "comparison")
    [one], [same] = result["dimensions"], whole["dimensions"]
    assert one["accuracy"] == same["accuracy"] and one["confusion"] == same["confusion"]


def test_a_row_per_label_is_joined_with_a_judge(tmp_path, capsys):
    rows = [[who, key, label] for key, _, label in GIVEN for who in ("ada", "ben")]
    people = write(tmp_path / "people.csv", ["annotator", "text_id", "rating"], rows)
    judged = [[key, other(label, place)] for place, (key, _, label) in enumerate(GIVEN)]
    judge = write(tmp_path / "judge.csv", ["text_id", "label"], judged)
    result, said = report(capsys, people, "comparison", "--beside", judge, "--join", "text_id")
    assert "2 raters from annotator. 1 question: rating. 1 column of a checker's labels: judge.label." in said
    [one] = result["dimensions"]
    assert one["accuracy"]["estimate"] == pytest.approx(sum(other(g[2], p) == g[2] for p, g in enumerate(GIVEN)) / 24)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [([["t1", "good"], ["t1", "bad"]], "line 3: has the id 't1' a second time"), ([["", "good"]], "line 2: has no id")],
)
def test_ids_that_join_nothing_are_refused(tmp_path, capsys, rows, reason):
    people = write(tmp_path / "people.csv", ["id", "text", "label"], GIVEN)
    judge = write(tmp_path / "judge.csv", ["id", "label"], rows)
    with pytest.raises(CommandError, match=reason):
        report(capsys, people, "comparison", "--beside", judge, "--join", "id")
    with pytest.raises(CommandError, match="--join"):
        report(capsys, people, "comparison", "--beside", judge)

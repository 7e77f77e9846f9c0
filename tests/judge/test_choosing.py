"""`assay judge` without named columns, with raters in a column, and with files that an id joins."""

import csv
import io

import pytest

from analysis.judge.command import main

LABELS = ["yes", "no", "no", "yes"] * 10


def other(label: str, place: int) -> str:
    return "yes" if place % 10 == 0 else label


def written(path, header, rows, encoding="utf-8"):
    out = io.StringIO()
    csv.writer(out).writerows([header, *rows])
    path.write_bytes(out.getvalue().encode(encoding))
    return path


def people_and_judge(path, columns=("ann_1", "ann_2", "judge")):
    rows = []
    for place, label in enumerate(LABELS):
        given = [label, other(label, place + 1), other(label, place)]
        rows.append([place, f"Text {place} is here.", *given[: len(columns)]])
    return written(path, ["text_id", "text", *columns], rows)


def rows_in(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def said(capsys, *arguments) -> tuple[int, str, str]:
    code = main([str(one) for one in arguments])
    return code, *capsys.readouterr()


def test_columns_are_found_by_their_names(tmp_path, capsys):
    path = people_and_judge(tmp_path / "t.csv")
    code, out, err = said(capsys, path)
    assert (code, err.strip()) == (0, "Columns read as: Judge from judge, people from ann_1, ann_2.")
    named = said(capsys, path, "--judge", "judge", "--human", "ann_1", "--human", "ann_2")
    assert named == (0, out, "")  # nothing was guessed
    code, _, err = said(capsys, people_and_judge(tmp_path / "w.csv", ("ann_1", "ann_2", "ann_3")), "--judge", "ann_3")
    assert code == 0 and "Judge from ann_3, people from ann_1, ann_2." in err


def test_raters_may_stand_in_a_column(tmp_path, capsys):
    wide = people_and_judge(tmp_path / "wide.csv", ("a1", "a2", "gpt4"))
    rows = [[who, row["text_id"], row[who]] for row in rows_in(wide) for who in ("a1", "a2", "gpt4")]
    long = written(tmp_path / "long.csv", ["annotator", "text_id", "rating"], rows)
    code, out, err = said(capsys, long)
    assert code == 0 and err.startswith("Columns read as: Judge from gpt4, people from a1, a2. Labels from rating")
    assert out == said(capsys, wide)[1]
    assert out == said(capsys, long, "--judge", "gpt4", "--human", "a1", "--human", "a2")[1]
    assert "has no column or rater 'zoe'; the raters are a1, a2, gpt4" in said(capsys, long, "--judge", "zoe")[2]
    assert "needs a row per text" in said(capsys, long, "--save", "https://x.example")[2]
    twice = written(tmp_path / "twice.csv", ["annotator", "text_id", "rating"], [*rows, ["a1", "0", "no"]])
    assert "'a1' gives '0' two labels, 'yes' and 'no'" in said(capsys, twice)[2]


def test_a_judge_may_have_a_column_beside_raters(tmp_path, capsys):
    wide = people_and_judge(tmp_path / "wide.csv", ("a1", "a2", "judge"))
    _, out, _ = said(capsys, wide, "--judge", "judge", "--human", "a1", "--human", "a2")
    rows = [[who, row["text_id"], row[who], row["judge"]] for row in rows_in(wide) for who in ("a1", "a2")]
    long = written(tmp_path / "long.csv", ["annotator", "text_id", "rating", "judge"], rows)
    code, same, err = said(capsys, long)
    assert (code, same) == (0, out) and "Judge from judge, people from a1, a2. Labels from rating" in err
    people = written(tmp_path / "people.csv", ["annotator", "text_id", "rating"], [row[:3] for row in rows])
    judge = written(
        tmp_path / "gpt.csv", ["text_id", "verdict"], [[row["text_id"], row["judge"]] for row in rows_in(wide)]
    )
    code, same, err = said(capsys, people, judge, "--join", "text_id")
    assert code == 0 and same.replace("gpt.verdict", "judge").split() == out.split()


def test_two_files_are_joined_by_an_id(tmp_path, capsys):
    whole = people_and_judge(tmp_path / "whole.csv", ("human", "judge"))
    rows = rows_in(whole)
    people = written(tmp_path / "people.csv", ["id", "label"], [[row["text_id"], row["human"]] for row in rows])
    judge = written(tmp_path / "judge.csv", ["id", "label"], [[row["text_id"], row["judge"]] for row in rows[::-1]])
    code, out, err = said(capsys, people, judge, "--join", "id")
    assert code == 0 and "Judge from judge.label, people from people.label." in err
    assert out.replace("judge.label", "judge").split() == said(capsys, whole)[1].split()
    assert "need --join" in said(capsys, people, judge)[2]
    code, _, err = said(capsys, people, judge, "--join", "key")
    assert code == 2 and "has no key; the columns are id, label" in err


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        (("first", "second"), "nothing shows which columns are a judge's or model's; name them with --judge"),
        (("ann_1", "ann_2"), "nothing shows which columns are a judge's or model's"),
        (("first", "judge"), "nothing shows which columns are"),
    ],
)
def test_what_nothing_tells_is_asked_for(tmp_path, capsys, columns, reason):
    code, out, err = said(capsys, people_and_judge(tmp_path / "t.csv", columns))
    assert (code, out) == (2, "") and reason in err and "--" in err


def test_one_question_of_several_is_named(tmp_path, capsys):
    path = people_and_judge(tmp_path / "t.csv", ("human_tone", "judge_tone", "human_form"))
    rows = [[*row.values(), row["judge_tone"]] for row in rows_in(path)]
    path = written(tmp_path / "two.csv", ["id", "text", "human_tone", "judge_tone", "human_form", "judge_form"], rows)
    assert "several questions, form, tone: name a --judge of one" in said(capsys, path)[2]
    assert "Judge from judge_tone, people from human_tone." in said(capsys, path, "--judge", "judge_tone")[2]


def test_another_encoding_is_guessed_and_said(tmp_path, capsys):
    path = people_and_judge(tmp_path / "t.csv", ("human", "judge"))
    path.write_bytes(path.read_text(encoding="utf-8").replace("yes", "für").encode("cp1252"))
    code, out, err = said(capsys, path)
    assert code == 0 and "für" in out and "read as Windows-1252" in err

"""`assay judge --by`: is a label more common with one prompt than with another? Numbers are held to SciPy's tests."""

import csv
import json

import numpy as np
import pytest
from scipy import stats

from analysis.judge.command import main
from analysis.judge.judging import judge
from analysis.judge.table import TableProblem
from tests.judge.test_judge import written


def rows_of(
    n: int, *, known: int, better: float = 0.0, right: float = 0.85, seed: int = 0, paired: bool = False
) -> list:
    """Answers by two prompts; people labelled the first `known` of each, and the judge all."""
    draw = np.random.default_rng(seed)
    rows = []
    for prompt, share in (("long", 0.5 + better), ("short", 0.5)):
        for place in range(n):
            true = draw.random() < share
            says = true if draw.random() < right else not true
            words = {True: "good", False: "bad"}
            row = {"question": f"q{place}" if paired else f"{prompt}{place}", "prompt": prompt, "judge": words[says]}
            rows.append(row | {"human": words[true] if place < known else ""})
    return rows


def by_prompt(tmp_path, rows: list, **options):
    return judge(written(tmp_path / "t.csv", rows), ["judge"], ["human"], by="prompt", **options)[0]


def values(rows: list, column: str, prompt: str) -> list[int]:
    return [int(row[column] == "good") for row in rows if row["prompt"] == prompt and row["human"]]


def test_where_people_labelled_all_it_is_students_test_of_two_samples(tmp_path):
    rows = rows_of(60, known=60, better=0.2)
    found = by_prompt(tmp_path, rows)
    [difference] = found.differences
    theirs = stats.ttest_ind(values(rows, "human", "long"), values(rows, "human", "short"))
    interval = theirs.confidence_interval()
    assert (difference.label, difference.a, difference.b) == ("good", "long", "short")
    assert difference.p == pytest.approx(theirs.pvalue)
    assert (difference.low, difference.high) == pytest.approx((interval.low, interval.high))
    [long, short] = found.slices
    assert long.accuracy.value == pytest.approx(
        np.mean([r["judge"] == r["human"] for r in rows if r["prompt"] == "long"])
    )
    assert (long.n_rows, short.n_rows) == (60, 60)


def test_prompts_that_answered_the_same_questions_are_compared_within_them(tmp_path):
    draw = np.random.default_rng(3)
    rows = rows_of(80, known=80, paired=True)
    for row in rows[80:]:  # the second prompt nearly always does as the first
        if draw.random() < 0.9:
            row["human"] = rows[int(row["question"][1:])]["human"]
    [paired] = by_prompt(tmp_path, rows, cluster="question").differences
    [apart] = by_prompt(tmp_path, rows).differences
    theirs = stats.ttest_rel(values(rows, "human", "long"), values(rows, "human", "short"))
    assert paired.p == pytest.approx(theirs.pvalue, abs=0.01)
    assert paired.high - paired.low < 0.6 * (apart.high - apart.low)


@pytest.mark.parametrize("right", [0.9, 0.6])
def test_equal_prompts_are_rarely_told_apart_and_the_planted_difference_is_covered(tmp_path, right):
    n_wrong = n_missed = 0
    for seed in range(150):
        [equal] = by_prompt(tmp_path, rows_of(200, known=50, right=right, seed=seed)).differences
        [planted] = by_prompt(tmp_path, rows_of(200, known=50, right=right, better=0.3, seed=seed)).differences
        n_wrong += equal.p < 0.05
        n_missed += not planted.low <= 0.3 <= planted.high
    assert n_wrong <= 15 and n_missed <= 15  # of 7.5 expected; above 15 one time in a hundred


def test_a_biased_judge_is_corrected(tmp_path):
    rows = rows_of(400, known=100, right=1.0)
    for place, row in enumerate(rows):
        if row["prompt"] == "long" and place % 3 == 0:
            row["judge"] = "good"  # it favours long prompts
    found = by_prompt(tmp_path, rows)
    raw = [one.shares[1].raw for one in found.slices]
    [difference] = found.differences
    assert raw[0] - raw[1] > 0.1
    assert difference.low <= 0 <= difference.high


def test_the_command_says_which_is_better_and_writes_the_rows_that_differ(tmp_path, capsys):
    rows = rows_of(300, known=150, better=0.4)
    path, differing = written(tmp_path / "t.csv", rows), tmp_path / "differ.csv"
    asked = [str(path), "--judge", "judge", "--human", "human", "--by", "prompt"]
    assert main([*asked, "--differing", str(differing), "--html", str(tmp_path / "p.html")]) == 0
    said = capsys.readouterr().out
    assert "“good” is more common with prompt long than with short, by 0." in said
    assert "judge: differences between values of prompt" in said
    assert "more common with prompt long" in (tmp_path / "p.html").read_text()
    with differing.open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    expected = [n for n, row in enumerate(rows, 1) if row["human"] and row["human"] != row["judge"]]
    assert [int(row["row"]) for row in found] == expected
    assert all(row["label of the judge"] != row["label of people"] == row["human"] for row in found)
    assert main([*asked, "--json"]) == 0
    [answer] = json.loads(capsys.readouterr().out)
    assert answer["by"]["column"] == "prompt" and len(answer["by"]["differences"]) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda row, place: row | {"prompt": f"p{place}"}, "has 20 different values; it takes 2 to 12"),
        (lambda row, place: row | {"prompt": "one"}, "has 1 different values"),
        (lambda row, place: row | {"prompt": "" if place == 3 else row["prompt"]}, "Row 4 has nothing in the column"),
    ],
)
def test_columns_that_make_no_slices_are_refused(tmp_path, change, words):
    rows = [change(row, place) for place, row in enumerate(rows_of(10, known=10))]
    with pytest.raises(TableProblem, match=words):
        by_prompt(tmp_path, rows)

"""`assay judge` where labels are on a scale: one verdict about the scale."""

import json

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr, spearmanr
from sklearn.metrics import cohen_kappa_score

from analysis.judge.judging import judge
from analysis.judge.table import TableProblem
from tests.judge.test_judge import said, written
from tests.stats.test_scale import study

TAKEN = "Labels: values 1 to 5 are treated as interval; choose another level with --level nominal or ordinal."


def rows_of(people: np.ndarray, by_judge: np.ndarray) -> list[dict]:
    columns = {f"h{place}": one for place, one in enumerate(people, start=1)} | {"judge": by_judge}
    return [
        {name: "" if np.isnan(column[row]) else f"{column[row]:g}" for name, column in columns.items()}
        for row in range(len(by_judge))
    ]


def asked(people: np.ndarray) -> list[str]:
    return ["--judge", "judge", *(word for place in range(len(people)) for word in ("--human", f"h{place + 1}"))]


def test_one_person_the_first_line_is_about_the_scale(tmp_path, capsys):
    people, by_judge = study(300, own=0.5)
    file = written(tmp_path / "a.csv", rows_of(people, by_judge))
    code, out, _ = said(capsys, file, *asked(people), "--gate")
    first, rule, level = out.splitlines()[:3]
    assert code == 0 and first.startswith("judge is usable on the scale 1 to 5: its weighted kappa with people, 0.8")
    assert "No bias is shown (mean error " in first and "“" not in first
    assert "lies above 0.7 (--floor)" in rule and "n = 300 of 300 rows" in rule and level == TAKEN
    [found] = json.loads(said(capsys, file, *asked(people), "--json")[1])
    assert found["kappa"][0] == pytest.approx(cohen_kappa_score(people[0], by_judge, weights="quadratic"))
    assert found["linear_kappa"][0] == pytest.approx(cohen_kappa_score(people[0], by_judge, weights="linear"))
    for name, by_scipy in (("pearson", pearsonr), ("spearman", spearmanr), ("kendall_tau_b", kendalltau)):
        assert found[name][0] == pytest.approx(by_scipy(by_judge, people[0]).statistic)
        assert found[name][1] < found[name][0] < found[name][2]
    assert (found["level"], found["verdict"], found["passes"]) == ("interval", "usable", True)
    assert found["error"]["mean"] == pytest.approx((by_judge - people[0]).mean())
    assert [one["value"] for one in found["along"]] == [1, 2, 3, 4, 5]


def test_a_biased_judge_is_above_people(tmp_path, capsys):
    people, by_judge = study(300, bias=0.5)
    out = said(capsys, written(tmp_path / "a.csv", rows_of(people, by_judge)), *asked(people))[1]
    assert "Its values are above people's on average (mean error 0.3" in out.splitlines()[0]
    for title in ("bias along the scale", "calibrated by people", "rows that differ most"):
        assert f"judge: {title}" in out


@pytest.mark.parametrize(
    ("own", "bias", "words", "status"),
    [
        (0.6, 0.0, "is usable on the scale 1 to 5: it is as close to a person as people are to each other, within", 0),
        (0.0, 0.0, "is usable on the scale 1 to 5: it is closer to a person than people are to each other (", 0),
        (0.6, 1.0, "is not usable on the scale 1 to 5: it is farther from a person than people are from each other", 1),
    ],
)
def test_several_people_are_the_measure(tmp_path, capsys, own, bias, words, status):
    people, by_judge = study(800, 3, own=own, bias=bias)
    file = written(tmp_path / "a.csv", rows_of(people, by_judge))
    code, out, _ = said(capsys, file, *asked(people), "--gate")
    assert code == status and out.startswith(f"judge {words}")
    assert "lies below 0.1 steps (--margin)" in out and "about these people, not others" in out
    [found] = json.loads(said(capsys, file, *asked(people), "--json")[1])
    assert found["distance"]["labeller"] == pytest.approx(np.abs(people - by_judge).mean())
    assert found["margin"] == 0.1
    wide = said(capsys, file, *asked(people), "--gate", "--margin", "2.5")
    assert wide[0] == 0 and "lies below 2.5 steps" in wide[1]


def test_a_judge_that_always_gives_one_value_is_not_usable_however_close(tmp_path, capsys):
    """The middle of the scale is nearer to a noisy person than another one is."""
    people, _ = study(400, 2, noise=4.0)
    file = written(tmp_path / "a.csv", rows_of(people, np.full(400, 3.0)))
    code, out, _ = said(capsys, file, *asked(people), "--gate")
    assert code == 1 and "it is not shown to agree with people beyond chance (weighted kappa" in out.splitlines()[0]


def test_ordered_texts_need_their_order_and_numbers_are_numbers(tmp_path, capsys):
    names = ["poor", "fair", "good"]
    draw = np.random.default_rng(0)
    rows = [{"judge": names[place], "h1": names[place]} for place in draw.integers(0, 3, 120)]
    file = written(tmp_path / "a.csv", rows)
    code, _, error = said(capsys, file, "--judge", "judge", "--human", "h1", "--ordinal")
    assert code == 2 and "have no order; list all of them with --labels, lowest first" in error
    out = said(capsys, file, "--judge", "judge", "--human", "h1", "--ordinal", "--labels", "poor,fair,good")[1]
    assert out.startswith("judge is usable on the scale poor to good: ")
    code, _, error = said(capsys, file, "--judge", "judge", "--human", "h1", "--level", "interval")
    assert code == 2 and "is no number, so the level cannot be interval" in error
    out = said(capsys, file, "--judge", "judge", "--human", "h1")[1]
    assert out.startswith("judge is usable for “fair”")


def test_a_value_off_the_scale_is_refused(tmp_path, capsys):
    file = written(tmp_path / "a.csv", [{"judge": "7", "h1": "5"}, {"judge": "1", "h1": "1"}])
    code, _, error = said(capsys, file, "--judge", "judge", "--human", "h1", "--labels", "1,2,3,4,5")
    assert code == 2 and "holds the label '7', which --labels does not list" in error


@pytest.mark.parametrize(
    "rows",
    [
        [("3", "1"), ("3", "2"), ("3", "3")],
        [("1", "1"), ("2", "2"), ("3", "3")],
        [("1", ""), ("2", ""), ("", "3")],
        [(str(place % 3 + 1), "2") for place in range(60)],
    ],
)
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_nothing_crashes_where_figures_are_undefined(tmp_path, capsys, rows, more):
    file = written(tmp_path / "a.csv", [{"judge": mine, "h1": theirs} for mine, theirs in rows])
    page = tmp_path / "a.html"
    asked = [file, "--judge", "judge", "--human", "h1", "--gate", "--html", page]
    code, out, error = said(capsys, *asked, *more)
    assert (code, error) == (1, "") and out
    assert "NaN" not in out and "nan" not in out.replace("nominal", "")


def test_a_few_rows_of_several_people_are_json_too(tmp_path, capsys):
    people, by_judge = study(8, 2)
    file = written(tmp_path / "a.csv", rows_of(people, by_judge))
    code, out, _ = said(capsys, file, *asked(people), "--json")
    assert code == 0 and "NaN" not in out
    [found] = json.loads(out)
    assert found["distance"]["low"] is None and "fewer than 20 rows" in found["distance"]["undefined"]
    assert found["verdict"] == "undecided" and found["closeness"] == "unknown"
    assert "is undecided on the scale 1 to 5: fewer than 20 rows have both values (" in found["sentence"]


def test_values_of_a_column_are_compared_by_corrected_means(tmp_path, capsys):
    people, by_judge = study(400, own=0.8)
    rows = rows_of(people, by_judge)
    for place, row in enumerate(rows):
        row["prompt"] = "ab"[place % 2]
        if place % 2:
            row["h1"], row["judge"] = (str(min(5, int(row[name]) + 2)) for name in ("h1", "judge"))
        if place >= 200:
            row["h1"] = ""
    file = written(tmp_path / "a.csv", rows)
    out = said(capsys, file, "--judge", "judge", "--human", "h1", "--by", "prompt")[1]
    assert out.splitlines()[1].startswith("The mean is lower with prompt a than with b, by -1.")
    assert "judge: mean, by prompt" in out and "Corrected, by regression" in out
    [found] = json.loads(said(capsys, file, "--judge", "judge", "--human", "h1", "--by", "prompt", "--json")[1])
    a, b = found["by"]["slices"]
    assert a["accuracy"] is None and a["error"]["n"] == 100
    assert a["mean"]["powered"]["estimate"] == pytest.approx(a["shares"][0]["corrected"])
    [difference] = found["by"]["differences"]
    assert difference["estimate"] == pytest.approx(a["shares"][0]["corrected"] - b["shares"][0]["corrected"])


def test_judges_are_compared_and_the_rows_that_differ_most_are_written(tmp_path, capsys):
    people, by_judge = study(300, 2, own=0.3)
    rows = [row | {"rival": "3"} for row in rows_of(people, by_judge)]
    file, differing = written(tmp_path / "a.csv", rows), tmp_path / "d.csv"
    out = said(capsys, file, *asked(people), "--judge", "rival", "--differing", differing)[1]
    assert "judge − rival" in out and "Mean absolute error" in out
    header, first, *_ = differing.read_text().splitlines()
    assert header == "row,judge,label of the judge,label of people,distance,h1,h2"
    distances = [float(line.split(",")[4]) for line in differing.read_text().splitlines()[1:] if ",rival," in line]
    assert distances == sorted(distances, reverse=True) and distances[0] == 2


def test_in_a_notebook(tmp_path):
    people, by_judge = study(300, own=0.5)
    file = written(tmp_path / "a.csv", rows_of(people, by_judge))
    [found] = judge(file, ["judge"], ["h1"])
    assert str(found).startswith("judge is usable on the scale 1 to 5")
    [by_label] = judge(file, ["judge"], ["h1"], level="nominal")
    assert "“1”" in str(by_label)
    with pytest.raises(TableProblem, match="in steps of a scale"):
        judge(written(tmp_path / "b.csv", rows_of(*study(50, 2))), ["judge"], ["h1", "h2"], level="nominal", margin=2.0)


def test_a_text_among_numbers_is_named_since_it_takes_their_order_away(tmp_path, capsys):
    people, by_judge = study(60)
    rows = rows_of(people, by_judge)
    rows[3]["judge"] = "NaN"
    out = said(capsys, written(tmp_path / "a.csv", rows), *asked(people))[1]
    assert "Labels: 'NaN' is no number, so the labels have no order; empty such cells." in out
    rows[3]["judge"] = ""
    assert "on the scale 1 to 5" in said(capsys, written(tmp_path / "a.csv", rows), *asked(people))[1]


def test_a_scale_from_0_to_100_is_one_and_numbers_without_end_are_refused(tmp_path, capsys):
    people = np.arange(101.0)
    file = written(tmp_path / "a.csv", rows_of(people[None], people[::-1]))
    assert (
        "on the scale 0 to 100: its weighted kappa with people, -1.000" in said(capsys, file, *asked(people[None]))[1]
    )
    for values, words in ((np.arange(102) / 3, "102 different labels; 101 is the most"), (people * 1e300, "beyond")):
        rows = [{"h1": repr(float(value)), "judge": repr(float(value))} for value in values]
        code, _, error = said(capsys, written(tmp_path / "b.csv", rows), *asked(people[None]))
        assert code == 2 and words in error


def test_numbers_that_differ_in_the_seventh_place_are_two(tmp_path, capsys):
    rows = [{"h1": f"100000{n % 3}.1", "judge": f"100000{n % 3}.1"} for n in range(30)]
    assert (
        "on the scale 1000000.1 to 1000002.1"
        in said(capsys, written(tmp_path / "a.csv", rows), *asked(np.ones((1, 1))))[1]
    )

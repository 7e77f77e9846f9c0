"""`assay judge` against soft labels: the shares of people who gave each label."""

import json

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

from analysis.judge.judging import judge
from analysis.judge.table import TableProblem
from tests.judge.test_judge import said, written

PEOPLE = ["h1", "h2", "h3"]


def rows(n: int = 60, labels: tuple[str, ...] = ("1", "2", "3"), seed: int = 0) -> list[dict]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        p = rng.dirichlet(np.ones(len(labels)))
        given = dict(zip(labels, p.tolist(), strict=True))
        people = {name: str(rng.choice(labels, p=p)) for name in PEOPLE}
        found.append({"judge": labels[int(p.argmax())], "p": json.dumps(given), "judge.model": "m"} | people)
    return found


def test_distances_are_those_of_scipy_and_the_majority_figures_stay(tmp_path, capsys):
    table = rows()
    file = written(tmp_path / "a.csv", table)
    named = ["--judge", "judge", *(word for one in PEOPLE for word in ("--human", one))]
    out = said(capsys, file, *named, "--probabilities", "p")[1]
    assert out.index("on the scale 1 to 3") < out.index("judge: against soft labels")
    [found] = json.loads(said(capsys, file, *named, "--probabilities", "p", "--json")[1])
    counts = [[sum(row[one] == label for one in PEOPLE) / 3 for label in "123"] for row in table]
    given = [list(json.loads(row["p"]).values()) for row in table]
    soft = found["soft"]
    expected = [wasserstein_distance([1, 2, 3], [1, 2, 3], p, q) for p, q in zip(counts, given, strict=True)]
    assert soft["wasserstein"]["estimate"] == pytest.approx(np.mean(expected))
    assert soft["manhattan"]["estimate"] == pytest.approx(np.abs(np.array(counts) - given).sum(axis=1).mean())
    assert soft["manhattan"]["low"] < soft["manhattan"]["estimate"] < soft["manhattan"]["high"]
    assert soft["cross_entropy"]["estimate"] < soft["constant_cross_entropy"]["estimate"]
    assert soft["n"] == 60 and found["kappa"][0] > 0
    [plain] = json.loads(said(capsys, file, *named, "--json")[1])
    assert plain["soft"]["cross_entropy"]["estimate"] is None
    assert "probability 0 for a label that people gave" in plain["soft"]["cross_entropy"]["reason"]
    assert plain["soft"]["manhattan"]["estimate"] > soft["manhattan"]["estimate"]
    assert "gives no probabilities, so that its label has probability 1" in said(capsys, file, *named)[1]
    [one] = json.loads(said(capsys, file, "--judge", "judge", "--human", "h1", "--json")[1])
    assert "soft" not in one


def test_labels_without_an_order_have_no_wasserstein_distance_and_json_lines_hold_objects(tmp_path):
    table = [row | {"p": json.loads(row["p"])} for row in rows(labels=("no", "so", "yes"))]
    file = tmp_path / "a.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in table))
    [found] = judge(file, ["judge"], PEOPLE, probabilities="p")
    assert found.soft.labeller.wasserstein is None and found.soft.labeller.cross_entropy.estimate > 0


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("0.8", "row 2, column 'p': '0.8' is no object in JSON"),
        ("{}", "is no object in JSON"),
        ('{"no": 0.5, "maybe": 0.5}', "gives a probability to 'maybe', which no column of labels holds"),
        ('{"no": 0.5, "yes": "0.5"}', "the probability of 'yes' is '0.5', which is no number from 0 to 1"),
        ('{"no": NaN, "yes": 1}', "the probability of 'no' is nan"),
        ('{"no": 1.5, "yes": -0.5}', "is no number from 0 to 1"),
        ('{"no": 0.5, "yes": 0.2}', "the probabilities add up to 0.7 and not to 1"),
    ],
)
def test_wrong_probabilities_are_refused_with_the_row(tmp_path, cell, words):
    table = rows(labels=("no", "yes"))
    table[1]["p"] = cell
    with pytest.raises(TableProblem) as problem:
        judge(written(tmp_path / "a.csv", table), ["judge"], PEOPLE, probabilities="p")
    assert words in str(problem.value)


def test_one_person_is_no_distribution_and_an_empty_cell_leaves_the_row_out(tmp_path, capsys):
    table = rows(labels=("no", "yes"))
    table[0]["p"] = ""
    file = written(tmp_path / "a.csv", table)
    with pytest.raises(TableProblem, match="needs two --human columns"):
        judge(file, ["judge"], PEOPLE[:1], probabilities="p")
    [found] = judge(file, ["judge"], PEOPLE, probabilities="p")
    assert found.soft.n == 59 and found.soft.left_out == {"no labeller": 1}


def test_other_probabilities_are_a_change_of_the_judge_and_not_of_the_data(tmp_path, capsys):
    named = ["--judge", "judge", *(word for one in PEOPLE for word in ("--human", one)), "--probabilities", "p"]
    table = rows(labels=("no", "yes"))
    before = tmp_path / "before.json"
    before.write_text(said(capsys, written(tmp_path / "a.csv", table), *named, "--json")[1])
    assert said(capsys, tmp_path / "a.csv", *named, "--baseline", str(before))[0] == 0
    table[0]["p"] = '{"no": 0.25, "yes": 0.75}'
    assert said(capsys, written(tmp_path / "b.csv", table), *named, "--baseline", str(before))[0] == 10

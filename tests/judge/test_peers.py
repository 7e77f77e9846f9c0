"""A judge against several people: held against the same persons as they are. Shares are held to scikit-learn."""

import json
import subprocess
import sys

import numpy as np
import pytest
from sklearn.metrics import recall_score

from analysis.judge.peers import LEAST_ROWS, gap_of
from tests.judge.test_judge import ROOT, said, written

EVERYBODY = ["--judge", "judge", "--human", "h1", "--human", "h2"]


def study(draw, n: int, people: int, *, sensitivity: float, specificity: float, judge: float, share: float):
    """Whether each person and the judge give a label, which `share` of the rows have; `judge` is its sensitivity."""
    has = draw.random(n) < share

    def given(sensitivity: float) -> np.ndarray:
        return np.where(has, draw.random(n) < sensitivity, draw.random(n) > specificity)

    return np.stack([given(sensitivity) for _ in range(people)]), given(judge)


def gap(people: np.ndarray, judge: np.ndarray, cluster=None):
    return gap_of(people, judge, np.ones_like(people), cluster)


def rows_of(people: np.ndarray, judge: np.ndarray) -> list[dict]:
    names = np.array(["fail", "pass"])
    columns = {f"h{place}": names[one.astype(int)] for place, one in enumerate(people, start=1)}
    columns |= {"judge": names[judge.astype(int)]}
    return [{name: str(column[row]) for name, column in columns.items()} for row in range(len(judge))]


def test_shares_are_those_against_each_person():
    people, judge = study(np.random.default_rng(0), 300, 3, sensitivity=0.9, specificity=0.8, judge=0.7, share=0.4)
    found = gap(people, judge)
    weights = people.sum(axis=1)
    by_judge = [recall_score(person, judge) for person in people]
    by_people = [
        np.mean([recall_score(one, two) for j, two in enumerate(people) if j != k]) for k, one in enumerate(people)
    ]
    assert found.judge == pytest.approx(np.average(by_judge, weights=weights))
    assert found.people == pytest.approx(np.average(by_people, weights=weights))
    assert found.value == pytest.approx(found.judge - found.people)
    assert found.low < found.value < found.high and found.n == people.any(axis=0).sum()


def test_rows_of_one_cluster_count_as_one():
    people, judge = study(np.random.default_rng(1), 200, 2, sensitivity=0.9, specificity=0.8, judge=0.8, share=0.5)
    once, thrice = gap(people, judge), gap(np.tile(people, 3), np.tile(judge, 3), np.tile(np.arange(200), 3))
    assert (thrice.low, thrice.high) == pytest.approx((once.low, once.high))
    assert np.isnan(gap(people, judge, np.arange(200) % 10).low)  # fewer than LEAST_ROWS clusters
    assert LEAST_ROWS > 10


@pytest.mark.parametrize("people", [2, 3, 5])
@pytest.mark.parametrize(("n", "share"), [(100, 0.5), (400, 0.1)])
def test_a_judge_worse_by_the_margin_is_usable_in_at_most_one_study_of_twenty(people, n, share):
    draw = np.random.default_rng(people)
    rates = {"sensitivity": 0.9, "specificity": 0.95, "share": share}
    given = share * 0.9 + (1 - share) * 0.05  # the share of rows to which a person gives the label
    worse = 0.9 - 0.1 * given / (share * 0.9)  # so that it is less by 0.1 where a person gives it
    studies = 400
    false = sum(gap(*study(draw, n, people, judge=worse, **rates)).low > -0.1 for _ in range(studies))
    refused = sum(gap(*study(draw, n, people, judge=0.9, **rates)).high < -0.1 for _ in range(studies))
    error = np.sqrt(0.05 * 0.95 / studies)
    assert false / studies < 0.05 + 2 * error
    assert refused / studies < 0.01


def test_a_judge_as_good_as_two_people_is_not_refused(tmp_path, capsys):
    """Each of three is right in eight rows of ten: against the rows on which people agree the judge misses a floor that
    either person would miss as well."""
    people, judge = study(np.random.default_rng(2), 2000, 2, sensitivity=0.8, specificity=0.8, judge=0.8, share=0.5)
    file = written(tmp_path / "a.csv", rows_of(people, judge))
    code, out, _ = said(capsys, file, *EVERYBODY, "--gate")
    assert code == 0
    assert out.startswith(
        "judge is usable for “fail” and “pass”, where it is as close to people as they are to each other."
    )
    assert "−0.1 (--margin)" in out and "n = 2,000 of 2,000 rows" in out
    assert "Passes                         yes" in out
    shown = json.loads(said(capsys, file, *EVERYBODY, "--json")[1])[0]
    assert shown["margin"] == 0.1 and {one["verdict"] for one in shown["labels"]} == {"usable"}
    assert shown["labels"][0]["sensitivity"]["low"] > -0.1


def test_a_judge_worse_than_the_people_is_refused_with_the_difference(tmp_path, capsys):
    people, judge = study(np.random.default_rng(3), 2000, 2, sensitivity=0.9, specificity=0.9, judge=0.5, share=0.5)
    out = said(capsys, written(tmp_path / "a.csv", rows_of(people, judge)), *EVERYBODY)[1]
    assert out.startswith("judge is not usable for “fail” (") and "people's 0.8" in out.splitlines()[0]


def test_a_floor_is_for_one_person_and_a_margin_for_several(tmp_path, capsys):
    people, judge = study(np.random.default_rng(4), 60, 2, sensitivity=0.9, specificity=0.9, judge=0.9, share=0.5)
    file = written(tmp_path / "a.csv", rows_of(people, judge))
    code, _, error = said(capsys, file, *EVERYBODY, "--floor", "0.7")
    assert code == 2 and "use --margin" in error
    code, _, error = said(capsys, file, "--judge", "judge", "--human", "h1", "--margin", "0.2")
    assert code == 2 and "--margin needs two --human columns" in error


@pytest.mark.parametrize("clusters", [1, 4, 40])
def test_few_clusters_are_warned_of_and_leave_no_verdict_unknown(tmp_path, capsys, clusters):
    """A judge that is always right: no cluster differs from another."""
    rows = [{"h1": one, "judge": one, "claim": str(place % clusters)} for place, one in enumerate(["a", "b"] * 100)]
    file = written(tmp_path / "a.csv", rows)
    out = said(capsys, file, "--judge", "judge", "--human", "h1", "--cluster", "claim")[1]
    assert "unknown" not in out
    assert out.startswith("judge is usable for" if clusters == 40 else "judge is undecided for")
    caution = f"Caution: only {clusters} cluster{'' if clusters == 1 else 's'}, the intervals may be too narrow."
    assert (caution in out) == (clusters < 30)


def test_many_rows_of_few_clusters_are_not_called_few_rows(tmp_path, capsys):
    people, judge = study(np.random.default_rng(5), 800, 2, sensitivity=0.9, specificity=0.9, judge=0.9, share=0.5)
    rows = [row | {"claim": str(place % 5)} for place, row in enumerate(rows_of(people, judge))]
    out = said(capsys, written(tmp_path / "a.csv", rows), *EVERYBODY, "--cluster", "claim")[1]
    assert "its rows lie in fewer than 20 clusters" in out and "fewer than 20 rows" not in out
    assert "it, in other clusters, would decide" in out.splitlines()[0]


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_reader_that_stops_early_sees_no_traceback(tmp_path, more):
    rows = [{"h1": str(place % 30), "judge": str(place % 30)} for place in range(3000)]
    command = [sys.executable, "-m", "analysis.judge", str(written(tmp_path / "a.csv", rows)), "--judge", "judge"]
    with subprocess.Popen(
        [*command, "--human", "h1", *more], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b"" and process.wait() == 0

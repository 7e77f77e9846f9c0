"""`assay judge`: a file in, a sentence out. Numbers are held to scikit-learn and statsmodels."""

import csv
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest
from setuptools import Distribution
from setuptools.config.pyprojecttoml import apply_configuration
from sklearn.metrics import cohen_kappa_score, recall_score
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from analysis.judge import verdict
from analysis.judge.command import main
from analysis.judge.table import Columns, TableProblem, read_columns
from analysis.judge.verdict import NOT_USABLE, USABLE, JudgedColumn, Rate, decide, rate_of, reference_of
from analysis.stats import alternative_annotator_test, prediction_powered_mean
from assay.command import main as assay

ROOT = Path(__file__).resolve().parents[2]
LABELS = ("no", "unsure", "yes")


def rows_of(n: int, seed: int = 0, people: int = 1, right: float = 0.9, known: float = 1.0) -> list[dict]:
    draw = np.random.default_rng(seed)

    def near(true: int, chance: float) -> str:
        return LABELS[true if draw.random() < chance else draw.integers(3)]

    rows = []
    for place in range(n):
        true = int(draw.integers(3))
        row = {"claim": f"c{place // 4}", "judge": near(true, right), "rival": near(true, 0.6)}
        row |= {f"p{person}": near(true, 0.95) if place < n * known else "" for person in range(people)}
        rows.append(row)
    return rows


def written(path: Path, rows: list[dict]) -> Path:
    with open(path, "w", newline="", encoding="utf-8") as out:
        table = csv.DictWriter(out, rows[0])
        table.writeheader()
        table.writerows(rows)
    return path


def judged(path: Path, humans=("p0",), **options) -> JudgedColumn:
    columns = read_columns(path, ["judge", "rival", *humans], **options)
    return JudgedColumn(columns, "judge", reference_of(columns, humans)[0])


def said(capsys, *arguments: str) -> tuple[int, str, str]:
    code = main([str(one) for one in arguments])
    return code, *capsys.readouterr()


def test_figures_are_those_of_the_libraries(tmp_path):
    rows = rows_of(400)
    judge, people = [row["judge"] for row in rows], [row["p0"] for row in rows]
    one = judged(written(tmp_path / "a.csv", rows))
    recalls = recall_score(people, judge, average=None, labels=LABELS)
    for label, each, recall in zip(LABELS, one.labels, recalls, strict=True):
        assert each.label == label and each.sensitivity.value == pytest.approx(recall)
        others = [given != label for given, true in zip(judge, people, strict=True) if true != label]
        assert each.specificity.value == pytest.approx(np.mean(others))
        for rate in (each.sensitivity, each.specificity):
            ends = proportion_confint(rate.n_cases, rate.n, 0.05 / len(LABELS), method="wilson")
            assert (rate.low, rate.high) == pytest.approx(ends)
    assert one.kappa.estimate == pytest.approx(cohen_kappa_score(people, judge))
    assert one.kappa_interval.low < one.kappa.estimate < one.kappa_interval.high
    assert one.majority_share == max(people.count(label) for label in LABELS) / 400


@pytest.mark.parametrize(
    ("sensitivity", "specificity", "expected", "open"),
    [
        ((95, 100), (190, 200), verdict.USABLE, ""),
        ((60, 100), (190, 200), verdict.NOT_USABLE, ""),
        ((95, 100), (100, 200), verdict.NOT_USABLE, ""),
        ((9, 10), (190, 200), verdict.UNDECIDED, "sensitivity"),
        ((95, 100), (17, 20), verdict.UNDECIDED, "specificity"),
        ((0, 0), (190, 200), verdict.UNKNOWN, ""),
    ],
)
def test_the_rule(sensitivity, specificity, expected, open):
    def rate(cases, n):
        return rate_of(np.arange(n) < cases, None, np.ones(n, bool))

    found = decide("yes", rate(*sensitivity), rate(*specificity), 0.8)
    assert (found.verdict, found.open) == (expected, open)
    if open:
        # As many more rows decide, and one row fewer does not.
        undecided: Rate = getattr(found, open)
        for n, is_decided in ((undecided.n + found.n_more, True), (undecided.n + found.n_more - 1, False)):
            low, _ = proportion_confint(undecided.value * n, n, method="wilson")
            assert (low > 0.8) == is_decided


def test_the_sentence_comes_first_and_names_what_decides(tmp_path, capsys):
    file = written(tmp_path / "a.csv", rows_of(900, right=0.97))
    code, out, _ = said(capsys, file, "--judge", "judge", "--judge", "rival", "--human", "p0")
    first, second, rule = out.splitlines()[:3]
    assert code == 0
    assert first == "judge is usable for “no”, “unsure” and “yes”."
    assert second.startswith("rival is not usable for “no” (sensitivity 0.7") and rule.startswith("Rule: usable for")
    assert "< 0.001" in out and "judge − rival" in out


def test_several_judges_are_compared_in_pairs(tmp_path):
    rows = rows_of(300, people=2, right=0.93)
    names = ("judge", "rival", "p1")  # as if the second person was a third judge
    columns = read_columns(written(tmp_path / "a.csv", rows), [*names, "p0"])
    found = verdict.compared([JudgedColumn(columns, name, columns.codes["p0"]) for name in names])
    right = {name: np.array([row[name] == row["p0"] for row in rows]) for name in names}
    p = []
    for a, b, one, _ in found:
        mine, other = right[a.judge], right[b.judge]
        assert one.accuracy.estimate == pytest.approx(mine.mean() - other.mean())
        p.append(mcnemar([[0, (mine & ~other).sum()], [(~mine & other).sum(), 0]], exact=True).pvalue)
    assert [(a.judge, b.judge) for a, b, *_ in found] == [("judge", "rival"), ("judge", "p1"), ("rival", "p1")]
    assert [adjusted for *_, adjusted in found] == pytest.approx(multipletests(p, method="holm")[1])


def test_a_judge_that_guesses_is_usable_for_nothing(tmp_path, capsys):
    rows = rows_of(200)
    for place, row in enumerate(rows):
        row["judge"] = LABELS[place % 3]
    code, out, _ = said(capsys, written(tmp_path / "a.csv", rows), "--judge", "judge", "--human", "p0", "--gate")
    assert code == 1
    assert out.startswith(
        "judge is usable for no label: it is not shown to agree with people beyond chance (Cohen's kappa "
    )


def test_a_judge_that_is_always_right_is_usable_where_the_rows_are_enough(tmp_path, capsys):
    """Every resample gives kappa 1, so there is no interval of it."""
    for n, expected in (
        (600, "judge is usable for “no”, “unsure” and “yes”."),
        (12, "judge is undecided for “no” (about "),
    ):
        rows = [row | {"judge": row["p0"]} for row in rows_of(n)]
        out = said(capsys, written(tmp_path / "a.csv", rows), "--judge", "judge", "--human", "p0")[1]
        assert out.startswith(expected)


def test_a_label_that_people_never_gave_is_of_unknown_use(tmp_path, capsys):
    rows = [row | {"p0": "no" if row["p0"] == "yes" else row["p0"]} for row in rows_of(300)]
    out = said(capsys, written(tmp_path / "a.csv", rows), "--judge", "judge", "--human", "p0")[1]
    assert "of unknown use for “yes”." in out.splitlines()[0]


def test_people_who_gave_one_label_only_say_nothing_of_chance(tmp_path, capsys):
    rows = [row | {"p0": "no", "judge": "no"} for row in rows_of(50)]
    rows[0]["rival"] = "yes"
    out = said(capsys, written(tmp_path / "a.csv", rows), "--judge", "judge", "--judge", "rival", "--human", "p0")[1]
    assert out.startswith("judge is usable for no label: it is not shown to agree with people beyond chance")
    assert "undefined" in out.splitlines()[0]


def test_the_gate_opens_for_a_good_judge_only(tmp_path, capsys):
    file = written(tmp_path / "a.csv", rows_of(900, right=0.97))
    for judge, status in (("judge", 0), ("rival", 1)):
        assert assay(["judge", str(file), "--judge", judge, "--human", "p0", "--gate"]) == status
    assert said(capsys, file, "--judge", "judge", "--human", "p0", "--gate", "--floor", "0.995")[0] == 1


def test_rows_that_only_the_judge_saw_are_corrected_by_people(tmp_path):
    rows = rows_of(600, known=0.5)
    one = judged(written(tmp_path / "a.csv", rows))
    assert one.n == 300 and one.has_rows_of_its_own
    yes = {name: np.array([row[name] == "yes" for row in rows]) for name in ("judge", "p0")}
    expected = prediction_powered_mean(yes["p0"][:300], yes["judge"][:300], yes["judge"][300:])
    found = one.prevalences[2]
    assert found.raw == yes["judge"].mean()
    assert (found.corrected, found.low, found.high) == (expected.estimate, expected.low, expected.high)


def test_several_people_vote_and_may_be_replaced(tmp_path, capsys):
    rows = rows_of(300, people=3)
    file = written(tmp_path / "a.csv", rows)
    columns = read_columns(file, ["judge", "p0", "p1", "p2"])
    reference, n_ties = reference_of(columns, ["p0", "p1", "p2"])
    votes = [[row[f"p{person}"] for person in range(3)] for row in rows]
    assert n_ties == sum(len(set(vote)) == 3 for vote in votes)
    assert [LABELS[code] for code in reference if code >= 0] == [
        max(set(vote), key=vote.count) for vote in votes if len(set(vote)) < 3
    ]
    test = verdict.stands_in(JudgedColumn(columns, "judge", reference, humans=["p0", "p1", "p2"]), ["p0", "p1", "p2"])
    again = alternative_annotator_test(verdict.labels_of_people(columns, ["p0", "p1", "p2"]), columns.codes["judge"])
    assert (test.passes, test.winning_rate.estimate) == (again.passes, again.winning_rate.estimate)
    out = said(capsys, file, "--judge", "judge", "--human", "p0", "--human", "p1", "--human", "p2")[1]
    assert "may it stand in for a person? (alternative annotator test)" in out


def test_noise_and_order(tmp_path, capsys):
    """Every third "no" is a "yes" when the answers are swapped, and one "yes" is lost: the order favours "no"."""
    rows = rows_of(90)
    said_no = [place for place, row in enumerate(rows) if row["judge"] == "no"][::3]
    said_yes = next(place for place, row in enumerate(rows) if row["judge"] == "yes")
    rows = [row | {"again": row["judge"], "swapped": row["judge"]} for row in rows]
    rows[0]["again"] = "no" if rows[0]["judge"] != "no" else "yes"
    for place in said_no:
        rows[place]["swapped"] = "yes"
    rows[said_yes]["swapped"] = "unsure"
    unasked = next(place for place, row in enumerate(rows) if row["judge"] == "unsure")
    rows[unasked]["swapped"] = ""
    file = written(tmp_path / "a.csv", rows)
    asked = [file, "--judge", "judge", "--human", "p0", "--repeat", "again", "--swapped", "swapped"]
    code, out, _ = said(capsys, *asked, "--json")
    [found] = json.loads(out)
    assert code == 0
    for given, n, changed in (
        (found["repeats"]["again"], 90, 1),
        (found["swapped"]["swapped"], 89, len(said_no) + 1),
    ):
        assert (given["n"], given["n_cases"]) == (n, changed)
        assert (given["low"], given["high"]) == pytest.approx(proportion_confint(changed, n, method="wilson"))
    no, unsure, yes = found["swapped"]["swapped"]["labels"]
    n_no = sum(row["judge"] == "no" for row in rows)
    assert (no["label"], no["n_lost"], no["n_gained"]) == ("no", len(said_no), 0)
    assert (no["share"], no["share_swapped"]) == pytest.approx((n_no / 89, (n_no - len(said_no)) / 89))
    assert (yes["n_lost"], yes["n_gained"]) == (1, len(said_no))
    for each in (no, unsure, yes):
        assert each["p"] == pytest.approx(binomtest(each["n_lost"], each["n_lost"] + each["n_gained"]).pvalue)
    out = said(capsys, *asked)[1]
    assert "judge: repeated runs" in out and "judge: does the order favour a label? (swapped)" in out


def test_rows_of_one_cluster_are_not_independent(tmp_path):
    rows = [row for row in rows_of(200) for _ in range(4)]
    for place, row in enumerate(rows):
        rows[place] = row | {"claim": f"c{place // 4}"}
    file = written(tmp_path / "a.csv", rows)
    alone, clustered = judged(file).labels[0], judged(file, cluster="claim").labels[0]
    assert clustered.sensitivity.value == alone.sensitivity.value
    # Upper ends may be cut off at 1.
    below = clustered.sensitivity.value - clustered.sensitivity.low
    assert below > 1.7 * (alone.sensitivity.value - alone.sensitivity.low)


def test_spellings_of_one_label_are_one_label(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("judge,rival,p0\nYes,1,yes\nyes ,1.0,yes\nno,2,NO\nno,2,no\n", encoding="utf-8")
    columns = read_columns(file, ["judge", "p0"])
    assert columns.labels == ("no", "yes")
    assert columns.codes["judge"].tolist() == columns.codes["p0"].tolist() == [1, 1, 0, 0]
    assert read_columns(file, ["rival"]).labels == ("1", "2")


@pytest.mark.parametrize(
    ("text", "columns", "order", "reason"),
    [
        ("judge,p0\nyes,no\n", ["judge", "p1"], (), "has no column 'p1'; it has judge, p0"),
        ("judge,p0\n", ["judge", "p0"], (), "holds no rows"),
        ("", ["judge", "p0"], (), "the file is empty"),
        ("judge,p0\nyes,yes\n", ["judge", "p0"], (), "holds only the label 'yes'"),
        ("judge,p0\nyes,no\nyes,maybe\n", ["judge", "p0"], ("no", "yes"), "holds the label 'maybe', which --labels"),
        ("judge,p0\n" + "".join(f"{n},{n}.5\n" for n in range(60)), ["judge", "p0"], (), "120 different labels"),
        ('judge,p0\nyes,no\n"yes\n', ["judge", "p0"], (), "line 3"),
    ],
)
def test_what_cannot_be_used_says_where_and_why(tmp_path, capsys, text, columns, order, reason):
    file = tmp_path / "a.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(TableProblem, match=reason.replace("(", r"\(")):
        read_columns(file, columns, order=order)
    ordered = ["--labels", ",".join(order)] if order else []
    code, out, err = said(capsys, file, "--judge", columns[0], "--human", columns[1], *ordered)
    assert (code, out) == (2, "") and reason in err and "a.csv" in err


def test_without_a_row_of_both_nothing_is_said(tmp_path, capsys):
    file = tmp_path / "a.csv"
    file.write_text("judge,p0\nyes,\n,no\n", encoding="utf-8")
    code, out, _ = said(capsys, file, "--judge", "judge", "--human", "p0", "--gate")
    assert code == 1 and out.startswith("judge: no row has a label of the judge and of people")
    assert json.loads(said(capsys, file, "--judge", "judge", "--human", "p0", "--json")[1])[0]["n"] == 0


def test_the_page_needs_nothing_else_and_runs_nothing(tmp_path, capsys):
    rows = rows_of(120)
    for row in rows:
        row["judge"] = row["judge"].replace("unsure", "<script>alert(1)</script>")
        row["p0"] = row["p0"].replace("unsure", "<script>alert(1)</script>")
    file, page = written(tmp_path / "a.csv", rows), tmp_path / "verdict.html"
    assert said(capsys, file, "--judge", "judge", "--human", "p0", "--html", page)[0] == 0
    text = page.read_text(encoding="utf-8")
    assert "<svg" in text and "judge: by label" in text
    assert "<script" not in text and "src=" not in text and "<link" not in text


def test_the_first_line_waits_for_no_large_library(tmp_path):
    """Neither Django nor what only later lines need is loaded when the sentence is written."""
    file = written(tmp_path / "a.csv", rows_of(60))
    code = (
        "import sys; from analysis.judge import command, written; "
        "options = command._parser().parse_args(sys.argv[1:]); [options.file] = options.files; "
        "_, [one] = command._answer(options); "
        "written.sentence(one); written.rule(one); "
        "print(sorted(set(sys.modules) & {'django', 'pandas', 'matplotlib', 'statsmodels', 'sklearn', 'scipy.stats'}))"
    )
    arguments = [str(file), "--judge", "judge", "--human", "p0"]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_distribution_installs_the_command_alone_and_the_server_as_an_extra():
    found = apply_configuration(Distribution(), str(ROOT / "pyproject.toml"))
    [script] = found.entry_points["console_scripts"]
    name, _, place = script.partition("=")
    assert name.strip() == "assay" and pkgutil.resolve_name(place.strip()) is assay
    assert not any("django" in one.lower() for one in found.install_requires)
    assert any(one.startswith("Django==") for one in found.extras_require["server"])


@pytest.mark.parametrize("k", [3, 8])
def test_a_judge_at_the_floor_for_all_labels_is_rarely_called_usable_or_not_for_any(k):
    rng, studies, names = np.random.default_rng(k), 300, tuple("abcdefgh"[:k])
    usable = refused = 0
    for _ in range(studies):
        people = rng.integers(0, k, 400)
        judge = np.where(rng.random(400) < 0.8, people, (people + rng.integers(1, k, 400)) % k)
        columns = Columns("", 400, names, {"h": people, "judge": judge}, None)
        judged = JudgedColumn(columns, "judge", people, humans=["h"])
        found = {one.verdict for one in judged.labels}
        usable, refused = usable + (USABLE in found), refused + (NOT_USABLE in found)
    assert judged.confidence == 1 - 0.05 / k
    error = np.sqrt(0.05 * 0.95 / studies)
    assert max(usable, refused) / studies < 0.05 + 2 * error

"""A verdict against an earlier one: what changed, by exit codes; JUnit XML, the pytest fixture, and corrected rows."""

import csv
import json
import os
import subprocess
import sys
import zipfile
from xml.etree import ElementTree

import numpy as np
import pytest
from setuptools import Distribution
from setuptools.config.pyprojecttoml import apply_configuration

from analysis.judge.anchor import _labels
from analysis.judge.baseline import is_worse
from analysis.judge.judging import judge
from tests.judge.test_judge import ROOT, rows_of, said, written
from tests.judge.test_scale import rows_of as scale_rows
from tests.stats.test_scale import study

FROZEN = ROOT / "tests/analysis/frozen/before_decisions_had_a_history.zip"
PLAIN = ["--judge", "judge", "--human", "p0"]


def baseline(capsys, file, path, *more: str):
    code, out, _ = said(capsys, file, *PLAIN, "--json", *more)
    path.write_text(out)
    assert code == 0
    return path


@pytest.fixture
def before(tmp_path, capsys):
    rows = [row | {"text": f"text {place}"} for place, row in enumerate(rows_of(400))]
    file = written(tmp_path / "a.csv", rows)
    return rows, baseline(capsys, file, tmp_path / "base.json", "--describe", "model=one")


def test_exit_codes_say_what_changed(before, tmp_path, capsys):
    rows, base = before

    def again(rows: list[dict], *more: str) -> tuple[int, str]:
        code, out, _ = said(capsys, written(tmp_path / "b.csv", rows), *PLAIN, "--baseline", base, *more)
        return code, out.splitlines()[0]

    one, two = ("--describe", "model=one"), ("--describe", "model=two")
    assert again(rows, *one)[0] == 0 and "Neither the judge nor the data changed." in again(rows, *one)[1]
    assert again(rows, *two)[0] == 10
    code, first = again(
        [row | {"judge": rows[1]["judge"]} if not place else row for place, row in enumerate(rows)], *one
    )
    assert rows[0]["judge"] != rows[1]["judge"] and code == 10 and "The judge changed, the data did not." in first
    assert again([*rows, rows[0]], *one)[0] == 20
    assert again([row | {"text": "other"} for row in rows], *one)[0] == 20
    assert again([*rows, rows[0]], *two)[0] == 30
    worse = [row | {"judge": row["rival"]} for row in rows]
    code, first = again(worse, *one)
    assert code == 11 and first.startswith(
        "judge: The judge changed, the data did not. The verdict got worse (kappa 0."
    )
    assert again(worse, *two, "--gate")[0] == 11
    assert again([row | {"again": row["judge"], "rival": "yes"} for row in rows], *one)[0] == 0  # other judges' columns


def test_an_undescribed_judge_on_other_data_is_unknown(tmp_path, capsys):
    rows = rows_of(200)
    base = baseline(capsys, written(tmp_path / "a.csv", rows), tmp_path / "base.json")
    code, out, _ = said(capsys, written(tmp_path / "b.csv", rows[:-1]), *PLAIN, "--baseline", base)
    assert code == 20 and "the judge is not described, so whether it changed cannot be said" in out


def test_columns_of_the_file_and_files_describe_a_judge(tmp_path, capsys):
    rows = [row | {"judge.model": "gpt", "judge_prompt": "x" * 300} for row in rows_of(60)]
    file, prompt = written(tmp_path / "a.csv", rows), tmp_path / "prompt.txt"
    prompt.write_text("Is it good?")

    def print_of(*more: str) -> dict:
        return json.loads(said(capsys, file, *PLAIN, "--json", *more)[1])[0]["fingerprint"]

    found = print_of("--describe", f"code=@{prompt}")
    assert found["judge"]["model"] == "gpt" and found["judge"]["prompt"].startswith("sha256:")
    prompt.write_text("Is it bad?")
    assert print_of("--describe", f"code=@{prompt}")["judge"]["code"] != found["judge"]["code"]
    written(file, [row | {"judge.model": "llama"} for row in rows])
    assert print_of()["data"] == found["data"] and print_of()["judge"]["model"] == "llama"


def test_a_row_per_label(tmp_path, capsys):
    def long(rows: list[dict]) -> list[dict]:
        return [
            {"id": str(place), "text": f"text {place}", "rater": who, "label": row[who]}
            for place, row in enumerate(rows)
            for who in ("judge", "p0")
        ]

    rows = rows_of(100)
    base = baseline(capsys, written(tmp_path / "a.csv", long(rows)), tmp_path / "base.json")
    assert said(capsys, tmp_path / "a.csv", *PLAIN, "--baseline", base)[0] == 0
    changed = [
        row | {"judge": "no" if row["judge"] != "no" else "yes"} if not place else row for place, row in enumerate(rows)
    ]
    assert said(capsys, written(tmp_path / "b.csv", long(changed)), *PLAIN, "--baseline", base)[0] == 10
    code, _, error = said(capsys, tmp_path / "a.csv", *PLAIN, "--out", tmp_path / "o.csv")
    assert code == 2 and "--out, --scores and --inspect need a row per text" in error


@pytest.mark.parametrize(
    ("text", "more", "reason"),
    [
        (None, [], "No such file"),
        ("no json", [], "is not JSON"),
        ("[]", [], "is no verdict with a fingerprint"),
        ('[{"judge": "x", "level": "nominal", "fingerprint": {}}, {"judge": "y"}]', [], "is no verdict"),
        ("same", ["--floor", "0.7"], "was made with floor 0.8, and this verdict has 0.7; use --floor"),
        ("same", ["--describe", "gpt"], "--describe takes NAME=VALUE"),
        ("same", ["--describe", "prompt=@nowhere.txt"], "nowhere.txt: No such file"),
    ],
)
def test_a_baseline_that_cannot_be_used_says_why(tmp_path, capsys, text, more, reason):
    file, base = written(tmp_path / "a.csv", rows_of(60)), tmp_path / "base.json"
    if text == "same":
        baseline(capsys, file, base)
    elif text is not None:
        base.write_text(text)
    code, out, error = said(capsys, file, *PLAIN, "--baseline", base, *more)
    assert (code, out) == (2, "") and reason in error
    if "--describe" in more:  # also where nothing needs the description
        assert said(capsys, file, *PLAIN, *more)[0] == 2


def test_on_a_scale_a_larger_distance_is_worse(tmp_path, capsys):
    people, by_judge = study(400, 2)
    _, worse = study(400, 2, own=1.5)
    asked = ["--judge", "judge", "--human", "h1", "--human", "h2"]
    file, base = written(tmp_path / "a.csv", scale_rows(people, by_judge)), tmp_path / "base.json"
    base.write_text(said(capsys, file, *asked, "--json")[1])
    code, out, _ = said(capsys, written(tmp_path / "b.csv", scale_rows(people, worse)), *asked, "--baseline", base)
    assert code == 11 and "The verdict got worse (the difference of distances " in out.splitlines()[0]


def test_chance_alone_rarely_makes_a_verdict_worse():
    rng, studies = np.random.default_rng(0), 4000
    half = 1.96
    found = [is_worse((a, a - half, a + half), (b, b - half, b + half)) for a, b in rng.normal(size=(studies, 2))]
    assert 0.018 < np.mean(found) < 0.032
    assert (
        is_worse((1.0, np.nan, np.nan), (0.5, 0.4, 0.6))
        and is_worse((1.0, np.nan, np.nan), (1.0, np.nan, np.nan)) is None
    )


def test_junit_has_a_case_for_each_judge_and_its_baseline(before, tmp_path, capsys):
    rows, base = before
    file = written(tmp_path / "b.csv", [row | {"judge": row["rival"]} for row in rows])
    said(capsys, file, *PLAIN, "--baseline", base, "--junit", tmp_path / "j.xml")
    suite = ElementTree.parse(tmp_path / "j.xml").getroot()
    assert (suite.tag, suite.get("tests"), suite.get("failures")) == ("testsuite", "2", "2")
    usable, compared = suite.iter("testcase")
    assert usable.get("name") == "judge is usable" and usable.get("classname") == "b.csv"
    assert "not usable for" in usable.find("failure").get("message")
    assert "got worse" in compared.find("failure").get("message")


OF_RELEASE = """
import pytest

def test_the_judge(assay_judge):
    with pytest.raises(pytest.fail.Exception, match="gpt is "):
        assay_judge("judge.csv", ["gpt"], release=RELEASE, question="relevance")
"""
TEST = """
def test_the_judge(assay_judge):
    [found] = assay_judge("a.csv", ["judge"], ["h1"], baseline=BASELINE)
    assert found.judgement.n == 300
"""


@pytest.mark.parametrize(("own", "status", "words"), [(0.4, 0, "2 passed"), (2.5, 1, "is not usable on the scale")])
def test_the_fixture_fails_a_test_unless_the_judge_is_usable(tmp_path, capsys, own, status, words):
    """In a folder of its own, with the plugin as an installed package has it."""
    good = written(tmp_path / "good.csv", scale_rows(*study(300, own=0.4)))
    base = tmp_path / "base.json"
    base.write_text(said(capsys, good, "--judge", "judge", "--human", "h1", "--json")[1])
    written(tmp_path / "a.csv", scale_rows(*study(300, own=own)))
    written(
        tmp_path / "judge.csv", [{"id": "demo-01-2", "gpt": "relevant"}, {"id": "demo-02-2", "gpt": "not_relevant"}]
    )
    (tmp_path / "test_it.py").write_text(
        TEST.replace("BASELINE", repr(str(base)))
        + OF_RELEASE.replace("RELEASE", repr(str(FROZEN))).replace("_judge(", "_release(", 1)
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "analysis.judge.pytest_plugin", "-p", "no:django", "test_it.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "DJANGO_SETTINGS_MODULE": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status and words in done.stdout
    assert ("got worse" in done.stdout) == bool(status)


def test_a_release_is_what_a_judge_is_held_against_under_its_hash(tmp_path, capsys):
    """Labels that a checker touched do not count; a release with a changed file is refused."""
    with zipfile.ZipFile(FROZEN) as archive:
        answers = [json.loads(line) for line in archive.read("annotations.jsonl").splitlines()]
        archive.extractall(tmp_path / "changed")
    hashed = "sha256:efe4088adf9f4144c2a99e3bd5b789c931490a0210431d45f9498df68148dd62"
    units = [one["unit"] for answer in answers for one in answer["judgements"] if one["dimension"] == "relevance"]
    rows = [
        {"id": unit, "gpt": "relevant" if place % 2 else "not_relevant"}
        for place, unit in enumerate(dict.fromkeys(units))
    ]
    file, base = written(tmp_path / "judge.csv", rows), tmp_path / "base.json"
    asked = [file, "--judge", "gpt", "--release", FROZEN, "--question", "relevance"]
    code, out, error = said(capsys, *asked, "--json")
    base.write_text(out)
    [found] = json.loads(out)
    assert code == 0 and error.startswith("People's labels: release 1 of Frozen Before, SHA-256 efe4088adf9f.")
    assert found["fingerprint"]["data"] == f"release {hashed}" and found["n_rows"] == 6
    touched = sum(bool(answer["suggestion_shown"]) for answer in answers)
    assert touched == 1 and found["n_ties"] == 1  # with the touched label, people would differ on two units
    assert said(capsys, *asked, "--baseline", base)[0] == 0
    written(file, [row | {"gpt": "relevant"} for row in rows])
    code, out, _ = said(capsys, *asked, "--baseline", base)
    assert code == 10 and "The judge changed, the data did not." in out
    code, _, error = said(capsys, *asked[:-2])
    assert code == 2 and "name a question with --question: relevance, stance" in error
    written(file, [row | {"id": f"other {row['id']}"} for row in rows])
    code, _, error = said(capsys, *asked)
    assert code == 2 and "judge.csv: no id, such as 'other " in error and "is the key of a unit of the release" in error
    labels = tmp_path / "changed/annotations.jsonl"
    labels.write_text(labels.read_text().replace("not_relevant", "relevant"))
    code, _, error = said(capsys, *asked[:4], tmp_path / "changed", *asked[5:])
    assert code == 2 and "annotations.jsonl is not the file that was frozen" in error


def test_who_could_not_judge_gave_no_label():
    class Kept:
        def rows(self, name: str) -> list[dict]:
            labels = (("a", "4"), ("b", "(cannot judge)"))
            return [
                {
                    "item": "i",
                    "annotator": who,
                    "revision": 1,
                    "judgements": [{"unit": "i", "dimension": "fit", "label": one}],
                }
                for who, one in labels
            ]

    assert _labels(Kept(), "fit", "id") == [{"id": "i", "item": "i", "rater": "a", "fit": "4"}]


def test_the_distribution_has_the_fixture():
    found = apply_configuration(Distribution(), str(ROOT / "pyproject.toml"))
    assert found.entry_points["pytest11"] == ["assay_judge = analysis.judge.pytest_plugin"]
    code = "import sys, analysis.judge.pytest_plugin; sys.exit(bool({'numpy', 'django'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_corrected_values_are_further_columns_and_nothing_else_changes(tmp_path, capsys):
    people, by_judge = study(300)
    rows = scale_rows(people, by_judge)
    odd = ['=1+1, "quoted"', " two\nlines ", "007", "", "N/A", "'tis"]
    for place, row in enumerate(rows):
        row["note"] = odd[place % len(odd)]
    rows[-1]["h1"] = ""
    file, out = written(tmp_path / "a.csv", rows), tmp_path / "o.csv"
    assert said(capsys, file, "--judge", "judge", "--human", "h1", "--out", out)[0] == 0
    found = list(csv.DictReader(out.open(newline="", encoding="utf-8")))
    assert list(found[0]) == ["h1", "judge", "note", "judge.people", "judge.error", "judge.calibrated"]
    assert [{name: row[name] for name in rows[0]} for row in found] == rows
    assert float(found[0]["judge.error"]) == float(rows[0]["judge"]) - float(rows[0]["h1"])
    assert found[-1]["judge.people"] == found[-1]["judge.error"] == "" and found[-1]["judge.calibrated"]
    code, _, error = said(capsys, out, "--judge", "judge", "--human", "h1", "--out", tmp_path / "p.csv")
    assert code == 2 and "has a column 'judge.people' already" in error
    code, _, error = said(capsys, file, "--judge", "judge", "--human", "h1", "--out", file)
    assert code == 2 and "is the file itself" in error and "judge.people" not in file.read_text()


def test_of_labels_the_verdict_for_each_is_written(tmp_path, capsys):
    rows = rows_of(900, right=0.97)
    out = tmp_path / "o.csv"
    said(capsys, written(tmp_path / "a.csv", rows), *PLAIN, "--out", out)
    found = list(csv.DictReader(out.open(newline="", encoding="utf-8")))
    assert {row["judge.verdict"] for row in found} == {"usable"}
    assert [row["judge.differs"] for row in found] == ["yes" if row["judge"] != row["p0"] else "no" for row in rows]
    [answered] = judge(tmp_path / "a.csv", ["judge"], ["p0"])
    assert len(answered.judgement.differing) == sum(row["judge.differs"] == "yes" for row in found)

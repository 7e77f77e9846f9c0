"""A release that was frozen before decisions had a history, by the code of then: its files and hash stay good."""

from pathlib import Path

import pytest
from django.core.management import call_command

from analysis.reports.metrics import get_report
from analysis.sources.releases.frames import ReleaseSource

FROZEN = Path(__file__).parent / "frozen" / "before_decisions_had_a_history.zip"
SHA256 = "efe4088adf9f4144c2a99e3bd5b789c931490a0210431d45f9498df68148dd62"


@pytest.fixture
def source() -> ReleaseSource:
    return ReleaseSource(FROZEN)


def test_its_files_are_what_was_frozen_and_say_what_they_said(source):
    call_command("release", check=FROZEN)
    assert source.files.manifest["release"]["sha256"] == SHA256
    assert source.decision_methods() == ["adjudicated", "imported"]
    keys = dict(source.unit_frame("evidence")[["unit", "unit_key"]].itertuples(index=False, name=None))
    decided = source.decision_frame("adjudicated")
    assert [(keys[row.unit], row.dimension, row.label) for row in decided.itertuples()] == [
        ("demo-01-1", "relevance", "relevant"),
        ("demo-01-2", "relevance", "not_relevant"),
    ]
    history = source.decision_history()
    assert history["number"].tolist() == [1, 1, 1] and history["seen"].isna().all() and history["rater"].isna().all()
    assert [run.checker for run in source.runs()] == ["fake"] and len(source.exposure_frame()) == 1
    assert sorted(source.rater_frame()["kind"]) == ["member", "member"]


def test_its_adjudications_count_against_a_checker_only_where_touched_ones_do(source):
    """What their people had been shown was not stored then, and their page showed what every checker says."""
    report = get_report("comparison")
    [run] = source.runs()
    counted = {
        touched: report.compute(source, run=run.uuid, reference="adjudicated", touched=touched)
        for touched in (False, True)
    }
    assert [one["dimensions"][0]["votes"]["decided"] for one in counted.values()] == [0, 2]
    assert counted[False]["decisions_left_out"]["words"].startswith("2 of 2 decisions are left out")
    assert get_report("agreement").compute(source)["dimensions"][0]["n_labels"] == 12

"""The help of `assay`: a screen for a report, with the report's own options alone."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCREEN = 24


@cache
def said(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "assay", *arguments],
        cwd=ROOT,
        env=os.environ | {"COLUMNS": "100"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("report", ["agreement", "comparison"])
def test_a_reports_help_is_a_screen_of_its_own_options(report):
    text = said("report", report, "--help")
    assert len(text.splitlines()) <= SCREEN and "OPTION_" not in text
    assert f"usage: assay report PROJECT {report}" in text
    assert ("--own-units" in text) == (report == "comparison") and "--verbosity" not in text


def test_options_of_files_are_shown_where_they_are_asked_for():
    assert "--rater-columns" in said("report", "agreement", "--from-files", "--help")
    assert "--rater-columns" not in said("report", "agreement", "--help")


def test_help_names_every_command_and_serving_needs_a_screen():
    text = said("--help")
    assert len(text.splitlines()) <= SCREEN
    for name in ("demo", "serve", "worker"):
        assert f"\n  {name} " in text and len(said(name, "--help").splitlines()) <= SCREEN


def test_the_data_folder_is_named_before_or_after_the_command(tmp_path):
    one = ("--data", str(tmp_path / "none"))
    text = said(*one, "report", "agreement", "--help")
    assert (
        text == said("report", "agreement", "--help", *one) == said(f"--data={one[1]}", "report", "agreement", "--help")
    )

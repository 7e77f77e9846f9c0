"""The families of statistics: each in a folder that exports its names, importing from those before it alone."""

import importlib
from pathlib import Path

import pytest

from tests.test_architecture import imports_of

STATS = Path(__file__).resolve().parents[2] / "analysis" / "stats"
# What a family imports stands before it.
FAMILIES = (
    "resampling",
    "agreement",
    "accuracy",
    "correlation",
    "scale",
    "soft",
    "annotators",
    "spans",
    "generation",
    "planning",
    "preferences",
)


def test_every_folder_is_a_family():
    assert {path.parent.name for path in STATS.glob("*/__init__.py")} == set(FAMILIES)


@pytest.mark.parametrize("place", range(len(FAMILIES)), ids=FAMILIES)
def test_a_family_imports_from_those_before_it(place):
    later = FAMILIES[place + 1 :]
    offenders = {
        (path.name, name)
        for path in (STATS / FAMILIES[place]).glob("*.py")
        for name in imports_of(path)
        if any(name.startswith(f"analysis.stats.{family}.") for family in later)
    }
    assert offenders == set()


def test_no_name_is_exported_by_two_families_and_the_package_adds_their_input_alone():
    names = [name for family in FAMILIES for name in importlib.import_module(f"analysis.stats.{family}").__all__]
    assert len(names) == len(set(names))
    assert set(importlib.import_module("analysis.stats").__all__) - set(names) == {"Labels", "encode"}

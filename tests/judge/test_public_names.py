"""`import assay` in a notebook and the start of the command load nothing before it is used."""

import doctest
import subprocess
import sys

import assay
from analysis.judge import judging

HEAVY = "{'django', 'numpy', 'pandas', 'scipy', 'matplotlib', 'torch'} & set(sys.modules)"


def test_every_public_name_has_a_description():
    assert [name for name in assay.__all__ if not getattr(assay, name).__doc__] == []


def test_worked_examples_print_what_they_say():
    assert doctest.testmod(assay).failed == doctest.testmod(judging).failed == 0


def test_import_and_help_load_nothing_heavy():
    code = f"import sys, assay; from assay.command import main; main(['--help']); sys.exit(bool({HEAVY}))"
    assert subprocess.run([sys.executable, "-c", code], check=False, capture_output=True).returncode == 0

import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

from analysis import stats


@pytest.mark.parametrize("name", [module.name for module in pkgutil.walk_packages(stats.__path__, "analysis.stats.")])
def test_worked_examples_print_what_they_say(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_importing_needs_no_django_and_loads_only_what_every_figure_needs():
    """Large parts of scipy take longer to load than the first figures of a large project take to compute."""
    code = "import sys, analysis.stats; sys.exit(bool({'django', 'scipy.stats', 'scipy.optimize'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_documentation_names_every_function():
    docs = Path(__file__).resolve().parents[2] / "docs"
    text = "".join(page.read_text() for page in (docs / "statistics.md", *(docs / "statistics").glob("*.md")))
    functions = [name for name in stats.__all__ if inspect.isfunction(getattr(stats, name))]
    assert len(functions) > 60
    assert [name for name in functions if f"`{name}`" not in text] == []

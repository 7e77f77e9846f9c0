"""analysis.stats in a notebook: the example of docs/statistics.md runs where there is no Django, no pandas, no ORM."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCKED = ("django", "rest_framework", "celery", "pandas", "torch", "sklearn", "matplotlib")

# What the example supposes to be there, and a finder that refuses what a notebook need not have.
BEFORE = """
import sys


class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked}:
            raise ModuleNotFoundError(f"{{name}} is blocked")


sys.meta_path.insert(0, Refuse())
units = ["a", "a", "b", "b", "c", "c", "d", "d", "e"]
raters = ["x", "y", "x", "y", "x", "z", "y", "z", "x"]
values = ["no", "no", "yes", "no", "yes", "yes", "no", "no", "yes"]
claims = [1, 1, 1, 1, 2, 2, 3, 3, 3]
"""


def example() -> str:
    text = (ROOT / "docs" / "statistics.md").read_text()
    return re.search(r"```python\n(from analysis\.stats import .*?)```", text, re.DOTALL).group(1)


def run(code: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_example_of_the_documentation_runs_without_django_and_every_public_name_is_there():
    names = "\nimport analysis.stats as s; print([name for name in s.__all__ if not hasattr(s, name)])"
    done = run(BEFORE.format(blocked=BLOCKED) + example() + names)
    assert done.returncode == 0, done.stderr
    # Of eight labels of four units five are 'no' and three 'yes'; one pair disagrees: 1 - 7 * 1 / (5 * 3).
    assert done.stdout.startswith("0.5333") and "{'one label only': 1}" in done.stdout
    assert done.stdout.endswith("[]\n")


def test_the_block_works():
    done = run(BEFORE.format(blocked=BLOCKED) + "import django")
    assert done.returncode and "django is blocked" in done.stderr

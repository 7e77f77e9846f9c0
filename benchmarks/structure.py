"""How large the code is, how far its reader has to go, and what loading it costs.

python -m benchmarks.structure          lines by folder, a source's way through agreement, processor time of imports

The way of a source is what a reader goes through who follows a report's `compute` into the functions that it calls, as
it runs on a table of labels: each call is followed the first time that one function calls another, up to the 200th;
`analysis.stats`, which gets arrays, is not entered. A stop is a run of called functions of one file, and a return a
stop in a file that had one before.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType

from benchmarks.shared.processes import ROOT

# What is counted, with the number of lines that is aimed at.
FOLDERS = {
    "migrations": (("annotation/migrations", "analysis/migrations"), 2_000),
    "reports": (("analysis/reports",), 12_500),
    "machines": (("annotation/machines",), 8_700),
    "api": (("annotation/api",), 3_350),
}
NO_PRODUCT = ("tests/", "benchmarks/studies/")
MOST_LINES = 112_000
CALLS = 200
FOLLOWED, NOT_ENTERED = ("analysis/", "annotation/"), "analysis/stats/"
IMPORTS = {
    "django": "import django.db.models, django.forms, django.urls",
    "config.urls, with setup": "import django; django.setup(); import config.urls",
    "manage.py check": "import sys; sys.argv = ['manage.py', 'check']; import manage; manage.main()",
}
TIMED = "\nimport time, sys; print(time.process_time(), file=sys.stderr)"


class _Arrived(Exception):
    """The last call that is followed was reached."""


def lines_in(*folders: str, without: tuple[str, ...] = ()) -> int:
    """Lines of the Python files in git, all counted."""
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    names = [name for name in listed.stdout.splitlines() if not name.startswith(without)]
    named = [name for name in names if not folders or name.startswith(tuple(f"{folder}/" for folder in folders))]
    return sum(len((ROOT / name).read_bytes().splitlines()) for name in named if (ROOT / name).exists())


def way(run: Callable[[], object], calls: int = CALLS) -> list[str]:
    """The file of each stop on the way through the first `calls` calls."""
    stops: list[str] = []
    seen: set[tuple[CodeType, CodeType]] = set()
    stack: list[CodeType] = []  # functions that are followed, from the first to the current one
    passed: FrameType | None = None  # what is not entered, until it returns

    def follow(frame: FrameType, event: str, _: object) -> None:
        nonlocal passed
        code, place = frame.f_code, frame.f_code.co_filename.removeprefix(f"{ROOT}/")
        if passed is not None:
            passed = None if event == "return" and frame is passed else passed
        elif not place.startswith(FOLLOWED) or code.co_name.startswith("<"):
            return
        elif event == "return" and stack and stack[-1] is code:
            stack.pop()
        elif event == "call":
            call = (stack[-1] if stack else code, code)
            if call in seen or place.startswith(NOT_ENTERED):
                passed = frame
                return
            seen.add(call)
            stack.append(code)
            if stops[-1:] != [place]:
                stops.append(place)
            if len(seen) == calls:
                raise _Arrived

    sys.setprofile(follow)
    try:
        run()
    except _Arrived:
        pass
    finally:
        sys.setprofile(None)
    return stops


def agreement_of_a_table() -> list[str]:
    import django

    django.setup()
    from analysis.reports.agreement.agreement.compute import compute
    from analysis.sources.files import source_of_files

    rows = [f"{unit},{rater},{'abc'[(unit * rater) % 3]}" for unit in range(40) for rater in range(1, 4)]
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "labels.csv"
        table.write_text("\n".join(["unit,rater,label", *rows]), encoding="utf-8")
        source = source_of_files(table)
        return way(lambda: compute(source))


def processor_time(code: str, runs: int) -> float:
    """The least of several, in seconds, with bytecode that was compiled before."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", code + TIMED]
    taken = []
    for _ in range(runs + 1):
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        taken.append(float(done.stderr.split()[-1]))
    return min(taken[1:])


def main() -> None:
    parser = argparse.ArgumentParser(prog="structure", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="time imports once")
    runs = 1 if parser.parse_args().quick else 5
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    print(f"{'lines':28}{'today':>9}{'aim':>9}")
    for name, (folders, aim) in FOLDERS.items():
        print(f"{name:28}{lines_in(*folders):>9,}{aim:>9,}")
    print(f"{'outside tests and studies':28}{lines_in(without=NO_PRODUCT):>9,}{MOST_LINES:>9,}")

    stops = agreement_of_a_table()
    visits = Counter(stops)
    returns = len(stops) - len(visits)
    print(f"\na source through agreement: {len(stops)} stops in {len(visits)} files, {returns} returns")
    for place, n in visits.most_common():
        print(f"  {n:3} {place}")

    plain = 0.0
    print(f"\n{'processor time':28}{'s':>9}{'of django':>11}")
    for name, code in IMPORTS.items():
        taken = processor_time(code, runs)
        plain = plain or taken
        print(f"{name:28}{taken:>9.2f}{taken / plain:>11.1f}")


if __name__ == "__main__":
    main()

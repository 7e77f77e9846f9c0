"""Every report's numbers before and after a change of the code: the same labels, frozen once, the same JSON.

python -m benchmarks.baseline freeze FOLDER       the demo's projects, and CLIMATE-FEVER and RefChecker where they are
python -m benchmarks.baseline compute FOLDER OUT  every report of every release: as it is, and with each of its choices
python -m benchmarks.baseline compare OUT OTHER   what differs; with --relative 1e-9, numbers that do by more than that

With --report NAME, that report alone.

Freeze with the code before the change; compute with the code before and after it. One BLAS thread, so that sums are
added up in one order.
"""

from __future__ import annotations

import os

os.environ.update({f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM")})

import argparse
import json
import math
import re
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"
# Data set -> its format and files. Checkers that need no model have run over it before it is frozen.
STUDIES = {
    "climate-fever": ("climate-fever", "climate_fever/climate-fever.jsonl"),
    "refchecker": ("refchecker", "refchecker/*/*_answers.json"),
}
CHECKER = "lexical"
# What names a place to look, not a number: how figures refer to the items behind them may change.
LINKS = frozenset({"behind", "figure", "key", "link", "links", "opens"})
# Elsewhere the name stands for numbers.
LINKS_AT = frozenset(
    {
        ".granularity.figures",
        ".agreement.figures",
        ".all.figures",
        ".models.figures",
        ".compared.detection.figures",
        ".families.measures.figures",
        *(f".content.{name}" for name in ("sources.gold", "sources.with_both", "dimensions.labels.figures")),
        *(f".{name}.without" for name in ("described.groups.cells", "beside.characteristics", "usage.models.stances")),
        *(f".usage.models.shifts.{name}.figures" for name in ("rows", "paper")),
    }
)


def freeze(folder: Path) -> None:
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as data:
        environment = os.environ | {
            "ASSAY_DATA_DIR": data,
            "ASSAY_SECRET_KEY": secrets.token_urlsafe(50),
            "ASSAY_DEMO": "1",
            "ASSAY_LOG_LEVEL": "WARNING",
            "HF_HUB_OFFLINE": "1",
        }

        def manage(*arguments: str) -> str:
            command = [sys.executable, "manage.py", *arguments]
            done = subprocess.run(command, cwd=ROOT, env=environment, text=True, capture_output=True)
            if done.returncode:
                sys.exit(f"{' '.join(arguments)}\n{done.stderr[-3000:]}")
            return done.stdout

        manage("demo")
        for name, (format, pattern) in STUDIES.items():
            files = sorted(map(str, DATA.glob(pattern)))
            if not files:
                print(f"{name} is left out: there is no {DATA / pattern}")
                continue
            owner = ("--owner", "researcher@demo.invalid")
            manage("import_dataset", *files, "--format", format, "--dataset", name, "--project", name, *owner)
            manage("run_checker", name, CHECKER, "--here")
        # Below their data set: some reports join projects that share one.
        rows = "Project.objects.values_list('dataset__slug', 'slug')"
        listed = f"from annotation.models import Project; [print(*row) for row in {rows}]"
        for dataset, project in map(str.split, manage("shell", "--no-imports", "-c", listed).splitlines()):
            (folder / dataset).mkdir(exist_ok=True)
            manage("release", project, str((folder / dataset / f"{project}.zip").resolve()))
            print(f"froze {project}")


def asked(report, source) -> Iterator[dict]:
    """A report's options as they are given: none, then every choice and flag by itself. Where a run must be named, it
    is the checker's that ran."""
    needed = {option.name: CHECKER for option in report.options if option.kind == "run" and option.required}
    yield needed
    for option in report.options:
        if option.kind == "flag":
            yield needed | {option.name: True}
        if option.kind in ("choice", "project"):
            offered = [value for value in option.offered(source) if value not in ("", option.default)]
            yield from (needed | {option.name: value} for value in offered)


def compute(folder: Path, out: Path, only: str) -> None:
    with tempfile.TemporaryDirectory() as data:
        os.environ.update(ASSAY_DATA_DIR=data, ASSAY_SECRET_KEY="no-secret-" * 5, ASSAY_LOG_LEVEL="ERROR")
        os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
        import django

        django.setup()
        from analysis.reports.metrics import REPORTS
        from analysis.sources.files import source_of_files

        out.mkdir(parents=True)
        for path in sorted(folder.glob("*/*.zip")):
            source = source_of_files(path, siblings=[other for other in path.parent.glob("*.zip") if other != path])
            for report in REPORTS.values():
                if report.fits(source.type) or only not in ("", report.name):
                    continue
                for number, options in enumerate(asked(report, source)):
                    said = "-".join(f"{name}={value}" for name, value in options.items() if value != CHECKER)
                    try:
                        result = report.compute(source, **report.values(source, options))
                        result.pop("behind", None)
                    except ValueError as error:
                        result = {"error": str(error)}
                    name = f"{path.stem}.{report.name}.{said or number}.json".replace("/", "_")
                    (out / name).write_text(json.dumps(result, ensure_ascii=False), encoding="utf-8")
            print(f"computed {path.stem}")


def differences(one, other, relative: float, place: str = "") -> Iterator[str]:
    """Where two parsed results differ; the order of keys does not count, links neither."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted((one.keys() | other.keys()) - LINKS):
            if re.sub(r"\[\d+\]|\.\w+@\d+", "", f"{place}.{key}") in LINKS_AT:
                continue
            if key in one and key in other:
                yield from differences(one[key], other[key], relative, f"{place}.{key}")
            else:
                yield f"{place}.{key}: {'gone' if key in one else 'new'}"
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, pair in enumerate(zip(one, other, strict=True)):
            yield from differences(*pair, relative, f"{place}[{number}]")
    elif one != other:
        numbers = all(type(value) in (int, float) for value in (one, other))
        if not (numbers and relative and math.isclose(one, other, rel_tol=relative)):
            yield f"{place}: {str(one)[:80]} is now {str(other)[:80]}"


def compare(one: Path, other: Path, relative: float, only: str) -> int:
    found = 0
    names = {path.name for folder in (one, other) for path in folder.glob(f"*.{only or '*'}.*.json")}
    for name in sorted(names):
        if not ((one / name).exists() and (other / name).exists()):
            lines = [f"only in {one if (one / name).exists() else other}"]
        else:
            lines = list(differences(*(json.loads((path / name).read_text()) for path in (one, other)), relative))
        found += bool(lines)
        if lines:
            print(name, *lines[:5], *([f"and {len(lines) - 5} more"] if len(lines) > 5 else []), sep="\n  ")
    print(f"{len(names)} results, {found} of them differ")
    return int(bool(found) or not names)


def main() -> int:
    parser = argparse.ArgumentParser(prog="baseline", description=__doc__.splitlines()[0])
    steps = parser.add_subparsers(dest="step", required=True)
    for name, places in (("freeze", ("folder",)), ("compute", ("folder", "out")), ("compare", ("out", "other"))):
        step = steps.add_parser(name)
        for place in places:
            step.add_argument(place, type=Path)
        if name != "freeze":
            step.add_argument("--report", default="")
        if name == "compare":
            step.add_argument("--relative", type=float, default=0.0)
    options = parser.parse_args()
    if options.step == "freeze":
        return freeze(options.folder) or 0
    if options.step == "compute":
        return compute(options.folder, options.out, options.report) or 0
    return compare(options.out, options.other, options.relative, options.report)


if __name__ == "__main__":
    sys.exit(main())

"""Import of a DRUID+-shaped file: seconds, rows per second and peak memory, on SQLite and PostgreSQL.

    python -m benchmarks.importing [--pairs 48517] [--postgresql URL]

Every import runs `manage.py import_dataset` in a process of its own on an empty database, so that the peak is that of
Python, Django and the import. Two clocks are given: the whole command, and the import alone without starting Python.
The import reads the file once: checking and staging are one pass. The dry run is measured by itself.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PAIRS = 48_517
ROOT = Path(__file__).resolve().parent.parent
POSTGRESQL = "postgresql://postgres@127.0.0.1:5432/assay_bench_import"

# Run in the measured process: the command, then how long it took without start-up, and the peak of memory.
MEASURED = """
import os, resource, sys, time
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
import django
django.setup()
from django.core.management import call_command
started = time.perf_counter()
call_command("import_dataset", *sys.argv[1:])
print("seconds", time.perf_counter() - started)
print("peak_kb", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def environment(folder: Path, database: str) -> dict[str, str]:
    return os.environ | {
        "ASSAY_DATA_DIR": str(folder),
        "ASSAY_SECRET_KEY": "only-for-benchmarks-" + "x" * 32,
        "ASSAY_DEBUG": "0",
        "ASSAY_LOG_LEVEL": "WARNING",
        "ASSAY_HTTPS": "0",
        "DATABASE_URL": database,
    }


def prepare(env: dict[str, str]) -> None:
    manage = [sys.executable, "manage.py"]
    subprocess.run([*manage, "migrate", "-v0"], cwd=ROOT, env=env, check=True, capture_output=True)
    make = "from annotation.models import User; User.objects.create_superuser('bench', 'bench@example.org')"
    subprocess.run([*manage, "shell", "-v0", "-c", make], cwd=ROOT, env=env, check=True, capture_output=True)


def run_import(env: dict[str, str], *arguments: str) -> tuple[float, float, float]:
    """Seconds of the process, seconds of the import, peak in MB."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *arguments], cwd=ROOT, env=env, check=True, capture_output=True, text=True
    )
    whole = time.perf_counter() - started
    seconds = float(re.search(r"^seconds (.+)$", done.stdout, re.M)[1])
    return whole, seconds, int(re.search(r"^peak_kb (.+)$", done.stdout, re.M)[1]) / 1024


def fresh_postgresql(url: str) -> bool:
    """An empty database of the URL's name; False where no server answers."""
    import psycopg

    server, name = url.rsplit("/", 1)
    try:
        with psycopg.connect(f"{server}/postgres", connect_timeout=3, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}"')
            connection.execute(f'CREATE DATABASE "{name}"')
    except psycopg.OperationalError as error:
        print(f"PostgreSQL is left out: {error}", file=sys.stderr)
        return False
    return True


def measure(label: str, database: str, folder: Path, file: Path, pairs: int) -> None:
    env = environment(folder, database)
    prepare(env)
    common = (str(file), "--format", "druid", "--dataset", "bench")
    for what, more in (("dry run", ("--dry-run",)), ("import", ()), ("same file again", ())):
        whole, seconds, peak = run_import(env, *common, *more)
        print(f"{label:<12} {what:<16} {seconds:>7.2f} {whole:>9.2f} {pairs / seconds:>9,.0f} {peak:>8.0f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--postgresql", default=POSTGRESQL, help="its database is dropped and made anew")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        file = folder / "druid-plus.tsv"
        generate = "import sys; from benchmarks.generate import write_druid_file as w; w(sys.argv[1], int(sys.argv[2]))"
        subprocess.run([sys.executable, "-c", generate, str(file), str(options.pairs)], cwd=ROOT, check=True)
        print(f"{options.pairs:,} pairs, {file.stat().st_size / 1e6:.0f} MB")
        print(f"{'database':<12} {'what':<16} {'seconds':>7} {'process':>9} {'rows/s':>9} {'peak MB':>8}")
        measure("SQLite", f"sqlite:///{folder / 'bench.sqlite3'}", folder, file, options.pairs)
        if fresh_postgresql(options.postgresql):
            measure("PostgreSQL", options.postgresql, folder, file, options.pairs)


if __name__ == "__main__":
    main()

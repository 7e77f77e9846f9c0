"""Import of a DRUID+-shaped file: seconds, rows per second and peak memory, on SQLite and PostgreSQL.

    python -m benchmarks.files.importing [--pairs 48517] [--postgresql URL] [--quick]

Every import runs `manage.py import_dataset` in a process of its own on an empty database, so that the peak is that of
Python, Django and the import. Two clocks are given: the whole command, and the import alone without starting Python.
The import reads the file once: checking and staging are one pass. The dry run is measured by itself.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from benchmarks.shared.processes import POSTGRESQL, empty_postgresql, environment, measured, run
from benchmarks.shared.project import PAIRS

MAKE_USER = "from annotation.models import User; User.objects.create_superuser('bench', 'bench@example.org')"
MAKE_FILE = "import sys; from benchmarks.shared.made_up import write_druid_file as w; w(sys.argv[1], int(sys.argv[2]))"


def measure(label: str, database: str, folder: Path, file: Path, pairs: int) -> None:
    env = environment(folder, database)
    run(env, "manage.py", "migrate", "-v0")
    run(env, "manage.py", "shell", "-v0", "-c", MAKE_USER)
    common = (str(file), "--format", "druid", "--dataset", "bench")
    for what, more in (("dry run", ("--dry-run",)), ("import", ()), ("same file again", ())):
        seconds, whole, peak, _ = measured(env, "import_dataset", *common, *more)
        print(f"{label:<12} {what:<16} {seconds:>7.2f} {whole:>9.2f} {pairs / seconds:>9,.0f} {peak:>8.0f}", flush=True)


def main() -> None:
    import psycopg

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--postgresql", default=POSTGRESQL, help="a server, on which a database is made")
    parser.add_argument("--quick", action="store_true", help="5,000 pairs")
    options = parser.parse_args()
    pairs = min(options.pairs, 5000) if options.quick else options.pairs
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        file = folder / "druid-plus.tsv"
        run(os.environ, "-c", MAKE_FILE, str(file), str(pairs))
        print(f"{pairs:,} pairs, {file.stat().st_size / 1e6:.0f} MB")
        print(f"{'database':<12} {'what':<16} {'seconds':>7} {'process':>9} {'rows/s':>9} {'peak MB':>8}")
        measure("SQLite", "", folder, file, pairs)
        try:
            with empty_postgresql(options.postgresql, "assay_bench_import") as address:
                measure("PostgreSQL", address, folder, file, pairs)
        except psycopg.OperationalError as error:
            print(f"PostgreSQL is left out: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()

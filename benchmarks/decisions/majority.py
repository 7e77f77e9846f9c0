"""A majority rule over 1,000,000 units: seconds and peak memory of its first run, and of one that changes nothing.

    python -m benchmarks.decisions.majority [--items 1000000] [--keep] [--no-sqlite] [--quick]

Every unit has an answer to both questions, every second one has two, and 300,000 of these differ. Measured is
`manage.py rule` in a process of its own; the cases of adjudicators are counted in it. The decisions are removed
afterwards where the database is kept.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.labelling.submit import SLUG
from benchmarks.shared.large import add_options, databases
from benchmarks.shared.processes import measured, run

AIM_SECONDS, AIM_MB = 60, 500


def remove(name: str) -> None:
    import django

    django.setup()
    from annotation.models import Decision, Project, RuleRun
    from annotation.projects import cases

    Decision.objects.filter(rule=name)._raw_delete("default")
    RuleRun.objects.filter(name=name).delete()
    cases.decided(Project.objects.get(slug=SLUG))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    parser.add_argument("--remove", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.remove:
        return remove(options.remove)
    print(f"aim for 1,000,000 units: {AIM_SECONDS} s, {AIM_MB} MB", file=sys.stderr)
    print(f"{'':<11} {'units':>9} {'run':<8} {'seconds':>8} {'processor s':>11} {'peak MB':>8}", flush=True)
    for title, large in databases(options):
        for name in ("first", "again"):
            spent = measured(large.env, "rule", SLUG, "majority", "--name", "bench")
            print(
                f"{title:<11} {options.items:>9,} {name:<8} {spent.seconds:>8.1f} {spent.processor:>11.1f} "
                f"{spent.peak:>8.0f}",
                flush=True,
            )
        if options.keep:
            run(large.env, "-m", "benchmarks.decisions.majority", "--remove", "bench")


if __name__ == "__main__":
    main()

"""A project of DRUID+ size in which every pair has two annotations, in a database of its own, for other benchmarks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.generate import write_druid_file

ROOT = Path(__file__).resolve().parent.parent
SLUG = "bench"

# Run in the measured process: a command, then how long it took without start-up, and the peak of memory.
MEASURED = """
import resource, sys, time
import django
django.setup()
from django.core.management import call_command
started = time.perf_counter()
call_command(*sys.argv[1:])
print("seconds", time.perf_counter() - started)
print("peak_kb", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def environment(folder: Path, database: str) -> dict[str, str]:
    return os.environ | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "ASSAY_DATA_DIR": str(folder),
        "ASSAY_SECRET_KEY": "only-for-benchmarks-" + "x" * 32,
        "ASSAY_DEBUG": "0",
        "ASSAY_LOG_LEVEL": "WARNING",
        "ASSAY_HTTPS": "0",
        "DATABASE_URL": database,
    }


def build(folder: Path, pairs: int, database: str = "", raters: int = 2) -> dict[str, str]:
    """Make the project in a process of its own; the environment in which it is found."""
    env = environment(folder, database or f"sqlite:///{folder / 'bench.sqlite3'}")
    subprocess.run(
        [sys.executable, "-m", "benchmarks.labelled", str(folder), str(pairs), str(raters)],
        cwd=ROOT,
        env=env,
        check=True,
    )
    return env


def measured(env: dict[str, str], *command: str) -> tuple[float, float, float]:
    """Seconds of the management command, seconds of its whole process, peak in MB."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *command], cwd=ROOT, env=env, check=True, capture_output=True, text=True
    )
    whole = time.perf_counter() - started
    seconds, peak = (float(re.search(rf"^{name} (.+)$", done.stdout, re.M)[1]) for name in ("seconds", "peak_kb"))
    return seconds, whole, peak / 1024


def fill(folder: Path, pairs: int, n_raters: int = 2) -> None:
    import django

    django.setup()
    from django.core.management import call_command

    from annotation.models import Project, Rater, User

    call_command("migrate", verbosity=0)
    owner = User.objects.create_superuser("bench", "bench@example.org")
    file = write_druid_file(folder / "druid-plus.tsv", pairs)
    with open(os.devnull, "w") as nowhere:
        call_command(
            "import_dataset", str(file), "--format", "druid", "--dataset", SLUG, "--project", SLUG, stdout=nowhere
        )
    project = Project.objects.get(slug=SLUG)
    raters = [
        Rater.objects.create(
            project=project,
            kind="member",
            user=User.objects.create_user(f"annotator{number}", f"annotator{number}@example.org"),
            name=f"Annotator {number}",
        )
        for number in range(1, n_raters + 1)
    ]
    label(project, raters)
    file.unlink()
    assert owner.pk


def label(project, raters) -> None:
    """One annotation per item and rater: both labels, and a span where the evidence is relevant. They agree mostly."""
    import random
    from uuid import uuid4

    from django.db import transaction
    from django.utils import timezone

    from annotation.bulk import bulk_insert, reserve_ids
    from annotation.models import Annotation, Item, Judgement, Revision, Span
    from benchmarks.generate import STANCES

    chance = random.Random(0)
    now = timezone.now()
    items = list(Item.objects.filter(project=project).values_list("pk", "anchor_id", "anchor__evidence__text"))
    for start in range(0, len(items), 5000):
        batch = items[start : start + 5000]
        places = [(item, rater.pk, unit, text) for item, unit, text in batch for rater in raters]
        truths = {item: (chance.random() < 0.6, chance.choice(STANCES)) for item, _, _ in batch}
        with transaction.atomic():
            annotations = reserve_ids(Annotation, len(places))
            bulk_insert(
                Annotation,
                [(pk, item, rater) for pk, (item, rater, _, _) in zip(annotations, places, strict=True)],
                ["id", "item_id", "rater_id"],
            )
            revisions = reserve_ids(Revision, len(places))
            bulk_insert(
                Revision,
                [
                    (pk, annotation, 1, uuid4(), now, now, 12_000, 1, False)
                    for pk, annotation in zip(revisions, annotations, strict=True)
                ],
                [
                    "id",
                    "annotation_id",
                    "number",
                    "client_id",
                    "shown_at",
                    "submitted_at",
                    "active_ms",
                    "guideline_version",
                    "suggestion_shown",
                ],
            )
            said = []
            for revision, (item, _, unit, text) in zip(revisions, places, strict=True):
                relevant, stance = truths[item]
                relevant = relevant if chance.random() < 0.9 else not relevant
                said.append((revision, unit, "relevance", "relevant" if relevant else "not_relevant", text))
                if relevant:
                    label = stance if chance.random() < 0.7 else chance.choice(STANCES)
                    said.append((revision, unit, "stance", label, text))
            ids = reserve_ids(Judgement, len(said))
            bulk_insert(
                Judgement,
                [(pk, *row[:4]) for pk, row in zip(ids, said, strict=True)],
                ["id", "revision_id", "unit_id", "dimension", "label"],
            )
            bulk_insert(
                Span,
                [
                    (pk, "evidence", 5, 45, row[4][5:45])
                    for pk, row in zip(ids, said, strict=True)
                    if row[2] == "stance"
                ],
                ["judgement_id", "field", "start", "end", "quote"],
            )


if __name__ == "__main__":
    fill(Path(sys.argv[1]), *map(int, sys.argv[2:]))

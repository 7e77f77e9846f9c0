"""A project of DRUID+ size in which every pair has two annotations, in a database of its own, for other benchmarks."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path
from uuid import uuid4

from benchmarks.shared.made_up import STANCES, write_druid_file
from benchmarks.shared.processes import environment, run

PAIRS = 48_517  # as many as DRUID+ has
SLUG = "bench"


def build(folder: Path, pairs: int, raters: int = 2) -> dict[str, str]:
    """Make the project in a process of its own; the environment in which it is found."""
    env = environment(folder)
    run(env, "-m", __name__, str(folder), str(pairs), str(raters))
    return env


def fill(folder: Path, pairs: int, n_raters: int = 2) -> None:
    import django

    django.setup()
    from django.core.management import call_command

    from annotation.models import Project, Rater, User

    call_command("migrate", verbosity=0)
    User.objects.create_superuser("bench", "bench@example.org")
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


def label(project, raters) -> None:
    """One annotation per item and rater: both labels, and a span where the evidence is relevant. They agree mostly."""
    from django.db import transaction
    from django.utils import timezone

    from annotation.bulk import bulk_insert, reserve_ids
    from annotation.models import Annotation, Item, Judgement, Revision, Span

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

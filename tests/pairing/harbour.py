"""A made-up claim with gold evidence and generated documents, imported from a file, and pairs made of them."""

from __future__ import annotations

import io
import json
from pathlib import Path

from django.core.management import CommandError, call_command

from annotation.imports import importing
from annotation.imports.importing import ImportRequest
from annotation.imports.pairs import pairing
from annotation.imports.pairs.pairing import PairRequest
from annotation.jobs import lifecycle
from annotation.models import Dataset, Job, Pair
from tests.factories import make_dataset

CLAIM = "The harbour of Lindau froze over in January 1963."
GOLD = ("Lake Constance was frozen from January to March 1963.", "No ferry left Lindau that winter.")
OTHER = "The lighthouse was built in 1856."
# One sentence reproduces the claim, one has no word, one is there twice; two are left.
DOCUMENT = f"{CLAIM} Ferries stayed in port. Lake Constance was covered by ice!\n***\nFerries stayed in port."
KEPT = ("Ferries stayed in port.", "Lake Constance was covered by ice!")


def line(number: int = 1, documents: tuple = (DOCUMENT,), gold: tuple = GOLD, **changed) -> dict:
    passages = [{"id": f"c{number}/g{n}", "text": text, "gold": True} for n, text in enumerate(gold)]
    passages.append({"id": f"c{number}/other", "text": OTHER, "gold": False})
    responses = [
        document
        if isinstance(document, dict)
        else {"id": f"c{number}/d{n}", "text": document, "model": "m1", "method": "hyde"}
        for n, document in enumerate(documents)
    ]
    claim = {"id": f"c{number}", "text": CLAIM}
    return {"claim": claim, "passages": passages, "responses": responses} | changed


def bring_in(tmp_path: Path, *lines: dict, dataset: Dataset | None = None) -> Dataset:
    dataset = dataset or make_dataset()
    path = tmp_path / "content.jsonl"
    path.write_text("\n".join(json.dumps(each, ensure_ascii=False) for each in lines), encoding="utf-8")
    request = ImportRequest("content", importing.files_of_paths([path]), on_judged="supersede")
    job = lifecycle.run_here(importing.start(dataset.owner, dataset, request, is_dry_run=False, wake_workers=False))
    assert job.state == "done", (job.message, job.result)
    return dataset


def start(dataset: Dataset, *, is_dry_run: bool = False, **options) -> Job:
    return pairing.start(dataset.owner, dataset, PairRequest(**options), is_dry_run=is_dry_run, wake_workers=False)


def make(dataset: Dataset, **options) -> Job:
    job = lifecycle.run_here(start(dataset, **options))
    assert job.state == "done", (job.message, job.result)
    return job


def pairs(dataset: Dataset) -> dict[str, Pair]:
    """The pairs that readers see, by key."""
    return {pair.key: pair for pair in Pair.objects.published().filter(dataset=dataset).order_by("pk")}


def command(*arguments) -> tuple[int, str]:
    """What `manage.py make_pairs` exits with, and all that it prints."""
    out = io.StringIO()
    try:
        call_command("make_pairs", *map(str, arguments), stdout=out, stderr=out)
    except CommandError as error:
        return 1, f"{out.getvalue()}{error}"
    return 0, out.getvalue()

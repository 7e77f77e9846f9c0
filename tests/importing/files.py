"""Files to import, and ways to import them, for tests."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.formats.studies.druid import COLUMNS
from annotation.imports import importing
from annotation.imports.importing import FileChoices, ImportRequest, ProjectWish
from annotation.jobs import lifecycle
from annotation.models import Dataset, Evidence, Job

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
CLIMATE_FEVER = SHARED / "climate_fever" / "climate-fever.jsonl"
REFCHECKER = sorted((SHARED / "refchecker").glob("*/*.json")) if SHARED.is_dir() else []

needs_shared_data = pytest.mark.skipif(not CLIMATE_FEVER.exists(), reason="the real files of shared/data are not here")


def druid_row(number: int, *, under: int | None = None, **changed) -> dict:
    claim = number // 2 if under is None else under
    row = {
        "id": f"c{claim}_ret_b{number}_g{number}",
        "claim_id": f"c{claim}",
        "claim_source": f"https://checker.example.org/{claim}",
        "claim": f"Claim {claim} says that the river froze.",
        "claimant": "Somebody",
        "claim_date": "2024-05-31",
        "evidence_source": f"https://news.example.org/{number}",
        "evidence": f"Report {number} says that the river stayed open.",
        "evidence_date": "2024-06-01",
        "factcheck_verdict": "False",
        "is_gold": "False",
        "relevant": "",
        "evidence_stance": "",
    }
    return row | changed


def druid_rows(n: int, **changed) -> list[dict]:
    return [druid_row(number, **changed) for number in range(n)]


def write_druid(path: Path, rows: Sequence[dict]) -> Path:
    lines = ["\t".join(COLUMNS), *("\t".join(row[column] for column in COLUMNS) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_refchecker(path: Path, rows: Sequence[dict]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(list(rows)), encoding="utf-8")
    return path


def answer(number: int, triplets: int = 2, label: str = "Entailment", **changed) -> dict:
    kg = [{"triplet": [f"head {n}", "is", f"tail {n}"], "human_label": label} for n in range(triplets)]
    row = {"id": str(number), "question": f"Question {number}?", "context": [f"Passage of {number}."]}
    return row | {"response": f"Answer {number}.", "claude2_response_kg": kg} | changed


def command(*arguments) -> tuple[int, str]:
    """What `manage.py import_dataset` exits with, and all that it prints."""
    out = io.StringIO()
    try:
        call_command("import_dataset", *(str(argument) for argument in arguments), stdout=out, stderr=out)
    except CommandError as error:
        return 1, f"{out.getvalue()}{error}"
    return 0, out.getvalue()


def start(dataset: Dataset, path: Path, *, format: str = "druid", project: str = "", user=None, **more) -> Job:
    request = ImportRequest(
        format=format,
        files=importing.files_of_paths([path]),
        choices=FileChoices(**more.pop("choices", {})),
        project=ProjectWish(project) if project else None,
        **more,
    )
    return importing.start(user or dataset.owner, dataset, request, is_dry_run=False, wake_workers=False)


def run(dataset: Dataset, path: Path, **more) -> Job:
    return lifecycle.run_here(start(dataset, path, **more))


def texts(dataset: Dataset) -> dict[str, str]:
    """The evidence that readers see."""
    return dict(Evidence.objects.published().filter(dataset=dataset).values_list("key", "text"))

"""What a run asked of the web, kept in the database: asked once, by whichever worker, and there to be replayed."""

from __future__ import annotations

import hashlib
from typing import Any

from django.utils import timezone

from annotation.machines.runs.storing import storable, storable_json
from annotation.models import RetrievalRun, WebAnswer

# Of the job's parameters: the run whose answers are replayed.
REPLAYS = "replays"


def _digest(asked: str) -> str:
    return hashlib.sha256(asked.encode("utf-8", "replace")).hexdigest()


class RunMemory:
    """`models_runtime.evidence.contracts.Memory`, of one run."""

    def __init__(self, run: RetrievalRun) -> None:
        self.run = run
        replayed = run.job.parameters.get(REPLAYS)
        self.recorded = RetrievalRun.objects.get(uuid=replayed, project=run.project_id) if replayed else None

    def get(self, kind: str, asked: str) -> tuple[dict[str, Any], str] | None:
        rows = WebAnswer.objects.filter(run=self.recorded or self.run, kind=kind, asked_sha256=_digest(asked))
        return rows.values_list("body", "problem").first()

    def put(self, kind: str, asked: str, body: dict[str, Any], problem: str = "") -> None:
        WebAnswer.objects.bulk_create(
            [
                WebAnswer(
                    run=self.run,
                    kind=kind,
                    asked=storable(asked),
                    asked_sha256=_digest(asked),
                    body=storable_json(body),
                    problem=storable(problem)[:300],
                    answered_at=timezone.now(),
                )
            ],
            ignore_conflicts=True,  # another worker was quicker
        )

    def only_remembers(self) -> bool:
        return self.recorded is not None

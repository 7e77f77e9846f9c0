"""The answers of a generation run become responses to their questions, and pages of work.

The key of a response comes from the question, the run and the repetition, so publishing again changes nothing, and what
was written since is added. Its metadata hold how it came about: `generation` has the run, model, endpoint, prompt and
settings, the keys of the passages shown, tokens, the reason why the model stopped, and the time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from annotation.formats.records import ResponseRecord
from annotation.imports.staged_job import PublishingProblem, start_publishing
from annotation.machines.retrieval.publishing import StagingHandler
from annotation.models import GeneratedText, GenerationRun, Job, Project, Question, Response, UnitKind, User

TEXTS_AT_ONCE = 200


def why_not(run: GenerationRun) -> str:
    """Why nothing of this run can be published; empty where something can."""
    if not run.job.is_finished:
        return "A run can be published when it is done, or was stopped"
    if not run.texts.filter(reason="").exists():
        return "Nothing was written"
    if run.project.is_preparing:
        return run.project.why_not_ready
    if run.project.state == Project.State.CLOSED:
        return f"The project is {run.project.state}; answers are published while it is open or paused"
    return ""


def start(user: User, run: GenerationRun, *, wake_workers: bool = True) -> Job:
    """Store the job. PublishingProblem where it cannot be done, or the data set's content is being changed already."""
    if reason := why_not(run):
        raise PublishingProblem(reason)
    parameters = {"run": str(run.uuid)}
    return start_publishing(Job.Kind.RESPONSES, user, run.project, parameters, wake_workers=wake_workers)


def response_key(question: str, run: GenerationRun, repetition: int) -> str:
    """question/run-<first digits of the run's id>/repetition"""
    return f"{question}/run-{run.uuid.hex[:12]}/{repetition}"


@dataclass(slots=True)
class WrittenResponses:
    """One walk over a run's texts; `counts` says afterwards what was found and what was left out."""

    run: GenerationRun
    counts: Counter = field(default_factory=Counter)

    @property
    def total(self) -> int:
        return self.run.texts.filter(reason="").count()

    def records(self, on_progress: Callable[[int], None] = lambda done: None) -> Iterator[ResponseRecord]:
        """`on_progress` may raise to stop."""
        last, done = 0, 0
        while rows := list(
            self.run.texts.filter(reason="", pk__gt=last).select_related("question").order_by("pk")[:TEXTS_AT_ONCE]
        ):
            last, done = rows[-1].pk, done + len(rows)
            same = self._unchanged({row.question.key for row in rows})
            for row in rows:
                if same.get(row.question.key) != row.question.text:
                    self.counts["replaced"] += 1
                    continue
                self.counts["responses"] += 1
                yield self._record(row)
            on_progress(done)

    def _unchanged(self, keys: set[str]) -> dict[str, str]:
        """What the newest versions of these say, by key."""
        rows = Question.objects.published()
        return dict(rows.filter(dataset=self.run.project.dataset_id, key__in=keys).values_list("key", "text"))

    def _record(self, row: GeneratedText) -> ResponseRecord:
        run = self.run
        return ResponseRecord(
            response_key(row.question.key, run, row.repetition),
            row.text,
            question=row.question.key,
            model=str(run.provenance.get("model", ""))[:200],
            method=str(run.parameters.get("form") or run.generator),
            repetition=row.repetition,
            context_setting=run.context_setting,
            metadata={
                # Where reports on withholding answers look for it.
                **({"confidence": row.facts["confidence"]} if "confidence" in row.facts else {}),
                "generation": {
                    "run": str(run.uuid),
                    "generator": f"{run.generator} {run.version}",
                    **{name: run.provenance.get(name, "") for name in ("model", "revision", "endpoint")},
                    "passages_from": run.passages,
                    **row.facts,
                },
            },
        )


class ResponsePublishingHandler(StagingHandler):
    makes_items_of = (UnitKind.RESPONSE,)
    reads = "answers"

    def walk(self, job: Job) -> WrittenResponses:
        run = GenerationRun.objects.select_related("project__dataset").get(uuid=job.parameters["run"])
        return WrittenResponses(run)

    def published(self, job: Job) -> dict:
        return {"new_responses": Response.objects.filter(batch=job.batch, version=1).count()}


HANDLER = ResponsePublishingHandler()

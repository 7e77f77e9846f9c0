"""What a checker elsewhere said of a project's units, sent as JSON Lines: it becomes a run that never ran here.

Name, version and parameters are the checker's identity. The same answers twice are one run; other answers under the
same identity are refused, become a new run, or are added to the newest one, by choice. A run's rows are stored in short
steps, and count once its job is done; what fails leaves nothing.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from django.db import transaction
from django.db.models import F

from annotation.bulk import batches, bulk_insert
from annotation.formats.names import OUTSIDE
from annotation.imports import uploads
from annotation.imports.outside_runs import units_by_key, units_of_items
from annotation.imports.rows import Findings, counted
from annotation.imports.staged_job import guard_of
from annotation.jobs import lifecycle
from annotation.jobs.lifecycle import JobError, Lease
from annotation.machines.runs.predicted_lines import (
    Place,
    PredictedLabels,
    PredictedScores,
    Stated,
    digest_rows,
    read_lines,
)
from annotation.machines.runs.queries.suggestions import summary
from annotation.machines.runs.starting import digest_of
from annotation.models import CheckerRun, Chunk, ItemUnit, Job, Project, Score, Suggestion, Upload, User

LABELS, SCORES = "labels", "scores"
REFUSE, NEW, ADD = EXISTING = ("refuse", "new", "add")
BATCH = 5_000
VERSION_CHARS = CheckerRun._meta.get_field("version").max_length
COLUMNS = {
    LABELS: (Suggestion, ("unit_id", "dimension", "label", "probability", "probabilities", "explanation", "spans")),
    SCORES: (Score, ("unit_id", "name", "value")),
}


@dataclass(frozen=True, slots=True)
class Sent:
    """The checker that the answers are of, and what to do with them."""

    gives: str
    checker: str
    version: str = ""  # empty: numbered
    parameters: dict = field(default_factory=dict)
    existing: str = REFUSE  # where there are other answers under this identity
    leaves_out: bool = False  # bad lines, instead of refusing the file for them

    @property
    def identity(self) -> str:
        return digest_of([self.gives, self.checker, self.version, self.parameters])


def start(project: Project, user: User, sent: Sent, upload: Upload) -> Job:
    """The job that stores them. SameJob where the same file is under way, sent for the same checker."""
    if project.is_preparing:
        raise JobError(project.why_not_ready)
    return lifecycle.create_job(
        Job.Kind.PREDICTIONS,
        user,
        project=project,
        chunks=[({"upload": str(upload.uuid)}, 0)],
        parameters=asdict(sent) | {"sha256": upload.sha256},
    )


class PredictionsHandler:
    def run_chunk(self, chunk: Chunk, lease: Lease) -> None:
        job = Job.objects.select_related("project__dataset", "created_by").get(pk=chunk.job_id)
        asked = dict(job.parameters)
        asked.pop("sha256")
        sent = Sent(**asked)
        findings = Findings()
        stored = Upload.objects.filter(uuid=chunk.payload["upload"]).first()
        if stored is None or not uploads.path_of(stored).is_file():
            raise JobError("The file is no longer on the server; send it again")
        take = PredictedLabels(job.project) if sent.gives == LABELS else PredictedScores(sent.checker)
        items = units_of_items(job.project) if sent.gives == SCORES else {}
        stated = read_lines(uploads.path_of(stored), units_by_key(job.project), take, findings, lease.beat, items)
        if findings.error_count and not sent.leaves_out:
            Job.objects.filter(pk=job.pk).update(result=_result(findings, stated))
            raise JobError(f"{counted(findings.error_count, 'bad line')}; nothing was stored")
        run, is_new, is_stored = _run_for(job, sent, stated, lease)
        result = _result(findings, stated) | {"run": str(run.uuid), "is_unchanged": is_stored}
        if is_new:
            self._store_run(run, sent, stated, lease)
        elif not is_stored:
            self._add(job, run, sent, stated, result, lease)
            return
        with transaction.atomic():
            lease.complete()
            Job.objects.filter(pk=job.pk).update(result=result)

    def _store_run(self, run: CheckerRun, sent: Sent, stated: dict[Place, Stated], lease: Lease) -> None:
        guard = guard_of(lease)
        model, names = COLUMNS[sent.gives]
        while rows := list(model.objects.filter(run=run).values_list("pk", flat=True)[:BATCH]):
            with transaction.atomic():  # of an attempt that died
                guard()
                model.objects.filter(pk__in=rows).delete()
        for done, part in enumerate(batches(stated.items(), BATCH)):
            with transaction.atomic():
                guard()
                bulk_insert(model, [(run.pk, *place, *rest) for place, rest in part], ["run_id", *names])
            lease.progress(min((done + 1) * BATCH, len(stated)), len(stated), "Storing")

    def _add(self, job: Job, run: CheckerRun, sent: Sent, stated: dict, result: dict, lease: Lease) -> None:
        """To a run that grows: whole, and at once, since the run is shown."""
        model, names = COLUMNS[sent.gives]
        known = {row[:2]: row[2:] for row in model.objects.filter(run=run).values_list(*names).iterator()}
        added = {place: rest for place, rest in stated.items() if place not in known}
        changed = [place for place, rest in stated.items() if place in known and known[place] != rest]
        if changed:
            unit = ItemUnit.objects.filter(unit=changed[0][0]).values_list("unit__key", flat=True).first()
            raise JobError(
                f"The run has other answers for {counted(len(changed), 'place')} already, such as {changed[0][1]} of "
                f"{unit}; nothing was stored"
            )
        with transaction.atomic():
            lease.complete()
            bulk_insert(model, [(run.pk, *place, *rest) for place, rest in added.items()], ["run_id", *names])
            if added:
                CheckerRun.objects.filter(pk=run.pk).update(origin=run.origin | {"sha256": ""})
                Job.objects.filter(pk=run.job_id).update(result=run.job.result | summary(run))
            result |= {"added": len(added), "is_unchanged": not added}
            Job.objects.filter(pk=job.pk).update(result=result)

    def finish(self, job: Job, lease: Lease) -> dict:
        result = Job.objects.values_list("result", flat=True).get(pk=job.pk)
        run = CheckerRun.objects.filter(job=job).first()
        with transaction.atomic():
            if run is not None:
                result |= summary(run)
                if run.origin["gives"] == LABELS:
                    chosen = Project.objects.filter(pk=job.project_id, prefill_run=None)
                    chosen.exclude(prefill=Project.Prefill.OFF).update(prefill_run=run)
            Project.objects.filter(pk=job.project_id).update(label_version=F("label_version") + 1)
        _remove_uploads(job)
        return result

    def clean_up(self, job: Job) -> None:
        """Nothing stays of a run that is not whole, nor of its file: who resumes the job is told to send it again."""
        run = CheckerRun.objects.filter(job=job).first()
        if run is not None:
            for model in (Suggestion, Score):
                while rows := list(model.objects.filter(run=run).values_list("pk", flat=True)[:BATCH]):
                    model.objects.filter(pk__in=rows).delete()
            run.delete()
        _remove_uploads(job)
        job.chunks.exclude(index=lifecycle.FINISH_INDEX).update(state=Chunk.State.OPEN, done_at=None)


HANDLER = PredictionsHandler()


def _remove_uploads(job: Job) -> None:
    payloads = job.chunks.exclude(index=lifecycle.FINISH_INDEX).values_list("payload", flat=True)
    for upload in Upload.objects.filter(uuid__in=[payload["upload"] for payload in payloads]):
        uploads.remove(upload)


def _result(findings: Findings, stated: dict) -> dict:
    found = findings.as_json()
    return {"rows": len(stated), "error_count": found["error_count"], "errors": found["errors"]}


def _run_for(job: Job, sent: Sent, stated: dict, lease: Lease) -> tuple[CheckerRun, bool, bool]:
    """The run that the answers go into, whether they begin it, and whether all of them are stored in it already."""
    digest = digest_of([digest_rows(stated.items())]) if stated else ""
    name = f"{OUTSIDE}{sent.checker}"
    with transaction.atomic():
        guard_of(lease)()
        Project.objects.select_for_update().get(pk=job.project_id)  # of two files at once the second sees the first
        mine = CheckerRun.objects.filter(job=job).first()
        if mine is not None:
            return mine, True, False
        if not stated:
            raise JobError("The file has no line that could be stored")
        runs = CheckerRun.objects.filter(project=job.project_id, checker=name)
        earlier = runs.filter(origin__identity=sent.identity).select_related("job").order_by("-pk")
        if any(not run.job.is_finished for run in earlier):
            raise JobError("Other answers of this checker are being stored; send these again when that is done")
        earlier = [run for run in earlier if run.job.state == Job.State.DONE]
        same = next((run for run in earlier if run.origin.get("sha256") == digest), None)
        if same is not None:
            return same, False, True
        if earlier and sent.existing == REFUSE:
            raise JobError(
                f"There is a run of {sent.checker} with this version and these parameters with other answers; give "
                "another version, or choose existing=new or existing=add"
            )
        if earlier and sent.existing == ADD:
            return earlier[0], False, False
        run = CheckerRun.objects.create(
            project_id=job.project_id,
            job=job,
            checker=name,
            version=sent.version or str(runs.count() + 1),
            parameters=sent.parameters,
            parameters_hash="",  # so that no other run is taken for the same
            origin={
                "outside": sent.checker,
                "gives": sent.gives,
                "sha256": digest,
                "identity": sent.identity,
            },
            created_by=job.created_by,
        )
        return run, True, False

"""What a checker elsewhere said of a project's units, sent as JSON Lines: it becomes a run that never ran here.

Name, version and parameters are the checker's identity. The same answers twice are one run; other answers under the
same identity are refused, become a new run, or are added to the newest one, by choice. A run's rows are stored in short
steps, and count once its job is done; what fails leaves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice

import msgspec
from django.db import transaction
from django.db.models import F

from annotation import incoming
from annotation.bulk import bulk_insert
from annotation.formats.cells import shorten
from annotation.formats.records import RowError
from annotation.imports import uploads
from annotation.imports.outside_runs import OUTSIDE, units_by_key
from annotation.imports.rows import Findings, counted
from annotation.imports.staged_job import guard_of
from annotation.jobs import lifecycle
from annotation.jobs.lifecycle import JobError, Lease
from annotation.machines.runs.queries.suggestions import summary
from annotation.machines.runs.starting import digest_of
from annotation.models import CheckerRun, Chunk, ItemUnit, Job, Project, Score, Suggestion, Upload, User
from annotation.task_types import Dimension

LABELS, SCORES = "labels", "scores"
REFUSE, NEW, ADD = EXISTING = ("refuse", "new", "add")
LINE_BYTES = 1024 * 1024
BATCH = 5_000
SCORE_CHARS = Score._meta.get_field("name").max_length
VERSION_CHARS = CheckerRun._meta.get_field("version").max_length
COLUMNS = {
    LABELS: (Suggestion, ("unit_id", "dimension", "label", "probability", "probabilities")),
    SCORES: (Score, ("unit_id", "name", "value")),
}
_DECODER = msgspec.json.Decoder()  # a tenth of the time of the standard library's
Place = tuple[int, str]  # a unit, and the question or the name of the score
Said = tuple  # what stands in the row after its place


@dataclass(frozen=True, slots=True)
class Sent:
    """Whose answers were sent, and what to do with them."""

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
    if project.state == Project.State.PREPARING:
        raise JobError("The project's items are still being made")
    return lifecycle.create_job(
        Job.Kind.PREDICTIONS,
        user,
        project=project,
        chunks=[({"upload": str(upload.uuid)}, 0)],
        parameters=asdict(sent) | {"sha256": upload.sha256},
    )


class BadLine(Exception):
    """A line that cannot be taken."""

    def __init__(self, column: str, value: object, reason: str):
        super().__init__(reason)
        self.column, self.value, self.reason = column, value, reason


class PredictionsHandler:
    def run_chunk(self, chunk: Chunk, lease: Lease) -> None:
        job = Job.objects.select_related("project__dataset", "created_by").get(pk=chunk.job_id)
        asked = dict(job.parameters)
        asked.pop("sha256")
        sent = Sent(**asked)
        findings = Findings()
        said = _read(job, sent, chunk.payload["upload"], findings, lease)
        if findings.error_count and not sent.leaves_out:
            Job.objects.filter(pk=job.pk).update(result=_result(findings, said))
            raise JobError(f"{counted(findings.error_count, 'bad line')}; nothing was stored")
        run, is_new, is_stored = _run_for(job, sent, said, lease)
        result = _result(findings, said) | {"run": str(run.uuid), "is_unchanged": is_stored}
        if is_new:
            self._store_run(run, sent, said, lease)
        elif not is_stored:
            self._add(job, run, sent, said, result, lease)
            return
        with transaction.atomic():
            lease.complete()
            Job.objects.filter(pk=job.pk).update(result=result)

    def _store_run(self, run: CheckerRun, sent: Sent, said: dict[Place, Said], lease: Lease) -> None:
        guard = guard_of(lease)
        model, names = COLUMNS[sent.gives]
        while rows := list(model.objects.filter(run=run).values_list("pk", flat=True)[:BATCH]):
            with transaction.atomic():  # of an attempt that died
                guard()
                model.objects.filter(pk__in=rows).delete()
        for done, part in enumerate(_parts(said.items())):
            with transaction.atomic():
                guard()
                bulk_insert(model, [(run.pk, *place, *rest) for place, rest in part], ["run_id", *names])
            lease.progress(min((done + 1) * BATCH, len(said)), len(said), "Storing")

    def _add(self, job: Job, run: CheckerRun, sent: Sent, said: dict, result: dict, lease: Lease) -> None:
        """To a run that grows: whole, and at once, since the run is shown."""
        model, names = COLUMNS[sent.gives]
        known = {row[:2]: row[2:] for row in model.objects.filter(run=run).values_list(*names).iterator()}
        added = {place: rest for place, rest in said.items() if place not in known}
        changed = [place for place, rest in said.items() if place in known and known[place] != rest]
        if changed:
            unit = ItemUnit.objects.filter(unit=changed[0][0]).values_list("unit__key", flat=True).first()
            raise JobError(
                f"The run says something else of {counted(len(changed), 'place')} already, such as {changed[0][1]} of "
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


def _result(findings: Findings, said: dict) -> dict:
    found = findings.as_json()
    return {"rows": len(said), "error_count": found["error_count"], "errors": found["errors"]}


def _run_for(job: Job, sent: Sent, said: dict, lease: Lease) -> tuple[CheckerRun, bool, bool]:
    """The run that the answers go into, whether they begin it, and whether all of them are stored in it already."""
    digest = digest_of([sorted([*place, *rest] for place, rest in said.items())]) if said else ""
    name = f"{OUTSIDE}{sent.checker}"
    with transaction.atomic():
        guard_of(lease)()
        Project.objects.select_for_update().get(pk=job.project_id)  # of two files at once the second sees the first
        mine = CheckerRun.objects.filter(job=job).first()
        if mine is not None:
            return mine, True, False
        if not said:
            raise JobError("The file has no line that could be stored")
        runs = CheckerRun.objects.filter(project=job.project_id, checker=name)
        earlier = runs.filter(origin__identity=sent.identity).select_related("job").order_by("-pk")
        if any(not run.job.is_finished for run in earlier):
            raise JobError("Other answers of this checker are just being stored; send these again when they are")
        earlier = [run for run in earlier if run.job.state == Job.State.DONE]
        same = next((run for run in earlier if run.origin.get("sha256") == digest), None)
        if same is not None:
            return same, False, True
        if earlier and sent.existing == REFUSE:
            raise JobError(
                f"There is a run of {sent.checker} with this version and these parameters that says something else; "
                "give another version, or choose existing=new or existing=add"
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


# ---- lines ----


def _read(job: Job, sent: Sent, upload: str, findings: Findings, lease: Lease) -> dict[Place, Said]:
    stored = Upload.objects.filter(uuid=upload).first()
    if stored is None or not uploads.path_of(stored).is_file():
        raise JobError("The file is no longer on the server; send it again")
    units = units_by_key(job.project)
    take = _Labels(job.project) if sent.gives == LABELS else _Scores(sent.checker)
    said: dict[Place, Said] = {}
    first: dict[Place, int] = {}
    for line, raw in _lines(uploads.path_of(stored)):
        if line % 1000 == 0:
            lease.beat()
        try:
            place, rest = _row(raw, units, take)
            if said.setdefault(place, rest) != rest:
                raise BadLine("unit", raw.decode(errors="replace"), f"says something else than line {first[place]:,}")
            first.setdefault(place, line)
        except BadLine as bad:
            findings.add_error(RowError("", line, bad.column, shorten(bad.value), bad.reason))
    return said


def _lines(path) -> Iterator[tuple[int, bytes]]:
    with open(path, "rb") as file:
        line = 0
        while raw := file.readline(LINE_BYTES + 1):
            line += 1
            if len(raw) > LINE_BYTES:
                raise JobError(f"Line {line:,} is longer than {LINE_BYTES:,} bytes; nothing was stored")
            if raw.strip():
                yield line, raw


def _row(raw: bytes, units: dict[str, int], take: Callable[[dict], tuple]) -> tuple[Place, Said]:
    try:
        row = _DECODER.decode(raw)
        incoming.check_json(row)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, incoming.Refused):
        row = _slowly(raw)
    if not isinstance(row, dict):
        raise BadLine("", row, "is not a JSON object")
    if unknown := sorted(set(row) - {"unit", *take.columns}):
        raise BadLine(unknown[0], row[unknown[0]], f"is none of unit, {', '.join(take.columns)}")
    unit = units.get(row.get("unit")) if isinstance(row.get("unit"), str) else None
    if unit is None:
        raise BadLine("unit", row.get("unit"), "is no unit of the project")
    name, *rest = take(row)
    return (unit, name), tuple(rest)


def _slowly(raw: bytes) -> object:
    """The line by the reader that says what is wrong with it."""
    try:
        return incoming.json_value(raw)
    except incoming.Refused as refused:
        raise BadLine(refused.place, raw.decode(errors="replace"), str(refused)) from None


class _Labels:
    columns = ("dimension", "label", "probability", "probabilities")

    def __init__(self, project: Project):
        self.known: dict[str, Dimension] = {one.slug: one for one in project.type.dimensions}
        self.only = next(iter(self.known)) if len(self.known) == 1 else None

    def __call__(self, row: dict) -> tuple:
        slug = row.get("dimension", self.only)
        dimension = self.known.get(slug) if isinstance(slug, str) else None
        if dimension is None:
            raise BadLine("dimension", slug, f"is none of the questions {', '.join(self.known)}")
        label = row.get("label")
        if isinstance(label, list) and dimension.takes_several and all(isinstance(one, str) for one in label):
            label = dimension.answer_of(label) if set(label) <= set(dimension.values) else ""
        if isinstance(label, int | float) and not isinstance(label, bool):
            label = str(int(label)) if float(label).is_integer() else repr(label)
        if not isinstance(label, str) or not dimension.takes(label):
            raise BadLine("label", row.get("label"), f"is not one of {dimension.known_answers}")
        shares = row.get("probabilities") or {}
        if not isinstance(shares, dict) or not set(shares) <= set(dimension.values):
            raise BadLine("probabilities", shares, "is not an object with a number for labels of the question")
        shares = {name: _share("probabilities", share) for name, share in shares.items()}
        said = row.get("probability", shares.get(label))
        return slug, label, None if said is None else _share("probability", said), shares


class _Scores:
    columns = ("name", "value")

    def __init__(self, checker: str):
        self.checker = checker

    def __call__(self, row: dict) -> tuple:
        name, value = row.get("name", self.checker), row.get("value")
        if not isinstance(name, str) or not 0 < len(name) <= SCORE_CHARS:
            raise BadLine("name", name, f"is not a name of at most {SCORE_CHARS} characters")
        if "value" not in row or (value is not None and not _is_number(value)):
            raise BadLine("value", value, "is not a finite number, nor null for one that is undefined")
        return name, value if value is None else float(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _share(column: str, value: object) -> float:
    if not _is_number(value) or not 0 <= value <= 1:
        raise BadLine(column, value, "is not a number from 0 to 1")
    return float(value)


def _parts(rows: Iterable) -> Iterator[list]:
    rows = iter(rows)
    while part := list(islice(rows, BATCH)):
        yield part

"""Exports: people's answers, in files that others can trust.

The content comes in the layout that the task type names, with one decided label per unit; every single annotation comes
with it as JSON Lines. Both are in the byte order of keys and carry no row numbers, so the same labels give the same
bytes on any database, and an export imported into an empty Assay comes out the same.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from django.conf import settings
from django.db import transaction

from annotation.decisions.moments import ExportedPart, Moment, decision_sets, set_title
from annotation.exports.layouts import ExportLayout, kinds_for, layout_of, why_unwritable
from annotation.exports.queries import MAJORITY, RULES, ExportedItem, exported_decisions, exported_items, item_ids
from annotation.exports.tools import Writing, lost_in, tool_exports
from annotation.formats.content import assay
from annotation.formats.files.manifests import MANIFEST, UNDECIDED, digest_of
from annotation.formats.files.spreadsheets import write_delimited, write_json_lines
from annotation.jobs.leftovers import working_folder
from annotation.jobs.lifecycle import JobError, Lease, create_job
from annotation.models import Artifact, Chunk, Item, Job, Project
from annotation.projects.carried_settings import settings_of
from annotation.projects.label_sets import find_description
from annotation.projects.preparing import refuse_preparing
from annotation.task_types import Label, NumberRange, TaskType, task_type

ANNOTATIONS = "annotations.jsonl"
DECISIONS = "decisions.jsonl"  # where there are any
UNDECIDED_COLUMNS = ("unit", "dimension", "why", "votes")
# What becomes of these in the content: they stand there without a label, their items are left out, or no export at all.
LIST, LEAVE_OUT, REFUSE = WITHOUT_LABEL = ("list", "leave-out", "refuse")
MEDIA_TYPES = {
    ".tsv": "text/tab-separated-values; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".jsonl": "application/x-ndjson; charset=utf-8",
    ".parquet": "application/vnd.apache.parquet",
    ".json": "application/json",
    ".xml": "application/xml",
    ".zip": "application/zip",
}


@dataclass(eq=False)
class OpenUnits:
    """Units without a label, one line each in a file, and how many there are of each question and why."""

    folder: Path
    without_label: str
    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def keep(self, kind: TaskType, items: list[ExportedItem]) -> list[ExportedItem]:
        """The items that go on to the content: a line holds all units of its item, and goes with any of them."""
        kept, lines = [], []
        for item in items:
            before = len(lines)
            for unit, question, why in item.open_places(kind):
                self.counts[question][why] += 1
                votes = dict(sorted(item.votes.get((unit, question), {}).items()))
                lines.append((unit, question, why, json.dumps(votes, ensure_ascii=False)))
            if self.without_label != LEAVE_OUT or len(lines) == before:
                kept.append(item)
        if lines:
            with open(self.folder / f"{UNDECIDED}.part", "a", encoding="utf-8", newline="") as out:
                out.writelines(json.dumps(line) + "\n" for line in lines)
        return kept

    def finish(self) -> None:
        """A table that spreadsheets open, made of the lines."""
        part = self.folder / f"{UNDECIDED}.part"
        if part.exists():
            with open(part, encoding="utf-8") as lines:
                write_delimited(self.folder / UNDECIDED, UNDECIDED_COLUMNS, map(json.loads, lines), "tsv")
            part.unlink()

    def in_words(self, kind: TaskType) -> str:
        parts = [
            f"{n:,} units {why} ({kind.dimension(slug).title})"
            for slug, counts in sorted(self.counts.items())
            for why, n in sorted(counts.items())
        ]
        return ", ".join(parts)


def write_export(
    project: Project,
    folder: Path,
    kinds: Iterable[str] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
    part: ExportedPart | None = None,
    layout: ExportLayout | None = None,
    *,
    decisions: str = "",
    without_label: str = "",
) -> dict:
    """Write the project's content (in `kinds`, default all that its layout has), annotations and manifest to `folder`;
    and files for other tools, where `kinds` names them. `decisions` names the set that labels come from (default: what
    stands), `without_label` what becomes of units that have none; where it is named, these are listed in a file.

    Returns the manifest. Unknown kinds and sets raise JobError.
    """
    kind = project.type
    if decisions and decisions not in dict(sets_for(project)):
        raise JobError(f"{project.title} has no decisions that are called {decisions}")
    layout = layout or layout_of(project)
    kinds = tuple(dict.fromkeys(kinds or kinds_for(project, layout)))
    exports = tool_exports()
    unknown = [name for name in kinds if name not in layout.kinds and name not in exports]
    if unknown:
        known = ", ".join((*layout.kinds, *exports))
        raise JobError(f"{project.title} is exported as {known}, not as {', '.join(unknown)}")
    if missing := next(filter(None, map(why_unwritable, kinds)), ""):
        raise JobError(missing)
    open_units = OpenUnits(folder, without_label)
    tools, kinds = [name for name in kinds if name in exports], [name for name in kinds if name in layout.kinds]
    for name in tools:
        exports[name].check(project)
    folder.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter(dict.fromkeys(("annotations", "items", "revisions", "units"), 0))

    moment = Moment.now(project, part)
    refuse_preparing(project)  # labels that an import brings from now on are newer than the moment
    ids = item_ids(project, moment)
    total = len(ids)

    with open(folder / ANNOTATIONS, "w", encoding="utf-8", newline="") as annotations:

        def objects() -> Iterator[dict]:
            for items in exported_items(project, moment, decisions, ids):
                for item in items:
                    annotations.writelines(assay.line_of(annotation) + "\n" for annotation in item.annotations)
                    counts["units"] += len(item.unit_keys)
                    counts["revisions"] += len(item.annotations)
                    counts["annotations"] += item.raters
                yield from layout.objects(kind, open_units.keep(kind, items) if without_label else items)
                counts["items"] += len(items)
                progress(counts["items"], total)

        lines = folder / f"{layout.stem}.jsonl"
        write_json_lines(lines, objects())
    open_units.finish()
    if without_label == REFUSE and open_units.counts:
        for path in folder.iterdir():
            path.unlink()
        raise JobError(
            f"Nothing was exported, because units have no label: {open_units.in_words(kind)}. Decide them with a rule "
            "or by adjudication, or choose another way"
        )

    rows = exported_decisions(project, moment)
    counts["decisions"] = len(rows)
    if rows:
        with open(folder / DECISIONS, "w", encoding="utf-8", newline="") as out:
            out.writelines(assay.line_of_decision(row) + "\n" for row in rows)

    for name in kinds:
        convert = layout.kinds[name]
        if convert is not None:
            convert(lines, folder / f"{layout.stem}.{name}")
            progress(total, total)
    if "jsonl" not in kinds:
        lines.unlink()
    for name in tools:
        is_whole = without_label != LEAVE_OUT
        exports[name].write(Writing(project, moment, folder, lambda done: progress(done, total), decisions, is_whole))
    manifest = {
        "assay_export": 1,
        "project": project.slug,
        "task_type": project.task_type,
        "labels": _label_set(task_type(project.task_type)),  # as it is stored, whatever the project calls it
        **_description(project),
        **_options(project),
        "settings": settings_of(project),
        **({"text_formats": formats} if (formats := project.dataset.text_formats) else {}),
        **({"decisions": decisions} if decisions else {}),
        **({"without_label": _summary_of(open_units)} if without_label else {}),
        **({"lost": {name: [list(one) for one in lost_in(project, name)] for name in tools}} if tools else {}),
        "counts": dict(sorted(counts.items())),
        "files": {path.name: digest_of(path) for path in sorted(folder.iterdir())},
    }
    text = json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=False)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")
    return manifest


def _summary_of(open_units: OpenUnits) -> dict:
    counts = {slug: dict(sorted(found.items())) for slug, found in sorted(open_units.counts.items())}
    return {"rows": open_units.without_label, "counts": counts}


def sets_for(project: Project) -> list[tuple[str, str]]:
    """What the labels of an export can come from, with titles."""
    sets = decision_sets(project)
    return [
        ("", "Decisions (adjudicated, imported, by rule), else majority"),
        (MAJORITY, "The majority alone"),
        *((name, set_title(name) + (", after people's" if name.startswith(RULES) else " alone")) for name in sets),
    ]


def _description(project: Project) -> dict:
    """The label set that the project asks, where it is not a task type that Assay ships."""
    description = find_description(project.task_type)
    return {} if description is None else {"label_set": description}


def _options(project: Project) -> dict:
    """What the project changes about its task; the versions are those that annotations name."""
    if not project.options_version:
        return {}
    versions = dict(project.options_versions.order_by("version").values_list("version", "options"))
    return {
        "options": project.options,
        "options_versions": {str(number): options for number, options in versions.items()},
    }


def _number(of: NumberRange) -> dict:
    return {name: part for name, part in asdict(of).items() if name != "anchors" or part}


def _label_set(description: TaskType) -> list[dict]:
    """The dimensions with what their labels mean, so that the files can be read without Assay."""
    return [
        {
            "dimension": dimension.slug,
            "title": dimension.title,
            "question": dimension.question,
            "level": dimension.level,
            **({"answer": dimension.answer} if dimension.answer != "label" else {}),
            **({"optional": True} if dimension.is_optional else {}),
            **({"number": _number(dimension.number)} if dimension.number else {}),
            **({"cannot_judge": True} if dimension.has_cannot_judge else {}),
            "asked_when": {dimension.asked_when.dimension: dimension.asked_when.labels} if dimension.asked_when else {},
            "labels": [_as_json(label) for label in dimension.labels],
            "derived": [
                {
                    "name": derived.slug,
                    "title": derived.title,
                    "labels": [_as_json(label) for label in derived.labels],
                    "from": dict(derived.of),
                }
                for derived in dimension.derived
            ],
        }
        for dimension in description.dimensions
    ]


def _as_json(label: Label) -> dict:
    return {"value": label.value, "title": label.title, "hint": label.hint}


def retired_items(project: Project) -> int:
    """Items that no export holds, because their content was superseded."""
    return Item.objects.filter(project=project, state=Item.State.RETIRED).count()


def start_export(
    project: Project, user, kinds: Iterable[str] | None = None, decisions: str = "", without_label: str = LIST
) -> Job:
    """A job that writes the files for downloading. One that already does the same is returned instead."""
    kinds = sorted(kinds or kinds_for(project))
    parameters = {"kinds": kinds, "decisions": decisions, "without_label": without_label}
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)  # two clicks start one job
        for job in project.jobs.filter(kind=Job.Kind.EXPORT, state__in=[Job.State.QUEUED, Job.State.RUNNING]):
            if job.parameters == parameters and not job.cancel_requested:
                return job
        return create_job(Job.Kind.EXPORT, user, chunks=[({}, 0)], project=project, parameters=parameters)


def artifact_path(artifact: Artifact) -> Path:
    """Where the file lies: below names that the server chose, whatever it is called when downloaded."""
    return _folder(artifact.job) / str(artifact.uuid)


def _folder(job: Job) -> Path:
    return Path(settings.MEDIA_ROOT) / "exports" / str(job.uuid)


class ExportHandler:
    def run_chunk(self, chunk: Chunk, lease: Lease) -> None:
        job = chunk.job
        # Before the chunk is done nothing in the folder counts; what is there was left by a worker that died.
        shutil.rmtree(_folder(job), ignore_errors=True)
        # Of its own, so that a worker thought dead does not write into another's files.
        working = working_folder(_folder(job), lease.token)
        try:
            write_export(
                job.project,
                working,
                job.parameters["kinds"],
                lambda done, total: lease.progress(done, total, "Writing"),
                decisions=job.parameters.get("decisions", ""),
                without_label=job.parameters.get("without_label", LIST),
            )
            self._keep(job, working, lease)
        finally:
            shutil.rmtree(working, ignore_errors=True)

    def _keep(self, job: Job, working: Path, lease: Lease) -> None:
        with transaction.atomic():
            lease.complete()  # first: a worker that has lost the lease keeps nothing
            for path in sorted(working.iterdir()):
                digest = digest_of(path)
                artifact = Artifact.objects.create(
                    job=job,
                    file_name=f"{job.project.slug}-{path.name}",
                    media_type=MEDIA_TYPES[path.suffix],
                    size=digest["bytes"],
                    sha256=digest["sha256"],
                )
                path.rename(artifact_path(artifact))

    def finish(self, job: Job, lease: Lease) -> dict:
        manifest = job.artifacts.get(file_name=f"{job.project.slug}-{MANIFEST}")
        written = json.loads(artifact_path(manifest).read_text(encoding="utf-8"))
        found = {"counts": written["counts"], "retired_items_left_out": retired_items(job.project)}
        return found | {"without_label": written.get("without_label", {}).get("counts", {})}

    def clean_up(self, job: Job) -> None:
        shutil.rmtree(_folder(job), ignore_errors=True)
        job.artifacts.all().delete()


HANDLER = ExportHandler()

"""Importing files into a data set: what was asked for, whether it can be done, and the job that does it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path

from django.db import transaction

from annotation.formats import FORMATS, FormatError, Options, SourceFile, detect, get_format
from annotation.formats.cells import level_note
from annotation.formats.content.frames import Frames, frames_in
from annotation.formats.files.containers import BESIDE_ROWS
from annotation.formats.files.manifests import read_manifest
from annotation.formats.tables.format import INFO as TABLE
from annotation.formats.tables.mapping_file import ChosenMapping
from annotation.formats.tables.oddities import ReadingNotes
from annotation.imports import outside_runs, uploads
from annotation.imports.labels import LabelCheck, labels_of_set, labels_of_version, questions_in, renamed
from annotation.imports.publishing import ON_JUDGED, REFUSE
from annotation.imports.rows import Findings
from annotation.imports.staging import ContentPass, read_all
from annotation.jobs import lifecycle
from annotation.jobs.kinds import KINDS
from annotation.models import PIECE_LINKS, ContentBatch, Dataset, Job, Project, Upload, User
from annotation.projects.carried_settings import CarriedSettings, SettingsProblem, parse, task_type_of
from annotation.rendering import BadFormats, checked_formats
from annotation.task_types import TaskType, asked_alike, current_task_types, learn, task_type
from annotation.task_types.base import MAX_LABELS, MAX_OWN_LABELS
from annotation.task_types.label_sets import LabelSetError, identifier_of


class ImportProblem(Exception):
    """What was asked for cannot be done; the message says why and what to do."""


class ImportUnderWay(ImportProblem):
    """Another job is bringing content into the data set."""


@dataclass(frozen=True, slots=True)
class FileChoices:
    """What the user entered about the files, as `formats.Options` takes it; can be stored as JSON."""

    mapping: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    ranges: Mapping[str, str] = field(default_factory=dict)
    checkers: Mapping[str, Mapping] = field(default_factory=dict)
    treat: Mapping[str, str] = field(default_factory=dict)
    setting: str = ""
    model: str = ""
    dataset: str = ""
    per_file: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    # Where labels make the questions: their description, once the file was read for it; {} where it has none.
    label_set: Mapping | None = None

    def as_json(self) -> dict:
        """The mapping as pairs: PostgreSQL's `jsonb` would put the names of an object into an order of its own."""
        return asdict(self) | {"mapping": [list(pair) for pair in self.mapping.items()]}

    @classmethod
    def of(cls, chosen: ChosenMapping, **more) -> FileChoices:
        return cls(mapping=chosen.mapping, values=chosen.values, ranges=chosen.ranges, checkers=chosen.checkers, **more)

    @classmethod
    def from_json(cls, stored: Mapping) -> FileChoices:
        return cls(**{**stored, "mapping": dict(stored.get("mapping", {}))})


@dataclass(frozen=True, slots=True)
class ProjectWish:
    """Labels of the file go into this project, which is made if there is none of that address."""

    slug: str
    title: str = ""
    task_type: str = ""  # empty: what fits the file
    overlap: int = 0
    piece_set: str = ""  # that a new project judges; labels of others stay out
    with_settings: bool = False  # as the export's manifest says them; a new project only


@dataclass(frozen=True, slots=True)
class ImportRequest:
    format: str
    files: tuple[dict, ...]  # {"upload": uuid} for sent files, {"path", "name"} for files of the server's command line
    choices: FileChoices = field(default_factory=FileChoices)
    on_judged: str = REFUSE
    project: ProjectWish | None = None
    leaves_out: bool = False  # bad rows, instead of refusing the file for them
    waits: bool = False  # for another import into the data set, instead of being refused
    is_guided: bool = False  # a step of a new study: its pages lead on to the project and its people
    text_formats: dict[str, str] = field(default_factory=dict)  # how texts are shown; "" for as found

    def as_json(self) -> dict:
        return asdict(self) | {"choices": self.choices.as_json()}

    @classmethod
    def from_json(cls, stored: dict) -> ImportRequest:
        wish = stored.get("project")
        return cls(
            format=stored["format"],
            files=tuple(stored["files"]),
            choices=FileChoices.from_json(stored.get("choices", {})),
            on_judged=stored.get("on_judged", REFUSE),
            project=ProjectWish(**wish) if wish else None,
            leaves_out=bool(stored.get("leaves_out")),
            waits=bool(stored.get("waits")),
            is_guided=bool(stored.get("is_guided")),
            text_formats=dict(stored.get("text_formats", {})),
        )


def files_of_uploads(stored: list[Upload]) -> tuple[dict, ...]:
    return tuple({"upload": str(upload.uuid)} for upload in stored)


def _is_wanted(path: Path) -> bool:
    """Whether a file of a folder is read: neither hidden nor a description of other files' rows."""
    return path.is_file() and not path.name.startswith(".") and path.name not in BESIDE_ROWS


def files_of_paths(paths: list[Path]) -> tuple[dict, ...]:
    """Names are shown, and guessed from, with the folder that the file lies in. A folder stands for all files in it."""
    inside = [
        file for path in paths for file in (sorted(filter(_is_wanted, path.rglob("*"))) if path.is_dir() else [path])
    ]
    return tuple(
        {
            "path": str(path.resolve()),
            "name": "/".join(path.resolve().parts[-2:]) if path.resolve().parent.name else path.name,
        }
        for path in inside
    )


def sources_of_paths(paths: list[Path]) -> list[SourceFile]:
    return [SourceFile(file["path"], file["name"]) for file in files_of_paths(paths)]


def guess_format(sources: list[SourceFile]) -> str:
    """The format of files that are imported together. ImportProblem where they look like several."""
    found = {detect(source.path, source.label) for source in sources}
    if leading := [slug for slug in FORMATS if slug in found and FORMATS[slug].has_content_file]:
        return leading[-1]  # Assay's own comes last in the table
    if len(found) > 1:
        titles = ", ".join(sorted(get_format(slug).title if slug else "unreadable" for slug in found))
        raise ImportProblem(f"The files look like several formats ({titles}); import them one after the other")
    return found.pop() or TABLE.slug  # whose errors are the clearest


def sources_of(request: ImportRequest) -> list[SourceFile]:
    known = {
        str(u.uuid): u for u in Upload.objects.filter(uuid__in=[f["upload"] for f in request.files if "upload" in f])
    }
    sources = []
    for file in request.files:
        if "upload" in file:
            upload = known.get(file["upload"])
            if upload is None or not uploads.path_of(upload).is_file():
                raise ImportProblem("A file of this import is no longer on the server; upload it again")
            sources.append(SourceFile(uploads.path_of(upload), upload.file_name))
        else:
            sources.append(SourceFile(file["path"], file["name"]))
    return sources


def settings_in(request: ImportRequest) -> CarriedSettings | None:
    """The settings that an export brings along; None where it brings none. ImportProblem where they cannot be had."""
    if not get_format(request.format).carries_settings:
        return None
    try:
        manifest = read_manifest(sources_of(request))
        return parse(manifest) if manifest is not None else None
    except (FormatError, SettingsProblem) as error:
        raise ImportProblem(str(error)) from error


def formats_in(request: ImportRequest) -> dict[str, str]:
    """The formats of texts that an export brings along."""
    if not get_format(request.format).carries_settings:
        return {}
    try:
        return checked_formats((read_manifest(sources_of(request)) or {}).get("text_formats", {}))
    except BadFormats as error:
        raise ImportProblem(str(error)) from error


def frames_of(request: ImportRequest) -> Frames | None:
    """What a release among the files has in addition to its labels."""
    return frames_in(sources_of(request)) if get_format(request.format).carries_settings else None


def _check_settings(request: ImportRequest, wanted: TaskType) -> None:
    settings = settings_in(request)
    if settings is None:
        raise ImportProblem("The files contain no settings; add the manifest.json of the export or release")
    if Project.objects.filter(slug=request.project.slug).exists():
        raise ImportProblem(
            f"A project with the short name {request.project.slug} already exists; only a new one takes settings"
        )
    if settings.task_type != wanted.identifier:
        raise ImportProblem(
            f"The settings are of a project with the task type {settings.task_type}, not {wanted.identifier}"
        )


def options_of(
    request: ImportRequest, wanted: TaskType | None, progress: Callable[[int, int], None] | None = None
) -> Options:
    questions = {dimension.slug: dimension for dimension in wanted.dimensions} if wanted else {}
    if wanted and request.choices.label_set:
        questions |= questions_in(request.choices.label_set, wanted)
    return Options(
        labels={slug: question.values for slug, question in questions.items()},
        titles={slug: {one.value: one.title for one in question.labels} for slug, question in questions.items()},
        unit_kind=wanted.unit_kind if wanted else "",
        progress=progress,
        noted=ReadingNotes(),
        **asdict(request.choices),
    )


def records_of(
    request: ImportRequest, wanted: TaskType | None, progress: Callable[[int, int], None] | None = None
) -> Iterator:
    """Records and row errors, streamed. FormatError where a file as a whole cannot be read."""
    request = with_label_set(request)
    options = options_of(request, wanted, progress)
    records = chain(get_format(request.format).read(sources_of(request), options), _noted(options))
    if wanted is None:
        return records
    made = request.choices.label_set
    if made and identifier_of(made) != wanted.identifier:
        records = renamed(records, made, wanted)
    if (other := other_version(request, wanted)) is not None:
        records = labels_of_version(records, *other, wanted.identifier)
    return labels_of_set(records, wanted.unit_kind, piece_set_of(request))


def _noted(options: Options) -> Iterator:
    yield from options.noted.odd()  # once all files were read


def other_version(request: ImportRequest, wanted: TaskType) -> tuple[str, set[str]] | None:
    """The version of the project's task type that an export's labels are of, and the questions that both ask alike.
    None where it is the same version, and where it is another task type, whose labels are refused."""
    if not get_format(request.format).carries_settings:
        return None
    identifier, brought = fitting_task_type(request), label_set_in(request)
    if identifier == wanted.identifier:
        return None
    try:
        kind = learn(brought) if brought and identifier_of(brought) == identifier else task_type(identifier)
    except KeyError:
        return None
    alike = asked_alike(kind, wanted)
    return (identifier, alike) if alike else None


def piece_set_of(request: ImportRequest) -> str:
    """The set whose labels are wanted."""
    wish = request.project
    project = Project.objects.filter(slug=wish.slug).first() if wish else None
    if project is not None:
        return project.piece_set
    settings = settings_in(request) if wish and wish.with_settings else None
    return str(settings.plain.get("piece_set", "")) if settings else wish.piece_set if wish else ""


def wanted_task_type(request: ImportRequest, dataset: Dataset | None) -> TaskType | None:
    """The task type of the project that labels are wanted for. ImportProblem where none fits."""
    wish = request.project
    if wish is None:
        return None
    project = Project.objects.filter(slug=wish.slug).first()
    if project is not None:
        if dataset is None or project.dataset_id != dataset.pk:
            raise ImportProblem(
                f"The project {wish.slug} belongs to another data set; choose another short name for the new one"
            )
        if wish.piece_set and wish.piece_set != project.piece_set:
            judged = f"the set {project.piece_set}" if project.piece_set else "pieces without a set"
            raise ImportProblem(f"The project {wish.slug} judges {judged}, not {wish.piece_set}")
        if wish.task_type and wish.task_type != project.task_type:
            raise ImportProblem(f"The project {wish.slug} has the task type {project.task_type}, not {wish.task_type}")
        return task_type(project.task_type)  # as it is: what a project hides may still come in a file
    identifier = wish.task_type or fitting_task_type(request)
    brought = label_set_in(request)
    try:
        return learn(brought) if brought and identifier_of(brought) == identifier else task_type(identifier)
    except LabelSetError as error:
        place, reason = error.problems[0]
        raise ImportProblem(f"The labels of the file make no label set: {place}: {reason}") from None
    except KeyError:
        if not identifier and get_format(request.format).makes_label_set:
            raise ImportProblem(
                f"The file has no labels that a project could ask for: a question has at most {MAX_LABELS:,} labels, "
                f"and {MAX_OWN_LABELS} of highlights. Merge labels in the tool and export again, say which column "
                "holds them, or import the texts alone"
            ) from None
        raise ImportProblem(
            f"There is no task type {identifier!r}" if identifier else "Name the project's task type"
        ) from None


def label_set_in(request: ImportRequest) -> dict | None:
    """The label set that an export brings along, or that the labels of a file make; None where the task type is one
    that Assay ships, and where there are no labels."""
    if get_format(request.format).makes_label_set:
        return with_label_set(request).choices.label_set or None
    if not get_format(request.format).carries_settings:
        return None
    manifest = read_manifest(sources_of(request)) or {}
    try:
        return manifest["label_set"] if "label_set" in manifest and task_type_of(manifest) else None
    except SettingsProblem as error:
        raise ImportProblem(str(error)) from None


def with_label_set(request: ImportRequest) -> ImportRequest:
    """With the label set that the labels of the files make, for which they are read once."""
    known = get_format(request.format)
    if not known.makes_label_set or request.choices.label_set is not None:
        return request
    sources = sources_of(request)
    name = uploads.title_of(sources[0].label)
    made = known.label_set_of(sources, options_of(request, None), name)
    return replace(request, choices=replace(request.choices, label_set=made))


def fitting_task_type(request: ImportRequest) -> str:
    """The identifier of the task type that the file's labels are of; "" where nothing tells."""
    known = get_format(request.format)
    if known.makes_label_set:
        brought = label_set_in(request)
        return identifier_of(brought) if brought else ""
    if known.task_type_of is not None:
        return known.task_type_of(sources_of(request), options_of(request, None))
    if known.labels_in is not None:
        return _task_type_of(known.labels_in(sources_of(request), options_of(request, None)))
    return known.task_type


def _task_type_of(labels: Iterable[tuple[str, str, str]]) -> str:
    """The first task type whose units have these labels, given with kind of unit and dimension; "" where none has."""
    labels = set(labels)
    for candidate in current_task_types() if labels else ():
        known = {(candidate.unit_kind, each.slug, value) for each in candidate.dimensions for value in each.values}
        if labels <= known:
            return candidate.identifier
    return ""


def check(request: ImportRequest, dataset: Dataset | None) -> None:
    """Raise ImportProblem for what is known without reading the whole file."""
    if request.format not in FORMATS:
        raise ImportProblem(f"There is no format {request.format!r}; available: {', '.join(FORMATS)}")
    if request.on_judged not in ON_JUDGED:
        raise ImportProblem(f"Rows that were judged: choose one of {', '.join(ON_JUDGED)}")
    if not request.files:
        raise ImportProblem("Choose at least one file")
    if get_format(request.format).needs_mapping and not request.choices.mapping:
        raise ImportProblem("Map the columns: this format needs a mapping")
    if _is_told_by_all_labels(request):
        return
    try:
        wanted = wanted_task_type(request, dataset)
        formats_in(request)
    except FormatError as error:
        raise ImportProblem(str(error)) from error
    if wanted is not None and request.project.piece_set and wanted.unit_kind not in PIECE_LINKS:
        raise ImportProblem(f"{wanted.title} judges no pieces: leave out the set {request.project.piece_set}")
    if wanted is not None and request.project.with_settings:
        _check_settings(request, wanted)


def _is_told_by_all_labels(request: ImportRequest) -> bool:
    """Whether the whole file has to be read for the task type of the project that is made; the job finds out then."""
    wish = request.project
    if wish is None or Project.objects.filter(slug=wish.slug).exists():
        return False
    known = get_format(request.format)
    if known.needs_all_labels is not None:
        return not wish.task_type and known.needs_all_labels(request.choices.mapping)
    return known.makes_label_set and request.choices.label_set is None


def dry_run(request: ImportRequest, dataset: Dataset | None, progress=None, beat=None) -> Findings:
    """Read everything, write nothing. FormatError where a file as a whole cannot be read."""
    wanted = wanted_task_type(request, dataset)
    check = LabelCheck(wanted, remembers=True, has_spans=_has_spans(request), piece_set=piece_set_of(request))
    content = ContentPass(dataset, labels=check)
    findings = read_all(records_of(request, wanted, progress), content, beat)
    findings.read_as = read_as(request, findings)
    refuse_other_runs(request, wanted)
    return findings


def read_as(request: ImportRequest, findings: Findings) -> list[str]:
    """What the columns of a table were read as, in sentences. A column of raters names no places."""
    sentences = get_format(request.format).read_as(request.choices.mapping, len(findings.raters - findings.slots))
    asked = (request.choices.label_set or {}).get("questions", ()) if sentences else ()
    notes = {
        one["title"]: level_note([label["value"] for label in one.get("labels", ())], one["level"])
        for one in asked
        if one["level"] == "nominal"
    }
    return sentences + [f"{title}: {note}." for title, note in notes.items() if note]


def refuse_other_runs(request: ImportRequest, wanted: TaskType | None) -> None:
    """ImportProblem where the project has other scores or labels of a checker under the version that is given for
    it."""
    project = Project.objects.filter(slug=request.project.slug).first() if request.project else None
    if project is not None and request.choices.checkers:
        try:
            outside_runs.refuse_others(project, lambda: records_of(request, wanted), request.choices.checkers)
        except lifecycle.JobError as error:
            raise ImportProblem(str(error)) from None


def _has_spans(request: ImportRequest) -> bool:
    known = get_format(request.format)
    return known.carries_settings or known.makes_label_set


def start(user: User, dataset: Dataset, request: ImportRequest, *, is_dry_run: bool, wake_workers: bool = True) -> Job:
    """Store the job. ImportProblem where it cannot be done, or another import into the data set is under way."""
    check(request, dataset)
    with transaction.atomic():
        if not is_dry_run and not request.waits:
            # Of two at once the second sees the first.
            Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
            if request.is_guided and (same := interrupted(dataset, request)):
                return same  # a second click, or a second tab
            refuse_second(dataset)
            _refuse_same(dataset, request)
        return lifecycle.create_job(
            Job.Kind.IMPORT,
            user,
            chunks=[({}, 0)],
            dataset=dataset,
            parameters=request.as_json() | {"is_dry_run": is_dry_run},
            wake_workers=wake_workers,
        )


def _refuse_same(dataset: Dataset, request: ImportRequest) -> None:
    """ImportUnderWay where the same files, uploaded another time, wait to be imported into the data set. A repeated
    request about one upload is the same job."""
    digests = _digests(request.files)
    waiting = Job.objects.filter(dataset=dataset, kind=Job.Kind.IMPORT, state__in=lifecycle.UNFINISHED)
    for job in waiting.filter(cancel_requested=False).select_related("created_by") if digests else ():
        files = job.parameters["files"]
        is_other = not job.parameters["is_dry_run"] and list(files) != list(request.files)
        if is_other and _digests(files) == digests:
            raise ImportUnderWay(
                f"The same file is already being imported into {dataset.title}, started by {job.created_by} at "
                f"{job.created_at:%Y-%m-%d %H:%M} UTC. Wait for that import, or cancel it."
            )


def _digests(files: Iterable[dict]) -> list[str]:
    """Of uploaded files, in order; none where one of them is not uploaded."""
    named = [one.get("upload") for one in files]
    found = Upload.objects.filter(uuid__in=[one for one in named if one]).values_list("uuid", "sha256")
    known = {str(uuid): sha256 for uuid, sha256 in found}
    return [known[one] for one in named] if all(one in known for one in named) else []


def interrupted(dataset: Dataset, request: ImportRequest) -> Job | None:
    """The unfinished job of the same import, which a command that was killed left behind, or another tab started."""
    unfinished = Job.objects.filter(dataset=dataset, kind=Job.Kind.IMPORT, state__in=lifecycle.UNFINISHED)
    unfinished = [job for job in unfinished if not job.parameters.get("is_dry_run") and not job.cancel_requested]
    wanted = _as_stored(request)
    return next((job for job in unfinished if _as_stored(ImportRequest.from_json(job.parameters)) == wanted), None)


def _as_stored(request: ImportRequest) -> dict:
    return json.loads(json.dumps(request.as_json()))


def refuse_second(dataset: Dataset, but: Job | None = None) -> None:
    batch = unfinished_batch(dataset)
    job = batch.job if batch is not None else filling_job(dataset)
    if job is not None and (but is None or job.pk != but.pk):
        raise ImportUnderWay(
            f"{KINDS[job.kind].under_way} {dataset.title} is being prepared, started by {job.created_by} at "
            f"{job.created_at:%Y-%m-%d %H:%M} UTC. Wait for it, or cancel it."
        )


def filling_job(dataset: Dataset) -> Job | None:
    """The import that is storing labels in one of the data set's projects; one that failed or was cancelled does not
    count."""
    filled = dataset.projects.filter(filled_by__isnull=False).select_related("filled_by__created_by")
    return next((one.filled_by for one in filled if not one.filled_by.is_finished), None)


def unfinished_batch(dataset: Dataset) -> ContentBatch | None:
    """The batch of an import that is under way; what a finished job left behind does not count."""
    batch = (
        ContentBatch.objects.filter(dataset=dataset, state=ContentBatch.State.STAGED)
        .select_related("job", "job__created_by")
        .first()
    )
    return batch if batch is not None and batch.job is not None and not batch.job.is_finished else None

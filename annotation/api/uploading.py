"""What programs send in one streamed request: content, labels, and what checkers elsewhere said.

The body, or the file in a form, goes to a file as it comes; a job reads it, and stores all of it or nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.http.multipartparser import MultiPartParser, MultiPartParserError
from rest_framework import serializers as s
from rest_framework.response import Response

from annotation import access, incoming
from annotation.access import RESEARCHER
from annotation.api import shapes
from annotation.api.problems import Problem
from annotation.api.repeating import once
from annotation.api.routes import Route
from annotation.formats import FORMATS, SourceFile, detect, get_format
from annotation.formats.content.assay import INFO as ASSAY
from annotation.formats.records import FormatError
from annotation.formats.tables.format import INFO as TABLE
from annotation.formats.tables.mapping_file import RATINGS, check_checkers
from annotation.formats.tables.oddities import ENCODING, check_treatment
from annotation.formats.tables.questions import range_in
from annotation.imports import column_mappings, importing, uploads
from annotation.imports.importing import FileChoices, ImportProblem, ImportRequest, ProjectWish
from annotation.imports.outside_runs import NAME_CHARS
from annotation.imports.publishing import ON_JUDGED, REFUSE
from annotation.jobs.lifecycle import JobError, SameJob
from annotation.machines.runs import uploading
from annotation.machines.runs.uploading import EXISTING, VERSION_CHARS, Sent
from annotation.models import Dataset, Job, Project, Upload

BLOCK = 64 * 1024
LINES = "application/x-ndjson"
# Of a body, with the name that its file gets where the address names none.
MEDIA_TYPES = {
    LINES: "lines.jsonl",
    "application/jsonl": "lines.jsonl",
    "application/json": "values.json",
    "text/csv": "table.csv",
    "text/tab-separated-values": "table.tsv",
    "application/vnd.apache.parquet": "table.parquet",
    "application/zip": "files.zip",
    "application/octet-stream": "file",
}
FORM = "multipart/form-data"
REFUSE_LINES, SKIP = ON_ERROR = ("refuse", "skip")


@dataclass
class _Body:
    """The body of a request, as files that people send are."""

    request: object
    name: str

    got: int = 0

    def read(self, size: int) -> bytes:
        block = self.request.read(size)
        self.got += len(block)
        return block

    def chunks(self) -> Iterator[bytes]:
        while block := self.read(BLOCK):
            yield block
        self.check_whole()

    def check_whole(self) -> None:
        expected = int(self.request.META["CONTENT_LENGTH"])
        if self.got < expected:
            raise Problem(400, f"The body was cut off after {self.got:,} of {expected:,} bytes; nothing was stored")


def media_type_of(request) -> str:
    return (request.content_type or "").partition(";")[0].strip().lower()


def stored_body(request, dataset: Dataset, name: str = "") -> Upload:
    """The body as a file. Problem where its length or type cannot be taken, before a byte of it is read."""
    media_type = media_type_of(request)
    if media_type not in MEDIA_TYPES:
        raise Problem(415, f"Content-Type must be one of {', '.join(MEDIA_TYPES)}")
    check_length(request)
    return uploads.store(request.user, dataset, _Body(request._request, name or MEDIA_TYPES[media_type]))


def form_in(request) -> tuple[dict[str, str], UploadedFile]:
    """The fields and the file of a form."""
    check_length(request)
    http = request._request
    body = _Body(http, "")
    try:
        fields, files = MultiPartParser(http.META, body, http.upload_handlers, "utf-8").parse()
    except MultiPartParserError as error:
        raise Problem(400, f"The body is not a form: {error}") from None
    body.check_whole()
    if [name for name, sent in files.lists() for _ in sent] != ["file"]:
        raise Problem(400, "A form needs one file, in the field 'file'")
    return fields.dict(), files["file"]


def check_length(request) -> None:
    """Problem where the body's length is not known or too large."""
    length = request.META.get("CONTENT_LENGTH") or ""
    if not length:
        raise Problem(411, "Content-Length is missing: the body's length must be known before it is sent")
    try:
        size = incoming.whole_in_words(length)
    except incoming.Refused as refused:
        raise Problem(400, f"Content-Length {refused}") from None
    if size > settings.UPLOAD_LIMIT:
        raise Problem(413, f"The body is larger than {settings.UPLOAD_LIMIT // 1024**2:,} MB; send it in parts")


class JSONText(s.CharField):
    """A JSON object, written out in an address, like `example`. `depth`: its values are texts (1), or objects of them
    (2)."""

    def __init__(self, example: dict, *, depth: int = 0, help_text: str, **options):
        self.example, self.depth = json.dumps(example), depth
        super().__init__(help_text=f"{help_text} Example: {self.example}", **options)

    def to_internal_value(self, data) -> dict:
        try:
            found = incoming.json_value(super().to_internal_value(data))
        except incoming.Refused as refused:
            raise self._refusal(f"{refused}") from None
        if not isinstance(found, dict):
            raise self._refusal("is not a JSON object")
        if self.depth and not _holds_texts(found, self.depth):
            raise self._refusal("is not an object of texts" if self.depth == 1 else "is not objects of texts")
        return found

    def _refusal(self, what: str) -> s.ValidationError:
        return s.ValidationError(f"{what}; an example is {self.example}")


def _holds_texts(found: object, depth: int) -> bool:
    if not depth:
        return isinstance(found, str)
    return isinstance(found, dict) and all(_holds_texts(inner, depth - 1) for inner in found.values())


class UploadRoute(Route):
    """`asks` are the parameters of the address or, in a form, the fields next to the file, which may be of any length
    there."""

    response_shape, status = shapes.JobDetailShape, 202
    asks: ClassVar[type[s.Serializer]]
    form: ClassVar[type[s.Serializer]]
    media_types: ClassVar[tuple[str, ...]] = (LINES, FORM)
    keeps_answers = False  # the body is read in pieces
    fields: Mapping[str, str] = MappingProxyType({})  # of the form that was sent
    file: UploadedFile | None = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.form = type(f"{cls.__name__.removesuffix('Route')}Form", (cls.asks,), {"file": s.FileField()})

    def asked(self, request) -> dict:
        values = request.query_params.dict()
        if media_type_of(request) == FORM:
            self.fields, self.file = form_in(request)
            if twice := sorted(name for name, value in self.fields.items() if values.get(name, value) != value):
                raise Problem(400, f"{twice[0]!r} differs between the address and the form; send it once")
            values |= self.fields
        if unknown := sorted(set(values) - set(self.asks().fields)):
            raise Problem(400, f"Unknown parameter {unknown[0]!r}; known are {', '.join(self.asks().fields)}")
        found = self.asks(data=values)
        found.is_valid(raise_exception=True)
        return found.validated_data

    def started(self, request, dataset: Dataset, start: Callable[[Upload], Job], name: str = "") -> Response:
        """202 with the job, also where the same body is under way already."""
        upload = self._stored(request, dataset, name)
        started = False

        def answer() -> Response:
            nonlocal started
            try:
                job, started = start(upload), True
            except SameJob as same:
                job = same.job
            except JobError as error:
                raise Problem(409, str(error)) from None
            return self.respond(job, Location=f"/api/v1/jobs/{job.uuid}/")

        try:
            response = once(request, json.dumps([upload.sha256, dict(self.fields)]), answer)
        except BaseException:
            uploads.remove(upload)  # whatever was started has been taken back
            raise
        if not started:
            uploads.remove(upload)
        return response

    def _stored(self, request, dataset: Dataset, name: str) -> Upload:
        if self.file is None:
            return stored_body(request, dataset, name)
        self.file.name = name or self.file.name
        return uploads.store(request.user, dataset, self.file)


# ---- what checkers elsewhere said ----


class AskedOfPredictions(shapes.Shape):
    checker = s.CharField(max_length=NAME_CHARS, help_text="The checker's name; its runs are called outside:NAME.")
    version = s.CharField(max_length=VERSION_CHARS, default="", allow_blank=True, help_text="Numbered if left out.")
    parameters = JSONText({"threshold": 0.5}, default=dict, help_text="A JSON object; part of the checker's identity.")
    existing = s.ChoiceField(
        EXISTING,
        default=EXISTING[0],
        help_text="If the checker gave other answers under this version and these parameters: refuse, make a new "
        "run, or add the new rows to that run.",
    )
    on_error = s.ChoiceField(ON_ERROR, default=REFUSE_LINES, help_text="skip: leave out invalid lines.")


class IntoRun(UploadRoute):
    """What a checker said, `says`, which becomes a run."""

    asks = AskedOfPredictions
    says: ClassVar[str]

    def post(self, request, slug):
        project = access.project_for(request.user, slug, RESEARCHER)
        asked = self.asked(request)
        leaves_out = asked.pop("on_error") == SKIP
        sent = Sent(gives=self.says, leaves_out=leaves_out, **asked)

        def start(upload: Upload) -> Job:
            return uploading.start(project, request.user, sent, upload)

        return self.started(request, project.dataset, start)


# ---- content and labels ----


OF_FILE = ("mapping", "values", "ranges", "checkers", "treat")


class AskedOfContent(shapes.Shape):
    on_error = s.ChoiceField(ON_ERROR, default=REFUSE_LINES, help_text="skip: leave out invalid rows.")
    on_judged = s.ChoiceField(ON_JUDGED, default=REFUSE, help_text="What to do with changed rows that were judged.")


class FormatField(s.ChoiceField):
    """Also of formats of packages: a serializer makes its fields anew."""

    def __init__(self, **options):
        super().__init__(list(FORMATS), **options)


class AskedOfImport(AskedOfContent):
    format = FormatField(required=False, help_text="Detected from the file by default.")
    name = s.CharField(max_length=uploads.NAME_CHARS, default="", allow_blank=True, help_text="Of the file.")
    mapping = JSONText({"claim": "statement"}, default=dict, depth=1, help_text="Of a table: role or field -> column.")
    values = JSONText(
        {"verdict": {"TRUE": "supports"}},
        default=dict,
        depth=2,
        help_text="Of a table: field -> value in the file -> label.",
    )
    ranges = JSONText(
        {"coherence": "1-5"}, default=dict, depth=1, help_text="Of a table of ratings: question -> its scale, as 1-5."
    )
    checkers = JSONText(
        {"gpt": {"version": "4"}},
        default=dict,
        help_text="Of a table of ratings: checker -> its version and parameters.",
    )
    treat = JSONText({"identical": "leave-out"}, default=dict, depth=1, help_text="Kind of odd rows -> what to do.")
    project = s.SlugField(max_length=80, required=False, help_text="It gets the labels; created if it does not exist.")
    title = s.CharField(max_length=200, default="", allow_blank=True, help_text="Of a new project.")
    task_type = s.CharField(max_length=80, default="", allow_blank=True, help_text="Of a new project.")
    overlap = s.IntegerField(min_value=0, max_value=20, default=0, help_text="Of a new project.")
    piece_set = shapes.PieceSet(help_text="Of a new project: the set whose pieces it judges.")
    dry_run = s.BooleanField(default=False, help_text="Report what would be imported, and write nothing.")

    def validate_ranges(self, ranges: dict) -> dict:
        return self._checked(ranges, lambda: [range_in(text, question) for question, text in ranges.items()])

    def validate_checkers(self, checkers: dict) -> dict:
        return self._checked(checkers, lambda: check_checkers(checkers))

    def validate_treat(self, treat: dict) -> dict:
        return self._checked(treat, lambda: check_treatment(treat))

    @staticmethod
    def _checked(values: dict, check: Callable[[], object]) -> dict:
        try:
            check()
        except FormatError as error:
            raise s.ValidationError(str(error)) from None
        return values


class ImportsRoute(UploadRoute):
    """Import a file into a data set and, where a project is named, its labels and scores into that. The file is the
    body, or the field `file` of a form whose other fields are the parameters."""

    asks, media_types = AskedOfImport, (*MEDIA_TYPES, FORM)

    def post(self, request, slug):
        dataset = access.dataset_for(request.user, slug, edit=True)
        asked = self.asked(request)
        wish = self._wish(request, asked)

        def start(upload: Upload) -> Job:
            found = asked.get("format") or detect(uploads.path_of(upload), upload.file_name) or TABLE.slug
            choices = FileChoices(**{name: asked[name] for name in OF_FILE})
            if get_format(found).needs_mapping and not choices.mapping:
                wanted_format, encoding = found if "format" in asked else "", choices.treat.get(ENCODING, "")
                found, mapping = _guessed(upload, wanted_format, encoding, is_dry_run=asked["dry_run"])
                choices = replace(choices, mapping=mapping)
            wanted = ImportRequest(
                format=found,
                files=importing.files_of_uploads([upload]),
                choices=choices,
                on_judged=asked["on_judged"],
                project=wish,
                leaves_out=asked["on_error"] == SKIP,
            )
            return importing.start(request.user, dataset, wanted, is_dry_run=asked["dry_run"])

        return self.started(request, dataset, start, asked["name"])

    def _wish(self, request, asked: dict) -> ProjectWish | None:
        slug = asked.get("project")
        if not slug:
            return None
        if Project.objects.filter(slug=slug).exists():
            access.project_for(request.user, slug, RESEARCHER)
        elif not access.may_create(request.user):
            raise PermissionDenied("Your account may not create projects; ask a site administrator")
        return ProjectWish(slug, asked["title"], asked["task_type"], asked["overlap"], asked["piece_set"])


def _guessed(upload: Upload, wanted: str, encoding: str, *, is_dry_run: bool) -> tuple[str, dict]:
    """Format and mapping of a table, as guessed for a dry run. An import is refused, and says what the guess is."""
    try:
        source = SourceFile(uploads.path_of(upload), upload.file_name)
        layout = {RATINGS: RATINGS, TABLE.slug: ""}.get(wanted)
        guess = column_mappings.guess_or_refuse(source, layout, encoding)
    except FormatError as error:
        raise ImportProblem(str(error)) from None
    except ImportProblem as error:
        raise ImportProblem(f"Map the columns: this format needs a mapping. {error}") from None
    mapping = dict(guess.chosen.mapping)
    if is_dry_run and mapping:
        return guess.format, mapping
    words = f" As guessed, with format={guess.format}: {json.dumps(mapping, ensure_ascii=False)}. {guess.line}"
    raise ImportProblem(f"Map the columns: this format needs a mapping.{words if mapping else ''}")


class IntoProject(UploadRoute):
    """What goes into a project's own data set: also while something else does, since streams come when they come."""

    asks = AskedOfContent
    format: ClassVar[str]

    def post(self, request, slug):
        project = access.project_for(request.user, slug, RESEARCHER)
        dataset = access.dataset_for(request.user, project.dataset.slug, edit=True)
        asked = self.asked(request)

        def start(upload: Upload) -> Job:
            wanted = ImportRequest(
                format=self.format,
                files=importing.files_of_uploads([upload]),
                on_judged=asked["on_judged"],
                project=ProjectWish(slug, task_type=project.task_type),
                leaves_out=asked["on_error"] == SKIP,
                waits=True,
            )
            return importing.start(request.user, dataset, wanted, is_dry_run=False)

        return self.started(request, dataset, start)


class LabelsRoute(IntoProject):
    """Labels of raters elsewhere, a line for each answer, as an export has them (docs/formats.md). The same lines twice
    change nothing; what a rater now says otherwise is a further revision."""

    format = ASSAY.slug

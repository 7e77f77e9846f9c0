"""Importing in the browser: send files, say what columns mean, look at the dry run, import."""

import csv
from dataclasses import replace
from functools import wraps
from io import IOBase

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest, PermissionDenied, ValidationError
from django.core.paginator import Paginator
from django.http import FileResponse, Http404, HttpResponse, UnreadablePostError
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.http import urlencode
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation import incoming
from annotation.access import dataset_for, job_for, may_create, may_edit_dataset, visible_projects
from annotation.formats import FormatError, SourceFile, get_format
from annotation.formats.files.encodings import ENCODINGS
from annotation.formats.files.spreadsheets import needs_escape
from annotation.formats.tables.mapping import LAYOUT_TITLES, Preview, preview
from annotation.formats.tables.oddities import ENCODING, ODDITIES, UNMAPPED
from annotation.imports import column_mappings, importing, left_out, uploads
from annotation.imports.forms import ColumnsForm, ImportNowForm, UploadForm, ValuesForm
from annotation.imports.guided.forms import StudyForm
from annotation.imports.guided.queries import after_import
from annotation.imports.guided.tasks import picture_of, proposed_task
from annotation.imports.importing import FileChoices, ImportProblem, ImportRequest, ImportUnderWay
from annotation.imports.queries import ImportResult, errors_as_markdown, import_result
from annotation.jobs.queries import JobProgress, progress_of
from annotation.jobs.results import is_labelling, result_for
from annotation.models import Job, Upload
from annotation.projects.carried_settings import CarriedSettings
from annotation.projects.forms.projects import task_choices
from annotation.projects.queries.carried_settings import in_words
from annotation.task_types.label_sets import identifier_of

ROWS_SHOWN = 8
FORM_SLACK = 1024 * 1024  # what a form adds to the files in it


class _WholeBody(IOBase):
    """A body's stream that raises OSError where it ends before its length, which Django takes for its end."""

    def __init__(self, stream, length: int):
        self.stream, self.left = stream, length

    def read(self, size=-1, /) -> bytes:
        block = self.stream.read(size)
        self.left -= len(block)
        if self.left > 0 and not block:
            raise OSError(f"{self.left:,} bytes of the body are missing")
        return block


def takes_files(view):
    """Answer before a byte of the body is read when it is too large, and store nothing of one that is cut off. Reading
    the token would read all of it."""

    @csrf_exempt
    @login_required
    @wraps(view)
    def wrapped(request, *args, **kwargs):
        length = request.META.get("CONTENT_LENGTH") or "0"
        if not length.isdecimal() or len(length) > incoming.MAX_DIGITS:
            raise BadRequest("Content-Length must be a whole number")
        if int(length) > settings.UPLOAD_LIMIT + FORM_SLACK:
            limit = settings.UPLOAD_LIMIT // 1024**2
            return render(request, "annotation/imports/too_large.html", {"limit": limit}, status=413)
        request._stream = _WholeBody(request._stream, int(length))
        try:
            request.POST  # noqa: B018, read here, since the check of the token would hide the error
        except UnreadablePostError:
            raise BadRequest("The connection broke off while the files were sent; send them again") from None
        return csrf_protect(view)(request, *args, **kwargs)

    return wrapped


@takes_files
@require_http_methods(["GET", "HEAD", "POST"])
def import_new(request, slug):
    dataset = dataset_for(request.user, slug, edit=True)
    form = UploadForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid() and (response := receive(request, dataset, form)):
        return response
    context = {"dataset": dataset, "form": form, "limit": settings.UPLOAD_LIMIT // 1024**2}
    return render(request, "annotation/imports/new.html", context)


def receive(request, dataset, form: UploadForm, *, is_guided: bool = False):
    """Store the files and go on to the next page; None, with an error in the form, where they cannot be taken."""
    try:
        stored = uploads.store_all(request.user, dataset, form.cleaned_data["files"])
    except uploads.UploadError as error:
        return form.add_error("files", str(error))
    try:
        return _after_upload(request, dataset, stored, form, is_guided)
    except BaseException as error:
        for upload in stored:
            uploads.remove(upload)
        if not isinstance(error, ImportProblem | FormatError):
            raise
        return form.add_error(None, str(error))


def _after_upload(request, dataset, stored, form, is_guided: bool):
    slug = form.cleaned_data["format"] or importing.guess_format([_source(upload) for upload in stored])
    encoding = form.cleaned_data["encoding"]
    if get_format(slug).needs_mapping:
        seen = _preview(stored, encoding)  # says now what is wrong with the file
        if len(stored) == 1 and not seen.rows and not seen.errors:
            raise FormatError(f"{seen.name} has a header and no rows")
        return to_columns(request, dataset, stored, encoding, is_guided=is_guided)
    wanted = ImportRequest(
        format=slug,
        files=importing.files_of_uploads(stored),
        choices=FileChoices(
            setting=form.cleaned_data["setting"], model=form.cleaned_data["model"], treat=_treat(encoding)
        ),
        is_guided=is_guided,
    )
    job = importing.start(request.user, dataset, wanted, is_dry_run=True)
    return redirect("import_detail", uuid=job.uuid)


def to_columns(request, dataset, stored: list[Upload], encoding: str = "", *, is_guided: bool):
    _remember_together(request, stored)
    response = redirect("study_columns" if is_guided else "import_columns", slug=dataset.slug)
    response["Location"] += f"?{_query_of(stored, encoding)}"
    return response


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def import_columns(request, slug, is_guided=False):
    dataset = dataset_for(request.user, slug, edit=True)
    if "files" in request.GET and request.GET["files"] not in request.session.get(TOGETHER, {}):
        messages.error(request, "These files were sent before you signed in: choose them again.")
        return redirect("import_new", slug=slug)
    stored = _chosen_uploads(request, dataset)
    encoding = _encoding_in(request)
    try:
        seen = _preview(stored, encoding)
    except FormatError as error:
        messages.error(request, str(error))
        return redirect("import_new", slug=slug)
    if upload := request.FILES.get("mapping"):
        return _mapping_from(request, upload, stored, seen)
    layout = request.GET.get("layout", "")
    layout = layout if layout in LAYOUT_TITLES else ""
    guess, is_remembered = column_mappings.recall(request.user, seen, layout)
    form = ColumnsForm(request.POST or None, guess=guess)
    if request.method == "POST" and form.is_valid():
        chosen = form.chosen
        column_mappings.remember(request.user, seen.columns, chosen)
        if column_mappings.is_asked_more(guess, chosen):
            messages.info(request, "Choose below what the values in the columns of labels mean.")
            return redirect(f"{request.path}?{_query_of(stored, encoding)}&layout={chosen.layout}")
        wanted = ImportRequest(
            format=replace(guess, chosen=chosen).format,
            files=importing.files_of_uploads(stored),
            choices=FileChoices.of(chosen, treat=_treat(encoding)),
            is_guided=is_guided,
        )
        try:
            return redirect("import_detail", importing.start(request.user, dataset, wanted, is_dry_run=True).uuid)
        except ImportProblem as error:
            form.add_error(None, str(error))
    seen = guess.seen
    context = {
        "dataset": dataset,
        "form": form,
        "layout": guess.chosen.layout,
        "is_remembered": is_remembered,
        "refused": guess.refusal,
        "read_as": guess.sentences,
        "n_rows": len(seen.rows),
        "preview": seen,
        "rows": [[row.get(column, "") for column in seen.columns] for row in seen.rows[:ROWS_SHOWN]],
        "layouts": LAYOUT_TITLES,
        "files": stored,
        "query": _query_of(stored, encoding),
        "is_guided": is_guided,
    }
    return render(request, "annotation/imports/columns.html", context)


def _mapping_from(request, upload, stored: list[Upload], seen: Preview):
    """The page again, filled in from a file."""
    query = _query_of(stored, _encoding_in(request))
    try:
        raw = upload.read(incoming.JSON_BYTES + 1)
        query += "&" + urlencode({"layout": column_mappings.take_file(request.user, seen, raw)})
    except FormatError as error:
        messages.error(request, str(error))
    return redirect(f"{request.path}?{query}")


def _encoding_in(request) -> str:
    encoding = request.GET.get("encoding", "")
    return encoding if encoding in ENCODINGS else ""


def _treat(encoding: str) -> dict[str, str]:
    return {ENCODING: encoding} if encoding else {}


def _preview(stored: list[Upload], encoding: str) -> Preview:
    return preview(_source(stored[0]), encoding=encoding)


def _source(upload: Upload) -> SourceFile:
    return SourceFile(uploads.path_of(upload), upload.file_name)


# Files that were sent together are named by the first of them: addresses with a hundred ids are longer than web servers
# read. The session knows the others.
TOGETHER = "uploads_together"
LISTS_KEPT, MOST_TOGETHER = 20, 100


def _query_of(stored: list[Upload], encoding: str) -> str:
    chosen = {"encoding": encoding} if encoding else {}
    return urlencode({"files" if len(stored) > 1 else "file": stored[0].uuid} | chosen)


def _remember_together(request, stored: list[Upload]) -> None:
    names = [str(upload.uuid) for upload in stored]
    if len(names) > 1 and request.session.get(TOGETHER, {}).get(names[0]) != names:
        kept = list(request.session.get(TOGETHER, {}).items())[1 - LISTS_KEPT :]
        request.session[TOGETHER] = dict(kept) | {names[0]: names}


def _chosen_uploads(request, dataset) -> list[Upload]:
    names = request.GET.getlist("file")[:MOST_TOGETHER]
    if "files" in request.GET:
        names = request.session.get(TOGETHER, {}).get(request.GET["files"], [])
    try:
        found = {str(u.uuid): u for u in Upload.objects.filter(uuid__in=names, owner=request.user, dataset=dataset)}
    except (ValueError, ValidationError):
        found = {}
    if not names or set(names) - set(found):
        raise Http404("No such file")
    stored = [found[name] for name in names]
    _remember_together(request, stored)
    return stored


def import_job_for(request, uuid) -> Job:
    job = job_for(request.user, uuid)
    if job.kind != Job.Kind.IMPORT:
        raise Http404("No such import")
    return job


@login_required
@require_safe
def import_detail(request, uuid):
    job = import_job_for(request, uuid)
    return render(request, "annotation/imports/detail.html", _detail_context(request, job, import_result(job)))


def _now_form(
    request, job: Job, result: ImportResult, settings: CarriedSettings | None, data=None
) -> ImportNowForm | None:
    """What is asked before the real import; None where there is nothing to import."""
    is_guided = result.is_guided and may_create(request.user)
    makes_project = is_guided or ((result.has_labels or settings is not None) and may_create(request.user))
    if result.is_empty or not may_edit_dataset(request.user, job.dataset):
        return None
    if not (result.may_import or (result.is_sound_dry_run and makes_project)):
        return None
    asked = ImportRequest.from_json(job.parameters)
    try:
        fitting, brought = job.result.get("fitting"), importing.label_set_in(asked)
    except (FormatError, ImportProblem):
        return None
    if fitting is None:
        return None
    form_class, more = ImportNowForm, {}
    if is_guided:
        content = job.result.get("content", {})
        fitting = (fitting if result.has_labels else "") or proposed_task(content)
        form_class, more = StudyForm, {"content": content, "has_labels": result.has_labels}
        more["looks"] = job.result.get("looks", {})
        more["formats"] = importing.formats_in(asked) | job.dataset.text_formats
    return form_class(
        data,
        **more,
        judged=result.judged_count,
        bad=result.error_count,
        odd={one["kind"]: one["kind"] in result.open_kinds for one in result.odd},
        treated=asked.choices.treat,
        makes_project=makes_project,
        fitting=fitting,
        choices=_task_choices(request, brought),
        with_project=get_format(asked.format).makes_label_set,
        title=settings.title if settings and settings.title else job.dataset.title,
        settings=settings,
        sets=result.set_names,
    )


def _values_form(request, job: Job, data=None) -> ValuesForm | None:
    """What is asked after an import that met values which are no labels of the task that was chosen for its project."""
    unknown = [one["what"] for one in job.result.get("odd", ()) if one["kind"] == UNMAPPED and one["is_open"]]
    if job.state != Job.State.FAILED or not unknown or not may_edit_dataset(request.user, job.dataset):
        return None
    try:
        wanted = importing.wanted_task_type(ImportRequest.from_json(job.parameters), job.dataset)
    except (FormatError, ImportProblem):
        return None
    return ValuesForm(data, unknown=unknown, kind=wanted) if wanted else None


def _task_choices(request, brought: dict | None) -> list[tuple]:
    """What the project can ask: what the person has, and the label set that the file brings."""
    choices = task_choices(request.user)
    if brought is None:
        return choices
    return [("Label set of the file", [(identifier_of(brought), brought["name"])]), *choices]


def _settings(job: Job) -> tuple[CarriedSettings | None, str]:
    """What the files say of a project's settings, and what is wrong with it."""
    try:
        return importing.settings_in(ImportRequest.from_json(job.parameters)), ""
    except ImportProblem as problem:
        return None, str(problem)


def _progress(job: Job, result: ImportResult) -> JobProgress:
    """A refused import names no options of the command, and is not offered again with the same choices."""
    progress = progress_of(job)
    if not result.is_refused:
        return progress
    titles = "; ".join(ODDITIES[kind].title for kind in result.open_kinds)
    message = f"Nothing was imported. Choose how to read these rows: {titles}." if titles else progress.message
    return replace(progress, message=message, failures=(), can_resume=False)


def _dry_run_before(job: Job) -> Job | None:
    """The dry run whose choices a failed import had."""
    if job.state != Job.State.FAILED or job.parameters.get("is_dry_run"):
        return None
    found = Job.objects.filter(kind=Job.Kind.IMPORT, state=Job.State.DONE, dataset=job.dataset, pk__lt=job.pk)
    found = found.filter(parameters__is_dry_run=True, parameters__files=job.parameters["files"])
    return found.order_by("pk").last()


def _detail_context(request, job: Job, result: ImportResult, data=None) -> dict:
    settings, problem = _settings(job) if result.is_dry_run and result.is_done else (None, "")
    shown = import_result(job, result_for(request.user, job))
    form = _now_form(request, job, result, settings, data) or _values_form(request, job, data)
    return {
        "job": job,
        "dataset": job.dataset,
        "progress": _progress(job, result),
        "result": shown,
        "errors": Paginator(shown.errors, 50).get_page(request.GET.get("page")),
        "dry_run": _dry_run_before(job),
        "settings": in_words(settings) if settings else [],
        "settings_options": settings.options[-1] if settings and settings.options else {},
        "settings_problem": problem,
        "left_out": not is_labelling(request.user, job) and left_out.artifact_of(job) is not None,
        "form": form,
        "next": after_import(job, result) if result.is_done and not result.is_dry_run else None,
        "columns_url": _columns_of(job) if result.is_guided else "",
        "picture": picture_of(form.fitting, job, form.formats) if form and form.is_guided else None,
    }


def _columns_of(job: Job) -> str:
    """Where the columns of the job's files are checked; empty where they have a format of their own."""
    names = [one["upload"] for one in job.parameters["files"] if "upload" in one][:MOST_TOGETHER]
    if not names or not get_format(job.parameters["format"]).needs_mapping:
        return ""
    return f"{reverse('study_columns', args=[job.dataset.slug])}?{urlencode([('file', name) for name in names])}"


@login_required
@require_POST
def import_start(request, uuid):
    """Import what the dry run looked at, or what an import stopped at."""
    job = import_job_for(request, uuid)
    dataset = dataset_for(request.user, job.dataset.slug, edit=True)
    result = import_result(job)
    context = _detail_context(request, job, result, request.POST)
    form, status = context["form"], 422
    if form is None:
        messages.error(request, "There is nothing to import here; choose a file first")
        return redirect("import_detail", uuid=uuid)
    looked_at = ImportRequest.from_json(job.parameters)
    if looked_at.is_guided and (made := visible_projects(request.user).filter(dataset=dataset).order_by("pk").last()):
        messages.info(request, "This study was created already")
        return redirect("project_detail", made.slug)
    if form.is_valid():
        if isinstance(form, ValuesForm):
            wanted = replace(looked_at, choices=form.choices(looked_at.choices))
        else:
            wish = form.wish()
            wanted = replace(looked_at, on_judged=form.choice, project=wish, leaves_out=form.leaves_out)
            wanted = replace(wanted, choices=replace(wanted.choices, treat={**wanted.choices.treat, **form.treat}))
            wanted = replace(wanted, text_formats=form.text_formats)
        try:
            wanted = column_mappings.read_anew(wanted, looked_at.choices)
            return redirect("import_detail", uuid=importing.start(request.user, dataset, wanted, is_dry_run=False).uuid)
        except ImportProblem as error:
            form.add_error(None, str(error))
            status = 409 if isinstance(error, ImportUnderWay) else status
    return render(request, "annotation/imports/detail.html", context, status=status)


@login_required
@require_safe
def import_mapping(request, uuid):
    """What the columns mean, for the next file."""
    job = import_job_for(request, uuid)
    asked = ImportRequest.from_json(job.parameters)
    if not asked.choices.mapping:
        raise Http404("This import has no mapping")
    content = column_mappings.as_file(asked.format, asked.choices)
    response = HttpResponse(content, content_type="application/json; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="columns-{job.uuid}.json"'
    return response


def _with_rows_for(request, uuid) -> Job:
    """The import, for who may see the labels in its file."""
    job = import_job_for(request, uuid)
    if is_labelling(request.user, job):
        raise PermissionDenied(
            "You still have items to label in this project; the rows of its files are hidden until then"
        )
    return job


@login_required
@require_safe
def import_errors(request, uuid, kind):
    """The bad rows as a file."""
    job = _with_rows_for(request, uuid)
    result = import_result(job)
    if kind == "csv":
        response = HttpResponse(content_type="text/csv; charset=utf-8")
        writer = csv.writer(response)
        writer.writerow(("file", "line", "column", "value", "reason"))
        for error in result.errors:
            texts = (error["file"], str(error["line"] or ""), error["column"], error["value"], error["reason"])
            writer.writerow(f"'{text}" if needs_escape(text) else text for text in texts)
    else:
        response = HttpResponse(errors_as_markdown(result), content_type="text/markdown; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="bad-rows-{job.uuid}.{kind}"'
    return response


@login_required
@require_safe
def import_left_out(request, uuid):
    """The rows that were left out, whole, for bringing them in once they are right."""
    artifact = left_out.artifact_of(_with_rows_for(request, uuid))
    if artifact is None or not (path := left_out.path_of(artifact)).is_file():
        raise Http404("This import left no rows out")
    return FileResponse(
        path.open("rb"), content_type="text/csv; charset=utf-8", as_attachment=True, filename=f"left-out-{uuid}.csv"
    )


urlpatterns = [
    path("datasets/<slug:slug>/import/", import_new, name="import_new"),
    path("datasets/<slug:slug>/import/columns/", import_columns, name="import_columns"),
    path("studies/<slug:slug>/columns/", import_columns, {"is_guided": True}, name="study_columns"),
    path("imports/<uuid:uuid>/", import_detail, name="import_detail"),
    path("imports/<uuid:uuid>/start/", import_start, name="import_start"),
    path("imports/<uuid:uuid>/columns.json", import_mapping, name="import_mapping"),
    path("imports/<uuid:uuid>/left-out.csv", import_left_out, name="import_left_out"),
    path("imports/<uuid:uuid>/errors.csv", import_errors, {"kind": "csv"}, name="import_errors_csv"),
    path("imports/<uuid:uuid>/errors.md", import_errors, {"kind": "md"}, name="import_errors_md"),
]

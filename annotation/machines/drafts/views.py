"""Drafts of a project: have an extractor propose them, review them source by source, publish what was accepted."""

from itertools import zip_longest
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.views.decorators.http import require_POST, require_safe

from annotation.access import drafts_project_for, may_edit_dataset
from annotation.jobs.queries import progress_of
from annotation.jobs.queues import look_up_waits
from annotation.machines.drafts import extraction, reviewing
from annotation.machines.drafts import publishing as draft_publishing
from annotation.machines.drafts.forms import PublishDraftsForm
from annotation.machines.drafts.queries import drafts as queries
from annotation.machines.drafts.queries import sources
from annotation.models import Draft, ExtractionRun, Project
from annotation.projects.draft_kinds import DRAFT_KINDS, DraftKind, drafted_for, sources_in
from models_runtime.contracts import CheckerInfo

PER_PAGE = 50
LISTED = 20


def _project(request, slug: str) -> tuple[Project, DraftKind]:
    project = drafts_project_for(request.user, slug)
    return project, _kind(project)


def _kind(project: Project) -> DraftKind:
    kind = drafted_for(project.type)
    if kind is None:
        raise Http404("This project has no drafts")
    return kind


@login_required
@require_safe
def project_drafts(request, slug):
    project, kind = _project(request, slug)
    runs = list(queries.runs_of(project, kind)[:LISTED])
    look_up_waits(run.job for run in runs)
    state, failed = request.GET.get("state", ""), "failed" in request.GET
    run = next((run for run in runs if str(run.uuid) == request.GET.get("run")), None)
    found = sources.sources_to_review(project, kind, state=state, run=run, failed=failed)
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    chosen = {"state": state, "run": run.uuid if run else "", **({"failed": "1"} if failed else {})}
    publishing = sources.publishing_of(project)
    context = {
        "project": project,
        "kind": kind,
        "counts": sources.counts_of(project, kind),
        "runs": runs,
        "states": sources.STATES,
        "state": state,
        "run": run,
        "failed": failed,
        "page": page,
        "query": urlencode({name: value for name, value in chosen.items() if value}),
        "rows": sources.rows_of(project, kind, page.object_list),
        "job": publishing,
        "progress": progress_of(publishing) if publishing else None,
        "form": PublishDraftsForm(project, kind),
    }
    return render(request, "annotation/drafts/list.html", context)


def offered(request, project: Project) -> tuple[dict[str, CheckerInfo], dict[str, Any]]:
    return extraction.extractors_for(project.type), {"kind": _kind(project)}


def start_parts(request, project: Project, choices: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": choices["kind"],
        "n_all": sources_in(project.dataset, project.type).count(),
        "n_without": sources_in(project.dataset, project.type, without=project.piece_set).count(),
    }


def parts_of(request, run: ExtractionRun) -> dict:
    """What the page of an extraction shows."""
    return {
        "kind": DRAFT_KINDS[run.kind],
        "undecided": run.drafts.filter(state=Draft.State.PROPOSED).count(),
        "may_review": may_edit_dataset(request.user, run.project.dataset),
        "figures": queries.figures_of(run),
        "sample": queries.sample_of(run, request.GET.get("page")),
        "failed_examples": queries.failed_of(run),
    }


@login_required
@require_POST
def drafts_accept_undecided(request, slug):
    """Accept what nobody has decided about, of a run or of all."""
    project, kind = _project(request, slug)
    named = request.POST.get("run", "")
    run = next((one for one in queries.runs_of(project, kind) if str(one.uuid) == named), None)
    if named and run is None:
        raise Http404("No such extraction here")
    try:
        number = reviewing.accept_undecided(project, kind, request.user, run)
        messages.success(request, f"{number:,} accepted as proposed")
    except reviewing.ReviewError as error:
        messages.error(request, str(error))
    return redirect("project_drafts", slug)


@login_required
@require_POST
def drafts_publish(request, slug):
    project, kind = _project(request, slug)
    form = PublishDraftsForm(project, kind, request.POST)
    if not form.is_valid():
        for name, errors in form.errors.items():
            messages.error(request, f"{form.fields[name].label}: {' '.join(errors)}")
        return redirect("project_drafts", slug)
    try:
        draft_publishing.start(request.user, project, **form.cleaned_data)
    except draft_publishing.PublishingProblem as problem:
        messages.error(request, str(problem))
    return redirect("project_drafts", slug)


# --- one source -----------------------------------------------------------------------------------------------------


def _source(request, slug: str, pk: int):
    project, kind = _project(request, slug)
    links = () if kind.is_of_question else ("question",)
    rows = kind.source_model.objects.filter(dataset=project.dataset_id).select_related(*links)
    return project, kind, get_object_or_404(rows, pk=pk)


def _context(project: Project, kind: DraftKind, source, **more) -> dict:
    page = sources.source_page(project, kind, source)
    following = sources.next_to_review(project, kind, source)
    return {"project": project, "kind": kind, "source": source, "page": page, "following": following, **more}


@login_required
@require_safe
def draft_source(request, slug, pk):
    project, kind, source = _source(request, slug, pk)
    return render(request, "annotation/drafts/source.html", _context(project, kind, source))


@login_required
@require_POST
def draft_decide(request, slug, uuid):
    """Accept, drop or undo one draft. htmx gets its row, other browsers the page again."""
    project, kind = _project(request, slug)
    draft = get_object_or_404(Draft.objects.filter(project=project, kind=kind.name), uuid=uuid)
    source, shown = getattr(draft, kind.source), request.POST.get("seen", "")
    problem = ""
    try:
        match request.POST.get("act"):
            case "accept":
                reviewing.accept(draft, kind, request.user, _parts_in(kind, request.POST), shown)
            case "drop":
                reviewing.drop(draft, request.user, shown)
            case "undo":
                reviewing.undo(draft, shown)
            case _:
                return HttpResponse("There is no such decision", status=400, content_type="text/plain")
    except reviewing.ReviewError as error:
        problem = str(error)
    if not request.htmx:
        return _back(request, project, source, problem)
    context = _context(project, kind, source, problem=problem)
    context["row"] = context["page"].row(draft)
    return render(request, "annotation/drafts/decided.html", context)


def _parts_in(kind: DraftKind, data) -> dict[str, str]:
    return {name: data.get(name, "") for name in kind.parts}


def _back(request, project: Project, source, problem: str = ""):
    if problem:
        messages.error(request, problem)
    return redirect("draft_source", project.slug, source.pk)


@login_required
@require_POST
def draft_add(request, slug, pk):
    project, kind, source = _source(request, slug, pk)
    draft, problem = None, ""
    try:
        draft = reviewing.add(project, kind, source, request.user, _parts_in(kind, request.POST))
    except reviewing.ReviewError as error:
        problem = str(error)
    if not request.htmx:
        return _back(request, project, source, problem)
    context = _context(project, kind, source, add_problem=problem)
    context["row"] = context["page"].row(draft) if draft else None
    return render(request, "annotation/drafts/decided.html", context)


@login_required
@require_POST
def drafts_accept(request, slug, pk):
    """Accept all of a source's proposals that nobody has decided about, with the words that the page has for them."""
    project, kind, source = _source(request, slug, pk)
    columns = [request.POST.getlist(name) for name in kind.parts]
    words = zip_longest(*columns, fillvalue="")
    pages = [
        (uuid, dict(zip(kind.parts, parts, strict=True)))
        for uuid, parts in zip(request.POST.getlist("draft"), words, strict=False)
    ]
    problem = ""
    try:
        reviewing.accept_rest(project, kind, source, request.user, pages)
    except reviewing.ReviewError as error:
        problem = str(error)
    if not request.htmx:
        return _back(request, project, source, problem)
    return render(request, "annotation/drafts/rows.html", _context(project, kind, source, problem=problem))


urlpatterns = [
    path("projects/<slug:slug>/drafts/", project_drafts, name="project_drafts"),
    path("projects/<slug:slug>/drafts/publish/", drafts_publish, name="drafts_publish"),
    path("projects/<slug:slug>/drafts/accept/", drafts_accept_undecided, name="drafts_accept_undecided"),
    path("projects/<slug:slug>/drafts/of/<int:pk>/", draft_source, name="draft_source"),
    path("projects/<slug:slug>/drafts/of/<int:pk>/add/", draft_add, name="draft_add"),
    path("projects/<slug:slug>/drafts/of/<int:pk>/accept/", drafts_accept, name="drafts_accept"),
    path("projects/<slug:slug>/drafts/<uuid:uuid>/", draft_decide, name="draft_decide"),
]

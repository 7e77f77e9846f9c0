"""Retrieval in a project: start one, see what it found, compare, download, publish its passages."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, StreamingHttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_POST, require_safe

from annotation.access import has_open_work, run_for
from annotation.imports.staged_job import PublishingProblem
from annotation.jobs.queries import progress_of
from annotation.jobs.queues import look_up_waits
from annotation.machines.retrieval import expansions, retrieving
from annotation.machines.retrieval.queries import files
from annotation.machines.retrieval.queries import rankings as queries
from annotation.machines.retrieval.queries.steps import steps_of
from annotation.machines.runs.queries.runs import facts_of
from annotation.machines.views import to_run
from annotation.models import Job, Project, RetrievalRun
from models_runtime.contracts import CheckerInfo

LISTED = 50
PER_PAGE = 25


def offered(request, project: Project) -> tuple[dict[str, CheckerInfo], dict[str, Any]]:
    """The retrievers, whose forms may begin with a preset."""
    dataset, preset = project.dataset, request.GET.get("preset", "")
    if preset and preset not in retrieving.PRESETS:
        raise Http404("No such preset")
    return {info.slug: info for info in retrieving.retrievers()}, {
        "asked": retrieving.can_be_asked(dataset),
        "corpora": retrieving.corpora_for(dataset),
        "replayable": retrieving.replayable(project)[:LISTED],
        "generators": retrieving.generators_in(dataset),
        "preset": preset,
    }


def list_parts(request, project: Project, choices: dict[str, Any]) -> dict[str, Any]:
    runs = list(queries.runs_of(project)[:LISTED])
    look_up_waits(run.job for run in runs)
    return {
        "rows": [(run, *queries.words_for(run)) for run in runs],
        "is_blind": has_open_work(request.user, project),
        "asked": choices["asked"],
        "corpora": choices["corpora"],
    }


def _other(request, run: RetrievalRun) -> tuple[list[RetrievalRun], RetrievalRun | None]:
    """The runs that this one can be compared with, and the one that was chosen."""
    others = queries.others_of(run)
    chosen = request.GET.get("other", "")
    other = next((found for found in others if str(found.uuid) == chosen), None)
    if chosen and other is None:
        raise Http404("No such retrieval to compare with")
    return others, other


def parts_of(request, run: RetrievalRun) -> dict:
    """What the page of a retrieval shows."""
    others, other = _other(request, run)
    search = request.GET.get("search", "").strip()[:400]
    page = Paginator(queries.find_rankings(run, search), PER_PAGE).get_page(request.GET.get("page"))
    asked, where = queries.words_for(run)
    return {
        "asked": asked,
        "where": where,
        "facts": [("corpus", run.corpus_hash or "–"), ("passages per query", run.top), *facts_of(run)],
        "numbers": run.job.result if run.job.state == Job.State.DONE else None,
        "others": others,
        "other": other,
        "search": search,
        "query": urlencode({name: value for name, value in (("search", search), ("other", _address(other))) if value}),
        "page": page,
        "steps": steps_of(run),
        "searches_web": retrieving.searches_web(run),
        "bad_lines": run.provenance.get("bad_lines"),
        "rows": queries.rows_of(run, list(page.object_list), other),
    } | _documents_of(run)


def _documents_of(run: RetrievalRun) -> dict:
    """What a language model made up in this run and those that repeat it, and what became of it."""
    if not expansions.has_made(run):
        chosen = run.job.parameters.get(retrieving.DOCUMENTS)
        generator = {"generator": retrieving.DocumentGenerator.of(chosen)} if chosen else {}
        return {"stored_documents": chosen and chosen | generator}
    stored = expansions.stored_from(run)
    return {
        "repetitions": expansions.repetitions_of(run),
        "storings": stored,
        "storing": progress_of(stored[0]) if stored and stored[0].state != Job.State.DONE else None,
        "why_no_documents": expansions.why_not(run),
    }


@login_required
@require_POST
def retrieval_documents(request, uuid):
    """What was made up for claims becomes documents of the data set."""
    run = run_for(request.user, uuid, RetrievalRun, edit=True)
    try:
        expansions.start(request.user, run)
    except PublishingProblem as problem:
        messages.error(request, str(problem))
    return to_run(run)


def _address(run: RetrievalRun | None) -> str:
    return str(run.uuid) if run else ""


@login_required
@require_safe
def retrieval_ranking(request, uuid):
    """One query's passages, next to those of another run."""
    run = run_for(request.user, uuid, RetrievalRun)
    others, other = _other(request, run)
    found = queries.compared_with(run, request.GET.get("query", ""), other)
    if found is None:
        raise Http404("No such query in this run")
    before, after = queries.neighbours(run, found.ranking)
    context = {
        "run": run,
        "project": run.project,
        "found": found,
        "others": others,
        "other": other,
        "before": before,
        "after": after,
        "is_blind": has_open_work(request.user, run.project),
    }
    return render(request, "annotation/retrieval/ranking.html", context)


@login_required
@require_safe
def retrieval_trec(request, uuid):
    run = run_for(request.user, uuid, RetrievalRun)
    return _download(files.trec_lines(run), run, "trec", "text/plain; charset=utf-8")


@login_required
@require_safe
def retrieval_jsonl(request, uuid):
    run = run_for(request.user, uuid, RetrievalRun)
    return _download(files.json_lines(run), run, "jsonl", "application/jsonl; charset=utf-8")


@login_required
@require_safe
def retrieval_web(request, uuid):
    """What the run asked of the web, and what was answered."""
    run = run_for(request.user, uuid, RetrievalRun)
    return _download(files.web_lines(run), run, "web.jsonl", "application/jsonl; charset=utf-8")


def _download(lines, run: RetrievalRun, ending: str, media_type: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(lines, content_type=media_type)
    name = f"{run.project.slug}-{run.retriever}-{run.uuid.hex[:8]}.{ending}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


urlpatterns = [
    path("retrieval/<uuid:uuid>/ranking/", retrieval_ranking, name="retrieval_ranking"),
    path("retrieval/<uuid:uuid>/trec/", retrieval_trec, name="retrieval_trec"),
    path("retrieval/<uuid:uuid>/jsonl/", retrieval_jsonl, name="retrieval_jsonl"),
    path("retrieval/<uuid:uuid>/web/", retrieval_web, name="retrieval_web"),
    path("retrieval/<uuid:uuid>/documents/", retrieval_documents, name="retrieval_documents"),
]

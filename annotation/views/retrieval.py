"""Retrieval in a project: start one, see what it found, compare, download, publish its passages."""

from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import RESEARCHER, has_open_work, may_edit_dataset, project_for, retrieval_for
from annotation.forms.retrieval import PublishForm, RetrievalForm
from annotation.models import RetrievalRun
from annotation.queries import costs, ranking_files
from annotation.queries import rankings as queries
from annotation.queries.jobs import progress_of as job_progress_of
from annotation.queries.runs import facts_of, progress_of
from annotation.services import passage_publishing, retrieval, suggesting
from models_runtime import registry
from models_runtime.contracts import ParameterError, Usage

LISTED = 50
PER_PAGE = 25


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_retrieval(request, slug):
    project = project_for(request.user, slug, RESEARCHER)
    asked, corpora = retrieval.can_be_asked(project.dataset), retrieval.corpora_for(project.dataset)
    infos = {info.slug: info for info in retrieval.retrievers()}
    forms = {name: RetrievalForm(info, asked, corpora) for name, info in infos.items()}
    same_run = None
    chosen = request.POST.get("retriever")
    if chosen in infos:
        form = forms[chosen] = RetrievalForm(infos[chosen], asked, corpora, request.POST)
        if form.is_valid():
            try:
                again = form.cleaned_data["again"]
                run = retrieval.start(project, request.user, form.request, form.queue, again=again)
                return redirect("retrieval_detail", uuid=run.uuid)
            except retrieval.SameRetrieval as same:
                same_run = same.run
            except ParameterError as error:
                form.add_error(error.name, str(error))
            except retrieval.RetrievalProblem as error:
                form.add_error(None, str(error))
    context = {
        "project": project,
        "rows": [(run, *queries.words_for(run)) for run in queries.runs_of(project)[:LISTED]],
        "is_blind": has_open_work(request.user, project),
        "asked": asked,
        "corpora": corpora,
        "entries": [
            {
                "info": info,
                "form": forms[name],
                "missing": registry.missing_packages(name),
                "not_configured": registry.not_configured(name),
                "fetch": registry.fetch_command(name),
                "queues": suggesting.queues_of(info),
                "is_open": name == chosen,
                "same_run": same_run if name == chosen else None,
            }
            for name, info in infos.items()
        ],
    }
    return render(request, "annotation/retrieval/list.html", context)


def _other(request, run: RetrievalRun) -> tuple[list[RetrievalRun], RetrievalRun | None]:
    """The runs that this one can be compared with, and the one that was chosen."""
    others = queries.others_of(run)
    chosen = request.GET.get("other", "")
    other = next((found for found in others if str(found.uuid) == chosen), None)
    if chosen and other is None:
        raise Http404("No such retrieval to compare with")
    return others, other


@login_required
@require_safe
def retrieval_detail(request, uuid):
    return _detail(request, retrieval_for(request.user, uuid))


def _detail(request, run: RetrievalRun, form: PublishForm | None = None, status: int = 200):
    others, other = _other(request, run)
    search = request.GET.get("search", "").strip()[:400]
    page = Paginator(queries.find_rankings(run, search), PER_PAGE).get_page(request.GET.get("page"))
    usage = Usage(run.prompt_tokens, run.completion_tokens, run.device_seconds)
    asked_server = run.parameters.get("endpoint") or next(iter(registry.endpoint_names()), None)
    money = costs.money_for(usage, endpoint=asked_server, queue=run.job.queue)
    may_publish = may_edit_dataset(request.user, run.project.dataset)
    published = passage_publishing.published_from(run)
    asked, where = queries.words_for(run)
    context = {
        "run": run,
        "job": run.job,
        "project": run.project,
        "info": next((info for info in retrieval.retrievers() if info.slug == run.retriever), None),
        "asked": asked,
        "where": where,
        "progress": progress_of(run),
        "cost": costs.Cost(usage, run.job.progress_done, money, settings.CURRENCY),
        "facts": [("corpus", run.corpus_hash or "–"), ("passages for each", run.top), *facts_of(run)],
        "numbers": run.job.result if run.job.state == "done" else None,
        # Which evidence is gold says what a label will be, to whoever still labels here.
        "is_blind": has_open_work(request.user, run.project),
        "others": others,
        "other": other,
        "search": search,
        "query": urlencode({name: value for name, value in (("search", search), ("other", _address(other))) if value}),
        "page": page,
        "rows": queries.rows_of(run, list(page.object_list), other),
        "publishings": published,
        "publishing": job_progress_of(published[0]) if published and published[0].state != "done" else None,
        "may_publish": may_publish,
        "why_not": passage_publishing.why_not(run),
        "publish_form": form or PublishForm(run),
    }
    return render(request, "annotation/retrieval/detail.html", context, status=status)


def _address(run: RetrievalRun | None) -> str:
    return str(run.uuid) if run else ""


@login_required
@require_safe
def retrieval_progress(request, uuid):
    """The moving part of a run's page. When the job ends, the page around it is reloaded."""
    run = retrieval_for(request.user, uuid)
    context = {"run": run, "job": run.job, "progress": progress_of(run)}
    response = render(request, "annotation/retrieval/progress.html", context)
    if run.job.is_finished:
        response["HX-Refresh"] = "true"
    return response


@login_required
@require_safe
def retrieval_ranking(request, uuid):
    """One query's passages, beside those of another run."""
    run = retrieval_for(request.user, uuid)
    others, other = _other(request, run)
    found = queries.beside(run, request.GET.get("query", ""), other)
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
    run = retrieval_for(request.user, uuid)
    return _download(ranking_files.trec_lines(run), run, "trec", "text/plain; charset=utf-8")


@login_required
@require_safe
def retrieval_jsonl(request, uuid):
    run = retrieval_for(request.user, uuid)
    return _download(ranking_files.json_lines(run), run, "jsonl", "application/jsonl; charset=utf-8")


def _download(lines, run: RetrievalRun, ending: str, media_type: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(lines, content_type=media_type)
    name = f"{run.project.slug}-{run.retriever}-{run.uuid.hex[:8]}.{ending}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


@login_required
@require_POST
def retrieval_retry(request, uuid):
    run = retrieval_for(request.user, uuid)
    if not retrieval.retry_failures(run, include_permanent="permanent" in request.POST):
        messages.info(request, "There is nothing to try again")
    return redirect("retrieval_detail", uuid=run.uuid)


@login_required
@require_POST
def retrieval_publish(request, uuid):
    """The best passages become evidence of the data set."""
    run = retrieval_for(request.user, uuid)
    if not may_edit_dataset(request.user, run.project.dataset):
        raise PermissionDenied("This needs the right to change the data set")
    form = PublishForm(run, request.POST)
    if form.is_valid():
        try:
            passage_publishing.start(request.user, run, form.cleaned_data["top"])
            return redirect("retrieval_detail", uuid=run.uuid)
        except passage_publishing.PublishingProblem as problem:
            form.add_error(None, str(problem))
    return _detail(request, run, form, status=422)


urlpatterns = [
    path("projects/<slug:slug>/retrieval/", project_retrieval, name="project_retrieval"),
    path("retrieval/<uuid:uuid>/", retrieval_detail, name="retrieval_detail"),
    path("retrieval/<uuid:uuid>/progress/", retrieval_progress, name="retrieval_progress"),
    path("retrieval/<uuid:uuid>/ranking/", retrieval_ranking, name="retrieval_ranking"),
    path("retrieval/<uuid:uuid>/trec/", retrieval_trec, name="retrieval_trec"),
    path("retrieval/<uuid:uuid>/jsonl/", retrieval_jsonl, name="retrieval_jsonl"),
    path("retrieval/<uuid:uuid>/retry/", retrieval_retry, name="retrieval_retry"),
    path("retrieval/<uuid:uuid>/publish/", retrieval_publish, name="retrieval_publish"),
]

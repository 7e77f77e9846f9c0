"""Answers of language models in a project: ask for some, see what they wrote, publish it as responses."""

from django.contrib.auth.decorators import login_required
from django.http import Http404
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import RESEARCHER, has_open_work, may_edit_dataset, project_for, run_for
from annotation.jobs.queries import progress_of
from annotation.jobs.queues import look_up_waits
from annotation.machines.generations import generating, publishing, queries
from annotation.machines.runs.views.shared import render_estimate, render_run, start_chosen, to_run
from annotation.models import Evidence, GenerationRun, Job, Project

LISTED = 50


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_generations(request, slug):
    project = project_for(request.user, slug, RESEARCHER)
    before = project.generation_runs.count()
    run, entries = start_chosen(request, "generator", project, generating.generators(), **_choices(project))
    if run:
        several = project.generation_runs.count() > before + 1
        return redirect("project_generations", slug) if several else to_run(run)
    rows = list(queries.runs_of(project, LISTED))
    look_up_waits(run.job for run, _ in rows)
    context = {
        "project": project,
        "rows": rows,
        "n_questions": generating.questions_in(project.dataset).count(),
        "entries": entries,
    }
    return render(request, "annotation/generations/list.html", context)


def _choices(project: Project) -> dict:
    has_passages = Evidence.objects.published().filter(dataset=project.dataset, question__isnull=False).exists()
    return {"has_passages": has_passages, "retrievals": generating.retrievals_for(project)[:LISTED]}


@login_required
@require_POST
def generation_estimate(request, slug, generator):
    project = project_for(request.user, slug, RESEARCHER)
    infos = generating.generators()
    if generator not in infos:
        raise Http404("No such generator")
    return render_estimate(request, "generator", project, infos[generator], **_choices(project))


def parts_of(request, run: GenerationRun) -> dict:
    """What the page of a generation shows."""
    published = publishing.published_from(run)
    failed = "failed" in request.GET
    return {
        # Which model wrote a text is not told to whoever still labels it.
        "is_blind": has_open_work(request.user, run.project),
        "shown": queries.with_words([run])[0][1],
        "numbers": run.job.result if run.job.state == Job.State.DONE else None,
        "texts": queries.texts_page(run, request.GET.get("page"), failed=failed),
        "failed": failed,
        "query": "failed=1" if failed else "",
        "publishings": published,
        "publishing": progress_of(published[0]) if published and published[0].state != Job.State.DONE else None,
        "may_publish": may_edit_dataset(request.user, run.project.dataset),
        "why_not": publishing.why_not(run),
    }


@login_required
@require_POST
def generation_publish(request, uuid):
    """The texts become responses of the data set."""
    run = run_for(request.user, uuid, GenerationRun, edit=True)
    try:
        publishing.start(request.user, run)
    except publishing.PublishingProblem as problem:
        return render_run(request, run, status=422, problem=str(problem))
    return to_run(run)


urlpatterns = [
    path("projects/<slug:slug>/answers/", project_generations, name="project_generations"),
    path("projects/<slug:slug>/answers/<slug:generator>/estimate/", generation_estimate, name="generation_estimate"),
    path("generations/<uuid:uuid>/publish/", generation_publish, name="generation_publish"),
]

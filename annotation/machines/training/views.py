"""Training a checker on a project's own labels: ask for it, follow it, see how good it is, run it."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import RESEARCHER, has_open_work, project_for, run_for
from annotation.jobs import counts
from annotation.jobs.queries import progress_of
from annotation.jobs.queues import look_up_waits
from annotation.machines.runs import checker_inputs, suggesting
from annotation.machines.runs.queries.checkers import needs_of
from annotation.machines.training import training
from annotation.machines.training.forms import TrainingForm
from annotation.machines.training.queries import models as queries
from annotation.machines.training.trained_models import KIND
from annotation.models import Job, TrainedModel
from annotation.work.label_access import labels_served
from models_runtime.registry import get_info

LISTED = 50


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_training(request, slug):
    project = project_for(request.user, slug, RESEARCHER)
    form = TrainingForm(project, request.POST or None)
    why_not = checker_inputs.why_not(project.type)
    # How often each label was given would tell those who still label here what others said.
    is_blind = has_open_work(request.user, project)
    if request.method == "POST" and form.is_valid():
        try:
            model = training.start_for(project, request.user, form.request())
            return redirect("training_detail", uuid=model.uuid)
        except training.TrainingError as error:
            form.add_error(None, str(error))
    context = {"project": project, "form": form, "why_not": why_not, "is_blind": is_blind}
    if not why_not and not is_blind:
        labels_served(request, project)
        context["counted"] = counted = counts.counted("training-labels", project)
        if not counted.is_waiting:
            context["counts"] = queries.label_counts(project.type, counted.values)
            context["touched"] = counted.values["touched"]
    context["needs"] = needs_of(get_info(KIND))
    context["models"] = [] if why_not else list(queries.trained_models_of(project)[:LISTED])
    look_up_waits(model.job for model in context["models"])
    return render(request, "annotation/training/list.html", context)


@login_required
@require_safe
def training_detail(request, uuid):
    model = run_for(request.user, uuid, TrainedModel)
    is_done = model.job.state == Job.State.DONE
    is_blind = has_open_work(request.user, model.project)
    if is_done and not is_blind:
        labels_served(request, model.project)
    classifier, representation = training.method_of(model.parameters)
    context = {
        "model": model,
        "job": model.job,
        "project": model.project,
        "progress": progress_of(model.job),
        "is_blind": is_blind,
        "source": training.source_title(model.parameters["source"]),
        "classifier": classifier,
        "representation": representation,
        "facts": queries.facts_of(model),
        "runs": queries.runs_with(model) if is_done else [],
        "figures": queries.figures_of(model, model.project.type) if is_done else [],
    }
    return render(request, "annotation/training/detail.html", context)


@login_required
@require_POST
def training_run(request, uuid):
    """Let the trained checker judge every unit of its project."""
    model = run_for(request.user, uuid, TrainedModel)
    try:
        queue = training.TrainingRequest(**model.parameters).queue
        run = suggesting.start_run(model.project, request.user, "trained", {"model": model.file_hash}, queue=queue)
    except suggesting.SameRun as same:
        run = same.run
        messages.info(request, "It has already judged these units")
    except suggesting.RunError as error:
        messages.error(request, str(error))
        return redirect("training_detail", uuid=model.uuid)
    return redirect("run_detail", uuid=run.uuid)


urlpatterns = [
    path("projects/<slug:slug>/training/", project_training, name="project_training"),
    path("training/<uuid:uuid>/", training_detail, name="training_detail"),
    path("training/<uuid:uuid>/run/", training_run, name="training_run"),
]

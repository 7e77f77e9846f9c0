"""Checker runs with what they said, and what was trained."""

from dataclasses import asdict
from typing import ClassVar

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404
from rest_framework.response import Response

from annotation import access
from annotation.access import RESEARCHER
from annotation.api import shapes
from annotation.api.problems import Problem, invalid_form
from annotation.api.routes import UUID, Listing, Parts, QueryFilter, Route
from annotation.api.tokens import READ
from annotation.api.uploading import IntoRun
from annotation.machines.prompts import splitting, versions
from annotation.machines.retrieval import expansions, publishing, retrieving
from annotation.machines.runs import suggesting
from annotation.machines.runs.limits import CostLimits
from annotation.machines.runs.queries import costs
from annotation.machines.runs.queries.costs import CostEstimate
from annotation.machines.runs.retrieved import RetrievedPassages, why_not
from annotation.machines.runs.uploading import LABELS, SCORES
from annotation.machines.training import training
from annotation.machines.training.forms import TrainingForm
from annotation.models import (
    CheckerRun,
    HeldOutPart,
    Job,
    MachineRun,
    Project,
    RetrievalRun,
    Score,
    Suggestion,
    TrainedModel,
)
from annotation.work import showing
from annotation.work.label_access import API, labels_served


class RunsRoute(Listing):
    """Runs of checkers, and what was uploaded of checkers elsewhere."""

    shape, request_shape, status = shapes.RunShape, shapes.NewRun, 202
    filters = {"checker": QueryFilter("checker"), "state": QueryFilter("job__state", Job.State.values)}

    def rows(self, request, slug):
        project = access.project_for(request.user, slug, RESEARCHER)
        return project.checker_runs.select_related("job", "project")

    def post(self, request, slug):
        """Start a run of one of Assay's checkers over the project's units."""
        project = access.project_for(request.user, slug, RESEARCHER)
        asked = self.validated_body(request)
        run = suggesting.start_run(
            project,
            request.user,
            asked["checker"],
            asked["parameters"],
            asked["queue"],
            again=asked["again"],
            limits=CostLimits(asked["limit_tokens"], asked["limit_money"]),
            retrieved=_passages(asked),
        )
        return self.respond(run, Location=f"/api/v1/runs/{run.uuid}/")


class EstimateRoute(Route):
    """POST what would start a run: about what it would cost. Nothing is started."""

    response_shape, scopes = shapes.EstimateShape, {"POST": READ}

    def respond_estimate(self, estimate: CostEstimate | None) -> Response:
        if estimate is None:
            raise Problem(409, "The cost cannot be estimated before the run starts, or no model on a server is asked")
        return self.respond(estimate)


class RunEstimateRoute(EstimateRoute):
    """About what a run of a checker would cost: as the newest run with these parameters took per unit, or from the
    requests for some of the units. POST what would start it; nothing is started."""

    request_shape = shapes.NewRun

    def post(self, request, slug):
        project = access.project_for(request.user, slug, RESEARCHER)
        asked = self.validated_body(request)
        passages = _passages(asked)
        suggesting.checker_info(project.type, asked["checker"], retrieved=passages is not None)
        if passages and (reason := why_not(passages, project, request.user)):
            raise Problem(409, reason)
        return self.respond_estimate(costs.estimate_of(project, asked["checker"], asked["parameters"], passages))


def _passages(asked: dict) -> RetrievedPassages | None:
    return RetrievedPassages(str(asked["retrieval"]), asked["first"]) if asked["retrieval"] else None


class MachineRunRoute(Route):
    """One run."""

    model: ClassVar[type[MachineRun]]

    def get(self, request, uuid):
        return Response(self.shape(access.run_for(request.user, uuid, self.model)).data)


class RunDetailRoute(MachineRunRoute):
    model, shape = CheckerRun, shapes.RunShape


class ShowRunRoute(Route):
    """Make a run's suggestions the ones that annotators are shown, under the project's policy."""

    request_shape, response_shape = shapes.Nothing, shapes.RunShape

    def post(self, request, uuid):
        run = access.run_for(request.user, uuid)
        suggesting.show_to_annotators(run)
        return self.respond(access.run_for(request.user, uuid))


class PromptsRoute(Listing):
    """Instructions for language models as judges, in versions. POST keeps another one, or gives the newest where that
    says the same."""

    shape, request_shape, status = shapes.PromptShape, shapes.NewPrompt, 201

    def rows(self, request, slug):
        return access.project_for(request.user, slug, RESEARCHER).prompts.all()

    def post(self, request, slug):
        project = access.project_for(request.user, slug, RESEARCHER)
        if reason := versions.why_none(project):
            raise Problem(409, reason)
        asked = self.validated_body(request)
        version = versions.add_version(project, request.user, asked["text"], asked["role"], asked["note"])
        return self.respond(version, Location=f"/api/v1/projects/{slug}/prompts/{version.number}/")


class PromptRoute(Route):
    """A version with what it changed of the one before. POST runs it on the labelled units of a part."""

    shape, request_shape, response_shape, status = shapes.PromptShape, shapes.NewTrial, shapes.RunShape, 202

    def get(self, request, slug, number):
        project = access.project_for(request.user, slug, RESEARCHER)
        version = get_object_or_404(project.prompts, number=number)
        before = project.prompts.filter(number=number - 1).first()
        return Response(self.shape(version, context={"before": before}).data)

    def post(self, request, slug, number):
        project = access.project_for(request.user, slug, RESEARCHER)
        version = get_object_or_404(project.prompts, number=number)
        asked = self.validated_body(request)
        limits = CostLimits(asked["limit_tokens"], asked["limit_money"])
        run = versions.start(
            version, request.user, asked["part"], asked["parameters"], limits=limits, again=asked["again"]
        )
        return self.respond(run, Location=f"/api/v1/runs/{run.uuid}/")


class PromptEstimateRoute(EstimateRoute):
    """About what a run of a version on a part would cost. POST what would start it; nothing is started."""

    request_shape = shapes.NewTrial

    def post(self, request, slug, number):
        project = access.project_for(request.user, slug, RESEARCHER)
        version = get_object_or_404(project.prompts, number=number)
        if access.has_open_work(request.user, project):
            raise Problem(409, "The cost tells how much others labelled, and is hidden from who still labels here")
        asked = self.validated_body(request)
        return self.respond_estimate(versions.estimate_of(version, asked["part"], asked["parameters"]))


class HeldOutRoute(Route):
    """The share of the claims or questions that is held out, with what people labelled of both parts. POST sets it,
    until a version has been run."""

    shape = request_shape = shapes.HeldOutShape

    def get(self, request, slug):
        project = access.project_for(request.user, slug, RESEARCHER)
        held_out = get_object_or_404(HeldOutPart, project=project)
        return Response(self.shape(held_out, context={"request": request}).data)

    def post(self, request, slug):
        project = access.project_for(request.user, slug, RESEARCHER)
        if reason := versions.why_none(project):
            raise Problem(409, reason)
        return self.respond(splitting.hold_out(project, request.user, self.validated_body(request)["percent"]))


class RetrievalsRoute(Listing):
    """Retrievals: rankings of passages, and the evidence pipeline."""

    shape, request_shape, status = shapes.RetrievalShape, shapes.NewRetrieval, 202
    filters = {"retriever": QueryFilter("retriever"), "state": QueryFilter("job__state", Job.State.values)}

    def rows(self, request, slug):
        return access.project_for(request.user, slug, RESEARCHER).retrieval_runs.select_related("job")

    def post(self, request, slug):
        """Start one. A preset fills in parameters; those that are given come before it."""
        project = access.project_for(request.user, slug, RESEARCHER)
        asked = self.validated_body(request)
        run = retrieving.start(project, request.user, _wanted(asked), asked["queue"], again=asked["again"])
        return self.respond(run, Location=f"/api/v1/retrievals/{run.uuid}/")


class RetrievalEstimateRoute(EstimateRoute):
    """About what the documents and queries would cost that a language model makes up for a retrieval. POST what would
    start it; nothing is started."""

    request_shape = shapes.NewRetrieval

    def post(self, request, slug):
        project = access.project_for(request.user, slug, RESEARCHER)
        wanted = _wanted(self.validated_body(request)).with_documents()
        retrieving.retriever_info(wanted)
        return self.respond_estimate(expansions.estimate_of(project, wanted.asks, wanted.parameters))


def _wanted(asked: dict) -> retrieving.RetrievalRequest:
    return retrieving.RetrievalRequest(
        asked["retriever"],
        asked["asks"],
        asked["corpus"],
        asked["top"],
        asked["parameters"],
        asked["replays"],
        *_stored(asked["documents"]),
        limits=CostLimits(asked["limit_tokens"], asked["limit_money"]),
    ).with_preset(asked["preset"] or "")


def _stored(documents: dict | None) -> tuple:
    return (retrieving.DocumentGenerator.of(documents), documents["repetition"]) if documents else ()


class RetrievalDetailRoute(MachineRunRoute):
    """One retrieval."""

    model, shape = RetrievalRun, shapes.RetrievalShape


class RetrievalPublishRoute(Route):
    """Publish the best passages of a retrieval as evidence: a job does it."""

    request_shape, response_shape, status = shapes.PublishedPassages, shapes.JobShape, 202

    def post(self, request, uuid):
        run = access.run_for(request.user, uuid, RetrievalRun, edit=True)
        asked = self.validated_body(request)
        job = publishing.start(request.user, run, asked["top"], asked["context"])
        return self.respond(job, Location=f"/api/v1/jobs/{job.uuid}/")


class RetrievalDocumentsRoute(Route):
    """Store what a language model made up in a retrieval, and in those that repeat it, as documents of their claims."""

    request_shape, response_shape, status = shapes.Nothing, shapes.JobShape, 202

    def post(self, request, uuid):
        run = access.run_for(request.user, uuid, RetrievalRun, edit=True)
        job = expansions.start(request.user, run)
        return self.respond(job, Location=f"/api/v1/jobs/{job.uuid}/")


MANY_RUNS = 50
OF_A_RUN = {
    "run": QueryFilter("run__uuid", kind=UUID),
    "checker": QueryFilter("run__checker"),
    "unit": QueryFilter("unit__key"),
}


class RunRows(Listing):
    """What runs that are done said of units. Whoever still labels here is told nothing of it."""

    model: type

    def rows(self, request, slug):
        project = access.project_for(request.user, slug, RESEARCHER)
        if access.has_open_work(request.user, project):
            raise PermissionDenied("You still have items to label in this project; checkers' answers are hidden")
        self.project = project
        runs = list(project.checker_runs.filter(job__state=Job.State.DONE).order_by("pk").values_list("pk", flat=True))
        rows = self.model.objects.select_related("run", "unit")
        if len(runs) > MANY_RUNS:
            return rows.filter(run__in=runs)
        return Parts([rows.filter(run=run) for run in runs])

    def prepared(self, page: list) -> list:
        if page and self.request.method != "HEAD":
            showing.record_exposure(self.project, self.request.user, sorted({str(row.run.uuid) for row in page}))
        return page


class SuggestionsRoute(IntoRun, RunRows):
    """Labels that checkers gave. POST stores those of a checker elsewhere: a line for each, with `unit`, `dimension`
    (which may be left out where there is one question), `label` and, where they are known, `probability` or
    `probabilities`, and `spans` with `field`, `start`, `end` and `quote`."""

    says = LABELS
    model, shape = Suggestion, shapes.SuggestionShape
    filters = OF_A_RUN | {"dimension": QueryFilter("dimension"), "label": QueryFilter("label")}


class ScoresRoute(IntoRun, RunRows):
    """Numbers that checkers gave. POST stores those of a checker elsewhere: a line for each, with `unit`, `value`
    (null: undefined) and, where there are several, `name`. A line may name an item, such as an answer whose triplets
    are the units: it holds for all of them."""

    says = SCORES
    model, shape = Score, shapes.ScoreShape
    filters = OF_A_RUN | {"name": QueryFilter("name")}


class TrainingsRoute(Listing):
    """Checkers that were trained on the project's labels. Whoever still labels here is not told how well."""

    shape, request_shape, status = shapes.TrainingShape, shapes.NewTraining, 202
    filters = {"state": QueryFilter("job__state", Job.State.values)}

    def rows(self, request, slug):
        self.project = access.project_for(request.user, slug, RESEARCHER)
        return self.project.trained_models.select_related("job")

    def prepared(self, page: list) -> list:
        self.is_blind = _told_figures(self.request, self.project, page)
        return page

    def shown_with(self, request) -> dict:
        return {"is_blind": self.is_blind}

    def post(self, request, slug):
        """Train a checker on the labels that there are now. What the body leaves out is as the page's form begins."""
        project = access.project_for(request.user, slug, RESEARCHER)
        form = TrainingForm(project, asdict(training.TrainingRequest()) | self.validated_body(request))
        if not form.is_valid():
            raise invalid_form(form)
        try:
            model = training.start_training(project, request.user, form.request())
        except training.TooFewLabels as error:
            is_blind = access.has_open_work(request.user, project)
            raise Problem(409, "There are too few labels to learn from yet" if is_blind else str(error)) from None
        shown = self.shape(model, context={"is_blind": True}).data
        return Response(shown, status=202, headers={"Location": f"/api/v1/trainings/{model.uuid}/"})


class TrainingDetailRoute(Route):
    """One training. `model` names what was trained: POST to the project's runs with the checker `trained` and
    `{"model": ...}` as parameters lets it judge all units."""

    shape = shapes.TrainingShape

    def get(self, request, uuid):
        model = access.run_for(request.user, uuid, TrainedModel)
        is_blind = _told_figures(request, model.project, [model])
        return Response(self.shape(model, context={"is_blind": is_blind}).data)


def _told_figures(request, project: Project, models: list[TrainedModel]) -> bool:
    """Whether whoever asks still labels here; others are told how well the models do, which is noted."""
    is_blind = access.has_open_work(request.user, project)
    if not is_blind and any(model.figures for model in models):
        labels_served(request, project, API)
    return is_blind

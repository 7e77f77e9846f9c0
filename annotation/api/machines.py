"""Runs of machines of all kinds, prompts, and what checkers say."""

from collections.abc import Mapping
from inspect import getdoc
from types import MappingProxyType

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from rest_framework.response import Response

from annotation import access
from annotation.access import RESEARCHER
from annotation.api import shapes
from annotation.api.problems import Problem
from annotation.api.routes import UUID, Listing, Parts, QueryFilter, Route
from annotation.api.tokens import READ
from annotation.api.uploading import IntoRun
from annotation.machines.kinds import RunKind
from annotation.machines.prompts import splitting, versions
from annotation.machines.retrieval import expansions
from annotation.machines.runs import suggesting
from annotation.machines.runs.limits import CostLimits
from annotation.machines.runs.queries.costs import CostEstimate
from annotation.machines.runs.shapes import EstimateShape, RunShape
from annotation.machines.runs.uploading import LABELS, SCORES
from annotation.models import HeldOutPart, Job, RetrievalRun, Score, Suggestion
from annotation.work import showing


class KindRoute(Route):
    """A route of one kind of runs, which declares what it shows and takes."""

    kind: RunKind | None = None
    descriptions: Mapping[str, str] = MappingProxyType({})  # by verb


class RunsRoute(KindRoute, Listing):
    status = 202
    shape = property(lambda self: self.kind.shape)
    request_shape = property(lambda self: self.kind.request_shape)
    descriptions = property(lambda self: {"GET": self.kind.described, "POST": getdoc(self.kind.start)})

    @property
    def filters(self) -> dict[str, QueryFilter]:
        named = [self.kind.machine] if self.kind.machine else []
        return {one: QueryFilter(one) for one in named} | {"state": QueryFilter("job__state", Job.State.values)}

    def rows(self, request, slug):
        self.project = self.kind.project_for(request.user, slug)
        return self.kind.model.objects.filter(project=self.project).select_related("job", "project")

    def prepared(self, page: list) -> list:
        self.shown = self.kind.shown_with(self.request, self.project, page)
        return page

    def shown_with(self, request) -> dict:
        return super().shown_with(request) | self.shown

    def post(self, request, slug):
        project = self.kind.project_for(request.user, slug)
        run, *_ = self.kind.start(project, request.user, self.validated_body(request))
        return self.respond(run, Location=f"/api/v1/{self.kind.name}s/{run.uuid}/")


class EstimateRoute(Route):
    """POST what would start a run: about what it would cost. Nothing is started."""

    response_shape, scopes = EstimateShape, {"POST": READ}

    def respond_estimate(self, estimate: CostEstimate | None) -> Response:
        if estimate is None:
            raise Problem(409, "The cost cannot be estimated before the run starts, or no model on a server is asked")
        return self.respond(estimate)


class RunEstimateRoute(KindRoute, EstimateRoute):
    request_shape = property(lambda self: self.kind.request_shape)
    descriptions = property(lambda self: {"POST": getdoc(self.kind.estimate)})

    def post(self, request, slug):
        project = self.kind.project_for(request.user, slug)
        return self.respond_estimate(self.kind.estimate(project, request.user, self.validated_body(request)))


class RunRoute(KindRoute):
    shape = property(lambda self: self.kind.shape)
    descriptions = property(lambda self: {"GET": self.kind.run_described})

    def get(self, request, uuid):
        run = access.run_for(request.user, uuid, self.kind.model)
        return Response(self.shape(run, context=self.kind.shown_with(request, run.project, [run])).data)


class PublishRunRoute(KindRoute):
    response_shape, status = shapes.JobShape, 202
    request_shape = property(lambda self: self.kind.publishing.shape)
    descriptions = property(lambda self: {"POST": self.kind.publishing.described})

    def post(self, request, uuid):
        run = access.run_for(request.user, uuid, self.kind.model, edit=True)
        job = self.kind.publishing.start(request.user, run, **self.validated_body(request))
        return self.respond(job, Location=f"/api/v1/jobs/{job.uuid}/")


def routes_of(kind: RunKind) -> list[URLPattern]:
    runs, run = f"projects/<slug:slug>/{kind.name}s/", f"{kind.name}s/<uuid:uuid>/"
    routes = {"s": (runs, RunsRoute), "": (run, RunRoute)}
    if kind.estimate:
        routes["_estimate"] = (f"{runs}estimate/", RunEstimateRoute)
    if kind.publishing:
        routes["_publish"] = (f"{run}publish/", PublishRunRoute)
    return [path(place, at.as_view(kind=kind), name=f"api_{kind.name}{end}") for end, (place, at) in routes.items()]


class ShowRunRoute(Route):
    """Make a run's suggestions the ones that annotators are shown, under the project's policy."""

    request_shape, response_shape = shapes.Nothing, RunShape

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

    shape, request_shape, response_shape, status = shapes.PromptShape, shapes.NewTrial, RunShape, 202

    def get(self, request, slug, number):
        project = access.project_for(request.user, slug, RESEARCHER)
        version = get_object_or_404(project.prompts, number=number)
        before = project.prompts.filter(number=number - 1).first()
        return Response(self.shape(version, context={"before": before}).data)

    def post(self, request, slug, number):
        project = access.project_for(request.user, slug, RESEARCHER)
        version = get_object_or_404(project.prompts, number=number)
        asked = self.validated_body(request)
        limits = CostLimits.asked(asked)
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
            raise Problem(409, versions.STILL_LABELS)
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
    """What finished runs say of units. Members who still label here cannot see it."""

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

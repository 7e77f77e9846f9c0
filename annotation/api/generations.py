"""What models write, for programs: answers to questions, and drafts of pieces."""

from django.db import transaction

from annotation import access
from annotation.access import RESEARCHER
from annotation.api import shapes
from annotation.api.machines import EstimateRoute, MachineRunRoute
from annotation.api.problems import Problem
from annotation.api.routes import Listing, QueryFilter, Route
from annotation.machines.drafts import extraction, reviewing
from annotation.machines.drafts import publishing as draft_publishing
from annotation.machines.generations import generating, publishing, queries
from annotation.machines.runs.limits import CostLimits
from annotation.models import ExtractionRun, GenerationRun, Job
from annotation.projects.draft_kinds import DRAFT_KINDS


class GenerationsRoute(Listing):
    """Runs in which models answer the questions of a project's data set."""

    shape, request_shape, status = shapes.GenerationShape, shapes.NewGeneration, 202
    filters = {"generator": QueryFilter("generator"), "state": QueryFilter("job__state", Job.State.values)}

    def rows(self, request, slug):
        return access.project_for(request.user, slug, RESEARCHER).generation_runs.select_related("job")

    def post(self, request, slug):
        """Ask one model. What it wrote becomes responses once it is published."""
        project = access.project_for(request.user, slug, RESEARCHER)
        asked = self.validated_body(request)
        run = generating.start(project, request.user, _wanted(asked), asked["queue"], again=asked["again"])
        return self.respond(run, Location=f"/api/v1/generations/{run.uuid}/")


class GenerationEstimateRoute(EstimateRoute):
    """About what answers would cost, from the requests for some of the questions. POST what would start the run;
    nothing is started."""

    request_shape = shapes.NewGeneration

    def post(self, request, slug):
        project = access.project_for(request.user, slug, RESEARCHER)
        wanted = _wanted(self.validated_body(request))
        if problem := generating.problem_of(project, wanted):
            raise Problem(409, problem)
        return self.respond_estimate(queries.estimate_of(project, wanted))


def _wanted(asked: dict) -> generating.GenerationRequest:
    return generating.GenerationRequest(
        asked["generator"],
        passages=asked["passages"],
        most_passages=asked["most_passages"],
        repetitions=asked["repetitions"],
        context_setting=asked["context_setting"],
        parameters=asked["parameters"],
        limits=CostLimits(asked["limit_tokens"], asked["limit_money"]),
    )


class GenerationDetailRoute(MachineRunRoute):
    model, shape = GenerationRun, shapes.GenerationShape


class GenerationPublishRoute(Route):
    """Publish what the run wrote as responses: a job does it."""

    request_shape, response_shape, status = shapes.Nothing, shapes.JobShape, 202

    def post(self, request, uuid):
        run = access.run_for(request.user, uuid, GenerationRun, edit=True)
        job = publishing.start(request.user, run)
        return self.respond(job, Location=f"/api/v1/jobs/{job.uuid}/")


class ExtractionsRoute(Listing):
    """Runs in which extractors draft what the project judges: triplets, sub-sentences, atomic claims, aspects."""

    shape, request_shape, status = shapes.ExtractionShape, shapes.NewExtraction, 202
    filters = {"extractor": QueryFilter("extractor"), "state": QueryFilter("job__state", Job.State.values)}

    def rows(self, request, slug):
        return access.drafts_project_for(request.user, slug).extraction_runs.select_related("job")

    def post(self, request, slug):
        """Take texts apart that have no pieces yet. What is proposed waits for review."""
        project = access.drafts_project_for(request.user, slug)
        asked = self.validated_body(request)
        run = extraction.start_extraction(
            project,
            request.user,
            asked["extractor"],
            asked["parameters"],
            asked["queue"],
            everything=asked["everything"],
            again=asked["again"],
            limits=CostLimits(asked["limit_tokens"], asked["limit_money"]),
        )
        return self.respond(run, Location=f"/api/v1/extractions/{run.uuid}/")


class ExtractionEstimateRoute(EstimateRoute):
    """About what a run of an extractor would cost: as the newest run with these parameters took per text, or from the
    requests for some of the texts. POST what would start it; nothing is started."""

    request_shape = shapes.NewExtraction

    def post(self, request, slug):
        project = access.drafts_project_for(request.user, slug)
        asked = self.validated_body(request)
        return self.respond_estimate(
            extraction.estimate_of(project, asked["extractor"], asked["parameters"], everything=asked["everything"])
        )


class ExtractionDetailRoute(MachineRunRoute):
    model, shape = ExtractionRun, shapes.ExtractionShape


class ExtractionPublishRoute(Route):
    """Accept what the run proposed and nobody has decided about, and publish what is accepted: a job does it."""

    request_shape, response_shape, status = shapes.PublishedDrafts, shapes.JobShape, 202

    def post(self, request, uuid):
        run = access.run_for(request.user, uuid, ExtractionRun)
        asked = self.validated_body(request)
        with transaction.atomic():
            reviewing.accept_undecided(run.project, DRAFT_KINDS[run.kind], request.user, run)
            job = draft_publishing.start(request.user, run.project, **asked)
        return self.respond(job, Location=f"/api/v1/jobs/{job.uuid}/")

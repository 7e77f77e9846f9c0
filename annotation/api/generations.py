"""Answers that language models wrote, for programs."""

from django.core.exceptions import PermissionDenied
from rest_framework.response import Response

from annotation import access
from annotation.access import RESEARCHER
from annotation.api import shapes
from annotation.api.problems import Problem
from annotation.api.routes import Listing, QueryFilter, Route
from annotation.machines.generations import generating, publishing
from annotation.machines.runs.limits import CostLimits
from annotation.models import GenerationRun, Job


class GenerationsRoute(Listing):
    """Runs in which models answer the questions of a project's data set."""

    shape, takes, status = shapes.GenerationShape, shapes.NewGeneration, 202
    filters = {"generator": QueryFilter("generator"), "state": QueryFilter("job__state", Job.State.values)}

    def rows(self, request, slug):
        return access.project_for(request.user, slug, RESEARCHER).generation_runs.select_related("job")

    def post(self, request, slug):
        """Ask one model. What it wrote becomes responses once it is published."""
        project = access.project_for(request.user, slug, RESEARCHER)
        asked = self.taken(request)
        wanted = generating.GenerationRequest(
            asked["generator"],
            passages=asked["passages"],
            most_passages=asked["most_passages"],
            repetitions=asked["repetitions"],
            context_setting=asked["context_setting"],
            parameters=asked["parameters"],
            limits=CostLimits(asked["limit_tokens"], asked["limit_money"]),
        )
        run = generating.start(project, request.user, wanted, asked["queue"], again=asked["again"])
        return self.given(run, Location=f"/api/v1/generations/{run.uuid}/")


class GenerationDetailRoute(Route):
    """One run."""

    shape = shapes.GenerationShape

    def get(self, request, uuid):
        return Response(self.shape(access.run_for(request.user, uuid, GenerationRun)).data)


class GenerationPublishRoute(Route):
    """Publish what the run wrote as responses: a job does it."""

    takes, gives, status = shapes.Nothing, shapes.JobShape, 202

    def post(self, request, uuid):
        run = access.run_for(request.user, uuid, GenerationRun)
        if not access.may_edit_dataset(request.user, run.project.dataset):
            raise PermissionDenied("You need permission to change the data set")
        try:
            job = publishing.start(request.user, run)
        except publishing.PublishingProblem as problem:
            raise Problem(409, str(problem)) from None
        return self.given(job, Location=f"/api/v1/jobs/{job.uuid}/")

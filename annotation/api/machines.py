"""Checker runs with what they said, and what was trained."""

from django.core.exceptions import PermissionDenied
from rest_framework.response import Response

from annotation import access
from annotation.access import RESEARCHER
from annotation.api import shapes
from annotation.api.routes import UUID, Listing, QueryFilter, Route
from annotation.api.uploading import IntoRun
from annotation.machines.runs import suggesting
from annotation.machines.runs.uploading import LABELS, SCORES
from annotation.models import Job, Score, Suggestion
from annotation.work import showing
from annotation.work.label_access import API, labels_served


class RunsRoute(Listing):
    """Runs of checkers, and what was uploaded of checkers elsewhere."""

    shape, takes, status = shapes.RunShape, shapes.NewRun, 202
    filters = {"checker": QueryFilter("checker"), "state": QueryFilter("job__state", Job.State.values)}

    def rows(self, request, slug):
        project = access.project_for(request.user, slug, RESEARCHER)
        return project.checker_runs.select_related("job", "project")

    def post(self, request, slug):
        """Start a run of one of Assay's checkers over the project's units."""
        project = access.project_for(request.user, slug, RESEARCHER)
        asked = self.taken(request)
        run = suggesting.start_run(
            project, request.user, asked["checker"], asked["parameters"], asked["queue"], again=asked["again"]
        )
        return self.given(run, Location=f"/api/v1/runs/{run.uuid}/")


class RunDetailRoute(Route):
    """One run."""

    shape = shapes.RunShape

    def get(self, request, uuid):
        return Response(self.shape(access.run_for(request.user, uuid)).data)


class ShowRunRoute(Route):
    """Make a run's suggestions the ones that annotators are shown, under the project's policy."""

    takes, gives = shapes.Nothing, shapes.RunShape

    def post(self, request, uuid):
        run = access.run_for(request.user, uuid)
        suggesting.show_to_annotators(run)
        return self.given(access.run_for(request.user, uuid))


class RunRows(Listing):
    """What runs that are done said of units. Whoever still labels here is told nothing of it."""

    model: type

    def rows(self, request, slug):
        project = access.project_for(request.user, slug, RESEARCHER)
        if access.has_open_work(request.user, project):
            raise PermissionDenied("You still have items to label in this project; checkers' answers are hidden")
        self.project = project
        rows = self.model.objects.filter(run__project=project, run__job__state=Job.State.DONE)
        return rows.select_related("run", "unit")

    def prepared(self, page: list) -> list:
        if page and self.request.method != "HEAD":
            showing.told(self.project, self.request.user, sorted({str(row.run.uuid) for row in page}))
        return page


class SuggestionsRoute(IntoRun, RunRows):
    """Labels that checkers gave. POST stores those of a checker elsewhere: a line for each, with `unit`, `dimension`
    (which may be left out where there is one question), `label` and, where they are known, `probability` or
    `probabilities`."""

    says = LABELS
    model, shape = Suggestion, shapes.SuggestionShape
    filters = {
        "run": QueryFilter("run__uuid", kind=UUID),
        "checker": QueryFilter("run__checker"),
        "unit": QueryFilter("unit__key"),
        "dimension": QueryFilter("dimension"),
        "label": QueryFilter("label"),
    }


class ScoresRoute(IntoRun, RunRows):
    """Numbers that checkers gave. POST stores those of a checker elsewhere: a line for each, with `unit`, `value`
    (null: undefined) and, where there are several, `name`."""

    says = SCORES
    model, shape = Score, shapes.ScoreShape
    filters = {
        "run": QueryFilter("run__uuid", kind=UUID),
        "checker": QueryFilter("run__checker"),
        "unit": QueryFilter("unit__key"),
        "name": QueryFilter("name"),
    }


class TrainingsRoute(Listing):
    """Checkers that were trained on the project's labels. Whoever still labels here is not told how well."""

    shape = shapes.TrainingShape
    filters = {"state": QueryFilter("job__state", Job.State.values)}

    def rows(self, request, slug):
        self.project = access.project_for(request.user, slug, RESEARCHER)
        return self.project.trained_models.select_related("job")

    def prepared(self, page: list) -> list:
        self.is_blind = access.has_open_work(self.request.user, self.project)
        if not self.is_blind and any(model.figures for model in page):
            labels_served(self.request, self.project, API)
        return page

    def shown_with(self, request) -> dict:
        return {"is_blind": self.is_blind}

"""How a project asks, and when: its settings, its state, what it changes about its task, its guidelines."""

from rest_framework.response import Response

from annotation import access
from annotation.access import RESEARCHER
from annotation.api import shapes
from annotation.api.problems import Problem, invalid_form
from annotation.api.routes import Listing, Route
from annotation.projects import guidelines, managing
from annotation.projects.forms.projects import ProjectSettingsForm
from annotation.projects.item_job import start_item_job
from annotation.projects.options import set_options
from annotation.task_types import OptionsError

MOVES = {"open": managing.open_project, "pause": managing.pause_project, "close": managing.close_project}


class SettingsRoute(Route):
    """What may still change once a project has items. POST changes what it names and leaves the rest."""

    shape, takes = shapes.SettingsShape, shapes.NewSettings

    def get(self, request, slug):
        return self._shown(access.project_for(request.user, slug, RESEARCHER))

    def post(self, request, slug):
        project = access.project_for(request.user, slug, RESEARCHER)
        run = project.prefill_run
        said = {name: getattr(project, name) for name in managing.CHANGEABLE} | {"prefill_run": run and run.uuid}
        form = ProjectSettingsForm(said | self.taken(request), instance=project)
        form.fields["prefill_run"].to_field_name = "uuid"
        if not form.is_valid():
            raise invalid_form(form)
        managing.update_project(project, **form.cleaned_data)
        return self._shown(project)

    def _shown(self, project) -> Response:
        return Response(self.shape(project).data)


class StateRoute(Route):
    """Open a project for labelling, pause it, or close it."""

    takes, gives = shapes.NewState, shapes.StateShape

    def post(self, request, slug):
        project = access.project_for(request.user, slug, RESEARCHER)
        return self.given(MOVES[self.taken(request)["move"]](project))


class MakeItemsRoute(Route):
    """Make the items that the project lacks: its data set has grown, or making them had failed."""

    takes, gives, status = shapes.Nothing, shapes.JobDetailShape, 202

    def post(self, request, slug):
        job = start_item_job(access.project_for(request.user, slug, RESEARCHER), request.user)
        return self.given(job, Location=f"/api/v1/jobs/{job.uuid}/")


class OptionsRoute(Route):
    """What the project changes about its task, as an export has it under `options`; `version` 0: nothing, so far."""

    shape, takes = shapes.OptionsShape, shapes.NewOptions

    def get(self, request, slug):
        return Response(self.shape(access.project_for(request.user, slug, RESEARCHER)).data)

    def post(self, request, slug):
        """Ask this way from everybody's next item on. The same again stays the version that it is."""
        project = access.project_for(request.user, slug, RESEARCHER)
        try:
            return self.given(set_options(project, request.user, self.taken(request)["options"]))
        except OptionsError as wrong:
            errors = [{"field": f"options.{place}".rstrip("."), "message": said} for place, said in wrong.problems]
            raise Problem(422, str(wrong), errors=errors) from None


class GuidelinesRoute(Listing):
    """All versions of the guidelines, in Markdown; the last one is in force."""

    shape, takes, status = shapes.GuidelineShape, shapes.NewGuideline, 201

    def rows(self, request, slug):
        return access.project_for(request.user, slug).guidelines.all()

    def post(self, request, slug):
        """Put a text in force as a new version. The same again stays the version that it is."""
        project = access.project_for(request.user, slug, RESEARCHER)
        return self.given(guidelines.publish(project, request.user, self.taken(request)["markdown"]))

"""How a project asks, and when: its settings, its state, what it changes about its task, its guidelines."""

from django.db.models import Max
from rest_framework.response import Response

from annotation import access
from annotation.access import RESEARCHER
from annotation.api import shapes
from annotation.api.problems import Problem, invalid_form
from annotation.api.routes import Editing, Listing, Route
from annotation.projects import guidelines, managing
from annotation.projects.forms.projects import ProjectSettingsForm
from annotation.projects.item_job import start_item_job
from annotation.projects.options import set_options
from annotation.task_types import OptionsError

MOVES = {"open": managing.open_project, "pause": managing.pause_project, "close": managing.close_project}


class SettingsRoute(Editing, Route):
    """What may still change once a project has items. POST changes what it names and leaves the rest."""

    shape, request_shape = shapes.SettingsShape, shapes.NewSettings

    def version_of(self, project):
        return self.shape(project).data

    def get(self, request, slug):
        return self._shown(access.project_for(request.user, slug, RESEARCHER))

    def post(self, request, slug):
        project, named = access.project_for(request.user, slug, RESEARCHER), self.validated_body(request)
        with self.edited(project):
            form = ProjectSettingsForm(self.shape(project).data | named, project=project)
            form.fields["prefill_run"].to_field_name = "uuid"
            if not form.is_valid():
                raise invalid_form(form)
            changes = {name: form.cleaned_data[name] for name in named}
            managing.update_project(project, request.user, **changes)
        return self._shown(project)

    def _shown(self, project) -> Response:
        return self.tagged(Response(self.shape(project).data), project)


class StateRoute(Route):
    """Open a project for labelling, pause it, or close it."""

    request_shape, response_shape = shapes.NewState, shapes.StateShape

    def post(self, request, slug):
        project = access.project_for(request.user, slug, RESEARCHER)
        return self.respond(MOVES[self.validated_body(request)["move"]](project, request.user))


class MakeItemsRoute(Route):
    """Make the items that the project lacks: its data set has grown, or making them had failed."""

    request_shape, response_shape, status = shapes.Nothing, shapes.JobDetailShape, 202

    def post(self, request, slug):
        job = start_item_job(access.project_for(request.user, slug, RESEARCHER), request.user)
        return self.respond(job, Location=f"/api/v1/jobs/{job.uuid}/")


class OptionsRoute(Editing, Route):
    """What the project changes about its task, as an export has it under `options`; `version` 0: nothing, so far."""

    shape, request_shape = shapes.OptionsShape, shapes.NewOptions

    def version_of(self, project):
        return project.options_version

    def get(self, request, slug):
        project = access.project_for(request.user, slug, RESEARCHER)
        return self.tagged(Response(self.shape(project).data), project)

    def post(self, request, slug):
        """Ask this way from everybody's next item on. The same again stays the version that it is."""
        project, named = access.project_for(request.user, slug, RESEARCHER), self.validated_body(request)
        try:
            with self.edited(project):
                return self.tagged(self.respond(set_options(project, request.user, named["options"])), project)
        except OptionsError as wrong:
            errors = [{"field": f"options.{place}".rstrip("."), "message": text} for place, text in wrong.problems]
            raise Problem(422, str(wrong), errors=errors) from None


class GuidelinesRoute(Editing, Listing):
    """All versions of the guidelines, in Markdown; the last one is in force."""

    shape, request_shape, status = shapes.GuidelineShape, shapes.NewGuideline, 201

    def version_of(self, project):
        return project.guidelines.aggregate(newest=Max("version"))["newest"]

    def rows(self, request, slug):
        self.project = access.project_for(request.user, slug)
        return self.project.guidelines.all()

    def get(self, request, slug):
        return self.tagged(super().get(request, slug=slug), self.project)

    def post(self, request, slug):
        """Put a text in force as a new version. The same again stays the version that it is."""
        project, named = access.project_for(request.user, slug, RESEARCHER), self.validated_body(request)
        with self.edited(project):
            return self.tagged(self.respond(guidelines.publish(project, request.user, named["markdown"])), project)

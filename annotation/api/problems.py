"""What goes wrong, as problem details (RFC 9457): one shape for whatever a program asked."""

from __future__ import annotations

from http import HTTPStatus

from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.forms import BaseForm
from django.http import Http404, JsonResponse, UnreadablePostError
from rest_framework.exceptions import APIException, ErrorDetail, ValidationError
from rest_framework.response import Response

from annotation import incoming
from annotation.access import InPreparation
from annotation.formats import FormatError
from annotation.imports.claims.collecting import CollectingProblem
from annotation.imports.importing import ImportProblem
from annotation.imports.staged_job import PublishingProblem
from annotation.imports.uploads import UploadError
from annotation.jobs.lifecycle import SameJob, TooManyJobs
from annotation.machines.drafts.reviewing import ReviewError
from annotation.machines.runs.starting import InvalidForm, RunError, SameRun
from annotation.machines.training.training import TrainingError
from annotation.projects.invitations import InvitationError
from annotation.projects.managing import ProjectError
from models_runtime.contracts import ParameterError

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 60
CHALLENGE = 'Bearer realm="Assay"'

# What services refuse, and the status that says so. The message is for the client.
STATUSES: tuple[tuple[type[Exception], int], ...] = (
    (BadRequest, 400),
    (UnreadablePostError, 400),
    (SuspiciousOperation, 400),
    (InPreparation, 409),
    (PermissionDenied, 403),
    (Http404, 404),
    (TooManyJobs, 429),
    (CollectingProblem, 409),
    (ImportProblem, 409),
    (InvitationError, 409),
    (ProjectError, 409),
    (PublishingProblem, 409),
    (ReviewError, 409),
    (RunError, 409),
    (TrainingError, 409),
    (FormatError, 422),
    (UploadError, 422),
    (ParameterError, 422),
    (incoming.Refused, 422),
)


class Problem(APIException):
    """A refusal with its status; `more` are further members of the problem, such as `errors` by field."""

    def __init__(self, status: int, detail: str, **more):
        super().__init__(detail)
        self.status_code, self.more = status, more


def invalid(message: str, field: str = "") -> Problem:
    """One value that cannot be taken."""
    return Problem(422, message, errors=[{"field": field, "message": message}])


def invalid_form(form: BaseForm) -> Problem:
    errors = [
        {"field": "" if name == "__all__" else name, "message": message}
        for name, messages in form.errors.items()
        for message in messages
    ]
    return Problem(422, "; ".join(f"{one['field']}: {one['message']}".lstrip(": ") for one in errors), errors=errors)


def body_of(status: int, detail: str, **more) -> dict:
    return {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail} | more


def problem_response(status: int, detail: str, **more) -> JsonResponse:
    """For plain views and what stands before all views."""
    return JsonResponse(body_of(status, detail, **more), status=status, content_type=MEDIA_TYPE)


def refused(error: APIException) -> JsonResponse:
    """What the REST framework's exceptions are to plain views."""
    response = problem_response(error.status_code, str(error.detail), **getattr(error, "more", {}))
    if error.status_code == 401:
        response["WWW-Authenticate"] = CHALLENGE
    if error.status_code == 429:
        response["Retry-After"] = str(RETRY_SECONDS)
    return response


def exception_handler(error: Exception, context: dict) -> Response | None:
    """Of every route of the REST framework. None, which is 500, for what nobody expected."""
    headers, more = {}, {}
    if isinstance(error, InvalidForm):
        error = invalid_form(error.form)
    if isinstance(error, ValidationError):
        status, errors = 422, list(_fields(error.detail))
        detail = "; ".join(f"{one['field']}: {one['message']}".lstrip(": ") for one in errors)
        more = {"errors": errors}
    elif isinstance(error, APIException):
        status, detail = error.status_code, str(error.detail)
        more = getattr(error, "more", {})
        if getattr(error, "auth_header", None):
            headers["WWW-Authenticate"] = error.auth_header
    elif isinstance(error, RequestDataTooBig):
        status, detail = 413, "The request is too large"
    elif isinstance(error, SameRun):
        status, detail, more = 409, str(error), {"run": str(error.run.uuid)}
    elif isinstance(error, SameJob):
        status, detail, more = 409, str(error), {"job": str(error.job.uuid)}
    else:
        status = next((status for kind, status in STATUSES if isinstance(error, kind)), 0)
        if not status:
            return None
        detail = str(error) or HTTPStatus(status).phrase
        if isinstance(error, ParameterError):
            more = {"errors": [{"field": f"parameters.{error.name}", "message": str(error)}]}
    if status == 429:
        headers["Retry-After"] = str(RETRY_SECONDS)
    return Response(body_of(status, detail, **more), status=status, headers=headers, content_type=MEDIA_TYPE)


def _fields(found: object, path: str = ""):
    """What the REST framework found wrong, flat."""
    if isinstance(found, dict):
        for name, inner in found.items():
            yield from _fields(inner, path if name == "non_field_errors" else f"{path}.{name}".lstrip("."))
    elif isinstance(found, list):
        for at, inner in enumerate(found):
            yield from _fields(inner, path if isinstance(inner, ErrorDetail) else f"{path}[{at}]")
    else:
        yield {"field": path, "message": str(found)}

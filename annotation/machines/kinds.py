"""The kinds of runs. A kind is a folder whose `kind.py` declares it; what is alike among them is derived from that: the
page that starts runs, estimates, the pages of a run, publishing, and the routes of the API."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db.models import Model
from django.forms import Form
from django.urls import URLPattern
from django.utils.module_loading import import_string

from annotation.access import RESEARCHER, project_for
from annotation.models import Job, MachineRun, Project, User
from annotation.shapes import Nothing, Shape
from models_runtime.contracts import CheckerInfo

# Imported on first use, since the views of a kind import this module.
DECLARED = (
    "annotation.machines.runs.kind.KIND",
    "annotation.machines.drafts.kind.KIND",
    "annotation.machines.retrieval.kind.KIND",
    "annotation.machines.generations.kind.KIND",
    "annotation.machines.training.kind.KIND",
)


def researchers_project(user: User, slug: str) -> Project:
    return project_for(user, slug, RESEARCHER)


@dataclass(frozen=True, kw_only=True)
class Publishing:
    """How what a run made becomes content.

    Attributes
    ----------
    start : `(user, run, *, wake_workers=True, **asked) -> Job`; PublishingProblem where it cannot be done
    described : for the API
    shape : of the body of a request to the API
    job : the kind of that job
    form, why_not : of its part of the run's page, if it has one: the form, made with the run, and `(run) -> why nothing
        can be published`, empty where something can
    """

    start: Callable[..., Job]
    described: str
    shape: type[Shape] = Nothing
    job: Job.Kind
    form: type[Form] | None = None
    why_not: Callable[[Any], str] | None = None

    def jobs_of(self, run: MachineRun) -> list[Job]:
        """The publishings of a run, newest first."""
        found = Job.objects.filter(kind=self.job, project=run.project_id, parameters__run=str(run.uuid))
        return list(found.select_related("created_by").order_by("-pk"))


@dataclass(frozen=True, kw_only=True)
class RunKind:
    """A kind of runs. The API describes what starts and estimates them by the docstrings of these functions.

    Attributes
    ----------
    name : what the names of its URLs begin with, and in the plural its routes of the API
    model : whose rows are the runs
    start : `(project, user, asked, *, wake_workers=True) -> runs`; `asked` are the values of a form or the body of a
        request. RunError, SameRun, ParameterError
    estimate : `(project, user, asked) -> CostEstimate | None`; RunError, ParameterError
    described, run_described : the list of runs, and one of them, for the API
    shape, request_shape : of a run, and of what starts one
    shown_with : `(request, project, runs) -> context of the shape`, noted where that exposes labels
    project_for : the project, for who may start runs
    pages : its pages besides those that are alike
    """

    name: str
    model: type[Model]
    start: Callable[..., Sequence[Model]]
    estimate: Callable[[Project, User, Mapping[str, Any]], Any] | None = None
    publishing: Publishing | None = None
    described: str
    run_described: str = "One run."
    shape: type[Shape]
    request_shape: type[Shape]
    shown_with: Callable[[Any, Project, Sequence[Model]], dict[str, Any]] = lambda request, project, runs: {}
    project_for: Callable[[User, str], Project] = researchers_project
    pages: Sequence[URLPattern] = ()

    @property
    def machine(self) -> str:
        """The field that names what runs, if there are several; empty otherwise."""
        return getattr(self.model, "machine", "")


@dataclass(frozen=True, kw_only=True)
class MachineKind(RunKind):
    """A kind of runs of machines that the registry names.

    Attributes
    ----------
    retry : `(run, *, include_permanent) -> number of inputs`
    one, several : what a run's inputs are called
    title, tab : of the pages
    form : what starts a run of one machine
    offered : `(request, project) -> the machines by slug, and what their forms are made with besides`
    list_url, list_path, list_template : the page that starts runs
    list_parts : `(request, project, choices) -> what that page shows besides the forms`, which are made with `choices`
    path, template : the page of a run
    parts : `(request, run) -> what that page shows besides what is alike`
    crumb : the name of the page above that one
    """

    retry: Callable[..., int]
    one: str
    several: str
    title: str
    tab: str = "project_runs"
    form: type[Form]
    offered: Callable[[Any, Project], tuple[Mapping[str, CheckerInfo], dict[str, Any]]]
    list_url: str
    list_path: str
    list_template: str
    list_parts: Callable[[Any, Project, dict[str, Any]], dict[str, Any]]
    path: str
    template: str
    parts: Callable[[Any, Any], dict[str, Any]]
    crumb: str


@cache
def run_kinds() -> dict[str, RunKind]:
    """By name."""
    return {kind.name: kind for kind in map(import_string, DECLARED)}


def kind_of(run: Model) -> RunKind:
    return next(kind for kind in run_kinds().values() if isinstance(run, kind.model))

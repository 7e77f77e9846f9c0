"""Runs in which language models answer questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.machines.generations import forms, generating, publishing, queries, shapes, views
from annotation.machines.generations.generating import GenerationRequest
from annotation.machines.kinds import MachineKind, Publishing
from annotation.machines.runs.forms import PublishForm
from annotation.machines.runs.queries.costs import CostEstimate
from annotation.machines.runs.starting import RunError, values_for
from annotation.models import GenerationRun, Job, Project, User


def start(project: Project, user: User, asked: Mapping[str, Any], *, wake_workers: bool = True) -> list[GenerationRun]:
    """Ask one model. What it wrote becomes responses once it is published."""
    wanted = GenerationRequest(**values_for(GenerationRequest, asked))
    options = {"again": asked["again"], "wake_workers": wake_workers}
    if endpoints := asked.get("endpoints"):
        return generating.start_for_each(project, user, wanted, endpoints, **options)
    return [generating.start(project, user, wanted, asked["queue"], **options)]


def estimate(project: Project, user: User, asked: Mapping[str, Any]) -> CostEstimate | None:
    """About what answers would cost, from the requests for some of the questions. POST what would start the run;
    nothing is started."""
    wanted = GenerationRequest(**values_for(GenerationRequest, asked))
    if problem := generating.problem_of(project, wanted):
        raise RunError(problem)
    return queries.estimate_of(project, wanted, asked.get("endpoints", ()))


KIND = MachineKind(
    name="generation",
    model=GenerationRun,
    start=start,
    estimate=estimate,
    described="Runs in which models answer the questions of a project's data set.",
    shape=shapes.GenerationShape,
    request_shape=shapes.NewGeneration,
    retry=generating.retry_failures,
    publishing=Publishing(
        start=publishing.start,
        described="Publish what the run wrote as responses: a job does it.",
        job=Job.Kind.RESPONSES,
        form=PublishForm,
        why_not=publishing.why_not,
    ),
    one="answer",
    several="answers",
    title="Answers",
    tab="project_generations",
    form=forms.GenerationForm,
    offered=views.offered,
    list_url="project_generations",
    list_path="projects/<slug:slug>/answers/",
    list_template="annotation/generations/list.html",
    list_parts=views.list_parts,
    path="generations/",
    template="annotation/generations/detail.html",
    parts=views.parts_of,
    crumb="project_generations",
    pages=(),
)

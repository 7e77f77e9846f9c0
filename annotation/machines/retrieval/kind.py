"""Retrieval runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotation.machines.kinds import MachineKind, Publishing
from annotation.machines.retrieval import expansions, forms, publishing, retrieving, shapes, views
from annotation.machines.retrieval.retrieving import RetrievalRequest
from annotation.machines.runs.queries.costs import CostEstimate
from annotation.models import Job, Project, RetrievalRun, User


def start(project: Project, user: User, asked: Mapping[str, Any], *, wake_workers: bool = True) -> list[RetrievalRun]:
    """Start one. A preset fills in parameters; those that are given come before it."""
    options = {"again": asked["again"], "wake_workers": wake_workers}
    chosen = (project, user, RetrievalRequest.of(asked), asked["queue"])
    if times := asked.get("repetitions"):
        return retrieving.start_repeated(*chosen, times=times, **options)
    return [retrieving.start(*chosen, **options)]


def estimate(project: Project, user: User, asked: Mapping[str, Any]) -> CostEstimate | None:
    """About what the documents and queries would cost that a language model makes up for a retrieval. POST what would
    start it; nothing is started."""
    wanted = RetrievalRequest.of(asked).with_documents()
    retrieving.retriever_info(wanted)
    return expansions.estimate_of(project, wanted.asks, wanted.parameters, asked.get("repetitions", 1))


KIND = MachineKind(
    name="retrieval",
    model=RetrievalRun,
    start=start,
    estimate=estimate,
    described="Retrievals: rankings of passages, and the evidence pipeline.",
    run_described="One retrieval.",
    shape=shapes.RetrievalShape,
    request_shape=shapes.NewRetrieval,
    retry=retrieving.retry_failures,
    publishing=Publishing(
        start=publishing.start,
        described="Publish the best passages of a retrieval as evidence: a job does it.",
        shape=shapes.PublishedPassages,
        job=Job.Kind.PASSAGES,
        form=forms.PublishPassagesForm,
        why_not=publishing.why_not,
    ),
    one="query",
    several="queries",
    title="Retrieval",
    tab="project_retrieval",
    form=forms.RetrievalForm,
    offered=views.offered,
    list_url="project_retrieval",
    list_path="projects/<slug:slug>/retrieval/",
    list_template="annotation/retrieval/list.html",
    list_parts=views.list_parts,
    path="retrieval/",
    template="annotation/retrieval/detail.html",
    parts=views.parts_of,
    crumb="project_retrieval",
    pages=views.urlpatterns,
)

"""The kinds of runs that have pages: what a machine is called here, what starts and retries its runs, and what its
page shows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.utils.module_loading import import_string

from annotation.models import CheckerRun, ExtractionRun, GenerationRun, MachineRun, RetrievalRun


@dataclass(frozen=True)
class RunKind:
    """Paths name what is imported on first use: the rooms below import this table."""

    model: type[MachineRun]
    url: str  # what the names of its pages begin with
    address: str
    form: str  # its fields, and `start(project, user)`
    retry: str  # (run, *, include_permanent) -> number of inputs
    parts: str  # (request, run) -> what its page shows beside what every run's page does
    template: str
    list_url: str
    list_title: str
    tab: str
    one: str  # of what it is given
    several: str

    @cached_property
    def form_class(self) -> type:
        return import_string(self.form)

    def retry_failures(self, run: MachineRun, *, include_permanent: bool) -> int:
        return import_string(self.retry)(run, include_permanent=include_permanent)

    def parts_of(self, request, run: MachineRun) -> dict[str, Any]:
        return import_string(self.parts)(request, run)

    @property
    def detail_url(self) -> str:
        return f"{self.url}_detail"

    @property
    def progress_url(self) -> str:
        return f"{self.url}_progress"

    @property
    def retry_url(self) -> str:
        return f"{self.url}_retry"

    @property
    def limits_url(self) -> str:
        return f"{self.url}_limits"


# By `MachineRun.machine`, which is also the field of the form that says which one to start.
RUN_KINDS = {
    "checker": RunKind(
        CheckerRun,
        "run",
        "runs",
        form="annotation.machines.runs.forms.RunForm",
        retry="annotation.machines.runs.suggesting.retry_failures",
        parts="annotation.machines.runs.views.runs.parts_of",
        template="annotation/runs/detail.html",
        list_url="project_runs",
        list_title="Checker runs",
        tab="project_runs",
        one="unit",
        several="units",
    ),
    "extractor": RunKind(
        ExtractionRun,
        "extraction",
        "extractions",
        form="annotation.machines.drafts.forms.ExtractionForm",
        retry="annotation.machines.drafts.extraction.retry_failures",
        parts="annotation.machines.drafts.views.parts_of",
        template="annotation/drafts/run.html",
        list_url="project_drafts",
        list_title="Drafts",
        tab="project_drafts",
        one="source",
        several="sources",
    ),
    "retriever": RunKind(
        RetrievalRun,
        "retrieval",
        "retrieval",
        form="annotation.machines.retrieval.forms.RetrievalForm",
        retry="annotation.machines.retrieval.retrieving.retry_failures",
        parts="annotation.machines.retrieval.views.parts_of",
        template="annotation/retrieval/detail.html",
        list_url="project_retrieval",
        list_title="Retrieval",
        tab="project_retrieval",
        one="query",
        several="queries",
    ),
    "generator": RunKind(
        GenerationRun,
        "generation",
        "generations",
        form="annotation.machines.generations.forms.GenerationForm",
        retry="annotation.machines.generations.generating.retry_failures",
        parts="annotation.machines.generations.views.parts_of",
        template="annotation/generations/detail.html",
        list_url="project_generations",
        list_title="Answers",
        tab="project_generations",
        one="answer",
        several="answers",
    ),
}

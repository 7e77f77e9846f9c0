"""Reads of generation runs for their pages: the list, the texts, and what a run would cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.core.paginator import Page, Paginator

from annotation.machines.generations.generating import (
    GenerationRequest,
    passages_for,
    problem_of,
    questions_in,
    retrievals_of,
)
from annotation.machines.runs.queries.costs import CostEstimate, evenly
from annotation.machines.runs.queries.samples import prompt_parts
from annotation.models import GeneratedText, GenerationRun, Project, RetrievalRun
from models_runtime import registry
from models_runtime.contracts import Usage
from models_runtime.generators.contracts import GenerationInput

PER_PAGE = 25


def runs_of(project: Project, most: int) -> list[tuple[GenerationRun, str]]:
    """Newest first, each with what its model was shown."""
    return with_words(project.generation_runs.select_related("job", "created_by").order_by("-pk")[:most])


def with_words(runs: Iterable[GenerationRun]) -> list[tuple[GenerationRun, str]]:
    runs = list(runs)
    retrievals = retrievals_of(runs)
    return [(run, _in_words(run, retrievals.get(run.passages))) for run in runs]


def _in_words(run: GenerationRun, retrieval: RetrievalRun | None) -> str:
    if not run.passages:
        return "no passages"
    if retrieval is None:
        return f"up to {run.most_passages} passages of the data set"
    started = f"{retrieval.created_at:%Y-%m-%d %H:%M} UTC"
    return f"up to {run.most_passages} passages that {retrieval.retriever} retrieved, {started}"


@dataclass(frozen=True)
class TextRow:
    """A text as its run's page shows it."""

    text: GeneratedText
    prompt: list[tuple[str, str]]
    output: str
    is_cut: bool


def texts_page(run: GenerationRun, page: str | int | None = 1, *, failed: bool = False) -> Page:
    """A page of the texts, with their questions; two queries."""
    rows = run.failures if failed else run.texts.all()
    found = Paginator(rows.select_related("question").order_by("question_id", "repetition"), PER_PAGE).get_page(page)
    found.object_list = [
        TextRow(
            row,
            list(prompt_parts((row.trace or {}).get("prompt"))),
            (row.trace or {}).get("output", ""),
            (row.trace or {}).get("is_cut", False),
        )
        for row in found.object_list
    ]
    return found


def estimate_of(
    project: Project, request: GenerationRequest, endpoints: Sequence[str | None] = ()
) -> CostEstimate | None:
    """Of a run at each endpoint, from the requests for some of the questions, evenly spread; None where that cannot be
    told without asking."""
    if problem_of(project, request):
        return None
    questions = questions_in(project.dataset)
    ids = list(questions.values_list("pk", flat=True))
    sampled = evenly(ids)
    shown = passages_for(request.passages, request.most_passages, sampled)
    inputs = [
        GenerationInput(str(pk), text, passages=tuple(one.text for one in shown[pk]))
        for pk, text in questions.filter(pk__in=sampled).values_list("pk", "text")
    ]
    usage = registry.estimated_usage(request.generator, inputs, parameters=request.parameters)
    if usage is None or not inputs:
        return None
    texts = len(ids) * request.repetitions
    total = Usage(*(round(one * texts / len(inputs)) for one in (usage.prompt_tokens, usage.completion_tokens)))
    endpoints = endpoints or [request.parameters.get("endpoint")]
    return CostEstimate.of(texts, "answers of each model", total, len(inputs), endpoints=endpoints)

"""Generation runs: which answers are asked for, from which passages, and the start of a run."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from annotation import incoming
from annotation.machines.runs import starting, storing
from annotation.machines.runs.limits import CostLimits
from annotation.machines.runs.limits import why_not as why_no_limits
from annotation.machines.runs.starting import RunError, SameRun
from annotation.models import (
    Dataset,
    Evidence,
    GenerationRun,
    Job,
    Project,
    Question,
    RankedPassage,
    RetrievalRun,
    User,
)
from models_runtime import registry
from models_runtime.contracts import CheckerInfo

CHUNK_SIZE = 32
MOST_REPETITIONS, MOST_PASSAGES, PASSAGES = 100, 200, 10
# What a model is shown: nothing, or the evidence that there is; else the passages of a retrieval.
NOTHING, OWN = "", "own"
SETTINGS = {NOTHING: "closed book", OWN: "given passages"}
RETRIEVED = "retrieved passages"
SETTING_CHARS = 200

Asked = tuple[int, int]  # id of a question, repetition


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """`passages` is NOTHING, OWN or the UUID of a retrieval; an empty `context_setting` is named by it."""

    generator: str
    passages: str = NOTHING
    most_passages: int = PASSAGES
    repetitions: int = 1
    context_setting: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    limits: CostLimits = CostLimits()


def generators() -> dict[str, CheckerInfo]:
    """By slug."""
    return {info.slug: info for info in registry.list_infos() if info.gives == "texts"}


def questions_in(dataset: Dataset):
    """In a fixed order; those without words are left out."""
    return Question.objects.published().filter(dataset=dataset).exclude(text="").order_by("pk")


def retrievals_for(project: Project):
    """Runs whose passages can be shown, newest first."""
    return project.retrieval_runs.filter(asks="question", job__state=Job.State.DONE).order_by("-pk")


def start(
    project: Project,
    user: User,
    request: GenerationRequest,
    queue: str | None = None,
    *,
    again: bool = False,
    wake_workers: bool = True,
) -> GenerationRun:
    """A run on its way. Raises RunError, ParameterError (by name) and, unless `again`, SameRun."""
    if reason := problem_of(project, request):
        raise RunError(reason)
    info = generators()[request.generator]
    parameters = registry.complete_parameters(info, request.parameters)
    if reason := why_no_limits(request.limits, parameters):
        raise RunError(reason)
    keys = dict(questions_in(project.dataset).values_list("pk", "key"))
    if not keys:
        raise RunError("The data set has no questions with a text")
    run = GenerationRun(
        project=project,
        generator=info.slug,
        version=info.version,
        parameters=parameters,
        passages=request.passages,
        most_passages=request.most_passages if request.passages else 0,
        repetitions=request.repetitions,
        context_setting=request.context_setting or SETTINGS.get(request.passages, RETRIEVED),
        created_by=user,
    )
    shown = [run.passages, run.most_passages, run.context_setting]
    if run.passages == OWN:
        shown.append(_evidence_of(keys).order_by("-pk").values_list("pk", flat=True).first())
    asked = [(question, repetition) for repetition in range(request.repetitions) for question in keys]
    return starting.store_run(
        run,
        Job.Kind.GENERATION,
        queue=starting.chosen_queue(info, queue),
        chunks=chunks_of(asked),
        asked={"asked_sha256": starting.digest_of([shown, run.repetitions, list(keys)])},
        noted={"sample": storing.sample_of(keys)} | request.limits.noted(),
        again=again,
        wake_workers=wake_workers,
    )


def start_for_each(
    project: Project,
    user: User,
    request: GenerationRequest,
    endpoints: Iterable[str],
    **options: Any,
) -> list[GenerationRun]:
    """A run at each of the endpoints, each a model. What is refused of one is refused of all; SameRun where every one
    of them has run before."""
    runs, same = [], None
    for endpoint in endpoints:
        wanted = replace(request, parameters={**request.parameters, "endpoint": endpoint})
        try:
            runs.append(start(project, user, wanted, **options))
        except SameRun as exists:
            same = exists
    if not runs and same:
        raise same
    return runs


def problem_of(project: Project, request: GenerationRequest) -> str:
    """Why this cannot be asked of the project; empty where it can."""
    known = generators()
    if request.generator not in known:
        return f"There is no generator {request.generator!r}; available: {', '.join(known) or 'none'}"
    if reason := registry.not_configured(request.generator):
        return reason
    if project.is_preparing:
        return project.why_not_ready
    if not 1 <= request.repetitions <= MOST_REPETITIONS:
        return f"Ask for 1 to {MOST_REPETITIONS} repetitions"
    if request.passages and not 1 <= request.most_passages <= MOST_PASSAGES:
        return f"Show 1 to {MOST_PASSAGES} passages"
    setting = request.context_setting
    if len(setting) > SETTING_CHARS or not setting.isprintable() or setting != setting.strip():
        return f"The context setting's name has at most {SETTING_CHARS} characters and no line breaks"
    if request.passages == OWN:
        if not _evidence_of(questions_in(project.dataset).values("pk")).exists():
            return "The data set's questions have no passages to show"
    elif request.passages:
        try:
            known = retrievals_for(project).filter(uuid=incoming.uuid_of(request.passages)).exists()
        except incoming.Refused:
            known = False
        if not known:
            return f"This project has no retrieval {request.passages!r} for its questions"
    return ""


def chunks_of(asked: list[Asked]) -> Iterator[tuple[dict, int]]:
    return starting.chunks_of("texts", asked, CHUNK_SIZE)


def retry_failures(run: GenerationRun, *, include_permanent: bool = False) -> int:
    """See `starting.retry`."""

    def chunks(ids: list[int]) -> Iterator[tuple[dict, int]]:
        asked = run.failures.filter(pk__in=ids).order_by("pk").values_list("question_id", "repetition")
        return chunks_of(list(asked))

    return starting.retry(run, "pk", chunks, include_permanent=include_permanent)


# --- what is shown ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A passage as a model is shown it, with the key of the evidence or of the document that it is from."""

    key: str
    text: str


def passages_for(passages: str, most: int, question_ids: Iterable[int]) -> dict[int, list[ShownPassage]]:
    """By question what the model is shown, in order; one query."""
    found: dict[int, list[ShownPassage]] = defaultdict(list)
    if not passages:
        return found
    if passages == OWN:
        rows = _evidence_of(list(question_ids)).in_order().values_list("question_id", "key", "text")
    else:
        ranked = RankedPassage.objects.filter(
            ranking__run__uuid=uuid.UUID(passages), rank__lte=most, ranking__question__in=list(question_ids)
        )
        rows = ranked.order_by("ranking_id", "rank").values_list("ranking__question_id", "document", "text")
    for question, key, text in rows:
        if len(found[question]) < most and text.strip():
            found[question].append(ShownPassage(key, text))
    return found


def _evidence_of(question_ids):
    return Evidence.objects.published().filter(question__in=question_ids)


def retrievals_of(runs: Iterable[GenerationRun]) -> dict[str, RetrievalRun]:
    """By UUID, the retrievals whose passages these runs show; one query."""
    wanted = {run.passages for run in runs} - SETTINGS.keys()
    return {str(one.uuid): one for one in RetrievalRun.objects.filter(uuid__in=wanted)} if wanted else {}

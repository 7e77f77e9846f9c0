"""Training a checker on the project's own labels: asking for it, and the job that does it.

A job is one chunk. Everything is computed before anything is kept: the files are put in place by one renaming, under
the hash of what they hold, and the row is written in the transaction that closes the chunk. A worker that dies leaves
nothing; the next one starts from the same labels, because the job holds their moment.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.access import has_open_work
from annotation.decisions.moments import Moment, decision_sets, set_title
from annotation.jobs import lifecycle
from annotation.machines.runs.checker_inputs import checker_inputs, why_not
from annotation.machines.training import trained_models
from annotation.machines.training.queries.labels import TrainingLabels, training_labels
from annotation.models import Chunk, Decision, Job, Project, TrainedModel, User
from models_runtime import registry
from models_runtime.contracts import CheckerError, ParameterError
from models_runtime.training.features import HIDDEN, REPRESENTATIONS, check_encoder
from models_runtime.training.features import MODEL as ENCODER
from models_runtime.training.hidden import POOLINGS as POOLINGS
from models_runtime.training.hidden import HiddenStates
from models_runtime.training.learning import Example, train
from models_runtime.training.settings import (
    CLASSIFIERS,
    FINE_TUNED,
    MIN_GROUPS_PER_LABEL,
    MIN_PER_LABEL,
    Settings,
    TooLittle,
    what_is_missing,
)

QUEUE, QUEUE_OF_LARGE = "cpu", "gpu"
INPUTS_AT_ONCE = 500
# Methods whose decisions are a set to learn from.
SETS = (Decision.Method.ADJUDICATED.value, Decision.Method.IMPORTED.value, Decision.Method.RULE.value)
LANGUAGE_MODEL_OF = "answer-probabilities"  # this scorer's default is small enough for a laptop


class TrainingError(Exception):
    """The training cannot be started; the message is for the person who asked."""


class TooFewLabels(TrainingError):
    """The message says which, and so tells what others said."""


@dataclass(frozen=True, slots=True)
class TrainingRequest:
    classifier: str = "svm"
    representation: str = "combined"
    source: str = TrainedModel.Source.BOTH.value
    balanced: bool = True
    minimum: int = MIN_PER_LABEL
    skip_rare: bool = False
    include_touched: bool = False
    encoder: str = ""  # of embeddings, or what is fine-tuned; empty: the packaged one
    # Of the representation `hidden-states` only.
    hidden_model: str = ""
    layers: str = "-1"
    pooling: str = "last"

    def __post_init__(self) -> None:
        if self.classifier not in CLASSIFIERS or self.representation not in REPRESENTATIONS:
            raise TrainingError(f"There is no classifier {self.classifier!r} on {self.representation!r}")
        if not (self.source in TrainedModel.Source.values or is_set(self.source)) or self.minimum < MIN_PER_LABEL:
            raise TrainingError(
                f"The labels must be one of {', '.join(TrainedModel.Source.values)}, or a set of decisions such as "
                "rule:NAME"
            )
        try:
            _ = self.hidden
        except ParameterError as error:
            raise TrainingError(f"Hidden states: {error}") from error
        try:
            check_encoder(self.base)
        except ParameterError as error:
            raise TrainingError(str(error)) from error

    @property
    def hidden(self) -> HiddenStates | None:
        if self.representation != HIDDEN:
            return None
        return HiddenStates(self.hidden_model.strip(), self.layers, self.pooling)

    @property
    def base(self) -> str:
        return self.encoder.strip() or ENCODER

    @property
    def is_fine_tuned(self) -> bool:
        return self.representation == FINE_TUNED

    @property
    def learner(self) -> str:
        """The classifier, which is the network itself where that is fine-tuned."""
        return FINE_TUNED if self.is_fine_tuned else self.classifier

    @property
    def queue(self) -> str:
        """The queue whose workers train it and run it afterwards."""
        return QUEUE_OF_LARGE if self.hidden or self.is_fine_tuned else QUEUE


def method_of(parameters: dict[str, Any]) -> tuple[str, str]:
    """The titles of how a checker learnt, and of what, by its stored request."""
    request = TrainingRequest(**parameters)
    if request.is_fine_tuned:
        return "Fine-tuned transformer", f"Both texts, read by {request.base}"
    encoder = f" ({request.base})" if request.encoder.strip() else ""
    return CLASSIFIERS[request.classifier], REPRESENTATIONS[request.representation] + encoder


def is_set(name: str) -> bool:
    """Whether it can be the name of a set of decisions."""
    method, _, rule = name.partition(":")
    return method in SETS and bool(rule) == (method == Decision.Method.RULE)


def sources_of(project: Project) -> list[tuple[str, str]]:
    """What a checker can learn from here, with its title: besides the usual labels, each set of decisions."""
    return [*TrainedModel.Source.choices, *((name, set_title(name)) for name in decision_sets(project))]


def source_title(name: str) -> str:
    return TrainedModel.Source(name).label if name in TrainedModel.Source.values else set_title(name)


def language_model() -> tuple[str, str]:
    """The language model that is offered first for hidden states, and what to type to fetch it; empty where it is."""
    return registry.get_info(LANGUAGE_MODEL_OF).model, registry.fetch_command(LANGUAGE_MODEL_OF)


def start_training(
    project: Project, user: User, request: TrainingRequest, *, wake_workers: bool = True
) -> TrainedModel:
    """A training on the labels that there are now, on its way; TrainingError says what is missing."""
    kind = project.type
    if reason := why_not(kind):
        raise TrainingError(reason)
    if trained_models.KIND not in kind.checkers:
        raise TrainingError(f"{kind.title} has no trained checkers")
    if project.is_preparing:
        raise TrainingError(project.why_not_ready)
    if request.source not in dict(sources_of(project)):
        raise TrainingError(f"The project has no decisions that are called {request.source}")
    moment = Moment.now(project)
    found = training_labels(project, request.source, moment, include_touched=request.include_touched)
    if problems := missing_labels(project, found, request):
        raise TooFewLabels(". ".join(problems) + ".")
    with transaction.atomic():
        job = lifecycle.create_job(
            Job.Kind.TRAINING,
            user,
            project=project,
            queue=request.queue,
            chunks=[({}, 0)],
            parameters=asdict(request),
            wake_workers=wake_workers,
        )
        return TrainedModel.objects.create(
            project=project,
            job=job,
            parameters=asdict(request),
            label_version=project.label_version,
            moment=asdict(moment) | {"at": timezone.now().isoformat()},
            created_by=user,
        )


def start_for(project: Project, user: User, request: TrainingRequest, *, wake_workers: bool = True) -> TrainedModel:
    """`start_training`; who still labels here is not told which labels are too few."""
    try:
        return start_training(project, user, request, wake_workers=wake_workers)
    except TooFewLabels:
        if has_open_work(user, project):
            raise TrainingError("There are too few labels to learn from yet") from None
        raise


def missing_labels(project: Project, found: TrainingLabels, request: TrainingRequest) -> list[str]:
    """What is missing before a checker can be trained, in sentences; nothing where there is enough."""
    problems, trainable = [], 0
    dimensions = [one for one in project.type.asked_dimensions if one.role]
    for dimension in dimensions:
        labels, groups = found.of(dimension.slug)
        if request.skip_rare:
            rare = {
                label
                for label in set(labels)
                if labels.count(label) < request.minimum
                or len({group for one, group in zip(labels, groups, strict=True) if one == label})
                < MIN_GROUPS_PER_LABEL
            }
            kept = [(label, group) for label, group in zip(labels, groups, strict=True) if label not in rare]
            labels, groups = [label for label, _ in kept], [group for _, group in kept]
        if missing := what_is_missing(labels, groups, request.minimum):
            problems += [f"{dimension.title}: {one}" for one in missing]
        else:
            trainable += 1
    if trainable and request.skip_rare:
        return []
    return problems


def examples_of(project: Project, found: TrainingLabels, beat=lambda: None) -> list[Example]:
    """Labelled units with what a checker is given about them; those that were withdrawn meanwhile are left out."""
    kind, unit_ids = project.type, list(found.labels)
    examples = []
    for start in range(0, len(unit_ids), INPUTS_AT_ONCE):
        beat()
        inputs = checker_inputs(kind, unit_ids[start : start + INPUTS_AT_ONCE])
        examples += [Example(one, found.groups[unit], found.labels[unit]) for unit, one in inputs.items()]
    return examples


class TrainingHandler:
    """See `jobs.Handler`."""

    def run_chunk(self, chunk: Chunk, lease: lifecycle.Lease) -> None:
        model = TrainedModel.objects.select_related("project").get(job_id=chunk.job_id)
        request = TrainingRequest(**model.parameters)
        moment = Moment(model.moment["revision"], model.moment["decision"])
        found = training_labels(model.project, request.source, moment, include_touched=request.include_touched)
        trained_models.use_folder()
        try:
            trained = train(
                examples_of(model.project, found, lease.beat),
                Settings(request.learner, balanced=request.balanced),
                representation=request.representation,
                hidden=request.hidden,
                encoder=request.base,
                minimum=request.minimum,
                skip_rare=request.skip_rare,
                beat=lambda done, total, doing: lease.progress(done, total, doing),
            )
        except (TooLittle, CheckerError) as error:
            raise lifecycle.JobError(str(error)) from error
        with transaction.atomic():
            lease.complete()  # first: a worker that has lost the lease keeps nothing
            TrainedModel.objects.filter(pk=model.pk).update(**_outcome(trained, found))

    def finish(self, job: Job, lease: lifecycle.Lease) -> dict:
        model = TrainedModel.objects.get(job=job)
        total = max(job.progress_total, 1)
        Job.objects.filter(pk=job.pk).update(progress_done=total, progress_total=total)
        return {"file_hash": model.file_hash, "dimensions": model.dimensions}

    def clean_up(self, job: Job) -> None:
        """Nothing is kept before the end."""


HANDLER = TrainingHandler()


def _outcome(trained, found: TrainingLabels) -> dict[str, Any]:
    metadata = trained.metadata
    return {
        "dimensions": list(metadata["dimensions"]),
        "data_hash": metadata["data_sha256"],
        "file_hash": trained.id,
        "figures": metadata["dimensions"],
        "counts": {
            "units": len(found.labels),
            "groups": len(set(found.groups.values())),
            "ties": found.ties,
            "touched": found.touched,
            "without_features": metadata["without_features"],
            "skipped": metadata["skipped"],
        },
        "provenance": metadata["features"] | {"settings": metadata["settings"], "trained_with": metadata["libraries"]},
    }

"""Reads of trained checkers for their pages: the list, figures as rows, the learning curve as a picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import QuerySet

from annotation.decisions.moments import Moment
from annotation.machines.training.queries.labels import TRAINED, training_labels
from annotation.models import CheckerRun, Project, TrainedModel
from annotation.task_types import Dimension, TaskType

# The picture of a learning curve, in units of its view box.
WIDTH, HEIGHT = 480, 240
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 12, 34


def trained_models_of(project: Project) -> QuerySet[TrainedModel]:
    """Newest first."""
    return TrainedModel.objects.filter(project=project).select_related("job", "created_by").order_by("-pk")


def runs_with(model: TrainedModel) -> QuerySet[CheckerRun]:
    """Runs of this checker, newest first."""
    runs = CheckerRun.objects.filter(project=model.project, checker=TRAINED, parameters__model=model.file_hash)
    return runs.select_related("job").order_by("-pk")


def facts_of(model: TrainedModel) -> list[tuple[str, str]]:
    """What made it, and of what, for reading."""
    made = model.provenance
    settings, libraries = made.get("settings", {}), made.get("libraries", {}) | made.get("trained_with", {})
    return [
        ("Labels up to", f"revision {model.moment['revision']}, decision {model.moment['decision']}"),
        ("Texts and labels", f"sha256:{model.data_hash}" if model.data_hash else "–"),
        ("Revision", f"sha256:{model.file_hash}" if model.file_hash else "–"),
        ("Encoder", " ".join((made.get("encoder", ""), made.get("encoder_revision", ""))).strip() or "–"),
        *_facts_of_layers(made),
        ("Settings", ", ".join(f"{name} {value}" for name, value in settings.items()) or "–"),
        ("Libraries", ", ".join(f"{name} {version}" for name, version in sorted(libraries.items())) or "–"),
    ]


def _facts_of_layers(made: dict) -> list[tuple[str, str]]:
    if "layers" not in made:
        return []
    return [
        ("Layers", f"{made['layers']} ({'the last token' if made['pooling'] == 'last' else 'mean over all tokens'})"),
        ("Prompt", made["prompt"]),
    ]


@dataclass(frozen=True)
class LabelCount:
    title: str
    rows: list[tuple[str, int]]  # label and how often it was given, labels never given included
    groups: int


def count_labels(projects: Iterable[Project]) -> dict[int, dict]:
    """By project, how many labels there are to learn from now, per dimension; and of how many annotations none is taken
    because a trained checker's suggestion was shown with them. It reads them all."""
    found = {}
    for project in projects:
        known = training_labels(project, TrainedModel.Source.BOTH, Moment.now(project))
        by_dimension = {}
        for dimension in _dimensions(project.type):
            labels, groups = known.of(dimension.slug)
            by_dimension[dimension.slug] = [dict(Counter(labels)), len(set(groups))]
        found[project.pk] = {"touched": known.touched, "counts": by_dimension}
    return found


def label_counts(kind: TaskType, counted: Mapping) -> list[LabelCount]:
    """What `count_labels` found, in words."""
    found = []
    for dimension in _dimensions(kind):
        numbers, groups = counted["counts"].get(dimension.slug, ({}, 0))
        rows = [(label.title, numbers.get(label.value, 0)) for label in dimension.labels]
        found.append(LabelCount(dimension.title, rows, groups))
    return found


def _dimensions(kind: TaskType) -> list[Dimension]:
    return [dimension for dimension in kind.asked_dimensions if dimension.role]


@dataclass(frozen=True)
class Curve:
    """A learning curve drawn: points and a line for accuracy and for macro-F1, in the view box's units."""

    width: int
    height: int
    accuracy: str  # points of a polyline
    macro_f1: str
    baseline: float  # y
    marks: list[dict]
    y_ticks: list[tuple[float, str]]
    x_ticks: list[tuple[float, str]]


@dataclass(frozen=True)
class DimensionFigures:
    title: str
    n: int
    groups: int
    scores: dict
    baseline: dict
    log_loss: float
    folds: list[dict]
    points: list[dict]
    curve: Curve
    labels: list[str]
    confusion: list[tuple[str, list[int]]]  # what people said, then how often each label was predicted for it
    left_out: list[tuple[str, int]]


def figures_of(model: TrainedModel, kind: TaskType) -> list[DimensionFigures]:
    """What a training that is done found, under the titles that the project shows."""
    found = []
    for dimension in kind.dimensions:
        stored = model.figures.get(dimension.slug)
        if stored is None:
            continue
        evaluation = stored["evaluation"]
        titles = [dimension.label(value).title for value in stored["labels"]]
        found.append(
            DimensionFigures(
                title=dimension.title,
                n=stored["n"],
                groups=stored["groups"],
                scores=evaluation["scores"],
                baseline=evaluation["baseline"],
                log_loss=evaluation["log_loss"],
                folds=evaluation["folds"],
                points=evaluation["curve"],
                curve=curve_of(evaluation["curve"], evaluation["baseline"]["accuracy"]),
                labels=titles,
                confusion=list(zip(titles, evaluation["confusion"], strict=True)),
                left_out=[(dimension.label(value).title, n) for value, n in stored["left_out"].items()],
            )
        )
    return found


def curve_of(points: list[dict], baseline: float) -> Curve:
    """The picture: 0 to 1 upwards, the number of labels trained on to the right."""
    most = max(point["train"] for point in points)

    def x(train: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * train / most, 1)

    def y(value: float) -> float:
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - value), 1)

    def line(name: str) -> str:
        return " ".join(f"{x(point['train'])},{y(point['scores'][name])}" for point in points)

    return Curve(
        width=WIDTH,
        height=HEIGHT,
        accuracy=line("accuracy"),
        macro_f1=line("macro_f1"),
        baseline=y(baseline),
        marks=[
            {"x": x(p["train"]), "accuracy": y(p["scores"]["accuracy"]), "macro_f1": y(p["scores"]["macro_f1"])}
            for p in points
        ],
        y_ticks=[(y(tick / 4), f"{tick / 4:g}") for tick in range(5)],
        x_ticks=[(x(0), "0"), (x(most / 2), f"{most / 2:,.0f}"), (x(most), f"{most:,.0f}")],
    )

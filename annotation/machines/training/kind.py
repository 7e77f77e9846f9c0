"""Trainings of checkers on a project's labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from annotation.access import has_open_work
from annotation.machines.kinds import RunKind
from annotation.machines.runs.starting import InvalidForm
from annotation.machines.training import shapes, training, views
from annotation.machines.training.forms import TrainingForm
from annotation.models import Project, TrainedModel, User
from annotation.work.label_access import API, labels_served


def start(project: Project, user: User, asked: Mapping[str, Any], *, wake_workers: bool = True) -> list[TrainedModel]:
    """Train a checker on the labels that there are now. What the body leaves out is as the page's form begins."""
    form = TrainingForm(project, asdict(training.TrainingRequest()) | asked)
    if not form.is_valid():
        raise InvalidForm(form)
    return [training.start_for(project, user, form.request(), wake_workers=wake_workers)]


def shown_with(request, project: Project, models: Sequence[TrainedModel]) -> dict[str, bool]:
    """Who still labels here does not see how well the models do; that others do is noted."""
    is_blind = has_open_work(request.user, project)
    if not is_blind and any(model.figures for model in models):
        labels_served(request, project, API)
    return {"is_blind": is_blind}


KIND = RunKind(
    name="training",
    model=TrainedModel,
    start=start,
    described="Checkers trained on the project's labels. Members who still label here are not shown how well they do.",
    run_described="One training. `model` names what was trained: POST to the project's runs with the checker `trained` "
    'and `{"model": ...}` as parameters lets it judge all units.',
    shape=shapes.TrainingShape,
    request_shape=shapes.NewTraining,
    shown_with=shown_with,
    pages=views.urlpatterns,
)

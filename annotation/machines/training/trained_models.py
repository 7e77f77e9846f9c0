"""Where trained checkers lie, and whose they are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from annotation.models import Project, TrainedModel
from models_runtime.contracts import CheckerInfo
from models_runtime.training import store

KIND = "trained"  # of such a checker, in the registry


def use_folder() -> None:
    """Tell the runtime where models lie. To be called before one is stored or loaded."""
    store.keep_in(Path(settings.MEDIA_ROOT) / "trained")


def why_not(project: Project, info: CheckerInfo, parameters: Mapping[str, Any]) -> str:
    """Why this run cannot be: a trained checker belongs to its project. Empty for any other checker."""
    if info.kind != KIND:
        return ""
    chosen = parameters["model"]
    if chosen and TrainedModel.objects.filter(project=project, file_hash=chosen).exists():
        return ""
    if not TrainedModel.objects.filter(project=project).exclude(file_hash="").exists():
        return "No checker was trained on this project's labels yet: train one first"
    return (
        f"No checker trained on this project has the id {chosen[:80]!r}; start the run from the trained checker's page"
    )

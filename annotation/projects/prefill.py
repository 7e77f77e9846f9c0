"""Which checker runs annotators may be shown."""

from django.db.models import QuerySet

from annotation.models import CheckerRun, Project
from models_runtime.registry import list_infos


def scorers() -> tuple[str, ...]:
    """Checkers that give scores and no labels; their runs have nothing that annotators could be shown."""
    return tuple(info.slug for info in list_infos() if info.gives == "scores")


def prefill_runs(project: Project) -> QuerySet[CheckerRun]:
    return project.checker_runs.exclude(checker__in=scorers())

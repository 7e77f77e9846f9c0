"""Which checker runs annotators may be shown."""

from django.db.models import QuerySet

from annotation.models import CheckerRun, Project
from models_runtime.registry import list_infos


def scorers() -> tuple[str, ...]:
    """Checkers that give scores and no labels; their runs have nothing that annotators could be shown."""
    return tuple(info.slug for info in list_infos() if info.gives_scores)


def prefill_runs(project: Project) -> QuerySet[CheckerRun]:
    # By their ids: where a run has no origin, "not scores" is unknown to a database, and not true.
    brought = project.checker_runs.filter(origin__gives="scores").values("pk")
    return project.checker_runs.exclude(checker__in=scorers()).exclude(pk__in=brought)

"""Which checker runs annotators may be shown, and in which arm of a trial an answer is given."""

from django.db.models import QuerySet

from annotation.models import CheckerRun, Project
from annotation.projects.item_making import seeded
from models_runtime.registry import list_infos


def scorers() -> tuple[str, ...]:
    """Checkers that give scores and no labels; their runs have nothing that annotators could be shown."""
    return tuple(info.slug for info in list_infos() if info.gives_scores)


def prefill_runs(project: Project) -> QuerySet[CheckerRun]:
    # By their ids: where a run has no origin, "not scores" is unknown to a database, and not true.
    brought = project.checker_runs.filter(origin__gives="scores").values("pk")
    return project.checker_runs.exclude(checker__in=scorers()).exclude(pk__in=brought)


def arm_of(project: Project, item_key: str, pseudonym: str) -> str:
    """The arm in which a person answers an item. Where it is drawn, it depends on nothing but the project's seed and
    shares, the item's key and the person's pseudonym, so a reader of a release can draw it again: the fraction is the
    first 63 bits of BLAKE2b (8 bytes, big endian) of seed, "arm", key and pseudonym with null bytes between them,
    divided by 2**63. Below the share of `shown` it is that arm, below the sum of both shares `after`, else `off`."""
    if project.prefill != Project.Prefill.DRAWN:
        return project.prefill
    percent = 100 * seeded(project.seed, "arm", f"{item_key}\0{pseudonym}") / 2**63
    if percent < project.prefill_shown_percent:
        return Project.Prefill.SHOWN.value
    is_after = percent < project.prefill_shown_percent + project.prefill_after_percent
    return (Project.Prefill.AFTER if is_after else Project.Prefill.OFF).value


def why_not_drawn(shown: int | None, after: int | None) -> str:
    """Why arms cannot be drawn by these shares; empty where they can."""
    if (shown or 0) + (after or 0) <= 100:
        return ""
    return "The shares of the arms are more than 100 % together: lower one of them"

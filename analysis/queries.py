"""Reads of the pages of figures."""

from annotation.models import CheckerRun, Decision, Item, ItemUnit, Job, Project, Score


def runs_with_suggestions(project: Project) -> list[CheckerRun]:
    """Runs that are done, newest first."""
    return list(
        CheckerRun.objects.filter(project=project, job__state=Job.State.DONE)
        .select_related("job")
        .order_by("-created_at")
    )


def score_names(run: CheckerRun) -> list[str]:
    """Names of the scores that the run gave, `support` first: of all it is the one that says for or against.

    A finished run's job knows them; otherwise all of its scores are read.
    """
    known = run.job.result.get("scores")
    if known is None:
        known = Score.objects.filter(run=run).values_list("name", flat=True).distinct()
    return sorted(known, key=lambda name: (name != "support", name))


def references_of(project: Project) -> list[str]:
    """What can stand as the reference here: the majority always, decisions of each method that there are."""
    methods = set(
        Decision.objects.filter(project=project).order_by("method").values_list("method", flat=True).distinct()
    )
    return ["majority", *(m for m in (Decision.Method.IMPORTED, Decision.Method.ADJUDICATED) if m in methods)]


def items_without_units(project: Project) -> int:
    """Items in which there is nothing to judge, such as abstained answers."""
    return Item.objects.filter(project=project, unit_count=0).exclude(state=Item.State.RETIRED).count()


def items_of_units(project: Project, unit_ids: list[int]) -> list[ItemUnit]:
    """The units with their items and texts, in the order of `unit_ids`."""
    rows = (
        ItemUnit.objects.filter(item__project=project, unit_id__in=unit_ids)
        .exclude(item__state=Item.State.RETIRED)
        .select_related("item", "unit__evidence__claim", "unit__evidence__question", "unit__triplet__response")
    )
    by_unit = {row.unit_id: row for row in rows}
    return [by_unit[unit_id] for unit_id in unit_ids if unit_id in by_unit]

"""Reads of the pages of figures."""

from annotation.models import CheckerRun, Decision, Item, ItemUnit, Job, Project


def runs_with_suggestions(project: Project) -> list[CheckerRun]:
    """Runs that are done, newest first."""
    return list(
        CheckerRun.objects.filter(project=project, job__state=Job.State.DONE)
        .select_related("job")
        .order_by("-created_at")
    )


def references_of(project: Project) -> list[str]:
    """What can stand as the reference here: the majority always, decisions of each method that there are."""
    methods = set(
        Decision.objects.filter(project=project).order_by("method").values_list("method", flat=True).distinct()
    )
    return ["majority", *(m for m in (Decision.Method.IMPORTED, Decision.Method.ADJUDICATED) if m in methods)]


def items_of_units(project: Project, unit_ids: list[int]) -> list[ItemUnit]:
    """The units with their items and texts, in the order of `unit_ids`."""
    rows = (
        ItemUnit.objects.filter(item__project=project, unit_id__in=unit_ids)
        .exclude(item__state=Item.State.RETIRED)
        .select_related("item", "unit__evidence__claim", "unit__triplet__response")
    )
    by_unit = {row.unit_id: row for row in rows}
    return [by_unit[unit_id] for unit_id in unit_ids if unit_id in by_unit]

"""How many more labels a project needs, on its overview: read from the plan as last computed, never computed here."""

from urllib.parse import urlencode

from django import template

from analysis.models import StoredReport
from analysis.reports.stored import is_outdated, is_refreshing, is_resting, is_stale, refresh
from annotation.access import may_still_be_blind

register = template.Library()
LISTED = 3


@register.inclusion_tag("analysis/parts/planning_line.html", takes_context=True)
def planning_line(context, project) -> dict:
    """A list item with a link: what the newest plan says, or that one can be made. A plan that labels have overtaken is
    made anew by a worker. It is made from everybody's labels, so who labels here too opens it on purpose or not at all.
    """
    plans = StoredReport.objects.filter(project=project, name="planning", scope={}, computed_at__isnull=False)
    # Every target that somebody typed has a plan: what they found is read of one alone.
    plans = plans.defer("behind", "pictures", "result").select_related("job", "project")
    plan = next((one for one in plans.order_by("-computed_at") if not is_outdated(one)), None)
    if plan is None or may_still_be_blind(context["user"], project):
        return {"project": project, "needs": []}
    if is_stale(plan) and not is_refreshing(plan) and not is_resting(plan):
        refresh(plan, context["user"])
    needs = [
        {"title": one["title"], **one["needed"]["by_units"]}
        for one in plan.result.get("dimensions", [])
        if one["needed"] and one["needed"]["by_units"]["n_units"] is not None
    ]
    asked = {name: value for name, value in plan.parameters.items() if value not in ("", None, False)}
    return {
        "project": project,
        "needs": needs[:LISTED],
        "target": plan.result["target"],
        "judgements": plan.result["judgements"],
        "address": urlencode(asked),
    }

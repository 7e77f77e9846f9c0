"""What reports say on a project's overview: read from the result as last computed, never computed here."""

from urllib.parse import urlencode

from django import template
from django.urls import reverse
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from analysis.reports.metrics import REPORTS
from analysis.reports.report import Report
from analysis.reports.stored import is_refreshing, is_resting, is_stale, newest_report, refresh
from annotation.access import may_still_be_blind
from annotation.models import Job, Project, User

register = template.Library()


@register.simple_tag(takes_context=True)
def report_lines(context, project: Project) -> SafeString:
    """A list item with a link for each report that says something there. Results are made from everybody's labels, so
    who labels here too opens them on purpose or not at all."""
    user = context["user"]
    lines = [_line(report, project, user) for report in REPORTS.values() if report.on_overview]
    if project.further == Project.Further.UNCERTAIN and not may_still_be_blind(user, project):
        lines.append((reverse("project_settings", args=[project.slug]), "Certain labels", _certainty(project)))
    return format_html_join("", '<li><a href="{}">{}</a> {}</li>', lines)


def _certainty(project: Project) -> str:
    """What the newest job that asked for further judgements found of those that it did not ask for."""
    done = project.jobs.filter(kind=Job.Kind.FURTHER, state=Job.State.DONE).order_by("-pk").first()
    return (done.result or {}).get("words", "") if done else "are looked for once an hour."


def _line(report: Report, project: Project, user: User) -> tuple[str, str, str]:
    """Address, link and words. A result that labels have overtaken is made anew by a worker."""
    stored = None if may_still_be_blind(user, project) else newest_report(project, report.name)
    address = reverse(report.page, args=report.address(project.slug))
    if stored is None:
        return address, *report.on_overview(None)
    if is_stale(stored) and not is_refreshing(stored) and not is_resting(stored):
        refresh(stored, user)
    asked = {name: value for name, value in stored.parameters.items() if value not in ("", None, False)}
    return f"{address}?{urlencode(asked)}", *report.on_overview(report.read(stored.result))

"""A stored report, for a user who may see all that it was made from."""

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from analysis.models import StoredReport
from analysis.reports.metrics import REPORTS
from annotation.access import project_with_labels_for
from annotation.models import Project
from annotation.work.label_access import labels_served


def stored_report_for(user, project, name: str, parameters_hash: str, **only) -> StoredReport:
    """The stored report, or 404. Some reports read labels of other projects as well as of `project`, which the user
    must be allowed to see as well; of `project` that is known already."""
    if name not in REPORTS:
        raise Http404("No such report")
    report = get_object_or_404(StoredReport, project=project, name=name, parameters_hash=parameters_hash, **only)
    for slug in REPORTS[name].sibling_slugs(report.parameters):
        project_with_labels_for(user, slug)
    return report


def figures_served(request: HttpRequest, report: StoredReport, channel: str, *, with_answers: bool = False) -> None:
    """Note that the answer to this request shows figures made from people's labels, of all projects that the report
    reads, or people's answers themselves, which are shown with the items behind any figure."""
    kind = REPORTS[report.name]
    if not (kind.reads_people or with_answers):
        return
    for project in (report.project, *Project.objects.filter(slug__in=kind.sibling_slugs(report.parameters))):
        labels_served(request, project, channel)

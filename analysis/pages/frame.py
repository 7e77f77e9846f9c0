"""What pages of figures share: choices from the address, the scope, and only what has changed for htmx."""

import shlex
from collections.abc import Iterable
from urllib.parse import urlencode

from django.core.cache import cache
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.functional import SimpleLazyObject
from django_htmx.http import retarget

from analysis import queries, scopes
from analysis.figures.page import Page
from analysis.figures.tables import Table
from analysis.figures.tabular import named
from analysis.models import StoredReport
from analysis.pages.asked import Asked
from analysis.pages.files import version_of
from analysis.pages.stored import figures_served
from analysis.reports import stored
from analysis.reports.metrics import REPORTS
from analysis.reports.words.methods import paragraph
from analysis.reports.words.sentences import note_on_labels_seen
from analysis.sources.outline import GROUP, groups_in
from analysis.sources.selection import NAMES, argument_of
from analysis.sources.several import per_label
from analysis.sources.splits import name_split
from annotation.jobs.queues import long_wait
from annotation.models import Project, Rater
from annotation.work.label_access import PAGE

# How long a page offers the same columns to split by: imports that bring new ones are rare, and reading takes queries.
OFFERED_SECONDS = 60
# With more raters than these, the filter gets their names only when it is opened.
MANY_RATERS = 100


def render_report(asked: Asked, report: StoredReport | None, context: dict, declared: Page | None = None):
    """The page, with what is `declared` of the stored result; for htmx, which asks again and again, only what has
    changed since it last asked. Where something is asked that cannot be had, the page says so in place of figures."""
    request, project = asked.request, asked.project
    if request.htmx.target == "s-annotator":
        return render(request, "analysis/parts/raters.html", scope_context(asked))
    state = _state(report, request.user) if report else ""
    wait = long_wait(report.job) if state == "computing" else None
    seen = f"{report.computed_at} {state}{' without a worker' if wait else ''}" if report else ""
    context |= {"project": project, "links": _links(project, asked.name), **scope_context(asked)}
    if asked.problems:
        context |= {"problems": asked.problems, "without_wrong": asked.without_wrong, "n_wrong": len(asked.wrong)}
        return render(request, "analysis/report.html", context, status=404)
    if report is not None:
        context["labels_seen"] = note_on_labels_seen(report.result or {})
        if report.result:
            figures_served(request, report, PAGE)
        behind = reverse("project_behind", args=[project.slug, report.name])
        as_files = reverse("project_report_tables", args=[project.slug, report.name])
        of_report = urlencode({"report": report.parameters_hash})
        context |= {
            "report": report,
            "result": report.result,
            "methods": methods_of(report),
            "command": command_of(project, report),
            "copies": _copies(declared, version_of(report), f"{as_files}?{of_report}") if declared else [],
            "state": state,
            "wait": wait,
            "failure": stored.failed(report),
            "seen": seen,
            "here": request.get_full_path(),
            "behind": f"{behind}?{of_report}",
            "as_files": f"{as_files}?{of_report}",
            "version": version_of(report) if report.result else "",
        }
    if report is None or not request.htmx:
        response = render(request, "analysis/report.html", context)
    elif request.headers.get("X-Seen") == seen:
        response = HttpResponse(status=204)  # htmx leaves the page as it is
    elif request.headers.get("X-Seen", "").startswith(f"{report.computed_at} "):
        response = retarget(render(request, "analysis/parts/state.html", context), "#state")
    else:
        response = render(request, "analysis/parts/page.html", context)
    patch_vary_headers(response, ["HX-Request"])  # the same address has both
    return response


def report_of(asked: Asked, parameters: dict) -> StoredReport | None:
    """The stored report of what the address asks for, of the labels that it asks for; None where it asks for what
    cannot be had."""
    if asked.wrong:
        return None
    return stored.stored_report(asked.project, asked.name, parameters, asked.request.user, asked.scope)


def scope_context(asked: Asked) -> dict:
    """What the part of the page needs that says, and lets choose, which labels are looked at."""
    project, of_scope = asked.project, ("release", *NAMES)
    selected = {name: value for name, value in asked.kept if name in of_scope}
    others = [(name, value) for name, value in asked.kept if name not in (*of_scope, "page")]
    is_closed = not (selected or asked.problems or asked.request.htmx.target == "s-annotator")
    raters = queries.annotators_of(project).order_by("name").values_list("pseudonym", "name", "group", "kind")
    raters = raters[: MANY_RATERS + 1] if is_closed else raters
    return {
        "selected": selected,
        "scope_others": others,
        "without_selection": "?" + urlencode(others),
        "of_source": "?" + urlencode([*others, *((name, selected[name]) for name in selected if name != "source")]),
        "releases": [release for release in project.releases.order_by("-number") if release.is_ready],
        # Only whole pages have the form; parts of them are asked for again and again.
        "scope_splits": SimpleLazyObject(lambda: _splits(project, selected.get("split", ""))),
        "scope_is_part": bool(set(selected) - {"split", "labels_seen"}),
        "scope_arms": Project.ARMS,
        "scope_labels": [
            (f"{dimension.slug}:{label.value}", f"{dimension.title}: {label.title}")
            for dimension in per_label(project.type).dimensions
            for label in dimension.labels
        ],
        "scope_raters": SimpleLazyObject(lambda: _raters(raters)),
        "raters_come_later": SimpleLazyObject(lambda: is_closed and len(raters) > MANY_RATERS),
        "scope_guidelines": project.guidelines.order_by("version").values_list("version", flat=True),
    }


def _raters(rows: Iterable[tuple[str, str, str, str]]) -> list[tuple[str, str]]:
    """Groups that files named, and everybody by name."""
    rows = list(rows)
    groups = [(f"{GROUP}{name}", f"Raters of {name}") for name in groups_in(group for *_, group, _ in rows)]
    return [*groups, *(row[:2] for row in rows if row[-1] != Rater.Kind.SLOT)]


def _splits(project, chosen: str) -> list[tuple[str, str]]:
    """The splits and their titles; the one in the URL stays in the list."""
    offered = list(cache.get_or_set(f"splits:{project.pk}", lambda: queries.splits_of(project), OFFERED_SECONDS))
    if chosen and chosen not in offered:
        offered.append(chosen)
    return [(split, name_split(split)) for split in offered]


def _copies(declared: Page, version: str, as_files: str) -> list[tuple[str, str]]:
    """Every table's title, and the address of it alone in the computation that the page shows."""
    tables = [part for part in declared.in_files() if isinstance(part, Table)]
    return [
        (table.title, f"{as_files}&{urlencode({'version': version, 'table': name})}")
        for name, table in named(tables).items()
    ]


def command_of(project, report: StoredReport) -> str:
    """What computes the same numbers."""
    kind = REPORTS[report.name]
    scope = scopes.as_query(project, report.scope)
    words = ["manage.py", "report", project.slug, report.name]
    words[2] += f"@{scope.pop('release')}" if "release" in scope else ""
    for option in kind.options:
        value = report.parameters.get(option.name, option.default)
        if option.kind == "flag":
            words += [option.argument] if value else []
        elif value not in (None, "", option.default):
            words += [option.argument, f"{value:g}" if isinstance(value, float) else str(value)]
    for name, value in scope.items():
        words += [argument_of(name), value]
    return shlex.join([*words, "--format", "json"])


def methods_of(report: StoredReport) -> str:
    """The paragraph for a paper; nothing while only first figures are there."""
    if not report.result or report.is_partial:
        return ""
    return paragraph(REPORTS[report.name], report.result, report.computed_at)


def _state(report: StoredReport, user) -> str:
    if stored.is_refreshing(report):
        return "computing"
    if not report.was_stale:
        return "fresh"
    if stored.failed(report):
        return "failed"
    return "resting" if stored.has_room_for_reports(user) else "waiting"


def _links(project, name: str) -> list[tuple[str, str]]:
    """Further pages of figures that this project has, of those with an address and no tab of their own: names and
    titles."""
    has_labels = queries.has_labelling_run(project)
    return [
        (report.own_page, report.title)
        for report in REPORTS.values()
        if report.own_page not in ("", report.tab) and report.name != name and not report.refuses(project.type)
        if has_labels or not report.takes_run
    ]


def as_query(parameters: dict) -> dict:
    return {
        name: int(value) if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else value
        for name, value in parameters.items()
    }

"""The page of any report that has no template of its own, and the list of all that a project can have."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from unicodedata import normalize
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import Http404
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from analysis.figures.page import Counts, Page, Section, Text
from analysis.figures.pictures import Picture, from_dict
from analysis.figures.tables import Table as Declaration
from analysis.models import StoredReport
from analysis.pages.asked import Asked
from analysis.pages.frame import render_report, report_of
from analysis.pages.stored import figures_served
from analysis.queries import annotators_of
from analysis.reports.common import ALL_STATISTICS
from analysis.reports.metrics import REPORTS
from analysis.reports.options import Option
from analysis.reports.report import Report
from analysis.reports.stored import is_stale, newest_report
from analysis.reports.words.decisions import decisions_alone
from analysis.sources.outline import Outline
from analysis.sources.project import ProjectOutline
from analysis.sources.wrong import WrongChoice
from annotation.access import RESEARCHER, may_still_be_blind, project_with_labels_for, roles_of
from annotation.models import Project, Rater
from annotation.projects.queries.next_steps import NextStep, page_of
from annotation.work.label_access import PAGE

MORE = ALL_STATISTICS.name
Field = tuple[Option, object, dict[str, str], bool]
# Addresses of what is behind a part of a picture keep pseudonyms.
PSEUDONYM = re.compile(r'href="[^"]*"|\br-[0-9a-f]{8}\b')
NAME_CHARS = 11  # as wide as a pseudonym, for which pictures have room
# More options than these stand in a panel, by their groups.
IN_A_ROW = 3


# The package of reports -> the question that they answer. Reports of installed packages come last.
QUESTIONS = {
    "analysis.reports.agreement.": "Do people agree?",
    "analysis.reports.checkers.": "How good are checkers?",
    "analysis.reports.rates.": "Which labels are there?",
    "analysis.reports.people.": "How do people label?",
    "analysis.reports.planning.": "How many labels are needed?",
    "analysis.papers.": "Analyses of published studies",
    "": "From installed packages",
}


@login_required
@require_safe
def project_reports(request, slug):
    """Stored figures, what else can be asked here by question, and what cannot, with the reason."""
    project = project_with_labels_for(request.user, slug)
    kinds = [(report, report.fits(project.type)) for report in REPORTS.values()]
    fitting, groups = [report for report, reason in kinds if not reason], {}
    for report in fitting:
        question = next(title for package, title in QUESTIONS.items() if report.module.startswith(package))
        groups.setdefault(question, []).append((report, report.intro.partition(". ")[0].rstrip(".")))
    context = {
        "project": project,
        "tab": "project_reports",
        "first": [_first_figures(request, project, report) for report in fitting if report.own_page == report.tab],
        "groups": [(title, groups[title]) for title in QUESTIONS.values() if title in groups],
        "others": [(report, reason) for report, reason in kinds if reason],
    }
    return render(request, "analysis/reports.html", context)


def _first_figures(request, project: Project, report: Report) -> dict:
    """The figures in large print of a report, as last computed; nothing is computed here. Members who label and have
    seen no labels of others open a report on purpose or not at all."""
    context = {"report": report, "url": reverse(report.page, args=report.address(project.slug))}
    stored = None if may_still_be_blind(request.user, project) else newest_report(project, report.name)
    if stored is None:
        return context
    figures_served(request, stored, PAGE)
    answer = report.page_of(stored.result).answer
    return context | {"stored": stored, "is_stale": is_stale(stored), "answer": answer}


@login_required
@require_safe
def project_report(request, slug, name):
    project = project_with_labels_for(request.user, slug)
    report = REPORTS.get(name)
    if report is None or (report.own_page and request.resolver_match.url_name != report.own_page):
        raise Http404("There is no such report")
    context = {"kind": report, "tab": report.tab}
    asked = Asked(request, project, name)
    if reason := report.fits(project.type):
        return render_report(asked, None, context | {"missing": reason})
    source = ProjectOutline(project, request.user)
    may_start = RESEARCHER in roles_of(request.user, project)
    if reason := report.missing_run(source):
        return render_report(asked, None, context | {"missing": reason, "may_start_run": may_start})
    try:
        values = {option.name: asked.value(option, source) for option in report.options}
        values = _resolved(report, source, values, asked)
    except ValueError as error:
        return render_report(
            asked, None, context | {"missing": str(error), "may_start_run": may_start and report.takes_run}
        )
    stored = report_of(asked, values)
    offers = report.offers(source, values)
    fields = [
        _field(option, values[option.name], offers.get(option.name) or option.offered(source))
        for option in report.options
        if option.on_pages
        and option.on_form
        and offers.get(option.name, True)
        and not (option.hides and option.hides(source))
    ]
    has_panel = len(fields) > IN_A_ROW
    context |= {
        "options": _by_group(fields) if has_panel else fields and [("", fields)],
        "has_panel": has_panel,
        "changes": _changes(report, source, values, fields) if has_panel else [],
        "is_refused": has_panel and any(option.name in asked.wrong for option in report.options),
    }
    if report.more:
        kept = [one for one in asked.kept if one[0] not in (MORE, "page")]
        context |= {"has_all": values[MORE], "more_address": "?" + urlencode(kept + [(MORE, 1)] * (not values[MORE]))}
    declared = report.page_of(stored.result) if stored and stored.result else None
    if declared:
        context["page"] = _shown(declared, stored)
        context["next"] = None if stored.is_partial else _next_step(report, source, project)
        context["use_decisions"] = _link_to_decisions(report, stored, source, asked)
    return render_report(asked, stored, context, declared)


def _link_to_decisions(report: Report, stored: StoredReport, source: Outline, asked: Asked) -> tuple[str, str] | None:
    """Where to see the decisions used that this report does not use, and what the link says."""
    alone = decisions_alone(stored.result)
    if alone is None or alone.are_used:
        return None
    chosen = {"reference": alone.set}
    if not report.needs_raters:
        return f"?{urlencode(dict(asked.kept) | chosen)}", f"Use the {alone.called} as the reference"
    comparison = REPORTS["comparison"]
    if comparison.fits(asked.project.type) or not source.labelling_runs():
        return None
    address = reverse(comparison.page, args=comparison.address(asked.project.slug))
    return f"{address}?{urlencode(chosen)}", f"Compare a checker with the {alone.called}"


def _next_step(report: Report, source: Outline, project: Project) -> NextStep:
    """The report that the finished one leads to, where it can be made; else a release of the labels."""
    if report.leads_to and source.labelling_runs():
        name, title = report.leads_to
        further = REPORTS[name]
        if not further.fits(project.type):
            return NextStep(title, reverse(further.page, args=further.address(project.slug)))
    return page_of(project, "Freeze a release", "project_releases")


def _resolved(report: Report, source: Outline, values: dict, asked: Asked) -> dict:
    try:
        return report.resolve_options(source, values)
    except WrongChoice as error:
        [title] = [option.title for option in report.options if option.name == error.names[0]]
        asked.refuse(str(error), *error.names, title=title)
        wrong = {option.name: option.value(source, None) for option in report.options if option.name in error.names}
        return report.resolve_options(source, values | wrong)


def _field(option: Option, value: object, offered: dict[str, str]) -> Field:
    """An option with its value, what can be chosen, and whether there is anything to choose."""
    return option, value, offered, option.has_choice(offered)


def _by_group(fields: list[Field]) -> list[tuple[str, list[Field]]]:
    groups = dict.fromkeys(option.group for option, *_ in fields)
    return [(group, [field for field in fields if field[0].group == group]) for group in groups]


def _changes(report: Report, source: Outline, values: dict, fields: list[Field]) -> list[str]:
    """What was chosen in place of the defaults, for the line that stands for the folded panel."""
    defaults = report.resolve_options(source, report.values(source, {}))
    changed = [field for field in fields if values[field[0].name] != defaults[field[0].name]]
    return [
        option.title if option.kind == "flag" else f"{option.title}: {offered.get(value, value)}"
        for option, value, offered, _ in changed
    ]


def _shown(page: Page, stored: StoredReport) -> dict:
    """The page as its template takes it: what each part is stands as its key."""
    answer, names = page.answer, short_names(stored.project)
    picture = _shown_part(answer.picture, stored, names) if answer.picture else {}

    def parts_of(section: Section) -> list[dict]:
        """The answer's picture stands there, and not again below."""
        parts = [part for part in section.shown if part != answer.picture]
        return [shown for part in parts if (shown := _shown_part(part, stored, names))]

    def shown(sections: Sequence[Section]) -> list[dict]:
        return [{"title": one.title, "parts": parts} for one in sections if (parts := parts_of(one))]

    return {
        "answer": replace(answer, sentences=[_with_names(words, names) for words in answer.sentences]),
        "picture": picture,
        "sections": shown(page.sections),
        "more": shown(page.more),
        "notes": page.notes,
    }


def short_names(project: Project) -> dict[str, str]:
    """Pseudonym -> name, for sentences and pictures on pages; in files people keep their pseudonyms. First names where
    these are unique. People who cannot be distinguished in NAME_CHARS characters are left out."""
    people = dict(annotators_of(project).exclude(kind=Rater.Kind.SLOT).values_list("pseudonym", "name"))
    first = Counter(name.partition(" ")[0] for name in people.values())
    short = {
        pseudonym: _shortened(word if first[word := name.partition(" ")[0]] == 1 else name)
        for pseudonym, name in people.items()
    }
    known = Counter(short.values())
    return {pseudonym: name for pseudonym, name in short.items() if name and known[name] == 1}


def _shortened(name: str) -> str:
    name = normalize("NFC", name)
    return name if len(name) <= NAME_CHARS else f"{name[: NAME_CHARS - 1]}…"


def _shown_part(part: Declaration | Picture | Counts | Text, stored: StoredReport, names: dict[str, str]) -> dict:
    match part:
        case Declaration():
            return {"table": part.shown()}
        case Counts():
            opens = (None if wanted is None or n == 0 else wanted.encoded for _, n, wanted in part.rows)
            return {"counts": [(title, n, figure) for (title, n, _), figure in zip(part.rows, opens, strict=True)]}
        case Text():
            return {"words": _with_names(part.words, names)}
    # As it was drawn when the report was computed; nothing while it is not drawn yet.
    picture = stored.pictures.get(part.name)
    escaped = {pseudonym: escape(name) for pseudonym, name in names.items()}
    return {"picture": from_dict(picture["spec"]), "svg": _with_names(picture["svg"], escaped)} if picture else {}


def _with_names(words: str, names: dict[str, str]) -> str:
    return PSEUDONYM.sub(lambda found: names.get(found[0], found[0]), words)

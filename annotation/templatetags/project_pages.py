"""The sections of a project and their pages: one table, which both rows of the project's navigation come from."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from django import template
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop as N_

from annotation.access import (
    ADJUDICATOR,
    ANNOTATOR,
    RESEARCHER,
    has_open_work,
    label_access_of,
    may_edit_dataset,
    roles_of,
)
from annotation.machines.drafts.queries.sources import Overview, overview_of
from annotation.machines.generations.generating import questions_in
from annotation.machines.prompts import versions
from annotation.machines.runs.checker_inputs import why_not
from annotation.models import Project, User
from annotation.participation import steps
from annotation.projects.draft_kinds import drafted_for
from annotation.projects.raters import rater_of
from annotation.work import threads
from annotation.work.queries import work

register = template.Library()

EVERYBODY = frozenset({ANNOTATOR, ADJUDICATOR, RESEARCHER})
JUDGES = frozenset({ADJUDICATOR, RESEARCHER})
RESEARCHERS = frozenset({RESEARCHER})


@dataclass(frozen=True)
class ProjectPage:
    """`name` is that of its URL. `fits` says whether the project has a use for it; asked only inside its section."""

    name: str
    title: str
    roles: frozenset[str]
    shows_labels: bool = False
    fits: Callable[[User, Project], bool] = lambda user, project: True
    counts: Callable[[User, Project], int] | None = None  # what waits there for the person


def _unanswered(user: User, project: Project) -> int:
    return threads.count_unanswered(project)


def _unread(user: User, project: Project) -> int:
    return threads.count_unread(project, user)


def _has_drafts(user: User, project: Project) -> bool:
    return drafted_for(project.type) is not None and may_edit_dataset(user, project.dataset)


def _sees_progress(user: User, project: Project) -> bool:
    return RESEARCHER in roles_of(user, project) or not has_open_work(user, project)


OVERVIEW = "project_detail"
# The first page of a section has no condition: a section leads to the first page that the person may open.
SECTIONS = {
    N_("Overview"): (ProjectPage(OVERVIEW, N_("Overview"), EVERYBODY),),
    N_("Items"): (
        ProjectPage("project_items", N_("Items"), JUDGES),
        ProjectPage("adjudication", N_("Adjudication"), frozenset({ADJUDICATOR}), shows_labels=True),
        ProjectPage("project_comments", N_("Comments"), JUDGES, shows_labels=True, counts=_unanswered),
        ProjectPage("my_work", N_("My work"), frozenset({ANNOTATOR}), counts=_unread),
    ),
    N_("People"): (
        ProjectPage("project_members", N_("Members"), RESEARCHERS),
        ProjectPage("study_links", N_("Study links"), RESEARCHERS),
        ProjectPage("study_consent", N_("Consent"), RESEARCHERS),
        ProjectPage("study_questionnaires", N_("Questionnaires"), RESEARCHERS),
        ProjectPage("project_guidelines", N_("Guidelines"), EVERYBODY),
        ProjectPage("project_progress", N_("Progress"), JUDGES, fits=_sees_progress),
        ProjectPage("project_pay", N_("Pay"), RESEARCHERS),
        ProjectPage("project_learning", N_("Training and checks"), RESEARCHERS),
    ),
    N_("Machines"): (
        ProjectPage("project_runs", N_("Checker runs"), RESEARCHERS),
        ProjectPage(
            "project_prompts", N_("Prompts"), RESEARCHERS, fits=lambda user, project: not versions.why_none(project)
        ),
        ProjectPage(
            "project_training", N_("Training"), RESEARCHERS, fits=lambda user, project: not why_not(project.type)
        ),
        ProjectPage("project_retrieval", N_("Retrieval"), RESEARCHERS),
        ProjectPage(
            "project_generations",
            N_("Generated answers"),
            RESEARCHERS,
            fits=lambda user, project: questions_in(project.dataset).exists(),
        ),
        ProjectPage("project_drafts", N_("Drafts"), RESEARCHERS, fits=_has_drafts),
    ),
    N_("Results"): (
        ProjectPage("project_reports", N_("Reports"), JUDGES, shows_labels=True),
        ProjectPage("project_agreement", N_("Agreement"), JUDGES, shows_labels=True),
        ProjectPage("project_comparison", N_("Checkers and people"), JUDGES, shows_labels=True),
        ProjectPage("project_rules", N_("Rules"), JUDGES, shows_labels=True),
        ProjectPage("project_releases", N_("Releases"), JUDGES, shows_labels=True),
        ProjectPage("project_exports", N_("Exports"), JUDGES, shows_labels=True),
    ),
    N_("Settings"): (
        ProjectPage("project_settings", N_("General"), RESEARCHERS),
        ProjectPage("project_options", N_("Questions"), RESEARCHERS),
        ProjectPage("project_webhooks", N_("Webhooks"), RESEARCHERS),
        ProjectPage("settings_history", N_("History"), RESEARCHERS),
    ),
}


ROLES = {ANNOTATOR: _("annotator"), ADJUDICATOR: _("adjudicator"), RESEARCHER: _("researcher")}


@register.filter
def in_roles(roles) -> str:
    return ", ".join(str(ROLES.get(one, one)) for one in roles)


@register.filter
def as_json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


@register.filter
def as_list(value: object) -> list:
    """What the history of settings has as a value: several, one in words, or nothing."""
    if isinstance(value, list):
        return value
    words = {True: "yes", False: "no"}.get(value, value) if isinstance(value, bool) else value
    return [] if words in (None, "") else [words]


@register.simple_tag(takes_context=True)
def draft_overview(context, project) -> Overview | None:
    """What the project's overview says of drafts, for those who may review them."""
    return overview_of(context["user"], project)


@register.simple_tag(takes_context=True)
def left_for(context, project) -> int:
    """How many items are left for an annotator, as the labelling page counts them."""
    return work.progress(project, rater_of(project, context["user"]))["mine_total_open"]


@register.simple_tag(takes_context=True)
def study_step(context, project) -> dict | None:
    """What an annotator is to go through next, in addition to work, as the project's overview shows it."""
    _, step = steps.outlook_of(project, context["user"])
    return step and {"step": step, "url": step.url(project)}


@register.inclusion_tag("annotation/projects/tabs.html", takes_context=True)
def project_tabs(context, project, current: str = "") -> dict:
    """Links to the sections, and to the pages of the current one, that this person may open; `current` is the name of
    the page. A section of one page has that page's title. A section is (URL, title, value of aria-current, what waits
    there)."""
    user = context["user"]
    roles = roles_of(user, project)
    blind = bool(roles & JUDGES) and has_open_work(user, project, roles)
    sections, tabs, here = [], [], ""
    for title, pages in SECTIONS.items():
        mine = [page for page in pages if roles & page.roles and not (page.shows_labels and blind)]
        is_here = any(page.name == current for page in mine)
        counted = mine if is_here or current == OVERVIEW else ()  # other pages ask nothing for it
        waits = {page.name: page.counts(user, project) for page in counted if page.counts}
        if is_here:
            mine = [page for page in mine if page.name == current or page.fits(user, project)]
            tabs = [(_url(page, project), page.title, page.name == current, waits.get(page.name)) for page in mine]
            tabs = tabs if mine[1:] else []
            here = title if tabs else mine[0].title
        if mine:
            shown = title if mine[1:] else mine[0].title
            mark = ("true" if tabs else "page") if shown == here else ""
            sections.append((_url(mine[0], project), shown, mark, sum(waits.values())))
    access = {}
    if ANNOTATOR in roles and roles & JUDGES and not blind:
        access = {"labels_too": True, "access": label_access_of(user, project)}
    return {"project": project, "sections": sections, "tabs": tabs, "here": here, **access}


def _url(page: ProjectPage, project: Project) -> str:
    return reverse(page.name, args=[project.slug])

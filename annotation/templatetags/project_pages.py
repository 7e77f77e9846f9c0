"""The row of links between the pages of one project."""

import json

from django import template
from django.urls import NoReverseMatch, reverse

from annotation.access import ADJUDICATOR, ANNOTATOR, RESEARCHER, has_open_work, label_access_of, roles_of
from annotation.machines.drafts.queries.sources import Overview, overview_of

register = template.Library()

EVERYBODY = {ANNOTATOR, ADJUDICATOR, RESEARCHER}
JUDGES = {ADJUDICATOR, RESEARCHER}

# Name of the page, its title, who has it, and whether it shows labels.
PAGES = (
    ("project_detail", "Overview", EVERYBODY, False),
    ("project_items", "Items", JUDGES, False),
    ("project_runs", "Checker runs", {RESEARCHER}, False),
    ("project_retrieval", "Retrieval", {RESEARCHER}, False),
    ("project_agreement", "Agreement", JUDGES, True),
    ("project_comparison", "Comparison", JUDGES, True),
    ("project_rules", "Rules", JUDGES, True),
    ("project_exports", "Exports", JUDGES, True),
    ("project_releases", "Releases", JUDGES, True),
    ("project_guidelines", "Guidelines", EVERYBODY, False),
    ("project_members", "Members", {RESEARCHER}, False),
    ("project_settings", "Settings", {RESEARCHER}, False),
)


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
    """What the project's overview says of drafts, to whoever may review them."""
    return overview_of(context["user"], project)


@register.inclusion_tag("annotation/projects/tabs.html", takes_context=True)
def project_tabs(context, project, current: str = "") -> dict:
    """Links to the pages that this person may open; `current` is the name of the page it stands on."""
    user = context["user"]
    roles = roles_of(user, project)
    blind = bool(roles & JUDGES) and has_open_work(user, project, roles)
    tabs = []
    for name, title, readers, shows_labels in PAGES:
        if roles & readers and not (shows_labels and blind):
            try:
                tabs.append((reverse(name, args=[project.slug]), title, name == current))
            except NoReverseMatch:
                continue
    told = {}
    if ANNOTATOR in roles and roles & JUDGES and not blind:
        told = {"labels_too": True, "access": label_access_of(user, project)}
    return {"project": project, "tabs": tabs, **told}

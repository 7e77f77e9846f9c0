"""Projects, their settings and their members. Items are made elsewhere, from what is decided here."""

import contextlib
import secrets
from collections.abc import Iterable

from django.db import IntegrityError, transaction

from annotation import editing
from annotation.datasets.managing import SLUG_ATTEMPTS, free_slug_in
from annotation.formats.names import run_name
from annotation.jobs import counts, lifecycle
from annotation.models import (
    PIECE_LINKS,
    Assignment,
    Dataset,
    GroupGrant,
    Job,
    Membership,
    Project,
    SettingsChange,
    User,
)
from annotation.projects import cases, reach
from annotation.projects import guidelines as guideline_service
from annotation.projects.item_making import reopen
from annotation.projects.label_sets import keep_label_set
from annotation.projects.limits import last_day, quotas
from annotation.projects.options import set_options
from annotation.projects.prefill import scorers, why_not_drawn
from annotation.projects.raters import rater_of
from annotation.projects.settings import FURTHER, SETTINGS, changeable, why_not_paid
from annotation.task_types import task_type as known_task_type
from annotation.webhooks import events

# From which states a member can put a project into a state. `preparing` ends by itself, when its items exist.
TRANSITIONS = {
    Project.State.OPEN: (Project.State.PAUSED, Project.State.CLOSED),
    Project.State.PAUSED: (Project.State.OPEN,),
    Project.State.CLOSED: (Project.State.OPEN, Project.State.PAUSED),
}

What = SettingsChange.What
SHARES = ("prefill_shown_percent", "prefill_after_percent")


class ProjectError(Exception):
    """What was asked for cannot be done; the message is for the person who asked."""


def create_project(
    user: User,
    *,
    title: str,
    slug: str | None = None,
    dataset: Dataset,
    task_type: str,
    seed: int | None = None,
    guidelines: str = "",
    options: dict | None = None,
    members: Iterable[tuple[User, str]] = (),
    **settings,
) -> Project:
    """A project in preparation, with its creator as researcher and guideline version 1; it has no items yet.

    `task_type` is an identifier (KeyError where there is none); `options` are what the project changes about it
    (OptionsError where they do not fit); `members` are people with roles. Without a slug one is made from the title; a
    slug that is taken raises ProjectError. `settings` are those of the table, the others have their defaults; a
    `piece_set` for a task that judges no pieces raises ProjectError.
    """
    if unknown := set(settings) - set(SETTINGS):
        raise TypeError(f"There are no such settings: {', '.join(sorted(unknown))}")
    _check_shares(Project(**{name: value for name, value in settings.items() if name in SHARES}))
    if known_task_type(task_type).unit_kind not in PIECE_LINKS and settings.get("piece_set"):
        raise ProjectError("This task judges no pieces, so it cannot have a set of them")
    with transaction.atomic():
        for attempt in range(SLUG_ATTEMPTS):
            try:
                with transaction.atomic():
                    project = Project.objects.create(
                        slug=slug or free_slug(title),
                        title=title,
                        dataset=dataset,
                        task_type=task_type,
                        seed=secrets.randbelow(2**31) if seed is None else seed,
                        created_by=user,
                        **settings,
                    )
                break
            except IntegrityError:
                if slug and Project.objects.filter(slug=slug).exists():
                    raise ProjectError(f"A project with the short name {slug} already exists") from None
                if slug or attempt == SLUG_ATTEMPTS - 1:
                    raise
                # Another of this title was made at the same moment: the next address is free.
        keep_label_set(user, task_type)
        guideline_service.publish(project, user, guidelines)
        if options:
            set_options(project, user, options)
        add_member(project, user, Membership.Role.RESEARCHER)
        for member, role in members:
            add_member(project, member, role)
    return project


def free_slug(title: str) -> str:
    """A slug from the title that no project has."""
    return free_slug_in(Project.objects.all(), title, "project")


def update_project(project: Project, by: User | None = None, **changes) -> Project:
    """Store these settings, and no others."""
    if unknown := set(changes) - {one.name for one in changeable()}:
        raise TypeError(f"These cannot be changed: {', '.join(sorted(unknown))}")
    run = changes.get("prefill_run")
    if run is not None and run.project_id != project.pk:
        raise ProjectError("That checker run belongs to another project: choose one of this project")
    if run is not None and run.checker in scorers():
        raise ProjectError(
            f"{run_name(run.checker)} gives scores and no labels, so it has no suggestions: choose another run"
        )
    asks = {one.name: getattr(project, one.name) for one in changeable() if one.group == FURTHER}
    if "further_questions" in changes and (unknown := unknown_questions(project, changes["further_questions"])):
        known = ", ".join(one.slug for one in project.type.asked_dimensions if not one.takes_text)
        raise ProjectError(f"The project asks no question {unknown[0]!r}: enter {known}, or leave the field empty")
    with editing.locked(project):
        if problem := last_day.why_not(changes.get("last_day"), project.last_day):
            raise ProjectError(problem)
        if problem := last_day.why_not_of_groups(changes.get("group_quotas", ""), project.group_quotas):
            raise ProjectError(problem)
        before = _history_of(project, changes)
        for name, value in changes.items():
            setattr(project, name, value)
        _check_shares(project)
        if problem := why_not_paid(vars(project)):
            raise ProjectError(problem)
        project.save(update_fields=list(changes))
        editing.record(by, project, What.SETTINGS, before, _history_of(project, changes))
    if "pay_pause_minutes" in changes:
        counts.changed(project_id=project.pk)
    if "group_quotas" in changes:
        quotas.count_anew(project)
    is_changed = any(getattr(project, name) != value for name, value in asks.items())
    if is_changed and project.further != Project.Further.OFF:
        with contextlib.suppress(lifecycle.SameJob):
            lifecycle.create_job(Job.Kind.FURTHER, by or project.created_by, chunks=[({}, 0)], project=project)
    return project


def _check_shares(project: Project) -> None:
    if problem := why_not_drawn(*(getattr(project, name) for name in SHARES)):
        raise ProjectError(problem)


def unknown_questions(project: Project, names: str) -> list[str]:
    """Those of the short names, between commas, that the project does not ask, or answers to which are not compared."""
    compared = {one.slug for one in project.type.asked_dimensions if not one.takes_text}
    return [name for name in map(str.strip, names.split(",")) if name and name not in compared]


def _history_of(project: Project, names: Iterable[str]) -> dict:
    return {name: SETTINGS[name].in_history(getattr(project, name)) for name in names}


def set_card(project: Project, card: dict[str, str], by: User | None = None) -> None:
    """Store what people say of the data, as `annotation.projects.cards.card_of` gives it."""
    with editing.locked(project):
        before, project.card = project.card, card
        project.save(update_fields=["card"])
        editing.record(by, project, What.CARD, before, dict.fromkeys(before, "") | card)


def open_project(project: Project, by: User | None = None) -> Project:
    if problem := last_day.why_not_open(project):
        raise ProjectError(problem)
    return _move(project, Project.State.OPEN, by)


def pause_project(project: Project, by: User | None = None) -> Project:
    return _move(project, Project.State.PAUSED, by)


def close_project(project: Project, by: User | None = None) -> Project:
    return _move(project, Project.State.CLOSED, by)


def end_last_days() -> int:
    """Pause or close the projects whose last day is over. Returns how many."""
    moves = {Project.AtLastDay.PAUSE: pause_project, Project.AtLastDay.CLOSE: close_project}
    found = last_day.reached()
    for project in found:
        moves[project.at_last_day](project)
    return len(found)


def _move(project: Project, state: str, by: User | None) -> Project:
    with transaction.atomic():
        before = Project.objects.select_for_update(no_key=True).values_list("state", flat=True).get(pk=project.pk)
        changed = Project.objects.filter(pk=project.pk, state__in=TRANSITIONS[state]).update(state=state)
        project.refresh_from_db(fields=["state"])
        if changed:
            editing.record(by, project, What.STATE, {"state": before}, {"state": str(state)})
            events.project_moved(project)
    if not changed and project.state != state:
        raise ProjectError(f"The project is {project.state} and cannot become {state}")
    return project


def add_member(project: Project, user: User, role: str) -> Membership:
    """Give the person the role, again if they had it before. An annotator gets the rater their labels are by."""
    if role not in Membership.Role.values:
        raise ProjectError(f"There is no role {role!r}: choose {', '.join(Membership.Role.values)}")
    with transaction.atomic():
        membership, created = Membership.objects.get_or_create(project=project, user=user, role=role)
        if not membership.is_active:
            membership.is_active = True
            membership.save(update_fields=["is_active"])
        if role == Membership.Role.ANNOTATOR:
            rater_of(project, user)
            reach.check_project(project.pk)
    return membership


def remove_member(project: Project, user: User, role: str) -> None:
    """Take the role away. Labels stay; what an annotator had taken goes to the others at once."""
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        researchers = project.memberships.filter(role=Membership.Role.RESEARCHER, is_active=True, user__is_active=True)
        if role == Membership.Role.RESEARCHER and not researchers.exclude(user=user).exists():
            raise ProjectError("A project needs at least one researcher; appoint another one first")
        project.memberships.filter(user=user, role=role).update(is_active=False)
        if role == Membership.Role.ANNOTATOR:
            cases.lock(project.pk)  # before places, as answers do
            reopen(project.assignments.filter(rater__user=user, state=Assignment.State.LEASED))
            reach.check_project(project.pk)


def active_roles(project: Project, user: User) -> list[str]:
    roles = project.memberships.filter(user=user, is_active=True)
    return list(roles.order_by("role").values_list("role", flat=True))


def set_roles(project: Project, user: User, roles: Iterable[str], by: User | None = None) -> None:
    """Make these the person's roles in the project, no others."""
    wanted = set(roles)
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        before = active_roles(project, user)
        for role in sorted(wanted):
            add_member(project, user, role)
        for role in sorted(set(Membership.Role.values) - wanted):
            if project.memberships.filter(user=user, role=role, is_active=True).exists():
                remove_member(project, user, role)
        if by is not None:  # no group takes back what a person gave
            rights = [f"{project.slug}/{role}" for role in wanted - set(before)]
            GroupGrant.objects.filter(user=user, right__in=rights).delete()
        editing.record(by, project, What.ROLES, {"roles": before}, {"roles": active_roles(project, user)}, str(user))

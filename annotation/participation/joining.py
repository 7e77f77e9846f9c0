"""Joining by a study link, and coming back.

Who has no account gets one without email and password; a code signs them in on another device. Its digest is stored,
not the code.
"""

from __future__ import annotations

import hashlib
import secrets

from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction

from annotation.access import ANNOTATOR, Removed
from annotation.models import Item, Membership, Participation, Project, Rater, StudyLink, User
from annotation.participation import links
from annotation.projects import reach
from annotation.projects.raters import rater_of

# Without letters and digits that are taken for one another.
ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
CODE_PARTS, PART_CHARS = 4, 4  # 80 bits


class CannotJoin(Exception):
    """The person cannot join by the link now; the message is for them."""


def participation_of(user: User, project: Project) -> Participation | None:
    return Participation.objects.filter(project=project, user=user).select_related("link").first()


def join(link: StudyLink, user: User) -> Participation:
    """The participation of a person with an account, the one that they have already where they joined before.
    CannotJoin where no place is left, and where they were removed from the project."""
    found = participation_of(user, link.project)
    if found is not None:
        return found
    roles = Membership.objects.filter(project=link.project, user=user, role=ANNOTATOR)
    if roles.filter(is_active=False).exists():
        raise CannotJoin(f"{Removed.title}. {Removed.text}.")
    try:
        with transaction.atomic():
            _take_place(link)
            made = Participation.objects.create(project=link.project, link=link, user=user)
            _make_annotator(link, user)
    except IntegrityError:  # a second click at the same moment
        return Participation.objects.select_related("link").get(project=link.project, user=user)
    return made


def join_as_new(link: StudyLink) -> tuple[Participation, str]:
    """The participation of a new pseudonymous account, and the code by which its owner comes back. CannotJoin where no
    place is left."""
    code = new_code()
    with transaction.atomic():
        _take_place(link)
        name = secrets.token_hex(4)
        user = User.objects.create(
            username=f"participant-{name}{secrets.token_hex(4)}",
            name=f"Participant {name}",
            password=make_password(None),
        )
        made = Participation.objects.create(project=link.project, link=link, user=user, return_digest=digest_of(code))
        _make_annotator(link, user)
    return made, code


def renew_code(participation: Participation) -> str:
    """Another code, in place of the one that was lost; empty for an account that has other ways to sign in."""
    if not participation.return_digest:
        return ""
    code = new_code()
    participation.return_digest = digest_of(code)
    participation.save(update_fields=["return_digest"])
    return code


def returning(code: str) -> Participation | None:
    """The participation that the code belongs to, if its account is active."""
    found = Participation.objects.filter(return_digest=digest_of(code), user__is_active=True)
    return found.select_related("user", "project").first()


def new_code() -> str:
    parts = ("".join(secrets.choice(ALPHABET) for _ in range(PART_CHARS)) for _ in range(CODE_PARTS))
    return "-".join(parts)


def digest_of(code: str) -> str:
    """The same however the code was typed."""
    plain = "".join(character for character in code.upper() if character in ALPHABET)
    return hashlib.sha256(plain.encode()).hexdigest()


def _take_place(link: StudyLink) -> None:
    if reason := links.obstacle(link):
        raise CannotJoin(reason)
    if not links.take_place(link):
        link.refresh_from_db()
        raise CannotJoin(links.obstacle(link) or "This study is full: all places are taken.")


def _make_annotator(link: StudyLink, user: User) -> None:
    """As `managing.add_member`, without its look at all items: a thousand people may come in a minute, and who comes
    anew can only free items that are stuck."""
    Membership.objects.get_or_create(project=link.project, user=user, role=ANNOTATOR)
    rater = rater_of(link.project, user)
    if link.group and not rater.group:
        Rater.objects.filter(pk=rater.pk).update(group=link.group)
    transaction.on_commit(lambda: _free_stuck_items(link.project_id))


def _free_stuck_items(project_id: int) -> None:
    if Item.objects.filter(project=project_id, state=Item.State.STUCK).exists():
        with transaction.atomic():
            reach.check_project(project_id)

"""Joining by a study link, and coming back.

Who has no account gets one without email and password; a code signs them in on another device. Its digest is stored,
not the code.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.access import ANNOTATOR, removed
from annotation.models import Item, Membership, Participation, Project, Rater, StudyLink, User
from annotation.participation import leaving, links
from annotation.participation.panels import PanelIds
from annotation.projects import reach
from annotation.projects.raters import rater_of

# Without letters and digits that are taken for one another.
ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
CODE_PARTS, PART_CHARS = 4, 4  # 80 bits
REPEATS_FOR = timedelta(minutes=10)  # a click whose reply was lost


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
        raise CannotJoin(f"{removed(user, link.project)}.")
    try:
        with transaction.atomic():
            _take_place(link)
            made = Participation.objects.create(project=link.project, link=link, user=user, due_at=_due_at(link))
            _make_annotator(link, user)
    except IntegrityError:  # a second click at the same moment
        return Participation.objects.select_related("link").get(project=link.project, user=user)
    return made


def join_as_new(link: StudyLink, ids: PanelIds | None = None, click: str = "") -> tuple[Participation, str]:
    """The participation of a new pseudonymous account, and the code by which its owner comes back. A panel's
    participant has one participation in a project, whatever link they come by: the code is empty where they had it.
    `click` names the press of the button, which may come again where its reply was lost. CannotJoin where no place is
    left."""
    if found := _joined_before(link, ids, click):
        return found, renew_code(found) if ids is None else ""
    try:
        with transaction.atomic():
            _take_place(link)
            return _make_account(link, ids, click)
    except IntegrityError:  # the same participant in another tab, or a second click at the same moment
        if found := _joined_before(link, ids, click):
            return found, renew_code(found) if ids is None else ""
        if ids is None and click:  # a page from the browser's history, whose account is in use
            return join_as_new(link)
        raise


def _joined_before(link: StudyLink, ids: PanelIds | None, click: str) -> Participation | None:
    """The participation that the panel's participant has, or that the same click made a moment ago."""
    if ids is not None:
        return participation_by(link.project, ids)
    if not click:
        return None
    made = Participation.objects.filter(link=link, user__username=_name_by(link, click))
    made = made.filter(joined_at__gt=timezone.now() - REPEATS_FOR, user__raters__annotations=None)
    return made.select_related("user", "project").first()


def _name_by(link: StudyLink, click: str) -> str:
    return f"participant-{digest_of(link.token + click)[:16]}"


def join_to_play(link: StudyLink) -> Participation:
    """The participation of a researcher who walks through the study: it takes no place, also where none is left, and
    its answers are in no figure."""
    ids = PanelIds(f"test-{secrets.token_hex(8)}", "test", "test") if link.panel else None
    with transaction.atomic():
        made, _ = _make_account(link, ids, is_test=True)
        Rater.objects.filter(project=link.project, user=made.user).update(is_excluded=True)
    return made


def participation_by(project: Project, ids: PanelIds) -> Participation | None:
    """That of a panel's participant, with the visit that this is."""
    rows = Participation.objects.filter(project=project, panel_participant=ids.participant)
    found = rows.select_related("user", "project", "link").first()
    if found is not None and found.panel_session != ids.session:
        found.panel_session = ids.session
        found.save(update_fields=["panel_session"])
    return found


def _make_account(
    link: StudyLink, ids: PanelIds | None, click: str = "", *, is_test: bool = False
) -> tuple[Participation, str]:
    code, name, username = new_code(), secrets.token_hex(4), _name_by(link, click or new_code())
    user = User.objects.create(
        username=username,
        name=f"{'Test participant' if is_test else 'Participant'} {name}",
        password=make_password(None),
    )
    ids = ids or PanelIds("")
    made = Participation.objects.create(
        project=link.project,
        link=link,
        user=user,
        return_digest=digest_of(code),
        panel_participant=ids.participant,
        panel_study=ids.study,
        panel_session=ids.session,
        is_test=is_test,
        due_at=_due_at(link),
    )
    _make_annotator(link, user)
    return made, code


def renew_code(participation: Participation) -> str:
    """Another code, in place of the one that was lost; empty for an account that has other ways to sign in."""
    if participation.user.email:
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


def _due_at(link: StudyLink) -> datetime | None:
    return timezone.now() + timedelta(minutes=link.minutes) if link.minutes else None


def _take_place(link: StudyLink) -> None:
    reason = links.obstacle(link)
    if reason and not (links.state_of(link) == "full" and leaving.timed_out().filter(link=link).exists()):
        raise CannotJoin(reason)
    if not links.take_place(link) and not (leaving.end_timed_out(link) and links.take_place(link)):
        link.refresh_from_db()
        raise CannotJoin(links.obstacle(link) or _("This study is full: all places are taken."))


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

"""Invitations: the only way to an account. A link is for one address, works once, and not for ever."""

import logging
from collections.abc import Callable, Iterable
from datetime import timedelta
from smtplib import SMTPException

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core import mail
from django.core.mail.backends.base import BaseEmailBackend
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import override

from annotation.access import RESEARCHER, roles_of
from annotation.models import Invitation, Membership, Project, User
from annotation.projects import managing
from annotation.projects.raters import rater_of, set_group

log = logging.getLogger(__name__)

# What an invitation without a project can carry.
CREATOR = "creator"
# How a link that creates an account goes to the invited person.
MAIL, HAND = "mail", "hand"


class InvitationError(Exception):
    """The invitation cannot be made or accepted; the message is for the person in front of it."""


def may_invite(user: User, project: Project | None) -> bool:
    """Site administrators invite anybody; researchers invite into their own projects."""
    if not user.is_active:
        return False
    return user.is_superuser or (project is not None and RESEARCHER in roles_of(user, project))


def invite(by: User, email: str, *, project: Project | None = None, roles: Iterable[str] = (), group="") -> Invitation:
    """A new invitation. With a project the roles are those in it, and `group` is an annotator's; without one, `creator`
    allows making projects."""
    roles = sorted(set(roles))
    allowed = (CREATOR,) if project is None else Membership.Role.values
    if not may_invite(by, project):
        raise InvitationError("Only a researcher of the project can invite into it")
    if set(roles) - set(allowed):
        raise InvitationError("There is no such role")
    if project is not None and not roles:
        raise InvitationError("Choose at least one role")
    return Invitation.objects.create(
        email=email.strip().lower(),
        project=project,
        roles=roles,
        group=group,
        invited_by=by,
        expires_at=timezone.now() + timedelta(days=settings.INVITATION_DAYS),
    )


def key_of(invitation: Invitation, way: str) -> str:
    """The secret in the mail to the invited address, or another one in the links that administrators pass on by hand;
    required to create the account, since the inviter does not own the address."""
    return salted_hmac(f"invitation by {way}", invitation.token).hexdigest()


def needs_key(invitation: Invitation) -> bool:
    """Whether the link must come from the mail to the address or from an administrator: it creates an account."""
    return not are_links_passed_on() and account_for(invitation) is None


def path_of(invitation: Invitation, *, way: str = "") -> str:
    """The link's path; with a key where it goes by mail, or to an administrator, who may choose to pass it on."""
    path = reverse("invitation", args=[invitation.token])
    return f"{path}?key={key_of(invitation, way)}" if way and not are_links_passed_on() else path


def path_for(user: User, invitation: Invitation) -> str:
    """The link's path as the user may pass it on: only an administrator's creates the account."""
    return path_of(invitation, way=HAND if user.is_superuser else "")


def send_all(made: Iterable[Invitation], link_of: Callable[[Invitation], str]) -> list[Invitation]:
    """Mail each its link, by one connection; those that were not sent come back."""
    made = list(made)
    if not has_mail_server():
        return made
    try:
        with mail.get_connection() as connection:
            return [one for one in made if not send(one, link_of(one), connection)]
    except (SMTPException, OSError) as error:
        log.warning("The mail server takes no mail: %s", error)
        return made


def send(invitation: Invitation, link: str, connection: BaseEmailBackend | None = None) -> bool:
    """Mail the link; False where there is no mail server or it took nothing, so that the page can say to pass it on by
    hand."""
    if not has_mail_server():
        return False
    with override(_language_for(invitation)):
        subject, text = _words_of(invitation, link)
    try:
        mail.send_mail(
            f"{settings.ACCOUNT_EMAIL_SUBJECT_PREFIX}{subject}",
            text,
            None,
            [invitation.email],
            connection=connection,
        )
    except (SMTPException, OSError) as error:
        log.warning("The invitation for %s was not sent: %s", invitation.email, error)
        return False
    return True


def _language_for(invitation: Invitation) -> str:
    """The reader's, where they have an account and chose one; else that of the person who invites them."""
    account = account_for(invitation)
    return (account and account.language) or invitation.invited_by.language or settings.LANGUAGE_CODE


def _words_of(invitation: Invitation, link: str) -> tuple[str, str]:
    """Subject and text of the mail."""
    person, until = str(invitation.invited_by), date_format(invitation.expires_at, "DATE_FORMAT")
    if invitation.project:
        invites = _("{person} invites you to the project “{project}”.").format(
            person=person, project=invitation.project
        )
    else:
        invites = _("{person} invites you to Assay.").format(person=person)
    works = _("The link is for {email}, works once and until {day}.").format(email=invitation.email, day=until)
    subject = _("{person} invites you").format(person=person)
    return subject, f"{invites}\n\n{link}\n\n{works}\n"


def has_mail_server() -> bool:
    return settings.EMAIL_BACKEND != "django.core.mail.backends.dummy.EmailBackend"


def are_links_passed_on() -> bool:
    """Whether the administrator chose that, without a mail server, every link creates an account."""
    return settings.LINKS_BY_HAND and not has_mail_server()


def way_of(invitation: Invitation, key: str) -> str:
    """How the link with this key went to its reader; "" for a wrong key."""
    return next((way for way in (MAIL, HAND) if constant_time_compare(key, key_of(invitation, way))), "")


def withdraw(invitation: Invitation) -> None:
    Invitation.objects.filter(pk=invitation.pk, accepted_at=None).update(expires_at=timezone.now())


def obstacle(invitation: Invitation) -> str:
    """Why the invitation no longer works, or ''."""
    if invitation.accepted_at is not None:
        return _("This invitation has already been used")
    if invitation.expires_at <= timezone.now():
        return _("This invitation has expired")
    if not may_invite(invitation.invited_by, invitation.project):
        return _("The person who made this invitation may no longer invite people")
    return ""


def pending_in(project: Project) -> list[Invitation]:
    """Invitations into the project that can still be accepted, newest first."""
    open_ones = Invitation.objects.filter(project=project, accepted_at=None).select_related("project", "invited_by")
    return [one for one in open_ones.order_by("-pk") if not obstacle(one)]


def is_for(invitation: Invitation, user: User) -> bool:
    return invitation.email.lower() == user.email.lower()


def account_for(invitation: Invitation) -> User | None:
    """The account that the invited address has already."""
    return User.objects.filter(email__iexact=invitation.email).first()


def accept(invitation: Invitation, user: User) -> None:
    """Join as the account that is signed in."""
    if not is_for(invitation, user):
        raise InvitationError(_("This invitation is for {email}").format(email=invitation.email))
    with transaction.atomic():
        _use(_locked(invitation), user)


def accept_as_new(invitation: Invitation, way: str, *, name: str, password: str) -> User:
    """Make the account that the invitation is for; its address is proven where the link went by mail. Of several clicks
    at once one makes it, and the others get an error."""
    there_is = _("An account with this address already exists; sign in to accept")
    email = invitation.email.lower()
    try:
        with transaction.atomic():
            invitation = _locked(invitation)
            if account_for(invitation) is not None:
                raise InvitationError(there_is)
            user = User.objects.create_user(username=email, email=email, password=password, name=name)
            EmailAddress.objects.create(user=user, email=email, primary=True, verified=way == MAIL)
            _use(invitation, user)
    except IntegrityError:  # another invitation of the same address was accepted at the same moment
        raise InvitationError(there_is) from None
    return user


def _locked(invitation: Invitation) -> Invitation:
    """The invitation as it stands now, for this transaction alone. InvitationError where it no longer works."""
    locked = Invitation.objects.select_for_update(of=("self",)).select_related("project", "invited_by")
    invitation = locked.get(pk=invitation.pk)
    if reason := obstacle(invitation):
        raise InvitationError(reason)
    return invitation


def _use(invitation: Invitation, user: User) -> None:
    invitation.accepted_at = timezone.now()
    invitation.accepted_by = user
    invitation.save(update_fields=["accepted_at", "accepted_by"])
    if invitation.project is not None:
        roles = {*managing.active_roles(invitation.project, user), *invitation.roles}
        managing.set_roles(invitation.project, user, roles, user)
        if invitation.group:
            set_group(rater_of(invitation.project, user), invitation.group)
    elif CREATOR in invitation.roles:
        user.is_staff = True
        user.save(update_fields=["is_staff"])

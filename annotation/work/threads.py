"""Comments as threads: an annotator's comment opens one, researchers reply, and each side sees what is new to it."""

from __future__ import annotations

import logging
from smtplib import SMTPException

from celery import current_app
from django.conf import settings
from django.core import mail
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Count, QuerySet
from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, override
from django.utils.translation import gettext_lazy as _

from annotation.access import RESEARCHER, project_for, project_with_labels_for
from annotation.addresses import known_site
from annotation.models import Project, Rater, Thread, ThreadReply, User
from annotation.projects.invitations import has_mail_server
from annotation.webhooks.events import BROKER_RETRIES

log = logging.getLogger(__name__)

MOST_COUNTED = 100


def keep(project_id: int, item_id: int, rater_id: int, words: str, before: str = "") -> None:
    """The annotator's comment on the item is now `words`; to be called in the transaction that stores them."""
    own = Thread.objects.filter(item=item_id, rater=rater_id)
    if not words:
        if before:
            own.filter(replies=None).delete()
            own.update(words="")
    elif words != before:
        now = timezone.now()
        if not own.update(words=words, changed_at=now, is_unanswered=True):
            Thread.objects.create(
                project_id=project_id, item_id=item_id, rater_id=rater_id, words=words, changed_at=now
            )
        announce_after_commit(own.values_list("pk", flat=True).get(), to_annotator=False)


def reply(thread: Thread, user: User, text: str) -> ThreadReply:
    """The annotator or a researcher writes; the other side has something new to read."""
    is_annotators = thread.rater.user_id == user.pk
    with transaction.atomic():
        own = Thread.objects.select_for_update(no_key=True).filter(pk=thread.pk)
        own.get()
        made = thread.replies.create(author=user, is_annotators=is_annotators, text=text)
        own.update(changed_at=made.created_at, is_unanswered=is_annotators, is_unread=not is_annotators)
        announce_after_commit(thread.pk, to_annotator=not is_annotators)
    return made


def set_answered(thread: Thread) -> None:
    """No reply is needed."""
    Thread.objects.filter(pk=thread.pk).update(is_unanswered=False)


def read(thread: Thread) -> None:
    """The annotator has the thread before them."""
    if thread.is_unread:
        Thread.objects.filter(pk=thread.pk, changed_at=thread.changed_at).update(is_unread=False)


def thread_for(user: User, slug: str, uuid) -> Thread:
    """The thread, for the annotator whose it is, and for those who may see the project's labels now: a comment may tell
    one."""
    project = project_for(user, slug)
    thread = project.threads.filter(uuid=uuid).select_related("item", "rater", "project").first()
    if thread is None:
        raise Http404("No such thread")
    if thread.rater.user_id != user.pk:
        try:
            project_with_labels_for(user, slug)
        except PermissionDenied:
            if not project.memberships.filter(user=user, is_active=True).exclude(role="annotator").exists():
                raise Http404("No such thread") from None
            raise
    return thread


def threads_of(project: Project) -> QuerySet[Thread]:
    """For researchers, newest words first. Whose answers are excluded has no part in them."""
    found = project.threads.filter(rater__is_excluded=False).select_related("item", "rater", "project")
    return found.annotate(n_replies=Count("replies")).order_by("-changed_at", "-pk")


def count_unanswered(project: Project) -> int:
    return project.threads.filter(is_unanswered=True, rater__is_excluded=False)[:MOST_COUNTED].count()


def count_unread(project: Project, user: User) -> int:
    own = Rater.objects.filter(project=project, user=user)
    return Thread.objects.filter(rater__in=own, is_unread=True)[:MOST_COUNTED].count()


# ---- mail ----


def announce_after_commit(thread_id: int, *, to_annotator: bool) -> None:
    if has_mail_server():
        transaction.on_commit(lambda: _send(thread_id, to_annotator))


def _send(thread_id: int, to_annotator: bool) -> None:
    try:
        current_app.send_task("annotation.mail_comment", args=[thread_id, to_annotator], retry_policy=BROKER_RETRIES)
    except Exception as error:  # every transport fails in its own way, and the words are stored
        log.warning("The broker took no message to mail a comment: %s", error)


def mail_comment(thread_id: int, to_annotator: bool) -> int:
    """Mail those who chose it that there are new words, without the words; how many mails went."""
    thread = Thread.objects.filter(pk=thread_id).select_related("project", "rater__user").first()
    if thread is None or not has_mail_server():
        return 0
    members = User.objects.filter(memberships__project=thread.project, memberships__is_active=True)
    if to_annotator:
        members = members.filter(pk=thread.rater.user_id)
        what = _("There is a reply to your comment in “{project}”.")
    else:
        members = members.filter(memberships__role=RESEARCHER).exclude(pk=thread.rater.user_id)
        what = _("An annotator wrote a comment in “{project}”.")
    site = known_site()
    link = (site.address if site else "") + reverse("thread", args=[thread.project.slug, thread.uuid])
    sent = 0
    for user in members.filter(mails_comments=True, is_active=True).exclude(email="").distinct():
        try:
            with override(user.language or settings.LANGUAGE_CODE):
                subject = gettext("Comment in {project}").format(project=thread.project)
                off = gettext("You can turn these mails off on the page of your account.")
                text = f"{what.format(project=thread.project)}\n\n{link}\n\n{off}\n"
                sent += mail.send_mail(settings.ACCOUNT_EMAIL_SUBJECT_PREFIX + subject, text, None, [user.email])
        except (SMTPException, OSError) as error:
            log.warning("A mail about a comment was not sent: %s", error)
    return sent

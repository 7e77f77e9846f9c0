"""The weekly mail to researchers who chose it: how far the project is, and what needs them."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from smtplib import SMTPException

from django.conf import settings
from django.core import mail
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from analysis.progress import people
from annotation.access import label_access_of
from annotation.addresses import known_site
from annotation.jobs.counts import COUNTS, Counted
from annotation.models import Membership, Project, User

log = logging.getLogger(__name__)

HOUR = 6  # of Monday, from which on it is sent


@dataclass(frozen=True)
class WeeklyText:
    subject: str
    body: str


def membership_of(project: Project, user: User) -> Membership | None:
    """By which the person may choose the mail."""
    return project.memberships.filter(user=user, role=Membership.Role.RESEARCHER, is_active=True).first()


def choose(project: Project, user: User, *, wants: bool) -> bool:
    """False for a person who is no researcher of the project. The first mail comes on the next Monday."""
    membership = membership_of(project, user)
    if membership is None:
        return False
    if membership.weekly_mail != wants:
        membership.weekly_mail, membership.weekly_mailed = wants, monday_of(timezone.now())
        membership.save(update_fields=["weekly_mail", "weekly_mailed"])
    return True


def monday_of(moment: datetime) -> date:
    """The Monday of the week of mails, which begins at HOUR."""
    day = (moment - timedelta(hours=HOUR)).date()
    return day - timedelta(days=day.weekday())


def due(moment: datetime):
    """Memberships whose mail of this week was not sent yet."""
    wanted = Membership.objects.filter(
        weekly_mail=True, role=Membership.Role.RESEARCHER, is_active=True, user__is_active=True
    )
    open_ones = wanted.exclude(project__state__in=(Project.State.CLOSED, Project.State.PREPARING))
    return open_ones.filter(Q(weekly_mailed=None) | Q(weekly_mailed__lt=monday_of(moment))).exclude(user__email="")


def send_due(project_id: int) -> int:
    """Send this week's mail to those of a project who have not had it: how many were sent. It is marked as sent before
    it is, so that a worker that dies sends none twice; one that the mail server refuses is tried again later."""
    now = timezone.now()
    rows = list(due(now).filter(project=project_id).select_related("user", "project"))
    if not rows:
        return 0
    project, sent = rows[0].project, 0
    counted = count_now(project)
    for row in rows:
        mine = Membership.objects.filter(pk=row.pk, weekly_mailed=row.weekly_mailed)
        if not mine.update(weekly_mailed=monday_of(now)):
            continue  # another worker is at it
        text = text_for(project, counted, row.user)
        try:
            mail.send_mail(text.subject, text.body, None, [row.user.email])
        except (SMTPException, OSError) as error:
            log.warning("The weekly mail of %s was not sent: %s", project.slug, error)
            Membership.objects.filter(pk=row.pk).update(weekly_mailed=row.weekly_mailed)
            break
        sent += 1
    return sent


def count_now(project: Project) -> Counted:
    return Counted(COUNTS["people"].count([project])[project.pk])


def text_for(project: Project, counted: Counted, reader: User | None = None) -> WeeklyText:
    """What follows from labels is only for a reader who has seen labels of the project before; without one, it is left
    out."""
    progress = people.progress_of(project, counted)
    queues = (counted.values or {})["queues"]
    comments, flags, skips = (queues[name] for name in ("comments", "flags", "skips"))
    week = sum(one.week for one in people.figures_of(counted).values())
    lines = [
        f"{progress.done:,} of {progress.total:,} judgements are done, {week:,} answers came in the last seven days.",
        end_in_words(progress),
        f"Items with comments that wait: {comments:,}. Flagged: {flags:,}. Skipped: {skips:,}.",
    ]
    if reader is not None and label_access_of(reader, project):
        lines.append(people.sentence_of(people.people_of(project, counted)))
    else:
        lines.append("Who needs a look is on the page.")
    if site := known_site():
        lines.append(f"{site.address}{reverse('project_progress', args=[project.slug])}")
    lines.append("You chose this mail on the page of progress, where you can end it.")
    subject = f"{settings.ACCOUNT_EMAIL_SUBJECT_PREFIX}{project.title}: the week"
    return WeeklyText(" ".join(subject.split()), "\n\n".join(lines) + "\n")


def end_in_words(progress: people.ProjectProgress) -> str:
    """The pace and the expected end, or why there is none."""
    pace = progress.pace
    per_day = f"{pace.per_day:,.0f} answers a day over {pace.n_days} days. " if pace.n_days else ""
    if pace.end is None:
        return f"{per_day}No end can be expected: {pace.why_not}."
    last = f"{pace.last:%d %B %Y}" if pace.last else "no day that can be named"
    return f"{per_day}At this pace it ends on {pace.end:%d %B %Y}, between {pace.first:%d %B %Y} and {last} (95 %)."

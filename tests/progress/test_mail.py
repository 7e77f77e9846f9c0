"""The weekly mail: to those who chose it, once a week, whatever happens to the worker."""

from datetime import UTC, datetime
from io import StringIO
from smtplib import SMTPServerDisconnected

import pytest
from django.core import mail as django_mail
from django.core.management import call_command
from django.utils import timezone

from analysis import tasks
from analysis.progress import mail
from annotation.models import LabelAccess, Membership
from tests.factories import join, make_user
from tests.world import client_of
from tests.world.labels import items_of, make_rater, project_of, say

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]


@pytest.fixture
def project():
    return project_of(3)


@pytest.fixture
def lead(project):
    """Chose the mail in an earlier week."""
    user = join(project, make_user("lead"), Membership.Role.RESEARCHER)
    client_of(user).post(f"/projects/{project.slug}/progress/mail/", {"wants": "yes"})
    membership = Membership.objects.get(project=project, user=user)
    assert membership.weekly_mail and mail.send_due(project.pk) == 0, "the first one comes on the next Monday"
    Membership.objects.filter(pk=membership.pk).update(weekly_mailed="2026-01-05")
    return user


def test_it_is_sent_once_a_week_to_those_who_chose_it(project, lead, mailoutbox):
    join(project, make_user("other"), Membership.Role.RESEARCHER)
    assert mail.send_due(project.pk) == 1 and mail.send_due(project.pk) == 0
    [sent] = mailoutbox
    assert sent.to == [lead.email] and project.title in sent.subject
    assert "0 of 6 judgements are done" in sent.body and "No end can be expected" in sent.body
    client_of(lead).post(f"/projects/{project.slug}/progress/mail/", {"wants": "no"})
    Membership.objects.update(weekly_mailed=None)
    assert mail.send_due(project.pk) == 0


def test_a_worker_that_dies_while_it_sends_sends_none_twice(project, lead, mailoutbox, monkeypatch):
    def die(*args):
        django_mail.EmailMessage("it is out", "", None, [lead.email]).send()
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(mail.mail, "send_mail", die)
        with pytest.raises(KeyboardInterrupt):
            mail.send_due(project.pk)
    assert mail.send_due(project.pk) == 0 and len(mailoutbox) == 1


def test_what_the_mail_server_refused_is_sent_later(project, lead, mailoutbox, monkeypatch):
    def refuse(*args):
        raise SMTPServerDisconnected

    with monkeypatch.context() as patch:
        patch.setattr(mail.mail, "send_mail", refuse)
        assert mail.send_due(project.pk) == 0
    assert mail.send_due(project.pk) == 1 and len(mailoutbox) == 1


def test_a_week_begins_on_monday_morning():
    assert mail.monday_of(datetime(2026, 11, 30, 5, 59, tzinfo=UTC)).isoformat() == "2026-11-23"
    assert mail.monday_of(datetime(2026, 11, 30, 6, 0, tzinfo=UTC)).isoformat() == "2026-11-30"


def test_the_clock_wakes_a_worker_for_each_project_that_is_due(project, lead, monkeypatch):
    sent = []
    monkeypatch.setattr(tasks.current_app, "send_task", lambda name, args, **more: sent.append((name, args)))
    tasks.weekly_mails()
    assert sent == [("analysis.weekly_mail", [project.pk])]
    Membership.objects.update(weekly_mailed=mail.monday_of(timezone.now()))
    tasks.weekly_mails()
    assert len(sent) == 1


def test_what_follows_from_labels_is_only_for_readers_who_have_seen_labels(project, lead):
    for name in ("Ann", "Ben"):
        say(items_of(project)[0], make_rater(project, name), "relevant")
    counted = mail.count_now(project)
    assert "Nobody has 20 items" not in mail.text_for(project, counted, lead).body
    LabelAccess.objects.create(project=project, user=lead, channel="page", first_at=timezone.now())
    assert "Nobody has 20 items" in mail.text_for(project, counted, lead).body


def test_the_command_prints_the_text_or_sends_it(project, lead, mailoutbox):
    out = StringIO()
    call_command("weekly_mail", project.slug, stdout=out)
    assert "0 of 6 judgements are done" in out.getvalue() and not mailoutbox
    call_command("weekly_mail", project.slug, "--send", stdout=out)
    assert "1 sent" in out.getvalue() and len(mailoutbox) == 1

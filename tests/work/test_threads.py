"""A comment opens a thread: who sees it, what is new to each side, and what is mailed."""

import re

import pytest
from django.core import mail
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Membership, Project, Rater, Thread, User
from annotation.work import threads
from tests.factories import join, make_claim_evidence, make_dataset, make_project, make_user
from tests.work.browser import Annotator

pytestmark = pytest.mark.django_db


@pytest.fixture
def lead():
    return make_user("lead")


@pytest.fixture
def ann(lead):
    dataset = make_dataset(lead)
    make_claim_evidence(dataset, 6)
    project = make_project(dataset, overlap=2, annotators=[make_user("ann"), make_user("bob")])
    return person(project, "ann")


def person(project, name):
    return Annotator(User.objects.get(name=name), project)


def comment(someone, words="Which of the two claims?"):
    payload = someone.next()["payload"]
    assert someone.submit(payload, comment=words).status_code == 200
    return payload


def page(someone, address, status=200, **query):
    answer = someone.client.get(f"/projects/{someone.project.slug}/{address}", query)
    assert answer.status_code == status
    return answer


def write(someone, thread, text, **more):
    address = f"/projects/{someone.project.slug}/comments/{thread.uuid}/"
    return someone.client.post(address, {"text": text} | more)


def test_a_reply_is_new_to_the_annotator_until_they_have_it_before_them_and_their_answer_waits_for_the_lead(ann, lead):
    boss = person(ann.project, "lead")
    comment(ann)
    thread = Thread.objects.get()
    assert [row.words for row, _ in page(boss, "comments/", filter="unanswered").context["rows"]] == [
        "Which of the two claims?"
    ]
    assert threads.count_unanswered(ann.project) == 1
    assert write(boss, thread, "The first.").status_code == 302
    assert page(boss, "comments/", filter="unanswered").context["rows"] == []
    assert [one.text for one in ann.client.get("/").context["news"]] == ["1 reply to a comment of yours"]
    assert "1<span" in page(ann, "").content.decode()
    [row] = page(ann, "my-work/", filter="replied").context["rows"]
    assert row.thread.is_unread
    words = page(ann, f"comments/{thread.uuid}/").content.decode()
    assert "The first." in words and "lead" not in re.sub(r"<[^>]+>", "", words.split("<main")[1])
    assert ann.client.get("/").context["news"] == []
    assert page(ann, "my-work/", filter="replied").context["rows"] == []
    write(ann, thread, "Thank you.")
    [(row, _)] = page(boss, "comments/", filter="unanswered").context["rows"]
    assert row.n_replies == 2
    write(boss, thread, "", do="answered")
    assert threads.count_unanswered(ann.project) == 0
    assert ann.client.get("/").context["news"] == []


def test_others_learn_nothing_of_a_thread(ann, lead):
    bob = person(ann.project, "bob")
    comment(ann)
    thread = Thread.objects.get()
    address = f"comments/{thread.uuid}/"
    assert page(bob, address, 404) and page(bob, "comments/", 403)
    assert write(bob, thread, "I agree").status_code == 404
    # Who researches and labels here has open work of their own: comments may name labels.
    join(ann.project, bob.user, Membership.Role.RESEARCHER)
    assert page(bob, address, 403) and page(bob, "comments/", 403)
    assert not thread.replies.exists()


def test_a_changed_comment_waits_anew_and_one_that_is_taken_away_leaves_no_thread(ann):
    payload = comment(ann)
    thread = Thread.objects.get()
    threads.set_answered(thread)
    ann.submit(payload, comment="Which of the two claims?")
    assert threads.count_unanswered(ann.project) == 0
    ann.submit(payload, comment="Which of the three claims?")
    assert threads.count_unanswered(ann.project) == 1
    ann.submit(payload, comment="")
    assert not Thread.objects.exists()


def test_a_thread_with_replies_stays_when_the_comment_is_taken_away(ann, lead):
    payload = comment(ann)
    write(person(ann.project, "lead"), Thread.objects.get(), "The first.")
    ann.submit(payload, comment="")
    assert Thread.objects.get().replies.get().text == "The first."


def test_a_flag_opens_a_thread_and_a_skip_does_not(ann):
    ann.skip(ann.next()["payload"], "not mine")
    assert not Thread.objects.exists()
    flagged = ann.next()["payload"]
    ann.skip(flagged, "The text is cut", flag=True)
    assert Thread.objects.get().words == "The text is cut"
    ann.client.post(f"/projects/{ann.project.slug}/my-work/", {"skip": flagged["assignment"]})
    assert not Thread.objects.exists()


def test_a_reply_to_a_flag_reaches_who_flagged(ann, lead):
    ann.skip(ann.next()["payload"], "The text is cut", flag=True)
    write(person(ann.project, "lead"), Thread.objects.get(), "So it is in print.")
    assert [one.text for one in ann.client.get("/").context["news"]] == ["1 reply to a comment of yours"]
    [row] = page(ann, "my-work/", filter="replied").context["rows"]
    assert row.skip.is_flagged and row.thread.is_unread


def test_an_empty_or_too_long_reply_is_refused_and_nothing_is_stored(ann, lead):
    comment(ann)
    thread, boss = Thread.objects.get(), person(ann.project, "lead")
    for text in ("", "  ", "x" * 10_001, "a\0b"):
        assert write(boss, thread, text).status_code == 422
    assert not thread.replies.exists()
    assert threads.count_unanswered(ann.project) == 1


def test_comments_of_excluded_people_are_in_no_list(ann):
    comment(ann)
    Rater.objects.filter(user=ann.user).update(is_excluded=True)
    assert threads.count_unanswered(ann.project) == 0
    assert page(person(ann.project, "lead"), "comments/").context["rows"] == []


def test_mail_goes_to_those_who_chose_it_and_names_no_words(ann, lead, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    settings.ADDRESS = "https://assay.example.org"
    comment(ann)
    thread = Thread.objects.get()
    assert (
        threads.mail_comment(thread.pk, to_annotator=True) == threads.mail_comment(thread.pk, to_annotator=False) == 0
    )
    User.objects.update(mails_comments=True)
    assert threads.mail_comment(thread.pk, to_annotator=False) == 1
    assert threads.mail_comment(thread.pk, to_annotator=True) == 1
    assert [one.to for one in mail.outbox] == [[lead.email], [ann.user.email]]
    link = f"https://assay.example.org/projects/{ann.project.slug}/comments/{thread.uuid}/"
    assert all(link in one.body and "claims?" not in one.body for one in mail.outbox)


def test_lists_take_as_many_queries_for_many_threads_as_for_few(ann, lead):
    boss = person(ann.project, "lead")

    def queries():
        page(boss, "comments/")
        with CaptureQueriesContext(connection) as captured:
            page(boss, "comments/")
        return len(captured)

    comment(ann)
    few = queries()
    for someone in (ann, person(ann.project, "bob")):
        for _ in range(4):
            comment(someone)
    assert Thread.objects.count() == 9 and queries() == few
    assert Project.objects.get(pk=ann.project.pk).threads.count() == 9

"""Which version of the guidelines an answer carries: the one that its author acknowledged, and no other."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Guideline, GuidelineAcknowledgement, Revision
from annotation.projects import guidelines
from annotation.projects.queries.guidelines import changes
from tests.factories import make_claim_evidence, make_dataset, make_project, make_user
from tests.work.browser import Annotator, answers_to

pytestmark = pytest.mark.django_db

FIRST, SECOND = "Read twice.\n\nJudge it once.", "Read twice.\n\nJudge the evidence once."


@pytest.fixture
def project():
    dataset = make_dataset()
    make_claim_evidence(dataset, 9)
    return make_project(dataset, overlap=2, annotators=[make_user("ann"), make_user("bob")], guidelines=FIRST)


@pytest.fixture
def ann(project):
    return Annotator(project.memberships.get(user__name="ann").user, project)


def publish(project, text=SECOND):
    return guidelines.publish(project, project.created_by, text)


def versions():
    return list(Revision.objects.order_by("pk").values_list("guideline_version", flat=True))


def test_an_answer_of_somebody_who_acknowledged_nothing_carries_no_version(project, ann):
    payload = ann.next()["payload"]
    assert payload["guideline_version"] is None
    ann.submit(payload, guideline_version=1)
    ann.submit(ann.next()["payload"], guideline_version=None)
    ann.submit(ann.next()["payload"])
    assert versions() == [None, None, None]


def test_a_newer_version_is_on_no_answer_before_it_is_acknowledged(project, ann):
    ann.acknowledge(1)
    first = ann.next()["payload"]
    publish(project)
    second = ann.submit(first, guideline_version=1, want_next=True).json()["ahead"]["payload"]
    assert second["guideline_version"] == 1
    ann.submit(second, guideline_version=2)  # never acknowledged, whatever a page says
    ann.submit(ann.next()["payload"])
    ann.acknowledge(2)
    ann.submit(ann.next()["payload"], guideline_version=2)
    assert versions() == [1, None, 1, 2]


def test_an_answer_that_comes_late_keeps_the_version_that_its_author_knew_then(project, ann):
    ann.acknowledge(1)
    late = ann.next()["payload"]
    publish(project)
    ann.acknowledge(2)
    ann.submit(late, guideline_version=1)
    ann.submit(ann.next()["payload"], guideline_version=None)  # given before anything was acknowledged
    assert versions() == [1, None]


def test_a_version_that_was_passed_over_cannot_be_claimed(project, ann):
    publish(project)
    ann.acknowledge(2)
    ann.submit(ann.next()["payload"], guideline_version=1)
    assert versions() == [None]


def test_what_somebody_else_acknowledged_does_not_count(project, ann):
    bob = Annotator(project.memberships.get(user__name="bob").user, project)
    bob.acknowledge(1)
    ann.submit(ann.next()["payload"], guideline_version=1)
    bob.submit(bob.next()["payload"], guideline_version=1)
    assert versions() == [None, 1]


def test_acknowledging_is_stored_once_with_who_which_and_when(project, ann):
    guideline = Guideline.objects.get(project=project)
    Guideline.objects.filter(pk=guideline.pk).update(created_at=timezone.now() - timedelta(days=2))
    at = timezone.now() - timedelta(hours=1)
    assert ann.acknowledge(1, at=at.isoformat()).json()["status"] == "saved"
    assert ann.acknowledge(1).json()["at"] == at.isoformat()
    stored = GuidelineAcknowledgement.objects.get()
    assert (stored.rater.user, stored.version, stored.acknowledged_at) == (ann.user, 1, at)


@pytest.mark.parametrize("days", [-365, 365])
def test_nobody_acknowledged_a_version_before_it_was_there_or_in_the_future(project, ann, days):
    ann.acknowledge(1, at=(timezone.now() + timedelta(days=days)).isoformat())
    created = Guideline.objects.get().created_at
    assert created <= GuidelineAcknowledgement.objects.get().acknowledged_at <= timezone.now()


@pytest.mark.parametrize("version", [None, 0, 2, -1, "1", True, 2**31])
def test_a_version_that_is_not_there_cannot_be_acknowledged(ann, version):
    response = ann.acknowledge(version)
    assert response.status_code == 422
    assert [error["field"] for error in response.json()["errors"]] == ["version"]
    assert not GuidelineAcknowledgement.objects.exists()


def test_replies_tell_of_a_newer_version_with_what_changed_until_it_is_acknowledged(project, ann):
    ann.acknowledge(1)
    first = ann.next()
    assert first["guidelines"] is None
    publish(project)
    told = [ann.next()["guidelines"], ann.submit(first["payload"], guideline_version=1).json()["guidelines"]]
    told.append(ann.skip(ann.next()["payload"], guideline_version=1).json()["guidelines"])
    for one in told:
        assert (one["version"], one["acknowledged"]) == (2, 1)
        assert "<ins>Judge <b>the evidence</b> once.</ins>" in one["html"]
    assert "data-newer-guidelines" in ann.page().content.decode()
    ann.acknowledge(2)
    assert ann.next()["guidelines"] is None
    assert "data-newer-guidelines" not in ann.page().content.decode()
    # A page that has not heard of it yet is given the text.
    stale = ann.submit(ann.next()["payload"], guideline_version=1).json()["guidelines"]
    assert (stale["version"], stale["acknowledged"]) == (2, 2)


def test_a_newcomer_is_shown_the_guidelines_themselves(project, ann):
    publish(project, "# Look\n\n<script>alert(1)</script> **again**")
    html = ann.next()["guidelines"]["html"]
    assert "<strong>again</strong>" in html and "<del>" not in html and "<script" not in html


def test_what_changed_is_shown_as_text(project, ann):
    ann.acknowledge(1)
    publish(project, '<img src=x onerror="alert(1)">')
    html = ann.next()["guidelines"]["html"]
    assert "&lt;img src=x onerror=&quot;alert(1)&quot;&gt;" in html and "<img" not in html


def test_a_project_without_guidelines_asks_nobody(ann):
    Guideline.objects.update(markdown="")
    assert ann.next()["guidelines"] is None
    assert ann.submit(ann.next()["payload"], guideline_version=None).json()["guidelines"] is None
    assert "data-newer-guidelines" not in ann.page().content.decode()


def test_an_answer_asks_no_more_questions_of_the_database_for_it(project, ann, settings):
    """The versions come with the assignment."""
    settings.PREPARED_STATEMENTS = False  # or there is no text to look at
    ann.acknowledge(1)
    payload = ann.next()["payload"]
    for version in (1, 2):
        with CaptureQueriesContext(connection) as queries:
            reply = ann.submit(payload, guideline_version=version, want_next=True).json()
        asked = [query["sql"] for query in queries if "guideline" in query["sql"] and "INSERT" not in query["sql"]]
        assert len(asked) == 1, asked
        payload = reply["ahead"]["payload"]


def test_a_bad_version_in_a_skip_is_refused_before_anything_is_stored(ann):
    payload = ann.next()["payload"]
    assert ann.skip(payload, guideline_version="new").status_code == 422
    assert ann.submit(payload, answers_to(payload)).json()["surplus"] is False


def lines(older, newer):
    marks = {"same": " ", "removed": "-", "added": "+", "gap": "…"}
    return [
        marks[line.kind] + "".join(f"[{text}]" if differs else text for text, differs in line.parts)
        for line in changes(older, newer)
    ]


@pytest.mark.parametrize(
    ("older", "newer", "expected"),
    [
        ("a", "a", []),
        ("", "one\ntwo", ["+one", "+two"]),
        ("one\n\ntwo", "", ["-one", "-", "-two"]),
        ("Read it once.", "Read it twice.", ["-Read it [once].", "+Read it [twice]."]),
        ("Read it once.", "Nothing alike", ["-Read it once.", "+Nothing alike"]),
        ("1\n2\n3\n4\n5", "1\n2\n3\n4\n5\n6", ["…", " 4", " 5", "+6"]),
        ("0\n1\n2\n3\n4", "1\n2\n3\n4", ["-0", " 1", " 2", "…"]),
    ],
)
def test_changes_are_told_line_by_line_with_the_words_that_differ(older, newer, expected):
    assert lines(older, newer) == expected

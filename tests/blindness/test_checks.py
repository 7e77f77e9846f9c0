"""A check looks like any other item: the same item, given as work and as a check, is the same in every reply."""

import re
from datetime import timedelta
from difflib import unified_diff

import pytest
from django.core.cache import cache
from django.db import transaction
from django.utils import timezone

from annotation.models import Assignment, Item, Project
from annotation.work.learning import keys
from tests.factories import join, make_suggestions, make_user
from tests.kinds import EACH_KIND, make_kind_project
from tests.work.browser import Annotator, answers_to

pytestmark = pytest.mark.django_db

# What is drawn anew for each assignment and request, or is a time.
CHANGING = re.compile(
    r'[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|csrfmiddlewaretoken" value="\w+"'
    r'|X-CSRFToken": "\w+"|data-csrf="\w+"|lease_seconds\\?": \d+|\d{1,2} \w{3} \d{4}, \d\d:\d\d'
)


def all_replies(project, user) -> list[str]:
    """What a person gets who opens the first item, looks around, answers it, changes the answer, and goes on."""
    cache.clear()
    person = Annotator(user, Project.objects.get(pk=project.pk))
    person.page()
    payload = person.next()["payload"]
    place = payload["assignment"]
    person.post(place, "shown", {"at": timezone.now().isoformat()})
    person.suggestions(payload, answers_to(payload))
    choices = [answers_to(payload, choice) for choice in range(6)]
    assert any(person.submit(payload, one).status_code == 200 for one in choices)
    person.item(place)
    person.skip(payload)
    person.post(place, "take-back")
    person.post(place, "release")
    assert any(person.submit(payload, one).status_code == 200 for one in choices)
    project.refresh_from_db()
    for address in ("", "my-work/", "work/"):
        person.keep(person.client.get(f"/projects/{project.slug}/{address}"))
    person.keep(person.client.get("/"))
    return [CHANGING.sub("", text) for text in person.received]


def skipped(project, user) -> list[str]:
    """The same of who skips the item, and takes that back; and of who answers it when its time is over."""
    cache.clear()
    person = Annotator(user, Project.objects.get(pk=project.pk))
    payload = person.next()["payload"]
    person.skip(payload, "unclear")
    person.keep(person.client.get(f"/projects/{project.slug}/my-work/"))
    person.post(payload["assignment"], "take-back")
    over = timezone.now() - timedelta(hours=1)
    Assignment.objects.filter(uuid=payload["assignment"]).update(lease_expires_at=over)
    choices = [answers_to(payload, choice) for choice in range(6)]
    assert any(person.submit(payload, one).status_code == 200 for one in choices)
    return [CHANGING.sub("", text) for text in person.received]


@EACH_KIND
@pytest.mark.parametrize("looks", [all_replies, skipped])
def test_an_item_is_the_same_as_work_and_as_a_check(identifier, looks):
    project = make_kind_project(identifier, overlap=1, prefill="shown")
    lead = make_user("lead")
    user = join(project, make_user("Ann"))
    make_suggestions(project)
    Project.objects.filter(pk=project.pk).update(check_every=1)
    project.refresh_from_db()
    with transaction.atomic():
        as_work = looks(project, user)
        item = Item.objects.get(assignments__rater__user=user, assignments__state="done")
        transaction.set_rollback(True)
    first = project.type.asked_dimensions[0]
    label = first.shown_labels[0].value if first.labels else None
    if label is None or first.takes_several:
        label = next((one for one in ("0", "1", "none") if first.takes(one)), label)
    unit = item.item_units.order_by("index").first().unit.key
    keys.set_apart(project, item, lead, "check", [{"unit": unit, "dimension": first.slug, "label": label}])
    as_check = looks(project, user)
    assert Assignment.objects.filter(item=item, reason="check", rater__user=user).exists()
    for check, work in zip(as_check, as_work, strict=True):
        differences = "\n".join(unified_diff(work.splitlines(), check.splitlines(), n=0))
        assert not differences, differences

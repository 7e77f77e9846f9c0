"""A last day of a group: shown to its members, who get nothing after it; and last days that are extended together."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation import tasks
from annotation.models import Annotation, Project, SettingsChange
from annotation.participation import links
from annotation.projects import managing
from annotation.projects.raters import rater_of, set_group
from tests.api.programs import Program, problem_of
from tests.factories import MORE_SETTINGS, make_claim_evidence, make_dataset, make_project, make_user
from tests.work.browser import Annotator
from tests.world import client_of

pytestmark = pytest.mark.django_db


def day(days: int):
    return timezone.localdate() + timedelta(days=days)


@pytest.fixture
def people():
    dataset = make_dataset()
    make_claim_evidence(dataset, 4)
    users = [make_user(name) for name in ("ann", "bob")]
    project = make_project(dataset, overlap=2, annotators=users)
    ann, bob = (Annotator(user, project) for user in users)
    set_group(rater_of(project, ann.user), "crowd")
    return ann, bob


def set_quotas(project, text):
    Project.objects.filter(pk=project.pk).update(group_quotas=text)


def test_members_of_a_group_get_nothing_after_its_last_day_and_what_they_hold_is_kept(people):
    ann, bob = people
    set_quotas(ann.project, f"crowd: until {day(0)}")
    held = ann.next()["payload"]
    assert held, "the day itself is one to label on"
    set_quotas(ann.project, f"crowd: until {day(-1)}")
    assert ann.next()["payload"]["assignment"] == held["assignment"]
    assert ann.next(after=held["assignment"], ahead=1)["state"] == "empty"
    assert ann.submit(held).json()["status"] == "saved" and Annotation.objects.count() == 1
    assert ann.next()["outlook"] == "group-last-day"
    assert bob.next()["state"] == "item"
    tasks.sweep()
    assert Project.objects.get(pk=ann.project.pk).state == "open"


def test_an_answer_that_was_given_offline_before_the_last_day_is_kept_after_it(people):
    ann, bob = people
    first = ann.next()["payload"]
    second = ann.next(after=first["assignment"], ahead=1)["payload"]
    set_quotas(ann.project, f"crowd: until {day(-1)}")
    assert [ann.submit(one).json()["surplus"] for one in (first, second)] == [False, False]


def test_members_read_the_last_day_of_their_group_where_it_is_the_earlier_one(people):
    ann, bob = people
    managing.update_project(
        ann.project, ann.project.created_by, last_day=day(5), group_quotas=f"crowd: 9, until {day(3)}"
    )
    for person, words in ((ann, f"{day(3):%-d %B %Y}"), (bob, f"{day(5):%-d %B %Y}")):
        for place in ("/", f"/projects/{ann.project.slug}/", f"/projects/{ann.project.slug}/work/"):
            page = person.client.get(place).content.decode()
            assert f"Until {words}" in page and len(set(re.findall(r"Until \d+ \w+ \d+", page))) == 1
    progress = client_of(ann.project.created_by).get(f"/projects/{ann.project.slug}/progress/").content.decode()
    assert f"9, until {day(3)}" in progress and ">over<" not in progress


def test_a_last_day_of_a_group_in_the_past_is_refused_unless_it_is_there(people):
    project = people[0].project
    program, place = Program(project.created_by), f"projects/{project.slug}/settings/"
    problem = problem_of(program.send(place, {"group_quotas": f"crowd: until {day(-1)}"}), 422)
    assert "Group crowd: the last day is over: choose today or a later day" in str(problem)
    settings = MORE_SETTINGS | {"title": "A", "prefill": "off", "minimum_seconds": 0, "lease_minutes": 60}
    page = client_of(project.created_by).post(
        f"/projects/{project.slug}/settings/", settings | {"group_quotas": f"crowd: until {day(-1)}"}
    )
    assert "Group crowd: the last day is over" in page.content.decode()
    set_quotas(project, f"crowd: until {day(-1)}")
    assert program.send(place, {"group_quotas": f"crowd: 5, until {day(-1)}"}).status_code == 200


class Extending:
    def __init__(self, project):
        self.project, self.client = project, client_of(project.created_by)

    def post(self, days: int, **more):
        page = self.client.get(self.place)
        keys = [one.key for one in page.context["deadlines"]]
        return self.client.post(self.place, {"deadlines": keys, "day": day(days).isoformat()} | more)

    @property
    def place(self) -> str:
        return f"/projects/{self.project.slug}/last-days/"


def test_last_days_are_extended_together_after_their_effect_was_shown(people):
    ann, _ = people
    project = ann.project
    lead = Extending(project)
    assert "No last day" in lead.client.get(lead.place).content.decode()
    Project.objects.filter(pk=project.pk).update(
        last_day=day(-1), group_quotas=f"crowd: 7, 2 each, until {day(1)}; experts: 3"
    )
    tasks.sweep()
    link = links.make_link(project, project.created_by, title="Wave 1", places=5, expires_at=links.end_of(day(2)))
    page = lead.post(8)
    words = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page.content.decode()))
    old = f"{day(-1):%-d %B %Y}"
    assert f"The project, instead of {old}, which is over: it stays paused until it is opened" in words
    assert "Group crowd, instead of" in words and ": 1 annotator" in words and ": 5 places left" in words
    project.refresh_from_db()
    assert project.last_day == day(-1), "nothing is moved before it is confirmed"
    assert lead.post(8, confirmed=page.context["digest"]).status_code == 302
    project.refresh_from_db()
    link.refresh_from_db()
    assert (project.last_day, link.last_day) == (day(8), day(8))
    assert project.group_quotas == f"crowd: 7, 2 each, until {day(8)}; experts: 3"
    whats = SettingsChange.objects.filter(project=project).values_list("what", flat=True)
    assert {"settings", "study-link"} <= {what.replace("_", "-") for what in whats}


def test_nothing_is_extended_where_something_changed_since_the_effect_was_shown(people):
    project = people[0].project
    Project.objects.filter(pk=project.pk).update(last_day=day(1), group_quotas=f"crowd: until {day(2)}")
    lead = Extending(project)
    digest = lead.post(8).context["digest"]
    Project.objects.filter(pk=project.pk).update(last_day=day(3))
    page = lead.post(8, confirmed=digest)
    assert page.status_code == 200 and "Nothing is moved yet" in page.content.decode()
    project.refresh_from_db()
    assert (project.last_day, project.group_quotas) == (day(3), f"crowd: until {day(2)}")


@pytest.mark.parametrize(("days", "words"), [(-2, "The last day is over"), (1, "already: choose a later day")])
def test_a_day_that_is_no_later_one_is_refused(people, days, words):
    project = people[0].project
    Project.objects.filter(pk=project.pk).update(last_day=day(1))
    assert words in Extending(project).post(days).content.decode()
    project.refresh_from_db()
    assert project.last_day == day(1)

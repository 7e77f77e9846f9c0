"""A connection that is cut in each step of coming in: the server has acted, its reply is lost, and it is asked anew."""

import re
from copy import deepcopy

import pytest
from django.test import Client

from annotation.models import (
    Annotation,
    Assignment,
    Consent,
    ItemKey,
    KeyResult,
    Membership,
    Participation,
    QuestionnaireAnswer,
    Rater,
    Revision,
    User,
)
from annotation.participation import consent, joining, questionnaires
from annotation.projects import label_sets
from annotation.work.learning import keys
from tests.factories import join, make_user
from tests.participation.test_panels import PROLIFIC, finish_of, query
from tests.participation.test_questionnaires import ABOUT, RIGHT
from tests.participation.test_study_links import CODE, fresh, make_link, path_of
from tests.work.browser import Annotator
from tests.work.test_learning import key_of

pytestmark = pytest.mark.django_db
CLICK = re.compile(r'name="click" value="([^"]+)"')


class CutClient(Client):
    """Each request that changes something is sent twice: of the first reply, cookies included, nothing arrives."""

    def post(self, *args, **more):
        before = deepcopy(self.cookies)
        super().post(*args, **more)
        self.cookies = before
        return super().post(*args, **more)


@pytest.fixture
def link(request):
    """Consent, questions, training and qualification come before two items of work, each by two people."""
    made = make_link(items=6, most_items=2, **request.param)
    project, lead = made.project, make_user()
    join(project, lead, Membership.Role.RESEARCHER)
    consent.publish(project, lead, "We store what you answer.", consent.KEEP)
    about = label_sets.save_label_set(lead, ABOUT)
    questionnaires.publish(project, lead, "screening", about.identifier, {})
    for purpose in (ItemKey.Purpose.TRAINING, ItemKey.Purpose.QUALIFICATION):
        item = project.items.filter(state="active").order_by("-position").first()
        keys.set_apart(project, item, lead, purpose, key_of(project, item, 1))
    project.refresh_from_db()
    return made


@pytest.mark.parametrize(
    ("link", "ids", "code"), [({}, "", ""), (PROLIFIC, query(), "C0DE1")], indirect=["link"], ids=["link", "panel"]
)
def test_whatever_is_asked_again_is_done_once(link, ids, code):
    browser, project = CutClient(), link.project
    page = browser.get(path_of(link) + ids).content.decode()
    reply = browser.post(path_of(link) + ids, {"click": CLICK.search(page)[1]})
    person = Participation.objects.get()
    if not ids:  # the code of the reply that arrived is the one that counts
        shown = CODE.search(reply.content.decode())[1]
        assert joining.returning(shown) == person
    way = f"/projects/{project.slug}/taking-part"
    assert browser.post(f"{way}/consent/", {"consent": "yes", "version": "1"}).url == f"/projects/{project.slug}/work/"
    assert browser.post(f"{way}/screening/", RIGHT).url == f"/projects/{project.slug}/work/"
    who = Annotator(person.user, project)
    who.client = browser
    who.acknowledge()
    for _ in range(4):  # a lesson, a qualification, two items
        given = who.next()
        assert who.submit(given["payload"], key_answer(given["payload"])).status_code == 200
    browser.post(finish_of(link))
    assert code in browser.get(finish_of(link)).content.decode()
    person.refresh_from_db()
    assert (person.state, fresh(link).places_used) == ("complete", 1)
    assert User.objects.filter(participations__link=link).count() == Rater.objects.filter(user=person.user).count() == 1
    assert Consent.objects.count() == QuestionnaireAnswer.objects.count() == 1
    assert KeyResult.objects.count() == 2 and Annotation.objects.count() == Revision.objects.count() == 4
    assert not Annotation.objects.filter(is_surplus=True).exists()
    work = Assignment.objects.exclude(reason__in=Assignment.LEARNING).exclude(state="cancelled")
    assert work.count() == 4 * 2 and work.filter(state="done").count() == 2, "no place came in addition"


def key_answer(payload: dict) -> list[dict]:
    [unit], [dimension, *_] = payload["units"], payload["dimensions"]
    return [{"unit": unit, "dimension": dimension["slug"], "label": dimension["labels"][1]["value"], "spans": []}]


@pytest.mark.parametrize("link", [{}], indirect=True)
def test_a_click_leads_to_no_account_that_is_in_use(link):
    page = Client().get(path_of(link)).content.decode()
    click = CLICK.search(page)[1]
    first, second = ({"click": click}, {"click": CLICK.search(Client().get(path_of(link)).content.decode())[1]})
    Client().post(path_of(link), first)
    Client().post(path_of(link), second)
    assert Participation.objects.count() == 2
    item = link.project.items.filter(state="active").first()
    Annotation.objects.create(item=item, rater=Rater.objects.get(user=Participation.objects.first().user))
    assert Client().post(path_of(link), first).status_code == 200
    assert Participation.objects.count() == 3

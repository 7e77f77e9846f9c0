"""What an annotator finds on the page of their own work, and how they come back to an item of theirs."""

import csv
import io
import re
import uuid

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Annotation, Assignment, Item, Judgement, Project, Revision
from annotation.projects import guidelines
from annotation.work.queries import own_work
from tests.factories import join, make_claim_evidence, make_dataset, make_project, make_user
from tests.kinds import make_kind_project
from tests.work.browser import Annotator, answers_to

pytestmark = pytest.mark.django_db


@pytest.fixture
def lead():
    return make_user("lead")


@pytest.fixture
def ann(lead):
    dataset = make_dataset(lead)
    make_claim_evidence(dataset, 60)
    project = make_project(dataset, overlap=1, annotators=[make_user("ann"), make_user("bob")])
    return Annotator(project.memberships.get(user__name="ann").user, project)


def work_of(ann, **query):
    answer = ann.client.get(f"/projects/{ann.project.slug}/my-work/", query)
    assert answer.status_code == 200
    return answer.context


def answer_one(ann, choice=0, **body):
    payload = ann.next()["payload"]
    assert ann.submit(payload, answers_to(payload, choice), **body).status_code == 200
    return payload


def test_answers_and_skips_are_listed_newest_first_with_the_numbers_of_answers(ann):
    for _ in range(3):
        answer_one(ann)
    ann.skip(ann.next()["payload"], "unreadable")
    rows = work_of(ann)["rows"]
    assert [(row.number, bool(row.skip)) for row in rows] == [(0, True), (3, False), (2, False), (1, False)]
    assert all(row.labels for row in rows[1:])


def test_the_list_is_narrowed_by_label_comment_flag_and_guidelines(ann, lead):
    ann.acknowledge(1)
    answer_one(ann, comment="why is this here?", guideline_version=1)
    answer_one(ann, choice=1, guideline_version=1)
    ann.skip(ann.next()["payload"], "not English", flag=True)
    ann.skip(ann.next()["payload"])
    guidelines.publish(ann.project, lead, "Read three times.")
    ann.acknowledge(2)
    answer_one(ann, guideline_version=2)

    def numbers(chosen):
        return sorted(row.number for row in work_of(ann, filter=chosen)["rows"])

    first, second = (row.labels[0] for row in reversed(work_of(ann, filter="answered")["rows"][1:]))
    names = {title.split(": ")[1]: name for name, title in work_of(ann)["labels"]}
    assert (numbers("answered"), numbers("skipped"), numbers("flagged")) == ([1, 2, 3], [0, 0], [0])
    assert (numbers("commented"), numbers("earlier-guidelines")) == ([1], [1, 2])
    assert first != second
    assert (numbers(names[first]), numbers(names[second])) == ([1, 3], [2])
    assert ann.client.get(f"/projects/{ann.project.slug}/my-work/", {"filter": "gold"}).status_code == 400


def test_a_search_finds_words_of_the_item_and_nothing_of_its_key(ann):
    payloads = [answer_one(ann) for _ in range(6)]
    item = Item.objects.get(assignments__uuid=payloads[0]["assignment"])
    words = item.anchor.evidence.claim.text
    found = work_of(ann, search=words[:9].upper())["rows"]
    assert {row.item.anchor.evidence.claim_id for row in found} == {item.anchor.evidence.claim_id}
    assert work_of(ann, search=item.key)["rows"] == []


def test_nobody_finds_what_others_answered(ann):
    bob = Annotator(ann.project.memberships.get(user__name="bob").user, ann.project)
    payload = answer_one(bob)
    assert work_of(ann)["rows"] == []
    work = f"/projects/{ann.project.slug}/work/"
    assert bob.client.get(work, {"item": payload["assignment"]}).status_code == 200
    assert ann.client.get(work, {"item": payload["assignment"]}).status_code == 404
    assert ann.client.get(work, {"item": uuid.uuid4()}).status_code == 404
    assert ann.client.get(work, {"item": "1"}).status_code == 400


def test_a_number_leads_to_the_answer_that_has_it(ann):
    payloads = [answer_one(ann) for _ in range(30)]
    address = f"/projects/{ann.project.slug}/my-work/"
    to = ann.client.get(address, {"number": "4"})
    assert to["Location"].endswith(f"/work/?item={payloads[3]['assignment']}")
    page = ann.client.get(to["Location"]).content.decode()
    assert f'data-wanted="{payloads[3]["assignment"]}"' in page
    recent = re.search('data-recent="([^"]*)"', page)[1].split()
    assert recent == [one["assignment"] for one in payloads[:4]]
    assert 'data-answered="30" data-newer="26"' in page
    assert ann.client.get(address, {"number": "31"})["Location"] == address
    assert ann.client.get(address, {"number": "-1"}).status_code == 400


def test_a_skip_that_is_taken_back_is_the_item_on_the_page(ann):
    skipped = ann.next()["payload"]
    ann.skip(skipped)
    ann.next()
    answer = ann.client.post(f"/projects/{ann.project.slug}/my-work/", {"skip": skipped["assignment"]})
    page = ann.client.get(answer["Location"]).content.decode()
    assert f'data-item="{skipped["assignment"]}"' in page


def test_time_is_that_of_all_revisions_by_day(ann):
    payload = answer_one(ann, active_ms=1_800_000)
    answer_one(ann, active_ms=900_000)
    ann.submit(payload, active_ms=900_000)
    Revision.objects.filter(annotation__rater__user=ann.user, active_ms=1_800_000).update(
        received_at="2026-03-01T23:59:59Z"
    )
    totals = work_of(ann)["totals"]
    assert (totals.answers, totals.hours, totals.per_hour) == (2, 1.0, 2.0)
    file = ann.client.get(f"/projects/{ann.project.slug}/my-work/hours.csv").content.decode()
    rows = list(csv.DictReader(io.StringIO(file)))
    assert [(row["answers"], row["hours"]) for row in rows] == [("1", "0.5000"), ("1", "0.5000")]
    assert rows[0]["day"] == "2026-03-01"


def test_pay_is_shown_where_the_project_shows_it(ann):
    answer_one(ann, active_ms=1_800_000)
    place = f"/projects/{ann.project.slug}/my-work/"
    paid = Project.objects.filter(pk=ann.project.pk)
    paid.update(pay_rate="1.25", pay_currency="CHF", pay_bonus="9.99")
    assert "pay" not in ann.client.get(place).content.decode().lower()
    assert ann.client.get(f"{place}pay/").status_code == 404
    paid.update(shows_pay=True)
    assert f"{place}pay/" in ann.client.get(place).content.decode()
    fragment = ann.client.get(f"{place}pay/").content.decode()
    assert "1.25 CHF" in fragment and "9.99" not in fragment and "without the bonus" in fragment


def test_agreement_counts_first_answers_that_are_decided_and_only_where_it_is_shown(ann, monkeypatch):
    monkeypatch.setattr(own_work, "LEAST_COMPARED", 4)
    payloads = [answer_one(ann) for _ in range(5)]
    units = [Item.objects.get(assignments__uuid=one["assignment"]).anchor for one in payloads]
    slug, label = Annotation.objects.first().revisions.get().judgements.values_list("dimension", "label").first()
    other = next(one for one in ann.project.type.dimension(slug).values if one != label)
    for number, unit in enumerate(units[:4]):
        ann.project.decisions.create(
            unit=unit, dimension=slug, method="adjudicated", label=other if number == 0 else label
        )
    assert work_of(ann)["agreed"] == []
    Project.objects.filter(pk=ann.project.pk).update(shows_agreement=True)
    [agreed] = work_of(ann)["agreed"]
    assert (agreed.n, agreed.of, agreed.percent) == (3, 4, 75)


def test_the_page_takes_as_many_queries_for_many_rows_as_for_few(ann):
    def queries(**query):
        with CaptureQueriesContext(connection) as captured:
            work_of(ann, **query)
        return len(captured)

    answer_one(ann)
    ann.skip(ann.next()["payload"])
    work_of(ann)
    few = queries()
    for _ in range(45):
        answer_one(ann)
    work_of(ann)
    assert len(work_of(ann)["rows"]) == 40
    assert queries() <= few
    assert Assignment.objects.filter(state="done").count() == 46


@pytest.fixture
def few(lead):
    """Three items that Ann and Bob label, once each."""
    dataset = make_dataset(lead)
    make_claim_evidence(dataset, 3)
    project = make_project(dataset, overlap=1, annotators=[make_user("ann"), make_user("bob")])
    return [Annotator(project.memberships.get(user__name=name).user, project) for name in ("ann", "bob")]


def test_a_parked_item_comes_back_when_there_is_nothing_else_in_the_order_of_parking(few):
    ann, _ = few
    for _ in range(2):
        ann.skip(ann.next()["payload"], park=True)
    first, second = Assignment.objects.filter(is_parked=True).order_by("done_at")
    page = work_of(ann, filter="parked")
    assert [row.skip.pk for row in page["rows"]] == [second.pk, first.pk]
    last = ann.next()["payload"]
    assert last["assignment"] not in (str(first.uuid), str(second.uuid))
    ann.submit(last)
    assert ann.client.get("/").context["lead_on"].outlook.name == "work"
    for row in (first, second):
        again = ann.next()["payload"]
        assert again["assignment"] == str(row.uuid)
        assert ann.submit(again).json()["surplus"] is False
    assert ann.next()["outlook"] == "finished"
    assert not Assignment.objects.filter(state__in=["open", "leased"]).exists()
    assert Annotation.objects.count() == 3


def test_another_annotator_may_answer_what_is_parked_and_then_it_does_not_come_back(few):
    ann, bob = few
    for _ in range(2):
        answer_one(bob)
    ann.skip(ann.next()["payload"], park=True)
    answer_one(bob)
    assert ann.next()["state"] == "empty"
    assert Annotation.objects.count() == 3


def test_what_the_last_annotator_parked_is_not_stuck_and_what_they_skipped_is(few):
    ann, bob = few
    for person in few:
        person.skip(person.next()["payload"])
    for person in few:
        payload = person.next()["payload"]
        person.skip(payload, park=True)
    assert [item.state for item in Item.objects.filter(assignments__is_parked=True).distinct()] == ["active"]
    while (given := ann.next())["state"] == "item":
        ann.skip(given["payload"])
    while (given := bob.next())["state"] == "item":
        bob.skip(given["payload"])
    assert set(Item.objects.values_list("state", flat=True)) == {"stuck"}


def test_a_parked_item_is_taken_back_at_once_and_is_then_held(few):
    ann, _ = few
    parked = ann.next()["payload"]
    ann.skip(parked, "when I am awake", park=True)
    ann.client.post(f"/projects/{ann.project.slug}/my-work/", {"skip": parked["assignment"]})
    row = Assignment.objects.get(uuid=parked["assignment"])
    assert (row.state, row.is_parked, row.skip_reason) == ("leased", False, "")
    assert ann.next()["payload"]["assignment"] == parked["assignment"]


def test_answers_about_shuffled_texts_are_in_the_words_of_the_page():
    """How the texts are stored says which system wrote them, wherever a file has each system in a column."""
    project = make_kind_project("preference/-/1", n=6)
    ann = Annotator(join(project, make_user()), project)
    chosen = []
    while (given := ann.next())["state"] == "item":
        payload = given["payload"]
        labels = payload["dimensions"][0]["labels"]
        chosen.insert(0, [labels[0]["title"]])
        assert ann.submit(payload, answers_to(payload)).status_code == 200
    stored = Judgement.objects.filter(revision__annotation__rater__user=ann.user).values_list("label", flat=True)
    assert len({*stored}) > 1 and chosen == [["Output 1"]] * len(stored)
    found = work_of(ann)
    assert [row.labels for row in found["rows"]] == chosen
    assert [name for name, _ in found["labels"]] == ["preference:tie", "preference:none"]
    page = ann.client.get(f"/projects/{project.slug}/my-work/").content.decode()
    guidelines_page = ann.client.get(f"/projects/{project.slug}/guidelines/").content.decode()
    assert "Output A" not in page + guidelines_page

"""The page of progress: who sees what, how it is sorted, and that it counts nothing large itself."""

import re
import uuid
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.jobs import counts
from annotation.models import (
    Annotation,
    Assignment,
    Item,
    Judgement,
    KeptCount,
    KeyResult,
    LabelAccess,
    Membership,
    Revision,
)
from annotation.projects import cases, managing
from annotation.work import threads
from tests.factories import join, make_suggestions, make_user
from tests.world import client_of, label_one, make_world
from tests.world.labels import items_of, make_rater, project_of, say

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    """Six people on 60 items, of whom Zoe differs from the others."""
    made = project_of(60, overlap=4)
    raters = [make_rater(made, name) for name in ("Ann", "Ben", "Cleo", "Dan", "Eve", "Zoe")]
    for place, item in enumerate(items_of(made)):
        for rater in raters[:5] if place % 2 else raters:
            wrong = rater.name == "Zoe" and place % 4 or (place + rater.pk) % 17 == 0
            say(item, rater, "not_relevant" if wrong else "relevant", client_id=uuid.uuid4(), active_ms=1000 * rater.pk)
    return made


@pytest.fixture
def client(project):
    return client_of(join(project, make_user("lead"), Membership.Role.RESEARCHER))


def page_of(client, project, more: str = "") -> str:
    reply = client.get(f"/projects/{project.slug}/progress/{more}")
    assert reply.status_code == 200, reply.content
    return reply.content.decode()


def names_in(page: str) -> list[str]:
    return re.findall(r'\?person=[-0-9a-f]+" dir="auto">([^<]+)<', page)


def test_who_needs_a_look_comes_first_and_is_said_first(client, project):
    page = page_of(client, project)
    assert "1 of 6 people needs a look: Zoe agrees less with others." in page
    assert names_in(page) == ["Zoe", "Ann", "Ben", "Cleo", "Dan", "Eve"]
    assert names_in(page_of(client, project, "?sort=time"))[0] == "Zoe"
    assert names_in(page_of(client, project, "?sort=-time"))[0] == "Ann"
    assert names_in(page_of(client, project, "?sort=others"))[0] == "Zoe"
    assert names_in(page_of(client, project, "?search=ZO")) == ["Zoe"]
    assert client.get(f"/projects/{project.slug}/progress/?sort=password").status_code == 400
    assert LabelAccess.objects.filter(project=project).count() == 1, "the page is made from labels"


def test_a_person_leads_to_the_items_that_they_answered(client, project):
    zoe = project.raters.get(name="Zoe")
    listed = client.get(f"/projects/{project.slug}/items/?person={zoe.user.uuid}")
    assert listed.context["page"].paginator.count == 30 and "answered by Zoe" in listed.content.decode()
    item = items_of(project)[2]
    for person, flag in ((zoe, True), (project.raters.get(name="Ann"), False)):
        row = Assignment(project=project, item=item, position=item.position, state="skipped", rater=person)
        row.is_flagged = flag
        row.save()
    for filter, words in (("skipped", "skipped by Zoe"), ("flagged", "flagged by Zoe")):
        place = f"/projects/{project.slug}/items/?person={zoe.user.uuid}&amp;filter={filter}"
        assert f'href="{place}">1</a>' in page_of(client, project)
        skipped = client.get(place.replace("&amp;", "&"))
        assert words in skipped.content.decode() and skipped.context["page"].paginator.count == 1
        assert [one.item for one in skipped.context["rows"]] == [item]
    assert 'name="priority"' not in listed.content.decode(), "it would be given to all items"
    assert client.get(f"/projects/{project.slug}/items/?person=nobody").status_code == 400
    assert client.get(f"/projects/{project.slug}/items/?person={make_user('else').uuid}").status_code == 404


def test_figures_of_a_person_lead_to_what_is_behind_them(client, project):
    """Agreement to the person's items with disagreements, checks to those set apart, comments to the comments."""
    zoe, ann = project.raters.get(name="Zoe"), project.raters.get(name="Ann")
    checked, commented = items_of(project)[2:5:2]
    Item.objects.filter(pk=checked.pk).update(state=Item.State.APART)
    answer = Revision.objects.get(annotation__item=checked, annotation__rater=zoe)
    KeyResult.objects.create(revision=answer, item=checked, rater=zoe, purpose="check", right=0, asked=1)
    say(commented, zoe, "relevant", client_id=uuid.uuid4(), comment="Odd")
    for rater in (zoe, ann):
        threads.keep(project.pk, commented.pk, rater.pk, f"Odd, says {rater.name}")
    cases.recount(project)
    page = page_of(client, project)
    items = f"/projects/{project.slug}/items/?person={zoe.user.uuid}"
    comments = f"/projects/{project.slug}/comments/?person={zoe.user.uuid}"
    places = [items, f"{items}&filter=apart", f"{items}&filter=disagreed", comments]
    [row] = [one for one in re.findall(r"<tr>.*?</tr>", page, re.DOTALL) if ">Zoe<" in one]
    assert {unescape(place) for place in re.findall('href="([^"]+)"', row)} == set(places)
    listed = client.get(f"{items}&filter=disagreed").context["page"].paginator.count
    assert 0 < listed < client.get(items).context["page"].paginator.count
    found = client.get(comments)
    assert [one.words for one, _ in found.context["rows"]] == ["Odd, says Zoe"]
    assert f'value="{zoe.user.uuid}"' in found.content.decode(), "the filter keeps the person"
    assert client.get(f"/projects/{project.slug}/comments/?person=nobody").status_code == 400


def test_who_follows_suggestions_is_shown_where_a_checker_gave_some(client, project):
    assert "With suggestions" not in page_of(client, project)
    assert client.get(f"/projects/{project.slug}/progress/?sort=followed").status_code == 400
    run = make_suggestions(project, labels={"relevance": "relevant"})
    Revision.objects.filter(annotation__item__position__lte=items_of(project)[-1].position).update(
        suggestion_shown=True
    )
    exposure = [{"run": str(run.uuid), "suggestions": 1}]
    for one in Annotation.objects.filter(item__project=project, rater__name__in=("Ann", "Zoe")):
        place = {"item": one.item, "position": one.item.position, "rater": one.rater, "state": "done"}
        one.assignment = Assignment.objects.create(project=project, exposure=exposure, **place)
        one.save()
    page = page_of(client, project, "?sort=followed")
    assert names_in(page)[:2] == ["Ann", "Zoe"] and "/reports/prefill-trial/" in page
    shares = {}
    for name in ("Ann", "Zoe", "Ben"):
        [row] = [one for one in re.findall(r"<tr>.*?</tr>", page, re.DOTALL) if f">{name}<" in one]
        shares[name] = re.findall(r"(\d+ %)</a><br>[^<]*<span[^>]*>[^,]*, n = (\d+)", row)[-1:]
    said = Judgement.objects.filter(dimension="relevance", revision__annotation__rater__name="Ann")
    percent = 100 * said.filter(label="relevant").count() / said.count()
    assert shares["Ann"] == [(f"{percent:.0f} %", "60")] and shares["Zoe"][0][1] == "30"
    lead = join(project, make_user("both"), Membership.Role.RESEARCHER, Membership.Role.ANNOTATOR)
    project.assignments.filter(item=items_of(project)[1]).update(state="open", rater=None)
    assert "With suggestions" not in page_of(client_of(lead), project)
    assert client_of(lead).get(f"/projects/{project.slug}/progress/?sort=followed").status_code == 400


def test_who_still_labels_is_shown_nothing_from_labels_and_checks(project):
    item = items_of(project)[0]
    project.assignments.filter(item=item).update(state="open")
    lead = join(project, make_user("both"), Membership.Role.RESEARCHER, Membership.Role.ANNOTATOR)
    page = page_of(client_of(lead), project)
    assert "agrees less" not in page and "With others" not in page and ">Checks<" not in page
    assert names_in(page)[0] == "Ann"
    assert client_of(lead).get(f"/projects/{project.slug}/progress/?sort=others").status_code == 400
    judge = join(project, make_user("judge"), Membership.Role.ADJUDICATOR, Membership.Role.ANNOTATOR)
    reply = client_of(judge).get(f"/projects/{project.slug}/progress/")
    assert reply.status_code == 403, "counts may tell checks from work"
    assert "progress/" not in client_of(judge).get(f"/projects/{project.slug}/guidelines/").content.decode()
    assert not LabelAccess.objects.filter(project=project).exists()


def test_a_large_project_is_counted_by_a_worker_and_takes_few_queries(client, project, monkeypatch):
    monkeypatch.setattr(counts, "SMALL", 1)
    place = f"/projects/{project.slug}/progress/"
    with monkeypatch.context() as patch:
        patch.setattr(counts.Count, "count", lambda count, owners: pytest.fail("it was counted in the request"))
        assert "Counting …" in page_of(client, project)
    assert client.get(f"/projects/{project.slug}/pay/people.csv").status_code == 409
    KeptCount.objects.bulk_create([KeptCount(project=project, name="people")], ignore_conflicts=True)
    assert counts.count_anew("people", project.pk)
    page = page_of(client, project)
    assert "1 of 6 people needs a look" in page and "Counted" in page

    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as found:
            client.get(place)
        return len(found)

    before = queries()
    for number in range(60):
        make_rater(project, f"More {number:02}")
    assert queries() == before
    page = page_of(client, project)
    assert len(names_in(page)) == 40 and "1 of 2" in page


def test_what_is_not_counted_yet_is_no_zero(client, project, monkeypatch):
    managing.update_project(project, pay_currency="EUR", pay_rate="0.15")
    n = project.raters.filter(user__isnull=False).count()
    monkeypatch.setattr(counts, "SMALL", 1)
    for place, rows in (
        ("progress", n),
        ("pay", n),
        ("members", project.memberships.values("user").distinct().count()),
    ):
        page = client.get(f"/projects/{project.slug}/{place}/").content.decode()
        body = page.split("<tbody>")[1].split("</tbody>")[0]
        assert body.count("being counted</td>") == rows and '<td class="num">0' not in body
    overview = client.get(f"/projects/{project.slug}/").content.decode()
    assert "Pausing assigns nothing more: places wait for" in overview and "0 places" not in overview


def test_programs_read_the_same_by_pseudonym(client, project):
    place = f"/api/v1/projects/{project.slug}/progress/"
    found = client.get(place).json()
    zoe = project.raters.get(name="Zoe")
    [one] = [person for person in found["people"] if person["needs_a_look"]]
    assert (one["person"], one["items"], one["others"][1]) == (zoe.pseudonym, 30, 30)
    assert one["needs_a_look"] == ["agrees less with others"] and "Zoe" not in str(found)
    assert (found["end"], found["remaining"]) == (None, 240) and found["why_no_end"]
    join(project, project.memberships.get(user__name="lead").user, Membership.Role.ANNOTATOR)
    LabelAccess.objects.all().delete()
    assert "others" not in client.get(place).json()["people"][0]


def test_states_of_items_are_counted_with_links(client):
    world = make_world()
    label_one(world.project, world.people["annotator"])
    Item.objects.filter(pk=world.project.items.first().pk).update(state="stuck")
    page = page_of(client_of(world.people["researcher"]), world.project)
    assert "?filter=stuck" in page and "No end can be expected" in page

"""Projects from the browser: making one, its settings, its members, its guidelines."""

import pytest

from annotation.jobs import lifecycle
from annotation.markdown import render
from annotation.models import Membership, Project
from annotation.projects import guidelines, managing
from annotation.projects.queries import members as member_queries
from annotation.projects.queries import projects as queries
from annotation.task_types import task_type
from annotation.work import assigning
from tests import factories
from tests.work.browser import Annotator
from tests.world import client_of, label_one

pytestmark = pytest.mark.django_db


@pytest.fixture
def researcher():
    return factories.make_user("rosa", is_staff=True)


@pytest.fixture
def dataset(researcher):
    dataset = factories.make_dataset(researcher)
    factories.make_claim_evidence(dataset, 4)
    return dataset


def form(content, **changes) -> dict:
    return {
        "title": "Harbours",
        "dataset": content.pk,
        "task_type": "claim-evidence/three-way/1",
        "overlap": 3,
        "multiple_percent": 50,
        "order": "random",
        "seed": 11,
        "prefill": "after",
        "minimum_seconds": 2,
        "lease_minutes": 30,
        "guidelines": "# Read\r\ntwice",
    } | changes


def test_a_project_is_made_with_its_items(researcher, dataset):
    response = client_of(researcher).post("/projects/new/", form(dataset))
    project = Project.objects.get()
    assert response.url == f"/projects/{project.slug}/"
    assert project.state == Project.State.PREPARING
    assert (project.overlap, project.multiple_share, project.seed, project.lease_minutes) == (3, 0.5, 11, 30)
    assert project.guidelines.get().markdown == "# Read\ntwice"
    assert project.memberships.get().role == Membership.Role.RESEARCHER
    lifecycle.run_here(project.jobs.get())
    project.refresh_from_db()
    assert project.state == Project.State.OPEN and project.items.count() == 4


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("task_type", "triplets/-/1"),  # the data set has no answers
        ("task_type", "unheard-of/-/1"),
        ("overlap", 21),
        ("overlap", -1),
        ("multiple_percent", 101),
        ("lease_minutes", 0),
        ("prefill", "always"),
        ("dataset", 0),
        ("title", ""),
    ],
)
def test_what_makes_no_sense_is_refused(researcher, dataset, field, value):
    response = client_of(researcher).post("/projects/new/", form(dataset, **{field: value}))
    assert response.status_code == 200 and "errorlist" in response.content.decode()
    assert not Project.objects.exists()


def test_nobody_makes_projects_from_others_data(dataset):
    other = factories.make_user("otto", is_staff=True)
    assert client_of(other).post("/projects/new/", form(dataset)).status_code == 200
    assert not Project.objects.exists()


def test_two_projects_of_one_title_get_two_addresses(researcher, dataset):
    first, second = (
        managing.create_project(researcher, title="New", dataset=dataset, task_type="claim-evidence/six-way/1")
        for _ in range(2)
    )
    assert {first.slug, second.slug} == {"new-project", "new-project-2"}


def test_a_project_keeps_a_researcher(researcher, dataset):
    project = factories.make_project(dataset)
    address = f"/projects/{project.slug}/members/{researcher.uuid}/"
    page = client_of(researcher).post(address, {"roles": ["annotator"]}, follow=True)
    assert "at least one researcher" in page.content.decode()
    assert project.memberships.filter(user=researcher, role="researcher", is_active=True).exists()


def test_who_leaves_gets_nothing_more_and_keeps_their_labels(researcher, dataset):
    annotator = factories.make_user("anna")
    project = factories.make_project(dataset, annotators=[annotator])
    label_one(project, annotator)
    held = Annotator(annotator, project).next()["payload"]
    members = f"/projects/{project.slug}/members/"
    assert (
        "go to others at once. An answer that they send afterwards is not accepted"
        in client_of(researcher).get(members).content.decode()
    )
    client_of(researcher).post(f"{members}{annotator.uuid}/", {"roles": []})
    assert project.assignments.get(uuid=held["assignment"]).state == "open"
    late = Annotator(annotator, project)
    assert late.submit(held).status_code == 403
    assert project.items.filter(annotations__rater__user=annotator).count() == 1
    told = client_of(annotator).get(f"/projects/{project.slug}/work/")
    assert told.status_code == 403 and "You no longer label in this project" in told.content.decode()
    [row] = member_queries.member_pages(project, annotator.username, "person", is_reversed=False)[0].object_list
    assert row.done == 1 and row.roles == [] and row.former_roles == ["annotator"]
    client_of(researcher).post(f"{members}{annotator.uuid}/", {"roles": ["annotator"]})
    assert late.submit(held).json()["surplus"] is False


def test_members_are_searched_sorted_and_come_in_pages(researcher, dataset, monkeypatch):
    monkeypatch.setattr(member_queries, "PER_PAGE", 2)
    project = factories.make_project(dataset)
    people = [factories.join(project, factories.make_user(name), "annotator") for name in ("zoe", "ann", "ben")]
    for person, answers in zip(people, (1, 2, 0), strict=True):
        for _ in range(answers):
            label_one(project, person)
    client, address = client_of(researcher), f"/projects/{project.slug}/members/"

    def names(**query) -> list[str]:
        return [row.user.username for row, _ in client.get(address, query).context["members"]]

    def pages(**query) -> list[str]:
        return [name.partition("@")[0] for page in (1, 2) for name in names(page=page, **query)]

    everyone = pages()
    assert everyone == sorted(everyone) and {"ann", "ben", "zoe"} <= set(everyone)
    assert pages(sort="-person") == everyone[::-1]
    assert pages(sort="judged")[:2] == ["ann", "zoe"] and pages(sort="last")[0] == "ann"
    assert pages(sort="-judged")[-1] == "ann"
    assert [name.partition("@")[0] for name in names(search="zo")] == ["zoe"] and names(search="nobody") == []
    assert client.get(address, {"sort": "salary"}).status_code == 400
    assert client.get(address, {"search": "\0"}).status_code == 400
    changed = client.post(f"{address}{people[0].uuid}/?sort=judged&page=2", {"roles": ["annotator"]})
    assert changed.url == f"{address}?sort=judged&page=2"


def test_states_follow_their_order(researcher, dataset):
    project = factories.make_project(dataset)
    client = client_of(researcher)
    for move, state in (("pause", "paused"), ("open", "open"), ("close", "closed"), ("open", "open")):
        client.post(f"/projects/{project.slug}/state/", {"move": move})
        project.refresh_from_db()
        assert project.state == state
    Project.objects.update(state=Project.State.PREPARING)
    client.post(f"/projects/{project.slug}/state/", {"move": "open"})
    project.refresh_from_db()
    assert project.state == Project.State.PREPARING


def test_suggestions_need_a_run_of_the_same_project(researcher, dataset):
    project, other = factories.make_project(dataset), factories.make_project(dataset)
    foreign = factories.make_suggestions(other)
    settings = factories.MORE_SETTINGS | {
        "title": "T",
        "description": "",
        "prefill": "shown",
        "minimum_seconds": 0,
        "lease_minutes": 5,
    }
    client = client_of(researcher)
    for run in ("", foreign.pk):
        client.post(f"/projects/{project.slug}/settings/", settings | {"prefill_run": run})
        project.refresh_from_db()
        assert project.prefill == "off"
    own = factories.make_suggestions(project)
    client.post(f"/projects/{project.slug}/settings/", settings | {"prefill_run": own.pk})
    project.refresh_from_db()
    assert (project.prefill, project.prefill_run, project.title) == ("shown", own, "T")


def test_guidelines_get_a_version_only_when_they_change(researcher, dataset):
    project = factories.make_project(dataset, guidelines="one")
    assert guidelines.publish(project, researcher, "one").version == 1
    assert guidelines.publish(project, researcher, "one\r\ntwo").version == 2
    assert guidelines.publish(project, researcher, "one\ntwo").version == 2
    page = client_of(researcher).get(f"/projects/{project.slug}/guidelines/").content.decode()
    assert "<ins>two</ins>" in page


def test_annotators_are_told_that_guidelines_changed(researcher, dataset):
    annotator = factories.make_user("anna")
    project = factories.make_project(dataset, annotators=[annotator])
    address, words = f"/projects/{project.slug}/", "The guidelines have changed"
    assert words not in client_of(annotator).get(address).content.decode()
    guidelines.acknowledge(project, annotator, 1)
    assert words not in client_of(annotator).get(address).content.decode()
    guidelines.publish(project, researcher, "Look again.")
    assert words in client_of(annotator).get(address).content.decode()


@pytest.mark.parametrize(
    ("markdown", "absent"),
    [
        ("<script>alert(1)</script>", "<script"),
        ("[x](javascript:alert(1))", "href"),
        ("[x](data:text/html,hi)", "href"),
        ("![x](https://elsewhere.example/x.png)", "<img"),
        ('<p style="color:red" onclick="x()">hi</p>', "<p style"),
        ("| a |\n|:-:|\n| b |", "style"),
        ("# Title", "<h1"),
        ('[x](https://a.example/"onmouseover="x)', '/"onmouseover'),
    ],
)
def test_markdown_is_shown_safely(markdown, absent):
    assert absent not in render(markdown)


def test_links_in_markdown_give_nothing_away():
    assert 'rel="noopener noreferrer"' in render("[x](https://a.example/)")


def test_the_preview_shows_what_annotators_will_see(researcher):
    response = client_of(researcher).post("/guidelines/preview/", {"markdown": "**bold** <b>no</b>"})
    assert "<strong>bold</strong> &lt;b&gt;" in response.content.decode()


def test_home_counts_own_and_all_work(researcher, dataset):
    annotators = [factories.make_user("anna"), factories.make_user("ben")]
    project = factories.make_project(dataset, annotators=annotators)
    label_one(project, annotators[0])
    label_one(project, annotators[1])
    label_one(project, annotators[1])
    [row] = queries.project_rows(annotators[1], [project])
    assert (row.mine_done, row.team_done, row.team_total) == (2, 3, 8)
    assert row.type == task_type(project.task_type)
    assert "3 of 8" in client_of(annotators[1]).get("/").content.decode()


def test_a_researcher_frees_an_item_and_asks_for_one_more(researcher, dataset):
    annotator = factories.make_user("anna")
    project = factories.make_project(dataset, annotators=[annotator])
    taken = assigning.take(project, annotator)
    address = f"/projects/{project.slug}/items/{taken.item.uuid}/"
    client_of(researcher).post(address + "release/")
    taken.refresh_from_db()
    assert taken.state == "open" and taken.rater is None
    client_of(researcher).post(address + "more/", {"note": "hard one"})
    assert taken.item.assignments.get(reason="extra").note.endswith("hard one")

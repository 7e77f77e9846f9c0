"""Every address, every verb, every role. A route that is not in the table fails; so does an answer that is not in it.

A row gives the status of GET and of POST for the roles in the order of `ROLES`: 200 a page, 302 moved on (for
anonymous: to the sign-in), 400, 409, 410, 422 let in and refused for what was sent, 401 and 403 no right, 404 does not
learn that it exists, 405 not offered. HEAD answers as GET does; other verbs never do anything.
"""

import re

import pytest
from django.db import transaction
from django.test import Client
from django.urls import resolve

from annotation.machines.prompts import splitting, versions
from annotation.models import Membership, Project

from .factories import join
from .roles.accounts import ACCOUNTS
from .roles.api import API
from .roles.objects import OBJECTS
from .roles.places import address_of
from .roles.projects import PROJECTS
from .routes import all_routes
from .world import ROLES, client_of, make_world
from .world.drafts import make_drafting_project

pytestmark = pytest.mark.django_db

OTHER_VERBS = ("put", "patch", "delete")
REFUSED = {302, 401, 403, 404, 405}
# Who asks by the other verbs: HEAD takes the way of GET, and a view refuses a verb before it looks who asks. These
# three get every kind of answer: nobody, a page, and what only annotators get.
OF_OTHER_VERBS = ("anonymous", "annotator", "researcher")


def ask(client, verb: str, address: str):
    """The answer; what the request changed is taken back."""
    with transaction.atomic():
        body = {"data": "{}", "content_type": "application/json"} if address.startswith("/api/") else {}
        answer = getattr(client, verb)(address, **(body if verb not in ("get", "head") else {}))
        transaction.set_rollback(True)
    return answer


def offered(page) -> set[str]:
    """The patterns that the links of a page lead to, but for what stands hidden there to be copied."""
    if page.status_code != 200 or page.streaming or not page["Content-Type"].startswith("text/html"):
        return set()
    paths = set(re.findall(r'<a (?![^>]*aria-hidden)[^>]*href="(/[^"?#]*)', page.content.decode()))
    return {resolve(path).route for path in paths if not path.startswith("/static/")}


TABLE = ACCOUNTS | API | PROJECTS | OBJECTS


def test_every_route_is_in_the_table():
    assert set(all_routes()) - set(TABLE) == set(), "say in the table who gets what there"
    assert set(TABLE) - set(all_routes()) == set(), "these are gone"


@pytest.fixture
def world(settings):
    settings.ACCOUNT_RATE_LIMITS = False
    made = make_world()
    versions.add_version(made.project, made.people["researcher"], "Choose one of $options.")
    splitting.hold_out(made.project, made.people["researcher"], 50)
    return made


@pytest.mark.parametrize("role", ROLES)
def test_everybody_gets_what_the_table_says(role, world):
    client = client_of(world.people.get(role), raise_request_exception=False)
    signed_in = dict(client.cookies)

    def anew() -> Client:
        """What came before is forgotten, but for who signed in: each request is taken back, its session's too."""
        fresh = Client(raise_request_exception=False)
        fresh.cookies.update(signed_in)
        return fresh

    column = ROLES.index(role)
    wrong = []
    for pattern, expected in TABLE.items():
        address = address_of(pattern, world)
        for verb, row in zip(("get", "post"), expected, strict=True):
            answer = ask(anew(), verb, address)
            if answer.status_code != row[column]:
                wrong.append(f"{verb.upper()} {pattern}: {answer.status_code}, the table says {row[column]}")
            refused = [link for link in offered(answer) if TABLE[link][0][column] in (401, 403)]
            wrong += [f"{verb.upper()} {pattern}: the page links to {link}, which is refused" for link in refused]
        if role not in OF_OTHER_VERBS:
            continue
        got = ask(anew(), "head", address).status_code
        if got != expected[0][column]:
            wrong.append(f"HEAD {pattern}: {got}, the table says {expected[0][column]} of GET")
        for verb in OTHER_VERBS:
            got = ask(client, verb, address).status_code
            # allauth's class-based views take some of them for GET or POST; ours name their verbs.
            if got not in REFUSED and not (got < 500 and pattern.startswith("accounts/")):
                wrong.append(f"{verb.upper()} {pattern}: {got}")
    assert not wrong, "\n".join(wrong)


OF_A_PROJECT = [pattern for pattern in TABLE if "projects/<slug:slug>/" in pattern and pattern.count("<") > 1]
# What no project has: names of reports, of kinds of rules and of entries of the registry, and pictures.
OF_EVERY_PROJECT = ("slug:checker", "slug:extractor", "slug:generator", "slug:retriever", "slug:kind", "slug:picture")
OF_EVERY_PROJECT += ("slug:moment",)
OF_EVERY_PROJECT += ("reports/<slug:name>", "tables/<slug:name>", "behind/<slug:name>")


@pytest.fixture
def theirs(world):
    """Projects of the other researcher, one of each kind of task that has pages of its own."""
    person = world.people["other researcher"]
    projects = [Project.objects.get(slug="foreign"), make_drafting_project(owner=person, slug="their-drafting")]
    for project in projects:
        join(project, person, Membership.Role.ADJUDICATOR)
    return projects


def test_another_projects_ids_open_nothing_below_ones_own_project(world, theirs):
    """Every address with an id below a project's: the id of this world, the project of who asks."""
    person = world.people["other researcher"]
    client, opened = client_of(person, raise_request_exception=False), []
    patterns = [one for one in OF_A_PROJECT if not any(part in one for part in OF_EVERY_PROJECT)]
    assert len(patterns) > 20
    for pattern in patterns:
        address = address_of(pattern, world)
        for project in theirs:
            own = re.sub(r"projects/[^/]+/", f"projects/{project.slug}/", address, count=1)
            for verb in ("get", "post", *OTHER_VERBS):
                status = ask(client, verb, own).status_code
                if status not in (404, 405):
                    opened.append(f"{verb.upper()} {own}: {status}")
    assert not opened, "\n".join(opened)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("settings/", lambda world: {"prefill": "shown", "prefill_run": str(world.run.uuid)}),
        ("runs/", lambda world: {"checker": "lexical", "retrieval": str(world.retrieval.uuid)}),
        ("runs/", lambda world: {"checker": "trained", "parameters": {"model": world.trained_model.file_hash}}),
        ("generations/", lambda world: {"generator": "llm-answers", "passages": str(world.retrieval.uuid)}),
        ("retrievals/", lambda world: {"retriever": "bm25", "asks": "claim", "replays": str(world.retrieval.uuid)}),
        ("releases/", lambda world: {"projects": [world.project.slug]}),
    ],
)
def test_another_projects_ids_in_a_body_are_refused(world, theirs, path, body):
    client = client_of(world.people["other researcher"], raise_request_exception=False)
    for project in theirs:
        answer = client.post(f"/api/v1/projects/{project.slug}/{path}", body(world), content_type="application/json")
        assert answer.status_code in (400, 404, 409, 422), answer.content


def test_another_projects_ids_in_an_address_show_nothing(world, theirs):
    client = client_of(world.people["other researcher"], raise_request_exception=False)
    for project in theirs:
        for name in ("suggestions", "scores"):
            found = client.get(f"/api/v1/projects/{project.slug}/{name}/", {"run": str(world.run.uuid)})
            assert found.json()["results"] == []
    mine = f"/projects/{theirs[1].slug}/drafts/accept/"
    assert client.post(mine, {"run": str(world.extraction.uuid)}).status_code == 404
    new = client.get("/projects/foreign/rules/new/majority/", {"from": str(world.rule_job.uuid)})
    assert new.status_code == 404


def test_another_persons_objects_open_nothing(world):
    client = client_of(world.people["other researcher"], raise_request_exception=False)
    assert client.get(f"/label-sets/{world.label_set.pk}/").status_code == 404
    made = {"title": "Mine", "slug": "mine", "dataset": world.dataset.slug, "task_type": world.label_set.identifier}
    refused = client.post("/api/v1/projects/", made, content_type="application/json")
    assert refused.status_code in (403, 422)
    assert client.post(f"/invitations/{world.invitation.token}/withdraw/").status_code == 404

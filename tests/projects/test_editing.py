"""What two people edit at the same time: every form that edits what is stored asks before it undoes a change."""

import re
import threading
from html.parser import HTMLParser

import pytest
from django.db import connections

from annotation.machines.prompts import splitting, versions
from annotation.models import Project, SettingsChange
from annotation.projects import managing
from tests import factories
from tests.roles.accounts import ACCOUNTS
from tests.roles.objects import OBJECTS
from tests.roles.places import address_of
from tests.roles.projects import PROJECTS
from tests.routes import all_routes
from tests.world import ROLES, client_of, make_world

TABLE = ACCOUNTS | PROJECTS | OBJECTS


class Forms(HTMLParser):
    """The forms of a page that are posted: where to, and their fields as (name, kind, value), as browsers send them."""

    def __init__(self, page: str):
        super().__init__()
        self.forms, self.select, self.area = [], None, None
        self.open = None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        own = dict(attributes)
        if tag == "form":
            self.open = {"action": own.get("action", ""), "fields": []} if own.get("method") == "post" else None
            self.forms += [self.open] if self.open else []
        elif self.open is None:
            return
        elif tag == "input" and own.get("name"):
            kind = own.get("type", "text")
            if kind not in ("checkbox", "radio") or "checked" in own:
                self.open["fields"].append((own["name"], kind, own.get("value", "on" if kind == "checkbox" else "")))
        elif tag == "textarea":
            self.area = (own["name"], "")
        elif tag == "select":
            self.select = own["name"]
        elif tag == "option" and self.select and "selected" in own:
            self.open["fields"].append((self.select, "select", own.get("value", "")))

    def handle_data(self, data):
        if self.area:
            self.area = (self.area[0], self.area[1] + data)

    def handle_endtag(self, tag):
        if tag == "textarea" and self.open is not None and self.area:
            self.open["fields"].append((self.area[0], "textarea", self.area[1].removeprefix("\n")))
            self.area = None
        elif tag == "select":
            self.select = None
        elif tag == "form":
            self.open = None


def forms_of(page: str) -> list[dict]:
    return Forms(page).forms


def data_of(form: dict) -> dict[str, list[str]]:
    data = {}
    for name, _, value in form["fields"]:
        data.setdefault(name, []).append(value)
    return data


@pytest.fixture
def world(settings):
    settings.ACCOUNT_RATE_LIMITS = False
    made = make_world()
    person = made.people["researcher"]
    versions.add_version(made.project, person, "Choose one of $options.")
    splitting.hold_out(made.project, person, 50)
    managing.set_card(made.project, {"title": "Ports", "limits": "None known"}, person)
    made.project.refresh_from_db()
    return made


def pages(world, client):
    """Address and text of every page that the researcher gets."""
    column = ROLES.index("researcher")
    for pattern, (got, _) in TABLE.items():
        if got[column] == 200 and not pattern.startswith("accounts/"):
            answer = client.get(address := address_of(pattern, world))
            if not answer.streaming and answer["Content-Type"].startswith("text/html"):
                yield address, answer.content.decode()


# Forms that begin with values and edit nothing that is stored: they start something new or are one's own, or, as drafts
# do, name what they showed.
MAKING = (
    "/account/",
    "/claims/",
    "/projects/drafting/drafts/of/",
    "/projects/ports/releases/",
    "/projects/ports/retrieval/",
    "/projects/ports/rules/new/majority/",
    "/projects/ports/runs/",
    "/projects/ports/training/",
)
SHARED = {
    ("/projects/ports/settings/", ""): "settings",
    ("/projects/ports/questions/", ""): "questions",
    ("/projects/ports/guidelines/", ""): "guidelines",
    ("/projects/ports/start/", ""): "guidelines",
    ("/projects/ports/card/", ""): "card",
    ("/projects/ports/prompts/", "version"): "prompt",
    ("/projects/ports/prompts/", "held-out"): "held-out",
    ("/projects/ports/members/UUID/", ""): "roles",
    ("/projects/ports/study-links/LINK/", ""): "study-link",
    ("/projects/ports/consent/", ""): "consent",
    ("/datasets/harbour/settings/", ""): "dataset",
}


def place_of(form: dict, address: str) -> tuple[str, str]:
    action = form["action"].partition("#")[0] or address
    action = re.sub(r"members/[^/]+/", "members/UUID/", action)
    return re.sub(r"study-links/[^/]+/", "study-links/LINK/", action), (data_of(form).get("do") or [""])[0]


def edited(form: dict, number: int) -> tuple[str, dict]:
    """The first field that can be changed, and the form's data with another value in it."""
    data = data_of(form)
    for name, kind, value in form["fields"]:
        if kind in ("text", "textarea", "number") and name != "emails":  # these are new people
            return name, data | {name: [str(60 + number) if kind == "number" else f"{value} {number}".strip()]}
    return "roles", data | {"roles": ["annotator", ("adjudicator", "researcher")[number - 1]]}


@pytest.mark.django_db
def test_every_form_that_edits_what_is_stored_asks_before_it_undoes_a_change(world):
    one, other = (client_of(world.people[name]) for name in ("researcher", "admin"))
    found, without = {}, set()
    annotator = f"/members/{world.people['annotator'].uuid}/"
    for address, page in pages(world, one):
        if address == "/account/keys/":  # one's own, which nobody else can change: tests/accounts/test_own_keys.py
            continue
        for form in forms_of(page):
            names = {name for name, *_ in form["fields"]}
            if "made_from" in names:
                if "/members/" not in form["action"] or form["action"].endswith(annotator):
                    found[place_of(form, address)] = address
            elif any(kind in ("text", "textarea") and value.strip() for _, kind, value in form["fields"]):
                without.add(address)
    assert set(found) == set(SHARED)
    making = (*MAKING, f"/label-sets/{world.label_set.pk}/next/")
    assert [address for address in without if not address.startswith(making)] == []

    def form_at(client, place, page=None):
        page = page or client.get(found[place]).content.decode()
        forms = [form for form in forms_of(page) if place_of(form, found[place]) == place]
        return next(form for form in forms if place[1] or "UUID" not in place[0] or form["action"].endswith(annotator))

    for place, what in SHARED.items():
        action = place[0].replace("members/UUID/", annotator.removeprefix("/"))
        action = action.replace("LINK", str(world.study_link.uuid))
        stale = form_at(other, place)
        name, data = edited(form_at(one, place), 1)
        assert one.post(action, data).status_code == 302, what
        stored = data_of(form_at(one, place))[name]
        _, typed = edited(stale, 2)
        answer = other.post(action, typed)
        assert answer.status_code == 409, what
        page = answer.content.decode()
        assert "Changed meanwhile by researcher" in page, what
        asked = form_at(other, place, page)
        assert data_of(asked)[name] == typed[name] and data_of(form_at(one, place))[name] == stored, what
        assert other.post(action, data_of(asked)).status_code == 409, what  # nothing was chosen
        assert other.post(action, data_of(asked) | {f"keep.{name}": ["theirs"]}).status_code == 302, what
        assert data_of(form_at(one, place))[name] == stored, what
        assert other.post(action, data_of(asked) | {f"keep.{name}": ["mine"]}).status_code == 302, what
        assert sorted(data_of(form_at(one, place))[name]) == sorted(typed[name]), what
        users = SettingsChange.objects.filter(what=what).values_list("user__name", flat=True)
        assert {"researcher", "admin"} <= set(users), what
    history = one.get("/projects/ports/settings/history/").content.decode()
    assert all(
        title in history for title in ("Settings", "Questions", "Guidelines", "Roles: annotator", "Data set card")
    )


@pytest.mark.django_db
def test_changes_of_different_fields_are_shown_and_both_kept(world):
    one, other = (client_of(world.people[name]) for name in ("researcher", "admin"))
    address = "/projects/ports/settings/"
    [first] = [form for form in forms_of(one.get(address).content.decode()) if "lease_minutes" in data_of(form)]
    data = data_of(first)
    assert one.post(address, data | {"title": ["Harbours"], "shows_decisions": ["on"]}).status_code == 302
    page = other.post(address, data | {"lease_minutes": ["90"]}).content.decode()
    assert "Your other changes are kept: Time to answer, in minutes" in page
    [asked] = [form for form in forms_of(page) if "lease_minutes" in data_of(form)]
    assert other.post(address, data_of(asked)).status_code == 302
    project = Project.objects.get(pk=world.project.pk)
    assert (project.title, project.shows_decisions, project.lease_minutes) == ("Harbours", True, 90)
    assert one.post(address, data | {"made_from": "[1"}).status_code == 400


API = {
    "projects/ports/settings/": {"lease_minutes": 70},
    "projects/ports/options/": {"options": {"hidden": ["stance"]}},
    "projects/ports/guidelines/": {"markdown": "Read three times."},
    "projects/ports/members/UUID/": {"roles": ["annotator", "adjudicator"]},
    "projects/ports/study-links/LINK/": {"places": 70},
    "datasets/harbour/": {"title": "Harbours"},
}


@pytest.mark.django_db
def test_a_program_that_names_the_version_it_read_overwrites_no_other(world):
    client = client_of(world.people["researcher"])
    routes = {pattern for pattern, entry in all_routes().items() if hasattr(entry.callback, "cls")}
    editing = {one for one in routes if hasattr(all_routes()[one].callback.cls, "version_of")}
    assert len(editing) == len(API)
    for path, body in API.items():
        address = "/api/v1/" + path.replace("UUID", str(world.people["annotator"].uuid))
        address = address.replace("LINK", str(world.study_link.uuid))
        tag = client.get(address)["ETag"]

        def post(tag=None, address=address, body=body):
            headers = {} if tag is None else {"If-Match": tag}
            return client.post(address, body, "application/json", headers=headers)

        assert client.get(address, headers={"If-None-Match": tag}).status_code == 304, path
        for malformed in ("", " ", tag.strip('"'), "W/"):
            refused = post(malformed)
            assert refused.status_code == 400 and 'such as "' in refused.json()["detail"], (path, malformed)
        refused = post(tag, body=body | {"titel": "Harbours"})
        assert refused.status_code == 400 and "Unknown field 'titel'; known are " in refused.json()["detail"], path
        first = post(tag)
        assert first.status_code in (200, 201) and first["ETag"] != tag, path
        refused = post(tag)
        assert (refused.status_code, refused["Content-Type"]) == (412, "application/problem+json"), path
        assert refused.json()["etag"] == first["ETag"] == client.get(address)["ETag"], path
        assert post("*").status_code in (200, 201), path
        assert post().status_code in (200, 201), path


@pytest.mark.on_postgresql
@pytest.mark.django_db(transaction=True)
def test_requests_at_once_change_what_they_name_and_nothing_else():
    project = factories.make_project(factories.make_dataset())
    bodies = [
        {"title": "Ports"},
        {"description": "All of them"},
        {"shows_decisions": True},
        {"minimum_seconds": 7},
        {"lease_minutes": 77},
    ]
    for value in range(3):
        project.refresh_from_db()
        barrier, statuses = threading.Barrier(len(bodies)), []

        def send(body, barrier=barrier, statuses=statuses):
            client = client_of(project.created_by)
            barrier.wait()
            try:
                address = f"/api/v1/projects/{project.slug}/settings/"
                statuses.append(client.post(address, body, "application/json").status_code)
            finally:
                connections.close_all()

        wanted = [
            {name: f"{said} {value}" if isinstance(said, str) else bool(value % 2) if said is True else said + value}
            for body in bodies
            for name, said in body.items()
        ]
        threads = [threading.Thread(target=send, args=(body,)) for body in wanted]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert statuses == [200] * len(bodies)
        project.refresh_from_db()
        assert [{name: getattr(project, name)} for body in wanted for name in body] == wanted


@pytest.mark.django_db
def test_a_draft_of_the_questions_says_at_once_that_somebody_has_changed_them(world):
    one, other = (client_of(world.people[name]) for name in ("researcher", "admin"))
    address = "/projects/ports/questions/"
    [form] = [form for form in forms_of(one.get(address).content.decode()) if form["action"] == address]
    name, data = edited(form, 1)
    assert one.post(address, data).status_code == 302
    draft = other.post(address, edited(form, 2)[1] | {"preview": ["1"]})
    assert draft.status_code == 200 and "Changed meanwhile by researcher" in draft.content.decode()
    refused = other.post(address, edited(form, 2)[1]).content.decode()
    assert "<p>Nothing is saved yet: another person" in refused and "Correct the form first" not in refused
    assert "The preview follows once you have chosen what to keep." in refused
    assert world.project.options_versions.count() == 1
    assert other.post(address, data | {"reset": ["1"]}).status_code == 302  # the same change: nothing to ask
    assert other.post(address, edited(form, 2)[1] | {"reset": ["1"]}).status_code == 302

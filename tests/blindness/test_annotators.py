"""What an annotator's browser receives, from every address and of every task: no marker that is not shown on purpose,
and nothing that differs where only what they must not know differs."""

import re
import uuid
from difflib import unified_diff
from types import SimpleNamespace

import pytest

from annotation.models import Claim, Decision, Evidence, Judgement, Response, Suggestion
from annotation.work.queries import pages
from tests import test_role_matrix as matrix
from tests.blindness.planted import MARK, SEED, make_planted, marker, shown_markers
from tests.factories import join
from tests.kinds import EACH_KIND, IDENTIFIERS
from tests.routes import all_routes
from tests.work.browser import Annotator, answers_to

pytestmark = pytest.mark.django_db

ANNOTATOR = matrix.ROLES.index("annotator")
# Of a project of another task, the addresses that answer differently from task to task.
OF_TASK = ("", "projects/<slug:slug>/", "projects/<slug:slug>/guidelines/", "api/v1/projects/<slug:slug>/")
# The hyphen keeps out the random letters of CSRF tokens: over the pages of a run, three of them match now and then.
FOUND = re.compile(rf"{MARK}-[a-z-]*[a-z]")


def received(response) -> str:
    """Body and headers, as one text."""
    headers = "".join(f"{name}: {value}\n" for name, value in response.items())
    return headers + b"".join(response).decode()


class Browser(Annotator):
    def __init__(self, user, project):
        super().__init__(user, project)
        self.client.raise_request_exception = False

    def keep(self, response):
        self.received.append(received(response))
        return response


def places(planted, own) -> SimpleNamespace:
    """What stands in addresses: this project's, or an id of nothing."""

    class Places(SimpleNamespace):
        def __getattr__(self, name):
            return SimpleNamespace(pk=0, uuid=uuid.uuid4(), slug="nothing", response_id=1, token="x")

    project = planted.project
    return Places(
        project=project,
        dataset=project.dataset,
        item=project.items.first(),
        run=planted.run,
        job=planted.run.job,
        people={"annotator": planted.adjudicator},
        assignment=SimpleNamespace(uuid=own),
    )


def work_through(person: Browser) -> str:
    """Everything that the labelling page asks for, with answers that are refused as well. Returns an assignment of
    the person's own."""
    person.page()
    given, first = person.next(), ""
    while given["state"] == "item":
        payload = given["payload"]
        first = first or payload["assignment"]
        person.post(payload["assignment"], "shown", {"at": "2026-01-01T00:00:00Z"})
        person.item(payload["assignment"])
        for choice in range(3):
            person.suggestions(payload, answers_to(payload, choice))
        ahead = person.next(ahead=1, after=payload["assignment"])
        if ahead["state"] == "item":
            person.post(ahead["payload"]["assignment"], "release")
        assert person.submit(payload, []).status_code == 422
        assert person.submit(payload, [*answers_to(payload), {"unit": "x", "dimension": "y", "label": "z"}]).status_code
        assert person.submit(payload, text_hash="0" * 64).status_code == 409
        rules = [dimension for dimension in payload["dimensions"] if dimension["spans"]]
        choices = (answers_to(payload, choice) for choice in range(6 if rules else 1))
        if not any(person.submit(payload, said, want_next=True).status_code == 200 for said in choices):
            person.skip(payload, "nothing fits")
        person.item(payload["assignment"])
        given = person.next()
    person.page()
    return first


def addresses(planted, own: str, patterns) -> list[tuple[str, str]]:
    world = places(planted, own)
    return [(verb, matrix.address_of(pattern, world)) for pattern in patterns for verb in ("get", "post")]


def leaks(texts: list[str], planted) -> set[str]:
    allowed = shown_markers(planted.project)
    found = {mark for text in texts for mark in FOUND.findall(text)}
    numbers = {str(SEED), str(planted.project.uuid), "0.87654321", "is_gold"}
    return (found - allowed) | {number for number in numbers if any(number in text for text in texts)}


@EACH_KIND
def test_nothing_that_is_not_shown_on_purpose_reaches_an_annotator(identifier, settings):
    settings.ACCOUNT_RATE_LIMITS = False
    planted = make_planted(identifier)
    person = Browser(planted.annotator, planted.project)
    own = work_through(person)
    patterns = all_routes() if identifier == IDENTIFIERS[0] else OF_TASK
    for verb, address in addresses(planted, own, patterns):
        if "logout" in address or "password/change" in address:
            continue
        body = {"data": "{}", "content_type": "application/json"} if address.startswith("/api/") else {}
        response = getattr(person.client, verb)(address, **(body if verb == "post" else {}))
        person.received.append(received(response).replace(address, ""))  # what they asked for, they knew
    foreign = planted.foreign.assignment.uuid
    for what in ("submit", "skip", "shown", "release", "suggestions"):
        person.post(foreign, what)
    person.item(foreign)
    shown = {mark for text in person.received for mark in FOUND.findall(text)}
    assert shown, "the page shows its texts, markers and all"
    # Addresses that were asked for come back in what says that they lead nowhere.
    assert leaks(person.received, planted) == set()


@pytest.mark.parametrize("prefill", ["shown", "after"])
def test_what_a_suggestion_was_made_with_is_told_to_nobody(prefill):
    planted = make_planted(IDENTIFIERS[0], prefill=prefill)
    person = Browser(planted.annotator, planted.project)
    given = person.next()
    before = len(person.received)
    assert bool(given["payload"]["suggestions"]) == (prefill == "shown")
    assert ("0.87654321" in "".join(person.received[:before])) == (prefill == "shown")
    person.submit(given["payload"])
    assert "0.87654321" in "".join(person.received)  # the score is shown with its suggestion, on purpose
    assert leaks(person.received, planted) <= {"0.87654321"}


# What is different each time that a page is asked for.
CHANGING = re.compile(r'csrfmiddlewaretoken" value="\w+"|X-CSRFToken": "\w+"|data-csrf="\w+"|lease_seconds\\?": \d+')


@EACH_KIND
def test_pages_are_the_same_whatever_others_said_and_whatever_is_gold(identifier):
    """Labels, decisions, gold flags, models and verdicts have no markers that show: they are changed instead. Then the
    decisions go, so that no item is an attention check any more."""
    planted = make_planted(identifier)
    project = planted.project
    person = Browser(planted.annotator, project)
    held = [person.next()["payload"]]
    person.submit(held[0], next(iter([answers_to(held[0])])))

    def look() -> list[str]:
        texts = []
        for pattern in (
            *OF_TASK,
            "projects/<slug:slug>/work/",
            "api/v1/projects/",
            "api/v1/projects/<slug:slug>/work/next",
        ):
            address = matrix.address_of(pattern, places(planted, held[0]["assignment"]))
            texts.append(CHANGING.sub("", b"".join(person.client.get(address)).decode()))
        texts.append(CHANGING.sub("", person.item(held[0]["assignment"]).content.decode()))
        return texts

    def nothing_changed() -> None:
        project.refresh_from_db()
        for now, then in zip(look(), before, strict=True):
            assert [*unified_diff(then.splitlines(), now.splitlines(), n=0)] == []

    before = look()
    for dimension in project.type.dimensions:
        for rows in (
            Judgement.objects.filter(revision__annotation=planted.foreign, dimension=dimension.slug),
            Decision.objects.filter(project=project, dimension=dimension.slug),
            Suggestion.objects.filter(run=planted.run, dimension=dimension.slug),
        ):
            rows.update(label=dimension.values[-1])
    Claim.objects.update(verdict="another verdict")
    Response.objects.update(model="another model", method="another method", context_setting="clean")
    if project.type.contents != "document":  # gold evidence is what that page shows
        Evidence.objects.update(is_gold=None)
    nothing_changed()
    assert Decision.objects.filter(project=project, method="imported").delete()[0] > 0
    Decision.objects.filter(project=project).delete()
    nothing_changed()


@pytest.mark.parametrize("identifier", ("triplets/-/1", "aspect-coverage/-/1"))
def test_ids_of_units_are_stable_and_tell_nothing_of_their_keys(identifier, settings):
    planted = make_planted(identifier)
    person = Browser(planted.annotator, planted.project)
    given = person.next()
    payload, html = given["payload"], given["html"]
    item = planted.project.items.get(uuid=payload["item"])
    keys = list(item.item_units.order_by("index").values_list("unit__key", flat=True))
    assert len(set(payload["units"])) == len(keys) > 1
    assert all(re.fullmatch("[0-9a-f]{24}", unit) for unit in payload["units"])
    assert all(f'data-unit="{unit}"' in html and f'name="{unit} ' in html for unit in payload["units"])
    settings.SECRET_KEY = "another key"
    person.client.force_login(person.user)
    assert person.item(payload["assignment"]).json()["payload"]["units"] == payload["units"]


def test_an_answer_that_waited_in_a_browser_since_before_the_upgrade_arrives():
    """It names units by their keys, and the texts by the hash that is stored."""
    planted = make_planted("triplets/-/1")
    person = Browser(planted.annotator, planted.project)
    payload = person.next()["payload"]
    item = planted.project.items.get(uuid=payload["item"])
    keys = list(item.item_units.order_by("index").values_list("unit__key", flat=True))
    stored = pages.load_page(item.pk, planted.project.type).text_hash
    old = payload | {"units": keys}
    client_id = str(uuid.uuid4())
    assert stored != payload["text_hash"]
    for _ in range(2):  # the second time as an outbox that never heard of the first
        answer = person.submit(old, text_hash=stored, client_id=client_id)
        assert answer.status_code == 200, answer.content
        assert answer.json()["revision"] == 1
    shown = person.item(payload["assignment"]).json()["payload"]["answers"]
    assert [one["unit"] for one in shown] == payload["units"]
    again = person.submit(payload, answers_to(payload, 1))
    assert again.json()["revision"] == 2
    said = Judgement.objects.filter(revision__annotation__rater__user=planted.annotator, revision__is_latest=True)
    assert sorted(said.values_list("unit__key", flat=True)) == sorted(keys)
    assert set(said.values_list("revision__text_hash", flat=True)) == {stored}


def test_an_adjudicator_who_still_labels_sees_no_keys():
    planted = make_planted(IDENTIFIERS[0])
    join(planted.project, planted.annotator, "annotator", "adjudicator")
    person = Browser(planted.annotator, planted.project)
    path, api = f"/projects/{planted.project.slug}/items/", f"/api/v1/projects/{planted.project.slug}/items/"
    listed = person.keep(person.client.get(path)).content.decode()
    assert "Item 1" in listed
    found = person.keep(person.client.get(path, {"search": marker("key")[:7]})).content.decode()
    assert "No items found" in found
    assert person.keep(person.client.get(api)).json()["results"]
    assert person.keep(person.client.get(api, {"key": "x"})).status_code == 400
    assert not any(marker("key", kind) in text for text in person.received for kind in ("item", "unit"))
    while (given := person.next())["state"] == "item":
        person.skip(given["payload"])
    assert marker("key", "item") in person.client.get(path).content.decode()  # nothing is left to be blind for

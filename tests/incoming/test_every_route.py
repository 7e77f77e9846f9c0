"""Every route and verb with hostile values as every role: no answer of 500, and all that was stored is read back.

Names of parameters are those that views ask for while they are driven; forms are filled in as their pages give them.
Routes are walked from the resolver, places in them are the role matrix's. The draws are fixed.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from http.cookies import SimpleCookie
from urllib.parse import urlencode, urlsplit
from uuid import uuid4
from zlib import crc32

import pytest
from django.db import connection, transaction
from django.http import QueryDict
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from analysis.releases.kept import start_freezing
from analysis.reports.metrics import REPORTS
from analysis.sources.database import DatabaseSource
from annotation.exports import releasing
from annotation.jobs import lifecycle
from annotation.models import Annotation, Decision, Draft, Guideline, Job, ProjectOptions, Revision
from annotation.work.queries import pages
from tests.incoming.hostile import (
    HEADERS,
    JSON_VALUES,
    TYPES,
    Forms,
    as_json,
    changed,
    form_data,
    json_body,
    path_with,
    paths_in,
    pick,
    query,
)
from tests.roles.places import PLACES, address_of
from tests.routes import all_routes
from tests.world import ROLES, client_of, make_world

pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.on_postgresql]

VERBS = ("get", "get", "post", "post", "post", "post", "head", "put", "patch", "delete", "options")
# Roles that see most of it are driven most. The draws are fixed: more of them find something on a new route only.
EXAMPLES = {"researcher": 6, "annotator": 4, "admin": 3}
FEW = 2
READ_BACK = (
    "",
    "items/",
    "members/",
    "settings/",
    "options/",
    "guidelines/",
    "agreement/",
    "annotators/",
    "exports/",
    "work/",
)
# What a page for monitors answers where no worker and no broker run, as in tests.
NOT_READY = "/readyz", 503


def has_failed(answer) -> bool:
    return answer.status_code >= 500 and (answer.request["PATH_INFO"], answer.status_code) != NOT_READY


class Asked:
    """The names that a view asked its query or form for."""

    def __init__(self, monkeypatch):
        self.names: set[str] = set()
        for method in ("__getitem__", "getlist", "__contains__"):
            monkeypatch.setattr(QueryDict, method, self._noting(getattr(QueryDict, method)))

    def _noting(self, method):
        def noted(given, name, *rest, **more):
            if isinstance(name, str):
                self.names.add(name)
            return method(given, name, *rest, **more)

        return noted


class Driver:
    def __init__(self, world, role: str, asked: Asked):
        self.world, self.role, self.asked = world, role, asked
        self.client = client_of(world.people.get(role), raise_request_exception=False)
        self.signed_in = self.client.cookies.output(header="", sep=";")
        self.admin = client_of(world.people["admin"], raise_request_exception=False)
        self.count, self.faults = Counter(), []
        self.names: dict[str, set[str]] = {}
        self.forms: dict[str, list] = {}
        self.taken: dict[str, list] = {}
        self.bodies = self._bodies()

    def look(self) -> None:
        """Every route as this role opens it: what its page offers to send, and the names that its view asks for."""
        for pattern in all_routes():
            answer = self._send("get", address_of(pattern, self.world))
            self.names[pattern] = self.asked.names
            if answer.status_code == 200 and "html" in answer.get("Content-Type", "") and not answer.streaming:
                for action, fields in Forms(answer.content.decode(), answer.request["PATH_INFO"]).found.items():
                    self.forms.setdefault(urlsplit(action).path, []).append(fields)

    def _bodies(self) -> dict[str, dict]:
        """What the labelling page sends, by the last word of the address."""
        page = pages.load_page(self.world.assignment.item_id, self.world.project.type)
        now = datetime.now(UTC).isoformat()
        judgements = [
            {"unit": unit, "dimension": one.slug, "label": one.values[0], "spans": []}
            for unit in page.unit_keys
            for one in page.type.dimensions
        ]
        answer = {
            "client_id": "",
            "judgements": judgements,
            "comment": "c",
            "active_ms": 5,
            "text_hash": page.text_hash,
        }
        answer |= {
            "text_hash": page.text_hash,
            "shown_at": now,
            "submitted_at": now,
            "guideline_version": 1,
            "options_version": 0,
        }
        more = {"after": str(self.world.assignment.uuid), "holds": [str(self.world.assignment.uuid)], "want_next": True}
        return {
            "submit": answer | more,
            "skip": {"reason": "no", "flag": True} | more,
            "shown": {"at": now, "suggestions": True},
            "release": {"x": 1},
            "suggestions": {
                "answers": [{name: one[name] for name in ("unit", "dimension", "label")} for one in judgements]
            },
            "item": {"x": 1},
        }

    def drive(self, pattern: str, examples: int) -> None:
        address = address_of(pattern, self.world)
        names = {"page", "next"} | self.names[pattern]
        pieces = [str(value) for value in _pieces(pattern, self.world)]

        @seed(crc32(f"{self.role} {pattern}".encode()))
        @settings(
            max_examples=examples,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(st.data())
        def request(data):
            names.update(self._one(data.draw, pattern, address, names, pieces))

        self.taken[pattern] = []
        with transaction.atomic():
            request()
            transaction.set_rollback(True)

    def _one(self, draw, pattern, address, names, pieces) -> set[str]:
        body, kind, headers, path = b"", "application/octet-stream", {}, address
        verb = draw(st.sampled_from(VERBS))
        if pieces and not draw(st.integers(0, 5)):
            path = path_with(draw, address, pieces)
        asked = query(draw, sorted(names))
        if not draw(st.integers(0, 3)):
            name = draw(st.sampled_from(sorted(HEADERS)))
            headers[name] = draw(st.sampled_from(HEADERS[name]))
        if verb in ("post", "put", "patch", "delete"):
            body, kind = self._body(draw, pattern, address, names)
        sent = verb, f"{path}?{asked}" if asked else path, body, {"content_type": kind} | headers
        self._send(*sent)
        if self.is_taken:
            self.taken[pattern].append(sent)
        return self.asked.names

    def _send(self, verb: str, where: str, body: bytes = b"", more: dict | None = None):
        """The answer. Only what a POST wrote stays, if it was taken."""
        self.client.cookies = SimpleCookie(self.signed_in)
        self.asked.names, self.wrote = set(), False
        with transaction.atomic(), connection.execute_wrapper(self._note_writes):
            answer = self.client.generic(verb.upper(), where, body, **more or {})
            if answer.streaming:
                b"".join(answer.streaming_content)
            self.count[verb] += 1
            if has_failed(answer):
                raised = (getattr(answer, "exc_info", None) or (None, None))[1]
                sent = f"{str(more)[:200]} {body[:300]}"
                self.faults.append(f"{self.role}: {verb.upper()} {where[:200]} {sent}: {raised!r}"[:800])
            is_kept = verb == "post" and answer.status_code < 400
            if not is_kept:
                transaction.set_rollback(True)
        self.is_taken = is_kept and self.wrote
        return answer

    def _note_writes(self, execute, statement, *rest):
        """Of anything but sessions, which nobody else reads back."""
        reads = ("SELECT", "SAVEPOINT", "RELEASE SAVEPOINT", "ROLLBACK TO SAVEPOINT")
        self.wrote |= not statement.startswith(reads) and "django_session" not in statement
        return execute(statement, *rest)

    def _body(self, draw, pattern, address, names) -> tuple[bytes, str]:
        if pattern.startswith("api/"):
            return json_body(draw, self.bodies.get(pattern.rsplit("/", 1)[-1], {"x": 1})), "application/json"
        chosen = pick(draw, self.forms.get(address) or [[]])
        fields = form_data(draw, chosen, sorted(names))
        match draw(st.integers(0, 9)):
            case 0:
                return urlencode(fields).encode()[:5000], draw(st.sampled_from(TYPES))
            case 1 | 2:
                return encode_multipart(BOUNDARY, dict(fields)), MULTIPART_CONTENT
            case _:
                return urlencode(fields).encode(), "application/x-www-form-urlencoded"

    def read_back(self) -> None:
        """What was taken, sent once more, many routes together, and read back. Pages and programs write the same
        things: what one wrote does not hide what the other did."""
        for is_api in (False, True):
            left = [one for one, sent in self.taken.items() if sent and one.startswith("api/") == is_api]
            while left:
                with transaction.atomic():
                    before, number = state(), 0
                    while number < len(left) and (self._is_taken_again(left[number]) or not number):
                        number += 1
                    self._read(", ".join(left[:number]), is_full=state() != before)
                    transaction.set_rollback(True)
                left = left[number:]

    def _is_taken_again(self, pattern: str) -> bool:
        """Not where an earlier route has closed what this one writes to."""
        with transaction.atomic():
            for sent in self.taken[pattern]:
                self._send(*sent)
                if not self.is_taken:
                    transaction.set_rollback(True)
                    return False
        return True

    def _read(self, pattern: str, is_full: bool) -> None:
        """Whatever was let in can be shown, exported, frozen and reported."""
        project = type(self.world.project).objects.get(pk=self.world.project.pk)
        for page in READ_BACK:
            self._expect(pattern, f"/projects/{project.slug}/{page}")
        for address in ("/", f"/datasets/{self.world.dataset.slug}/", f"/api/v1/projects/{project.slug}/annotations/"):
            self._expect(pattern, address)
        if not is_full:
            return
        admin = self.world.people["admin"]
        Job.objects.filter(finished_at=None).update(state=Job.State.CANCELLED, finished_at=datetime.now(UTC))
        for made in (releasing.start_export(project, admin), start_freezing(project, admin).job):
            done = lifecycle.run_here(made)
            if done.state != Job.State.DONE:
                self.faults.append(f"after {self.role} on {pattern}: {done.kind} {done.state}: {done.message}")
        source = DatabaseSource(project)
        for name in ("agreement", "annotators"):
            REPORTS[name].compute(source, **REPORTS[name].values(source, {}))

    def _expect(self, pattern: str, address: str) -> None:
        status = self.admin.get(address).status_code
        if status >= 500:
            self.faults.append(f"after {self.role} on {pattern}: GET {address} {status}")


def _pieces(pattern: str, world):
    for name in () if "(?P" in pattern else re.findall(r"<([^>]+)>", pattern):
        for start, one, value in PLACES:
            if pattern.startswith(start) and one == name:
                yield value(world)
                break


def state() -> tuple:
    tables = (Revision, Annotation, Decision, Guideline, ProjectOptions, Draft)
    return tuple(table.objects.count() for table in tables)


@pytest.mark.parametrize("role", ROLES)
def test_no_route_fails_and_all_that_is_stored_can_be_read_back(role, settings, monkeypatch, fixed_draws):
    settings.ACCOUNT_RATE_LIMITS = False
    driver = Driver(make_world(), role, Asked(monkeypatch))
    driver.look()
    for pattern in all_routes():
        driver.drive(pattern, EXAMPLES.get(role, FEW))
    driver.read_back()
    print(f"{role}: {sum(driver.count.values())} requests to {len(all_routes())} routes on {connection.vendor}")
    assert not driver.faults, "\n".join(driver.faults)
    assert sum(driver.count.values()) >= len(all_routes()) * (EXAMPLES.get(role, FEW))


def test_every_field_of_what_the_labelling_page_sends_takes_no_hostile_value(settings, monkeypatch):
    """All of the values in all of the places, one at a time; what was let in is exported, frozen and reported."""
    settings.ACCOUNT_RATE_LIMITS = False
    driver = Driver(make_world(), "annotator", Asked(monkeypatch))
    stored = 0
    for action in ("submit", "skip", "shown", "suggestions"):
        address = f"/api/v1/assignments/{driver.world.assignment.uuid}/{action}"
        places = list(paths_in(driver.bodies[action]))[1:]
        # Of a list, the last: what it says is looked at after good ones, in the same way as the others.
        for path in [one for one in places if 0 not in one]:
            for value in JSON_VALUES:
                body = changed(driver.bodies[action] | {"client_id": str(uuid4())}, path, value)
                answer = driver.client.post(address, as_json(body), content_type="application/json")
                driver.count[answer.status_code] += 1
                if answer.status_code not in (200, 404, 409, 422):
                    driver.faults.append(f"{action} {path} {str(value)[:80]!r}: {answer.status_code}")
                elif answer.status_code == 422 and not answer.json()["errors"]:
                    driver.faults.append(f"{action} {path} {str(value)[:80]!r}: no field")
                stored += answer.status_code == 200
    driver._read("api", is_full=True)
    print(f"labelling: {dict(driver.count)} on {connection.vendor}")
    assert not driver.faults, "\n".join(driver.faults)
    assert stored > 100

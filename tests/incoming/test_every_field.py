"""Every parameter that a page asks for and every field of every form, one at a time, with the sharpest values."""

import re
from collections import Counter
from itertools import cycle, islice

import pytest
from django.db import connection, transaction

from tests.incoming.hostile import SHARP
from tests.incoming.test_every_route import Asked, Driver, has_failed
from tests.roles.places import address_of
from tests.world import make_world

MOST_FIELDS = 10
MANY = 8
pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.on_postgresql]


@pytest.fixture
def driver(settings, monkeypatch):
    settings.ACCOUNT_RATE_LIMITS = False
    driver = Driver(make_world(), "researcher", Asked(monkeypatch))
    driver.look()
    return driver


def ask(driver: Driver, verb: str, address: str, data: dict):
    with transaction.atomic():
        answer = getattr(driver.client, verb)(address, data)
        if answer.streaming:
            b"".join(answer.streaming_content)
        if has_failed(answer):
            raised = (getattr(answer, "exc_info", None) or (None, None))[1]
            driver.faults.append(f"{verb.upper()} {address} {str(data)[:300]}: {raised!r}"[:600])
        driver.count[verb] += 1
        transaction.set_rollback(True)
    return answer


def is_marked(page: str, name: str) -> bool:
    """Whether the form says of this field that it is wrong. Whatever is sent ticks a box, buttons are no fields, and
    what is searched for is none of what was posted."""
    page = re.sub(r'<form method="get".*?</form>', "", page, flags=re.DOTALL)
    tags = [tag for tag in re.findall(r"<(?:input|select|textarea)\b[^>]*>", page) if f'name="{name}"' in tag]
    return not tags or any('aria-invalid="true"' in tag or 'type="checkbox"' in tag for tag in tags)


def test_every_parameter_of_every_page(driver):
    asking = Counter(name for names in driver.names.values() for name in names)
    # Names that many routes ask for are read by shared code: each route meets two of the values there, and a name all.
    turns = {name: cycle(SHARP) for name in asking}
    for pattern, names in driver.names.items():
        address = address_of(pattern, driver.world)
        for name in sorted(names):
            for value in islice(turns[name], 2 if asking[name] > MANY else len(SHARP)):
                ask(driver, "get", address, {name: value})
    print(f"parameters: {dict(driver.count)} on {connection.vendor}")
    assert not driver.faults, "\n".join(driver.faults)


def test_every_field_of_every_form(driver):
    sent = set()
    for address, forms in driver.forms.items():
        for fields in forms:
            if address.endswith("/logout/"):
                continue
            base = dict(fields)
            # Forms of options have hundreds of fields of few kinds.
            for name in sorted(base.keys() - {"csrfmiddlewaretoken"})[:MOST_FIELDS]:
                if (address, name) in sent:
                    continue
                sent.add((address, name))
                for value in SHARP[:3]:
                    answer = ask(driver, "post", address, base | {name: value})
                    # A form that is shown again says which field it is that cannot be taken.
                    is_refused = "\0" in value and answer.status_code in (200, 422)
                    if is_refused and not is_marked(answer.content.decode(), name):
                        driver.faults.append(f"POST {address}: {name} is not marked")
    print(f"forms: {dict(driver.count)}, {len(sent)} fields of {len(driver.forms)} forms on {connection.vendor}")
    assert not driver.faults, "\n".join(driver.faults)

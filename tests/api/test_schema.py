"""The API's description is exact: generated requests meet no server error and no answer that it does not describe."""

import pytest
import schemathesis
from django.db import transaction
from django.urls import get_resolver
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis.checks import CHECKS
from schemathesis.checks import load_all_checks as load_checks

from annotation.api.schema import described
from annotation.api.uploading import MEDIA_TYPES, UploadRoute
from annotation.projects import tokens
from tests.api.programs import EVERYTHING, Program
from tests.routes import all_routes
from tests.world import client_of, make_world

EXAMPLES = 4
CHECKED = ("not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance")


@schemathesis.serializer(*set(MEDIA_TYPES) - {"application/json", "application/octet-stream"})
def as_it_is(context, value):
    """Bodies that Assay keeps as files."""
    return value if isinstance(value, bytes) else str(value).encode()


def test_every_route_is_described():
    paths = described()["paths"]
    said = {path.removeprefix("/") for path in paths}
    for pattern in all_routes():
        address = "".join("{" + part.partition(":")[2] if at else part for at, part in enumerate(pattern.split("<")))
        if pattern.startswith("api/v1/") and pattern.endswith("/") and not pattern.endswith("docs/"):
            assert address.replace(">", "}") in said, pattern
    for path, operations in paths.items():
        for verb, operation in operations.items():
            assert operation["description"] and "Scope: `" in operation["description"], (verb, path)
            repeats = "Idempotency-Key" in str(operation.get("parameters"))
            assert operation["summary"] and repeats == (verb == "post"), (verb, path)
    at_once = {path.rpartition("{slug}/")[2] for path, found in paths.items()
               if {"200", "202"} <= {*found.get("post", {}).get("responses", ())}}  # fmt: skip
    of_release = {f"releases/{{number}}/{what}/" for what in ("public", "hub", "changes/{before}")}
    assert at_once == {"reports/{name}/"} | of_release


def test_every_post_may_be_repeated():
    """By its key; but for reports, which are computed once anyway and given as they are by then."""
    views = [getattr(pattern.callback, "cls", None) for part in get_resolver().url_patterns
             if str(part.pattern) == "api/v1/" for pattern in part.url_patterns]  # fmt: skip
    posts = {view for view in views if hasattr(view, "post")}
    assert {view.__name__ for view in posts if not hasattr(view.post, "__wrapped__")} == {
        "ReportDetailRoute", *(view.__name__ for view in posts if issubclass(view, UploadRoute)),
    }  # fmt: skip
    assert len(posts) > 25


@pytest.mark.django_db
def test_the_page_shows_it_to_people_and_programs_read_it():
    world = make_world(1)
    page = client_of(world.people["annotator"]).get("/api/v1/docs/")
    assert b"swagger-ui-bundle.js" in page.content and b'data-schema="/api/v1/schema/"' in page.content
    assert Program(world.people["annotator"], "read").read("schema/")["openapi"].startswith("3.")


@pytest.mark.slow
@pytest.mark.on_postgresql
@pytest.mark.django_db
def test_generated_requests_get_what_is_described(application, fixed_draws):
    world = make_world(2)
    text = tokens.make_token(world.people["researcher"], "schemathesis", EVERYTHING, 1)[1]
    schema = schemathesis.openapi.from_dict(described())
    schema.app = application
    load_checks()
    checks, seen = CHECKS.get_by_names(CHECKED), set()
    for found in schema.get_all_operations():
        ask_for(found.ok(), world, text, checks, seen)
    assert len({path for _, path, _ in seen}) == len(described()["paths"])
    assert len([one for one in seen if one[2] < 300]) > 20, seen


def ask_for(operation, world, text: str, checks: list, seen: set) -> None:
    """Some requests of one operation, mostly about what there is; whatever they change is taken back."""
    uuids = {
        "/runs/": world.run.uuid,
        "/assignments/": world.assignment.uuid,
        "/trainings/": world.trained_model.uuid,
        "/members/": world.people["annotator"].uuid,
        "/files/": world.artifact.uuid,
        "/webhooks/{uuid}": world.webhook.uuid,
        "/deliveries/{uuid}": world.delivery.uuid,
    }
    places = {
        "slug": world.dataset.slug if operation.path.startswith("/api/v1/datasets") else world.project.slug,
        "uuid": str(next((uuid for part, uuid in uuids.items() if part in operation.path), world.job.uuid)),
        "token": world.invitation.token,
        "number": 1,
        "name": "agreement",
    }

    @seed(7)
    @settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def ask(case):
        case.path_parameters |= {name: value for name, value in places.items() if name in case.path_parameters}
        with transaction.atomic():
            answer = case.call(headers={"Authorization": f"Bearer {text}"})
            case.validate_response(answer, checks=checks)
            seen.add((case.method, case.path, answer.status_code))
            transaction.set_rollback(True)

    ask()

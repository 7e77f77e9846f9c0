"""Pages with lists take as many queries for many rows as for few."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from analysis.rules.running import run_rule
from annotation.datasets.managing import update_dataset
from annotation.models import Job, Membership
from annotation.participation import consent, joining, links
from annotation.projects import guidelines, invitations, label_sets, managing, tokens
from annotation.projects.accounts import managing as accounts
from annotation.work import threads

from . import factories
from .retrieval.harbour import ranked
from .world import client_of, label_one, make_world
from .world.drafts import answered, extract, make_answers

pytestmark = pytest.mark.django_db

PAGES = (
    "/",
    "/datasets/",
    "/datasets/harbour/",
    "/datasets/harbour/pairs/",
    "/invitations/",
    "/administration/accounts/",
    "/administration/accounts/?sort=-projects&search=example",
    "/administration/accounts/history/",
    "/administration/accounts/{account}/",
    "/label-sets/",
    "/projects/ports/",
    "/projects/ports/items/",
    "/projects/ports/items/?filter=open",
    "/projects/ports/items/?filter=undecided",
    "/projects/ports/items/{item}/",
    "/projects/ports/comments/",
    "/projects/ports/members/",
    "/projects/ports/consent/",
    "/projects/ports/questionnaires/",
    "/projects/ports/study-links/",
    "/projects/ports/study-links/{link}/",
    "/api/v1/projects/ports/study-links/",
    "/projects/ports/start/",
    "/studies/new/",
    "/projects/ports/guidelines/",
    "/projects/ports/settings/",
    "/projects/ports/settings/history/",
    "/datasets/harbour/settings/",
    "/projects/ports/runs/",
    "/projects/ports/prompts/",
    "/projects/ports/retrieval/",
    "/retrieval/{retrieval}/",
    "/projects/ports/rules/",
    "/projects/ports/rules/plain/",
    "/projects/ports/exports/",
    "/projects/ports/releases/",
    "/projects/ports/releases/1/",
    "/projects/drafting/",
    "/projects/drafting/drafts/",
    "/projects/drafting/drafts/?state=to-review",
    "/projects/drafting/drafts/extract/",
    "/projects/drafting/drafts/of/{source}/",
    "/extractions/{extraction}/",
    "/projects/drafting/answers/",
    "/generations/{generation}/",
    "/api/v1/projects/",
    "/account/tokens/",
    "/api/v1/accounts/",
    "/api/v1/datasets/",
    "/api/v1/datasets/harbour/content/?kind=evidence",
    "/api/v1/jobs/",
    "/api/v1/projects/ports/items/",
    "/api/v1/projects/ports/annotations/",
    "/api/v1/projects/ports/decisions/",
    "/api/v1/projects/ports/members/",
    "/api/v1/projects/ports/releases/",
    "/api/v1/projects/ports/prompts/",
    "/api/v1/projects/ports/rules/",
    "/api/v1/projects/ports/runs/",
    "/api/v1/projects/ports/scores/",
    "/api/v1/projects/ports/suggestions/",
    "/api/v1/projects/ports/trainings/",
    "/api/v1/projects/ports/units/",
)


def queries_of(client, address: str) -> int:
    client.get(address)  # what is looked up once per process is no matter of rows
    with CaptureQueriesContext(
        connection,
    ) as captured:
        response = client.get(address)
    assert response.status_code == 200, address
    return len(captured)


def grow(world) -> None:
    """More of everything that the pages list."""
    admin, project = world.people["admin"], world.project
    factories.make_claim_evidence(world.dataset, 9, prefix="more-")
    factories.make_items(project)
    make_answers(world.drafting.dataset)
    for number in range(4):
        member = factories.join(project, factories.make_user(f"late-{number}"), Membership.Role.ANNOTATOR)
        threads.keep(project.pk, label_one(project, member).item_id, project.raters.get(user=member).pk, "Unclear")
        guidelines.publish(project, admin, f"Version {number}")
        tokens.make_token(admin, f"Token {number}", ["read"], 30)
        accounts.set_rights(admin, world.people["annotator"], ("member", "creator")[number % 2])
        factories.join(factories.make_project(world.dataset), world.people["annotator"], Membership.Role.RESEARCHER)
        label_sets.save_label_set(admin, factories.LABEL_SET | {"name": f"Tone {number}"})
        managing.update_project(project, admin, lease_minutes=70 + number)
        update_dataset(world.dataset, admin, title=f"Harbour {number}")
        invitations.invite(admin, f"guest{number}@example.org", project=project, roles=["annotator"])
        factories.make_suggestions(project, checker=f"fake-{number}")
        ranked(project)
        links.make_link(project, admin, title=f"Wave {number}", places=10)
        joining.join_as_new(world.study_link)
        consent.publish(project, admin, f"Version {number}", consent.KEEP)
        factories.make_project(world.dataset, slug=f"further-{number}")
        run_rule(project, admin, "plain", "majority", {})
        run_rule(project, admin, f"plain-{number}", "majority", {})
        answered(world.drafting)
        extract(world.drafting, parameters={"seed": number + 1})
        Job.objects.create(kind=Job.Kind.EXPORT, state=Job.State.DONE, project=project, created_by=admin)
        frozen = Job.objects.create(kind=Job.Kind.RELEASE, state=Job.State.DONE, project=project, created_by=admin)
        project.releases.create(number=number + 2, job=frozen, sha256="2" * 64, moment=now(), created_by=admin)
        Job.objects.create(kind=Job.Kind.PAIRS, state=Job.State.DONE, dataset=world.dataset, created_by=admin)
        Job.objects.create(kind=Job.Kind.IMPORT, state=Job.State.DONE, dataset=world.dataset, created_by=admin)


def test_queries_do_not_grow_with_rows(settings):
    settings.ACCOUNT_RATE_LIMITS = False
    world = make_world()
    client = client_of(world.people["admin"])
    tokens.make_token(world.people["admin"], "First", ["read"], 30)
    managing.update_project(world.project, world.people["admin"], lease_minutes=59)
    accounts.set_rights(world.people["admin"], world.people["annotator"], "creator")
    update_dataset(world.dataset, world.people["admin"], title="The harbour")
    joining.join_as_new(world.study_link)
    consent.publish(world.project, world.people["admin"], "Version 0", consent.KEEP)
    places = {
        "account": world.people["annotator"].uuid,
        "retrieval": world.retrieval.uuid,
        "item": world.item.uuid,
        "link": world.study_link.uuid,
        "source": world.draft.response_id,
        "generation": world.generation.uuid,
        "extraction": world.extraction.uuid,
    }
    pages = [page.format(**places) for page in PAGES]
    few = {page: queries_of(client, page) for page in pages}
    grow(world)
    many = {page: queries_of(client, page) for page in pages}
    assert {page: (few[page], many[page]) for page in pages if many[page] > few[page]} == {}

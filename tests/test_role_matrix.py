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

from .routes import all_routes
from .world import ROLES, client_of, make_world

pytestmark = pytest.mark.django_db

# What stands in the place of a parameter: (start of the pattern, parameter) -> what of the world. First match wins.
PLACES = (
    ("projects/<slug:slug>/items/<uuid", "uuid:uuid", lambda world: world.item.uuid),
    ("projects/<slug:slug>/adjudication/", "uuid:uuid", lambda world: world.item.uuid),
    ("projects/<slug:slug>/members/<uuid", "uuid:uuid", lambda world: world.people["annotator"].uuid),
    ("api/v1/projects/<slug:slug>/members/<uuid", "uuid:uuid", lambda world: world.people["annotator"].uuid),
    ("api/v1/webhooks/", "uuid:uuid", lambda world: world.webhook.uuid),
    ("api/v1/deliveries/", "uuid:uuid", lambda world: world.delivery.uuid),
    ("webhooks/", "uuid:uuid", lambda world: world.webhook.uuid),
    ("deliveries/", "uuid:uuid", lambda world: world.delivery.uuid),
    ("api/v1/files/", "uuid:uuid", lambda world: world.artifact.uuid),
    ("api/v1/trainings/", "uuid:uuid", lambda world: world.trained_model.uuid),
    ("projects/<slug:slug>/drafts/", "slug:slug", lambda world: world.drafting.slug),
    ("projects/<slug:slug>/drafts/", "uuid:uuid", lambda world: world.draft.uuid),
    ("projects/<slug:slug>/drafts/", "int:pk", lambda world: world.draft.response_id),
    ("label-sets/", "int:pk", lambda world: world.label_set.pk),
    ("generations/", "uuid:uuid", lambda world: world.generation.uuid),
    ("api/v1/extractions/", "uuid:uuid", lambda world: world.extraction.uuid),
    ("api/v1/generations/", "uuid:uuid", lambda world: world.generation.uuid),
    ("extractions/", "uuid:uuid", lambda world: world.extraction.uuid),
    ("api/v1/assignments/", "uuid:uuid", lambda world: world.assignment.uuid),
    ("account/tokens/", "uuid:uuid", lambda world: world.token.uuid),
    ("api/v1/runs/", "uuid:uuid", lambda world: world.run.uuid),
    ("api/v1/retrievals/", "uuid:uuid", lambda world: world.retrieval.uuid),
    ("api/v1/datasets/", "slug:slug", lambda world: world.dataset.slug),
    ("artifacts/", "uuid:uuid", lambda world: world.artifact.uuid),
    ("runs/", "uuid:uuid", lambda world: world.run.uuid),
    ("rules/", "uuid:uuid", lambda world: world.rule_job.uuid),
    ("projects/<slug:slug>/rules/", "slug:name", lambda world: "plain"),
    ("projects/<slug:slug>/rules/", "slug:kind", lambda world: "majority"),
    ("training/", "uuid:uuid", lambda world: world.trained_model.uuid),
    ("retrieval/", "uuid:uuid", lambda world: world.retrieval.uuid),
    ("imports/", "uuid:uuid", lambda world: world.import_job.uuid),
    ("pairs/", "uuid:uuid", lambda world: world.pairs_job.uuid),
    ("releases/", "uuid:uuid", lambda world: world.release.uuid),
    ("claims/", "uuid:uuid", lambda world: world.collection.uuid),
    ("api/v1/claim-collections/", "uuid:uuid", lambda world: world.collection.uuid),
    ("", "uuid:uuid", lambda world: world.job.uuid),
    ("datasets/", "slug:slug", lambda world: world.dataset.slug),
    ("", "slug:slug", lambda world: world.project.slug),
    ("", "slug:token", lambda world: world.invitation.token),
    ("", "str:token", lambda world: world.invitation.token),
    ("", "slug:checker", lambda world: "llm"),
    ("", "slug:extractor", lambda world: "llm-extractor"),
    ("", "slug:generator", lambda world: "llm-answers"),
    ("", "slug:retriever", lambda world: "bm25"),
    ("", "slug:name", lambda world: "agreement"),
    ("", "slug:report", lambda world: "agreement"),
    ("", "slug:picture", lambda world: "per-label-stance"),
    ("", "slug:form", lambda world: "svg"),
    ("", "int:number", lambda world: 1),
    ("", "int:before", lambda world: 1),
)
# Patterns that are regular expressions -> an address that fits them.
EXAMPLES = {
    "^accounts/confirm-email/": "accounts/confirm-email/",
    "^accounts/login/code/": "accounts/login/code/",
    r"accounts/^confirm-email/(?P<key>[-:\w]+)/$": "accounts/confirm-email/abc/",
    r"accounts/^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$": "accounts/password/reset/key/1-abc/",
}
OTHER_VERBS = ("put", "patch", "delete")
REFUSED = {302, 401, 403, 404, 405}
# Who asks by the other verbs: HEAD takes the way of GET, and a view refuses a verb before it looks who asks. These
# three get every kind of answer: nobody, a page, and what only annotators get.
OF_OTHER_VERBS = ("anonymous", "annotator", "researcher")


def address_of(pattern: str, world) -> str:
    def fill(match) -> str:
        return str(
            next(value for start, name, value in PLACES if pattern.startswith(start) and name == match[1])(world)
        )

    return "/" + (EXAMPLES.get(pattern) or re.sub(r"<([^>]+)>", fill, pattern))


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


TABLE = {
    "account/": (
        (302, 200, 200, 200, 200, 200, 200),
        (302, 200, 200, 200, 200, 200, 200),
    ),
    "account/tokens/": (
        (302, 200, 200, 200, 200, 200, 200),
        (302, 200, 200, 200, 200, 200, 200),
    ),
    "account/tokens/<uuid:uuid>/revoke/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 404, 404, 302, 404, 404),
    ),
    "invitations/": (
        (302, 403, 403, 403, 403, 403, 200),
        (302, 403, 403, 403, 403, 403, 200),
    ),
    "invitations/password-link/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 403, 403, 403, 403, 403, 200),
    ),
    # Without the key of the mail.
    "invitations/<str:token>/": (
        (403, 403, 403, 403, 403, 403, 403),
        (403, 403, 403, 403, 403, 403, 403),
    ),
    "invitations/<str:token>/withdraw/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 404, 404, 302, 404, 302),
    ),
    "accounts/signup/": (
        (404, 404, 404, 404, 404, 404, 404),
        (404, 404, 404, 404, 404, 404, 404),
    ),
    "accounts/email/": (
        (404, 404, 404, 404, 404, 404, 404),
        (404, 404, 404, 404, 404, 404, 404),
    ),
    "^accounts/confirm-email/": (
        (404, 404, 404, 404, 404, 404, 404),
        (404, 404, 404, 404, 404, 404, 404),
    ),
    "^accounts/login/code/": (
        (404, 404, 404, 404, 404, 404, 404),
        (404, 404, 404, 404, 404, 404, 404),
    ),
    "accounts/login/": (
        (200, 302, 302, 302, 302, 302, 302),
        (200, 302, 302, 302, 302, 302, 302),
    ),
    "accounts/sessions/": (
        (302, 200, 200, 200, 200, 200, 200),
        (302, 302, 302, 302, 302, 302, 302),
    ),
    "accounts/logout/": (
        (302, 200, 200, 200, 200, 200, 200),
        (302, 302, 302, 302, 302, 302, 302),
    ),
    "accounts/inactive/": (
        (200, 200, 200, 200, 200, 200, 200),
        (405, 405, 405, 405, 405, 405, 405),
    ),
    "accounts/reauthenticate/": (
        (302, 200, 200, 200, 200, 200, 200),
        (302, 200, 200, 200, 200, 200, 200),
    ),
    "accounts/confirm-email/": (
        (404, 404, 404, 404, 404, 404, 404),
        (404, 404, 404, 404, 404, 404, 404),
    ),
    "accounts/password/change/": (
        (302, 200, 200, 200, 200, 200, 200),
        (302, 200, 200, 200, 200, 200, 200),
    ),
    "accounts/password/set/": (
        (302, 302, 302, 302, 302, 302, 302),
        (302, 302, 302, 302, 302, 302, 302),
    ),
    "accounts/password/reset/": (
        (200, 200, 200, 200, 200, 200, 200),
        (200, 200, 200, 200, 200, 200, 200),
    ),
    "accounts/login/code/confirm/": (
        (404, 404, 404, 404, 404, 404, 404),
        (404, 404, 404, 404, 404, 404, 404),
    ),
    r"accounts/^confirm-email/(?P<key>[-:\w]+)/$": (
        (404, 404, 404, 404, 404, 404, 404),
        (404, 404, 404, 404, 404, 404, 404),
    ),
    "accounts/password/reset/key/done/": (
        (200, 200, 200, 200, 200, 200, 200),
        (405, 405, 405, 405, 405, 405, 405),
    ),
    "accounts/^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$": (
        (200, 200, 200, 200, 200, 200, 200),
        (200, 200, 200, 200, 200, 200, 200),
    ),
    "accounts/password/reset/done/": (
        (200, 200, 200, 200, 200, 200, 200),
        (405, 405, 405, 405, 405, 405, 405),
    ),
    "accounts/2fa/": (
        (302, 200, 200, 200, 200, 200, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "accounts/2fa/authenticate/": (
        (302, 302, 302, 302, 302, 302, 302),
        (302, 302, 302, 302, 302, 302, 302),
    ),
    "accounts/2fa/reauthenticate/": (
        (302, 302, 302, 302, 302, 302, 302),
        (302, 302, 302, 302, 302, 302, 302),
    ),
    "accounts/2fa/totp/activate/": (
        (302, 302, 302, 302, 302, 302, 302),
        (302, 302, 302, 302, 302, 302, 302),
    ),
    "accounts/2fa/totp/deactivate/": (
        (302, 404, 404, 404, 404, 404, 404),
        (302, 404, 404, 404, 404, 404, 404),
    ),
    "accounts/2fa/recovery-codes/": (
        (302, 404, 404, 404, 404, 404, 404),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "accounts/2fa/recovery-codes/generate/": (
        (302, 302, 302, 302, 302, 302, 302),
        (302, 302, 302, 302, 302, 302, 302),
    ),
    "accounts/2fa/recovery-codes/download/": (
        (302, 404, 404, 404, 404, 404, 404),
        (302, 404, 404, 404, 404, 404, 404),
    ),
    "api/v1/projects/<slug:slug>/work/next": (
        (401, 404, 200, 403, 403, 404, 403),
        (405, 405, 405, 405, 405, 405, 405),
    ),
    "api/v1/projects/<slug:slug>/guidelines/acknowledge": (
        (405, 405, 405, 405, 405, 405, 405),
        (401, 404, 422, 403, 403, 404, 403),
    ),
    "api/v1/projects/<slug:slug>/work/answered": (
        (401, 404, 200, 403, 403, 404, 403),
        (405, 405, 405, 405, 405, 405, 405),
    ),
    "api/v1/assignments/<uuid:uuid>/submit": (
        (405, 405, 405, 405, 405, 405, 405),
        (401, 404, 422, 404, 404, 404, 404),
    ),
    "api/v1/assignments/<uuid:uuid>/skip": (
        (405, 405, 405, 405, 405, 405, 405),
        (401, 404, 409, 404, 404, 404, 404),
    ),
    "api/v1/assignments/<uuid:uuid>/shown": (
        (405, 405, 405, 405, 405, 405, 405),
        (401, 404, 200, 404, 404, 404, 404),
    ),
    "api/v1/assignments/<uuid:uuid>/release": (
        (405, 405, 405, 405, 405, 405, 405),
        (401, 404, 200, 404, 404, 404, 404),
    ),
    "api/v1/assignments/<uuid:uuid>/suggestions": (
        (405, 405, 405, 405, 405, 405, 405),
        (401, 404, 422, 404, 404, 404, 404),
    ),
    "api/v1/assignments/<uuid:uuid>/item": (
        (401, 404, 200, 404, 404, 404, 404),
        (405, 405, 405, 405, 405, 405, 405),
    ),
    "api/v1/datasets/": (
        (401, 200, 200, 200, 200, 200, 200),
        (401, 403, 403, 403, 422, 403, 422),
    ),
    "api/v1/datasets/<slug:slug>/": (
        (401, 404, 404, 404, 200, 404, 200),
        (401, 405, 405, 405, 405, 405, 405),
    ),
    "api/v1/projects/": (
        (401, 200, 200, 200, 200, 200, 200),
        (401, 403, 403, 403, 422, 403, 422),
    ),
    "api/v1/projects/<slug:slug>/": (
        (401, 404, 200, 200, 200, 404, 200),
        (401, 405, 405, 405, 405, 405, 405),
    ),
    "api/v1/projects/<slug:slug>/members/": (
        (401, 404, 403, 403, 200, 404, 200),
        (401, 405, 405, 405, 405, 405, 405),
    ),
    "api/v1/projects/<slug:slug>/units/": (
        (401, 404, 403, 403, 200, 404, 200),
        (401, 405, 405, 405, 405, 405, 405),
    ),
    "api/v1/projects/<slug:slug>/annotations/": (
        (401, 404, 403, 200, 200, 404, 200),
        (401, 405, 405, 405, 405, 405, 405),
    ),
    "api/v1/projects/<slug:slug>/decisions/": (
        (401, 404, 403, 200, 200, 404, 200),
        (401, 404, 403, 422, 403, 404, 403),
    ),
    "api/v1/projects/<slug:slug>/rules/": (
        (401, 404, 403, 200, 200, 404, 200),
        (401, 404, 403, 422, 422, 404, 422),
    ),
    "api/v1/projects/<slug:slug>/runs/": (
        (401, 404, 403, 403, 200, 404, 200),
        (401, 404, 403, 403, 422, 404, 422),
    ),
    "api/v1/projects/<slug:slug>/prompts/": (
        (401, 404, 403, 403, 200, 404, 200),
        (401, 404, 403, 403, 422, 404, 422),
    ),
    "api/v1/projects/<slug:slug>/prompts/<int:number>/": (
        (401, 404, 403, 403, 404, 404, 404),
        (401, 404, 403, 403, 404, 404, 404),
    ),
    "api/v1/projects/<slug:slug>/prompts/<int:number>/estimate/": (
        (401, 405, 405, 405, 405, 405, 405),
        (401, 404, 403, 403, 404, 404, 404),
    ),
    "api/v1/projects/<slug:slug>/held-out/": (
        (401, 404, 403, 403, 404, 404, 404),
        (401, 404, 403, 403, 422, 404, 422),
    ),
    "api/v1/projects/<slug:slug>/trainings/": (
        (401, 404, 403, 403, 200, 404, 200),
        (401, 404, 403, 403, 409, 404, 409),
    ),
    "api/v1/datasets/<slug:slug>/claim-collections/": (
        (401, 404, 404, 404, 200, 404, 200),
        (401, 404, 404, 404, 422, 404, 422),
    ),
    "api/v1/claim-collections/<uuid:uuid>/": (
        (401, 404, 404, 404, 200, 404, 200),
        (401, 405, 405, 405, 405, 405, 405),
    ),
    "api/v1/claim-collections/<uuid:uuid>/choice/": (
        (401, 405, 405, 405, 405, 405, 405),
        (401, 404, 404, 404, 200, 404, 200),
    ),
    "api/v1/claim-collections/<uuid:uuid>/publish/": (
        (401, 405, 405, 405, 405, 405, 405),
        (401, 404, 404, 404, 409, 404, 409),
    ),
    "api/v1/projects/<slug:slug>/generations/": (
        (401, 404, 403, 403, 200, 404, 200),
        (401, 404, 403, 403, 422, 404, 422),
    ),
    "api/v1/projects/<slug:slug>/generations/estimate/": (
        (401, 405, 405, 405, 405, 405, 405),
        (401, 404, 403, 403, 422, 404, 422),
    ),
    "api/v1/projects/<slug:slug>/retrievals/estimate/": (
        (401, 405, 405, 405, 405, 405, 405),
        (401, 404, 403, 403, 422, 404, 422),
    ),
    "api/v1/projects/<slug:slug>/runs/estimate/": (
        (401, 405, 405, 405, 405, 405, 405),
        (401, 404, 403, 403, 422, 404, 422),
    ),
    "api/v1/projects/<slug:slug>/extractions/": (
        (401, 404, 403, 403, 200, 404, 200),
        (401, 404, 403, 403, 422, 404, 422),
    ),
    "api/v1/projects/<slug:slug>/extractions/estimate/": (
        (401, 405, 405, 405, 405, 405, 405),
        (401, 404, 403, 403, 422, 404, 422),
    ),
    "api/v1/extractions/<uuid:uuid>/": (
        (401, 404, 403, 403, 200, 404, 200),
        (401, 405, 405, 405, 405, 405, 405),
    ),
    "api/v1/extractions/<uuid:uuid>/publish/": (
        (401, 405, 405, 405, 405, 405, 405),
        (401, 404, 403, 403, 202, 404, 202),
    ),
    "api/v1/generations/<uuid:uuid>/": (
        (401, 404, 403, 403, 200, 404, 200),
        (401, 405, 405, 405, 405, 405, 405),
    ),
    "api/v1/generations/<uuid:uuid>/publish/": (
        (401, 405, 405, 405, 405, 405, 405),
        (401, 404, 403, 403, 202, 404, 202),
    ),
    "api/v1/projects/<slug:slug>/retrievals/": (
        (401, 404, 403, 403, 200, 404, 200),
        (401, 404, 403, 403, 422, 404, 422),
    ),
    "api/v1/retrievals/<uuid:uuid>/": (
        (401, 404, 403, 403, 200, 404, 200),
        (401, 405, 405, 405, 405, 405, 405),
    ),
    "api/v1/retrievals/<uuid:uuid>/publish/": (
        (401, 405, 405, 405, 405, 405, 405),
        (401, 404, 403, 403, 422, 404, 422),
    ),
    "api/v1/retrievals/<uuid:uuid>/documents/": (
        (401, 405, 405, 405, 405, 405, 405),
        (401, 404, 403, 403, 409, 404, 409),
    ),
    "api/v1/runs/<uuid:uuid>/": (
        (401, 404, 403, 403, 200, 404, 200),
        (401, 405, 405, 405, 405, 405, 405),
    ),
    "api/v1/runs/<uuid:uuid>/show/": (
        (401, 405, 405, 405, 405, 405, 405),
        (401, 404, 403, 403, 200, 404, 200),
    ),
    "api/v1/jobs/": (
        (401, 200, 200, 200, 200, 200, 200),
        (401, 405, 405, 405, 405, 405, 405),
    ),
    "api/v1/jobs/<uuid:uuid>/": (
        (401, 404, 404, 404, 200, 404, 200),
        (401, 405, 405, 405, 405, 405, 405),
    ),
    "api/v1/jobs/<uuid:uuid>/cancel/": (
        (401, 405, 405, 405, 405, 405, 405),
        (401, 404, 404, 404, 202, 404, 202),
    ),
    "api/v1/projects/<slug:slug>/settings/": (
        (401, 404, 403, 403, 200, 404, 200),
        (401, 404, 403, 403, 200, 404, 200),
    ),
    "api/v1/projects/<slug:slug>/state/": (
        (401, 405, 405, 405, 405, 405, 405),
        (401, 404, 403, 403, 422, 404, 422),
    ),
    "api/v1/projects/<slug:slug>/make-items/": (
        (401, 405, 405, 405, 405, 405, 405),
        (401, 404, 403, 403, 202, 404, 202),
    ),
    "api/v1/projects/<slug:slug>/options/": (
        (401, 404, 403, 403, 200, 404, 200),
        (401, 404, 403, 403, 422, 404, 422),
    ),
    "api/v1/projects/<slug:slug>/guidelines/": (
        (401, 404, 200, 200, 200, 404, 200),
        (401, 404, 403, 403, 422, 404, 422),
    ),
    "api/v1/projects/<slug:slug>/members/<uuid:uuid>/": (
        (401, 405, 405, 405, 405, 405, 405),
        (401, 404, 403, 403, 422, 404, 422),
    ),
    "api/v1/projects/<slug:slug>/invitations/": (
        (401, 404, 403, 403, 200, 404, 200),
        (401, 404, 403, 403, 422, 404, 422),
    ),
    "api/v1/projects/<slug:slug>/invitations/<slug:token>/revoke/": (
        (401, 405, 405, 405, 405, 405, 405),
        (401, 404, 403, 403, 200, 404, 200),
    ),
    "api/v1/projects/<slug:slug>/exports/": (
        (401, 404, 403, 200, 200, 404, 200),
        (401, 404, 403, 202, 202, 404, 202),
    ),
    "api/v1/files/<uuid:uuid>/": (
        (401, 404, 403, 404, 404, 404, 404),
        (401, 405, 405, 405, 405, 405, 405),
    ),
    "api/v1/trainings/<uuid:uuid>/": (
        (401, 404, 403, 403, 200, 404, 200),
        (401, 405, 405, 405, 405, 405, 405),
    ),
    "api/v1/jobs/<uuid:uuid>/resume/": (
        (401, 405, 405, 405, 405, 405, 405),
        (401, 404, 404, 404, 202, 404, 202),
    ),
    "api/v1/projects/<slug:slug>/webhooks/": (
        (401, 404, 403, 403, 200, 404, 200),
        (401, 404, 403, 403, 422, 404, 422),
    ),
    "api/v1/webhooks/<uuid:uuid>/": (
        (401, 404, 403, 403, 200, 404, 200),
        (401, 405, 405, 405, 405, 405, 405),
    ),
    "api/v1/webhooks/<uuid:uuid>/ping/": (
        (401, 405, 405, 405, 405, 405, 405),
        (401, 404, 403, 403, 202, 404, 202),
    ),
    "api/v1/webhooks/<uuid:uuid>/remove/": (
        (401, 405, 405, 405, 405, 405, 405),
        (401, 404, 403, 403, 200, 404, 200),
    ),
    "api/v1/webhooks/<uuid:uuid>/deliveries/": (
        (401, 404, 403, 403, 200, 404, 200),
        (401, 405, 405, 405, 405, 405, 405),
    ),
    "api/v1/deliveries/<uuid:uuid>/repeat/": (
        (401, 405, 405, 405, 405, 405, 405),
        (401, 404, 403, 403, 202, 404, 202),
    ),
    "projects/<slug:slug>/webhooks/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "webhooks/<uuid:uuid>/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "webhooks/<uuid:uuid>/ping/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "webhooks/<uuid:uuid>/remove/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "deliveries/<uuid:uuid>/repeat/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "api/v1/datasets/<slug:slug>/content/": (
        (401, 404, 404, 404, 400, 404, 400),
        (401, 405, 405, 405, 405, 405, 405),
    ),
    "api/v1/projects/<slug:slug>/reports/": (
        (401, 404, 403, 200, 200, 404, 200),
        (401, 405, 405, 405, 405, 405, 405),
    ),
    "api/v1/projects/<slug:slug>/reports/<slug:name>/": (
        (401, 404, 403, 404, 404, 404, 404),
        (401, 404, 403, 202, 202, 404, 202),
    ),
    "api/v1/projects/<slug:slug>/releases/": (
        (401, 404, 403, 200, 200, 404, 200),
        (401, 404, 403, 202, 202, 404, 202),
    ),
    "api/v1/projects/<slug:slug>/releases/<int:number>/": (
        (401, 404, 403, 200, 200, 404, 200),
        (401, 405, 405, 405, 405, 405, 405),
    ),
    "api/v1/projects/<slug:slug>/releases/<int:number>/withdraw/": (
        (401, 405, 405, 405, 405, 405, 405),
        (401, 404, 403, 403, 422, 404, 422),
    ),
    "api/v1/projects/<slug:slug>/releases/<int:number>/public/": (
        (401, 404, 403, 200, 200, 404, 200),
        (401, 404, 403, 403, 202, 404, 202),
    ),
    "api/v1/projects/<slug:slug>/releases/<int:number>/hub/": (
        (401, 404, 403, 403, 200, 404, 200),
        (401, 404, 403, 403, 422, 404, 422),
    ),
    "api/v1/projects/<slug:slug>/releases/<int:number>/changes/<int:before>/": (
        (401, 404, 403, 409, 409, 404, 409),
        (401, 404, 403, 409, 409, 404, 409),
    ),
    "api/v1/projects/<slug:slug>/releases/<int:number>/file/": (
        (401, 404, 403, 409, 409, 404, 409),
        (401, 405, 405, 405, 405, 405, 405),
    ),
    "api/v1/datasets/<slug:slug>/imports/": (
        (401, 405, 405, 405, 405, 405, 405),
        (401, 404, 404, 404, 409, 404, 409),
    ),
    "api/v1/projects/<slug:slug>/items/": (
        (401, 404, 403, 200, 200, 404, 200),
        (401, 404, 403, 403, 202, 404, 202),
    ),
    "api/v1/projects/<slug:slug>/labels/": (
        (401, 405, 405, 405, 405, 405, 405),
        (401, 404, 403, 403, 202, 404, 202),
    ),
    "api/v1/projects/<slug:slug>/suggestions/": (
        (401, 404, 403, 403, 200, 404, 200),
        (401, 404, 403, 403, 422, 404, 422),
    ),
    "api/v1/projects/<slug:slug>/scores/": (
        (401, 404, 403, 403, 200, 404, 200),
        (401, 404, 403, 403, 422, 404, 422),
    ),
    "api/v1/schema/": (
        (401, 200, 200, 200, 200, 200, 200),
        (401, 405, 405, 405, 405, 405, 405),
    ),
    "api/v1/docs/": (
        (302, 200, 200, 200, 200, 200, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "": (
        (302, 200, 200, 200, 200, 200, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "guidelines/preview/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 200, 200, 200, 200, 200, 200),
    ),
    "projects/new/": (
        (302, 403, 403, 403, 200, 403, 200),
        (302, 403, 403, 403, 200, 403, 200),
    ),
    "projects/<slug:slug>/": (
        (302, 404, 200, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/state/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 400, 404, 400),
    ),
    "projects/<slug:slug>/make-items/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/settings/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "label-sets/": (
        (302, 403, 403, 403, 200, 200, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "label-sets/new/": (
        (302, 403, 403, 403, 200, 200, 200),
        (302, 403, 403, 403, 422, 422, 422),
    ),
    "label-sets/<int:pk>/": (
        (302, 403, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "label-sets/<int:pk>/next/": (
        (302, 403, 403, 403, 200, 404, 200),
        (302, 403, 403, 403, 422, 404, 422),
    ),
    "label-sets/<int:pk>/file/": (
        (302, 403, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/questions/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/questions/preview/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/members/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/members/<uuid:uuid>/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/guidelines/": (
        (302, 404, 200, 200, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/items/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/items/priority/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 400, 404, 400),
    ),
    "projects/<slug:slug>/items/<uuid:uuid>/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/items/<uuid:uuid>/more/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/items/<uuid:uuid>/release/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/items/<uuid:uuid>/withdraw/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 400, 403, 404, 403),
    ),
    "projects/<slug:slug>/adjudication/": (
        (302, 404, 403, 200, 403, 404, 403),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/adjudication/next/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 400, 403, 404, 403),
    ),
    "projects/<slug:slug>/adjudication/snapshot/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 302, 403, 404, 403),
    ),
    "projects/<slug:slug>/adjudication/guidelines/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/adjudication/items/<uuid:uuid>/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 200, 403, 404, 403),
    ),
    "projects/<slug:slug>/adjudication/items/<uuid:uuid>/decide/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 400, 403, 404, 403),
    ),
    "projects/<slug:slug>/adjudication/items/<uuid:uuid>/undo/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 400, 403, 404, 403),
    ),
    "projects/<slug:slug>/adjudication/items/<uuid:uuid>/reveal/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 400, 403, 404, 403),
    ),
    "projects/<slug:slug>/rules/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/rules/new/<slug:kind>/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 404, 403, 200, 200, 404, 200),
    ),
    "projects/<slug:slug>/rules/<slug:name>/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 404, 403, 400, 400, 404, 400),
    ),
    "rules/<uuid:uuid>/": (
        (302, 404, 404, 404, 200, 404, 200),
        (302, 404, 404, 404, 400, 404, 400),
    ),
    "datasets/": (
        (302, 200, 200, 200, 200, 200, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "datasets/new/": (
        (302, 403, 403, 403, 200, 403, 200),
        (302, 403, 403, 403, 200, 403, 200),
    ),
    "datasets/<slug:slug>/": (
        (302, 404, 404, 404, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "datasets/<slug:slug>/import/": (
        (302, 404, 404, 404, 200, 404, 200),
        (302, 404, 404, 404, 200, 404, 200),
    ),
    "datasets/<slug:slug>/import/columns/": (
        (302, 404, 404, 404, 404, 404, 404),
        (302, 404, 404, 404, 404, 404, 404),
    ),
    "imports/<uuid:uuid>/": (
        (302, 404, 404, 404, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "imports/<uuid:uuid>/start/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 404, 404, 302, 404, 302),
    ),
    "imports/<uuid:uuid>/columns.json": (
        (302, 404, 404, 404, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    # The world's import left no rows out.
    "imports/<uuid:uuid>/left-out.csv": (
        (302, 404, 404, 404, 404, 404, 404),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "imports/<uuid:uuid>/errors.csv": (
        (302, 404, 404, 404, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "imports/<uuid:uuid>/errors.md": (
        (302, 404, 404, 404, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "datasets/<slug:slug>/pairs/": (
        (302, 404, 404, 404, 200, 404, 200),
        (302, 404, 404, 404, 200, 404, 200),
    ),
    "datasets/<slug:slug>/claims/": (
        (302, 404, 404, 404, 200, 404, 200),
        (302, 404, 404, 404, 200, 404, 200),
    ),
    "claims/<uuid:uuid>/": (
        (302, 404, 404, 404, 200, 404, 200),
        (302, 404, 404, 404, 200, 404, 200),
    ),
    "claims/<uuid:uuid>/publish/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 404, 404, 422, 404, 422),
    ),
    "claims/<uuid:uuid>/claims.csv": (
        (302, 404, 404, 404, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "pairs/<uuid:uuid>/": (
        (302, 404, 404, 404, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "pairs/<uuid:uuid>/start/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 404, 404, 422, 404, 422),
    ),
    "jobs/<uuid:uuid>/": (
        (302, 404, 404, 404, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "jobs/<uuid:uuid>/progress/": (
        (302, 404, 404, 404, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "jobs/<uuid:uuid>/cancel/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 404, 404, 302, 404, 302),
    ),
    "jobs/<uuid:uuid>/resume/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 404, 404, 302, 404, 302),
    ),
    "projects/<slug:slug>/work/": (
        (302, 404, 200, 403, 403, 404, 403),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/drafts/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/drafts/extract/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/drafts/extract/<slug:extractor>/estimate/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/drafts/publish/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/drafts/accept/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/drafts/of/<int:pk>/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/drafts/of/<int:pk>/add/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/drafts/of/<int:pk>/accept/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/drafts/<uuid:uuid>/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 400, 404, 400),
    ),
    "extractions/<uuid:uuid>/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "extractions/<uuid:uuid>/progress/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "extractions/<uuid:uuid>/retry/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "extractions/<uuid:uuid>/limits/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/answers/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/answers/<slug:generator>/estimate/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "generations/<uuid:uuid>/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "generations/<uuid:uuid>/progress/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "generations/<uuid:uuid>/retry/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "generations/<uuid:uuid>/limits/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "generations/<uuid:uuid>/publish/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/runs/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "checkers/": (
        (302, 403, 403, 403, 200, 200, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/runs/<slug:checker>/estimate/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/training/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "training/<uuid:uuid>/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "training/<uuid:uuid>/run/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/retrieval/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/retrieval/<slug:retriever>/estimate/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "retrieval/<uuid:uuid>/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "retrieval/<uuid:uuid>/progress/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "retrieval/<uuid:uuid>/trec/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "retrieval/<uuid:uuid>/jsonl/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "retrieval/<uuid:uuid>/web/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    # Without a query in its address it finds none.
    "retrieval/<uuid:uuid>/ranking/": (
        (302, 404, 403, 403, 404, 404, 404),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "retrieval/<uuid:uuid>/limits/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "retrieval/<uuid:uuid>/retry/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "retrieval/<uuid:uuid>/publish/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 422, 404, 422),
    ),
    "retrieval/<uuid:uuid>/documents/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "runs/<uuid:uuid>/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "runs/<uuid:uuid>/progress/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "runs/<uuid:uuid>/retry/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "runs/<uuid:uuid>/limits/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/prompts/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 400, 404, 400),
    ),
    "projects/<slug:slug>/prompts/estimate/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "projects/<slug:slug>/prompts/<int:number>/": (
        (302, 404, 403, 403, 404, 404, 404),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "runs/<uuid:uuid>/show/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/exports/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 404, 403, 200, 200, 404, 200),
    ),
    "artifacts/<uuid:uuid>/": (
        (302, 404, 403, 404, 404, 404, 404),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/agreement/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/comparison/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/difference/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/annotators/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/alternative-annotator/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/prevalence/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/rates/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/coverage/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/card/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/releases/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 404, 403, 302, 302, 404, 302),
    ),
    "projects/<slug:slug>/releases/<int:number>/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/releases/<int:number>/withdraw/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/releases/<int:number>/public/": (
        (302, 405, 405, 405, 405, 405, 405),
        (302, 404, 403, 403, 302, 404, 302),
    ),
    "projects/<slug:slug>/releases/<int:number>/hub/": (
        (302, 404, 403, 403, 200, 404, 200),
        (302, 404, 403, 403, 200, 404, 200),
    ),
    "releases/<uuid:uuid>/": (
        (404, 404, 403, 404, 404, 404, 404),
        (405, 405, 405, 405, 405, 405, 405),
    ),
    "releases/<uuid:uuid>/file/": (
        (404, 404, 403, 404, 404, 404, 404),
        (405, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/releases/<int:number>/changes/<int:before>/": (
        (302, 404, 403, 404, 404, 404, 404),
        (302, 404, 403, 404, 404, 404, 404),
    ),
    "projects/<slug:slug>/reports/": (
        (302, 404, 403, 200, 200, 404, 200),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/reports/<slug:name>/": (
        (302, 404, 403, 404, 404, 404, 404),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/pictures/<slug:report>/<slug:picture>.<slug:form>": (
        (302, 404, 403, 404, 404, 404, 404),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/tables/<slug:name>/": (
        (302, 404, 403, 404, 404, 404, 404),
        (302, 405, 405, 405, 405, 405, 405),
    ),
    "projects/<slug:slug>/behind/<slug:name>/": (
        (302, 404, 403, 404, 404, 404, 404),
        (302, 405, 405, 405, 405, 405, 405),
    ),
}


def test_every_route_is_in_the_table():
    assert set(all_routes()) - set(TABLE) == set(), "say in the table who gets what there"
    assert set(TABLE) - set(all_routes()) == set(), "these are gone"


@pytest.fixture
def world(settings):
    settings.ACCOUNT_RATE_LIMITS = False
    return make_world()


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


def test_another_projects_ids_open_nothing(world):
    """An id of this project under the address of a project where the person is researcher."""
    client = client_of(world.people["other researcher"], raise_request_exception=False)
    uuid, token = world.item.uuid, world.invitation.token
    assert client.get(f"/projects/foreign/items/{uuid}/").status_code == 404
    assert client.post(f"/projects/foreign/items/{uuid}/more/").status_code == 404
    assert client.post(f"/projects/foreign/members/{world.people['annotator'].uuid}/").status_code == 404
    assert client.post(f"/invitations/{token}/withdraw/").status_code == 404

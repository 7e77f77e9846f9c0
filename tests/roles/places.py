"""What stands in the place of a parameter: addresses of something that is there."""

import re

# What stands in the place of a parameter: (start of the pattern, parameter) -> what of the world. First match wins.
PLACES = (
    ("projects/<slug:slug>/items/<uuid", "uuid:uuid", lambda world: world.item.uuid),
    ("projects/<slug:slug>/comments/", "uuid:uuid", lambda world: world.thread.uuid),
    ("projects/<slug:slug>/adjudication/", "uuid:uuid", lambda world: world.item.uuid),
    ("projects/<slug:slug>/learning/<uuid", "uuid:uuid", lambda world: world.people["annotator"].uuid),
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
    ("api/v1/accounts/", "uuid:uuid", lambda world: world.people["annotator"].uuid),
    ("administration/accounts/", "uuid:uuid", lambda world: world.people["annotator"].uuid),
    ("administration/accounts/", "slug:action", lambda world: "deactivate"),
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
    ("projects/<slug:slug>/study-links/", "uuid:uuid", lambda world: world.study_link.uuid),
    ("api/v1/projects/<slug:slug>/study-links/", "uuid:uuid", lambda world: world.study_link.uuid),
    ("projects/<slug:slug>/study-links/", "uuid:person", lambda world: world.study_link.uuid),
    ("", "slug:moment", lambda world: "screening"),
    ("join/", "str:token", lambda world: world.study_link.token),
    ("", "uuid:uuid", lambda world: world.job.uuid),
    ("studies/", "slug:slug", lambda world: world.dataset.slug),
    ("datasets/", "slug:slug", lambda world: world.dataset.slug),
    ("", "slug:slug", lambda world: world.project.slug),
    ("accounts/oidc/", "str:provider_id", lambda world: "uni"),
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
    ("help/", "path:page", lambda world: "tutorials/annotator"),
)
# Patterns that are regular expressions -> an address that fits them.
EXAMPLES = {
    "^accounts/confirm-email/": "accounts/confirm-email/",
    "^accounts/login/code/": "accounts/login/code/",
    "^accounts/(?:3rdparty|social)/": "accounts/3rdparty/",
    "accounts/oidc/^(?P<provider_id>[^/]+)/login/": "accounts/oidc/uni/login/",
    "accounts/oidc/^(?P<provider_id>[^/]+)/login/callback/": "accounts/oidc/uni/login/callback/",
    r"accounts/^confirm-email/(?P<key>[-:\w]+)/$": "accounts/confirm-email/abc/",
    r"accounts/^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$": "accounts/password/reset/key/1-abc/",
}


def address_of(pattern: str, world) -> str:
    def fill(match) -> str:
        return str(
            next(value for start, name, value in PLACES if pattern.startswith(start) and name == match[1])(world)
        )

    return "/" + (EXAMPLES.get(pattern) or re.sub(r"<([^>]+)>", fill, pattern))

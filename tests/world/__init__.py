"""One project with everybody in it and something in every table, for tests that walk all pages."""

import uuid
from types import SimpleNamespace

from django.test import Client
from django.utils import timezone

from analysis.models import Release
from analysis.rules.asking import start_rule
from analysis.rules.running import run_rule
from annotation.access import assignment_for
from annotation.imports.claims.choosing import ClaimChoice
from annotation.imports.importing import FileChoices, ImportRequest
from annotation.imports.pairs.pairing import PairRequest
from annotation.imports.rows import Findings
from annotation.jobs import lifecycle
from annotation.machines.drafts import extraction
from annotation.models import (
    Artifact,
    ClaimCollection,
    ExtractionRun,
    Job,
    Membership,
    Project,
    Response,
    TrainedModel,
    User,
)
from annotation.participation import links
from annotation.projects import invitations, label_sets, tokens
from annotation.task_types import task_type
from annotation.webhooks import delivering, events
from annotation.work import annotating, assigning, threads
from annotation.work.queries import pages
from tests import factories
from tests.retrieval.harbour import ranked
from tests.world.drafts import answered
from tests.world.remembered import remembered

ROLES = ("anonymous", "outsider", "annotator", "adjudicator", "researcher", "other researcher", "admin")

# What a dry run of the making of pairs finds, for a look at its page.
_LEFT_OUT = {"document": "c1/d0", "sentence": "The port froze over.", "claim": "The port froze over.", "rouge_2": 1.0}
PAIRS_FOUND = {
    "counts": {"claims": 1, "gold_evidence": 2, "documents": 1, "documents_left_out": 3, "sentences": 3, "pairs": 4},
    "dropped": {"reproduces the claim": 1},
    "examples": {"reproduces the claim": [_LEFT_OUT]},
    "content": {"pair": {"created": 4, "changed": 0, "unchanged": 0}},
    "is_unchanged": False,
}


_SCORES = {"n": 40, "accuracy": 0.75, "macro_f1": 0.7}
_BASELINE = {"n": 40, "accuracy": 0.5, "macro_f1": 0.25}
# What a training found, for a look at its page.
TRAINED = {
    "parameters": {"classifier": "svm", "representation": "combined", "source": "majority", "include_touched": False},
    "moment": {"revision": 7, "decision": 0},
    "dimensions": ["relevance"],
    "data_hash": "d" * 64,
    "file_hash": "f" * 64,
    "figures": {
        "relevance": {
            "labels": ["relevant", "not_relevant"],
            "n": 40,
            "groups": 13,
            "left_out": {},
            "evaluation": {
                "scores": _SCORES,
                "baseline": _BASELINE,
                "log_loss": 0.5,
                "confusion": [[15, 5], [5, 15]],
                "folds": [{"train": 20, "test": 20, "groups": 6, "scores": _SCORES, "baseline": _BASELINE}] * 2,
                "curve": [{"share": share, "train": 20 * share, "scores": _SCORES} for share in (0.5, 1.0)],
            },
        }
    },
    "counts": {"units": 40, "groups": 13, "ties": 2, "touched": 1, "without_features": 0, "skipped": ["stance"]},
    "provenance": {"encoder": "all-MiniLM-L6-v2", "settings": {"classifier": "svm"}, "libraries": {"numpy": "2"}},
}


@remembered
def make_world(items: int = 3) -> SimpleNamespace:
    people = {name: factories.make_user(name.replace(" ", "-")) for name in ROLES[1:-1]}
    people["researcher"].is_staff = True
    people["researcher"].save()
    people["admin"] = factories.make_user("admin", is_superuser=True, is_staff=True)
    dataset = factories.make_dataset(people["researcher"], slug="harbour")
    factories.make_claim_evidence(dataset, items)
    project = factories.make_project(dataset, annotators=[people["annotator"]], slug="ports")
    factories.join(project, people["adjudicator"], Membership.Role.ADJUDICATOR)
    other = factories.make_dataset(people["other researcher"], slug="elsewhere")
    factories.make_claim_evidence(other, 2)
    factories.make_project(other, slug="foreign")
    run = factories.make_suggestions(project)
    leased = label_one(project, people["annotator"])
    threads.keep(project.pk, leased.item_id, project.raters.get(user=people["annotator"]).pk, "Is this one claim?")
    job = Job.objects.create(
        kind=Job.Kind.EXPORT,
        state=Job.State.DONE,
        project=project,
        created_by=people["researcher"],
        finished_at=timezone.now(),
    )
    import_job = Job.objects.create(
        kind=Job.Kind.IMPORT,
        state=Job.State.DONE,
        dataset=dataset,
        created_by=people["researcher"],
        finished_at=timezone.now(),
        parameters=ImportRequest("table", (), FileChoices({"claim": "text", "evidence": "passage"})).as_json()
        | {"is_dry_run": True},
        result=Findings().as_json(),
    )
    pairs_job = Job.objects.create(
        kind=Job.Kind.PAIRS,
        state=Job.State.DONE,
        dataset=dataset,
        created_by=people["researcher"],
        finished_at=timezone.now(),
        parameters=PairRequest(segmenter="sentencizer").as_json() | {"is_dry_run": True},
        result=Findings().as_json() | PAIRS_FOUND,
    )
    collection = ClaimCollection.objects.create(
        dataset=dataset,
        source={"kind": "files", "files": {}},
        choice=ClaimChoice().as_json(),
        created_by=people["researcher"],
        job=Job.objects.create(
            kind=Job.Kind.CLAIMS,
            state=Job.State.DONE,
            dataset=dataset,
            created_by=people["researcher"],
            finished_at=timezone.now(),
        ),
    )
    collection.claims.create(
        key="https://check.example.org/1#0",
        text="The harbour froze over.",
        url="https://check.example.org/1",
        site="check.example.org",
        verdict="Four Pinocchios",
        dropped="verdict is not mapped",
    )
    trained_model = TrainedModel.objects.create(
        project=project,
        job=Job.objects.create(
            kind=Job.Kind.TRAINING,
            state=Job.State.DONE,
            project=project,
            created_by=people["researcher"],
            finished_at=timezone.now(),
        ),
        created_by=people["researcher"],
        label_version=1,
        **TRAINED,
    )
    rule_job = start_rule(project, people["researcher"], "plain", "majority", {}, is_preview=True)
    lifecycle.run_here(rule_job)
    run_rule(project, people["researcher"], "plain", "majority", {})
    drafting, extraction = make_drafting(people)
    artifact = Artifact.objects.create(job=job, file_name="labels.jsonl", media_type="x/y", size=1, sha256="")
    invitation = invitations.invite(
        people["researcher"], "new@example.org", project=project, roles=[Membership.Role.ANNOTATOR]
    )
    webhook = delivering.make_webhook(
        project, people["researcher"], "https://hooks.example.org/assay", [*events.EVENTS]
    )
    return SimpleNamespace(
        people=people,
        dataset=dataset,
        project=project,
        run=run,
        job=job,
        import_job=import_job,
        pairs_job=pairs_job,
        rule_job=rule_job,
        collection=collection,
        artifact=artifact,
        release=make_release(project, people["researcher"]),
        trained_model=trained_model,
        retrieval=ranked(project),
        invitation=invitation,
        study_link=links.make_link(project, people["researcher"], title="Ports, first wave", places=50),
        webhook=webhook,
        delivery=events.send(webhook, events.PING, {}),
        drafting=drafting,
        generation=answered(drafting),
        extraction=extraction,
        draft=extraction.drafts.order_by("pk").first(),
        assignment=leased,
        thread=project.threads.get(),
        item=project.items.order_by("position").first(),
        token=tokens.make_token(people["researcher"], "notebook", ["read"], 30)[0],
        label_set=label_sets.save_label_set(people["researcher"], factories.LABEL_SET),
    )


def make_release(project: Project, researcher) -> Release:
    """One that looks frozen, with a public page, and no files."""
    now = timezone.now()
    jobs = [
        Job.objects.create(kind=kind, state=Job.State.DONE, project=project, created_by=researcher, finished_at=now)
        for kind in (Job.Kind.RELEASE, Job.Kind.PUBLIC)
    ]
    frozen = {"version": 1, "number": 1, "release_version": "1.0.0", "title": "Ports", "note": "", "sha256": "0" * 64}
    frozen |= {"moment": now.isoformat(), "labels_sha256": "1" * 64}
    manifest = {"files": {}, "release": frozen, "settings": {}}
    manifest["counts"] = dict.fromkeys(("items", "units", "annotations", "revisions"), 1)
    name = "ports-release-1-public.zip"
    Artifact.objects.create(job=jobs[1], file_name=name, media_type="application/zip", size=1, sha256="")
    return Release.objects.create(
        project=project,
        number=1,
        version="1.0.0",
        job=jobs[0],
        sha256="0" * 64,
        labels_sha256="1" * 64,
        manifest=manifest,
        moment=now,
        created_by=researcher,
        public_job=jobs[1],
        public_since=now,
    )


def make_drafting(people: dict) -> tuple[Project, ExtractionRun]:
    """A project on answers without triplets, and an extraction whose drafts wait for review."""
    dataset = factories.make_dataset(people["researcher"], slug="answers")
    for number in range(2):
        [anchor] = factories.make_responses_with_triplets(dataset, 1, triplets=0)
        Response.objects.filter(pk=anchor.response_id).update(text=f"Lake {number} froze over. No ferry left port.")
    project = factories.make_project(dataset, "triplets/-/1", slug="drafting", annotators=[people["annotator"]])
    factories.join(project, people["adjudicator"], Membership.Role.ADJUDICATOR)
    run = extraction.start_extraction(project, people["researcher"], "fake-extractor", wake_workers=False)
    lifecycle.run_here(run.job)
    return project, run


def label_one(project, annotator):
    """One item answered, and the next one before the annotator. Returns the assignment of the answered one."""
    assignment = assignment_for(annotator, assigning.take(project, annotator).uuid)
    description = task_type(project.task_type)
    page = pages.load_page(assignment.item_id, description)
    judgements = [
        {"unit": unit, "dimension": dimension.slug, "label": dimension.values[0], "spans": []}
        for unit in page.unit_keys
        for dimension in description.dimensions
    ]
    annotating.submit(assignment, annotator, {"client_id": str(uuid.uuid4()), "judgements": judgements})
    assigning.take(project, annotator)
    return assignment


def client_of(person: User | None, **options) -> Client:
    client = Client(**options)
    if person is not None:
        client.force_login(person)
    return client

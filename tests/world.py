"""One project with everybody in it and something in every table, for tests that walk all pages."""

import uuid
from types import SimpleNamespace

from django.test import Client
from django.utils import timezone

from annotation.access import assignment_for
from annotation.models import Artifact, Job, Membership, User
from annotation.queries import pages
from annotation.services import annotating, assigning, invitations
from annotation.services.import_rows import Findings
from annotation.services.importing import ImportRequest
from annotation.task_types import task_type

from . import factories

ROLES = ("anonymous", "outsider", "annotator", "adjudicator", "researcher", "other researcher", "admin")


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
        parameters=ImportRequest(format="druid", files=()).as_json() | {"is_dry_run": True},
        result=Findings().as_json(),
    )
    artifact = Artifact.objects.create(job=job, file_name="labels.jsonl", media_type="x/y", size=1, sha256="")
    invitation = invitations.invite(
        people["researcher"], "new@example.org", project=project, roles=[Membership.Role.ANNOTATOR]
    )
    return SimpleNamespace(
        people=people,
        dataset=dataset,
        project=project,
        run=run,
        job=job,
        import_job=import_job,
        artifact=artifact,
        invitation=invitation,
        assignment=leased,
        item=project.items.order_by("position").first(),
    )


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

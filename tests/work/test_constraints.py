"""What the database itself forbids, whatever the code above it does."""

import uuid
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.models import (
    Annotation,
    Assignment,
    Chunk,
    Claim,
    ContentBatch,
    Decision,
    Evidence,
    Item,
    Job,
    Judgement,
    Rater,
    Revision,
    Span,
    Suggestion,
    Unit,
)
from annotation.projects.raters import rater_of
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.on_postgresql]


@pytest.fixture
def world():
    """A project with an annotation by its first annotator, and a checker run."""
    people = [factories.make_user(), factories.make_user()]
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, 3)
    project = factories.make_project(dataset, annotators=people)
    run = factories.make_suggestions(project)
    item = Item.objects.filter(project=project).first()
    rater = rater_of(project, people[0])
    annotation = Annotation.objects.create(item=item, rater=rater)
    revision = Revision.objects.create(annotation=annotation, number=1, client_id=uuid.uuid4())
    judgement = Judgement.objects.create(revision=revision, unit=item.anchor, dimension="stance", label="supports")
    return {
        "people": people,
        "dataset": dataset,
        "project": project,
        "run": run,
        "item": item,
        "rater": rater,
        "annotation": annotation,
        "revision": revision,
        "judgement": judgement,
    }


def refused(make) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        make()


def test_content_has_one_key_one_newest_version_and_one_parent(world):
    claim, batch = Claim.objects.first(), ContentBatch.objects.first()
    same = {"dataset": claim.dataset, "batch": batch, "key": claim.key, "text": "x"}
    refused(lambda: Claim.objects.create(**same))
    refused(lambda: Claim.objects.create(**same, version=2))
    Claim.objects.create(**same, version=2, superseded_at=timezone.now())
    loose = {"dataset": claim.dataset, "batch": batch, "key": "loose", "text": "x"}
    refused(lambda: Evidence.objects.create(**loose))
    question = factories.make_responses_with_triplets(claim.dataset, 1) and Evidence.objects.exclude(question=None)
    refused(lambda: Evidence.objects.create(**loose, claim=claim, question=question.first().question))


def test_a_unit_has_a_key_and_exactly_the_links_of_its_kind(world):
    unit = Unit.objects.filter(kind="evidence").first()
    shared = {"dataset": unit.dataset, "batch": unit.batch}
    refused(lambda: Unit.objects.create(**shared, kind="evidence", key=unit.key, evidence=unit.evidence))
    refused(lambda: Unit.objects.create(**shared, kind="evidence", key="", evidence=unit.evidence))
    refused(lambda: Unit.objects.create(**shared, kind="evidence", key="none"))
    refused(lambda: Unit.objects.create(**shared, kind="triplet", key="other", evidence=unit.evidence))


def test_only_one_import_of_a_data_set_is_staged_at_a_time(world):
    dataset = world["dataset"]
    ContentBatch.objects.create(dataset=dataset)
    refused(lambda: ContentBatch.objects.create(dataset=dataset))


def test_a_person_has_one_place_and_one_annotation_per_item_and_one_rater_per_project(world):
    item, rater, project = world["item"], world["rater"], world["project"]
    row = {"project": project, "item": item, "position": item.position, "rater": rater}
    Assignment.objects.create(**row, state="skipped")
    refused(lambda: Assignment.objects.create(**row, state="done"))
    refused(lambda: Annotation.objects.create(item=item, rater=rater))
    refused(lambda: Rater.objects.create(project=project, user=rater.user, kind="member", name="again"))
    refused(lambda: Rater.objects.create(project=project, kind="member", name="nobody"))


@pytest.mark.parametrize(
    "fields",
    [
        {"state": "open", "rater": True},
        {"state": "leased"},
        {"state": "leased", "rater": True},
        {"state": "done"},
        {"state": "done", "rater": True, "lease": True},
    ],
    ids=str,
)
def test_an_assignments_state_fits_its_person_and_lease(world, fields):
    item = Item.objects.filter(project=world["project"]).last()
    row = {"project": world["project"], "item": item, "position": item.position, "state": fields["state"]}
    if fields.get("rater"):
        row["rater"] = world["rater"]
    if fields.get("lease"):
        row["lease_expires_at"] = timezone.now() + timedelta(hours=1)
    refused(lambda: Assignment.objects.create(**row))


def test_revisions_have_one_number_one_client_id_and_one_newest(world):
    annotation, revision = world["annotation"], world["revision"]
    refused(lambda: Revision.objects.create(annotation=annotation, number=1, is_latest=False))
    refused(lambda: Revision.objects.create(annotation=annotation, number=2))
    refused(
        lambda: Revision.objects.create(annotation=annotation, number=2, is_latest=False, client_id=revision.client_id)
    )
    Revision.objects.create(annotation=annotation, number=2, is_latest=False)


def test_a_unit_has_one_label_per_dimension_and_spans_are_not_empty(world):
    judgement = world["judgement"]
    place = {"unit": judgement.unit, "dimension": "stance", "label": "refutes"}
    refused(lambda: Judgement.objects.create(revision=judgement.revision, **place))
    refused(lambda: Span.objects.create(judgement=judgement, field="evidence", start=3, end=3, quote=""))
    Decision.objects.create(project=world["project"], method="majority", **place)
    refused(lambda: Decision.objects.create(project=world["project"], method="majority", **place))
    refused(lambda: Suggestion.objects.create(run=world["run"], **place))


def test_a_chunk_is_leased_with_a_token_and_a_time_or_not_at_all(world):
    job = Job.objects.create(kind=Job.Kind.EXPORT, created_by=world["people"][0])
    refused(lambda: Chunk.objects.create(job=job, index=0, state="leased"))
    refused(lambda: Chunk.objects.create(job=job, index=0, state="open", lease_token=uuid.uuid4()))
    Chunk.objects.create(job=job, index=0)
    refused(lambda: Chunk.objects.create(job=job, index=0))


def test_who_has_judged_cannot_be_deleted(world):
    with pytest.raises(IntegrityError):
        world["people"][0].delete()

"""Small worlds for tests, made with the real services wherever there is one."""

import itertools
import time
from collections.abc import Sequence

from django.utils import timezone

from annotation.jobs import lifecycle
from annotation.models import (
    CheckerRun,
    Claim,
    ContentBatch,
    Dataset,
    Evidence,
    Guideline,
    Job,
    Membership,
    Project,
    Question,
    Response,
    Suggestion,
    Triplet,
    Unit,
    User,
)
from annotation.projects import item_job, label_sets, managing
from annotation.task_types import task_type

PASSWORD = "correct horse battery"
_number = itertools.count(1)


# Questions made without code: a claim's tone, and how strong it is where it is loaded.
LABEL_SET = {
    "name": "Tone of claims",
    "version": 1,
    "page": "claim",
    "summary": "How a claim is worded.",
    "questions": [
        {
            "slug": "tone",
            "title": "Tone",
            "labels": [{"value": "neutral", "title": "Neutral"}, {"value": "loaded", "title": "Loaded"}],
            "spans": {"title": "Loaded words", "fields": ["claim"], "labels": ["loaded"]},
        },
        {
            "slug": "strength",
            "title": "Strength",
            "level": "interval",
            "labels": [{"value": str(n), "title": str(n)} for n in (1, 2, 5)],
            "asked_when": {"question": "tone", "labels": ["loaded"]},
        },
    ],
}


# What the form of a project's settings asks besides what each test is about.
MORE_SETTINGS = {
    "pass_percent": 80,
    "qualification_tries": 2,
    "check_every": 0,
    "check_action": "none",
    "check_failures": 2,
    "check_window": 5,
}


def make_user(name: str = "", *, is_superuser: bool = False, is_staff: bool = False) -> User:
    name = name or f"person{next(_number)}"
    email = f"{name}@example.org"
    return User.objects.create_user(
        username=email, email=email, password=PASSWORD, name=name, is_superuser=is_superuser, is_staff=is_staff
    )


def make_dataset(owner: User | None = None, slug: str = "") -> Dataset:
    slug = slug or f"dataset-{next(_number)}"
    return Dataset.objects.create(slug=slug, title=slug.replace("-", " ").title(), owner=owner or make_user())


def make_batch(dataset: Dataset) -> ContentBatch:
    return ContentBatch.objects.create(dataset=dataset, state=ContentBatch.State.PUBLISHED, published_at=timezone.now())


def make_claim_evidence(
    dataset: Dataset, n: int, *, claims: int | None = None, texts: Sequence[str] | None = None, prefix: str = ""
) -> list[Unit]:
    """`n` published evidences (with their units) under `claims` claims, by default three evidences per claim.

    `texts` replaces the generated evidence texts. The units come back in file order.
    """
    batch = make_batch(dataset)
    claims = claims or max(1, -(-n // 3))
    base = {"dataset": dataset, "batch": batch}
    made = Claim.objects.bulk_create(
        Claim(
            **base,
            key=f"{prefix}c{number}",
            text=f"Claim {number}: the harbour of town {number} froze over.",
            claimant=f"Claimant {number}",
            source=f"source{number % 2}.example.org",
            verdict="half-true-verdict",
        )
        for number in range(claims)
    )
    evidences = Evidence.objects.bulk_create(
        Evidence(
            **base,
            key=f"{prefix}c{number % claims}/e{number}",
            claim=made[number % claims],
            text=texts[number] if texts else f"Report {number} says that the harbour stayed open all winter.",
            url=f"https://news.example.org/{number}",
            publisher="The Example",
            rank=number,
        )
        for number in range(n)
    )
    return Unit.objects.bulk_create(Unit(**base, kind="evidence", key=row.key, evidence=row) for row in evidences)


def make_responses_with_triplets(
    dataset: Dataset, n: int, *, triplets: int | Sequence[int] = 3, passages: int = 2
) -> list[Unit]:
    """`n` published responses, each to a question of its own with `passages` passages, and their triplets (a number
    for all, or one per response; 0 for an abstained answer). The responses' units come back."""
    batch = make_batch(dataset)
    base = {"dataset": dataset, "batch": batch}
    prefix = f"q{next(_number)}"
    anchors = []
    for number in range(n):
        question = Question.objects.create(**base, key=f"{prefix}-{number}", text=f"Question {number}?")
        for rank in range(passages):
            Evidence.objects.create(
                **base, key=f"{question.key}/p{rank}", question=question, text=f"Passage {rank} of {number}.", rank=rank
            )
        count = triplets if isinstance(triplets, int) else triplets[number]
        response = Response.objects.create(
            **base,
            key=f"{question.key}/model",
            question=question,
            model="secret-model-name",
            text=f"Answer {number}." if count else "",
        )
        anchors.append(Unit.objects.create(**base, kind="response", key=response.key, response=response))
        for index in range(count):
            triplet = Triplet.objects.create(
                **base,
                key=f"{response.key}/{index}",
                response=response,
                index=index,
                head=f"head {index}",
                relation="is",
                tail=f"tail {index}",
            )
            Unit.objects.create(**base, kind="triplet", key=triplet.key, triplet=triplet)
    return anchors


def join(project: Project, user: User, *roles: str) -> User:
    for role in roles or (Membership.Role.ANNOTATOR,):
        Membership.objects.get_or_create(project=project, user=user, role=role)
    return user


def make_project(
    dataset: Dataset,
    identifier: str = "claim-evidence/six-way/1",
    *,
    overlap: int = 2,
    annotators: Sequence[User] = (),
    researchers: Sequence[User] = (),
    prefill: str = "off",
    slug: str = "",
    guidelines: str = "Read twice, judge once.",
    with_items: bool = True,
    **fields,
) -> Project:
    """An open project with its items and assignments, made by the job that makes them in production."""
    slug = slug or f"project-{next(_number)}"
    options = fields.pop("options", None)
    project = Project.objects.create(
        slug=slug,
        title=slug.replace("-", " ").title(),
        dataset=dataset,
        task_type=identifier,
        overlap=overlap,
        prefill=prefill,
        created_by=dataset.owner,
        **fields,
    )
    Guideline.objects.create(project=project, version=1, markdown=guidelines, created_by=dataset.owner)
    if options:
        managing.set_options(project, dataset.owner, options)
    join(project, dataset.owner, Membership.Role.RESEARCHER)
    for user in annotators:
        join(project, user, Membership.Role.ANNOTATOR)
    for user in researchers:
        join(project, user, Membership.Role.RESEARCHER)
    if with_items:
        make_items(project)
    return project


def make_label_set_project(description: dict, texts: Sequence[str], **fields) -> Project:
    """A project that asks a label set's questions of claims with these texts, in their order."""
    owner = make_user(is_staff=True)
    label_set = label_sets.save_label_set(owner, description)
    dataset = make_dataset(owner)
    base = {"dataset": dataset, "batch": make_batch(dataset)}
    claims = Claim.objects.bulk_create(
        Claim(**base, key=f"claim-{number}", text=text) for number, text in enumerate(texts, 1)
    )
    Unit.objects.bulk_create(Unit(**base, kind="claim", key=claim.key, claim=claim) for claim in claims)
    return make_project(dataset, label_set.identifier, order="file", **fields)


def make_items(project: Project) -> Project:
    job = lifecycle.run_here(item_job.start_item_job(project, project.created_by))
    end = time.monotonic() + 60
    while not job.is_finished and time.monotonic() < end:  # a worker of the test has taken it
        time.sleep(0.05)
        job.refresh_from_db()
    assert job.state == Job.State.DONE, job.message
    project.refresh_from_db()
    return project


def make_suggestions(project: Project, *, checker: str = "fake", labels: dict[str, str] | None = None) -> CheckerRun:
    """A finished run with one suggestion per unit and dimension, chosen as the project's prefill run.

    `labels` maps dimensions to labels; by default each dimension's last label is suggested.
    """
    description = task_type(project.task_type)
    job = Job.objects.create(
        kind=Job.Kind.CHECKER_RUN, state=Job.State.DONE, project=project, created_by=project.created_by
    )
    run = CheckerRun.objects.create(
        project=project, job=job, checker=checker, version="1", parameters_hash="", created_by=project.created_by
    )
    units = Unit.objects.published().filter(dataset=project.dataset, kind=description.unit_kind)
    Suggestion.objects.bulk_create(
        Suggestion(
            run=run,
            unit=unit,
            dimension=dimension.slug,
            label=(labels or {}).get(dimension.slug, dimension.values[-1]),
            probability=0.875,
            probabilities={dimension.values[-1]: 0.875},
        )
        for unit in units
        for dimension in description.dimensions
        if dimension.values
    )
    Project.objects.filter(pk=project.pk).update(prefill_run=run)
    project.refresh_from_db()
    return run

"""The demo's people, data sets and projects. Making them again adds only what is missing.

The two annotators lean on answers that are kept with the data (`demo_answers`). Where an answer can be doubted, each
of them now and then follows the doubt, and they mark more or fewer words, so that agreement, disagreement and a
comparison with a checker can be looked at.
"""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from hashlib import blake2b

from allauth.account.models import EmailAddress
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from annotation.access import ADJUDICATOR, ANNOTATOR, RESEARCHER, assignment_for
from annotation.demo.accounts import DEMO_ACCOUNTS
from annotation.demo.answers import FIXTURES, DemoAnswer
from annotation.demo.sets import DATASETS, PROJECTS, DemoProject, DemoSet
from annotation.imports import importing
from annotation.jobs import lifecycle
from annotation.machines.retrieval import retrieving
from annotation.machines.retrieval.retrieving import RetrievalRequest
from annotation.machines.runs import suggesting
from annotation.machines.runs.checker_inputs import why_not
from annotation.machines.runs.starting import SameRun
from annotation.models import Annotation, Assignment, CheckerRun, ContentBatch, Dataset, Job, Project, User
from annotation.projects import guidelines, item_job, managing
from annotation.task_types import Dimension, TaskType
from annotation.work import annotating, assigning
from annotation.work.queries import pages
from models_runtime import registry

CHECKER, RETRIEVER = "lexical", "bm25"
POLL_SECONDS = 0.5
PASSAGES = 3  # of those that a search found, where nothing is shown
BETWEEN_SENTENCES = re.compile(r"(?<=[.!?:])\s+")


def make_demo(say: Callable[[str], None] = lambda line: None) -> None:
    """Everything the demo needs, as far as it is not there."""
    if not settings.DEMO:
        raise RuntimeError("Demo accounts are for a demo only; set ASSAY_DEMO=1")
    people = make_people()
    have = set(ContentBatch.objects.filter(state=ContentBatch.State.PUBLISHED).values_list("dataset__slug", flat=True))
    for described in DATASETS:
        if described.slug not in have:
            say(f"Importing {described.title}")
            import_set(described, people["researcher"])
    have = _finished_projects()
    if not _can_run_checkers():
        say("Making no checker runs, whose packages are not installed: pip install 'assay[checkers]'")
    for described in PROJECTS:
        if described.slug not in have:
            say(f"Making the project {described.title}")
            _make_project(described, people)


def _finished_projects() -> set[str]:
    """Answers come last, all at once; a project without any was interrupted while it was made."""
    has_answers = Exists(Annotation.objects.filter(item__project=OuterRef("pk")))
    return {
        *Project.objects.filter(has_answers).values_list("slug", flat=True),
        *(
            Project.objects.filter(slug__in=[one.slug for one in PROJECTS if not any(one.judged)])
            .exclude(state=Project.State.PREPARING)
            .values_list("slug", flat=True)
        ),
    }


def make_people() -> dict[str, User]:
    """The demo's accounts by slug. They have no password: the one-click sign-in is the only way in."""
    people = {user.username: user for user in User.objects.filter(username__in=[one.email for one in DEMO_ACCOUNTS])}
    for account in DEMO_ACCOUNTS:
        if account.email not in people:
            user = User(username=account.email, email=account.email, name=account.name)
            user.is_staff = account.role == RESEARCHER or account.is_administrator
            user.is_superuser = account.is_administrator
            user.set_unusable_password()
            user.save()
            EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
            people[account.email] = user
    return {account.slug: people[account.email] for account in DEMO_ACCOUNTS}


def import_set(described: DemoSet, owner: User) -> None:
    values = {"title": described.title, "description": described.description, "owner": owner}
    dataset, _ = Dataset.objects.get_or_create(slug=described.slug, defaults=values)
    request = importing.ImportRequest(
        format=described.format, files=importing.files_of_paths([FIXTURES / described.file])
    )
    begun = importing.interrupted(dataset, request)
    _done(begun or importing.start(owner, dataset, request, is_dry_run=False, wake_workers=False))


def _done(job: Job) -> None:
    while not job.is_finished:
        job = lifecycle.run_here(job)
        if not job.is_finished:  # a process that was killed holds a part of it for a while
            time.sleep(POLL_SECONDS)
    if job.state != Job.State.DONE:
        raise RuntimeError(f"The demo's {job.kind} ended as {job.state}: {job.message}")


def _make_project(described: DemoProject, people: dict[str, User]) -> None:
    researcher = people["researcher"]
    annotators = [people["annotator"], people["second-annotator"]]
    project = Project.objects.filter(slug=described.slug).first() or managing.create_project(
        researcher,
        title=described.title,
        slug=described.slug,
        description=described.description,
        dataset=Dataset.objects.get(slug=described.dataset),
        task_type=described.task_type,
        seed=7,
        prefill=described.prefill,
        guidelines=described.guidelines_text,
        members=[(annotator, ANNOTATOR) for annotator in annotators] + [(people["adjudicator"], ADJUDICATOR)],
    )
    if project.state == Project.State.PREPARING:
        begun = project.jobs.filter(kind=Job.Kind.ITEMS, state__in=lifecycle.UNFINISHED).first()
        _done(begun or item_job.start_item_job(project, researcher))
        project.refresh_from_db()
    if CHECKER in project.type.checkers and _can_run_checkers():
        run = _checker_run(project, researcher)
        _done(run.job)
        if described.prefill != Project.Prefill.OFF:
            suggesting.show_to_annotators(run)
    answers = described.answers()
    with transaction.atomic():  # a commit waits for the disk; hundreds of them would be most of the demo's start
        for annotator, number in zip(annotators, described.judged, strict=True):
            guidelines.acknowledge(project, annotator, 1)
            for _ in range(number):
                assignment = assigning.take(project, annotator)
                if assignment is None:
                    break
                _label(assignment_for(annotator, assignment.uuid), annotator, answers, described.doubts)


def _can_run_checkers() -> bool:
    return not any(map(registry.missing_packages, (CHECKER, RETRIEVER)))


def _checker_run(project: Project, researcher: User) -> CheckerRun:
    if not why_not(project.type):
        return _new_or_same(lambda: suggesting.start_run(project, researcher, CHECKER, wake_workers=False))
    # Pages that show no evidence: by what a search of the data set's own finds.
    request = RetrievalRequest(RETRIEVER, "claim")
    retrieval = _new_or_same(lambda: retrieving.start(project, researcher, request, wake_workers=False))
    _done(retrieval.job)
    by = (CHECKER, [retrieval], PASSAGES)
    return _new_or_same(lambda: suggesting.start_by_retrievals(project, researcher, *by, wake_workers=False)[0])


def _new_or_same(start: Callable):
    """The run that is started, or the same one, which an interrupted demo has begun."""
    try:
        return start()
    except SameRun as same:
        return same.run


def _label(assignment: Assignment, annotator: User, answers: dict[str, DemoAnswer], doubts: int) -> None:
    page = pages.load_page(assignment.item_id, assignment.project.type)
    texts = page.contents.texts
    labels = {unit: _followed(answers[unit], annotator, unit, doubts) for unit in page.unit_keys}
    judgements = [
        judgement
        for unit, answer in labels.items()
        for judgement in _judgements(page.type, annotator, unit, answer, texts)
    ]
    # A glance at each answer, and the time that the texts take to be read.
    seconds = 8 + _chance(annotator, assignment.item.key) % 40 + sum(map(len, texts.values())) // 60
    now = timezone.now()
    body = {
        "client_id": str(uuid.uuid4()),
        "shown_at": (now - timedelta(seconds=seconds)).isoformat(),
        "submitted_at": now.isoformat(),
        "active_ms": seconds * 1000,
        "judgements": judgements,
    }
    if page.type.free_text:
        body["free_text"] = " ".join(answer.note for answer in labels.values())
    annotating.submit(assignment, annotator, body)


def _followed(answer: DemoAnswer, person: User, unit: str, doubts: int) -> DemoAnswer:
    return answer.doubt if answer.doubt and _chance(person, unit) % doubts == 0 else answer


def _chance(person: User, key: str) -> int:
    """A number that is the same on every machine, so that every demo shows the same figures."""
    return int.from_bytes(blake2b(f"{person.username}\0{key}".encode(), digest_size=4).digest(), "big")


def _judgements(kind: TaskType, person: User, unit: str, answer: DemoAnswer, texts: dict[str, str]) -> list[dict]:
    return [
        {
            "unit": unit,
            "dimension": dimension.slug,
            "label": answer.labels[dimension.slug],
            "spans": _spans(dimension, person, unit, answer, texts),
        }
        for dimension in kind.dimensions
        if kind.is_asked(dimension, answer.labels)
    ]


def _spans(dimension: Dimension, person: User, unit: str, answer: DemoAnswer, texts: dict[str, str]) -> list[dict]:
    """The quotes, here and there as whole sentences. Who need not mark anything sometimes does not."""
    rule = dimension.spans
    if rule is None or not dimension.may_carry(answer.labels[dimension.slug]):
        return []
    if not rule.required and _chance(person, f"{unit}\0{dimension.slug}") % 3 == 0:
        return []
    places = {}  # two quotes may lie in one sentence
    for field, quotes in answer.quotes.items():
        for quote in quotes:
            start = texts[field].index(quote)
            end = start + len(quote)
            if _chance(person, f"{unit}\0{quote}") % 3 == 0:
                start, end = _sentence_around(texts[field], start, end)
            places[field, start, end] = texts[field][start:end]
    return [
        {"field": field, "start": start, "end": end, "quote": quote} for (field, start, end), quote in places.items()
    ]


def _sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    borders = list(BETWEEN_SENTENCES.finditer(text))
    before = [border.end() for border in borders if border.end() <= start]
    after = [border.start() for border in borders if border.start() >= end]
    return before[-1] if before else 0, after[0] if after else len(text)

"""The demo's people, data sets and projects. Making them again adds only what is missing."""

from __future__ import annotations

import time
from collections.abc import Callable

from allauth.account.models import EmailAddress
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef

from annotation.access import ADJUDICATOR, ANNOTATOR, RESEARCHER, assignment_for
from annotation.demo import study
from annotation.demo.accounts import DEMO_ACCOUNTS
from annotation.demo.answers import FIXTURES
from annotation.demo.labelling import followed, label
from annotation.demo.sets import DATASETS, PROJECTS, DemoProject, DemoSet
from annotation.imports import importing
from annotation.jobs import lifecycle
from annotation.machines.retrieval import retrieving
from annotation.machines.retrieval.retrieving import RetrievalRequest
from annotation.machines.runs import suggesting
from annotation.machines.runs.checker_inputs import why_not
from annotation.machines.runs.starting import SameRun
from annotation.models import Annotation, CheckerRun, ContentBatch, Dataset, Job, Project, User
from annotation.projects import guidelines, item_job, managing
from annotation.work import assigning
from models_runtime import registry

CHECKER, RETRIEVER = "lexical", "bm25"
POLL_SECONDS = 0.5
PASSAGES = 3  # of those that a search found, where nothing is shown


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
            Project.objects.filter(
                slug__in=[one.slug for one in PROJECTS if not any(one.judged) and not one.participants]
            )
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


def import_set(described: DemoSet, owner: User, project: Project | None = None) -> None:
    """The texts, and into a `project` the labels of the same file."""
    values = {"title": described.title, "description": described.description, "owner": owner}
    values["text_formats"] = described.text_formats
    dataset, _ = Dataset.objects.get_or_create(slug=described.slug, defaults=values)
    request = importing.ImportRequest(
        format=described.format,
        files=importing.files_of_paths([FIXTURES / described.file]),
        project=project and importing.ProjectWish(project.slug, task_type=project.task_type),
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
        **described.settings,
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
    if described.takes_labels:
        import_set(next(one for one in DATASETS if one.slug == described.dataset), researcher, project)
    answers = described.answers()
    if described.participants:
        study.set_up(project, researcher, answers)
    with transaction.atomic():  # a commit waits for the disk; hundreds of them would be most of the demo's start
        for annotator, number in zip(annotators, described.judged, strict=True):
            guidelines.acknowledge(project, annotator, 1)
            for _ in range(number):
                assignment = assigning.take(project, annotator)
                if assignment is None:
                    break
                row = assignment_for(annotator, assignment.uuid)
                label(row, annotator, lambda unit, by=annotator: followed(answers[unit], by, unit, described.doubts))
        if described.participants:
            study.take_part(project, described.participants, answers)


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

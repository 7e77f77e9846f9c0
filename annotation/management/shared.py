"""What commands share: what they name and whose work it is, parameters in words, and work done in this process."""

import contextlib
import signal
import sys
import threading
import time

from django.core.management.base import CommandError

from annotation.jobs import lifecycle
from annotation.models import Dataset, Job, Project, User
from models_runtime.contracts import CheckerInfo

POLL_SECONDS = 0.5
WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def find_project(slug: str) -> Project:
    project = Project.objects.filter(slug=slug).select_related("created_by", "dataset").first()
    if project is None:
        raise CommandError(f"There is no project {slug!r}")
    if project.is_preparing:
        raise CommandError(project.why_not_ready)
    return project


def find_project_and_owner(slug: str, email: str | None) -> tuple[Project, User]:
    """The project, and who owns what is started: the account with this address, or the project's creator."""
    project = find_project(slug)
    return project, find_account(email) if email else project.created_by


def find_dataset_and_owner(slug: str, email: str | None) -> tuple[Dataset, User]:
    dataset = Dataset.objects.filter(slug=slug).select_related("owner").first()
    if dataset is None:
        raise CommandError(f"There is no data set {slug!r}")
    return dataset, find_account(email) if email else dataset.owner


def find_account(email: str) -> User:
    account = User.objects.filter(email__iexact=email, is_active=True).first()
    if account is None:
        raise CommandError(f"There is no account with the address {email}")
    return account


def done_here(job: Job, what: str) -> Job:
    """The job, worked off in this process; CommandError with its message where it did not succeed."""
    job = lifecycle.run_here(job)
    if job.state != Job.State.DONE:
        raise CommandError(f"{what} is {job.state}: {job.message or 'a worker is still working on part of it'}")
    return job


def finished_here(job: Job) -> Job:
    """The job as it ended. Should a worker have taken it up, wait for that one. SIGTERM gives it back first, so that
    the command, run again, goes on with it at once."""
    with _exits_on_sigterm():
        while not job.is_finished:
            job = lifecycle.run_here(job)
            if not job.is_finished:
                time.sleep(POLL_SECONDS)
    return job


@contextlib.contextmanager
def _exits_on_sigterm():
    """SystemExit in place of an end without a word; only the main thread may handle signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def seconds_of(job: Job) -> float:
    return (job.finished_at - job.started_at).total_seconds()


def read_parameters(info: CheckerInfo, texts: list[str]) -> dict:
    """`name=value` texts as values of the kinds that the checker declares; CommandError where one is not."""
    kinds = {parameter.name: parameter.kind for parameter in info.parameters}
    values = {}
    for text in texts:
        name, separator, raw = text.partition("=")
        if not separator:
            raise CommandError(f"--param needs NAME=VALUE, not {text!r}")
        try:
            values[name] = READERS[kinds.get(name, "str")](raw)
        except (ValueError, KeyError):
            raise CommandError(f"--param {name}: {raw!r} is not of type {kinds[name]}") from None
    return values


READERS = {
    "float": float,
    "int": int,
    "str": str,
    "model": str,
    "prompt": str,
    "examples": str,
    "endpoint": str,
    "bool": lambda raw: WORDS[raw.lower()],
}

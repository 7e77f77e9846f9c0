"""What a job tells this person: its page, its progress and the API go by one rule."""

from __future__ import annotations

from annotation.access import has_open_work, projects_in, sees_labels
from annotation.formats.tables.oddities import ODDITIES
from annotation.jobs.kinds import KINDS
from annotation.models import Job, Project, User


def tells_labels(user: User, job: Job) -> bool:
    """Whether the person may read what the job says of labels: those of every project in it."""
    return all(sees_labels(user, project) for project in projects_in(job))


def message_for(user: User, job: Job) -> str:
    """What the job is doing, or why it failed; a failure may say what people answered."""
    return job.message if not KINDS[job.kind].is_of_labels or tells_labels(user, job) else ""


def result_for(user: User, job: Job) -> dict:
    """What of the job's result this person may read."""
    kind = KINDS[job.kind]
    if kind.is_of_labels:
        return job.result if tells_labels(user, job) else {}
    if not is_labelling(user, job):
        return job.result
    found = {name: value for name, value in job.result.items() if name in kind.while_labelling}
    if "odd" in found:
        found["odd"] = [one for one in found["odd"] if not ODDITIES[one["kind"]].is_of_labels]
    return found


def is_labelling(user: User, job: Job) -> bool:
    """Whether the person still labels in the job's project."""
    project = _labelled_in(job)
    return project is not None and has_open_work(user, project)


def _labelled_in(job: Job) -> Project | None:
    """The job's project; an import is of a data set, and names the project that its labels go into."""
    wish = job.parameters.get("project") if job.kind == Job.Kind.IMPORT else None
    return Project.objects.filter(slug=wish["slug"], dataset=job.dataset_id).first() if wish else job.project

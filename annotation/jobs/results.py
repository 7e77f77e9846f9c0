"""What a job tells this person: its page, its progress and the API go by one rule."""

from __future__ import annotations

from annotation.access import has_open_work, projects_in, sees_labels
from annotation.models import Job, User

# Made of people's labels, messages included: for who sees the labels of all projects in it.
OF_LABELS = frozenset(
    {
        Job.Kind.REPORT,
        Job.Kind.EXPORT,
        Job.Kind.RULE,
        Job.Kind.SNAPSHOT,
        Job.Kind.RELEASE,
        Job.Kind.CHANGES,
        Job.Kind.PUBLIC,
        Job.Kind.HUB,
    }
)
CONTENT = ("content", "sets", "lost", "odd", "chosen_count", "error_count", "errors", "judged_count", "judged")
CONTENT += ("is_unchanged", "counts", "new_items", "left_out", "noted", "not_published", "items")
FAILURES = ("answered", "failed", "failures", "empty")
# Of other kinds, what who still labels in the project reads of the result: nothing of gold, of labels and of what
# checkers say. A field that is not named here is hidden.
WHILE_LABELLING = {
    Job.Kind.ITEMS: ("items", "assignments", "without_units"),
    Job.Kind.IMPORT: (*CONTENT, "project", "published", "labels_stored"),
    Job.Kind.PAIRS: CONTENT,
    Job.Kind.DRAFTS: CONTENT,
    Job.Kind.PASSAGES: CONTENT,
    Job.Kind.DOCUMENTS: CONTENT,
    Job.Kind.RESPONSES: CONTENT,
    Job.Kind.CHECKER_RUN: FAILURES,
    Job.Kind.PREDICTIONS: ("rows", "error_count", "errors", "run", "is_unchanged", "added", *FAILURES),
    Job.Kind.TRAINING: ("file_hash", "dimensions"),
    Job.Kind.EXTRACTION: (*FAILURES, "pieces"),
    Job.Kind.RETRIEVAL: (*FAILURES, "passages", "steps"),
    Job.Kind.GENERATION: (*FAILURES, "abstained"),
}


def tells_labels(user: User, job: Job) -> bool:
    """Whether the person may read what the job says of labels: those of every project in it."""
    return all(sees_labels(user, project) for project in projects_in(job))


def message_for(user: User, job: Job) -> str:
    """What the job is doing, or why it failed; a failure may say what people answered."""
    return job.message if job.kind not in OF_LABELS or tells_labels(user, job) else ""


def result_for(user: User, job: Job) -> dict:
    """What of the job's result this person may read."""
    if job.kind in OF_LABELS:
        return job.result if tells_labels(user, job) else {}
    if job.project is None or not has_open_work(user, job.project):
        return job.result
    allowed = WHILE_LABELLING.get(job.kind, ())
    return {name: value for name, value in job.result.items() if name in allowed}

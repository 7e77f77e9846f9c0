"""The kinds of background jobs: what works on one, what it is called, its page, and what it shows of labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from operator import attrgetter
from typing import Any

from annotation.models import ClaimCollection, Job, SettingsChange

What = SettingsChange.What
COUNTED = ("content", "sets", "lost", "odd", "chosen_count", "error_count", "judged_count", "judged")
COUNTED += ("is_unchanged", "counts", "new_items", "left_out", "noted", "not_published", "items")
CONTENT = (*COUNTED, "errors")  # whose values may be labels where a file has any
FAILURES = ("answered", "failed", "failures", "empty")


@dataclass(frozen=True)
class JobKind:
    """`handler` is the path of a module or object with the functions of `lifecycle.Handler`, imported on first use."""

    title: str
    handler: str
    _: KW_ONLY
    # Its project, data set and parameters define what it does, so that the same is not started twice. Runs of checkers,
    # extractors and retrievers look for the same run themselves.
    is_unique: bool = False
    # An import reads bytes first and makes items then, so neither numbers nor a rate mean one thing; a share does.
    is_shown_as_share: bool = False
    # Made of people's labels, messages included: for who sees the labels of all projects in it.
    is_of_labels: bool = False
    # Of other kinds, what who still labels in the project reads of the result: nothing of gold, of labels and of what
    # checkers say. A field that is not named here is hidden, and so are odd rows by their labels.
    while_labelling: tuple[str, ...] = ()
    history: str = ""  # of one that changes what a project is: what its history calls that (`SettingsChange.What`)
    under_way: str = ""  # of a job that brings content into a data set: what messages call it before the set's title
    page: str = ""  # the name of its own page, if it has one, which shows the progress, too
    page_of: Callable[[Job], Any] = attrgetter("uuid")  # what the address of the page is made of

    def in_history(self, job: Job) -> str:
        """What the history calls it that this job is done; empty where it changed nothing of that kind."""
        return "" if job.parameters.get("is_dry_run") else self.history or (self.under_way and What.IMPORT)


KINDS = {
    Job.Kind.IMPORT: JobKind(
        "Import", "annotation.imports.job.HANDLER", is_unique=True, is_shown_as_share=True,
        under_way="Another import into",
        while_labelling=(*COUNTED, "read_as", "project", "published", "labels_stored"), page="import_detail",
    ),
    Job.Kind.PAIRS: JobKind(
        "Making pairs", "annotation.imports.pairs.job.HANDLER", is_unique=True,
        under_way="The making of pairs in",
        while_labelling=CONTENT, page="pairs_detail",
    ),
    Job.Kind.ITEMS: JobKind(
        "Making items", "annotation.projects.item_job.HANDLER", is_unique=True,
        while_labelling=("items", "assignments", "without_units"),
    ),
    Job.Kind.FURTHER: JobKind(
        "Asking for further judgements", "analysis.rules.certainty.HANDLER", is_unique=True, is_of_labels=True
    ),
    Job.Kind.RESERVING: JobKind(
        "Reserving items", "annotation.work.reserving.HANDLER", history=What.ITEMS,
        while_labelling=("items", "reserved", "added"),
    ),
    Job.Kind.ORDERING: JobKind(
        "Ordering items", "annotation.work.ordering.HANDLER", is_unique=True, while_labelling=("items",)
    ),
    Job.Kind.CHECKER_RUN: JobKind(
        "Checker run", "annotation.machines.runs.suggesting.HANDLER",
        while_labelling=FAILURES, page="run_detail", page_of=attrgetter("checker_run.uuid"),
    ),
    Job.Kind.PREDICTIONS: JobKind(
        "Upload of a checker's answers", "annotation.machines.runs.uploading.HANDLER", is_unique=True,
        while_labelling=("rows", "error_count", "errors", "run", "is_unchanged", "added", *FAILURES),
    ),
    Job.Kind.TRAINING: JobKind(
        "Training of a checker", "annotation.machines.training.training.HANDLER", is_unique=True,
        while_labelling=("file_hash", "dimensions"), page="training_detail", page_of=attrgetter("trained_model.uuid"),
    ),
    Job.Kind.EXTRACTION: JobKind(
        "Extraction of drafts", "annotation.machines.drafts.extraction_job.HANDLER",
        while_labelling=(*FAILURES, "pieces"), page="extraction_detail", page_of=attrgetter("extraction_run.uuid"),
    ),
    Job.Kind.DRAFTS: JobKind(
        "Publishing drafts", "annotation.machines.drafts.publishing.HANDLER",
        under_way="The publishing of drafts in",
        while_labelling=CONTENT, page="project_drafts", page_of=attrgetter("project.slug"),
    ),
    Job.Kind.RETRIEVAL: JobKind(
        "Retrieval of passages", "annotation.machines.retrieval.job.HANDLER",
        while_labelling=(*FAILURES, "passages", "steps"),
        page="retrieval_detail", page_of=attrgetter("retrieval_run.uuid"),
    ),
    Job.Kind.PASSAGES: JobKind(
        "Publishing passages", "annotation.machines.retrieval.publishing.HANDLER", is_unique=True,
        under_way="The publishing of passages in",
        while_labelling=CONTENT, page="retrieval_detail", page_of=lambda job: job.parameters["run"],
    ),
    Job.Kind.DOCUMENTS: JobKind(
        "Storing generated documents", "annotation.machines.retrieval.expansions.HANDLER", is_unique=True,
        under_way="The storing of generated documents in",
        while_labelling=CONTENT, page="retrieval_detail", page_of=lambda job: job.parameters["run"],
    ),
    Job.Kind.GENERATION: JobKind(
        "Generation of answers", "annotation.machines.generations.job.HANDLER",
        while_labelling=(*FAILURES, "abstained"), page="generation_detail", page_of=attrgetter("generation_run.uuid"),
    ),
    Job.Kind.RESPONSES: JobKind(
        "Publishing answers", "annotation.machines.generations.publishing.HANDLER", is_unique=True,
        under_way="The publishing of answers in",
        while_labelling=CONTENT, page="generation_detail", page_of=lambda job: job.parameters["run"],
    ),
    Job.Kind.CLAIMS: JobKind(
        "Collecting claims", "annotation.imports.claims.jobs.READING",
        page="claims_detail", page_of=lambda job: ClaimCollection.objects.get(job=job).uuid,
    ),
    Job.Kind.CHOSEN_CLAIMS: JobKind(
        "Publishing claims", "annotation.imports.claims.jobs.PUBLISHING", is_unique=True,
        under_way="The publishing of claims in",
        page="claims_detail", page_of=lambda job: job.parameters["collection"],
    ),
    Job.Kind.REPORT: JobKind("Report", "analysis.reports.handler.HANDLER", is_of_labels=True),
    Job.Kind.EXPORT: JobKind(
        "Export", "annotation.exports.releasing.HANDLER", is_unique=True, is_of_labels=True
    ),
    Job.Kind.RULE: JobKind(
        "Rule", "analysis.rules.running.HANDLER", is_unique=True, is_of_labels=True, page="rule_job"
    ),
    Job.Kind.SNAPSHOT: JobKind(
        "Snapshot for adjudicators", "analysis.rules.snapshots.HANDLER", is_unique=True, is_of_labels=True
    ),
    Job.Kind.RELEASE: JobKind(
        "Release", "analysis.releases.freezing.HANDLER", is_of_labels=True, history=What.RELEASE
    ),
    Job.Kind.CHANGES: JobKind(
        "Comparison of two releases", "analysis.releases.comparing.HANDLER",
        is_unique=True, is_of_labels=True,
    ),
    Job.Kind.PUBLIC: JobKind(
        "Public files of a release", "analysis.releases.public.HANDLER", is_unique=True, is_of_labels=True,
        history=What.RELEASE,
    ),
    Job.Kind.HUB: JobKind(
        "Publishing to a hub", "analysis.releases.hub.publishing.HANDLER", is_of_labels=True, history=What.RELEASE
    ),
}  # fmt: skip

"""Background work as rows: a chunk with its lease is the truth, and the broker only wakes workers."""

import uuid
from pathlib import Path

from django.conf import settings
from django.db import models, transaction
from django.db.models import Q
from django.db.models.signals import post_delete
from django.dispatch import receiver

from .content import Dataset


class Job(models.Model):
    class Kind(models.TextChoices):
        IMPORT = "import"
        PAIRS = "pairs"  # gold evidence against the sentences of generated documents
        ITEMS = "items"  # items and assignments for content that a project does not have yet
        FURTHER = "further"  # further judgements of items whose answers differ already
        RESERVING = "reserving"  # items for named people and groups
        ORDERING = "ordering"  # items get other places in the order of work
        CHECKER_RUN = "checker-run"
        PREDICTIONS = "predictions"  # labels and scores of a checker elsewhere
        TRAINING = "training"  # a checker on the project's own labels
        EXTRACTION = "extraction"  # drafts of triplets, atomic claims or aspects
        DRAFTS = "drafts"  # accepted drafts become content and items
        RETRIEVAL = "retrieval"  # rankings of passages
        PASSAGES = "passages"  # the best of a ranking become evidence and items
        DOCUMENTS = "documents"  # what language models made up for searches becomes documents of their claims
        GENERATION = "generation"  # answers of language models to questions
        RESPONSES = "responses"  # they become responses and items
        CLAIMS = "claims"  # reviews of claims are read
        CHOSEN_CLAIMS = "chosen-claims"  # those that were chosen become claims, with their gold evidence
        REPORT = "report"
        EXPORT = "export"
        RULE = "rule"  # a preview of a rule's decisions, or the decisions
        SNAPSHOT = "snapshot"  # how sure models of raters, and checkers, are of what waits for adjudicators
        RELEASE = "release"  # a frozen export with what figures need
        CHANGES = "changes"  # between two releases
        PUBLIC = "public"  # the files of a release's public page
        HUB = "hub"  # a release to a repository of a hub

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    kind = models.CharField(max_length=20, choices=Kind.choices)
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    queue = models.CharField(max_length=20, default="default")
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, null=True, related_name="jobs")
    project = models.ForeignKey("annotation.Project", on_delete=models.CASCADE, null=True, related_name="jobs")
    parameters = models.JSONField(default=dict)
    result = models.JSONField(default=dict)
    message = models.TextField(blank=True)  # what it is doing now, or why it failed; for people
    progress_done = models.PositiveBigIntegerField(default=0)
    progress_total = models.PositiveBigIntegerField(default=0)
    # While the server that it asks is away: which one and why, since when, and when it is tried again.
    waits_for = models.CharField(max_length=300, blank=True, default="")
    waits_since = models.DateTimeField(null=True)
    waits_until = models.DateTimeField(null=True)
    cancel_requested = models.BooleanField(default=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["state", "kind"], name="unfinished_jobs")]

    def __str__(self) -> str:
        return f"{self.kind} {self.uuid} ({self.state})"

    @property
    def is_finished(self) -> bool:
        return self.state in (self.State.DONE, self.State.FAILED, self.State.CANCELLED)


class Chunk(models.Model):
    class State(models.TextChoices):
        OPEN = "open"
        LEASED = "leased"
        DONE = "done"
        FAILED = "failed"

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="chunks")
    index = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    payload = models.JSONField(default=dict)
    size = models.PositiveIntegerField(default=0)  # inputs in it
    attempts = models.PositiveSmallIntegerField(default=0)
    lease_token = models.UUIDField(null=True)
    lease_expires_at = models.DateTimeField(null=True)
    not_before = models.DateTimeField(null=True)  # after an error: when it is tried again
    error = models.TextField(blank=True)
    started_at = models.DateTimeField(null=True)
    done_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["job", "index"], name="chunk_index_once"),
            models.CheckConstraint(
                condition=Q(state="leased", lease_token__isnull=False, lease_expires_at__isnull=False)
                | (~Q(state="leased") & Q(lease_token=None, lease_expires_at=None)),
                name="chunk_lease_fits_state",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.job_id}/{self.index}: {self.state}"


class WorkerBeat(models.Model):
    """The last sign of life of a worker, or of the clock of the sweep, which serves no queue."""

    name = models.CharField(max_length=200, unique=True)
    queues = models.JSONField(default=list)
    version = models.CharField(max_length=50)  # of Assay, as its process runs it
    problem = models.TextField(blank=True)  # why it takes no work
    beat_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class Upload(models.Model):
    """An uploaded file, under a name that the server chose."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="uploads")
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, null=True, related_name="uploads")
    file_name = models.CharField(max_length=300)  # as the sender called it; shown, never used as a path
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.file_name

    @property
    def stored_at(self) -> Path:
        return Path(settings.MEDIA_ROOT) / "uploads" / self.uuid.hex


class Artifact(models.Model):
    """A file that a job made for downloading, below the data directory under the artifact's own id."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="artifacts")
    file_name = models.CharField(max_length=300)
    media_type = models.CharField(max_length=100)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.file_name

    @property
    def stored_at(self) -> Path:
        """Of an import; the files of exports lie by their names, in a folder of the job."""
        return Path(settings.MEDIA_ROOT) / "imports" / str(self.uuid)


@receiver(post_delete, sender=Upload)
@receiver(post_delete, sender=Artifact)
def remove_file(instance: Upload | Artifact, **more) -> None:
    """Files go with their rows, also where these go with a data set."""
    transaction.on_commit(lambda: instance.stored_at.unlink(missing_ok=True))


class ColumnMapping(models.Model):
    """A user's mapping of a table's columns, remembered for the next file with the same header."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    header_hash = models.CharField(max_length=64)
    layout = models.CharField(max_length=40)
    mapping = models.JSONField()
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "header_hash", "layout"], name="one_mapping_per_header")
        ]

    def __str__(self) -> str:
        return self.header_hash

"""Releases, and computed reports with the version of the labels that they were computed from."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models import Job, Project


class Release(models.Model):
    """The labels of one moment, frozen as files that are named by their content. Its job writes them; without a hash
    it is not finished."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="releases")
    number = models.PositiveIntegerField()  # 1, 2, ... in the project
    version = models.CharField(max_length=40, blank=True)  # as readers cite it; empty in releases of earlier versions
    note = models.TextField(blank=True)  # what it is for, and what changed: a line of the changelog
    job = models.OneToOneField(Job, on_delete=models.PROTECT, related_name="release")
    sha256 = models.CharField(max_length=64, blank=True)  # of the list of all files with their hashes
    labels_sha256 = models.CharField(max_length=64, blank=True)  # of content, annotations and decisions alone
    manifest = models.JSONField(default=dict)
    moment = models.DateTimeField(null=True)  # everything acknowledged before it is in
    # What was chosen of the labels: conditions of `analysis.sources.selection`; empty: all of them.
    filters = models.JSONField(default=dict)
    # The set of decisions that counts, by name; empty: the usual order of an export.
    decisions = models.CharField(max_length=60, blank=True)
    # Further projects on the data set, whose labels are frozen with it.
    others = models.ManyToManyField(Project, related_name="shared_releases")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    # A release is never changed or deleted; a withdrawn one shows the reason.
    withdrawn_at = models.DateTimeField(null=True)
    withdrawn_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    withdrawal = models.TextField(blank=True)
    # Whose page anybody may read; its job makes the files that stand there.
    public_job = models.OneToOneField(Job, on_delete=models.PROTECT, null=True, related_name="public_release")
    public_since = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="release_number_once"),
            models.UniqueConstraint(
                fields=["project", "version"], condition=~Q(version=""), name="release_version_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.project}, release {self.number}"

    @property
    def is_ready(self) -> bool:
        return bool(self.sha256)

    @property
    def is_withdrawn(self) -> bool:
        return self.withdrawn_at is not None

    @property
    def is_public(self) -> bool:
        return self.public_since is not None

    @property
    def name(self) -> str:
        return f"release {self.number}" + (f", version {self.version}" if self.version else "")


class HubToken(models.Model):
    """A person's token of a hub, encrypted, where they want it kept."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="hub_token")
    secret = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"Hub token of {self.user}"


class HubPublication(models.Model):
    """A release on its way to a repository of a hub, or there."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    release = models.ForeignKey(Release, on_delete=models.PROTECT, related_name="publications")
    job = models.OneToOneField(Job, on_delete=models.PROTECT, related_name="publication")
    repository = models.CharField(max_length=200)
    is_private = models.BooleanField(default=True)
    is_update = models.BooleanField(default=False)  # a new version in a repository that is there already
    is_created = models.BooleanField(default=False)  # the repository, by this publication
    with_comments = models.BooleanField(default=False)
    secret = models.TextField(blank=True)  # the token, encrypted, until the job has ended
    address = models.URLField(max_length=500, blank=True)  # of the commit, once it is done
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.release} at {self.repository}"


class StoredReport(models.Model):
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="stored_reports")
    name = models.CharField(max_length=40)
    parameters = models.JSONField(default=dict)
    scope = models.JSONField(default=dict)  # which labels: a release, a selection; empty: all, as they are now
    parameters_hash = models.CharField(max_length=64)  # of both
    # None until the first computation ends. Older than the project's: stale, shown as such and refreshed.
    label_version = models.PositiveBigIntegerField(null=True)
    result = models.JSONField(default=dict)
    # Figure -> ids of the units behind it; kept apart so that a page of figures does not load them.
    behind = models.JSONField(default=dict)
    pictures = models.JSONField(default=dict)  # name -> {"spec", "svg"}
    is_partial = models.BooleanField(default=False)  # first figures without intervals; the rest is being computed
    job = models.ForeignKey(Job, on_delete=models.SET_NULL, null=True, related_name="+")
    computed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "name", "parameters_hash"], name="one_stored_report"),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.project}"

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
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

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

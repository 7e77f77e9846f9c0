"""Computed reports, kept with the version of the labels that they were computed from."""

from django.db import models

from annotation.models import Job, Project


class StoredReport(models.Model):
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="stored_reports")
    name = models.CharField(max_length=40)
    parameters = models.JSONField(default=dict)
    parameters_hash = models.CharField(max_length=64)
    # None until the first computation ends. Older than the project's: stale, shown as such and refreshed.
    label_version = models.PositiveBigIntegerField(null=True)
    result = models.JSONField(default=dict)
    # Figure -> ids of the units behind it; kept apart so that a page of figures does not load them.
    behind = models.JSONField(default=dict)
    job = models.ForeignKey(Job, on_delete=models.SET_NULL, null=True, related_name="+")
    computed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "name", "parameters_hash"], name="one_stored_report"),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.project}"

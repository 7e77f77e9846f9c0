"""Checkers that were trained on a project's own labels."""

import uuid

from django.conf import settings
from django.db import models

from .jobs import Job
from .projects import Project


class TrainedModel(models.Model):
    """One training: what was asked, on which labels, and how well it did. Its job tells how far it has come.

    It belongs to its project. The files lie below the data directory under `file_hash`, which is the model's revision.
    """

    class Source(models.TextChoices):
        BOTH = "decisions-or-majority", "Decisions, and the majority where nobody decided"
        DECISIONS = "decisions", "Decisions alone"
        MAJORITY = "majority", "The majority of people alone"

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="trained_models")
    job = models.OneToOneField(Job, on_delete=models.PROTECT, related_name="trained_model")
    parameters = models.JSONField(default=dict)  # classifier, representation, source and so on, as they were asked for
    # The labels' moment: the project's counter, and the newest revision and decision that count.
    label_version = models.PositiveBigIntegerField()
    moment = models.JSONField(default=dict)
    # What is known once it is done.
    dimensions = models.JSONField(default=list)
    data_hash = models.CharField(max_length=64, blank=True)
    file_hash = models.CharField(max_length=64, blank=True)
    figures = models.JSONField(default=dict)  # per dimension: labels, scores per fold, confusion, learning curve
    counts = models.JSONField(default=dict)  # labels that were used and that were left out
    provenance = models.JSONField(default=dict)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.parameters.get('classifier', '')} trained on {self.project}"

"""Numbers that take a look at a whole project or data set, as workers last counted them."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from .content import Dataset
from .projects import Project


class KeptCount(models.Model):
    """What is counted under this name (`annotation.jobs.counts.COUNTS`) of a large project or data set."""

    # Of the two, one is set.
    project = models.ForeignKey(Project, on_delete=models.CASCADE, null=True, related_name="kept_counts")
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, null=True, related_name="kept_counts")
    name = models.CharField(max_length=40)
    values = models.JSONField(null=True)  # null: it has not been counted yet
    version = models.PositiveBigIntegerField(null=True)  # of the labels that were counted, where nothing else matters
    counted_at = models.DateTimeField(null=True)  # when counting began
    due_at = models.DateTimeField(default=timezone.now)  # from when on a reader asks for it to be counted anew
    held_until = models.DateTimeField(null=True)  # a worker is counting

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(project=None, dataset__isnull=False) | Q(project__isnull=False, dataset=None),
                name="count_of_one_thing",
            ),
            models.UniqueConstraint(fields=["project", "name"], name="count_once_per_project"),
            models.UniqueConstraint(fields=["dataset", "name"], name="count_once_per_data_set"),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.project or self.dataset}"

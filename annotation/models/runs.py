"""What every run of a machine holds: of a checker, an extractor or a retriever."""

import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models


class MachineRun(models.Model):
    """One entry of the registry with one set of parameters, over a project. Its job tells how far it has come."""

    # The kind of machine, which is also the column that names the registry's entry.
    machine: ClassVar[str]

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    version = models.CharField(max_length=40)
    parameters = models.JSONField(default=dict)
    parameters_hash = models.CharField(max_length=64)
    # Model revision, library versions, device, prompt hash: as what runs describes itself when it is loaded.
    provenance = models.JSONField(default=dict)
    # What its stored answers cost. Work of a worker that died before it stored anything is not in here.
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    device_seconds = models.FloatField(default=0.0)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.entry} {self.version} on {self.project}"

    @property
    def entry(self) -> str:
        """The slug of what runs, in the registry."""
        return getattr(self, self.machine)

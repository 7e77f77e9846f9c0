"""What programs sign in with, and what they were answered."""

import uuid

from django.conf import settings
from django.db import models


class ApiToken(models.Model):
    """Lets a program act for its owner, within its scopes and never beyond the owner's rights. The token is shown once;
    its hash is kept, which may be a quick one, since nobody guesses 256 bits."""

    class Scope(models.TextChoices):
        READ = "read", "Read: projects, content, labels, results"
        ANNOTATE = "annotate", "Annotate: take items and answer them as you"
        WRITE = "write", "Write: import, upload, start runs, reports and releases"

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    beginning = models.CharField(max_length=20)  # by which its owner tells it from others
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    last_used_on = models.DateField(null=True)  # a day, so that not every request writes

    def __str__(self) -> str:
        return f"{self.name} of {self.user}"


class StoredAnswer(models.Model):
    """The answer to a request that named a key of its own (`Idempotency-Key`): the same request again gets it again."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=200)
    digest = models.CharField(max_length=64)  # of what was asked
    status = models.PositiveSmallIntegerField(default=0)
    body = models.JSONField(null=True)
    headers = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="one_answer_per_key")]

    def __str__(self) -> str:
        return f"{self.status} to {self.key}"

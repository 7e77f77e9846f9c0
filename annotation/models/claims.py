"""Claims that fact-checkers reviewed, or that texts make, on their way into a data set. All of them stay, with why some
do not come in."""

import uuid

from django.conf import settings
from django.db import models

from .content import Dataset
from .jobs import Job


class ClaimCollection(models.Model):
    """`source` says where the claims are from; `choice` how verdicts are mapped, what is dropped, and how many are
    drawn (`annotation.imports.claims.choosing.ClaimChoice`)."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="claim_collections")
    source = models.JSONField(default=dict)
    choice = models.JSONField(default=dict)
    job = models.ForeignKey(Job, on_delete=models.PROTECT, related_name="+")  # that read the claims
    bad_rows = models.JSONField(default=dict)  # {"number", "first": [...]}
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"Claims for {self.dataset}"


class CollectedClaim(models.Model):
    collection = models.ForeignKey(ClaimCollection, on_delete=models.CASCADE, related_name="claims")
    key = models.CharField(max_length=400)
    text = models.TextField()
    claimant = models.TextField(blank=True)
    date = models.DateField(null=True)
    url = models.TextField()  # of the review, or of the text; empty where there is none
    site = models.CharField(max_length=260)
    verdict = models.CharField(max_length=200, blank=True)  # as the fact-checker words it
    metadata = models.JSONField(default=dict)
    label = models.CharField(max_length=200, blank=True)  # what the verdict is mapped to
    dropped = models.CharField(max_length=60, blank=True)  # why it was left out when claims were last chosen
    detail = models.TextField(blank=True)  # of that, such as the claim that it repeats
    # What the review's page says in short, fetched once: {"text", "how", "retrieved_at", "sha256"} or {"problem"}.
    summary = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["collection", "key"], name="claim_collected_once")]

    def __str__(self) -> str:
        return self.key

"""URLs that are notified of events in a project, and the notifications."""

import uuid

from django.conf import settings
from django.db import models

from .projects import Project


class Webhook(models.Model):
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="webhooks")
    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    url = models.CharField(max_length=500)
    events = models.JSONField(default=list)  # names of webhooks/events.py
    # With which each delivery is signed, so it is kept as it is; shown to nobody after it was made.
    secret = models.CharField(max_length=100)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.url


class WebhookDelivery(models.Model):
    """One event for one address: ids, states and counts, never a name, text or label."""

    class State(models.TextChoices):
        WAITING = "waiting"
        DELIVERED = "delivered"
        FAILED = "failed"

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    event = models.CharField(max_length=40)
    payload = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    status = models.PositiveSmallIntegerField(null=True)  # of the last answer
    message = models.TextField(blank=True)  # why the last attempt failed
    # When it is tried next; during a delivery, when another worker may try.
    due_at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)
    delivered_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["state", "due_at"], name="deliveries_due")]

    def __str__(self) -> str:
        return f"{self.event} to {self.webhook_id}: {self.state}"

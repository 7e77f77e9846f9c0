"""Creating webhooks, and sending their events: signed, retried after growing waits, through one function."""

from __future__ import annotations

import hashlib
import hmac
import json
import random
import secrets
from collections.abc import Collection
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotation import editing
from annotation.models import Project, SettingsChange, User, Webhook, WebhookDelivery
from annotation.webhooks import events
from models_runtime import egress

MOST = 10  # addresses of one project
# Seconds before each further attempt; half of a wait is drawn by chance. After the last the delivery has failed.
WAITS = (10, 60, 5 * 60, 30 * 60, 2 * 3600, 6 * 3600, 12 * 3600)
HELD = timedelta(seconds=60)  # by its sender: longer than an answer may take
AT_ONCE = 20
MESSAGE_CHARS = 300
State = WebhookDelivery.State


class WebhookError(Exception):
    """The webhook cannot be made; the message is for the person who asked."""


def make_webhook(project: Project, user: User, url: str, names: Collection[str]) -> Webhook:
    """A new webhook; its `secret` is for the page or answer that follows, and no other. WebhookError says what is
    wrong with the address."""
    try:
        egress.parse_url(url, settings.WEBHOOK_HOSTS)
    except egress.AddressRefused as refused:
        raise WebhookError(f"The address {refused}") from None
    with transaction.atomic():
        Project.objects.select_for_update(no_key=True).get(pk=project.pk)
        if project.webhooks.count() >= MOST:
            raise WebhookError(f"A project has at most {MOST} webhooks; remove one first")
        secret = f"whsec_{secrets.token_urlsafe(32)}"
        chosen = [name for name in events.EVENTS if name in names]
        editing.record(user, project, SettingsChange.What.SETTINGS, {}, {"webhook": url})
        return project.webhooks.create(url=url, events=chosen, secret=secret, created_by=user)


def remove_webhook(webhook: Webhook, user: User) -> None:
    with transaction.atomic():
        editing.record(user, webhook.project, SettingsChange.What.SETTINGS, {"webhook": webhook.url}, {"webhook": ""})
        webhook.delete()


def repeat(delivery: WebhookDelivery) -> None:
    """Send it again, as it was, at once."""
    WebhookDelivery.objects.filter(pk=delivery.pk).update(
        state=State.WAITING, attempts=0, status=None, message="", due_at=timezone.now(), delivered_at=None
    )
    transaction.on_commit(lambda: events.wake(delivery))


def signature_of(secret: str, moment: int, body: bytes) -> str:
    """What the header `Assay-Signature` holds: the moment, and the HMAC-SHA256 of it and the body."""
    digest = hmac.new(secret.encode(), f"{moment}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={moment},v1={digest}"


def deliver(delivery_id: int) -> None:
    """Send a delivery that is due and that nobody else is sending."""
    now = timezone.now()
    due = WebhookDelivery.objects.filter(pk=delivery_id, state=State.WAITING, due_at__lte=now)
    if not due.update(due_at=now + HELD, attempts=F("attempts") + 1):
        return
    delivery = WebhookDelivery.objects.select_related("webhook").get(pk=delivery_id)
    body = json.dumps(delivery.payload, sort_keys=True).encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Assay",
        "Assay-Event": delivery.event,
        "Assay-Delivery": str(delivery.uuid),
        "Assay-Signature": signature_of(delivery.webhook.secret, int(now.timestamp()), body),
    }
    status, problem, is_final = None, "", False
    try:
        answer = egress.post(delivery.webhook.url, body, headers, allowed=settings.WEBHOOK_HOSTS)
        status = answer.status
        if 300 <= status < 400:
            problem = "It answered with a redirect, which is not followed; enter the final address"
        elif not 200 <= status < 300:
            problem = f"It answered with {status}"
    except egress.AddressRefused as refused:
        problem, is_final = f"The address {refused}", True
    except egress.NoAnswer as error:
        problem = str(error)
    _note(delivery, status, problem[:MESSAGE_CHARS], is_final)


def _note(delivery: WebhookDelivery, status: int | None, problem: str, is_final: bool) -> None:
    now = timezone.now()
    fields: dict = {"status": status, "message": problem}
    if not problem:
        fields |= {"state": State.DELIVERED, "delivered_at": now}
    elif is_final or delivery.attempts > len(WAITS):
        fields |= {"state": State.FAILED}
    else:
        wait = WAITS[delivery.attempts - 1] * random.uniform(0.5, 1.0)
        fields |= {"due_at": now + timedelta(seconds=wait)}
    # Who repeats it meanwhile has the last word.
    WebhookDelivery.objects.filter(pk=delivery.pk, state=State.WAITING, attempts=delivery.attempts).update(**fields)


def sweep() -> int:
    """Wake workers for what is due, a bounded number at a time. How many that were."""
    due = WebhookDelivery.objects.filter(state=State.WAITING, due_at__lte=timezone.now())
    deliveries = list(due.order_by("due_at")[:AT_ONCE])
    for delivery in deliveries:
        events.wake(delivery)
    return len(deliveries)

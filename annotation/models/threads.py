"""Threads: what follows a comment on an item, between the annotator who wrote it and the project's researchers."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from .projects import Project, Rater
from .work import Item


class Thread(models.Model):
    """An annotator's comment on an item, with the answer or with a flag, and who is to read on. `words` are the latest
    ones; empty where the annotator removed them. An answer or a skip may be replaced, and its comment with it."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="threads", db_index=False)
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="threads", db_index=False)
    rater = models.ForeignKey(Rater, on_delete=models.CASCADE, related_name="threads", db_index=False)
    words = models.TextField(blank=True, default="", db_default="")
    opened_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField()  # when the newest words came
    is_unanswered = models.BooleanField(default=True)  # the newest words are the annotator's, and wait for a reply
    is_unread = models.BooleanField(default=False)  # the annotator has not seen the newest reply

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "rater"], name="one_thread_per_rater_and_item")]
        indexes = [
            models.Index(fields=["project", "changed_at"], name="threads_by_time"),
            models.Index(fields=["project", "changed_at"], name="unanswered_threads", condition=Q(is_unanswered=True)),
            models.Index(fields=["rater"], name="unread_threads", condition=Q(is_unread=True)),
        ]

    def __str__(self) -> str:
        return f"{self.rater_id} on {self.item_id}"


class ThreadReply(models.Model):
    thread = models.ForeignKey(Thread, on_delete=models.CASCADE, related_name="replies")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False)
    is_annotators = models.BooleanField()  # by the one whose thread it is
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.thread_id}: {self.text[:40]}"

"""Accounts, invitations, what a sign-in provider's groups gave, and the address that links lead to."""

import secrets
import uuid

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils import timezone


class User(AbstractUser):
    """Deactivated, never deleted: whatever a person judged refers to them through protected keys."""

    username = models.CharField(max_length=254, unique=True)  # the email address
    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=150, blank=True)
    # Whether comments and replies to theirs are mailed.
    mails_comments = models.BooleanField("Mail me about comments", default=False, db_default=False)
    # Of pages and mails; empty: the browser's. One of settings.LANGUAGES when it was chosen.
    language = models.CharField(max_length=20, blank=True, default="", db_default="")
    own_keys = models.JSONField(default=dict, blank=True, db_default={})  # action to key (annotation.task_types.keys)

    def __str__(self) -> str:
        return self.name or self.username

    def save(self, *args, **kwargs) -> None:
        """Tokens end with a new password and with deactivation, for good, as sessions do: Django ends those of another
        password, and refuses those of who is not active only as long as they are not."""
        is_ended = self._password is not None or not self.is_active
        super().save(*args, **kwargs)
        if not self.is_active:
            for session in self.usersession_set.all():
                session.end()
        if is_ended:
            self.api_tokens.filter(revoked_at=None).update(revoked_at=timezone.now())


def new_token() -> str:
    return secrets.token_urlsafe(32)


class Invitation(models.Model):
    """A link by which one person joins, optionally straight into a project with given roles."""

    token = models.CharField(max_length=64, unique=True, default=new_token)
    email = models.EmailField()
    project = models.ForeignKey("annotation.Project", on_delete=models.CASCADE, null=True, blank=True)
    roles = models.JSONField(default=list)
    group = models.CharField(max_length=200, blank=True, default="", db_default="")  # of an annotator of the project
    invited_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    def __str__(self) -> str:
        return f"Invitation of {self.email}"


class GroupGrant(models.Model):
    """A right that a group of a sign-in provider gave: when the person has left the group, the next sign-in takes back
    these rights, and none that a person gave."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="group_grants")
    provider = models.CharField(max_length=80)
    right = models.CharField(max_length=120)  # as in ASSAY_OIDC
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "provider", "right"], name="group_grant_once")]

    def __str__(self) -> str:
        return f"{self.right} for {self.user} by {self.provider}"


class SiteAddress(models.Model):
    """An address by which others reach the site, as an administrator chose it. The newest one is in force."""

    address = models.CharField(max_length=300)  # such as https://assay.example.org, without a path
    chosen_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    chosen_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.address

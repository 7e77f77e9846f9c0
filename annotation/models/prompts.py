"""Instructions for language models as judges, in versions, and which part of a project they are tested on."""

import uuid

from django.conf import settings
from django.db import models

from .projects import Project


class PromptVersion(models.Model):
    """One text of instructions; a changed text is another version."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="prompts")
    number = models.PositiveIntegerField()
    role = models.CharField(max_length=40)  # of the questions that it is for, or "all"
    text = models.TextField()
    note = models.CharField(max_length=300, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("number",)
        constraints = [models.UniqueConstraint(fields=["project", "number"], name="one_prompt_per_number")]

    def __str__(self) -> str:
        return f"prompt {self.number} of {self.project}"


class HeldOutPart(models.Model):
    """The share of a project's claims or questions that prompts are tested on and never tuned on. Which ones these are
    follows from the seed and their keys, so that it holds for what is imported later too."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="held_out")
    percent = models.PositiveSmallIntegerField()
    seed = models.PositiveIntegerField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.percent} % of {self.project}"

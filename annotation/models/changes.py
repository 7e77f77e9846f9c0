"""Who changed which settings, roles and accounts, and when."""

from django.conf import settings
from django.db import models

from .content import Dataset
from .projects import Project


class SettingsChange(models.Model):
    class What(models.TextChoices):
        SETTINGS = "settings"
        STATE = "state"
        QUESTIONS = "questions"
        GUIDELINES = "guidelines"
        ROLES = "roles"
        CARD = "card", "Data set card"
        PROMPT = "prompt"
        CONSENT = "consent"
        PERSON = "person", "Questionnaire"
        STUDY_LINK = "study-link", "Study link"
        HELD_OUT = "held-out", "Held-out part"
        DATASET = "dataset", "Data set"
        ACCOUNT = "account"
        LEARNING = "learning", "Training and checks"
        KEYS = "keys", "Right answers"
        ITEMS = "items", "Items and their order"
        IMPORT = "import"
        RELEASE = "release"

    # Of the three, one is set.
    project = models.ForeignKey(Project, on_delete=models.CASCADE, null=True, related_name="settings_changes")
    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, null=True, related_name="settings_changes")
    account = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="account_changes"
    )
    what = models.CharField(max_length=12, choices=What.choices)
    about = models.CharField(max_length=200, blank=True)  # the member whose roles they are
    changes = models.JSONField(default=dict)  # {name: [before, after]}
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.project or self.dataset or self.account}, {self.what}"

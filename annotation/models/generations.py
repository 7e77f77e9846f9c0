"""Answers of language models to questions. They become responses by publishing."""

from django.db import models

from .content import Question
from .jobs import Job
from .projects import Project
from .runs import MachineRun


class GenerationRun(MachineRun):
    """One generator with one set of parameters over the questions of a project's data set."""

    machine = "generator"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="generation_runs")
    job = models.OneToOneField(Job, on_delete=models.PROTECT, related_name="generation_run")
    generator = models.CharField(max_length=80)
    # What the model was shown. Empty: nothing; `own`: the evidence that there is; else the UUID of a retrieval.
    passages = models.CharField(max_length=40, blank=True)
    most_passages = models.PositiveIntegerField(default=0)
    repetitions = models.PositiveIntegerField()
    context_setting = models.CharField(max_length=200, blank=True)  # of the responses

    @property
    def failures(self):
        """The texts that were not written."""
        return self.texts.exclude(reason="")


class GeneratedText(models.Model):
    """A text that was asked for once: the words, or why there are none."""

    run = models.ForeignKey(GenerationRun, on_delete=models.CASCADE, related_name="texts")
    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="+")
    repetition = models.PositiveIntegerField()
    text = models.TextField(blank=True)
    # Seed, temperature, tokens, how it ended, prompt, keys of the passages shown, time: goes with the response.
    facts = models.JSONField(default=dict)
    reason = models.CharField(max_length=80, blank=True)  # of the failure; empty where it was written
    message = models.TextField(blank=True)
    is_permanent = models.BooleanField(default=False)
    trace = models.JSONField(null=True)  # the prompt as sent and the raw answer, of those that are kept to look at

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "question", "repetition"], name="question_answered_once"),
        ]

    def __str__(self) -> str:
        return f"{self.question} {self.repetition} in {self.run_id}"

"""Checkers' answers, and their provenance."""

from django.db import models

from .content import Unit
from .jobs import Job
from .projects import Project
from .runs import MachineRun


class CheckerRun(MachineRun):
    """One checker with one set of parameters over a project's units."""

    machine = "checker"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="checker_runs")
    job = models.OneToOneField(Job, on_delete=models.PROTECT, related_name="checker_run")
    checker = models.CharField(max_length=80)
    n_reused = models.PositiveIntegerField(default=0)  # units whose answers were copied from an earlier run
    # Of a run that a release brought and that never ran here: {"release": its SHA-256, "project", "run", "gives"}.
    origin = models.JSONField(default=dict, blank=True)


class Suggestion(models.Model):
    run = models.ForeignKey(CheckerRun, on_delete=models.CASCADE, related_name="suggestions", db_index=False)
    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="suggestions")
    dimension = models.CharField(max_length=40)
    label = models.TextField()
    probability = models.FloatField(null=True)
    probabilities = models.JSONField(default=dict)
    spans = models.JSONField(default=list)  # [{"field", "start", "end", "quote", "score" or "label"}], code points
    explanation = models.TextField(blank=True, default="")  # what the checker says of its reasons
    # Hash of what was asked about which texts; a later run takes the answer over where it is the same. Empty: unknown.
    input_hash = models.CharField(max_length=32, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "unit", "dimension"], name="one_suggestion_per_run")]
        # Pages of the API: a run's rows in their order, however many other runs have rows before them.
        indexes = [models.Index(fields=["run", "id"], name="suggestions_of_run")]

    def __str__(self) -> str:
        return f"{self.dimension}: {self.label}"


class Score(models.Model):
    """A number that a suggestion was made from, or that comes with it: similarity, overlap, perplexity. Null where
    undefined."""

    run = models.ForeignKey(CheckerRun, on_delete=models.CASCADE, related_name="scores", db_index=False)
    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="scores")
    name = models.CharField(max_length=80)
    value = models.FloatField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "unit", "name"], name="one_score_per_run_and_name")]
        indexes = [models.Index(fields=["run", "id"], name="scores_of_run")]

    def __str__(self) -> str:
        return f"{self.name}: {self.value}"


class RunFailure(models.Model):
    """An input for which a run has no answer, and why."""

    run = models.ForeignKey(CheckerRun, on_delete=models.CASCADE, related_name="failures")
    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="run_failures")
    reason = models.CharField(max_length=80)
    message = models.TextField(blank=True)
    is_permanent = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "unit"], name="one_failure_per_run_and_unit")]

    def __str__(self) -> str:
        return self.reason


class RunSample(models.Model):
    """How a run arrived at its answer about one unit, as its checker reported: kept for a few units, and for a few
    failures of each reason."""

    run = models.ForeignKey(CheckerRun, on_delete=models.CASCADE, related_name="samples")
    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="run_samples")
    reason = models.CharField(max_length=80, blank=True)  # of the failure; empty for an answer
    prompt = models.JSONField(null=True)  # messages or text as sent; null where the checker sends none
    output = models.TextField(blank=True)  # the raw answer
    is_cut = models.BooleanField(default=False)  # the prompt or the output was too long to keep whole

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "unit"], name="one_sample_per_run_and_unit")]

    def __str__(self) -> str:
        return f"{self.unit_id} in {self.run_id}"

"""What the API shows of trainings, and takes to start one."""

from __future__ import annotations

from rest_framework import serializers as s

from annotation.machines.training.training import CLASSIFIERS, MIN_PER_LABEL, POOLINGS, REPRESENTATIONS
from annotation.models import Job
from annotation.shapes import Choice, Shape


class TrainingShape(Shape):
    uuid = s.UUIDField()
    parameters = s.DictField()
    dimensions = s.ListField(child=s.CharField())
    model = s.CharField(source="file_hash", allow_blank=True)
    figures = s.DictField(required=False)
    counts = s.DictField(required=False)
    state = Choice(Job.State.choices, source="job.state")
    message = s.CharField(source="job.message", allow_blank=True)
    job = s.UUIDField(source="job.uuid")
    created_at = s.DateTimeField(source="job.created_at")

    def left_out(self, training) -> tuple[str, ...]:
        return ("figures", "counts") if self.context.get("is_blind", True) else ()


class NewTraining(Shape):
    """`source`: decisions-or-majority, decisions, majority, or a set of decisions such as rule:NAME."""

    source = s.CharField(max_length=60, required=False)
    representation = s.ChoiceField(sorted(REPRESENTATIONS), required=False)
    classifier = s.ChoiceField(sorted(CLASSIFIERS), required=False)
    encoder = s.CharField(max_length=300, allow_blank=True, required=False)
    hidden_model = s.CharField(max_length=300, allow_blank=True, required=False)
    layers = s.CharField(max_length=200, allow_blank=True, required=False)
    pooling = s.ChoiceField(sorted(POOLINGS), required=False)
    minimum = s.IntegerField(min_value=MIN_PER_LABEL, max_value=1_000_000, required=False)
    balanced = s.BooleanField(required=False)
    skip_rare = s.BooleanField(required=False)
    include_touched = s.BooleanField(required=False)

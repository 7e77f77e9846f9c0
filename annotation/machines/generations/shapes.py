"""What the API shows of generations, and takes to start one."""

from __future__ import annotations

from rest_framework import serializers as s

from annotation.machines.generations.generating import MOST_PASSAGES, MOST_REPETITIONS, PASSAGES, SETTING_CHARS
from annotation.machines.runs.shapes import NewMachineRun, NumberedRunShape


class GenerationShape(NumberedRunShape):
    numbered = ("answered", "abstained", "failed")
    generator = s.CharField()
    passages = s.CharField(allow_blank=True)
    repetitions = s.IntegerField()
    context_setting = s.CharField(allow_blank=True)
    prompt_tokens = s.IntegerField()
    completion_tokens = s.IntegerField()


class NewGeneration(NewMachineRun):
    generator = s.CharField(max_length=80)
    passages = s.CharField(
        max_length=40,
        allow_blank=True,
        default="",
        help_text="Passages shown to the model. Empty: none; `own`: the questions' evidence; or a retrieval's UUID.",
    )
    most_passages = s.IntegerField(min_value=1, max_value=MOST_PASSAGES, default=PASSAGES)
    repetitions = s.IntegerField(min_value=1, max_value=MOST_REPETITIONS, default=1)
    context_setting = s.CharField(max_length=SETTING_CHARS, allow_blank=True, default="")
    parameters = s.DictField(default=dict, help_text="Name a model by its `endpoint`; several models are several runs.")

"""What the API shows of runs of extractors, and takes to start and publish one."""

from __future__ import annotations

from rest_framework import serializers as s

from annotation.imports.publishing import ON_JUDGED, REFUSE
from annotation.machines.runs.shapes import NewMachineRun, NumberedRunShape
from annotation.shapes import PieceSet, Shape


class ExtractionShape(NumberedRunShape):
    numbered = ("answered", "empty", "pieces", "failed")
    extractor = s.CharField()
    kind = s.CharField()
    prompt_tokens = s.IntegerField()
    completion_tokens = s.IntegerField()


class NewExtraction(NewMachineRun):
    extractor = s.CharField(max_length=80)
    everything = s.BooleanField(default=False, help_text="Include texts with pieces in the project's set.")


class PublishedDrafts(Shape):
    piece_set = PieceSet(required=False, allow_null=True, default=None, help_text="By default the project's own.")
    on_judged = s.ChoiceField(list(ON_JUDGED), default=REFUSE, help_text="What to do with texts that were judged.")

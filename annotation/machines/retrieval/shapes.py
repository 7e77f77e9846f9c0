"""What the API shows of retrievals, and takes to start and publish one."""

from __future__ import annotations

from rest_framework import serializers as s

from annotation.machines.retrieval.retrieving import ASKED, PRESETS, TOP_LIMIT
from annotation.machines.runs.shapes import NewMachineRun, NumberedRunShape
from annotation.shapes import Shape


class RetrievalShape(NumberedRunShape):
    """`numbers` and `steps` come when the run is done."""

    numbered = ("answered", "empty", "passages", "failed")
    retriever = s.CharField()
    asks = s.CharField()
    corpus = s.CharField()
    top = s.IntegerField()
    steps = s.SerializerMethodField()

    def get_steps(self, run) -> list[dict]:
        return run.job.result.get("steps", [])


class StoredDocuments(Shape):
    """Of one generator, in one repetition."""

    method = s.CharField(max_length=200, allow_blank=True)
    model = s.CharField(max_length=200, allow_blank=True)
    setting = s.CharField(max_length=200, allow_blank=True, default="")
    repetition = s.IntegerField(default=0, min_value=-(2**31), max_value=2**31 - 1)


class NewRetrieval(NewMachineRun):
    retriever = s.CharField(max_length=80)
    preset = s.ChoiceField(sorted(PRESETS), required=False, allow_null=True, default=None, help_text="Of `evidence`.")
    asks = s.ChoiceField(list(ASKED))
    corpus = s.CharField(max_length=80, default="own")
    top = s.IntegerField(min_value=1, max_value=TOP_LIMIT, required=False, allow_null=True, default=None)
    replays = s.CharField(
        max_length=40, allow_blank=True, default="", help_text="An earlier run whose web responses are replayed."
    )
    documents = StoredDocuments(required=False, allow_null=True, default=None, help_text="Search with these.")


class PublishedPassages(Shape):
    top = s.IntegerField(min_value=1, max_value=TOP_LIMIT)
    context = s.CharField(
        max_length=80, allow_blank=True, default="", help_text="The context for questions that were judged."
    )

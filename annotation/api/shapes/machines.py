"""Prompts and claims to start with, and what checkers say."""

from __future__ import annotations

from rest_framework import serializers as s

from annotation.access import has_open_work
from annotation.imports.claims import choosing, collecting
from annotation.machines.prompts.splitting import PARTS, counts_of
from annotation.machines.prompts.versions import NOTE_LENGTH, difference
from annotation.machines.runs.shapes import NewMachineRun
from annotation.machines.runs.starting import TEXT_LENGTH
from annotation.models import Job
from annotation.shapes import Choice, Shape
from models_runtime.contracts import ROLES


class PromptShape(Shape):
    """`difference`: lines of an earlier version and of this one, which begin with `-` and `+` where they differ."""

    number = s.IntegerField()
    role = s.CharField()
    text = s.CharField()
    note = s.CharField(allow_blank=True)
    created_at = s.DateTimeField()
    difference = s.SerializerMethodField()

    def get_difference(self, version) -> list[str]:
        before = self.context.get("before")
        return [sign + line for sign, line in difference(before.text, version.text)] if before else []


class NewPrompt(Shape):
    text = s.CharField(max_length=TEXT_LENGTH, trim_whitespace=False)
    role = s.ChoiceField(["all", *ROLES], default="all")
    note = s.CharField(max_length=NOTE_LENGTH, allow_blank=True, default="")


class NewTrial(NewMachineRun):
    queue = None
    part = s.ChoiceField(list(PARTS))


class HeldOutShape(Shape):
    """`parts`: what people labelled of each; empty for who still labels here."""

    percent = s.IntegerField(min_value=10, max_value=90)
    created_at = s.DateTimeField(read_only=True)
    parts = s.SerializerMethodField()

    def get_parts(self, held_out) -> list[dict]:
        if has_open_work(self.context["request"].user, held_out.project):
            return []
        return [{"part": one.part, "groups": one.groups, "units": one.units} for one in counts_of(held_out.project)]


class ClaimCollectionShape(Shape):
    """`counts`: how many claims are chosen, and were dropped for which reason; `unmapped`: verdicts without a label."""

    uuid = s.UUIDField()
    source = s.DictField()
    choice = s.DictField()
    state = Choice(Job.State.choices, source="job.state")
    message = s.CharField(source="job.message", allow_blank=True)
    job = s.UUIDField(source="job.uuid")
    bad_rows = s.DictField()
    counts = s.SerializerMethodField()
    unmapped = s.SerializerMethodField()
    created_at = s.DateTimeField()

    def get_counts(self, collection) -> dict[str, int]:
        return {reason or "chosen": number for reason, number in collecting.counts_of(collection)}

    def get_unmapped(self, collection) -> list[dict]:
        rows = choosing.verdict_rows(collection)
        return [
            {"site": row.site, "verdict": row.verdict, "number": row.number, "suggested": row.suggested}
            for row in rows
            if not row.label
        ]


class NewClaimCollection(Shape):
    """One of `reviews` (ClaimReview objects, claims of the Fact Check Tools API, or rows with a `text`), `piece_set` (a
    set of atomic claims of the data set), and a `provider` with what to ask."""

    reviews = s.ListField(child=s.DictField(), max_length=5000, default=list)
    piece_set = s.CharField(max_length=80, allow_blank=True, allow_null=True, default=None)
    provider = s.CharField(max_length=40, allow_blank=True, default="")
    query = s.CharField(max_length=500, allow_blank=True, default="")
    language = s.CharField(max_length=20, allow_blank=True, default="")
    site = s.CharField(max_length=200, allow_blank=True, default="")
    most = s.IntegerField(min_value=1, max_value=choosing.MOST_CLAIMS, default=1000)


class NewChoice(Shape):
    """What is left out stays as it is."""

    choice = s.DictField(default=dict, help_text=", ".join(choosing.ClaimChoice.__dataclass_fields__))
    suggested = s.BooleanField(default=False, help_text="Accept the suggested labels of verdicts that have none.")


class PublishedClaims(Shape):
    summaries = s.BooleanField(default=True, help_text="Fetch each review's own summary as gold evidence.")


class SuggestionShape(Shape):
    run = s.UUIDField(source="run.uuid")
    checker = s.CharField(source="run.checker")
    unit = s.CharField(source="unit.key")
    dimension = s.CharField()
    label = s.CharField()
    probability = s.FloatField(allow_null=True)
    probabilities = s.DictField()
    spans = s.ListField(child=s.DictField())
    explanation = s.CharField(allow_blank=True)


class ScoreShape(Shape):
    run = s.UUIDField(source="run.uuid")
    checker = s.CharField(source="run.checker")
    unit = s.CharField(source="unit.key")
    name = s.CharField()
    value = s.FloatField(allow_null=True)

"""What the API shows of runs of checkers and takes to start one, and what is alike in runs of all kinds."""

from __future__ import annotations

from typing import ClassVar

from rest_framework import serializers as s

from annotation.machines.runs.limits import MOST_MONEY, MOST_TOKENS
from annotation.machines.runs.retrieved import MOST, USUAL
from annotation.machines.runs.starting import QUEUES
from annotation.models import Job
from annotation.shapes import Choice, Shape


class MachineRunShape(Shape):
    uuid = s.UUIDField()
    version = s.CharField()
    parameters = s.DictField()
    state = Choice(Job.State.choices, source="job.state")
    message = s.CharField(source="job.message", allow_blank=True)
    progress_done = s.IntegerField(source="job.progress_done")
    progress_total = s.IntegerField(source="job.progress_total")
    job = s.UUIDField(source="job.uuid")
    created_at = s.DateTimeField()


class NumberedRunShape(MachineRunShape):
    """`numbers` come when the run is done."""

    numbered: ClassVar[tuple[str, ...]]
    numbers = s.SerializerMethodField()

    def get_numbers(self, run) -> dict[str, int]:
        return {name: run.job.result[name] for name in self.numbered if name in run.job.result}


class NewMachineRun(Shape):
    """Where one of the limits is reached, the run stops."""

    parameters = s.DictField(default=dict)
    queue = s.ChoiceField(sorted(set(QUEUES.values())), required=False, allow_null=True, default=None)
    again = s.BooleanField(default=False)
    limit_tokens = s.IntegerField(min_value=1, max_value=MOST_TOKENS, required=False, allow_null=True, default=None)
    limit_money = s.FloatField(min_value=0, max_value=MOST_MONEY, required=False, allow_null=True, default=None)


class EstimateShape(Shape):
    """About how many tokens `number` units, texts, answers or queries take; `prices` by endpoint, null: not known."""

    number = s.IntegerField()
    prompt_tokens = s.IntegerField(source="usage.prompt_tokens")
    completion_tokens = s.IntegerField(source="usage.completion_tokens")
    prices = s.SerializerMethodField()
    currency = s.CharField(allow_blank=True)

    def get_prices(self, estimate) -> dict[str, float | None]:
        return dict(estimate.prices)


class RunShape(MachineRunShape):
    """`origin`: here, outside (uploaded, or from a file), or release (brought by one)."""

    checker = s.CharField()
    origin = s.SerializerMethodField()
    shown_to_annotators = s.SerializerMethodField()

    def get_origin(self, run) -> str:
        return "here" if not run.origin else "outside" if "outside" in run.origin else "release"

    def get_shown_to_annotators(self, run) -> bool:
        return run.project.prefill_run_id == run.pk


class NewRun(NewMachineRun):
    checker = s.CharField(max_length=80)
    again = s.BooleanField(default=False, help_text="Judge all units again instead of reusing earlier answers.")
    retrieval = s.UUIDField(
        required=False,
        allow_null=True,
        default=None,
        help_text="A retrieval, by whose first passages claims are judged.",
    )
    first = s.IntegerField(min_value=1, max_value=MOST, default=USUAL, help_text="The number of these passages.")

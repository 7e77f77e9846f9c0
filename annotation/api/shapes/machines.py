"""Runs of checkers, retrievers, extractors and generators, prompts and trainings, and what they say."""

from __future__ import annotations

from typing import ClassVar

from rest_framework import serializers as s

from annotation.access import has_open_work
from annotation.api.shapes.base import Choice, PieceSet, Shape
from annotation.imports.claims import choosing, collecting
from annotation.imports.publishing import ON_JUDGED, REFUSE
from annotation.machines.generations.generating import MOST_PASSAGES, MOST_REPETITIONS, PASSAGES, SETTING_CHARS
from annotation.machines.prompts.splitting import PARTS, counts_of
from annotation.machines.prompts.versions import NOTE_LENGTH, difference
from annotation.machines.retrieval.retrieving import ASKED, PRESETS, TOP_LIMIT
from annotation.machines.runs.limits import MOST_MONEY, MOST_TOKENS
from annotation.machines.runs.retrieved import MOST, USUAL
from annotation.machines.runs.starting import QUEUES, TEXT_LENGTH
from annotation.machines.training.training import CLASSIFIERS, MIN_PER_LABEL, POOLINGS, REPRESENTATIONS
from annotation.models import Job
from models_runtime.contracts import ROLES

# ---- what runs of all kinds have in common ----


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


# ---- what machines say ----


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


class EstimateShape(Shape):
    """About how many tokens `number` units, texts, answers or queries take; `prices` by endpoint, null: not known."""

    number = s.IntegerField()
    prompt_tokens = s.IntegerField(source="usage.prompt_tokens")
    completion_tokens = s.IntegerField(source="usage.completion_tokens")
    prices = s.SerializerMethodField()
    currency = s.CharField(allow_blank=True)

    def get_prices(self, estimate) -> dict[str, float | None]:
        return dict(estimate.prices)


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
        return ("figures", "counts") if self.context["is_blind"] else ()


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

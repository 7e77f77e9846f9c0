"""What the API shows of things, and what it takes: keys and UUIDs, never row numbers. Its schema is made of this."""

from __future__ import annotations

from dataclasses import asdict

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers as s

from annotation import access, incoming
from annotation.exports.releasing import LIST, WITHOUT_LABEL
from annotation.imports.claims import choosing, collecting
from annotation.imports.publishing import ON_JUDGED, REFUSE
from annotation.machines.generations.generating import MOST_PASSAGES, MOST_REPETITIONS, PASSAGES, SETTING_CHARS
from annotation.machines.prompts.splitting import PARTS
from annotation.machines.prompts.versions import difference
from annotation.machines.retrieval.retrieving import ASKED, PRESETS, TOP_LIMIT
from annotation.machines.runs.forms import TEXT_LENGTH
from annotation.machines.runs.limits import MOST_MONEY, MOST_TOKENS
from annotation.machines.runs.retrieved import MOST, USUAL
from annotation.machines.runs.starting import QUEUES
from annotation.machines.training.training import CLASSIFIERS, MIN_PER_LABEL, POOLINGS, REPRESENTATIONS
from annotation.models import Decision, Item, Job, Membership, Project, Rater, WebhookDelivery
from annotation.projects.options import named_version
from annotation.webhooks.events import EVENTS
from annotation.work.queries.pages import FREE_TEXT
from models_runtime.contracts import ROLES
from models_runtime.egress import URL_CHARS


class Choice(s.ChoiceField):
    """One of a model's values, shown as it is stored."""

    def to_representation(self, value) -> str:
        return str(value)


class Shape(s.Serializer):
    """`left_out` says which fields are not told to whoever asks."""

    def to_representation(self, found):
        shown = super().to_representation(found)
        for name in self.left_out(found):
            shown.pop(name, None)
        return shown

    def left_out(self, found) -> tuple[str, ...]:
        return ()


class PieceSet(s.CharField):
    """The name of a set of pieces; empty: the unnamed one."""

    def __init__(self, **options):
        super().__init__(**({"max_length": incoming.PIECE_SET_CHARS, "allow_blank": True, "default": ""} | options))

    def to_internal_value(self, data) -> str:
        try:
            return incoming.piece_set(super().to_internal_value(data))
        except incoming.Refused as refused:
            raise s.ValidationError(f"{refused}") from None


class Keys(s.DictField):
    child = s.CharField(allow_null=True)


# ---- errors ----


class ErrorShape(Shape):
    field = s.CharField(allow_blank=True)
    message = s.CharField()


class ProblemShape(Shape):
    """RFC 9457. What a refusal is about may stand in further members, such as `job`, `run` and `scope`."""

    type = s.CharField()
    title = s.CharField()
    status = s.IntegerField()
    detail = s.CharField()
    errors = ErrorShape(many=True, required=False)


# ---- data sets ----


class DatasetShape(Shape):
    slug = s.CharField()
    title = s.CharField()
    description = s.CharField(allow_blank=True)
    may_edit = s.SerializerMethodField()
    created_at = s.DateTimeField()

    def get_may_edit(self, dataset) -> bool:
        return dataset.pk in self.context["editable"]


class DatasetDetailShape(DatasetShape):
    """With the number of rows of each kind of content, and of pieces by the names of their sets, where one has a name
    (empty: without a set)."""

    content = s.DictField(child=s.IntegerField())
    sets = s.DictField(child=s.DictField(child=s.IntegerField()))


class NewDataset(Shape):
    title = s.CharField(max_length=200)
    slug = s.SlugField(max_length=80)
    description = s.CharField(max_length=20_000, allow_blank=True, default="")


class ContentShape(Shape):
    """A row of content: the columns of its kind, and the keys of what it hangs below. Of pieces, the column `piece_set`
    names their set."""

    key = s.CharField()
    kind = s.CharField()
    version = s.IntegerField()
    columns = s.DictField()
    parents = Keys()


# ---- projects ----


class ProjectShape(Shape):
    """Which items come next follows from the seed, and the names of a data set and of a set of pieces may say whose
    answers are in it: researchers alone are told."""

    slug = s.CharField()
    title = s.CharField()
    task_type = s.CharField()
    piece_set = s.CharField(allow_blank=True, required=False)
    state = Choice(Project.State.choices)
    overlap = s.IntegerField()
    multiple_share = s.FloatField()
    order = Choice(Project.Order.choices)
    prefill = Choice(Project.Prefill.choices)
    created_at = s.DateTimeField()
    dataset = s.CharField(source="dataset.slug", required=False)
    seed = s.IntegerField(required=False)

    def left_out(self, project) -> tuple[str, ...]:
        return () if project.pk in self.context["researched"] else ("dataset", "piece_set", "seed")


class LabelShape(Shape):
    value = s.CharField()
    title = s.CharField()
    hint = s.CharField(allow_blank=True)


@extend_schema_field(
    {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": {"type": "string"}}}
)
class DerivedField(s.Field):
    def to_representation(self, derived) -> dict[str, dict[str, str]]:
        return {one.slug: dict(one.of) for one in derived}


class OwnLabelShape(Shape):
    value = s.CharField()
    title = s.CharField()


class SpansShape(Shape):
    """`labels` of the question carry spans (all where there are none); `own_labels` are those of the spans."""

    title = s.CharField()
    fields = s.ListField(child=s.CharField())
    labels = s.ListField(child=s.CharField())
    own_labels = OwnLabelShape(many=True)
    required = s.BooleanField()


class NumberShape(Shape):
    """What numbers are answers; null: no bound, any number in between."""

    least = s.FloatField(allow_null=True)
    most = s.FloatField(allow_null=True)
    step = s.FloatField(allow_null=True)
    unit = s.CharField(allow_blank=True)


class DimensionShape(Shape):
    """A question as the project asks it. `labels` are the values in the scale's order, which nothing changes;
    `shown_labels` are in the order of the screen, in the project's words; `derived` says which coarser label follows
    from each, by name."""

    slug = s.CharField()
    title = s.CharField()
    question = s.CharField(allow_blank=True)
    level = s.CharField()
    answer = s.CharField()
    number = NumberShape(allow_null=True)
    optional = s.BooleanField(source="is_optional")
    hidden = s.BooleanField(source="is_hidden")
    labels = s.ListField(child=s.CharField(), source="values")
    shown_labels = LabelShape(many=True)
    spans = SpansShape(allow_null=True)
    derived = DerivedField()


class ProjectDetailShape(ProjectShape):
    description = s.CharField(allow_blank=True)
    options_version = s.IntegerField()
    dimensions = DimensionShape(many=True, source="type.dimensions")
    free_text = s.SerializerMethodField()

    def get_free_text(self, project) -> dict | None:
        return project.type.free_text and asdict(project.type.free_text)


class NewProject(Shape):
    title = s.CharField(max_length=200)
    dataset = s.SlugField(help_text="Its address.")
    task_type = s.CharField(max_length=80, help_text="The identifier of a task type or of a label set of yours.")
    piece_set = PieceSet(help_text="The set whose pieces are judged; empty: those without a set.")
    overlap = s.IntegerField(min_value=0, max_value=20, default=2)
    multiple_percent = s.IntegerField(min_value=0, max_value=100, default=100)
    order = s.ChoiceField(Project.Order.choices, default=Project.Order.RANDOM)
    seed = s.IntegerField(min_value=0, max_value=2**31 - 1, required=False, allow_null=True)
    prefill = s.ChoiceField(Project.Prefill.choices, default=Project.Prefill.OFF)
    minimum_seconds = s.IntegerField(min_value=0, max_value=600, default=0)
    lease_minutes = s.IntegerField(min_value=1, max_value=10080, default=60)
    guidelines = s.CharField(max_length=200_000, allow_blank=True, default="", help_text="Markdown.")


class MemberShape(Shape):
    uuid = s.UUIDField(source="user.uuid")
    name = s.CharField(source="user")
    role = Choice(Membership.Role.choices)
    active = s.BooleanField(source="is_active")
    created_at = s.DateTimeField()


class RolesShape(Shape):
    roles = s.ListField(child=s.ChoiceField(Membership.Role.choices), max_length=10)


class InvitationShape(Shape):
    """`link` is for the person at the address; it works once."""

    email = s.CharField()
    roles = s.ListField(child=s.CharField())
    link = s.CharField()
    token = s.CharField()
    invited_by = s.CharField()
    created_at = s.DateTimeField()
    expires_at = s.DateTimeField()


class SentInvitationShape(InvitationShape):
    is_sent = s.BooleanField()


class NewInvitation(Shape):
    email = s.CharField(max_length=incoming.EMAIL_CHARS)
    roles = s.ListField(child=s.ChoiceField(Membership.Role.choices), min_length=1, max_length=10)


class SettingsShape(Shape):
    """`prefill_run` is the run whose suggestions annotators see."""

    title = s.CharField()
    description = s.CharField(allow_blank=True)
    prefill = Choice(Project.Prefill.choices)
    prefill_run = s.UUIDField(source="prefill_run.uuid", allow_null=True, default=None)
    shows_decisions = s.BooleanField()
    minimum_seconds = s.IntegerField()
    lease_minutes = s.IntegerField()


class NewSettings(Shape):
    title = s.CharField(max_length=200, required=False)
    description = s.CharField(max_length=20_000, allow_blank=True, required=False)
    prefill = s.ChoiceField(Project.Prefill.choices, required=False)
    prefill_run = s.UUIDField(allow_null=True, required=False)
    shows_decisions = s.BooleanField(required=False)
    minimum_seconds = s.IntegerField(min_value=0, max_value=600, required=False)
    lease_minutes = s.IntegerField(min_value=1, max_value=10080, required=False)


class StateShape(Shape):
    state = Choice(Project.State.choices)


class NewState(Shape):
    move = s.ChoiceField(["open", "pause", "close"])


class OptionsShape(Shape):
    version = s.IntegerField(source="options_version")
    options = s.DictField()


class NewOptions(Shape):
    options = s.DictField()


class GuidelineShape(Shape):
    version = s.IntegerField()
    markdown = s.CharField(allow_blank=True)
    created_at = s.DateTimeField()


class NewGuideline(Shape):
    markdown = s.CharField(max_length=200_000, allow_blank=True, trim_whitespace=False)


class ItemShape(Shape):
    uuid = s.UUIDField()
    key = s.CharField(required=False)
    state = Choice(Item.State.choices)
    priority = s.IntegerField()
    planned = s.IntegerField()
    is_multiple = s.BooleanField()
    unit_count = s.IntegerField()
    done = s.IntegerField()
    skipped = s.IntegerField()

    def left_out(self, item) -> tuple[str, ...]:
        return () if self.context["with_key"] else ("key",)


class UnitShape(Shape):
    """What is judged: `title` and `text` as lists show it, and the `input` of Assay's own checkers (docs/checkers.md),
    which is empty where they cannot judge it."""

    unit = s.CharField(source="unit_key")
    item = s.CharField(source="item_key")
    title = s.CharField(allow_blank=True)
    text = s.CharField(allow_blank=True)
    input = s.DictField()


# ---- labels ----


class SpanShape(Shape):
    """`label` where spans have labels of their own."""

    field = s.CharField()
    start = s.IntegerField()
    end = s.IntegerField()
    quote = s.CharField()
    label = s.CharField(required=False)

    def left_out(self, span) -> tuple[str, ...]:
        return () if span.label else ("label",)


class JudgementShape(Shape):
    """`labels` are those of a question that takes several, one by one."""

    unit = s.CharField(source="unit.key")
    dimension = s.CharField()
    label = s.CharField()
    labels = s.ListField(child=s.CharField(), required=False)
    spans = SpanShape(many=True, source="spans.all")


class AnnotationShape(Shape):
    """The latest revision of what one rater said about one item."""

    item = s.CharField(source="item.key")
    rater = s.CharField(source="rater.pseudonym")
    rater_kind = Choice(Rater.Kind.choices, source="rater.kind")
    surplus = s.BooleanField(source="is_surplus")
    revision = s.IntegerField(source="revision.number")
    shown_at = s.DateTimeField(source="revision.shown_at", allow_null=True)
    submitted_at = s.DateTimeField(source="revision.submitted_at", allow_null=True)
    active_ms = s.IntegerField(source="revision.active_ms", allow_null=True)
    guideline_version = s.IntegerField(source="revision.guideline_version", allow_null=True)
    suggestion_shown = s.BooleanField(source="revision.suggestion_shown", allow_null=True)
    labels_seen = s.BooleanField(source="revision.labels_seen", allow_null=True)
    options_version = s.SerializerMethodField()
    free_text = s.SerializerMethodField()
    comment = s.CharField(source="revision.comment", allow_blank=True)
    judgements = JudgementShape(many=True, source="revision.judgements.all")

    def get_options_version(self, annotation) -> int:
        return named_version(annotation.revision.metadata)

    def get_free_text(self, annotation) -> dict | None:
        return annotation.revision.metadata.get(FREE_TEXT)


class DecisionShape(Shape):
    unit = s.CharField(source="unit.key")
    dimension = s.CharField()
    label = s.CharField(allow_blank=True)
    method = Choice(Decision.Method.choices)
    rule = s.CharField(allow_blank=True)
    version = s.IntegerField(source="rule_run.version", allow_null=True, default=None)
    outcome = Choice(Decision.Outcome.choices)
    posterior = s.FloatField(allow_null=True)
    number = s.IntegerField()
    withdrawn = s.BooleanField(source="is_withdrawn")
    rater = s.CharField(source="decided_by.pseudonym", allow_null=True, default=None)
    note = s.CharField(allow_blank=True)
    decided_at = s.DateTimeField(allow_null=True)


class NewDecision(Shape):
    """`labels` for a question that takes several; none where the `outcome` is another than a label."""

    unit = s.CharField(max_length=400, trim_whitespace=False)
    dimension = s.CharField(max_length=80)
    label = s.CharField(max_length=20_000, allow_blank=True, default="", trim_whitespace=False)
    labels = s.ListField(child=s.CharField(max_length=400), required=False, max_length=1000)
    outcome = Choice(Decision.Outcome.choices, default=Decision.Outcome.LABEL.value)
    note = s.CharField(max_length=2000, allow_blank=True, default="")
    withdraw = s.BooleanField(default=False)


# ---- what machines say ----


class RunShape(Shape):
    """`origin`: here, outside (uploaded, or from a file), or release (brought by one)."""

    uuid = s.UUIDField()
    checker = s.CharField()
    version = s.CharField()
    parameters = s.DictField()
    origin = s.SerializerMethodField()
    state = Choice(Job.State.choices, source="job.state")
    message = s.CharField(source="job.message", allow_blank=True)
    progress_done = s.IntegerField(source="job.progress_done")
    progress_total = s.IntegerField(source="job.progress_total")
    job = s.UUIDField(source="job.uuid")
    shown_to_annotators = s.SerializerMethodField()
    created_at = s.DateTimeField()

    def get_origin(self, run) -> str:
        return "here" if not run.origin else "outside" if "outside" in run.origin else "release"

    def get_shown_to_annotators(self, run) -> bool:
        return run.project.prefill_run_id == run.pk


class NewRun(Shape):
    checker = s.CharField(max_length=80)
    parameters = s.DictField(default=dict)
    queue = s.ChoiceField(sorted(set(QUEUES.values())), required=False, allow_null=True, default=None)
    again = s.BooleanField(default=False, help_text="Judge all units again, whatever earlier runs said.")
    retrieval = s.UUIDField(
        required=False, allow_null=True, default=None, help_text="Judge claims by the first passages that it found."
    )
    first = s.IntegerField(min_value=1, max_value=MOST, default=USUAL, help_text="How many of them, together.")
    limit_tokens = s.IntegerField(
        min_value=1, max_value=MOST_TOKENS, required=False, allow_null=True, default=None, help_text="Stop there."
    )
    limit_money = s.FloatField(
        min_value=0, max_value=MOST_MONEY, required=False, allow_null=True, default=None, help_text="Stop there."
    )


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
    note = s.CharField(max_length=300, allow_blank=True, default="")


class NewTrial(Shape):
    part = s.ChoiceField(list(PARTS))
    parameters = s.DictField(default=dict)


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
    """Either `reviews` (ClaimReview objects, or claims of the Fact Check Tools API) or a `provider` and what to ask."""

    reviews = s.ListField(child=s.DictField(), max_length=5000, default=list)
    provider = s.CharField(max_length=40, allow_blank=True, default="")
    query = s.CharField(max_length=500, allow_blank=True, default="")
    language = s.CharField(max_length=20, allow_blank=True, default="")
    site = s.CharField(max_length=200, allow_blank=True, default="")
    most = s.IntegerField(min_value=1, max_value=choosing.MOST_CLAIMS, default=1000)


class NewChoice(Shape):
    """What is left out stays as it is."""

    choice = s.DictField(default=dict, help_text="verdicts, drop_words, drop_undated, near, size, seed, split_day")
    suggested = s.BooleanField(default=False, help_text="Take over what is suggested for verdicts without a label.")


class PublishedClaims(Shape):
    summaries = s.BooleanField(default=True, help_text="Fetch each review's own summary as gold evidence.")


class RetrievalShape(Shape):
    """`numbers` and `steps` come when the run is done."""

    uuid = s.UUIDField()
    retriever = s.CharField()
    version = s.CharField()
    asks = s.CharField()
    corpus = s.CharField()
    top = s.IntegerField()
    parameters = s.DictField()
    state = Choice(Job.State.choices, source="job.state")
    message = s.CharField(source="job.message", allow_blank=True)
    progress_done = s.IntegerField(source="job.progress_done")
    progress_total = s.IntegerField(source="job.progress_total")
    job = s.UUIDField(source="job.uuid")
    numbers = s.SerializerMethodField()
    steps = s.SerializerMethodField()
    created_at = s.DateTimeField()

    def get_numbers(self, run) -> dict[str, int]:
        names = ("answered", "empty", "passages", "failed")
        return {name: run.job.result[name] for name in names if name in run.job.result}

    def get_steps(self, run) -> list[dict]:
        return run.job.result.get("steps", [])


class StoredDocuments(Shape):
    """Of one generator, in one repetition."""

    method = s.CharField(max_length=200, allow_blank=True)
    model = s.CharField(max_length=200, allow_blank=True)
    setting = s.CharField(max_length=200, allow_blank=True, default="")
    repetition = s.IntegerField(default=0, min_value=-(2**31), max_value=2**31 - 1)


class NewRetrieval(Shape):
    retriever = s.CharField(max_length=80)
    preset = s.ChoiceField(sorted(PRESETS), required=False, allow_null=True, default=None, help_text="Of `evidence`.")
    asks = s.ChoiceField(list(ASKED))
    corpus = s.CharField(max_length=80, default="own")
    top = s.IntegerField(min_value=1, max_value=TOP_LIMIT, required=False, allow_null=True, default=None)
    parameters = s.DictField(default=dict)
    replays = s.CharField(max_length=40, allow_blank=True, default="", help_text="A run that asked the web before.")
    documents = StoredDocuments(required=False, allow_null=True, default=None, help_text="Search with these.")
    queue = s.ChoiceField(sorted(set(QUEUES.values())), required=False, allow_null=True, default=None)
    again = s.BooleanField(default=False)
    limit_tokens = s.IntegerField(min_value=1, max_value=MOST_TOKENS, required=False, allow_null=True, default=None)
    limit_money = s.FloatField(min_value=0, max_value=MOST_MONEY, required=False, allow_null=True, default=None)


class PublishedPassages(Shape):
    top = s.IntegerField(min_value=1, max_value=TOP_LIMIT)
    context = s.CharField(max_length=80, allow_blank=True, default="", help_text="For questions that were judged.")


class GenerationShape(Shape):
    """`numbers` come when the run is done."""

    uuid = s.UUIDField()
    generator = s.CharField()
    version = s.CharField()
    passages = s.CharField(allow_blank=True)
    repetitions = s.IntegerField()
    context_setting = s.CharField(allow_blank=True)
    parameters = s.DictField()
    state = Choice(Job.State.choices, source="job.state")
    message = s.CharField(source="job.message", allow_blank=True)
    progress_done = s.IntegerField(source="job.progress_done")
    progress_total = s.IntegerField(source="job.progress_total")
    prompt_tokens = s.IntegerField()
    completion_tokens = s.IntegerField()
    job = s.UUIDField(source="job.uuid")
    numbers = s.SerializerMethodField()
    created_at = s.DateTimeField()

    def get_numbers(self, run) -> dict[str, int]:
        names = ("answered", "abstained", "failed")
        return {name: run.job.result[name] for name in names if name in run.job.result}


class NewGeneration(Shape):
    generator = s.CharField(max_length=80)
    passages = s.CharField(
        max_length=40,
        allow_blank=True,
        default="",
        help_text="What the model is shown. Empty: nothing; `own`: the questions' evidence; or a retrieval's UUID.",
    )
    most_passages = s.IntegerField(min_value=1, max_value=MOST_PASSAGES, default=PASSAGES)
    repetitions = s.IntegerField(min_value=1, max_value=MOST_REPETITIONS, default=1)
    context_setting = s.CharField(max_length=SETTING_CHARS, allow_blank=True, default="")
    parameters = s.DictField(default=dict, help_text="Name a model by its `endpoint`; several models are several runs.")
    queue = s.ChoiceField(sorted(set(QUEUES.values())), required=False, allow_null=True, default=None)
    again = s.BooleanField(default=False)
    limit_tokens = s.IntegerField(min_value=1, max_value=MOST_TOKENS, required=False, allow_null=True, default=None)
    limit_money = s.FloatField(min_value=0, max_value=MOST_MONEY, required=False, allow_null=True, default=None)


class EstimateShape(Shape):
    """About how many tokens `number` units, answers or queries take; `prices` by endpoint, null where not known."""

    number = s.IntegerField()
    prompt_tokens = s.IntegerField(source="usage.prompt_tokens")
    completion_tokens = s.IntegerField(source="usage.completion_tokens")
    prices = s.SerializerMethodField()
    currency = s.CharField(allow_blank=True)

    def get_prices(self, estimate) -> dict[str, float | None]:
        return dict(estimate.prices)


class ExtractionShape(Shape):
    """`numbers` come when the run is done."""

    uuid = s.UUIDField()
    extractor = s.CharField()
    version = s.CharField()
    kind = s.CharField()
    parameters = s.DictField()
    state = Choice(Job.State.choices, source="job.state")
    message = s.CharField(source="job.message", allow_blank=True)
    progress_done = s.IntegerField(source="job.progress_done")
    progress_total = s.IntegerField(source="job.progress_total")
    prompt_tokens = s.IntegerField()
    completion_tokens = s.IntegerField()
    job = s.UUIDField(source="job.uuid")
    numbers = s.SerializerMethodField()
    created_at = s.DateTimeField()

    def get_numbers(self, run) -> dict[str, int]:
        names = ("answered", "empty", "pieces", "failed")
        return {name: run.job.result[name] for name in names if name in run.job.result}


class NewExtraction(Shape):
    extractor = s.CharField(max_length=80)
    parameters = s.DictField(default=dict)
    everything = s.BooleanField(default=False, help_text="Also texts that have pieces of the project's set.")
    queue = s.ChoiceField(sorted(set(QUEUES.values())), required=False, allow_null=True, default=None)
    again = s.BooleanField(default=False)
    limit_tokens = s.IntegerField(min_value=1, max_value=MOST_TOKENS, required=False, allow_null=True, default=None)
    limit_money = s.FloatField(min_value=0, max_value=MOST_MONEY, required=False, allow_null=True, default=None)


class PublishedDrafts(Shape):
    piece_set = PieceSet(required=False, allow_null=True, default=None, help_text="The project's own, if not given.")
    on_judged = s.ChoiceField(list(ON_JUDGED), default=REFUSE, help_text="What happens to texts that were judged.")


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


# ---- jobs ----


class JobShape(Shape):
    """`message` says what it is doing, or why it failed."""

    uuid = s.UUIDField()
    kind = Choice(Job.Kind.choices)
    state = Choice(Job.State.choices)
    project = s.CharField(source="project.slug", allow_null=True, default=None)
    dataset = s.CharField(source="dataset.slug", allow_null=True, default=None)
    progress_done = s.IntegerField()
    progress_total = s.IntegerField()
    message = s.CharField(allow_blank=True)
    created_at = s.DateTimeField()
    started_at = s.DateTimeField(allow_null=True)
    finished_at = s.DateTimeField(allow_null=True)


SAID = ("labels", "scores", "gold", "questions", "left_open")


class JobDetailShape(JobShape):
    """With what came of it, bad rows by their lines included. Whoever still labels in its project is not told what
    checkers said, nor how often."""

    result = s.SerializerMethodField()

    def get_result(self, job) -> dict:
        is_blind = job.project is not None and access.has_open_work(self.context["request"].user, job.project)
        return {name: one for name, one in job.result.items() if not (is_blind and name in SAID)}


# ---- webhooks ----


class WebhookShape(Shape):
    uuid = s.UUIDField()
    url = s.CharField()
    events = s.ListField(child=s.CharField())
    created_at = s.DateTimeField()


class MadeWebhookShape(WebhookShape):
    secret = s.CharField(allow_blank=True)


class NewWebhook(Shape):
    url = s.CharField(max_length=URL_CHARS)
    events = s.ListField(child=s.ChoiceField(sorted(EVENTS)), min_length=1, max_length=len(EVENTS))


class DeliveryShape(Shape):
    """`status` is that of the last answer, `message` why the last attempt failed."""

    uuid = s.UUIDField()
    event = s.CharField()
    payload = s.DictField()
    state = Choice(WebhookDelivery.State.choices)
    attempts = s.IntegerField()
    status = s.IntegerField(allow_null=True)
    message = s.CharField(allow_blank=True)
    due_at = s.DateTimeField()
    created_at = s.DateTimeField()
    delivered_at = s.DateTimeField(allow_null=True)


# ---- files ----


class FileShape(Shape):
    """GET `files/UUID/` gives its bytes."""

    uuid = s.UUIDField()
    name = s.CharField(source="file_name")
    media_type = s.CharField()
    size = s.IntegerField()
    sha256 = s.CharField(allow_blank=True)


class ExportShape(JobShape):
    kinds = s.ListField(child=s.CharField(), source="parameters.kinds", default=list)
    files = FileShape(many=True, source="artifacts.all")


class NewExport(Shape):
    """`kinds`: formats of the content (jsonl, tsv, parquet) and other tools; the usual ones where it is empty.
    `decisions`: the set that labels come from, such as rule:NAME; what stands where it is empty. `without_label`: list
    units that have none, leave-out their rows, or refuse."""

    kinds = s.ListField(child=s.CharField(max_length=40), max_length=40, default=list)
    decisions = s.CharField(max_length=60, allow_blank=True, default="")
    without_label = s.ChoiceField(WITHOUT_LABEL, default=LIST)


class Nothing(Shape):
    """An empty body."""

"""Data sets, projects, people, items, labels and decisions."""

from __future__ import annotations

from dataclasses import asdict

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers as s

from annotation import incoming
from annotation.api.shapes.settings import changed_value, new_value, shown_value
from annotation.models import Decision, Item, ItemKey, Membership, Project, Rater
from annotation.projects.options import named_version
from annotation.projects.settings import SETTINGS, asked, changeable
from annotation.shapes import Choice, Keys, Shape
from annotation.work.answer_rules import MAX_SPANS
from annotation.work.queries.pages import FREE_TEXT

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
    (empty: without a set). `counted_at` is when a worker last counted a large data set; null: just now."""

    content = s.DictField(child=s.IntegerField())
    sets = s.DictField(child=s.DictField(child=s.IntegerField()))
    counted_at = s.DateTimeField(allow_null=True)


class NewDataset(Shape):
    title = s.CharField(max_length=200)
    slug = s.SlugField(max_length=80)
    description = s.CharField(max_length=20_000, allow_blank=True, default="")


class DatasetSettings(Shape):
    title = s.CharField(max_length=200, required=False)
    description = s.CharField(max_length=20_000, allow_blank=True, required=False)


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
    answers are in it: researchers alone are told. Nor do annotators learn when suggestions are shown."""

    slug = s.CharField()
    title = s.CharField()
    task_type = s.CharField()
    piece_set = s.CharField(allow_blank=True, required=False)
    state = Choice(Project.State.choices)
    overlap = s.IntegerField()
    multiple_share = s.FloatField()
    order = Choice(Project.Order.choices)
    prefill = Choice(Project.Prefill.choices, required=False)
    created_at = s.DateTimeField()
    dataset = s.CharField(source="dataset.slug", required=False)
    seed = s.IntegerField(required=False)

    def left_out(self, project) -> tuple[str, ...]:
        hidden = ("dataset", *(one.name for one in SETTINGS.values() if not one.is_public))
        return () if project.pk in self.context["researched"] else hidden


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


class SeverityShape(Shape):
    value = s.CharField()
    title = s.CharField()
    weight = s.FloatField()


class WeightShape(Shape):
    label = s.CharField()
    severity = s.CharField(allow_blank=True)
    weight = s.FloatField()


class SpansShape(Shape):
    """`labels` of the question carry spans (all where there are none); `own_labels` and `severities` are those of the
    spans. What a span weighs in the score follows from its severity, unless `weights` has its label."""

    title = s.CharField()
    fields = s.ListField(child=s.CharField())
    labels = s.ListField(child=s.CharField())
    own_labels = OwnLabelShape(many=True)
    severities = SeverityShape(many=True)
    weights = WeightShape(many=True)
    takes_reasons = s.BooleanField()
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
    dataset = s.SlugField(help_text="Its short name.")
    task_type = s.CharField(max_length=80, help_text="The identifier of a task type or of a label set of yours.")
    guidelines = s.CharField(max_length=200_000, allow_blank=True, default="", help_text="Markdown.")

    def get_fields(self):
        return super().get_fields() | {one.field_name: new_value(one) for one in asked()}


class MemberShape(Shape):
    uuid = s.UUIDField(source="user.uuid")
    name = s.CharField(source="user")
    role = Choice(Membership.Role.choices)
    active = s.BooleanField(source="is_active")
    created_at = s.DateTimeField()


class RolesShape(Shape):
    roles = s.ListField(child=s.ChoiceField(Membership.Role.choices), max_length=10)


class InvitationShape(Shape):
    """`link` is for the person at the address; it works once. It serves existing accounts alone, unless an
    administrator asks or, without a mail server, has allowed links by hand (ASSAY_LINKS_BY_HAND): a new account is
    created by the link in the mail."""

    email = s.CharField()
    roles = s.ListField(child=s.CharField())
    group = s.CharField()
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
    group = s.CharField(max_length=200, required=False, allow_blank=True)


class SettingsShape(Shape):
    """`prefill_run` is the run whose suggestions annotators see."""

    def get_fields(self):
        return {one.field_name: shown_value(one) for one in changeable()}


class NewSettings(Shape):
    def get_fields(self):
        return {one.field_name: changed_value(one) for one in changeable()}


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


class NewReservation(Shape):
    """`people` and `without` are annotators by email address, pseudonym or UUID; `groups` are how many of each."""

    items = s.ListField(child=s.CharField(max_length=400), min_length=1, max_length=500)
    people = s.ListField(child=s.CharField(max_length=254), default=list, max_length=1000)
    without = s.ListField(child=s.CharField(max_length=254), default=list, max_length=1000)
    groups = s.DictField(child=s.IntegerField(min_value=0, max_value=20), default=dict)


class ReservationShape(Shape):
    """Items with the rule, places that are reserved now, and places that were added for that."""

    items = s.IntegerField()
    reserved = s.IntegerField()
    added = s.IntegerField()


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
    """A highlight: `quote` lies from `start` to before `end`, in code points of the text that `field` names; `label`
    and `severity` where spans have them, `reason` where there is one."""

    field = s.CharField()
    start = s.IntegerField()
    end = s.IntegerField()
    quote = s.CharField(trim_whitespace=False)
    label = s.CharField(required=False)
    severity = s.CharField(required=False)
    reason = s.CharField(required=False)

    def left_out(self, span) -> tuple[str, ...]:
        names = ("label", "severity", "reason")
        return () if isinstance(span, dict) else tuple(name for name in names if not getattr(span, name))


class JudgementShape(Shape):
    """`labels` are those of a question that takes several, one by one."""

    unit = s.CharField(source="unit.key")
    dimension = s.CharField()
    label = s.CharField()
    labels = s.ListField(child=s.CharField(), required=False)
    spans = SpanShape(many=True, source="spans.all")


class AnnotationShape(Shape):
    """The latest revision of what one rater said about one item. `submitted_at` is when the server received it, or what
    an imported file says, and `shown_at` as long before it as the item was open."""

    item = s.CharField(source="item.key")
    rater = s.CharField(source="rater.pseudonym")
    rater_kind = Choice(Rater.Kind.choices, source="rater.kind")
    surplus = s.BooleanField(source="is_surplus")
    revision = s.IntegerField(source="revision.number")
    shown_at = s.DateTimeField(source="revision.opened_at", allow_null=True)
    submitted_at = s.DateTimeField(source="revision.answered_at", allow_null=True)
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


class ItemKeyShape(Shape):
    """The right answers of an item that is set apart, and what it is used for."""

    item = s.CharField(source="item.key")
    uuid = s.UUIDField(source="item.uuid")
    purpose = Choice(ItemKey.Purpose.choices)
    answers = s.ListField(child=s.DictField())
    reason = s.CharField(allow_blank=True)
    loud = s.BooleanField(source="is_loud")
    copy = s.SerializerMethodField()
    created_at = s.DateTimeField()

    def get_copy(self, key) -> bool:
        return key.original_id is not None


class KeyAnswerShape(Shape):
    unit = s.CharField(max_length=400, trim_whitespace=False)
    dimension = s.CharField(max_length=80)
    label = s.CharField(max_length=20_000, trim_whitespace=False)
    spans = SpanShape(many=True, default=list, max_length=MAX_SPANS)


class NewItemKey(Shape):
    """`item` is a key; `remove` ends its use."""

    item = s.CharField(max_length=400, trim_whitespace=False)
    purpose = Choice(ItemKey.Purpose.choices, default=ItemKey.Purpose.TRAINING.value)
    answers = KeyAnswerShape(many=True, default=list, max_length=1000)
    reason = s.CharField(max_length=10_000, allow_blank=True, default="")
    loud = s.BooleanField(default=False)
    remove = s.BooleanField(default=False)


class KeyResultShape(Shape):
    """How a person's first answer to such an item compares with its key; in qualification, of each try."""

    item = s.CharField(source="item.key")
    rater = s.CharField(source="rater.pseudonym")
    purpose = Choice(ItemKey.Purpose.choices)
    attempt = s.IntegerField()
    right = s.IntegerField()
    asked = s.IntegerField()
    created_at = s.DateTimeField()


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
    reason = Choice(Decision.Reason.choices, allow_blank=True)
    note = s.CharField(allow_blank=True)
    for_guidelines = s.BooleanField()
    spans = SpanShape(many=True)
    decided_at = s.DateTimeField(allow_null=True)


class NewDecision(Shape):
    """`labels` for a question that takes several; none where the `outcome` is another than a label."""

    unit = s.CharField(max_length=400, trim_whitespace=False)
    dimension = s.CharField(max_length=80)
    label = s.CharField(max_length=20_000, allow_blank=True, default="", trim_whitespace=False)
    labels = s.ListField(child=s.CharField(max_length=400), required=False, max_length=1000)
    outcome = Choice(Decision.Outcome.choices, default=Decision.Outcome.LABEL.value)
    reason = Choice(Decision.Reason.choices, allow_blank=True, default="")
    note = s.CharField(max_length=2000, allow_blank=True, default="")
    for_guidelines = s.BooleanField(default=False)
    spans = SpanShape(many=True, default=list, max_length=MAX_SPANS)
    withdraw = s.BooleanField(default=False)

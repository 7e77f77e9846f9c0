"""The settings of a project. Forms, validation, the API, exports, pages and the table in docs/api.md are made from
`SETTINGS`: a new setting is a field of the model `Project`, a line here, and the code where it takes effect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from datetime import date
from decimal import Decimal

from django import forms

from annotation import incoming
from annotation.models import CheckerRun, Project
from annotation.projects.limits import quotas
from annotation.projects.prefill import prefill_runs

# Sections of the form of a new project; of the task, the template names each field.
TASK, JUDGEMENTS, SUGGESTIONS, TIME = "The task", "Number of judgements", "Suggestions from checkers", "Time"
# Groups of the form of a project's settings, where they are not its sections.
ABOUT, DECISIONS, FURTHER = "About the project", "Decisions", "Further judgements where answers differ"
LEARNING, PAY, QUOTAS = "Qualification and checks", "Pay", "How much one person and one group label"
# Those that few projects use.
SELDOM = {FURTHER, LEARNING, PAY, QUOTAS}
# Whether an export's manifest has the setting.
ALWAYS, UNLESS_DEFAULT, NEVER = "always", "unless default", "never"


class PercentField(forms.IntegerField):
    """A share, entered as a percentage."""

    def clean(self, value):
        return super().clean(value) / 100

    def prepare_value(self, value):
        return round(value * 100) if isinstance(value, float) else value


class DefaultField(forms.IntegerField):
    """A whole number; empty: the default."""

    def clean(self, value):
        found = super().clean(value)
        return self.initial if found is None else found


class DefaultChoiceField(forms.ChoiceField):
    """Nothing chosen: the default."""

    def clean(self, value):
        return super().clean(value) or self.initial


class PieceSetField(forms.CharField):
    """The name of a set of pieces; empty: the unnamed one."""

    def __init__(self, **kwargs):
        more = {"label": "Set of pieces", "required": False, "max_length": incoming.PIECE_SET_CHARS}
        super().__init__(**(more | kwargs))

    def clean(self, value):
        try:
            return incoming.piece_set(super().clean(value))
        except incoming.Refused as refused:
            raise forms.ValidationError(f"This {refused}") from None


class AmountField(forms.DecimalField):
    """An amount of money; empty: nothing."""

    def clean(self, value):
        found = super().clean(value)
        return Decimal(0) if found is None else found


class CurrencyField(forms.CharField):
    """Three letters; empty: none."""

    def clean(self, value):
        try:
            return incoming.currency(super().clean(value))
        except incoming.Refused as refused:
            raise forms.ValidationError(f"This {refused}") from None


class QuotasField(forms.CharField):
    def clean(self, value):
        return _checked_quotas(super().clean(value))


def _checked_quotas(text: str) -> str:
    try:
        quotas.parse(text)
    except incoming.Refused as refused:
        raise forms.ValidationError(f"The text {refused}") from None
    return text


class RunField(forms.ModelChoiceField):
    def label_from_instance(self, run):
        return f"{run.checker} {run.version}, {run.created_at:%d %b %Y %H:%M}"


@dataclass(frozen=True)
class ProjectSetting:
    """`name` is a field of `Project`, which has the default and the choices."""

    name: str
    label: str
    help: str = ""
    _: KW_ONLY
    section: str = ""  # of the form of a new project; empty: it is not asked there
    group: str = ""  # of the form of settings; empty: the section
    can_change: bool = False  # also when the project has items
    is_public: bool = False  # shown to annotators
    exported: str = ALWAYS

    form_class = forms.CharField
    widget = None

    @property
    def column(self):
        return Project._meta.get_field(self.name)

    @property
    def default(self):
        return self.column.get_default()

    @property
    def is_required(self) -> bool:
        return not self.column.blank

    @property
    def field_name(self) -> str:
        """Its name in forms and in the API."""
        return self.name

    @property
    def field_label(self) -> str:
        return self.label

    @property
    def description(self) -> str:
        """For readers who do not see the form."""
        return f"{self.field_label}. {self.help}" if self.help else self.field_label

    @property
    def limits(self) -> dict:
        """What fields of forms and serializers take."""
        return {}

    def limits_of(self, project: Project) -> dict:
        """The limits of the form of a project's settings, which accepts what is stored and what a file may have."""
        return self.limits

    def form_field(self, project: Project | None = None) -> forms.Field:
        """For the settings of a project; without one, for the form of a new project."""
        texts = {"label": self.field_label, "help_text": self.help}
        more = (self.limits_of(project) if project else self.limits) | ({"widget": self.widget} if self.widget else {})
        return self.form_class(initial=self.default, required=self.is_required, **texts, **more)

    def from_file(self, value: object) -> object:
        """The value as it is stored. Refused where a file cannot have it, such as a setting that is not exported."""
        raise ValueError(f"{self.name} is not a setting that files have")

    def is_exported(self, value: object) -> bool:
        return self.exported == ALWAYS or (self.exported == UNLESS_DEFAULT and value != self.default)

    def in_words(self, values: Mapping[str, object]) -> str:
        """The value among those of a project, for a page; empty where it is not listed."""
        return ""

    def in_history(self, value: object) -> object:
        return value


@dataclass(frozen=True)
class NumberSetting(ProjectSetting):
    _: KW_ONLY
    bounds: tuple[int, int]
    most: int | None = None  # in files, if it is more
    unit: str = ""

    form_class = forms.IntegerField

    @property
    def field_label(self) -> str:
        return f"{self.label}, in {self.unit}" if self.unit else self.label

    @property
    def limits(self) -> dict:
        return {"min_value": self.bounds[0], "max_value": self.bounds[1]}

    def limits_of(self, project: Project) -> dict:
        return self.limits | {"max_value": max(self.bounds[1], getattr(project, self.name))}

    def from_file(self, value: object) -> int:
        low, high = self.bounds[0], self.most or self.bounds[1]
        if type(value) is not int or not low <= value <= high:
            raise incoming.Refused(f"{value!r} is not a whole number from {low} to {high:,}")
        return value

    def in_words(self, values: Mapping[str, object]) -> str:
        number = values[self.name]
        return str(number) if not self.unit else f"{number} {self.unit}" if number else ""


class DrawnSetting(NumberSetting):
    """At random, where a new project names none."""

    default = None
    is_required = False


class DefaultNumberSetting(NumberSetting):
    """Empty in a form: the default."""

    form_class, is_required = DefaultField, False


class OverlapSetting(NumberSetting):
    """With the share of items that get so many judgements."""

    def in_words(self, values: Mapping[str, object]) -> str:
        number, share = values[self.name], values.get("multiple_share", 1)
        others = min(number, values.get("other_overlap", 1))
        if number == others or share >= 1:
            return str(number)
        return f"{number} for {share:.0%} of the items, {others} for the others"


class OtherOverlapSetting(DefaultNumberSetting):
    """Said with the overlap."""

    def in_words(self, values: Mapping[str, object]) -> str:
        return ""


class ShareSetting(ProjectSetting):
    form_class = PercentField
    limits = {"min_value": 0, "max_value": 100}

    @property
    def field_name(self) -> str:
        return self.name.replace("share", "percent")

    def from_file(self, value: object) -> float:
        if type(value) not in (int, float) or not 0 <= value <= 1:
            raise incoming.Refused(f"{value!r} is not a share from 0 to 1")
        return float(value)


class ArmSetting(DefaultNumberSetting):
    """The share of an arm, where arms are drawn."""

    def in_words(self, values: Mapping[str, object]) -> str:
        return f"{values[self.name]} %" if values.get("prefill") == Project.Prefill.DRAWN else ""


class ChoiceSetting(ProjectSetting):
    form_class, widget = forms.ChoiceField, forms.RadioSelect

    @property
    def limits(self) -> dict:
        return {"choices": self.column.choices}

    def from_file(self, value: object) -> str:
        known = dict(self.column.choices)
        if not isinstance(value, str) or value not in known:
            raise incoming.Refused(f"{value!r} is not one of {', '.join(known)}")
        return value

    def in_words(self, values: Mapping[str, object]) -> str:
        return dict(self.column.choices)[values[self.name]]


class FurtherSetting(ChoiceSetting):
    """Nothing chosen in a form: not at all."""

    form_class, is_required = DefaultChoiceField, False

    def in_words(self, values: Mapping[str, object]) -> str:
        if values[self.name] == self.default:
            return ""
        most, budget = values.get("further_most", 0), values.get("further_budget", 0)
        limits = f", at most {most} of an item" + (f" and {budget:,} in the project" if budget else "")
        return super().in_words(values) + limits


class FurtherLimitSetting(DefaultNumberSetting):
    """Said with what it limits."""

    def in_words(self, values: Mapping[str, object]) -> str:
        return ""


class PaySetting(ChoiceSetting):
    """Said with the rate."""

    form_class, is_required = DefaultChoiceField, False

    def in_words(self, values: Mapping[str, object]) -> str:
        return ""


class AmountSetting(ProjectSetting):
    form_class, is_required = AmountField, False
    limits = {"min_value": Decimal(0), "max_digits": 9, "decimal_places": 2}

    def in_words(self, values: Mapping[str, object]) -> str:
        amount = values[self.name]
        return f"{amount} {values.get('pay_currency', '')}".strip() if amount else ""

    def in_history(self, value: object) -> str:
        return str(value)


class DaySetting(ProjectSetting):
    form_class, is_required = forms.DateField, False
    widget = forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"})

    def in_words(self, values: Mapping[str, object]) -> str:
        day = values[self.name]
        return f"{day:%-d %B %Y}" if day else ""

    def in_history(self, value: date | None) -> str | None:
        return value and value.isoformat()


class AtLastDaySetting(ChoiceSetting):
    """Listed with a last day only."""

    form_class, is_required = DefaultChoiceField, False

    def in_words(self, values: Mapping[str, object]) -> str:
        return super().in_words(values) if values.get("last_day") else ""


class FlagSetting(ProjectSetting):
    form_class, is_required = forms.BooleanField, False

    def from_file(self, value: object) -> bool:
        if not isinstance(value, bool):
            raise incoming.Refused(f"{value!r} is neither true nor false")
        return value

    def in_words(self, values: Mapping[str, object]) -> str:
        return "yes" if values[self.name] else ""


@dataclass(frozen=True)
class TextSetting(ProjectSetting):
    _: KW_ONLY
    most: int | None = None  # characters in the API, where the field has no limit

    @property
    def widget(self):
        return None if self.column.max_length else forms.Textarea(attrs={"rows": 3})

    @property
    def limits(self) -> dict:
        return {"max_length": self.column.max_length or self.most}

    def limits_of(self, project: Project) -> dict:
        return {"max_length": self.column.max_length}

    def from_file(self, value: object) -> str:
        if not isinstance(value, str):
            raise incoming.Refused("is not a text")
        return value[: self.column.max_length]


class CurrencySetting(TextSetting):
    form_class = CurrencyField


class LimitSetting(DefaultNumberSetting):
    """0: no limit, which is not listed."""

    def in_words(self, values: Mapping[str, object]) -> str:
        number = values[self.name]
        return f"{number:,}{self.suffix}" if number else ""

    @property
    def suffix(self) -> str:
        return " %" if self.label.endswith("%") else ""


class QuotasSetting(TextSetting):
    form_class = QuotasField

    def from_file(self, value: object) -> str:
        quotas.parse(text := super().from_file(value))
        return text

    def in_words(self, values: Mapping[str, object]) -> str:
        return values[self.name]


class PieceSetSetting(TextSetting):
    form_class = PieceSetField

    def from_file(self, value: object) -> str:
        return incoming.piece_set(value)

    def in_words(self, values: Mapping[str, object]) -> str:
        return values[self.name]


class RunSetting(ProjectSetting):
    """A checker run of the project that annotators can be shown."""

    form_class = RunField

    def limits_of(self, project: Project) -> dict:
        return {"queryset": prefill_runs(project).order_by("-created_at"), "empty_label": "No run yet"}

    def in_words(self, values: Mapping[str, object]) -> str:
        run = values[self.name]
        return f"{run.checker}, version {run.version}" if run else ""

    def in_history(self, value: CheckerRun | None) -> str | None:
        return value and f"{value.checker} {value.version}, {value.uuid}"


SETTINGS: dict[str, ProjectSetting] = {setting.name: setting for setting in (
    TextSetting("title", "Title", section=TASK, group=ABOUT, can_change=True, is_public=True),
    TextSetting("description", "Description", most=20_000, group=ABOUT, can_change=True, is_public=True),
    PieceSetSetting(
        "piece_set", "Set of pieces",
        "Where triplets, sub-sentences, atomic claims or aspects are judged: the name of the set that they belong to, "
        "such as an extractor's. Empty: those without a set. It cannot be changed later.",
        section=TASK, exported=UNLESS_DEFAULT,
    ),
    OverlapSetting(
        "overlap", "Judgements per item", "By different people. 0: imported labels only.",
        bounds=(0, 20), most=1000, section=JUDGEMENTS, is_public=True,
    ),
    ShareSetting(
        "multiple_share", "Share of items labelled more than once, in %",
        "The items are drawn at random with the seed. The others get the number below.",
        section=JUDGEMENTS, is_public=True,
    ),
    OtherOverlapSetting(
        "other_overlap", "Judgements of each other item", "Of those not drawn; never more than the drawn ones get.",
        bounds=(1, 20), most=1000, section=JUDGEMENTS, is_public=True, exported=UNLESS_DEFAULT,
    ),
    ChoiceSetting("order", "Order", section=JUDGEMENTS, is_public=True),
    DrawnSetting(
        "seed", "Seed", "Of the random order; blank picks one.",
        bounds=(0, 2**31 - 1), most=incoming.MAX_BIG_INTEGER, section=JUDGEMENTS,
    ),
    ChoiceSetting(
        "prefill", "Suggestions of checkers",
        "With Off, no checker influences the labels. Shown is the fastest, but comparisons with a checker leave out "
        "labels given while its suggestion was visible. After the first answer keeps that answer uninfluenced and "
        "still lets people reconsider. A trial measures what seeing suggestions does: chance decides for each item and "
        "annotator, by the seed.",
        section=SUGGESTIONS, can_change=True,
    ),
    ArmSetting(
        "prefill_shown_percent", "In a trial, share of answers with suggestions shown, in %", bounds=(0, 100),
        section=SUGGESTIONS, can_change=True, exported=UNLESS_DEFAULT,
    ),
    ArmSetting(
        "prefill_after_percent", "In a trial, share with suggestions after the first answer, in %",
        "The rest is given without suggestions.", bounds=(0, 100),
        section=SUGGESTIONS, can_change=True, exported=UNLESS_DEFAULT,
    ),
    RunSetting(
        "prefill_run", "Suggestions come from", "The checker run whose suggestions annotators see.",
        group=SUGGESTIONS, can_change=True, exported=NEVER,
    ),
    FurtherSetting(
        "further", "Ask for a further judgement",
        "As soon as an item has all judgements that were asked for, another annotator is asked where the answers "
        "differ, until they no longer do or a limit is reached. By default, agreement leaves these judgements out: "
        "they come where people disagree.",
        group=FURTHER, can_change=True, exported=UNLESS_DEFAULT,
    ),
    TextSetting(
        "further_questions", "Questions on which answers differ",
        "Short names between commas, such as stance. Empty: all questions.",
        group=FURTHER, can_change=True, exported=UNLESS_DEFAULT,
    ),
    FurtherLimitSetting(
        "further_most", "Most judgements of an item", "Including the planned ones.",
        bounds=(2, 20), most=1000, group=FURTHER, can_change=True, exported=UNLESS_DEFAULT,
    ),
    FurtherLimitSetting(
        "further_budget", "Most further judgements in the project", "0: no limit.",
        bounds=(0, 10_000_000), group=FURTHER, can_change=True, exported=UNLESS_DEFAULT,
    ),
    FlagSetting(
        "shows_decisions", "Show annotators what was decided of items that they have answered",
        "The label and its reason, never others' answers or notes. Answers that they change afterwards are marked and, "
        "by default, left out of agreement.",
        group=DECISIONS, can_change=True, exported=UNLESS_DEFAULT,
    ),
    FlagSetting(
        "shows_agreement", "Show annotators how often decisions agree with them",
        "On their page of their own work, by question, once 20 of their answers are decided. It counts first answers "
        "and changes once a day.",
        group=DECISIONS, can_change=True, exported=UNLESS_DEFAULT,
    ),
    NumberSetting(
        "minimum_seconds", "Minimum time per item", "Annotators are asked to confirm faster answers. 0: no minimum.",
        bounds=(0, 86_400), unit="seconds", section=TIME, can_change=True, is_public=True,
    ),
    NumberSetting(
        "lease_minutes", "Time to answer", "An assignment not answered in time goes to another annotator.",
        bounds=(1, 525_600), unit="minutes", section=TIME, can_change=True, is_public=True,
    ),
    DefaultNumberSetting(
        "items_ahead", "Items ready ahead",
        "With more than 1, people label without a connection: the browser keeps so many items ready, also when the "
        "page is reloaded. Each is held for 10 minutes times this number, or for the time to answer if that is longer.",
        bounds=(1, 50), group=TIME, can_change=True, is_public=True, exported=UNLESS_DEFAULT,
    ),
    DaySetting(
        "last_day", "Last day", "Annotators see it. Empty: none.",
        group=TIME, can_change=True, is_public=True, exported=NEVER,
    ),
    AtLastDaySetting(
        "at_last_day", "When the last day is over", "In the server's time zone. Answers that are still sent are kept.",
        group=TIME, can_change=True, exported=NEVER,
    ),
    LimitSetting(
        "person_most_items", "Most items of one person", "Checks are among them. 0: no limit.",
        bounds=(0, quotas.MOST), group=QUOTAS, can_change=True, is_public=True, exported=UNLESS_DEFAULT,
    ),
    LimitSetting(
        "person_most_percent", "Most items of one person, in % of the items", "Rounded down, at least 1. 0: no limit.",
        bounds=(0, 100), group=QUOTAS, can_change=True, is_public=True, exported=UNLESS_DEFAULT,
    ),
    QuotasSetting(
        "group_quotas", "Most answers of a group",
        "Group and number, between semicolons; after a comma, how many items each of its members gets at most: "
        "“experts: 200; crowd: 1000, 10 each”. Groups that are not named have no quota.",
        most=10_000, group=QUOTAS, can_change=True, exported=UNLESS_DEFAULT,
    ),
    NumberSetting(
        "pass_percent", "Pass mark of the qualification, in %",
        "The share of right answers to all questions of the qualification items.",
        bounds=(0, 100), group=LEARNING, can_change=True, exported=UNLESS_DEFAULT,
    ),
    NumberSetting(
        "qualification_tries", "Tries", "How often a person may go through the qualification.",
        bounds=(1, 20), group=LEARNING, can_change=True, exported=UNLESS_DEFAULT,
    ),
    FlagSetting(
        "shows_keys", "Show the right answers in the qualification", "Training always shows them.",
        group=LEARNING, can_change=True, exported=UNLESS_DEFAULT,
    ),
    NumberSetting(
        "check_every", "One check in so many items", "Each person gets them at drawn places. 0: no checks.",
        bounds=(0, 10_000), group=LEARNING, can_change=True, exported=UNLESS_DEFAULT,
    ),
    ChoiceSetting(
        "check_action", "After failed checks", "Labels are never deleted.",
        group=LEARNING, can_change=True, exported=UNLESS_DEFAULT,
    ),
    NumberSetting(
        "check_failures", "Failed checks that are too many", "Among the latest checks of a person.",
        bounds=(1, 1000), group=LEARNING, can_change=True, exported=UNLESS_DEFAULT,
    ),
    NumberSetting(
        "check_window", "Latest checks that are looked at", "A check is failed unless all its answers are right.",
        bounds=(1, 1000), group=LEARNING, can_change=True, exported=UNLESS_DEFAULT,
    ),
    CurrencySetting(
        "pay_currency", "Currency", "Three letters, such as EUR. Empty: people are not paid through a table of Assay.",
        group=PAY, can_change=True, exported=NEVER,
    ),
    AmountSetting(
        "pay_rate", "Rate", "What is paid for one of the following. 0: nothing.",
        group=PAY, can_change=True, exported=NEVER,
    ),
    PaySetting("pay_per", "The rate is for one", group=PAY, can_change=True, exported=NEVER),
    FurtherLimitSetting(
        "pay_pause_minutes", "Longest time between two answers that counts as work, in minutes",
        "Longer is a pause, and is not among the hours.", bounds=(1, 240), group=PAY, can_change=True, exported=NEVER,
    ),
    AmountSetting(
        "pay_bonus", "Bonus per person", "Once, to those who reach both numbers below.",
        group=PAY, can_change=True, exported=NEVER,
    ),
    FurtherLimitSetting(
        "pay_bonus_percent", "For the bonus, checks passed at least, in %",
        "A person who had no checks has none failed.", bounds=(0, 100), group=PAY, can_change=True, exported=NEVER,
    ),
    FurtherLimitSetting(
        "pay_bonus_items", "For the bonus, items answered at least",
        bounds=(0, 10_000_000), group=PAY, can_change=True, exported=NEVER,
    ),
    FlagSetting(
        "shows_pay", "Show annotators their pay",
        "On their page of their own work: the amount by the rate, without the bonus, which would tell how they did in "
        "checks.",
        group=PAY, can_change=True, exported=NEVER,
    ),
)}  # fmt: skip


def changeable() -> list[ProjectSetting]:
    """Those that can change when the project has items; overlap, share, order and seed are built into the items."""
    return [one for one in SETTINGS.values() if one.can_change]


def asked() -> list[ProjectSetting]:
    """Those in the form of a new project."""
    return [one for one in SETTINGS.values() if one.section]


def why_not_paid(values: Mapping[str, object]) -> str:
    """Why these settings of a project do not make pay; empty where they do."""
    if (values.get("pay_rate") or values.get("pay_bonus")) and not values.get("pay_currency"):
        return "A rate or a bonus needs a currency, such as EUR"
    return ""


def in_words(values: Mapping[str, object]) -> list[tuple[str, str]]:
    """Labels and values for a page."""
    found = ((one.label, one.in_words(values)) for one in SETTINGS.values() if one.name in values)
    return [(label, words) for label, words in found if words]

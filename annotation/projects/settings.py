"""The settings of a project. Forms, validation, the API, exports, pages and the table in docs/api.md are made from
`SETTINGS`: a new setting is a field of the model `Project`, a line here, and the code where it takes effect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django import forms

from annotation import incoming
from annotation.models import CheckerRun, Project
from annotation.projects.prefill import prefill_runs

# Sections of the form of a new project; of the task, the template names each field.
TASK, JUDGEMENTS, SUGGESTIONS, TIME = "The task", "Number of judgements", "Suggestions from checkers", "Time"
# Whether an export's manifest has the setting. A new one is left out at its default, so that manifests stay the same.
ALWAYS, UNLESS_DEFAULT, NEVER = "always", "unless default", "never"


class PercentField(forms.IntegerField):
    """A share, entered as a percentage."""

    def clean(self, value):
        return super().clean(value) / 100

    def prepare_value(self, value):
        return round(value * 100) if isinstance(value, float) else value


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


@dataclass(frozen=True, kw_only=True)
class ProjectSetting:
    """`name` is a field of `Project`, which has the default and the choices."""

    name: str
    label: str
    help: str = ""
    section: str = ""  # of the form of a new project; empty: it is not asked there
    can_change: bool = False  # also when the project has items
    is_public: bool = False  # shown to annotators
    exported: str = UNLESS_DEFAULT

    form_class = forms.CharField
    widget = None

    @property
    def column(self):
        return Project._meta.get_field(self.name)

    @property
    def default(self):
        return self.column.get_default()

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
    def is_required(self) -> bool:
        return not self.column.blank

    def limits(self, *, is_stored: bool = False) -> dict:
        """What fields of forms and serializers take. `is_stored`: of values that a file may have brought."""
        return {}

    def form_field(self, project: Project | None = None) -> forms.Field:
        """For the settings of a project; without one, for the form of a new project."""
        limits = self.limits(is_stored=project is not None)
        widget = {"widget": self.widget} if self.widget else {}
        said = {"label": self.field_label, "help_text": self.help, "required": self.is_required}
        return self.form_class(initial=self.default, **said, **limits, **widget)

    def values(self, *, is_stored: bool = False) -> str:
        """What it can be, in words."""
        raise NotImplementedError

    def fits(self, value: object) -> bool:
        """Whether a file can have the value."""
        raise NotImplementedError

    def from_file(self, value: object) -> object:
        """The value as it is stored. Refused where a file cannot have it."""
        if not self.fits(value):
            raise incoming.Refused(f"{value!r} is not {self.values(is_stored=True)}")
        return value

    def is_exported(self, value: object) -> bool:
        return self.exported == ALWAYS or (self.exported == UNLESS_DEFAULT and value != self.default)

    def in_words(self, values: Mapping[str, object]) -> str:
        """The value among those of a project, for a page; empty where there is nothing to say."""
        return str(values[self.name])

    def in_history(self, value: object) -> object:
        return value


@dataclass(frozen=True, kw_only=True)
class NumberSetting(ProjectSetting):
    low: int
    high: int
    most: int | None = None  # that files may bring, if it is more
    unit: str = ""
    is_drawn: bool = False  # at random, where a new project names none

    form_class = forms.IntegerField

    @property
    def field_label(self) -> str:
        return f"{self.label}, in {self.unit}" if self.unit else self.label

    @property
    def default(self):
        return None if self.is_drawn else super().default

    @property
    def is_required(self) -> bool:
        return not self.is_drawn

    def limits(self, *, is_stored: bool = False) -> dict:
        return {"min_value": self.low, "max_value": self.most if is_stored and self.most else self.high}

    def values(self, *, is_stored: bool = False) -> str:
        low, high = self.limits(is_stored=is_stored).values()
        return f"a whole number from {low} to {high:,}"

    def fits(self, value: object) -> bool:
        low, high = self.limits(is_stored=True).values()
        return type(value) is int and low <= value <= high

    def in_words(self, values: Mapping[str, object]) -> str:
        number = values[self.name]
        if not self.unit:
            return str(number)
        return f"{number} {self.unit}" if number else ""


class OverlapSetting(NumberSetting):
    """With the share of items that get so many judgements."""

    def in_words(self, values: Mapping[str, object]) -> str:
        number, share = values[self.name], values.get("multiple_share", 1)
        return f"{number} for {share:.0%} of the items, 1 for the others" if number > 1 and share < 1 else str(number)


class ShareSetting(ProjectSetting):
    form_class = PercentField

    @property
    def field_name(self) -> str:
        return self.name.replace("share", "percent")

    def limits(self, *, is_stored: bool = False) -> dict:
        return {"min_value": 0, "max_value": 100}

    def values(self, *, is_stored: bool = False) -> str:
        return "a share from 0 to 1" if is_stored else "a whole number from 0 to 100"

    def fits(self, value: object) -> bool:
        return type(value) in (int, float) and 0 <= value <= 1

    def from_file(self, value: object) -> float:
        return float(super().from_file(value))

    def in_words(self, values: Mapping[str, object]) -> str:
        return ""  # said with the number of judgements


class ChoiceSetting(ProjectSetting):
    form_class = forms.ChoiceField
    widget = forms.RadioSelect

    def limits(self, *, is_stored: bool = False) -> dict:
        return {"choices": self.column.choices}

    def values(self, *, is_stored: bool = False) -> str:
        return f"one of {', '.join(dict(self.column.choices))}"

    def fits(self, value: object) -> bool:
        return isinstance(value, str) and value in dict(self.column.choices)

    def in_words(self, values: Mapping[str, object]) -> str:
        return dict(self.column.choices)[values[self.name]]


class FlagSetting(ProjectSetting):
    form_class = forms.BooleanField
    is_required = False

    def values(self, *, is_stored: bool = False) -> str:
        return "true or false"

    def fits(self, value: object) -> bool:
        return isinstance(value, bool)

    def in_words(self, values: Mapping[str, object]) -> str:
        return "yes" if values[self.name] else ""


@dataclass(frozen=True, kw_only=True)
class TextSetting(ProjectSetting):
    high: int | None = None  # characters, in the API, where the field has no limit
    rows: int = 1

    @property
    def widget(self):
        return forms.Textarea(attrs={"rows": self.rows}) if self.rows > 1 else None

    def limits(self, *, is_stored: bool = False) -> dict:
        return {"max_length": self.column.max_length or (None if is_stored else self.high)}

    def values(self, *, is_stored: bool = False) -> str:
        return "a text" if is_stored else f"a text of at most {self.limits()['max_length']:,} characters"

    def from_file(self, value: object) -> str:
        if not isinstance(value, str):
            raise incoming.Refused("is not a text")
        return value[: self.column.max_length]

    def in_words(self, values: Mapping[str, object]) -> str:
        return ""  # pages show texts elsewhere


class PieceSetSetting(TextSetting):
    form_class = PieceSetField

    def from_file(self, value: object) -> str:
        return incoming.piece_set(value)

    def in_words(self, values: Mapping[str, object]) -> str:
        return values[self.name]


class RunSetting(ProjectSetting):
    """A checker run of the project."""

    def form_field(self, project: Project | None = None) -> forms.Field:
        field = forms.ModelChoiceField(
            prefill_runs(project).order_by("-created_at"),
            label=self.label,
            help_text=self.help,
            required=False,
            empty_label="No run yet",
        )
        field.label_from_instance = lambda run: f"{run.checker} {run.version}, {run.created_at:%d %b %Y %H:%M}"
        return field

    def values(self, *, is_stored: bool = False) -> str:
        return "the UUID of a run, or null"

    def in_words(self, values: Mapping[str, object]) -> str:
        run: CheckerRun | None = values[self.name]
        return f"{run.checker}, version {run.version}" if run else ""

    def in_history(self, value: CheckerRun | None) -> str | None:
        return value and f"{value.checker} {value.version}, {value.uuid}"


SETTINGS: dict[str, ProjectSetting] = {
    setting.name: setting
    for setting in (
        TextSetting(name="title", label="Title", section=TASK, can_change=True, is_public=True, exported=ALWAYS),
        TextSetting(
            name="description",
            label="Description",
            high=20_000,
            rows=3,
            can_change=True,
            is_public=True,
            exported=ALWAYS,
        ),
        PieceSetSetting(
            name="piece_set",
            label="Set of pieces",
            help="Where triplets, sub-sentences, atomic claims or aspects are judged: the name of the set that they "
            "belong to, such as an extractor's. Empty: those without a set. It cannot be changed later.",
            section=TASK,
        ),
        OverlapSetting(
            name="overlap",
            label="Judgements per item",
            help="By different people. 0: nobody labels here.",
            low=0,
            high=20,
            most=1000,
            section=JUDGEMENTS,
            is_public=True,
            exported=ALWAYS,
        ),
        ShareSetting(
            name="multiple_share",
            label="Percentage of items with this many judgements",
            help="The others get one judgement. The items are drawn at random with the seed.",
            section=JUDGEMENTS,
            is_public=True,
            exported=ALWAYS,
        ),
        ChoiceSetting(name="order", label="Order", section=JUDGEMENTS, is_public=True, exported=ALWAYS),
        NumberSetting(
            name="seed",
            label="Seed",
            help="Of the random order. Leave empty to draw one.",
            low=0,
            high=2**31 - 1,
            most=incoming.MAX_BIG_INTEGER,
            is_drawn=True,
            section=JUDGEMENTS,
            exported=ALWAYS,
        ),
        ChoiceSetting(
            name="prefill",
            label="Suggestions of checkers",
            help="With Off, no checker influences the labels. Shown is the fastest, but comparisons with a checker "
            "leave out labels given while its suggestion was visible. After the first answer keeps that answer "
            "uninfluenced and still lets people reconsider.",
            section=SUGGESTIONS,
            can_change=True,
            exported=ALWAYS,
        ),
        RunSetting(
            name="prefill_run",
            label="Suggestions come from",
            help="The checker run whose suggestions annotators see.",
            can_change=True,
            exported=NEVER,
        ),
        FlagSetting(
            name="shows_decisions",
            label="Show annotators what was decided of items that they have answered",
            help="The label and its reason, never others' answers or notes. Answers that they change afterwards are "
            "marked and, by default, left out of agreement.",
            can_change=True,
        ),
        NumberSetting(
            name="minimum_seconds",
            label="Minimum time per item",
            help="Annotators are asked to confirm faster answers. 0: no minimum.",
            low=0,
            high=600,
            most=86_400,
            unit="seconds",
            section=TIME,
            can_change=True,
            is_public=True,
            exported=ALWAYS,
        ),
        NumberSetting(
            name="lease_minutes",
            label="Time to answer",
            help="An assignment not answered in time goes to another annotator.",
            low=1,
            high=10_080,
            most=525_600,
            unit="minutes",
            section=TIME,
            can_change=True,
            is_public=True,
            exported=ALWAYS,
        ),
    )
}


def changeable() -> list[ProjectSetting]:
    """Those that can change when the project has items; overlap, share, order and seed are built into the items."""
    return [one for one in SETTINGS.values() if one.can_change]


def asked() -> list[ProjectSetting]:
    """Those in the form of a new project."""
    return [one for one in SETTINGS.values() if one.section]


def in_words(values: Mapping[str, object]) -> list[tuple[str, str]]:
    """Labels and values for a page."""
    found = ((one.label, one.in_words(values)) for one in SETTINGS.values() if one.name in values)
    return [(label, words) for label, words in found if words]

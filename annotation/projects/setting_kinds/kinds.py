"""What a setting is, and its kinds: their form field, bounds, words, and value in files and in the history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from datetime import date
from decimal import Decimal

from django import forms
from django.utils.formats import date_format
from django.utils.translation import gettext

from annotation import incoming
from annotation.formats.names import run_name
from annotation.models import CheckerRun, Project
from annotation.projects.limits import quotas
from annotation.projects.prefill import prefill_runs
from annotation.projects.setting_kinds.fields import (
    AmountField,
    CurrencyField,
    DefaultChoiceField,
    DefaultField,
    PercentField,
    PieceSetField,
    QuotasField,
    RunField,
)

# Whether an export's manifest has the setting.
ALWAYS, UNLESS_DEFAULT, NEVER = "always", "unless default", "never"


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
        return str(number) if not self.unit else f"{number} {gettext(self.unit)}" if number else ""


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
        words = gettext("{number} for {share} of the items, {others} for the others")
        return words.format(number=number, share=f"{share:.0%}", others=others)


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
        return str(dict(self.column.choices)[values[self.name]])


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
        return date_format(day, "j F Y") if day else ""

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
        if not run:
            return ""
        return run_name(run.checker) + (f", version {run.version}" if run.version else "")

    def in_history(self, value: CheckerRun | None) -> str | None:
        return value and f"{value.checker} {value.version}, {value.uuid}"

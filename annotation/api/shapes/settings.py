"""The settings of a project in requests and answers, made from their table."""

from __future__ import annotations

from django import forms
from rest_framework import serializers as s

from annotation import incoming
from annotation.projects.limits import quotas
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
from annotation.projects.setting_kinds.kinds import ProjectSetting
from annotation.shapes import Choice, Currency, PieceSet


class Quotas(s.CharField):
    """Of groups, as `annotation.projects.limits.quotas.parse` reads them."""

    def __init__(self, **options):
        super().__init__(**({"allow_blank": True} | options))

    def to_internal_value(self, data) -> str:
        text = super().to_internal_value(data)
        try:
            quotas.parse(text)
        except incoming.Refused as refused:
            raise s.ValidationError(f"The text {refused}") from None
        return text


SHOWN_LIMITS = ("choices", "max_digits", "decimal_places")
FIELDS: dict[type[forms.Field], type[s.Field]] = {
    forms.IntegerField: s.IntegerField,
    DefaultField: s.IntegerField,
    PercentField: s.IntegerField,
    forms.ChoiceField: Choice,
    DefaultChoiceField: Choice,
    forms.BooleanField: s.BooleanField,
    forms.CharField: s.CharField,
    AmountField: s.DecimalField,
    CurrencyField: Currency,
    PieceSetField: PieceSet,
    forms.DateField: s.DateField,
    QuotasField: Quotas,
    RunField: s.UUIDField,
}


def new_value(one: ProjectSetting) -> s.Field:
    """Of a new project; without it the setting has its default, or is drawn."""
    if one.default is None:
        return changed_value(one, allow_null=True)
    if one.is_required and not one.column.has_default():
        return changed_value(one, required=True)
    return _field(one, default=one.form_field().prepare_value(one.default), **one.limits)


def changed_value(one: ProjectSetting, **options) -> s.Field:
    """Of a project that there is; without it the setting stays."""
    return _field(one, **{"required": False, **one.limits, **options})


def shown_value(one: ProjectSetting) -> s.Field:
    if one.form_class is RunField:
        return _field(one, source=f"{one.name}.uuid", default=None)
    return _field(one, **{name: value for name, value in one.limits.items() if name in SHOWN_LIMITS})


def _field(one: ProjectSetting, **options) -> s.Field:
    empty = {forms.CharField: {"allow_blank": not one.is_required}, RunField: {"allow_null": True}}
    empty[forms.DateField] = {"allow_null": True}
    return FIELDS[one.form_class](help_text=one.description, **empty.get(one.form_class, {}), **options)

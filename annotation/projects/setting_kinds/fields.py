"""Form fields of settings."""

from __future__ import annotations

from decimal import Decimal

from django import forms

from annotation import incoming
from annotation.formats.names import run_name
from annotation.projects.limits import quotas


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
        return f"{run_name(run.checker, run.version)}, {run.created_at:%d %b %Y %H:%M}"

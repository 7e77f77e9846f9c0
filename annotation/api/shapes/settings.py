"""The settings of a project in requests and answers, made from their table."""

from __future__ import annotations

from rest_framework import serializers as s

from annotation.api.shapes.base import Choice, PieceSet
from annotation.projects import settings as kinds
from annotation.projects.settings import ProjectSetting

# Of each kind of setting: the field of requests, and that of answers.
FIELDS: dict[type[ProjectSetting], tuple[type[s.Field], type[s.Field]]] = {
    kinds.NumberSetting: (s.IntegerField, s.IntegerField),
    kinds.OverlapSetting: (s.IntegerField, s.IntegerField),
    kinds.ShareSetting: (s.IntegerField, s.IntegerField),
    kinds.ChoiceSetting: (s.ChoiceField, Choice),
    kinds.FlagSetting: (s.BooleanField, s.BooleanField),
    kinds.TextSetting: (s.CharField, s.CharField),
    kinds.PieceSetSetting: (PieceSet, s.CharField),
    kinds.RunSetting: (s.UUIDField, s.UUIDField),
}


def new_value(one: ProjectSetting) -> s.Field:
    """Of a new project; without it the setting has its default, or is drawn."""
    if one.default is None:
        return changed_value(one, allow_null=True)
    if one.is_required and not one.column.has_default():
        return changed_value(one, required=True)
    return changed_value(one, default=one.form_field().prepare_value(one.default))


def changed_value(one: ProjectSetting, **options) -> s.Field:
    """Of a project that there is; without it the setting stays."""
    more = {"help_text": one.description} | ({} if "default" in options else {"required": False})
    return FIELDS[type(one)][0](**(one.limits() | _empty(one) | more | options))


def shown_value(one: ProjectSetting) -> s.Field:
    limits = {"choices": one.column.choices} if isinstance(one, kinds.ChoiceSetting) else {}
    source = {"source": f"{one.name}.uuid", "default": None} if isinstance(one, kinds.RunSetting) else {}
    return FIELDS[type(one)][1](**limits, **_empty(one), **source)


def _empty(one: ProjectSetting) -> dict:
    if isinstance(one, kinds.RunSetting):
        return {"allow_null": True}
    return {"allow_blank": not one.is_required} if isinstance(one, kinds.TextSetting) else {}

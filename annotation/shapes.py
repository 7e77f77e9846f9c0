"""What all descriptions of the API are made of, and its errors."""

from __future__ import annotations

from rest_framework import serializers as s

from annotation import incoming


class Choice(s.ChoiceField):
    """One of a model's values, shown as it is stored."""

    def to_representation(self, value) -> str:
        return str(value)


class Shape(s.Serializer):
    """`left_out` says which fields the reader may not see."""

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


class Currency(s.CharField):
    """Three letters; empty: none."""

    def __init__(self, **options):
        super().__init__(**({"allow_blank": True} | options))

    def to_internal_value(self, data) -> str:
        try:
            return incoming.currency(super().to_internal_value(data))
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


class Nothing(Shape):
    """An empty body."""

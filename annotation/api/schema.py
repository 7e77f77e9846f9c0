"""The API's description (OpenAPI), made of what its routes say of themselves: shapes, filters, scopes, parameters."""

from __future__ import annotations

from functools import cache

from drf_spectacular.authentication import SessionScheme
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import force_instance
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, inline_serializer
from rest_framework import serializers as s
from rest_framework.fields import empty

PROBLEM = "application/problem+json"
SORTS = ("created", "-created")
PAGE = {"next": s.URLField(allow_null=True), "previous": s.URLField(allow_null=True)}


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = "annotation.api.tokens.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema) -> dict:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A token of your account's page.",
        }


class SignedInScheme(SessionScheme):
    target_class = "annotation.api.tokens.SignedIn"


class RouteSchema(AutoSchema):
    def get_tags(self) -> list[str]:
        return [self.path.removeprefix("/api/v1/").partition("/")[0]]

    def get_operation_id(self) -> str:
        parts = [part.strip("{}") for part in self.path.removeprefix("/api/v1/").split("/") if part]
        return "_".join([self.method.lower(), *parts]).replace("-", "_")

    def get_summary(self) -> str:
        """The first sentence, which lists of operations show next to the address."""
        return " ".join(self._described().split()).partition(". ")[0].rstrip(".")

    def get_description(self) -> str:
        scope = self.view.scope_of(self.method)
        return f"{self._described()}\n\nScope: `{scope}`."

    def _described(self) -> str:
        """As routes of a kind of runs declare it, and others say in their docstrings."""
        return getattr(self.view, "descriptions", {}).get(self.method) or super().get_description()

    def get_override_parameters(self) -> list:
        if self.method == "POST":
            asks = getattr(self.view, "asks", None)
            found = [_parameter(name, field) for name, field in asks().fields.items()] if asks else []
            key = OpenApiParameter(
                "Idempotency-Key",
                str,
                OpenApiParameter.HEADER,
                description="Repeats under the same key take effect once.",
            )
            if hasattr(self.view, "version_of"):
                words = "The `ETag` of what you read: a change made since then is not overwritten (412)."
                found.append(OpenApiParameter("If-Match", str, OpenApiParameter.HEADER, description=words))
            return [*found, key]
        if not hasattr(self.view, "filters"):
            return []
        found = [OpenApiParameter(name, str, required=True, enum=values) for name, values in self.view.needs.items()]
        for name, one in self.view.filters.items():
            kind = OpenApiTypes.UUID if one.kind == "uuid" else str
            found.append(OpenApiParameter(name, kind, enum=list(one.values) or None))
        found.append(OpenApiParameter("cursor", str, description="The cursor in `next` or `previous`."))
        found.append(OpenApiParameter("page_size", {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}))
        return [*found, OpenApiParameter("sort", str, enum=list(SORTS))]

    def get_request_serializer(self):
        if self.method == "POST" and hasattr(self.view, "media_types"):
            return dict.fromkeys(self.view.media_types, OpenApiTypes.BINARY) | {"multipart/form-data": self.view.form}
        return self.view.request_shape if self.method == "POST" else None

    def get_response_serializers(self) -> dict:
        from annotation.api.shapes import ProblemShape

        view = self.view
        found: dict = {("default", PROBLEM): ProblemShape}
        if self.method == "POST":
            shape = view.response_shape or view.shape or OpenApiTypes.OBJECT
            return found | {view.status: shape} | ({200: shape} if view.is_done_at_once else {})
        if hasattr(view, "filters"):
            name = f"{view.shape.__name__.removesuffix('Shape')}Page"
            return found | {200: inline_serializer(name, PAGE | {"results": view.shape(many=True)})}
        if view.shape is None:
            return found | {(200, view.answers_with): OpenApiTypes.BINARY}
        return found | {200: view.shape}

    def get_serializer_name(self, serializer, direction):
        return type(force_instance(serializer)).__name__.removesuffix("Shape")


def _parameter(name: str, field: s.Field) -> OpenApiParameter:
    kinds = {s.IntegerField: int, s.BooleanField: bool}
    kind = next((kind for one, kind in kinds.items() if isinstance(field, one)), str)
    choices = list(field.choices) if isinstance(field, s.ChoiceField) else None
    default = field.default if isinstance(field.default, str | int | bool) and field.default is not empty else None
    return OpenApiParameter(
        name, kind, required=field.required, description=field.help_text or "", enum=choices, default=default
    )


@cache
def described() -> dict:
    """The description; the same for everybody, since it tells nothing of what is stored."""
    found = SchemaGenerator(api_version="1").get_schema(request=None, public=True)
    found["paths"] |= LABELLING
    return found


# ---- what the labelling page asks, too: plain views ----

_OBJECT = {"description": "", "content": {"application/json": {"schema": {"type": "object"}}}}
_REFUSED = {"description": "", "content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}}}
_JUDGEMENT = {
    "type": "object",
    "required": ["unit", "dimension", "label"],
    "properties": {
        "unit": {"type": "string", "description": "As in the item's payload."},
        "dimension": {"type": "string"},
        "label": {"type": "string"},
        "spans": {"type": "array", "items": {"type": "object"}},
    },
}
_KEY = {
    "in": "header",
    "name": "Idempotency-Key",
    "schema": {"type": "string"},
    "description": "Repeats under the same key take effect once.",
}
_SKIP = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "description": "Required where `flag` is true."},
        "flag": {"type": "boolean", "description": "Show the item and the reason to the researcher."},
        "park": {"type": "boolean", "description": "For later: it comes back when there is nothing else."},
    },
}
_ANSWER = {
    "type": "object",
    "required": ["client_id", "judgements"],
    "properties": {
        "client_id": {
            "type": "string",
            "format": "uuid",
            "description": "A UUID of yours: a repeated answer is stored once.",
        },
        "text_hash": {"type": "string", "description": "The hash of the judged texts, from the payload."},
        "guideline_version": {"type": "integer"},
        "judgements": {"type": "array", "items": _JUDGEMENT},
        "comment": {"type": "string"},
    },
}


def _labelling(name: str, description: str, place: str, kind: dict, body: dict | None = None) -> dict:
    return {
        "operationId": name,
        "summary": description.partition(", ")[0].rstrip("."),
        "description": f"{description}\n\nScope: `annotate`.",
        "tags": ["labelling"],
        "security": [{"token": []}],
        "parameters": [{"in": "path", "name": place, "required": True, "schema": kind}, *([_KEY] if body else [])],
        "responses": {"200": _OBJECT, "default": _REFUSED},
        **({"requestBody": {"content": {"application/json": {"schema": body}}, "required": True}} if body else {}),
    }


_SLUG, _UUID = {"type": "string", "pattern": "^[-a-zA-Z0-9_]+$"}, {"type": "string", "format": "uuid"}
LABELLING = {
    "/api/v1/projects/{slug}/work/next": {
        "get": _labelling("next_item", "Take an item, or get again the one that you hold.", "slug", _SLUG)
    },
    "/api/v1/assignments/{uuid}/item": {
        "get": _labelling("own_item", "An item that you hold or have answered.", "uuid", _UUID)
    },
    "/api/v1/assignments/{uuid}/submit": {"post": _labelling("submit", "Answer an item.", "uuid", _UUID, _ANSWER)},
    "/api/v1/assignments/{uuid}/skip": {"post": _labelling("skip", "Leave an item to others.", "uuid", _UUID, _SKIP)},
    "/api/v1/assignments/{uuid}/take-back": {
        "post": _labelling("take_back", "Take a skip back, and hold the item again.", "uuid", _UUID, {"type": "object"})
    },
}

"""What the routes of the API have in common: scopes by verb, allow-listed filters and sorts, pages by cursor, ETags."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

from django.db import connection
from django.db.models import Model, QuerySet
from django.utils.decorators import method_decorator
from django.utils.http import parse_etags
from django.views.decorators.http import conditional_page
from rest_framework.exceptions import NotFound, ParseError
from rest_framework.pagination import CursorPagination
from rest_framework.parsers import BaseParser
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from annotation import editing, incoming
from annotation.api.problems import Problem
from annotation.api.repeating import repeatable
from annotation.api.schema import RouteSchema
from annotation.api.tokens import READ, WRITE

PAGING = ("cursor", "page_size", "sort")
TEXT, UUID, TRUTH = "text", "uuid", "truth"
TRUTHS = {"true": True, "false": False}
EXAMPLE_ETAG = '"9f2c41d07ab3e865"'
SORTS = ("created", "-created")


class Parts:
    """Rows that several querysets of one model hold together, for a page: each gives its first rows by an index of its
    own, where a database would sort all of them. What pages by cursor ask of a queryset."""

    def __init__(self, parts: Sequence[QuerySet]):
        self.parts = parts

    def filter(self, *args, **lookups) -> Parts:
        return Parts([part.filter(*args, **lookups) for part in self.parts])

    def order_by(self, *names: str) -> Parts:
        return Parts([part.order_by(*names) for part in self.parts])

    def __getitem__(self, chosen: slice) -> list:
        found = self._first(chosen.stop) if self.parts else []
        if not found:
            return []
        first = self.parts[0]
        found.sort(reverse=first.query.order_by[0].startswith("-"))
        related = first.query.select_related
        rows = first.model._default_manager.select_related(*related).in_bulk(found[chosen])
        return [rows[pk] for pk in found[chosen]]

    def _first(self, number: int) -> list[int]:
        """The first ids of each part, by one query. Django's union cannot limit its parts on SQLite."""
        asked = [part.values_list("pk", flat=True)[:number].query.sql_with_params() for part in self.parts]
        parts = (f"SELECT * FROM ({sql}) AS part{at}" for at, (sql, _) in enumerate(asked))
        with connection.cursor() as cursor:
            cursor.execute(" UNION ALL ".join(parts), [value for _, values in asked for value in values])
            return [pk for (pk,) in cursor.fetchall()]


@dataclass(frozen=True)
class QueryFilter:
    """A parameter of a list: the lookup that it is, and what it may be: one of `allowed`, or anything of a `kind`."""

    lookup: str
    allowed: Sequence[str] = ()
    kind: str = TEXT

    @property
    def values(self) -> Sequence[str]:
        return tuple(TRUTHS) if self.kind == TRUTH else self.allowed

    def value(self, name: str, text: str) -> Any:
        if self.values and text not in self.values:
            raise Problem(400, f"{name} must be one of {', '.join(self.values)}")
        if self.kind == TRUTH:
            return TRUTHS[text]
        if self.kind == UUID:
            try:
                return incoming.uuid_of(text)
            except incoming.Refused as refused:
                raise Problem(400, f"{name} {refused}") from None
        return text


class StrictJSON(BaseParser):
    """JSON whose every value can be stored (`annotation.incoming`)."""

    media_type = "application/json"

    def parse(self, stream, media_type=None, parser_context=None):
        try:
            return incoming.json_value(stream.read(incoming.JSON_BYTES + 1))
        except incoming.Refused as refused:
            raise ParseError(f"{refused.place or 'The request'} {refused}") from None


@method_decorator(conditional_page, name="dispatch")
class Route(APIView):
    """An endpoint of the API; serializers define its request and response, and its description is made from them."""

    parser_classes = (StrictJSON,)
    schema = RouteSchema()
    scopes: ClassVar[Mapping[str, str]] = {"POST": WRITE}  # reading needs READ
    shape: ClassVar[type[Serializer] | None] = None  # what GET answers; a list of it, in a list
    request_shape: ClassVar[type[Serializer] | None] = None  # the body of POST
    response_shape: ClassVar[type[Serializer] | None] = None  # of POST; None: as GET's
    status: ClassVar[int] = 200  # of an answer to POST
    is_done_at_once: ClassVar[bool] = False  # also 200, where a POST leaves nothing for a job
    answers_with: ClassVar[str] = "application/octet-stream"  # where GET gives a file
    keeps_answers: ClassVar[bool] = (
        True  # to POST, for requests that are repeated; False: it does so itself, or need not
    )

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "post" in vars(cls) and cls.keeps_answers:
            cls.post = repeatable(cls.post)

    @classmethod
    def scope_of(cls, verb: str) -> str:
        return cls.scopes.get(verb, READ)

    def validated_body(self, request) -> dict:
        """The body, validated by `request_shape`. An unknown field is refused: most likely it is misspelt."""
        body = self.request_shape(data=request.data)
        known = [name for name, one in body.fields.items() if not one.read_only]
        unknown = sorted(request.data.keys() - set(known)) if isinstance(request.data, dict) else []
        if unknown:
            errors = [{"field": name, "message": "Unknown field"} for name in unknown]
            names = ", ".join(repr(name[:100]) for name in unknown)
            can_be = f"known are {', '.join(known)}" if known else "there are none"
            raise Problem(400, f"Unknown field {names}; {can_be}", errors=errors)
        body.is_valid(raise_exception=True)
        return body.validated_data

    def respond(self, found: object, **headers: str) -> Response:
        """The answer to a POST."""
        shape = self.response_shape or self.shape
        return Response(shape(found, context={"request": self.request}).data, status=self.status, headers=headers)


class Editing:
    """Of a route whose POST edits what is stored under its address: its answers carry the version as `ETag`, and a POST
    whose `If-Match` names another one is refused with 412 and changes nothing. Without `If-Match`, a POST changes what
    it names."""

    @abstractmethod
    def version_of(self, row: Model, **place: str) -> object:
        """What tells one version from another, as JSON can hold it."""

    def tagged(self, response: Response, row: Model, **place: str) -> Response:
        response["ETag"] = self._tag(row, place)
        return response

    @contextmanager
    def edited(self, row: Model, **place: str) -> Iterator[None]:
        """Nobody else edits the row while the request does."""
        tags = {tag.removeprefix("W/") for tag in parse_etags(self.request.headers.get("If-Match", "*"))}
        if not tags:
            raise Problem(400, f"If-Match must be an ETag with its quotation marks, such as {EXAMPLE_ETAG}, or *")
        with editing.locked(row):
            if not tags & {"*", now := self._tag(row, place)}:
                raise Problem(
                    412, "This has been changed since you read it; get it again, and decide what to keep", etag=now
                )
            yield

    def _tag(self, row: Model, place: Mapping[str, str]) -> str:
        return f'"{editing.digest_of([type(self).__name__, row.pk, self.version_of(row, **place)])}"'


class Pages(CursorPagination):
    """By a cursor, so that the last page costs what the first does."""

    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = 1000

    def __init__(self, *ordering: str):
        self.ordering = ordering

    def decode_cursor(self, request):
        """The library passes on whatever a cursor says, such as a row's id that is not a number."""
        found = super().decode_cursor(request)
        if found is not None and found.position is not None:
            try:
                incoming.whole_in_words(found.position)
            except incoming.Refused:
                raise NotFound(self.invalid_cursor_message) from None
        return found


class Listing(Route):
    """Rows, page by page."""

    filters: ClassVar[Mapping[str, QueryFilter]] = {}
    # The order in which rows were made: one that an index has, so that a cursor goes on in it however long the list is.
    order: ClassVar[Sequence[str]] = ("id",)
    needs: ClassVar[Mapping[str, Sequence[str]]] = {}  # parameters without which there is no list, and their values

    def rows(self, request, **place) -> QuerySet:
        raise NotImplementedError

    def needed(self, name: str) -> str:
        """The value of a parameter without which there is no list."""
        text = self.request.query_params.get(name, "")
        if text not in self.needs[name]:
            raise Problem(400, f"{name} must be one of {', '.join(self.needs[name])}")
        return text

    def filters_for(self, request) -> Mapping[str, QueryFilter]:
        return self.filters

    def prepared(self, page: list) -> list:
        """The rows of a page with what takes a query for all of them."""
        return page

    def get(self, request, **place):
        rows = self.rows(request, **place)
        known = self.filters_for(request)
        for name, text in request.query_params.items():
            if name in PAGING or name in self.needs:
                continue
            if name not in known:
                raise Problem(400, f"Unknown parameter {name!r}; known are {', '.join((*self.needs, *known, *PAGING))}")
            rows = rows.filter(**{known[name].lookup: known[name].value(name, text)})
        sort = request.query_params.get("sort") or "created"
        if sort not in SORTS:
            raise Problem(400, f"sort must be one of {', '.join(SORTS)}")
        pages = Pages(*(name if sort == "created" else f"-{name}" for name in self.order))
        page = self.prepared(pages.paginate_queryset(rows, request))
        return pages.get_paginated_response(self.shape(page, many=True, context=self.shown_with(request)).data)

    def shown_with(self, request) -> dict:
        """What the serializer needs to know of who asks."""
        return {"request": request}

"""Requests that may be sent again: one with an `Idempotency-Key` has its effect once, and the same answer each time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from functools import wraps

from django.core.exceptions import RequestDataTooBig
from django.db import IntegrityError, transaction
from django.http import JsonResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework.renderers import JSONRenderer

from annotation import incoming
from annotation.api.problems import Problem, invalid
from annotation.models import StoredAnswer

HEADER = "Idempotency-Key"
REPLAYED = "Idempotent-Replayed"
KEPT = timedelta(days=7)
KEY_CHARS = StoredAnswer._meta.get_field("key").max_length
KEPT_HEADERS = ("ETag", "Location", "X-Job")


def repeatable(post: Callable) -> Callable:
    """A handler of POST whose body is read as a whole."""

    @wraps(post)
    def answer(view, request, **place):
        return once_of_body(request, lambda: post(view, request, **place))

    return answer


def once_of_body(request, answer: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    """`once` for a request of Django or of the REST framework whose body is read as a whole."""
    if request.method != "POST" or HEADER not in request.headers:
        return answer()
    try:
        body = getattr(request, "_request", request).body
    except RequestDataTooBig:
        raise Problem(413, "The request is too large") from None
    return once(request, hashlib.sha256(body).hexdigest(), answer)


def once(request, body_digest: str, answer: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    """The answer, which has an effect only where the request's key comes for the first time. Effect and answer are
    stored together, so there is nothing in between."""
    key = request.headers.get(HEADER)
    if key is None:
        return answer()
    try:
        key = incoming.text(key, KEY_CHARS)
    except incoming.Refused as refused:
        raise invalid(f"{HEADER} {refused}", HEADER) from None
    if not key:
        raise invalid(f"{HEADER} is empty", HEADER)
    asked = json.dumps([request.method, request.get_full_path(), body_digest])
    digest = hashlib.sha256(asked.encode()).hexdigest()
    mine = StoredAnswer.objects.filter(user=request.user)
    mine.filter(created_at__lt=timezone.now() - KEPT).delete()
    if (known := mine.filter(key=key).first()) is not None:
        return _again(known, digest)
    with transaction.atomic():
        try:
            with transaction.atomic():
                row = StoredAnswer.objects.create(user=request.user, key=key, digest=digest)
        except IntegrityError:  # the same key at the same moment, which has been answered by now
            return _again(mine.get(key=key), digest)
        response = answer()
        row.status, row.body = response.status_code, _kept(response)
        row.headers = {name: str(response[name]) for name in KEPT_HEADERS if name in response}
        row.save()
    return response


def _kept(response) -> object:
    """The answer's body; what is shown once is not kept."""
    if isinstance(response, JsonResponse):
        return json.loads(response.content)
    return json.loads(JSONRenderer().render(getattr(response, "kept", response.data)))


def _again(known: StoredAnswer, digest: str) -> JsonResponse:
    if known.digest != digest:
        raise Problem(422, f"This {HEADER} was used for another request; give each request a key of its own")
    return JsonResponse(known.body, status=known.status, headers=known.headers | {REPLAYED: "true"})

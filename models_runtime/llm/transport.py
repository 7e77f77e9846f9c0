"""Sending requests within bounds that the server cannot stretch: seconds for a request with all its retries, and bytes
of an answer. Redirects are not followed: an answer that points elsewhere is an error."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

import httpx2
from openai import OpenAIError

ANSWER_BYTES = 4 * 1024 * 1024
CONNECT_SECONDS = 10.0

# The longest that a server's `Retry-After` keeps this process from asking it.
LONGEST_HOLD = 3600.0

_bounds = threading.local()


# The openai package passes its own errors on and tries again after all others.
class DeadlineError(OpenAIError):
    """The request's time is over."""


class UnusableAnswerError(OpenAIError):
    """The answer is too large, or encoded although this was not asked for."""


@contextlib.contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """What this thread sends inside must be answered within `seconds`, all attempts together."""
    _bounds.until = time.monotonic() + seconds
    try:
        yield
    finally:
        _bounds.until = None


def _seconds_left() -> float:
    until = getattr(_bounds, "until", None)
    left = CONNECT_SECONDS if until is None else until - time.monotonic()
    if left <= 0:
        raise DeadlineError("no answer in time")
    return left


class Gate:
    """When this process may send the next request: so many a minute, and none before the time that a server named."""

    def __init__(self, per_minute: float = 0.0) -> None:
        self._apart = 60.0 / per_minute if per_minute else 0.0
        self._next = self._held_until = 0.0
        self._lock = threading.Lock()

    def hold(self, seconds: float) -> None:
        with self._lock:
            self._held_until = max(self._held_until, time.monotonic() + min(seconds, LONGEST_HOLD))

    def held_for(self) -> float:
        """Seconds from now."""
        return max(0.0, self._held_until - time.monotonic())

    def wait(self) -> None:
        with self._lock:
            turn = max(time.monotonic(), self._next, self._held_until)
            self._next = turn + self._apart
        time.sleep(max(0.0, turn - time.monotonic()))


def _retry_after(answer: httpx2.Response) -> float | None:
    """Seconds; None where the server says none, or a date."""
    try:
        found = float(answer.headers.get("retry-after", ""))
    except ValueError:
        return None
    return found if 0 <= found < float("inf") else None


class BoundedTransport(httpx2.BaseTransport):
    """Reads every answer to its end itself, so that the bounds hold for slow and endless ones too. A server that is
    asked too much closes the gate for all."""

    def __init__(self, gate: Gate | None = None, inner: httpx2.BaseTransport | None = None) -> None:
        self.inner = inner or httpx2.HTTPTransport(limits=httpx2.Limits(max_connections=None))
        self.gate = gate or Gate()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        left = _seconds_left()
        request.extensions["timeout"] = {
            "connect": min(CONNECT_SECONDS, left),
            "read": left,
            "write": left,
            "pool": left,
        }
        answer = self.inner.handle_request(request)
        try:
            if answer.headers.get("content-encoding", "identity") != "identity":
                raise UnusableAnswerError("the answer is encoded")
            body = bytearray()
            for part in answer.stream:
                body += part
                _seconds_left()
                if len(body) > ANSWER_BYTES:
                    raise UnusableAnswerError("the answer is too large")
        finally:
            answer.close()
        if answer.status_code == 429 and (seconds := _retry_after(answer)):
            self.gate.hold(seconds)
        return httpx2.Response(answer.status_code, headers=answer.headers, content=bytes(body))

    def close(self) -> None:
        self.inner.close()


def bounded_client(gate: Gate | None = None) -> httpx2.Client:
    return httpx2.Client(transport=BoundedTransport(gate), follow_redirects=False)

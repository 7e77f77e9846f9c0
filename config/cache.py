"""The shared cache: Redis with JSON in it. Where Redis is away, every process counts for itself until it is back."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

log = logging.getLogger(__name__)
# So long nobody asks a server again that has just failed to answer: a page must not wait for it again and again.
AWAY_SECONDS = 10
WAIT_SECONDS = 1


class JsonSerializer:
    """What is cached is read back by other processes: as JSON, which runs no code of its writer."""

    def dumps(self, value: Any) -> int | bytes:
        # Redis counts whole numbers itself.
        return value if type(value) is int else json.dumps(value, allow_nan=False).encode()

    def loads(self, data: bytes) -> Any:
        return json.loads(data)


class SharedCache(RedisCache):
    """Django's cache in Redis; in the memory of this process while Redis is away.

    Nothing here may be the truth of anything: counters of limits start anew, and what was counted is counted again.
    """

    def __init__(self, server: str, params: dict) -> None:
        waits = {"socket_connect_timeout": WAIT_SECONDS, "socket_timeout": WAIT_SECONDS, "retry": Retry(NoBackoff(), 1)}
        super().__init__(server, params | {"OPTIONS": {"serializer": JsonSerializer, **waits}})
        self._spare = LocMemCache(f"spare for {server}", {})
        self._away_until = 0.0
        self._lock = threading.Lock()

    def _or_spare(self, name: str, *args, **kwargs) -> Any:
        if time.monotonic() >= self._away_until:
            try:
                return getattr(super(), name)(*args, **kwargs)
            except (RedisError, OSError) as error:
                self._note(error)
        return getattr(self._spare, name)(*args, **kwargs)

    def _note(self, error: Exception) -> None:
        with self._lock:
            self._away_until = time.monotonic() + AWAY_SECONDS
        log.warning("The cache cannot be reached, so this process does without it: %s", type(error).__name__)


def _guarded(name: str) -> Callable:
    def method(self: SharedCache, *args, **kwargs) -> Any:
        return self._or_spare(name, *args, **kwargs)

    method.__name__ = name
    return method


for _name in (
    "add",
    "get",
    "set",
    "touch",
    "delete",
    "get_many",
    "set_many",
    "delete_many",
    "has_key",
    "incr",
    "clear",
):
    setattr(SharedCache, _name, _guarded(_name))

"""The servers that may be asked, from the environment: only who runs the site names addresses, never its users.

`ASSAY_LLM_ENDPOINTS` holds JSON: `{"name": {"url": "http://gpu1:8000/v1", "model": "served name"}}`, and where needed
the options that docs/settings.md lists. A `preset` says what servers of a kind take; what is set explicitly counts
more. The standard library only: the settings read it too, and so does a notebook.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ..contracts import ModelError
from ..named_entries import named_entries

VARIABLE = "ASSAY_LLM_ENDPOINTS"
HOW_TO = (
    f"No endpoint of a language model is configured; set {VARIABLE} for the web server and the workers, such as "
    '{"main": {"url": "http://127.0.0.1:8000/v1", "model": "served-name"}} (docs/settings.md)'
)
MAX_IN_FLIGHT = 16
_HEADER = re.compile(r"[A-Za-z0-9-]{1,80}")
# How one letter is asked for, where a run leaves it to the endpoint; see `answers`.
WAYS = ("auto", "choice", "json_schema", "text")
# What a request says of how the model writes; null in the setting: never sent.
SAMPLING = ("temperature", "top_p", "seed", "reasoning_effort")
# What servers of a kind take. vLLM's and llama.cpp's own ways are the defaults. An 8-billion-parameter model on one GPU
# answered .76 of what it could with 16 requests at a time, and .92 with 64.
PRESETS: dict[str, dict[str, Any]] = {
    "vllm": {"max_in_flight": 64},
    "llama.cpp": {},
    "openai": {"max_tokens_name": "max_completion_tokens"},
    # Of what its compatible endpoint ignores, nothing is sent; its list of models wants another header.
    "anthropic": {"structured": False, "logprobs": False, "models": False, "seed": None},
    "ollama": {"logprobs": False},
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One model on one or more servers. `api_key_env` names the variable that has its key; empty: no key. Prices are
    those of a million tokens, in the site's currency; None where they are not known. `max_in_flight` holds for each
    address. `sampling` is sent where the request does not say otherwise, and what is None there is never sent."""

    name: str
    url: str
    model: str
    api_key_env: str = ""
    max_in_flight: int = MAX_IN_FLIGHT
    prompt_price: float | None = None
    completion_price: float | None = None
    replicas: tuple[str, ...] = ()
    max_tokens_name: str = "max_tokens"
    thinking_tokens: int = 0  # added to the room of every answer, for what the model thinks unseen
    logprobs: bool = True
    structured: bool = True  # whether it can be held to a form of the answer
    models: bool = True  # whether it lists what it serves
    answers: str = "auto"
    timeout_seconds: float = 0.0  # where a run's own is less
    requests_per_minute: float = 0.0  # 0: as many as it answers
    stop_after: int = 10  # equal refusals, one after the other, before a run stops
    sampling: Mapping[str, Any] = field(default_factory=dict)
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def urls(self) -> tuple[str, ...]:
        return (self.url, *self.replicas)

    @property
    def most_in_flight(self) -> int:
        return self.max_in_flight * len(self.urls)

    @property
    def options(self) -> dict[str, Any]:
        """What of it decides answers, for a run's provenance; nothing where all is as by default."""
        found = {name: value for name, value in self.sampling.items() if value is not None}
        return found | ({"extra_body": dict(self.extra_body)} if self.extra_body else {})

    @property
    def root(self) -> str:
        """The server's own address, above the versioned API."""
        return root_of(self.url)


def root_of(url: str) -> str:
    return url.removesuffix("/v1")


def parse_endpoints(raw: str) -> dict[str, Endpoint]:
    """The endpoints by name, in the order given; ValueError says what is wrong and where."""
    found = named_entries(raw, "endpoints by name", "endpoint name")
    return {name: _endpoint(name, values) for name, values in found.items()}


def configured() -> dict[str, Endpoint]:
    """The endpoints of this process's environment; empty where none is set. ValueError as in `parse_endpoints`."""
    raw = os.environ.get(VARIABLE, "").strip()
    return parse_endpoints(raw) if raw else {}


def _endpoint(name: str, values: object) -> Endpoint:
    if not isinstance(values, dict):
        raise ValueError(f"must give an object for the endpoint {name}")
    if unknown := sorted(set(values) - _KEYS):
        raise ValueError(f"has {unknown[0]!r} for the endpoint {name}; known are {', '.join(sorted(_KEYS))}")
    for key in ("url", "model"):
        if not isinstance(values.get(key), str) or not values[key].strip():
            raise ValueError(f"must give {key} for the endpoint {name}")
    key_variable = values.get("api_key_env", "")
    # One of Assay's own, such as the secret key, must never be sent anywhere.
    if not isinstance(key_variable, str) or key_variable.startswith("ASSAY_"):
        raise ValueError(f"must give api_key_env of {name} as the name of a variable that does not begin with ASSAY_")
    prices = [_checked_price(name, key, values.get(key)) for key in ("prompt_price", "completion_price")]
    if (prices[0] is None) != (prices[1] is None):
        raise ValueError(f"must give both prompt_price and completion_price of {name}, or neither")
    preset = values.get("preset", "vllm")
    if preset not in PRESETS:
        raise ValueError(f"has the preset {preset!r} for the endpoint {name}; known are {', '.join(PRESETS)}")
    options = {key: _checked_option(name, key, values[key]) for key in _OPTIONS if key in values}
    options = PRESETS[preset] | options
    sampling = {key: options.pop(key) for key in SAMPLING if key in options}
    url, replicas = _checked_url(name, values["url"]), options.pop("replicas", ())
    if len({url, *replicas}) <= len(replicas):
        raise ValueError(f"has an address twice for the endpoint {name}")
    return Endpoint(
        name,
        url,
        values["model"],
        key_variable,
        prompt_price=prices[0],
        completion_price=prices[1],
        replicas=replicas,
        sampling=sampling,
        **options,
    )


def _checked_option(name: str, key: str, value: object) -> Any:
    meant, check = _OPTIONS[key]
    found = check(name, value)
    if found is _WRONG:
        raise ValueError(f"must give {key} of {name} as {meant}")
    return found


_WRONG = object()


def _number(low: float, high: float, *, whole: bool = False, may_be_none: bool = False) -> Callable[[str, object], Any]:
    def check(name: str, value: object) -> Any:
        if value is None and may_be_none:
            return None
        kinds = int if whole else int | float
        is_number = isinstance(value, kinds) and not isinstance(value, bool)
        return value if is_number and low <= value <= high else _WRONG

    return check


def _one_of(*choices: object, may_be_none: bool = False) -> Callable[[str, object], Any]:
    def check(name: str, value: object) -> Any:
        if value is None and may_be_none:
            return None
        return (
            value
            if any(value is choice or (isinstance(value, str) and value == choice) for choice in choices)
            else _WRONG
        )

    return check


def _urls(name: str, value: object) -> Any:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        return _WRONG
    return tuple(_checked_url(name, one) for one in value)


def _object(name: str, value: object) -> Any:
    return value if isinstance(value, dict) else _WRONG


def _headers(name: str, value: object) -> Any:
    if not isinstance(value, dict):
        return _WRONG
    fits = all(
        _HEADER.fullmatch(key) and isinstance(text, str) and text.isascii() and text.isprintable()
        for key, text in value.items()
    )
    return value if fits else _WRONG


# By name: what it must be, and its check, which gives the value or _WRONG.
_OPTIONS: dict[str, tuple[str, Callable[[str, object], Any]]] = {
    "max_in_flight": ("a whole number from 1 to 512", _number(1, 512, whole=True)),
    "replicas": ("a list of addresses", _urls),
    "max_tokens_name": ("max_tokens or max_completion_tokens", _one_of("max_tokens", "max_completion_tokens")),
    "thinking_tokens": ("a whole number from 0 to 1000000", _number(0, 1_000_000, whole=True)),
    "logprobs": ("true or false", _one_of(True, False)),
    "structured": ("true or false", _one_of(True, False)),
    "models": ("true or false", _one_of(True, False)),
    "answers": (" or ".join(WAYS), _one_of(*WAYS)),
    "timeout_seconds": ("a number from 1 to 3600", _number(1, 3600)),
    "requests_per_minute": ("a number from 1 to 1000000", _number(1, 1_000_000)),
    "stop_after": ("a whole number from 1 to 1000", _number(1, 1000, whole=True)),
    "temperature": ("a number from 0 to 2, or null", _number(0, 2, may_be_none=True)),
    "top_p": ("a number from 0 to 1, or null", _number(0, 1, may_be_none=True)),
    "seed": ("a whole number, or null", _number(-(2**63), 2**63 - 1, whole=True, may_be_none=True)),
    "reasoning_effort": (
        "none, minimal, low, medium, high or null",
        _one_of("none", "minimal", "low", "medium", "high", may_be_none=True),
    ),
    "extra_body": ("an object", _object),
    "headers": ("an object of names and printable texts", _headers),
}
_KEYS = {"url", "model", "api_key_env", "prompt_price", "completion_price", "preset", *_OPTIONS}


def _checked_price(name: str, key: str, price: object) -> float | None:
    if price is None:
        return None
    if not isinstance(price, int | float) or isinstance(price, bool) or not 0 <= price < math.inf:
        raise ValueError(f"must give {key} of {name} as a number from 0 on: the price of a million tokens")
    return float(price)


def _checked_url(name: str, url: str) -> str:
    parts = urlsplit(url.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"must give the url of {name} with http:// or https:// and a host")
    if "@" in parts.netloc:
        raise ValueError(f"must not have a name or password in the url of {name}; use api_key_env")
    if parts.query or parts.fragment:
        raise ValueError(f"must not have ? or # in the url of {name}")
    return url.strip().rstrip("/")


def names() -> tuple[str, ...]:
    """Of those configured; none where the variable cannot be read."""
    try:
        return tuple(configured())
    except ValueError:
        return ()


@dataclass(frozen=True, slots=True)
class Identity:
    """What a server says it serves. `revision` is as much as it tells: where the model is from, how much it takes at
    once, and the server's own version; empty where it tells nothing."""

    model: str
    revision: str
    is_vllm: bool


class UnreachableError(Exception):
    """No connection, however often it was tried. That is the server's trouble, not that of what was asked."""


class RefusedError(ModelError):
    """The server answers, and lets nobody in with this key."""

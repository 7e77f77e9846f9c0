"""The servers that may be asked, from the environment: only who runs the site names addresses, never its users.

`ASSAY_LLM_ENDPOINTS` holds JSON: `{"name": {"url": "http://gpu1:8000/v1", "model": "served name"}}`, and where needed
`"api_key_env"` (the name of the variable with the key), `"max_in_flight"` (requests at the same time, per worker
process), `"prompt_price"` and `"completion_price"` (of a million tokens sent and received). The standard
library only: the settings read it too, and so does a notebook.
"""

from __future__ import annotations

import json
import math
import os
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

VARIABLE = "ASSAY_LLM_ENDPOINTS"
HOW_TO = (
    f"No endpoint of a language model is configured; set {VARIABLE} for the web server and the workers, such as "
    '{"main": {"url": "http://127.0.0.1:8000/v1", "model": "served-name"}} (docs/settings.md)'
)
MAX_IN_FLIGHT = 16
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")
_KEYS = {"url", "model", "api_key_env", "max_in_flight", "prompt_price", "completion_price"}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One server with the model to ask there. `api_key_env` names the variable that has its key; empty: no key.
    Prices are those of a million tokens, in the site's currency; None where they are not known."""

    name: str
    url: str
    model: str
    api_key_env: str = ""
    max_in_flight: int = MAX_IN_FLIGHT
    prompt_price: float | None = None
    completion_price: float | None = None

    @property
    def root(self) -> str:
        """The server's own address, above the versioned API."""
        return self.url.removesuffix("/v1")


def parse_endpoints(raw: str) -> dict[str, Endpoint]:
    """The endpoints by name, in the order given; ValueError says what is wrong and where."""
    try:
        found = json.loads(raw, object_pairs_hook=_without_twins)
    except json.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error.msg} at character {error.pos + 1}") from None
    if not isinstance(found, dict):
        raise ValueError("must be a JSON object of endpoints by name")
    return {name: _endpoint(name, values) for name, values in found.items()}


def configured() -> dict[str, Endpoint]:
    """The endpoints of this process's environment; empty where none is set. ValueError as in `parse_endpoints`."""
    raw = os.environ.get(VARIABLE, "").strip()
    return parse_endpoints(raw) if raw else {}


def _without_twins(pairs: list[tuple[str, object]]) -> dict:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"names {next(name for name in names if names.count(name) > 1)!r} twice")
    return found


def _endpoint(name: str, values: object) -> Endpoint:
    if not _NAME.fullmatch(name):
        raise ValueError(f"has the endpoint name {name!r}; use up to 40 letters, digits, dots, dashes and underscores")
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
    in_flight = values.get("max_in_flight", MAX_IN_FLIGHT)
    if not isinstance(in_flight, int) or isinstance(in_flight, bool) or not 1 <= in_flight <= 512:
        raise ValueError(f"must give max_in_flight of {name} as a whole number from 1 to 512")
    prices = [_checked_price(name, key, values.get(key)) for key in ("prompt_price", "completion_price")]
    if (prices[0] is None) != (prices[1] is None):
        raise ValueError(f"must give both prompt_price and completion_price of {name}, or neither")
    return Endpoint(name, _checked_url(name, values["url"]), values["model"], key_variable, in_flight, *prices)


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

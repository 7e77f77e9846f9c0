"""Search providers, from the environment: only who runs the site names them and holds their keys.

`ASSAY_SEARCH_PROVIDERS` holds JSON: `{"brave": {"kind": "brave", "api_key_env": "BRAVE_KEY"}, "own": {"kind":
"searxng", "url": "https://searx.example.org"}}`. The kinds:

| kind | asked | documented at |
|---|---|---|
| brave | `GET {url}/res/v1/web/search?q=…&count=…`, the key in `X-Subscription-Token` | api.search.brave.com |
| searxng | `GET {url}/search?q=…&format=json` | docs.searxng.org, Search API |
| fact-check-tools | `GET {url}/v1alpha1/claims:search?…&key=…`, for claims and not for pages | developers.google.com |
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from .. import egress
from ..contracts import InputError, ModelError, UnavailableError
from ..named_entries import named_entries

VARIABLE = "ASSAY_SEARCH_PROVIDERS"
HOW_TO = f"No search provider is configured; set {VARIABLE} for the web server and the workers (docs/settings.md)"
ANSWER_BYTES = 4_000_000
SECONDS = 20.0
TRIES = 3
LONGEST_WAIT = 20.0  # of what a provider that is asked too often says; the job waits for longer ones
MOST_RESULTS = 100
_KEYS = {"kind", "url", "api_key_env"}


@dataclass(frozen=True, slots=True)
class Provider:
    name: str
    kind: str
    url: str
    api_key_env: str = ""

    @property
    def key(self) -> str:
        return os.environ.get(self.api_key_env, "").strip() if self.api_key_env else ""

    @property
    def host(self) -> frozenset[str]:
        """Who runs the site chose the address, so it may be one of its own network."""
        return frozenset({urlsplit(self.url).netloc, urlsplit(self.url).hostname or ""})


@dataclass(frozen=True, slots=True)
class ProviderKind:
    url: str  # where it is, unless another address is given
    needs_key: bool
    request: Callable[[Provider, str, int], tuple[str, dict[str, str]]]
    results: Callable[[Any], list[dict[str, Any]]]
    finds: str = "pages"


def _brave(provider: Provider, query: str, count: int) -> tuple[str, dict[str, str]]:
    # It takes 400 characters and gives 20 results at most.
    asked = urlencode({"q": query[:400], "count": min(count, 20), "text_decorations": "false"})
    return f"{provider.url}/res/v1/web/search?{asked}", {"X-Subscription-Token": provider.key}


def _of_brave(body: Any) -> list[dict[str, Any]]:
    return [
        {
            "url": one.get("url"),
            "title": one.get("title"),
            "publisher": (one.get("profile") or {}).get("name"),
            "date": one.get("page_age"),
        }
        for one in (body.get("web") or {}).get("results") or []
    ]


def _searxng(provider: Provider, query: str, count: int) -> tuple[str, dict[str, str]]:
    return f"{provider.url}/search?{urlencode({'q': query, 'format': 'json'})}", {}


def _of_searxng(body: Any) -> list[dict[str, Any]]:
    return [
        {"url": one.get("url"), "title": one.get("title"), "publisher": "", "date": one.get("publishedDate")}
        for one in body["results"]
    ]


def _fact_checks(provider: Provider, query: str, count: int) -> tuple[str, dict[str, str]]:
    # `query` is made by `fact_check_query`: what to ask for, and the page of the answer.
    return f"{provider.url}/v1alpha1/claims:search?{query}&{urlencode({'key': provider.key})}", {}


KINDS = {
    "brave": ProviderKind("https://api.search.brave.com", True, _brave, _of_brave),
    "searxng": ProviderKind("", False, _searxng, _of_searxng),
    "fact-check-tools": ProviderKind(
        "https://factchecktools.googleapis.com", True, _fact_checks, lambda body: [body], finds="claims"
    ),
}


def parse_providers(raw: str) -> dict[str, Provider]:
    """By name, in the order given; ValueError says what is wrong and where."""
    found = named_entries(raw, "search providers by name")
    return {name: _provider(name, values) for name, values in found.items()}


def _provider(name: str, values: object) -> Provider:
    if not isinstance(values, dict) or values.get("kind") not in KINDS:
        raise ValueError(f"must give {name} an object with a kind, one of {', '.join(KINDS)}")
    if unknown := sorted(set(values) - _KEYS):
        raise ValueError(f"has {unknown[0]!r} for {name}; known are {', '.join(sorted(_KEYS))}")
    kind = KINDS[values["kind"]]
    url, variable = values.get("url", kind.url), values.get("api_key_env", "")
    if not isinstance(url, str) or not url.startswith(("https://", "http://")) or not urlsplit(url).hostname:
        raise ValueError(f"must give the url of {name} with https:// or http:// and a host")
    if not isinstance(variable, str) or variable.startswith("ASSAY_"):
        raise ValueError(f"must give api_key_env of {name} as the name of a variable that does not begin with ASSAY_")
    if kind.needs_key and not variable:
        raise ValueError(f"must give api_key_env of {name}: the name of the variable that holds the key")
    return Provider(name, values["kind"], url.rstrip("/"), variable)


def configured(finds: str = "pages") -> dict[str, Provider]:
    """Those of this process's environment that find pages, or claims. ValueError as in `parse_providers`."""
    raw = os.environ.get(VARIABLE, "").strip()
    found = parse_providers(raw) if raw else {}
    return {name: one for name, one in found.items() if KINDS[one.kind].finds == finds}


def names(finds: str = "pages") -> tuple[str, ...]:
    """None where the variable cannot be read."""
    try:
        return tuple(configured(finds))
    except ValueError:
        return ()


def search(provider: Provider, query: str, count: int) -> list[dict[str, Any]]:
    """Results, best first: `url`, `title`, `publisher` and `date` as far as they are given. InputError for an answer
    that cannot be read: this query has none then. ModelError where the key is refused, and UnavailableError where the
    provider wants to be asked later: no query's fault.
    """
    kind = KINDS[provider.kind]
    if kind.needs_key and not provider.key:
        raise ModelError(f"the search provider {provider.name} needs its key in {provider.api_key_env}")
    url, headers = kind.request(provider, query, count)
    body = _answer(provider, url, headers)
    try:
        found = kind.results(body)
    except (KeyError, TypeError, AttributeError):
        raise InputError("search-failed", f"{provider.name} answered something else than results", False) from None
    return [one for one in found if isinstance(one, dict)][:count]


def _answer(provider: Provider, url: str, headers: Mapping[str, str]) -> Any:
    problem = ""
    for attempt in range(TRIES):
        if attempt:
            time.sleep(min(0.5 * 2**attempt, LONGEST_WAIT))
        try:
            found = egress.get(
                url,
                {"Accept": "application/json", "Accept-Encoding": "identity", **headers},
                allowed=provider.host,
                seconds=SECONDS,
                most_bytes=ANSWER_BYTES,
            )
        except egress.NoAnswer as error:
            problem = f"no answer ({error})"
            continue
        except egress.AddressRefused as refused:
            raise ModelError(f"the address of {provider.name} {refused}") from None
        if found.status in (401, 402, 403):
            raise ModelError(f"{provider.name} refuses the key in {provider.api_key_env} (HTTP {found.status})")
        if found.status == 429:
            wait = _seconds(found.headers.get("retry-after", ""))
            problem = "HTTP 429"
            if wait > LONGEST_WAIT or attempt == TRIES - 1:
                raise UnavailableError(f"the search provider {provider.name} is asked too often (HTTP 429)")
            time.sleep(wait)
            continue
        if found.status == 200:
            if len(found.body) > ANSWER_BYTES or not found.is_whole:
                problem = "half an answer" if not found.is_whole else "too large an answer"
                continue
            try:
                return json.loads(found.body)
            except (ValueError, RecursionError):
                what = "nothing" if not found.body.strip() else f"{found.headers.get('content-type', 'something')[:60]}"
                problem = f"{what}, no JSON that can be read"
                continue
        problem = f"HTTP {found.status}"
        if found.status < 500:
            break
    raise InputError("search-failed", f"{provider.name} answered {problem}", permanent=False)


def _seconds(header: str) -> float:
    return min(float(header), 86_400.0) if header.strip().isdecimal() and len(header) < 8 else 1.0

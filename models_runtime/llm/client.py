"""Asking one endpoint: as many requests at a time as it is set to take, each within its deadline, tried again where
that may help, and errors sorted into those of one request and those of the server.

What a server says of its errors reaches the researcher behind our own words, as text, without keys and cut to size.
A server that refuses the same again and again (a bad key, no credit, a model that is gone) is asked no more.
"""

from __future__ import annotations

import json
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2
import openai

from ..contracts import InputError, ModelError, UnavailableError
from .endpoints import Endpoint, Identity, RefusedError, UnreachableError, root_of
from .transport import DeadlineError, Gate, UnusableAnswerError, bounded_client, deadline

# What is asked about the server itself is answered at once or not at all.
STATUS_SECONDS = 10.0
POLL_SECONDS = 1.0
# What a proxy answers while the server behind it is away.
BEHIND_A_PROXY = (502, 503, 504)
# Signs in the texts of vLLM, OpenAI, llama.cpp and others that the request is longer than the model takes.
TOO_LONG = (
    *("context_length_exceeded", "context length", "context size", "context window"),
    *("maximum model length", "fewer output tokens"),
)

# Of a provider without credit, which answers as if it were only busy.
NO_CREDIT = ("insufficient_quota", "billing", "credit balance")
# Reasons of failures that are the same for every request, as long as nobody mends the server or its settings.
REFUSALS = ("rejected", "malformed")
# A server that takes nothing for longer than this many seconds is looked for later, and no worker waits for it.
LONGEST_HELD = 10.0
SAID_LENGTH = 300
KEY_CUT = "[key]"
_MARKUP = re.compile(r"<(script|style|head)\b(?:(?!<\1\b).)*?</\1\s*>|<[^<>]*>", re.DOTALL | re.IGNORECASE)
_KEYLIKE = re.compile(r"\b(?:sk|pk|rk|gsk|xai|hf|key)[-_][\w*-]{6,}|\bBearer\s+\S+", re.IGNORECASE)

# One line per request would fill a worker's log.
logging.getLogger("httpx2").setLevel(logging.WARNING)

Item = TypeVar("Item")
Result = TypeVar("Result")


def busy(message: str, seconds: float) -> UnavailableError:
    error = UnavailableError(message)
    error.seconds = seconds
    return error


class _Address:
    """One server of the endpoint."""

    def __init__(self, url: str, client: openai.OpenAI) -> None:
        self.url, self.root, self.client = url, root_of(url), client
        self.is_away = threading.Event()
        self.in_flight = 0


class LlmClient:
    """One endpoint. Threads may share it."""

    def __init__(self, endpoint: Endpoint, *, timeout: float, retries: int) -> None:
        key = os.environ.get(endpoint.api_key_env, "") if endpoint.api_key_env else "none"
        if not key:
            raise ModelError(f"the endpoint {endpoint.name} needs its key in the variable {endpoint.api_key_env}")
        self.endpoint, self.timeout = endpoint, max(timeout, endpoint.timeout_seconds)
        self.gate = Gate(endpoint.requests_per_minute)
        self._http = bounded_client(self.gate)
        self._secrets = [key if endpoint.api_key_env else "", *endpoint.headers.values()]
        self._addresses = [
            _Address(
                url,
                openai.OpenAI(
                    base_url=url,
                    api_key=key,
                    http_client=self._http,
                    max_retries=retries,
                    timeout=self.timeout,
                    default_headers={"Accept-Encoding": "identity", **endpoint.headers},
                ),
            )
            for url in endpoint.urls
        ]
        self._slots = threading.BoundedSemaphore(endpoint.most_in_flight)
        self._lock = threading.Lock()
        self._refusals = ("", 0)  # what was reported last, and how often in a row
        self._stopped = ""  # why nothing is asked any more until the next round
        self._named = f"the server {endpoint.name} at {urlsplit(endpoint.url).netloc}"

    def identity(self) -> Identity:
        """What is served now. UnavailableError where nothing answers, ModelError where another model does."""
        found, away = [], None
        for address in self._addresses:
            try:
                found.append(self._identity_of(address))
                address.is_away.clear()
            except UnavailableError as error:
                address.is_away.set()
                away = away or error
        if not found:
            raise away
        if any(one != found[0] for one in found):
            served = "; ".join(f"{one.model} {one.revision}".strip() for one in dict.fromkeys(found))
            raise ModelError(f"the addresses of the endpoint {self.endpoint.name} serve different things: {served}")
        return found[0]

    def _identity_of(self, address: _Address) -> Identity:
        name, model = self.endpoint.name, self.endpoint.model
        if not self.endpoint.models:
            return Identity(model, "", False)
        named = f"the server {name} at {urlsplit(address.url).netloc}"
        try:
            with deadline(STATUS_SECONDS):
                listed = _parsed(address.client.models.with_raw_response.list().http_response.content).get("data")
        except openai.APIStatusError as error:
            if error.status_code == 404:  # a server without the list of its models
                return Identity(model, "", False)
            if _is_passing(error.status_code):
                raise UnavailableError(f"{named} answers with status {error.status_code}") from None
            raise RefusedError(
                f"the endpoint {name} refuses with status {error.status_code}{self._quoted(error.body)}"
            ) from None
        except (openai.APIConnectionError, DeadlineError):
            raise UnavailableError(f"{named} cannot be reached") from None
        except (UnusableAnswerError, InputError):
            raise ModelError(f"the endpoint {name} does not answer as an OpenAI-compatible server does") from None
        cards = [card for card in listed if isinstance(card, dict)] if isinstance(listed, list) else []
        served = [card for card in cards if card.get("id") == model]
        if not served:
            others = ", ".join(str(card.get("id")) for card in cards[:5]) or "nothing"
            raise ModelError(f"the endpoint {name} does not serve {model!r}; it serves {others}")
        return self._identity_from(served[0], address, named)

    def _identity_from(self, card: dict, address: _Address, named: str) -> Identity:
        is_vllm = card.get("owned_by") == "vllm"
        facts = [str(card["root"])] if card.get("root") else []
        if card.get("max_model_len"):
            facts.append(f"{card['max_model_len']} tokens")
        if is_vllm and (version := self._vllm_version(address, named)):
            facts.append(f"vLLM {version}")
        return Identity(self.endpoint.model, ", ".join(facts), is_vllm)

    def _vllm_version(self, address: _Address, named: str) -> str:
        try:
            with deadline(STATUS_SECONDS):
                answer = self._http.get(f"{address.root}/version")
                return str(_parsed(answer.content).get("version", "")) if answer.status_code == 200 else ""
        except Exception as error:  # every transport fails in its own way
            raise UnavailableError(f"{named} does not tell its version ({type(error).__name__})") from None

    def wait_until_back(self, seconds: float) -> Identity:
        """The identity, once the server answers; UnavailableError where it does not within `seconds`."""
        end = time.monotonic() + seconds
        while True:
            try:
                return self.identity()
            except UnavailableError:
                if time.monotonic() >= end:
                    raise
                time.sleep(min(POLL_SECONDS, max(0.0, end - time.monotonic())))

    def chat(self, messages: list[dict[str, str]], *, even_if_away: bool = False, **options: Any) -> dict[str, Any]:
        """The answer's body. InputError with the reason where there is none, UnreachableError without a connection, or
        without another try where one has just been found missing, unless `even_if_away`. ModelError where the server
        has refused the same again and again; UnavailableError where it takes nothing for a while.

        Of a server that is held to no form, the body says so as `is_free`."""
        options, is_free = self._as_taken(options)
        body = self._asked(
            lambda address: (
                address.client.chat.completions.with_raw_response.create(
                    model=self.endpoint.model, messages=messages, **options
                ).http_response
            ),
            even_if_away,
        )
        return body | {"is_free": True} if is_free else body

    def _as_taken(self, options: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        """The options of a request in the way that this endpoint takes them, and whether a form of the answer was
        asked for that it cannot be held to."""
        endpoint = self.endpoint
        never = {name for name, value in endpoint.sampling.items() if value is None}
        options = {"temperature": 0} | dict(endpoint.sampling) | options
        if not endpoint.logprobs:
            never |= {"logprobs", "top_logprobs"}
        is_free = not endpoint.structured and "response_format" in options
        if not endpoint.structured:
            never.add("response_format")
        options = {name: value for name, value in options.items() if name not in never}
        if (room := options.pop("max_tokens", None)) is not None:
            options[endpoint.max_tokens_name] = room + endpoint.thinking_tokens
        if endpoint.extra_body:
            options["extra_body"] = dict(endpoint.extra_body) | options.get("extra_body", {})
        return options, is_free

    def post(
        self, path: str, body: dict[str, Any], *, above: bool = False, even_if_away: bool = False
    ) -> dict[str, Any]:
        """What the server answers to `body`, about the endpoint's model, at one of its own addresses: a path below the
        API's address or, with `above`, below the server's. Tried again, and failing, as `chat` is."""
        request = {"model": self.endpoint.model, **body}
        return self._asked(
            lambda address: address.client.post(
                f"{address.root if above else address.url}{path}", cast_to=httpx2.Response, body=request
            ),
            even_if_away,
        )

    def _asked(self, send: Callable[[_Address], httpx2.Response], even_if_away: bool) -> dict[str, Any]:
        """Asked at one address after the other, until one is there."""
        tried: set[_Address] = set()
        with self._slots:
            while address := self._free_address(tried, even_if_away):
                try:
                    if self._stopped:
                        raise ModelError(self._stopped)
                    if (seconds := self.gate.held_for()) > LONGEST_HELD:
                        raise busy(f"{self._named} takes no requests for another {seconds:.0f} s (status 429)", seconds)
                    self.gate.wait()
                    found = self._sent(send, address)
                except UnreachableError:
                    # The others of this round need not find it out one after the other.
                    address.is_away.set()
                    tried.add(address)
                except InputError as error:
                    self._count_refusal(error)
                    raise
                else:
                    self._refusals = ("", 0)
                    return found
                finally:
                    with self._lock:
                        address.in_flight -= 1
        raise UnreachableError

    def _free_address(self, tried: set[_Address], even_if_away: bool) -> _Address | None:
        """The one that answers the fewest requests of those that are there."""
        with self._lock:
            there = [one for one in self._addresses if one not in tried]
            there = [one for one in there if not one.is_away.is_set()] or (there if even_if_away else [])
            chosen = min(there, key=lambda one: one.in_flight, default=None)
            if chosen:
                chosen.in_flight += 1
            return chosen

    def _sent(self, send: Callable[[_Address], httpx2.Response], address: _Address) -> dict[str, Any]:
        try:
            with deadline(self.timeout):
                answer = send(address)
        except openai.APIStatusError as error:
            if error.status_code in BEHIND_A_PROXY:
                raise UnreachableError from None
            raise self._input_error(error) from None
        except openai.APITimeoutError:
            raise self._too_late() from None
        except DeadlineError:
            raise self._too_late() from None
        except openai.APIConnectionError:
            raise UnreachableError from None
        except UnusableAnswerError as error:
            raise InputError("malformed", f"the server's answer cannot be used: {error}", permanent=False) from None
        try:
            return _parsed(answer.content)
        except InputError as error:
            error.message += self._quoted(answer.content.decode(errors="replace"))
            raise

    def _count_refusal(self, error: InputError) -> None:
        """ModelError where the server refuses the same for the last time."""
        if error.reason not in REFUSALS:
            self._refusals = ("", 0)
            return
        with self._lock:
            message = re.sub(r"\d+", "0", error.message)
            count = self._refusals[1] + 1 if self._refusals[0] == message else 1
            self._refusals = (message, count)
        if count >= self.endpoint.stop_after:
            self._stopped = (
                f"stopped after {count} equal failures in a row at the endpoint {self.endpoint.name}: {error.message}"
            )
            raise ModelError(self._stopped) from error

    def _input_error(self, error: openai.APIStatusError) -> InputError:
        status, quoted = error.status_code, self._quoted(error.body)
        body = str(error.body).lower()[:4000]
        if status == 429 and any(sign in body for sign in NO_CREDIT):
            return InputError("rejected", f"the server rejects the request with status {status}{quoted}")
        if _is_passing(status):
            again = f"the server repeatedly answered with status {status}{quoted}"
            return InputError("server-error", again, permanent=False)
        if status in (400, 413, 422) and any(sign in body for sign in TOO_LONG):
            return InputError("context-too-long", "the texts are longer than the model takes at once")
        if status == 400 and "content_filter" in body:
            return InputError("refused", "the server's content filter stopped the request")
        return InputError("rejected", f"the server rejects the request with status {status}{quoted}")

    def _quoted(self, body: object) -> str:
        """What the server says itself, for researchers, without keys and markup; empty where it says nothing."""
        if isinstance(body, dict):
            body = body.get("message") or body.get("detail") or body.get("error") or ""
        text = body if isinstance(body, str) else json.dumps(body) if body else ""
        text = _MARKUP.sub(" ", text[:20_000])
        for secret in self._secrets:
            text = text.replace(secret, KEY_CUT) if len(secret) > 3 else text
        text = " ".join(_KEYLIKE.sub(KEY_CUT, text).split())
        return f": “{text[:SAID_LENGTH]}{'…' if len(text) > SAID_LENGTH else ''}”" if text else ""

    def _too_late(self) -> InputError:
        return InputError("timeout", f"the server gave no answer within {self.timeout:g} seconds", permanent=False)

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """`function` of every item, in order, with no more at a time than the endpoint takes. The first exception is
        raised when those begun have ended; the others are not begun any more."""
        if not items:
            return []
        self._stopped = ""
        pool = ThreadPoolExecutor(min(self.endpoint.most_in_flight, len(items)), thread_name_prefix="llm")
        try:
            return list(pool.map(function, items))
        finally:
            pool.shutdown(cancel_futures=True)


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise InputError("malformed", "the server answered with something that is not JSON", permanent=False) from None
    if not isinstance(found, dict):
        raise InputError("malformed", "the server answered with JSON of another form", permanent=False)
    return found


def _is_passing(status: int) -> bool:
    return status in (408, 409, 429) or status >= 500

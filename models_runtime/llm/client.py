"""Asking one endpoint: as many requests at a time as it is set to take, each within its deadline, tried again where
that may help, and errors sorted into those of one request and those of the server.

Nothing of a server's error texts is passed on: they may quote the request, and what users read is in our own words.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2
import openai

from ..contracts import InputError, ModelError, UnavailableError
from .endpoints import Endpoint, Identity, UnreachableError
from .transport import DeadlineError, UnusableAnswerError, bounded_client, deadline

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

# One line per request would fill a worker's log.
logging.getLogger("httpx2").setLevel(logging.WARNING)

Item = TypeVar("Item")
Result = TypeVar("Result")


class LlmClient:
    """One endpoint. Threads may share it."""

    def __init__(self, endpoint: Endpoint, *, timeout: float, retries: int) -> None:
        key = os.environ.get(endpoint.api_key_env, "") if endpoint.api_key_env else "none"
        if not key:
            raise ModelError(f"the endpoint {endpoint.name} needs its key in the variable {endpoint.api_key_env}")
        self.endpoint, self.timeout = endpoint, timeout
        self._http = bounded_client()
        self._openai = openai.OpenAI(
            base_url=endpoint.url,
            api_key=key,
            http_client=self._http,
            max_retries=retries,
            timeout=timeout,
            default_headers={"Accept-Encoding": "identity"},
        )
        self._is_away = threading.Event()
        self._named = f"the server {endpoint.name} at {urlsplit(endpoint.url).netloc}"

    def identity(self) -> Identity:
        """What is served now. UnavailableError where nothing answers, ModelError where another model does."""
        name, model = self.endpoint.name, self.endpoint.model
        try:
            with deadline(STATUS_SECONDS):
                listed = _parsed(self._openai.models.with_raw_response.list().http_response.content).get("data")
        except openai.APIStatusError as error:
            if error.status_code == 404:  # a server without the list of its models
                return Identity(model, "", False)
            if _is_passing(error.status_code):
                raise UnavailableError(f"{self._named} answers with status {error.status_code}") from None
            raise ModelError(f"the endpoint {name} refuses with status {error.status_code}") from None
        except (openai.APIConnectionError, DeadlineError):
            raise UnavailableError(f"{self._named} cannot be reached") from None
        except (UnusableAnswerError, InputError):
            raise ModelError(f"the endpoint {name} does not answer as an OpenAI-compatible server does") from None
        cards = [card for card in listed if isinstance(card, dict)] if isinstance(listed, list) else []
        served = [card for card in cards if card.get("id") == model]
        if not served:
            others = ", ".join(str(card.get("id")) for card in cards[:5]) or "nothing"
            raise ModelError(f"the endpoint {name} does not serve {model!r}; it serves {others}")
        return self._identity_from(served[0])

    def _identity_from(self, card: dict) -> Identity:
        is_vllm = card.get("owned_by") == "vllm"
        facts = [str(card["root"])] if card.get("root") else []
        if card.get("max_model_len"):
            facts.append(f"{card['max_model_len']} tokens")
        if is_vllm and (version := self._vllm_version()):
            facts.append(f"vLLM {version}")
        return Identity(self.endpoint.model, ", ".join(facts), is_vllm)

    def _vllm_version(self) -> str:
        try:
            with deadline(STATUS_SECONDS):
                answer = self._http.get(f"{self.endpoint.root}/version")
                return str(_parsed(answer.content).get("version", "")) if answer.status_code == 200 else ""
        except Exception as error:  # every transport fails in its own way
            raise UnavailableError(f"{self._named} does not tell its version ({type(error).__name__})") from None

    def wait_until_back(self, seconds: float) -> Identity:
        """The identity, once the server answers; UnavailableError where it does not within `seconds`."""
        end = time.monotonic() + seconds
        while True:
            try:
                found = self.identity()
            except UnavailableError:
                if time.monotonic() >= end:
                    raise
                time.sleep(min(POLL_SECONDS, max(0.0, end - time.monotonic())))
            else:
                self._is_away.clear()
                return found

    def chat(self, messages: list[dict[str, str]], *, even_if_away: bool = False, **options: Any) -> dict[str, Any]:
        """The answer's body. InputError with the reason where there is none, UnreachableError without a connection, or
        without another try where one has just been found missing, unless `even_if_away`."""
        return self._asked(
            lambda: (
                self._openai.chat.completions.with_raw_response.create(
                    model=self.endpoint.model, messages=messages, **options
                ).http_response
            ),
            even_if_away,
        )

    def post(self, url: str, body: dict[str, Any], *, even_if_away: bool = False) -> dict[str, Any]:
        """What the server answers to `body`, about the endpoint's model, at one of its own addresses (below
        `endpoint.url` or `endpoint.root`). Tried again, and failing, as `chat` is."""
        request = {"model": self.endpoint.model, **body}
        return self._asked(lambda: self._openai.post(url, cast_to=httpx2.Response, body=request), even_if_away)

    def _asked(self, send: Callable[[], httpx2.Response], even_if_away: bool) -> dict[str, Any]:
        if self._is_away.is_set() and not even_if_away:
            raise UnreachableError
        try:
            with deadline(self.timeout):
                answer = send()
        except openai.APIStatusError as error:
            if error.status_code in BEHIND_A_PROXY:
                self._is_away.set()
                raise UnreachableError from None
            raise _told(error) from None
        except openai.APITimeoutError:
            raise self._too_late() from None
        except DeadlineError:
            raise self._too_late() from None
        except openai.APIConnectionError:
            # The others of this round need not find it out one after the other.
            self._is_away.set()
            raise UnreachableError from None
        except UnusableAnswerError as error:
            raise InputError("malformed", f"the server's answer cannot be used: {error}", permanent=False) from None
        return _parsed(answer.content)

    def _too_late(self) -> InputError:
        return InputError("timeout", f"the server gave no answer within {self.timeout:g} seconds", permanent=False)

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """`function` of every item, in order, with no more at a time than the endpoint takes. The first exception is
        raised when those begun have ended; the others are not begun any more."""
        if not items:
            return []
        pool = ThreadPoolExecutor(min(self.endpoint.max_in_flight, len(items)), thread_name_prefix="llm")
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


def _told(error: openai.APIStatusError) -> InputError:
    status = error.status_code
    if _is_passing(status):
        return InputError("server-error", f"the server answered with status {status}, again and again", permanent=False)
    body = str(error.body).lower()[:4000]
    if status in (400, 413, 422) and any(sign in body for sign in TOO_LONG):
        return InputError("context-too-long", "the texts are longer than the model takes at once")
    if status == 400 and "content_filter" in body:
        return InputError("refused", "the server's content filter stopped the request")
    return InputError("rejected", f"the server rejects the request with status {status}")

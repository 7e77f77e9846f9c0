"""Asking one server about many things at once, whatever is asked: who the server is, what to do when it goes away in
the middle, and what each thing cost.

`Server` is an endpoint with the patience to wait for it. `ask_each` hands every thing to a function that asks about it
through an `Exchange`; what it returns, or the error that it raised, comes back in a `RequestOutcome`, in order. A
connection that is lost is nobody's failure: the server is waited for, and what was not answered is asked once more.
Where another model is served afterwards, nobody knows which of the two gave an answer, and all fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..contracts import OF_THE_SERVER, CheckerError, InputError, ModelError, Prediction, UnavailableError, Usage
from ..failures import is_interruption
from ..provenance import versions
from . import prompts
from .answers import CHOICE, JSON, TEXT, LabelAnswer, raw_text, read_answer, read_usage, request_options
from .endpoints import HOW_TO, VARIABLE, Endpoint, Identity, RefusedError, UnreachableError, configured

if TYPE_CHECKING:
    from .client import LlmClient

Thing = TypeVar("Thing")
Result = TypeVar("Result")
LONGEST_WAIT = 10.0  # seconds
# Parameters of a checker that say how its server is asked.
SETTINGS = ("endpoint", "timeout_seconds", "retries", "wait_seconds", "answers")


@dataclass(slots=True)
class Exchange:
    """Request and response about one input. It is kept when the input fails."""

    client: LlmClient
    is_vllm: bool
    mode: str  # how one letter is asked for: see `answers`
    usage: Usage = field(default_factory=Usage)
    prompts: prompts.Messages = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    is_second_try: bool = False

    def ask(self, messages: prompts.Messages, **options: Any) -> dict[str, Any]:
        """The body of the server's answer; InputError or UnreachableError as in `LlmClient.chat`."""
        self.prompts += messages
        # What breaks the connection each time must not take others down with it.
        body = self.client.chat(messages, even_if_away=self.is_second_try, **options)
        self.usage += read_usage(body)
        self.outputs.append(raw_text(body))
        return body

    def ask_for_letter(self, messages: prompts.Messages, letters: Mapping[str, str]) -> LabelAnswer:
        """The label behind the one letter that the model may answer with."""
        body = self.ask(messages, **request_options(letters, self.mode))
        return read_answer(body, letters, self.mode, lists_all=self.is_vllm)

    def trace(self) -> dict[str, Any] | None:
        return {"prompt": self.prompts, "output": "\n".join(self.outputs)} if self.prompts else None


@dataclass(frozen=True, slots=True)
class RequestOutcome(Generic[Result]):
    """`result` where `error` is None."""

    result: Result | None
    error: Exception | None
    exchange: Exchange

    @property
    def usage(self) -> Usage:
        return self.exchange.usage

    @property
    def trace(self) -> dict[str, Any] | None:
        return self.exchange.trace()


class Server:
    """One of the configured endpoints, by name; without one the first. ModelError where none is configured.

    `timeout_seconds` holds for one request with all its `retries`. A server that is away is waited for `wait_seconds`,
    LONGEST_WAIT at most: who has something else to do need not stand still, and can ask again later. `answers` says
    how one letter is asked for: `choice`, `json_schema`, or `auto`, which is by choice on vLLM.
    """

    def __init__(
        self,
        endpoint: str = "",
        *,
        timeout_seconds: float = 120,
        retries: int = 4,
        wait_seconds: float = 5,
        answers: str = "auto",
    ) -> None:
        self.endpoint = find_endpoint(endpoint)
        self.timeout_seconds, self.retries = timeout_seconds, retries
        self.wait_seconds, self.answers = min(wait_seconds, LONGEST_WAIT), answers
        # Fewer things at a time would leave the server waiting, and more would take minutes where it is asked slowly.
        self.slice_at_least = 2 * self.endpoint.most_in_flight
        if self.endpoint.requests_per_minute:
            self.slice_at_least = max(1, min(self.slice_at_least, round(self.endpoint.requests_per_minute / 12)))
        self._identity: Identity | None = None

    @cached_property
    def client(self) -> LlmClient:
        from .client import LlmClient  # which loads openai, and who only estimates what requests cost has no need of it

        return LlmClient(self.endpoint, timeout=self.timeout_seconds, retries=self.retries)

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Server:
        """As a checker's parameters have it."""
        return cls(**{name: parameters[name] for name in SETTINGS if name in parameters})

    def describe(self) -> dict[str, Any]:
        """Asks the server what it serves now. UnavailableError where it is away for too long."""
        self._identity = self.client.wait_until_back(self.wait_seconds)
        return {
            "model": self._identity.model,
            "revision": self._identity.revision,
            "device": "server",
            "endpoint": self.endpoint.name,
            "answers": self._mode(self._identity),
            "libraries": versions("openai"),
            **({"options": self.endpoint.options} if self.endpoint.options else {}),
        }

    def _mode(self, identity: Identity) -> str:
        for way in (self.answers, self.endpoint.answers):
            if way != "auto":
                return way
        if not self.endpoint.structured:
            return TEXT
        return CHOICE if identity.is_vllm else JSON

    def ask_each(
        self, things: Sequence[Thing], ask: Callable[[Thing, Exchange], Result]
    ) -> list[RequestOutcome[Result]]:
        """The outcome of `ask` for each thing, in order. UnavailableError where the server is away for longer than
        `wait_seconds` or takes nothing for a while, ModelError where it refuses the same again and again; `answered` of
        both are the outcomes that hold all the same, by the place of their thing."""
        if not things:
            return []
        before = self._identity = self._identity or self.client.wait_until_back(self.wait_seconds)
        exchanges = [Exchange(self.client, before.is_vllm, self._mode(before)) for _ in things]
        found: list[RequestOutcome[Result] | None] = [None] * len(things)

        def attempt(place: int) -> None:
            exchange = exchanges[place]
            exchange.prompts, exchange.outputs = [], []
            found[place] = _attempt(things[place], exchange, ask)

        try:
            self.client.map(attempt, range(len(things)))
        except (ModelError, UnavailableError) as error:
            if self._is_still(before):
                error.answered = {place: one for place, one in enumerate(found) if one}
            raise
        now = self.client.wait_until_back(self.wait_seconds)
        lost = [place for place, outcome in enumerate(found) if outcome is None]
        if lost and now == before:
            for place in lost:
                exchanges[place].is_second_try = True
            self.client.map(attempt, lost)
            now = self.client.wait_until_back(self.wait_seconds)
        changed = InputError("model-changed", "the server began to serve something else meanwhile", permanent=False)
        gone = InputError("server-error", "the connection to the server was lost repeatedly", permanent=False)
        if now != before:
            return [RequestOutcome(None, changed, exchange) for exchange in exchanges]
        return [
            outcome or RequestOutcome(None, gone, exchange) for outcome, exchange in zip(found, exchanges, strict=True)
        ]

    def _is_still(self, before: Identity) -> bool:
        """Whether the same is served now, or nobody is let in to see."""
        try:
            return self.client.identity() == before
        except CheckerError as error:
            return isinstance(error, RefusedError)


def _attempt(
    thing: Thing, exchange: Exchange, ask: Callable[[Thing, Exchange], Result]
) -> RequestOutcome[Result] | None:
    """None where the connection was lost."""
    try:
        return RequestOutcome(ask(thing, exchange), None, exchange)
    except UnreachableError:
        return None
    except Exception as error:
        if is_interruption(error) or isinstance(error, ModelError | UnavailableError):
            raise
        return RequestOutcome(None, error, exchange)


@contextmanager
def keeping(made: Callable[[dict[int, RequestOutcome]], Sequence[Prediction]]) -> Iterator[None]:
    """What was answered before the server was asked no more goes on with the error, as predictions that `made` makes of
    outcomes by their place. What the server refused is to be asked again."""
    try:
        yield
    except (ModelError, UnavailableError) as error:
        done = made(getattr(error, "answered", {}))
        error.predictions = tuple(one for one in done if not one.error or one.error.reason not in OF_THE_SERVER)
        raise


def shares(usage: Usage, among: int) -> list[Usage]:
    """What one request cost, shared among the things that it asked about; the shares add up to it.

    >>> shares(Usage(7, 2), 3)
    [Usage(prompt_tokens=3, completion_tokens=1, device_seconds=0.0), \
Usage(prompt_tokens=2, completion_tokens=1, device_seconds=0.0), \
Usage(prompt_tokens=2, completion_tokens=0, device_seconds=0.0)]
    """
    (sent, more_sent), (written, more_written) = (
        divmod(count, among) for count in (usage.prompt_tokens, usage.completion_tokens)
    )
    seconds = usage.device_seconds / among
    return [Usage(sent + (n < more_sent), written + (n < more_written), seconds) for n in range(among)]


def find_endpoint(name: str) -> Endpoint:
    """The endpoint of this name, the first one where it is empty. ModelError where there is none."""
    try:
        endpoints = configured()
    except ValueError as error:
        raise ModelError(f"{VARIABLE} {error}") from None
    if not endpoints:
        raise ModelError(HOW_TO)
    if name and name not in endpoints:
        raise ModelError(f"there is no endpoint {name!r}; available: {', '.join(endpoints)}")
    return endpoints[name] if name else next(iter(endpoints.values()))

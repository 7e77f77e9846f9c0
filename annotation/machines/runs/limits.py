"""What a run may cost: tokens and money after which it stops, with what it has done kept, and the prices that count.

A limit is looked at whenever answers come in, so a run spends at most what is under way beyond it: about a slice for
each worker.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.conf import settings
from django.db import transaction

from annotation.jobs import lifecycle
from annotation.models import Job, MachineRun
from models_runtime import registry
from models_runtime.contracts import CheckerInfo, Usage

MILLION = 1_000_000
HOUR = 3600
MOST_TOKENS, MOST_MONEY = 10**15, 1e9
NAME = "limits"  # among the job's parameters


@dataclass(frozen=True)
class CostLimits:
    """None: no limit. Money is in the site's currency."""

    tokens: int | None = None
    money: float | None = None

    @classmethod
    def of(cls, job: Job) -> CostLimits:
        return cls(**job.parameters.get(NAME, {}))

    @classmethod
    def asked(cls, values: Mapping[str, Any]) -> CostLimits:
        """Of a form's values, the body of a request or a command's options."""
        return cls(values.get("limit_tokens"), values.get("limit_money"))

    def __bool__(self) -> bool:
        return self != CostLimits()

    def noted(self) -> dict:
        """As the job keeps them; nothing where there are none."""
        return {NAME: asdict(self)} if self else {}

    @property
    def in_words(self) -> str:
        parts = [f"{self.tokens:,} tokens"] if self.tokens is not None else []
        parts += [f"{self.money:g} {settings.CURRENCY}".strip()] if self.money is not None else []
        return " or ".join(parts)

    def reached(self, usage: Usage, endpoint: str | None, queue: str) -> str:
        """Which limit this usage has reached, in a sentence; empty where none."""
        tokens, money = usage.prompt_tokens + usage.completion_tokens, None
        if self.tokens is not None and tokens >= self.tokens:
            return f"Stopped at its limit of {self.tokens:,} tokens: {tokens:,} were used"
        if self.money is not None:
            money = money_for(replace(usage, device_seconds=0), endpoint=endpoint, queue=queue)
        if money is not None and money >= self.money:
            return f"Stopped at its limit of {self.money:g} {settings.CURRENCY}: {money:.2f} were spent"
        return ""


def why_not(limits: CostLimits, parameters: dict) -> str:
    """Why a run with these parameters cannot keep the limits; empty where it can."""
    server = settings.LLM_ENDPOINTS.get(endpoint_of(parameters))
    if limits.money is not None and (server is None or server.prompt_price is None):
        return "A limit in money needs the endpoint's prices (ASSAY_LLM_ENDPOINTS); a limit in tokens does not"
    return ""


def endpoint_of(parameters: dict) -> str | None:
    return parameters.get("endpoint") or next(iter(registry.endpoint_names()), None)


def may_ask_server(info: CheckerInfo) -> bool:
    """Whether runs of this entry may cost tokens. Retrievers ask for expansions and queries, where they are told to."""
    return info.needs == "server" or (
        bool(registry.endpoint_names()) and any(one.kind == "endpoint" for one in info.parameters)
    )


def change(run: MachineRun, limits: CostLimits) -> None:
    """Set other limits; a run that has stopped goes on."""
    with transaction.atomic():
        job = Job.objects.select_for_update().get(pk=run.job_id)
        kept = {name: value for name, value in job.parameters.items() if name != NAME}
        Job.objects.filter(pk=job.pk).update(parameters=kept | limits.noted())
    if job.state == Job.State.FAILED:
        lifecycle.resume(job)


def money_for(usage: Usage, *, endpoint: str | None, queue: str) -> float | None:
    """The price of this usage, at an endpoint for its tokens and on workers of a queue for its seconds; None where
    nothing was used, or something whose price is not known."""
    total, is_known = 0.0, usage != Usage()
    if usage.prompt_tokens or usage.completion_tokens:
        server = settings.LLM_ENDPOINTS.get(endpoint)
        if server is None or server.prompt_price is None:
            return None
        total += (
            usage.prompt_tokens * server.prompt_price + usage.completion_tokens * server.completion_price
        ) / MILLION
    if usage.device_seconds:
        if queue not in settings.HOUR_PRICES:
            return None
        total += usage.device_seconds * settings.HOUR_PRICES[queue] / HOUR
    return total if is_known else None

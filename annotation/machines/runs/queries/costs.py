"""What runs cost, in tokens, seconds and money, and what one would cost, as far as can be told before it starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from django.conf import settings

from annotation.machines.runs import suggesting
from annotation.machines.runs.checker_inputs import checker_inputs
from annotation.machines.runs.limits import money_for
from annotation.machines.runs.queries.suggestions import asked_anyway
from annotation.models import CheckerRun, Job, MachineRun, Project, RetrievalRun
from models_runtime import registry
from models_runtime.contracts import Usage

# Of so many units, evenly spread, the requests are written down to see how long they are.
SAMPLE = 40


@dataclass(frozen=True)
class Cost:
    """What a run spent, and the same per 1,000 units that it judged itself (None where there are none). `money` is at
    the prices that are set now, None where one of them is not known."""

    usage: Usage
    n_judged: int
    money: float | None = None
    currency: str = ""

    @property
    def rows(self) -> list[tuple[str, float, float | None]]:
        """Title, total, per 1,000 units; what a run has none of is left out."""
        spent = (
            ("Tokens sent", self.usage.prompt_tokens),
            ("Tokens received", self.usage.completion_tokens),
            ("Seconds of computing", self.usage.device_seconds),
        )
        return [(title, total, self._per_thousand(total)) for title, total in spent if total]

    @property
    def money_per_thousand(self) -> float | None:
        return None if self.money is None else self._per_thousand(self.money)

    def _per_thousand(self, total: float) -> float | None:
        return 1000 * total / self.n_judged if self.n_judged else None


def cost_of(run: MachineRun) -> Cost:
    judged = max(0, run.job.progress_done - getattr(run, "n_reused", 0))
    usage = Usage(run.prompt_tokens, run.completion_tokens, run.device_seconds)
    endpoint = run.provenance.get("endpoint")
    if isinstance(run, RetrievalRun):  # its stages describe themselves one by one
        endpoint = run.parameters.get("endpoint") or next(iter(registry.endpoint_names()), None)
    money = money_for(usage, endpoint=endpoint, queue=run.job.queue)
    return Cost(usage, judged, money, settings.CURRENCY)


@dataclass(frozen=True)
class CostEstimate:
    """Tokens of a run over `number` units, answers or queries, and its price at each endpoint (None: not known)."""

    number: int
    usage: Usage
    prices: list[tuple[str, float | None]]
    currency: str

    @classmethod
    def of(cls, number: int, usage: Usage, *more, endpoint: str = "") -> Self:
        """At one endpoint, or at all that there are."""
        names = (endpoint,) if endpoint else registry.endpoint_names()
        prices = [(name, money_for(usage, endpoint=name, queue="")) for name in names]
        return cls(number, usage, prices, settings.CURRENCY, *more)

    @property
    def in_words(self) -> str:
        line = f"about {self.usage.prompt_tokens:,} tokens sent and {self.usage.completion_tokens:,} received"
        prices = [f"{money:.2f} {self.currency} at {name}" for name, money in self.prices if money is not None]
        return ", ".join([line, *prices])


@dataclass(frozen=True)
class CheckerEstimate(CostEstimate):
    """`measured_by` is the earlier run whose mean it takes; without one the requests of `sampled` units were written
    down."""

    title: str  # the checker's
    measured_by: CheckerRun | None
    sampled: int


def estimate_of(project: Project, checker: str) -> CheckerEstimate | None:
    """What a run of a checker that asks a server would cost; None for another one, or where there are no units."""
    info = registry.get_info(checker)
    unit_ids = list(suggesting.run_units(project, project.type).values_list("pk", flat=True))
    if info.needs != "server" or not unit_ids:
        return None
    earlier, sampled = _earlier(project, checker), 0
    if earlier is not None:
        judged = earlier.job.progress_done - earlier.n_reused
        mean = [earlier.prompt_tokens / judged, earlier.completion_tokens / judged]
    else:
        step = max(1, len(unit_ids) // SAMPLE)
        sample = checker_inputs(project.type, unit_ids[::step][:SAMPLE], with_origin=info.gives == "scores")
        inputs = list(sample.values())
        spaces = suggesting.asked_of(info, project.type, asked_anyway(project, project.type))
        usage = registry.estimated_usage(checker, spaces, inputs)
        if usage is None or not inputs:
            return None
        sampled = len(inputs)
        mean = [usage.prompt_tokens / sampled, usage.completion_tokens / sampled]
    total = Usage(*(round(one * len(unit_ids)) for one in mean))
    return CheckerEstimate.of(len(unit_ids), total, info.title, earlier, sampled)


def _earlier(project: Project, checker: str) -> CheckerRun | None:
    """The newest finished run of the checker here that judged something itself."""
    runs = CheckerRun.objects.filter(project=project, checker=checker, job__state=Job.State.DONE, prompt_tokens__gt=0)
    for run in runs.select_related("job").order_by("-pk")[:10]:
        if run.job.progress_done > run.n_reused:
            return run
    return None

"""What runs cost, in tokens, seconds and money, and what one would cost, as far as can be told before it starts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from django.conf import settings
from django.db.models import QuerySet

from annotation.machines.runs import suggesting
from annotation.machines.runs.checker_inputs import checker_inputs
from annotation.machines.runs.limits import money_for
from annotation.machines.runs.queries.suggestions import asked_anyway
from annotation.machines.runs.retrieved import RETRIEVED, RetrievedPassages
from annotation.machines.runs.starting import digest_of
from annotation.models import CheckerRun, Job, MachineRun, Project, RetrievalRun
from models_runtime import registry
from models_runtime.contracts import CheckerInfo, Usage

# For so many pages or texts, evenly spread, the requests are written down to see how long they are.
SAMPLE = 40
MOST_SAMPLED = 400  # units of these pages


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
    judged = max(0, _asked_itself(run))
    usage = Usage(run.prompt_tokens, run.completion_tokens, run.device_seconds)
    endpoint = run.provenance.get("endpoint")
    if isinstance(run, RetrievalRun):  # its stages describe themselves one by one
        endpoint = run.parameters.get("endpoint") or next(iter(registry.endpoint_names()), None)
    money = money_for(usage, endpoint=endpoint, queue=run.job.queue)
    return Cost(usage, judged, money, settings.CURRENCY)


@dataclass(frozen=True)
class CostEstimate:
    """Tokens of a run over `number` inputs, and its price at each endpoint (None: not known). `measured_by` is the
    earlier run whose mean it takes; without one the requests for `sampled` inputs were written down."""

    number: int
    of_what: str  # the inputs
    usage: Usage
    prices: list[tuple[str, float | None]]
    currency: str
    sampled: int
    measured_by: MachineRun | None = None

    @classmethod
    def of(
        cls, number: int, of_what: str, usage: Usage, sampled: int, *more, endpoints: Sequence[str | None] = ()
    ) -> Self:
        """At these endpoints; at all that there are where none is named."""
        names = [one for one in endpoints if one] or registry.endpoint_names()
        prices = [(name, money_for(usage, endpoint=name, queue="")) for name in names]
        return cls(number, of_what, usage, prices, settings.CURRENCY, sampled, *more)

    @property
    def in_words(self) -> str:
        line = f"about {self.usage.prompt_tokens:,} tokens sent and {self.usage.completion_tokens:,} received"
        prices = [f"{money:.2f} {self.currency} at {name}" for name, money in self.prices if money is not None]
        return ", ".join([line, *prices])


@dataclass(frozen=True)
class RunEstimate(CostEstimate):
    title: str = ""  # of what would run

    @property
    def in_words(self) -> str:
        return f"{self.title}: {self.number:,} {self.of_what}, {super().in_words}"


def estimate_of(
    project: Project,
    checker: str,
    parameters: Mapping[str, Any] | None = None,
    retrieved: RetrievedPassages | None = None,
    times: int = 1,
    only: Collection[int] | None = None,
) -> RunEstimate | None:
    """What a run of a checker with these parameters would cost, or so many alike; None where no server is asked, and
    where there are no units. `only` are the units that it would judge."""
    info = registry.get_info(checker)
    units = suggesting.run_units(project, project.type)
    units = units if only is None else units.filter(pk__in=only)
    number = units.count() if info.needs == "server" else 0
    spaces = suggesting.asked_of(info, project.type, asked_anyway(project, project.type)) if number else ()

    def sample() -> list:
        # All units of a page, since some are asked about in one request.
        pages = project.items.filter(state__in=suggesting.JUDGED).order_by("pk").values_list("pk", flat=True)
        pages = pages if only is None else pages.filter(item_units__unit__in=only).distinct()
        sampled = units.filter(item_units__item__in=evenly(list(pages))).values_list("pk", flat=True)[:MOST_SAMPLED]
        inputs = checker_inputs(project.type, list(sampled), with_origin=info.gives_scores, retrieved=retrieved)
        return list(inputs.values())

    first = {f"job__parameters__{RETRIEVED}__first": retrieved.first} if retrieved else {}
    earlier = CheckerRun.objects.filter(project=project, checker=checker, **first)
    return estimate_run(info, parameters, (number, "unit", "units"), sample, earlier, spaces, times=times)


def estimate_run(
    info: CheckerInfo,
    parameters: Mapping[str, Any] | None,
    counted: tuple[int, str, str],
    sample: Callable[[], list],
    earlier: QuerySet,
    *asked: Any,
    times: int = 1,
) -> RunEstimate | None:
    """As the newest run of `earlier` with the same parameters took per input, or else from the requests for a sample of
    the inputs. `counted` are their number and name."""
    complete, (number, one, several) = registry.complete_parameters(info, parameters or {}), counted
    if info.needs != "server" or not number:
        return None
    run, sampled = _measured(earlier.filter(version=info.version, parameters_hash=digest_of(complete))), 0
    if run is not None:
        usage, of = Usage(run.prompt_tokens, run.completion_tokens), _asked_itself(run)
    else:
        inputs = sample()
        usage, of = registry.estimated_usage(info.slug, inputs, *asked, parameters=complete), len(inputs)
        if usage is None or not inputs:
            return None
        sampled = of
    total = Usage(*(round(times * number * one / of) for one in (usage.prompt_tokens, usage.completion_tokens)))
    of_what = one if number == 1 else several
    endpoints = [complete.get("endpoint")]
    return RunEstimate.of(times * number, of_what, total, sampled, run, info.title, endpoints=endpoints)


def evenly(ids: list[int]) -> list[int]:
    """A sample of them."""
    return ids[:: max(1, len(ids) // SAMPLE)][:SAMPLE]


def _measured(runs: QuerySet) -> MachineRun | None:
    """The newest finished one that asked something itself."""
    found = runs.filter(job__state=Job.State.DONE, prompt_tokens__gt=0).select_related("job").order_by("-pk")[:10]
    return next((run for run in found if _asked_itself(run) > 0), None)


def _asked_itself(run: MachineRun) -> int:
    return run.job.progress_done - getattr(run, "n_reused", 0)

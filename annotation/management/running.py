"""What the commands that start runs have in common: whose, where and within which limits; what a run would cost, how it
went, and publishing what it made."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandError

from annotation.imports.staged_job import PublishingProblem
from annotation.machines.drafts.reviewing import ReviewError
from annotation.machines.kinds import RunKind, run_kinds
from annotation.machines.runs.queries.costs import CostEstimate
from annotation.machines.runs.starting import RunError, SameRun
from annotation.management.shared import done_here, find_project_and_owner, read_parameters, seconds_of
from annotation.models import Job, MachineRun, Project, User
from models_runtime import registry
from models_runtime.contracts import CheckerError, CheckerInfo


class RunCommand(BaseCommand):
    """Starts runs of one kind, in the workers or, with `--here` or what needs its results, in this process."""

    kind_name: ClassVar[str]

    @property
    def kind(self) -> RunKind:
        return run_kinds()[self.kind_name]

    def add_arguments(self, parser) -> None:
        parser.add_argument("project", help="the project's short name")
        self.add_own_arguments(parser)
        parser.add_argument("--here", action="store_true", help="run in this process and wait")
        parser.add_argument("--user", help="email address of the run's owner; default: the project's creator")
        if not self.kind.machine:
            return
        parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="may be repeated")
        parser.add_argument("--queue", help="the queue, where there is a choice: cpu or gpu")
        parser.add_argument("--again", action="store_true", help="start a run even if the same one exists")
        parser.add_argument(
            "--limit-tokens", type=int, help="stop a run at this number of tokens and keep what is done"
        )
        parser.add_argument("--limit-money", type=float, help="stop a run at this cost, at the endpoint's prices")

    def add_own_arguments(self, parser) -> None:
        """Those of the kind."""

    def handle(self, *, project: str, user: str | None, **options) -> None:
        found, person = find_project_and_owner(project, user)
        is_here = self.is_here(options)
        shared = {name: options[name] for name in ("queue", "again", "limit_tokens", "limit_money")}
        runs = [
            run
            for asked in self.asked_of(found, person, options)
            for run in self.start(found, person, shared | asked, options["param"], is_here)
        ]
        for run in runs:
            if is_here:
                self.work_off(run)
                self.follow_up(person, run, options)
            else:
                inputs = f"{run.job.progress_total} {self.inputs_of(run)}"
                self.stdout.write(f"Run {run.uuid}: {inputs} on the queue {run.job.queue}")
        if is_here:
            self.finish(person, runs, options)

    def is_here(self, options: dict[str, Any]) -> bool:
        return options["here"]

    @abstractmethod
    def asked_of(self, project: Project, person: User, options: dict[str, Any]) -> Iterable[dict[str, Any]]:
        """What the kind is asked to start, besides what all kinds are asked: once, or several times."""

    def info_of(self, project: Project, machine: str) -> CheckerInfo:
        return registry.get_info(machine)

    def start(
        self, project: Project, person: User, asked: dict[str, Any], param: list[str], is_here: bool
    ) -> list[MachineRun]:
        """The runs that are asked for, after saying what they would cost; those that there are."""
        try:
            info = self.info_of(project, asked[self.kind.machine])
            asked["parameters"] = read_parameters(info, param) | asked.get("parameters", {})
            if estimate := self.kind.estimate(project, person, asked):
                self.stdout.write(self.words_for(estimate))
            return self.kind.start(project, person, asked, wake_workers=not is_here)
        except SameRun as same:
            self.stdout.write(f"{same}; --again starts another one")
            return [same.run]
        except (RunError, CheckerError) as error:
            raise CommandError(str(error)) from None

    def words_for(self, estimate: CostEstimate) -> str:
        return estimate.in_words

    def work_off(self, run: MachineRun) -> None:
        run.job = done_here(run.job, f"Run {run.uuid}")
        run.refresh_from_db(fields=["provenance", "prompt_tokens", "completion_tokens"])
        inputs, failed = f"{run.job.progress_total} {self.inputs_of(run)}", run.job.result["failed"]
        more, *lines = self.details(run, run.job.result)
        self.stdout.write(f"{self.title_of(run)}: {inputs} in {seconds_of(run.job):.1f} s, {failed} failed{more}")
        for line in lines:
            self.stdout.write(f"  {line}")

    def title_of(self, run: MachineRun) -> str:
        return f"Run {run.uuid}"

    def inputs_of(self, run: MachineRun) -> str:
        return self.kind.several

    def details(self, run: MachineRun, result: dict[str, Any]) -> list[str]:
        """What a run came to: the end of its line, and further lines."""
        return [""]

    def follow_up(self, person: User, run: MachineRun, options: dict[str, Any]) -> None:
        """What is done with a run that is done."""

    def finish(self, person: User, runs: list[MachineRun], options: dict[str, Any]) -> None:
        """What is done once all runs are done."""

    def publish(self, person: User, run: MachineRun, start: Callable[..., Job] | None = None, **asked) -> Job:
        """What the run made is content now, by the kind's own publishing where no other is named."""
        try:
            job = (start or self.kind.publishing.start)(person, run, wake_workers=False, **asked)
        except (ReviewError, PublishingProblem) as problem:
            raise CommandError(str(problem)) from None
        return done_here(job, "Publishing")

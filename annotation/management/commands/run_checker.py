"""Start a checker on a project's units, or every one that can run here; in the workers or in this process."""

from django.core.management.base import BaseCommand, CommandError

from annotation.machines.runs import retrieved, running_every, suggesting
from annotation.machines.runs.checker_inputs import why_not
from annotation.machines.runs.limits import CostLimits
from annotation.machines.runs.queries import costs
from annotation.machines.runs.retrieved import USUAL, RetrievedPassages
from annotation.management.shared import done_here, find_project_and_owner, read_parameters, seconds_of
from annotation.models import CheckerRun, Project, User
from models_runtime import registry
from models_runtime.contracts import CheckerError

NEITHER = "Name a checker, or give --every for each one that can run here"


class Command(BaseCommand):
    help = "Run a checker on a project's units. Without --here, workers run it and the command returns immediately."

    def add_arguments(self, parser) -> None:
        parser.add_argument("project", help="the project's address")
        judges = [info.slug for info in registry.list_infos() if info.gives in ("labels", "scores")]
        parser.add_argument("checker", nargs="?", help="one of " + ", ".join(judges))
        parser.add_argument(
            "--every", action="store_true", help="run every available checker with its default parameters"
        )
        parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="may be repeated")
        parser.add_argument("--queue", help="the queue, where there is a choice: cpu or gpu")
        parser.add_argument("--here", action="store_true", help="run in this process and wait")
        parser.add_argument("--again", action="store_true", help="start a run even if the same one exists")
        parser.add_argument(
            "--passages-of",
            metavar="RETRIEVAL",
            help="judge claims by the passages of this retrieval and its repetitions",
        )
        parser.add_argument(
            "--first", type=int, default=USUAL, metavar="K", help="the number of its first passages (default 5)"
        )
        parser.add_argument("--limit-tokens", type=int, help="stop at this number of tokens and keep what is done")
        parser.add_argument("--limit-money", type=float, help="stop at this cost, at the endpoint's prices")
        parser.add_argument("--user", help="e-mail address of the run's owner; default: the project's creator")

    def handle(
        self,
        *,
        project: str,
        checker,
        every: bool,
        param: list[str],
        queue,
        here: bool,
        again: bool,
        user,
        limit_tokens,
        limit_money,
        **options,
    ) -> None:
        if every == bool(checker):
            raise CommandError("Give either a checker or --every, not both" if every else NEITHER)
        if every and (param or queue or again or limit_tokens or limit_money):
            raise CommandError(
                "--every runs each checker with its defaults: it cannot be combined with --param, --queue, --again or "
                "limits"
            )
        found, person = find_project_and_owner(project, user)
        if every:
            self._run_every(found, person, here)
            return
        try:
            parameters = read_parameters(registry.get_info(checker), param)
            limits = CostLimits(limit_tokens, limit_money)
            more = {"queue": queue, "again": again, "limits": limits, "wake_workers": not here}
            if named := options["passages_of"]:
                retrievals = retrieved.group_of(found, person, named)
                if not retrievals:
                    raise CommandError(retrieved.no_retrieval(named))
                passages = RetrievedPassages(named, options["first"])
                self._tell_costs(found, checker, parameters, passages, len(retrievals))
                runs = suggesting.start_by_retrievals(
                    found, person, checker, retrievals, options["first"], parameters, **more
                )
            else:
                self._tell_costs(found, checker, parameters)
                runs = [suggesting.start_run(found, person, checker, parameters, **more)]
        except suggesting.SameRun as same:
            runs = [same.run]
            self.stdout.write(f"{same}; --again starts another one")
        except (suggesting.RunError, CheckerError) as error:
            raise CommandError(str(error)) from None
        for run in runs:
            if here:
                self._work_off(run)
            else:
                self.stdout.write(f"Run {run.uuid}: {run.job.progress_total} inputs on the queue {run.job.queue}")

    def _tell_costs(self, project: Project, checker: str, parameters=None, passages=None, times: int = 1) -> None:
        if why_not(project.type, retrieved=passages is not None):
            return
        if estimate := costs.estimate_of(project, checker, parameters, passages, times):
            self.stdout.write(estimate.in_words)

    def _run_every(self, project: Project, person: User, here: bool) -> None:
        for plan in running_every.plans_of(project):
            if not plan.needs:
                self._tell_costs(project, plan.info.slug)
        outcomes = running_every.start_every(project, person, wake_workers=not here)
        for outcome in outcomes:
            if outcome.run is None:
                self.stdout.write(f"{outcome.info.slug}: not started")
                for need in outcome.needs:
                    self.stdout.write("  " + ": ".join(part for part in (need.words, need.command) if part))
            else:
                outcome_words = "started" if outcome.is_new else f"reused, {outcome.run.job.state}"
                self.stdout.write(
                    f"{outcome.info.slug}: {outcome_words}, run {outcome.run.uuid}, queue {outcome.run.job.queue}"
                )
        broken = []
        for outcome in outcomes if here else ():
            try:
                if outcome.run is not None:
                    self._work_off(outcome.run)
            except CommandError as error:
                broken.append(str(error))
        if broken:
            raise CommandError("\n".join(broken))

    def _work_off(self, run: CheckerRun) -> None:
        job = done_here(run.job, f"Run {run.uuid}")
        self.stdout.write(
            f"Run {run.uuid}: {job.progress_total} inputs in {seconds_of(job):.1f} s, {job.result['failed']} failed"
        )
        for dimension, counts in job.result["labels"].items():
            self.stdout.write(f"  {dimension}: " + ", ".join(f"{label} {n}" for label, n in counts.items()))

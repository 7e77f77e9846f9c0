"""Start a checker on a project's units, or every one that can run here; in the workers or in this process."""

from django.core.management.base import CommandError

from annotation.formats.cells import label_order
from annotation.machines.runs import retrieved, running_every
from annotation.machines.runs.queries import costs
from annotation.machines.runs.retrieved import USUAL
from annotation.management.running import RunCommand
from annotation.management.shared import find_project_and_owner
from annotation.models import Project, User
from models_runtime import registry

NEITHER = "Name a checker, or give --every for each one that can run here"


class Command(RunCommand):
    help = "Run a checker on a project's units. Without --here, workers run it and the command returns immediately."
    kind_name = "run"

    def add_own_arguments(self, parser) -> None:
        judges = [info.slug for info in registry.list_infos() if info.gives in ("labels", "scores")]
        parser.add_argument("checker", nargs="?", help="one of " + ", ".join(judges))
        parser.add_argument(
            "--every", action="store_true", help="run every available checker with its default parameters"
        )
        parser.add_argument(
            "--passages-of",
            metavar="RETRIEVAL",
            help="judge claims by the passages of this retrieval and its repetitions",
        )
        parser.add_argument(
            "--first", type=int, default=USUAL, metavar="K", help="the number of its first passages (default 5)"
        )

    def handle(self, *, project: str, user: str | None, **options) -> None:
        every = options["every"]
        if every == bool(options["checker"]):
            raise CommandError("Give either a checker or --every, not both" if every else NEITHER)
        if not every:
            super().handle(project=project, user=user, **options)
            return
        if any(options[name] for name in ("param", "queue", "again", "limit_tokens", "limit_money")):
            raise CommandError(
                "--every runs each checker with its defaults: it cannot be combined with --param, --queue, --again or "
                "limits"
            )
        self._run_every(*find_project_and_owner(project, user), options["here"])

    def asked_of(self, project, person, options):
        asked = {"checker": options["checker"]}
        if named := options["passages_of"]:
            repetitions = retrieved.group_of(project, person, named)
            asked |= {"retrieval": named, "first": options["first"], "retrievals": repetitions}
        return [asked]

    def inputs_of(self, run) -> str:
        return "inputs"

    def details(self, run, result) -> list[str]:
        found = {name: sorted(of.items(), key=lambda one: label_order(one[0])) for name, of in result["labels"].items()}
        return ["", *(f"{name}: {', '.join(f'{label} {n}' for label, n in of)}" for name, of in found.items())]

    def _run_every(self, project: Project, person: User, here: bool) -> None:
        for plan in running_every.plans_of(project):
            if not plan.needs and (estimate := costs.estimate_of(project, plan.info.slug)):
                self.stdout.write(self.words_for(estimate))
        outcomes = running_every.start_every(project, person, wake_workers=not here)
        for outcome in outcomes:
            if outcome.run is None:
                self.stdout.write(f"{outcome.info.slug}: not started")
                for need in outcome.needs:
                    self.stdout.write("  " + ": ".join(part for part in (need.words, need.command) if part))
            else:
                state = "started" if outcome.is_new else f"reused, {outcome.run.job.state}"
                where = f"run {outcome.run.uuid}, queue {outcome.run.job.queue}"
                self.stdout.write(f"{outcome.info.slug}: {state}, {where}")
        broken = []
        for outcome in outcomes if here else ():
            try:
                if outcome.run is not None:
                    self.work_off(outcome.run)
            except CommandError as error:
                broken.append(str(error))
        if broken:
            raise CommandError("\n".join(broken))

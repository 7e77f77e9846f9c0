"""Hold out a share of a project's claims, keep a prompt as a version, run a version on the labelled part of either."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from annotation import incoming
from annotation.machines.prompts import splitting, versions
from annotation.machines.prompts.versions import NOTE_LENGTH
from annotation.machines.runs.limits import CostLimits
from annotation.machines.runs.starting import TEXT_LENGTH, RunError, SameRun
from annotation.management.shared import done_here, find_project_and_owner, read_parameters, seconds_of
from annotation.models import CheckerRun, PromptVersion
from models_runtime import registry
from models_runtime.contracts import CheckerError


class Command(BaseCommand):
    help = (
        "Calibrate a language model as a judge: hold out claims or questions, keep prompts in versions, and run them "
        "on the labelled units of one part. The report calibration compares the runs. Without --here, workers run them."
    )

    def add_arguments(self, parser) -> None:
        parser.add_argument("project", help="the project's short name")
        parser.add_argument("--hold-out", type=int, metavar="PERCENT", help="of the claims or questions, by their keys")
        parser.add_argument("--prompt", type=Path, metavar="FILE", help="instructions to keep as the next version")
        parser.add_argument("--role", default=versions.ALL, help="the questions that they are for (default: all)")
        parser.add_argument("--note", default="", help="what changed")
        parser.add_argument("--number", type=int, help="the version to run; default: the newest")
        parser.add_argument("--part", choices=splitting.PARTS, help="run the version on this part")
        parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="may be repeated")
        parser.add_argument("--limit-tokens", type=int, help="stop at this number of tokens and keep what is done")
        parser.add_argument("--limit-money", type=float, help="stop at this cost, at the endpoint's prices")
        parser.add_argument("--here", action="store_true", help="run in this process and wait")
        parser.add_argument("--again", action="store_true", help="start a run even if the same one exists")
        parser.add_argument("--user", help="email address of the run's owner; default: the project's creator")

    def handle(self, *, project: str, hold_out: int | None, prompt: Path | None, part, user, **options) -> None:
        found, person = find_project_and_owner(project, user)
        if reason := versions.why_none(found):
            raise CommandError(reason)
        if hold_out is None and prompt is None and part is None:
            raise CommandError("Give --hold-out, --prompt or --part")
        if hold_out is not None and not 10 <= hold_out <= 90:
            raise CommandError("--hold-out is from 10 to 90 percent")
        try:
            if hold_out is not None:
                splitting.hold_out(found, person, hold_out)
                for one in splitting.counts_of(found):
                    self.stdout.write(f"{one.title}: {one.units} labelled units of {one.groups} claims or questions")
            if prompt is not None:
                text = incoming.text(prompt.read_text("utf-8"), TEXT_LENGTH)
                note = incoming.text(options["note"], NOTE_LENGTH)
                kept = versions.add_version(found, person, text, options["role"], note)
                self.stdout.write(f"Version {kept.number}")
            if part is not None:
                number = options["number"]
                rows = found.prompts.order_by("-number") if number is None else found.prompts.filter(number=number)
                if (version := rows.first()) is None:
                    raise CommandError("There is no such version of a prompt; keep one with --prompt")
                self._run(version, person, part, options)
        except incoming.Refused as refused:
            raise CommandError(f"The prompt or its note {refused}") from None
        except (OSError, UnicodeError, RunError, CheckerError) as error:
            raise CommandError(str(error)) from None

    def _run(self, version: PromptVersion, person, part: str, options: dict) -> None:
        parameters = read_parameters(registry.get_info(versions.CHECKER), options["param"])
        if estimate := versions.estimate_of(version, part, parameters):
            self.stdout.write(estimate.in_words)
        try:
            run: CheckerRun = versions.start(
                version,
                person,
                part,
                parameters,
                limits=CostLimits(options["limit_tokens"], options["limit_money"]),
                again=options["again"],
                wake_workers=not options["here"],
            )
        except SameRun as same:
            self.stdout.write(f"{same}; --again starts another one")
            run = same.run
        line = f"Run {run.uuid} of version {version.number}"
        if not options["here"]:
            self.stdout.write(f"{line}: {run.job.progress_total} inputs on the queue {run.job.queue}")
            return
        job = done_here(run.job, line)
        self.stdout.write(
            f"{line}: {job.progress_total} inputs in {seconds_of(job):.1f} s, {job.result['failed']} failed"
        )

"""Let language models answer the questions of a project's data set, in the workers or here; publish the answers."""

from django.core.management.base import BaseCommand, CommandError

from annotation.machines.generations import generating, publishing, queries
from annotation.machines.generations.generating import GenerationRequest
from annotation.machines.runs.limits import CostLimits
from annotation.management.shared import done_here, find_project_and_owner, read_parameters, seconds_of
from annotation.models import GenerationRun, Project, User
from models_runtime import registry
from models_runtime.contracts import CheckerError


class Command(BaseCommand):
    help = (
        "Ask language models to answer the questions of a project's data set. Without --here or --publish, workers do "
        "it and this command returns at once."
    )

    def add_arguments(self, parser) -> None:
        parser.add_argument("project", help="the project's address")
        parser.add_argument("--generator", default="llm-answers", help=f"one of {', '.join(generating.generators())}")
        parser.add_argument(
            "--endpoint", action="append", default=[], help="may be repeated: each is a run; default: the first"
        )
        parser.add_argument(
            "--passages", default="", metavar="own|RETRIEVAL", help="what the models are shown; default: nothing"
        )
        parser.add_argument("--most-passages", type=int, default=generating.PASSAGES, help="for each question")
        parser.add_argument("--repetitions", type=int, default=1)
        parser.add_argument("--setting", default="", help="context setting of the responses")
        parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="may be repeated")
        parser.add_argument("--limit-tokens", type=int, help="of each run, which then stops and keeps its answers")
        parser.add_argument("--limit-money", type=float, help="of each run, at the endpoint's prices")
        parser.add_argument("--here", action="store_true", help="run in this process and wait")
        parser.add_argument("--publish", action="store_true", help="run here, and publish the answers as responses")
        parser.add_argument("--again", action="store_true", help="start a run even if the same one exists")
        parser.add_argument("--user", help="e-mail address of the runs' owner; default: the project's creator")

    def handle(self, *, project: str, generator: str, endpoint: list[str], user, publish: bool, **options) -> None:
        found, person = find_project_and_owner(project, user)
        is_here = publish or options["here"]
        runs = [
            self._start(found, person, generator, name, options, is_here)
            for name in endpoint or [next(iter(registry.endpoint_names()), "")]
        ]
        for run in runs:
            if not is_here:
                self.stdout.write(f"Run {run.uuid}: {run.job.progress_total} answers on the queue {run.job.queue}")
                continue
            self._work_off(run)
            if publish:
                self._publish(person, run)

    def _start(self, project: Project, person: User, generator: str, endpoint: str, options, is_here) -> GenerationRun:
        try:
            info = registry.get_info(generator)
            request = GenerationRequest(
                generator,
                passages=options["passages"],
                most_passages=options["most_passages"],
                repetitions=options["repetitions"],
                context_setting=options["setting"],
                parameters={**read_parameters(info, options["param"]), "endpoint": endpoint},
                limits=CostLimits(options["limit_tokens"], options["limit_money"]),
            )
            if estimate := queries.estimate_of(project, request):
                self.stdout.write(f"{estimate.number:,} answers, {estimate.in_words}")
            return generating.start(project, person, request, again=options["again"], wake_workers=not is_here)
        except generating.SameRun as same:
            self.stdout.write(f"{same}; --again starts another one")
            return same.run
        except (generating.RunError, CheckerError) as error:
            raise CommandError(str(error)) from None

    def _work_off(self, run: GenerationRun) -> None:
        job = done_here(run.job, f"Run {run.uuid}")
        run.refresh_from_db()
        result = job.result
        self.stdout.write(
            f"Run {run.uuid} of {run.provenance['model']}: {result['answered']} answers in {seconds_of(job):.1f} s, "
            f"{result['abstained']} of them “I don't know”, {result['failed']} failed; {run.prompt_tokens:,} tokens "
            f"sent, {run.completion_tokens:,} received"
        )
        for reason, number in result["failures"].items():
            self.stdout.write(f"  {reason}: {number}")

    def _publish(self, person: User, run: GenerationRun) -> None:
        try:
            job = publishing.start(person, run, wake_workers=False)
        except publishing.PublishingProblem as problem:
            raise CommandError(str(problem)) from None
        result = done_here(job, "Publishing").result
        self.stdout.write(f"Published: {result['new_responses']} new responses, {result['new_items']} new items")

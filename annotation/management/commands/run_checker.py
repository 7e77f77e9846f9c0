"""Start a checker on a project's units, in the workers or here."""

from django.core.management.base import BaseCommand, CommandError

from annotation.models import CheckerRun, Job, Project, User
from annotation.services import jobs, suggesting
from models_runtime import registry
from models_runtime.contracts import CheckerError, CheckerInfo

WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class Command(BaseCommand):
    help = "Run a checker on a project's units. Without --here, workers do it and this command returns at once."

    def add_arguments(self, parser) -> None:
        parser.add_argument("project", help="the project's address")
        judges = [info.slug for info in registry.list_infos() if info.gives in ("labels", "scores")]
        parser.add_argument("checker", help="one of " + ", ".join(judges))
        parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="may be repeated")
        parser.add_argument("--queue", help="whose workers do it, where there is a choice: cpu or gpu")
        parser.add_argument("--here", action="store_true", help="do the work in this process and wait for it")
        parser.add_argument("--again", action="store_true", help="also where the same run exists already")
        parser.add_argument("--user", help="e-mail address of whom the run is by; default: the project's creator")

    def handle(
        self, *, project: str, checker: str, param: list[str], queue, here: bool, again: bool, user, **options
    ) -> None:
        found = Project.objects.filter(slug=project).select_related("created_by").first()
        if found is None:
            raise CommandError(f"There is no project {project!r}")
        person = User.objects.filter(email=user).first() if user else found.created_by
        if person is None:
            raise CommandError(f"There is nobody with the address {user!r}")
        try:
            parameters = read_parameters(registry.get_info(checker), param)
            run = suggesting.start_run(found, person, checker, parameters, queue, again=again, wake_workers=not here)
        except suggesting.SameRun as same:
            run = same.run
            self.stdout.write(f"{same}; --again starts another one")
        except (suggesting.RunError, CheckerError) as error:
            raise CommandError(str(error)) from None
        if here:
            self._work_off(run)
        else:
            self.stdout.write(f"Run {run.uuid}: {run.job.progress_total} inputs on the queue {run.job.queue}")

    def _work_off(self, run: CheckerRun) -> None:
        job = jobs.run_here(run.job)
        if job.state != Job.State.DONE:
            raise CommandError(f"Run {run.uuid} is {job.state}: {job.message or 'a worker has part of it in hand'}")
        seconds = (job.finished_at - job.started_at).total_seconds()
        self.stdout.write(
            f"Run {run.uuid}: {job.progress_total} inputs in {seconds:.1f} s, {job.result['failed']} failed"
        )
        for dimension, counts in job.result["labels"].items():
            self.stdout.write(f"  {dimension}: " + ", ".join(f"{label} {n}" for label, n in counts.items()))


def read_parameters(info: CheckerInfo, given: list[str]) -> dict:
    """`name=value` texts as values of the kinds that the checker declares; CommandError where one is not."""
    kinds = {parameter.name: parameter.kind for parameter in info.parameters}
    values = {}
    for text in given:
        name, separator, raw = text.partition("=")
        if not separator:
            raise CommandError(f"--param needs NAME=VALUE, not {text!r}")
        try:
            values[name] = READERS[kinds.get(name, "str")](raw)
        except (ValueError, KeyError):
            raise CommandError(f"--param {name}: {raw!r} is not of type {kinds[name]}") from None
    return values


READERS = {
    "float": float,
    "int": int,
    "str": str,
    "prompt": str,
    "endpoint": str,
    "bool": lambda raw: WORDS[raw.lower()],
}

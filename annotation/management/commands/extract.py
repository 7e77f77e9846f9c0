"""Start an extractor on the answers or questions of a project's data set, in the workers or here."""

from django.core.management.base import BaseCommand, CommandError

from annotation import incoming
from annotation.machines.drafts import extraction, publishing, reviewing
from annotation.machines.runs.limits import CostLimits
from annotation.management.shared import done_here, find_project_and_owner, read_parameters, seconds_of
from annotation.models import ExtractionRun, User
from annotation.projects.draft_kinds import DRAFT_KINDS
from models_runtime import registry
from models_runtime.contracts import CheckerError


class Command(BaseCommand):
    help = (
        "Draft triplets, sub-sentences, atomic claims or aspects for a project, whichever it judges; they wait for "
        "review on the project's page of drafts. Without --here, workers run it and the command returns immediately."
    )

    def add_arguments(self, parser) -> None:
        extractors = [info.slug for info in registry.list_infos() if info.gives == "pieces"]
        parser.add_argument("project", help="the project's address")
        parser.add_argument("extractor", help="one of " + ", ".join(extractors))
        parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="may be repeated")
        parser.add_argument("--queue", help="the queue, where there is a choice: cpu or gpu")
        parser.add_argument("--all", action="store_true", help="include texts that already have pieces of the kind")
        parser.add_argument("--limit-tokens", type=int, help="stop at this number of tokens and keep what is done")
        parser.add_argument("--limit-money", type=float, help="stop at this cost, at the endpoint's prices")
        parser.add_argument("--here", action="store_true", help="run in this process and wait")
        parser.add_argument(
            "--publish",
            metavar="SET",
            help="accept all that is proposed, unread, and publish it into this set of pieces (“” is the unnamed one)",
        )
        parser.add_argument("--again", action="store_true", help="start a run even if the same one exists")
        parser.add_argument("--user", help="e-mail address of the run's owner; default: the project's creator")

    def handle(
        self, *, project: str, extractor: str, param: list[str], queue, here: bool, again: bool, **options
    ) -> None:
        row, person = find_project_and_owner(project, options["user"])
        piece_set = options["publish"]
        here |= piece_set is not None
        try:
            incoming.piece_set(piece_set or "")
        except incoming.Refused as refused:
            raise CommandError(f"--publish {refused}") from None
        try:
            parameters = read_parameters(extraction.extractor_info(row.type, extractor), param)
            if estimate := extraction.estimate_of(row, extractor, parameters, everything=options["all"]):
                self.stdout.write(estimate.in_words)
            run = extraction.start_extraction(
                row,
                person,
                extractor,
                parameters,
                queue,
                everything=options["all"],
                again=again,
                limits=CostLimits(options["limit_tokens"], options["limit_money"]),
                wake_workers=not here,
            )
        except extraction.SameRun as same:
            run = same.run
            self.stdout.write(f"{same}; --again starts another one")
        except (extraction.RunError, CheckerError) as error:
            raise CommandError(str(error)) from None
        sources = DRAFT_KINDS[run.kind].source_several
        if here:
            self._work_off(run, sources)
            if piece_set is not None:
                self._publish(run, person, piece_set)
        else:
            self.stdout.write(f"Run {run.uuid}: {run.job.progress_total} {sources} on the queue {run.job.queue}")

    def _publish(self, run: ExtractionRun, person: User, piece_set: str) -> None:
        kind = DRAFT_KINDS[run.kind]
        try:
            accepted = reviewing.accept_undecided(run.project, kind, person, run)
            job = publishing.start(person, run.project, piece_set=piece_set, wake_workers=False)
        except (reviewing.ReviewError, publishing.PublishingProblem) as problem:
            raise CommandError(str(problem)) from None
        job = done_here(job, "Publishing")
        self.stdout.write(
            f"Accepted {accepted} {kind.several}, published {job.result['noted']} into "
            f"{piece_set or 'the unnamed set'}, {job.result['items']} new items"
        )

    def _work_off(self, run: ExtractionRun, sources: str) -> None:
        job = done_here(run.job, f"Run {run.uuid}")
        result = job.result
        self.stdout.write(
            f"Run {run.uuid}: {job.progress_total} {sources} in {seconds_of(job):.1f} s, {result['failed']} failed, "
            f"{result['pieces']} {DRAFT_KINDS[run.kind].several} to review at /projects/{run.project.slug}/drafts/"
        )

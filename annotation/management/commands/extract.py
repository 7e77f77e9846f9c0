"""Start an extractor on the answers or questions of a project's data set, in the workers or here."""

from django.core.management.base import CommandError

from annotation import incoming
from annotation.machines.drafts import extraction
from annotation.management.running import RunCommand
from annotation.models import Draft
from annotation.projects.draft_kinds import DRAFT_KINDS
from models_runtime import registry


class Command(RunCommand):
    help = (
        "Draft triplets, sub-sentences, atomic claims or aspects for a project, whichever it judges; they wait for "
        "review on the project's page of drafts. Without --here, workers run it and the command returns immediately."
    )
    kind_name = "extraction"

    def add_own_arguments(self, parser) -> None:
        extractors = [info.slug for info in registry.list_infos() if info.gives == "pieces"]
        parser.add_argument("extractor", help="one of " + ", ".join(extractors))
        parser.add_argument("--all", action="store_true", help="include texts that already have pieces of the kind")
        parser.add_argument(
            "--publish",
            metavar="SET",
            help="accept all that is proposed, unread, and publish it into this set of pieces (“” is the unnamed one)",
        )

    def is_here(self, options) -> bool:
        return options["here"] or options["publish"] is not None

    def asked_of(self, project, person, options):
        try:
            incoming.piece_set(options["publish"] or "")
        except incoming.Refused as refused:
            raise CommandError(f"--publish {refused}") from None
        return [{"extractor": options["extractor"], "everything": options["all"]}]

    def info_of(self, project, machine):
        return extraction.extractor_info(project.type, machine)

    def inputs_of(self, run) -> str:
        return DRAFT_KINDS[run.kind].source_several

    def details(self, run, result) -> list[str]:
        pieces = f"{result['pieces']} {DRAFT_KINDS[run.kind].several}"
        return [f", {pieces} to review at /projects/{run.project.slug}/drafts/"]

    def follow_up(self, person, run, options) -> None:
        if (piece_set := options["publish"]) is None:
            return
        undecided = run.drafts.filter(state=Draft.State.PROPOSED).count()
        result = self.publish(person, run, piece_set=piece_set).result
        self.stdout.write(
            f"Accepted {undecided} {DRAFT_KINDS[run.kind].several}, published {result['noted']} into "
            f"{piece_set or 'the unnamed set'}, {result['items']} new items"
        )

"""Make pairs of gold evidence and the sentences of generated documents, or say what would be made."""

from __future__ import annotations

from django.core.management.base import BaseCommand, CommandError

from annotation.imports.pairs import pairing
from annotation.imports.pairs.pairing import SEGMENTERS, THRESHOLD, PairingProblem, PairRequest
from annotation.imports.pairs.queries import COUNTS, notes_on
from annotation.imports.publishing import ON_JUDGED, REFUSE
from annotation.imports.rows import counted
from annotation.management.shared import find_dataset_and_owner, finished_here
from annotation.models import Job


class Command(BaseCommand):
    help = (
        "Make pairs in a data set: gold evidence of a claim as premise, sentences of a document generated for the "
        "claim as hypotheses. A second run changes nothing. Exits with 1 when anything is wrong."
    )

    def add_arguments(self, parser) -> None:
        parser.add_argument("dataset", help="the data set's short name")
        parser.add_argument(
            "--method", action="append", default=[], help="only documents made with this method; may be repeated"
        )
        parser.add_argument("--model", action="append", default=[], help="likewise")
        parser.add_argument("--setting", action="append", default=[], help="likewise")
        parser.add_argument(
            "--threshold",
            type=float,
            default=THRESHOLD,
            help=f"sentences with this ROUGE-2 against the claim reproduce it and are dropped (default {THRESHOLD})",
        )
        parser.add_argument("--limit", type=int, metavar="N", help="maximum number of documents, drawn with the seed")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--sentences-by", default="", choices=SEGMENTERS, dest="segmenter")
        parser.add_argument(
            "--on-judged", choices=ON_JUDGED, default=REFUSE, help="changed pairs that carry judgements"
        )
        parser.add_argument(
            "--user", metavar="EMAIL", help="email address of the job's owner; default: the data set's owner"
        )
        parser.add_argument("--dry-run", action="store_true", help="show what would be made and write nothing")

    def handle(self, *args, **options) -> None:
        dataset, user = find_dataset_and_owner(options["dataset"], options["user"])
        request = PairRequest(
            methods=tuple(options["method"]),
            models=tuple(options["model"]),
            settings=tuple(options["setting"]),
            **{name: options[name] for name in ("threshold", "limit", "seed", "segmenter", "on_judged")},
        )
        try:
            job = pairing.start(user, dataset, request, is_dry_run=options["dry_run"], wake_workers=False)
        except PairingProblem as problem:
            raise CommandError(str(problem)) from None
        self._report(finished_here(job))

    def _report(self, job: Job) -> None:
        result = job.result
        for error in result.get("errors", []):
            self.stderr.write(f"{error['column']}: {error['value']!r} {error['reason']}")
        if job.state != Job.State.DONE:
            raise CommandError(job.message or f"The job ended as {job.state}")
        say = self.stdout.write
        say(f"Sentences by {job.parameters['segmenter']}; ROUGE-2 threshold {job.parameters['threshold']}")
        say(", ".join(f"{title.lower()} {result['counts'][name]:,}" for name, title in COUNTS))
        for number, words in notes_on(result["counts"]):
            say(f"{number:,} {words}")
        for reason, number in result["dropped"].items():
            if number:
                say(f"Sentences left out: {number:,} ({reason})")
        counts = result["content"].get("pair", {})
        verb = "Would be" if job.parameters["is_dry_run"] else "Made:"
        say(f"{verb} " + ", ".join(f"{counts.get(name, 0):,} {name}" for name in ("created", "changed", "unchanged")))
        if job.parameters["is_dry_run"] and result["error_count"]:
            raise CommandError(f"{counted(result['error_count'], 'problem')}; no pair can be made")

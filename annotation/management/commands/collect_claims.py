"""Collect claims, choose some, and publish them, with gold evidence where fact-checkers reviewed them."""

from __future__ import annotations

import json
from pathlib import Path

from django.core.files import File
from django.core.management.base import BaseCommand, CommandError

from annotation import incoming
from annotation.imports import uploads
from annotation.imports.claims import choosing, collecting
from annotation.management.shared import done_here, find_dataset_and_owner
from annotation.models import ClaimCollection, Dataset, User


class Command(BaseCommand):
    help = (
        "Collect claims from ClaimReview files, tables, a provider of reviews, or the atomic claims of the data set's "
        "texts, and say which verdicts have no label. With --publish the chosen claims become content, with the "
        "reviews' summaries as gold evidence."
    )

    def add_arguments(self, parser) -> None:
        parser.add_argument("dataset", help="the data set's short name")
        parser.add_argument("files", nargs="*", type=Path, help="JSON-LD, an answer of the API, a feed, or a table")
        parser.add_argument("--piece-set", metavar="SET", help="a set of atomic claims (“” is the unnamed one)")
        parser.add_argument("--provider", default="", help="a provider of claims of this site")
        parser.add_argument("--query", default="", help="what the claims are about")
        parser.add_argument("--site", default="", help="the publisher's site")
        parser.add_argument("--language", default="")
        parser.add_argument("--most", type=int, default=1000)
        parser.add_argument(
            "--choice", type=Path, metavar="FILE", help="JSON: verdicts, drop_words, drop_undated, near, size, seed, …"
        )
        parser.add_argument("--suggested", action="store_true", help="accept the suggested labels of other verdicts")
        parser.add_argument("--size", type=int, help="the number of claims to draw")
        parser.add_argument("--seed", type=int)
        parser.add_argument("--publish", action="store_true")
        parser.add_argument("--without-summaries", action="store_true", help="fetch no gold evidence")
        parser.add_argument("--user", help="email address of the owner; default: the data set's owner")

    def handle(self, *, dataset: str, **options) -> None:
        found, user = find_dataset_and_owner(dataset, options["user"])
        choice = self._choice(options)
        collection = self._collected(found, user, options)
        try:
            counts = choosing.choose(collection, choosing.ClaimChoice.from_json(collection.choice | choice))
            if options["suggested"]:
                counts = choosing.choose(collection, choosing.with_suggestions(collection))
        except choosing.ChoiceProblem as problem:
            raise CommandError(str(problem)) from None
        for reason, number in sorted(counts.items()):
            self.stdout.write(f"  {reason or 'chosen'}: {number}")
        for row in choosing.verdict_rows(collection):
            if not row.label:
                suggested = f", suggested {row.suggested}" if row.suggested else ""
                self.stdout.write(f"  no label: {row.site}, {row.verdict!r}, {row.number}{suggested}")
        if options["publish"]:
            self._publish(user, collection, fetches=not options["without_summaries"])

    def _choice(self, options: dict) -> dict:
        choice = {}
        if options["choice"]:
            try:
                choice = json.loads(options["choice"].read_text("utf-8"), object_pairs_hook=incoming.each_name_once)
            except incoming.RepeatedNameError as error:
                raise CommandError(f"{options['choice']}: maps {error.name!r} twice") from None
            except (OSError, ValueError) as error:
                raise CommandError(f"{options['choice']}: {error}") from None
            if not isinstance(choice, dict):
                raise CommandError(f"{options['choice']}: is no JSON object")
        return choice | {name: options[name] for name in ("size", "seed") if options[name] is not None}

    def _collected(self, dataset: Dataset, user: User, options: dict) -> ClaimCollection:
        if [bool(options["files"]), options["piece_set"] is not None, bool(options["provider"])].count(True) != 1:
            raise CommandError("Name files, --provider or --piece-set")
        try:
            if options["files"]:
                stored = []
                for path in options["files"]:
                    with path.open("rb") as file:
                        stored.append(uploads.store(user, dataset, File(file, path.name)))
                collection = collecting.from_files(user, dataset, stored, wake_workers=False)
            elif options["piece_set"] is not None:
                collection = collecting.from_pieces(user, dataset, options["piece_set"], wake_workers=False)
            else:
                asked = (options[name] for name in ("provider", "query", "language", "site", "most"))
                collection = collecting.from_provider(user, dataset, *asked, wake_workers=False)
        except (OSError, uploads.UploadError, collecting.CollectingProblem) as problem:
            raise CommandError(str(problem)) from None
        job = done_here(collection.job, "Collecting")
        collection.refresh_from_db()
        self.stdout.write(f"Collection {collection.uuid}: {job.result['claims']} claims")
        for bad in collection.bad_rows.get("first", ()):
            self.stdout.write(f"  bad row: {bad}")
        return collection

    def _publish(self, user: User, collection: ClaimCollection, *, fetches: bool) -> None:
        try:
            job = collecting.publish(user, collection, fetches=fetches, wake_workers=False)
        except collecting.CollectingProblem as problem:
            raise CommandError(str(problem)) from None
        job = done_here(job, "Publishing")
        made = {kind: counts.get("created", 0) for kind, counts in job.result["content"].items()}
        self.stdout.write(
            f"Published: {made.get('claim', 0)} new claims, {made.get('evidence', 0)} summaries, "
            f"{job.result['without_summary']} reviews that could not be read"
        )

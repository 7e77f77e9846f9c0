"""Search passages for a project's claims or questions, in the workers or here; publish them or write them to a file."""

from dataclasses import asdict, astuple
from pathlib import Path

from django.core.management.base import CommandError

from annotation.machines.retrieval import expansions, retrieving
from annotation.machines.retrieval.queries import files
from annotation.management.running import RunCommand
from annotation.models import Project


class Command(RunCommand):
    help = (
        "Search passages for a project's claims or questions. Without --here, --publish or --trec, workers do it and "
        "this command returns at once."
    )
    kind_name = "retrieval"

    def add_own_arguments(self, parser) -> None:
        known = ", ".join(info.slug for info in retrieving.retrievers())
        parser.add_argument("retriever", help=f"one of {known}")
        parser.add_argument(
            "--asks", choices=list(retrieving.ASKED), help="default: what the data set has, claims first"
        )
        parser.add_argument(
            "--corpus",
            default=retrieving.OWN,
            metavar="NAME",
            help="own (default): all evidence of the data set; each: each query's own passages; a corpus's name; or "
            "web:NAME, a search provider (web:A+B for two)",
        )
        parser.add_argument("--top", type=int, help="passages per query (default 10, or the preset's)")
        parser.add_argument("--preset", choices=list(retrieving.PRESETS), help="of evidence: the steps of a paper")
        parser.add_argument(
            "--repetitions", type=int, default=1, metavar="N", help="of a search with expansion, with consecutive seeds"
        )
        parser.add_argument(
            "--store-documents", action="store_true", help="also store what was generated as documents of the claims"
        )
        parser.add_argument(
            "--documents",
            nargs="+",
            metavar=("METHOD", "MODEL"),
            help="search with stored documents of this method, model and setting, once for each repetition of them",
        )
        parser.add_argument("--replay", default="", metavar="RUN", help="replay the web responses of this run")
        parser.add_argument(
            "--publish", type=int, metavar="N", help="also publish the first N passages of each query as evidence"
        )
        parser.add_argument(
            "--context", default="", metavar="NAME", help="questions that were judged get the passages as this context"
        )
        parser.add_argument("--trec", type=Path, metavar="FILE", help="also write the rankings to a TREC run file")

    def is_here(self, options) -> bool:
        needs_results = options["publish"] is not None or options["trec"] is not None or options["store_documents"]
        return options["here"] or needs_results

    def asked_of(self, project, person, options):
        if trec := options["trec"]:
            if not trec.resolve().parent.is_dir():
                raise CommandError(f"There is no folder {trec.resolve().parent} to write {trec.name} into")
            if options["repetitions"] > 1 or options["documents"]:
                raise CommandError("--trec is for a search that is not repeated")
        asked = {name: options[name] for name in ("retriever", "corpus", "top", "preset", "repetitions")}
        asked["asks"] = options["asks"] or next(iter(retrieving.can_be_asked(project.dataset)), "claim")
        documents = self._documents(project, options["documents"])
        return [asked | {"replays": options["replay"], "documents": documents}]

    def words_for(self, estimate) -> str:
        return f"To ask a language model: {estimate.in_words}"

    def _documents(self, project: Project, named: list[str] | None) -> dict[str, str] | None:
        if not named:
            return None
        stored = retrieving.generators_in(project.dataset)
        fitting = [one for one in stored if astuple(one)[: len(named)] == tuple(named)]
        if len(fitting) != 1:
            known = "; ".join(map(str, fitting or stored)) or "none"
            raise CommandError(f"--documents {' '.join(named)} names {len(fitting)} of the stored documents: {known}")
        return asdict(fitting[0])

    def details(self, run, result) -> list[str]:
        lines = []
        for step in result.get("steps", ()):
            dropped = ", ".join(f"{number} {why}" for why, number in step["dropped"].items())
            lines.append(f"{step['step']}: {step['took']} in, {step['gave']} out" + f" ({dropped})" * bool(dropped))
        if gold := result["gold"]:
            lines.append(
                f"gold evidence found: {gold['found']} of {gold['gold']}, "
                f"for {gold['hit']} of {gold['queries']} queries that have some"
            )
        return [f", {result['passages']} passages", *lines]

    def follow_up(self, person, run, options) -> None:
        if trec := options["trec"]:
            with trec.open("w", encoding="utf-8") as file:
                file.writelines(files.trec_lines(run))
            self.stdout.write(f"Written to {trec}")
        if (top := options["publish"]) is None:
            return
        result = self.publish(person, run, top=top, context=options["context"]).result
        counts = result["counts"]
        self.stdout.write(
            f"Published: {result['new_evidence']} new pieces of evidence, {result['new_items']} new items; "
            f"{counts.get('repeated', 0)} left out as duplicates, {result.get('published', {}).get('kept', 0)} judged "
            f"questions left as they are, {counts.get('replaced', 0)} queries whose text has changed since then"
        )

    def finish(self, person, runs, options) -> None:
        if options["store_documents"]:
            job = self.publish(person, runs[0], expansions.start)
            self.stdout.write(
                f"Stored: {job.result['new_documents']} new documents of {len(job.parameters['runs'])} searches, "
                f"{job.result['new_items']} new items"
            )

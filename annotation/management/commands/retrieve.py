"""Search passages for a project's claims or questions, in the workers or here; publish them or write them to a file."""

from dataclasses import astuple
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from annotation.machines.retrieval import expansions, publishing, retrieving
from annotation.machines.retrieval.queries import files
from annotation.machines.retrieval.retrieving import DocumentGenerator, RetrievalRequest
from annotation.machines.runs.limits import CostLimits
from annotation.management.shared import done_here, find_project_and_owner, read_parameters, seconds_of
from annotation.models import Project, RetrievalRun, User
from models_runtime import registry
from models_runtime.contracts import CheckerError


class Command(BaseCommand):
    help = (
        "Search passages for a project's claims or questions. Without --here, --publish or --trec, workers do it and "
        "this command returns at once."
    )

    def add_arguments(self, parser) -> None:
        known = ", ".join(info.slug for info in retrieving.retrievers())
        parser.add_argument("project", help="the project's address")
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
        parser.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="may be repeated")
        parser.add_argument("--queue", help="the queue, where there is a choice: cpu or gpu")
        parser.add_argument(
            "--limit-tokens", type=int, help="stop a run at this number of tokens and keep what is done"
        )
        parser.add_argument("--limit-money", type=float, help="stop a run at this cost, at the endpoint's prices")
        parser.add_argument("--here", action="store_true", help="run in this process and wait")
        parser.add_argument(
            "--publish", type=int, metavar="N", help="also publish the first N passages of each query as evidence"
        )
        parser.add_argument(
            "--context", default="", metavar="NAME", help="questions that were judged get the passages as this context"
        )
        parser.add_argument("--trec", type=Path, metavar="FILE", help="also write the rankings to a TREC run file")
        parser.add_argument("--again", action="store_true", help="start a run even if the same one exists")
        parser.add_argument("--user", help="e-mail address of the run's owner; default: the project's creator")

    def handle(self, *, project: str, retriever: str, publish: int | None, trec: Path | None, **options) -> None:
        row, person = find_project_and_owner(project, options["user"])
        if trec and not trec.resolve().parent.is_dir():
            raise CommandError(f"There is no folder {trec.resolve().parent} to write {trec.name} into")
        is_here = options["here"] or publish is not None or trec is not None or options["store_documents"]
        if trec and (options["repetitions"] > 1 or options["documents"]):
            raise CommandError("--trec is for a search that is not repeated")
        runs = self._start(row, person, retriever, options, is_here)
        for run in runs:
            if not is_here:
                self.stdout.write(f"Run {run.uuid}: {run.job.progress_total} queries on the queue {run.job.queue}")
                continue
            self._work_off(run)
            if trec:
                with trec.open("w", encoding="utf-8") as file:
                    file.writelines(files.trec_lines(run))
                self.stdout.write(f"Written to {trec}")
            if publish is not None:
                self._publish(person, run, publish, options["context"])
        if options["store_documents"]:
            self._store_documents(person, runs[0])

    def _start(
        self, project: Project, person: User, retriever: str, options: dict, is_here: bool
    ) -> list[RetrievalRun]:
        asks = options["asks"] or next(iter(retrieving.can_be_asked(project.dataset)), "claim")
        try:
            parameters = read_parameters(registry.get_info(retriever), options["param"])
            request = RetrievalRequest(
                retriever,
                asks,
                options["corpus"],
                options["top"],
                parameters,
                options["replay"],
                self._documents(project, options["documents"]),
                limits=CostLimits(options["limit_tokens"], options["limit_money"]),
            ).with_preset(options["preset"] or "")
            self._tell_costs(project, request, options["repetitions"])
            return retrieving.start_repeated(
                project,
                person,
                request,
                options["queue"],
                times=options["repetitions"],
                again=options["again"],
                wake_workers=not is_here,
            )
        except retrieving.SameRun as same:
            self.stdout.write(f"{same}; --again starts another one")
            return [same.run]
        except (retrieving.RunError, CheckerError) as error:
            raise CommandError(str(error)) from None

    def _tell_costs(self, project: Project, request: RetrievalRequest, times: int) -> None:
        parameters = request.with_documents().parameters
        if estimate := expansions.estimate_of(project, request.asks, parameters, times):
            self.stdout.write(f"To ask a language model: {estimate.in_words}")

    def _documents(self, project: Project, named: list[str] | None) -> DocumentGenerator | None:
        if not named:
            return None
        stored = retrieving.generators_in(project.dataset)
        fitting = [one for one in stored if astuple(one)[: len(named)] == tuple(named)]
        if len(fitting) != 1:
            known = "; ".join(map(str, fitting or stored)) or "none"
            raise CommandError(f"--documents {' '.join(named)} names {len(fitting)} of the stored documents: {known}")
        return fitting[0]

    def _store_documents(self, person: User, run: RetrievalRun) -> None:
        try:
            job = expansions.start(person, run, wake_workers=False)
        except publishing.PublishingProblem as problem:
            raise CommandError(str(problem)) from None
        job = done_here(job, "Storing documents")
        self.stdout.write(
            f"Stored: {job.result['new_documents']} new documents of {len(job.parameters['runs'])} searches, "
            f"{job.result['new_items']} new items"
        )

    def _work_off(self, run: RetrievalRun) -> None:
        job = run.job = done_here(run.job, f"Run {run.uuid}")
        result = job.result
        self.stdout.write(
            f"Run {run.uuid}: {job.progress_total} queries in {seconds_of(job):.1f} s, {result['failed']} failed, "
            f"{result['passages']} passages"
        )
        for step in result.get("steps", ()):
            dropped = ", ".join(f"{number} {why}" for why, number in step["dropped"].items())
            self.stdout.write(
                f"  {step['step']}: {step['took']} in, {step['gave']} out" + f" ({dropped})" * bool(dropped)
            )
        if gold := result["gold"]:
            self.stdout.write(
                f"  gold evidence found: {gold['found']} of {gold['gold']}, "
                f"for {gold['hit']} of {gold['queries']} queries that have some"
            )

    def _publish(self, person: User, run: RetrievalRun, top: int, context: str) -> None:
        try:
            job = publishing.start(person, run, top, context, wake_workers=False)
        except publishing.PublishingProblem as problem:
            raise CommandError(str(problem)) from None
        result = done_here(job, "Publishing").result
        counts = result["counts"]
        self.stdout.write(
            f"Published: {result['new_evidence']} new pieces of evidence, {result['new_items']} new items; "
            f"{counts.get('repeated', 0)} left out as duplicates, {result.get('published', {}).get('kept', 0)} judged "
            f"questions left as they are, {counts.get('replaced', 0)} queries whose text has changed since then"
        )

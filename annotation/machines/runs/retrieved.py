"""Units that are judged by the first passages of a retrieval together, whatever their pages show."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from annotation import incoming
from annotation.access import researched_projects
from annotation.models import CheckerRun, Job, Project, RankedPassage, RetrievalRun, Unit, User

# Of a run's job and provenance: whose passages, and how many.
RETRIEVED = "retrieved"
MOST = 100
USUAL = 5
# What tells the repetitions of one search apart: a parameter, and the documents that a run's job names.
SEED, DOCUMENTS = "expansion_seed", "documents"


@dataclass(frozen=True, slots=True)
class RetrievedPassages:
    """The first so many passages that a retrieval found for each claim."""

    retrieval: str  # id of the run
    first: int = USUAL

    @classmethod
    def of(cls, run: CheckerRun) -> RetrievedPassages | None:
        stored = run.job.parameters.get(RETRIEVED) or run.provenance.get(RETRIEVED)
        return cls(stored["retrieval"], stored["first"]) if stored else None

    def as_json(self) -> dict[str, str | int]:
        return {"retrieval": self.retrieval, "first": self.first}

    def texts(self, units: Iterable[Unit]) -> dict[int, tuple[str, ...]]:
        """By id of the unit, in the order of their rank."""
        of_claim: dict[int, list[str]] = defaultdict(list)
        claims = {unit.claim_id: unit.pk for unit in units}
        rows = RankedPassage.objects.filter(
            ranking__run__uuid=self.retrieval, ranking__claim__in=list(claims), rank__lte=self.first
        )
        for claim, text in rows.order_by("ranking_id", "rank").values_list("ranking__claim_id", "text"):
            of_claim[claim].append(text)
        return {pk: tuple(of_claim[claim]) for claim, pk in claims.items()}


def retrievals_for(project: Project, user: User) -> list[list[RetrievalRun]]:
    """Finished retrievals for the claims of the project's data set that the person may see, those together that repeat
    each other: they differ in the seed or in the repetition of stored documents alone. Newest first."""
    found = RetrievalRun.objects.filter(
        project__dataset=project.dataset_id,
        project__in=researched_projects(user),
        asks="claim",
        job__state=Job.State.DONE,
    )
    groups: dict[str, list[RetrievalRun]] = defaultdict(list)
    for run in found.select_related("job", "project").order_by("pk"):
        groups[_what_repeats(run)].append(run)
    return sorted(groups.values(), key=lambda runs: -runs[-1].pk)


def _what_repeats(run: RetrievalRun) -> str:
    documents = run.job.parameters.get(DOCUMENTS) or {}
    parameters = {name: value for name, value in run.parameters.items() if name != SEED}
    alike = [run.project_id, run.retriever, run.version, run.corpus, run.top, parameters]
    alike.append({name: value for name, value in documents.items() if name != "repetition"})
    return json.dumps(alike, sort_keys=True)


def group_of(project: Project, user: User, retrieval: str) -> list[RetrievalRun]:
    """The retrieval and those that repeat it; none where the person may not see it, or it is not done."""
    try:
        wanted = incoming.uuid_of(retrieval)
    except incoming.Refused:
        return []
    return next((runs for runs in retrievals_for(project, user) if any(run.uuid == wanted for run in runs)), [])


def words_for(runs: list[RetrievalRun]) -> str:
    run = runs[0]
    expansion = run.parameters.get("expansion", "none")
    what = run.retriever if expansion == "none" else f"{run.retriever} {expansion}"
    where = {"own": "all evidence", "each": "own passages"}.get(run.corpus, f"corpus {run.corpus}")
    repeated = [f"{len(runs)} repetitions"] if len(runs) > 1 else []
    return ", ".join([what, where, f"top {run.top}", *repeated, f"{run.created_at:%Y-%m-%d %H:%M}"])


def why_not(passages: RetrievedPassages, project: Project, user: User) -> str:
    """Why these cannot be judged by; empty where they can."""
    if not 1 <= passages.first <= MOST:
        return f"The number of passages lies between 1 and {MOST}"
    runs = {str(run.uuid): run for run in group_of(project, user, passages.retrieval)}
    if passages.retrieval not in runs:
        return no_retrieval(passages.retrieval)
    top = runs[passages.retrieval].top
    if passages.first > top:
        return f"This retrieval kept {top} passages per claim; {passages.first} were requested"
    return ""


def no_retrieval(named: str) -> str:
    return f"There is no finished retrieval {named!r} for the claims of this data set"

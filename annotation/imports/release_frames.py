"""What a release has in addition to its labels, stored in the project that it makes: who was what, the plan of items,
skips, results of training, qualification and checks, which suggestions people saw, what checkers and retrievals gave.
The next release of the project is the same byte for byte.

Runs come as finished ones that never ran here: they keep their origin, have nothing to go on with, and no later run
takes answers over from them.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable

from django.db import transaction
from django.utils import timezone

from annotation import incoming
from annotation.bulk import batches, bulk_insert, reserve_ids
from annotation.formats.content.frames import Frames
from annotation.jobs.lifecycle import JobError
from annotation.models import (
    Annotation,
    Assignment,
    AtomicClaim,
    CheckerRun,
    Claim,
    Evidence,
    GenerationRun,
    GuidelineAcknowledgement,
    Item,
    ItemKey,
    ItemUnit,
    Job,
    Project,
    QueryRanking,
    Question,
    RankedPassage,
    Rater,
    RetrievalRun,
    RunFailure,
    Score,
    Suggestion,
    User,
)

BATCH = 2000
ARMS = {name: name for name, _ in Project.ARMS}
ASKS = {"claim": Claim, "question": Question, "atomic_claim": AtomicClaim}


def bring_in(project: Project, frames: Frames, user: User, guard: Callable[[], None] = lambda: None) -> None:
    """Store the frames in a project whose items and labels are there, in short transactions. May be repeated.
    JobError where a frame does not say what it must."""
    try:
        _Frames(project, frames, user, guard).store()
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise JobError(f"The release's frames cannot be read: {type(error).__name__}: {error}") from error


class _Frames:
    def __init__(self, project: Project, frames: Frames, user: User, guard: Callable[[], None]):
        self.project, self.frames, self.user, self.guard = project, frames, user, guard
        manifest = frames.manifest
        self.origin = {"release": str(manifest["release"].get("sha256", "")), "project": str(manifest.get("project"))}
        units = ItemUnit.objects.filter(item__project=project).values_list("unit__key", "unit_id")
        self.units = dict(units.iterator(chunk_size=10_000))
        self.runs: dict[str, CheckerRun] = {}

    def store(self) -> None:
        self._items()
        self._raters()
        self._acknowledgements()
        for row in self.frames.rows("runs"):
            self._run(row)
        self._of_runs(Suggestion, "suggestions", _suggestion)
        self._of_runs(Score, "scores", lambda row: {"name": row["name"], "value": row["value"]})
        self._of_runs(RunFailure, "failures", lambda row: {"reason": row["reason"], "is_permanent": True})
        self._answers()
        for row in self.frames.rows("generations"):
            self._generation(row)
        for row in self.frames.rows("retrievals"):
            self._retrieval(row)
        overlap = incoming.whole(self.frames.manifest["release"]["overlap"], 0, 1000)
        Project.objects.filter(pk=self.project.pk).update(origin=self.origin | {"overlap": overlap})

    def _items(self) -> None:
        """The plan; items of content that the release has none of are taken back."""
        row_of = {row["item_key"]: row for row in self.frames.rows("items")}
        here = list(Item.objects.filter(project=self.project))
        for part in batches(here, BATCH):
            with transaction.atomic():
                self.guard()
                gone = [item.pk for item in part if item.key not in row_of]
                for model in (Assignment, ItemUnit):
                    model.objects.filter(item__in=gone).delete()
                Item.objects.filter(pk__in=gone).delete()
                kept = [item for item in part if item.key in row_of]
                for item in kept:
                    row = row_of[item.key]
                    # What is asked for here comes on top of what was planned there.
                    asked = Assignment.objects.filter(item=item).count() if self.project.overlap else 0
                    item.planned = asked + incoming.whole(row["n_planned"], 0, 30_000)
                    item.extra_before = incoming.whole(row["n_extra"], 0, 30_000)
                    item.is_multiple = bool(row["in_random_share"])
                Item.objects.bulk_update(kept, ["planned", "extra_before", "is_multiple"], batch_size=500)

    def _raters(self) -> None:
        with transaction.atomic():
            self.guard()
            known = {rater.pseudonym: rater for rater in self.project.raters.all()}
            origins: dict[str, dict[str, list]] = defaultdict(lambda: defaultdict(list))
            for frame, as_stored in OF_RATERS.items():
                for row in self.frames.rows(frame):
                    origins[row["rater"]][frame].append(as_stored(row))
            for row in self.frames.rows("raters"):
                name, kind = incoming.text(row["rater"], 200), Rater.Kind(row["kind"])
                here = Rater.Kind.SLOT if kind == Rater.Kind.SLOT else Rater.Kind.EXTERNAL
                rater = known.get(name) or Rater(project=self.project, kind=here, name=name, pseudonym=name)
                if rater.user_id is None:
                    rater.origin_kind = None if kind == rater.kind else kind
                    rater.origin = origins.get(name, {})
                    rater.save()

    def _acknowledgements(self) -> None:
        raters = dict(self.project.raters.values_list("pseudonym", "pk"))
        with transaction.atomic():
            self.guard()
            GuidelineAcknowledgement.objects.bulk_create(
                [
                    GuidelineAcknowledgement(
                        rater_id=raters[row["rater"]],
                        version=incoming.whole(row["version"], 1, incoming.MAX_INTEGER),
                        acknowledged_at=incoming.instant(row["acknowledged_at"]),
                    )
                    for row in self.frames.rows("acknowledgements")
                ],
                ignore_conflicts=True,
            )

    # --- checker runs ---------------------------------------------------------------------------------------------

    def _run(self, row: dict) -> None:
        """The run itself. Its answers are stored afterwards, and anew where an earlier attempt did not come so far."""
        found = self.project.checker_runs.filter(origin__run=row["run"]).first()
        if found is None:
            scores = [incoming.text(name, 80) for name in row["scores"]]
            fields = {
                "checker": incoming.text(row["checker"], 80),
                "version": incoming.text(row["version"], 40),
                "origin": self.origin | {"run": row["run"], "gives": row["gives"]},
            }
            found = self._finished(CheckerRun, Job.Kind.CHECKER_RUN, row["run"], row, {"scores": scores}, fields)
        self.runs[row["run"]] = found

    def _finished(self, model: type, kind: str, name: str, row: dict, result: dict, fields: dict, **noted: dict):
        """A run with its job, which is done. It keeps its UUID, unless this Assay has a run that is called so."""
        run_id = incoming.uuid_of(name)
        with transaction.atomic():
            self.guard()
            job = Job.objects.create(
                kind=kind,
                state=Job.State.DONE,
                project=self.project,
                created_by=self.user,
                parameters=noted,
                result=result,
                finished_at=timezone.now(),
            )
            run = model.objects.create(
                uuid=uuid.uuid5(self.project.uuid, str(run_id)) if _is_taken(model, run_id) else run_id,
                project=self.project,
                job=job,
                parameters=row["parameters"],
                parameters_hash="",  # so that no other run is taken for the same
                provenance=row["provenance"],
                created_by=self.user,
                **fields,
            )
            if row.get("created_at"):
                model.objects.filter(pk=run.pk).update(created_at=incoming.instant(row["created_at"]))
        return run

    def _of_runs(self, model: type, name: str, fields: Callable[[dict], dict]) -> None:
        """Anew, where an earlier attempt did not come so far."""
        mine = list(self.runs.values())
        if not mine:
            return
        with transaction.atomic():
            self.guard()
            model.objects.filter(run__in=mine).delete()
        for rows in batches(self.frames.rows(name), BATCH):
            made = [{"run": self.runs[row["run"]].pk, "unit": self.units[row["unit"]]} | fields(row) for row in rows]
            columns = ["run_id", "unit_id", *list(made[0])[2:]]
            with transaction.atomic():
                self.guard()
                bulk_insert(model, [tuple(row.values()) for row in made], columns)

    def _answers(self) -> None:
        for rows in batches(self.frames.rows("answers"), BATCH):
            row_of = {(row["item"], row["rater"]): row for row in rows}
            keys, raters = {item for item, _ in row_of}, {rater for _, rater in row_of}
            stored = Annotation.objects.filter(
                item__project=self.project, item__key__in=keys, rater__pseudonym__in=raters, assignment=None
            ).select_related("item", "rater")
            changed = []
            for annotation in stored:
                row = row_of.get((annotation.item.key, annotation.rater.pseudonym))
                if row is not None:
                    annotation.origin = self._exposed(row)
                    changed.append(annotation)
            with transaction.atomic():
                self.guard()
                Annotation.objects.bulk_update(changed, ["origin"], batch_size=500)

    def _exposed(self, row: dict) -> dict:
        """Under the UUIDs that runs have here."""
        found = {"arm": ARMS[row["arm"]]} if row.get("arm") else {}
        exposures = []
        for seen in row.get("exposures", ()):
            kept = {name: incoming.text(seen[name], 80) for name in ("run", "checker") if seen.get(name)}
            if kept.get("run") in self.runs:
                kept["run"] = str(self.runs[kept["run"]].uuid)
            if seen.get("shown_at"):
                incoming.instant(seen["shown_at"])
                kept["shown_at"] = seen["shown_at"]
            exposures.append(kept)
        found |= {"further": True} if row.get("further") is True else {}
        return found | ({"exposures": exposures} if exposures else {})

    # --- generations, whose answers are content -------------------------------------------------------------------

    def _generation(self, row: dict) -> None:
        if self.project.generation_runs.filter(job__parameters__origin__run=row["uuid"]).exists():
            return
        counts = {name: _count(row["counts"][name]) for name in ("answered", "abstained", "failed")}
        failures = {incoming.text(reason, 80): _count(n) for reason, n in row["counts"]["failures"].items()}
        fields = {
            "generator": incoming.text(row["generator"], 80),
            "version": incoming.text(row["version"], 40),
            "passages": incoming.text(row["passages"], 40),
            "most_passages": _count(row["most_passages"]),
            "repetitions": _count(row["repetitions"]),
            "context_setting": incoming.text(row["context_setting"], 200),
        }
        origin = self.origin | {"run": row["uuid"]}
        counts |= {"failures": failures}
        self._finished(GenerationRun, Job.Kind.GENERATION, row["uuid"], row, counts, fields, origin=origin)

    # --- retrievals -----------------------------------------------------------------------------------------------

    def _retrieval(self, row: dict) -> None:
        asks = row["asks"]
        old = self.project.retrieval_runs.filter(origin__run=row["uuid"]).first()
        if old is not None:
            return
        with transaction.atomic():
            fields = {
                "asks": asks,
                "corpus": incoming.text(row["corpus"], 80),
                "top": incoming.whole(row["top"], 0, incoming.MAX_INTEGER),
                "retriever": incoming.text(row["retriever"], 80),
                "version": incoming.text(row["version"], 40),
                "origin": self.origin | {"run": row["uuid"]},
            }
            run = self._finished(RetrievalRun, Job.Kind.RETRIEVAL, row["uuid"], row, {}, fields)
            found = ASKS[asks].objects.published().filter(dataset=self.project.dataset_id)
            keys = dict(found.values_list("key", "pk"))
            queries = [one for one in self.frames.rows("queries") if one["retrieval"] == row["uuid"]]
            ids = reserve_ids(QueryRanking, len(queries))
            columns = ["id", "run_id", f"{asks}_id", "text", "expanded", "reason", "steps", "made"]
            bulk_insert(
                QueryRanking,
                [
                    (
                        pk,
                        run.pk,
                        keys[one["query"]],
                        one["text"],
                        one.get("expanded", ""),
                        one.get("reason", ""),
                        one.get("steps", []),
                        [],  # it is content, where it was kept
                    )
                    for pk, one in zip(ids, queries, strict=True)
                ],
                columns,
            )
            of_query = dict(zip((one["query"] for one in queries), ids, strict=True))
            evidence = Evidence.objects.published().filter(dataset=self.project.dataset_id)
            evidence_ids = dict(evidence.values_list("key", "pk"))
            names = ("rank", "document", "start", "end", "score", "text")
            bulk_insert(
                RankedPassage,
                [
                    (
                        of_query[one["query"]],
                        evidence_ids.get(one.get("evidence")),
                        one.get("source", {}),
                        *(one[name] for name in names),
                    )
                    for one in self.frames.rows("rankings")
                    if one["retrieval"] == row["uuid"]
                ],
                ["ranking_id", "evidence_id", "source", *names],
            )


def _key_result(row: dict) -> dict:
    incoming.instant(row["created_at"])
    counts = {name: _count(row[name]) for name in ("attempt", "right", "asked")}
    place = {"item": incoming.text(row["item"], 400), "purpose": ItemKey.Purpose(row["purpose"]).value}
    return place | counts | {"created_at": row["created_at"]}


def _skip(row: dict) -> dict:
    incoming.instant(row["skipped_at"])
    words = {name: row[name] for name in ("reason", "replies") if row.get(name)}
    incoming.check_json(words)
    found = {"item": incoming.text(row["item"], 400), "skipped_at": row["skipped_at"]}
    return found | {name: bool(row[name]) for name in ("flagged", "parked")} | words


# What is stored with the rater whom a row is about.
OF_RATERS: dict[str, Callable[[dict], dict]] = {"key_results": _key_result, "skips": _skip}


def _suggestion(row: dict) -> dict:
    return {
        "dimension": row["dimension"],
        "label": row["label"],
        "probability": row.get("probability"),
        "probabilities": row.get("probabilities", {}),
        "spans": row.get("spans", []),
        "explanation": row.get("explanation", ""),
    }


def _count(value: object) -> int:
    return incoming.whole(value, 0, incoming.MAX_INTEGER)


def _is_taken(model: type, run_id: uuid.UUID) -> bool:
    return model.objects.filter(uuid=run_id).exists()

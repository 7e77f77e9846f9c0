"""Works through a generation run: texts and failures are stored in the transaction that closes their chunk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone

from annotation.jobs import lifecycle
from annotation.machines.generations.generating import Asked, passages_for
from annotation.machines.runs import workers
from annotation.machines.runs.gathering import gather
from annotation.machines.runs.storing import SAMPLES_PER_REASON, kept_trace, storable, storable_json
from annotation.models import Chunk, GeneratedText, GenerationRun, Job, Question
from models_runtime import registry
from models_runtime.contracts import Prediction, PredictionError
from models_runtime.generators.contracts import Generation, GenerationInput

# What must be the same in every worker of a run, or its texts would not be one generator's.
IDENTITY = ("checker", "version", "model", "revision", "parameters", "options", "prompts")


class GenerationHandler:
    """See `jobs.Handler`."""

    def run_chunk(self, chunk: Chunk, lease: lifecycle.Lease) -> None:
        run = GenerationRun.objects.select_related("job").get(job_id=chunk.job_id)
        info = workers.info_of(run.generator, run.version)
        with workers.final_errors():
            generator = registry.load_generator(run.generator, run.parameters)
        provenance = workers.described(generator)
        workers.check_identity(run.provenance, provenance, IDENTITY, run.parameters)
        asked: list[Asked] = [tuple(one) for one in chunk.payload["texts"]]
        inputs, shown, found = _read(run, asked)

        def store(done: Mapping[int, Generation]) -> None:
            workers.store_description(run, provenance, IDENTITY)
            _store(run, {asked[place]: one for place, one in done.items()}, shown)

        def keep(done: dict[int, Generation]) -> None:
            with transaction.atomic():
                lease.keep({"texts": [one for place, one in enumerate(asked) if place not in done]}, len(done))
                store(done)

        found |= gather(
            run,
            generator,
            inputs,
            lease,
            ask=generator.generate,
            check=_checked,
            keep=keep if info.needs == "server" else None,
            measures_time=info.needs != "server",
        )
        with transaction.atomic():
            lease.complete()  # first, so that who lost the lease writes nothing at all
            store(found)

    def finish(self, job: Job, lease: lifecycle.Lease) -> dict:
        return summary(GenerationRun.objects.get(job=job))

    def clean_up(self, job: Job) -> None:
        """What was stored stays, and the run goes on from there when it is resumed."""


HANDLER = GenerationHandler()


def _read(
    run: GenerationRun, asked: list[Asked]
) -> tuple[list[GenerationInput], dict[int, list[str]], dict[int, Generation]]:
    """What is asked by its place in the chunk, the keys of the passages shown by their question, and the
    failures of what cannot be asked."""
    ids = {question for question, _ in asked}
    rows = Question.objects.published().in_bulk(list(ids))
    passages = passages_for(run.passages, run.most_passages, ids)
    inputs, found = [], {}
    gone = PredictionError("withdrawn", "Its text was replaced or withdrawn after the run began", True)
    without = PredictionError("no-passages", "It has no passages to show", True)
    for place, (question, repetition) in enumerate(asked):
        if question not in rows or (run.passages and not passages[question]):
            found[place] = Generation(str(place), error=without if question in rows else gone)
            continue
        row = rows[question]
        inputs.append(
            GenerationInput(
                str(place),
                row.text,
                row.date.isoformat() if row.date else "",
                tuple(one.text for one in passages[question]),
                repetition,
            )
        )
    return inputs, {question: [one.key for one in shown] for question, shown in passages.items()}, found


def _checked(answer: Generation | Prediction) -> Generation:
    """The text, or its failure where it is none; what broke alone comes as a checker's failure."""
    if not isinstance(answer, Generation):
        return Generation(answer.id, error=answer.error, usage=answer.usage)
    if not answer.error and not answer.text.strip():
        error = PredictionError("invalid-answer", "The text is empty", True)
        return Generation(answer.id, error=error, usage=answer.usage, trace=answer.trace)
    return answer


def _store(run: GenerationRun, done: Mapping[Asked, Generation], shown: Mapping[int, list[str]]) -> None:
    """Belongs into the transaction that closes the chunk, after the lease was given back."""
    if not done:  # all that the chunk had left was stored before the run was stopped
        return
    workers.add_usage(run, (one.usage for one in done.values()))
    same = Q()
    for question, repetition in done:
        same |= Q(question=question, repetition=repetition)
    # Those of an earlier attempt, where failed texts are asked for again.
    run.failures.filter(same).delete()
    kept = Counter(dict(run.failures.values_list("reason").annotate(Count("pk")).order_by()))
    sampled = set(run.job.parameters.get("sample", ()))
    now = timezone.now().isoformat(timespec="seconds").replace("+00:00", "Z")
    rows = []
    for (question, repetition), one in done.items():
        reason = one.error.reason[:80] if one.error else ""
        kept[reason] += 1
        is_kept = kept[reason] <= SAMPLES_PER_REASON if one.error else question in sampled
        facts = {} if one.error else {**one.facts, "passages": shown.get(question, []), "written_at": now}
        rows.append(
            GeneratedText(
                run=run,
                question_id=question,
                repetition=repetition,
                text=storable(one.text),
                facts=storable_json(facts),
                reason=reason,
                message=storable(one.error.message)[:2000] if one.error else "",
                is_permanent=one.error.permanent if one.error else False,
                trace=kept_trace(one.trace) if is_kept and one.trace else None,
            )
        )
    GeneratedText.objects.bulk_create(rows, batch_size=200)


def summary(run: GenerationRun) -> dict:
    """How many texts were written, how many of these decline to answer, and how many failed, by reason."""
    failures = dict(run.failures.values_list("reason").annotate(n=Count("pk")).order_by("-n", "reason"))
    written = run.texts.filter(reason="")
    return {
        "answered": written.count(),
        "abstained": written.filter(facts__abstains=True).count(),
        "failed": sum(failures.values()),
        "failures": failures,
    }

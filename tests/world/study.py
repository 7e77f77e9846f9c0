"""A study in which every figure about people and checkers is defined, and for every report a project that it fits."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from django.utils import timezone

from annotation.formats.records import AspectRecord, QuestionRecord, ResponseRecord
from annotation.models import Assignment, CheckerRun, Claim, Decision, Evidence, Project, Revision, Suggestion
from annotation.projects import label_sets
from tests.analysis import test_icat_report
from tests.factories import make_dataset, make_project, make_suggestions
from tests.kinds import answer_all, bring_in, make_kind_dataset, make_kind_project
from tests.world import pieces
from tests.world.labels import items_of, make_rater, make_scores, project_of, say
from tests.world.leaked import leaked, pair_labels, retrieve
from tests.world.planted import decide, score, suggest
from tests.world.preferred import preferred
from tests.world.remembered import remembered

YES, NO = "relevant", "not_relevant"
STANCES = ("refutes", "insufficient-neutral", "supports")
PEOPLE = ("Anna", "Ben", "Cleo")
N = 36
FIRST_DAY = datetime(2026, 5, 1, 12, tzinfo=UTC)


def in_arm(revision: Revision, arm: str, run=None) -> None:
    """The answer was given in this arm; with a run, its suggestions were before the person's eyes."""
    annotation, now = revision.annotation, timezone.now()
    annotation.assignment = Assignment.objects.create(
        project=annotation.item.project,
        item=annotation.item,
        position=annotation.item.position,
        state="done",
        rater=annotation.rater,
        done_at=now,
        shown_at=now,
        prefill_arm=arm,
        suggestions_shown_at=now if run else None,
        exposure=[{"run": str(run.uuid), "suggestions": 2}] if run else [],
    )
    annotation.save(update_fields=["assignment"])


def truth(number: int) -> tuple[str, str | None]:
    return (YES, STANCES[number % 3]) if number % 7 else (NO, None)


def said_by(person: int, number: int) -> tuple[str, str | None]:
    """What a person finds alone: each is wrong in other places."""
    relevance, stance = truth(number)
    if (number + 4 * person) % (9 + person) == 0:
        return (NO, None) if relevance == YES else (YES, STANCES[0])
    wrong = stance and (number + person) % 6 == 0
    return relevance, STANCES[(number + 1) % 3] if wrong else stance


@remembered
def study(n: int = N) -> Project:
    """Three people label all pairs, four a day, each half of them with suggestions of one run in view, which they
    follow but for every fifth. Another run was shown to nobody. Every claim has two pairs, and one of two sources."""
    project = project_of(n, claims=n // 2, prefill="shown")
    for place, claim in enumerate(Claim.objects.filter(dataset=project.dataset).order_by("key")):
        claim.source = f"https://{'north' if place % 2 else 'south'}.example/{place}"
        claim.save()
    unseen = _run(project, "unseen", wrong=4)
    seen = _run(project, "seen", wrong=5)
    items = items_of(project)
    make_scores(unseen, "support", {item.anchor_id: (number * 7 % 10) / 10 for number, item in enumerate(items)})
    for item, (relevance, _) in zip(items, map(truth, range(n)), strict=True):
        Decision.objects.create(
            project=project, unit=item.anchor, dimension="relevance", label=relevance, method="imported"
        )
    for person, name in enumerate(PEOPLE):
        rater = make_rater(project, name)
        for number, item in enumerate(items):
            is_shown = (number // 2 + person) % 2 == 0
            relevance, stance = said_by(person, number)
            if is_shown and (number + person) % 5:
                relevance, stance = _suggested(number, wrong=5)
            text = item.anchor.evidence.text
            length = 4 + (number + person) % 3
            revision = say(
                item,
                rater,
                relevance,
                stance,
                shown=is_shown,
                spans=(("evidence", 0, length, text[:length]),) if stance else (),
                active_ms=4000 + 500 * ((number + 3 * person) % 7) + (0 if is_shown else 3000),
                submitted_at=FIRST_DAY + timedelta(days=number // 4),
                guideline_version=1 + number // 20,
            )
            in_arm(revision, "shown" if is_shown else "off", seen if is_shown else None)
    return project


def _suggested(number: int, wrong: int) -> tuple[str, str | None]:
    relevance, stance = truth(number)
    return (relevance, STANCES[(number + 1) % 3]) if stance and number % wrong == 0 else (relevance, stance)


def _run(project: Project, checker: str, wrong: int):
    """A run that calls every `wrong`-th stance something else, with probabilities."""
    run = make_suggestions(project, checker=checker)
    values = project.type.dimension("stance").values
    for number, item in enumerate(items_of(project)):
        relevance, stance = _suggested(number, wrong)
        mine = Suggestion.objects.filter(run=run, unit=item.anchor)
        mine.filter(dimension="relevance").update(label=relevance)
        label = stance or STANCES[0]
        share = {value: 0.6 if value == label else 0.4 / (len(values) - 1) for value in values}
        mine.filter(dimension="stance").update(label=label, probability=0.6, probabilities=share)
    return run


@remembered
def _scored() -> Project:
    project = test_icat_report.make_planted(test_icat_report.labels_of_people())
    test_icat_report.make_runs(project)
    return project


def run_of(project: Project, checker: str) -> str:
    return str(project.checker_runs.get(checker=checker).uuid)


@remembered
def _with_answers(identifier: str, n: int = 4) -> Project:
    project = make_kind_project(identifier, n=n)
    answer_all(project, people=3)
    make_suggestions(project)
    return project


@remembered
def _of_aspects(n: int = 12) -> Project:
    """Three models' answers to questions of three aspects; how much of them is covered differs between questions."""
    dataset = make_dataset()
    records = []
    for number in range(n):
        key = f"q{number:02}"
        records.append(QuestionRecord(key, f"What of harbour {number}?"))
        records += [AspectRecord(f"{key}/a{index}", key, index, f"Aspect {index} of {number}") for index in range(3)]
        records += [
            ResponseRecord(f"m{model}/{key}", "It froze.", question=key, model=f"m{model}") for model in range(3)
        ]
    bring_in(dataset, records)
    project = make_project(dataset, "aspect-coverage/-/1", order="file")
    people = [make_rater(project, name) for name in PEOPLE]
    for number, item in enumerate(items_of(project)):
        for person, rater in enumerate(people):
            revision = item.annotations.create(rater=rater).revisions.create(number=1, suggestion_shown=False)
            for index, link in enumerate(item.item_units.order_by("index")):
                label = "covered" if (number * (index + 1) + person // 2) % 4 < 2 else "not_covered"
                revision.judgements.create(unit_id=link.unit_id, dimension="coverage", label=label)
    make_suggestions(project)
    return project


ERRONEOUS = "Es fror, es fror."
GRADED = {
    "name": "Graded errors",
    "version": 1,
    "page": "response",
    "questions": [
        {
            "slug": "errors",
            "title": "Errors",
            "labels": [{"value": "marked", "title": "Errors"}, {"value": "none", "title": "No error"}],
            "spans": {
                "title": "Errors",
                "fields": ["question", "response"],
                "labels": ["marked"],
                "own_labels": [{"value": one, "title": one} for one in ("Accuracy", "Punctuation")],
                "severities": [
                    {"value": "Minor", "title": "Minor", "weight": 1},
                    {"value": "Major", "title": "Major", "weight": 5},
                ],
                "weights": [{"label": "Punctuation", "severity": "Minor", "weight": 0.1}],
            },
        }
    ],
}


@remembered
def graded(n: int = 12, *, systems: tuple[str, ...] = ("s1", "s2"), n_people: int = 2) -> Project:
    """Systems' translations of segments of six documents; people mark errors in them, and differ in some."""
    dataset = make_dataset()
    records = []
    for number in range(n):
        about = {"doc": f"d{number % 6}", "doc_id": "", "seg_id": str(number)}
        records.append(QuestionRecord(f"q{number:02}", f"It froze in {number}.", metadata=about))
        records += [
            ResponseRecord(
                f"{one}/q{number:02}", "Es fror, es fror.", question=f"q{number:02}", model=one, metadata=about
            )
            for one in systems
        ]
    bring_in(dataset, records)
    label_set = label_sets.save_label_set(dataset.owner, GRADED)
    project = make_project(dataset, label_set.identifier, order="file")
    people = [make_rater(project, name) for name in PEOPLE[:n_people]]
    for number, item in enumerate(items_of(project)):
        for person, rater in enumerate(people):
            revision = item.annotations.create(rater=rater).revisions.create(number=1, suggestion_shown=False)
            marks = [(0, 2, "Accuracy", "Major")] if item.key.startswith("s2") and number % 3 else []
            marks += [(7, 8, "Punctuation", "Minor")] if (number + person) % 3 == 0 else []
            label = "marked" if marks else "none"
            judgement = revision.judgements.create(unit_id=item.anchor_id, dimension="errors", label=label)
            for start, end, own, severity in marks:
                quote = ERRONEOUS[start:end]
                place = {"field": "response", "start": start, "end": end, "quote": quote}
                judgement.spans.create(**place, label=own, severity=severity)
    return project


@remembered
def _of_pairs() -> Project:
    project = make_project(leaked(), "nli/two-way/1")
    labels = pair_labels("entailment", "non-entailment")
    decide(project, labels, "entailment")
    suggest(project, labels, "entailment")
    for repetition in (0, 1):
        retrieve(project, repetition)
    return project


@remembered
def _of_contexts() -> tuple[Project, str]:
    dataset = make_kind_dataset(6)
    projects = [make_kind_project(kind, dataset=dataset) for kind in ("sufficient-context/-/1", "answer-grade/-/1")]
    for project in projects:
        answer_all(project, people=3)
    make_suggestions(projects[0])
    return projects[0], projects[1].slug


@remembered
def measured_evidence() -> Project:
    """The study's evidence with its characteristics, and two models' answers without and with it. Some values are
    undefined, some answers certain or tied, some evidence is gold."""
    project = study()
    keys = [item.anchor.key for item in items_of(project)]
    evidence = Evidence.objects.filter(dataset=project.dataset)
    evidence.update(is_gold=False)
    evidence.filter(key__in=keys[::3]).update(is_gold=True)
    Claim.objects.filter(dataset=project.dataset, key__endswith="1").update(verdict="Half/true")
    values = {
        "evidence_length": [number % 7 * 10.0 if number % 5 else None for number in range(len(keys))],
        "hedging": [float(number % 4 == 1) if number % 9 else None for number in range(len(keys))],
        "claim_length": [float(number // 2 % 6) for number in range(len(keys))],
    }
    score(project, "characteristics", {name: dict(zip(keys, of, strict=True)) for name, of in values.items()})
    for model, step in (("one", 5), ("two", 11)):
        found: dict[str, dict[str, float | None]] = {}
        for number, key in enumerate(keys):
            sides = {"without": (number * step % 7, number % 3, number % 5), "with": (number % 4, 2, number * step % 9)}
            for mode, weights in sides.items():
                for answer, weight in zip(("false", "none", "true"), weights, strict=True):
                    is_known = (number, mode, answer) != (5, "with", "none")
                    found.setdefault(f"p_{answer}_{mode}", {})[key] = weight / (sum(weights) or 1) if is_known else None
        run = score(project, f"answer-probabilities-{model}", found)
        CheckerRun.objects.filter(pk=run.pk).update(provenance={"model": f"org/{model}"})
    return project


def _compared() -> tuple[Project, dict]:
    project = study()
    return project, {"run": run_of(project, "unseen"), "other": run_of(project, "seen")}


def _compared_with_all() -> tuple[Project, dict]:
    project, options = _compared()
    return project, options | {"all": True}


def calibrated(n: int = N) -> tuple[Project, dict]:
    """As if both runs of the study had tried prompts."""
    project = study() if n == N else study(n)
    for number, (run, part) in enumerate(zip(project.checker_runs.order_by("pk"), ("tune", "test"), strict=False), 1):
        run.provenance |= {"model": "judge", "calibration": {"version": number, "part": part}}
        run.save(update_fields=["provenance"])
    return project, {}


def _contexts() -> tuple[Project, dict]:
    project, grades = _of_contexts()
    return project, {"grades": grades}


def _imported(project: Project, **options) -> tuple[Project, dict]:
    return project, {"reference": "imported"} | options


# By report, a project that it can say something of and the options to say it with.
WORLDS: dict[str, Callable[[], tuple[Project, dict]]] = {
    "agreement": lambda: (study(), {"all": True}),
    "spans": lambda: (study(), {}),
    "comparison": _compared_with_all,
    "annotators": lambda: (study(), {}),
    "alternative-annotator": lambda: (study(), {}),
    "calibration": calibrated,
    "prevalence": lambda: (study(), {}),
    "prefill-trial": lambda: (study(), {}),
    "planning": lambda: (study(), {}),
    "rates": lambda: (_with_answers("triplets/-/1"), {}),
    "refchecker": lambda: (pieces.make_world().project, {"other_pieces": "coarser"}),
    "matched": lambda: _imported(_of_pairs()),
    "difference": _compared,
    "coverage": lambda: (_of_aspects(), {}),
    "preferences": lambda: (preferred(), {}),
    "errors": lambda: (graded(), {}),
    "leakage": lambda: _imported(_of_pairs()),
    "sufficiency": _contexts,
    "druid": lambda: (measured_evidence(), {}),
    "icat": lambda: (_scored(), {}),
}

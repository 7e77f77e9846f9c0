"""What the report on sufficient context can be made of: task types, other projects, judges and scores."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.reports.labels.derived import with_derived
from analysis.sources import Run, Source
from annotation.models import UnitKind
from annotation.task_types import Dimension, TaskType

OUTCOMES = ("correct", "abstain", "hallucinate")
GROUPS = SUFFICIENT, INSUFFICIENT = ("sufficient", "insufficient")
PEOPLE = "people"
CONFIDENCE = "confidence"
COMBINED = "confidence-and-sufficiency"
PROBABILITY = "probability"


def sufficiency_dimension(kind: TaskType) -> Dimension | None:
    """The dimension of two labels that says of a question whether its passages suffice."""
    if kind.unit_kind != UnitKind.QUESTION:
        return None
    found = [one for one in kind.dimensions if one.role == "coverage" and len(one.labels) == 2]
    return found[0] if len(found) == 1 else None


def outcome_dimension(kind: TaskType) -> Dimension | None:
    """The derived dimension that says whether an answer is correct, abstains or hallucinates."""
    if kind.unit_kind != UnitKind.RESPONSE:
        return None
    return next((one for one in with_derived(kind).dimensions if set(one.values) == set(OUTCOMES)), None)


def grades_answers(kind: TaskType) -> bool:
    return outcome_dimension(kind) is not None


def refuses(kind: TaskType) -> str:
    if sufficiency_dimension(kind) is not None:
        return ""
    if grades_answers(kind):
        return (
            "It is made of the project in which people judge whether the context of each question suffices, on the "
            "same data set; name this project there for the grades."
        )
    return "It needs questions of which is judged whether their passages suffice to answer."


def grade_projects(source: Source) -> dict[str, str]:
    """Projects on the same data set in which answers are graded."""
    return {"": "none"} | {
        slug: title for slug, title in source.siblings().items() if grades_answers(source.sibling(slug).type)
    }


def judges(source: Source) -> dict[str, str]:
    """Who can say whether an answer is correct: people, or a run of a project that grades answers."""
    found = {PEOPLE: "people"}
    for other in _grading(source):
        found |= {run.uuid: f"{other.slug}: {run.name}" for run in other.labelling_runs()}
    return found


def offered_scores(source: Source) -> dict[str, str]:
    """Value -> title: what runs of this project and of those that grade answers give, and answers' own confidence."""
    found = {"": "the newest run of this project"}
    found |= {f"{run.uuid}/{name}": f"{run.name}: {title}" for run in source.runs() for name, title in _names(run)}
    for other in _grading(source):
        names = [(run, name) for run in other.runs() for name in run.scores]
        found |= {f"{other.slug}:{run.uuid}/{name}": f"{other.slug}, {run.name}: {name}" for run, name in names}
    return found | {
        CONFIDENCE: "confidence, from the answers' metadata",
        COMBINED: "that confidence and sufficiency together (logistic regression, out of fold)",
    }


def _grading(source: Source) -> Iterator[Source]:
    others = (source.sibling(slug) for slug in source.siblings())
    return (other for other in others if grades_answers(other.type))


def _names(run: Run) -> Iterator[tuple[str, str]]:
    if run.gives == "labels":
        yield PROBABILITY, "probability of sufficient"
    yield from ((name, name) for name in run.scores)

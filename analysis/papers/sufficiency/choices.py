"""What the report on sufficient context can be made of: task types, other projects, judges and scores."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.reports.labels.derived import with_derived
from analysis.reports.options import sibling_projects
from analysis.sources.outline import Outline, Run
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
    binary = [one for one in kind.dimensions if one.role == "coverage" and len(one.labels) == 2]
    return binary[0] if len(binary) == 1 else None


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
            "It is computed for the project on the same data set in which people judge whether the context of each "
            "question suffices; name this project there for the grades."
        )
    return "It needs questions that are judged by whether their passages suffice to answer them."


def grade_projects(source: Outline) -> dict[str, str]:
    """Projects on the same data set in which answers are graded."""
    return sibling_projects(source, grades_answers)


def judges(source: Outline) -> dict[str, str]:
    """Who can say whether an answer is correct: people, or a run of a project that grades answers."""
    return {PEOPLE: "people"} | {
        run.uuid: f"{other.slug}: {run.name}" for other in _grading(source) for run in other.labelling_runs()
    }


def offered_scores(source: Outline) -> dict[str, str]:
    """Value -> title: what runs of this project and of those that grade answers give, and answers' own confidence."""
    return {
        "": "the newest run of this project",
        **{f"{run.uuid}/{name}": f"{run.name}: {title}" for run in source.runs() for name, title in _scores(run)},
        **{
            f"{other.slug}:{run.uuid}/{name}": f"{other.slug}, {run.name}: {name}"
            for other in _grading(source)
            for run in other.runs()
            for name in run.scores
        },
        CONFIDENCE: "confidence, from the answers' metadata",
        COMBINED: "confidence and sufficiency together (logistic regression, out of fold)",
    }


def _grading(source: Outline) -> Iterator[Outline]:
    others = (source.sibling(slug) for slug in source.siblings())
    return (other for other in others if grades_answers(other.type))


def _scores(run: Run) -> Iterator[tuple[str, str]]:
    if run.gives == "labels":
        yield PROBABILITY, "probability of sufficient"
    yield from ((name, name) for name in run.scores)

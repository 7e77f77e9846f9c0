"""What the report on DRUID's analyses can be made of: the questions, the runs that measured something, their names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from analysis.papers.druid.result import ANSWERS, BOUNDED, SHARE
from analysis.sources.outline import Outline, Run
from annotation.models import UnitKind
from annotation.task_types import Dimension, TaskType

EVERY, NEWEST = "all", "newest"
MODES = ("without", "with")
ANSWER_SCORES = tuple(f"p_{answer}_{mode}" for mode in MODES for answer in ANSWERS)
PERPLEXITY = "perplexity"


@dataclass(frozen=True)
class Feature:
    """A characteristic as a run stores it.

    `scale`: SHARE is 0 or 1 of each pair, so that its mean is a share of pairs; BOUNDED lies between 0 and 1.
    `instead_of`: the score that measures the same better, next to which this one would be a test too many.
    """

    score: str
    title: str
    scale: str = ""
    instead_of: str = ""


# In the order of the paper's table 10.
FEATURES = (
    Feature("jaccard_treebank", "Jaccard similarity", BOUNDED),
    Feature("overlap_treebank", "Claim-evidence overlap", BOUNDED),
    Feature("repeats_claim", "Repeats claim", SHARE),
    Feature("evidence_flesch", "Flesch reading ease"),
    Feature("claim_length", "Claim length"),
    Feature("evidence_length", "Evidence length"),
    Feature("entity_overlap", "Claim entity overlap", BOUNDED),
    Feature("refers_to_external_source", "Refers to external source", SHARE),
    Feature("unreliable_source", "Unreliable source", SHARE),
    Feature("hedging", "Contains hedging", SHARE),
    Feature("hedging_discourse", "Contains hedging discourse", SHARE),
    Feature("contains_true", "Contains 'true'", SHARE),
    Feature("contains_false", "Contains 'false'", SHARE),
    Feature("fact_check_source", "Fact-check source", SHARE),
    Feature("gold_source", "Gold source", SHARE),
    Feature("published_after_claim", "Published after claim", SHARE),
    Feature("jaccard", "Jaccard similarity, Assay's words", BOUNDED, "jaccard_treebank"),
    Feature("overlap", "Claim-evidence overlap, Assay's words", BOUNDED, "overlap_treebank"),
)


def stance_dimension(kind: TaskType) -> Dimension | None:
    """The question what evidence says about its claim; None where a task type asks no such thing."""
    if kind.unit_kind != UnitKind.EVIDENCE:
        return None
    return next((dimension for dimension in kind.dimensions if dimension.role == "stance"), None)


def relevance_dimension(kind: TaskType) -> Dimension | None:
    stance = stance_dimension(kind)
    return kind.dimension(stance.asked_when.dimension) if stance is not None and stance.asked_when else None


def answer_runs(runs: Iterable[Run]) -> list[Run]:
    """Those that give the probabilities of all three answers, without and with the evidence."""
    return [run for run in runs if set(ANSWER_SCORES) <= set(run.scores)]


def feature_runs(runs: Iterable[Run]) -> list[Run]:
    """Those that give any of FEATURES."""
    names = {feature.score for feature in FEATURES}
    return [run for run in runs if names & set(run.scores)]


def perplexity_runs(runs: Iterable[Run]) -> list[Run]:
    return [run for run in runs if PERPLEXITY in run.scores]


def model_names(runs: list[Run]) -> dict[str, str]:
    """UUID -> what figures call a run: its language model, and what else tells it from the others."""
    names = {run.uuid: _model(run) for run in runs}
    for name, part in (("shots", "{}-shot"), ("normalise", "of {}")):
        if len({names[run.uuid] for run in runs}) < len(runs) and len({run.parameters.get(name) for run in runs}) > 1:
            names |= {
                run.uuid: f"{names[run.uuid]}, {part.format(run.parameters[name])}"
                for run in runs
                if name in run.parameters
            }
    titles = list(names.values())
    return {uuid: title if titles.count(title) == 1 else f"{title} ({uuid[:8]})" for uuid, title in names.items()}


def _model(run: Run) -> str:
    """The last part of a model's name or folder; the checker where no model is known."""
    model = str(run.provenance.get("model") or run.parameters.get("model") or "")
    return model.rstrip("/").rpartition("/")[2] or run.name


def refuses(kind: TaskType) -> str:
    if stance_dimension(kind) is None:
        return f"It is about the stance of evidence to claims, and {kind.title!r} judges something else."
    return ""


def offered_answers(source: Outline) -> dict[str, str]:
    return {EVERY: "Every run that has them"} | model_names(answer_runs(source.runs()))


def offered_features(source: Outline) -> dict[str, str]:
    runs = feature_runs(source.runs())
    dated = {run.uuid: f"{run.name}, {run.created_at:%Y-%m-%d %H:%M}" if run.created_at else run.name for run in runs}
    return {NEWEST: "The newest run of each"} | dated


def projects_beside(source: Outline) -> dict[str, str]:
    """Projects with evidence to compare with: those on the same data set, or the releases that a command was given."""
    titles = {slug: title for slug, title in source.siblings().items() if not refuses(source.sibling(slug).type)}
    every = {EVERY: "All that are given"} if source.described()["kind"] == "release" and len(titles) > 1 else {}
    return {"": "nothing"} | every | titles

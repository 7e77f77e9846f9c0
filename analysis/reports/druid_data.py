"""What DRUID's figures are made from: pairs of claim and evidence with a stance, and what runs measured of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from analysis.reports.reference import Reference, references
from analysis.sources import Run, Source
from annotation.models import UnitKind
from annotation.task_types import Dimension, TaskType

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

NOT_RELEVANT = "not_applicable"  # the stance of evidence that is not relevant, as DRUID's files write it
MODES = ("without", "with")
ANSWERS = ("false", "none", "true")  # in the order of analysis.stats.usage
ANSWER_SCORES = tuple(f"p_{answer}_{mode}" for mode in MODES for answer in ANSWERS)
PERPLEXITY = "perplexity"
# Sources beyond these are in no table of their own; figures over all are over all.
MAX_SOURCES = 50
SHOWN_SOURCES = 12  # columns that still fit beside each other; every source has rows in other tables


SHARE, BOUNDED = "share", "bounded"


@dataclass(frozen=True)
class Feature:
    """A characteristic as a run stores it.

    `scale`: SHARE is 0 or 1 of each pair, so that its mean is a share of pairs; BOUNDED lies between 0 and 1.
    `instead_of`: the score that says the same better, beside which this one would be a test too many.
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


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of claim and evidence, in the order of keys.

    Attributes
    ----------
    units : DataFrame
        The source's unit frame.
    labels : DataFrame
        What people say of them now.
    relevance, stance : Reference
        What the reference says of them; `relevance` is None where it is not asked.
    stances : list of str or None
        The stance's label of each pair, NOT_RELEVANT, or None where there is none.
    names, titles : of the stances that figures are split by, in the order of the scale, NOT_RELEVANT last if it occurs
    cluster : (n,) int array
        The claim of each pair, by the order of claims' keys.
    """

    kind: TaskType
    units: pd.DataFrame
    labels: pd.DataFrame
    relevance: Reference | None
    stance: Reference
    stances: list[str | None]
    names: tuple[str, ...]
    titles: dict[str, str]
    cluster: np.ndarray

    @property
    def n_claims(self) -> int:
        return int(self.cluster.max()) + 1 if len(self.cluster) else 0

    @cached_property
    def sources(self) -> list[str]:
        """Those with most pairs first; none where all pairs come from one, which says nothing beside all of them."""
        sizes = self.units["source"].value_counts()
        if len(sizes) < 2:
            return []
        return sorted(sizes.index, key=lambda name: (-sizes[name], name))[:MAX_SOURCES]

    @cached_property
    def source_code(self) -> np.ndarray:
        """The place of each pair's source in `sources`; -1 for one that is not there."""
        import pandas as pd

        return pd.Categorical(self.units["source"], categories=self.sources).codes

    @cached_property
    def _stance_code(self) -> np.ndarray:
        import numpy as np

        place = {name: code for code, name in enumerate(self.names)}
        return np.array([place.get(stance, -1) for stance in self.stances], dtype=int)

    def has_stance(self, *names: str) -> np.ndarray:
        """Pairs with any of the stances."""
        import numpy as np

        return np.isin(self._stance_code, [self.names.index(name) for name in names if name in self.names])

    def values(self, frame: pd.DataFrame) -> np.ndarray:
        """A score of each pair; nan where it is undefined, failed, or was not computed."""
        return frame.set_index("unit")["value"].reindex(self.units["unit"]).to_numpy(dtype=float)


def pairs_of(source: Source, reference: str) -> Pairs:
    """ValueError for a project that judges something else, or has no pairs yet."""
    import numpy as np

    kind = source.type
    dimension = stance_dimension(kind)
    if dimension is None:
        raise ValueError(f"DRUID's figures are about the stance of evidence; {kind.title!r} judges something else")
    units = source.unit_frame(kind.unit_kind)
    if not len(units):
        if len(source.whole().unit_frame(kind.unit_kind)):
            raise ValueError(f"no evidence of project {source.slug} is looked at: select more")
        raise ValueError(f"project {source.slug} has no evidence yet: add data, and make its items")
    labels = source.label_frame(units)
    found = references(kind, source, reference, units, labels)
    stance, relevance = found[dimension.slug], relevance_dimension(kind)
    label = np.array([*dimension.values, NOT_RELEVANT, None], dtype=object)
    code = np.where(stance.not_asked, len(dimension.values), stance.code)  # -1 finds the None at the end
    stances = label[code].tolist()
    names = [*dimension.values, *([NOT_RELEVANT] if stance.not_asked.any() else [])]
    titles = {one.value: one.title for one in dimension.labels} | {NOT_RELEVANT: "Not relevant"}
    return Pairs(
        kind=kind,
        units=units,
        labels=labels,
        relevance=found[relevance.slug] if relevance is not None else None,
        stance=stance,
        stances=stances,
        names=tuple(names),
        titles=titles,
        cluster=np.unique(units["cluster"].fillna(units["unit_key"]).to_numpy(dtype=str), return_inverse=True)[1],
    )


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
    found = {run.uuid: _model(run) for run in runs}
    for name, part in (("shots", "{}-shot"), ("normalise", "of {}")):
        if len({found[run.uuid] for run in runs}) < len(runs) and len({run.parameters.get(name) for run in runs}) > 1:
            found |= {
                run.uuid: f"{found[run.uuid]}, {part.format(run.parameters[name])}"
                for run in runs
                if name in run.parameters
            }
    titles = list(found.values())
    return {uuid: title if titles.count(title) == 1 else f"{title} ({uuid[:8]})" for uuid, title in found.items()}


def _model(run: Run) -> str:
    """The last part of a model's name or folder; the checker where no model is known."""
    model = str(run.provenance.get("model") or run.parameters.get("model") or "")
    return model.rstrip("/").rpartition("/")[2] or run.name

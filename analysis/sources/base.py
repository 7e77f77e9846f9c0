"""What a report may know of a project: frames whose rows stand in an order that no database decides.

Units are numbered as their source pleases and stand in the order of their keys; people are pseudonyms. Whatever is
drawn at random from the frames is therefore the same from the database and from files.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from analysis.sources.outline import SLOT, GeneratorRun, Outline, Run
from analysis.sources.rankings import Retrieval
from annotation.task_types import Dimension, TaskType
from annotation.task_types.base import CANNOT_JUDGE

# Columns of each frame, in their order; every source gives all of them.
UNIT_COLUMNS = (
    *("unit", "unit_key", "item", "item_key", "cluster", "source", "model", "method", "setting"),
    *("claim", "question", "evidence", "response", "aspect"),
)
LABEL_COLUMNS = (
    *("unit", "dimension", "label", "annotation", "number", "is_latest", "suggestion_shown", "rater", "rater_kind"),
)
REVISION_COLUMNS = ("annotation", "number", "submitted_at", "guideline_version")
ANSWER_COLUMNS = (
    *("annotation", "item", "rater", "arm", "seconds", "shown_at", "submitted_at", "guideline_version"),
    *("suggestion_shown", "n_planned"),
)
EXPOSURE_COLUMNS = ("annotation", "run", "checker", "shown_at")
ITEM_COLUMNS = ("item", "item_key", "n_units", "n_planned", "n_extra", "in_random_share")
SPAN_COLUMNS = ("unit", "rater", "dimension", "label", "field", "start", "end", "own_label", "severity")
RATER_COLUMNS = ("rater", "kind", "name", "group")
SUGGESTION_COLUMNS = ("unit", "dimension", "label", "probability")
ACKNOWLEDGEMENT_COLUMNS = ("rater", "version", "acknowledged_at")
KEY_RESULT_COLUMNS = ("rater", "item", "purpose", "attempt", "right", "asked", "created_at")
CHECK_COLUMNS = ("rater", "n", "n_passed")
SKIP_COLUMNS = ("item", "rater", "skipped_at", "reason", "flagged", "parked", "replies")
DECISION_COLUMNS = ("unit", "dimension", "method", "number", "label", "rater", "note", "seen", "decided_at")
ORIGIN_COLUMNS = ("unit", "dimension", "arm", "submitted_at")
STRAY_COLUMNS = ("unit", "dimension", "label")

ADJUDICATED = "adjudicated"
CHECK = "check"


class Source(Outline):
    """One project's labels as of one moment, by all raters."""

    # The set that units' one labels come from, where a release was frozen with one; empty: what stands.
    decisions: str = ""

    @property
    def asked(self) -> TaskType:
        """As people are asked. The `type` of what reports are made from has a question for each label where several may
        be chosen (`analysis.sources.several`)."""
        return self.type

    @abstractmethod
    def unit_frame(self, unit_kind: str) -> pd.DataFrame:
        """UNIT_COLUMNS, a row per unit under judgement, in the order of keys.

        `cluster` is the key of the claim or question that units come in; `claim` to `aspect` are keys of what the unit
        is made from, None where it has no such thing. Units of retired items are left out: their text has been
        superseded.
        """

    @abstractmethod
    def label_frame(self, units: pd.DataFrame, *, every_revision: bool = False) -> pd.DataFrame:
        """LABEL_COLUMNS: people's labels of `units`, surplus answers left out, by unit, dimension, rater, revision.

        Of the latest revisions only, or of all. `suggestion_shown` is None where it is not known.
        """

    def unjudged_frame(self, units: pd.DataFrame) -> pd.DataFrame:
        """LABEL_COLUMNS of the answers that say that a person cannot judge, which no report counts as labels."""
        if not any(one.has_cannot_judge for one in self.asked.dimensions):
            return pd.DataFrame(columns=list(LABEL_COLUMNS))
        labels = self.label_frame(units)
        return labels[labels["label"] == CANNOT_JUDGE].reset_index(drop=True)

    @abstractmethod
    def revision_frame(self) -> pd.DataFrame:
        """REVISION_COLUMNS, a row per revision that is not surplus, in any order. Moments stand apart from labels since
        few figures ask for them, and they take longer to read than all the rest."""

    @abstractmethod
    def answer_frame(self) -> pd.DataFrame:
        """ANSWER_COLUMNS, a row per annotation that is not surplus. Times are of its latest revision; `seconds` are
        active ones, nan where unknown; `arm` is None for answers of files and late ones."""

    def asked_under(self) -> tuple[dict[int, int], dict[int, TaskType]]:
        """Annotation -> the version of the project's options that its latest revision was asked under, of those that
        name one, and the task as each version asks it, 0 without options. Empty where the project never had any."""
        return {}, {}

    def shown_orders(self) -> dict[int, tuple[str, ...]]:
        """Annotation -> the order in which its texts were shown, where each person saw them in another one."""
        return {}

    @abstractmethod
    def exposure_frame(self) -> pd.DataFrame:
        """EXPOSURE_COLUMNS: whose answer could see which run's suggestions, and when first (NaT: never shown).
        `checker` is None where the run is not known any more."""

    @abstractmethod
    def item_frame(self) -> pd.DataFrame:
        """ITEM_COLUMNS, items without units included (unless `why_without_units_are_unknown`). `in_random_share`: drawn
        for more than one judgement; `n_extra`: judgements that were asked for later."""

    @abstractmethod
    def span_frame(self, units: pd.DataFrame) -> pd.DataFrame:
        """SPAN_COLUMNS of the latest revisions that are not surplus; code points, half open. `label` is the answer's,
        `own_label` and `severity` are the span's, empty where spans have none."""

    @abstractmethod
    def rater_frame(self) -> pd.DataFrame:
        """RATER_COLUMNS of those who labelled something; `rater` is the pseudonym, and so is `name` where names are not
        known; `group` is empty where a file named none."""

    def has_labels(self) -> bool:
        return bool(len(self.rater_frame()))

    def has_people(self) -> bool:
        return bool((self.rater_frame()["kind"] != SLOT).any())

    def everybody(self) -> pd.DataFrame:
        """RATER_COLUMNS, with those who labelled nothing: who only decided, or read the guidelines."""
        return self.rater_frame()

    def labels_seen(self) -> set[int]:
        """Annotations with a revision that is not surplus and was made after Assay had served its author others' labels
        of the project. Figures leave them out (`analysis.sources.blind`)."""
        return set()

    def further(self) -> set[int]:
        """Annotations that were asked for because the answers of their items differed (`annotation.work.further`).
        Figures of agreement leave them out: they come where people disagree."""
        return set()

    def has_further(self) -> bool:
        return bool(self.further())

    @abstractmethod
    def decision_frame(self, method: str) -> pd.DataFrame:
        """Columns unit, dimension, label: decisions by one method that are in force."""

    def unanswered_frame(self, method: str) -> pd.DataFrame:
        """Columns unit, dimension: decisions by one method that are in force and say that the unit is dropped, or that
        no answer is right."""
        return pd.DataFrame(columns=["unit", "dimension"])

    def acknowledgement_frame(self) -> pd.DataFrame:
        """ACKNOWLEDGEMENT_COLUMNS: which versions of the guidelines people acknowledged, and when, by rater and
        version."""
        return pd.DataFrame(columns=list(ACKNOWLEDGEMENT_COLUMNS))

    def key_result_frame(self) -> pd.DataFrame:
        """KEY_RESULT_COLUMNS: how people's first answers to items that are set apart compare with the right ones, in
        qualification of each try, by rater and time. `item` is a key."""
        return pd.DataFrame(columns=list(KEY_RESULT_COLUMNS))

    def skip_frame(self) -> pd.DataFrame:
        """SKIP_COLUMNS: the skips that stand, by item's key and rater. `reason` is None where there is none; `replies`
        are what followed a flag, None where nothing did or an answer has them."""
        return pd.DataFrame(columns=list(SKIP_COLUMNS))

    def decision_history(self) -> pd.DataFrame:
        """DECISION_COLUMNS: every decision, also those that another took the place of, by unit's key, dimension, method
        and number. An empty label: withdrawn. `seen` is what its person had been shown of the item, None where nobody
        knows: {"labels", "names", "runs": [{"run", "checker"}]}."""
        return pd.DataFrame(columns=list(DECISION_COLUMNS))

    @abstractmethod
    def suggestion_frame(self, run: Run) -> pd.DataFrame:
        """SUGGESTION_COLUMNS in the order of units and dimensions."""

    @abstractmethod
    def probability_frame(self, run: Run, dimension: str, labels: tuple[str, ...]) -> pd.DataFrame:
        """A column per label, a row per unit (the index, in the order of keys) for which the run gave the probability
        of each of them."""

    @abstractmethod
    def suggestion_rows(self, run: Run) -> Iterator[dict]:
        """Each suggestion as a whole, by unit's key and dimension: unit, dimension, label, and where the run gave them
        probability, probabilities (label -> number), spans and explanation."""

    @abstractmethod
    def score_frame(self, run: Run, name: str) -> pd.DataFrame:
        """Columns unit, value (nan where undefined)."""

    @abstractmethod
    def failure_frame(self, run: Run) -> pd.DataFrame:
        """Columns unit, reason."""

    @abstractmethod
    def content(self, kind: str) -> pd.DataFrame:
        """The data set's rows of one kind (claim, question, evidence, response, triplet, sub_sentence, atomic_claim,
        aspect, pair) in the order of keys: `key`, what `annotation.formats.records` has, parents by key. Evidence also
        has `number` and `gold_number`: which passage it is below its claim or question, of all and of the gold ones.
        """

    def content_parts(self, kind: str) -> Iterator[pd.DataFrame]:
        """The same rows, some at a time."""
        yield self.content(kind)

    def pieces(self, kind: str) -> pd.DataFrame:
        """The data set's pieces of a kind, of the set that the project judges; of the unnamed set where that has none
        of them."""
        content = self.content(kind)
        sets = content["piece_set"].fillna("")
        return content[sets == (self.piece_set if (sets == self.piece_set).any() else "")].reset_index(drop=True)

    def stray_frame(self, run: Run) -> pd.DataFrame:
        """STRAY_COLUMNS: answers of a run that are no label of the dimension; `suggestion_frame` is without it. Only
        files that were made elsewhere hold such answers."""
        return pd.DataFrame(columns=list(STRAY_COLUMNS))

    def suggestion_origins(self, run: Run) -> pd.DataFrame:
        """ORIGIN_COLUMNS of a run's labels, strays included, that have an arm or a time of their own. Only tables have
        them."""
        return pd.DataFrame(columns=list(ORIGIN_COLUMNS))

    def content_metadata(self, kind: str, name: str) -> dict[str, Any]:
        content = self.content(kind)
        rows = zip(content["key"], content["metadata"], strict=True)
        return {key: metadata[name] for key, metadata in rows if isinstance(metadata, dict) and name in metadata}

    def unit_numbers(self, units: list[int]) -> list[int | None]:
        """The database's numbers of these units, None where it has the unit no more."""
        return list(units)

    def anchors(self, items: list[int]) -> list[int]:
        """What these items are of, numbered next to the units: pages that open figures show it where an item has no
        unit."""
        raise ValueError(f"{self.slug} has no items whose answers can be opened")

    def generations(self) -> list[GeneratorRun]:
        """Finished runs of generators in the project, oldest first."""
        return []

    def retrievals(self) -> list[Retrieval]:
        """Finished retrievals of the project, oldest first."""
        return []

    def query_frame(self, retrieval: Retrieval) -> pd.DataFrame:
        """QUERY_COLUMNS (`analysis.sources.rankings`) in the order of keys: what was searched for. `expanded` is empty
        where that was the query's own text, `reason` where it was answered."""
        raise ValueError(f"{self.slug} has no retrieval {retrieval.uuid}")

    def ranking_frame(self, retrieval: Retrieval) -> pd.DataFrame:
        """RANKING_COLUMNS by query and rank: the passages that were found. `evidence` is a key where the document is
        evidence of the data set, else None."""
        raise ValueError(f"{self.slug} has no retrieval {retrieval.uuid}")

    def whole(self) -> Source:
        """The project without any selection: what machines say of it does not depend on whose labels are looked at."""
        return self

    def why_without_units_are_unknown(self) -> str:
        """Why no item without units is among the items, so that nobody can say how many there are; empty where all of
        them are."""
        return ""

    # What follows is made from the frames above.

    def with_moments(self, labels: pd.DataFrame) -> pd.DataFrame:
        """Labels with `submitted_at` (UTC; NaT where unknown) and `guideline_version` of their revision, rows as they
        stand."""
        revisions = self.revision_frame()
        revisions["submitted_at"] = pd.to_datetime(revisions["submitted_at"], utc=True)
        frame = labels.merge(revisions, on=["annotation", "number"], how="left", validate="many_to_one")
        return frame.set_axis(labels.index)

    def items_without_units(self) -> int:
        """Items in which there is nothing to judge, such as abstained answers."""
        return int((self.item_frame()["n_units"] == 0).sum())

    def check_frame(self) -> pd.DataFrame:
        """CHECK_COLUMNS: how many checks each rater had, and passed."""
        results = self.key_result_frame()
        results = results[results["purpose"] == CHECK]
        rows = results.assign(passed=(results["right"] == results["asked"]).astype(int)).groupby("rater")["passed"]
        return rows.agg(n="size", n_passed="sum").reset_index()[list(CHECK_COLUMNS)]

    def arms(self) -> pd.Series:
        """The arm in which each annotation (the index) was given, of those that have one."""
        answers = self.answer_frame()
        return answers[answers["arm"].notna()].set_index("annotation")["arm"]

    def active_seconds(self) -> dict[int, float]:
        """Annotation -> seconds of activity in its latest revision, of annotations whose time is known."""
        answers = self.answer_frame()
        known = answers[answers["seconds"].notna()]
        return dict(zip(known["annotation"].tolist(), known["seconds"].tolist(), strict=True))


def dimensions_to_show(kind: TaskType, labels: pd.DataFrame) -> list[Dimension]:
    """What has labels, also where the project hides it now; where nothing has any, what the project asks."""
    answered = set(labels["dimension"].unique())
    return [one for one in kind.dimensions if one.slug in answered] or [
        one for one in kind.dimensions if not one.is_hidden
    ]


def unanswered(kind: TaskType, labels: pd.DataFrame) -> list[str]:
    """Titles of the questions that the project asks and nobody answered, where some question was."""
    answered = set(labels["dimension"].unique())
    return [one.title for one in kind.asked_dimensions if one.slug not in answered] if answered else []


def in_order(labels: pd.DataFrame, units: pd.DataFrame, kind: TaskType) -> pd.DataFrame:
    """Rows about `units` only, by unit, dimension (as asked), rater and, where there is one, revision or place."""
    place = pd.Series(np.arange(len(units)), index=units["unit"].to_numpy())
    is_about = labels["unit"].isin(place.index)
    labels = labels if is_about.all() else labels[is_about]
    if not len(labels):
        return labels.reset_index(drop=True)
    asked = pd.Index([dimension.slug for dimension in kind.dimensions])
    of_dimension = asked.get_indexer(labels["dimension"])
    keys = [place.reindex(labels["unit"]).to_numpy(), np.where(of_dimension < 0, len(asked), of_dimension)]
    if "rater" in labels:
        keys.append(labels["rater"].astype("category").cat.codes.to_numpy())
    keys += [labels[name].astype("category").cat.codes.to_numpy() for name in ("field",) if name in labels]
    keys += [labels[name].to_numpy() for name in ("number", "start", "end") if name in labels]
    keys += [
        labels[name].astype("category").cat.codes.to_numpy() for name in ("own_label", "severity") if name in labels
    ]
    return labels.iloc[np.lexsort(keys[::-1])].reset_index(drop=True)

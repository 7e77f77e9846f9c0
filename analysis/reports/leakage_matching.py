"""Who says of which generated document that it holds gold evidence, and how far people and a checker agree on it.

A *generation* is what one generator (method, model, setting) wrote for one claim in one repetition, mostly one
document. It is matched if any of its pairs is entailed by gold evidence, or, where whole documents are judged, if any
of its documents is said to include some.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from analysis.reports.figures import figure, is_quick, number
from analysis.reports.matched import NO_SUGGESTION, Side, by_people, decided, entailing_labels
from analysis.reports.shares import share_of
from analysis.sources import Run, Source
from annotation.models import UnitKind
from annotation.task_types import Dimension, TaskType

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

GENERATOR = ["method", "model", "setting"]
GENERATION = [*GENERATOR, "repetition", "claim"]
OTHER, MATCHED = "unmatched", "matched"
NOT_BOTH = "nothing has a label by both"


def matching_dimension(kind: TaskType) -> Dimension | None:
    """The dimension that says whether a pair is entailed, or whether a document made for a claim includes evidence."""
    is_document = kind.unit_kind == UnitKind.RESPONSE and kind.anchor_parent == "claim"
    if kind.unit_kind != UnitKind.PAIR and not is_document:
        return None
    found = [dimension for dimension in kind.dimensions if entailing_labels(dimension)]
    return found[0] if len(found) == 1 else None


def judges_documents(kind: TaskType) -> bool:
    return kind.unit_kind == UnitKind.RESPONSE and matching_dimension(kind) is not None


def tuples(frame: pd.DataFrame, columns: list[str]) -> list[tuple]:
    return list(zip(*(frame[name].tolist() for name in columns), strict=True))


@dataclass(frozen=True, eq=False)
class Judged:
    """Units of a project that belong to generated documents, and what each side says of them (codes as in `Side`).

    `every` are those of the whole project: what was searched with is told by all of its documents, selected or not.
    """

    units: pd.DataFrame  # with the columns GENERATION, document, text
    sides: dict[str, Side]
    n_others: int
    every: pd.DataFrame
    _verdicts: dict[tuple, pd.Series] = field(default_factory=dict)

    @cached_property
    def written(self) -> dict[str, list[tuple[str, tuple]]]:
        """By claim the words of the project's documents for it, and the generation of each."""
        found: dict[str, list[tuple[str, tuple]]] = {}
        documents = self.every.drop_duplicates("document")
        for claim, text, generation in zip(
            documents["claim"], documents["text"], tuples(documents, GENERATION), strict=True
        ):
            if text.strip():
                found.setdefault(claim, []).append((text.strip(), generation))
        return found

    def verdicts(self, side: str, group: list[str]) -> pd.Series:
        """By group, 1 matched, 0 unmatched, -1 undecided."""
        if (side, *group) not in self._verdicts:
            self._verdicts[side, *group] = self._verdicts_of(side, group)
        return self._verdicts[side, *group]

    def _verdicts_of(self, side: str, group: list[str]) -> pd.Series:
        import numpy as np
        import pandas as pd

        from analysis.stats.matching import matched_share

        names = pd.Index(tuples(self.units, group), tupleize_cols=False) if len(group) > 1 else self.units[group[0]]
        codes, found = pd.factorize(names)
        verdict = matched_share(self.sides[side].code, codes, len(found)).verdict
        index = pd.MultiIndex.from_tuples(found, names=group) if len(group) > 1 else pd.Index(found, name=group[0])
        return pd.Series(np.where(verdict == 2, -1, verdict), index=index)


def judged(source: Source, reference: str, run: Run | None, touched: bool) -> Judged:
    """The project's units of generated documents. ValueError where it judges something else, or has none."""
    dimension = matching_dimension(source.type)
    if dimension is None:
        raise ValueError(f"{source.type.title!r} does not say whether generated documents hold gold evidence")
    units, n_others = _of_documents(source)
    if not len(units):
        raise ValueError(
            f"Nothing that is judged in {source.slug} comes from a document that was generated for a claim, or nothing "
            "that is looked at"
        )
    whole = source.whole()
    every = units if whole is source else _of_documents(whole)[0]
    sides = {"people": by_people(source, dimension, reference, units, run, touched)}
    if run is not None:
        sides["checker"] = Side(decided(source.suggestion_frame(run), dimension, units), NO_SUGGESTION)
    return Judged(units, sides, n_others, every)


def _of_documents(source: Source) -> tuple[pd.DataFrame, int]:
    """Units that come from documents generated for claims, and how many others there are."""
    every = source.unit_frame(source.type.unit_kind).rename(columns={"response": "document"})
    units = every[every["document"].notna() & every["claim"].notna()].reset_index(drop=True)
    responses = source.content("response").set_index("key")
    units["repetition"] = units["document"].map(responses["repetition"]).fillna(0).astype(int)
    units["text"] = units["document"].map(responses["text"]).fillna("")
    units[GENERATOR] = units[GENERATOR].fillna("")
    return units, len(every) - len(units)


def proportions(found: Judged) -> list[dict]:
    """Per generator and side: share of matched generations, in all and in each repetition."""
    rows = []
    for names, mine in found.units.groupby(GENERATOR, sort=True):
        place = len(rows)
        row = dict(zip(GENERATOR, names, strict=True)) | {"figure": f"generator{place}", "sides": {}}
        generations = mine.drop_duplicates(GENERATION)
        row |= {
            "n_documents": int(mine["document"].nunique()),
            "n_claims": int(mine["claim"].nunique()),
            "n_repetitions": int(generations["repetition"].nunique()),
        }
        for side in found.sides:
            row["sides"][side] = _share(found, mine, side)
        rows.append(row)
    return rows


def _share(found: Judged, mine: pd.DataFrame, side: str) -> dict:
    from analysis.stats import repeated_mean

    verdicts = found.verdicts(side, GENERATION)
    wanted = mine.drop_duplicates(GENERATION)[GENERATION]
    verdict = verdicts.reindex(tuples(wanted, GENERATION)).to_numpy()
    values = [float(one) if one >= 0 else float("nan") for one in verdict]
    share = repeated_mean(values, wanted["claim"].tolist(), wanted["repetition"].tolist())
    counts = {name: int((verdict == code).sum()) for name, code in ((MATCHED, 1), (OTHER, 0), ("undecided", -1))}
    return counts | {
        "share": figure(share),
        "standard_error": number(share.standard_error),
        "lowest": counts[MATCHED] / len(verdict),
        "highest": (counts[MATCHED] + counts["undecided"]) / len(verdict),
    }


@dataclass(frozen=True)
class Said:
    """What somebody says of units or documents: codes 1, 0, -1 by key."""

    title: str
    codes: pd.Series


def set_against(level: str, people: Said, checker: Said, claims: pd.Series) -> dict:
    """A checker's answers against people's, on units of one level; `claims` by the same keys."""
    from analysis.stats import Labels, cohen_kappa
    from analysis.stats.detection import detection

    keys = people.codes.index.intersection(checker.codes.index, sort=False)
    truth, says = people.codes.reindex(keys).to_numpy(), checker.codes.reindex(keys).to_numpy()
    cluster = _codes(claims.reindex(keys))
    found = detection(truth, says, cluster)
    both = (truth >= 0) & (says >= 0)
    rows = both.nonzero()[0]
    coded = Labels(
        unit=rows.repeat(2),
        rater=_tiled(len(rows)),
        value=_interleaved(truth[rows], says[rows]),
        n_units=len(keys),
        categories=(OTHER, MATCHED),
        cluster=cluster,
    )
    return {
        "level": level,
        "people": people.title,
        "checker": checker.title,
        "f1": figure(found.f1),
        "precision": figure(found.precision),
        "recall": figure(found.recall),
        "accuracy": figure(found.accuracy),
        "kappa": figure(cohen_kappa(coded, 0, 1)) if len(rows) else None,
        "share_people": share_of(truth[rows] == 1, cluster[rows], undefined=NOT_BOTH),
        "share_checker": share_of(says[rows] == 1, cluster[rows], undefined=NOT_BOTH),
        "n_people_only": int(((truth >= 0) & (says < 0)).sum()),
        "n_checker_only": int(((truth < 0) & (says >= 0)).sum()),
        "counts": {"both": found.n_hits, "checker": found.n_false, "people": found.n_missed, "neither": found.n_rest},
        "cells": {name: keys[mask].tolist() for name, mask in _cells(truth, says).items()},
        "is_quick": is_quick(),
    }


def _cells(truth: np.ndarray, says: np.ndarray) -> dict[str, np.ndarray]:
    return {
        "both": (truth == 1) & (says == 1),
        "checker": (truth == 0) & (says == 1),
        "people": (truth == 1) & (says == 0),
        "neither": (truth == 0) & (says == 0),
        "people_alone": (truth >= 0) & (says < 0),
        "checker_alone": (truth < 0) & (says >= 0),
    }


def _codes(values: pd.Series) -> np.ndarray:
    import pandas as pd

    return pd.factorize(values)[0]


def _tiled(n: int) -> np.ndarray:
    import numpy as np

    return np.tile([0, 1], n)


def _interleaved(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    import numpy as np

    return np.column_stack([first, second]).ravel().astype(np.int64)

"""Which generated documents contain gold evidence, by whom, and how far people and a checker agree on it.

A *generation* is what one generator (method, model, setting) wrote for one claim in one repetition, mostly one
document. It is matched if any of its pairs is entailed by gold evidence, or, where whole documents are judged, if any
of its documents is labelled as including some.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from analysis.figures.results import number
from analysis.papers.leakage.choices import GENERATOR, matching_dimension
from analysis.papers.leakage.result import Generator, MatchCells, MatchedSide, SidesCompared
from analysis.reports.detections import cross, detection_figures, kappa_figure
from analysis.reports.estimates import share_figure, to_figure
from analysis.reports.inference import Entailed, by_people, decided
from analysis.reports.labels.dimensions import NO_SUGGESTION
from analysis.sources.base import Source
from analysis.sources.outline import Run
from analysis.stats import detection, repeated_mean
from analysis.stats.generation.matching import matched_share

GENERATION = [*GENERATOR, "repetition", "claim"]
STATUS = {"matched": 1, "unmatched": 0, "undecided": -1}
NOT_BOTH = "nothing has a label by both"


def tuples(frame: pd.DataFrame, columns: list[str]) -> list[tuple]:
    return list(zip(*(frame[name].tolist() for name in columns), strict=True))


@dataclass(frozen=True, eq=False)
class JudgedDocuments:
    """Units of a project that belong to generated documents, and what each side says of them (codes as in `Entailed`).

    `every` are those of the whole project: what was searched with is found from all of its documents, selected or not.
    """

    units: pd.DataFrame  # with the columns GENERATION, document, text
    sides: dict[str, Entailed]
    n_others: int
    every: pd.DataFrame
    _verdicts: dict[tuple, pd.Series] = field(default_factory=dict)

    @cached_property
    def written(self) -> dict[str, list[tuple[str, tuple]]]:
        """By claim the words of the project's documents for it, and the generation of each."""
        by_claim: dict[str, list[tuple[str, tuple]]] = {}
        documents = self.every.drop_duplicates("document")
        for claim, text, generation in zip(
            documents["claim"], documents["text"], tuples(documents, GENERATION), strict=True
        ):
            if text.strip():
                by_claim.setdefault(claim, []).append((text.strip(), generation))
        return by_claim

    def verdicts(self, side: str, group: list[str]) -> pd.Series:
        """By group, 1 matched, 0 unmatched, -1 undecided."""
        if (side, *group) not in self._verdicts:
            self._verdicts[side, *group] = self._verdicts_of(side, group)
        return self._verdicts[side, *group]

    def _verdicts_of(self, side: str, group: list[str]) -> pd.Series:
        names = pd.Index(tuples(self.units, group), tupleize_cols=False) if len(group) > 1 else self.units[group[0]]
        codes, groups = pd.factorize(names)
        verdict = matched_share(self.sides[side].code, codes, len(groups)).verdict
        index = pd.MultiIndex.from_tuples(groups, names=group) if len(group) > 1 else pd.Index(groups, name=group[0])
        return pd.Series(np.where(verdict == 2, -1, verdict), index=index)


def judged(source: Source, reference: str, run: Run | None, touched: bool) -> JudgedDocuments:
    """The project's units of generated documents. ValueError where it judges something else, or has none."""
    dimension = matching_dimension(source.type)
    if dimension is None:
        raise ValueError(f"{source.type.title!r} does not say whether generated documents contain gold evidence")
    units, n_others = _of_documents(source)
    if not len(units):
        raise ValueError(
            f"No unit of {source.slug}, or none that the filters select, is from a document generated for a claim"
        )
    whole = source.whole()
    every = units if whole is source else _of_documents(whole)[0]

    sides = {"people": by_people(source, dimension, reference, units, run, touched)}
    if run is not None:
        sides["checker"] = Entailed(decided(source.suggestion_frame(run), dimension, units), NO_SUGGESTION)
    return JudgedDocuments(units, sides, n_others, every)


def _of_documents(source: Source) -> tuple[pd.DataFrame, int]:
    """Units that come from documents generated for claims, and how many others there are."""
    every = source.unit_frame(source.type.unit_kind).rename(columns={"response": "document"})
    units = every[every["document"].notna() & every["claim"].notna()].reset_index(drop=True)
    responses = source.content("response").set_index("key")
    units["repetition"] = units["document"].map(responses["repetition"]).fillna(0).astype(int)
    units["text"] = units["document"].map(responses["text"]).fillna("")
    units[GENERATOR] = units[GENERATOR].fillna("")
    return units, len(every) - len(units)


def proportions(documents: JudgedDocuments, *, quick: bool) -> list[Generator]:
    """Per generator and side: share of matched generations, in all and in each repetition."""
    return [
        Generator(
            **dict(zip(GENERATOR, names, strict=True)),
            sides={side: _share(documents, mine, side, quick) for side in documents.sides},
            n_documents=int(mine["document"].nunique()),
            n_claims=int(mine["claim"].nunique()),
            n_repetitions=int(mine["repetition"].nunique()),
        )
        for names, mine in documents.units.groupby(GENERATOR, sort=True)
    ]


def _share(documents: JudgedDocuments, mine: pd.DataFrame, side: str, quick: bool) -> MatchedSide:
    verdicts = documents.verdicts(side, GENERATION)
    wanted = mine.drop_duplicates(GENERATION)[GENERATION]
    verdict = verdicts.reindex(tuples(wanted, GENERATION)).to_numpy()
    values = [float(one) if one >= 0 else float("nan") for one in verdict]
    share = repeated_mean(values, wanted["claim"].tolist(), wanted["repetition"].tolist())
    counts = {name: int((verdict == code).sum()) for name, code in STATUS.items()}
    return MatchedSide(
        **counts,
        share=to_figure(share, quick=quick),
        standard_error=number(share.standard_error),
        lowest=counts["matched"] / len(verdict),
        highest=(counts["matched"] + counts["undecided"]) / len(verdict),
    )


@dataclass(frozen=True)
class SideVerdicts:
    """Codes 1, 0, -1 of units or documents, by key."""

    title: str
    codes: pd.Series


@dataclass(frozen=True)
class Compared:
    """A comparison, with the keys of units or documents in each cell."""

    result: SidesCompared
    cells: dict[str, list]
    is_of_units: bool


def set_against(
    level: str,
    people: SideVerdicts,
    checker: SideVerdicts,
    claims: pd.Series,
    *,
    quick: bool,
    is_of_units: bool = False,
) -> Compared:
    """A checker's answers against people's, on units of one level; `claims` by the same keys."""
    keys = people.codes.index.intersection(checker.codes.index, sort=False)
    truth, other = people.codes.reindex(keys).to_numpy(), checker.codes.reindex(keys).to_numpy()
    cluster = pd.factorize(claims.reindex(keys))[0]
    both = (truth >= 0) & (other >= 0)
    cells = cross(truth, other, MatchCells.__struct_fields__)
    alone = {"people_alone": (truth >= 0) & (other < 0), "checker_alone": (truth < 0) & (other >= 0)}
    result = SidesCompared(
        level=level,
        people=people.title,
        checker=checker.title,
        **detection_figures(detection(truth, other, cluster), quick=quick),
        kappa=kappa_figure(truth, other, cluster, quick=quick),
        share_people=share_figure(truth[both] == 1, cluster[both], quick=quick, undefined=NOT_BOTH),
        share_checker=share_figure(other[both] == 1, cluster[both], quick=quick, undefined=NOT_BOTH),
        n_people_only=int(alone["people_alone"].sum()),
        n_checker_only=int(alone["checker_alone"].sum()),
        counts=MatchCells(**{name: int(mask.sum()) for name, mask in cells.items()}),
        is_quick=quick,
    )
    return Compared(result, {name: keys[mask].tolist() for name, mask in (cells | alone).items()}, is_of_units)

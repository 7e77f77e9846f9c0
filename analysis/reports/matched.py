"""Which generated documents and claims are matched: any pair of theirs is entailed by gold evidence.

By people and, where a run is named, by a checker, side by side; for all documents, and by method, model and setting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.reports import methods_content
from analysis.reports.figures import figure, number
from analysis.reports.opened import Behind, by_code, name_of, part_of
from analysis.reports.reference import REFERENCES, decisions_left_out
from analysis.sources import Run, Source
from analysis.sources.touched import latest, untouched, untouched_decisions
from annotation.models import UnitKind
from annotation.task_types import Dimension, TaskType

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from analysis.stats.matching import MatchedShare

# Beyond so many rows a list holds those that come first; figures are always over all.
MAX_LISTED = 10_000
UNLABELLED, NO_SUGGESTION, TIED = "without a label", "without a suggestion", "tied"
SOURCE = ["method", "model", "setting"]
# Whose labels tell two groups apart.
SPLIT_BY = {"people": "people's labels", "checker": "the run's labels"}


@dataclass(frozen=True, slots=True)
class Side:
    """What people, or a checker, say of the pairs."""

    code: np.ndarray  # per pair 1 where it is entailed, 0 where it is not, -1 where nothing is decided
    missing: str  # what a pair without any label is called
    n_tied: int = 0  # undecided because people are divided

    def counts(self) -> dict:
        n_open = int((self.code < 0).sum())
        left_out = {self.missing: n_open - self.n_tied} | ({TIED: self.n_tied} if self.n_tied else {})
        return {"entailed": int((self.code == 1).sum()), "other": int((self.code == 0).sum()), "left_out": left_out}


def inference_dimension(kind: TaskType) -> Dimension | None:
    """The dimension that says whether a pair's premise entails its hypothesis, of a task type that judges pairs; None
    where there is no such thing."""
    if kind.unit_kind != UnitKind.PAIR:
        return None
    found = [dimension for dimension in kind.dimensions if entailing_labels(dimension)]
    return found[0] if len(found) == 1 else None


def entailing_labels(dimension: Dimension) -> tuple[str, ...]:
    return tuple(label.value for label in dimension.labels if (label.polarity or 0) > 0)


methods = methods_content.matched


def fits(kind: TaskType) -> str:
    if inference_dimension(kind) is not None:
        return ""
    return f"Matched claims need judgements of pairs; {kind.title!r} judges something else"


def compute(source: Source, reference: str = "majority", run: str = "", touched: bool = False) -> dict:
    """The report on matched documents and claims.

    `reference` is a key of REFERENCES: by the majority a pair is entailed where more people say entailment than say
    anything else, and a tie is no label. `run` is the UUID of a checker run to stand beside people; people's labels
    that its suggestions touched then count only with `touched`. A document whose sentences were all dropped has no pair
    and is not in the project. Raises ValueError for wrong values, and for a project without pairs of documents.
    """
    kind = source.type
    dimension = inference_dimension(kind)
    if dimension is None:
        raise ValueError(fits(kind))
    if reference not in REFERENCES:
        raise ValueError(f"reference is one of {', '.join(REFERENCES)}, not {reference!r}")
    checker = source.run(run) if run else None
    every = source.unit_frame(kind.unit_kind).rename(columns={"response": "document"})
    of_claim = every["document"].notna() & every["claim"].notna()
    pairs = every[of_claim].reset_index(drop=True)
    if not len(pairs):
        raise ValueError("None of the project's pairs comes from a document that was generated for a claim")
    sides = {"people": by_people(source, dimension, reference, pairs, checker, touched)}
    if checker is not None:
        sides["checker"] = Side(decided(source.suggestion_frame(checker), dimension, pairs), NO_SUGGESTION)
    pairs = pairs.assign(**{name: side.code for name, side in sides.items()})
    names = list(sides)
    behind: Behind = {}
    of_all = _figures(pairs, names, "all", behind)
    of_sources = [
        dict(zip(SOURCE, named, strict=True)) | _figures(found, names, "/".join(["of", *map(part_of, named)]), behind)
        for named, found in pairs.groupby(SOURCE, sort=True)
    ]
    return {
        "report": "matched",
        "project": source.slug,
        "task_type": source.task_type,
        "dimension": dimension.slug,
        "title": dimension.title,
        "entailing": [dimension.label(label).title for label in entailing_labels(dimension)],
        "reference": reference,
        "reference_title": "Majority of people" if reference == "majority" else REFERENCES[reference],
        "run": run,
        "checker": checker.checker if checker else "",
        "version": checker.version if checker else "",
        "touched": touched,
        "decisions_left_out": decisions_left_out(source, reference, pairs, against(checker, touched)),
        "n_pairs": len(pairs),
        "n_pairs_of_no_document": len(every) - len(pairs),
        "pairs": {name: side.counts() for name, side in sides.items()},
        "all": of_all,
        "sources": of_sources,
        "documents": _listed(pairs, "document", names),
        "claims": _listed(pairs, "claim", names),
        "behind": behind,
    }


def in_words(kind: TaskType, figure: str) -> str:
    *where, side, group, verdict = figure.split("/")
    of = "" if where == ["all"] else " of " + (", ".join(filter(None, map(name_of, where[1:]))) or "no name")
    by = "people" if side == "people" else "the checker"
    return f"pairs of {group}{of} that are {verdict} by {by}"


def against(checker: Run | None, touched: bool) -> tuple[Run, ...]:
    """The runs whose checkers must not have touched what stands for people."""
    return () if checker is None or touched else (checker,)


def by_people(
    source: Source,
    dimension: Dimension,
    reference: str,
    pairs: pd.DataFrame,
    checker: Run | None,
    touched: bool,
) -> Side:
    from analysis.stats import Labels, majority

    if reference != "majority":
        known = untouched_decisions(source, reference, against(checker, touched))
        return Side(decided(known, dimension, pairs), UNLABELLED)
    labels = source.label_frame(pairs, every_revision=True)
    labels = latest(labels) if checker is None or touched else untouched(source, labels, checker)
    mine = labels[labels["dimension"] == dimension.slug]
    says = mine["label"].isin(entailing_labels(dimension)).map({True: "entailed", False: "other"})
    units, raters = mine["unit"].tolist(), mine["rater"].tolist()
    coded = Labels.from_columns(units, raters, says.tolist(), ("other", "entailed"), units=pairs["unit"].tolist())
    vote = majority(coded)
    return Side(vote.code, UNLABELLED, int(vote.tied.sum()))


def decided(labels: pd.DataFrame, dimension: Dimension, pairs: pd.DataFrame) -> np.ndarray:
    """Codes as in `Side` of a frame with at most one label per unit and dimension."""
    import numpy as np

    mine = labels[labels["dimension"] == dimension.slug].set_index("unit")["label"].reindex(pairs["unit"])
    return np.where(mine.isna(), -1, mine.isin(entailing_labels(dimension)))


def _figures(pairs: pd.DataFrame, names: list[str], key: str, behind: Behind) -> dict:
    """Documents and claims of these pairs, as each side finds them; their pairs go to `behind`."""
    documents = pairs.drop_duplicates("document")
    result: dict = {"key": key, "n_documents": len(documents), "n_claims": int(pairs["claim"].nunique())}
    for name in names:
        shares = {
            "documents": _share(pairs, "document", name, documents["claim"].tolist()),
            "claims": _share(pairs, "claim", name),
        }
        result[name] = {group: _as_dict(share) for group, share in shares.items()}
        for group, share in shares.items():
            behind |= _pairs_of(pairs, group.removesuffix("s"), share, f"{key}/{name}/{group}")
    return result


def _pairs_of(pairs: pd.DataFrame, group: str, share: MatchedShare, key: str) -> Behind:
    """The pairs of the documents or claims of each verdict."""
    import numpy as np
    import pandas as pd

    from analysis.stats.matching import VERDICTS

    verdict = share.verdict[pd.factorize(pairs[group])[0]]
    return by_code(pairs["unit"].to_numpy(), np.arange(len(pairs)), verdict, [f"{key}/{name}" for name in VERDICTS])


def _share(pairs: pd.DataFrame, group: str, name: str, cluster: list | None = None) -> MatchedShare:
    import pandas as pd

    from analysis.stats.matching import matched_share

    codes, groups = pd.factorize(pairs[group])
    return matched_share(pairs[name].to_numpy(), codes, len(groups), cluster)


def _as_dict(found: MatchedShare) -> dict:
    return {
        "matched": found.n_matched,
        "unmatched": found.n_unmatched,
        "undecided": found.n_undecided,
        "share": figure(found),
        "lowest": number(found.lowest),
        "highest": number(found.highest),
    }


def _listed(pairs: pd.DataFrame, group: str, names: list[str]) -> list[dict]:
    """What each side finds of each document or claim, in the order of work."""
    import pandas as pd

    from analysis.stats.matching import VERDICTS

    _, groups = pd.factorize(pairs[group])
    found = {name: [VERDICTS[code] for code in _share(pairs, group, name).verdict] for name in names}
    counts = pairs.groupby(group, sort=False).size()
    return [
        {group: key, "n_pairs": int(counts[key]), **{name: found[name][place] for name in names}}
        for place, key in enumerate(groups[:MAX_LISTED])
    ]

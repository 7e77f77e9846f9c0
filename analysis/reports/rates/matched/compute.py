"""Which generated documents and claims are matched: any pair of theirs is entailed by gold evidence.

By people and, where a run is named, by a checker, side by side; for all documents, and by method, model and setting.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from analysis.figures.items import Items
from analysis.figures.results import number
from analysis.reports.common import REFERENCES
from analysis.reports.estimates import to_figure
from analysis.reports.inference import Entailed, by_people, counted_labels, decided
from analysis.reports.labels.dimensions import NO_SUGGESTION, against, entailing_labels, inference_dimension
from analysis.reports.labels.judgements import add_judgements, add_names, new_items
from analysis.reports.labels.reference import decisions_left_out
from analysis.reports.rates.matched.report import ALL, SOURCE, Matched, MatchedRow, PairCounts, Verdict
from analysis.sources.base import Source
from analysis.stats.generation.matching import VERDICTS, MatchedShare, matched_share

# Beyond so many rows a list holds those that come first; figures are always over all.
MAX_LISTED = 10_000
BY = {"people": "by people", "checker": "by the checker"}


def compute(
    source: Source, *, reference: str = "majority", run: str = "", touched: bool = False, quick: bool = False
) -> tuple[Matched, Items]:
    """The report on matched documents and claims.

    `reference` is a key of REFERENCES: by the majority a pair is entailed where more people say entailment than say
    anything else, and a tie is no label. `run` is the UUID of a checker run to compare with people; people's labels
    that its suggestions touched then count only with `touched`. A document whose sentences were all dropped has no pair
    and is not in the project. Raises ValueError for wrong values, and for a project without pairs of documents.
    """
    kind = source.type
    dimension = inference_dimension(kind)
    checker = source.run(run) if run else None
    every = source.unit_frame(kind.unit_kind).rename(columns={"response": "document"})
    of_claim = every["document"].notna() & every["claim"].notna()
    pairs = every[of_claim].reset_index(drop=True)
    if not len(pairs):
        raise ValueError("None of the project's pairs comes from a document that was generated for a claim")
    sides = {"people": by_people(source, dimension, reference, pairs, checker, touched)}
    if checker is not None:
        sides["checker"] = Entailed(decided(source.suggestion_frame(checker), dimension, pairs), NO_SUGGESTION)
    pairs = pairs.assign(**{name: side.code for name, side in sides.items()})
    names = list(sides)
    items = new_items(pairs, runs=[run], decisions="" if reference == "majority" else reference)
    _add_columns(items, pairs, names, run)
    add_judgements(items, kind, counted_labels(source, pairs, checker, touched), source.label_frame(pairs))
    left_out = decisions_left_out(source, reference, pairs, against(checker, touched))
    return Matched(
        dimension=dimension.slug,
        title=dimension.title,
        entailing=[dimension.label(label).title for label in entailing_labels(dimension)],
        reference=reference,
        reference_title="Majority of people" if reference == "majority" else REFERENCES[reference],
        run=run,
        checker=checker.checker if checker else "",
        version=checker.version if checker else "",
        touched=touched,
        decisions_left_out=left_out,
        n_documents=int(pairs["document"].nunique()),
        n_claims=int(pairs["claim"].nunique()),
        n_pairs=len(pairs),
        n_pairs_of_no_document=len(every) - len(pairs),
        pairs={name: PairCounts(**side.counts()) for name, side in sides.items()},
        shares=[
            row
            for named, part in ((None, pairs), *pairs.groupby(list(SOURCE), sort=True))
            for row in _shares(part, names, quick, dict(zip(SOURCE, named, strict=True)) if named else {})
        ],
        documents=_listed(pairs, "document", names),
        claims=_listed(pairs, "claim", names),
    ), items


def _add_columns(items: Items, pairs: pd.DataFrame, names: list[str], run: str) -> None:
    """Pairs by their documents' source, by document and claim, and by the verdict on each. The verdict on a claim is of
    all of its documents, and of those of its source alone."""
    for name, title in (*SOURCE.items(), ("document", "Document"), ("claim", "Claim")):
        add_names(items, name, title, pairs[name].astype(str))
    for name in names:
        of_run = run if name == "checker" else ""
        for group, words in (("document", "Document"), ("claim", "Claim")):
            verdict = _share(pairs, group, name).verdict[pd.factorize(pairs[group])[0]]
            items.add(f"{group}.{name}", f"{words} {BY[name]}", verdict, VERDICTS, run=of_run)
        by_source = np.full(len(pairs), -1)
        for places in pairs.groupby(list(SOURCE), sort=True).indices.values():
            here = pairs.iloc[places]
            by_source[places] = _share(here, "claim", name).verdict[pd.factorize(here["claim"])[0]]
        items.add(f"claim.{name}.here", f"Claim {BY[name]}, by these documents", by_source, VERDICTS, run=of_run)


def _shares(pairs: pd.DataFrame, names: list[str], quick: bool, of: dict[str, str]) -> Iterator[MatchedRow]:
    """Documents and claims of these pairs, as each side finds them."""
    claims = pairs.drop_duplicates("document")["claim"].tolist()
    for name in names:
        for group, cluster in (("document", claims), ("claim", None)):
            found = _share(pairs, group, name, cluster)
            yield MatchedRow(
                source="/".join(part or "-" for part in of.values()) or ALL,
                of=of,
                side=name,
                group=f"{group}s",
                share=to_figure(found, quick=quick),
                matched=found.n_matched,
                unmatched=found.n_unmatched,
                undecided=found.n_undecided,
                lowest=number(found.lowest),
                highest=number(found.highest),
            )


def _share(pairs: pd.DataFrame, group: str, name: str, cluster: list | None = None) -> MatchedShare:
    codes, groups = pd.factorize(pairs[group])
    return matched_share(pairs[name].to_numpy(), codes, len(groups), cluster)


def _listed(pairs: pd.DataFrame, group: str, names: list[str]) -> list[Verdict]:
    """What each side finds of each document or claim, in the order of work."""
    _, groups = pd.factorize(pairs[group])
    verdicts = {name: [VERDICTS[code] for code in _share(pairs, group, name).verdict] for name in names}
    counts = pairs.groupby(group, sort=False).size()
    return [
        Verdict(name=key, n_pairs=int(counts[key]), **{name: verdicts[name][place] for name in names})
        for place, key in enumerate(groups[:MAX_LISTED])
    ]

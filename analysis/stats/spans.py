"""How far people mark the same passages: agreement of spans, pair by pair of raters.

A rater who marked nothing in a unit has an empty set of spans there, which is an answer; a rater who did not look at
the unit is absent from it. Two empty sets have nothing to compare, so such pairs are counted and left out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from .alpha import Alpha, krippendorff_alpha
from .bootstrap import Estimate, SumSample, divide
from .labels import Labels

MEASURES = ("exact_f1", "overlap_f1", "character_f1", "character_iou")
NO_PAIR = "no unit has two raters of whom one marked something"
BOTH_EMPTY = "marked by neither"
ONE_RATER = "one rater only"


@dataclass(frozen=True, slots=True)
class Marked:
    """What one rater marked in one unit: half-open spans ``(start, end)``, in code points of `field`.

    Spans that overlap or touch count once for characters, and each for itself where whole spans are compared. `length`
    is the text's, needed for the alpha over characters only.
    """

    unit: Hashable
    rater: Hashable
    spans: tuple[tuple[int, int], ...]
    length: int = 0
    cluster: Hashable = None


@dataclass(frozen=True, eq=False, kw_only=True)
class SpanAgreement:
    """Every measure is the mean over pairs of raters and units; 1 is identical, 0 disjoint.

    Attributes
    ----------
    exact_f1 : Estimate
        Spans with the same start and end: ``2 both / (a + b)``.
    overlap_f1 : Estimate
        Spans that share a character with one of the other's, counted on either side: ``(hit_a + hit_b) / (a + b)``.
    character_f1, character_iou : Estimate
        Characters: ``2 |A & B| / (|A| + |B|)`` and ``|A & B| / |A | B|``.
    """

    exact_f1: Estimate
    overlap_f1: Estimate
    character_f1: Estimate
    character_iou: Estimate


def span_agreement(marked: Iterable[Marked]) -> SpanAgreement:
    """Pairwise agreement of spans, averaged over the pairs of a unit and then over units.

    Parameters
    ----------
    marked : iterable of Marked
        One entry per unit and rater who looked at it, spans or not. Where a unit has several texts, give each text as a
        unit of its own.

    Returns
    -------
    SpanAgreement
        Each an `Estimate` with an interval by resampling units, or clusters where they are given. Undefined where no
        unit has two raters of whom one marked something. F1 of spans is the chance-free measure for them, since the
        number of unmarked spans is unbounded (Hripcsak and Rothschild 2005).

    Raises
    ------
    ValueError
        Spans that are empty or negative, or a unit marked twice by one rater.

    References
    ----------
    Hripcsak and Rothschild (2005), Journal of the American Medical Informatics Association 12(3), 296-298;
    doi:10.1197/jamia.M1733.

    Examples
    --------
    >>> found = span_agreement([Marked("u", "x", ((0, 10),)), Marked("u", "y", ((5, 10), (20, 25)))])
    >>> found.exact_f1.estimate, round(found.overlap_f1.estimate, 3), found.character_f1.estimate
    (0.0, 0.667, 0.5)
    """
    units = _by_unit(marked)
    rows, clusters, left_out = [], [], {ONE_RATER: 0, BOTH_EMPTY: 0}
    for entries in units.values():
        pairs = [(a, b) for a, b in combinations(entries, 2) if a.spans or b.spans]
        if len(entries) < 2:
            left_out[ONE_RATER] += 1
        elif not pairs:
            left_out[BOTH_EMPTY] += 1
        else:
            rows.append(np.mean([_measures(a.spans, b.spans) for a, b in pairs], axis=0))
            clusters.append(entries[0].cluster)
    table = np.array(rows).reshape(-1, len(MEASURES))
    names = list(dict.fromkeys(clusters))
    codes = np.array([names.index(name) for name in clusters]) if any(c is not None for c in clusters) else None

    def estimate_of(column: int) -> Estimate:
        pattern, index = np.unique(table[:, column], return_inverse=True)
        features = np.column_stack([pattern, np.ones(len(pattern))])
        sample = SumSample(features, index, codes, lambda sums: divide(sums[:, 0], sums[:, 1]))
        return Estimate(
            estimate=sample.value() if len(table) else np.nan,
            undefined="" if len(table) else NO_PAIR,
            n_units=len(units),
            n_pairable=len(table),
            n_labels=sum(len(entries) for entries in units.values()),
            left_out={reason: n for reason, n in left_out.items() if n},
            sample=sample,
        )

    return SpanAgreement(**{name: estimate_of(column) for column, name in enumerate(MEASURES)})


def character_alpha(marked: Iterable[Marked]) -> Alpha:
    """Krippendorff's nominal alpha over characters: each is marked or not by each rater of its unit.

    Characters of one unit stand and fall together, so intervals resample units (or clusters), never characters. Long
    texts weigh more than short ones, by their length.

    Parameters
    ----------
    marked : iterable of Marked
        With `length`, the number of code points of the text; equal for all raters of a unit.

    Returns
    -------
    Alpha
        `n_units` counts characters. Undefined where no text has two raters, and where nobody marked anything.

    Raises
    ------
    ValueError
        As `span_agreement`; also a span beyond the text, or lengths that differ within a unit.
    """
    units = _by_unit(marked)
    unit, rater, value, cluster = [], [], [], []
    raters: dict[Hashable, int] = {}
    clusters: dict[Hashable, int] = {}
    offset = 0
    for name, entries in units.items():
        length = entries[0].length
        if any(entry.length != length for entry in entries):
            raise ValueError(f"unit {name!r} has texts of different lengths")
        place = clusters.setdefault(name if entries[0].cluster is None else entries[0].cluster, len(clusters))
        cluster.append(np.full(length, place))
        for entry in entries:
            if any(end > length for _, end in entry.spans):
                raise ValueError(f"unit {name!r}: a span ends beyond the text of {length} characters")
            unit.append(np.arange(offset, offset + length))
            rater.append(np.full(length, raters.setdefault(entry.rater, len(raters))))
            value.append(_mask(entry.spans, length).astype(int))
        offset += length
    columns = [np.concatenate(part) if part else np.zeros(0, dtype=int) for part in (unit, rater, value)]
    in_cluster = np.concatenate(cluster) if cluster else np.zeros(0, dtype=int)
    return krippendorff_alpha(Labels(*columns, offset, ("unmarked", "marked"), in_cluster))


def _by_unit(marked: Iterable[Marked]) -> dict[Hashable, list[Marked]]:
    units: dict[Hashable, list[Marked]] = {}
    for entry in marked:
        if any(not 0 <= start < end for start, end in entry.spans):
            raise ValueError(f"unit {entry.unit!r}: a span is empty or starts before the text")
        others = units.setdefault(entry.unit, [])
        if any(other.rater == entry.rater for other in others):
            raise ValueError(f"unit {entry.unit!r} is marked twice by {entry.rater!r}")
        others.append(entry)
    return units


def _measures(a: Sequence[tuple[int, int]], b: Sequence[tuple[int, int]]) -> tuple[float, float, float, float]:
    own, other = set(a), set(b)
    size = len(own) + len(other)
    hits = sum(_touches(span, other) for span in own) + sum(_touches(span, own) for span in other)
    length = max(end for _, end in own | other)
    mask_a, mask_b = _mask(a, length), _mask(b, length)
    both, either = int((mask_a & mask_b).sum()), int((mask_a | mask_b).sum())
    return 2 * len(own & other) / size, hits / size, 2 * both / (both + either), both / either


def _touches(span: tuple[int, int], others: Iterable[tuple[int, int]]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in others)


def _mask(spans: Iterable[tuple[int, int]], length: int) -> np.ndarray:
    mask = np.zeros(length, dtype=bool)
    for start, end in spans:
        mask[start:end] = True
    return mask

"""Krippendorff's unitizing alphas: do raters cut the same units out of texts, and call them the same?

A text is cut by each rater into valued units and the gaps between them. Coincidences are lengths of intersections, and
chance is what randomly placed units of these lengths would share: a unit stays in one piece, so long units agree by
chance more often than as many single characters would.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

import numpy as np

from analysis.stats.resampling.bootstrap import Estimate, SumSample, divide
from analysis.stats.spans.continua import Continua, Marked
from analysis.stats.spans.overlaps import Units, entry_pairs, laid_together, merged_spans

NO_PAIR = "no text has two raters"
NOTHING_MARKED = "nobody marked anything, so there is nothing to disagree about (0/0)"
NO_GAP = "everything is marked by everybody, so there are no gaps to tell units from (0/0)"
ONE_KIND = "too few units for chance to have placed otherwise"
NO_INTERSECTION = "no two raters' units intersect"
ONE_LABEL = "intersecting units have one label only (0/0)"
ONE_RATER = "one rater only"


@dataclass(frozen=True, eq=False, kw_only=True)
class UnitizingAlpha:
    """The family of unitizing alphas; each at most 1, and 0 where raters cut and label by chance.

    Attributes
    ----------
    units_and_labels : Estimate
        u-alpha: units and gaps, with their labels.
    marked_or_not : Estimate
        |u-alpha: units against gaps, labels aside.
    labels_where_both : Estimate
        cu-alpha: labels of intersections of units, gaps aside.
    each_label : dict of label to Estimate
        (k)u-alpha: one label among the intersections.
    coverage : float
        Share of all characters (times raters) that `labels_where_both` looks at.
    """

    units_and_labels: Estimate
    marked_or_not: Estimate
    labels_where_both: Estimate
    each_label: dict[Hashable, Estimate]
    coverage: float


def unitizing_alpha(marked: Iterable[Marked] | Continua) -> UnitizingAlpha:
    """Krippendorff's unitizing alphas (u-alpha, |u-alpha, cu-alpha and (k)u-alpha) over many texts.

    With ``l_ck`` the length of all intersections of segments of values c and k by different raters, each text's divided
    by its raters less one, the gap being one value, and ``L`` the length of a segment (equations 1 to 6, 10, 11, 13):

    - expected ``e_ck = l (l_c l_k - [c = k] Q_c) / (l^2 - Q)``, where ``Q_c`` sums L^2 over the units of value c, and L
      over gaps, because a unit cannot coincide with itself, and characters of gaps are on their own;
    - ``u-alpha = 1 - (l - sum l_cc) / (l - sum e_cc)``;
    - ``|u-alpha = 1 - (l_0 - l_00) / (e_0 - e_00)`` for the gap 0;
    - cu-alpha: the same over intersections of units alone, with ``v_k = l_k - l_k0`` in place of ``l_k``, and for
      ``Q_k`` the squares of what of each unit intersects another rater's units;
    - ``(k)u-alpha = 1 - (e_k / v_k) (v_k - l_kk) / (e_k - e_kk)``, with the expectations of cu-alpha.

    Parameters
    ----------
    marked : Continua or iterable of Marked
        With lengths. Any number of raters per text, from any pattern of who looked at what; texts are laid end to end.
        Overlapping spans of one rater with one label are one unit; spans that touch are two.

    Returns
    -------
    UnitizingAlpha
        Each an `Estimate` with an interval by resampling texts, or clusters where they are given; `n_labels` counts
        units. Undefined where nothing could disagree: nobody marked anything, no units of two raters intersect
        (cu-alpha), or these have one label only.

    Raises
    ------
    ValueError
        As `Continua`; lengths that are missing; spans of one rater with different labels that overlap, since a
        continuum is cut into segments that exclude each other.

    References
    ----------
    Krippendorff, Mathet, Bouvry and Widlöcher (2016), On the reliability of unitizing textual continua: further
    developments, Quality & Quantity 50(6), 2347-2364; doi:10.1007/s11135-015-0266-1. The definition of 2004 and 2013 is
    not for more than two raters, as that paper shows.

    Examples
    --------
    >>> result = unitizing_alpha([
    ...     Marked("t", "x", ((0, 10), (20, 30)), 40, labels=("for", "against")),
    ...     Marked("t", "y", ((0, 12), (20, 30)), 40, labels=("for", "against")),
    ... ])
    >>> round(result.units_and_labels.estimate, 3), result.labels_where_both.estimate
    (0.927, 1.0)
    """
    continua = Continua.from_marked(marked)
    parts = _parts(continua)
    two = continua.n_looked > 1
    table = parts.table[two]
    cluster = None if continua.cluster is None else continua.cluster[two]
    n_units = int(two[continua.text[parts.entry]].sum())
    left_out = {ONE_RATER: int((~two).sum())} if (~two).any() else {}
    sums = table.sum(axis=0, keepdims=True)

    def estimate_of(statistic: Callable[[np.ndarray], np.ndarray], undefined: str) -> Estimate:
        sample = SumSample(table, np.arange(len(table)), cluster, statistic)
        value = float(statistic(sums)[0])
        reason = NO_PAIR if not two.any() else undefined if np.isnan(value) else ""
        return Estimate(
            estimate=np.nan if reason else value,
            undefined=reason,
            n_units=continua.n_texts,
            n_pairable=int(two.sum()),
            n_labels=n_units,
            left_out=left_out,
            sample=sample,
        )

    columns = parts.columns
    total = columns.margins(sums).sum()
    valued = columns.valued(sums)[0]
    nothing = NOTHING_MARKED if columns.margins(sums)[0, 1:].sum() == 0 else ONE_KIND
    intersecting = ONE_LABEL if (valued > 0).sum() == 1 else ONE_KIND if valued.any() else NO_INTERSECTION
    each_label = {
        label: estimate_of(
            lambda rows, code=code: columns.one_label(rows, code), intersecting if valued[code] else NO_INTERSECTION
        )
        for code, label in enumerate(continua.labels)
    }
    return UnitizingAlpha(
        units_and_labels=estimate_of(columns.units_and_labels, nothing),
        marked_or_not=estimate_of(columns.marked_or_not, NO_GAP if nothing == ONE_KIND else nothing),
        labels_where_both=estimate_of(columns.labels_where_both, intersecting),
        each_label=each_label,
        coverage=float(valued.sum() / total) if total else np.nan,
    )


@dataclass(frozen=True)
class _Columns:
    """Where the sums of K labels lie in a row: agreement, margins, squares; those of intersections; value 0 is the gap.

    ``agreed`` (1 + K), ``margins`` (1 + K), ``squares`` (1 + K), ``valued`` (K), ``valued squares`` (K).
    """

    n_labels: int

    def agreed(self, rows: np.ndarray) -> np.ndarray:
        return rows[:, : self.n_labels + 1]

    def margins(self, rows: np.ndarray) -> np.ndarray:
        return rows[:, self.n_labels + 1 : 2 * (self.n_labels + 1)]

    def squares(self, rows: np.ndarray) -> np.ndarray:
        return rows[:, 2 * (self.n_labels + 1) : 3 * (self.n_labels + 1)]

    def valued(self, rows: np.ndarray) -> np.ndarray:
        return rows[:, 3 * (self.n_labels + 1) : -self.n_labels or None]

    def valued_squares(self, rows: np.ndarray) -> np.ndarray:
        return rows[:, rows.shape[1] - self.n_labels :]

    def units_and_labels(self, rows: np.ndarray) -> np.ndarray:
        margins, squares = self.margins(rows), self.squares(rows)
        total = margins.sum(axis=1)
        same = divide((margins**2 - squares).sum(axis=1), total**2 - squares.sum(axis=1))
        return 1 - _quotient(total - self.agreed(rows).sum(axis=1), total * (1 - same))

    def marked_or_not(self, rows: np.ndarray) -> np.ndarray:
        margins = self.margins(rows)
        total, gap = margins.sum(axis=1), margins[:, 0]
        chance = divide(total * gap * (total - gap), total**2 - self.squares(rows).sum(axis=1))
        return 1 - _quotient(gap - self.agreed(rows)[:, 0], chance)

    def labels_where_both(self, rows: np.ndarray) -> np.ndarray:
        valued, agreed = self.valued(rows), self.agreed(rows)[:, 1:]
        total = valued.sum(axis=1)
        _, same = self._chance(rows)
        return 1 - _quotient(total - agreed.sum(axis=1), total - same.sum(axis=1))

    def one_label(self, rows: np.ndarray, code: int) -> np.ndarray:
        valued, agreed = self.valued(rows)[:, code], self.agreed(rows)[:, code + 1]
        margin, same = (part[:, code] for part in self._chance(rows))
        return 1 - _quotient(margin * (valued - agreed), valued * (margin - same))

    def _chance(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Expected margins and expected agreement of every label among intersections, (n, K) each."""
        valued, squares = self.valued(rows), self.valued_squares(rows)
        total = valued.sum(axis=1, keepdims=True)
        denominator = total - divide(squares.sum(axis=1, keepdims=True), total)
        return divide(valued * total - squares, denominator), divide(valued**2 - squares, denominator)


def _quotient(observed: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Observed over expected disagreement; nan where chance could not disagree, up to rounding."""
    return divide(observed, np.where(expected > 1e-9, expected, 0))


@dataclass(frozen=True, eq=False)
class _Parts:
    table: np.ndarray
    entry: np.ndarray
    columns: _Columns


def _parts(continua: Continua) -> _Parts:
    """What each text adds to the sums, (n_texts, 5 K + 3), and the entry of every unit."""
    length, looked = continua.known_lengths().astype(float), continua.n_looked
    n_texts, n_labels = continua.n_texts, len(continua.labels)
    others = np.maximum(looked - 1, 1).astype(float)
    units = merged_spans(continua, by_label=True)
    text_of = continua.text[units.entry]
    both, valued, valued_squares = _intersections(continua, units)

    def by_label(weight: np.ndarray) -> np.ndarray:
        return np.bincount(text_of * n_labels + units.label, weights=weight, minlength=n_texts * n_labels).reshape(
            n_texts, n_labels
        )

    margins = by_label(units.length.astype(float))
    gap = length * looked - margins.sum(axis=1)
    # Of every ordered pair, where both have a gap: the text less what either marked.
    gap_gap = (length * looked * (looked - 1) - 2 * (looked - 1) * margins.sum(axis=1)) / others
    gap_gap[looked < 2] = 0
    gap_gap += valued.sum(axis=1)
    table = np.column_stack(
        [gap_gap, both, gap, margins, gap, by_label(units.length.astype(float) ** 2), valued, valued_squares]
    )
    return _Parts(table, units.entry, _Columns(n_labels))


def _intersections(continua: Continua, units: Units) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Lengths of units' intersections per text and label, over ordered pairs of raters and divided by raters less one.

    Returns
    -------
    agreed, valued, squares : (n_texts, n_labels) float arrays
        With a unit of the same label; with any unit; and the squares of what each unit shares with one other rater.
    """
    n_texts, n_labels = continua.n_texts, len(continua.labels)
    pairs = entry_pairs(continua)
    text = continua.text[pairs[:, 0]]
    others = np.maximum(continua.n_looked - 1, 1).astype(float)
    agreed, valued, squares = (np.zeros(n_texts * n_labels) for _ in range(3))

    def add(table: np.ndarray, place: np.ndarray, label: np.ndarray, weight: np.ndarray) -> None:
        table += np.bincount(place * n_labels + label, weights=weight / others[place], minlength=len(table))

    for pair, one, other, shared in laid_together(units, pairs):
        meets = shared > 0
        pair, one, other, shared = pair[meets], one[meets], other[meets], shared[meets].astype(float)
        same = units.label[one] == units.label[other]
        add(agreed, text[pair[same]], units.label[one[same]], 2 * shared[same])
        for side in (one, other):
            add(valued, text[pair], units.label[side], shared)
            _, first, group = np.unique(pair * len(units.start) + side, return_index=True, return_inverse=True)
            whole = np.bincount(group, weights=shared, minlength=len(first))
            add(squares, text[pair[first]], units.label[side[first]], whole**2)
    return tuple(table.reshape(n_texts, n_labels) for table in (agreed, valued, squares))

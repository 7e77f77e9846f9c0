"""Every pair of raters of a text side by side: how many spans and characters they share.

All measures of spans are sums over such pairs, so they are counted once, for all texts together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analysis.stats.spans.continua import Continua

# Rows of spans laid against spans that are held at once; bounds memory for long texts with many spans.
ROWS_AT_ONCE = 2_000_000


@dataclass(frozen=True, eq=False)
class Units:
    """Spans sorted by entry: those of entry e are rows ``first[e]`` to ``first[e + 1]``."""

    start: np.ndarray
    end: np.ndarray
    label: np.ndarray
    entry: np.ndarray
    first: np.ndarray

    @property
    def length(self) -> np.ndarray:
        return self.end - self.start

    def sum_by_entry(self, value: np.ndarray) -> np.ndarray:
        """Sums of a value of each span, (n_entries,)."""
        return np.bincount(self.entry, weights=value, minlength=len(self.first) - 1)

    @property
    def count(self) -> np.ndarray:
        """Spans of each entry, (n_entries,)."""
        return np.diff(self.first)


def single_spans(continua: Continua) -> Units:
    """Spans as they were marked, by place: equal places of one entry count once, whatever their labels."""
    places = np.unique(np.column_stack([continua.entry, continua.start, continua.end]), axis=0)
    entry, start, end = places.T
    return _units(continua, entry, start, end, np.zeros(len(entry), dtype=np.int64))


def merged_spans(continua: Continua, by_label: bool = False) -> Units:
    """Spans with overlapping ones of an entry (and label) joined; spans that only touch stay two.

    Raises
    ------
    ValueError
        With `by_label`, where one rater's spans of different labels overlap: no character then has one label.
    """
    group = continua.label if by_label else np.zeros(continua.n_spans, dtype=np.int64)
    order = np.lexsort((continua.start, group, continua.entry))
    entry, label = continua.entry[order], group[order]
    start, end = continua.start[order], continua.end[order]
    if not len(order):
        return _units(continua, entry, start, end, label)
    new_group = np.ones(len(order), dtype=bool)
    new_group[1:] = (entry[1:] != entry[:-1]) | (label[1:] != label[:-1])
    # A running maximum of ends that starts anew in each group: groups are lifted above one another.
    lift = (np.cumsum(new_group) - 1) * (int(end.max()) + 1)
    reach = np.maximum.accumulate(end + lift)
    opens = new_group.copy()
    opens[1:] |= (start + lift)[1:] >= reach[:-1]
    first = np.flatnonzero(opens)
    last = np.append(first[1:], len(order)) - 1
    units = _units(continua, entry[first], start[first], (reach - lift)[last], label[first])
    if by_label:
        _refuse_two_labels(continua, units)
    return units


def labels_overlap(continua: Continua) -> bool:
    """Whether spans of one rater with different labels share a character somewhere."""
    together = merged_spans(continua)
    apart = [merged_spans(continua.only_label(label)) for label in continua.labels]
    return sum(int(one.length.sum()) for one in apart) > int(together.length.sum())


def _units(continua: Continua, entry: np.ndarray, start: np.ndarray, end: np.ndarray, label: np.ndarray) -> Units:
    order = np.lexsort((start, entry))
    first = np.searchsorted(entry[order], np.arange(len(continua.text) + 1))
    return Units(start[order], end[order], label[order], entry[order], first)


def _refuse_two_labels(continua: Continua, units: Units) -> None:
    clash = (units.entry[1:] == units.entry[:-1]) & (units.start[1:] < units.end[:-1])
    if clash.any():
        entry = int(units.entry[1:][clash][0])
        text, rater = continua.texts[continua.text[entry]], continua.raters[continua.rater[entry]]
        raise ValueError(
            f"unit {text!r}: spans of {rater!r} with different labels overlap; compare one label at a time (only_label)"
        )


def entry_pairs(continua: Continua) -> np.ndarray:
    """Pairs of entries of one text, (n_pairs, 2), ordered by text, then by rater."""
    order = np.lexsort((continua.rater, continua.text))
    looked = continua.n_looked
    first = np.concatenate([[0], np.cumsum(looked)])[:-1]
    parts = []
    for size in np.unique(looked[looked > 1]):
        rows = first[looked == size][:, None] + np.arange(size)
        one, other = np.triu_indices(size, k=1)
        parts.append(np.stack([order[rows][:, one], order[rows][:, other]], axis=-1).reshape(-1, 2))
    if not parts:
        return np.zeros((0, 2), dtype=np.int64)
    pairs = np.concatenate(parts)
    return pairs[np.argsort(continua.text[pairs[:, 0]], kind="stable")]


def laid_together(units: Units, pairs: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Every span of one entry against every span of the other, batch by batch of whole pairs.

    Yields
    ------
    pair, one, other, shared : int arrays of one length
        Row of `pairs`, rows of `units` for either side, and the characters that both spans hold.
    """
    size = units.count[pairs[:, 0]] * units.count[pairs[:, 1]]
    total = np.cumsum(size)
    begin = 0
    while begin < len(pairs):
        done = total[begin - 1] if begin else 0
        stop = max(begin + 1, int(np.searchsorted(total, done + ROWS_AT_ONCE, side="right")))
        part = size[begin:stop]
        pair = np.repeat(np.arange(begin, stop), part)
        within = np.arange(len(pair)) - np.repeat(np.cumsum(part) - part, part)
        width = units.count[pairs[pair, 1]]
        one = units.first[pairs[pair, 0]] + within // np.maximum(width, 1)
        other = units.first[pairs[pair, 1]] + within % np.maximum(width, 1)
        shared = np.minimum(units.end[one], units.end[other]) - np.maximum(units.start[one], units.start[other])
        yield pair, one, other, np.maximum(shared, 0)
        begin = stop


@dataclass(frozen=True, eq=False)
class SharedSpans:
    """Counts of each pair of entries, all (n_pairs,): spans of either, equal ones, hit ones, characters."""

    pairs: np.ndarray
    text: np.ndarray
    n_spans: np.ndarray
    equal: np.ndarray
    hit: np.ndarray
    characters: np.ndarray
    shared: np.ndarray

    @property
    def either(self) -> np.ndarray:
        """Characters that at least one of the two marked."""
        return self.characters - self.shared


def shared_spans(continua: Continua) -> SharedSpans:
    """What every two raters of a text share, labels aside.

    Returns
    -------
    SharedSpans
        `n_spans` and `characters` are those of both together, `equal` counts places that both marked, `hit` the spans
        on either side that share a character with one of the other's, `shared` the characters that both marked.
    """
    pairs = entry_pairs(continua)
    single, merged = single_spans(continua), merged_spans(continua)
    equal, hit, shared = (np.zeros(len(pairs)) for _ in range(3))
    for pair, one, other, common in laid_together(single, pairs):
        same = (single.start[one] == single.start[other]) & (single.end[one] == single.end[other])
        equal += np.bincount(pair[same], minlength=len(pairs))
        meets = common > 0
        for side in (one, other):
            met = np.unique(np.column_stack([pair[meets], side[meets]]), axis=0)[:, 0]
            hit += np.bincount(met, minlength=len(pairs))
    for pair, _, _, common in laid_together(merged, pairs):
        shared += np.bincount(pair, weights=common, minlength=len(pairs))
    marked = merged.sum_by_entry(merged.length)
    return SharedSpans(
        pairs=pairs,
        text=continua.text[pairs[:, 0]],
        n_spans=single.count[pairs].sum(axis=1),
        equal=equal,
        hit=hit,
        characters=marked[pairs].sum(axis=1),
        shared=shared,
    )

"""Texts and what each rater marked in them, as columns: the input of every measure of spans.

A rater who looked at a text and marked nothing has an entry without spans, which is an answer; a rater who did not look
has no entry. Spans are half-open, ``start <= character < end``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

NO_LENGTHS = "the lengths of the texts are needed; give `length`"


@dataclass(frozen=True, slots=True)
class Marked:
    """What one rater marked in one text: half-open spans ``(start, end)``, in code points.

    Spans that overlap or touch count once for characters, and each for itself where whole spans are compared. `length`
    is the text's, which chance-corrected measures need. `labels` has one label per span; without it all are alike.
    """

    unit: Hashable
    rater: Hashable
    spans: tuple[tuple[int, int], ...]
    length: int = 0
    cluster: Hashable = None
    labels: tuple[Hashable, ...] = ()


@dataclass(frozen=True, eq=False)
class Continua:
    """Texts (continua), who looked at them, and the labelled spans that they marked, coded as integers.

    Parameters
    ----------
    text, rater : (n_entries,) int arrays
        One entry per text and rater who looked at it.
    entry : (n_spans,) int array
        The entry that each span belongs to. Equal spans of one entry count once.
    start, end, label : (n_spans,) int arrays
    length : (n_texts,) int array
        Code points of each text; -1 if unknown. labels, raters, texts : tuples
        Names behind the codes.
    cluster : (n_texts,) int array, optional
        What the texts come in; intervals then resample clusters.

    Raises
    ------
    ValueError
        A span that is empty, starts before its text or ends beyond it, or a text with two entries of one rater.
    """

    text: np.ndarray
    rater: np.ndarray
    entry: np.ndarray
    start: np.ndarray
    end: np.ndarray
    label: np.ndarray
    length: np.ndarray
    labels: tuple[Hashable, ...]
    raters: tuple[Hashable, ...]
    texts: tuple[Hashable, ...]
    cluster: np.ndarray | None = None

    def __post_init__(self) -> None:
        span_text = self.text[self.entry]
        wrong = (self.start < 0) | (self.start >= self.end)
        if wrong.any():
            name = self.texts[span_text[wrong][0]]
            raise ValueError(f"unit {name!r}: a span is empty or starts before the text")
        beyond = (self.length[span_text] >= 0) & (self.end > self.length[span_text])
        if beyond.any():
            which = int(span_text[beyond][0])
            raise ValueError(
                f"unit {self.texts[which]!r}: a span ends beyond the text of {self.length[which]} characters"
            )
        pair = np.sort(self.text.astype(np.int64) * max(len(self.raters), 1) + self.rater)
        twice = pair[1:][pair[1:] == pair[:-1]]
        if len(twice):
            text, rater = divmod(int(twice[0]), len(self.raters))
            raise ValueError(f"unit {self.texts[text]!r} is marked twice by {self.raters[rater]!r}")
        _, first = np.unique(np.column_stack([self.entry, self.start, self.end, self.label]), axis=0, return_index=True)
        for name in ("entry", "start", "end", "label"):
            object.__setattr__(self, name, getattr(self, name)[first])

    @classmethod
    def from_columns(
        cls,
        texts: Sequence,
        raters: Sequence,
        spans: tuple[Sequence, Sequence, Sequence, Sequence],
        span_labels: Sequence | None = None,
        lengths: Sequence | None = None,
        clusters: Sequence | None = None,
    ) -> Continua:
        """Code columns of names.

        Parameters
        ----------
        texts, raters : sequences of equal length
            Who looked at what, one row each, spans or not.
        spans : (text, rater, start, end), sequences of equal length
            One row per span; its text and rater must be among the rows of `texts` and `raters`.
        span_labels : sequence, optional
            Label of each span; without it all spans are alike.
        lengths, clusters : sequences, optional
            Of each row of `texts`; the same in all rows of one text.

        Raises
        ------
        ValueError
            As the class; also a span by a rater who did not look, and a text with two lengths or two clusters.

        Examples
        --------
        >>> result = Continua.from_columns(["t", "t"], ["x", "y"], (["t"], ["x"], [0], [5]), lengths=[20, 20])
        >>> result.n_texts, result.raters, result.length.tolist()
        (1, ('x', 'y'), [20])
        """
        text_names, text = _codes(texts)
        rater_names, rater = _codes(raters)
        span_text, span_rater, start, end = spans
        entry_of = {pair: row for row, pair in enumerate(zip(texts, raters, strict=True))}
        try:
            entry = np.array([entry_of[pair] for pair in zip(span_text, span_rater, strict=True)], dtype=np.int64)
        except KeyError as error:
            raise ValueError(f"{error.args[0]!r} has spans, but is not among those who looked") from None
        label_names, label = _codes([None] * len(entry) if span_labels is None else span_labels)
        known = np.full(len(text), -1) if lengths is None else np.asarray(lengths, dtype=np.int64)
        cluster = None
        if clusters is not None:
            cluster = _per_text(text, _codes(clusters)[1], text_names, "clusters")
        return cls(
            text=text,
            rater=rater,
            entry=entry,
            start=np.asarray(start, dtype=np.int64),
            end=np.asarray(end, dtype=np.int64),
            label=label,
            length=_per_text(text, known, text_names, "lengths"),
            labels=label_names,
            raters=rater_names,
            texts=text_names,
            cluster=cluster,
        )

    @classmethod
    def from_marked(cls, marked: Iterable[Marked] | Continua) -> Continua:
        """What `Marked` entries hold; `Continua` are returned as they are.

        A text's length is the one that its entries give (0 says nothing). Texts without a cluster are clusters of their
        own where others have one.
        """
        if isinstance(marked, Continua):
            return marked
        entries = list(marked)
        seen: set[tuple[Hashable, Hashable]] = set()
        for one in entries:
            if (one.unit, one.rater) in seen:
                raise ValueError(f"unit {one.unit!r} is marked twice by {one.rater!r}")
            seen.add((one.unit, one.rater))
            if one.labels and len(one.labels) != len(one.spans):
                raise ValueError(f"unit {one.unit!r}: {len(one.labels)} labels for {len(one.spans)} spans")
        repeated = [one for one in entries for _ in one.spans]
        places = [place for one in entries for place in one.spans]
        clustered = any(one.cluster is not None for one in entries)
        return cls.from_columns(
            [one.unit for one in entries],
            [one.rater for one in entries],
            (
                [one.unit for one in repeated],
                [one.rater for one in repeated],
                [start for start, _ in places],
                [end for _, end in places],
            ),
            span_labels=[label for one in entries for label in (one.labels or (None,) * len(one.spans))],
            lengths=[one.length or -1 for one in entries],
            clusters=[("text", one.unit) if one.cluster is None else one.cluster for one in entries]
            if clustered
            else None,
        )

    @property
    def n_texts(self) -> int:
        return len(self.texts)

    @property
    def n_spans(self) -> int:
        return len(self.start)

    @property
    def n_looked(self) -> np.ndarray:
        """Raters who looked at each text, (n_texts,)."""
        return np.bincount(self.text, minlength=self.n_texts)

    def only_label(self, label: Hashable) -> Continua:
        """The spans with one label; the raters who looked stay. ValueError for a label that nobody gave."""
        if label not in self.labels:
            raise ValueError(f"no span has the label {label!r}")
        return self._keep_spans(self.label == self.labels.index(label))

    def labels_apart(self) -> Continua:
        """Spans whose label is part of what they are: the text once for each label, end to end, with its spans there.

        Equal places then count as equal under one label only, and spans of different labels never overlap. ValueError
        where lengths are missing.
        """
        length = self.known_lengths()
        shift = self.label * length[self.text[self.entry]]
        return replace(
            self,
            start=self.start + shift,
            end=self.end + shift,
            label=np.zeros_like(self.label),
            labels=(None,),
            length=length * max(len(self.labels), 1),
        )

    def without_labels(self) -> Continua:
        """The spans as places alone; equal ones of one rater count once."""
        return replace(self, label=np.zeros_like(self.label), labels=(None,))

    def only_raters(self, raters: Iterable[Hashable]) -> Continua:
        """What some of the raters marked, in the texts that at least one of them looked at."""
        codes = [self.raters.index(rater) for rater in raters]
        return self.only_entries(np.isin(self.rater, codes))

    def only_entries(self, keep: np.ndarray) -> Continua:
        """Some of the entries, with the texts that still have one.

        Parameters
        ----------
        keep : (n_entries,) bool array
        """
        place = np.cumsum(keep) - 1
        left, text = np.unique(self.text[keep], return_inverse=True)
        spans = keep[self.entry]
        return replace(
            self,
            text=text,
            rater=self.rater[keep],
            entry=place[self.entry[spans]],
            start=self.start[spans],
            end=self.end[spans],
            label=self.label[spans],
            length=self.length[left],
            texts=tuple(self.texts[code] for code in left),
            cluster=None if self.cluster is None else self.cluster[left],
        )

    def known_lengths(self) -> np.ndarray:
        """Lengths of all texts, (n_texts,); ValueError if one is unknown."""
        if (self.length < 0).any():
            missing = self.texts[int(np.argmax(self.length < 0))]
            raise ValueError(f"unit {missing!r}: {NO_LENGTHS}")
        return self.length

    def _keep_spans(self, keep: np.ndarray) -> Continua:
        columns = {name: getattr(self, name)[keep] for name in ("entry", "start", "end", "label")}
        return replace(self, **columns)


def _codes(names: Sequence) -> tuple[tuple, np.ndarray]:
    """Distinct names in the order of their first appearance, and each row's code."""
    index: dict[Hashable, int] = {}
    codes = np.array([index.setdefault(name, len(index)) for name in names], dtype=np.int64)
    return tuple(index), codes


def _per_text(text: np.ndarray, value: np.ndarray, names: tuple, what: str) -> np.ndarray:
    """The value that all rows of a text share, (n_texts,)."""
    text_value = np.zeros(len(names), dtype=np.int64)
    text_value[text] = value
    wrong = text_value[text] != value
    if wrong.any():
        raise ValueError(f"unit {names[text[wrong][0]]!r} has texts of different {what}")
    return text_value

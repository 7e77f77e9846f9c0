"""How far people mark the same passages: agreement of spans, pair by pair of raters.

Two raters who both marked nothing in a text have nothing to compare, so such pairs are counted and left out.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from analysis.stats.agreement.alpha import NO_PAIR as NO_TEXT_WITH_TWO
from analysis.stats.agreement.alpha import ONE_VALUE, Alpha
from analysis.stats.resampling.bootstrap import Estimate, Interval, SumSample, divide
from analysis.stats.resampling.joint import joint_intervals
from analysis.stats.spans.continua import Continua, Marked
from analysis.stats.spans.overlaps import SharedSpans, merged_spans, shared_spans

MEASURES = ("exact_f1", "overlap_f1", "character_f1", "character_iou")
NO_PAIR = "no unit has two raters of whom one marked something"
BOTH_EMPTY = "marked by neither"
ONE_RATER = "one rater only"


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

    def confidence_intervals(
        self, n_resamples: int = 1000, level: float = 0.95, seed: int = 0, clusters: bool = True
    ) -> dict[str, Interval]:
        """The interval of each measure by its name: those that each has by itself, from one set of resamples."""
        measures = [getattr(self, name) for name in MEASURES]
        means = [measure.sample.features[:, 0] for measure in measures]
        sample = replace(
            measures[0].sample,
            features=np.column_stack([*means, measures[0].sample.features[:, 1]]),
            statistic=lambda sums: divide(sums[:, :-1], sums[:, -1:]),
            work_per_row=len(MEASURES),
        )
        intervals = joint_intervals(
            sample,
            [measure.estimate for measure in measures],
            lambda sums: sums[:, -1:] > 0,
            reasons=[measure.undefined for measure in measures],
            n_resamples=n_resamples,
            level=level,
            seed=seed,
            clusters=clusters,
        )
        return dict(zip(MEASURES, intervals, strict=True))


def span_agreement(marked: Iterable[Marked] | Continua) -> SpanAgreement:
    """Pairwise agreement of spans, averaged over the pairs of a unit and then over units.

    Labels of spans are set aside: two raters who marked one passage agree on it, whatever they call it.

    Parameters
    ----------
    marked : Continua or iterable of Marked
        One entry per unit and rater who looked at it, spans or not. Where a unit has several texts, give each text as a
        unit of its own.

    Returns
    -------
    SpanAgreement
        Each an `Estimate` with an interval by resampling units, or clusters where they are given; `n_labels` counts the
        spans of units that enter. Undefined where no unit has two raters of whom one marked something. F1 of spans is
        the chance-free measure for them, since the number of unmarked spans is unbounded (Hripcsak and Rothschild
        2005).

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
    >>> result = span_agreement([Marked("u", "x", ((0, 10),)), Marked("u", "y", ((5, 10), (20, 25)))])
    >>> result.exact_f1.estimate, round(result.overlap_f1.estimate, 3), result.character_f1.estimate
    (0.0, 0.667, 0.5)
    """
    continua = Continua.from_marked(marked)
    pairs = shared_spans(continua)
    texts, means = _means_by_text(pairs)
    cluster = None if continua.cluster is None else continua.cluster[texts]
    entering = np.isin(continua.text[continua.entry], texts)
    left_out = {
        ONE_RATER: int((continua.n_looked < 2).sum()),
        BOTH_EMPTY: int((continua.n_looked > 1).sum()) - len(texts),
    }

    def estimate_of(column: int) -> Estimate:
        features = np.column_stack([means[:, column], np.ones(len(texts))])
        sample = SumSample(features, np.arange(len(texts)), cluster, lambda sums: divide(sums[:, 0], sums[:, 1]))
        return Estimate(
            estimate=sample.value() if len(texts) else np.nan,
            undefined="" if len(texts) else NO_PAIR,
            n_units=continua.n_texts,
            n_pairable=len(texts),
            n_labels=int(entering.sum()),
            left_out={reason: n for reason, n in left_out.items() if n},
            sample=sample,
        )

    return SpanAgreement(**{name: estimate_of(column) for column, name in enumerate(MEASURES)})


def span_agreement_by_label(marked: Iterable[Marked] | Continua) -> dict[Hashable, SpanAgreement]:
    """`span_agreement` of the spans with each label by themselves.

    A rater who looked at a unit and marked nothing with the label has an empty set there, so a passage that two raters
    marked under different labels counts against both labels.

    Returns
    -------
    dict
        One entry per label that a span has, in the order of `Continua.labels`.

    Examples
    --------
    >>> x = Marked("u", "x", ((0, 4), (6, 9)), labels=("for", "against"))
    >>> y = Marked("u", "y", ((0, 4), (6, 9)), labels=("for", "for"))
    >>> {label: round(result.exact_f1.estimate, 2) for label, result in span_agreement_by_label([x, y]).items()}
    {'for': 0.67, 'against': 0.0}
    """
    continua = Continua.from_marked(marked)
    return {label: span_agreement(continua.only_label(label)) for label in continua.labels}


def pair_measures(pairs: SharedSpans) -> np.ndarray:
    """Exact F1, overlap F1, character F1 and IoU of every pair, (n_pairs, 4); nan where neither marked anything."""
    return np.column_stack(
        [
            divide(2 * pairs.equal, pairs.n_spans),
            divide(pairs.hit, pairs.n_spans),
            divide(2 * pairs.shared, pairs.characters),
            divide(pairs.shared, pairs.either),
        ]
    )


def _means_by_text(pairs: SharedSpans) -> tuple[np.ndarray, np.ndarray]:
    """Texts that have a pair to compare, and the mean of each measure over their pairs."""
    some = pairs.n_spans > 0
    texts, place = np.unique(pairs.text[some], return_inverse=True)
    measures = pair_measures(pairs)[some]
    n_pairs = np.bincount(place, minlength=len(texts))
    sums = [np.bincount(place, weights=column, minlength=len(texts)) for column in measures.T]
    return texts, np.column_stack(sums) / n_pairs[:, None]


def character_alpha(marked: Iterable[Marked] | Continua) -> Alpha:
    """Krippendorff's nominal alpha over characters: each is marked or not by each rater of its unit.

    Characters of one unit stand and fall together, so intervals resample units (or clusters), never characters. Long
    texts weigh more than short ones, by their length. `unitizing_alpha` tells labels apart and knows units.

    Parameters
    ----------
    marked : Continua or iterable of Marked
        With `length`, the number of code points of the text; equal for all raters of a unit.

    Returns
    -------
    Alpha
        `n_units` and `n_pairable` count characters, `n_labels` characters times raters. Undefined where no text has two
        raters, and where nobody marked anything or everybody everything.

    Raises
    ------
    ValueError
        As `span_agreement`; also a span beyond the text, or lengths that are missing or differ within a unit.
    """
    continua = Continua.from_marked(marked)
    length, looked = continua.known_lengths(), continua.n_looked
    pairs = shared_spans(continua)
    merged = merged_spans(continua)
    unequal = np.bincount(pairs.text, weights=pairs.either - pairs.shared, minlength=continua.n_texts)
    chosen = np.bincount(continua.text, weights=merged.sum_by_entry(merged.length), minlength=continua.n_texts)
    two = looked > 1
    all_labels = length * looked
    features = np.column_stack([2 * unequal / np.maximum(looked - 1, 1), chosen, all_labels - chosen])[two]
    cluster = np.arange(continua.n_texts) if continua.cluster is None else continua.cluster
    sample = SumSample(features, np.arange(len(features)), cluster[two], lambda sums: 1 - divide(*_parts(sums)))
    observed, expected = (float(part[0]) for part in _parts(sample.sums()))
    undefined = NO_TEXT_WITH_TWO if not features.any() else ONE_VALUE if expected == 0 else ""
    return Alpha(
        estimate=np.nan if undefined else 1 - observed / expected,
        undefined=undefined,
        n_units=int(length.sum()),
        n_pairable=int(length[two].sum()),
        n_labels=int(all_labels[two].sum()),
        left_out={ONE_RATER: int(length[~two].sum())} if length[~two].any() else {},
        sample=sample,
        level="nominal",
        observed=observed,
        expected=expected,
    )


def _parts(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Observed and expected disagreement of sums of disagreement, marked and unmarked labels."""
    n = sums[:, 1] + sums[:, 2]
    chance = divide(2 * sums[:, 1] * sums[:, 2], n * (n - 1))
    return divide(sums[:, 0], n), np.where(chance > 0, chance, 0)

"""Studies of marked passages with labels: unitizing alphas, gamma, and F1 per label."""

from __future__ import annotations

import numpy as np

from analysis import stats
from analysis.stats import Continua
from benchmarks.studies.study import Figures, Study, bootstrapped

# Random continua of gamma, in a study and in the one that gives the true values.
DRAWS, DRAWS_OF_TRUTH, MANY_TEXTS = 200, 4000, 1000


def marked(rng: np.random.Generator, n_claims: int) -> Continua:
    """Texts of claims that are hard or easy as a whole; two of five raters each, who omit, misplace and mislabel."""
    looked, spans, labels, lengths, claims = [], [], [], [], []
    for claim in range(n_claims):
        hard = rng.beta(2, 3)
        for text in range(int(rng.integers(1, 5))):
            length, size, true_label = int(rng.integers(100, 300)), int(rng.integers(15, 40)), int(rng.integers(3))
            true_start = int(rng.integers(0, length - 40))
            for rater in rng.permutation(5)[:2].tolist():
                looked.append(((claim, text), rater))
                lengths.append(length)
                claims.append(claim)
                if rng.random() < 0.15:
                    continue
                near = int(np.clip(true_start + rng.integers(-6, 7), 0, length - size))
                start = int(rng.integers(0, length - size)) if rng.random() < 0.6 * hard else near
                spans.append((*looked[-1], start, start + size))
                labels.append(true_label if rng.random() < 0.85 else (true_label + int(rng.integers(1, 3))) % 3)
    texts, raters = zip(*looked, strict=True)
    return Continua.from_columns(texts, raters, tuple(zip(*spans, strict=True)), labels, lengths, claims)


def figures(continua: Continua) -> Figures:
    spans, units = stats.span_agreement(continua), stats.unitizing_alpha(continua)
    of_label = stats.span_agreement_by_label(continua)[0]
    n_draws = DRAWS if continua.n_texts < MANY_TEXTS else DRAWS_OF_TRUTH
    return bootstrapped(
        overlap_f1=spans.overlap_f1,
        character_f1=spans.character_f1,
        character_iou=spans.character_iou,
        overlap_f1_of_a_label=of_label.overlap_f1,
        character_f1_of_a_label=of_label.character_f1,
        character_alpha=stats.character_alpha(continua),
        u_alpha=units.units_and_labels,
        marked_or_not_alpha=units.marked_or_not,
        cu_alpha=units.labels_where_both,
        k_u_alpha_of_a_label=units.each_label[0],
        gamma=stats.gamma(continua, n_draws=n_draws),
    )


STUDIES = {"spans with labels": Study(marked, figures, (40, 15), 6000)}

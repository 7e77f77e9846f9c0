"""Why figures of agreement leave out judgements that were asked for because answers differed."""

import numpy as np

from analysis.stats import Labels, krippendorff_alpha

UNITS, STUDIES = 300, 120
NAMES = ("no", "yes", "unknown")


def studied(rng: np.random.Generator, n: int) -> tuple[Labels, Labels]:
    """Of each unit the labels of the first two people, and with those a third one where they differ. People know three
    answers in five and guess the others."""
    truth = rng.integers(0, len(NAMES), n)
    knows = rng.random((n, 3)) < 0.6
    said = np.where(knows, truth[:, None], rng.integers(0, len(NAMES), (n, 3)))
    asked = np.ones((n, 3), dtype=bool)
    asked[:, 2] = said[:, 0] != said[:, 1]
    planned = np.broadcast_to(np.arange(3) < 2, (n, 3))

    def labels(which: np.ndarray) -> Labels:
        unit, rater = np.nonzero(which)
        return Labels(unit, rater, said[unit, rater], n, NAMES)

    return labels(planned), labels(asked)


def test_alpha_of_the_planned_judgements_is_unbiased_and_that_of_all_is_not():
    rng = np.random.default_rng(33)
    truth = float(krippendorff_alpha(studied(rng, 200_000)[0], "nominal").estimate)
    found = np.array(
        [
            [float(krippendorff_alpha(labels, "nominal").estimate) for labels in studied(rng, UNITS)]
            for _ in range(STUDIES)
        ]
    )
    bias, error = found.mean(axis=0) - truth, found.std(axis=0) / np.sqrt(STUDIES)
    assert abs(bias[0]) < 3 * error[0] < 0.015
    assert bias[1] > 0.03 > 5 * error[1]

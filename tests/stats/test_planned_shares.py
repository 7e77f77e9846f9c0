"""Planned widths of a label's share, in closed form, against studies simulated here unit by unit."""

from statistics import NormalDist

import numpy as np
import pytest

from analysis.stats import planned_rate
from analysis.stats.planning.pilot import Pilot

Z = NormalDist().inv_cdf(0.975)
# Of the label no, yes and maybe: who mistakes which for which.
CONFUSION = np.array(
    [
        [[0.90, 0.05, 0.05], [0.10, 0.80, 0.10], [0.20, 0.20, 0.60]],
        [[0.80, 0.15, 0.05], [0.05, 0.90, 0.05], [0.30, 0.20, 0.50]],
        [[0.70, 0.20, 0.10], [0.25, 0.70, 0.05], [0.15, 0.15, 0.70]],
    ]
)
PREVALENCE = np.array([0.6, 0.3, 0.1])


def drawn(chances: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return (rng.random(chances.shape[:-1])[..., None] > chances.cumsum(axis=-1)[..., :-1]).sum(axis=-1)


def shares(n: int, k: int, size: int, correlation: float, n_studies: int = 1500) -> np.ndarray:
    """Of each label in every study, (3, n_studies): n units in clusters, each labelled by k of the three people."""
    rng = np.random.default_rng(8)
    common = drawn(np.broadcast_to(PREVALENCE, (n_studies, n // size, 3)), rng).repeat(size, axis=1)
    own = drawn(np.broadcast_to(PREVALENCE, (n_studies, n, 3)), rng)
    truth = np.where(rng.random((n_studies, n)) < np.sqrt(correlation), common, own)
    people = rng.random((n_studies, n, 3)).argsort(axis=2)[:, :, :k]
    said = drawn(CONFUSION[people, truth[..., None]], rng)
    return np.stack([(said == label).mean(axis=(1, 2)) for label in range(3)])


@pytest.mark.parametrize("size, correlation", [(1, 0.0), (4, 0.3)])
@pytest.mark.parametrize("n, k", [(100, 1), (100, 3), (400, 2)])
def test_widths_in_closed_form_are_those_of_simulated_studies(n, k, size, correlation):
    from_labels = Pilot(
        confusion=CONFUSION,
        prevalence=PREVALENCE,
        categories=("no", "yes", "maybe"),
        cluster_size=size,
        correlation=correlation,
    )
    for label, found in enumerate(shares(n, k, size, correlation)):
        plan = planned_rate(from_labels, label, n, k)
        # A standard deviation over 1,500 studies is itself known to 2 %.
        assert plan.half_width == pytest.approx(Z * found.std(ddof=1), rel=0.06), label
        assert plan.estimate == pytest.approx(found.mean(), abs=0.01), label

"""Prediction-powered inference: ppi-python's numbers (version 0.2.3) from outside, and coverage on planted data."""

import numpy as np
import pytest
from scipy import stats

from analysis.stats import prediction_powered_mean


def example():
    unit, other = np.arange(60), np.arange(600)
    human = ((unit * 7) % 10 < 3).astype(float)
    machine = np.where(unit % 5 == 0, 1 - human, human)
    others = ((other * 3) % 10 < 4).astype(float)
    others[::9] = 1 - others[::9]
    return human, machine, others


# lambda: ppi_mean_pointestimate and ppi_mean_ci(alpha=0.05) of the columns above.
PPI_PYTHON = {
    None: (0.3501975, 0.2492609, 0.4511341),
    1.0: (0.42166667, 0.30180765, 0.54152569),
    0.0: (0.3, 0.18404697, 0.41595303),
}


@pytest.mark.parametrize("power", PPI_PYTHON)
def test_estimate_and_interval_are_those_of_ppi_python(power):
    found = prediction_powered_mean(*example(), power=power)
    assert (found.estimate, found.low, found.high) == pytest.approx(PPI_PYTHON[power], abs=1e-7)


def test_units_that_are_their_own_clusters_change_next_to_nothing_and_copies_widen():
    human, machine, others = example()
    alone = prediction_powered_mean(human, machine, others, np.arange(60), np.arange(60, 660))
    plain = prediction_powered_mean(human, machine, others)
    assert alone.standard_error == pytest.approx(plain.standard_error, rel=2e-3)
    twice = [np.repeat(column, 2) for column in (human, machine, others)]
    pairs = prediction_powered_mean(*twice, np.repeat(np.arange(60), 2), np.repeat(np.arange(60, 660), 2))
    assert pairs.standard_error == pytest.approx(alone.standard_error, rel=0.01)
    assert prediction_powered_mean(*twice).standard_error < 0.75 * pairs.standard_error


def test_it_covers_and_is_narrower_than_people_alone_where_the_machine_knows_something():
    rng = np.random.default_rng(1)
    hits, narrower = 0, []
    for _ in range(300):
        truth = rng.random(2100) < 0.3
        said = np.where(rng.random(2100) < 0.9, truth, ~truth).astype(float)
        human = truth[:100].astype(float)
        found = prediction_powered_mean(human, said[:100], said[100:])
        hits += found.low <= 0.3 <= found.high
        narrower.append(
            found.standard_error / prediction_powered_mean(human, said[:100], said[100:], power=0).standard_error
        )
    assert hits / 300 >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 300) and np.mean(narrower) < 0.75


def test_a_machine_that_knows_nothing_is_not_relied_on():
    human, _, others = example()
    found = prediction_powered_mean(human, np.ones(60), np.ones(600))
    alone = stats.norm.interval(0.95, human.mean(), human.std() / np.sqrt(60))
    assert found.power == 0 and (found.low, found.high) == pytest.approx(alone)
    contrary = prediction_powered_mean(human, 1 - human, others)
    assert contrary.power == 0 and contrary.estimate == human.mean()


def test_undefined_and_refused():
    one = prediction_powered_mean(np.array([1.0]), np.array([1.0]), np.ones(5))
    assert np.isnan(one.estimate) and "fewer than two" in one.undefined
    # Many people's labels and a machine that says nothing of those units is another want than too few people's labels.
    silent = prediction_powered_mean(np.zeros(0), np.zeros(0), np.ones(5))
    assert silent.undefined.endswith("have both a person's label and the machine's")
    alone = prediction_powered_mean(np.ones(1), np.ones(1), np.zeros(0), power=0)
    assert alone.undefined.endswith("have a person's label")
    nobody = prediction_powered_mean(np.array([1.0, 0.0]), np.array([1.0, 0.0]), np.zeros(0))
    assert "nothing to gain" in nobody.undefined
    assert prediction_powered_mean(np.array([1.0, 0.0]), np.array([1.0, 0.0]), np.zeros(0), power=0).estimate == 0.5
    none = prediction_powered_mean(np.zeros(9), np.zeros(9), np.ones(5), power=0)
    assert none.estimate == 0 and np.isnan(none.low) and np.isnan(none.high)
    with pytest.raises(ValueError, match="between 0 and 1"):
        prediction_powered_mean(*example(), power=2)
    with pytest.raises(ValueError, match="clusters"):
        prediction_powered_mean(*example(), np.arange(60))


@pytest.mark.parametrize("kind", ["a rate", "a mean"])
def test_300_labels_by_people_and_30_000_by_a_machine(kind):
    """A hallucination rate, and a mean share of hallucinated claims: narrower than people alone, where the machine by
    itself is off by more than it could ever say."""
    rng = np.random.default_rng(8)
    hits, narrower, off = 0, [], []
    for _ in range(200):
        share = rng.beta(1, 4, 30_300)
        truth = (rng.random(30_300) < share).astype(float) if kind == "a rate" else share
        # The machine is right in nine of ten, and else says that there is a hallucination.
        said = np.where(rng.random(30_300) < 0.9, truth, 1.0)
        found = prediction_powered_mean(truth[:300], said[:300], said[300:])
        alone = prediction_powered_mean(truth[:300], said[:300], said[300:], power=0)
        hits += found.low <= 0.2 <= found.high
        narrower.append((found.high - found.low) / (alone.high - alone.low))
        off.append(abs(said.mean() - 0.2) / (said.std() / np.sqrt(len(said))))
    assert hits / 200 >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 200)
    assert np.mean(narrower) < 0.9 and min(off) > 10

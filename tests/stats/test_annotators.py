import numpy as np
import pytest
from scipy.optimize import minimize

from analysis.stats import Labels, dawid_skene, mace

from .samples import from_matrix


def planted(n: int = 60, right=(0.95, 0.8, 0.7, 0.4, 0.55), share: float = 0.75) -> tuple[Labels, np.ndarray]:
    """Units with a known truth of three categories; rater j is right with `right[j]`, and guesses otherwise."""
    rng = np.random.default_rng(42)
    truth = rng.integers(0, 3, n)
    rows = []
    for rater, chance in enumerate(right):
        for unit in range(n):
            if rng.random() < share:
                rows.append((unit, rater, int(truth[unit]) if rng.random() < chance else int(rng.integers(0, 3))))
    unit, rater, value = map(np.array, zip(*rows, strict=True))
    return Labels(unit, rater, value, n, ("a", "b", "c")), truth


def test_dawid_skene_equals_crowd_kit():
    """Outside numbers: crowd-kit 1.4.2 on the same labels, run until it stood still."""
    labels, _ = planted()
    found = dawid_skene(labels, 5000, 1e-14)
    expected = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [4e-05, 0.99996, 0.0], [0.00798, 0.99202, 0.0]]
    assert found.posterior[:4] == pytest.approx(np.array(expected), abs=6e-6)
    assert found.prevalence == pytest.approx([0.29963, 0.3345, 0.36587], abs=6e-6)
    by_truth = [[0.72513, 0.14038, 0.13449], [0.0, 1.0, 0.0], [0.0, 0.08019, 0.91981]]
    assert found.confusion[0] == pytest.approx(np.array(by_truth), abs=6e-6)
    assert found.converged


def test_competence_is_the_chance_to_be_right():
    labels, _ = planted()
    found = dawid_skene(labels)
    by_hand = [(np.diag(found.confusion[j]) * found.prevalence).sum() for j in range(5)]
    assert found.competence == pytest.approx(by_hand)


def mace_log_likelihood(labels: Labels, parameters: np.ndarray) -> float:
    """The marginal likelihood written down anew, with theta and habits as logits."""
    n_raters, q = labels.n_raters, len(labels.categories)
    theta = 1 / (1 + np.exp(-parameters[:n_raters]))
    habit = np.exp(parameters[n_raters:].reshape(n_raters, q))
    habit /= habit.sum(axis=1, keepdims=True)
    of_unit = np.full((labels.n_units, q), 1 / q)
    for unit, rater, value in zip(labels.unit, labels.rater, labels.value, strict=True):
        chance = np.full(q, (1 - theta[rater]) * habit[rater, value])
        chance[value] += theta[rater]
        of_unit[unit] *= chance
    return float(np.log(of_unit.sum(axis=1)).sum())


def test_mace_finds_the_maximum_that_a_general_optimiser_finds():
    labels, _ = planted(40)
    found = mace(labels, n_iterations=1000, smoothing=1e-9)
    rng = np.random.default_rng(0)
    best = min(
        (minimize(lambda x: -mace_log_likelihood(labels, x), rng.normal(size=20), method="L-BFGS-B") for _ in range(3)),
        key=lambda result: result.fun,
    )
    assert found.log_likelihood == pytest.approx(-best.fun, abs=0.01)
    assert found.competence == pytest.approx(1 / (1 + np.exp(-best.x[:5])), abs=0.02)


@pytest.mark.parametrize("model", [dawid_skene, mace])
def test_planted_truth_and_order_of_raters_are_recovered(model):
    labels, truth = planted(400)
    found = model(labels)
    votes = np.zeros((400, 3))
    np.add.at(votes, (labels.unit, labels.value), 1)
    labelled = votes.any(axis=1)
    by_majority = (votes.argmax(axis=1) == truth)[labelled].mean()
    assert (found.label == truth)[labelled].mean() > by_majority
    assert np.argsort(-found.competence).tolist() == [0, 1, 2, 4, 3]
    assert found.posterior.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("model", [dawid_skene, mace])
def test_units_and_raters_without_labels(model):
    labels = Labels(np.array([0, 0, 2, 2]), np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1]), 4, ("a", "b"), None, False)
    wider = Labels(labels.unit, labels.rater, labels.value, 4, ("a", "b"), rater_names=("x", "y", "z"))
    found = model(wider)
    assert found.label.tolist() == [0, -1, 1, -1]
    assert np.isnan(found.posterior[[1, 3]]).all() and np.isnan(found.competence[2])
    empty = np.zeros(0, dtype=int)
    assert model(Labels(empty, empty, empty, 3, ("a", "b"))).undefined == "no unit has a label"


@pytest.mark.parametrize("model", [dawid_skene, mace])
def test_slots_have_no_competence(model):
    with pytest.raises(ValueError, match="exchangeable"):
        model(Labels(np.array([0]), np.array([0]), np.array([0]), 1, ("a",), exchangeable=True))


def test_ties_go_to_the_first_category():
    found = dawid_skene(Labels(np.array([0, 0]), np.array([0, 1]), np.array([0, 1]), 1, ("a", "b")))
    assert found.posterior[0] == pytest.approx([0.5, 0.5]) and found.label.tolist() == [0]


def test_mace_comes_close_to_crowd_kit():
    """Outside numbers: the shares known (`spamming_[:, 1]`) by crowd-kit 1.4.2's MACE on the same 1,482 labels, as it
    comes (`method="vb"`: priors of one half beside every count, which draw them towards the middle a little)."""
    labels, _ = planted(400)
    assert labels.n_labels == 1482
    assert mace(labels).competence == pytest.approx([0.94704, 0.7783, 0.70631, 0.40225, 0.58177], abs=0.007)


def test_one_label_does_not_tell_knowing_from_guessing():
    """By the likelihood written down anew: that all guess this label is likelier than that they know it."""
    unit, rater = np.indices((6, 3)).reshape(2, -1)
    labels = Labels(unit, rater, np.ones(18, dtype=int), 6, ("a", "b"))
    always_b = np.tile([-50.0, 0.0], 3)
    knowing, guessing = (mace_log_likelihood(labels, np.r_[[theta] * 3, always_b]) for theta in (50.0, -50.0))
    assert guessing == pytest.approx(0, abs=1e-9) and knowing == pytest.approx(6 * np.log(0.5))
    found = mace(labels)
    assert "only one label was used" in found.undefined
    assert np.isnan(found.competence).all() and np.isnan(found.posterior).all()
    assert found.label.tolist() == [-1] * 6 and len(found.rater_names) == 3
    assert dawid_skene(labels).competence == pytest.approx([1, 1, 1])


def test_starts_of_mace_that_step_together_end_where_each_ends_alone(monkeypatch):
    """Large data let fewer starts step at once, which must decide nothing."""
    rng = np.random.default_rng(11)
    truth = rng.integers(0, 3, 80)
    said = np.where(rng.random((4, 80)) < 0.6, truth, rng.integers(0, 3, (4, 80)))
    labels = from_matrix(said, "012")
    together = mace(labels)
    monkeypatch.setattr("analysis.stats.annotators.latent_truth.CELLS_AT_ONCE", 1)
    alone = mace(labels)
    assert together.competence == pytest.approx(alone.competence, abs=1e-12)
    assert together.posterior == pytest.approx(alone.posterior, abs=1e-12)
    assert together.log_likelihood == pytest.approx(alone.log_likelihood, rel=1e-12)
    # Of starts that end in different places the likeliest counts, in whichever block it is.
    assert together.log_likelihood >= max(mace(labels, n_restarts=n).log_likelihood for n in (1, 2, 5)) - 1e-9

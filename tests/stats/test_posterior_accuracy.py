"""Accuracy against an uncertain truth."""

import numpy as np
import pytest

from analysis.stats import Labels, classification, dawid_skene, expected_accuracy


def test_a_certain_posterior_gives_the_accuracy_that_scikit_learn_gives():
    from sklearn.metrics import accuracy_score

    rng = np.random.default_rng(4)
    truth, said = rng.integers(0, 3, 200), rng.integers(0, 3, 200)
    found = expected_accuracy(np.eye(3)[truth], said)
    assert found.estimate == pytest.approx(accuracy_score(truth, said))
    plain = classification(truth, said, ["a", "b", "c"]).accuracy
    assert found.confidence_interval(500, seed=1).low == pytest.approx(
        plain.confidence_interval(500, seed=1).low, abs=0.02
    )


def test_of_the_two_labels_of_a_coin_neither_is_more_right():
    posterior = np.full((40, 2), 0.5)
    assert expected_accuracy(posterior, np.zeros(40, int)).estimate == 0.5
    assert expected_accuracy(posterior, np.ones(40, int)).estimate == 0.5


def test_what_is_missing_is_left_out_and_counted():
    posterior = np.array([[0.9, 0.1], [np.nan, np.nan], [0.3, 0.7], [1.0, 0.0]])
    found = expected_accuracy(posterior, [0, 1, -1, 1])
    assert found.estimate == pytest.approx(0.45)
    assert (found.n_pairable, found.left_out) == (2, {"no posterior": 1, "no label": 1})
    nothing = expected_accuracy(posterior, [-1, -1, -1, -1])
    assert np.isnan(nothing.estimate) and "no unit" in nothing.undefined


def test_it_recovers_the_planted_accuracy_from_noisy_people():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 3000)
    people = [np.where(rng.random(3000) < right, truth, 1 - truth) for right in (0.85, 0.8, 0.75)]
    labels = Labels.from_columns(
        np.tile(np.arange(3000), 3), np.repeat(["x", "y", "z"], 3000), np.concatenate(people), categories=(0, 1)
    )
    machine = np.where(rng.random(3000) < 0.9, truth, 1 - truth)
    posterior = dawid_skene(labels).posterior
    found = expected_accuracy(posterior, machine)
    # With a posterior that is right with probability p, a labeller right with probability a agrees to ap + (1-a)(1-p).
    sure = posterior[np.arange(3000), truth].mean()
    assert found.estimate == pytest.approx(0.9 * sure + 0.1 * (1 - sure), abs=0.02)


def test_clusters_widen_the_interval_where_they_are_alike():
    rng = np.random.default_rng(1)
    level = np.repeat(rng.random(30), 10)
    posterior = np.column_stack([level, 1 - level])
    alone = expected_accuracy(posterior, np.zeros(300, int)).confidence_interval(500)
    together = expected_accuracy(posterior, np.zeros(300, int), np.repeat(np.arange(30), 10)).confidence_interval(500)
    assert together.high - together.low > 2 * (alone.high - alone.low)


def test_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match="dimensions"):
        expected_accuracy(np.ones(3), [0, 0, 0])
    with pytest.raises(ValueError, match="length"):
        expected_accuracy(np.ones((3, 1)), [0, 0])

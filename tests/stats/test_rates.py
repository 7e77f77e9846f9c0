import warnings

import numpy as np
import pytest

from analysis.stats import encode, label_rates

CATEGORIES = ("Entailment", "Neutral", "Contradiction", "Bad")


def rates_of(rows, n_responses, excluded=()):
    label, response, model = zip(*rows, strict=True) if rows else ((), (), ())
    return label_rates(encode(label, CATEGORIES), response, model, n_responses, CATEGORIES, excluded)


ROWS = [
    ("Entailment", "r1", "a"),
    ("Entailment", "r1", "a"),
    ("Neutral", "r1", "a"),
    ("Bad", "r1", "a"),
    ("Contradiction", "r2", "a"),
    ("Bad", "r3", "a"),
    ("Entailment", "r1", "b"),
]


def test_rates_are_means_over_responses_then_over_models():
    rates = rates_of(ROWS, {"a": 4, "b": 2})
    a, b = rates.models
    assert a.shares["Entailment"].estimate == pytest.approx((2 / 4 + 0 + 0) / 3)
    assert a.shares["Bad"].estimate == pytest.approx((1 / 4 + 0 + 1) / 3)
    assert (a.abstained.estimate, b.abstained.estimate) == (1 / 4, 1 / 2)
    assert rates.shares["Entailment"].estimate == pytest.approx((1 / 6 + 1) / 2)
    assert rates.abstained.estimate == pytest.approx(3 / 8)


def test_excluded_labels_leave_the_shares_and_are_counted():
    rates = rates_of(ROWS, {"a": 4, "b": 2}, excluded=["Bad"])
    a = rates.models[0]
    assert list(a.shares) == ["Entailment", "Neutral", "Contradiction"]
    assert a.shares["Entailment"].estimate == pytest.approx((2 / 3 + 0) / 2)
    assert (a.n_answered, a.n_abstained, a.n_only_excluded, a.n_labels, a.n_excluded) == (2, 1, 1, 4, 2)
    assert a.shares["Neutral"].left_out == {"abstained": 1, "excluded labels only": 1}
    # A response whose triplets were all bad did not abstain.
    assert a.abstained.estimate == 1 / 4


def test_a_model_that_never_answers_is_undefined_but_abstains():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rates = rates_of(ROWS, {"a": 4, "b": 1, "silent": 3, "absent": 0})
        assert np.isnan(rates.shares["Neutral"].confidence_interval().low)
    silent, absent = rates.models[2:]
    assert silent.shares["Neutral"].undefined == "the model abstained from every response"
    assert silent.abstained.estimate == 1
    assert absent.abstained.undefined == "the model has no response"
    assert np.isnan(rates.shares["Neutral"].estimate)
    assert rates.shares["Neutral"].undefined == "undefined for at least one model"


def test_no_models():
    assert rates_of([], {}).abstained.undefined == "no model"


def test_interval_of_a_model_covers_a_plain_loop():
    rng = np.random.default_rng(0)
    share = rng.integers(0, 5, 40)
    rows = [("Entailment" if i < share[r] else "Neutral", r, "a") for r in range(40) for i in range(4)]
    interval = rates_of(rows, {"a": 40}).shares["Entailment"].confidence_interval(4000)
    naive = [np.mean(share[rng.integers(0, 40, 40)] / 4) for _ in range(4000)]
    assert [interval.low, interval.high] == pytest.approx(np.quantile(naive, [0.025, 0.975]), abs=0.01)


@pytest.mark.parametrize(
    ("n_responses", "excluded", "message"),
    [
        ({"a": 4}, (), "model 'b' has triplets but no number of responses"),
        ({"a": 2, "b": 1}, (), "3 responses with triplets, but 2"),
        ({"a": 4, "b": 1}, ("Wrong",), "no categories"),
    ],
)
def test_contradicting_input_is_refused(n_responses, excluded, message):
    with pytest.raises(ValueError, match=message):
        rates_of(ROWS, n_responses, excluded)

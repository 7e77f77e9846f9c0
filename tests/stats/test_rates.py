import warnings

import numpy as np
import pytest

from analysis.stats import encode, label_rates

CATEGORIES = ("Entailment", "Neutral", "Contradiction", "Bad")


def rates_of(rows, n_responses, excluded=(), cluster=None):
    label, response, model = zip(*rows, strict=True) if rows else ((), (), ())
    return label_rates(encode(label, CATEGORIES), response, model, n_responses, CATEGORIES, excluded, cluster)


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
    assert rates.shares["Neutral"].undefined == "no value for at least one model"


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


def study(n_questions=40, n_models=3, seed=0):
    """Triplets of responses to questions that are hard for every model; some responses are empty."""
    rng = np.random.default_rng(seed)
    hard = rng.beta(1, 2, n_questions)
    rows, cluster, n_responses = [], {}, {}
    for model in (f"m{number}" for number in range(n_models)):
        n_responses[model] = n_questions
        for question, chance in enumerate(hard):
            cluster[model, f"r{question}"] = question
            wrong = rng.random(rng.integers(0, 4)) < chance
            rows += [("Contradiction" if one else "Entailment", f"r{question}", model) for one in wrong]
    return rows, n_responses, cluster


def test_clusters_change_the_intervals_and_nothing_else():
    rows, n_responses, cluster = study()
    plain, drawn = (rates_of(rows, n_responses, cluster=found) for found in (None, cluster))
    for one, other in zip(
        (*plain.models, plain),
        (*drawn.models, drawn),
        strict=True,
    ):
        assert {label: found.estimate for label, found in one.shares.items()} == {
            label: found.estimate for label, found in other.shares.items()
        }
        assert one.abstained.estimate == other.abstained.estimate
    assert plain.shares["Neutral"].confidence_interval().n_clusters is None
    width = [found.shares["Contradiction"].confidence_interval(2000) for found in (plain, drawn)]
    assert width[1].high - width[1].low > 1.2 * (width[0].high - width[0].low)


def test_questions_are_drawn_once_for_all_models():
    """By a plain loop: every draw takes whole questions, and all models answer the same ones."""
    rows, n_responses, cluster = study(n_questions=30)
    drawn = rates_of(rows, n_responses, cluster=cluster)
    share, silent = np.full((3, 30), np.nan), np.ones((3, 30))
    for place, model in enumerate(n_responses):
        for question in range(30):
            said = [label for label, response, by in rows if (by, response) == (model, f"r{question}")]
            if said:
                share[place, question] = np.mean([label == "Contradiction" for label in said])
                silent[place, question] = 0
    rng = np.random.default_rng(1)
    draws = [rng.integers(0, 30, 30) for _ in range(3000)]
    for found, naive in (
        (drawn.shares["Contradiction"], [np.nanmean(share[:, draw], axis=1).mean() for draw in draws]),
        (drawn.models[0].shares["Contradiction"], [np.nanmean(share[0, draw]) for draw in draws]),
        (drawn.abstained, [silent[:, draw].mean() for draw in draws]),
        (drawn.models[2].abstained, [silent[2, draw].mean() for draw in draws]),
    ):
        values = found.sample.values(3000, np.random.default_rng(2), True)
        assert found.estimate == pytest.approx(found.sample.value())
        assert values.mean() == pytest.approx(np.mean(naive), abs=0.01)
        assert values.std() == pytest.approx(np.std(naive), rel=0.05)


def test_clusters_name_each_response():
    rows, n_responses, cluster = study(n_questions=4)
    with pytest.raises(ValueError, match="as many responses of each model"):
        rates_of(rows, n_responses, cluster=dict(list(cluster.items())[1:]))
    moved = {(model, f"other {response}"): question for (model, response), question in cluster.items()}
    with pytest.raises(ValueError, match="has triplets but no cluster"):
        rates_of(rows, n_responses, cluster=moved)
    nothing = rates_of([], {"a": 1}, cluster={("a", "r"): 1})
    assert nothing.shares["Neutral"].undefined and nothing.abstained.estimate == 1.0
    assert rates_of([], {}, cluster={}).abstained.undefined == "no model"

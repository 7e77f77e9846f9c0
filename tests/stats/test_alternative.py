import json

import numpy as np
import pytest
from scipy import stats

from analysis.stats import Labels, alternative_annotator_test, benjamini_yekutieli, encode

from .samples import SHARED_DATA

# Calderon et al. (2025): winning rate and average advantage probability of six models.
PUBLISHED = {
    ("wax", 0.1, "equal"): {
        "gemini_flash": (0.38, 0.69),
        "gemini_pro": (0.50, 0.74),
        "gpt-4o": (0.50, 0.73),
        "llama-31": (0.00, 0.57),
        "gpt-4o-mini": (0.00, 0.59),
        "mistral-v03": (0.00, 0.50),
    },
    ("ten_k_prompts", 0.15, "rmse"): {
        "gemini_flash": (0.31, 0.67),
        "gemini_pro": (0.08, 0.63),
        "gpt-4o": (0.69, 0.76),
        "llama-31": (0.15, 0.67),
        "gpt-4o-mini": (0.92, 0.80),
        "mistral-v03": (0.15, 0.67),
    },
}


@pytest.mark.parametrize(("name", "epsilon", "scoring"), PUBLISHED)
def test_published_models(name, epsilon, scoring):
    folder = SHARED_DATA / "alt_test" / name
    if not folder.is_dir():
        pytest.skip("the alternative annotator test's data are not there")
    people, models = (json.loads((folder / f"{who}_annotations.json").read_text()) for who in ("human", "llm"))
    rows = [(item, rater, str(label)) for rater, of in people.items() for item, label in of.items()]
    categories = sorted({row[2] for row in rows} | {str(label) for of in models.values() for label in of.values()})
    labels = Labels.from_columns(*zip(*rows, strict=True), categories)
    for model, published in PUBLISHED[name, epsilon, scoring].items():
        codes = encode([models[model].get(item) for item in labels.unit_names], categories)
        found = alternative_annotator_test(labels, codes, epsilon=epsilon, scoring=scoring)
        assert (round(found.winning_rate.estimate, 2), round(found.advantage.estimate, 2)) == published
        assert found.passes is (published[0] >= 0.5)
        interval = found.advantage.confidence_interval(200)
        assert interval.low < found.advantage.estimate < interval.high


def three_people(n: int = 40) -> Labels:
    """Ann and Bea always say +; Cem says - on every other unit."""
    units = list(range(n)) * 3
    said = ["+"] * (2 * n) + ["-" if unit % 2 else "+" for unit in range(n)]
    return Labels.from_columns(units, ["ann"] * n + ["bea"] * n + ["cem"] * n, said, "+-")


def test_hand_computed_shares_and_p():
    """The model says + always. Against Cem: the others (Ann, Bea) say +, so the model wins everywhere and Cem on every
    other unit; W_cem - W_model is 0 and -1 in turn. Against Ann: she and the model say the same, so both always win."""
    found = alternative_annotator_test(three_people(), np.zeros(40, dtype=int), epsilon=0.1)
    by_person = {each.person: each for each in found.people}
    assert (by_person["cem"].model_wins, by_person["cem"].person_wins) == (1.0, 0.5)
    expected = stats.ttest_1samp([0.0, -1.0] * 20, 0.1, alternative="less").pvalue
    assert by_person["cem"].p_value == pytest.approx(expected, rel=1e-9)
    # No difference at all lies below any discount: nothing is left to chance.
    assert (by_person["ann"].p_value, by_person["ann"].model_wins, by_person["ann"].person_wins) == (0.0, 1.0, 1.0)
    assert found.winning_rate.estimate == 1.0 and found.advantage.estimate == 1.0 and found.passes
    without_discount = alternative_annotator_test(three_people(), np.zeros(40, dtype=int), epsilon=0.0)
    assert {each.person: each.rejected for each in without_discount.people} == {"ann": False, "bea": False, "cem": True}


def test_people_with_few_units_are_left_out_and_counted():
    few = alternative_annotator_test(three_people(29), np.zeros(29, dtype=int))
    assert few.passes is None and "30 units" in few.winning_rate.undefined
    assert few.left_out_people == {"too few units": 3}
    assert few.advantage.left_out == {"of people with too few units only": 29}  # they have the labels
    assert np.isnan(few.advantage.confidence_interval().low)


def test_units_without_a_label_of_the_model_do_not_count():
    model = np.zeros(80, dtype=int)
    model[40:] = -1
    found = alternative_annotator_test(three_people(80), model)
    assert {each.n_units for each in found.people} == {40}
    assert found.winning_rate.n_pairable == 40 and found.winning_rate.n_left_out == 40
    assert found.winning_rate.left_out == {"without a model's label or two people's": 40}


def test_more_units_are_asked_for_only_where_they_would_help():
    rng = np.random.default_rng(5)
    n, truth = 60, rng.integers(0, 2, 60)
    flip = [np.where(rng.random(n) < 0.15, 1 - truth, truth) for _ in range(3)]
    labels = Labels(np.tile(np.arange(n), 3), np.repeat([0, 1, 2], n), np.concatenate(flip), n, ("+", "-"))
    good = alternative_annotator_test(labels, np.where(rng.random(n) < 0.15, 1 - truth, truth), epsilon=0.05)
    bad = alternative_annotator_test(labels, 1 - truth, epsilon=0.05)
    assert all(each.n_needed is None for each in bad.people if not each.rejected)
    open_cases = [each for each in good.people if not each.rejected and each.n_needed]
    assert open_cases and all(each.n_needed > each.n_units for each in open_cases)


def against_cem(person_ahead: np.ndarray, model_ahead: np.ndarray) -> tuple[Labels, np.ndarray]:
    """Ann and Bea always say +; Cem says - where the model is ahead of him, and the model where he is ahead of it."""
    n = len(person_ahead)
    said = np.concatenate([np.zeros(2 * n, dtype=int), model_ahead.astype(int)])
    people = Labels(np.tile(np.arange(n), 3), np.repeat([0, 1, 2], n), said, n, ("+", "-"), rater_names=tuple("abc"))
    return people, person_ahead.astype(int)


def test_so_many_units_find_such_a_difference_four_times_in_five():
    """Cem and the model are ahead on a tenth of the units each, and the model is given a tenth: in simulated studies of
    `n_needed` units the test rejects at the threshold that makes half of the people, 2 q / (3 (1 + 1/2 + 1/3))."""
    ahead = np.arange(60) < 6
    found = alternative_annotator_test(*against_cem(ahead, ahead[::-1]), epsilon=0.1)
    cem = found.people[2]
    assert not cem.rejected and (cem.model_wins, cem.person_wins) == (0.9, 0.9)
    threshold = 2 * 0.05 / (3 * (1 + 1 / 2 + 1 / 3))
    by_hand = (stats.norm.isf(threshold) + stats.norm.isf(0.2)) ** 2 * (12 / 59) / 0.1**2
    assert cem.n_needed == int(np.ceil(by_hand)) == 176
    rng = np.random.default_rng(6)

    def power(n_units: int) -> float:
        kind = rng.choice(3, (1000, n_units), p=[0.1, 0.1, 0.8])
        tests = (alternative_annotator_test(*against_cem(one == 0, one == 1), epsilon=0.1) for one in kind)
        return float(np.mean([test.people[2].p_value <= threshold for test in tests]))

    assert power(cem.n_needed) == pytest.approx(0.8, abs=0.035)
    assert power(cem.n_needed // 2) < 0.6


def test_benjamini_yekutieli_by_hand():
    """m = 4, so the thresholds are k .05 / (4 (1 + 1/2 + 1/3 + 1/4)) = k * 0.006."""
    assert benjamini_yekutieli([0.005, 0.012, 0.017, 0.5], 0.05).tolist() == [True, True, True, False]
    assert benjamini_yekutieli([0.0061, 0.0121, 0.0181, 0.5], 0.05).tolist() == [False] * 4
    p = np.random.default_rng(1).random((50, 7)) ** 3
    scipy_says = stats.false_discovery_control(p, axis=1, method="by") <= 0.05
    assert (benjamini_yekutieli(p, 0.05) == scipy_says).all()
    assert benjamini_yekutieli([], 0.05).shape == (0,)


def test_bad_arguments():
    labels = three_people()
    with pytest.raises(ValueError, match="scoring"):
        alternative_annotator_test(labels, np.zeros(40, dtype=int), scoring="closest")
    with pytest.raises(ValueError, match="numbers"):
        alternative_annotator_test(labels, np.zeros(40, dtype=int), scoring="rmse")
    with pytest.raises(ValueError, match="39 codes for 40"):
        alternative_annotator_test(labels, np.zeros(39, dtype=int))
    with pytest.raises(ValueError, match="epsilon"):
        alternative_annotator_test(labels, np.zeros(40, dtype=int), epsilon=1.5)

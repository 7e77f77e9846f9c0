"""Coverage of aspects: hand-computed shares, ties and missing labels, and a random table against pandas."""

import warnings

import numpy as np
import pandas as pd
import pytest

from analysis.stats import Labels
from analysis.stats.generation.coverage import (
    ALL_TIED,
    NO_ASPECTS,
    NO_RESPONSE,
    TIES,
    UNDECIDED,
    VERDICTS,
    mean_coverage,
    response_coverage,
)

YES, NO = "covered", "not_covered"


def labels_of(votes: dict[str, str], extra: tuple[str, ...] = ()) -> Labels:
    """Votes by unit, such as "++-"; units of `extra` have none."""
    rows = [
        (unit, f"rater {n}", YES if vote == "+" else NO) for unit, said in votes.items() for n, vote in enumerate(said)
    ]
    unit, rater, value = zip(*rows, strict=True) if rows else ((), (), ())
    return Labels.from_columns(unit, rater, value, (YES, NO), units=[*votes, *extra])


def test_shares_by_majority_of_three():
    votes = {"a": "+++", "b": "++-", "c": "+--", "d": "---", "e": "+++"}
    found = response_coverage(labels_of(votes), [0, 0, 0, 0, 1], 3, [YES], min_labels=3)
    assert found.share[:2].tolist() == [0.5, 1.0] and np.isnan(found.share[2])
    assert [VERDICTS[code] for code in found.verdict] == [YES, YES, NO, NO, YES]
    assert (found.n_aspects.tolist(), found.n_covered.tolist()) == ([4, 1, 0], [2, 1, 0])
    assert (found.n_votes.tolist(), found.n_labels.tolist()) == ([12, 3, 0], [3, 3, 3, 3, 3])
    assert [found.why_undefined(place) for place in range(3)] == ["", "", NO_ASPECTS]


@pytest.mark.parametrize(("ties", "share"), [("excluded", 1 / 2), ("not_covered", 1 / 3), ("covered", 2 / 3)])
def test_ties_leave_the_share_or_count_as_said(ties, share):
    found = response_coverage(labels_of({"a": "++", "b": "+-", "c": "--"}), [0, 0, 0], 1, [YES], ties=ties)
    assert found.share.tolist() == pytest.approx([share])
    assert (found.n_covered[0], found.n_tied[0], found.n_not_covered[0]) == (1, 1, 1)


def test_too_few_labels_leave_a_response_without_coverage():
    labels = labels_of({"a": "++", "b": "+", "c": "++"}, extra=("d",))
    found = response_coverage(labels, [0, 0, 1, 2], 3, [YES], min_labels=2)
    assert [found.why_undefined(place) for place in range(3)] == [UNDECIDED, "", UNDECIDED]
    assert found.n_undecided.tolist() == [1, 0, 1] and found.n_covered.tolist() == [1, 1, 0]
    one = response_coverage(labels, [0, 0, 1, 2], 3, [YES])
    assert one.share[:2].tolist() == [1.0, 1.0] and one.why_undefined(2) == UNDECIDED


def test_a_response_with_ties_alone():
    labels = labels_of({"a": "+-"})
    assert response_coverage(labels, [0], 1, [YES]).why_undefined(0) == ALL_TIED
    assert response_coverage(labels, [0], 1, [YES], ties="not_covered").share.tolist() == [0.0]


def test_means_leave_out_what_has_no_coverage_and_say_why():
    labels = labels_of({"a": "+", "b": "-", "c": "+"}, extra=("d",))
    found = response_coverage(labels, [0, 0, 1, 2], 4, [YES])
    mean = mean_coverage(found, np.ones(4, dtype=bool), np.array([0, 1, 0, 1]))
    assert mean.estimate == pytest.approx((1 / 2 + 1) / 2)
    assert (mean.n_units, mean.n_pairable, mean.n_labels) == (4, 2, 3)
    assert mean.left_out == {NO_ASPECTS: 1, UNDECIDED: 1}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nothing = mean_coverage(found, np.array([False, False, True, True]), np.array([0, 1, 0, 1]))
        assert np.isnan(nothing.estimate) and nothing.undefined == NO_RESPONSE
        assert np.isnan(nothing.confidence_interval(n_resamples=20).low)
        empty = response_coverage(labels_of({}), [], 0, [YES])
        assert mean_coverage(empty, np.ones(0, dtype=bool)).undefined == NO_RESPONSE


def test_intervals_resample_clusters():
    chance = np.random.default_rng(5)
    share = np.repeat(chance.random(30), 4)  # the four responses to a query are alike
    votes = {f"{response}-{aspect}": "+" if aspect < round(10 * value) else "-"
             for response, value in enumerate(share) for aspect in range(10)}  # fmt: skip
    found = response_coverage(labels_of(votes), np.repeat(np.arange(120), 10), 120, [YES])
    every, query = np.ones(120, dtype=bool), np.repeat(np.arange(30), 4)
    clustered = mean_coverage(found, every, query).confidence_interval()
    single = mean_coverage(found, every).confidence_interval()
    assert (clustered.n_clusters, single.n_clusters) == (30, None)
    assert clustered.high - clustered.low > 1.5 * (single.high - single.low)
    means = pd.Series(found.share).groupby(query).mean()
    half = 1.96 * means.std() / np.sqrt(30)
    assert clustered.high - clustered.low == pytest.approx(2 * half, rel=0.2)


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("min_labels", [1, 2, 3])
def test_a_random_table_against_pandas(ties, min_labels):
    chance = np.random.default_rng(11)
    n_responses = 60
    units = [(response, aspect) for response in range(n_responses) for aspect in range(chance.integers(0, 5))]
    rows = pd.DataFrame(
        [(unit, response, rater, chance.choice([YES, NO]))
         for unit, (response, _) in enumerate(units)
         for rater in range(4) if chance.random() < 0.93],
        columns=["unit", "response", "rater", "label"],
    )  # fmt: skip
    labels = Labels.from_columns(rows.unit, rows.rater, rows.label, (NO, YES), units=range(len(units)))
    found = response_coverage(labels, [response for response, _ in units], n_responses, [YES], min_labels, ties)

    table = pd.DataFrame(units, columns=["response", "aspect"])
    counts = pd.crosstab(rows.unit, rows.label).reindex(range(len(units)), fill_value=0)
    table["few"] = (counts[YES] + counts[NO]) < min_labels
    value = {"excluded": np.nan, "not_covered": 0.0, "covered": 1.0}[ties]
    table["value"] = np.where(counts[YES] > counts[NO], 1.0, np.where(counts[YES] < counts[NO], 0.0, value))
    expected = table.groupby("response").apply(
        lambda of: np.nan if of.few.any() else of.value.mean(), include_groups=False
    )
    expected = expected.reindex(range(n_responses))
    np.testing.assert_allclose(found.share, expected.to_numpy(), equal_nan=True)
    assert expected.notna().sum() > 20 or min_labels == 3
    mean = mean_coverage(found, np.ones(n_responses, dtype=bool))
    assert mean.estimate == pytest.approx(expected.mean()) and mean.n_pairable == expected.notna().sum()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"min_labels": 0}, "min_labels must be at least 1"),
        ({"ties": "half"}, "ties is one of excluded"),
        ({"covering": ["yes"]}, "are no categories"),
        ({"response": [0, 0]}, "2 entries for 1 units"),
        ({"response": [3]}, "response has codes"),
        ({"response": [-1]}, "belongs to a response"),
    ],
)
def test_wrong_arguments_are_refused(wrong, message):
    arguments = {"labels": labels_of({"a": "+"}), "response": [0], "n_responses": 1, "covering": [YES]} | wrong
    with pytest.raises(ValueError, match=message):
        response_coverage(**arguments)

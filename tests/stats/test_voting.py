import numpy as np
import pytest

from analysis.stats import Labels, majority

from .samples import from_counts


def test_ties_single_labels_and_unlabelled_units_are_told_apart():
    vote = majority(from_counts([[3, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 0], [2, 2, 1], [1, 1, 3]]))
    assert vote.code.tolist() == [0, -1, 2, -1, -1, 2]
    assert vote.tied.tolist() == [False, True, False, False, True, False]
    assert (vote.n_decided, vote.n_tied, vote.n_too_few, vote.n_unlabelled, vote.n_single) == (3, 2, 0, 1, 1)


def test_units_with_too_few_labels_have_no_majority():
    vote = majority(from_counts([[3, 1], [1, 1], [0, 1], [0, 0], [2, 0]]), min_labels=3)
    assert vote.code.tolist() == [0, -1, -1, -1, -1]
    assert (vote.n_decided, vote.n_tied, vote.n_too_few, vote.n_unlabelled, vote.n_single) == (1, 0, 3, 1, 0)


def test_a_later_label_does_not_break_an_earlier_tie_unless_it_is_ahead():
    assert majority(from_counts([[2, 2, 3], [2, 2, 2], [3, 2, 2]])).code.tolist() == [2, -1, 0]


def test_majority_equals_counting_by_hand_on_random_tables():
    counts = np.random.default_rng(0).integers(0, 4, (300, 4))
    vote = majority(from_counts(counts))
    for code, row in zip(vote.code, counts, strict=True):
        winners = np.flatnonzero(row == row.max()) if row.any() else []
        assert code == (winners[0] if len(winners) == 1 else -1)


def test_no_units_at_all():
    assert majority(Labels.from_columns("", "", "", "-+")).code.tolist() == []


def test_min_labels_below_one_is_refused():
    with pytest.raises(ValueError, match="min_labels"):
        majority(from_counts([[1, 0]]), min_labels=0)

"""Rankings and assignments against worked examples from outside."""

import itertools

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from analysis.stats.accuracy.ranking import ranking_scores
from analysis.stats.generation.optimal_assignment import assigned_similarity, similarity_matrix


def test_ndcg_of_the_textbook_example():
    """Relevant at places 1, 3 and 6 of six, four relevant in all: DCG 1 + 1/2 + 1/log2(7), ideal over four places."""
    found = ranking_scores([["a", "x", "b", "y", "z", "c"]], [{"a", "b", "c", "d"}], 6)
    ideal = 1 + 1 / np.log2(3) + 1 / 2 + 1 / np.log2(5)
    assert found.ndcg[0] == pytest.approx((1 + 1 / 2 + 1 / np.log2(7)) / ideal)
    assert (found.recall[0], found.n_found[0], found.n_relevant[0]) == (0.75, 3, 4)
    assert ranking_scores([["a", "x", "b", "y", "z", "c"]], [{"a", "b", "c", "d"}], 5).recall[0] == 0.5


def test_scores_are_those_of_scikit_learn():
    """scikit-learn 1.9.1 on rankings of all of 30 documents, some of which are relevant."""
    rng = np.random.default_rng(0)
    ranked = [rng.permutation(30).tolist() for _ in range(20)]
    relevant = [set(rng.choice(30, rng.integers(1, 9), replace=False).tolist()) for _ in range(20)]
    for k in (1, 5, 10):
        found = ranking_scores(ranked, relevant, k)
        for query, (order, wanted) in enumerate(zip(ranked, relevant, strict=True)):
            truth = [[float(document in wanted) for document in order]]
            assert found.ndcg[query] == pytest.approx(ndcg_score(truth, [[-place for place in range(30)]], k=k))
            assert found.recall[query] == pytest.approx(sum(one in wanted for one in order[:k]) / len(wanted))


def test_a_document_stands_at_its_first_passage_and_equal_scores_cannot_reorder():
    # As texts "9" sorts after "10": trec_eval breaks equal scores by name, so places must decide alone.
    found = ranking_scores([["10", "10", "9", "10", "8"]], [{"9", "8"}], 2)
    assert found.recall[0] == 0.5 and found.ndcg[0] == pytest.approx((1 / np.log2(3)) / (1 + 1 / np.log2(3)))


def test_queries_without_a_relevant_document_are_undefined_and_those_without_a_ranking_are_zero():
    found = ranking_scores([["a"], [], []], [set(), {"a"}, set()], 5)
    assert np.isnan(found.recall[[0, 2]]).all() and np.isnan(found.ndcg[[0, 2]]).all()
    assert (found.recall[1], found.ndcg[1]) == (0, 0)


def test_wrong_rankings_are_refused():
    with pytest.raises(ValueError, match="ranked has 1 queries, relevant 0"):
        ranking_scores([["a"]], [], 5)
    with pytest.raises(ValueError, match="at least 1"):
        ranking_scores([["a"]], [{"a"}], 0)


def test_the_assignment_is_the_best_of_all():
    rng = np.random.default_rng(1)
    for shape in ((4, 4), (3, 5), (5, 3), (1, 4)):
        matrix = rng.random(shape)
        few, many = sorted(shape)
        tall = matrix if shape[0] >= shape[1] else matrix.T
        best = max(
            sum(tall[row, column] for column, row in enumerate(rows))
            for rows in itertools.permutations(range(many), few)
        )
        found = assigned_similarity(matrix)
        assert found.score == pytest.approx(best / shape[1]) and len(found.pairs) == few


def test_nothing_generated_covers_nothing_and_without_reference_there_is_no_score():
    assert assigned_similarity(np.empty((0, 3))).score == 0
    none = assigned_similarity(np.empty((3, 0)))
    assert np.isnan(none.score) and none.undefined == "there is no reference piece"
    with pytest.raises(ValueError, match="not finite"):
        assigned_similarity(np.array([[np.nan]]))
    with pytest.raises(ValueError, match="a matrix"):
        assigned_similarity(np.array([1.0]))


def test_every_distinct_pair_is_scored_once():
    asked = []

    def score(made, true):
        asked.append((made, true))
        return float(made == true)

    matrix = similarity_matrix(["a", "b", "a"], ["a", "a"], score)
    assert matrix.tolist() == [[1, 1], [0, 0], [1, 1]] and asked == [("a", "a"), ("b", "a")]

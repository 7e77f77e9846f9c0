import json
import warnings

import numpy as np
import pytest
from scipy import stats

from analysis.stats import (
    copy_rates,
    first_present,
    label_counts,
    label_shares,
    most_frequent,
    response_evaluation,
    system_means,
)

from .samples import shared

LABELS = ("Entailment", "Neutral", "Contradiction")
WORST_FIRST, ANY_PASSAGE = [2, 1, 0], [0, 2, 1]


def responses_of(setting):
    """Counts of labels, model and question of every response of a setting's public files."""
    label, response, model, question = [], [], [], []
    for path in sorted(shared("refchecker", setting).glob("*_answers.json")):
        for row in json.loads(path.read_text(encoding="utf-8")):
            label += [LABELS.index(triplet["human_label"]) for triplet in row["claude2_response_kg"]]
            response += [len(model)] * len(row["claude2_response_kg"])
            model.append(path.name.split("_", 1)[1].removesuffix("_answers.json"))
            question.append(row["id"])
    return label_counts(label, response, len(model), 3), np.array(model), np.array(question)


@pytest.mark.parametrize(
    ("setting", "strict", "six_models", "means", "abstained"),
    [
        ("zero_context", [87, 129, 210, 274], (518, 122), (38.64, 36.19, 25.17), 12.43),
        ("accurate_context", [33, 472, 106, 89], (568, 411), (87.44, 6.73, 5.83), 4.71),
    ],
)
def test_refchecker_responses(setting, strict, six_models, means, abstained):
    """Abstained, entailment, neutral, contradiction by the strict rule; responses and factual ones of six models."""
    counts, model, question = responses_of(setting)
    code = first_present(counts, WORST_FIRST)
    assert np.bincount(code + 1).tolist() == strict
    kept = counts[model != "davinci001"]
    found = response_evaluation(kept, kept, LABELS, WORST_FIRST, [0], question[model != "davinci001"])
    assert (found.accuracy.n_pairable, found.n_factual) == six_models
    assert found.accuracy.left_out == {"neither reference nor prediction": 600 - six_models[0]}
    assert found.accuracy.estimate == found.factual_f1.estimate == found.strict.macro_f1.estimate == 1
    shares = label_shares(counts)
    rates = [100 * system_means(shares[:, place], model, question).mean.estimate for place in range(3)]
    assert rates == pytest.approx(means, abs=0.005)
    silent = system_means(counts.sum(axis=1) == 0, model, question)
    assert 100 * silent.mean.estimate == pytest.approx(abstained, abs=0.005)


def test_what_passages_say_of_a_triplet_is_merged_by_the_best_of_them():
    passages = [["Neutral", "Entailment", "Contradiction"], ["Neutral", "Contradiction"], ["Neutral"], []]
    label = [LABELS.index(said) for triplet in passages for said in triplet]
    triplet = [place for place, said in enumerate(passages) for _ in said]
    merged = first_present(label_counts(label, triplet, 4, 3), ANY_PASSAGE)
    assert [LABELS[code] if code >= 0 else None for code in merged] == ["Entailment", "Contradiction", "Neutral", None]


def test_ties_of_the_most_frequent_label_are_named():
    counts = [[1, 1, 0], [2, 1, 1], [0, 2, 2], [0, 0, 0], [1, 1, 1]]
    worst, tied = most_frequent(counts, WORST_FIRST)
    assert worst.tolist() == [1, 0, 2, -1, 2]
    assert tied.tolist() == [True, False, True, False, True]
    undecided, still_tied = most_frequent(counts, WORST_FIRST, ties="undecided")
    assert undecided.tolist() == [-1, 0, -1, -1, -1] and (still_tied == tied).all()
    with pytest.raises(ValueError, match="ties must be one of"):
        most_frequent(counts, WORST_FIRST, "best")


def test_evaluation_against_a_loop():
    rng = np.random.default_rng(0)
    people, checker = rng.integers(0, 3, (80, 3)), rng.integers(0, 3, (80, 3))
    people[:5], checker[3:9] = 0, 0
    people[40:60, 1:] = 0  # factual ones
    checker[45:70, 1:] = 0
    found = response_evaluation(people, checker, LABELS, WORST_FIRST, [0])
    both = (people.sum(axis=1) > 0) & (checker.sum(axis=1) > 0)
    truth, said = (side[both, 1:].sum(axis=1) == 0 for side in (people, checker))
    rates = [side[both, 1:].sum(axis=1) / side[both].sum(axis=1) for side in (people, checker)]
    assert found.accuracy.estimate == pytest.approx((truth == said).mean())
    for figure, hit, one, other in (
        (found.factual_f1, truth & said, truth, said),
        (found.non_factual_f1, ~truth & ~said, ~truth, ~said),
    ):
        assert figure.estimate == pytest.approx(2 * hit.sum() / (one.sum() + other.sum()))
    assert found.pearson.estimate == pytest.approx(stats.pearsonr(*rates).statistic)
    assert found.spearman.estimate == pytest.approx(stats.spearmanr(*rates).statistic)
    silent = {side: counts.sum(axis=1) == 0 for side, counts in (("people", people), ("checker", checker))}
    assert found.accuracy.left_out == {
        "no reference": (silent["people"] & ~silent["checker"]).sum(),
        "no prediction": (silent["checker"] & ~silent["people"]).sum(),
        "neither reference nor prediction": (silent["people"] & silent["checker"]).sum(),
    }


def test_the_mean_of_clusters_of_copies_is_as_unsure_as_the_clusters():
    people, checker = np.tile([[1, 0, 0], [0, 1, 0]], (20, 1)), np.tile([[1, 0, 0], [1, 0, 0], [0, 1, 0]], (14, 1))[:40]
    plain = response_evaluation(people, checker, LABELS, WORST_FIRST, [0]).accuracy
    copied = [np.repeat(side, 5, axis=0) for side in (people, checker)]
    clustered = response_evaluation(*copied, LABELS, WORST_FIRST, [0], np.repeat(np.arange(40), 5)).accuracy
    assert clustered.estimate == plain.estimate and clustered.n_pairable == 200
    widths = [one.high - one.low for one in (plain.confidence_interval(2000), clustered.confidence_interval(2000))]
    assert widths[1] == pytest.approx(widths[0], rel=0.15)


def test_no_response_and_no_class_are_undefined():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        none = response_evaluation(np.zeros((2, 3), int), np.ones((2, 3), int), LABELS, WORST_FIRST, [0])
        all_factual = response_evaluation(*[np.array([[1, 0, 0]] * 3)] * 2, LABELS, WORST_FIRST, [0])
    assert none.accuracy.undefined.startswith("no response") and np.isnan(none.accuracy.estimate)
    assert none.accuracy.left_out == {"no reference": 2}
    assert all_factual.factual_f1.estimate == 1
    assert all_factual.non_factual_f1.undefined == "neither side has such a response (0/0)"


def test_wrong_tables_are_refused():
    with pytest.raises(ValueError, match="named once"):
        first_present([[1, 2, 3]], [0, 1])
    with pytest.raises(ValueError, match="do not fit"):
        response_evaluation(np.ones((2, 3), int), np.ones((3, 3), int), LABELS, WORST_FIRST, [0])
    with pytest.raises(ValueError, match="response"):
        label_counts([0], [1], 1, 3)


def test_copy_rate_counts_the_ngrams_that_a_passage_has():
    passages = [["the", "lake", "froze"], ["in", "1963", "the", "lake"]]
    pieces = [
        ["the", "lake", "froze", "in", "1963"],  # 5/5, 3/4 (not 'froze in', over the border), 1/3, 0/2
        ["lake", "melted"],  # 1/2, 0/1
        ["the", "the"],  # 2/2, 0/1
        [],
        ["lake"],
    ]
    found = copy_rates(pieces, [passages, [[]]], [0, 0, 0, 0, 1])
    assert found.by_length[0] == pytest.approx([1, 3 / 4, 1 / 3, 0])
    assert found.rate[:3] == pytest.approx([(1 + 3 / 4 + 1 / 3) / 4, 1 / 4, 1 / 2])
    assert found.reason.tolist() == [-1, -1, -1, 1, 0]
    assert np.isnan(found.by_length[1, 2:]).all() and np.isnan(found.rate[3:]).all()
    with pytest.raises(ValueError, match="context has numbers"):
        copy_rates([["a"]], [], [0])

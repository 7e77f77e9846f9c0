"""A checker and people of a table: held against the same others, and counted by shares of votes."""

import numpy as np
import pytest
from scipy.stats import binomtest

from analysis.reports.metrics import get_report
from analysis.sources.files import source_of_files


def report_of(tmp_path, name, labels, **options):
    """Of a table with two people and a bot; `labels` are a text for each, a label per item, "-" for none."""
    path = tmp_path / "table.csv"
    kinds = {"ada": "person", "ben": "person", "cleo": "person", "bot": "model"}
    rows = [
        f"{item},{who},{label},{kinds[who]}"
        for who, of_one in labels.items()
        for item, label in enumerate(of_one)
        if label != "-"
    ]
    path.write_text("\n".join(["item,rater,label,rater_kind", *rows]))
    source, report = source_of_files(path), get_report(name)
    [run] = source.runs()
    return report, report.compute(source, run=run.uuid, **options)


def coin(seed: int, right: float, truth: np.ndarray) -> str:
    rng = np.random.default_rng(seed)
    return "".join("ab"[one if rng.random() < right else 1 - one] for one in truth)


def test_equal_skill_is_not_called_better(tmp_path):
    """600 items, each labeller right in 80 %: against the majority of both people, where there is one, the bot
    has some 94 %, and each person agrees with the other in 68 %."""
    truth = np.random.default_rng(5).integers(0, 2, 600)
    ada, ben, bot = (coin(seed, 0.8, truth) for seed in (1, 2, 3))
    report, result = report_of(tmp_path, "comparison", {"ada": ada, "ben": ben, "bot": bot})
    [dimension] = report.read(result).dimensions
    rows = {row.name: row for row in dimension.labellers.with_people}
    a, b, c = (np.array(list(one)) for one in (ada, ben, bot))
    for name, mine, other in (("ada", a, b), ("ben", b, a)):
        only_bot, only_person = int(((c == other) & (mine != other)).sum()), int(((c != other) & (mine == other)).sum())
        row = rows[name]
        assert (row.n_pairable, row.n_only_checker, row.n_only_person) == (600, only_bot, only_person)
        assert (row.checker, row.person) == pytest.approx(((c == other).mean(), (mine == other).mean()))
        assert row.test.p_value == pytest.approx(binomtest(only_bot, only_bot + only_person).pvalue)
    [sentence] = report.page_of(result).answer.sentences
    assert (
        "no difference between the checker and a person is shown (exact paired tests, smallest adjusted p" in sentence
    )
    assert "above the 0.5" in sentence and "exact paired test, p < 0.001" in sentence
    # Each has an accuracy against a reference of its own: intervals that do not overlap say nothing of who is better.
    accuracy = {row.name: row.accuracy for row in dimension.labellers.labellers}
    assert min(accuracy["bot"].low - accuracy[name].high for name in ("ada", "ben")) > 0


def test_a_model_of_the_people_leaves_out_who_is_compared(tmp_path):
    truth = np.random.default_rng(6).integers(0, 2, 80)
    labels = {name: coin(seed, 0.8, truth) for seed, name in enumerate(("ada", "ben", "bot"), 1)}
    report, result = report_of(tmp_path, "comparison", labels, reference="dawid-skene")
    [dimension] = report.read(result).dimensions
    ada = next(row for row in dimension.labellers.with_people if row.name == "ada")
    # Of two people the model without one is the other one.
    assert ada.person == pytest.approx(np.mean([a == b for a, b in zip(labels["ada"], labels["ben"], strict=True)]))


def test_ties_are_half_a_label_and_none_is_dropped(tmp_path):
    """Ten units, two people: both say p on two, one of them on two more. Votes give .3, units without ties 2/8."""
    labels = {"ada": "ppppnnnnnn", "ben": "ppnnnnnnnn", "bot": "pppnnnnnnn"}
    report, result = report_of(tmp_path, "prevalence", labels)
    [question] = report.read(result).dimensions
    p = next(row for row in question.labels if row.label == "p")
    assert (p.people.estimate, p.people.n, question.n_divided) == (pytest.approx(0.3), 10, 2)
    assert p.n_by_people == 4
    [sentence] = report.page_of(result).answer.sentences
    assert "the most common label is n, with a share of 0.700 [" in sentence


def test_labels_that_are_as_common_as_each_other_are_tied(tmp_path):
    labels = {"ada": "aabbaabbc", "ben": "aabbaabbc", "bot": "abababcab"}
    report, result = report_of(tmp_path, "prevalence", {name: said[:8] for name, said in labels.items()})
    [sentence] = report.page_of(result).answer.sentences
    assert "a and b are tied as most common, each with a" in sentence and "share of 0.500 [" in sentence
    report, result = report_of(tmp_path, "prevalence", {name: said + "a" for name, said in labels.items()})
    [sentence] = report.page_of(result).answer.sentences
    assert "the most common label is a, with a" in sentence

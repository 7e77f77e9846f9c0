"""What the comparison's page begins with: every rule says what it should of the figures that it applies to."""

from types import SimpleNamespace

import pytest
from msgspec.structs import asdict

from analysis.figures.page import first_that_applies
from analysis.figures.results import PENDING, Ends, Figure, NamedFigure
from analysis.reports.checkers.comparison.answer import BASELINE, NEXT, PEOPLE, SCORES, About
from analysis.reports.checkers.comparison.result import Baseline, CoefficientTest, Significance, WithPerson
from analysis.reports.common import WITH_MODEL

RUN = "run"
ABOVE = {"accuracy": (0.8, 0.7, 0.9), "baseline": (0.2, 0.014)}
OPEN = {"accuracy": (0.62,), "mcc": (0.1, -0.1, 0.2), "baseline": (0.02, 0.7)}
BELOW = {"accuracy": (0.4, 0.3, 0.5), "mcc": (-0.3, -0.4, -0.2), "baseline": (-0.2, 0.01)}
RANKED, NOT_RANKED = ({"accuracy": (0.8,), "spearman": (0.3, low, 0.5)} for low in (0.1, -0.1))
CONFUSION = [[50, 10], [10, 30]]  # 60 of 100 units are relevant


class Namespace(SimpleNamespace):
    """Of a result what rules look at."""

    def __getitem__(self, name):
        return getattr(self, name)


def figure(estimate, low=None, high=None, undefined="", why=""):
    ends = Ends(undefined=why or ("" if low is not None else PENDING))
    return Figure(estimate=estimate, undefined=undefined, low=low, high=high, interval=ends, n_pairable=100)


def outcome_of(difference, p):
    name = "exact paired test"
    return Significance(name=name, statistic=difference, p_value=p, undefined="", n_permutations=None, holm=p)


def person(place, checker, of_person, p):
    shares = {"checker": checker, "person": of_person, "n_pairable": 100, "n_only_checker": 1, "n_only_person": 1}
    return WithPerson(id=f"p{place}", name=f"p{place}", test=outcome_of(checker - of_person, p), **shares)


def about(
    accuracy,
    mcc=(0.4, 0.3, 0.5),
    baseline=None,
    people=None,
    spearman=None,
    gives_labels=True,
    reference="majority",
    rank_test=None,
    n_tied=0,
):
    """`baseline` is the difference from it with its p; `people` the accuracies of the checker and of each, with p."""
    rank = figure(*spearman) if isinstance(spearman, tuple) else spearman
    rows = [person(place, *one) for place, one in enumerate(people or ())]
    result = Namespace(
        checker="first",
        version="1",
        run=RUN,
        reference=reference,
        reference_title=WITH_MODEL[reference],
        score="support",
        gives_labels=gives_labels,
        families={"people": len(rows), "baseline": 1, "associations": 3},
    )
    of = SimpleNamespace(
        title="Relevance",
        accuracy=accuracy if isinstance(accuracy, Figure) else figure(*accuracy),
        mcc=mcc if isinstance(mcc, Figure) else figure(*mcc),
        confusion=CONFUSION,
        labels=[SimpleNamespace(title="Relevant"), SimpleNamespace(title="Not relevant")],
        rated_by="label",
        votes=SimpleNamespace(tied=n_tied),
        baseline=baseline and Baseline(title="Relevant", share=0.6, test=outcome_of(*baseline)),
        labellers=None if people is None else SimpleNamespace(with_people=rows),
        associations=rank_test
        and SimpleNamespace(tests=[CoefficientTest.extending(outcome_of(0.2, rank_test), title="Spearman")]),
        correlations=[NamedFigure(name="spearman", title="Spearman", **asdict(rank))] if rank else [],
    )
    return About(result, of)


@pytest.mark.parametrize(
    ("rules", "name", "given", "says"),
    [
        (
            BASELINE,
            "nothing compared",
            {"accuracy": figure(None, undefined="nobody")},
            "cannot be compared with people",
        ),
        (BASELINE, "no test", {"accuracy": (0.8,)}, "0.600 of always giving Relevant"),
        (BASELINE, "no test", {"accuracy": (0.8,)}, "(the test is still being computed)"),
        (BASELINE, "better", ABOVE, "0.800 [0.700, 0.900], above the 0.600"),
        (BASELINE, "better", ABOVE, "(exact paired test, p = 0.014)"),
        (BASELINE, "better", ABOVE, "0.400 [0.300, 0.500], better than chance (0)"),
        (BASELINE, "better", ABOVE | {"n_tied": 7}, "[0.700, 0.900] (7 ties of people left out), above the 0.600"),
        # What is above every baseline is better than chance: the sentence does not say otherwise.
        (BASELINE, "better", ABOVE | {"mcc": (0.4, -0.1, 0.5)}, "0.400 [-0.100, 0.500] (chance level 0)."),
        # An interval is no longer held against a share as if that were known: the paired test decides.
        (BASELINE, "not shown", ABOVE | {"baseline": (0.2, 0.06)}, "not shown to be above the 0.600"),
        (BASELINE, "better", {"accuracy": (0.62, 0.55, 0.7), "baseline": (0.02, 0.03)}, "above the 0.600"),
        (BASELINE, "worse", BELOW, "below the 0.600"),
        (BASELINE, "worse", BELOW, "worse than chance (0)"),
        (
            BASELINE,
            "not shown",
            {"accuracy": (0.62,), "mcc": (0.1, -0.1, 0.2), "baseline": (0.02, 0.7)},
            "not shown to",
        ),
        (BASELINE, "not shown", OPEN, "not shown to differ from chance (0)"),
        (PEOPLE, "nobody", {"accuracy": (0.8, 0.7, 0.9)}, ""),
        (PEOPLE, "nobody", {"accuracy": (0.8, 0.7, 0.9), "people": ()}, ""),
        (
            PEOPLE,
            "better than everybody",
            {"accuracy": (0.8,), "people": [(0.8, 0.5, 0.001), (0.8, 0.5, 0.02)]},
            "Against the majority of the others, 2 people have an accuracy of 0.500 and the checker, on the same "
            "units, has 0.800: the checker is better than each of them (exact paired tests, largest adjusted p = "
            "0.020).",
        ),
        (
            PEOPLE,
            "worse than everybody",
            {"accuracy": (0.8,), "people": [(0.5, 0.8, 0.0001)]},
            "the checker is worse than this person (exact paired test, p < 0.001).",
        ),
        # Two people's decisions may hold their own labels, so no more is said than what was compared.
        (
            PEOPLE,
            "worse than everybody",
            {"accuracy": (0.8,), "people": [(0.5, 0.8, 0.01)], "reference": "imported"},
            "the checker is further from these decisions than this person",
        ),
        (
            PEOPLE,
            "mixed",
            {"accuracy": (0.8,), "people": [(0.7, 0.5, 0.01), (0.7, 0.9, 0.04), (0.7, 0.6, 0.2)]},
            "better than 1 and worse than 1 of them (exact paired tests, largest adjusted p = 0.040); no difference "
            "from the other 1",
        ),
        (
            PEOPLE,
            "not shown",
            {"accuracy": (0.8,), "people": [(0.9, 0.6, 0.06), (0.8, 0.7, 0.3)]},
            "accuracies of 0.600 to 0.700 and the checker, on the same units, from 0.800 to 0.900: no "
            "difference between the checker and a person is shown (exact paired tests, smallest adjusted p = 0.060).",
        ),
        (SCORES, "no correlation", {"accuracy": (0.8,)}, "scores of first 1 cannot be compared with people."),
        (
            SCORES,
            "no correlation",
            {"accuracy": (0.8,), "spearman": figure(None, undefined="the score is constant")},
            "cannot be compared with people: the score is constant.",
        ),
        (SCORES, "no interval", {"accuracy": (0.8,), "spearman": figure(0.3)}, "0.300; intervals are still being"),
        (SCORES, "not shown", {"accuracy": (0.8,), "spearman": figure(0.1, -0.1, 0.3)}, "not shown to differ from 0"),
        (SCORES, "correlated", {"accuracy": (0.8,), "spearman": figure(0.3, 0.1, 0.5)}, "the score rises"),
        # The test on the page decides, whatever the interval.
        (SCORES, "not shown", RANKED | {"rank_test": 0.08}, "from 0 (permutation test, adjusted p = 0.080)."),
        (SCORES, "correlated", NOT_RANKED | {"rank_test": 0.03}, "its scale (permutation test, adjusted p = 0.030)."),
        (SCORES, "correlated", {"accuracy": (0.8,), "spearman": figure(-0.3, -0.5, -0.1)}, "the score falls"),
        (NEXT, "nothing compared", {"accuracy": figure(None, undefined="nobody")}, "label units that the checker"),
        (NEXT, "first pass", {"accuracy": (0.8,)}, ""),
        (NEXT, "not shown", {"accuracy": (0.62,), "baseline": (0.02, 0.7), "people": ()}, "label more units"),
        (
            NEXT,
            "worse than a person",
            ABOVE | {"people": [(0.8, 0.95, 0.01)]},
            "open the cells of the confusion matrix",
        ),
        (NEXT, "stand-in", ABOVE | {"people": [(0.8, 0.8, 1.0), (0.8, 0.7, 0.2)]}, "stand in for a person"),
    ],
)
def test_every_rule_says_what_its_figures_do(rules, name, given, says):
    of = about(**given)
    first = next(rule for rule in rules if rule.applies(of))
    assert first.name == name
    said = first_that_applies(rules, of)
    assert says in said and (said == "") == (says == "")

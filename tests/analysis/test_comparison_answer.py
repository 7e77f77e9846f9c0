"""What the comparison's page begins with: every rule says what it should of the figures that it applies to."""

from types import SimpleNamespace

import pytest
from msgspec.structs import asdict

from analysis.figures.page import first_that_applies
from analysis.figures.results import PENDING, Ends, Figure, NamedFigure
from analysis.reports.checkers.comparison.answer import BASELINE, NEXT, PEOPLE, SCORES, About

RUN = "run"
CONFUSION = [[50, 10], [10, 30]]  # 60 of 100 units are relevant


class Namespace(SimpleNamespace):
    """Of a result what rules look at."""

    def __getitem__(self, name):
        return getattr(self, name)


def figure(estimate, low=None, high=None, undefined="", why=""):
    ends = Ends(undefined=why or ("" if low is not None else PENDING))
    return Figure(estimate=estimate, undefined=undefined, low=low, high=high, interval=ends, n_pairable=100)


def labeller(kind, who, *ends):
    return SimpleNamespace(kind=kind, id=who, name=who, accuracy=figure(*ends))


def about(accuracy, mcc=(0.4, 0.3, 0.5), mine=None, people=(), spearman=None, gives_labels=True):
    rows = [labeller("checker", RUN, *mine)] if mine else []
    rows += [labeller("person", f"p{place}", *ends) for place, ends in enumerate(people)]
    found = SimpleNamespace(labellers=rows, of_kind=lambda kind: [row for row in rows if row.kind == kind])
    result = Namespace(
        checker="first", version="1", run=RUN, reference="majority", score="support", gives_labels=gives_labels
    )
    of = SimpleNamespace(
        title="Relevance",
        accuracy=accuracy if isinstance(accuracy, Figure) else figure(*accuracy),
        mcc=mcc if isinstance(mcc, Figure) else figure(*mcc),
        confusion=CONFUSION,
        labels=[SimpleNamespace(title="Relevant"), SimpleNamespace(title="Not relevant")],
        rated_by="label",
        labellers=found if mine else None,
        correlations=[NamedFigure(name="spearman", title="Spearman", **asdict(spearman))] if spearman else [],
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
        (BASELINE, "no interval", {"accuracy": (0.8,)}, "0.600 of always giving Relevant"),
        (BASELINE, "no interval", {"accuracy": (0.8,)}, "(intervals are still being computed)"),
        (BASELINE, "no interval", {"accuracy": figure(1.0, why="every resample")}, "(there is no interval)"),
        (BASELINE, "better", {"accuracy": (0.8, 0.7, 0.9)}, "0.800 [0.700, 0.900], above the 0.600"),
        (BASELINE, "better", {"accuracy": (0.8, 0.7, 0.9)}, "0.400 [0.300, 0.500], better than chance (0)"),
        (BASELINE, "worse", {"accuracy": (0.4, 0.3, 0.5), "mcc": (-0.3, -0.4, -0.2)}, "below the 0.600"),
        (BASELINE, "worse", {"accuracy": (0.4, 0.3, 0.5), "mcc": (-0.3, -0.4, -0.2)}, "worse than chance (0)"),
        (
            BASELINE,
            "not shown",
            {"accuracy": (0.62, 0.55, 0.7), "mcc": (0.1, -0.1, 0.2)},
            "not shown to be above",
        ),
        (
            BASELINE,
            "not shown",
            {"accuracy": (0.62, 0.55, 0.7), "mcc": (0.1, -0.1, 0.2)},
            "not shown to differ from chance (0)",
        ),
        (PEOPLE, "nobody", {"accuracy": (0.8, 0.7, 0.9)}, ""),
        (
            PEOPLE,
            "better than everybody",
            {"accuracy": (0.8, 0.7, 0.9), "mine": (0.8, 0.7, 0.9), "people": [(0.5, 0.4, 0.6), (0.5, 0.4, 0.6)]},
            "2 people have an accuracy of 0.500 against the majority of the others: the checker is better than each",
        ),
        (PEOPLE, "nobody", {"accuracy": (0.8, 0.7, 0.9), "mine": (0.8, 0.7, 0.9), "people": [(0.5,)]}, ""),
        (
            PEOPLE,
            "better than everybody",
            {"accuracy": (0.8,), "mine": (0.8, 0.7, 0.9), "people": [(0.5, 0.4, 0.6), (0.6, 0.5, 0.65)]},
            "2 people have accuracies of 0.500 to 0.600 against the majority of the others, where the checker has 0.8",
        ),
        (
            PEOPLE,
            "worse than everybody",
            {"accuracy": (0.8,), "mine": (0.5, 0.4, 0.6), "people": [(0.8, 0.7, 0.9)]},
            "the checker is worse than this person",
        ),
        (
            PEOPLE,
            "mixed",
            {
                "accuracy": (0.8,),
                "mine": (0.7, 0.65, 0.75),
                "people": [(0.5, 0.4, 0.6), (0.9, 0.8, 1.0), (0.7, 0.6, 0.8)],
            },
            "better than 1 and worse than 1 of them (the intervals do not overlap); no difference from the other 1",
        ),
        (
            PEOPLE,
            "not shown",
            {"accuracy": (0.8,), "mine": (0.7, 0.6, 0.8), "people": [(0.7, 0.6, 0.8)]},
            "no difference between the checker and a person is shown",
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
        (SCORES, "correlated", {"accuracy": (0.8,), "spearman": figure(-0.3, -0.5, -0.1)}, "the score falls"),
        (NEXT, "nothing compared", {"accuracy": figure(None, undefined="nobody")}, "label units that the checker"),
        (NEXT, "first pass", {"accuracy": (0.8,)}, ""),
        (NEXT, "not shown", {"accuracy": (0.62, 0.55, 0.7), "mine": (0.6, 0.5, 0.7)}, "label more units"),
        (
            NEXT,
            "worse than a person",
            {"accuracy": (0.8, 0.7, 0.9), "mine": (0.8, 0.7, 0.85), "people": [(0.95, 0.9, 1.0)]},
            "open the cells of the confusion matrix",
        ),
        (
            NEXT,
            "stand-in",
            {"accuracy": (0.8, 0.7, 0.9), "mine": (0.8, 0.7, 0.9), "people": [(0.8, 0.7, 0.9), (0.7, 0.6, 0.8)]},
            "stand in for a person",
        ),
    ],
)
def test_every_rule_says_what_its_figures_do(rules, name, given, says):
    of = about(**given)
    first = next(rule for rule in rules if rule.applies(of))
    assert first.name == name
    said = first_that_applies(rules, of)
    assert says in said and (said == "") == (says == "")

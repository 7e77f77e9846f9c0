"""What the comparison's page begins with: whether the checker is better than a baseline, and than a person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from analysis.figures.page import Answer, Headline, Rule, all_that_apply, first_sentence
from analysis.figures.pictures import Picture
from analysis.figures.results import Figure
from analysis.reports.checkers.comparison.methods import named_reference
from analysis.reports.checkers.comparison.pictures import draw_confusion, draw_labellers, written
from analysis.reports.checkers.comparison.result import (
    ComparedDimension,
    Comparison,
    Significance,
    WithPerson,
    is_of_people,
    others_of,
)
from analysis.reports.common import FINAL, PEOPLE_AS
from analysis.reports.words.numbers import either, n_of, p_words
from analysis.reports.words.sentences import checker_name


@dataclass(frozen=True)
class About:
    """One question of a comparison, for rules."""

    result: Comparison
    of: ComparedDimension

    @property
    def name(self) -> str:
        return checker_name(self.result)

    @property
    def majority(self) -> tuple[str, float]:
        """The label that people give most often to the units compared, and its share: the accuracy of a checker that
        always gives it."""
        totals = [sum(row) for row in self.of.confusion]
        most = max(totals)
        return self.of.labels[totals.index(most)].title, most / sum(totals)

    @property
    def people(self) -> list[WithPerson]:
        """People with whom the checker can be compared on the same units."""
        return self.of.labellers.with_people if self.of.labellers else []

    @property
    def is_above(self) -> bool | None:
        """Whether the checker is above the majority baseline, or below it; None where neither is shown."""
        test = self.of.baseline and self.of.baseline.test
        return test.statistic > 0 if test and test.is_shown else None

    @property
    def spearman(self) -> Figure | None:
        return next((one for one in self.of.correlations if one.name == "spearman"), None)

    @property
    def spearman_test(self) -> Significance | None:
        tests = self.of.associations.tests if self.of.associations else []
        return next((one for one in tests if one.title == "Spearman" and one.holm is not None), None)


# ---- of labels on a scale: as close to people as they are to each other? ----

SCALE = (
    Rule("no scale", lambda about: about.of.on_scale is None, lambda about: ""),
    Rule("on a scale", lambda about: True, lambda about: f"{about.of.title}: {about.of.on_scale.sentence}"),
)

# ---- better than always giving the most frequent label? ----


def _accuracy(about: About) -> str:
    tied = about.of.votes.tied
    ties = f" ({n_of(tied, 'ties')} of people left out)" if tied else ""
    return f"{about.of.title}: {about.name} has an accuracy of {written(about.of.accuracy)}{ties}"


def _baseline(about: About) -> str:
    label, share = about.majority
    return f"{share:.3f} of always giving {label}, people's most frequent label"


def _chance(about: About) -> str:
    """How Matthews correlation stands to 0, which is that of any checker that does not look at the unit."""
    mcc = about.of.mcc
    if not mcc.is_defined:
        return f"Matthews correlation is undefined ({mcc.undefined})"
    sentence = f"Matthews correlation is {written(mcc)}"
    # Who is above every baseline is better than chance, whatever an interval says.
    if mcc.low is None or (about.is_above and mcc.low <= 0):
        return f"{sentence} (chance level 0)"
    if mcc.low > 0:
        return f"{sentence}, better than chance (0)"
    if mcc.high < 0:
        return f"{sentence}, worse than chance (0)"
    return f"{sentence}, not shown to differ from chance (0)"


def _untested(about: About) -> str:
    return f"{_accuracy(about)}, against {_baseline(about)} (the test is still being computed); {_chance(about)}."


def _paired(about: About) -> str:
    test = about.of.baseline.test
    if test.holm is None:
        return test.undefined
    return f"exact paired test, {'adjusted ' if about.result.families['baseline'] > 1 else ''}{p_words(test.holm)}"


BASELINE = (
    Rule(
        "nothing compared",
        lambda about: not about.of.accuracy.is_defined,
        lambda about: f"{about.of.title}: {about.name} cannot be compared with people: {about.of.accuracy.undefined}.",
    ),
    Rule("no test", lambda about: about.of.baseline is None, _untested),
    Rule(
        "better",
        lambda about: about.is_above is True,
        lambda about: f"{_accuracy(about)}, above the {_baseline(about)} ({_paired(about)}); {_chance(about)}.",
    ),
    Rule(
        "worse",
        lambda about: about.is_above is False,
        lambda about: f"{_accuracy(about)}, below the {_baseline(about)} ({_paired(about)}); {_chance(about)}.",
    ),
    Rule(
        "not shown",
        lambda about: True,
        lambda about: (
            f"{_accuracy(about)}, not shown to be above the {_baseline(about)} ({_paired(about)}); {_chance(about)}."
        ),
    ),
)

# ---- of a checker that gives scores alone: do these go with people's labels? ----


def _is_correlated(about: About) -> bool:
    """By the permutation test on the page; by the interval where there is none."""
    test = about.spearman_test
    return test.is_shown if test else not about.spearman.low <= 0 <= about.spearman.high


def _by_permutation(about: About) -> str:
    test = about.spearman_test
    if test is None:
        return ""
    return (
        f" (permutation test, {'adjusted ' if about.result.families['associations'] > 1 else ''}{p_words(test.holm)})"
    )


def _correlation(about: About) -> str:
    return f"{about.of.title}: Spearman's correlation of {about.result.score} with people is"


SCORES = (
    Rule(
        "no correlation",
        lambda about: about.spearman is None or not about.spearman.is_defined,
        lambda about: (
            f"{about.of.title}: the scores of {about.name} cannot be compared with people"
            f"{f': {about.spearman.undefined}' if about.spearman else ''}."
        ),
    ),
    Rule(
        "no interval",
        lambda about: about.spearman.low is None,
        lambda about: (
            f"{_correlation(about)} {written(about.spearman)}; "
            f"{about.spearman.why_no_interval or 'intervals are still being computed'}."
        ),
    ),
    Rule(
        "not shown",
        lambda about: not _is_correlated(about),
        lambda about: (
            f"{_correlation(about)} {written(about.spearman)}, not shown to differ from 0{_by_permutation(about)}."
        ),
    ),
    Rule(
        "correlated",
        lambda about: True,
        lambda about: (
            f"{_correlation(about)} {written(about.spearman)}: the score "
            f"{'rises' if about.spearman.estimate > 0 else 'falls'} with {PEOPLE_AS[about.of.rated_by]}"
            f"{_by_permutation(about)}."
        ),
    ),
)

# ---- better than a person? ----


def _better_than(about: About) -> list[WithPerson]:
    return [one for one in about.people if one.test.is_shown and one.test.statistic > 0]


def _worse_than(about: About) -> list[WithPerson]:
    return [one for one in about.people if one.test.is_shown and one.test.statistic < 0]


def _range(shares: list[float], many: str, one: str) -> str:
    low, high = (f"{share:.3f}" for share in (min(shares), max(shares)))
    return f"{one} {low}" if low == high else f"{many} {low} to {high}"


def _on_shared(about: About) -> str:
    """People's accuracies and the checker's, each pair on the same units, against the same reference."""
    n = len(about.people)
    who = "one person has" if n == 1 else f"{n} people have"
    people = _range([one.person for one in about.people], "accuracies of", "an accuracy of")
    checker = _range([one.checker for one in about.people], "from", "has")
    return f"Against {others_of(about.result)}, {who} {people} and the checker, on the same units, {checker}"


def _than(about: About, better: bool) -> str:
    """Decisions may be made of a person's own labels, so only the share of equal ones is reported."""
    if about.result.reference == FINAL:
        return "closer to the final labels than" if better else "further from the final labels than"
    if is_of_people(about.result):
        return "better than" if better else "worse than"
    return "closer to these decisions than" if better else "further from these decisions than"


def _each(about: About) -> str:
    return "this person" if len(about.people) == 1 else "each of them"


def _by_test(about: About, shown: list[WithPerson]) -> str:
    """The greatest p of what is shown, or the smallest where nothing is."""
    p = [one.test.holm for one in shown or about.people if one.test.holm is not None]
    if not p:
        return "the two are right on the same units" if len(about.people) == 1 else "they are right on the same units"
    adjusted = "adjusted " if about.result.families["people"] > 1 else ""
    least = "" if len(p) == 1 else "largest " if shown else "smallest "
    by = f"exact paired {either(len(p), 'test', 'tests')}"
    return f"{by}, {least}{adjusted}{p_words(max(p) if shown else min(p))}"


def _mixed(about: About) -> str:
    better, worse, of = _better_than(about), _worse_than(about), len(about.people)
    open_ = of - len(better) - len(worse)
    rest = f"; no difference from the other {open_} is shown" if open_ else ""
    parts = [
        f"{_than(about, better=is_better)} {len(some)}" for some, is_better in ((better, True), (worse, False)) if some
    ]
    shown = f"{' and '.join(parts)} of them ({_by_test(about, better + worse)})"
    return f"{_on_shared(about)}: the checker is {shown}{rest}."


PEOPLE = (
    Rule("nobody", lambda about: not about.people, lambda about: ""),
    Rule(
        "better than everybody",
        lambda about: len(_better_than(about)) == len(about.people),
        lambda about: (
            f"{_on_shared(about)}: the checker is {_than(about, better=True)} {_each(about)} "
            f"({_by_test(about, about.people)})."
        ),
    ),
    Rule(
        "worse than everybody",
        lambda about: len(_worse_than(about)) == len(about.people),
        lambda about: (
            f"{_on_shared(about)}: the checker is {_than(about, better=False)} {_each(about)} "
            f"({_by_test(about, about.people)})."
        ),
    ),
    Rule("mixed", lambda about: _better_than(about) or _worse_than(about), _mixed),
    Rule(
        "not shown",
        lambda about: True,
        lambda about: (
            f"{_on_shared(about)}: no difference between the checker and a person is shown ({_by_test(about, [])})."
        ),
    ),
)

NEXT = (
    Rule(
        "nothing compared",
        lambda about: about.result.gives_labels and not about.of.accuracy.is_defined,
        lambda about: "label units that the checker has labelled, without its suggestion in view",
    ),
    Rule("first pass", lambda about: about.of.labellers is None, lambda about: ""),
    Rule(
        "not shown",
        lambda about: about.of.baseline is not None and about.is_above is None,
        lambda about: "label more units, to see whether the checker is better than the baseline",
    ),
    Rule(
        "worse than a person",
        lambda about: bool(_worse_than(about)),
        lambda about: "open the cells of the confusion matrix where the checker and people differ",
    ),
    Rule(
        "stand-in",
        lambda about: len(about.people) > 1,
        lambda about: "test whether the checker could stand in for a person (the alternative annotator test)",
    ),
)


def answer(result: Comparison) -> Answer:
    each = [About(result, dimension) for dimension in result.dimensions if not dimension.derived_from]
    rules = (SCALE, BASELINE, PEOPLE) if result.gives_labels else (SCORES,)
    sentences = [" ".join(all_that_apply(rules, about)) for about in each]
    of = f"against {named_reference(result)}"
    n_units = n_of(result.n_units, "units")
    sizes = [
        f"{about.of.title}: n = {n_of(about.of.accuracy.n_pairable, 'units')}"
        if result.gives_labels
        else f"{about.of.title}: n = {n_of(about.spearman.n_pairable if about.spearman else 0, 'units')}"
        for about in each
    ]
    return Answer(
        sentences=tuple(sentences) or (_nothing(result),),
        n=f"{checker_name(result)} {of}. {'; '.join(sizes) or f'n = {n_units}'}",
        picture=_picture(result),
        headlines=tuple(_headlines(result, each)),
        next=first_sentence(NEXT, each),
    )


def _headlines(result: Comparison, each: list[About]) -> Iterator[Headline]:
    for about in each:
        figure = about.of.accuracy if result.gives_labels else about.spearman
        if figure and figure.is_defined:
            measure = "accuracy" if result.gives_labels else f"Spearman's correlation, {result.score}"
            yield Headline(about.of.title, f"{measure} of {about.name}", figure, _word(about))


def _word(about: About) -> str:
    """Whether the accuracy is above the majority baseline, in a few words."""
    if about.of.baseline is None or not about.result.gives_labels:
        return ""
    place = {True: "above", False: "below", None: "not shown to be above"}[about.is_above]
    return f"{place} the majority baseline, {about.majority[1]:.3f}"


def _nothing(result: Comparison) -> str:
    if result.gives_labels:
        return f"{checker_name(result)} cannot be compared with people: there are no labels yet."
    return "No question here has ordered labels by people, so there is nothing to correlate the scores with."


def _picture(result: Comparison) -> Picture | None:
    """The first question's: everybody's accuracy, in a first pass the confusion."""
    pictures = (picture(result, one) for one in result.dimensions for picture in (draw_labellers, draw_confusion))
    return next(filter(None, pictures), None) if result.gives_labels else None

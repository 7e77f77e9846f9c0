"""What the comparison's page begins with: whether the checker is better than a baseline, and than a person."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.figures.page import Answer, Rule, all_that_apply, first_sentence
from analysis.figures.pictures import Picture
from analysis.figures.results import Figure
from analysis.reports.checkers.comparison.methods import named_reference
from analysis.reports.checkers.comparison.pictures import draw_confusion, draw_labellers, written
from analysis.reports.checkers.comparison.result import ComparedDimension, Comparison, Labeller
from analysis.reports.common import PEOPLE_AS
from analysis.reports.words.numbers import n_of
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
    def mine(self) -> Labeller | None:
        """The checker among all labellers, on the units on which these are compared."""
        labellers = self.of.labellers.labellers if self.of.labellers else []
        return next((one for one in labellers if one.id == self.result.run), None)

    @property
    def people(self) -> list[Labeller]:
        """People whose accuracy is known, with its interval."""
        people = self.of.labellers.of_kind("person") if self.of.labellers else []
        return [one for one in people if one.accuracy.low is not None]

    @property
    def spearman(self) -> Figure | None:
        return next((one for one in self.of.correlations if one.name == "spearman"), None)


# ---- better than always giving the most frequent label? ----


def _accuracy(about: About) -> str:
    return f"{about.of.title}: {about.name} has an accuracy of {written(about.of.accuracy)}"


def _baseline(about: About) -> str:
    label, share = about.majority
    return f"{share:.3f} of always giving {label}, people's most frequent label"


def _chance(about: About) -> str:
    """How Matthews correlation stands to 0, which is that of any checker that does not look at the unit."""
    mcc = about.of.mcc
    if not mcc.is_defined:
        return f"Matthews correlation is undefined ({mcc.undefined})"
    sentence = f"Matthews correlation is {written(mcc)}"
    if mcc.low is None:
        return f"{sentence} (chance level 0)"
    if mcc.low > 0:
        return f"{sentence}, better than chance (0)"
    if mcc.high < 0:
        return f"{sentence}, worse than chance (0)"
    return f"{sentence}, not shown to differ from chance (0)"


def _without_interval(about: About) -> str:
    why = "there is no interval" if about.of.accuracy.why_no_interval else "intervals are still being computed"
    return f"{_accuracy(about)}, against {_baseline(about)} ({why}); {_chance(about)}."


BASELINE = (
    Rule(
        "nothing compared",
        lambda about: not about.of.accuracy.is_defined,
        lambda about: f"{about.of.title}: {about.name} cannot be compared with people: {about.of.accuracy.undefined}.",
    ),
    Rule("no interval", lambda about: about.of.accuracy.low is None, _without_interval),
    Rule(
        "better",
        lambda about: about.of.accuracy.low > about.majority[1],
        lambda about: f"{_accuracy(about)}, above the {_baseline(about)}; {_chance(about)}.",
    ),
    Rule(
        "worse",
        lambda about: about.of.accuracy.high < about.majority[1],
        lambda about: f"{_accuracy(about)}, below the {_baseline(about)}; {_chance(about)}.",
    ),
    Rule(
        "not shown",
        lambda about: True,
        lambda about: f"{_accuracy(about)}, not shown to be above the {_baseline(about)}; {_chance(about)}.",
    ),
)

# ---- of a checker that gives scores alone: do these go with people's labels? ----


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
        lambda about: about.spearman.low <= 0 <= about.spearman.high,
        lambda about: f"{_correlation(about)} {written(about.spearman)}, not shown to differ from 0.",
    ),
    Rule(
        "correlated",
        lambda about: True,
        lambda about: (
            f"{_correlation(about)} {written(about.spearman)}: the score "
            f"{'rises' if about.spearman.estimate > 0 else 'falls'} with {PEOPLE_AS[about.of.rated_by]}."
        ),
    ),
)

# ---- better than a person? ----


def _better_than(about: About) -> list[Labeller]:
    return [one for one in about.people if about.mine.accuracy.low > one.accuracy.high]


def _worse_than(about: About) -> list[Labeller]:
    return [one for one in about.people if about.mine.accuracy.high < one.accuracy.low]


def _range(about: About) -> str:
    each = sorted(one.accuracy.estimate for one in about.people)
    held = " against the majority of the others" if about.result.reference == "majority" else ""
    low, high = (f"{one:.3f}" for one in (each[0], each[-1]))
    if len(each) == 1:
        return f"One person has an accuracy of {low}{held}"
    spread = f"an accuracy of {low}" if low == high else f"accuracies of {low} to {high}"
    return f"{len(each)} people have {spread}{held}"


def _on_shared(about: About) -> str:
    """People's accuracies, and the checker's on the units on which these are known, where it is another one."""
    mine = written(about.mine.accuracy)
    own = "" if mine == written(about.of.accuracy) else f", where the checker has {mine}"
    return f"{_range(about)}{own}"


def _each(about: About) -> str:
    return "this person" if len(about.people) == 1 else "each of them"


def _mixed(about: About) -> str:
    better, worse, of = len(_better_than(about)), len(_worse_than(about)), len(about.people)
    open_ = of - better - worse
    rest = f"; no difference from the other {open_} is shown" if open_ else ""
    parts = [f"better than {better}" if better else "", f"worse than {worse}" if worse else ""]
    shown = f"{' and '.join(filter(None, parts))} of them (the intervals do not overlap)"
    return f"{_on_shared(about)}: the checker is {shown}{rest}."


PEOPLE = (
    Rule(
        "nobody",
        lambda about: about.mine is None or about.mine.accuracy.low is None or not about.people,
        lambda about: "",
    ),
    Rule(
        "better than everybody",
        lambda about: len(_better_than(about)) == len(about.people),
        lambda about: f"{_on_shared(about)}: the checker is better than {_each(about)} (the intervals do not overlap).",
    ),
    Rule(
        "worse than everybody",
        lambda about: len(_worse_than(about)) == len(about.people),
        lambda about: f"{_on_shared(about)}: the checker is worse than {_each(about)} (the intervals do not overlap).",
    ),
    Rule("mixed", lambda about: _better_than(about) or _worse_than(about), _mixed),
    Rule(
        "not shown",
        lambda about: True,
        lambda about: f"{_on_shared(about)}: no difference between the checker and a person is shown.",
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
        lambda about: (
            about.of.accuracy.low is not None and about.of.accuracy.low <= about.majority[1] <= about.of.accuracy.high
        ),
        lambda about: "label more units, to see whether the checker is better than the baseline",
    ),
    Rule(
        "worse than a person",
        lambda about: about.mine is not None and about.mine.accuracy.low is not None and bool(_worse_than(about)),
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
    rules = (BASELINE, PEOPLE) if result.gives_labels else (SCORES,)
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
        next=first_sentence(NEXT, each),
    )


def _nothing(result: Comparison) -> str:
    if result.gives_labels:
        return f"{checker_name(result)} cannot be compared with people: there are no labels yet."
    return "No question here has ordered labels by people, so there is nothing to correlate the scores with."


def _picture(result: Comparison) -> Picture | None:
    """The first question's: everybody's accuracy, in a first pass the confusion."""
    pictures = (picture(result, one) for one in result.dimensions for picture in (draw_labellers, draw_confusion))
    return next(filter(None, pictures), None) if result.gives_labels else None

"""DRUID's analyses in sentences: what was done, for a paper, and what the items behind a figure are."""

from __future__ import annotations

from analysis.reports.behind_sets import parts_of
from analysis.reports.druid_data import relevance_dimension, stance_dimension
from analysis.reports.druid_shifts import TOGETHER
from analysis.reports.numbers import n_of
from annotation.task_types import TaskType

TESTS = {
    "clusters": "p values from influence-based standard errors clustered by claim (Student's t)",
    "units": "p values that take pairs as independent (Student's t)",
    "permutation": "p values from 999 permutations of pairs within a stance",
}
CORRECTIONS = {"holm": "Holm's method", "bh": "Benjamini and Hochberg's method"}
OF_SHARES = (
    "Intervals of shares are 95 % BCa bootstraps over claims; of a label that no pair or every pair has, exact ones "
    "(Clopper and Pearson) with as many trials as there are claims."
)
INTERVALS = "Intervals of means are 95 % BCa bootstraps over claims."


def methods(result: dict) -> str:
    pairs, claims = n_of(result["n_pairs"], "pairs"), n_of(result["n_claims"], "claims")
    parts = [
        f"The data are {pairs} of claim and evidence, of {claims}; a pair's relevance and stance are "
        f"those of the reference ({result['reference_title'][0].lower()}{result['reference_title'][1:]}), and "
        f"{n_of(result['n_pairs'] - result['n_stances'], 'pairs')} without a stance are left out where one is needed.",
        f"Agreement is Krippendorff's alpha ({_levels(result)}) over all pairs of labels that exist, with 95 % "
        "bootstrap intervals over claims. A pair of claim and evidence with a single label forms no pair of labels.",
        "A claim is in conflict if one piece of evidence supports it and another refutes it. Shares of labels are of "
        f"the pairs that have one. {OF_SHARES}",
    ]
    if result["described"]:
        columns = result["described"]["columns"]
        by = sorted({one["checker"] for one in columns})
        parts.append(
            f"Of {n_of(len(columns), 'characteristics')} of the evidence (measured by {', '.join(by)}) means and "
            f"standard deviations are over pairs where they are defined. {INTERVALS}"
        )
    if result["usage"]:
        names = ", ".join(_with_n(model) for model in result["usage"]["models"])
        parts.append(
            f"Context usage (DRUID, Hagström et al. 2024, equations 1 and 2) of {names} compares the probabilities of "
            "True, None and False without and with the evidence; acu_mean is the mean and acu_sum the sum of the three "
            "signed changes. It is undefined where an answer was certain without the evidence and stayed so, or where "
            "a probability is missing; such pairs are left out and counted. The predicted answer is the most probable "
            "one; a memory conflict is a decided answer without evidence that the evidence opposes, as a share of the "
            f"pairs of that stance. {INTERVALS if not result['described'] else ''}".strip()
        )
    if result["correlations"]:
        tests = sorted({found["n_tests"]["spearman"] for found in result["correlations"]})
        parts.append(
            "Correlations of characteristics with context usage are Spearman's and Pearson's within each stance, "
            f"missing values deleted pairwise, with {TESTS[result['test']]}, corrected by "
            f"{CORRECTIONS[result['correction']]} over the {' or '.join(f'{n:,}' for n in tests)} tests of a model; "
            f"significance is at {result['alpha']:g}. Their intervals are on Fisher's z scale with standard errors "
            "clustered by claim."
        )
    return " ".join(parts)


def _levels(result: dict) -> str:
    """What alpha was computed of, each with its level."""
    return "; ".join(one["name"] for one in result["content"]["sources"][0]["alpha"])


def _with_n(model: dict) -> str:
    """A model, and of how many pairs its context usage is defined; the first row is that of all relevant evidence."""
    found = model["stances"][0]["acu_mean"]
    return f"{model['model']} (defined for {found['n']:,} of {found['n'] + found['n_undefined']:,} relevant pairs)"


def in_words(kind: TaskType, figure: str) -> str:
    """What the items behind a figure have in common."""
    what, *parts = parts_of(figure)
    return _WORDS[what](kind, *parts)


def _stances(kind: TaskType, names: str) -> str:
    """The stances of a row in words; of everything relevant, and of what is not relevant."""
    labels = {label.value: label.title for label in stance_dimension(kind).labels}
    titles = [labels.get(name, "not relevant") for name in names.split(TOGETHER) if name]
    return f"stance: {' or '.join(titles) or 'any'}"


def _label(kind: TaskType, dimension: str, name: str, *source: str) -> str:
    return f"{_of_label(kind, dimension, name)}{_under(*source)}"


def _of_label(kind: TaskType, dimension: str, name: str) -> str:
    found = kind.dimension(dimension)
    other = {"tied": "people are divided", "unlabelled": "no label"}
    relevance = relevance_dimension(kind)
    if name in found.values:
        return f"{found.title}: {found.label(name).title}"
    condition = relevance.title.lower() if relevance is not None else found.title
    return f"{found.title}: {other.get(name, f'not asked, because of the {condition}')}"


def _under(source: str = "") -> str:
    return f", under {source}" if source else ""


def _group(kind: TaskType, of: str = "", *name: str) -> str:
    """Which pairs a mean is of, besides those that have its characteristic."""
    return f"; {_stances(kind, name[-1])}" if of == "label" else _under(*name)


def _undefined(kind: TaskType, model: str, place: str) -> str:
    from analysis.stats.usage import REASONS

    return f"without context usage of {model}: {REASONS[int(place)]}"


def _changed(answer: str):
    return lambda kind, model, stance: f"change of P({answer}) by {model} is defined, {_stances(kind, stance)}"


_WORDS = {
    "source": lambda kind, name: f"evidence under {name}" if name else "all evidence",
    "gold": lambda kind, name: f"gold evidence{_under(name)}",
    "pairable": lambda kind, metric, name: f"with two labels or more ({metric}){_under(name)}",
    "several": lambda kind, name: f"evidence with a stance, of claims with two stances or more{_under(name)}",
    "conflicts": lambda kind, name: f"evidence that supports or refutes claims in conflict{_under(name)}",
    "verdict": lambda kind, name: (
        f"evidence of claims with the verdict {name}" if name else "of claims without verdict"
    ),
    "label": _label,
    "value": lambda kind, title, *group: f"defined: {title}{_group(kind, *group)}",
    "without": lambda kind, title, *group: f"undefined: {title}{_group(kind, *group)}",
    "usage": lambda kind, model, stance: f"context usage of {model} is defined, {_stances(kind, stance)}",
    "unused": lambda kind, model, stance: f"without context usage of {model}, {_stances(kind, stance)}",
    "undefined": _undefined,
    "compared": lambda kind, a, b, stance: f"context usage of {a} and {b} is defined, {_stances(kind, stance)}",
    "change-false": _changed("False"),
    "change-none": _changed("None"),
    "change-true": _changed("True"),
    "before": lambda kind, model, stance: f"{model} has one answer without evidence, {_stances(kind, stance)}",
    "answered": lambda kind, model, stance: (
        f"{model} has one answer without and with evidence, {_stances(kind, stance)}"
    ),
    "answer": lambda kind, model, stance, answer: (
        f"{_stances(kind, stance)}; with the evidence {model} answers {answer.capitalize()}"
    ),
    "moved": lambda kind, model, stance, answer: (
        f"{_stances(kind, stance)}; with the evidence {model} comes to the answer {answer.capitalize()} or leaves it"
    ),
    "desired": lambda kind, model, stance: (
        f"{_stances(kind, stance)}; with the evidence {model} moves towards a desired answer or away from one"
    ),
    "conflict": lambda kind, model, stance: f"{_stances(kind, stance)}; without evidence {model} answers the opposite",
    "both": lambda kind, model, stance, title: (
        f"{_stances(kind, stance)}; defined: {title}, and context usage of {model}"
    ),
}

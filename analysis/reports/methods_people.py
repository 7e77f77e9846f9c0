"""Methods paragraphs of the reports about people: agreement, annotators, and who could be replaced."""

from __future__ import annotations

from analysis.reports import attention, drift, selected
from analysis.reports.methods_words import (
    checker_name,
    clusters_of,
    defined_clusters,
    intervals_in,
    left_out_of,
    listed,
    sentences,
)
from analysis.reports.numbers import either, n_of

WHOSE = {
    "all": "everybody who labelled",
    "members": "members of the project",
    "imported": "raters of imported files",
}


def agreement(result: dict) -> str:
    asked = [dimension for dimension in result["dimensions"] if dimension["n_labels"]]
    if not asked:
        return f"Nobody has labelled any of the {n_of(result['n_units'], 'units')} of {result['project']}."
    return sentences(
        f"Agreement was measured among {WHOSE[result['raters']]} ({n_of(result['n_raters'], 'raters')}) on "
        f"{n_of(result['n_units'], 'units')} of {n_of(result['n_items'], 'items')}.",
        *(_coefficients(dimension) for dimension in asked),
        "Units with a single label form no pair; nothing was put in the place of missing labels, and every "
        "pair of labels of one unit counts, whoever gave them.",
        "Raters are exchangeable, because the file does not say who voted, so there are no figures for pairs of them."
        if result["exchangeable"]
        else "",
        _per_label(asked),
        _by_chance(asked),
        selected.methods(asked),
        intervals_in(result),
    )


def _coefficients(dimension: dict) -> str:
    names = [_named(figure["title"]) for figure in dimension["figures"]]
    alpha = next(figure for figure in dimension["figures"] if figure["name"].startswith("krippendorff"))
    return (
        f"For {dimension['title'].lower()} ({dimension['level']}, {n_of(len(dimension['labels']), 'labels')}, "
        f"{dimension['n_labels']:,} given) these are {listed(names)}, over {n_of(alpha['n_pairable'], 'units')} with "
        f"a pair{left_out_of(alpha)}."
    )


def _named(title: str) -> str:
    """A coefficient in the middle of a sentence: people keep their capitals, and kinds stand in brackets."""
    name, comma, kind = title.partition(", ")
    name = name if name.startswith(PROPER) else name[0].lower() + name[1:]
    return f"{name} ({kind})" if comma else name


PROPER = ("Krippendorff", "Fleiss", "Gwet", "Brennan", "Cohen", "Scott")


def _per_label(dimensions: list[dict]) -> str:
    if not any(dimension["per_label"] for dimension in dimensions):
        return ""
    return (
        "Each label was also held against all others together, by percent agreement (mean over items), Krippendorff's "
        "alpha, Fleiss' kappa, Gwet's AC1 and Brennan-Prediger."
    )


def _by_chance(dimensions: list[dict]) -> str:
    tests = [dimension["chance"] for dimension in dimensions if dimension["chance"]["p_value"] is not None]
    if not tests:
        return ""
    times = sorted({test["n_permutations"] for test in tests})
    number = " to ".join(f"{n:,}" for n in dict.fromkeys((times[0], times[-1])))
    return (
        f"Alpha was tested against chance by {number} permutations ({tests[0]['null']}), one-sided, with units taken "
        "as independent."
    )


def annotators(result: dict) -> str:
    with_runs = [checker_name(run) for run in result["runs"]]
    touched = (
        ", labels given after a suggestion of theirs was seen counting too"
        if result.get("touched")
        else f" ({n_of(result['n_labels_touched'], 'labels')} that saw a suggestion of theirs "
        f"{either(result['n_labels_touched'], 'was', 'were')} left out)"
    )
    models = [model for dimension in result["dimensions"] for model in dimension["models"]]
    resamples = sorted({model["n_resamples"] for model in models})
    more = (
        "Speed is active time per answer, in quarters of each person's own answers."
        if any(not dimension["speed"]["undefined"] for dimension in result["dimensions"])
        else "",
        drift.methods(result["dimensions"], clusters_of(result)),
        attention.methods(result["dimensions"]),
    )
    if not models:
        reasons = listed(list(dict.fromkeys(dimension["undefined"] for dimension in result["dimensions"])))
        why = f" ({reasons})" if reasons else ""
        defined = defined_clusters(result) if more[1] else ""
        return sentences(f"Competence of annotators could not be estimated{why}.", *more, defined)
    return sentences(
        f"Competence of annotators was estimated without a gold standard on {n_of(result['n_units'], 'units')}"
        + (f", with {listed(with_runs)} as raters{touched}." if with_runs else ", from labels of people alone."),
        "Dawid and Skene's model (1979) gives everybody a confusion table and every unit a posterior, by expectation "
        "maximisation from the shares of votes; competence is the chance of a right label over the estimated "
        "prevalence. MACE (Hovy et al. 2013) estimates the chance that somebody knows rather than guesses.",
        f"Whoever shares fewer than {result['min_shared']} units with others has no estimate.",
        "The models also say how often each label is true.",
        f"Intervals of all these (95 %) refit both models to {listed([f'{n:,}' for n in resamples], 'or')} bootstrap "
        f"resamples of whole {clusters_of(result)[1]}.",
        "Beside them stands the plain share of other people's labels that are equal.",
        *more,
        defined_clusters(result),
    )


def _strays(result: dict) -> str:
    n = sum(row["n_strays"] for dimension in result["dimensions"] for row in dimension["checkers"])
    return f"{n} of the checkers' labels are none of people's and count as equal to nobody's." if n else ""


def alternative_annotator(result: dict) -> str:
    checkers = list(
        dict.fromkeys(checker_name(row) for dimension in result["dimensions"] for row in dimension["checkers"])
    )
    by_scale = [dimension["title"].lower() for dimension in result["dimensions"] if dimension["scored_by"] == "rmse"]
    closeness = "the share of equal labels" + (
        f", and for {listed(by_scale)} the root mean squared difference of places on the scale" if by_scale else ""
    )
    return sentences(
        f"Whether {listed(checkers, 'or')} could stand in for a person was tested by the alternative annotator test "
        "(Calderon, Reichart and Dror 2025).",
        f"Each person in turn is left out, and both they and the checker are held against the others by {closeness}.",
        "For each person, a one-sided paired t test, which takes units as independent, asks whether the checker is at "
        f"least as close on more units than they, less epsilon = {result['epsilon']:g}; rejections are corrected by "
        f"Benjamini and Yekutieli's procedure at q = {result['q']:g}.",
        "The winning rate is the share of people against whom it is rejected; the checker passes at 0.5 or more.",
        _strays(result),
        f"People with fewer than {result['min_units']} units took no part, nor did labels of exchangeable raters"
        + (
            "; labels that the checker's suggestion had touched count too."
            if result.get("touched")
            else " or labels that the checker's suggestion had touched."
        ),
        intervals_in(result),
    )

"""Methods paragraphs of the reports about what was judged: rates by model, matched documents, covered aspects."""

from __future__ import annotations

from analysis.reports.methods_words import checker_name, clusters_of, intervals_in, left_out_of, listed, sentences
from analysis.reports.numbers import either, n_of


def rates(result: dict) -> str:
    responses = sum(setting["n_responses"] for setting in result["settings"])
    pending = sum(setting["n_pending"] for setting in result["settings"])
    excluded = sorted({label for setting in result["settings"] for label in setting["excluded"]})
    units, answers = result["unit_words"], result["response_words"]
    tied = result["votes"]["tied"]
    return sentences(
        f"Rates are of {result['title'].lower()} in {n_of(responses, answers)}, by {result['reference_title'].lower()}"
        f" ({n_of(tied, units)} {either(tied, 'is', 'are')} tied and {either(tied, 'counts', 'count')} as undecided).",
        f"An answer's shares are those of its {units}; a model's rate is their unweighted mean over its {answers} that "
        "have a decided label, and means over models are unweighted as well."
        if units != answers
        else f"A model's rate is the share of its {answers} that have a decided label; means over models are "
        "unweighted.",
        f"Labels that are outside the scale ({listed(excluded)}) were left out." if excluded else "",
        f"{n_of(pending, answers)} without a decided label {either(pending, 'was', 'were')} left out."
        if pending
        else "",
        f"The abstain rate is the share of {answers} in which there is nothing to judge, of all {answers}."
        if result["has_abstained"] and not result.get("abstained_unknown")
        else "",
        drawn := intervals_in(result),
        f"Means over models draw the same {clusters_of(result)[1]} for all models." if drawn else "",
    )


def matched(result: dict) -> str:
    checker = f" and, beside them, by {checker_name(result)}" if result["checker"] else ""
    touched = ""
    if result["checker"] and result["reference"] == "majority":
        touched = (
            "All labels of people count."
            if result["touched"]
            else "Only labels of people count that the checker's suggestions had not touched."
        )
    return sentences(
        "A generated document, and a claim, is matched where at least one of its pairs is judged "
        f"{listed(result['entailing'], 'or').lower()}: {n_of(result['n_pairs'], 'pairs')} of gold evidence and a "
        f"document's sentence were judged by people ({result['reference_title'].lower()}){checker}.",
        touched,
        "It is unmatched where all of its pairs are judged otherwise, and undecided in between; shares are of the "
        "decided ones, beside the lowest and highest that the undecided ones allow.",
        intervals_in(result, ("claim", "claims")),
    )


TIED = {
    "excluded": "Tied aspects count neither as covered nor among the aspects",
    "not_covered": "Tied aspects count as not covered",
    "covered": "Tied aspects count as covered",
}


def coverage(result: dict) -> str:
    every, by_majority = result["all"], result["reference"] == "majority"
    if not every["n_responses"]:
        return f"There are no answers in {result['project']}."
    covering = f"judged {listed(result['covering'], 'or').lower()}"
    decided = (
        f"if more of its labels by people say so than not ({n_of(every['n_votes'], 'labels')})"
        if by_majority
        else f"by {result['reference_title'].lower()} ({every['n_votes']:,} of them)"
    )
    least = result["k"] if by_majority else 1
    with_one = every["coverage"]["n_pairable"]
    too_few = f"fewer than {least} labels" if least > 1 else "no label"
    return sentences(
        "An answer's coverage is the share of its question's aspects that it covers (ICAT, Samarinas et al. 2025): "
        f"{n_of(every['n_aspects'], 'aspects')} in {n_of(every['n_responses'], 'answers')} to "
        f"{n_of(result['n_queries'], 'questions')}; an aspect counts as {covering} {decided}.",
        f"{TIED[result['ties']]} ({every['tied']:,})." if by_majority else "",
        f"{n_of(every['undecided'], 'aspects')} {either(every['undecided'], 'has', 'have')} {too_few}; nothing was "
        "put in the place of missing labels, and an answer with such an aspect has no coverage."
        if every["undecided"]
        else "",
        f"Means are over the {n_of(with_one, 'answers')} that {either(with_one, 'has', 'have')} a coverage"
        f"{left_out_of(every['coverage'])}, of all models and of each.",
        intervals_in(result, ("question", "questions")),
    )

"""The machines and baselines that the ICAT report can be asked for, as its options offer them."""

from __future__ import annotations

from collections import Counter

from analysis.reports.labels.aspects import covering_dimension
from analysis.sources.outline import Outline, Run

# Scores that tell a run of ICAT's scorer, and one of the baselines.
OF_ICAT = {"claims", "claims_supported", "covered"}
OF_BASELINES = {"rouge1", "rouge2", "rougeL", "bleu", "meteor", "bertscore"}
BASELINES = {
    "rouge1": "ROUGE-1",
    "rouge2": "ROUGE-2",
    "rougeL": "ROUGE-L",
    "bleu": "BLEU",
    "meteor": "METEOR",
    "bertscore": "BERTScore",
}
VARIANTS = {"M": "ICAT-M, as imported", "S": "ICAT-S, as imported", "A": "ICAT-A, as imported"}
# Where the import of ICAT's results puts them in a response's metadata.
IMPORTED = "icat"


def icat_runs(source: Outline) -> list[Run]:
    return [run for run in source.runs() if set(run.scores) >= OF_ICAT]


def baseline_runs(source: Outline) -> list[Run]:
    return [run for run in source.runs() if set(run.scores) >= OF_BASELINES]


def titles(runs: list[Run]) -> dict[str, str]:
    """Runs of one checker are distinguished by their time."""
    twice = {name for name, n in Counter(run.name for run in runs).items() if n > 1}
    return {
        run.uuid: f"{run.name}, {run.created_at:%Y-%m-%d %H:%M:%S}"
        if run.name in twice and run.created_at
        else run.name
        for run in runs
    }


def imported_results(source: Outline) -> dict[str, dict[str, dict]]:
    """Of the variants that were imported: response -> what ICAT's own program found of it."""
    by_variant: dict[str, dict[str, dict]] = {variant: {} for variant in VARIANTS}
    for key, results in source.content_metadata("response", IMPORTED).items():
        for variant, own in results.items() if isinstance(results, dict) else ():
            if variant in by_variant and isinstance(own, dict):
                by_variant[variant][key] = own
    return {variant: results for variant, results in by_variant.items() if results}


def offered(source: Outline) -> dict[str, str]:
    """What factuality and coverage can be taken from: value -> title."""
    if covering_dimension(source.type) is None:
        return {}
    titles_of_runs = titles(icat_runs(source))
    return titles_of_runs | {f"imported-{variant.lower()}": VARIANTS[variant] for variant in imported_results(source)}


def offered_baselines(source: Outline) -> dict[str, str]:
    return titles(baseline_runs(source))

"""DRUID's analyses (Hagström et al. 2024, arXiv:2412.17031) of the user's own claims and evidence.

What the data are, how people label them, which characteristics evidence has, how language models use it, and what goes
with its use. Each part says what to start where what it needs is not there.
"""

from __future__ import annotations

from analysis.reports.behind_sets import UnitSets
from analysis.reports.druid_content import content
from analysis.reports.druid_data import (
    FEATURES,
    Pairs,
    answer_runs,
    feature_runs,
    model_names,
    pairs_of,
    perplexity_runs,
    stance_dimension,
)
from analysis.reports.druid_features import (
    Characteristic,
    characteristics_of,
    correlations,
    described,
    opened,
    side_by_side,
)
from analysis.reports.druid_models import Model, models
from analysis.reports.druid_pictures import pictures_of
from analysis.reports.druid_tables import (
    beside_tables,
    characteristics_tables,
    content_tables,
    correlation_tables,
    usage_tables,
)
from analysis.reports.druid_usage import usage
from analysis.reports.druid_words import in_words, methods
from analysis.reports.figures import is_quick
from analysis.reports.reference import REFERENCES
from analysis.reports.tabular import Table
from analysis.sources import Run, Source
from annotation.task_types import TaskType

__all__ = ["body", "compute", "fits", "in_words", "methods", "opened"]

HAS_QUICK_PASS = True
EVERY, NEWEST = "all", "newest"
CONVENTIONS = {"mean": "acu_mean, -1 to 1 (the paper's equation 2)", "sum": "acu_sum, -3 to 3 (the paper's tables)"}
BARS = {"sd": "One standard deviation, as in the paper", "interval": "95 % interval of the mean"}
TESTS = {
    "clusters": "Over claims",
    "units": "Pairs taken as independent, as in the paper",
    "permutation": "By permutation of pairs",
}
CORRECTIONS = {"holm": "Holm", "bh": "Benjamini-Hochberg"}
NO_ANSWERS = (
    "No finished run gives the probabilities of True, False and None without and with the evidence, so nothing can be "
    "said of its use: start the checker “Answer probabilities” (answer-probabilities, or answer-probabilities-server)."
)
NO_FEATURES = (
    "No finished run has measured characteristics of the evidence: start the checker “Context characteristics” "
    "(characteristics)."
)
NO_PERPLEXITY = (
    "Perplexity is not measured: start the checker “Perplexity of the evidence” (perplexity, or perplexity-server)."
)
MEASURED_BY = {"refers_to_external_source": "“References to sources” (source-reference)"}
MEASURES_THE_REST = "“Context characteristics” (characteristics)"


def fits(kind: TaskType) -> str:
    if stance_dimension(kind) is None:
        return f"It is about the stance of evidence to claims, and {kind.title!r} judges something else."
    return ""


def offered_answers(source: Source) -> dict[str, str]:
    return {EVERY: "Every run that has them"} | model_names(answer_runs(source.runs()))


def offered_features(source: Source) -> dict[str, str]:
    runs = feature_runs(source.runs())
    dated = {run.uuid: f"{run.name}, {run.created_at:%Y-%m-%d %H:%M}" if run.created_at else run.name for run in runs}
    return {NEWEST: "The newest run of each"} | dated


def projects_beside(source: Source) -> dict[str, str]:
    """Whose evidence can stand beside: projects on the same data set, or the releases that a command was given."""
    found = {slug: title for slug, title in source.siblings().items() if not fits(source.sibling(slug).type)}
    every = {EVERY: "All that are given"} if source.described()["kind"] == "release" and len(found) > 1 else {}
    return {"": "nothing"} | every | found


def compute(
    source: Source,
    reference: str = "majority",
    probabilities: str = EVERY,
    characteristics: str = NEWEST,
    acu: str = "mean",
    bars: str = "sd",
    test: str = "clusters",
    correction: str = "holm",
    alpha: float = 0.05,
    evidence_beside: str = "",
) -> dict:
    """The report.

    `reference` is a key of REFERENCES; `probabilities` the UUID of a run of which the context use is measured, or
    'all'; `characteristics` the UUID of a run, or 'newest'; `acu`, `bars`, `test` and `correction` keys of CONVENTIONS,
    BARS, TESTS and CORRECTIONS, which decide what pictures show: tables have both of everything but the test.
    `evidence_beside` is the slug of another project (see `projects_beside`) whose evidence's characteristics stand
    beside this one's. Wrong values raise ValueError.
    """
    for name, value, known in (
        ("acu", acu, CONVENTIONS),
        ("bars", bars, BARS),
        ("test", test, TESTS),
        ("correction", correction, CORRECTIONS),
    ):
        if value not in known:
            raise ValueError(f"{name} is one of {', '.join(known)}, not {value!r}")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha lies between 0 and 1, not {alpha}")
    runs = source.runs()
    of_answers = _chosen(answer_runs(runs), probabilities, EVERY, "probabilities")
    of_features = _chosen(feature_runs(runs), characteristics, NEWEST, "characteristics")
    pairs = pairs_of(source, reference)
    its_content, sets = content(source, pairs)
    result = {
        "report": "druid",
        "project": source.slug,
        "project_title": source.title,
        "task_type": source.task_type,
        "reference": reference,
        "reference_title": REFERENCES[reference],
        "probabilities": probabilities,
        "characteristics": characteristics,
        "acu": acu,
        "bars": bars,
        "test": test,
        "correction": correction,
        "alpha": alpha,
        "evidence_beside": evidence_beside,
        "n_pairs": len(pairs.units),
        "n_claims": pairs.n_claims,
        "n_stances": sum(stance is not None for stance in pairs.stances),
        "stances": [{"name": name, "title": pairs.titles[name]} for name in pairs.names],
        "content": its_content,
        "described": None,
        "beside": [],
        "usage": None,
        "correlations": [],
        "notes": [],
        "behind": sets.behind,
    }
    if is_quick():  # scores of every pair take longer to read than first figures may take
        return result | {"notes": ["Characteristics and the use of context are still being computed."]}
    perplexities = perplexity_runs(runs)
    measured = characteristics_of(source, pairs, of_features, perplexities)
    others = _others(source, evidence_beside, reference)
    result["beside"] = side_by_side([(source, pairs, measured), *others]) if others else []
    return result | _of_scores(source, pairs, sets, of_answers, of_features, perplexities, measured, result)


def _others(source: Source, wanted: str, reference: str) -> list[tuple[Source, Pairs, list[Characteristic]]]:
    """The other projects, their evidence, and what their own newest runs measured of it."""
    known = [slug for slug in projects_beside(source) if slug not in ("", EVERY)]
    if wanted and wanted not in (EVERY, *known):
        raise ValueError(f"evidence_beside is one of {', '.join(known) or 'none'}, not {wanted!r}")
    found = []
    for slug in known if wanted == EVERY else [wanted] if wanted else []:
        other = source.sibling(slug)
        runs = other.runs()
        pairs = pairs_of(other, reference if reference in other.references() else "majority")
        chosen = _chosen(feature_runs(runs), NEWEST, NEWEST, "characteristics")
        found.append((other, pairs, characteristics_of(other, pairs, chosen, perplexity_runs(runs))))
    return found


def _of_scores(
    source: Source,
    pairs: Pairs,
    sets: UnitSets,
    of_answers: list[Run],
    of_features: list[Run],
    perplexities: list[Run],
    measured: list[Characteristic],
    result: dict,
) -> dict:
    found: dict = {}
    asked = models(source, pairs, of_answers) if result["n_stances"] else []
    if measured:
        found["described"] = described(pairs, measured, sets)
        own = next((row for row in result["beside"] if row["project"] == source.slug), {"characteristics": []})
        for one, cell in zip(own["characteristics"], found["described"]["groups"][0]["cells"], strict=False):
            one |= {name: cell[name] for name in ("figure", "without")}
    if asked:
        found["usage"] = usage(pairs, asked, sets)
    if measured and asked:
        found["correlations"] = [correlations(pairs, model, measured, result["test"]) for model in asked]
    notes = _notes(result["n_stances"], of_answers, of_features, perplexities, measured, asked)
    return found | {"notes": notes}


def _chosen(runs: list[Run], wanted: str, default: str, name: str) -> list[Run]:
    """All of them by default, those that give scores alone before those that also give labels."""
    if wanted == default:
        return sorted(runs, key=lambda run: run.gives != "scores")
    found = [run for run in runs if run.uuid == wanted]
    if not found:
        raise ValueError(f"{name} is {default} or one of {', '.join(run.uuid for run in runs) or 'no run'}")
    return found


def _notes(
    n_stances: int,
    of_answers: list[Run],
    of_features: list[Run],
    perplexities: list[Run],
    measured: list[Characteristic],
    asked: list[Model],
) -> list[str]:
    notes = [] if n_stances else ["No pair has a stance yet, so there is nothing to compare a model's answers with."]
    notes += [] if of_answers else [NO_ANSWERS]
    notes += [] if perplexities else [NO_PERPLEXITY]
    notes += _not_measured(of_features, measured) if of_features else [NO_FEATURES]
    zero = [f"{model.name}: {int((model.usage.reason == 1).sum()):,}" for model in asked]
    if any((model.usage.reason == 1).any() for model in asked):
        notes.append(
            "Pairs without context use because an answer was certain without the evidence and stayed so, which leaves "
            f"dP without a denominator: {'; '.join(zero)}."
        )
    return notes


def _not_measured(of_features: list[Run], measured: list[Characteristic]) -> list[str]:
    """Characteristics that no run has, with what to start, and those that are undefined everywhere."""
    has, given = {one.key for one in measured}, {score for run in of_features for score in run.scores}
    empty = [one.title for one in FEATURES if one.score in given - has and one.instead_of not in given]
    notes = [f"Undefined for every pair, so in no table: {', '.join(empty)}."] if empty else []
    missing: dict[str, list[str]] = {}
    for one in FEATURES:
        if one.score not in given and not one.instead_of:
            missing.setdefault(MEASURED_BY.get(one.score, MEASURES_THE_REST), []).append(one.title)
    return notes + [f"Not measured: {', '.join(titles)}; start the checker {name}." for name, titles in missing.items()]


def body(result: dict) -> list:
    """Tables and pictures in the order of the paper."""
    pictures = pictures_of(result)
    parts: list = [*content_tables(result)]
    parts += [pictures[name] for name in ("characteristics", "stances", "sources") if name in pictures]
    parts += characteristics_tables(result)
    if result["beside"]:
        parts += [picture for name, picture in pictures.items() if name.startswith("beside")]
        parts += beside_tables(result)
    parts += [pictures["usage"]] if "usage" in pictures else []
    parts += usage_tables(result)
    for place, table in enumerate(correlation_tables(result)):
        parts += [pictures[f"correlations-{place}"]] if f"correlations-{place}" in pictures else []
        parts.append(table)
    return [part for part in parts if not isinstance(part, Table) or part.rows]

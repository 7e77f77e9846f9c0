"""Factual answers that cover their question (ICAT): factuality, coverage and the score of both, and which automatic
measures see what people see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.coverage import TIES, TITLES, covering_dimension
from analysis.reports.figures import figure, is_quick, number
from analysis.reports.icat_behind import CELLS, Opened, in_words, opened
from analysis.reports.icat_body import body, methods
from analysis.reports.icat_data import BASELINES, Machine, Study, baseline_runs, offered, offered_baselines, titles
from analysis.reports.numbers import either, n_of
from analysis.sources import Source
from analysis.sources.base import SLOT
from analysis.sources.touched import latest, untouched
from annotation.task_types import TaskType

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from analysis.stats.coverage import ResponseCoverage

__all__ = ["body", "compute", "fits", "in_words", "methods", "offered", "offered_baselines", "opened"]

CONVENTIONS = {
    "undefined": "left out of means",
    "zero": "0, as ICAT's public code has it",
}
BETAS = tuple(2 ** (power / 4) for power in range(-12, 13))  # 1/8 to 8
COEFFICIENTS = {"pearson": "Pearson", "spearman": "Spearman", "kendall_tau_b": "Kendall's tau-b"}
# Beyond so many answers the picture shows those that come first; figures are always over all.
MAX_POINTS = 2_000
MAX_OPENED = 200  # points of which each opens its answer
ANNOTATORS = 3
HAS_QUICK_PASS = True


def fits(kind: TaskType) -> str:
    if covering_dimension(kind) is None:
        return f"It needs judgements of aspects in answers; {kind.title!r} judges something else"
    return ""


def compute(
    source: Source,
    reference: str = "majority",
    k: int = 1,
    ties: str = "excluded",
    touched: bool = False,
    automatic: str = "",
    baselines: str = "",
    beta: float = 1.0,
    convention: str = "undefined",
) -> dict:
    """The ICAT report.

    `reference`, `k` and `ties` say what people's coverage is, as in the report on coverage; with `touched`, labels
    given after a checker's suggestion was seen count against it too. `automatic` is a key of `offered`: what the score
    is computed from; `baselines` the UUID of a run of the text baselines. `convention` is a key of CONVENTIONS. Wrong
    values raise ValueError.
    """
    dimension = covering_dimension(source.type)
    if dimension is None:
        raise ValueError(fits(source.type))
    if reference not in TITLES:
        raise ValueError(f"reference is one of {', '.join(TITLES)}, not {reference!r}")
    if convention not in CONVENTIONS:
        raise ValueError(f"convention is one of {', '.join(CONVENTIONS)}, not {convention!r}")
    if not beta > 0:
        raise ValueError(f"beta is a number above 0, not {beta}")
    study = Study(source, dimension, reference, k, ties)
    machines = study.machines()
    said = latest(study.labels)
    everyone, codes = study.people(said)
    chosen = next((machine for machine in machines if machine.key == automatic), None)
    if automatic and chosen is None:
        raise ValueError(f"automatic is one of {', '.join(offered(source)) or 'none'}, not {automatic!r}")
    opened_by = Opened(study)
    compared = []
    for machine in machines:
        n_clean, (coverage, by_people) = len(said), (everyone, codes)
        if machine.run is not None and machine.run.gives == "labels" and not touched and reference == "majority":
            clean = untouched(source, study.labels, machine.run)
            n_clean, (coverage, by_people) = len(clean), study.people(clean)
        one = _compared(study, machine, coverage, by_people, opened_by)
        compared.append(one | {"n_labels_all": len(said), "n_labels_untouched": n_clean})
    beside = next((run for run in baseline_runs(source) if run.uuid == baselines), None)
    if baselines and beside is None:
        raise ValueError(f"project {source.slug} has no finished run of the text baselines {baselines!r}")
    rows = [] if beside is None else [_baseline(study, everyone, beside, name, opened_by) for name in BASELINES]
    _correct([*compared, *rows])
    result = {
        "report": "icat",
        "project": source.slug,
        "task_type": source.task_type,
        "reference": reference,
        "reference_title": TITLES[reference],
        "k": study.k,
        "ties": ties,
        "ties_title": TIES[ties],
        "touched": touched,
        "automatic": automatic,
        "automatic_title": chosen.title if chosen else "",
        "baselines": baselines,
        "baselines_title": titles(baseline_runs(source)).get(baselines, ""),
        "beta": beta,
        "convention": convention,
        "convention_title": CONVENTIONS[convention],
        "n_responses": len(study.responses),
        "n_queries": int(study.responses["query"].nunique()),
        "n_units": len(study.units),
        "agreement": _agreement(study, said, opened_by),
        **_icat(study, everyone, chosen, beta, convention, opened_by),
        "compared": compared,
        "baseline_rows": rows,
        "points": _points(study, everyone, chosen or next(iter(machines), None), opened_by),
        "behind": opened_by.behind,
    }
    return result | {"notes": _notes(result, study, chosen, machines)}


def _agreement(study: Study, said: pd.DataFrame, opened_by: Opened) -> dict:
    """How far the annotators agree, and how many aspects have three labels as in ICAT's study."""
    from analysis.stats import Labels, fleiss_kappa

    mine = said[said["dimension"] == study.dimension.slug]
    labels = Labels.from_columns(
        mine["unit"].tolist(),
        mine["rater"].tolist(),
        mine["label"].tolist(),
        study.dimension.values,
        cluster=mine["unit"].map(dict(zip(study.units["unit"], study.query_of_unit.tolist(), strict=True))).tolist(),
        exchangeable=bool((mine["rater_kind"] == SLOT).any()),
    )
    found = fleiss_kappa(labels)
    per_unit = mine.groupby("unit").size()
    of_unit = per_unit.reindex(study.units["unit"], fill_value=0).to_numpy()
    return {
        "figures": {name: opened_by.labelled(of_unit >= n, name) for name, n in (("two", 2), ("three", ANNOTATORS))},
        "fleiss": figure(found),
        "form": found.form,
        "n_labels": len(mine),
        "n_three": int((per_unit >= ANNOTATORS).sum()),
        "n_fewer": len(study.units) - int((per_unit >= ANNOTATORS).sum()),
    }


def _icat(
    study: Study,
    everyone: ResponseCoverage,
    chosen: Machine | None,
    beta: float,
    convention: str,
    opened_by: Opened,
) -> dict:
    """Of all answers and of each model: people's coverage and, where a machine is chosen, its three figures and their
    curve."""
    import numpy as np

    from analysis.stats import icat_curve, icat_scores, mean_coverage, mean_icat

    groups = [("", np.ones(len(study.responses), dtype=bool))]
    groups += [(model, (study.responses["model"] == model).to_numpy()) for model in study.models]
    rows = [
        {
            "model": model,
            "n_responses": int(where.sum()),
            "people": figure(mean_coverage(everyone, where, study.query)),
            "figures": {
                "answers": opened_by.of_model("", where, model, is_all=not place),
                "people": opened_by.of_model("people", where & ~np.isnan(everyone.share), model, is_all=not place),
            },
        }
        for place, (model, where) in enumerate(groups)
    ]
    scores, curve = None, None
    if chosen is not None:
        scores = icat_scores(chosen.n_supported, chosen.n_claims, chosen.n_covered, chosen.n_aspects, beta, convention)
        for place, (row, (model, where)) in enumerate(zip(rows, groups, strict=True)):
            for name in ("factuality", "coverage", "score"):
                row[name] = figure(mean_icat(scores, name, where, study.query))
                is_known = where & ~np.isnan(scores.figure(name))
                row["figures"][name] = opened_by.of_model(name, is_known, model, is_all=not place)
        means = icat_curve(scores, BETAS, np.column_stack([where for _, where in groups]), study.query)
        bounds = None if is_quick() else means.confidence_intervals()
        curve = [
            {
                "model": model,
                "n": int(means.n[place, 0]),
                "estimate": [number(value) for value in means.mean[place]],
                "low": None if bounds is None else [number(one.low) for one in bounds[place]],
                "high": None if bounds is None else [number(one.high) for one in bounds[place]],
            }
            for place, (model, _) in enumerate(groups)
        ]
    return {"all": rows[0], "models": rows[1:], "betas": list(BETAS), "curve": curve}


def _compared(study: Study, machine: Machine, coverage: ResponseCoverage, codes: np.ndarray, opened_by: Opened) -> dict:
    """A machine's coverage of answers beside people's, and of aspects."""
    from analysis.stats import coverage_detection

    found = {
        "key": machine.key,
        "title": machine.title,
        "is_of_supported_claims": machine.has_claims,
        "failures": dict(sorted(machine.failures.items())),
        "correlations": _correlations(study, machine.coverage, coverage.share),
        "figure": opened_by.correlated(machine.coverage, coverage.share, machine.key),
        "detection": None,
    }
    if (machine.covered < 0).all():
        return found
    detection = coverage_detection(codes, machine.covered, study.of_response, study.query_of_unit)
    found["detection"] = {
        "pooled": {name: figure(one) for name, one in detection.pooled.items()},
        "mean": {name: figure(one) for name, one in detection.mean.items()},
        "counts": dict(
            zip(
                CELLS,
                (detection.n_both, detection.n_only_machine, detection.n_only_people, detection.n_neither),
                strict=True,
            )
        ),
    }
    found["detection"]["figures"] = opened_by.compared(codes, machine.covered, machine.key)
    return found


def _baseline(study: Study, everyone: ResponseCoverage, run, name: str, opened_by: Opened) -> dict:
    values = study.by_response(study.scores(run, name))
    return {
        "key": name,
        "title": BASELINES[name],
        "correlations": _correlations(study, values, everyone.share),
        "figure": opened_by.correlated(values, everyone.share, name),
        "missing": _why_missing(run, name) if not (values == values).any() else "",
    }


def _why_missing(run, name: str) -> str:
    """In words, what a measure lacked that has no value at all."""
    said = run.provenance.get("wordnet", "")
    if name == "meteor" and not said[:1].isdigit():
        return (
            "METEOR needs WordNet, which was not on the machine that made the run. Put it into a folder that NLTK_DATA "
            "names (python -m nltk.downloader wordnet), and run the baselines again."
        )
    if name == "bertscore" and not run.parameters.get("model"):
        return "BERTScore needs a model; the run was started without one."
    return f"{BASELINES[name]} is undefined for all answers."


def _correlations(study: Study, values: np.ndarray, people: np.ndarray) -> list[dict]:
    """Of answers' coverage by people and another measure; both resample and permute whole queries."""
    from analysis.stats import correlation_test, kendall_tau_b, pearson, spearman

    functions = {"pearson": pearson, "spearman": spearman, "kendall_tau_b": kendall_tau_b}
    found = []
    for name, title in COEFFICIENTS.items():
        test = None
        if not is_quick():
            done = correlation_test(values, people, name, cluster=study.query.tolist())
            test = {
                "p_value": number(done.p_value),
                "n_permutations": done.n_permutations,
                "null": done.null,
                "undefined": done.undefined,
            }
        found.append(
            {"name": name, "title": title, "figure": figure(functions[name](values, people, study.query)), "test": test}
        )
    return found


def _correct(rows: list[dict]) -> None:
    """Holm's adjustment, for each coefficient over all measures that were tested."""
    from analysis.stats import holm

    for place in range(len(COEFFICIENTS)):
        tests = [row["correlations"][place]["test"] for row in rows if row["correlations"][place]["test"]]
        p_values = [float("nan") if test["p_value"] is None else test["p_value"] for test in tests]
        for test, adjusted in zip(tests, holm(p_values) if tests else [], strict=True):
            test["p_holm"] = number(float(adjusted))


def _points(study: Study, everyone: ResponseCoverage, machine: Machine | None, opened_by: Opened) -> dict | None:
    """Answers with both coverages, for the picture."""
    import numpy as np

    if machine is None:
        return None
    automatic = machine.coverage
    both = np.flatnonzero(~np.isnan(automatic) & ~np.isnan(everyone.share))
    rows = study.responses.iloc[both[:MAX_POINTS]]
    return {
        "key": machine.key,
        "title": machine.title,
        "n": len(both),
        "answers": [
            {
                "response": row.response,
                "query": row.query,
                "model": row.model,
                "people": float(everyone.share[place]),
                "automatic": float(automatic[place]),
                "figure": opened_by.answer(place, row.response) if len(both) <= MAX_OPENED else "",
            }
            for row, place in zip(rows.itertuples(), both, strict=False)
        ],
    }


def _notes(result: dict, study: Study, chosen: Machine | None, machines: list[Machine]) -> list[str]:
    notes = []
    if not study.n_aspects.all():
        n = int((study.n_aspects == 0).sum())
        notes.append(
            f"{n_of(n, 'answers')} {either(n, 'is', 'are')} to questions without aspects. Extract aspects of those "
            "questions, or import them."
        )
    if chosen is None:
        notes.append(_what_to_start(study))
    elif chosen.failures:
        why = "; ".join(f"{n:,} {reason}" for reason, n in sorted(chosen.failures.items()))
        notes.append(f"{chosen.title} has no scores for some aspects: {why}. {_what_is_missing(study)}".strip())
    if result["agreement"]["n_fewer"] and result["reference"] == "majority":
        notes.append(
            f"{result['agreement']['n_fewer']:,} of {n_of(result['n_units'], 'aspects')} "
            f"{either(result['agreement']['n_fewer'], 'has', 'have')} fewer than {ANNOTATORS} labels; ICAT's study "
            "has three annotators for each."
        )
    if any(not machine.has_claims for machine in machines):
        notes.append(
            "A checker's coverage is that of the whole answer. ICAT's counts only what supported claims cover, which "
            "is what its scorer and imported results give."
        )
    for one in result["compared"]:
        touched = one["n_labels_all"] - one["n_labels_untouched"]
        if touched:
            notes.append(
                f"{one['title']}: {one['n_labels_untouched']:,} of {n_of(one['n_labels_all'], 'labels')} count "
                "against it; it touched the others."
            )
    if not result["baselines"]:
        notes.append("No baselines: start the checker “ROUGE, BLEU, METEOR and BERTScore” on the project's page.")
    notes += [row["missing"] for row in result["baseline_rows"] if row["missing"]]
    if result["points"] and result["points"]["n"] > MAX_POINTS:
        notes.append(f"The picture shows the first {MAX_POINTS:,} of {n_of(result['points']['n'], 'answers')}.")
    return notes


def _what_to_start(study: Study) -> str:
    start = "No factuality yet: start the checker “Facts and aspects (ICAT)” on the project's page."
    return f"{start} {_what_is_missing(study)}".strip()


def _what_is_missing(study: Study) -> str:
    """Which answers lack atomic claims, and which questions passages."""
    claims, passages = study.content_of("atomic_claim", "response"), study.content_of("evidence", "question")
    answers, queries = study.responses["response"].tolist(), study.responses["query"].drop_duplicates().tolist()
    without, bare = sum(not claims[name] for name in answers), sum(not passages[name] for name in queries)
    said = []
    if without:
        said.append(
            f"{without:,} of {n_of(len(answers), 'answers')} {either(without, 'has', 'have')} no atomic claims: "
            "extract them in a project on this data set that judges the form of atomic claims, review and publish "
            "them."
        )
    if bare:
        said.append(
            f"{bare:,} of {n_of(len(queries), 'questions')} {either(bare, 'has', 'have')} no passages to look claims "
            "up in: import a corpus with qrels, or retrieve passages and publish them."
        )
    return " ".join(said)

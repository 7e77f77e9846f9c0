"""Factual answers that cover their question (ICAT): factuality, coverage and the score of both, and which automatic
measures see what people see."""

from __future__ import annotations

import numpy as np
import pandas as pd
from msgspec import UNSET
from msgspec.structs import replace

from analysis.figures.items import Items
from analysis.figures.results import number
from analysis.papers.icat.choices import BASELINES, baseline_runs, offered, titles
from analysis.papers.icat.columns import CELLS, AspectItems
from analysis.papers.icat.data import CoverageStudy, Machine
from analysis.papers.icat.result import (
    ANNOTATORS,
    CONVENTIONS,
    MAX_POINTS,
    AspectDetection,
    AspectSets,
    BaselineMeasure,
    CoverageCorrelation,
    CoverageTest,
    Icat,
    LabelsPerAspect,
    MachineCoverage,
    Measure,
    OtherAspects,
    OtherCoverage,
    PlottedAnswer,
    PlottedAnswers,
    ScoreOverBeta,
    ScoresOfModel,
    ScoresOfSet,
)
from analysis.reports.estimates import RESAMPLES, plain_figure, to_figure
from analysis.reports.labels.aspects import TIES, TITLES, covering_dimension
from analysis.reports.labels.judgements import add_judgements
from analysis.reports.options import AND
from analysis.reports.words.numbers import either, n_of
from analysis.sources.base import Source
from analysis.sources.outline import SLOT, Run
from analysis.sources.touched import latest, untouched
from analysis.stats import (
    Labels,
    ResponseCoverage,
    correlation_test,
    coverage_detection,
    fleiss_kappa,
    holm,
    icat_curve,
    icat_scores,
    kendall_tau_b,
    mean_coverage,
    mean_icat,
    moved,
    pearson,
    spearman,
)

BETAS = tuple(2 ** (power / 4) for power in range(-12, 13))  # 1/8 to 8
FIGURES = ("factuality", "coverage", "score")
COEFFICIENTS = {"pearson": "Pearson", "spearman": "Spearman", "kendall_tau_b": "Kendall's tau-b"}
FUNCTIONS = {"pearson": pearson, "spearman": spearman, "kendall_tau_b": kendall_tau_b}


def compute(
    source: Source,
    *,
    reference: str = "majority",
    k: int = 1,
    ties: str = "excluded",
    touched: bool = False,
    automatic: str = "",
    baselines: str = "",
    beta: float = 1.0,
    convention: str = "undefined",
    other_aspects: str = "",
    quick: bool = False,
) -> tuple[Icat, Items]:
    """The ICAT report.

    `reference`, `k` and `ties` say what people's coverage is, as in the report on coverage; with `touched`, labels
    given after a checker's suggestion was seen count against it too. `automatic` is a key of `offered`: what the score
    is computed from; `baselines` the UUID of a run of the text baselines. `convention` is a key of CONVENTIONS.
    `other_aspects` names projects that judge other sets of aspects in the same answers, by their slugs with AND in
    between. Wrong values raise ValueError.
    """
    dimension = covering_dimension(source.type)
    if not beta > 0:
        raise ValueError(f"beta is a number above 0, not {beta}")
    study = CoverageStudy(source, dimension, reference, k, ties)
    machines = study.machines()
    latest_labels = latest(study.labels)
    everyone, codes = study.people(latest_labels)
    chosen = next((machine for machine in machines if machine.key == automatic), None)
    if automatic and chosen is None:
        raise ValueError(f"automatic is one of {', '.join(offered(source)) or 'none'}, not {automatic!r}")
    baseline = next((run for run in baseline_runs(source) if run.uuid == baselines), None)
    if baselines and baseline is None:
        raise ValueError(f"project {source.slug} has no finished run of the text baselines {baselines!r}")
    runs = [run.uuid for run in (chosen and chosen.run, baseline) if run]
    items = AspectItems(study, runs, "" if reference == "majority" else reference)
    compared, clean = [], {}
    for place, machine in enumerate(machines):
        counted, people = latest_labels, (everyone, codes)
        if machine.run is not None and machine.run.gives == "labels" and not touched and reference == "majority":
            counted = clean[machine.run] = untouched(source, study.labels, machine.run)
            people = study.people(counted)
        compared.append(
            _compared(study, items, f"m{place}", machine, people, (len(latest_labels), len(counted)), quick=quick)
        )
    add_judgements(items.items, source.type, latest_labels, latest_labels, of_runs=clean)
    rows = [_baseline(study, items, everyone, baseline, name, quick=quick) for name in BASELINES] if baseline else []
    tested = _corrected([*compared, *rows])
    result = Icat(
        reference=reference,
        reference_title=TITLES[reference],
        k=study.k,
        ties=ties,
        ties_title=TIES[ties],
        touched=touched,
        automatic=automatic,
        automatic_title=chosen.title if chosen else "",
        baselines=baselines,
        baselines_title=titles(baseline_runs(source)).get(baselines, ""),
        beta=beta,
        convention=convention,
        convention_title=CONVENTIONS[convention],
        n_responses=len(study.responses),
        n_queries=int(study.responses["query"].nunique()),
        n_units=len(study.units),
        agreement=_agreement(study, items, latest_labels, quick=quick),
        **_icat(study, items, everyone, chosen, beta, convention, quick=quick),
        compared=tested[: len(compared)],
        baseline_rows=tested[len(compared) :],
        points=_points(study, everyone, chosen or next(iter(machines), None)),
        notes=[],
        sets=_aspect_sets(study, items, everyone, other_aspects.split(AND), beta, convention, quick=quick)
        if other_aspects
        else UNSET,
    )
    return replace(result, notes=_notes(result, study, chosen, machines)), items.items


def _agreement(
    study: CoverageStudy, items: AspectItems, latest_labels: pd.DataFrame, *, quick: bool
) -> LabelsPerAspect:
    """How far the annotators agree, and how many aspects have three labels as in ICAT's study."""
    mine = latest_labels[latest_labels["dimension"] == study.dimension.slug]
    labels = Labels.from_columns(
        mine["unit"].tolist(),
        mine["rater"].tolist(),
        mine["label"].tolist(),
        study.dimension.values,
        cluster=mine["unit"].map(dict(zip(study.units["unit"], study.query_of_unit.tolist(), strict=True))).tolist(),
        exchangeable=bool((mine["rater_kind"] == SLOT).any()),
    )
    kappa = fleiss_kappa(labels)
    per_unit = mine.groupby("unit").size()
    of_unit = per_unit.reindex(study.units["unit"], fill_value=0).to_numpy()
    items.add_labels(of_unit)
    n_three = int((per_unit >= ANNOTATORS).sum())
    return LabelsPerAspect(
        fleiss=to_figure(kappa, quick=quick),
        form=kappa.form,
        n_labels=len(mine),
        n_three=n_three,
        n_fewer=len(study.units) - n_three,
    )


def _icat(
    study: CoverageStudy,
    items: AspectItems,
    everyone: ResponseCoverage,
    chosen: Machine | None,
    beta: float,
    convention: str,
    *,
    quick: bool,
) -> dict:
    """Of all answers and of each model: people's coverage and, where a machine is chosen, its three figures and their
    curve."""
    groups = [("", np.ones(len(study.responses), dtype=bool))]
    groups += [(model, (study.responses["model"] == model).to_numpy()) for model in study.models]
    items.add_known("people", ~np.isnan(everyone.share))
    rows = [
        ScoresOfModel(
            model=model,
            n_responses=int(where.sum()),
            people=to_figure(mean_coverage(everyone, where, study.query), quick=quick),
        )
        for model, where in groups
    ]
    curve = None
    if chosen is not None:
        scores = icat_scores(chosen.n_supported, chosen.n_claims, chosen.n_covered, chosen.n_aspects, beta, convention)
        for name in FIGURES:
            items.add_known(name, ~np.isnan(scores.figure(name)), chosen.run.uuid if chosen.run else "")
        rows = [
            replace(
                row,
                **{name: to_figure(mean_icat(scores, name, where, study.query), quick=quick) for name in FIGURES},
            )
            for row, (_, where) in zip(rows, groups, strict=True)
        ]
        means = icat_curve(scores, BETAS, np.column_stack([where for _, where in groups]), study.query)
        bounds = None if quick else means.confidence_intervals()
        curve = [
            ScoreOverBeta(
                model=model,
                n=int(means.n[place, 0]),
                estimate=[number(value) for value in means.mean[place]],
                low=None if bounds is None else [number(one.low) for one in bounds[place]],
                high=None if bounds is None else [number(one.high) for one in bounds[place]],
            )
            for place, (model, _) in enumerate(groups)
        ]
    return {"all": rows[0], "models": rows[1:], "betas": list(BETAS), "curve": curve}


def _compared(
    study: CoverageStudy,
    items: AspectItems,
    name: str,
    machine: Machine,
    people: tuple[ResponseCoverage, np.ndarray],
    n_labels: tuple[int, int],
    *,
    quick: bool,
) -> MachineCoverage:
    """A machine's coverage of answers against people's, and of aspects; `n_labels` are all, and those that count."""
    coverage, codes = people
    run = machine.run.uuid if machine.run else ""
    items.add_correlated(name, machine.title, machine.coverage, coverage.share, run)
    detection = None
    if (machine.covered >= 0).any():
        items.add_detected(name, machine, codes, run)
        figures = coverage_detection(codes, machine.covered, study.of_response, study.query_of_unit)
        counts = figures.n_both, figures.n_only_machine, figures.n_only_people, figures.n_neither
        detection = AspectDetection(
            pooled={name: to_figure(one, quick=quick) for name, one in figures.pooled.items()},
            mean={name: to_figure(one, quick=quick) for name, one in figures.mean.items()},
            counts=dict(zip(CELLS, map(int, counts), strict=True)),
        )
    return MachineCoverage(
        key=machine.key,
        title=machine.title,
        is_of_supported_claims=machine.has_claims,
        failures=dict(sorted(machine.failures.items())),
        correlations=_correlations(study, machine.coverage, coverage.share, quick=quick),
        detection=detection,
        n_labels_all=n_labels[0],
        n_labels_untouched=n_labels[1],
    )


def _baseline(
    study: CoverageStudy, items: AspectItems, everyone: ResponseCoverage, run: Run, name: str, *, quick: bool
) -> BaselineMeasure:
    values = study.by_response(study.scores(run, name))
    items.add_correlated(name, BASELINES[name], values, everyone.share, run.uuid)
    return BaselineMeasure(
        key=name,
        title=BASELINES[name],
        correlations=_correlations(study, values, everyone.share, quick=quick),
        missing=_why_missing(run, name) if np.isnan(values).all() else "",
    )


def _aspect_sets(
    study: CoverageStudy,
    items: AspectItems,
    everyone: ResponseCoverage,
    names: list[str],
    beta: float,
    convention: str,
    *,
    quick: bool,
) -> AspectSets:
    others, found = [_study_beside(study, name) for name in names], []
    for other in others:
        n_before = sum(len(one.rows) for one in found)
        found.append(_other_aspects(study, items, everyone, other, n_before, quick=quick))
    scores = [row for one in (study, *others) for row in _scores_of_set(one, beta, convention, quick=quick)]
    return AspectSets(n_aspects=_mean_aspects(study), scores=scores, others=found)


def _study_beside(study: CoverageStudy, name: str) -> CoverageStudy:
    source = study.source.sibling(name)
    dimension = covering_dimension(source.type)
    if dimension is None:
        raise ValueError(f"{name} judges no aspects in answers")
    return CoverageStudy(source, dimension, study.reference, study.k, study.ties)


def _mean_aspects(study: CoverageStudy) -> float | None:
    return number(float(study.n_aspects.mean())) if len(study.n_aspects) else None


def _other_aspects(
    study: CoverageStudy,
    items: AspectItems,
    everyone: ResponseCoverage,
    other: CoverageStudy,
    n_before: int,
    *,
    quick: bool,
) -> OtherAspects:
    """Coverage of the other set's aspects in these answers, by people and machines, with people's coverage here. Rows
    are numbered after the `n_before` of sets before this one."""
    place = {key: row for row, key in enumerate(other.responses["response"])}
    at = np.array([place.get(key, -1) for key in study.responses["response"]], dtype=int)
    people, _ = other.people(latest(other.labels))
    sides = [("Majority of people" if study.reference == "majority" else TITLES[study.reference], people.share)]
    sides += [(machine.title, machine.coverage) for machine in other.machines()]
    rows = []
    for row, (title, values) in enumerate(sides, n_before):
        there = np.append(values, np.nan)[at]
        both = ~np.isnan(there) & ~np.isnan(everyone.share)
        items.add_correlated(f"other{row}", f"{title} on {other.source.units_title}", there, everyone.share, "")
        found = moved(everyone.share[both], there[both], study.query[both], n_resamples=0 if quick else RESAMPLES)
        figures = (found.before[0], found.now[0], found.moved)
        here_there = [plain_figure(one.estimate, one.undefined, found.n, one.interval) for one in figures]
        rows.append(
            OtherCoverage(
                name=f"other{row}",
                title=title,
                **dict(zip(("here", "there", "distance"), here_there, strict=True)),
                correlations=_correlations(study, there, everyone.share, quick=quick),
            )
        )
    return OtherAspects(
        project=other.source.slug,
        units_title=other.source.units_title,
        n_aspects=_mean_aspects(other),
        rows=rows,
    )


def _scores_of_set(study: CoverageStudy, beta: float, convention: str, *, quick: bool) -> list[ScoresOfSet]:
    """By each machine that tells which claims are supported."""
    rows = []
    everywhere = np.ones(len(study.responses), dtype=bool)
    for machine in study.machines():
        if not machine.has_claims:
            continue
        scores = icat_scores(
            machine.n_supported, machine.n_claims, machine.n_covered, machine.n_aspects, beta, convention
        )
        figures = {
            figure: to_figure(mean_icat(scores, figure, everywhere, study.query), quick=quick) for figure in FIGURES
        }
        title = f"{study.source.units_title} ({study.source.slug})"
        rows.append(ScoresOfSet(title=title, machine=machine.title, **figures))
    return rows


def _why_missing(run: Run, name: str) -> str:
    """In words, what a measure lacked that has no value at all."""
    wordnet = run.provenance.get("wordnet", "")
    if name == "meteor" and not wordnet[:1].isdigit():
        return (
            "METEOR needs WordNet, which was not on the machine that made the run. Install there what requirements.txt "
            "names, which brings its files, and run the baselines again."
        )
    if name == "bertscore" and not run.parameters.get("model"):
        return "BERTScore needs a model; the run was started without one."
    return f"{BASELINES[name]} is undefined for all answers."


def _correlations(
    study: CoverageStudy, values: np.ndarray, people: np.ndarray, *, quick: bool
) -> list[CoverageCorrelation]:
    """Of answers' coverage by people and another measure; both resample and permute whole queries."""
    coverage_correlations = []
    for name, title in COEFFICIENTS.items():
        test = None
        if not quick:
            done = correlation_test(values, people, name, cluster=study.query.tolist())
            test = CoverageTest.taking(done)
        figure = to_figure(FUNCTIONS[name](values, people, study.query), quick=quick)
        coverage_correlations.append(CoverageCorrelation(name=name, title=title, figure=figure, test=test))
    return coverage_correlations


def _corrected(rows: list[Measure]) -> list[Measure]:
    """The same with Holm's adjustment, for each coefficient over all measures that were tested."""
    adjusted = []
    for of_name in zip(*(row.correlations for row in rows), strict=True):
        tests = [one.test for one in of_name if one.test]
        p_values = iter(holm([np.nan if test.p_value is None else test.p_value for test in tests]) if tests else ())
        adjusted.append(
            [
                replace(one, test=replace(one.test, p_holm=number(float(next(p_values))))) if one.test else one
                for one in of_name
            ]
        )
    return [replace(row, correlations=list(own)) for row, own in zip(rows, zip(*adjusted, strict=True), strict=True)]


def _points(study: CoverageStudy, everyone: ResponseCoverage, machine: Machine | None) -> PlottedAnswers | None:
    """Answers with both coverages, for the picture."""
    if machine is None:
        return None
    automatic = machine.coverage
    both = np.flatnonzero(~np.isnan(automatic) & ~np.isnan(everyone.share))
    rows = study.responses.iloc[both[:MAX_POINTS]]
    return PlottedAnswers(
        key=machine.key,
        title=machine.title,
        n=len(both),
        answers=[
            PlottedAnswer(
                response=row.response,
                query=row.query,
                model=row.model,
                people=float(everyone.share[place]),
                automatic=float(automatic[place]),
            )
            for row, place in zip(rows.itertuples(), both, strict=False)
        ],
    )


def _notes(result: Icat, study: CoverageStudy, chosen: Machine | None, machines: list[Machine]) -> list[str]:
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
    if result.agreement.n_fewer and result.reference == "majority":
        notes.append(
            f"{result.agreement.n_fewer:,} of {n_of(result.n_units, 'aspects')} "
            f"{either(result.agreement.n_fewer, 'has', 'have')} fewer than {ANNOTATORS} labels; ICAT's study "
            "has three annotators for each."
        )
    if any(not machine.has_claims for machine in machines):
        notes.append(
            "A checker's coverage is that of the whole answer. ICAT's counts only what supported claims cover, which "
            "is what its scorer and imported results give."
        )
    for one in result.compared:
        touched = one.n_labels_all - one.n_labels_untouched
        if touched:
            notes.append(
                f"{one.title}: {one.n_labels_untouched:,} of {n_of(one.n_labels_all, 'labels')} count "
                "against it; it touched the others."
            )
    if not result.baselines:
        notes.append("No baselines: start the checker “ROUGE, BLEU, METEOR and BERTScore” on the project's page.")
    notes += [row.missing for row in result.baseline_rows if row.missing]
    if result.points and result.points.n > MAX_POINTS:
        notes.append(f"The picture shows the first {MAX_POINTS:,} of {n_of(result.points.n, 'answers')}.")
    return notes


def _what_to_start(study: CoverageStudy) -> str:
    start = "No factuality yet: start the checker “Facts and aspects (ICAT)” on the project's page."
    return f"{start} {_what_is_missing(study)}".strip()


def _what_is_missing(study: CoverageStudy) -> str:
    """Which answers lack atomic claims, and which questions passages."""
    claims, passages = study.content_of("atomic_claim", "response"), study.content_of("evidence", "question")
    answers, queries = study.responses["response"].tolist(), study.responses["query"].drop_duplicates().tolist()
    without, bare = sum(not claims[name] for name in answers), sum(not passages[name] for name in queries)
    reasons = []
    if without:
        reasons.append(
            f"{without:,} of {n_of(len(answers), 'answers')} {either(without, 'has', 'have')} no atomic claims: "
            "extract them in a project on this data set that judges the form of atomic claims, review and publish "
            "them."
        )
    if bare:
        reasons.append(
            f"{bare:,} of {n_of(len(queries), 'questions')} {either(bare, 'has', 'have')} no passages to look claims "
            "up in: import a corpus with qrels, or retrieve passages and publish them."
        )
    return " ".join(reasons)

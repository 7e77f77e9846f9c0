"""Does query expansion retrieve, or repeat what the model knows? Matched generations, and what retrievals gain.

The study's analyses (Yoon et al. 2025) on a project's own data: how many generated documents hold gold evidence,
whether a checker finds the same ones as people, and how well gold evidence is retrieved and claims are judged for
matched and for unmatched claims.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pandas as pd

from analysis.figures.items import Items
from analysis.figures.results import number
from analysis.papers.leakage.choices import MEASURES
from analysis.papers.leakage.items import add_comparisons, add_generations, add_retrievals, is_defined
from analysis.papers.leakage.matching import Compared, JudgedDocuments, SideVerdicts, judged, proportions, set_against
from analysis.papers.leakage.result import (
    GroupMeans,
    GroupTest,
    Leakage,
    MeasuredGroups,
    RepeatedFigure,
    RetrievalFamily,
    RowsByGroup,
)
from analysis.papers.leakage.retrieval import Family, families, retrievals_of
from analysis.papers.leakage.texts import Texts
from analysis.papers.leakage.verdicts import CUTOFFS, judge_of
from analysis.reports.common import REFERENCES
from analysis.reports.detections import check_split
from analysis.reports.estimates import to_figure
from analysis.reports.inference import counted_labels
from analysis.reports.labels.dimensions import SPLIT_BY, against
from analysis.reports.labels.judgements import add_judgements, new_items
from analysis.reports.labels.reference import decisions_left_out
from analysis.sources.base import Source
from analysis.sources.outline import Run
from analysis.sources.touched import latest
from analysis.stats import (
    RankSum,
    RepeatedEstimate,
    holm,
    mann_whitney,
    repeated_difference,
    repeated_macro_f1,
    repeated_mean,
)
from annotation.models import UnitKind

RANKED = {"recall": "Recall", "ndcg": "NDCG"}


def compute(
    source: Source,
    *,
    reference: str = "majority",
    run: str = "",
    touched: bool = False,
    by: str = "people",
    documents: str = "",
    verdicts: str = "",
    similarity: str = "rouge-l",
    quick: bool = False,
) -> tuple[Leakage, Items]:
    """The report on leakage.

    `run` is a checker run of the project, the automatic matching; `by` says whose matching splits the claims. People's
    labels that the run's suggestions touched count only with `touched`. `documents` and `verdicts` are other projects
    on the data set: one that judges whole documents, and one whose newest verdict run is taken. Raises ValueError for
    wrong choices.
    """
    check_split(by, run)
    checker = source.run(run) if run else None
    judgements = judged(source, reference, checker, touched)
    others = {slug: source.sibling(slug) for slug in (documents, verdicts) if slug}
    texts = Texts("none" if quick else similarity)
    judge = judge_of(others[verdicts]) if verdicts else None
    sources = list({one.slug: one for one in (source, *others.values())}.values())
    retrieved = families(sources, judgements, by, texts, judge)
    n_unselected = len(retrievals_of(sources)) - sum(len(family.runs) for family in retrieved)
    measures = _measures(texts.is_on, judge is not None)
    compared = _comparisons(source, judgements, checker, others.get(documents), reference, quick)
    left_out = decisions_left_out(source, reference, judgements.units, against(checker, touched))
    items = new_items(judgements.units, runs=[run], decisions="" if reference == "majority" else reference)
    labels = latest(source.label_frame(judgements.units, every_revision=True))
    add_judgements(items, source.type, counted_labels(source, judgements.units, checker, touched), labels)
    add_generations(items, judgements, run)
    add_comparisons(items, judgements, compared, run)
    add_retrievals(items, judgements, retrieved, measures)
    result = Leakage(
        reference=reference,
        reference_title=REFERENCES[reference],
        run=run,
        checker=checker.name if checker else "",
        touched=touched,
        by=by,
        by_title=SPLIT_BY[by],
        documents=documents,
        verdicts=verdicts,
        verdict_run=judge.name if judge else "",
        verdict_labels=list(judge.labels) if judge else [],
        verdict_by="" if judge is None else "together" if judge.reads_together else "each",
        similarity=similarity,
        similarity_title=MEASURES[similarity],
        sides=list(judgements.sides),
        n_units=len(judgements.units),
        n_others=judgements.n_others,
        unit="pairs" if source.type.unit_kind == UnitKind.PAIR else "documents",
        generators=proportions(judgements, quick=quick),
        comparisons=[one.result for one in compared],
        measures=measures,
        families=_measured_families(retrieved, list(measures), judge.labels if judge else (), quick),
        notes=[],
    )
    notes = _notes(result, judgements, retrieved, n_unselected, texts, quick) + ([left_out.words] if left_out else [])
    return msgspec.structs.replace(result, notes=notes), items


def _measures(has_texts: bool, has_verdicts: bool) -> dict[str, str]:
    titles = {f"{name}@{k}": f"{title}@{k}" for k in CUTOFFS for name, title in RANKED.items()}
    titles |= {f"similarity@{k}": f"Similarity@{k}" for k in CUTOFFS if has_texts}
    return titles | {f"verdict@{k}": f"Verdict macro-F1@{k}" for k in CUTOFFS if has_verdicts}


def _measured_families(
    retrieved: Sequence[Family], measures: list[str], labels: Sequence[str], quick: bool
) -> list[RetrievalFamily]:
    """Every measure of every family in all groups; p values are adjusted by Holm over all tests of the report."""
    tests = [{name: _test(family.rows, name) for name in measures} for family in retrieved]
    adjusted = iter(holm([test.p_value for mine in tests for test in mine.values()]).tolist())
    return [
        _family(family, {name: (test, next(adjusted)) for name, test in mine.items()}, labels, quick)
        for family, mine in zip(retrieved, tests, strict=True)
    ]


def _family(
    family: Family, tests: dict[str, tuple[RankSum, float]], labels: Sequence[str], quick: bool
) -> RetrievalFamily:
    rows = family.rows
    members = {"all": rows["matched"] >= -1, "matched": rows["matched"] == 1, "unmatched": rows["matched"] == 0}
    return RetrievalFamily(
        title=family.title,
        generator=family.generator,
        runs=family.runs,
        n_claims=int(rows["query"].nunique()),
        n_rows=RowsByGroup(**{name: int(mask.sum()) for name, mask in members.items()}),
        n_undecided=int((rows["matched"] == -1).sum()),
        measures={name: _measured(rows, members, name, *test, labels, quick) for name, test in tests.items()},
        notes=family.notes,
    )


def _test(rows: pd.DataFrame, name: str) -> RankSum:
    values = rows[name]
    if name.startswith("verdict"):
        values = (rows["verdict"] == rows[name]).astype(float).where(is_defined(rows, name))
    return mann_whitney(values.to_numpy(dtype=float), rows["matched"].to_numpy(), rows["query"].tolist())


def _measured(
    rows: pd.DataFrame,
    members: dict[str, pd.Series],
    name: str,
    test: RankSum,
    p_holm: float,
    labels: Sequence[str],
    quick: bool,
) -> MeasuredGroups:
    """One measure of one family in all groups, the difference of the two, and the test by ranks."""
    by_group = {group: _repeated(rows[mask], name, labels) for group, mask in members.items()}
    return MeasuredGroups(
        groups=GroupMeans(
            **{
                group: RepeatedFigure.extending(
                    to_figure(one, quick=quick),
                    standard_error=number(one.standard_error),
                    n_repetitions=sum(value == value for value in one.per_repetition.values()),
                    n_claims=one.n_queries,
                )
                for group, one in by_group.items()
            }
        ),
        difference=to_figure(repeated_difference(by_group["matched"], by_group["unmatched"]), quick=quick),
        test=GroupTest.taking(
            test,
            p_holm=number(p_holm),
            effect=to_figure(test, quick=quick),
            n_matched=test.n_first,
            n_unmatched=test.n_second,
        ),
    )


def _repeated(rows: pd.DataFrame, name: str, labels: Sequence[str]) -> RepeatedEstimate:
    queries, repetitions = rows["query"].tolist(), rows["repetition"].tolist()
    if name.startswith("verdict"):
        return repeated_macro_f1(rows["verdict"].to_numpy(), rows[name].to_numpy(), labels, queries, repetitions)
    return repeated_mean(rows[name].to_numpy(dtype=float), queries, repetitions)


def _comparisons(
    source: Source, documents: JudgedDocuments, checker: Run | None, other: Source | None, reference: str, quick: bool
) -> list[Compared]:
    """The checker against people by unit and by document, and everybody against people's labels of whole documents."""
    claims = documents.units.drop_duplicates("document").set_index("document")["claim"]
    by_document = {side: documents.verdicts(side, ["document"]) for side in documents.sides}
    rows = []

    def compare_documents(people: SideVerdicts, checker: SideVerdicts) -> None:
        rows.append(set_against("documents", people, checker, claims, quick=quick))

    if checker is not None:
        units = documents.units["unit"]
        codes = {side: pd.Series(documents.sides[side].code, index=units) for side in documents.sides}
        level = "pairs" if source.type.unit_kind == UnitKind.PAIR else "documents"
        people, automatic = SideVerdicts("people", codes["people"]), SideVerdicts(checker.name, codes["checker"])
        of_units = documents.units.set_index("unit")["claim"]
        rows.append(set_against(level, people, automatic, of_units, quick=quick, is_of_units=True))
        if level == "pairs":
            people = SideVerdicts("people, by pairs", by_document["people"])
            compare_documents(people, SideVerdicts(checker.name, by_document["checker"]))
    if other is not None:
        theirs = judged(other, other.reference_for(reference), None, False)
        people = SideVerdicts(f"people, by documents ({other.slug})", theirs.verdicts("people", ["document"]))
        if checker is not None:
            compare_documents(people, SideVerdicts(checker.name, by_document["checker"]))
        compare_documents(people, SideVerdicts("people, by pairs", by_document["people"]))
    return rows


def _notes(
    result: Leakage, documents: JudgedDocuments, retrieved: list[Family], n_unselected: int, texts: Texts, quick: bool
) -> list[str]:
    notes = []
    if not (documents.sides["people"].code >= 0).any():
        notes.append("Nobody has labelled anything yet, so no claim is matched or unmatched by people.")
    if not result.run:
        notes.append("No automatic matching: run a checker on this project (the study used nli) and choose its run.")
    if not result.documents:
        notes.append("Whole documents are judged in another project on the data set: choose it if there is one.")
    if n_unselected:
        notes.append(f"Retrievals that searched with documents that are not selected are left out: {n_unselected:,}.")
    elif not retrieved:
        notes.append(
            "No retrieval: run one for the claims (Retrieval on the project's page, or manage.py retrieve), with "
            "query expansion and without."
        )
    if retrieved and not any(family.generator for family in retrieved):
        notes.append(
            "No retrieval searched with a document that is judged here, so claims are split by whether any document "
            "generated for them is matched. To split by the document that was searched with, store the documents "
            "on the page of the retrieval."
        )
    if not result.verdicts:
        notes.append("No verdicts: choose a project in which a checker gave verdicts on what the retrievals found.")
    elif not result.verdict_run:
        notes.append(
            f"Project {result.verdicts} has no run that gives verdicts: judge the passages of a retrieval there, or "
            "run the checker “verdict” where single pieces of evidence are judged."
        )
    if quick:
        notes.append("Texts are compared when the whole report is computed.")
    elif texts.problem:
        notes.append(texts.problem)
    if result.similarity == "bertscore" and texts.is_on:
        notes.append(
            "BERTScore is from MiniLM's last layer, without idf and rescaling; the study's is from "
            "deberta-xlarge-mnli, so its numbers are on another scale."
        )
    if texts.remark:
        notes.append(texts.remark)
    return notes + list(dict.fromkeys(note for family in retrieved for note in family.notes))

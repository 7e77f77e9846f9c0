"""The page on leakage: which generations hold gold evidence, and what retrieval and verdicts gain where they do."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from analysis.figures.items import Filter
from analysis.figures.page import Answer, Page, Rule, Section, first_that_applies
from analysis.figures.pictures import Axis, IntervalRow, Intervals
from analysis.figures.results import Figure
from analysis.figures.tables import Column, Table
from analysis.papers.leakage.choices import MEASURES, document_projects, refuses, verdict_projects
from analysis.papers.leakage.result import Generator, Leakage, MeasuredGroups, RetrievalFamily, SidesCompared
from analysis.reports.common import A_RUN_OR_NONE, BY, REFERENCE, TOUCHED
from analysis.reports.options import LABELS, STATISTICS, Option
from analysis.reports.report import Report
from analysis.reports.words.captions import counted
from analysis.reports.words.numbers import n_of
from analysis.reports.words.sentences import sentences

GROUPS = {"all": "all claims", "matched": "matched", "unmatched": "unmatched"}
STATUS = ("matched", "unmatched", "undecided")
CELLS = {"both": "Both", "people": "Reference only", "checker": "Other only", "neither": "Neither"}
ALONE = {
    "people_alone": ("Without the other's label", lambda row: row.n_people_only),
    "checker_alone": ("Without a reference", lambda row: row.n_checker_only),
}
# The cells that a figure of a comparison is computed from.
COUNTED = {
    "f1": ("F1", tuple(CELLS)),
    "precision": ("Precision", ("both", "checker")),
    "recall": ("Recall", ("both", "people")),
    "accuracy": ("Accuracy", tuple(CELLS)),
    "kappa": ("Cohen's kappa", tuple(CELLS)),
    "share_people": ("Matched by the reference", ("both", "people")),
    "share_checker": ("Matched by the other", ("both", "checker")),
}


def page(result: Leakage) -> Page:
    pictures = {measure: _picture(result, measure) for measure in result.measures}
    drawn = [picture for picture in pictures.values() if picture]
    sections = [Section("Do generations hold gold evidence?", [_proportions(result)])]
    if result.comparisons:
        parts = [_agreement(result), _cells(result)]
        sections.append(Section("Is the same found as by people?", parts))
    if result.families:
        sections += [
            Section(
                _title(result, measure),
                [pictures[measure], _groups(result, measure), _tests(result, measure)],
            )
            for measure in result.measures
        ]
    return Page(_answer(result, next(iter(drawn), None) or _proportions_picture(result)), sections, result.notes)


# ---- generations ----


def _name(generator: Generator) -> str:
    return "/".join(name or "-" for name in (generator.method, generator.model, generator.setting))


def _proportions(result: Leakage) -> Table:
    def of(place: int, **more) -> Filter:
        return Filter({"generator": str(place)} | {f"generation.{side}": status for side, status in more.items()})

    def status(side: str, name: str) -> Column:
        return Column(
            f"{side}: {name}",
            lambda one: getattr(one[1].sides[side], name),
            items=lambda one: of(one[0], **{side: name}),
            counts="generation",
        )

    def share(side: str) -> list[Column]:
        return [
            Column(
                f"{side}: share matched",
                lambda one: one[1].sides[side].share,
                interval=True,
                items=lambda one: (
                    of(one[0], **{side: ("matched", "unmatched")}) if one[1].sides[side].share.n_pairable else None
                ),
                counts="generation",
            ),
            Column(f"{side}: SE over repetitions", lambda one: one[1].sides[side].standard_error),
        ]

    columns = [
        Column("Generator", lambda one: _name(one[1])),
        Column("Documents", lambda one: one[1].n_documents, items=lambda one: of(one[0]), counts="document"),
        Column("Claims", lambda one: one[1].n_claims, items=lambda one: of(one[0]), counts="claim"),
        Column("Repetitions", lambda one: one[1].n_repetitions),
    ]
    for side in result.sides:
        columns += [*(status(side, name) for name in STATUS), *share(side)]
    return Table(
        "Generations that hold gold evidence",
        columns,
        list(enumerate(result.generators)),
        "A generation is what one generator wrote for one claim in one repetition. Undecided ones, where a label is "
        "missing that could still make them matched, are left out of the share.",
    )


def _proportions_picture(result: Leakage) -> Intervals | None:
    items = tuple(
        IntervalRow(
            _name(row),
            share.estimate,
            share.low,
            share.high,
            n=share.n_pairable,
            series=side,
            undefined=share.undefined,
            figure=Filter({"generator": str(place), f"generation.{side}": "matched"}).encoded
            if row.sides[side].matched
            else "",
        )
        for place, row in enumerate(result.generators)
        for side in result.sides
        for share in (row.sides[side].share,)
    )
    if all(item.value is None for item in items):
        return None
    return Intervals(
        name="leakage-matched",
        title="Share of generations that hold gold evidence",
        caption=(
            f"Generations in {result.project}, {counted(items, 'generations')}. Means over repetitions; 95 % bootstrap "
            "intervals over claims."
        ),
        alt=_said(items),
        items=items,
        values=Axis("Share matched", 0.0, 1.0),
        rows_title="Generator",
        series_title="According to",
    )


def _said(items: tuple[IntervalRow, ...]) -> str:
    return "; ".join(
        f"{item.row}, {item.series}: {'undefined' if item.value is None else f'{item.value:.3f}'}" for item in items
    )


# ---- comparisons ----


def _compared(columns: list[Column], title: str, result: Leakage, note: str = "") -> Table:
    who = [
        Column("Level", lambda one: one[1].level),
        Column("Reference", lambda one: one[1].people),
        Column("Against it", lambda one: one[1].checker),
    ]
    return Table(title, [*who, *columns], list(enumerate(result.comparisons)), note)


def _counts_of(result: Leakage) -> Callable[[tuple[int, SidesCompared]], str]:
    """What a comparison counts: units, or documents."""
    return lambda one: "document" if one[1].level == "documents" and result.unit == "pairs" else ""


def _in_cells(one: tuple[int, SidesCompared], cells: tuple[str, ...]) -> Filter | None:
    place, row = one
    return Filter({f"comparison{place}": cells}) if any(getattr(row.counts, cell) for cell in cells) else None


def _agreement(result: Leakage) -> Table:
    def figure(name: str, title: str, cells: tuple[str, ...]) -> Column:
        return Column(
            title,
            lambda one: getattr(one[1], name),
            interval=True,
            items=lambda one: _in_cells(one, cells),
            counts=_counts_of(result) if cells == tuple(CELLS) else None,
        )

    n = Column(
        "n",
        lambda one: one[1].f1.n_pairable,
        items=lambda one: _in_cells(one, tuple(CELLS)),
        counts=_counts_of(result),
    )
    return _compared(
        [n, *(figure(name, title, cells) for name, (title, cells) in COUNTED.items())],
        "Matching against people's labels",
        result,
        "F1, precision and recall are of matched. Units or documents without a label on either side are left out.",
    )


def _cells(result: Leakage) -> Table:
    def count(title: str, cell: str, value: Callable[[SidesCompared], int]) -> Column:
        return Column(
            title,
            lambda one: value(one[1]),
            items=lambda one: Filter({f"comparison{one[0]}": cell}),
            counts=_counts_of(result),
        )

    columns = [count(title, cell, lambda row, cell=cell: getattr(row.counts, cell)) for cell, title in CELLS.items()]
    columns += [count(title, cell, value) for cell, (title, value) in ALONE.items()]
    return _compared(columns, "Who calls what matched", result)


# ---- retrievals ----


def _of_claims(place: int, measure: str, group: str) -> Filter:
    return Filter({f"retrieval{place}.{measure}.{group}": "yes"})


def _title(result: Leakage, measure: str) -> str:
    similarity = f"{result.similarity_title.partition(' (')[0]}, best assignment "
    return result.measures[measure].replace("Similarity", similarity)


Row = tuple[int, RetrievalFamily, MeasuredGroups]


def _measured(result: Leakage, measure: str) -> list[Row]:
    return [(place, family, family.measures[measure]) for place, family in enumerate(result.families)]


def _groups(result: Leakage, measure: str) -> Table:
    def claims(one: tuple[Row, str]) -> Filter | None:
        (place, _, found), group = one
        return _of_claims(place, measure, group) if getattr(found.groups, group).n_claims else None

    def means(one: tuple[Row, str]):
        return getattr(one[0][2].groups, one[1])

    title = _title(result, measure)
    return Table(
        title,
        [
            Column("Retrieval", lambda one: one[0][1].title),
            Column("Claims", lambda one: GROUPS[one[1]]),
            Column("n", lambda one: means(one).n_claims, items=claims, counts="claim"),
            Column(title, means, interval=True, items=claims, counts=None),
            Column("SE over repetitions", lambda one: means(one).standard_error),
            Column("Repetitions", lambda one: means(one).n_repetitions),
        ],
        [(row, group) for row in _measured(result, measure) for group in GROUPS],
    )


def _tests(result: Leakage, measure: str) -> Table:
    def both(one: Row) -> Filter | None:
        test = one[2].test
        return _of_claims(one[0], measure, "decided") if test.n_matched + test.n_unmatched else None

    def count(title: str, name: str) -> Column:
        return Column(
            title,
            lambda one: getattr(one[2].test, f"n_{name}"),
            items=lambda one: _of_claims(one[0], measure, name),
            counts="claim",
        )

    note = "The test is of whether each claim's verdict is right." if measure.startswith("verdict") else ""
    return Table(
        f"{_title(result, measure)}: matched minus unmatched",
        [
            Column("Retrieval", lambda one: one[1].title),
            Column("Difference", lambda one: one[2].difference, interval=True, items=both, counts=None),
            Column("Mann-Whitney U", lambda one: one[2].test.u),
            Column("p", lambda one: one[2].test.p_value),
            Column("p (Holm)", lambda one: one[2].test.p_holm),
            Column("P(matched > unmatched)", lambda one: one[2].test.effect, interval=True, items=both, counts=None),
            Column("Rank-biserial", _rank_biserial, interval=True),
            count("n matched", "matched"),
            count("n unmatched", "unmatched"),
            count("In both", "in_both"),
        ],
        _measured(result, measure),
        note,
    )


def _rank_biserial(one: Row) -> Figure:
    """Twice the chance minus 1, and so are the ends of its interval."""
    test = one[2].test
    low, high = (None if end is None else 2 * end - 1 for end in (test.effect.low, test.effect.high))
    return msgspec.structs.replace(test.effect, estimate=test.rank_biserial, low=low, high=high)


def _picture(result: Leakage, measure: str) -> Intervals | None:
    items = tuple(
        IntervalRow(
            family.title,
            found.estimate,
            found.low,
            found.high,
            n=found.n_claims,
            series=words,
            undefined=found.undefined,
            figure=_of_claims(place, measure, group).encoded if found.n_claims else "",
        )
        for place, family, measured in _measured(result, measure)
        for group, words in GROUPS.items()
        for found in (getattr(measured.groups, group),)
    )
    if not items or all(item.value is None for item in items):
        return None
    name = _title(result, measure)
    return Intervals(
        name=f"leakage-{measure.replace('@', '-')}",
        title=f"{name} of matched and unmatched claims",
        caption=(
            f"{name} in {result.project}, for all claims and for those whose generations do and do not hold gold "
            f"evidence by {result.by_title}, {counted(items, 'claims')}. Means over repetitions; 95 % bootstrap "
            "intervals over claims."
        ),
        alt=_said(items),
        items=items,
        values=Axis(name),
        rows_title="Retrieval",
        series_title="Claims",
    )


# ---- what the page begins with ----


def _known(result: Leakage) -> list[Generator]:
    return [row for row in result.generators if row.sides[result.by].share.is_defined]


def _most(result: Leakage) -> Generator:
    return max(_known(result), key=lambda row: row.sides[result.by].share.estimate)


def _gains(result: Leakage) -> list[Row]:
    """Retrievals of which the first measure is known of matched and of unmatched claims."""
    measure = next(iter(result.measures), "")
    return [row for row in _measured(result, measure) if row[2].difference.is_defined] if measure else []


def _greatest(result: Leakage) -> Row:
    return max(_gains(result), key=lambda row: abs(row[2].difference.estimate))


def _of_groups(result: Leakage) -> str:
    _, family, found = _greatest(result)
    title = _title(result, next(iter(result.measures)))
    matched, unmatched = (getattr(found.groups, group).written() for group in ("matched", "unmatched"))
    return f"{title} of {family.title} is {matched} for matched and {unmatched} for unmatched claims"


def _is_shown(figure: Figure) -> bool:
    return figure.low is not None and (figure.low > 0 or figure.high < 0)


MATCHED_RULES = (
    Rule(
        "nothing decided",
        lambda result: not _known(result),
        lambda result: f"Whether generations hold gold evidence is not known: none is decided by {result.by_title}.",
    ),
    Rule(
        "one generator",
        lambda result: len(result.generators) == 1,
        lambda result: (
            f"By {result.by_title}, a share of {_most(result).sides[result.by].share.written()} of the generations "
            "holds gold evidence (95 % interval)."
        ),
    ),
    Rule(
        "several generators",
        lambda result: True,
        lambda result: (
            f"By {result.by_title}, gold evidence is most common in the generations of {_name(_most(result))}, with a "
            f"share of {_most(result).sides[result.by].share.written()} (95 % interval)."
        ),
    ),
)
AGREEMENT_RULES = (
    Rule(
        "nothing to compare",
        lambda result: not result.comparisons or not result.comparisons[0].f1.is_defined,
        lambda result: "",
    ),
    Rule(
        "compared",
        lambda result: True,
        lambda result: (
            f"Against {result.comparisons[0].people}, {result.comparisons[0].checker} has an F1 of "
            f"{result.comparisons[0].f1.written()} for matched {result.comparisons[0].level}."
        ),
    ),
)
RETRIEVAL_RULES = (
    Rule("no retrieval", lambda result: not result.families, lambda result: ""),
    Rule(
        "one group",
        lambda result: not _gains(result),
        lambda result: "What retrieval gains where evidence leaks is not known: there are not both groups of claims.",
    ),
    Rule(
        "without interval",
        lambda result: _greatest(result)[2].difference.low is None,
        lambda result: f"{_of_groups(result)}.",
    ),
    Rule(
        "difference",
        lambda result: _is_shown(_greatest(result)[2].difference),
        lambda result: f"{_of_groups(result)}: a difference of {_greatest(result)[2].difference.written()}.",
    ),
    Rule(
        "no difference",
        lambda result: True,
        lambda result: (
            f"{_of_groups(result)}; a difference is not shown ({_greatest(result)[2].difference.written()})."
        ),
    ),
)
NEXT = (
    Rule(
        "nothing decided",
        lambda result: not _known(result),
        lambda result: f"label {result.unit}, or choose a run and split by its labels",
    ),
    Rule("no checker", lambda result: not result.run, lambda result: "run a checker, and choose its run"),
    Rule(
        "no retrieval",
        lambda result: not result.families,
        lambda result: "run a retrieval for the claims, with query expansion and without",
    ),
    Rule(
        "no verdicts",
        lambda result: not result.verdict_run,
        lambda result: "choose a project of claims on which the checker “verdict” was run",
    ),
)


def _sentences(result: Leakage) -> Iterator[str]:
    for rules in (MATCHED_RULES, AGREEMENT_RULES, RETRIEVAL_RULES):
        if said := first_that_applies(rules, result):
            yield said


def _answer(result: Leakage, picture: Intervals | None) -> Answer:
    n_documents = sum(row.n_documents for row in result.generators)
    n = (
        f"n = {n_of(result.n_units, result.unit)} in {n_of(n_documents, 'documents')} of "
        f"{n_of(len(result.generators), 'generators')}; {n_of(len(result.families), 'retrievals')}."
        if result.unit == "pairs"
        else f"n = {n_of(n_documents, 'documents')} of {n_of(len(result.generators), 'generators')}; "
        f"{n_of(len(result.families), 'retrievals')}."
    )
    return Answer(tuple(_sentences(result)), n, picture, first_that_applies(NEXT, result))


# ---- the paragraph for a paper ----


def methods(result: Leakage) -> str:
    by = f"people's labels ({result.reference_title.lower()})" if result.by == "people" else result.checker
    touched = "" if result.touched else "; labels given after a suggestion of that checker was shown did not count"
    return sentences(
        f"A generation (what one generator wrote for one claim in one repetition) counted as matched where any of its "
        f"{result.unit} was judged to hold gold evidence, and as unmatched where every one was judged not to; "
        f"undecided generations were left out. Claims were split by {by}.",
        f"Automatic matching was by {result.checker}{touched}." if result.run else "",
        "Shares and measures of agreement have 95 % bootstrap intervals that draw claims; where either side calls "
        "nothing or everything matched, its share has the exact interval of Clopper and Pearson."
        if result.comparisons
        else "Shares have 95 % bootstrap intervals that draw claims.",
        *(_of_retrievals(result) if result.families else ()),
        *_sentences(result),
    )


def _of_retrievals(result: Leakage) -> Iterator[str]:
    yield (
        "Recall@k and NDCG@k (binary relevance) were computed with trec_eval through pytrec-eval-terrier, a document "
        "standing at its first passage; claims without gold evidence were left out."
    )
    if any(measure.startswith("similarity") for measure in result.measures):
        yield (
            "Retrieved passages and gold evidence were compared by "
            f"{result.similarity_title.partition(' (')[0]} under the best one-to-one assignment, divided by the number "
            "of pieces of gold evidence."
        )
    if any(measure.startswith("verdict") for measure in result.measures):
        yield (
            f"A claim's verdict was the most probable one by the mean of {result.verdict_run}'s probabilities over the "
            "first k passages that it had judged; macro-F1 is over true, none and false."
        )
    yield (
        "Figures are means over repeated generations with the standard error over repetitions; 95 % bootstrap "
        "intervals draw claims with all their repetitions. Matched and unmatched claims were compared by two-sided "
        "Mann-Whitney U tests on claims' means over repetitions, with Holm's correction over all tests of the report; "
        "the effect size is the chance that a matched claim has the greater value."
    )


REPORT = Report(
    "leakage",
    "Leakage in query expansion",
    "analysis.papers.leakage.compute",
    (
        REFERENCE,
        A_RUN_OR_NONE,
        TOUCHED,
        BY,
        Option(
            "documents",
            "Whole documents judged in",
            kind="project",
            choices=document_projects,
            default="",
            missing="no project on this data set judges gold evidence in generated documents; make one first",
            group=LABELS,
        ),
        Option(
            "verdicts",
            "Verdicts of",
            kind="project",
            choices=verdict_projects,
            default="",
            missing="no other project on this data set judges claims; make one first",
            group=LABELS,
        ),
        Option("similarity", "Texts compared by", choices=MEASURES, default="rouge-l", group=STATISTICS),
    ),
    "Whether generated documents repeat gold evidence, and what retrieval and verdicts gain where they do.",
    kind=Leakage,
    declares=page,
    said=methods,
    refuses=refuses,
    quick=True,
)

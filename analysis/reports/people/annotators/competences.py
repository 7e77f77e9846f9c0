"""The sections on competence: what the models say of each annotator, of labels and of units."""

from __future__ import annotations

from typing import Annotated

from analysis.figures.items import COUNTED, COUNTS, DIMENSION, LABEL, RATER, Filter
from analysis.figures.page import Counts, Part, Text
from analysis.figures.pictures import Axis, IntervalRow, Intervals, picture_name
from analysis.figures.results import Figure, NamedLabel, Record, ReportedQuestion
from analysis.figures.tables import Column, Table, columns_of
from analysis.reports.labels.raters import CHECKER, RaterRow, public_name, rater_cell
from analysis.reports.words.numbers import n_of
from analysis.reports.words.sentences import listed

DRAWN_PEOPLE = 30  # more would fit no page; the table has them
# A person who shares fewer units with others gets no competence: it would be read off a handful of labels.
MIN_SHARED = 10


class CompetenceModel(Record):
    """A model of who errs how; `prevalence` says how often each label is true."""

    name: str
    title: Annotated[str, Column("Model")]
    prevalence: list[Figure]
    log_likelihood: float | None
    n_iterations: Annotated[int, Column("Iterations")]
    converged: Annotated[bool, Column("Converged", lambda row: "yes" if row.converged else "no")]
    n_resamples: Annotated[int, Column("Resamples")]
    n_clusters: int | None


class RaterCompetence(RaterRow):
    """`confusion` are the chances by Dawid-Skene of each label (columns) where another is true (rows), with their ends;
    `counts` the labels given, by the most probable label of their unit."""

    kind: Annotated[str, Column("Kind")]
    n_labels: Annotated[int, Column("Labels")]
    n_shared: Annotated[int, Column("Shared units")]
    n_against: Annotated[int, Column("Against the majority")]
    agreement: Annotated[Figure, Column("Agreement with others")]
    dawid_skene: Annotated[Figure, Column("Dawid-Skene")]
    mace: Annotated[Figure, Column("MACE")]
    confusion: list[list[float | None]]
    confusion_ends: list[list[list[float] | None]]
    counts: list[list[int]]


class UnitPosterior(Record):
    unit: str
    votes: list[int]
    dawid_skene: list[float]
    mace: list[float]
    label: str
    majority: str


class Posterior(Record):
    """What the models make of units: how many stay open, are outvoted, or get different labels by the models."""

    n_units: int
    n_uncertain: int
    n_outvoted: int
    n_models: int
    n_tied: int
    units: list[UnitPosterior]
    n_not_listed: int


class RatedLabels(ReportedQuestion):
    """What the models say of one question."""

    level: str
    labels: list[NamedLabel]
    n_labels: int
    n_labels_of_slots: int
    n_raters: int
    n_units_labelled: int
    n_units_shared: int
    undefined: str
    models: list[CompetenceModel] = []
    raters: list[RaterCompetence] = []
    n_raters_not_listed: int = 0
    posterior: Posterior | None = None


MEASURES = tuple(column for column in columns_of(RaterCompetence) if column.interval)


def labelled_by(question: RatedLabels, row: RaterCompetence, label: str = "", **units: str) -> Filter:
    """Units that the person labelled, or gave one label; of these those with `units`, by what follows the question in
    the column's name. Labels of a checker are columns of units, those of people judgements."""
    slug = question.dimension
    conditions = {f"{slug}.{name}": value for name, value in units.items()}
    if row.kind == CHECKER:
        labels = label or tuple(one.label for one in question.labels)
        return Filter({**conditions, f"{slug}.by.{row.id}": labels})
    condition = {LABEL: label} if label else {}
    return Filter(conditions, ({RATER: row.id, DIMENSION: slug, **condition, COUNTS: COUNTED},))


def against_majority(question: RatedLabels, row: RaterCompetence) -> Filter:
    if row.kind == CHECKER:
        return Filter({f"{question.dimension}.against.{row.id}": "yes"})
    return Filter(judgements=({RATER: row.id, DIMENSION: question.dimension, "against": "yes", COUNTS: COUNTED},))


def counted(question: RatedLabels) -> Counts:
    slug = question.dimension
    rows = [
        ("labels", question.n_labels, None),
        ("raters", question.n_raters, None),
        ("units with two labels or more", question.n_units_shared, Filter({f"{slug}.shared": "yes"})),
    ]
    if question.n_labels_of_slots:
        rows.append(("labels by exchangeable raters, left out", question.n_labels_of_slots, None))
    if posterior := question.posterior:
        rows += [
            (words, n, Filter({f"{slug}.{name}": "yes"}))
            for words, n, name in (
                ("units whose label stays uncertain", posterior.n_uncertain, "uncertain"),
                ("units with another label than the majority", posterior.n_outvoted, "outvoted"),
                ("units where the models differ", posterior.n_models, "models"),
            )
        ]
    return Counts(rows)


def raters(question: RatedLabels) -> Table:
    note = (
        "Against the majority: units whose majority label, their own label included, differs from theirs; ties do not "
        f"count. An annotator who shares fewer than {MIN_SHARED} units with others gets no competence. "
        f"{' '.join(map(_resamples, question.models))}"
    )
    without: dict[str, list[str]] = {}
    for row in question.raters:
        for why in dict.fromkeys(one.why_no_interval for one in (row.dawid_skene, row.mace) if one.is_defined):
            without.setdefault(why, []).append(public_name(row))
    note += "".join(f" {listed(people)}: no interval, {why}." for why, people in without.items() if why)
    if question.n_raters_not_listed:
        note += f" {question.n_raters_not_listed:,} more, who share fewer units, are not listed."
    return Table(
        f"{question.title}: annotators",
        columns_of(
            RaterCompetence,
            n_labels=lambda row: labelled_by(question, row),
            n_shared=lambda row: labelled_by(question, row, shared="yes"),
            n_against=lambda row: against_majority(question, row),
        ),
        question.raters,
        note,
    )


def _resamples(model: CompetenceModel) -> str:
    clusters = f" of {n_of(model.n_clusters, 'claims or questions')}" if model.n_clusters else ""
    return f"{model.title}: intervals from {n_of(model.n_resamples, 'resamples')}{clusters}."


def models(question: RatedLabels) -> list[Part]:
    places = list(enumerate(question.labels))
    return [
        Table(
            f"{question.title}: share of each true label, by the models",
            [
                Column("Label", lambda row: row[1].title),
                *(
                    Column(model.title, lambda row, model=model: model.prevalence[row[0]], interval=True)
                    for model in question.models
                ),
            ],
            places,
        ),
        Table(
            f"{question.title}: models",
            columns_of(CompetenceModel),
            question.models,
        ),
    ]


def confusions(question: RatedLabels) -> list[Part]:
    """What each of them says where which label is true; a row is a rater and the place of a true label."""

    def share(column: int):
        def of(row) -> Figure:
            rater, true = row
            estimate, ends = rater.confusion[true][column], rater.confusion_ends[true][column]
            low, high = ends or (None, None)
            return Figure(
                estimate=estimate,
                low=low,
                high=high,
                undefined="" if estimate is not None else "no unit has this label by the model",
            )

        return of

    def gave(column: int):
        def of(row) -> Filter:
            rater, true = row
            return labelled_by(question, rater, question.labels[column].label, true=question.labels[true].label)

        return of

    labels = list(enumerate(question.labels))
    rows = [(rater, true) for rater in question.raters for true, _ in labels]
    return [
        Text(
            "Rows: the most probable label by Dawid-Skene. Shares are the model's, with 95 % intervals except where a "
            "share is the same in all resamples."
        ),
        Table(
            f"{question.title}: confusion table of each annotator, by Dawid-Skene",
            [
                Column("Annotator", lambda row: rater_cell(row[0])),
                Column("True label", lambda row: question.labels[row[1]].title),
                *(Column(label.title, share(place), interval=True) for place, label in labels),
            ],
            rows,
        ),
        Table(
            f"{question.title}: number of labels by each annotator, by Dawid-Skene",
            [
                Column("Annotator", lambda row: rater_cell(row[0])),
                Column("True label", lambda row: question.labels[row[1]].title),
                *(
                    Column(label.title, lambda row, column=place: row[0].counts[row[1]][column], items=gave(place))
                    for place, label in labels
                ),
            ],
            rows,
        ),
    ]


def units(question: RatedLabels) -> list[Part]:
    posterior = question.posterior
    left = f"{n_of(posterior.n_not_listed, 'more labelled units')}; the command lists all of them with --units all."
    titles = {label.label: label.title for label in question.labels}

    def each_label(name: str) -> list[Column]:
        return [
            Column(label.title, lambda row, place=place: getattr(row, name)[place])
            for place, label in enumerate(question.labels)
        ]

    unit = Column("Unit", "unit")
    tables = [
        Column("Dawid-Skene", lambda row: titles[row.label]),
        Column("Majority", lambda row: titles.get(row.majority, "")),
    ]
    note = left if posterior.n_not_listed else ""
    title = f"{question.title}: the most uncertain units"
    return [
        Table(title, [unit, *tables, *each_label("votes")], posterior.units, note),
        Table(f"{title}, probabilities by Dawid-Skene", [unit, *each_label("dawid_skene")], posterior.units, note),
        Table(f"{title}, probabilities by MACE", [unit, *each_label("mace")], posterior.units, note),
    ]


def picture(project: str, question: RatedLabels) -> Intervals | None:
    if not question.raters:
        return None
    rows = question.raters[:DRAWN_PEOPLE]
    left = len(question.raters) + question.n_raters_not_listed - len(rows)
    most = f" The {len(rows)} who share most units, of {len(rows) + left:,}." if left else ""
    drawn = "claims or questions" if question.models[0].n_clusters else "units"
    return Intervals(
        name=picture_name("competence", question.dimension),
        title=f"{question.title}: each annotator compared with the others",
        caption=(
            f"{project}: {n_of(question.n_labels, 'labels')} of {n_of(question.n_units_shared, 'units')} with "
            f"two or more.{most} Share of equal labels, and competence by Dawid-Skene (chance to give the true label) "
            f"and MACE (chance to know it). Lines are 95 % bootstrap intervals over {drawn}."
        ),
        alt="; ".join(f"{public_name(row)}: {row.dawid_skene.written(2)} by Dawid-Skene" for row in rows) + ".",
        items=tuple(
            IntervalRow.of_figure(
                public_name(row),
                measure.value(row),
                labelled_by(question, row, shared="yes") if row.n_shared else None,
                series=measure.title,
                n=row.n_shared,
            )
            for row in rows
            for measure in MEASURES
        ),
        values=Axis("Share of labels", 0, 1),
        rows_title="Annotator",
        series_title="Measure",
    )

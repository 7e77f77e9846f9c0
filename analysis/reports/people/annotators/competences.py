"""The sections on competence: what the models say of each annotator, of labels and of units."""

from __future__ import annotations

from analysis.figures.items import COUNTED, COUNTS, DIMENSION, LABEL, RATER, Filter
from analysis.figures.page import Counts, Part, Text
from analysis.figures.pictures import Axis, IntervalRow, Intervals, picture_name
from analysis.figures.results import Figure
from analysis.figures.tables import Column, Table, columns_of
from analysis.reports.labels.raters import CHECKER, public_name, rater_cell
from analysis.reports.people.annotators.result import Annotators, CompetenceModel, RatedQuestion, RaterCompetence
from analysis.reports.words.numbers import n_of
from analysis.reports.words.sentences import listed

DRAWN_PEOPLE = 30  # more would fit no page; the table has them
MEASURES = (("agreement", "Agreement with others"), ("dawid_skene", "Dawid-Skene"), ("mace", "MACE"))


def labelled_by(question: RatedQuestion, row: RaterCompetence, label: str = "", **units: str) -> Filter:
    """Units that the person labelled, or gave one label; of these those with `units`, by what follows the question in
    the column's name. Labels of a checker are columns of units, those of people judgements."""
    slug = question.dimension
    conditions = {f"{slug}.{name}": value for name, value in units.items()}
    if row.kind == CHECKER:
        labels = label or tuple(one.label for one in question.labels)
        return Filter({**conditions, f"{slug}.by.{row.id}": labels})
    condition = {LABEL: label} if label else {}
    return Filter(conditions, ({RATER: row.id, DIMENSION: slug, **condition, COUNTS: COUNTED},))


def against_majority(question: RatedQuestion, row: RaterCompetence) -> Filter:
    if row.kind == CHECKER:
        return Filter({f"{question.dimension}.against.{row.id}": "yes"})
    return Filter(judgements=({RATER: row.id, DIMENSION: question.dimension, "against": "yes", COUNTS: COUNTED},))


def counted(question: RatedQuestion) -> Counts:
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


def raters(result: Annotators, question: RatedQuestion) -> Table:
    note = (
        "Against the majority: units whose majority label, their own label included, differs from theirs; ties do not "
        f"count. An annotator who shares fewer than {result.min_shared} units with others gets no competence. "
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
        [
            Column("Annotator", rater_cell),
            Column("Kind", "kind"),
            Column("Labels", "n_labels", items=lambda row: labelled_by(question, row)),
            Column("Shared units", "n_shared", items=lambda row: labelled_by(question, row, shared="yes")),
            Column("Against the majority", "n_against", items=lambda row: against_majority(question, row)),
            *(Column(title, lambda row, name=name: getattr(row, name), interval=True) for name, title in MEASURES),
        ],
        question.raters,
        note,
    )


def _resamples(model: CompetenceModel) -> str:
    clusters = f" of {n_of(model.n_clusters, 'claims or questions')}" if model.n_clusters else ""
    return f"{model.title}: intervals from {n_of(model.n_resamples, 'resamples')}{clusters}."


def models(question: RatedQuestion) -> list[Part]:
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


def confusions(question: RatedQuestion) -> list[Part]:
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


def units(question: RatedQuestion) -> list[Part]:
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


def picture(result: Annotators, question: RatedQuestion) -> Intervals | None:
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
            f"{result.project}: {n_of(question.n_labels, 'labels')} of {n_of(question.n_units_shared, 'units')} with "
            f"two or more.{most} Share of equal labels, and competence by Dawid-Skene (chance to give the true label) "
            f"and MACE (chance to know it). Lines are 95 % bootstrap intervals over {drawn}."
        ),
        alt="; ".join(f"{public_name(row)}: {row.dawid_skene.written(2)} by Dawid-Skene" for row in rows) + ".",
        items=tuple(
            IntervalRow.of_figure(
                public_name(row),
                getattr(row, name),
                labelled_by(question, row, shared="yes") if row.n_shared else None,
                series=title,
                n=row.n_shared,
            )
            for row in rows
            for name, title in MEASURES
        ),
        values=Axis("Share of labels", 0, 1),
        rows_title="Annotator",
        series_title="Measure",
    )

"""Tables of what texts and models' own knowledge have to do with labels."""

from __future__ import annotations

from analysis.figures.items import Filter, where
from analysis.figures.results import Figure
from analysis.figures.tables import Column, Table
from analysis.papers.refchecker.result import (
    KNOWLEDGE,
    CopiedLabel,
    CopyingOfSetting,
    Knowledge,
    Known,
    MaskedRow,
    RefChecker,
)
from analysis.papers.refchecker.tables import at

FROM = {"memory": "From memory, against the reference", "context": "From the reference", "neither": "From neither"}


def copying_tables(result: RefChecker) -> list[Table]:
    return [_copying(result, one) for one in result.copying.settings] if result.copying else []


def _copying(result: RefChecker, one: CopyingOfSetting) -> Table:
    rows: list[tuple[CopiedLabel, str, Figure]] = []
    for label in one.labels:
        rows += [(label, "", label.all), *((label, row.model, row.rate) for row in label.models)]

    def counted(row) -> Filter | None:
        return where(row[2].n_pairable, at(one.setting, row[1]) | {"people": row[0].label, "copied": "yes"})

    columns = [
        Column("Label", lambda row: row[0].title),
        Column("Model", lambda row: row[1] or "all"),
        Column("n", lambda row: row[2].n_pairable, items=counted),
        Column("Copy rate", lambda row: row[2], interval=True, items=counted),
    ]
    return Table(
        f"{one.setting}: how much of {result.unit_words} is copied from the passages",
        columns,
        rows,
        f"Spearman's correlation of copy rate and how bad the label is (segment level): {_correlated(one)}. In a "
        "setting without context the model did not see the passages.",
    )


def _correlated(one: CopyingOfSetting) -> str:
    spearman, test = one.spearman, one.test
    written = spearman.written() if spearman.is_defined else f"undefined: {spearman.undefined}"
    if spearman.low is not None and spearman.note:
        written += f" ({spearman.note})"
    if test and test.p_value is not None:
        written += f", p = {test.p_value:.3f} (permutation), {test.p_holm:.3f} after Holm"
    return written


def knowledge_tables(result: RefChecker) -> list[Table]:
    return [table for number, one in enumerate(result.knowledge) for table in _known(result, number, one)]


def _known(result: RefChecker, number: int, one: Knowledge) -> list[Table]:
    knows = f"knows{number}"
    others = tuple(label.label for label in result.labels[1:])
    of = {
        "memory": {knows: "yes", "people": others},
        "context": {knows: ("no", "unsure"), "people": result.best.label},
        "neither": {knows: "no", "people": result.worst.label},
    }

    def here(row: Known) -> dict:
        return at(row.setting, row.model)

    def share(name: str) -> Column:
        return Column(
            FROM[name],
            lambda row: getattr(row, name),
            interval=True,
            items=lambda row: where(getattr(row, name).estimate, here(row) | of[name]),
            counts=None,
        )

    def count(place: int) -> Column:
        label = result.labels[::-1][place]  # the counts begin with the worst one
        return Column(
            label.title,
            lambda row: row[0].counts[row[1]][place],
            items=lambda row: Filter(here(row[0]) | {knows: row[1], "people": label.label}),
        )

    answers = [Column("Setting", "setting"), Column("Answers of", "model")]
    counts = [
        Column("Setting", lambda row: row[0].setting),
        Column("Answers of", lambda row: row[0].model),
        Column("Does it know?", lambda row: row[1]),
        *map(count, range(len(result.labels))),
    ]
    n = Column("n", "n", items=lambda row: Filter(here(row) | {knows: tuple(KNOWLEDGE.values())}))
    what = f"questions made of the {result.unit_words}" if one.by_question else f"the {result.unit_words}"
    title = f"What {one.title} knows, by people's labels of {result.unit_words}"
    return [
        Table(
            title,
            [*answers, n, *map(share, FROM)],
            one.rows,
            f"It was asked about {what} alone. Only the rows of its own answers show whether they use that knowledge.",
        ),
        Table(f"{title}: counts", counts, [(row, known) for row in one.rows for known in ("yes", "no", "unsure")]),
    ]


def masked_tables(result: RefChecker) -> list[Table]:
    def table(number: int, title: str, rows: list[MaskedRow]) -> Table:
        column = f"masked{number}"

        def known(row: MaskedRow) -> Filter:
            return Filter(here(row) | {column: (*(label.label for label in result.labels), "otherwise")})

        def here(row: MaskedRow) -> dict:
            return at(row.setting, row.model)

        def share(place: int) -> Column:
            label = result.labels[place]
            return Column(
                label.title,
                lambda row: row.shares[place],
                interval=True,
                items=lambda row: where(row.shares[place].estimate, here(row) | {column: label.label}),
                counts=None,
            )

        columns = [
            Column("Setting", "setting"),
            Column("Answers of", "model"),
            Column("n", "n", items=known),
            Column("Nothing masked", "n_without", items=lambda row: Filter(here(row) | {column: "unmasked"})),
            *map(share, range(len(result.labels))),
        ]
        return Table(
            f"Labels of {title} from masked references",
            columns,
            rows,
            "With a triplet's subject or object masked in the passages, labels other than neutral come from the "
            "checker's memory, or from synonyms that were not masked.",
        )

    return [table(number, one.title, one.rows) for number, one in enumerate(result.masked)]

"""Who of a file is a judge, and who are people: columns or, in a table with a row per label, raters. Those that are not
named are found as imports find them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.judge.table import Cells, TableProblem, read_cells
from annotation.formats.records import FormatError
from annotation.formats.sources import SourceFile
from annotation.formats.tables.mapping import Preview, preview
from annotation.formats.tables.oddities import ReadingNotes


@dataclass(frozen=True)
class Chosen:
    """`cells` are labels by judge and person, and columns that were kept; `line` says how the columns were read, where
    anything was guessed."""

    judges: Sequence[str]
    people: Sequence[str]
    cells: Cells
    line: str = ""
    is_long: bool = False


def choose(
    path: Path,
    judges: Sequence[str],
    people: Sequence[str],
    others: Sequence[str],
    kept: Sequence[str] = (),
    long: tuple[str, str, str] | None = None,
) -> Chosen:
    """`kept` are columns that are read as they are, such as the clusters; `long` those of texts, raters and labels, of
    a file that is known to have a row per label. TableProblem where nothing tells who is a judge or a person, and for
    what `read_cells` refuses."""
    try:
        seen = preview(SourceFile(path))
    except FormatError as error:
        raise TableProblem(str(error)) from None
    noted, line = ReadingNotes(), ""
    if long or not (judges and people and {*judges, *people, *others} <= {*seen.columns}):
        mapping = _guessed(seen)
        if (columns := long or _long(mapping)) is not None:
            guessed = [column for role, column in mapping.items() if role.partition("/")[0] == "prediction"]
            predictions = [*dict.fromkeys([*guessed, *(one for one in (*judges, *others) if one in seen.columns)])]
            return _of_rows(path, columns, predictions, (judges, people, others), kept, noted)
        if not (judges and people):
            judges, people = _columns_of_question(mapping, judges, people, others)
            _refuse_nobody(path, judges, people, "columns", seen.columns)
            line = _line(judges, people)
    wanted = [*dict.fromkeys((*judges, *people, *others, *kept))]
    cells = read_cells(path, wanted, noted)
    return Chosen(judges, people, cells, line and _with(noted, line))


def _guessed(seen: Preview) -> Mapping[str, str]:
    from annotation.formats.tables.guessing.columns import columns_of  # who names all columns need not wait for it
    from annotation.formats.tables.mapping_file import RATINGS

    return columns_of(seen, RATINGS).chosen.mapping


def _long(mapping: Mapping[str, str]) -> tuple[str, str, str] | None:
    """The columns of texts, raters and labels of a table with a row per label of one question."""
    labels = [column for role, column in mapping.items() if role.partition("/")[0] == "label"]
    text = next((mapping[role] for role in ("id", "document", "text") if role in mapping), None)
    if text is None or len(labels) != 1 or "rater" not in mapping or "question" in mapping:
        return None
    return text, mapping["rater"], labels[0]


def _of_rows(
    path: Path,
    columns: tuple[str, str, str],
    predictions: list[str],
    named: tuple,
    kept: Sequence[str],
    noted: ReadingNotes,
) -> Chosen:
    """Raters of a column, and models that have another column (`others`), with one label for all rows of a text."""
    from annotation.formats.tables.guessing.raters import is_called_model

    (judges, people, others), (of_text, of_rater, of_label) = named, columns
    rows = read_cells(path, [*dict.fromkeys((*columns, *predictions, *kept))], noted)
    place: dict[str, int] = {text: number for number, text in enumerate(dict.fromkeys(rows[of_text]))}
    cells: Cells = {rater: [""] * len(place) for rater in dict.fromkeys(rows[of_rater]) if rater}
    cells |= {column: [""] * len(place) for column in predictions}
    of_texts = {column: [""] * len(place) for column in kept}
    for number, (text, rater, label) in enumerate(zip(*(rows[column] for column in columns), strict=True)):
        for column, values in of_texts.items():
            values[place[text]] = rows[column][number]
        for who, value in ((rater, label), *((column, rows[column][number]) for column in predictions)):
            if not who or not value:
                continue
            before = cells[who][place[text]]
            if before not in ("", value):
                raise TableProblem(f"{path}: {who!r} gives {text!r} two labels, {before!r} and {value!r}")
            cells[who][place[text]] = value
    if unknown := [one for one in (*judges, *people, *others) if one not in cells]:
        raise TableProblem(f"{path}: has no column or rater {unknown[0]!r}; the raters are {', '.join(cells)}")
    models = [one for one in cells if one in predictions or is_called_model(one)]
    judges = judges or [one for one in models if one not in (*people, *others)]
    people = people or [one for one in cells if one not in (*judges, *others, *models)]
    _refuse_nobody(path, judges, people, "raters", cells)
    line = f"{_line(judges, people)} Labels from {of_label}, raters from {of_rater}, texts from {of_text}."
    return Chosen(judges, people, cells | of_texts, _with(noted, line), is_long=True)


def _columns_of_question(
    mapping: Mapping[str, str], judges: Sequence[str], people: Sequence[str], others: Sequence[str]
) -> tuple[Sequence[str], Sequence[str]]:
    """Columns of judges and people, of the question that those who are named answer, or of the only one."""
    of_judges: dict[str, list[str]] = defaultdict(list)
    of_people: dict[str, list[str]] = defaultdict(list)
    for written, column in mapping.items():
        role, *names = written.split("/")
        if role == "prediction":
            of_judges[names[1]].append(column)
        elif role == "label" and names:
            of_people[names[0]].append(column)
    named = {*judges, *people, *others}
    questions = {*of_judges} if not named else {*of_judges, *of_people}
    asked = [one for one in questions if not named or named & {*of_judges[one], *of_people[one]}]
    if len(asked) > 1:
        raise TableProblem(f"The columns answer several questions, {', '.join(sorted(asked))}: name a --judge of one")
    question = asked[0] if asked else ""
    judges = judges or [column for column in of_judges[question] if column not in named]
    return judges, people or [column for column in of_people[question] if column not in named]


def _refuse_nobody(path: Path, judges: Sequence, people: Sequence, what: str, there: Iterable[str]) -> None:
    for found, name, words in ((judges, "--judge", "a judge's or model's"), (people, "--human", "people's")):
        if not found:
            raise TableProblem(
                f"{path}: nothing shows which {what} are {words}; name them with {name}. The {what} are "
                f"{', '.join(map(str, there))}"
            )


def _line(judges: Sequence[str], people: Sequence[str]) -> str:
    several = "Judges" if len(judges) > 1 else "Judge"
    return f"Columns read as: {several} from {', '.join(judges)}, people from {', '.join(people)}."


def _with(noted: ReadingNotes, line: str) -> str:
    return " ".join([line, *(f"Text that is not UTF-8: {one.what}." for one in noted.odd())])

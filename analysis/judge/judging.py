"""From a file to the verdicts on its judges, for the command and for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from analysis.judge.choosing import Chosen, choose
from analysis.judge.parts import Answered
from analysis.judge.slices import slices_of
from analysis.judge.soft import probabilities_of, soft_comparison
from analysis.judge.table import Columns, TableProblem, coded
from analysis.judge.verdict import JudgedColumn, reference_of, share_changed
from annotation.formats.cells import level_note, level_of


def judge(
    file: str | Path,
    judges: Sequence[str] = (),
    people: Sequence[str] = (),
    *,
    repeat: Sequence[str] = (),
    swapped: Sequence[str] = (),
    cluster: str = "",
    by: str = "",
    labels: Sequence[str] = (),
    level: str | None = None,
    floor: float | None = None,
    margin: float | None = None,
    probabilities: str = "",
    columns: tuple[str, str, str] | None = None,
) -> list[Answered]:
    """Whether a judge's labels may stand in for people's, as the command `assay judge` says it.

    Parameters
    ----------
    file : path of a table of labels (CSV, TSV, JSON, JSON Lines, Parquet)
    judges, people : columns or raters; guessed by their names where left out
    repeat, swapped : columns of a second run of the first judge, and of one with the answers swapped
    cluster : the column of clusters of rows, such as claims
    by : the column by whose values the judge's labels are compared, such as the prompt
    labels : all labels, lowest first
    level : nominal, ordinal or interval; guessed by the labels where left out
    floor, margin : the bound of the rule with one person, and with several
    probabilities : the column of the first judge's probabilities, objects in JSON from labels to numbers
    columns : those of texts, raters and labels, of a file with a row per label; guessed where left out

    Returns
    -------
    list of Answered
        One for each judge, in order. `str()` of it is the verdict, `judgement` has its figures.

    Raises
    ------
    TableProblem
        A ValueError: the file or its columns cannot be used; says why.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "judged.csv"
    >>> _ = file.write_text("judge,human\\n" + "good,good\\nbad,bad\\n" * 30)
    >>> (verdict,) = judge(file)
    >>> print(verdict)
    judge is usable for “bad” and “good”.
    """
    path = Path(file)
    chosen = choose_columns(path, judges, people, repeat, swapped, cluster, by, probabilities, columns)
    return verdicts(path, chosen, repeat, swapped, cluster, labels, level, floor, margin, by, probabilities)


def choose_columns(
    path: Path,
    judges: Sequence[str],
    people: Sequence[str],
    repeat: Sequence[str],
    swapped: Sequence[str],
    cluster: str,
    by: str = "",
    probabilities: str = "",
    long: tuple[str, str, str] | None = None,
) -> Chosen:
    named = [*judges, *people, *repeat, *swapped, *filter(None, [by, probabilities])]
    if twice := sorted({name for name in named if named.count(name) > 1}):
        raise TableProblem(f"The column {twice[0]!r} is named twice")
    return choose(
        path, judges, people, [*repeat, *swapped], [*filter(None, dict.fromkeys((cluster, by, probabilities)))], long
    )


def verdicts(
    path: Path,
    chosen: Chosen,
    repeat: Sequence[str],
    swapped: Sequence[str],
    cluster: str,
    order: Sequence[str],
    level: str | None,
    floor: float | None,
    margin: float | None,
    by: str = "",
    probabilities: str = "",
) -> list[Answered]:
    if "" in order or len(set(order)) < len(order):
        raise TableProblem("--labels: a label is empty or repeated")
    has_peers = len(chosen.people) > 1
    if (floor if has_peers else margin) is not None:
        raise TableProblem(
            "--floor is for one --human; with several the judge is held against people's own agreement: use --margin"
            if has_peers
            else "--margin needs two --human columns or more; with one use --floor"
        )
    named = [*chosen.judges, *chosen.people, *repeat, *swapped]
    columns = coded(path, chosen.cells, named, cluster, list(order))
    used_level = level or level_of(columns.labels)
    note = "" if level else level_note(columns.labels, used_level)
    bound = margin if has_peers else floor
    judgements, n_ties = _judgements(path, columns, chosen, used_level, bound, has_order=bool(order))
    if probabilities and not has_peers:
        raise TableProblem(
            "--probabilities are held against the shares of people: it needs two --human columns or more"
        )
    of_first = probabilities_of(path, probabilities, chosen.cells[probabilities], columns) if probabilities else None
    return [
        Answered(
            judgement,
            tuple(chosen.people),
            n_ties,
            note,
            _changes(columns, judgement, repeat if not place else ()),
            _changes(columns, judgement, swapped if not place else ()),
            *((by, *slices_of(judgement, chosen.cells[by])) if by else ()),
            soft=soft_comparison(judgement, None if place else of_first),
            probabilities="" if place else probabilities,
        )
        for place, judgement in enumerate(judgements)
    ]


def _judgements(
    path: Path, columns: Columns, chosen: Chosen, level: str, bound: float | None, has_order: bool
) -> tuple[list[JudgedColumn], int]:
    """Of each judge, and on how many rows people are tied."""
    if level != "nominal":
        from analysis.judge.scale import JudgedScale, refuse_without_order

        refuse_without_order(path, columns.labels, level, has_order)
        return [JudgedScale(columns, one, bound, level, chosen.people) for one in chosen.judges], 0
    if bound is not None and bound >= 1:
        raise TableProblem(f"--margin {bound:g} is in steps of a scale; of shares of labels it lies below 1")
    reference, n_ties = reference_of(columns, chosen.people)
    return [JudgedColumn(columns, one, reference, bound, level, chosen.people) for one in chosen.judges], n_ties


def _changes(columns: Columns, judgement: JudgedColumn, others: Sequence[str]) -> dict:
    return {other: share_changed(columns, judgement.judge, other) for other in others}

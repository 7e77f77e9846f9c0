"""`assay judge`: may a judge's labels stand in for people's? A file in, a sentence out; no database, no server.

    assay judge results.csv --judge verdict --human human
    assay judge results.csv --judge gpt --judge llama --human ann --human ben --cluster claim --html verdict.html
    assay judge people.csv judge.csv --join id

    assay judge judge.csv --release release.zip --question stance
    assay judge results.csv --describe model=gpt-5 --describe prompt=@prompt.txt --baseline verdict.json --gate

Exit code: 0; with --gate 1 where a judge is not usable for every label that people gave; 2 where the file or the
columns cannot be used. With --baseline 10 where the judge changed, 20 where the data did, 30 where both did, and 1 more
where a verdict got worse, or is not usable with --gate.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from analysis.judge.anchor import KEY, AnchorSet, anchored
from analysis.judge.baseline import Change, change_sentence, changes, exit_code
from analysis.judge.choosing import Chosen
from analysis.judge.files.destinations import DESTINATIONS, write_scores
from analysis.judge.files.junit import as_junit
from analysis.judge.fingerprint import described
from analysis.judge.judging import choose_columns, verdicts
from analysis.judge.parts import Answered
from analysis.judge.peers import MARGIN
from analysis.judge.saved import save
from analysis.judge.table import TableProblem
from analysis.judge.verdict import FLOOR
from analysis.judge.written import (
    as_page,
    as_text,
    caution,
    comparison,
    level_words,
    rule,
    sentence,
    slices_in_words,
    tables,
    with_fingerprints,
)
from analysis.stats.scale.standing import FLOOR as FLOOR_OF_KAPPA
from annotation.formats.records import FormatError

LEVELS = ("nominal", "ordinal", "interval")


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    with ExitStack() as files:
        try:
            described(options.describe)  # refused before anything is computed
            anchor = _anchor(options, files)
            options.file = anchor.file if anchor else _one_file(options, files)
            chosen, every = _answer(options, anchor)
            verdicts = _fingerprinted(options, chosen, every, anchor)
            changed = changes(options.baseline, verdicts) if options.baseline else []
        except TableProblem as problem:
            print(_in_files(problem, options), file=sys.stderr)
            return 2
        return _tell(options, every, verdicts, changed)


def _in_files(problem: TableProblem, options: argparse.Namespace) -> str:
    """The message about files that were put together, with the names of these."""
    names = ", ".join(map(str, [*options.files, *filter(None, [options.release])]))
    return str(problem).replace(str(getattr(options, "file", names)), names)


def _fingerprinted(
    options: argparse.Namespace, chosen: Chosen, every: list[Answered], anchor: AnchorSet | None
) -> list[dict]:
    """The verdicts as JSON, if anything needs them."""
    if options.describe and len(every) > 1:
        raise TableProblem("--describe is about one --judge; describe several in columns such as judge.model")
    if not (options.json or options.junit or options.baseline):
        return []
    release = anchor.sha256 if anchor else ""
    return with_fingerprints(options.file, every, options.cluster, options.describe, chosen.is_long, release)


def _anchor(options: argparse.Namespace, files: ExitStack) -> AnchorSet | None:
    """The release that the judges are held against, if one is named."""
    if not options.release:
        return None
    anchor = files.enter_context(anchored(options.release, options.files, options.question, options.join or KEY))
    options.human, options.level = options.human or list(anchor.people), options.level or anchor.level
    print(anchor.line, file=sys.stderr)
    return anchor


def _one_file(options: argparse.Namespace, files: ExitStack) -> Path:
    if len(options.files) == 1:
        return options.files[0]
    if not options.join:
        raise TableProblem("Several files need --join COLUMN: the ids by which their rows go together")
    from annotation.formats.tables.joining import joined

    try:
        return files.enter_context(joined(options.files, options.join))
    except FormatError as error:
        raise TableProblem(str(error)) from None


def _tell(options: argparse.Namespace, every: list[Answered], verdicts: list[dict], changed: list[Change]) -> int:
    for change in changed:
        print(change_sentence(change), file=sys.stderr if options.json else sys.stdout)
    try:
        if options.json:
            print(json.dumps(verdicts, indent=2, ensure_ascii=False))
        else:
            _write(every)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    pages = {options.html: lambda: as_page(every, options.file.name)}
    pages |= {options.junit: lambda: as_junit(options.file.name, verdicts, changed)}
    for path, page in pages.items():
        if path is None:
            continue
        try:
            path.write_text(page(), encoding="utf-8")
        except OSError as error:
            print(f"{path}: {error.strerror}", file=sys.stderr)
            return 2
    if options.save:
        try:
            print(f"\nSaved as {save(options)}", file=sys.stderr)
        except TableProblem as problem:
            print(problem, file=sys.stderr)
            return 2
    fails = options.gate and not all(one.judgement.passes for one in every)
    return exit_code(changed, fails)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="assay judge", description="May a judge's labels stand in for people's?")
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        type=Path,
        help="CSV, TSV, JSON, JSON Lines or Parquet; one row per judged text, or per label with a column of raters",
    )
    parser.add_argument("--join", default="", metavar="COLUMN", help="several files: the ids that join their rows")
    column = {"action": "append", "metavar": "COLUMN"}
    parser.add_argument(
        "--judge", **column, default=[], help="a judge's labels, or the judge; may be given several times, or guessed"
    )
    parser.add_argument(
        "--human", **column, default=[], help="a person's labels, or the person; may be given several times, or guessed"
    )
    parser.add_argument("--repeat", **column, default=[], help="labels of a second run of the first judge")
    parser.add_argument("--swapped", **column, default=[], help="labels of the first judge with the answers swapped")
    parser.add_argument("--cluster", default="", metavar="COLUMN", help="the cluster of a row, such as its claim")
    parser.add_argument("--by", default="", metavar="COLUMN", help="compare its values, such as prompts or systems")
    parser.add_argument(
        "--probabilities",
        default="",
        metavar="COLUMN",
        help="the first judge's probabilities: objects in JSON, by label",
    )
    parser.add_argument("--labels", default="", metavar="A,B,C", help="all labels, lowest first")
    level = parser.add_mutually_exclusive_group()
    level.add_argument(
        "--level", choices=LEVELS, help="of the labels; above nominal, kappa has quadratic weights (numbers: interval)"
    )
    level.add_argument("--ordinal", action="store_const", const="ordinal", dest="level", help="--level ordinal")
    parser.add_argument(
        "--floor",
        type=_share,
        metavar="SHARE",
        help=f"one person: the floor of the rule ({FLOOR}; on a scale of weighted kappa, {FLOOR_OF_KAPPA})",
    )
    parser.add_argument(
        "--margin",
        type=_positive,
        metavar="SHARE",
        help=f"several people: how much less than theirs is enough ({MARGIN}; on a scale in its steps)",
    )
    parser.add_argument("--gate", action="store_true", help="exit with 1 unless each judge is usable for every label")
    parser.add_argument(
        "--baseline", type=Path, metavar="FILE.json", help="an earlier verdict (--json): what changed, by the exit code"
    )
    parser.add_argument(
        "--release", type=Path, metavar="PATH", help="people's labels are those of this release, by the units' keys"
    )
    parser.add_argument("--question", default="", metavar="SLUG", help="--release: the question, where it has several")
    parser.add_argument(
        "--describe", action="append", default=[], metavar="NAME=VALUE", help="the judge, such as prompt=@prompt.txt"
    )
    parser.add_argument("--junit", type=Path, metavar="FILE.xml", help="write JUnit XML, too")
    parser.add_argument("--out", type=Path, metavar="FILE.csv", help="write the rows, with corrected values, too")
    parser.add_argument(
        "--scores",
        nargs=2,
        metavar=("TOOL", "FILE"),
        help=f"write what --out adds as scores, too, for {', '.join(DESTINATIONS)}",
    )
    parser.add_argument(
        "--inspect",
        nargs=2,
        type=Path,
        metavar=("LOG", "FILE"),
        help="write what --out adds as scores of the samples of a log of Inspect, too",
    )
    parser.add_argument("--html", type=Path, metavar="FILE", help="write one page with pictures, too")
    parser.add_argument(
        "--differing", type=Path, metavar="FILE.csv", help="write the rows that judge and people differ on"
    )
    parser.add_argument("--save", default="", metavar="ADDRESS", help="make a project of the file there, by the API")
    parser.add_argument("--text", default="", metavar="COLUMN", help="--save: what was judged")
    parser.add_argument("--project", default="", metavar="SLUG", help="--save: as the file is called by default")
    parser.add_argument("--json", action="store_true", help="JSON instead of text")
    return parser


def _share(text: str) -> float:
    value = float(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return value


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def _answer(options: argparse.Namespace, anchor: AnchorSet | None = None) -> tuple[Chosen, list[Answered]]:
    named = options.judge, options.human, options.repeat, options.swapped
    long = anchor.columns if anchor else None
    chosen = choose_columns(options.file, *named, options.cluster, options.by, options.probabilities, long)
    if chosen.line:
        print(chosen.line, file=sys.stderr)
    if chosen.is_long and options.save:
        raise TableProblem("--save needs a row per text, with a column for each judge and person")
    if chosen.is_long and (options.out or options.scores or options.inspect):
        raise TableProblem("--out, --scores and --inspect need a row per text, with a column for each judge and person")
    options.judge, options.human = chosen.judges, chosen.people
    order = [label.strip() for label in options.labels.split(",")] if options.labels else []
    order = order or (list(anchor.order) if anchor else [])
    found = verdicts(
        options.file,
        chosen,
        options.repeat,
        options.swapped,
        options.cluster,
        order,
        options.level,
        options.floor,
        options.margin,
        options.by,
        options.probabilities,
    )
    if options.differing:
        _write_differing(
            options.differing, found, chosen, [*filter(None, dict.fromkeys((options.by, options.cluster)))]
        )
    if options.scores:
        tool, file = options.scores
        if tool not in DESTINATIONS:
            raise TableProblem(f"--scores writes for one of {', '.join(DESTINATIONS)}, not for {tool!r}")
        write_scores(options.file, Path(file), tool, found)
    if options.inspect:
        from analysis.judge.files.inspect_log import write_inspect_log

        write_inspect_log(options.file, *options.inspect, found)
    if options.out:
        from analysis.judge.files.corrected import write_corrected

        write_corrected(options.file, options.out, found)
    return chosen, found


def _write_differing(path: Path, found: Sequence[Answered], chosen: Chosen, kept: Sequence[str]) -> None:
    """The rows to which a judge gives another label than people, as CSV, on a scale those that differ most first; rows
    are counted from 1."""
    from annotation.formats.files.spreadsheets import write_delimited

    distance = ("distance",) if found[0].judgement.is_scale else ()
    columns = ("row", *kept, "judge", "label of the judge", "label of people", *distance, *chosen.people)
    rows = [
        (
            str(row + 1),
            *(chosen.cells[name][row] for name in kept),
            one.judge,
            *one.both_labels(row),
            *(chosen.cells[name][row] for name in chosen.people),
        )
        for one in (answered.judgement for answered in found)
        for row in one.differing
    ]
    try:
        write_delimited(path, columns, rows, "csv")
    except OSError as error:
        raise TableProblem(f"{path}: {error.strerror}") from None


def _write(every: Sequence[Answered]) -> None:
    for answered in every:
        print(sentence(answered), flush=True)
        for words in slices_in_words(answered):
            print(words)
    print(rule(every[0]))
    if words := level_words(every[0]):
        print(words)
    if warning := caution(every[0]):
        print(warning)
    if every[0].n_ties:
        print(f"{every[0].n_ties:,} rows on which people are tied have no label of theirs.")
    if (between := comparison(every)) is not None:
        print("\n" + as_text(between))
    for answered in every:
        for table in tables(answered):
            print("\n" + as_text(table))

"""`manage.py report PROJECT NAME`: the numbers that the page shows, computed anew, or from a release's files."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from analysis.figures.tabular import WRITERS
from analysis.reports.metrics import REPORTS, get_report
from analysis.reports.options import Option
from analysis.reports.report import Report
from analysis.reports.text import as_text
from analysis.reports.words.methods import paragraph
from analysis.scopes import scope_of
from analysis.sources.base import Source
from analysis.sources.blind import looked_at
from analysis.sources.files import source_of_files
from analysis.sources.scoped import scoped
from analysis.sources.selection import NAMES, Selection, argument_of
from analysis.sources.tables.long_table import TableShape
from analysis.sources.tables.rated import said_of
from annotation.formats.records import FormatError
from annotation.formats.tables.mapping import LAYOUT_TITLES
from annotation.formats.tables.mapping_file import RATINGS, ChosenMapping, read_mapping
from annotation.models import Project
from annotation.projects.preparing import NotReady
from annotation.task_types.problems import LEVELS

ERRORS_SHOWN = 10
TYPES = {"count": int, "number": float}
WORDS = {
    "split": "instead of the source: a column of the content, such as evidence.article or claim.verdict",
    "labels_seen": "included: also count answers given or changed after their author was served others' labels",
}


class Command(BaseCommand):
    help = "Compute a report of a project, a release or a table of labels."
    # What `--help` is about: everything is understood in any case.
    named: Report | None = None
    is_of_files = False

    def run_from_argv(self, argv):
        self.named = next((REPORTS[word] for word in argv[2:] if word in REPORTS), None)
        self.is_of_files = "--from-files" in argv
        super().run_from_argv(argv)

    def add_arguments(self, parser):
        describe(parser, self.named, self.is_of_files)
        parser.add_argument(
            "subject",
            metavar="PROJECT",
            help="a project (NAME@2: its second release), or files with --from-files",
        )
        parser.add_argument("name", metavar="NAME", choices=list(REPORTS), help=argparse.SUPPRESS)
        parser.add_argument(
            "--format",
            choices=["table", "json", "svg", "methods", *WRITERS],
            default="table",
            metavar="FORMAT",
            help=f"table, json, svg, methods, {', '.join(WRITERS)}",
        )
        parser.add_argument("--picture", metavar="NAME", help="svg: which picture, where the report has several")
        parser.add_argument("--from-files", action="store_true", help="PROJECT is a release's files, or a table")
        whole = parser
        parser = parser.add_argument_group("tables and releases") if self.is_of_files else Hidden(parser)
        parser.add_argument(
            "--beside",
            dest="siblings",
            action="append",
            type=Path,
            default=[],
            metavar="FILES",
            help="with --from-files: a release of another project on the same data set, for reports that join two; or "
            "a table with more labels of the same texts (--join)",
        )
        parser.add_argument(
            "--join", default="", metavar="COLUMN", help="tables: the column of ids that joins those of --beside"
        )
        parser.add_argument("--level", choices=LEVELS, help="tables: of the labels' scale")
        parser.add_argument(
            "--labels",
            action="append",
            default=[],
            metavar="[DIMENSION=]A,B,C",
            help="tables: the labels in their order, lowest first; of several dimensions, for each of them",
        )
        parser.add_argument(
            "--columns",
            default="",
            metavar="OURS=THEIRS,…",
            help="tables: which columns hold what, such as item=text_id,rater=annotator,label=rating",
        )
        parser.add_argument(
            "--rater-columns", default="", metavar="A,B,C", help="tables with a column per person: these hold labels"
        )
        parser.add_argument(
            "--model-columns", default="", metavar="A,B", help="tables with a column per model: these hold labels"
        )
        parser.add_argument(
            "--mapping",
            type=Path,
            metavar="FILE.json",
            help="tables: a mapping of the columns, as the page of an import and import_dataset have it",
        )
        parser.add_argument(
            "--leave-out", action="store_true", help="tables of texts with labels and scores: leave bad rows out"
        )
        for name in NAMES:
            words = WORDS.get(name, "only these labels count")
            metavar = name.rpartition("_")[2].upper()
            parser.add_argument(argument_of(name), dest=f"only_{name}", metavar=metavar, help=words)
        own = {option.name: option for option in self.named.options} if self.named else {}
        for name, option in (options_of_all() | own).items():
            kind = {"type": TYPES.get(option.kind), "metavar": metavar_of(option)}
            if option.kind == "flag":
                kind = {"action": "store_true", "default": None}
            words = option.help or option.title
            if isinstance(option.choices, dict) and kind.get("metavar") == "CHOICE":
                words += f" ({', '.join(option.choices)})"
            shown = words.replace("%", "%%") if name in own else argparse.SUPPRESS
            whole.add_argument(option.argument, dest=f"option_{name}", help=shown, **kind)

    def handle(self, *args, subject, name, format, picture, from_files, siblings, level, labels, **options):
        report = get_report(name)
        values = {
            option: options[f"option_{option}"]
            for option in options_of_all()
            if options[f"option_{option}"] is not None
        }
        unknown = sorted(set(values) - {option.name for option in report.options})
        if unknown:
            known = ", ".join(option.argument for option in report.options) or "none"
            raise CommandError(f"{name} has no option {', '.join(unknown)}; it has {known}")
        conditions = {one: options[f"only_{one}"] for one in NAMES if options[f"only_{one}"]}
        try:
            if siblings and not from_files:
                raise CommandError("--beside is for files; projects find each other on their data set")
            shape = shape_of(options["columns"], options["rater_columns"], options["model_columns"])
            mapping = mapping_of(options["mapping"], shape)
            how = {"level": level or "", "labels": labels, "siblings": siblings, "shape": shape, "mapping": mapping}
            how |= {"leaves_out": options["leave_out"], "join": options["join"]}
            source = self.source_of(subject, from_files, how, conditions)
            if reason := report.fits(source.asked):
                raise CommandError(reason + self.as_labels(source))
            result = report.compute(source, **report.values(source, values))
        except ValueError as error:
            raise CommandError(str(error)) from None
        result.pop("behind", None)  # numbers of units: they mean something in this source only
        self.stdout.write(self.written(report, result, format, picture))

    def written(self, report: Report, result: dict, format: str, picture: str | None) -> str:
        if format == "json":
            return json.dumps(result, indent=2, ensure_ascii=False)
        if format == "svg":
            return self.drawn(report, result, picture)
        if format == "methods":
            return paragraph(report, result)
        if format in WRITERS:
            return WRITERS[format](report.tables(result))
        return as_text(result, is_folded=self.stdout.isatty())

    def drawn(self, report: Report, result: dict, wanted: str | None) -> str:
        from analysis.figures.pictures.drawing import draw

        pictures = {picture.name: picture for picture in report.pictures(result)}
        if not pictures:
            raise CommandError(f"{report.name} has no picture of these labels")
        if wanted is None and len(pictures) > 1 or wanted is not None and wanted not in pictures:
            raise CommandError(f"--picture is one of {', '.join(pictures)}")
        return draw(pictures[wanted or next(iter(pictures))], "svg").decode()

    def as_labels(self, source: Source) -> str:
        """How a table's numbers are counted as labels, where it has any."""
        has_numbers = source.described()["kind"] == "table" and any(one.takes_number for one in source.asked.dimensions)
        return ". Count its numbers as labels with --level nominal" if has_numbers else ""

    def source_of(self, subject: str, from_files: bool, how: dict, conditions: dict) -> Source:
        if from_files:
            source = source_of_files(Path(subject), **how)
            if how["mapping"] is None and (words := getattr(source, "read_as", "")):
                self.stderr.write(words)
            if errors := getattr(source, "left_out", []):
                more = f"\nand {len(errors) - ERRORS_SHOWN:,} more" if len(errors) > ERRORS_SHOWN else ""
                self.stderr.write("Left out:\n" + "\n".join(map(said_of, errors[:ERRORS_SHOWN])) + more)
            return looked_at(source, Selection.of(conditions))
        slug, _, release = subject.partition("@")
        project = Project.objects.filter(slug=slug).first()
        if project is None:
            hint = "; for files, add --from-files" if Path(subject).exists() else ""
            raise CommandError(f"There is no project {slug!r}{hint}")
        scope = scope_of(project, conditions | ({"release": release} if release else {}))
        if why := project.releases.filter(uuid=scope.get("release")).values_list("withdrawal", flat=True).first():
            self.stderr.write(f"release {release} of {slug} is withdrawn and must not be used any more: {why}")
        try:
            return scoped(project, scope)
        except NotReady as error:
            raise CommandError(str(error)) from None


def shape_of(columns: str, raters: str, models: str) -> TableShape:
    """CommandError where the words do not name columns."""
    pairs = [pair.partition("=") for pair in columns.split(",")] if columns else []
    if any(not ours.strip() or not theirs.strip() for ours, _, theirs in pairs):
        raise CommandError(f"--columns {columns}: is not of the form item=text_id,rater=annotator,label=rating")
    people, machines = ([name.strip() for name in names.split(",") if name.strip()] for names in (raters, models))
    if twice := sorted({name for name in [*people, *machines] if [*people, *machines].count(name) > 1}):
        raise CommandError(f"--rater-columns and --model-columns name the column {twice[0]!r} twice")
    return TableShape({ours.strip(): theirs.strip() for ours, _, theirs in pairs}, tuple(people), tuple(machines))


def mapping_of(path: Path | None, shape: TableShape) -> ChosenMapping | None:
    """CommandError if the file is no mapping, or other options map the columns as well."""
    if path is None:
        return None
    if shape != TableShape():
        raise CommandError("--mapping says what every column holds; leave out the other options of columns")
    try:
        mapping = read_mapping(path.read_bytes(), RATINGS)
    except (OSError, FormatError) as error:
        raise CommandError(f"{path}: {error}") from error
    if mapping.layout != RATINGS:
        raise CommandError(
            f"{path}: is a mapping of {LAYOUT_TITLES[mapping.layout].lower()}; reports need one of ratings"
        )
    return mapping


class Hidden:
    """Adds options that the help does not show."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        self.parser = parser

    def add_argument(self, *names: str, **how) -> None:
        self.parser.add_argument(*names, **how | {"help": argparse.SUPPRESS})


def describe(parser: argparse.ArgumentParser, named: Report | None, is_of_files: bool) -> None:
    """What the help says around the options: of one report, or which reports there are."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    if named is None:
        parser.usage = "%(prog)s PROJECT NAME [options]"
        width = max(map(len, REPORTS))
        parser.epilog = "\n".join(
            [f"  {name:<{width}}  {report.title}" for name, report in REPORTS.items()]
            + ["The options of a report are in the help with its name."]
        )
        return
    parser.usage = f"%(prog)s PROJECT {named.name} [options]"
    parser.description = named.title
    if not is_of_files:
        parser.epilog = "Filters of labels, and options of files, are in the help with --from-files."


def metavar_of(option: Option) -> str:
    """What the help calls the option's value."""
    choices = "|".join(option.choices) if isinstance(option.choices, dict) else ""
    return choices if 0 < len(choices) <= 40 else {"count": "N", "number": "X"}.get(option.kind, option.kind.upper())


def options_of_all() -> dict[str, Option]:
    """Every option by name. Options of one name are of one kind."""
    return {option.name: option for report in REPORTS.values() for option in report.options}

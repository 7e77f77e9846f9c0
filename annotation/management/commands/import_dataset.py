"""Import files into a data set, and the labels in them into a project: all or nothing."""

from __future__ import annotations

from pathlib import Path

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_slug
from django.db.models import Q

from annotation.datasets.queries import has_content
from annotation.formats import FORMATS, FormatError, SourceFile, get_format
from annotation.formats.cells import label_order
from annotation.formats.tables.format import INFO as TABLE
from annotation.formats.tables.guessing.columns import guess_columns
from annotation.formats.tables.mapping_file import RATINGS, read_mapping
from annotation.formats.tables.oddities import ENCODING, ODDITIES, check_treatment
from annotation.imports import importing
from annotation.imports.column_mappings import guess_or_refuse
from annotation.imports.from_hub import fetched
from annotation.imports.importing import FileChoices, ImportProblem, ImportRequest, ProjectWish
from annotation.imports.publishing import ON_JUDGED, REFUSE
from annotation.imports.rows import counted
from annotation.imports.staged_job import question_about
from annotation.management.shared import find_account, finished_here
from annotation.models import Dataset, Job, User
from annotation.projects.queries.carried_settings import in_words

ERRORS_SHOWN = 50


class Command(BaseCommand):
    guessed = ""  # how the columns were guessed, until it is printed

    help = "Import FILE... into a data set. Prints what is created and changed; exits with 1 when anything is wrong."

    def add_arguments(self, parser) -> None:
        parser.add_argument("files", nargs="+", metavar="FILE", type=Path, help="or a folder, or hf:OWNER/NAME")
        parser.add_argument(
            "--format", metavar="FORMAT", choices=list(FORMATS), help=f"guessed if left out; {', '.join(FORMATS)}"
        )
        parser.add_argument("--dataset", required=True, metavar="SLUG", help="created if it does not exist")
        parser.add_argument(
            "--project", metavar="SLUG", help="import the labels into this project; created if it does not exist"
        )
        parser.add_argument("--task-type", default="", metavar="SLUG/VARIANT/VERSION")
        parser.add_argument(
            "--piece-set",
            default="",
            metavar="NAME",
            help="the set whose pieces a new project judges (default: pieces without a set)",
        )
        parser.add_argument(
            "--overlap", metavar="N", type=int, default=0, help="judgements per item in a new project (default 0)"
        )
        parser.add_argument(
            "--with-settings",
            action="store_true",
            help="use the settings in the export's manifest.json for a new project",
        )
        parser.add_argument("--dry-run", action="store_true", help="show what would change and write nothing")
        parser.add_argument(
            "--mapping",
            type=Path,
            metavar="FILE.json",
            help="field or role -> column, for the formats table and ratings",
        )
        parser.add_argument("--on-judged", choices=ON_JUDGED, default=REFUSE, help="changed rows that carry judgements")
        parser.add_argument(
            "--leave-out",
            action="store_true",
            help="leave out bad rows and rows that depend on them, and import the rest",
        )
        parser.add_argument(
            "--treat",
            default="",
            metavar="KIND=CHOICE,…",
            help="what to do with odd rows, such as identical=leave-out; kinds: "
            + ", ".join(kind for kind, one in ODDITIES.items() if one.is_asked),
        )
        parser.add_argument("--owner", metavar="EMAIL", help="default: the first site administrator")
        parser.add_argument("--title", default="", help="title of the data set, if it is created")
        parser.add_argument("--model", default="", help="for refchecker and icat, if the path does not say")
        parser.add_argument("--setting", default="", help="for refchecker, if the path does not say")

    def handle(self, *args, **options) -> None:
        try:
            options["files"] = [
                fetched(str(path)) if str(path).startswith("hf:") else path for path in options["files"]
            ]
        except ImportProblem as error:
            raise CommandError(str(error)) from error
        for path in options["files"]:
            if not path.is_file() and not (path.is_dir() and any(path.rglob("*"))):
                raise CommandError(f"There is no file {path}")
        for slug in filter(None, (options["dataset"], options["project"])):
            _check_slug(slug)
        if not options["format"]:
            options["format"] = _guessed_format(options)
            self.stdout.write(f"Format: {get_format(options['format']).title} ({options['format']})")
        if options["with_settings"] and not options["project"]:
            raise CommandError("--with-settings needs the project that takes them: name it with --project")
        request = ImportRequest(
            format=options["format"],
            files=importing.files_of_paths(options["files"]),
            choices=self._choices(options),
            on_judged=options["on_judged"],
            project=_wish(options),
            leaves_out=options["leave_out"],
        )
        dataset = Dataset.objects.filter(slug=options["dataset"]).first()
        try:
            request = importing.with_label_set(request)
            importing.check(request, dataset)
            self._print_settings(request)
            if options["dry_run"]:
                result = importing.dry_run(request, dataset).as_json()
                self._print_result(result, "Would be")
                _refuse_nothing(result)
                if result["judged_count"] and request.on_judged == REFUSE:
                    raise CommandError("Judged rows would change; choose --on-judged supersede or keep")
                if result["error_count"] and not request.leaves_out:
                    raise CommandError(counted(result["error_count"], "bad row"))
                if unsaid := dict.fromkeys(one["kind"] for one in result["odd"] if one["is_open"]):
                    raise CommandError(f"{'; '.join(map(question_about, unsaid))}; say it with --treat")
                return
            self._import(request, dataset, options)
        except (ImportProblem, FormatError) as error:
            raise CommandError(f"{self.guessed}\n{error}".strip()) from error

    def _choices(self, options: dict) -> FileChoices:
        choices = {"model": options["model"], "setting": options["setting"], "treat": _treatment(options["treat"])}
        if not get_format(options["format"]).needs_mapping:
            return FileChoices(**choices)
        if options["mapping"]:
            try:
                mapped = read_mapping(options["mapping"].read_bytes(), options["format"])
            except (OSError, FormatError) as error:
                raise CommandError(f"{options['mapping']}: {error}") from error
            if (mapped.layout == RATINGS) != (options["format"] == RATINGS):
                raise CommandError(f"{options['mapping']}: is a mapping for another format than {options['format']}")
            return FileChoices.of(mapped, **choices)
        first = Path(importing.files_of_paths(options["files"][:1])[0]["path"])
        layout, encoding = (RATINGS if options["format"] == RATINGS else ""), choices["treat"].get(ENCODING, "")
        try:
            guess = guess_or_refuse(SourceFile(first), layout, encoding)
        except ImportProblem as error:
            raise CommandError(f"{error} Name them with --mapping FILE.json.") from None
        except FormatError as error:
            raise CommandError(str(error)) from error
        self.guessed = guess.line
        return FileChoices.of(guess.chosen, **choices)

    def _import(self, request: ImportRequest, dataset: Dataset | None, options: dict) -> None:
        owner = _owner(options["owner"], dataset)
        is_new = dataset is None
        if is_new:
            dataset = Dataset.objects.create(
                slug=options["dataset"], title=options["title"] or options["dataset"], owner=owner
            )
        job = None
        try:
            job = importing.interrupted(dataset, request)
            if job is not None:
                self.stdout.write(
                    f"Continuing the import of {job.created_at:%Y-%m-%d %H:%M} UTC, which was interrupted"
                )
            else:
                job = importing.start(owner, dataset, request, is_dry_run=False, wake_workers=False)
            job = finished_here(job)
        finally:
            result = job.result if job is not None else {}
            if is_new and (job is None or job.state in (Job.State.FAILED, Job.State.CANCELLED)):
                _remove_if_empty(dataset)
        if "content" in result:
            self._print_result(result, "Imported:" if job.state == Job.State.DONE else "Found:")
        if job.state != Job.State.DONE:
            raise CommandError(job.message or f"The import ended as {job.state}")
        try:
            _refuse_nothing(result)
        except CommandError:
            if is_new:
                _remove_if_empty(dataset)
            raise

    def _print_settings(self, request: ImportRequest) -> None:
        is_wanted = request.project is not None and request.project.with_settings
        settings = importing.settings_in(request) if is_wanted else None
        for name, words in in_words(settings) if settings else ():
            self.stdout.write(f"{name}: {words}")

    def _print_result(self, result: dict, verb: str) -> None:
        say = self.stdout.write
        if result["read_as"]:
            say(f"Columns read as: {' '.join(result['read_as'])}")
        elif self.guessed:
            say(self.guessed)
        self.guessed = ""
        for kind, counts in result["content"].items():
            say(
                f"{verb} {kind}: " + ", ".join(f"{counts.get(c, 0):,} {c}" for c in ("created", "changed", "unchanged"))
            )
        for kind, sets in result["sets"].items():
            counts = (f"{name or 'without a set'} {number:,}" for name, number in sets.items())
            say(f"Sets of {kind}: " + ", ".join(counts))
        for dimension, labels in result["labels"].items():
            say(
                f"Labels of {dimension}: "
                + ", ".join(f"{label} {labels[label]:,}" for label in sorted(labels, key=label_order))
            )
        if result["annotations"]:
            say(f"In the file: {counted(result['annotations'], 'annotation')} by {counted(result['raters'], 'rater')}")
        if result["decisions"]:
            say(f"In the file: {counted(result['decisions'], 'decision')}")
        for checker, number in result["from_checkers"].items():
            say(f"In the file: checker {checker}, {counted(number, 'unit')}")
        for lost in result["lost"]:
            say(f"Not imported: {lost['what']}: {lost['number']:,}, first in {lost['first']}")
        for odd in result["odd"]:
            what, first = (
                (f" ({odd['what']})" if odd["what"] else ""),
                (f", first in {odd['first']}" if odd["first"] else ""),
            )
            say(f"{ODDITIES[odd['kind']].title}{what}: {odd['number']:,}{first}")
        if result["chosen_count"]:
            say(f"Left out as chosen: {counted(result['chosen_count'], 'row')}")
        if done := result.get("labels_stored"):
            say(
                f"Project: {counted(done['items'], 'item')}, {counted(done['annotations'], 'new annotation')}, "
                f"{done['revisions']:,} revised, {done['unchanged']:,} unchanged; "
                f"{counted(done['decisions'], 'new decision')}, {done['decisions_changed']:,} changed, "
                f"{done['decisions_unchanged']:,} unchanged"
            )
        if result["is_unchanged"] and not result["error_count"] and _has_content(result):
            say("The data set is up to date: nothing changed.")
        for row in result["judged"][:ERRORS_SHOWN]:
            say(f"Judged and changed: {row['kind']} {row['key']} ({', '.join(row['columns'])})")
        for error in result["errors"][:ERRORS_SHOWN]:
            place = f"{error['file']}:{error['line']}" if error["line"] else error["file"] or "labels"
            self.stderr.write(f"{place}: {error['column'] or 'row'}: {error['value']!r} {error['reason']}")
        if result["error_count"] > ERRORS_SHOWN:
            self.stderr.write(f"... and {counted(result['error_count'] - ERRORS_SHOWN, 'more bad row')}")


def _has_content(result: dict) -> bool:
    return any(any(counts.values()) for counts in result["content"].values())


def _refuse_nothing(result: dict) -> None:
    has_labels = any(result[name] for name in ("annotations", "decisions", "from_checkers"))
    if result["is_unchanged"] and not result["error_count"] and not has_labels and not _has_content(result):
        raise CommandError("The files have nothing to import.")


def _guessed_format(options: dict) -> str:
    """The format of the files; of a table whose columns mean something, that of the columns."""
    sources = importing.sources_of_paths(options["files"])
    try:
        found = importing.guess_format(sources)
    except ImportProblem as error:
        raise CommandError(f"{error}. Name it with --format") from error
    if not get_format(found).needs_mapping:
        return found
    try:
        if options["mapping"]:
            layout = read_mapping(options["mapping"].read_bytes()).layout
        else:
            layout = guess_columns(sources[0]).chosen.layout
    except (OSError, FormatError):
        return found  # what is wrong is said where they are read
    return RATINGS if layout == RATINGS else TABLE.slug


def _treatment(text: str) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in text.split(",")] if text else []
    treat = {kind.strip(): choice.strip() for kind, _, choice in pairs}
    try:
        check_treatment(treat)
    except FormatError as error:
        raise CommandError(f"--treat: {error}") from None
    return treat


def _remove_if_empty(dataset: Dataset) -> None:
    if not has_content(dataset) and not dataset.projects.exists():
        dataset.delete()


def _check_slug(slug: str) -> None:
    try:
        validate_slug(slug)
    except ValidationError:
        raise CommandError(f"{slug!r} is not a short name: use letters, digits, - and _") from None


def _wish(options: dict) -> ProjectWish | None:
    if not options["project"]:
        return None
    return ProjectWish(
        slug=options["project"],
        title=options["title"] or ("" if options["with_settings"] else options["project"]),
        task_type=options["task_type"],
        piece_set=options["piece_set"],
        overlap=options["overlap"],
        with_settings=options["with_settings"],
    )


def _owner(email: str | None, dataset: Dataset | None) -> User:
    if email:
        return find_account(email)
    if dataset is not None:
        return dataset.owner
    # Staff run a site too, as the demo's researcher does, who is no superuser.
    runs_the_site = Q(is_superuser=True) | Q(is_staff=True)
    owner = User.objects.filter(runs_the_site, is_active=True).order_by("-is_superuser", "pk").first()
    if owner is None:
        raise CommandError(
            "There is no site administrator yet: create one with `manage.py create_admin EMAIL`, or name the owner, "
            "who has an account, with --owner EMAIL"
        )
    return owner

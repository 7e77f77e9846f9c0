"""`manage.py release PROJECT FOLDER`: freeze a project's labels as files; `--check`: are files what was frozen?"""

from __future__ import annotations

import getpass
import json
import os
import shutil
import tempfile
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from analysis.pages.releases.forms import FILTERS
from analysis.releases.cards.writing import figures_again
from analysis.releases.comparing import SHOWN, as_lines, compare
from analysis.releases.freezing import write_release
from analysis.releases.hub.asking import check_repository, check_token
from analysis.releases.kept import TABLES_NEED
from analysis.releases.public import write_public
from analysis.scopes import scope_of
from analysis.sources.releases.files import MANIFEST, Files, names_of, unpacked, zipped
from analysis.sources.releases.frames import ReleaseSource
from analysis.sources.selection import argument_of
from annotation.jobs.leases import JobError
from annotation.management.shared import find_project
from annotation.models import Project
from annotation.projects.preparing import NotReady
from models_runtime.contracts import UnavailableError
from plugins.extras import check_library, why_missing


class Command(BaseCommand):
    help = "Freeze a project's labels as files from which every report can be recomputed, or check such files."

    def add_arguments(self, parser):
        parser.add_argument("project", nargs="?", help="the project's short name")
        parser.add_argument("target", nargs="?", type=Path, help="a folder that does not exist yet, or a new .zip")
        parser.add_argument("--note", default="", metavar="TEXT", help="what this release is for")
        parser.add_argument(
            "--with",
            action="append",
            default=[],
            metavar="PROJECT",
            dest="others",
            help="another project on the same data set, whose labels are frozen in a folder of their own",
        )
        parser.add_argument(
            "--decisions",
            default="",
            metavar="SET",
            help="the decisions that determine the label of each unit, such as rule:NAME",
        )
        for name in FILTERS:
            parser.add_argument(
                argument_of(name), dest=f"only_{name}", metavar=name.upper(), help="freeze only these labels"
            )
        parser.add_argument(
            "--take", type=Path, metavar="FILES/PART", help="write one project of a release to TARGET.zip"
        )
        parser.add_argument("--release-version", default="", metavar="VERSION", help="the version that readers cite")
        parser.add_argument(
            "--figures", type=Path, metavar="FILES", help="recompute the figures of the card from a folder or zip"
        )
        parser.add_argument(
            "--compare",
            nargs=2,
            type=Path,
            metavar=("BEFORE", "AFTER"),
            help="what changed between the files of two releases: texts, labels, agreement",
        )
        parser.add_argument("--json", action="store_true", help="with --compare: every single change")
        parser.add_argument("--publish", type=Path, metavar="FILES", help="send a release's folder or zip to a hub")
        parser.add_argument("--to", default="", metavar="OWNER/NAME", help="with --publish: the repository")
        parser.add_argument("--update", action="store_true", help="with --publish: update an existing repository")
        parser.add_argument("--public", action="store_true", help="with --publish: make the new repository public")
        parser.add_argument(
            "--with-comments", action="store_true", help="with --publish: comments, notes and reasons, too"
        )
        parser.add_argument("--dry-run", action="store_true", help="with --publish: list the files and send nothing")
        parser.add_argument("--check", type=Path, metavar="FILES", help="verify the hashes of a folder or zip")

    def handle(self, *args, project, target, note, check, figures, release_version, **options):
        if options["compare"] is not None:
            self.show_changes(*options["compare"], options["json"])
            return
        if options["take"] is not None:
            self.take(options["take"], target or Path(project or ""))
            return
        if options["publish"] is not None:
            self.publish(options["publish"], options)
            return
        if figures is not None:
            self.compute_again(figures)
            return
        if check is not None:
            self.check_files(check)
            return
        if not project or target is None:
            raise CommandError("name the project and where to write: manage.py release PROJECT FOLDER")
        if missing := why_missing(TABLES_NEED):
            raise CommandError(missing)
        rows = find_project(project)
        if target.exists():
            raise CommandError(f"{target} exists already; name a new folder or .zip")
        folder = target.with_suffix(".files") if target.suffix == ".zip" else target
        if folder.exists():
            raise CommandError(f"{folder} exists already; name another zip")
        others = list(Project.objects.filter(dataset=rows.dataset_id, slug__in=options["others"]).exclude(pk=rows.pk))
        if unknown := sorted({*options["others"]} - {one.slug for one in others}):
            raise CommandError(f"There is no other project {', '.join(unknown)} on the data set of {rows.slug}")
        only = {name: options[f"only_{name}"] for name in FILTERS if options[f"only_{name}"]}
        try:
            filters = scope_of(rows, only).get("selection", {})
            chosen = {"others": others, "filters": filters, "decisions": options["decisions"]}
            manifest = write_release(rows, folder, note=note, version=release_version, **chosen)
        except (ValueError, JobError, NotReady) as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise CommandError(str(error)) from None
        if target.suffix == ".zip":
            zipped(folder, target)
            shutil.rmtree(folder)
        self.stdout.write(f"{target}: SHA-256 {manifest['release']['sha256']}")
        self.stdout.write(f"labels alone: SHA-256 {manifest['release']['labels_sha256']}")

    def compute_again(self, path: Path) -> None:
        try:
            self.stdout.write(figures_again(path), ending="")
        except ValueError as error:
            raise CommandError(str(error)) from None

    def show_changes(self, before: Path, after: Path, as_json: bool) -> None:
        try:
            found = compare(ReleaseSource(before), ReleaseSource(after), None if as_json else SHOWN)
        except ValueError as error:
            raise CommandError(str(error)) from None
        if as_json:
            self.stdout.write(json.dumps(found, indent=2, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(as_lines(found)))

    def publish(self, path: Path, options: dict) -> None:
        """The token is read from ASSAY_HUB_TOKEN, or asked for: an argument would stand in the shell's history."""
        made: list[str] = []
        try:
            repository = check_repository(options["to"])
            with tempfile.TemporaryDirectory() as folder:
                manifest = write_public(path, Path(folder), with_comments=options["with_comments"])
                if options["dry_run"]:
                    for name in [MANIFEST, *names_of(Path(folder))]:
                        self.stdout.write(f"{(Path(folder) / name).stat().st_size:>12,} {name}")
                    self.stdout.write(f"nothing was sent to {repository} of {settings.HUB}")
                    return
                token = check_token(os.environ.get("ASSAY_HUB_TOKEN") or getpass.getpass("Token of the hub: "))
                makes, release = not options["update"], manifest["release"]
                message = f"{release['title']}, SHA-256 {release['sha256']}"
                private = not options["public"]
                check_library("huggingface_hub")
                # Imported here: the library of the hub is large.
                from analysis.releases.hub.sending import send_folder

                address = send_folder(
                    *(Path(folder), repository, token, message),
                    makes=makes,
                    is_private=private,
                    made=lambda: made.append(repository),
                )
        except (ValueError, UnavailableError) as error:
            again = f". {repository} was made; to send what is missing, run the command with --update" if made else ""
            raise CommandError(f"{error}{again}") from None
        self.stdout.write(address)

    def take(self, path: Path, target: Path) -> None:
        """A part of a release of several projects, as a release that an import takes."""
        if target.suffix != ".zip" or target.exists():
            raise CommandError("name a new .zip: manage.py release --take RELEASE.zip/1-PROJECT NEW.zip")
        try:
            with tempfile.TemporaryDirectory() as folder:
                unpacked(path, Path(folder))
                zipped(Path(folder), target)
        except ValueError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{target}: written")

    def check_files(self, path: Path) -> None:
        try:
            files = Files(path)
            files.verify()
        except ValueError as error:
            raise CommandError(str(error)) from None
        release = files.manifest["release"]
        self.stdout.write(f"{path}: {len(files.manifest['files'])} files as frozen, SHA-256 {release['sha256']}")
        for name in files.changed_beside():
            self.stdout.write(f"{name}: has changed since; the hash of the data does not cover this file")

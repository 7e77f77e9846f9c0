"""`manage.py release PROJECT FOLDER`: freeze a project's labels as files; `--check`: are files what was frozen?"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from analysis.releases.cards.writing import figures_again
from analysis.releases.comparing import SHOWN, as_lines, compare
from analysis.releases.files import Files, zipped
from analysis.releases.freezing import write_release
from analysis.sources.release import ReleaseSource
from annotation.models import Project


class Command(BaseCommand):
    help = "Freeze a project's labels as files that every report can be computed from again, or check such files."

    def add_arguments(self, parser):
        parser.add_argument("project", nargs="?", help="the project's slug")
        parser.add_argument("target", nargs="?", type=Path, help="a folder that does not exist yet, or a new .zip")
        parser.add_argument("--note", default="", help="what this release is for")
        parser.add_argument("--release-version", default="", metavar="VERSION", help="the version that readers cite")
        parser.add_argument(
            "--figures", type=Path, metavar="FILES", help="compute the figures of the card again, from a folder or zip"
        )
        parser.add_argument(
            "--compare",
            nargs=2,
            type=Path,
            metavar=("BEFORE", "AFTER"),
            help="what changed between the files of two releases: texts, labels, agreement",
        )
        parser.add_argument("--json", action="store_true", help="with --compare: every single change")
        parser.add_argument("--check", type=Path, metavar="FILES", help="compare a folder or zip with its hashes")

    def handle(self, *args, project, target, note, check, figures, release_version, **options):
        if options["compare"] is not None:
            self.show_changes(*options["compare"], options["json"])
            return
        if figures is not None:
            self.compute_again(figures)
            return
        if check is not None:
            self.check_files(check)
            return
        if not project or target is None:
            raise CommandError("name the project and where to write: manage.py release PROJECT FOLDER")
        rows = Project.objects.filter(slug=project).first()
        if rows is None:
            raise CommandError(f"There is no project {project!r}")
        if target.exists():
            raise CommandError(f"{target} exists already; name a new folder or .zip")
        folder = target.with_suffix(".files") if target.suffix == ".zip" else target
        if folder.exists():
            raise CommandError(f"{folder} exists already; name another zip")
        manifest = write_release(rows, folder, note=note, version=release_version)
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

    def check_files(self, path: Path) -> None:
        try:
            files = Files(path)
            files.verify()
        except ValueError as error:
            raise CommandError(str(error)) from None
        release = files.manifest["release"]
        self.stdout.write(f"{path}: {len(files.manifest['files'])} files as frozen, SHA-256 {release['sha256']}")
        for name in files.changed_beside():
            self.stdout.write(f"{name}: has changed since, which the hash of the data says nothing of")

"""`manage.py export_dataset PROJECT FOLDER`: what the export page offers, written to a folder."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from annotation.exports.layouts import layout_of, why_own
from annotation.exports.releasing import LIST, WITHOUT_LABEL, retired_items, write_export
from annotation.exports.tools import lost_in, tool_exports
from annotation.jobs.lifecycle import JobError
from annotation.management.shared import find_project


class Command(BaseCommand):
    help = (
        "Write a project's content with decided labels, every individual annotation, and a manifest with their hashes."
    )

    def add_arguments(self, parser):
        parser.add_argument("project", help="the project's short name")
        parser.add_argument("folder", type=Path, help="output folder; created if missing")
        parser.add_argument(
            "--format",
            action="append",
            dest="kinds",
            metavar="KIND",
            help=f"tsv, jsonl, parquet, {', '.join(tool_exports())}",
        )

        parser.add_argument(
            "--decisions", default="", metavar="SET", help="the set that labels come from: rule:NAME, adjudicated, ..."
        )
        parser.add_argument(
            "--without-label",
            choices=WITHOUT_LABEL,
            default=LIST,
            help="units without a label: list them (their cells are empty), leave out their rows, or refuse",
        )

    def handle(self, *args, project, folder, kinds, decisions, without_label, **options):
        row = find_project(project)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise CommandError(f"{folder} is not an empty folder")
        layout = layout_of(row)
        if why := why_own(row, layout):
            self.stdout.write(why)
        exports = tool_exports()
        for tool in (name for name in kinds or () if name in exports):
            for what, number in lost_in(row, tool):
                self.stdout.write(f"{exports[tool].title} does not hold: {what}" + (f": {number:,}" if number else ""))
        try:
            manifest = write_export(row, folder, kinds, layout=layout, decisions=decisions, without_label=without_label)
        except JobError as error:
            raise CommandError(str(error)) from None
        for name, count in manifest["counts"].items():
            self.stdout.write(f"{name.replace('_', ' ')}: {count}")
        for dimension, reasons in manifest["without_label"]["counts"].items():
            for why, count in reasons.items():
                self.stdout.write(f"without a label, {dimension}: {count} {why}")
        if retired := retired_items(row):
            self.stdout.write(f"left out, because their content was superseded: {retired} items")
        for name, file in manifest["files"].items():
            self.stdout.write(f"{folder / name}  {file['bytes']} bytes  sha256 {file['sha256']}")

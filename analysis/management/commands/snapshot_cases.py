"""`manage.py snapshot_cases PROJECT`: how sure models of raters, and checkers, are of what waits for adjudicators."""

from django.core.management.base import BaseCommand

from analysis.rules.snapshots import take_snapshot
from annotation.management.shared import find_project


class Command(BaseCommand):
    help = "Store the probabilities of labels, and the uncertainty of checkers, of items that wait for adjudicators"

    def add_arguments(self, parser):
        parser.add_argument("project", help="the project's short name")

    def handle(self, *args, project, **options):
        for what, number in take_snapshot(find_project(project)).items():
            self.stdout.write(f"{what}: {number:,}")

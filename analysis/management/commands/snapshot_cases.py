"""`manage.py snapshot_cases PROJECT`: how sure models of raters, and checkers, are of what waits for adjudicators."""

from django.core.management.base import BaseCommand, CommandError

from analysis.rules.snapshots import take_snapshot
from annotation.models import Project


class Command(BaseCommand):
    help = "Store how sure models of raters, and checkers, are of the items that wait for adjudicators"

    def add_arguments(self, parser):
        parser.add_argument("project", help="the project's slug")

    def handle(self, *args, project, **options):
        found = Project.objects.filter(slug=project).first()
        if found is None:
            raise CommandError(f"There is no project {project!r}")
        for what, number in take_snapshot(found).items():
            self.stdout.write(f"{what}: {number:,}")

"""Put the demo's people, data and projects into the database; a second time it only looks."""

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from annotation.demo.making import make_demo


class Command(BaseCommand):
    help = "Migrate the database and fill it with the demo's accounts and projects. Needs ASSAY_DEMO=1."
    requires_system_checks = []

    def handle(self, *args, **options) -> None:
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            call_command("migrate", interactive=False, verbosity=0)
        try:
            make_demo(self.stdout.write)
        except RuntimeError as error:
            raise CommandError(error) from error

"""`migrate`, which first looks whether the database is too old for the migrations that there are."""

from django.core.management import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.migrations.loader import MigrationLoader

from config.database import why_too_old


class Command(migrate.Command):
    def handle(self, *args, **options):
        if reason := why_too_old(MigrationLoader(connections[options["database"]])):
            raise CommandError(reason)
        super().handle(*args, **options)

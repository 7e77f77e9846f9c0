"""`migrate`, which first looks whether the database is too old for the migrations that there are, and makes a new one
in one step."""

from django.core.management import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.migrations import RunPython, RunSQL
from django.db.migrations.executor import MigrationExecutor

from config.database import why_too_old

# What asks for less than all migrations, or for none.
OTHER = ("app_label", "fake", "fake_initial", "plan", "check_unapplied", "prune")


class Command(migrate.Command):
    def handle(self, *args, **options):
        executor = MigrationExecutor(connections[options["database"]])
        if reason := why_too_old(executor.loader):
            raise CommandError(reason)
        if not executor.loader.applied_migrations and not any(options[name] for name in OTHER):
            if options["verbosity"]:
                self.stdout.write("Creating all tables of a new database ...")
            create_tables(executor)
        super().handle(*args, **options)


def create_tables(executor: MigrationExecutor) -> None:
    """All tables as the last migrations leave them. One migration after the other would render all models after each
    operation, which takes ten times as long.

    Of what migrations do to rows, the elidable is left out: there are none. Nothing is made where anything fails.
    """
    leaves = executor.loader.graph.leaf_nodes()
    state = executor.loader.project_state(leaves)
    with executor.connection.schema_editor(atomic=True) as editor:
        executor.recorder.ensure_schema()
        for model in state.apps.get_models():
            if model._meta.can_migrate(editor.connection):
                editor.create_model(model)
        for migration, _backwards in executor.migration_plan(leaves):
            for operation in migration.operations:
                if isinstance(operation, RunPython | RunSQL) and not operation.elidable:
                    operation.database_forwards(migration.app_label, editor, state, state)
            executor.record_migration(migration)

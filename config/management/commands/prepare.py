"""Bring the database and the static files up to date, and make the first accounts: what `assay serve` begins with."""

import os
import sys
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from annotation.models import User

STAMP = ".static-collected"
# Packages with static files of their own.
WITH_FILES = ("djangorestframework", "django-htmx", "drf-spectacular-sidecar")


class Command(BaseCommand):
    help = __doc__
    requires_system_checks = []

    def add_arguments(self, parser):
        parser.add_argument("--demo", action="store_true", help="with the demo's accounts and projects")
        parser.add_argument("--email", default="", help="of the first administrator, where there is none yet")
        parser.add_argument("--admin", default="", metavar="NAME", help="the first administrator's name")

    def handle(self, *args, demo: bool, email: str, admin: str, **options) -> None:
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            call_command("migrate", interactive=False, verbosity=0)
        collect_static()
        if demo:
            call_command("demo", stdout=self.stdout)
        elif not User.objects.filter(is_superuser=True, is_active=True).exists():
            call_command("create_admin", email or self._asked(), name=admin, stdout=self.stdout)

    def _asked(self) -> str:
        if not sys.stdin.isatty():
            raise CommandError(
                "There is no administrator yet. Name the first with --email, and give the password in "
                "ASSAY_ADMIN_PASSWORD; or start it in a terminal, where it asks."
            )
        self.stdout.write("The first administrator of this Assay:")
        return input("Email: ")


def collect_static() -> None:
    """Only where files have changed since the last time."""
    stamp, state = Path(settings.STATIC_ROOT) / STAMP, state_of_static()
    if not stamp.exists() or stamp.read_text() != state:
        call_command("collectstatic", interactive=False, verbosity=0)
        stamp.write_text(state)


def state_of_static() -> str:
    """A digest of names, sizes and times of Assay's static files, and of the versions of packages that bring some."""
    found = [f"{name} {version(name)}" for name in WITH_FILES]
    for folder in settings.STATICFILES_DIRS:
        for path in sorted(Path(folder).rglob("*")):
            details = os.stat(path)
            found.append(f"{path.relative_to(folder)} {details.st_size} {details.st_mtime_ns}")
    return blake2b("\n".join(found).encode(), digest_size=16).hexdigest()

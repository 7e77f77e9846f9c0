"""Checks of this machine: models of checkers, disk space, and its time."""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.template.defaultfilters import filesizeformat
from django.utils import timezone

from annotation.jobs import workers
from annotation.machines.runs.queries.checkers import listed_checkers
from config.health.findings import Finding, error, ok, warning
from plugins.extras import LIBRARIES, why_missing

LITTLE_SPACE, NO_SPACE = 2 * 1024**3, 256 * 1024**2  # bytes
# Leases are times that machines compare.
OFF = timedelta(seconds=3)


def check_models() -> Iterator[Finding]:
    """What is missing here is no fault: an installation has the checkers that it uses, maybe on other machines."""
    ready, lacking = [], defaultdict(list)
    for one in listed_checkers():
        if not one.needs:
            ready.append(one.info.slug)
        for need in one.needs:
            lacking[need.words, need.command].append(one.info.slug)
    yield ok(f"Ready on this machine: {', '.join(ready) or 'none'}")
    for (words, command), slugs in lacking.items():
        yield ok(f"{words}: needed by {', '.join(slugs)}", f"To use them: {command}" if command else "")


def check_libraries() -> Iterator[Finding]:
    """As with models, nobody needs all of them."""
    missing = [reason.partition(": ") for reason in map(why_missing, LIBRARIES) if reason]
    yield from (ok(what, f"To use them: {command}") for what, _, command in missing)
    if not missing:
        yield ok("All optional libraries are installed on this machine")


def check_disk() -> Iterator[Finding]:
    """Of each file system with files that Assay writes, once."""
    folders = [settings.DATA_DIR]
    if connection.vendor == "sqlite":
        folders.append(Path(connection.settings_dict["NAME"]).parent)
    for folder in {folder.stat().st_dev: folder for folder in reversed(folders)}.values():
        free = shutil.disk_usage(folder).free
        words = f"{filesizeformat(free)} free in {folder}".replace("\xa0", " ")
        todo = "Free space, or move the data directory to a larger disk: without space nothing can be stored."
        if free < NO_SPACE:
            yield error(words, todo)
        elif free < LITTLE_SPACE:
            yield warning(words, todo)
        else:
            yield ok(words)


def check_time() -> Iterator[Finding]:
    """This machine's time against the database server's and the workers'."""
    now, todo = timezone.now(), "Synchronise the clocks of all machines (NTP): leases are times that they compare."
    found = [
        f"The worker {one.name} is {(one.beat_at - now).total_seconds():.0f} s ahead of this machine"
        for one in workers.alive()
        if one.beat_at - now > OFF
    ]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT clock_timestamp()")
            off = abs(cursor.fetchone()[0] - datetime.now(UTC))
        if off > OFF:
            found.append(f"The database server's time differs from this machine's by {off.total_seconds():.0f} s")
    yield from (warning(one, todo) for one in found)
    if not found:
        yield ok(f"{now:%Y-%m-%d %H:%M:%S} UTC")

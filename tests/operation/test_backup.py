"""A backup holds the database and the files of one moment, and comes back whole, into an empty place, or not at all."""

import contextlib
import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.core.management import call_command

from annotation.jobs.versions import code_migrations
from config.backup import archive, making, restoring
from config.backup.archive import BackupError, Manifest, extract, verify
from tests.own_database import empty_database

ROOT = settings.BASE_DIR
SERVER = "postgresql://postgres@127.0.0.1:5432"
FILL = """
import hashlib
from annotation.models import Upload
from tests import factories
dataset = factories.make_dataset(slug="kept")
factories.make_claim_evidence(dataset, 3)
for n in range(3):
    data = f"file {n} \\u00e9".encode()
    row = Upload.objects.create(owner=dataset.owner, file_name=f"{n}.csv", size=len(data),
        sha256=hashlib.sha256(data).hexdigest())
    row.stored_at.parent.mkdir(parents=True, exist_ok=True)
    row.stored_at.write_bytes(data)
"""


@dataclass
class Place:
    """An installation of its own."""

    folder: Path
    database: str = ""
    variables: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        own = ("ASSAY_", "DATABASE_URL", "CELERY_", "DJANGO_")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(own)}
        database = {"DATABASE_URL": self.database} if self.database else {}
        return kept | database | {"ASSAY_DATA_DIR": str(self.folder), "ASSAY_SECRET_KEY": "k" * 50, "ASSAY_DEBUG": "1"}

    def run(self, *arguments: str) -> subprocess.CompletedProcess:
        # Imports all pages, which takes half of the processor time; `shell` checks nothing.
        unchecked = [] if arguments[0] == "shell" else ["--skip-checks"]
        command = [sys.executable, "manage.py", *map(str, arguments), *unchecked]
        return subprocess.run(
            command, cwd=ROOT, env=self.environment(), capture_output=True, text=True, timeout=300, check=False
        )

    def manage(self, *arguments: str) -> str:
        done = self.run(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def refused(self, *arguments: str) -> str:
        done = self.run(*arguments)
        assert done.returncode == 1 and "Traceback" not in done.stderr, done.stdout + done.stderr
        return done.stderr

    def content(self) -> tuple[dict, dict]:
        """Rows by table, and files by path."""
        if self.database:
            connect = psycopg.connect(self.database)
            listed = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        else:
            connect = sqlite3.connect(self.folder / "assay.sqlite3")
            listed = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        with contextlib.closing(connect) as connection:
            tables = [name for (name,) in connection.execute(listed).fetchall()]
            rows = {one: sorted(map(repr, connection.execute(f'SELECT * FROM "{one}"'))) for one in tables}
        # When a migration was applied is of the place.
        applied = {
            row.split(",", 1)[1].rpartition("datetime" if self.database else ",")[0]
            for row in rows.pop("django_migrations")
        }
        files = (path for path in (self.folder / "files").rglob("*") if path.is_file())
        stored = {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in files}
        return rows | {"django_migrations": sorted(applied)}, stored


@contextlib.contextmanager
def postgresql(name: str):
    try:
        connection = psycopg.connect(f"{SERVER}/postgres", connect_timeout=3, autocommit=True)
    except psycopg.OperationalError:
        pytest.skip("No PostgreSQL on 127.0.0.1:5432")
    with connection:
        connection.execute(f"create database {name}")
        try:
            yield f"{SERVER}/{name}"
        finally:
            connection.execute(f"drop database {name} with (force)")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def places(request, tmp_path):
    """One with tables, and an empty one."""
    folders = tmp_path / "one", tmp_path / "other"
    for folder in folders:
        folder.mkdir()
    if request.param == "sqlite":
        shutil.copyfile(empty_database(), folders[0] / "assay.sqlite3")
        yield [Place(folder) for folder in folders]
        return
    with postgresql(f"assay_one_{os.getpid()}") as one, postgresql(f"assay_other_{os.getpid()}") as other:
        made = [Place(folder, database) for folder, database in zip(folders, (one, other), strict=True)]
        made[0].manage("migrate", "-v", "0")
        yield made


@pytest.fixture(scope="module")
def filled_once(tmp_path_factory):
    place = Place(tmp_path_factory.mktemp("filled"))
    shutil.copyfile(empty_database(), place.folder / "assay.sqlite3")
    place.manage("shell", "-v", "0", "-c", FILL)
    return place


@pytest.fixture
def filled(filled_once, tmp_path):
    return Place(shutil.copytree(filled_once.folder, tmp_path / "filled"))


def test_all_rows_and_files_come_back(places, tmp_path):
    place, other = places
    place.manage("shell", "-v", "0", "-c", FILL)
    backups = tmp_path / "backups"
    backups.mkdir()
    assert " rows and 3 files of " in place.manage("backup", backups)
    [file] = backups.iterdir()
    assert file.stat().st_mode & 0o077 == 0, "others may read it"
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        call_command("backup", file, "--verify")
    assert "complete" in printed.getvalue()
    assert "Restored " in other.manage("restore", file)
    rows, files = other.content()
    assert (rows, files) == place.content()
    assert len(files) == 3 and len(rows["annotation_evidence"]) == 3
    # Numbers of rows go on.
    other.manage("shell", "-v", "0", "-c", "from tests.factories import *; make_dataset(make_user('next'), 'next')")
    after = other.content()
    assert "has tables. Restore into an empty one" in other.refused("restore", file)
    assert other.content() == after
    assert not list(place.folder.glob("backup/scratch")) and not (other.folder / "restoring").exists()


# As the models were then: today's have columns that its tables lack.
OLDER_DATASET = """
from django.db import connection
from django.db.migrations.loader import MigrationLoader
[leaf] = [key for key in MigrationLoader(connection).applied_migrations if key[1].startswith("0043")]
apps = MigrationLoader(connection).project_state([leaf]).apps
owner = apps.get_model("annotation", "User").objects.create(username="old", email="old@example.org")
apps.get_model("annotation", "Dataset").objects.create(slug="old", title="Old", owner=owner)
"""


@pytest.mark.slow
def test_an_older_backup_is_migrated(places, tmp_path):
    place, other = places
    place.manage("migrate", "annotation", "0043", "-v", "0")
    older = tmp_path / "older.tar"
    place.manage("shell", "-v", "0", "-c", OLDER_DATASET)
    place.manage("backup", older)
    other.manage("restore", older)
    assert "[ ]" not in other.manage("showmigrations", "--plan")
    assert any("'old'" in row for row in other.content()[0]["annotation_dataset"])


def test_what_is_damaged_or_cut_off_is_refused_and_nothing_is_written(filled, tmp_path):
    whole, broken = tmp_path / "whole.tar", tmp_path / "broken.tar"
    filled.manage("backup", whole)
    data = whole.read_bytes()
    place = data.index(b"file 1 ")
    for damaged in (data[: place + 3], data[: len(data) // 2], data[:-20_000], b"", b"x" * 2000):
        broken.write_bytes(damaged)
        with pytest.raises(BackupError, match="complete|part of one|is no backup"):
            verify(broken)
    broken.write_bytes(data[:place] + b"FILE 1 " + data[place + 7 :])
    other = Place(tmp_path / "other")
    assert "is damaged: files/uploads/" in other.refused("restore", broken)
    assert not (other.folder / "files").exists() and not (other.folder / "restoring").exists()
    other.manage("restore", whole)


@pytest.mark.slow
def test_files_that_are_there_are_not_mixed_with_restored_ones(filled, tmp_path):
    file = tmp_path / "backup.tar"
    filled.manage("backup", file)
    other = Place(tmp_path / "other")
    (other.folder / "files" / "uploads").mkdir(parents=True)
    (other.folder / "files" / "uploads" / "own").write_text("own")
    assert "There are files already" in other.refused("restore", file)
    assert (other.folder / "files" / "uploads" / "own").read_text() == "own"
    assert "exists already" in filled.refused("backup", file)


FAILING = """
from pathlib import Path
from config.backup import databases, restoring
def fail(*arguments):
    raise restoring.BackupError("cut off")
databases.PostgreSQL._set_sequences = fail
try:
    restoring.restore_backup(Path({file!r}))
except restoring.BackupError as error:
    print(error, databases.is_empty())
"""


@pytest.mark.slow
def test_a_failed_restore_on_postgresql_leaves_no_tables(tmp_path):
    name = f"assay_one_{os.getpid()}"
    with postgresql(name) as database, postgresql(f"{name}_other") as empty:
        place, other = Place(tmp_path / "one", database), Place(tmp_path / "other", empty)
        place.manage("migrate", "-v", "0")
        place.manage("backup", tmp_path / "backup.tar")
        failing = FAILING.format(file=str(tmp_path / "backup.tar"))
        assert other.manage("shell", "-v", "0", "-c", failing).split() == ["cut", "off", "True"]
        other.manage("restore", tmp_path / "backup.tar")


@pytest.mark.django_db
def test_a_newer_one_and_one_of_another_database_are_refused():
    migrations = [list(one) for one in code_migrations()[0]]
    fits = Manifest("0.1.0", "2026-01-01", restoring.connection.vendor, migrations, {}, {}, {})
    restoring._check_fit(fits)
    newer = replace(fits, assay="9.0", migrations=[*migrations, ["annotation", "9999_from_tomorrow"]])
    with pytest.raises(BackupError, match=r"newer Assay \(9\.0; .* annotation\.9999_from_tomorrow"):
        restoring._check_fit(newer)
    other = next(name for name in restoring.VENDORS if name != restoring.connection.vendor)
    with pytest.raises(BackupError, match="Name an empty"):
        restoring._check_fit(replace(fits, vendor=other))


WRITING = """
import hashlib, itertools, sys, uuid
import django
django.setup()
from annotation.models import Upload, User
owner = User.objects.get()
print("writing", flush=True)
for n in itertools.count():
    row = Upload(owner=owner, file_name=str(n), size=7, sha256="0" * 64, uuid=uuid.uuid4())
    row.stored_at.parent.mkdir(parents=True, exist_ok=True)
    row.stored_at.write_bytes(b"content")
    row.save()
    if n >= 20:
        old = Upload.objects.get(file_name=str(n - 20))
        old.delete()
"""


@pytest.mark.slow
def test_every_row_has_its_file_whatever_is_written_meanwhile(filled, tmp_path):
    env = filled.environment() | {"DJANGO_SETTINGS_MODULE": "config.settings"}
    writer = subprocess.Popen([sys.executable, "-c", WRITING], cwd=ROOT, env=env, stdout=subprocess.PIPE)
    try:
        assert writer.stdout.readline() == b"writing\n"
        for n in range(2):
            filled.manage("backup", tmp_path / f"{n}.tar")
        assert writer.poll() is None
    finally:
        writer.kill()
        writer.communicate()
    for n in range(2):
        extract(tmp_path / f"{n}.tar", "", tmp_path / str(n))
        stored = {path.name for path in (tmp_path / str(n) / "files" / "uploads").iterdir()}
        with contextlib.closing(sqlite3.connect(tmp_path / str(n) / "database" / "assay.sqlite3")) as connection:
            named = {uuid for (uuid,) in connection.execute("SELECT uuid FROM annotation_upload")}
        assert len(named) > 3 and named <= stored


@pytest.mark.slow
def test_a_killed_backup_leaves_nothing_that_looks_whole(filled, tmp_path):
    big = filled.folder / "files" / "uploads" / "big"
    with big.open("wb") as file:
        file.truncate(3 * 1024**3)  # without taking room
    destination, part = tmp_path / "killed.tar", tmp_path / "killed.tar.part"
    command = [sys.executable, "manage.py", "backup", str(destination)]
    process = subprocess.Popen(command, cwd=ROOT, env=filled.environment(), stderr=subprocess.DEVNULL)
    while not (part.exists() and part.stat().st_size > 1_000_000):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    big.unlink()
    assert not destination.exists()
    with pytest.raises(BackupError):
        verify(part)
    filled.manage("backup", destination)
    assert verify(destination) and not part.exists() and not (filled.folder / "backup" / "scratch").exists()


def test_a_backup_without_space_fails_in_a_sentence(filled, tmp_path):
    command = f"ulimit -f 200; exec {sys.executable} manage.py backup {tmp_path / 'new.tar'}"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=ROOT,
        env=filled.environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 1 and "could not be written" in done.stderr and "Traceback" not in done.stderr
    assert not list(tmp_path.glob("new.tar*"))


def test_a_data_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    command = [sys.executable, "-m", "assay", "restore", "--data", tmp_path / "file", tmp_path / "some.tar"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (1, f"The data folder {tmp_path / 'file'} cannot be used: File exists\n")


def test_a_folder_that_vanishes_is_passed_over_and_one_that_cannot_be_read_is_not(tmp_path, monkeypatch):
    (tmp_path / "releases" / "working-1").mkdir(parents=True)
    (tmp_path / "uploads").mkdir()
    (tmp_path / "uploads" / "kept").touch()
    scan = os.scandir

    def scandir(path):
        if Path(path).name == "working-1":
            raise error
        return scan(path)

    monkeypatch.setattr(os, "scandir", scandir)
    error = FileNotFoundError("gone")
    assert [path.name for path in making._files(tmp_path)] == ["kept"]
    error = PermissionError("not yours")
    with pytest.raises(PermissionError):
        making._files(tmp_path)


@pytest.mark.parametrize(
    "change", [{"vendor": "mysql"}, {"files": None}, {"files": {"a": 1}}, {"migrations": [1]}, {"rows": {"a": "b"}}]
)
def test_a_changed_manifest_is_said_to_be_damaged(change, tmp_path):
    known = {
        "assay": "1",
        "made_at": "2026-01-01T00:00:00Z",
        "vendor": "sqlite",
        "migrations": [["a", "b"]],
        "rows": {},
        "columns": {},
        "files": {},
        "format": archive.FORMAT,
    }
    assert archive._parse(tmp_path, json.dumps(known).encode()).vendor == "sqlite"
    with pytest.raises(archive.BackupError, match="is damaged"):
        archive._parse(tmp_path, json.dumps(known | change).encode())

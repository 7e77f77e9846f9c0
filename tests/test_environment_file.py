"""The environment file of `make setup`, commands without a key, and wrong settings, in the programs that read them."""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from assay.places import needs_key, values_of_file
from tests.journeys.demo import environment
from tests.suggesting.workers import worker_environment

ROOT = Path(__file__).resolve().parents[1]
KEY = "0123456789abcdefghijklmnopqrstuvwxyz"
BIN = ROOT / ".venv" / "bin"


def run(*command: str, cwd: Path = ROOT, **variables: str) -> subprocess.CompletedProcess:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
    return subprocess.run(
        list(map(str, command)), cwd=cwd, capture_output=True, text=True, timeout=120, env=kept | variables
    )


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """This checkout as git has it, beside the environment that is there already."""
    folder = tmp_path_factory.mktemp("clone") / "assay"
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z").stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).exists() and not name.startswith(("tests/", "docs/", "benchmarks/")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    (folder / ".venv").symlink_to((ROOT / ".venv").resolve())
    done = run("make", "assay.env", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


def settings_of(folder: Path, **variables: str) -> list[str]:
    words = "from config import settings as s; print(s.SECRET_KEY, s.DATA_DIR, sep='\\n')"
    done = run(BIN / "python", "-c", words, cwd=folder, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_setup_leaves_a_key_and_the_data_folder_for_the_owner_alone(clone):
    file = clone / "assay.env"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    values = dict(line.split("=", 1) for line in file.read_text().splitlines() if not line.startswith("#"))
    assert set(values) == {"ASSAY_SECRET_KEY", "ASSAY_DATA_DIR"}
    assert settings_of(clone) == [values["ASSAY_SECRET_KEY"], str(clone / "var" / "demo")]
    before = file.read_bytes()
    run("make", "assay.env", cwd=clone)
    assert file.read_bytes() == before
    assert run("git", "check-ignore", "assay.env").returncode == 0


def test_setup_leaves_none_where_a_key_is_set(clone, tmp_path):
    shutil.copy2(clone / "Makefile", tmp_path)
    done = run("make", "assay.env", cwd=tmp_path, ASSAY_SECRET_KEY=KEY)
    assert done.returncode == 0 and not (tmp_path / "assay.env").exists()


def test_real_variables_win_and_a_real_key_puts_the_file_out_of_use(clone, tmp_path):
    key = values_of_file(clone / "assay.env", {})["ASSAY_SECRET_KEY"]
    assert settings_of(clone, ASSAY_DATA_DIR=str(tmp_path)) == [key, str(tmp_path)]
    assert settings_of(clone, ASSAY_SECRET_KEY=KEY) == [KEY, str(clone / "var")]


@pytest.mark.parametrize("line", ["ASSAY_DEMO=1", "DATABASE_URL=sqlite:///x", "export ASSAY_SECRET_KEY=x", "nonsense"])
def test_the_file_holds_a_key_and_a_folder_and_nothing_else(tmp_path, line):
    file = tmp_path / "assay.env"
    file.write_text(f"# a remark\n\nASSAY_SECRET_KEY={KEY}\n{line}\n")
    with pytest.raises(ValueError, match="assay.env, line 4: only ASSAY_SECRET_KEY"):
        values_of_file(file, {})


def test_a_missing_file_adds_nothing_and_an_unreadable_one_is_told(tmp_path):
    assert values_of_file(tmp_path / "assay.env", {}) == {}
    with pytest.raises(ValueError, match="cannot be read"):
        values_of_file(tmp_path, {})


def test_tests_read_no_file_of_this_folder(tmp_path):
    environments = [os.environ, environment(tmp_path), worker_environment(tmp_path, "filesystem://")]
    for variables in environments:
        assert "ASSAY_SECRET_KEY" in variables
        assert values_of_file(ROOT / "assay.env", variables) == {}


# ---- without a key ----


@pytest.mark.parametrize(
    ("command", "said"), [(["--help"], "import_dataset"), (["report", "--help"], "--from-files")], ids=["all", "one"]
)
def test_help_needs_no_key(tmp_path, command, said):
    """Without settings, Django's own help would list its own commands alone."""
    done = run(BIN / "python", "manage.py", *command, ASSAY_SECRET_KEY="", ASSAY_DATA_DIR=str(tmp_path))
    assert done.returncode == 0 and said in done.stdout and not done.stderr, done.stderr


@pytest.mark.parametrize("name", ["ASSAY_ADMIN_PASSWORD", "ASSAY_HUB_TOKEN", "ASSAY_TOKEN"])
def test_secrets_of_single_commands_stop_no_other(tmp_path, name):
    asked = [BIN / "python", "manage.py", "release", "--help"]
    done = run(*asked, **{name: "secret", "ASSAY_DATA_DIR": str(tmp_path)})
    assert done.returncode == 0 and "--publish" in done.stdout, done.stderr
    done = run(*asked, **{f"{name}S": "secret", "ASSAY_DATA_DIR": str(tmp_path)})
    assert done.returncode != 0 and f"{name}S is not a setting" in done.stderr


@pytest.mark.slow
def test_a_report_from_files_needs_no_key(tmp_path):
    labels = tmp_path / "labels.csv"
    labels.write_text("item,rater,label\n1,ann,yes\n1,ben,yes\n2,ann,no\n2,ben,no\n3,ann,yes\n3,ben,no\n")
    variables = {"ASSAY_SECRET_KEY": "", "ASSAY_DATA_DIR": str(tmp_path)}
    done = run(BIN / "python", "manage.py", "report", str(labels), "agreement", "--from-files", **variables)
    assert done.returncode == 0 and "Krippendorff" in done.stdout, done.stderr
    done = run(BIN / "python", "manage.py", "release", "--check", str(tmp_path), **variables)
    assert done.returncode == 1 and "ASSAY_SECRET_KEY" not in done.stderr


@pytest.mark.parametrize(
    ("line", "is_needed"),
    [
        ("manage.py", False),
        ("manage.py help report", False),
        ("manage.py import_dataset -h", False),
        ("manage.py --version", False),
        ("celery -A config worker --help", False),
        ("manage.py runserver", True),
        ("manage.py report x agreement", True),
        ("manage.py import_dataset --from-files", True),
        ("gunicorn config.wsgi -h", True),
        ("-c", True),
    ],
)
def test_what_serves_or_reads_the_database_needs_one(line, is_needed):
    assert needs_key(line.split()) == is_needed


# ---- wrong settings ----

PROGRAMS = {
    "manage.py": [BIN / "python", "manage.py", "migrate"],
    "worker": [BIN / "celery", "-A", "config", "worker"],
    "clock": [BIN / "celery", "-A", "config", "beat"],
    "gunicorn": [BIN / "gunicorn", "config.wsgi", "--workers", "2", "--bind", "127.0.0.1:0"],
    "asgi": [sys.executable, "-c", "import config.asgi"],
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_wrong_settings_are_a_line_each_without_a_traceback(tmp_path, program):
    wrong = {"ASSAY_SECRET_KEY": "", "ASSAY_LOG_LEVEL": "LOUD", "ASSAY_DATA_DIR": str(tmp_path / "file" / "below")}
    (tmp_path / "file").touch()
    done = run(*PROGRAMS[program], **wrong)
    assert done.returncode == 3
    lines = (done.stdout + done.stderr).splitlines()
    assert [line.partition(": ")[2].split()[0] for line in lines] == sorted(
        wrong, key=["ASSAY_SECRET_KEY", "ASSAY_LOG_LEVEL", "ASSAY_DATA_DIR"].index
    )
    assert all(line.startswith("Assay cannot start: ") for line in lines)


@pytest.mark.slow
def test_a_database_that_is_away_or_empty_is_a_line(tmp_path):
    variables = {"ASSAY_SECRET_KEY": KEY, "ASSAY_DATA_DIR": str(tmp_path)}
    done = run(BIN / "python", "manage.py", "report", "some-project", "agreement", **variables)
    assert done.returncode == 1 and "manage.py migrate" in done.stderr and len(done.stderr.splitlines()) == 1
    away = variables | {"DATABASE_URL": "postgresql://someone:secret-word@127.0.0.1:9/none"}
    done = run(BIN / "python", "manage.py", "report", "some-project", "agreement", **away)
    assert done.returncode == 1 and "cannot be reached" in done.stderr and len(done.stderr.splitlines()) == 1
    assert "secret-word" not in done.stderr


def test_a_reader_that_stops_early_sees_no_traceback(clone):
    """As `manage.py report ... | head` does."""
    command = [BIN / "python", "manage.py", "diffsettings", "--all"]
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
    with subprocess.Popen(command, cwd=clone, env=kept, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b"" and process.wait() == 0

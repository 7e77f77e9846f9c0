"""An empty Assay with a database of its own, in which commands run. A process loads Assay once, and each is a copy of
it: starting one anew takes a second and a half of processor time."""

import json
import os
import shutil
import subprocess
import sys
import traceback
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path

from tests.folders import temporary_folder
from tests.own_database import ROOT, empty_database

USED = ("import_dataset", "export_dataset", "release", "report")


def run_in_empty_assay(folder: Path, *commands: list[str], stdout: Path | None = None) -> None:
    """Run the commands as a new superuser of an Assay that keeps everything in `folder`; the last one may write to a
    file."""
    folder.mkdir()
    shutil.copyfile(empty_database(), folder / "second.sqlite3")
    process = _loaded()
    print(json.dumps([str(folder), commands, str(stdout or os.devnull)]), file=process.stdin, flush=True)
    status = process.stdout.readline()
    assert status == "0\n", (folder / "said").read_text()


@cache
def _loaded() -> subprocess.Popen:
    """It ends when nobody can write to it any more."""
    folder = temporary_folder()
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "ASSAY_SECRET_KEY": "only-for-tests-" + "y" * 40,
        "ASSAY_DEBUG": "1",
        "ASSAY_DATA_DIR": folder,
        "DATABASE_URL": f"sqlite:///{folder}/none.sqlite3",
    }
    command = [sys.executable, "-m", "tests.second_assay"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=ROOT, env=environment, **pipes)


def _serve() -> None:
    import django

    django.setup()
    from django.core.management import get_commands, load_command_class

    from analysis.reports.metrics import REPORTS

    for name in USED:
        load_command_class(get_commands()[name], name)
    REPORTS["agreement"].load()
    for line in sys.stdin:
        child = os.fork()
        if not child:
            _run(*json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _run(folder: str, commands: list[list[str]], stdout: str) -> None:
    from django.conf import settings
    from django.core.management import call_command

    from annotation.models import User

    said = os.open(f"{folder}/said", os.O_WRONLY | os.O_CREAT)
    for descriptor in (1, 2):
        os.dup2(said, descriptor)
    try:
        settings.DATA_DIR = Path(folder, "data")
        settings.MEDIA_ROOT = settings.DATA_DIR / "files"
        settings.DATABASES["default"]["NAME"] = f"{folder}/second.sqlite3"
        User.objects.create_superuser("second", "second@example.org")
        for command in commands[:-1]:
            call_command(*command)
        with open(stdout, "w", encoding="utf-8") as file, redirect_stdout(file):
            call_command(*commands[-1])
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


if __name__ == "__main__":
    _serve()

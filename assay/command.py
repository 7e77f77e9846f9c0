"""`assay COMMAND`: one table of commands. Nothing is imported before it is needed, so that those which need no server
start at once."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.places import FOLDER, IS_INSTALLED, KEY, data_folder, key_file, make_data_folder, needs_key

MANAGED = "manage.py "


@dataclass(frozen=True, slots=True)
class Command:
    """A command.

    runs : `module:function`, called with the arguments; or `manage.py NAME`, a command of Django
    summary : a line for the help
    extra : the extra of the package that it needs; empty where the base suffices
    makes_data : whether it may begin in an empty data folder
    """

    runs: str
    summary: str
    extra: str = "server"
    makes_data: bool = False


COMMANDS = {
    "demo": Command("assay.serving:demo", "start Assay with demo data"),
    "serve": Command("assay.serving:serve", "serve Assay with data of your own, for you or your network"),
    "worker": Command("assay.serving:work", "run a further worker"),
    "import": Command("manage.py import_dataset", "import a file into a data set, and its labels into a project"),
    "report": Command("manage.py report", "compute a report of a project, a release or a table of labels"),
    "release": Command("manage.py release", "freeze a project's labels as files, check, compare or publish them"),
    "export": Command("manage.py export_dataset", "write a project's labels as TSV, JSON Lines, Parquet and others"),
    "doctor": Command("manage.py doctor", "check database, workers, disk, mail and settings, and say what to do"),
    "backup": Command("manage.py backup", "back up database and files as of one moment"),
    "restore": Command("manage.py restore", "restore a backup into an empty place", makes_data=True),
    "judge": Command(
        "analysis.judge.command:main", "may a judge's labels stand in for people's? From a file", extra=""
    ),
    "manage": Command("assay.managing:manage", "any other management command: `assay manage help` lists them"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    name, *rest = _command_first(list(sys.argv[1:] if arguments is None else arguments))
    if name in ("-V", "--version", "version"):
        from annotation import __version__

        print(f"assay {__version__}")
        return 0
    if name in ("-h", "--help", "help"):
        print(usage())
        return 0
    if name not in COMMANDS:
        print(f"assay: there is no command {name!r}; `assay --help` lists them", file=sys.stderr)
        return 2
    entry = COMMANDS[name]
    if not entry.extra:
        return _called(entry, rest)
    if importlib.util.find_spec("django") is None:
        print(f"assay {name} needs more packages: pip install 'assay[{entry.extra}]'", file=sys.stderr)
        return 1
    rest = _take_data_folder(name, rest)
    if not entry.runs.startswith(MANAGED):
        return _called(entry, rest)
    command = entry.runs.removeprefix(MANAGED)
    if entry.makes_data:
        if needs_key(["manage.py", command, *rest]):
            make_data_folder(data_folder())
    elif reason := _why_no_data(command, rest):
        print(reason, file=sys.stderr)
        return 1
    from assay.managing import run_command

    run_command(command, rest, shown_as=name)
    return 0


def usage() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {entry.summary}" for name, entry in COMMANDS.items()]
    return "\n".join(
        [
            "usage: assay COMMAND [...]",
            "",
            *lines,
            "",
            f"`assay COMMAND --help` has its options. --data FOLDER, before or after COMMAND, or {FOLDER}",
            "names the data folder.",
        ]
    )


def _command_first(arguments: list[str]) -> list[str]:
    """`--data FOLDER COMMAND` as `COMMAND --data FOLDER`."""
    n = 0 if not arguments else 2 if arguments[0] == "--data" else int(arguments[0].startswith("--data="))
    return [*(arguments[n : n + 1] or ["--help"]), *arguments[:n], *arguments[n + 1 :]]


def _called(entry: Command, arguments: list[str]) -> int:
    module, _, function = entry.runs.partition(":")
    return getattr(importlib.import_module(module), function)(arguments) or 0


def _take_data_folder(name: str, arguments: list[str]) -> list[str]:
    """The arguments without `--data FOLDER`, which holds for all processes that follow."""
    kept, rest = [], iter(arguments)
    for one in rest:
        word, has_value, value = one.partition("=")
        if word != "--data":
            kept.append(one)
        elif folder := value if has_value else next(rest, ""):
            os.environ[FOLDER] = str(Path(folder).expanduser().resolve())
        else:
            raise SystemExit(f"assay {name}: --data needs a folder")
    return kept


def _why_no_data(command: str, arguments: list[str]) -> str:
    """A sentence where an installed Assay has no data in its folder, and the command needs some."""
    has_key = KEY in os.environ or key_file().exists()
    if not IS_INSTALLED or has_key or not needs_key(["manage.py", command, *arguments]):
        return ""
    return f"There are no data of Assay in {data_folder()}: name the folder with --data, or start with `assay serve`"

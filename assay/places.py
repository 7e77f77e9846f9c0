"""Where Assay's own files and its data are: in a checkout next to the packages, installed in this package and in a data
folder. Knows no Django, since commands that need none start with it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
# The folder that holds `assay`, `config` and the other packages; programs that import them start there.
PACKAGES = PACKAGE.parent
IS_INSTALLED = (PACKAGE / "templates").is_dir()
# The folder with `templates`, `static`, `fixtures`, `docs` and `locale`.
SHARED = PACKAGE if IS_INSTALLED else PACKAGES

KEY, FOLDER = "ASSAY_SECRET_KEY", "ASSAY_DATA_DIR"
KEY_FILE = "assay.env"
OWN_DATA, DEMO_DATA = "assay-data", "assay-demo"


def values_of_file(file: Path, real: Mapping[str, str]) -> dict[str, str]:
    """What the environment file adds to the real variables: nothing where the key is one of them. ValueError where it
    holds anything but a key and a data folder, since much else is read from the real variables alone."""
    if KEY in real:
        return {}
    try:
        lines = file.read_text("utf-8").splitlines()
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ValueError(f"{file} cannot be read: {error}") from None
    values = {}
    for number, line in enumerate(map(str.strip, lines), 1):
        name, is_given, value = line.partition("=")
        if not line or line.startswith("#"):
            continue
        if not is_given or name not in (KEY, FOLDER):
            raise ValueError(f"{file}, line {number}: only {KEY}=… and {FOLDER}=… may stand there")
        values[name] = value.strip("\"'")
    if values.get(FOLDER):
        values[FOLDER] = str(file.parent / Path(values[FOLDER]).expanduser())
    return {name: value for name, value in values.items() if name not in real}


def default_data_folder() -> Path:
    """Where no variable names one: in a checkout `var`, installed `assay-data` of the working directory, or
    `assay-demo` where only that exists."""
    if not IS_INSTALLED:
        return PACKAGES / "var"
    own, demo = Path(OWN_DATA).resolve(), Path(DEMO_DATA).resolve()
    return demo if demo.is_dir() and not own.is_dir() else own


def key_file() -> Path:
    """The file with the secret key: in a checkout the checkout's, installed the data folder's."""
    if not IS_INSTALLED:
        return PACKAGES / KEY_FILE
    named = os.environ.get(FOLDER)
    return (Path(named).expanduser().resolve() if named else default_data_folder()) / KEY_FILE


def data_folder() -> Path:
    """The data folder that the settings will use. ValueError where the environment file cannot be used."""
    named = os.environ.get(FOLDER) or values_of_file(key_file(), os.environ).get(FOLDER)
    return Path(named).expanduser().resolve() if named else default_data_folder()


def static_folder(data: Path) -> Path:
    """Where static files are gathered: in the data folder installed, and where `assay serve` did so for it."""
    gathered = data / "static"
    return gathered if IS_INSTALLED or gathered.is_dir() else PACKAGES / "staticfiles"


def make_data_folder(folder: Path) -> None:
    """The folder, and a secret key where there is none. SystemExit says why they cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if KEY not in os.environ and not key_file().exists():
            with open(os.open(key_file(), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(f"# Read by every command of Assay; keep it secret.\n{KEY}={secrets.token_urlsafe(50)}\n")
    except OSError as error:
        raise SystemExit(f"The data folder {folder} cannot be used: {error.strerror}") from None


# Commands that read files alone with this option.
OF_FILES = {"report": "--from-files", "release": "--check", "backup": "--verify"}


def needs_key(arguments: Sequence[str]) -> bool:
    """Whether a command line signs anything: help and what reads files alone do not."""
    program, *given = arguments or [""]
    if "--help" in given:
        return False
    if Path(program).name != "manage.py":
        return True
    command = given[0] if given else "help"
    is_help = command in ("help", "version", "--version", "-h") or "-h" in given
    return not (is_help or OF_FILES.get(command) in given)

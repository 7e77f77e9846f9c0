"""`assay demo`, `assay serve` and `assay worker`: SQLite, an embedded broker, one web server, and two workers, so that
what people wait for (imports, reports, exports) never queues behind training or checkers."""

from __future__ import annotations

import argparse
import errno
import importlib.util
import os
import re
import socket
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from annotation.incoming import is_loopback, site_address
from assay.places import DEMO_DATA, FOLDER, IS_INSTALLED, OWN_DATA, PACKAGES, data_folder, make_data_folder
from assay.supervision import Supervisor

PASSWORD = "ASSAY_ADMIN_PASSWORD"
LOOPBACK, EVERYWHERE = "127.0.0.1", "0.0.0.0"
QUEUES = "default,cpu,gpu,llm"


def worker(name: str, queues: str, *, processes: int = 2, has_clock: bool = False) -> list[str]:
    """The command of a worker. One per installation has the clock."""
    clock = ["-B"] if has_clock else []
    how = ["--pool", "prefork", "--concurrency", str(processes), "--loglevel", "WARNING"]
    celery = [sys.executable, "-m", "celery", "-q", "-A", "config", "worker", *clock, "-n", f"{name}@%h", "-Q", queues]
    return [*celery, *how, "--without-gossip", "--without-mingle"]


def web(host: str, port: int, processes: int) -> list[str]:
    """The command of the web server."""
    how = ["--worker-class", "gthread", "--workers", str(processes), "--threads", "8", "--log-level", "warning"]
    gunicorn = [sys.executable, "-m", "gunicorn", "--config", "python:config.web.gunicorn_options", "config.wsgi"]
    return [*gunicorn, "--bind", f"{host}:{port}", *how]


WORKERS = (worker("people", "default", has_clock=True), worker("checkers", "cpu,gpu,llm"))


def demo(arguments: Sequence[str]) -> int:
    parser = _web_parser("demo", "Start Assay with demo data, for this machine alone.")
    options = parser.parse_args(arguments)
    of_checkout = PACKAGES / "var" / "demo"
    default = DEMO_DATA if IS_INSTALLED else of_checkout
    folder = Path(os.environ.get(FOLDER) or default).expanduser().resolve()
    _check_port(LOOPBACK, options.port)
    _set_environment(folder, options.port)
    os.environ.update(ASSAY_DEMO="1", HF_HUB_OFFLINE="1")
    address = f"http://{LOOPBACK}:{options.port}/"
    removes = "make clean-demo removes them" if folder == of_checkout else "delete that folder to remove them"
    words = [
        f"Assay is running:  {address}\n",
        "Sign in with one click there as annotator, adjudicator, researcher or administrator.",
        f"The demo's data lie in {folder} ({removes}). Ctrl+C stops it.",
        *_without_models(),
    ]
    return _serve(["--demo"], web(LOOPBACK, options.port, 2), address, words, follows_starter=True)


def serve(arguments: Sequence[str]) -> int:
    parser = _web_parser("serve", "Serve Assay with SQLite and embedded workers; Ctrl+C ends all of it.")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--host", help=f"the address to listen on ({LOOPBACK}: this machine alone)")
    where.add_argument(
        "--lan", action="store_const", const=EVERYWHERE, dest="host", help="listen for all machines of the network"
    )
    parser.add_argument(
        "--address",
        type=_address,
        metavar="URL",
        help="the address by which others reach it, such as http://lab.local:8000 (listens as --lan does) or, behind a "
        "proxy with TLS, https://assay.example.org",
    )
    parser.add_argument("--email", default="", help="of the first administrator; asked for where there is none yet")
    parser.add_argument("--admin", default="", metavar="NAME", help="the first administrator's name")
    parser.epilog = f"The first administrator's password is asked for, or read from {PASSWORD}."
    options = parser.parse_args(arguments)
    if IS_INSTALLED:  # never the demo's
        os.environ.setdefault(FOLDER, OWN_DATA)
    named = options.address or ""
    has_tls = named.startswith("https:")
    host = options.host or (EVERYWHERE if named and not has_tls else LOOPBACK)
    folder = _data_folder()
    _check_port(host, options.port)
    _set_environment(folder, options.port)
    names = _names_of(host)
    local = f"http://{LOOPBACK if host == EVERYWHERE else names[0]}:{options.port}/"
    shared = named or ("" if is_loopback(names[0]) else f"http://{names[0]}:{options.port}")
    _set_address(shared, names, is_named=bool(named))
    words = [f"Assay is running:  {f'{shared}/' if has_tls else local}"]
    words += [f"Others open:       {shared}/"] if shared and not has_tls else []
    words[-1] += "\n"
    words += [f"Its data lie in {folder}. Ctrl+C stops it."]
    if shared:
        words.append(
            "Links to pass on begin with that address; administrators find its QR code, and can enter another one."
        )
    if shared and not has_tls:
        words.append("Caution: without TLS, others in this network can read what is sent (docs/share.md).")
    if not shared:
        words.append("It is for this machine alone; --lan lets others in (docs/share.md).")
    asked = ["--email", options.email, "--admin", options.admin]
    return _serve(asked, web(host, options.port, 1), local, words + _without_models(), follows_starter=False)


def work(arguments: Sequence[str]) -> int:
    """Takes the place of this process."""
    parser = _parser("worker", "Run a further worker, which shares the data folder, the database and the broker.")
    parser.add_argument("-n", "--name", default="worker", help="unlike every other worker's of this machine (worker)")
    parser.add_argument("-Q", "--queues", default=QUEUES, help=f"the queues that it serves ({QUEUES})")
    parser.add_argument("-c", "--processes", type=int, default=2, metavar="N", help="parts of jobs at a time (2)")
    parser.add_argument("--clock", action="store_true", help="with the clock; an installation has one")
    options = parser.parse_args(arguments)
    if options.processes < 1:
        parser.error("-c is the number of parts of jobs that it works on at a time: 1 or more")
    os.environ[FOLDER] = str(_data_folder())
    command = worker(options.name, options.queues, processes=options.processes, has_clock=options.clock)
    os.chdir(PACKAGES)
    os.execv(command[0], command)


def _parser(name: str, description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"assay {name}", description=description)
    # Taken out before, as for every command (assay.command).
    parser.add_argument("--data", metavar="FOLDER", help=f"the data folder ({FOLDER})")
    return parser


def _web_parser(name: str, description: str) -> argparse.ArgumentParser:
    parser = _parser(name, description)
    port = os.environ.get("PORT", "8000")
    parser.add_argument("--port", type=_port, default=port, help=f"the port to listen on ({port}, from PORT or 8000)")
    return parser


def _address(raw: str) -> str:
    try:
        return site_address(raw)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"the address {error}") from None


def _set_address(address: str, names: list[str], *, is_named: bool) -> None:
    """For all processes that are started; variables that are set already win. Without a proxy there is no TLS."""
    has_tls = address.startswith("https:")
    host = urlsplit(address).hostname or ""
    host = f"[{host}]" if ":" in host else host
    hosts = ("localhost", LOOPBACK, "[::1]", *([host] if host else []), *names)
    os.environ.setdefault("ASSAY_ALLOWED_HOSTS", ",".join(dict.fromkeys(hosts)))
    os.environ.setdefault("ASSAY_HTTPS", "1" if has_tls else "0")
    os.environ.setdefault("ASSAY_TRUSTED_PROXIES", "1" if has_tls else "0")
    if has_tls:
        os.environ.setdefault("ASSAY_TRUSTED_ORIGINS", address)
    if address and (is_named or not os.environ.get("ASSAY_ADDRESS")):
        os.environ["ASSAY_ADDRESS"] = address


def _port(raw: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", raw) or not 1 <= int(raw) <= 65535:
        raise argparse.ArgumentTypeError(f"PORT must be a number from 1 to 65535 (it is {raw!r})")
    return int(raw)


def _check_port(host: str, port: int) -> None:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
                raise SystemExit(f"This machine has no address {host}; name one of its own with --host") from None
            where = f"Port {port}" if host == LOOPBACK else f"Port {port} of {host}"
            raise SystemExit(
                f"{where} is taken ({error.strerror}). Choose another one: --port 8001, or make demo PORT=8001"
            ) from None


def _names_of(host: str) -> list[str]:
    """Names of this machine by which browsers reach it there, the best first."""
    if host != EVERYWHERE:
        return [f"[{host}]" if ":" in host else host]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: the system says from which address it would
            found = [probe.getsockname()[0]]
        except OSError:
            found = []
    name = socket.gethostname().lower()
    return [*found, name, *([] if "." in name else [f"{name}.local"])]


def _data_folder() -> Path:
    try:
        return data_folder()
    except ValueError as error:
        raise SystemExit(str(error)) from None


def _set_environment(folder: Path, port: int) -> None:
    """For all processes that are started. Makes the folder, and a secret key where there is none."""
    os.environ.update({FOLDER: str(folder), "ASSAY_STATIC_ROOT": str(folder / "static"), "PORT": str(port)})
    make_data_folder(folder)
    os.environ.setdefault("ASSAY_LOG_LEVEL", "WARNING")
    # Celery's warning to root is about servers that others reach.
    ignored = "ignore:You're running the worker with superuser privileges"
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, (os.environ.get("PYTHONWARNINGS"), ignored)))


def _without_models() -> list[str]:
    if importlib.util.find_spec("spacy") is None:
        return ["Checkers are not installed; pip install 'assay[checkers]' adds them, 'assay[models]' all of them."]
    if importlib.util.find_spec("torch") is not None:
        return []
    how = "pip install 'assay[models]'" if IS_INSTALLED else "make demo TORCH=cpu (or TORCH=cu128 for a GPU)"
    return [f"Checkers that compute with local models are not installed; {how} adds them."]


def _serve(
    prepared_with: list[str], server: list[str], address: str, words: list[str], *, follows_starter: bool
) -> int:
    """Until it is asked to end, which is 0, or until a part of it ends. Prints `words` when `address` answers."""
    password = os.environ.pop(PASSWORD, None)
    supervisor = Supervisor(follows_starter=follows_starter)
    try:
        status = supervisor.ask([sys.executable, "-m", "assay", "manage", "prepare", *prepared_with], password)
        if supervisor.is_to_end or status:
            return 0 if supervisor.is_to_end else status
        status = supervisor.run(server, *WORKERS, tick=_once_it_answers(address, words))
        if supervisor.is_to_end:
            return 0
    finally:
        supervisor.close()
    print("Assay has stopped by itself; its last messages are above.", file=sys.stderr)
    return status if status > 0 else 1


def _once_it_answers(address: str, words: list[str]) -> Callable[[], None]:
    is_printed = False

    def tick() -> None:
        nonlocal is_printed
        if not is_printed and _answers(address):
            is_printed = True
            print("\n" + "".join(f"  {line}\n" for line in words), flush=True)

    return tick


def _answers(address: str) -> bool:
    try:
        # A page, so that the first person need not wait for what it loads. The header is a proxy's, where there is one.
        page = urllib.request.Request(f"{address}accounts/login/", headers={"X-Forwarded-Proto": "https"})
        with urllib.request.urlopen(page, timeout=5):
            return True
    except (urllib.error.URLError, OSError):
        return False

"""`make demo` keeps its promises: the port, the address, the sign-ins, a second start, and an end without leftovers."""

import contextlib
import os
import re
import signal
import socket
import subprocess

import pytest

from .demo import (
    COMMAND,
    ROOT,
    START_SECONDS,
    Demo,
    environment,
    free_port,
    heed_every_signal,
    manage,
    processes_of,
    running_demo,
    script,
    sign_in,
    text_of,
    visitor,
    wait_until,
)

pytestmark = pytest.mark.slow

ACCOUNTS = {"annotator": "Ada", "second-annotator": "Ben", "adjudicator": "Cleo", "researcher": "Dana"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def demo(folder):
    with running_demo(folder, free_port()) as demo:
        yield demo


def test_the_printed_address_is_the_wanted_port_and_answers(demo):
    assert f"PORT={demo.address.rpartition(':')[2]}".encode() in environ_of(demo)
    assert "Sign in" in text_of(visitor(), demo.address)


def environ_of(demo: Demo) -> list[bytes]:
    with open(f"/proc/{demo.process.pid}/environ", "rb") as file:
        return file.read().split(b"\0")


@pytest.mark.parametrize("account", ACCOUNTS)
def test_every_one_click_sign_in_leads_to_the_demos_projects(demo, account):
    opener, home = sign_in(demo, account)
    assert ACCOUNTS[account] in home
    address = re.search(r'href="(/projects/(?!new)[^"]+/)"', home)[1]
    assert "Guidelines" in text_of(opener, demo.address + address)


def test_a_visitor_plays_a_participant_and_is_the_researcher_afterwards(demo):
    opener = visitor()
    page = text_of(opener, f"{demo.address}/accounts/login/")
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)[1]
    played = text_of(opener, f"{demo.address}/demo/play/", {"csrfmiddlewaretoken": token})
    assert "You play a participant" in played and "Your consent is needed" in played
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', played)[1]
    ended = text_of(opener, f"{demo.address}/play/end/", {"csrfmiddlewaretoken": token})
    assert ACCOUNTS["researcher"] in ended and "5 of 50 places taken" in ended


def test_nothing_it_prints_would_puzzle_a_newcomer(demo):
    complaints = [line for line in demo.said().splitlines() if re.search("warn|error|traceback|superuser", line, re.I)]
    assert not complaints


def test_a_taken_port_is_said_and_nothing_is_started(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ended = script(tmp_path, port)
    assert ended.returncode != 0
    assert f"Port {port} is taken" in ended.stderr and "PORT=" in ended.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("port", ["web", "0", "65536", "-1"])
def test_a_port_that_is_none_is_said(tmp_path, port):
    ended = script(tmp_path, port)
    assert ended.returncode != 0 and "PORT must be a number" in ended.stderr


def test_making_the_demo_again_changes_nothing(demo):
    counts = (
        "print(sorted((m._meta.label, m.objects.count()) for m in apps.get_app_config('annotation').get_models()"
        " if m.__name__ != 'WorkerBeat'),"
        " max(p.label_version for p in apps.get_model('annotation.Project').objects.all()))\n"
    )
    imports = "from django.apps import apps; from django.core.management import call_command\n"
    again = "call_command('demo')\n"
    before, after = manage(demo.folder, "shell", "-v0", "-c", f"{imports}{counts}{again}{counts}").splitlines()
    assert "annotation.Judgement" in before
    assert after == before


@contextlib.contextmanager
def started_by(folder, *starter: str):
    """The demo as the child of `starter`, which is yielded when the demo answers."""
    log, port = folder / "started.log", free_port()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*starter, " ".join(COMMAND)],
            cwd=ROOT,
            env=environment(folder, PORT=str(port)),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=heed_every_signal,
        )
    try:
        wait_until(lambda: b"Assay is running" in log.read_bytes(), START_SECONDS, "the demo ran")
        yield process
    finally:
        process.kill()
        process.wait()
        for leftover in processes_of(folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(leftover, signal.SIGKILL)


def one_of(folder, words: str) -> int:
    return next(pid for pid in processes_of(folder) if words in command_of(pid))


@pytest.mark.parametrize("killed", ["starter", "demo"])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGQUIT], ids=lambda how: how.name)
def test_killing_the_demo_or_what_started_it_leaves_no_process(folder, demo, killed, how):
    if demo.process.poll() is None:
        demo.stop()
    with started_by(folder, "sh", "-c", "$0; true") as starter:
        supervisor = one_of(folder, COMMAND[-1])
        os.kill(starter.pid if killed == "starter" else supervisor, how)
        wait_until(lambda: not processes_of(folder), 30, "everything had ended")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGHUP, signal.SIGTERM], ids=lambda how: how.name)
def test_it_starts_again_at_once_and_leaves_no_process_behind(folder, demo, how, capsys):
    if demo.process.poll() is None:
        demo.stop()
    with running_demo(folder) as again:
        with capsys.disabled():
            print(f"\nsecond start of the demo: {again.seconds:.1f} s")
        assert len(processes_of(folder)) >= 4
        assert again.stop(how) == 0
        wait_until(lambda: not processes_of(folder), 15, "web and worker had ended")
        assert "Traceback" not in again.said()


def command_of(pid: int) -> str:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read().replace(b"\0", b" ").decode()
    return ""


def test_it_says_so_when_a_part_of_it_dies(folder, demo):
    with running_demo(folder) as again:
        port = again.address.rpartition(":")[2]
        for pid in processes_of(folder):
            if re.search(rf"gunicorn.*:{port}\b", command_of(pid)):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        assert again.process.wait(30) != 0
        assert "stopped by itself" in again.said()
        wait_until(lambda: not processes_of(folder), 15, "the rest had ended, too")

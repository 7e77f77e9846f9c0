"""The files for production (`deploy/`, Dockerfile, compose.yaml) against what Assay reads and serves; and the script
that the image is made with, in a fresh root file system."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from config.celery import app
from config.health.views import FOR_MONITORS

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
DOTENV = {"ASSAY_DOMAIN": "assay.example.org", "ASSAY_SECRET_KEY": "abcdefghij" * 6, "DATABASE_PASSWORD": "secret"}
WORKER = re.compile(r"celery -A config worker(?P<options>.*)")


def filled(value):
    """As Compose puts in the variables of `.env`."""
    if isinstance(value, dict):
        return {name: filled(one) for name, one in value.items()}
    if isinstance(value, list):
        return [filled(one) for one in value]
    if not isinstance(value, str):
        return value
    return re.sub(r"\$\{(\w+)(?::(?:-(\w*)|\?[^}]*))?\}", lambda found: DOTENV.get(found[1], found[2] or ""), value)


@pytest.fixture(scope="module")
def services() -> dict[str, dict]:
    return filled(yaml.safe_load((ROOT / "compose.yaml").read_text()))["services"]


def of_units() -> dict[str, str]:
    pairs = (line.split("=", 1) for line in (DEPLOY / "environment").read_text().splitlines() if line[:1] != "#")
    return dict(pairs)


@pytest.mark.parametrize("source", ["compose", "systemd"])
def test_settings_read_each_variable_and_are_fit_for_production(services, tmp_path, source):
    variables = services["web"]["environment"] if source == "compose" else of_units()
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env=kept | variables | {"ASSAY_DATA_DIR": str(tmp_path), "ASSAY_STATIC_ROOT": str(tmp_path / "static")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_each_queue_has_a_worker_with_a_name_of_its_own(services):
    ours = [one["environment"] for one in services.values() if one["image"] == "assay"]
    assert len(ours) == 7 and all(one == ours[0] for one in ours)
    commands = [str(one.get("command", "")) for one in services.values()]
    workers = [found["options"] for found in map(WORKER.search, commands) if found]
    assert sorted(re.search(r"-Q (\S+)", one)[1] for one in workers) == sorted(app.amqp.queues)
    assert len({re.search(r"-n (\S+)@%h", one)[1] for one in workers}) == len(workers)
    assert sum("config beat" in one for one in commands) == 1
    wanted = (DEPLOY / "systemd" / "assay.target").read_text()
    assert set(re.findall(r"assay-worker@(\w+)", wanted)) == set(app.amqp.queues) - {"gpu"}
    for unit in re.findall(r"assay-\w+", wanted):
        assert list((DEPLOY / "systemd").glob(f"{unit}*.service")), unit


def test_what_others_wait_for_exists(services):
    asked = re.findall(r"http://127\.0\.0\.1:8000/(\w+)", (ROOT / "Dockerfile").read_text())
    assert asked and set(asked) <= set(FOR_MONITORS)
    for name, service in services.items():
        for other, condition in (service.get("depends_on") or {}).items():
            assert other in services, f"{name} waits for {other}"
            if condition["condition"] == "service_healthy":
                assert services[other].get("healthcheck") or services[other]["image"] == "assay"
    assert services["proxy"]["environment"]["UPSTREAM"] == "web:8000"
    assert "--bind 0.0.0.0:8000" in services["web"]["command"]


def test_workers_have_names_in_every_example():
    files = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "Makefile", ROOT / "compose.yaml"]
    found = [(file.name, one["options"]) for file in files for one in WORKER.finditer(file.read_text())]
    assert found and all(" -n " in options for _, options in found), found


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_systemd_reads_the_units(tmp_path):
    # Its programs are elsewhere on this machine.
    for unit in (DEPLOY / "systemd").iterdir():
        (tmp_path / unit.name).write_text(unit.read_text().replace("/opt/assay/bin/", "/bin/echo "))
    units = [tmp_path / name for name in ("assay.target", "assay-web.service", "assay-clock.service")]
    worker = tmp_path / "assay-worker@cpu.service"
    worker.write_text((tmp_path / "assay-worker@.service").read_text())
    done = subprocess.run(["systemd-analyze", "verify", *units, worker], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr


@pytest.mark.skipif(not shutil.which("caddy"), reason="caddy is not installed")
def test_the_proxy_reads_its_configuration():
    asked = ["caddy", "adapt", "--validate", "--config", str(DEPLOY / "Caddyfile"), "--adapter", "caddyfile"]
    done = subprocess.run(
        asked, env=os.environ | {"ASSAY_DOMAIN": "assay.example.org"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "assay.example.org" in done.stdout and "127.0.0.1:8000" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("debootstrap") or os.geteuid(), reason="needs debootstrap and root")
def test_the_image_s_script_installs_a_server_in_a_fresh_root(tmp_path):
    """What the Dockerfile does, without a container runtime: its base, its script, its command."""
    root = tmp_path / "root"
    release = re.search(r"^FROM debian:(\w+)-slim", (ROOT / "Dockerfile").read_text(), re.MULTILINE)[1]
    subprocess.run(["debootstrap", "--variant=minbase", release, root], check=True, capture_output=True)
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    for name in filter(None, subprocess.run(listed, cwd=ROOT, capture_output=True, text=True).stdout.split("\0")):
        if (ROOT / name).is_file() and not name.startswith(("tests/", "benchmarks/")):
            (root / "src" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, root / "src" / name)
    # The way to the network, as this machine has it.
    shutil.copy("/etc/resolv.conf", root / "etc" / "resolv.conf")
    shutil.copy("/etc/ssl/certs/ca-certificates.crt", root / "certificates.crt")
    kept = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    kept |= dict.fromkeys(("SSL_CERT_FILE", "PIP_CERT"), "/certificates.crt")
    inside = ["chroot", str(root)]

    def run(*command: str, **variables: str) -> str:
        environment = kept | {"PATH": "/opt/assay/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"} | variables
        done = subprocess.run([*inside, *command], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "assay 0." in run("/src/deploy/install.sh", EXTRAS="")
    shutil.rmtree(root / "src")
    as_user = ("setpriv", "--reuid=assay", "--regid=assay", "--clear-groups")
    variables = {"ASSAY_DATA_DIR": "/srv/assay", "ASSAY_SECRET_KEY": "k" * 60}
    run(*as_user, "assay", "manage", "migrate", "-v", "0", **variables)
    assert "no issues" in run(*as_user, "assay", "manage", "check", **variables)
    assert "pip install 'assay[formats]'" in run(*as_user, "sh", "-c", "assay doctor || true", **variables)
    stored = [one for one in (root / "opt/assay").rglob("*") if one.is_file() and one.suffix != ".pyc"]
    megabytes = sum(one.lstat().st_size for one in stored) / 1e6
    assert megabytes < 450, megabytes

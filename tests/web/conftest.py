"""A real Chromium before the real pages: live server with static files, people signed in, the policy on."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.factories import make_claim_evidence, make_dataset, make_project, make_user
from tests.web.pages import LabellingPage


@pytest.fixture
def ann():
    return make_user("ann")


@pytest.fixture
def project(ann):
    """Eight pairs of a claim and evidence, which Ann alone labels."""
    dataset = make_dataset()
    make_claim_evidence(dataset, 8)
    return make_project(dataset, overlap=1, annotators=[ann])


@pytest.fixture
def label(open_context):
    """Opens a project's labelling page as a person."""

    def open_page(project, user, *, acknowledges=True, **options):
        return LabellingPage(open_context(user, **options).new_page(), project).open(acknowledges=acknowledges)

    return open_page


@pytest.fixture
def serve(tmp_path, settings):
    """Start gunicorn with a database; returns its address and its log."""
    started = []

    def start(database: str) -> tuple[str, Path]:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        static, log = tmp_path / "static", tmp_path / "log"
        static.mkdir()
        # All that the page needs of `collectstatic`.
        (static / "staticfiles.json").write_text('{"paths": {"css/assay.css": "css/assay.css"}, "version": "1.1"}')
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DATABASE_URL": database,
            "ASSAY_DEBUG": "0",
            "ASSAY_HTTPS": "0",
            "ASSAY_HTTPS_REDIRECT": "1",
            "ASSAY_DATA_DIR": str(tmp_path),
            "ASSAY_STATIC_ROOT": str(static),
        }
        command = [sys.executable, "-m", "gunicorn", "config.wsgi", "--bind", f"127.0.0.1:{port}", "--threads", "2"]
        with open(log, "w") as out:
            started.append(subprocess.Popen(command, cwd=settings.BASE_DIR, env=environment, stdout=out, stderr=out))
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert started[0].poll() is None, log.read_text()
                time.sleep(0.1)
        return f"http://127.0.0.1:{port}", log

    yield start
    for server in started:
        server.kill()
        server.wait()

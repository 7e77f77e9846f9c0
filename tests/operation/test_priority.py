"""Processes of workers stand back for the web server."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("asked", "lower"), [("", 10), ("3", 3), ("0", 0)])
def test_a_pool_process_has_a_lower_priority(asked, lower):
    code = (
        "import os; from config.celery import app; from celery import signals; before = os.nice(0);"
        "signals.worker_process_init.send(sender=None); print(os.nice(0) - before)"
    )
    env = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings", "ASSAY_WORKER_NICE": asked}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(lower)]

"""What the production server's process has done before its first request."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_server_has_loaded_its_views_and_leaves_what_it_loaded_out_of_garbage_collection():
    code = (
        "import gc, os, sys; os.environ['DJANGO_SETTINGS_MODULE'] = 'tests.settings'; import config.{};"
        "print('analysis.pages.reports' in sys.modules,"
        " gc.get_freeze_count() > 10 * len(gc.get_objects()))"
    )
    for server in ("wsgi", "asgi"):
        command = [sys.executable, "-c", code.format(server)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "True True"

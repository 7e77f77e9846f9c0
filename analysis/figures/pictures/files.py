"""Files of stored pictures for downloads: drawn by a short process, so that no web process loads matplotlib."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading

from django.conf import settings

SECONDS = 30
AT_ONCE = 2
_TURNS = threading.BoundedSemaphore(AT_ONCE)


class NotDrawn(Exception):
    """The file could not be made; says why."""


def drawn_file(spec: dict, form: str, seconds: float = SECONDS) -> bytes:
    """The picture that `spec` describes, as SVG, PDF or PNG. What fails or takes too long raises NotDrawn."""
    fonts = settings.DATA_DIR / "matplotlib"  # its list of fonts, which takes seconds to make
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    if not _TURNS.acquire(timeout=seconds):
        raise NotDrawn(f"{AT_ONCE} pictures are being drawn already; try again")
    try:
        done = subprocess.run(
            [sys.executable, "-m", "analysis.figures.pictures", form],
            input=json.dumps(spec).encode(),
            capture_output=True,
            cwd=settings.BASE_DIR,
            env=environment | {"MPLCONFIGDIR": str(fonts)},
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        raise NotDrawn(f"drawing took longer than {seconds:g} s") from None
    finally:
        _TURNS.release()
    if done.returncode:
        messages = done.stderr.decode(errors="replace").strip().splitlines()
        raise NotDrawn(messages[-1] if messages else f"drawing ended with {done.returncode}")
    return done.stdout

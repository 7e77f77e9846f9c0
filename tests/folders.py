"""Folders that go with the process that made them."""

import atexit
import os
import shutil
import tempfile


def temporary_folder() -> str:
    folder, owner = tempfile.mkdtemp(prefix="assay-tests-"), os.getpid()
    atexit.register(lambda: os.getpid() == owner and shutil.rmtree(folder, ignore_errors=True))
    return folder

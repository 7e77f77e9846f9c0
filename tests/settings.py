"""Settings for tests: the real ones in an environment of their own; DATABASE_URL and CELERY_BROKER_URL still choose."""

import os

from tests.folders import temporary_folder

os.environ.setdefault("ASSAY_SECRET_KEY", "only-for-tests-" + "x" * 40)
os.environ.setdefault("ASSAY_DEBUG", "1")
for name in ("ASSAY_DATA_DIR", "ASSAY_STATIC_ROOT"):
    if name not in os.environ:  # of the process that began this one
        os.environ[name] = temporary_folder()
os.environ.setdefault("ASSAY_CHUNK_RETRY_SECONDS", "0")
# Tests make their models in folders of their own; what a site allows is in tests/models_runtime/test_allowed_models.py.
os.environ.setdefault("ASSAY_MODELS", "*")
# Tests run side by side: threads of numpy and torch would only wait for each other, which took half as long again.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Importing `config` starts Celery, which reads the settings at once: it must not find these half loaded.
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
from config.settings import *
from config.settings import DATABASES

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"

# Most tests are one transaction, whose rows the thread that extends a lease cannot see on PostgreSQL: after a quarter
# of this it takes the lease for lost. Workers of tests are processes with settings of their own.
CHUNK_LEASE_SECONDS = 3600
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # What a test writes need not outlive a power failure: no commit waits for the disk.
    DATABASES["default"]["OPTIONS"]["init_command"] += " PRAGMA synchronous=OFF;"

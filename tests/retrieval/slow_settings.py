"""The real settings, for a worker whose retriever takes its time and writes down what it was asked to do."""

import importlib
import os
import time
from pathlib import Path

from models_runtime import registry

# Importing `config` starts Celery, which reads the settings at once: it must not find these half loaded.
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
globals().update(vars(importlib.import_module("config.settings")))
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.retrieval.slow_settings"

SECONDS_PER_QUERY = 0.02
_load = registry.load_retriever


class Slow:
    def __init__(self, retriever):
        self.retriever = retriever

    def describe(self):
        return self.retriever.describe()

    def index(self, documents):
        with Path(os.environ["ASSAY_DATA_DIR"], "indexed").open("a") as file:
            file.write(f"{os.getpid()}\n")
        self.retriever.index(documents)

    def search(self, queries, top):
        time.sleep(SECONDS_PER_QUERY * len(queries))
        return self.retriever.search(queries, top)


registry.load_retriever = lambda slug, parameters=None: Slow(_load(slug, parameters))

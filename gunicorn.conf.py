"""Read by gunicorn itself, before it forks: a wrong setting is told once, in a line, not by each of its processes."""

import importlib
import sys

sys.path.insert(0, "")
importlib.import_module("config.settings")

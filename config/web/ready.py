"""What a web process does before it takes its first request."""

import gc

from django.urls import get_resolver


def get_ready() -> None:
    """Load all views, for which the first request would wait, and leave what is loaded out of garbage collection: it
    stays for good, and going through it took 0.15 s of about one request in twenty."""
    list(get_resolver().url_patterns)
    gc.collect()
    gc.freeze()

"""The application as servers call it, in this process and within the test's transaction."""

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection


@pytest.fixture
def application(db, monkeypatch):
    """A request ends by closing a connection that is in a transaction, which a test's always is."""
    monkeypatch.setattr(connection, "close_if_unusable_or_obsolete", lambda: None)
    return WSGIHandler()

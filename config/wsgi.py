"""The web application for a WSGI server."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup(set_prefix=False)

from config.door import Handler  # noqa: E402  it imports what needs the settings

application = Handler()

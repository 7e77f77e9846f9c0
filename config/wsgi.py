"""The web application for a WSGI server."""

import os

import django
from django.utils.module_loading import import_string

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup(set_prefix=False)

# Imported only now, since it needs the settings.
application = import_string("config.web.door.RequestHandler")()
import_string("config.web.ready.get_ready")()

"""gunicorn reads this file from the folder that it starts in."""

from config.web.gunicorn_options import *  # noqa: F403

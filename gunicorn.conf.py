"""gunicorn reads this file from the folder that it starts in. Everything else is chosen where it is started."""

logger_class = "config.web.gunicorn_log.Logger"

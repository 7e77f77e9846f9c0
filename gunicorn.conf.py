"""gunicorn reads this file from the folder that it starts in. Everything else is chosen where it is started."""

logger_class = "config.web.gunicorn_log.Logger"
# The longest that gunicorn reads of an address; what is longer travels in a body.
limit_request_line = 8190

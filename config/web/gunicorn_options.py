"""What gunicorn reads with `--config python:config.web.gunicorn_options`, or from `gunicorn.conf.py` in a checkout.
Everything else is chosen where it is started."""

logger_class = "config.web.gunicorn_log.Logger"
# The longest that gunicorn reads of an address; what is longer travels in a body.
limit_request_line = 8190

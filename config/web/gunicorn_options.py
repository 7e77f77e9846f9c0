"""What gunicorn reads with `--config python:config.web.gunicorn_options`, or from `gunicorn.conf.py` in a checkout.
Everything else is chosen where it is started."""

logger_class = "config.web.gunicorn_log.Logger"
# gunicorn's own, with the id of the request.
access_log_format = '%(h)s %(l)s %(u)s %(t)s "%(r)s" %(s)s %(b)s "%(f)s" "%(a)s" %({x-request-id}o)s'
# The longest that gunicorn reads of an address; what is longer travels in a body.
limit_request_line = 8190

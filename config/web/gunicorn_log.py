"""gunicorn's log of errors and, if configured, of requests: like all others without links that sign a person in
(gunicorn_options.py)."""

from gunicorn import glogging

from config.logs import chosen_formatter


class Logger(glogging.Logger):
    def _set_handler(self, log, output, fmt, stream=None):
        super()._set_handler(log, output, chosen_formatter(fmt._fmt, fmt.datefmt), stream)

    def _set_syslog_handler(self, log, cfg, fmt, name):
        super()._set_syslog_handler(log, cfg, fmt, name)
        for handler in log.handlers:
            handler.setFormatter(chosen_formatter(handler.formatter._fmt if handler.formatter else None))

"""What is logged, by Django, Celery and the web servers, without links that sign a person in."""

from __future__ import annotations

import json
import logging
import os
import re
from contextvars import ContextVar
from datetime import UTC, datetime

from annotation.jobs.current import job_in_hand
from config.database import is_away

FORMAT_VARIABLE = "ASSAY_LOG_FORMAT"
FORMATS = ("text", "json")
# Of the request that this thread answers; also in the header X-Request-ID of the answer.
request_id: ContextVar[str] = ContextVar("request_id", default="")

# Invitations, and allauth's links to a new password; as a path, and as the `next` of another address. What a sign-in
# provider sends along. Study links with a panel's ids, and return codes.
SECRETS = re.compile(
    r"((?:invitations|join)(?:/|%2F)|reset(?:/|%2F)key(?:/|%2F)[0-9a-z]+-)[\w-]{8,}(?:(?:/|%2F)(?:\?|%3F)[^\s\"']+)?"
    r"|((?:login/callback|/return)/\?)[^\s\"']+",
    re.IGNORECASE,
)


def hidden(text: str) -> str:
    return SECRETS.sub(r"\1\2[hidden]", text)


class HidingFormatter(logging.Formatter):
    """The whole line, with its traceback: an address may be in the message, in an argument or in an exception. Errors
    have the id of the request, which their page shows."""

    def format(self, record: logging.LogRecord) -> str:
        return hidden(super().format(record))

    def formatMessage(self, record: logging.LogRecord) -> str:
        line, named = super().formatMessage(record), request_id.get()
        return f"{line} (request {named})" if named and record.levelno >= logging.ERROR else line


class JsonFormatter(HidingFormatter):
    """A JSON object per line, with the ids of the request and of the job in whose course it was logged."""

    def format(self, record: logging.LogRecord) -> str:
        values = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "request_id": request_id.get(),
            "job": job_in_hand.get(),
            "exception": self.formatException(record.exc_info) if record.exc_info else record.exc_text,
        }
        return hidden(json.dumps({name: value for name, value in values.items() if value}, ensure_ascii=False))


def chosen_formatter(text_format: str | None = None, date_format: str | None = None) -> HidingFormatter:
    """For servers that log before there are settings."""
    is_json = os.environ.get(FORMAT_VARIABLE, "").strip() == "json"
    return JsonFormatter() if is_json else HidingFormatter(text_format, date_format)


class ShortLines(logging.Filter):
    """One line for a request that is refused, and for one while the database cannot be reached: their tracebacks say
    nothing about the request."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if 400 <= getattr(record, "status_code", 0) < 500:
            record.exc_info = record.exc_text = None
        elif error is not None and is_away(error):
            reason = " ".join(str(error).split()) or type(error).__name__
            record.msg, record.args = f"{record.getMessage()} (the database cannot be used: {reason})", ()
            record.exc_info = record.exc_text = None
        return True

"""What is logged, by Django, Celery and the web servers, without links that sign a person in."""

from __future__ import annotations

import logging
import re

from config.database import is_away

# Invitations, and allauth's links to a new password; as a path, and as the `next` of another address.
SECRETS = re.compile(r"(invitations(?:/|%2F)|reset(?:/|%2F)key(?:/|%2F)[0-9a-z]+-)[\w-]{8,}", re.IGNORECASE)


def hidden(text: str) -> str:
    return SECRETS.sub(r"\1[hidden]", text)


class HidingFormatter(logging.Formatter):
    """The whole line, with its traceback: an address may be in the message, in an argument or in an exception."""

    def format(self, record: logging.LogRecord) -> str:
        return hidden(super().format(record))


class DatabaseAway(logging.Filter):
    """One line for a request while the database cannot be reached: its traceback says nothing about the request."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and is_away(error):
            reason = " ".join(str(error).split()) or type(error).__name__
            record.msg, record.args = f"{record.getMessage()} (the database cannot be used: {reason})", ()
            record.exc_info = record.exc_text = None
        return True

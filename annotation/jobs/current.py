"""The job that this thread works on, for logs; it knows no tables, since logging is set up before them."""

from contextvars import ContextVar

job_in_hand: ContextVar[str] = ContextVar("job_in_hand", default="")  # its uuid

"""Telling kinds of exceptions apart by name and message, so that no framework need be imported for it."""

from __future__ import annotations


def is_out_of_memory(error: BaseException) -> bool:
    """Python's own, and those of the CUDA and the CPU allocator."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    message = str(error).lower()
    return isinstance(error, RuntimeError) and ("out of memory" in message or "can't allocate memory" in message)


def is_interruption(error: BaseException) -> bool:
    """A task queue's time limit is an Exception, but it means the worker and not the input at hand."""
    return type(error).__name__ == "SoftTimeLimitExceeded"

"""Where reports read labels from: the database, or files. Reports know only `Source`, so both give the same numbers."""

from analysis.sources.base import Run, Source

__all__ = ["Run", "Source"]

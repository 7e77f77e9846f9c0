"""What files need that Assay can do without."""

from annotation.formats.records import FormatError
from plugins.extras import why_missing


def require(module: str, name: str = "") -> None:
    """FormatError about the file of that name where the library to read or write it is not installed."""
    if reason := why_missing(module):
        raise FormatError(f"{name}: {reason}" if name else reason)

"""Characters that no database stores: rows with them are bad, left out, or get others, as was chosen."""

from __future__ import annotations

from annotation.formats.cells import shorten
from annotation.formats.files.json_streams import find_bad_string
from annotation.formats.records import RowError
from annotation.formats.sources import Options
from annotation.formats.tables.oddities import CHARACTERS, LEAVE_OUT, REPLACE
from annotation.incoming import BAD_CHARACTER

REPLACEMENT = "\ufffd"


def storable(file: str, line: int | None, cells: dict, options: Options) -> dict | RowError:
    """The cells of a row, or the error that it is."""
    found = mended(file, line, cells, options)
    bad = find_bad_string(found)
    if bad is None:
        return found
    is_chosen = options.treat.get(CHARACTERS) == LEAVE_OUT
    return RowError(file, line, bad[0], shorten(bad[1]), BAD_CHARACTER, is_chosen=is_chosen)


def mended(file: str, line: int | None, value: object, options: Options) -> object:
    """Without such characters, where it was chosen to replace them; that there are some is noted."""
    if find_bad_string(value) is None:
        return value
    if options.noted is not None:
        options.noted.add(CHARACTERS, file, f"{file}, line {line:,}" if line else file)
    return _replaced(value) if options.treat.get(CHARACTERS) == REPLACE else value


def _replaced(value: object) -> object:
    """Two halves side by side are one character, as in UTF-16. Names that become the same stay as they are."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\0", REPLACEMENT)
    if isinstance(value, list):
        return [_replaced(inner) for inner in value]
    if isinstance(value, dict):
        found = {_replaced(name): _replaced(inner) for name, inner in value.items()}
        return found if len(found) == len(value) else value
    return value

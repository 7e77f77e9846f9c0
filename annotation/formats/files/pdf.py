"""The text of a PDF file, page by page, read in a process of its own with limits of time and memory.

This module is both sides: run as a script with a path it writes one line of JSON for each page.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from threading import Timer

MAGIC = b"%PDF-"
MAGIC_WITHIN = 1024  # bytes from the beginning
CPU_SECONDS, WALL_SECONDS = 60, 600  # of a file
MEMORY_BYTES = 2 << 30
MOST_PAGES = 5_000
MOST_CHARACTERS = 200_000  # of a page, and of a line that the other side reads


def read_pages(path: str) -> Iterator[tuple[int, str, str]]:
    """Number, text and "" of each page, or why it has no text; a number of 0 is about the rest of the file."""
    with subprocess.Popen([sys.executable, "-P", __file__, path, str(CPU_SECONDS)], stdout=subprocess.PIPE) as process:
        timer = Timer(WALL_SECONDS, process.kill)
        timer.start()
        try:
            number = 0
            for line in process.stdout:
                number, text, why = json.loads(line)
                yield number, text, why
            if process.wait():
                why = f"takes more than {CPU_SECONDS} seconds or {MEMORY_BYTES >> 30} GiB to read"
                yield 0, "", f"{why}; {number:,} of its pages were read"
        finally:
            timer.cancel()
            process.kill()


def _write(number: int, text: str, why: str = "") -> None:
    print(json.dumps([number, text, why]), flush=True)


def _storable(text: str) -> str:
    """Without NUL, and with half a pair of surrogates as the sign for what is no character."""
    return text.replace("\0", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _main(path: str, cpu_seconds: int) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    from pypdf import PdfReader

    logging.disable()
    try:
        reader = PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            return _write(0, "", "is protected with a password; remove it")
        n_pages = len(reader.pages)
    except MemoryError:
        raise
    except Exception as error:  # of many kinds, from a damaged file
        return _write(0, "", f"is no PDF file that can be read ({type(error).__name__})")
    if n_pages > MOST_PAGES:
        return _write(0, "", f"has {n_pages:,} pages; at most {MOST_PAGES:,} are read")
    for number in range(1, n_pages + 1):
        try:
            text = _storable(reader.pages[number - 1].extract_text())
        except MemoryError:
            raise
        except Exception as error:
            _write(number, "", f"cannot be read ({type(error).__name__})")
            continue
        too_long = f"has more than {MOST_CHARACTERS:,} characters" if len(text) > MOST_CHARACTERS else ""
        _write(number, "" if too_long else text, too_long)


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]))

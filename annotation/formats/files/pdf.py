"""The title and the text of a PDF file, page by page, read in a process of its own with limits of time and memory.

This module is both sides: run as a script with a path it writes one line of JSON for each page.
"""

from __future__ import annotations

import json
import logging
import math
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import dropwhile, takewhile
from threading import Timer

MAGIC = b"%PDF-"
MAGIC_WITHIN = 1024  # bytes from the beginning
CPU_SECONDS, WALL_SECONDS = 60, 600  # of a file
MEMORY_BYTES = 2 << 30
MOST_PAGES = 5_000
MOST_CHARACTERS = 200_000  # of a page, and of a line that the other side reads
LEAST_TITLE, MOST_TITLE = 4, 300  # characters; less is the first letter of a paragraph
LARGER = 1.15  # times the size of most of the page: a heading
# What programs write for a title that nobody gave.
NO_TITLE = re.compile(r"untitled|document\d*|slide \d+|powerpoint presentation|microsoft \w+ - .*|\S+\.\w{2,5}", re.I)


def read_pages(path: str) -> Iterator[tuple[int, str, str]]:
    """First 0, the title ("" where none is found) and "". Then number, text and "" of each page, or why it has no text;
    with a reason, a number of 0 is about the rest of the file."""
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


class Sizes:
    """How large the horizontal text of a page is, in its order."""

    def __init__(self) -> None:
        self.parts: list[tuple[float, str]] = []

    def add(self, text: str, page: list[float], line: list[float], font: object, size: float) -> None:
        """pypdf's `visitor_text`, with the matrices of the page and of the line."""
        along = line[0] * page[0] + line[1] * page[2], line[0] * page[1] + line[1] * page[3]
        if not text.strip():
            self.parts += [(size_before, text) for size_before, _ in self.parts[-1:]]
        elif abs(along[1]) < abs(along[0]):  # a stamp in the margin is often the largest text
            self.parts.append((round(size * math.hypot(*along), 1), text))

    def heading(self) -> str:
        """The first text of the largest size, where most of the page is smaller."""
        counts: Counter[float] = Counter()
        for size, text in self.parts:
            counts[size] += len(text.strip())
        largest = max((size for size, n in counts.items() if n >= LEAST_TITLE), default=0)
        if not counts or largest < LARGER * counts.most_common(1)[0][0]:
            return ""
        begun = dropwhile(lambda part: part[0] != largest, self.parts)
        found = "".join(text for _, text in takewhile(lambda part: part[0] == largest, begun))
        return found if len(_letters(found)) >= LEAST_TITLE else ""


def _title_of(written: str, sizes: Sizes, text: str) -> str:
    """The title in the file's properties where its first page has it, else the page's heading, else that title."""
    written, heading = (" ".join(_storable(one).split()) for one in (written, sizes.heading()))
    if NO_TITLE.fullmatch(written):
        written = ""
    is_on_page = written and _letters(written) in _letters(text)
    return (written if is_on_page else heading or written)[:MOST_TITLE]


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


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
        written = str((reader.metadata and reader.metadata.title) or "")
    except MemoryError:
        raise
    except Exception as error:  # of many kinds, from a damaged file
        return _write(0, "", f"is no PDF file that can be read ({type(error).__name__})")
    if n_pages > MOST_PAGES:
        return _write(0, "", f"has {n_pages:,} pages; at most {MOST_PAGES:,} are read")
    if not n_pages:
        _write(0, "")
    for number in range(1, n_pages + 1):
        text, why, sizes = "", "", Sizes()
        try:
            text = _storable(reader.pages[number - 1].extract_text(visitor_text=sizes.add if number == 1 else None))
        except MemoryError:
            raise
        except Exception as error:
            why = f"cannot be read ({type(error).__name__})"
        if number == 1:
            _write(0, _title_of(written, sizes, text))
        if len(text) > MOST_CHARACTERS:
            text, why = "", f"has more than {MOST_CHARACTERS:,} characters"
        _write(number, text, why)


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]))

"""Settings come from the environment, and a key and a data folder from the file that `make setup` leaves. All mistakes
are collected and reported together, by the variable's name."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from django.core.exceptions import ImproperlyConfigured

from assay.places import values_of_file

T = TypeVar("T")

PREFIX = "ASSAY_"
# What gunicorn takes for an application that cannot start, and does not try again and again.
CANNOT_START = 3


class Environment:
    def __init__(self, values: Mapping[str, str] | None = None, file: Path | None = None):
        self._values = dict(os.environ if values is None else values)
        self._known: set[str] = set()
        self._problems: list[str] = []
        if file is not None:
            try:
                self._values |= values_of_file(file, self._values)
            except ValueError as error:
                self._problems.append(str(error))

    def text(
        self, name: str, default: str | None = None, *, allowed: tuple[str, ...] = (), where_from: str = ""
    ) -> str:
        """The variable's text. Without a default it must be set and not empty; `where_from` says where to get it."""

        def parse(raw: str) -> str:
            if allowed and raw not in allowed:
                raise ValueError(f"must be one of {', '.join(allowed)}")
            return raw

        return self._read(name, default, parse, missing="", where_from=where_from)

    def boolean(self, name: str, default: bool) -> bool:
        words = {
            "1": True,
            "true": True,
            "yes": True,
            "on": True,
            "0": False,
            "false": False,
            "no": False,
            "off": False,
        }

        def parse(raw: str) -> bool:
            if raw.lower() not in words:
                raise ValueError("must be one of 1, true, yes, on, 0, false, no, off")
            return words[raw.lower()]

        return self._read(name, default, parse, missing=False)

    def integer(self, name: str, default: int, *, minimum: int | None = None, maximum: int | None = None) -> int:
        def parse(raw: str) -> int:
            try:
                number = int(raw)
            except ValueError:
                raise ValueError("must be a whole number") from None
            if (minimum is not None and number < minimum) or (maximum is not None and number > maximum):
                raise ValueError(f"must lie between {minimum} and {maximum}")
            return number

        return self._read(name, default, parse, missing=0)

    def items(self, name: str, default: tuple[str, ...] = ()) -> list[str]:
        """A comma-separated list; empty parts are refused, because they are nearly always a slip."""

        def parse(raw: str) -> list[str]:
            parts = [part.strip() for part in raw.split(",")]
            if "" in parts:
                raise ValueError("has an empty part between its commas")
            return parts

        return self._read(name, list(default), parse, missing=[])

    def path(self, name: str, default: Path) -> Path:
        return self._read(name, default, lambda raw: Path(raw).expanduser().resolve(), missing=default)

    def parsed(self, name: str, default: T, parse: Callable[[str], T]) -> T:
        """Anything else; `parse` raises ValueError with what is wrong."""
        return self._read(name, default, parse, missing=default)

    def allow(self, *names: str) -> None:
        """Variables of Assay that something else reads."""
        self._known.update(names)

    def problem(self, message: str) -> None:
        self._problems.append(message)

    def finish(self) -> None:
        """Raise if anything was wrong, or if a variable with our prefix is not one of ours (a misspelt name)."""
        for name in sorted(self._values):
            if name.startswith(PREFIX) and name not in self._known:
                self._problems.append(f"{name} is not a setting of Assay; see docs/settings.md")
        if self._problems:
            raise ImproperlyConfigured("\n".join(f"Assay cannot start: {problem}" for problem in self._problems))

    def finish_or_end(self) -> None:
        """Each mistake in a line, without a traceback, whichever program reads the settings. Celery and gunicorn print
        one for every other exception."""
        try:
            self.finish()
        except ImproperlyConfigured as error:
            print(error, file=sys.stderr)
            raise SystemExit(CANNOT_START) from None

    def _read(self, name, default, parse, missing, where_from=""):
        self._known.add(name)
        raw = self._values.get(name, "").strip()
        if not raw:
            if default is None:
                self._problems.append(f"{name} must be set" + (f" ({where_from})" if where_from else ""))
                return missing
            return default
        try:
            return parse(raw)
        except ValueError as error:
            self._problems.append(f"{name} {error} (it is {raw[:60]!r})")
            return missing if default is None else default

"""Settings come from the environment only. Every mistake is collected and told at once, by the variable's name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from django.core.exceptions import ImproperlyConfigured

T = TypeVar("T")

PREFIX = "ASSAY_"


class Environment:
    def __init__(self, values: dict[str, str] | None = None):
        self._values = dict(os.environ if values is None else values)
        self._known: set[str] = set()
        self._problems: list[str] = []

    def text(self, name: str, default: str | None = None, *, allowed: tuple[str, ...] = ()) -> str:
        """The variable's text. Without a default it must be set and not empty."""

        def parse(raw: str) -> str:
            if allowed and raw not in allowed:
                raise ValueError(f"must be one of {', '.join(allowed)}")
            return raw

        return self._read(name, default, parse, missing="")

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

    def problem(self, message: str) -> None:
        self._problems.append(message)

    def finish(self) -> None:
        """Raise if anything was wrong, or if a variable with our prefix is not one of ours (a misspelt name)."""
        for name in sorted(self._values):
            if name.startswith(PREFIX) and name not in self._known:
                self._problems.append(f"{name} is not a setting of Assay; see docs/settings.md")
        if self._problems:
            raise ImproperlyConfigured("The environment is not right:\n  " + "\n  ".join(self._problems))

    def _read(self, name, default, parse, missing):
        self._known.add(name)
        raw = self._values.get(name, "").strip()
        if not raw:
            if default is None:
                self._problems.append(f"{name} must be set")
                return missing
            return default
        try:
            return parse(raw)
        except ValueError as error:
            self._problems.append(f"{name} {error} (it is {raw[:60]!r})")
            return missing if default is None else default

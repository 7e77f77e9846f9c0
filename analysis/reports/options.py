"""What a report can be asked: the page's form, the command's arguments and their checks are derived from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from analysis.sources.outline import Outline
from annotation.task_types import TaskType

# choice: one of `choices`; project: the same, of other projects on the data set by their slugs; run: a finished checker
# run; count: a whole number; number: any number; flag: yes or no; text: words.
KINDS = ("choice", "project", "run", "count", "number", "flag", "text")
# Headings of the panel in which a page's options stand where there are many.
LABELS, CHECKER, STATISTICS = "Labels", "Checker", "Statistics"
# What an address or a command may call yes and no.
FLAGS = {"1": True, "true": True, "on": True, "yes": True, "0": False, "false": False, "off": False, "no": False}
Choices = Mapping[str, str] | Callable[[Outline], Mapping[str, str]]
# Between the names of several projects.
AND = "+"


def sibling_projects(source: Outline, suits: Callable[[TaskType], bool], *, several: bool = False) -> dict[str, str]:
    """Choices of an option of the kind `project`: none, or a project on the same data set whose task type suits; with
    `several` also all of these."""
    siblings = source.siblings().items()
    found = {slug: title for slug, title in siblings if suits(source.sibling(slug).type)}
    together = {AND.join(sorted(found)): f"all {len(found)} of them"} if several and len(found) > 1 else {}
    return {"": "none"} | found | together


@dataclass(frozen=True)
class Option:
    """One option. `choices` are value -> title, or made from the source.

    A run is named by its UUID, or by its checker for that checker's newest run; `gives` (labels or scores) narrows
    which ones are offered. Without a `default`, a run is the newest one where `required`, and none otherwise.
    """

    name: str
    title: str
    kind: str = "choice"
    choices: Choices | None = None
    default: object = None
    low: float | None = None
    high: float | None = None
    gives: str = ""
    required: bool = False
    help: str = ""
    unchosen: str = "none"  # what the form calls a run that is not chosen
    group: str = ""  # the heading under which it stands in the page's panel, where there is one
    hides: Callable[[Outline], bool] | None = None  # whether the page leaves it out, since it would change nothing
    on_pages: bool = True  # False: the command alone takes another value than the default
    known: Mapping[str, str] | None = None  # of `choices` made from the source, all that there could be
    several: bool = False  # whether projects may be several, with AND between them
    missing: str = ""  # what the form says where there is nothing to choose: what there is none of, and what to start
    on_form: bool = True  # False: a link below the figures sets it

    @property
    def argument(self) -> str:
        """What the command calls it."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def needs_run(self) -> bool:
        """Whether there must be a finished run to choose."""
        return self.kind == "run" and self.required

    @property
    def names_projects(self) -> bool:
        """Whether its value names other projects, whose labels are read."""
        return self.kind == "project"

    def offered(self, source: Outline) -> dict[str, str]:
        """What can be chosen here, value -> title."""
        if self.kind == "run":
            runs = [run for run in source.runs() if self.gives in ("", run.gives)]
            return {
                run.uuid: run.name + (f", {run.created_at:%Y-%m-%d %H:%M}" if run.created_at else "") for run in runs
            }
        return dict(self.choices(source) if callable(self.choices) else self.choices or {})

    def has_choice(self, offered: Mapping[str, str]) -> bool:
        """Whether there is anything to choose, among the choices, besides those for none and for all."""
        return not self.missing or bool(set(offered) - {"", self.default})

    def check(self, value: object) -> None:
        """ValueError for a choice that there never is, whatever the source."""
        known = self.known if callable(self.choices) else self.choices
        if known and value not in known:
            raise ValueError(f"{self.name} is one of {', '.join(known)}, not {value!r}")

    def value(self, source: Outline, value: object) -> object:
        """The option's value of what an address or a command gave; ValueError says what it could have been."""
        if value is None or value == "":
            return self._default(source)
        if self.kind == "flag":
            return self._flag(value)
        if self.kind in ("count", "number"):
            return self._number(value)
        if self.kind == "text":
            return str(value)
        offered = self.offered(source)
        if self.kind == "run" and str(value) not in offered:
            for run in source.runs():
                if run.checker == value and run.uuid in offered:
                    return run.uuid
        named = sorted({*filter(None, str(value).split(AND))}) if self.several else [str(value)]
        if not set(named) <= set(offered):
            known = ", ".join(
                filter(None, offered)
                if self.kind != "run"
                else (f"{title} ({uuid})" for uuid, title in offered.items())
            )
            hint = "" if self.has_choice(offered) else f": {self.missing}"
            raise ValueError(f"{self.name} is one of {known or 'none'}, not {value!r}{hint}")
        return AND.join(named)

    def _default(self, source: Outline) -> object:
        if self.needs_run:
            offered = self.offered(source)
            if not offered:
                gives = self.gives or "anything"
                raise ValueError(
                    source.how_to_have_runs()
                    or f"project {source.slug} has no finished checker run that gives {gives}: start one first"
                )
            return next(iter(offered))
        if self.kind == "choice" and self.default is None:
            return next(iter(self.offered(source)), "")
        return self.default

    def _flag(self, value: object) -> bool:
        if str(value).lower() not in FLAGS:
            raise ValueError(f"{self.name} is 1 (yes) or 0 (no), not {value!r}")
        return FLAGS[str(value).lower()]

    def _number(self, raw: object) -> float | int:
        try:
            value = int(str(raw)) if self.kind == "count" else float(str(raw))
        except ValueError:
            raise ValueError(
                f"{self.name} is a {'whole ' if self.kind == 'count' else ''}number, not {raw!r}"
            ) from None
        if not math.isfinite(value) or not self._is_within(value):
            bounds = " and ".join(
                f"at {word} {bound:g}"
                for word, bound in (("least", self.low), ("most", self.high))
                if bound is not None
            )
            raise ValueError(f"{self.name} is {bounds or 'a finite number'}, not {raw}")
        return value

    def _is_within(self, value: float) -> bool:
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

"""What an address asks of a page of figures. What cannot be had is noted, so that the page can say so, say what there
is, and keep everything else that was chosen."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from urllib.parse import urlencode

from django.http import HttpRequest

from analysis import scopes
from analysis.reports.metrics import REPORTS
from analysis.reports.options import Option
from analysis.sources.outline import Outline
from analysis.sources.wrong import WrongChoice
from annotation.models import Project

# What the form calls the choices of labels.
SCOPE_TITLES = {
    "release": "Labels of",
    "split": "By",
    "source": "Outline",
    "label": "With a label",
    "arm": "Arm",
    "annotator": "Annotator",
    "guidelines": "Guidelines",
    "since": "From",
    "until": "to",
    "labels_seen": "Answers after others’ labels",
}


class Asked:
    """One request for a report's page. `problems` say in words what is `wrong`, by its name in the address.

    `choice` and `option` give the default in place of what cannot be had, for the form that is shown with the problem.
    """

    def __init__(self, request: HttpRequest, project: Project, name: str):
        self.request, self.project, self.name = request, project, name
        self.wrong: set[str] = set()
        self.problems: list[str] = []
        self.scope: dict = {}
        try:
            self.scope = scopes.scope_of(project, request.GET)
        except WrongChoice as error:
            self.refuse(str(error), *error.names, title=SCOPE_TITLES[error.names[0]])

    def choice(self, name: str, allowed: Collection[str], default: str, title: str = "") -> str:
        """One of `allowed`, which may be value -> title; `title` is what the form calls the choice."""
        value = self.request.GET.get(name, "") or default
        if value in allowed:
            return value
        titles = allowed if isinstance(allowed, Mapping) else {one: one for one in allowed}
        there = ", ".join(str(known) if known == one else f"{known} ({one})" for one, known in titles.items())
        what = f"one of {there}" if there else "to be left empty, since there is no choice"
        self.refuse(f"{name} is {what}, not {value!r}", name, title=title)
        return default

    def option(self, name: str, title: str = "", source: Outline | None = None):
        """The value of one of the report's options, by the rules of the command."""
        option = next(option for option in REPORTS[self.name].options if option.name == name)
        return self.value(option, source, title)

    def value(self, option: Option, source: Outline | None, title: str = ""):
        value = self.request.GET.get(option.name)
        if not option.on_pages and value not in (None, "", option.default):
            self.refuse(f"{option.name} is {option.default} on pages, not {value!r}", option.name, title=option.title)
            return option.default
        try:
            return option.value(source, self.request.GET.get(option.name))
        except ValueError as error:
            if not self.request.GET.get(option.name):
                raise  # there is nothing to choose from, which is nobody's slip
            self.refuse(str(error), option.name, title=title or option.title)
            return option.value(source, None)

    def refuse(self, message: str, *names: str, title: str = "") -> None:
        """Note what is wrong; the form's title takes the place of the name in the address."""
        self.wrong.update(names)
        of_form = title and message.startswith(f"{names[0]} is ")
        words = f"“{title}” {message.removeprefix(names[0]).strip()}" if of_form else message
        self.problems.append(f"{words[0].upper()}{words[1:]}")

    @property
    def kept(self) -> list[tuple[str, str]]:
        """All that was chosen and can be had."""
        return [(name, value) for name, value in self.request.GET.items() if value and name not in self.wrong]

    @property
    def without_wrong(self) -> str:
        return "?" + urlencode([(name, value) for name, value in self.kept if name != "page"])

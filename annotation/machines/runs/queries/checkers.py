"""What the registry's checkers need and whether this machine has it, as far as files and settings tell."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.machines.runs.suggesting import checkers_of
from annotation.machines.training.trained_models import KIND
from annotation.task_types import current_task_types
from models_runtime import registry
from models_runtime.contracts import CheckerInfo


@dataclass(frozen=True)
class Need:
    """One thing that is missing here: in words, and what to type, where typing something brings it."""

    words: str
    command: str = ""
    is_training: bool = False  # it is had by training a checker on the project's labels


def needs_of(info: CheckerInfo) -> list[Need]:
    """What is missing on this machine before the checker can run with its default parameters; nothing where it can.

    Workers may run on other machines, with other packages and models: this is about the process that asks.
    """
    found = []
    if missing := registry.missing_packages(info.slug):
        found.append(Need("Packages that are not installed here", f"pip install {' '.join(missing)}"))
    if command := registry.fetch_command(info.slug):
        found.append(Need(f"The model {info.model}, which is not on this machine", command))
    if reason := registry.not_configured(info.slug):
        found.append(Need(reason))
    return found


# What keeps a machine from running here with its default parameters, in the order of lists.
READY, NEEDS_MODEL, NEEDS_SERVER = "Ready", "Needs a package or a model", "Needs a server"
GROUPS = (READY, NEEDS_MODEL, NEEDS_SERVER)


def group_of(info: CheckerInfo, needs: list[Need]) -> str:
    if registry.not_configured(info.slug):
        return NEEDS_SERVER
    return NEEDS_MODEL if needs else READY


@dataclass(frozen=True)
class Group:
    """Entries of a page of runs that lack the same; `commands` bring what they lack, each once."""

    title: str
    entries: list[dict]

    @property
    def is_ready(self) -> bool:
        return self.title == READY

    @property
    def commands(self) -> list[str]:
        return [*dict.fromkeys(need.command for one in self.entries for need in one["needs"] if need.command)]

    @property
    def reasons(self) -> list[str]:
        """What settings lack, in words."""
        return [*dict.fromkeys(one["not_configured"] for one in self.entries if one["not_configured"])]


def grouped(entries: list[dict]) -> list[Group]:
    groups = [Group(title, [one for one in entries if one["group"] == title]) for title in GROUPS]
    return [group for group in groups if group.entries]


# What an entry's `gives` and `needs` mean, for reading.
GIVES = {
    "labels": "labels, with scores",
    "scores": "scores",
    "pieces": "pieces of a text",
    "rankings": "rankings of passages",
    "texts": "answers to questions",
}
TRAINED_THERE = Need("In each project, a checker trained on its labels", is_training=True)
NEEDS = {"cpu": "CPU", "gpu": "GPU; slower on a CPU", "server": "server"}


@dataclass(frozen=True)
class Listed:
    """One entry of the registry as the page of all checkers shows it."""

    info: CheckerInfo
    gives: str
    computes_on: str
    task_types: list[str]  # titles of those that a new project can choose and that use it
    needs: list[Need]


def listed_checkers() -> list[Listed]:
    """Every entry, in the registry's order. No query."""
    return [_listed(info) for info in registry.list_infos()]


def _listed(info: CheckerInfo) -> Listed:
    used_by = [kind.title for kind in current_task_types() if info.slug in checkers_of(kind)]
    needs = needs_of(info) + ([TRAINED_THERE] if info.kind == KIND else [])
    return Listed(info, GIVES[info.gives], NEEDS[info.needs], used_by, needs)

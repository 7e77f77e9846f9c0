"""What pages may ask of a project before anything is computed: all that needs no frames."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from annotation.formats.cells import label_set_note
from annotation.formats.names import run_name
from annotation.task_types import TaskType, is_shipped

MEMBER, EXTERNAL, SLOT = "member", "external", "slot"


# How an option names a group of raters of a file.
GROUP = "group:"


def groups_named(groups: Iterable[str]) -> list[str]:
    """As options and selections name them."""
    return [f"{GROUP}{name}" for name in groups]


def groups_in(groups: Iterable[str]) -> list[str]:
    """The groups of raters, where there are several."""
    found = sorted({*groups} - {""})
    return found if len(found) > 1 else []


MAJORITY = "majority"  # the reference that is made from labels
# How the names of sets begin that rules with a name made.
RULE_SET = "rule:"


@dataclass(frozen=True)
class Run:
    """A finished checker run. `gives` is labels or scores; `scores` are the names of its scores, `support` first."""

    uuid: str
    checker: str
    version: str
    parameters: dict = field(default_factory=dict, compare=False)
    provenance: dict = field(default_factory=dict, compare=False)
    gives: str = "labels"
    scores: tuple[str, ...] = ()
    created_at: datetime | None = None

    @property
    def name(self) -> str:
        return run_name(self.checker, self.version)


@dataclass(frozen=True)
class GeneratorRun:
    """A finished run of a generator, which wrote responses. `passages` is what it was shown: nothing, `own` (those of
    the data set), or a retrieval's UUID; `counts` are answers, abstentions and failures."""

    uuid: str
    generator: str
    version: str
    passages: str
    most_passages: int
    repetitions: int
    context_setting: str
    parameters: dict = field(default_factory=dict, compare=False)
    provenance: dict = field(default_factory=dict, compare=False)
    counts: dict = field(default_factory=dict, compare=False)
    created_at: datetime | None = None


class Outline(ABC):
    """One project as pages know it.

    Attributes
    ----------
    slug, title, task_type : the project's; `task_type` is the identifier
    type : TaskType
        As the project asks it.
    overlap, multiple_share, prefill
        The plan: labels per item, the share of items that get so many, and whether suggestions are shown.
    piece_set
        The name of the set whose pieces it judges; empty: the unnamed one, or it judges no pieces.
    """

    slug: str
    title: str
    task_type: str
    type: TaskType
    overlap: int
    multiple_share: float
    prefill: str
    piece_set: str = ""

    def described(self) -> dict:
        """What figures are made from, as it is shown: plain data, the same for the same labels."""
        return {"kind": "database"} | self._choices_described()

    def _choices_described(self) -> dict:
        """The set of pieces, and levels that a label set may have because an import guessed them."""
        found: dict = {"piece_set": self.piece_set} if self.piece_set else {}
        asked = () if is_shipped(self.task_type) else self.type.dimensions
        notes = {one.title: label_set_note(one.values, one.level) for one in asked}
        levels = {title: words for title, words in notes.items() if words}
        return found | ({"assumed_levels": levels} if levels else {})

    @property
    def units_title(self) -> str:
        """What is judged, with the set that it belongs to where that has a name."""
        return self.type.units_title + (f" of {self.piece_set}" if self.piece_set else "")

    @abstractmethod
    def has_labels(self) -> bool:
        """Whether anybody labelled something."""

    @abstractmethod
    def has_people(self) -> bool:
        """Whether any rater with labels has a name, and is no slot of a file."""

    def rater_groups(self) -> list[str]:
        """Groups of raters that a file named, such as experts and crowd, where there are several."""
        return []

    def has_further(self) -> bool:
        """Whether any judgement was asked for because answers differed."""
        return False

    def has_checks(self) -> bool:
        """Whether there were checks for people among their items."""
        return False

    @abstractmethod
    def decision_methods(self) -> list[str]: ...

    @abstractmethod
    def runs(self) -> list[Run]:
        """Finished runs, the newest first; those that give scores only after the others."""

    @abstractmethod
    def content_metadata(self, kind: str, name: str) -> dict[str, Any]:
        """What the metadata of a kind of content hold under a name, by key."""

    def sibling(self, slug: str) -> Outline:
        """Another project on the same data set, by its slug. ValueError where there is none."""
        raise ValueError(f"{self.slug} has no other projects: no project {slug!r} uses its data set")

    def siblings(self) -> dict[str, str]:
        """Projects on the same data set: slug -> title."""
        return {}

    # What follows is made from the above.

    def run(self, uuid: str) -> Run:
        for run in self.runs():
            if run.uuid == str(uuid):
                return run
        raise ValueError(f"project {self.slug} has no finished checker run {uuid!r}: choose one that has finished")

    def how_to_have_runs(self) -> str:
        """What to do where a report needs a run and there is none, if that is something else than to start one."""
        return ""

    def labelling_runs(self) -> list[Run]:
        return [run for run in self.runs() if run.gives == "labels"]

    def newest_labelling_runs(self) -> list[Run]:
        """Of each checker that gives labels, its newest run; the newest first. Runs that try a prompt on a part of the
        items are none of them, nor are those that judge by passages of a retrieval where others do not: where texts
        are judged alone, such as claims, all checkers need passages."""
        whole = [run for run in self.labelling_runs() if "calibration" not in run.provenance]
        of_content = [run for run in whole if "retrieved" not in run.provenance]
        found: dict[str, Run] = {}
        for run in of_content or whole:
            found.setdefault(run.checker, run)
        return list(found.values())

    def references(self) -> list[str]:
        """What can stand as the reference: the majority always, decisions of each method that there are. The first is
        the one to begin with: decisions where there are no labels that could have a majority."""
        known = self.decision_methods()
        plain = [name for name in ("imported", "adjudicated") if name in known]
        decided = [*plain, *(name for name in known if name.startswith(RULE_SET))]
        return [*decided, MAJORITY] if decided and not self.has_labels() else [MAJORITY, *decided]

    def reference_for(self, wanted: str) -> str:
        """The reference here, where another project's is `wanted`."""
        names = self.references()
        is_here = wanted in names and (wanted != MAJORITY or names[0] == MAJORITY)
        return wanted if is_here else names[0]

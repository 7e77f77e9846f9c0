"""Part of a project's labels: of some sources, arms, people, guideline versions, times, or units with one label."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import date

from analysis.sources import splits
from analysis.sources.outline import GROUP
from analysis.sources.several import per_label
from analysis.sources.wrong import WrongChoice
from annotation.models import Project
from annotation.task_types import TaskType

INCLUDED = "included"


@dataclass(frozen=True)
class Selection:
    """What is looked at; an empty text is no condition.

    `split` (``kind.column``, see `analysis.sources.splits`) puts a column of the content in the place of the source, in
    all that is given by source. `source` keeps units of one source; `label` (``dimension:label``) units that any rater
    gave that label in the latest revision. `arm`, `annotator` (a pseudonym, or `group:NAME`), `guidelines` (a version),
    `since` and `until` (days in UTC, both included) keep labels; labels with an unknown time, arm or version
    are left out by such a condition. An answer counts where its latest revision fits: what was replaced since does not
    stand for it. Units on which no label is left do not count, for checkers, decisions and scores either.

    `labels_seen` (INCLUDED) is no condition but takes one away: answers given or changed after their author had been
    served others' labels count, too (`analysis.sources.blind`).

    Items without units, such as abstained answers, are kept where the answer itself is of the source, or has the value
    of the split. Where a label is wanted, or a value that only units have, there are none of them.
    """

    split: str = ""
    source: str = ""
    label: str = ""
    arm: str = ""
    annotator: str = ""
    guidelines: str = ""
    since: str = ""
    until: str = ""
    labels_seen: str = ""

    @classmethod
    def of(cls, values: Mapping[str, str]) -> Selection:
        """From an address or a command. Wrong values raise ValueError."""
        selection = cls(**{name: str(values[name]) for name in NAMES if values.get(name)})
        first, last = (day_of(name, getattr(selection, name)) for name in ("since", "until"))
        if first and last and first > last:
            raise WrongChoice(
                f"since ({first}) is later than until ({last}), so that no day is left; change one of them",
                *("since", "until"),
            )
        if selection.split:
            _wrong("split", lambda: splits.check(selection.split))
        if selection.guidelines and not selection.guidelines.isdecimal():
            raise WrongChoice(f"guidelines is a version, such as 2, not {selection.guidelines!r}", "guidelines")
        if selection.labels_seen not in ("", INCLUDED):
            raise WrongChoice(f"labels_seen is {INCLUDED} or empty, not {selection.labels_seen!r}", "labels_seen")
        if selection.label and ":" not in selection.label:
            raise WrongChoice(f"label is dimension:label, such as stance:supports, not {selection.label!r}", "label")
        return selection

    def check(self, kind: TaskType, people: Callable[[], Container[str]], arms: Callable[[], Collection[str]]) -> None:
        """Whether a project of this kind, with these people (pseudonyms) and arms, has what is chosen. What there is
        not raises ValueError: a slip of the pen would give figures of nothing."""
        if self.label:
            known = [f"{one.slug}:{value}" for one in per_label(kind).dimensions for value in one.values]
            if self.label not in known:
                raise WrongChoice(f"label is one of {', '.join(known)}, not {self.label!r}", "label")
        if self.split:
            _wrong("split", lambda: splits.check_kind(self.split, kind.unit_kind))
        if self.arm and self.arm not in (there := arms()):
            raise WrongChoice(f"arm is one of {', '.join(there) or 'none'}, not {self.arm!r}", "arm")
        if self.annotator and self.annotator not in people():
            raise WrongChoice(
                f"annotator is the pseudonym of a member who labels here, or {GROUP} and the name of a group, "
                f"not {self.annotator!r}",
                "annotator",
            )

    def elsewhere(self) -> Selection:
        """What of it keeps labels of another project on the data set. People have other pseudonyms there, and versions
        of guidelines are other texts; which units count there, `SelectedSource` says."""
        return Selection(**{name: getattr(self, name) for name in ELSEWHERE})

    @property
    def keeps_labels(self) -> bool:
        """Whether some answers count and others do not, as `label_frame` of what is selected has it."""
        return any(getattr(self, name) for name in OF_LABELS)

    def as_dict(self) -> dict[str, str]:
        return {name: value for name, value in asdict(self).items() if value}

    def __bool__(self) -> bool:
        return bool(self.as_dict())


NAMES = tuple(field.name for field in fields(Selection))
OF_LABELS = ("arm", "annotator", "guidelines", "since", "until")
ELSEWHERE = ("arm", "since", "until", "labels_seen")
# Whether suggestions were shown when an answer was given.
ARMS = tuple(name for name, _ in Project.ARMS)


def argument_of(name: str) -> str:
    """What a command calls a condition; `label` alone would be read as anything."""
    return (
        f"--only-{name}"
        if name in ("source", "label", "arm", "annotator", "guidelines")
        else f"--{name.replace('_', '-')}"
    )


def day_of(name: str, text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise WrongChoice(f"{name} is a day such as 2026-05-31, not {text!r}", name) from None


def _wrong(name: str, check: Callable[[], None]) -> None:
    try:
        check()
    except ValueError as error:
        raise WrongChoice(str(error), name) from None

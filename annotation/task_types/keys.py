"""The keys of the labelling page and of adjudicators: one table, from which the scripts of both pages, their lists of
keys, and the keys that no label may have are derived.

A key means the same on both pages or is missing on one. People may have keys of their own for the actions of single
keys; Enter, the arrows, digits and the keys of labels stay. Nothing is revealed, dropped or recorded by one key alone:
such a key asks first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from .base import TaskType

LABELLING, DESK = "labelling", "desk"
PRINTED = {"ArrowLeft": "←", "ArrowRight": "→", "ArrowUp": "↑", "ArrowDown": "↓"}


def always(kind: TaskType) -> bool:
    return True


def takes_highlights(kind: TaskType) -> bool:
    return any(dimension.spans for dimension in kind.asked_dimensions)


@dataclass(frozen=True, slots=True)
class Shortcut:
    """One line of the list: keys as browsers name them, each with the action of the page's script, and what they do on
    either page (with `{kind}`, the task); empty where the page does not have them."""

    keys: dict[str, str]
    labelling: str = ""
    desk: str = ""
    applies: Callable[[TaskType], bool] = always
    title: str = ""  # what it does, where that depends on the task
    is_later: bool = False  # label sets may be older: a label that has its key keeps it

    def on(self, page: str) -> str:
        return self.labelling if page == LABELLING else self.desk


SHORTCUTS = (
    Shortcut(
        {"Enter": "submit"},
        "submit (Ctrl+Enter inside a text box)",
        "decide and show the next item (Ctrl+Enter inside a text box)",
    ),
    Shortcut({"ArrowUp": "up", "ArrowDown": "down"}, *["previous or next question, or number"] * 2),
    Shortcut({"ArrowLeft": "back", "ArrowRight": "forward"}, *["previous or next item"] * 2),
    Shortcut(
        {"z": "undo"},
        "undo, also in submitted items (or Ctrl+z)",
        "undo (or Ctrl+z); with nothing left to undo, undo the last decision",
    ),
    Shortcut({"h": "highlight"}, *["highlight the selected text, or put a caret in the text"] * 2, takes_highlights),
    Shortcut(
        {"p": "whole"},
        *["with a digit: mark the whole passage of that number; again to unmark it"] * 2,
        lambda kind: any(one.spans and one.spans.takes_whole_texts for one in kind.asked_dimensions),
    ),
    Shortcut({"=": "shared"}, "light the words that the other texts share with the first one, or not", is_later=True),
    Shortcut({"m": "source"}, *["show texts as they look, or their source"] * 2, is_later=True),
    Shortcut({"a": "accept"}, "accept the suggestion for the current question, if there is one"),
    Shortcut(
        {"o": "only"}, "show only the current number’s highlights, or all", applies=lambda kind: kind.has_unit_colours
    ),
    Shortcut({"s": "skip"}, "skip the item; asks for a reason", "leave the item for later"),
    Shortcut({"f": "flag"}, "flag the item; asks for a reason"),
    Shortcut(
        {"t": "words"},
        "{kind.free_text.title} (Esc leaves the box)",
        applies=lambda kind: bool(kind.free_text),
        title="the question that is answered in words",
    ),
    Shortcut(
        {"t": "words"},
        *["the search among many labels (arrows walk, Enter chooses, Esc leaves it)"] * 2,
        applies=lambda kind: any(one.has_many_labels for one in kind.asked_dimensions),
        title="the question that is answered in words",
    ),
    Shortcut(
        {"j": "cannotJudge"},
        "cannot judge, where the question allows it",
        applies=lambda kind: any(one.has_cannot_judge for one in kind.asked_dimensions),
        is_later=True,
    ),
    Shortcut({"c": "comment"}, "comment", "note"),
    Shortcut({"r": "reason"}, desk="reason"),
    Shortcut({"u": "example"}, desk="add to the guideline examples, or remove from them"),
    Shortcut({"x": "without"}, desk="decide without a label; asks whether no label is right or the item is dropped"),
    Shortcut({"v": "reveal"}, desk="names, or checkers’ labels; asks which. It is recorded with your decision"),
    Shortcut({"g": "guidelines"}, *["open the guidelines"] * 2),
    Shortcut({"?": "help"}, *["open this list"] * 2),
)


def shortcuts_of(
    kind: TaskType, page: str, own: Mapping[str, str] = {}, translated: Callable[[str], str] = str
) -> list[dict]:
    """The lines of the page's list of keys, for a task; `own` are keys of a person's, by action."""
    changed, of_labels = changed_keys(own, kind), label_keys([kind])
    shown = [
        one
        for one in SHORTCUTS
        if one.on(page) and one.applies(kind) and of_labels.isdisjoint(changed.get(key, key) for key in one.keys)
    ]
    return [
        {
            "printed": [PRINTED.get(key, changed.get(key, key)) for key in one.keys],
            "words": translated(one.on(page)).format(kind=kind),
        }
        for one in shown
    ]


def actions_of(page: str, changed: Mapping[str, str] = {}) -> dict[str, str]:
    """Key to action, for the page's script; `changed` are keys by those that they replace. Labels' own keys come before
    these."""
    return {changed.get(key, key): action for one in SHORTCUTS if one.on(page) for key, action in one.keys.items()}


def page_keys(page: str, kind: TaskType, own: Mapping[str, str]) -> dict:
    """What the page's script needs: actions by key, and the keys that a person changed, by those that are printed."""
    changed = changed_keys(own, kind)
    return {"actions": actions_of(page, changed), "changed": changed}


# ---- keys of one's own ----


def changeable() -> dict[str, tuple[str, str]]:
    """Action to its usual key and what it does, of those that a person may have another key for."""
    return {
        action: (key, one.title or one.labelling or one.desk)
        for one in SHORTCUTS
        for key, action in one.keys.items()
        if len(key) == 1
    }


def label_keys(kinds: Iterable[TaskType]) -> set[str]:
    return {label.key for kind in kinds for one in kind.asked_dimensions for label in one.shown_labels if label.key}


def is_key(text: str) -> bool:
    """Whether it is one that a Latin keyboard prints, other than a digit."""
    return bool(re.fullmatch(r"[!-/:-@\[-~]", text)) and text == text.lower()


def changed_keys(own: Mapping[str, str], kind: TaskType) -> dict[str, str]:
    """Usual key to a person's own. None is changed where two actions would share one, or a label of the task has it:
    then the usual keys are the only ones that certainly do not."""
    usual = {action: key for action, (key, _) in changeable().items()}
    wanted = {action: own[action] if is_key(str(own.get(action, ""))) else key for action, key in usual.items()}
    changed = {usual[action]: key for action, key in wanted.items() if key != usual[action]}
    is_free = len(set(wanted.values())) == len(wanted) and label_keys([kind]).isdisjoint(changed.values())
    return changed if is_free else {}


# The keys that a label may not have: those of the labelling page, and the digits.
PAGE_KEYS = frozenset(key for key in actions_of(LABELLING) if len(key) == 1) | frozenset("0123456789")
LATER_KEYS = frozenset(key for one in SHORTCUTS if one.is_later for key in one.keys)

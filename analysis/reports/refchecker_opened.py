"""Figures of the RefChecker report opened: which stored units are behind each, and what these are in words.

A figure over answers opens all pieces of these answers; only what counts answers without pieces opens the answers. A
rate opens what has the label, another estimate everything that it was computed from.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import ne

from analysis.reports.opened import Behind, name_of
from analysis.reports.refchecker_behind import PIECES
from annotation.task_types import TaskType

ANY = None  # in place of a part of a key
# Answers by whether people, and the checker, find them factual; by what each of the two finds.
FACTUAL: dict[str, Callable[[bool, bool], bool]] = {
    "people": lambda people, checker: people,
    "checker": lambda people, checker: checker,
    "differ": ne,
    "either": lambda people, checker: people or checker,
    "not": lambda people, checker: not (people and checker),
}
FROM: dict[str, Callable[[str, str, str], bool]] = {
    "memory": lambda knows, label, best: knows == "yes" and label != best,
    "context": lambda knows, label, best: knows != "yes" and label == best,
    "neither": lambda knows, label, worst: knows == "no" and label == worst,
}
COMPARED, ASIDE = "answers", "aside"


def opened(behind: Behind, figure: str) -> list[int] | None:
    """Units of a figure that is not stored as it is; None where there is no such figure."""
    match figure.split("/"):
        case ["abstained", setting]:
            return sum(_lists(behind, "abstained", setting, ANY), []) or None
        case parts:
            found = _units_of(behind, parts)
            return [unit for unit in behind[PIECES] if unit in found] or None


def _units_of(behind: Behind, parts: list[str]) -> set[int]:
    match parts:
        case ["people" | "strict" | "major", _, _]:
            return _together(behind, *parts, ANY)
        case ["counted", "soft", *where]:
            return _units_of(behind, ["counted", "strict", *where]) | _together(behind, "partly", *_where(where))
        case ["counted", "strict" | "major" as rule, *where]:
            return _together(behind, rule, ANY, *_where(where))
        case ["labelled"]:
            return set(behind[PIECES]) - set(behind["unlabelled"])
        case ["copied", label, *where]:
            return _together(behind, "people", label, *_where(where)) - set(behind.get("uncopied", ()))
        case ["checker", run, "untouched"]:
            return set(behind[PIECES]) - set(behind.get(f"checker/{run}/touched", behind[PIECES]))
        case ["checker", run, "both" | "differ" | "people" as what, *where] if len(where) < 2:
            return _pieces(behind, f"checker/{run}/cell", what, *where)
        case ["checker", run, *rest]:
            return _of_answers(behind, f"checker/{run}", rest)
        case ["beside", place, "both" | "differ" as what, *where] if len(where) < 2:
            return _pieces(behind, f"other/{place}", what, *where)
        case ["memory", run, "asked", setting, model]:
            return _together(behind, "memory", run, ANY, ANY, setting, model)
        case ["memory", run, "memory" | "context" | "neither" as what, label, setting, model]:
            is_from = FROM[what]
            return _together(
                behind, "memory", run, ANY, ANY, setting, model, kept=lambda key: is_from(key[2], key[3], label)
            )
        case ["masked", run, setting, model]:
            return _together(behind, "masked", run, ANY, setting, model)
    return set()


def _pieces(behind: Behind, prefix: str, what: str, setting: str | None = ANY) -> set[int]:
    """By what two sides say, the last but two and last but one part of a key: people always, the other one perhaps."""
    tests = {"both": lambda key: key[-2], "differ": lambda key: key[-2] and key[-3] != key[-2], "people": bool}
    return _together(behind, *prefix.split("/"), ANY, ANY, setting, kept=tests[what])


def _of_answers(behind: Behind, prefix: str, parts: list[str]) -> set[int]:
    of_checker = prefix.split("/")
    compared = (*of_checker, COMPARED, ANY, ANY)
    match parts:
        case ["compared", setting]:
            return _together(behind, *compared, setting, ANY)
        case ["otherwise", setting]:
            return _together(behind, *compared, setting, ANY, kept=lambda key: key[3] != key[4])
        case ["factual", side, best, setting] if side in FACTUAL:
            is_meant = FACTUAL[side]
            return _together(behind, *compared, setting, ANY, kept=lambda key: is_meant(key[3] == best, key[4] == best))
        case ["ranked" | "ranked-otherwise" as what, *where] if len(where) < 3:
            is_all = what == "ranked"
            return set().union(
                *(
                    _together(
                        behind, *of_checker, name, ANY, ANY, *_where(where), kept=lambda key: is_all or key[3] != key[4]
                    )
                    for name in (COMPARED, ASIDE)
                )
            )
        case ["rated", "people" | "checker" as side, label, setting, model]:
            labels = (label, ANY) if side == "people" else (ANY, label)
            answers = _of_answers(behind, prefix, ["ranked", setting, model])
            return answers & _together(behind, *of_checker, "cell", *labels, setting)
    return set()


def _where(given: list[str]) -> list[str | None]:
    """Setting and model; of all where none is named."""
    return [*given, ANY, ANY][:2]


def _together(behind: Behind, *pattern: str | None, kept: Callable[[list[str]], object] = bool) -> set[int]:
    return set().union(*_lists(behind, *pattern, kept=kept))


def _lists(behind: Behind, *pattern: str | None, kept: Callable[[list[str]], object] = bool) -> list[list[int]]:
    """Units of the keys of this many parts that are these, where they are not ANY, and of which `kept` is true."""
    return [
        units
        for figure, units in behind.items()
        for key in (figure.split("/"),)
        if len(key) == len(pattern)
        and all(part is ANY or part == name for name, part in zip(key, pattern, strict=True))
        and kept(key)
    ]


def in_words(kind: TaskType, figure: str) -> str:
    """What the items behind a figure are."""
    dimension = next(one for one in kind.dimensions if one.role == "entailment")
    titles = {label.value: label.title.lower() for label in dimension.labels}
    words = kind.units_title.lower()
    what, *parts = map(name_of, figure.split("/"))
    if what == "checker":
        return _of_checker(words, titles, parts[1], parts[2:])
    match what, *parts:
        case "people", label, *where:
            return f"{words} that people judge {titles[label]}{_place(where)}"
        case "strict", label, *where:
            return f"{words} of answers whose worst label is {titles[label]}{_place(where)}"
        case "major", label, *where:
            return f"{words} of answers whose most frequent label is {titles[label]}{_place(where)}"
        case "counted", rule, *where:
            return f"{words} of answers {COUNTED[rule]}{_place(where)}"
        case "partly", *where:
            return f"{words} of answers that people label in part{_place(where)}"
        case "abstained", *where:
            return f"answers without {words}{_place(where)}"
        case "labelled", *_:
            return f"{words} with a label by people"
        case "copied", label, *where:
            return f"{words} that people judge {titles[label]}, with passages to be copied from{_place(where)}"
        case "beside", _, beside, *where:
            return f"{words} of answers that {OTHER[beside]}{_place(where)}"
        case "memory", _, *rest:
            return _of_memory(words, titles, rest)
        case "masked", _, setting, model:
            return f"{words} judged with masked references{_place([setting, model])}"
        case "masked", _, label, setting, model:
            return f"{words} judged {titles.get(label, 'otherwise')} with masked references{_place([setting, model])}"
        case "unmasked", _, *where:
            return f"{words} of which nothing could be masked{_place(where)}"
    return f"{words}, {what}"


COUNTED = {
    "soft": "with a label on any of them",
    "strict": "with a label on each of them",
    "major": "with a label on each of them and a most frequent one",
}
OTHER = {
    "both": "people, and the checker by other pieces, label in full",
    "differ": "have another worst label by the checker's other pieces than by people",
}
IN_FULL = "that people and the checker label in full"
OTHERWISE = "with another worst label by the checker than by people"
SIDES = {
    "people": "that people find factual",
    "checker": "that the checker finds factual",
    "differ": "that only one of people and the checker finds factual",
    "either": "that people or the checker find factual",
    "not": "that people or the checker do not find factual",
}


def _place(where: list[str]) -> str:
    """Setting and model, as far as they are named."""
    match where:
        case [setting, model]:
            return f", of {model} ({setting})"
        case [setting]:
            return f" ({setting})"
    return ""


def _of_checker(words: str, titles: dict[str, str], what: str, parts: list[str]) -> str:
    match what, *parts:
        case "cell", said, "", *where:
            return f"{words} that people judge {titles[said]} and the checker does not judge{_place(where)}"
        case "cell", said, found, *where:
            return f"{words} that people judge {titles[said]} and the checker {titles[found]}{_place(where)}"
        case "both", *where:
            return f"{words} that people and the checker label{_place(where)}"
        case "differ", *where:
            return f"{words} that the checker labels otherwise than people{_place(where)}"
        case "people", *where:
            return f"{words} that people label{_place(where)}"
        case "untouched", *_:
            return f"{words} with a label by people that the checker had not touched"
        case "compared", *where:
            return f"{words} of answers {IN_FULL}{_place(where)}"
        case "factual", side, _, *where:
            return f"{words} of answers {SIDES[side]}{_place(where)}"
        case "otherwise", *where:
            return f"{words} of answers {OTHERWISE}{_place(where)}"
        case "ranked", setting, model:
            return f"{words} of answers {IN_FULL}{_place([setting, model])}"
        case "ranked", *where:
            return f"{words} of all models' answers {IN_FULL}{_place(where)}"
        case "ranked-otherwise", *where:
            return f"{words} of all models' answers {OTHERWISE}{_place(where)}"
        case "rated", side, label, *where:
            by = "people judge" if side == "people" else "the checker judges"
            return f"{words} that {by} {titles[label]} in answers that both label in full{_place(where)}"
        case (("answers" | "aside"), said, found, *where):
            return (
                f"{words} of answers whose worst label is {titles[said]} by people and {titles[found]} by the "
                f"checker{_place(where)}"
            )
    return f"{words}, {what}"


def _of_memory(words: str, titles: dict[str, str], parts: list[str]) -> str:
    match parts:
        case "asked", *where:
            return f"{words} that people label and of which the model was asked{_place(where)}"
        case (("memory" | "context" | "neither" as what), _, *where):
            return f"{words} {MEMORY[what]}{_place(where)}"
        case knows, label, *where:
            return f"{words} that people judge {titles[label]}; does the model know them? {knows}{_place(where)}"
    return words


MEMORY = {
    "memory": "from memory, against the reference",
    "context": "from the reference",
    "neither": "from neither memory nor the reference",
}

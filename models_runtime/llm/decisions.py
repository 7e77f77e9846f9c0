"""Finding the decision in what a model wrote in words of its own: after thinking, among prose, in a code fence or not.

The last decision counts, be it in a JSON object (`{"explanation": "…", "quotes": ["…"], "answer": "B"}`), after words
such as "Final answer:", or alone on the last line. Thinking that a model marks as such decides nothing. A text that
ends without a decision, or whose last one is none of the answers, is no answer (InputError), and its end is quoted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..contracts import InputError, LabelSpace
from ..labels.labelling import YES_OR_NO

KEYS = {
    *("answer", "final answer", "decision", "label", "verdict", "judgement", "judgment", "grade", "choice", "result"),
    *("sufficient", "sufficient context"),
}
EXPLANATIONS = ("explanation", "reasoning", "rationale", "reason", "justification", "analysis")
QUOTES = ("quotes", "quote", "evidence", "spans", "citations")
MOST_QUOTES = 20
# Objects that are looked at, from the end: a text may hold nothing but braces.
MOST_OBJECTS = 200
QUOTED = 300  # characters of a text without a decision

_THOUGHT = re.compile(
    r"<(think|thinking|reasoning|thought|scratchpad)>(.*?)(?:</\1>|\Z)|\[THINK\](.*?)(?:\[/THINK\]|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_END_OF_THOUGHT = re.compile(
    r".*</(?:think|thinking|reasoning|thought|scratchpad)>|.*\[/THINK\]|.*<\|channel\|>final<\|message\|>",
    re.DOTALL | re.IGNORECASE,
)
_FENCE = re.compile(r"^[ \t]*```\w*[ \t]*$", re.MULTILINE)
_STATED = re.compile(
    r"\b(?:answer|decision|label|verdict|judge?ment|grade|choice|conclusion)\b[\"'*_`\s]{0,6}(?:is|:|=|->|→)[\"'*_`\s:(\[]{0,8}([^\n]{1,200})"
    r"|\\boxed\{(?:\\text\{)?([^{}\n]{1,200})",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[\s\"'*_`(\[{]*([A-Z])\s*(?:$|[^\w\s])")
_AT_THE_END = re.compile(r"[:：]\s*[\"'*_`(\[]*([A-Z])[\"'*_`)\].]*\s*$")


@dataclass(frozen=True, slots=True)
class ModelDecision:
    label: str
    explanation: str = ""
    quotes: tuple[str, ...] = ()


def names_of(space: LabelSpace) -> dict[str, str]:
    """The label behind each name that a model may use for it, in small letters: its value and its title, and yes and no
    where that is what is asked."""
    meanings = dict(space.meanings)
    found = {}
    for value, polarity in space.labels:
        for name in (
            value,
            value.replace("_", " "),
            value.replace("-", " "),
            meanings.get(value, "").partition(". ")[0],
        ):
            found.setdefault(name.strip(" .").casefold(), value)
        if space.role in YES_OR_NO and len(space.labels) == 2 and polarity is not None:
            for name in ("yes", "true", "1") if polarity > 0.5 else ("no", "false", "0"):
                found.setdefault(name, value)
    return {name: value for name, value in found.items() if name}


def read_decision(text: str, letters: Mapping[str, str], names: Mapping[str, str] | None = None) -> ModelDecision:
    """The last decision in the text. InputError where there is none.

    >>> read_decision("<think>B?</think> It says so. **Answer: A**", {"A": "yes", "B": "no"}).label
    'yes'
    """
    names = names or {}
    thought, visible = split_thought(text)
    found = [*_from_objects(visible, letters, names), *_from_words(visible, letters, names)]
    start, _, label, fields = max(found, key=lambda one: one[1], default=(0, 0, None, {}))
    if label is None:
        offered = " or ".join(letters)
        problem = (
            "the last decision in the answer is none of those offered"
            if found
            else "the answer ends without a decision"
        )
        raise InputError("malformed", f"{problem} ({offered}){_ending(visible or thought)}")
    explanation = _first_text(fields, EXPLANATIONS) or _prose(visible[:start]) or thought
    return ModelDecision(label, explanation.strip(), _quotes(fields))


def split_thought(text: str) -> tuple[str, str]:
    """What a model marks as thinking, and the rest. Thinking may begin before the text and may never end."""
    thoughts = [next(filter(None, one.groups()[1:]), "") for one in _THOUGHT.finditer(text)]
    rest = _THOUGHT.sub("", text)
    if begun := _END_OF_THOUGHT.match(rest):
        thoughts.insert(0, re.sub(r"<[^<>]*>|\[/THINK\]", "", begun.group()))
        rest = rest[begun.end() :]
    return "\n".join(one.strip() for one in thoughts if one.strip()), rest.strip()


def last_object(text: str) -> Any:
    """The last JSON object in the text; None where there is none."""
    found = None
    for _, _, value in _objects(split_thought(text)[1]):
        found = value
    return found


def _objects(text: str) -> Iterator[tuple[int, int, dict]]:
    decoder, end = json.JSONDecoder(strict=False), 0
    for start in [one.start() for one in re.finditer(r"\{", text)][-MOST_OBJECTS:]:
        if start < end:
            continue
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        yield start, end, value


Candidate = tuple[int, int, str | None, dict]


def _from_objects(text: str, letters: Mapping[str, str], names: Mapping[str, str]) -> Iterator[Candidate]:
    for start, end, value in _objects(text):
        keys = [key for key in value if re.sub(r"[_-]+", " ", key).strip().casefold() in KEYS]
        if keys:
            yield start, end, _meant(value[keys[-1]], letters, names), value


def _from_words(text: str, letters: Mapping[str, str], names: Mapping[str, str]) -> Iterator[Candidate]:
    for one in _STATED.finditer(text):
        label = _meant(one.group(1) or one.group(2), letters, names)
        if label is not None:  # "the answer is in the second passage" decides nothing
            yield one.start(), one.end(), label, {}
    lines = [line for line in _FENCE.sub("", text).splitlines() if line.strip()]
    if lines:
        last = lines[-1].strip().strip("*_`\"'()[]. ")
        ending = _AT_THE_END.search(lines[-1])
        label = letters.get(last) or names.get(last.casefold()) or (letters.get(ending.group(1)) if ending else None)
        if label is not None:
            yield text.rindex(lines[-1]), len(text), label, {}


def _meant(value: Any, letters: Mapping[str, str], names: Mapping[str, str]) -> str | None:
    if isinstance(value, bool | int | float):
        value = str(int(value)) if value in (0, 1) else ""
    if not isinstance(value, str):
        return None
    if (letter := _LETTER.match(value)) and letter.group(1) in letters:
        return letters[letter.group(1)]
    words = value.strip(" \t\"'*_`()[]{}.").casefold()
    fitting = [name for name in names if re.match(rf"{re.escape(name)}(?!\w)", words)]
    return names[max(fitting, key=len)] if fitting else None


def _first_text(fields: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    small = {key.casefold(): value for key, value in fields.items()}
    for key in keys:
        value = small.get(key)
        if isinstance(value, list):
            value = "\n".join(str(one) for one in value)
        if isinstance(value, str) and value.strip():
            return value
    return ""


def _quotes(fields: Mapping[str, Any]) -> tuple[str, ...]:
    small = {key.casefold(): value for key, value in fields.items()}
    for key in QUOTES:
        value = small.get(key)
        texts = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        found = [one.strip() for one in texts if isinstance(one, str) and one.strip()]
        if found:
            return tuple(dict.fromkeys(found))[:MOST_QUOTES]
    return ()


def _prose(text: str) -> str:
    return _FENCE.sub("", text).strip().strip("*#_ \n")


def _ending(text: str) -> str:
    text = " ".join(text.split())
    return f": “{'…' if len(text) > QUOTED else ''}{text[-QUOTED:]}”" if text else ", and is empty"

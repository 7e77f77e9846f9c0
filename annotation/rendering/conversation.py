"""Conversations: one text in which a line names who speaks, as people and checkers read it.

    [user, Ann, 2026-03-01 10:00]
    What is the weather in Bern?

    [tool call, get_weather]
    {"city": "Bern"}

`to_text` writes lists of turns so; the words of a turn are Markdown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from annotation.rendering import markdown
from annotation.rendering.runs import N_, CannotRender, RunWriter
from models_runtime.texts.turns import HEAD, MOST_TURNS, ROLE_OF, turns_of

SLUG = "conversation"
FOLDED = ("tool call", "tool result")
# Keys of the turns of a conversation in files, as pairs: who speaks, and the words.
TURNS = (("role", "content"), ("from", "value"), ("speaker", "text"), ("speaker", "utterance"))
MORE = ("name", "time", "timestamp", "created_at")


class BadConversation(ValueError):
    """A list that is no conversation; the message says which turn is wrong, and how."""


# ---- writing ----


def is_conversation(value: object) -> bool:
    """Whether a value of a file is a list of turns, as far as its first one says."""
    return (
        isinstance(value, list)
        and bool(value)
        and isinstance(value[0], Mapping)
        and any(set(keys) <= value[0].keys() for keys in TURNS)
    )


def to_text(turns: Sequence[object]) -> str:
    if len(turns) > MOST_TURNS:
        raise BadConversation(f"The conversation has {len(turns):,} turns; at most {MOST_TURNS:,} are imported")
    written = [part for number, turn in enumerate(turns, 1) for part in _parts(turn, number)]
    if len(written) > MOST_TURNS:
        raise BadConversation(
            f"The conversation has {len(written):,} turns, parts and tool calls; at most {MOST_TURNS:,}"
        )
    if not written:
        raise BadConversation("The conversation has no turns")
    return "\n\n".join(f"[{head}]\n{_guarded(words)}" for head, words in written)


def _guarded(words: str) -> str:
    """Words in which a line that reads as the head of a turn gets a space before it."""
    return HEAD.sub(lambda found: " " + found[0] if found["role"] else found[0], words)


def _parts(turn: object, number: int) -> list[tuple[str, str]]:
    """The heads and words of one turn, then its tool calls."""
    if not isinstance(turn, Mapping):
        raise BadConversation(f"Turn {number} is not an object with a role and a content")
    keys = next((keys for keys in TURNS if keys[0] in turn and (keys[1] in turn or "tool_calls" in turn)), None)
    if keys is None:
        has = ", ".join(map(str, turn)) or "nothing"
        raise BadConversation(f"Turn {number} has no role with a content; it has {has}")
    who = turn[keys[0]]
    if not isinstance(who, str) or not who.strip():
        raise BadConversation(f"The role of turn {number} is not a word")
    role = ROLE_OF.get(who.strip().lower(), "other")
    more = [who] if role == "other" else []
    head = ", ".join([role, *_plain([*more, *(turn[name] for name in MORE if turn.get(name))])])
    found = [(part, words) for part, words in _contents(turn.get(keys[1]), head, number)]
    calls = turn.get("tool_calls") or []
    if not isinstance(calls, list):
        raise BadConversation(f"The tool calls of turn {number} are not a list")
    found += [_call(call, number) for call in calls]
    return found or [(head, "")]


def _plain(names: Sequence[object]) -> list[str]:
    return [re.sub(r"[\[\]\s]+", " ", str(one)).strip() for one in names]


def _contents(content: object, head: str, number: int) -> list[tuple[str, str]]:
    if content is None:
        return []
    if isinstance(content, str):
        return [(head, content)]
    if not isinstance(content, list):
        raise BadConversation(f"The content of turn {number} is neither a text nor a list of parts")
    found: list[tuple[str, str]] = []
    for part in content:
        if not isinstance(part, str | Mapping):
            raise BadConversation(f"A part of turn {number} is neither a text nor an object")
        kind = "text" if isinstance(part, str) else str(part.get("type", "text"))
        words = part if isinstance(part, str) else part.get("text")
        if isinstance(words, str):
            found.append((head, words))
        elif ROLE_OF.get(kind) in FOLDED:
            found.append(_call(part, number) if kind == "tool_use" else ("tool result", _as_words(part.get("content"))))
        else:
            found.append((head, f"(a part of the type {_plain([kind])[0]}, which is not shown)"))
    return found


def _call(call: object, number: int) -> tuple[str, str]:
    if not isinstance(call, Mapping):
        raise BadConversation(f"A tool call of turn {number} is not an object")
    inside = call.get("function") if isinstance(call.get("function"), Mapping) else call
    name = inside.get("name", "")
    arguments = inside.get("arguments", inside.get("input", {}))
    return ", ".join(["tool call", *_plain([name] if name else [])]), _as_words(arguments)


def _as_words(value: object) -> str:
    if isinstance(value, str):
        return value
    texts = [one.get("text") if isinstance(one, Mapping) else None for one in value] if isinstance(value, list) else []
    if texts and all(isinstance(text, str) for text in texts):
        return "\n".join(texts)
    return json.dumps(value, ensure_ascii=False)


# ---- showing ----


def is_written(text: str) -> bool:
    """Whether a text begins as `to_text` begins one."""
    found = HEAD.match(text)
    return found is not None and found["role"] is not None


def render(page: RunWriter) -> None:
    turns = list(turns_of(page.source))
    if not turns:
        raise CannotRender(N_("it does not begin with a line that names who speaks, such as [user]"))
    if len(turns) > MOST_TURNS:
        raise CannotRender(N_("it has more than {n} turns"), MOST_TURNS)
    for turn in turns:
        is_folded = turn.role in FOLDED
        page.tag("details" if is_folded else "section", class_=f"turn is-{turn.role.replace(' ', '-')}")
        page.tag("summary" if is_folded else "p", class_="speaker")
        _head(page, turn.head)
        page.end("summary" if is_folded else "p")
        if is_folded:
            _as_is(page, turn.start, turn.end)
        else:
            markdown.render(page, turn.start, turn.end)
        page.end("details" if is_folded else "section")


def _head(page: RunWriter, head: re.Match) -> None:
    name = "role" if head["role"] else "speaker"
    page.tag("b")
    page.run(*head.span(name))
    page.end("b")
    if head["more"]:
        page.words(" ")
        page.run(head.start("more") + 2, head.end("more"))


def _as_is(page: RunWriter, start: int, end: int) -> None:
    words = page.source[start:end]
    begin = start + len(words) - len(words.lstrip("\r\n"))
    page.tag("pre", dir="auto")
    page.run(begin, max(begin, start + len(words.rstrip())))
    page.end("pre")

"""What a model was sent and what it gave, as turns of a conversation (`annotation.rendering.conversation`), by the
conventions of OpenAI and Anthropic, LangChain, OpenInference and OpenTelemetry (GenAI)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from annotation.formats.files.json_streams import decode_json, find_bad_string, risky_json
from annotation.rendering.conversation import ROLE_OF

# What holds the messages in an object of parameters or results, and what else is a turn before them.
LISTS = ("messages", "input", "output")
INSTRUCTIONS = ("system", "instructions")
MOST_DOTS = 16  # of a name that stands for objects in objects; no convention has as many
PARTS = {"tool_call": "tool_use", "tool_call_response": "tool_result"}


def decoded(value: object) -> object:
    """A value, read as JSON where it is a text that is JSON: tools write values as either. It stays a text where it is
    nested too deeply, or would hold characters that no database stores."""
    if not isinstance(value, str) or value[:1] not in ("{", "[", '"'):
        return value
    try:
        found = decode_json(value)
    except ValueError:
        return value
    return value if risky_json(value) and find_bad_string(found) else found


def nested(value: object) -> object:
    """Names with dots as objects in objects, and numbers among them as places of a list: `0.message.role`."""
    if isinstance(value, list):
        return [nested(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    found: dict = {}
    for name, inner in value.items():
        *path, last = str(name).split(".")
        if len(path) > MOST_DOTS:
            continue
        place = found
        for part in path:
            deeper = place.setdefault(part, {})
            place = deeper if isinstance(deeper, dict) else {}
        place.setdefault(last, inner)
    found = {name: nested(inner) for name, inner in found.items()}
    if found and all(name.isdecimal() for name in found):
        return [found[name] for name in sorted(found, key=int)]
    return found


def below(attributes: Mapping[str, object], *names: str) -> object:
    """The value of the first of these names that there is, or all attributes whose names begin with it and a dot."""
    for name in names:
        if attributes.get(name) not in (None, "", [], {}):
            return decoded(attributes[name])
        start = f"{name}."
        inside = {key[len(start) :]: value for key, value in attributes.items() if key.startswith(start)}
        if found := nested(inside):
            return found
    return None


def conversation_of(inputs: object, outputs: object) -> list[dict]:
    """The turns of a call: what went in, then what came out, without what came in again."""
    before, after = turns_of(inputs, "user"), turns_of(outputs, "assistant")
    return before + (after[len(before) :] if after[: len(before)] == before else after)


def turns_of(value: object, role: str) -> list[dict]:
    """The turns that a value holds; whatever is no message is one turn of this role."""
    value = decoded(value)
    if value in (None, "", [], {}):
        return []
    if isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], list):
            return turns_of(value[0], role)
        return [_turn(one, role) for one in value] if any(map(_is_message, value)) else [_words(value, role)]
    if not isinstance(value, Mapping):
        return [_words(value, role)]
    if isinstance(value.get("choices"), list) and value["choices"]:
        return turns_of([value["choices"][0]], role)
    if isinstance(value.get("generations"), list) and value["generations"]:
        return turns_of(value["generations"], role)
    if _is_message(value):
        return [_turn(value, role)]
    for name in LISTS:
        if isinstance(value.get(name), list):
            rules = [_words(value[one], "system") for one in INSTRUCTIONS if value.get(one)]
            return rules + turns_of(value[name], role)
    return [_words(value, role)]


def _words(value: object, role: str) -> dict:
    """A text, also one that is the only value of an object, or anything else as JSON."""
    if isinstance(value, Mapping) and len(value) == 1:
        (inner,) = value.values()
        value = inner if isinstance(inner, str) else value
    return {"role": role, "content": value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}


def _is_message(value: object) -> bool:
    if not isinstance(value, Mapping):
        return False
    if isinstance(value.get("message"), Mapping) or any(str(name).startswith("message.") for name in value):
        return True
    return bool({"content", "parts", "contents", "tool_calls", "kwargs", "arguments"} & value.keys()) and (
        "role" in value or str(value.get("type")) in ROLE_OF or _class_of(value) is not None
    )


def _class_of(message: Mapping) -> str | None:
    """The role of a message that LangChain wrote: the last part of its `id` is the class."""
    names = message.get("id")
    if isinstance(names, list) and names and isinstance(message.get("kwargs"), Mapping):
        return str(names[-1]).removesuffix("Chunk").removesuffix("Message").lower()
    return None


def _turn(message: object, role: str) -> dict:
    """A message in the form of OpenAI; what is none stays as it is, for the reader of conversations to name."""
    if isinstance(message, Mapping) and any(str(name).startswith("message.") for name in message):
        message = nested(message)
    if isinstance(message, Mapping) and isinstance(message.get("message"), Mapping):
        return _turn(message["message"], role)
    if not isinstance(message, Mapping) or not (_is_message(message) or "role" in message):
        return _words(message, role) if isinstance(message, str) else message
    if (of_class := _class_of(message)) is not None:
        message = {"role": of_class} | message["kwargs"]
    who = message.get("role") or message.get("type")
    found = {"role": who, "content": _content(message)}
    found |= {name: message[name] for name in ("name", "time", "timestamp") if isinstance(message.get(name), str)}
    if isinstance(calls := message.get("tool_calls"), list) and calls:
        found["tool_calls"] = [_call(one) for one in calls]
    return found


def _content(message: Mapping) -> object:
    for name in ("parts", "contents", "content", "arguments", "output"):
        if message.get(name) in (None, "", [], {}):
            continue
        value = message[name]
        if isinstance(value, list):
            return [_part(one) for one in value]
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return None


def _part(part: object) -> object:
    """A part of a content in the form of OpenAI or Anthropic."""
    if isinstance(part, Mapping) and isinstance(part.get("message_content"), Mapping):
        part = part["message_content"]
    if not isinstance(part, Mapping):
        return part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)
    kind = str(part.get("type", "text"))
    if kind in PARTS:
        result = part.get("response", part.get("result", part.get("content", "")))
        return {"name": part.get("name", ""), "content": result, "input": part.get("arguments", {})} | {
            "type": PARTS[kind]
        }
    if kind == "text" and isinstance(part.get("content"), str):
        return {"type": kind, "text": part["content"]}
    return part


def _call(call: object) -> object:
    if not isinstance(call, Mapping):
        return call
    inside = call.get("tool_call") if isinstance(call.get("tool_call"), Mapping) else call
    return {"name": inside.get("name", ""), "arguments": inside["args"]} if "args" in inside else inside


def model_of(values: Sequence[object]) -> str:
    return next((one for one in values if isinstance(one, str) and one), "")

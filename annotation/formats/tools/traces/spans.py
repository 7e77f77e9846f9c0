"""The rows of exports of traces as `TracePart`s: what one span, or a whole trace, says of a trace.

{"resourceSpans": [{"scopeSpans": [{"spans": [...]}]}]}        OTLP in JSON
{"context": {"trace_id", "span_id"}, "attributes": {...}}      spans as OpenTelemetry and Phoenix write them
context.trace_id, context.span_id, attributes.input.value, …   a data frame of Phoenix's spans
{"info": {"trace_id", …}, "data": {"spans": [...]}}            MLflow; also in the column `trace` of its data frame
{"id", "timestamp", "input", "output", …}                      traces of Langfuse, with `traceId` its observations
{"data": [...]}                                                 pages of an API
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

from annotation.formats.cells import BadCell, number_in
from annotation.formats.tools.traces.messages import below, conversation_of, decoded, model_of

CALLS = {"llm", "chat_model", "generation", "chat", "text_completion", "generate_content"}
KINDS = ("openinference.span.kind", "mlflow.spanType", "gen_ai.operation.name", "langfuse.observation.type")
INPUTS = ("gen_ai.input.messages", "llm.input_messages", "gen_ai.prompt")
OUTPUTS = ("gen_ai.output.messages", "llm.output_messages", "gen_ai.completion")
VALUES = ("langfuse.observation.{}", "langfuse.trace.{}", "traceloop.entity.{}", "{}.value")
MODELS = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "mlflow.chat.model")
SESSIONS = ("gen_ai.conversation.id", "session.id", "mlflow.trace.session")
OF_LANGFUSE = {"sessionId", "userId", "htmlPath", "totalCost", "latency", "observations", "release", "environment"}
OF_LANGFUSE |= {"session_id", "user_id", "total_cost", "bookmarked", "projectId", "project_id"}


@dataclass(frozen=True, slots=True)
class Assessment:
    """A value that a person, a model or a program gave a trace."""

    name: str
    value: object
    is_person: bool
    who: str = ""
    words: str = ""


@dataclass(slots=True)
class TracePart:
    trace: object
    turns: list = field(default_factory=list)
    is_call: bool = False  # of a model
    is_root: bool = True
    start: str = ""  # instants sort as these texts
    span: str = ""
    metadata: dict = field(default_factory=dict)
    assessments: list[Assessment] = field(default_factory=list)
    n_expected: int = 0  # values that were expected, not given


def parts_of(row: Mapping) -> Iterator[TracePart]:
    """Of one row of a file. BadCell where it is no part of a trace."""
    for fits, parts in SHAPES:
        if fits(row.keys(), row):
            yield from parts(row)
            return
    raise BadCell("", ", ".join(map(str, row))[:80], "is neither a trace nor a span of the tools that are known")


def is_part(names: Collection[str], row: Mapping) -> bool:
    """Whether a table with these columns, or an object, is one that `parts_of` reads."""
    return any(fits(names, row) for fits, _ in SHAPES)


# ---- OpenTelemetry and Phoenix ----


def _of_otlp(row: Mapping) -> Iterator[TracePart]:
    for resource in _list(row, "resourceSpans", "resource_spans"):
        for scope in _list(resource, "scopeSpans", "scope_spans"):
            for span in _list(scope, "spans"):
                events = [
                    {"name": event.get("name"), "attributes": _attributes(event)} for event in _list(span, "events")
                ]
                yield _of_attributes(
                    _attributes(span),
                    events,
                    _first(span, "traceId", "trace_id"),
                    _first(span, "spanId", "span_id"),
                    _first(span, "parentSpanId", "parent_span_id"),
                    _first(span, "startTimeUnixNano", "start_time_unix_nano"),
                    span.get("name"),
                )


def _attributes(of: Mapping) -> dict:
    return {str(one.get("key")): _any_value(one.get("value")) for one in _list(of, "attributes")}


def _any_value(value: object) -> object:
    """OTLP's `AnyValue`: {"stringValue": …}, {"arrayValue": {"values": […]}}, {"kvlistValue": {"values": […]}}."""
    if not isinstance(value, Mapping):
        return value
    for kind, inner in value.items():
        if kind == "arrayValue":
            return [_any_value(one) for one in _list(inner, "values")]
        if kind == "kvlistValue":
            return {str(one.get("key")): _any_value(one.get("value")) for one in _list(inner, "values")}
        return inner
    return None


def _of_span(row: Mapping) -> Iterator[TracePart]:
    attributes = row.get("attributes")
    yield _of_attributes(
        attributes if isinstance(attributes, Mapping) else {},
        _list(row, "events"),
        row["context"].get("trace_id"),
        row["context"].get("span_id"),
        row.get("parent_id"),
        row.get("start_time"),
        row.get("name"),
        kind=row.get("span_kind"),
    )


def _of_frame(row: Mapping) -> Iterator[TracePart]:
    attributes = {name.removeprefix("attributes."): value for name, value in row.items() if "attributes." in name}
    for name in (*INPUTS, *OUTPUTS):
        if isinstance(attributes.get(name), str) and not isinstance(decoded(attributes[name]), list):
            reason = "is no list of messages in JSON; write the data frame as JSON Lines or Parquet, not as CSV"
            raise BadCell(f"attributes.{name}", attributes[name], reason)
    yield _of_attributes(
        attributes,
        [],
        row["context.trace_id"],
        row.get("context.span_id"),
        row.get("parent_id"),
        row.get("start_time"),
        row.get("name"),
        kind=row.get("span_kind"),
    )


def _of_attributes(attributes: Mapping, events, trace, span, parent, start, name, kind=None) -> TracePart:
    """A span by the conventions for its attributes."""
    inputs, outputs = below(attributes, *INPUTS), below(attributes, *OUTPUTS)
    if inputs is None and outputs is None:
        inputs, outputs = _of_events(events)
    is_call = inputs is not None or outputs is not None
    if is_call and (rules := decoded(attributes.get("gen_ai.system_instructions"))):
        first = {"role": "system"} | ({"parts": rules} if isinstance(rules, list) else {"content": rules})
        inputs = [first, *inputs] if isinstance(inputs, list) else [first]
    if not is_call:
        inputs, outputs = (
            below(attributes, f"mlflow.span{side.capitalize()}s", *(one.format(side) for one in VALUES))
            for side in ("input", "output")
        )
        kinds = (kind, *(decoded(attributes.get(one)) for one in KINDS))
        is_call = any(isinstance(one, str) and one.lower() in CALLS for one in kinds)
    more = {"name": name, "model": model_of([decoded(attributes.get(one)) for one in MODELS])}
    more |= {"session": model_of([decoded(attributes.get(one)) for one in SESSIONS]), "span_id": span}
    return TracePart(
        _hexadecimal(trace),
        conversation_of(inputs, outputs),
        is_call,
        not parent,
        str(start or ""),
        _hexadecimal(span),
        {key: _hexadecimal(value) for key, value in more.items() if isinstance(value, str) and value},
    )


def _of_events(events: list) -> tuple[object, object]:
    """Messages in events: `gen_ai.user.message`, `gen_ai.choice`; or an event with the attributes of a span."""
    before, after = [], []
    for event in events:
        attributes = event.get("attributes") if isinstance(event, Mapping) else None
        attributes = attributes if isinstance(attributes, Mapping) else {}
        name = str(event.get("name")) if isinstance(event, Mapping) else ""
        if name == "gen_ai.choice":
            message = decoded(attributes.get("message"))
            message = message if isinstance(message, Mapping) else attributes
            after.append({"role": "assistant"} | {key: decoded(value) for key, value in message.items()})
        elif name.startswith("gen_ai.") and name.endswith(".message"):
            content = {key: decoded(value) for key, value in attributes.items()}
            before.append({"role": name.split(".")[1]} | content)
        elif attributes.keys() & {*INPUTS, *OUTPUTS}:
            return below(attributes, *INPUTS), below(attributes, *OUTPUTS)
    return before or None, after or None


def _hexadecimal(value: object) -> object:
    return value.removeprefix("0x") if isinstance(value, str) else value


# ---- MLflow ----


def _of_mlflow(row: Mapping) -> Iterator[TracePart]:
    info, data = row["info"], row.get("data")
    trace = _first(info, "trace_id", "request_id")
    about = TracePart(trace)
    for one in _list(info, "assessments"):
        feedback, source = one.get("feedback"), one.get("source")
        if not isinstance(feedback, Mapping):
            about.n_expected += "expectation" in one
        elif one.get("valid") is not False and isinstance(source, Mapping):
            is_person, who = source.get("source_type") == "HUMAN", str(source.get("source_id") or "")
            name = str(one.get("assessment_name") or "feedback")
            about.assessments.append(
                Assessment(name, feedback.get("value"), is_person, who, str(one.get("rationale") or ""))
            )
    yield about
    for span in _list(data if isinstance(data, Mapping) else {}, "spans"):
        yield _of_attributes(
            span.get("attributes") if isinstance(span.get("attributes"), Mapping) else {},
            _list(span, "events"),
            trace,
            span.get("span_id"),
            _first(span, "parent_span_id", "parent_id"),
            _first(span, "start_time_unix_nano", "start_time"),
            span.get("name"),
        )


def _of_mlflow_frame(row: Mapping) -> Iterator[TracePart]:
    trace = decoded(row.get("trace"))
    if not (isinstance(trace, Mapping) and isinstance(trace.get("info"), Mapping)):
        raise BadCell("trace", row.get("trace"), "is no trace in JSON, as `search_traces` writes it")
    yield from _of_mlflow(trace)


# ---- Langfuse ----


def _of_langfuse(row: Mapping) -> Iterator[TracePart]:
    of_trace = _first(row, "traceId", "trace_id")
    session = _first(row, "sessionId", "session_id")
    more = {"name": row.get("name"), "model": row.get("model"), "session": session}
    part = TracePart(
        of_trace or row["id"],
        conversation_of(row.get("input"), row.get("output")),
        str(row.get("type", "")).lower() in CALLS,
        not _first(row, "parentObservationId", "parent_observation_id"),
        str(_first(row, "startTime", "start_time", "timestamp") or ""),
        str(row["id"]) if of_trace else "",
        {name: value for name, value in more.items() if isinstance(value, str) and value},
    )
    for one in _list(row, "scores"):
        value = one.get("stringValue") if one.get("stringValue") not in (None, "") else one.get("value")
        is_person, who = one.get("source") == "ANNOTATION", str(one.get("authorUserId") or "")
        who = who if is_person else str(one.get("source") or "API").lower()
        part.assessments.append(Assessment(str(one.get("name")), value, is_person, who, str(one.get("comment") or "")))
    yield part
    for one in _list(row, "observations"):
        yield from _of_langfuse({"traceId": row["id"], "id": ""} | one)


# ---- shapes ----


def _list(of: object, *names: str) -> list[dict]:
    """The objects of a list, also of one in a cell of a table."""
    value = decoded(_first(of, *names)) if isinstance(of, Mapping) else None
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _first(of: Mapping, *names: str) -> object:
    return next((of[name] for name in names if of.get(name) not in (None, "")), None)


def _of_page(row: Mapping) -> Iterator[TracePart]:
    for one in row["data"]:
        yield from parts_of(one)


def _has(*names: str) -> Callable[[Collection[str], Mapping], bool]:
    return lambda columns, row: all(name in columns for name in names)


def _inside(row: Mapping, name: str, *names: str) -> bool:
    return isinstance(row.get(name), Mapping) and any(one in row[name] for one in names)


# Whether columns and a row are of a shape, and its parts.
SHAPES = (
    (lambda columns, row: "resourceSpans" in columns or "resource_spans" in columns, _of_otlp),
    (lambda columns, row: _inside(row, "context", "trace_id"), _of_span),
    (_has("context.trace_id", "span_kind"), _of_frame),
    (_has("trace_id", "trace", "spans"), _of_mlflow_frame),
    (lambda columns, row: "data" in columns and _inside(row, "info", "trace_id", "request_id"), _of_mlflow),
    (
        lambda columns, row: (
            _has("id", "timestamp", "input", "output")(columns, row) and not OF_LANGFUSE.isdisjoint(columns)
        ),
        _of_langfuse,
    ),
    (_has("id", "traceId", "startTime", "input", "output"), _of_langfuse),
    (_has("id", "trace_id", "start_time", "input", "output", "type"), _of_langfuse),
    (
        lambda columns, row: (
            "data" in columns
            and isinstance(row.get("data"), list)
            and bool(row["data"])
            and all(isinstance(one, Mapping) and is_part(one.keys(), one) for one in row["data"])
        ),
        _of_page,
    ),
)


def value_words(value: object) -> tuple[str, bool]:
    """The value of an assessment as a label, and whether it is a number with a fraction; "" for NaN, lists, objects."""
    if isinstance(value, bool):
        return ("true" if value else "false"), False
    text = value.strip() if isinstance(value, str) else f"{value:.12g}" if isinstance(value, int | float) else ""
    number = number_in(text)
    if number is None and not isinstance(value, str):
        return "", False
    return text, number is not None and not float(number).is_integer()

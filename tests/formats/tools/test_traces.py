"""Exports of traces as conversations. MLflow 3.17 and OpenTelemetry 1.45 wrote their samples; that of Phoenix has
attributes that OpenInference's own helpers made."""

import json
from pathlib import Path

import pytest

from annotation.formats import FormatError, Options, SourceFile, detect, get_format
from annotation.formats.records import AnnotationRecord, ClaimRecord, LostRecord, SuggestionRecord
from annotation.task_types.label_sets import problems_of
from tests.formats.helpers import errors, of, put

SAMPLES = Path(__file__).parent / "samples"
WEATHER = (
    "[system]\nBe brief.\n\n[user]\nWhat is the weather in Bern?\n\n[tool call, get_weather]\n"
    '{"city": "Bern"}\n\n[tool result]\nSunny, 18 degrees\n\n[assistant]\nIt is **sunny** in Bern.'
)
TRACE = {"id": "t1", "timestamp": "2026-01-01T10:00:00Z", "name": "chat", "sessionId": "s1", "htmlPath": "/t1"}
SIDES = (("input", "user"), ("output", "assistant"))
ASKED = [{"role": "user", "content": "Hi?"}]


def read(source: SourceFile) -> tuple[dict, list]:
    assert detect(source.path, source.name) == "traces"
    known = get_format("traces")
    made = known.label_set_of([source], Options(), "sample")
    assert not made or problems_of(made) == []
    return made, list(known.read([source], Options(label_set=made)))


def texts(found: list) -> dict[str, str]:
    return {one.key: one.text for one in of(found, ClaimRecord)}


def lost(found: list) -> dict[str, int]:
    return {one.what: one.number for one in of(found, LostRecord)}


def lines(tmp_path, *rows: dict, name="traces.jsonl") -> SourceFile:
    return put(tmp_path, name, "".join(json.dumps(row) + "\n" for row in rows))


def text_of(tmp_path, **more) -> str:
    (text,) = texts(read(lines(tmp_path, TRACE | {"input": ASKED, "output": "Hi."} | more))[1]).values()
    return text


def test_mlflow_shows_the_longest_call_of_a_model_and_has_the_feedback_of_people_and_judges():
    made, found = read(SourceFile(SAMPLES / "traces_mlflow.jsonl"))
    plain, agent = texts(found).values()
    assert agent == WEATHER and plain == "[user]\nWhat is the capital of France?\n\n[assistant]\nParis."
    assert [one["title"] for one in made["questions"]] == ["helpful", "correct"]
    people = of(found, AnnotationRecord)
    assert {(one.rater, one.judgements[0].label, one.comment) for one in people} == {
        ("ann@example.org", "4", "because")
    }
    assert {(one.checker, one.label) for one in of(found, SuggestionRecord)} == {("judge-1", "5"), ("checker", "true")}
    assert lost(found) == {"Expected values of traces": 2}


def test_a_data_frame_of_mlflow_holds_the_same(tmp_path):
    rows = [json.loads(line) for line in (SAMPLES / "traces_mlflow.jsonl").read_text().splitlines()]
    frame = [{"trace_id": row["info"]["trace_id"], "trace": json.dumps(row), "spans": "[]"} for row in rows]
    assert read(lines(tmp_path, *frame))[1][0] == read(SourceFile(SAMPLES / "traces_mlflow.jsonl"))[1][0]


def test_opentelemetry_has_messages_in_attributes_in_events_and_under_numbered_names():
    _, found = read(SourceFile(SAMPLES / "traces_otlp.json"))
    now, events, numbered = texts(found).values()
    assert now == (
        "[system]\nBe brief.\n\n[user]\nWeather in Bern?\n\n[tool call, get_weather]\n"
        '{"city": "Bern"}\n\n[tool result]\nSunny, 18 degrees\n\n[assistant]\n'
        "(a part of the type reasoning, which is not shown)\n\n[assistant]\nIt is **sunny**."
    )
    assert events == "[user]\nHi\n\n[assistant]\nHello!" and numbered == "[user]\nOld?\n\n[assistant]\nOld."
    about = of(found, ClaimRecord)[0].metadata["trace"]
    assert (about["model"], about["session"], len(about["span_id"])) == ("gpt-x-2026", "c1", 16)
    assert lost(found) == {"Traces without messages, inputs or outputs": 1}


def test_phoenix_by_its_api_and_as_a_data_frame(tmp_path):
    _, found = read(SourceFile(SAMPLES / "traces_phoenix.json"))
    assert texts(found) == {
        "aa": "[system]\nBe brief.\n\n[user]\nWeather in Bern?\n\n"
        "[user]\n(a part of the type image, which is not shown)"
        '\n\n[tool call, get_weather]\n{"city": "Bern"}\n\n[tool result]\nSunny\n\n[assistant]\nIt is **sunny**.'
    }
    row = {"name": "x", "span_kind": "LLM", "context.span_id": "01", "context.trace_id": "aa", "parent_id": None}
    row |= {f"attributes.llm.{side}_messages": [{"message.role": who, "message.content": who}] for side, who in SIDES}
    assert texts(read(lines(tmp_path, row))[1]) == {"aa": "[user]\nuser\n\n[assistant]\nassistant"}
    cells = {key: "[{'message.role': 'user'}]" if "llm" in key else value or "" for key, value in row.items()}
    table = put(
        tmp_path, "spans.csv", "\n".join(",".join(f'"{one}"' for one in part) for part in (cells, cells.values()))
    )
    (error,) = errors(list(get_format("traces").read([table], Options(label_set={}))))
    assert "write the data frame as JSON Lines or Parquet" in error.reason


def test_langfuse_has_traces_observations_and_scores(tmp_path):
    call = {"id": "o1", "type": "GENERATION", "startTime": "2026-01-01T10:00:01Z", "parentObservationId": "o0"}
    call |= {"input": [{"role": "system", "content": "Be kind."}, *ASKED], "model": "gpt"}
    call |= {"output": {"role": "assistant", "content": "Hello."}}
    scores = [
        {"name": "quality", "value": 4, "dataType": "NUMERIC", "source": "ANNOTATION", "authorUserId": "ann"},
        {"name": "quality", "value": 5, "dataType": "NUMERIC", "source": "EVAL", "comment": "Kind."},
        {"name": "tone", "value": 0, "stringValue": "warm", "dataType": "CATEGORICAL", "source": "API"},
    ]
    trace = TRACE | {"input": "Hi?", "output": "Hello.", "observations": [call], "scores": scores}
    made, found = read(put(tmp_path, "page.json", json.dumps({"data": [trace], "meta": {"page": 1}})))
    assert texts(found) == {"t1": "[system]\nBe kind.\n\n[user]\nHi?\n\n[assistant]\nHello."}
    assert {one["title"] for one in made["questions"]} == {"quality", "tone"}
    assert [(one.rater, one.judgements[0].label) for one in of(found, AnnotationRecord)] == [("ann", "4")]
    assert {(one.checker, one.label, one.explanation) for one in of(found, SuggestionRecord)} == {
        ("eval", "5", "Kind."),
        ("api", "warm", ""),
    }
    observation = call | {"traceId": "t1"}
    rows = observation, observation | {"id": "o2", "startTime": "2026-01-01T10:00:02Z", "output": "Other."}
    _, found = read(lines(tmp_path, *rows))
    assert texts(found)["t1"].endswith("[assistant]\nOther.")
    assert lost(found) == {"Calls of models, next to the longest one of their trace": 1}


def test_what_langchain_and_others_write_are_turns(tmp_path):
    both = [
        {"type": "human", "content": "Hi?"},
        {"type": "ai", "content": "", "tool_calls": [{"name": "f", "args": {}}]},
    ]
    state = {"input": {"messages": both[:1]}, "output": {"messages": both}}  # the output repeats the input
    assert text_of(tmp_path, **state) == "[user]\nHi?\n\n[tool call, f]\n{}"
    said = {"type": "ai", "content": "Hello."}
    kept = {"id": ["langchain", "schema", "HumanMessage"], "kwargs": {"content": "Hi?"}}
    assert text_of(tmp_path, input=[[kept]], output={"generations": [[{"text": "x", "message": said}]]}) == (
        "[user]\nHi?\n\n[assistant]\nHello."
    )
    assert text_of(tmp_path, input={"question": "Hi?"}, output={"a": 1, "b": 2}).endswith(
        '[assistant]\n{"a": 1, "b": 2}'
    )
    answer = {
        "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes."}]}]
    }
    asked = {"instructions": "Be kind.", "input": ASKED}
    assert text_of(tmp_path, input=asked, output=answer) == "[system]\nBe kind.\n\n[user]\nHi?\n\n[assistant]\nYes."


def test_what_cannot_be_a_conversation_is_named(tmp_path):
    _, found = read(lines(tmp_path, TRACE | {"input": [*ASKED, {"content": "no role"}], "output": None}))
    (error,) = errors(found)
    assert (error.line, error.column) == (1, "messages of t1")
    assert "Turn 2 has no role with a content; it has content" in error.reason
    good = TRACE | {
        "input": ASKED,
        "output": "Hi.",
        "scores": [{"name": "n", "value": [1]}, {"name": "n", "value": None}],
    }
    assert lost(read(lines(tmp_path, good))[1]) == {"Values that are neither labels nor numbers (n)": 2}
    _, found = read(lines(tmp_path, TRACE | {"input": ASKED, "output": None, "id": " "}, good, {"resourceSpans": "x"}))
    assert "is empty" in errors(found)[0].reason and len(texts(found)) == 1
    with pytest.raises(FormatError, match="holds no trace"):
        list(get_format("traces").read([lines(tmp_path, {"resourceSpans": []})], Options(label_set={})))
    reasons = errors(list(get_format("traces").read([lines(tmp_path, good, {"x": 1})], Options(label_set={}))))
    assert reasons[0].reason == "is neither a trace nor a span of the tools that are known"


def test_json_in_json_cannot_bring_in_what_no_database_stores_or_nest_without_end(tmp_path):
    hostile = json.dumps([{"role": "user", "content": "a\0b"}])
    assert text_of(tmp_path, input=hostile) == f"[user]\n{hostile}\n\n[assistant]\nHi."
    deep = "[" * 900 + "]" * 900
    assert text_of(tmp_path, input=deep) == f"[user]\n{deep}\n\n[assistant]\nHi."
    attributes = {"llm.input_messages." + "0." * 5000 + "message.role": "user", "input.value": "x"}
    span = {"name": "x", "context": {"trace_id": "a", "span_id": "b"}, "attributes": attributes}
    assert len(of(read(lines(tmp_path, span))[1], ClaimRecord)) == 1


def test_two_thousand_turns_are_one_conversation(tmp_path):
    turns = [{"role": ("user", "assistant")[n % 2], "content": f"Turn {n}"} for n in range(2000)]
    assert text_of(tmp_path, input=turns[:-1], output=turns[-1]).count("\n\n[") == 1999


def test_a_span_without_a_trace_leaves_the_others_of_its_file(tmp_path):
    said = [
        {"key": "gen_ai.prompt.0.role", "value": {"stringValue": "user"}},
        {"key": "gen_ai.prompt.0.content", "value": {"stringValue": "Hi?"}},
    ]
    spans = [{"traceId": trace, "spanId": "1", "attributes": said} for trace in ("", "a" * 501, "", "t1")]
    _, found = read(lines(tmp_path, {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
    assert len(texts(found)) == 1
    assert ["is empty" in one.reason or "501 characters" in one.reason for one in errors(found)] == [True, True]

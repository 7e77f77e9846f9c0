"""Proposals of a language model: triplets, atomic claims and sub-sentences of an answer, aspects of a question.

The model must answer with JSON of a schema that the server holds it to (structured outputs), and what comes is read
strictly all the same: whatever is not exactly of that form, refused or cut off is a failure with its reason, never a
shorter list. An empty list is an answer: there is nothing to extract. Pieces with an empty part are left out, as in
RefChecker (an answer of nothing else is malformed), and so are repetitions. Pieces of an answer come with the sentence
that states them; where it stands in the text, word by word, is where the piece is from. Worked examples, where some are
given, are shown before the text as exchanges that have been.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..contracts import CheckerInfo, InputError, ParameterError, ParameterInfo, Usage
from ..inputs import check_text
from ..llm import prompts
from ..llm.answers import json_options, object_schema, read_json
from ..llm.asking import Exchange, RequestOutcome, Server, keeping
from ..llm.estimating import BYTES_PER_TOKEN, tokens_of
from ..llm.parameters import ENDPOINT, FORMAT_PROMPT, PATIENCE
from ..packages import OPENAI, SPACY
from ..provenance import provenance
from ..texts.quoting import find_quote
from . import examples
from .contracts import PARTS, Extraction, ExtractionInput, Piece
from .reading import distinct, failed_extraction, read_source

FROM = "from"
# Characters of the sentence that a piece comes from; a longer one is looked for by its beginning.
FROM_LENGTH = 400
# Less room than this for the answer is not worth asking for.
LEAST_TOKENS = 200
# About what is written: of an answer's sentence two pieces, each with the sentence; of a question ten aspects.
WRITTEN_PER_TEXT = 3
TOKENS_OF_ASPECTS = 120


INFO = CheckerInfo(
    slug="llm-extractor",
    version="1",
    kind="llm",
    title="Language model",
    summary="Asks a language model on a server of this site's choice for triplets, claims or aspects.",
    roles=tuple(PARTS),
    needs="server",
    packages=(OPENAI, SPACY),
    gives="pieces",
    parameters=(
        ENDPOINT,
        ParameterInfo("most", "Maximum pieces per text", "int", 40, 1, 200, hint="ICAT uses 10 aspects."),
        FORMAT_PROMPT,
        ParameterInfo(
            "examples",
            "Worked examples",
            examples.KIND,
            "",
            hint='Shown to the model before each text. JSON: [{"question": "…", "text": "…", "pieces": [{"head": "…", '
            '"relation": "…", "tail": "…"}]}]; claims, sub-sentences and aspects have the part "text" alone.',
        ),
        ParameterInfo(
            "max_tokens",
            "Maximum tokens per answer",
            "int",
            4096,
            16,
            32_768,
            hint="Reduced where the context window has less room. A truncated answer fails.",
        ),
        *PATIENCE,
    ),
)


@dataclass(frozen=True, slots=True)
class Form:
    """What is asked for: the prompt's file, the name of the list in the answer, and characters of a part at most."""

    prompt: str
    name: str
    length: int
    has_from: bool = True


FORMS = {
    "triplet": Form("extract-triplets", "triplets", 200),
    "atomic_claim": Form("extract-claims", "claims", 500),
    "sub_sentence": Form("extract-sub-sentences", "sub_sentences", 500),
    "aspect": Form("extract-aspects", "aspects", 200, has_from=False),
}


class LlmExtractor:
    def __init__(self, info: CheckerInfo, kind: str, parameters: dict[str, Any]) -> None:
        self.info, self.kind, self.parameters, self.form = info, kind, parameters, FORMS[kind]
        self.server = Server.of(parameters)
        own = parameters["prompt"].strip()
        self.prompt = prompts.own(own, "$format") if own else prompts.shipped(self.form.prompt)
        fields = ", ".join(f'"{name}": "\u2026"' for name in self._fields())
        self.instructions = self.prompt.with_values(
            format=f'{{"{self.form.name}": [{{{fields}}}]}}', most=parameters["most"]
        )
        self.examples = [
            message
            for number, one in enumerate(examples.read_examples(parameters["examples"]), 1)
            for message in self._shown(one, number)
        ]
        self.slice_at_least = self.server.slice_at_least

    def _shown(self, one: examples.WorkedExample, number: int) -> prompts.Messages:
        """An example as it would have been asked and answered; ParameterError where its pieces are not of the kind."""
        try:
            rows = [({FROM: one.text} if self.form.has_from else {}) | piece for piece in one.pieces]
            read_pieces({self.form.name: rows}, self.kind, one.text, self.parameters["most"])
        except InputError as error:
            raise ParameterError(examples.KIND, f"number {number}: {error.message}") from None
        found = json.dumps({self.form.name: rows}, ensure_ascii=False)
        return [
            {"role": "user", "content": self._message(one.question, one.text)},
            {"role": "assistant", "content": found},
        ]

    def describe(self) -> dict[str, Any]:
        """Asks the server what it serves now."""
        return provenance(
            self.info,
            self.parameters,
            self.server.describe(),
            kind=self.kind,
            prompts={self.kind: [self.prompt.described()]},
        )

    def extract(self, sources: Sequence[ExtractionInput]) -> list[Extraction]:
        """UnavailableError where the server is away for longer than the parameter `wait_seconds`."""
        found: list[Extraction | None] = [None] * len(sources)
        texts: dict[int, tuple[str, str]] = {}
        for place, source in enumerate(sources):
            try:
                read = read_source(source, self.kind)
            except InputError as error:
                found[place] = failed_extraction(source, error)
                continue
            if read is None:
                found[place] = Extraction(source.id)
            else:
                texts[place] = read
        asked = list(texts)
        with keeping(lambda done: [_extraction(sources[asked[n]], outcome) for n, outcome in done.items()]):
            outcomes = self.server.ask_each(list(texts.values()), self._ask)
        for place, outcome in zip(texts, outcomes, strict=True):
            found[place] = _extraction(sources[place], outcome)
        return [one for one in found if one is not None]

    def _ask(self, read: tuple[str, str], exchange: Exchange) -> tuple[Piece, ...]:
        messages, text = self._messages(read), read[1]
        room = self.parameters["max_tokens"]
        while True:
            exchange.prompts, exchange.outputs = [], []
            try:
                body = exchange.ask(messages, **json_options(self.form.name, self._schema(exchange.is_vllm), room))
            except InputError as error:
                # The answer's room counts as well, and servers refuse what might not fit before they write anything.
                if error.reason != "context-too-long" or room // 4 < LEAST_TOKENS:
                    raise
                room //= 4
                continue
            return read_pieces(read_json(body, room), self.kind, text, self.parameters["most"])

    def _messages(self, read: tuple[str, str]) -> prompts.Messages:
        system, asked = prompts.both(self.instructions, self._message(*read))
        return [system, *self.examples, asked]

    def _message(self, question: str, text: str) -> str:
        named = [("question", question)] if question.strip() else []
        named += [("answer", text)] if text.strip() else []
        what = self.form.name.replace("_", "-")
        return prompts.texts_before(named, f"The {what}, in the JSON form that is asked for:")

    def estimated_usage(self, sources: Sequence[ExtractionInput]) -> Usage:
        """About how many tokens the requests take, without asking the server. What cannot be asked costs nothing."""
        found = Usage()
        for source in sources:
            try:
                read = read_source(source, self.kind)
            except InputError:
                continue
            if read is not None:
                text = WRITTEN_PER_TEXT * len(read[1].encode()) // BYTES_PER_TOKEN
                written = min(self.parameters["max_tokens"], text if self.form.has_from else TOKENS_OF_ASPECTS)
                found += Usage(tokens_of(self._messages(read)), written)
        return found

    def _fields(self) -> tuple[str, ...]:
        """Of one piece, in the order in which the model is to write them: what it rests on comes first."""
        return (*([FROM] if self.form.has_from else []), *PARTS[self.kind])

    def _schema(self, is_vllm: bool) -> dict[str, Any]:
        """vLLM takes a limit of a text's length; others refuse a schema with one."""
        lengths = {FROM: FROM_LENGTH} | dict.fromkeys(PARTS[self.kind], self.form.length)
        bound = {name: {"minLength": 1, "maxLength": lengths[name]} if is_vllm else {} for name in lengths}
        piece = object_schema({name: {"type": "string"} | bound[name] for name in self._fields()})
        return object_schema({self.form.name: {"type": "array", "items": piece, "maxItems": self.parameters["most"]}})


def _extraction(source: ExtractionInput, outcome: RequestOutcome[tuple[Piece, ...]]) -> Extraction:
    error = failed_extraction(source, outcome.error).error if outcome.error else None
    return Extraction(source.id, outcome.result or (), error, outcome.usage, outcome.trace)


def read_pieces(found: Any, kind: str, text: str, most: int) -> tuple[Piece, ...]:
    """The pieces in an answer of the form of this kind about `text`. InputError where it is of any other form."""
    form = FORMS[kind]
    rows = found[form.name] if isinstance(found, dict) and set(found) == {form.name} else None
    if not isinstance(rows, list):
        raise InputError("malformed", f"the answer is not an object with a list of {form.name}")
    if len(rows) > most:
        raise InputError("malformed", f"the answer has {len(rows)} {form.name}, and {most} were asked for at most")
    pieces = [_piece(row, kind, text, number) for number, row in enumerate(rows, 1)]
    whole = [piece for piece in pieces if all(piece.parts.values())]
    if pieces and not whole:
        raise InputError("malformed", f"every one of the {form.name} in the answer has an empty part")
    return tuple(distinct(whole))


def _piece(row: Any, kind: str, text: str, number: int) -> Piece:
    form, names = FORMS[kind], PARTS[kind]
    wanted = {*names, FROM} if form.has_from else {*names}
    if not isinstance(row, dict) or set(row) != wanted or not all(isinstance(value, str) for value in row.values()):
        raise InputError(
            "malformed", f"number {number} of the {form.name} in the answer lacks a part or is not an object"
        )
    try:
        parts = {name: check_text(name, row[name]).strip() for name in names}
    except InputError as error:
        raise InputError("malformed", f"number {number} of the {form.name}: {error.message}") from None
    if any(len(part) > form.length for part in parts.values()):
        raise InputError("malformed", f"number {number} of the {form.name} has a part of over {form.length} characters")
    start, end = _place(text, [row.get(FROM, ""), " ".join(parts.values())]) or (None, None)
    return Piece(parts, start, end)


def _place(text: str, quotes: Sequence[str]) -> tuple[int, int] | None:
    """Where the first of `quotes` that stands in the text does, in code points; white space may differ."""
    return next((found for quote in quotes if (found := find_quote(text, quote[:FROM_LENGTH]))), None)


def estimated_usage(sources: Sequence[ExtractionInput], kind: str, parameters: dict[str, Any]) -> Usage:
    return LlmExtractor(INFO, kind, parameters).estimated_usage(sources)


build = LlmExtractor

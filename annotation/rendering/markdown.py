"""Markdown with the place of each character: the parsers of markdown-it say where they are when they make a token."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.parser_block import ParserBlock
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline, image
from markdown_it.token import Token

from annotation.rendering import formulas
from annotation.rendering.runs import N_, CannotRender, RunWriter

MOST_NESTED = 40  # levels of the parser
# In each other. A list and its entry are a level each, and so are the paragraph and the words in the innermost one.
MOST_LISTS = MOST_NESTED // 2 - 2
MOST_BRACKETS = 5_000  # looking for the ends of links takes long with more
MOST_TOKENS = 30_000
MOST_MATHS = 20_000  # characters of formulas; what comes after these is shown as its source
# What people write for the sake of Markdown alone, and a line of a list; plain texts often have one such line.
WRITTEN = re.compile(
    r"^ {0,3}#{1,6} +\S|\*\*\S[^*\n]*\*\*|^ {0,3}(?:```|~~~)|^ *\|? *:?-{3,}:? *\||\[[^\[\]\n]{1,200}\]\(\S+\)",
    re.MULTILINE,
)
LISTED = re.compile(r"^ {0,3}(?:[-*+]|\d{1,3}[.)]) +\S", re.MULTILINE)
BLOCKS = {"blockquote", "bullet_list", "list_item", "ordered_list", "paragraph"}
TABLES = {"table", "tbody", "td", "th", "thead", "tr"}
INLINE = {"em": "em", "strong": "strong", "s": "del"}


class PlacedInline(StateInline):
    """Each token's `meta` says where in the inline source it begins."""

    def __init__(self, *args):
        super().__init__(*args)
        self._pending_at = 0

    def append_pending(self, text: str) -> None:
        if not self.pending:
            self._pending_at = self.pos
        super().append_pending(text)

    def pushPending(self) -> Token:
        token = super().pushPending()
        token.meta = {"at": self._pending_at, "from": -1}
        return token

    def push(self, *args) -> Token:
        token = super().push(*args)
        # Rules that make several tokens move on only after the last.
        before = self.tokens[-2] if len(self.tokens) > 1 else None
        is_next = before is not None and before.meta.get("from") == self.pos
        at = before.meta["at"] + len(before.content) if is_next else self.pos
        token.meta = {"at": at, "from": self.pos}
        return token


class InlineParser(ParserInline):
    def parse(self, src, md, env, tokens):
        state = PlacedInline(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


def placed_image(state: StateInline, silent: bool) -> bool:
    """An image whose `meta` says where it ends."""
    found = image(state, silent)
    if found and not silent:
        state.tokens[-1].meta["end"] = state.pos
    return found


class PlacedBlock(StateBlock):
    """Each row of a table says where its cells begin, after the marks of quotes and lists around it."""

    row: Token | None = None

    def push(self, ttype: str, tag: str, nesting: int) -> Token:
        token = super().push(ttype, tag, nesting)
        if ttype == "tr_open":
            self.row = token
        elif ttype in ("th_open", "td_open") and not self.row.meta:
            line = self.row.map[0]
            self.row.meta = {"at": self.bMarks[line] + self.tShift[line], "end": self.eMarks[line]}
        return token


class BlockParser(ParserBlock):
    def parse(self, src, md, env, outTokens):
        if not src:
            return None
        state = PlacedBlock(src, md, env, outTokens)
        self.tokenize(state, state.line, state.lineMax)
        return state.tokens


def _parser() -> MarkdownIt:
    made = MarkdownIt()
    made.block, made.inline = BlockParser(), InlineParser()
    made.configure("commonmark").enable(["table", "strikethrough"]).disable(["text_join", "fragments_join"])
    made.inline.ruler.at("image", placed_image)
    formulas.enable(made)
    made.options.update(html=False, maxNesting=MOST_NESTED)
    return made


parser = _parser()


def is_written(text: str) -> bool:
    """Whether a text looks like Markdown: a guess."""
    return WRITTEN.search(text) is not None or len(LISTED.findall(text)) > 1


@dataclass
class PlacedLines:
    """PlacedLines of a text as the parser sees them, each with the place where it begins in the source."""

    source: str
    start: int
    end: int
    lines: list[str] = field(default_factory=list)
    at: list[int] = field(default_factory=list)

    def __post_init__(self):
        place = self.start
        for found in re.finditer(r"([^\r\n]*)(\r\n?|\n|\Z)", self.source[self.start : self.end]):
            self.lines.append(found[1])
            self.at.append(place + found.start())

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def suffix(self, number: int, content: str) -> list[int]:
        """Places of a line's last characters: marks of quotes and lists before them are cut off, and a tab may have
        become spaces."""
        line = self.lines[number]
        most = min(len(line), len(content))
        same = next((count for count in range(most) if line[-1 - count] != content[-1 - count]), most)
        first = self.at[number] + len(line) - same
        return [-1] * (len(content) - same) + list(range(first, first + same))

    def end_of(self, number: int) -> int:
        return self.at[number] + len(self.lines[number])


def render(page: RunWriter, start: int = 0, end: int | None = None) -> None:
    """Writes the Markdown that stands in the page's source from `start` to `end`."""
    lines = PlacedLines(page.source, start, len(page.source) if end is None else end)
    if lines.text.count("[") > MOST_BRACKETS:
        raise CannotRender(N_("it has more than {n} square brackets"), MOST_BRACKETS)
    tokens = parser.parse(lines.text)
    if any(token.level >= MOST_NESTED - 1 for token in tokens):
        raise CannotRender(N_("its lists and quotes are nested more than {n} deep"), MOST_LISTS)
    if len(tokens) > MOST_TOKENS:
        raise CannotRender(N_("it has more than {n} paragraphs and cells"), MOST_TOKENS // 3)
    _Writer(page, lines).blocks(tokens)


class _Writer:
    def __init__(self, page: RunWriter, lines: PlacedLines):
        self.page, self.lines = page, lines
        self.cells: list[list[int]] | None = None  # of the row that is being written
        self.links: list[bool] = []
        self.maths = 0

    def blocks(self, tokens: list[Token]) -> None:
        heading = ""
        for token in tokens:
            kind = token.type.removesuffix("_open").removesuffix("_close")
            if token.type == "inline":
                self.inline(token, self.places_of(token, heading))
            elif token.type in ("fence", "code_block"):
                self.code(token)
            elif token.type == "formula_block":
                self.formula_block(token)
            elif token.type == "hr":
                self.page.tag("hr")
            elif kind == "heading":
                heading = token.markup if token.nesting > 0 else ""
                self.block(token, f"h{min(int(token.tag[1]) + 2, 6)}")
            elif kind in BLOCKS | TABLES and not token.hidden:
                self.block(token, token.tag)
            if kind == "tr":
                self.cells = self.cells_of(token) if token.nesting > 0 else None

    def block(self, token: Token, tag: str) -> None:
        if token.nesting < 0:
            return self.page.end(tag)
        more = {"start": str(token.attrs["start"])} if "start" in token.attrs else {}
        if style := str(token.attrs.get("style", "")):
            more["class_"] = "to-" + style.removeprefix("text-align:")
        return self.page.tag(tag, **more, dir="auto")

    def code(self, token: Token) -> None:
        """PlacedLines as they are, without the fence."""
        self.page.tag("pre", dir="ltr")
        self.page.tag("code")
        number = token.map[0] + (token.type == "fence")
        written = token.content.removesuffix("\n").split("\n") if token.content else []
        for index, line in enumerate(written, number):
            self.page.places(self.lines.suffix(index, line), line)
            if index + 1 < number + len(written):
                self.page.run(self.lines.end_of(index), self.lines.at[index + 1])
        self.page.end("code")
        self.page.end("pre")

    def formula_block(self, token: Token) -> None:
        first, last = token.map[0], token.map[1] - 1
        start = self.lines.at[first] + self.lines.lines[first].index(token.markup)
        self.page.tag("p", dir="ltr")
        self.formula(token, start, self.lines.at[last] + len(self.lines.lines[last].rstrip()))
        self.page.end("p")

    def formula(self, token: Token, start: int, end: int) -> None:
        """One unit, or as it is written."""
        self.maths += len(token.content)
        shown = formulas.mathml(token.content, token.markup in formulas.SET_APART) if self.maths < MOST_MATHS else ""
        if shown:
            self.page.whole(start, end, shown)
        else:
            self.page.run(start, end)

    # ---- where the text of a block stands ----

    def places_of(self, token: Token, heading: str) -> list[int]:
        """The place of each character of an inline token's content."""
        first, content = token.map[0], token.content
        if self.cells is not None:
            found = self.cells.pop(0) if self.cells else []
        elif heading.startswith("#"):
            line = self.lines.lines[first]
            at = self.lines.at[first] + line.index(content, line.index(heading) + len(heading))
            found = list(range(at, at + len(content)))
        else:
            # The parser cuts off white space, and so lines that have nothing else.
            tries = (self.of_lines(number, content) for number in range(*token.map))
            found = next((places for places in tries if -1 not in places), self.of_lines(first, content))
        if len(found) != len(content):
            raise CannotRender(N_("the places of its words could not be found"))
        return found

    def of_lines(self, first: int, content: str) -> list[int]:
        """Where a paragraph stands that begins on a line, as far as its characters are the lines' last ones."""
        found: list[int] = []
        *written, final = content.split("\n")
        last = first + len(written)
        if last >= len(self.lines.lines):
            return [-1] * len(content)
        for number, part in enumerate(written, first):
            found += [*self.lines.suffix(number, part), self.lines.end_of(number)]
        line = self.lines.lines[last]
        return found + self.lines.suffix(last, final + line[len(line.rstrip()) :])[: len(final)]

    def cells_of(self, row: Token) -> list[list[int]]:
        """Places of the text of each cell, divided as the parser divides a row."""
        number = row.map[0]
        line = self.lines.lines[number]
        # The parser's lines end alike, wherever the source's begin.
        begin = len(line) - (row.meta["end"] - row.meta["at"])
        end = len(line.rstrip(" \t"))
        cells: list[list[int]] = [[]]
        is_escaped = False
        for column in range(begin, end):
            if line[column] == "|" and not is_escaped:
                cells.append([])
            else:
                if line[column] == "|":
                    cells[-1].pop()
                cells[-1].append(column)
            is_escaped = line[column] == "\\"
        for edge in (0, -1):
            if cells and not cells[edge]:
                cells.pop(edge)
        return [[self.lines.at[number] + column for column in self._trimmed(cell, line)] for cell in cells]

    @staticmethod
    def _trimmed(cell: list[int], line: str) -> list[int]:
        while cell and line[cell[0]] in " \t":
            cell = cell[1:]
        while cell and line[cell[-1]] in " \t":
            cell = cell[:-1]
        return cell

    # ---- within a block ----

    def inline(self, token: Token, places: list[int]) -> None:
        for child in token.children or ():
            at, text = child.meta["at"], child.content
            kind = child.type.removesuffix("_open").removesuffix("_close")
            if child.type == "text":
                if token.content[at : at + len(text)] == text:
                    self.page.places(places[at : at + len(text)], text)
                else:  # the address of <https://...>, without the escapes
                    end = token.content.index(">", at)
                    self.page.run(places[at + 1], places[end - 1] + 1, text)
            elif child.type == "text_special":
                self.page.run(places[at], places[at + len(child.markup) - 1] + 1, text)
            elif child.type == "code_inline":
                begin = at + len(child.markup)
                begin += token.content[begin : begin + len(text)].replace("\n", " ") != text
                self.page.tag("code", dir="auto")
                self.page.places(places[begin : begin + len(text)], text)
                self.page.end("code")
            elif child.type in ("softbreak", "hardbreak"):
                at += child.type == "hardbreak" and token.content[at] == "\\"
                self.page.places(places[at : at + 1], "\n")
                if child.type == "hardbreak":
                    self.page.tag("br")
            elif child.type == "image":
                # Nothing is fetched: what stands in the source has both the description and the address.
                end = child.meta["end"]
                self.page.tag("span", class_="image")
                self.page.places(places[at:end], token.content[at:end])
                self.page.end("span")
            elif child.type == "formula":
                self.formula(child, places[at], places[child.meta["end"] - 1] + 1)
            elif kind == "link":
                self.link(child)
            elif kind in INLINE:
                (self.page.tag if child.nesting > 0 else self.page.end)(INLINE[kind])

    def link(self, child: Token) -> None:
        if child.nesting > 0:
            self.links.append(self.page.link(str(child.attrs["href"])))
        elif self.links.pop():
            self.page.end("a")

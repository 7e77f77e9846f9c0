"""Formulas in Markdown as MathML: `$...$` and `\\(...\\)` within a line, `$$...$$` and `\\[...\\]` set apart.

A formula is one unit for highlights. latex2mathml makes the elements, and does not escape all that a formula says, such
as tags in `\\text`. So only the elements and attributes that are named here are written; they run, load and style
nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape, unescape
from xml.etree.ElementTree import Element

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

MOST_CHARACTERS = 1_000  # of a formula
MOST_NESTED = 25
KEPT = 1_024
CLOSINGS = {"$$": "$$", "$": "$", "\\[": "\\]", "\\(": "\\)"}
SET_APART = ("$$", "\\[")
# Definitions could grow without bound, and the addresses and styles of others are not wanted.
REFUSED = re.compile(r"\\(?:def|newcommand|renewcommand|newenvironment|DeclareMathOperator|href|style|class|rule)\b")
# fmt: off
ELEMENTS = {
    "math", "menclose", "mfenced", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded", "mphantom",
    "mprescripts", "mroot", "mrow", "ms", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd",
    "mtext", "mtr", "munder", "munderover", "none",
}
ATTRIBUTES = {
    "accent", "columnalign", "columnlines", "columnspacing", "display", "displaystyle", "fence", "form",
    "linethickness", "lspace", "mathvariant", "maxsize", "minsize", "movablelimits", "notation", "rowlines",
    "rowspacing", "rspace",
    "scriptlevel", "separator", "stretchy", "symmetric",
}
# fmt: on


def inline_formula(state: StateInline, silent: bool) -> bool:
    opening = next((one for one in CLOSINGS if state.src.startswith(one, state.pos)), "")
    begin = state.pos + len(opening)
    end = state.src.find(CLOSINGS[opening], begin, begin + MOST_CHARACTERS) if opening else -1
    if end < 0 or not state.src[begin:end].strip() or (opening == "$" and _is_money(state.src, begin, end)):
        return False
    if not silent:
        token = state.push("formula", "math", 0)
        token.content, token.markup = state.src[begin:end], opening
        token.meta["end"] = end + len(opening)
    state.pos = end + len(opening)
    return True


def _is_money(source: str, begin: int, end: int) -> bool:
    """Whether dollars stand there, such as in "$5 and $10"."""
    return source[begin].isspace() or source[end - 1] in " \t\n\\" or source[end + 1 : end + 2].isdigit()


def block_formula(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    """A formula over several lines, in which lines may look like lists or quotes."""
    if state.is_code_block(first):
        return False
    lines = [_line(state, first)]
    opening = lines[0][:2]
    if opening not in SET_APART or CLOSINGS[opening] in lines[0][2:]:
        return False
    for number in range(first + 1, end):
        lines.append(_line(state, number))
        if not lines[-1] or state.sCount[number] < state.blkIndent or sum(map(len, lines)) > MOST_CHARACTERS:
            return False
        if lines[-1].endswith(CLOSINGS[opening]):
            if not silent:
                token = state.push("formula_block", "math", 0)
                token.content, token.markup, token.map = "\n".join(lines)[2:-2], opening, [first, number + 1]
                state.line = number + 1
            return True
    return False


def _line(state: StateBlock, number: int) -> str:
    return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]].rstrip()


def enable(parser: MarkdownIt) -> None:
    parser.inline.ruler.before("escape", "formula", inline_formula)
    alternatives = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    parser.block.ruler.before("fence", "formula_block", block_formula, alternatives)


@lru_cache(maxsize=KEPT)
def mathml(formula: str, is_set_apart: bool) -> str:
    """The formula as HTML that is safe to show; "" where it is better shown as it is written."""
    if len(formula) > MOST_CHARACTERS or REFUSED.search(formula) or _depth(formula) > MOST_NESTED:
        return ""
    from latex2mathml.converter import convert_to_element  # takes long, and few texts have formulas

    try:
        return _written(convert_to_element(formula, display="block" if is_set_apart else "inline"))
    except Exception:  # of many kinds, from a formula that is none
        return ""


def _depth(formula: str) -> int:
    depth = deepest = 0
    for found in re.finditer(r"\\(?:left|begin)\b|\\(?:right|end)\b|[{}]|[\^_]", formula):
        depth += -1 if found[0] in ("}", "\\right", "\\end") else found[0] not in "^_"
        deepest = max(deepest, depth)
    return deepest


def _written(element: Element) -> str:
    if element.tag not in ELEMENTS:
        raise ValueError(element.tag)
    more = "".join(f' {name}="{escape(value)}"' for name, value in element.attrib.items() if name in ATTRIBUTES)
    inside = escape(unescape(element.text or "")) + "".join(map(_written, element))
    return f"<{element.tag}{more}>{inside}</{element.tag}>"

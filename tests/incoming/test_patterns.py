"""Every regular expression of the product takes a time in proportion to the text, whatever the text is.

The patterns are found by walking the code: those of its calls of `re`, and those of the scripts in static/, which this
reads as Python does. Each meets hostile texts made of its own parts, in the way in
which the code asks it (`search` tries every start, which `fullmatch` does not).
"""

import ast
import re
import signal
import time
from collections import defaultdict
from itertools import product
from pathlib import Path
from re import _constants as codes
from re import _parser

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("annotation", "analysis", "config", "models_runtime")
WAYS = ("match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")
SMALL, LARGE = 10_000, 100_000
MOST_TIMES = 40  # from 10,000 characters to ten times as many: linear is 10, quadratic is 100
LEAST_SECONDS = 0.002  # less cannot be told from nothing; what is quadratic from there on takes 0.2 s at 100 kB
STUCK_SECONDS = 0.25  # of processor time on 10,000 characters: linear ones take a hundredth of it
ATOMS = 6
FLAGS = ("I", "IGNORECASE", "M", "MULTILINE", "S", "DOTALL", "A", "ASCII")
WORST = 3  # texts of each pattern, by their time, that are tried at full length


def patterns_of_python():
    """(pattern, flags) -> the ways in which the code asks it."""
    texts = (path.read_text("utf-8") for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    signs = ["re.compile(", "re.split(", "Regex", "re_path(", *(f".{way}(" for way in WAYS if way != "split")]
    trees = [ast.parse(text) for text in texts if any(sign in text for sign in signs)]
    asked = defaultdict(set)
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in WAYS and isinstance(node.value, ast.Name):
                asked[node.value.id].add(node.attr)
    found = defaultdict(set)
    for tree in trees:
        known, names = constants_of(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.args and (way := way_of(node)):
                text = text_of(node.args[0], known)
                if isinstance(text, str):
                    flags = flags_of(node)
                    found[text, flags] |= {way} if way in WAYS else asked[names.get(node, "")] or {"search"}
    return found


def way_of(call: ast.Call) -> str:
    """`match` of `re.match(…)` and its like; "" for a call that takes no pattern."""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and call.func.value.id == "re":
        return name if name in (*WAYS, "compile") else ""
    return "search" if name in ("RegexField", "RegexValidator", "re_path") else ""


def constants_of(tree: ast.Module) -> tuple[dict, dict]:
    """The values that names of a module stand for, as far as they are written out; and the name of each call that makes
    a pattern."""
    known, names = {}, {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            names |= {call: name for call in ast.walk(node) if isinstance(call, ast.Call)}
            value = text_of(node.value, known, unknown=None)
            if value is not None:
                known[name] = value
    return known, names


def text_of(node: ast.expr, known: dict, unknown: object = "x"):
    """What an expression stands for; texts that are made when the code runs are an x."""
    if isinstance(node, ast.Constant):
        return node.value.decode("latin-1") if isinstance(node.value, bytes) else node.value
    if isinstance(node, ast.JoinedStr):
        parts = (one.value if isinstance(one, ast.FormattedValue) else one for one in node.values)
        return "".join(str(text_of(part, known)) for part in parts)
    if isinstance(node, ast.Name):
        return known.get(node.id, unknown)
    if isinstance(node, ast.BinOp):
        left, right = text_of(node.left, known, unknown), text_of(node.right, known, unknown)
        if isinstance(node.op, ast.Add) and isinstance(left, str) and isinstance(right, str):
            return left + right
        if isinstance(node.op, ast.Sub) and isinstance(left, int) and isinstance(right, int):
            return left - right
    return unknown


def flags_of(call: ast.Call) -> int:
    named = [one.attr for one in ast.walk(call) if isinstance(one, ast.Attribute) and one.attr in FLAGS]
    return sum({getattr(re, name) for name in named})


_CLASS, _ESCAPE = r"\[(?:[^\]\\\n]|\\.)*\]", r"\\."
OF_SCRIPTS = re.compile(
    rf"(?<=[(=,?:&|! ])/((?:[^/\\\n\[ ]|{_ESCAPE}|{_CLASS})(?:[^/\\\n\[]|{_ESCAPE}|{_CLASS})*)/[gimsuy]*(?=[.,;) ])"
)


def patterns_of_scripts():
    for path in sorted((ROOT / "static/js").rglob("*.js")):
        for written in OF_SCRIPTS.findall(path.read_text("utf-8")):
            plain = written.replace(r"\P{", r"\p{^").replace(r"\ud800-\udbff", r"\U00010000-\U0010ffff")
            plain = re.sub(r"\\p\{(\^?)\w+\}", lambda found: r"\W" if found[1] else r"\w", plain)
            yield path.name, plain


def atoms_of(parsed) -> list[str]:
    """Characters and words that the pattern's parts look for, and what they do not."""
    found: dict[str, None] = {}
    word = ""
    for code, argument in parsed:
        if code is codes.LITERAL:
            word += chr(argument)
            found[chr(argument)] = None
            continue
        if word:
            found[word], word = None, ""
        if code is codes.IN:
            found[character_in(argument)] = None
        elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            found |= dict.fromkeys(atoms_of(argument[2]))
        elif code is codes.SUBPATTERN:
            found |= dict.fromkeys(atoms_of(argument[-1]))
        elif code is codes.ATOMIC_GROUP:
            found |= dict.fromkeys(atoms_of(argument))
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            found |= dict.fromkeys(atoms_of(argument[1]))
        elif code is codes.BRANCH:
            for branch in argument[1]:
                found |= dict.fromkeys(atoms_of(branch))
        elif code is codes.NOT_LITERAL:
            found["a" if argument != ord("a") else "b"] = None
        elif code is codes.ANY:
            found["a"] = None
    return list(found | ({word: None} if word else {}))


def character_in(parts) -> str:
    try:
        pattern = re.compile(_class_of(parts))
    except re.error:
        return "a"
    return next((one for one in "a1 -_.\n\"'/<A,;(\u00e9\u4e00" if pattern.match(one)), "a")


def _class_of(parts) -> str:
    categories = {
        codes.CATEGORY_DIGIT: r"\d",
        codes.CATEGORY_NOT_DIGIT: r"\D",
        codes.CATEGORY_SPACE: r"\s",
        codes.CATEGORY_NOT_SPACE: r"\S",
        codes.CATEGORY_WORD: r"\w",
        codes.CATEGORY_NOT_WORD: r"\W",
    }
    inner = ""
    for code, argument in parts:
        if code is codes.NEGATE:
            inner += "^"
        elif code is codes.LITERAL:
            inner += re.escape(chr(argument))
        elif code is codes.RANGE:
            inner += f"{re.escape(chr(argument[0]))}-{re.escape(chr(argument[1]))}"
        elif code is codes.CATEGORY:
            inner += categories[argument]
    return f"[{inner}]"


def hostile_texts(pattern: str, flags: int):
    """What is repeated, with what stands before and after it."""
    atoms = list(dict.fromkeys([*atoms_of(_parser.parse(pattern, flags)), "a", " ", "1"]))
    # The longest word carries a near miss of the whole pattern; single characters carry its repetitions.
    chosen = atoms[:ATOMS]
    repeated = dict.fromkeys([*chosen, *(one + other for one, other in product(chosen, repeat=2) if one != other)])
    start = "".join(atoms[:3])
    for unit in repeated:
        yield "", unit, "\0"
        yield start, unit, "!\n"


class Stuck(Exception):
    pass


def _stop(signum, frame):
    raise Stuck


def seconds(ask, text: str) -> float:
    begun = time.process_time()
    ask(text)
    return time.process_time() - begun


def is_linear(ask, texts) -> tuple[bool, str]:
    """By processor time, so that a busy machine does not matter."""
    before = signal.signal(signal.SIGPROF, _stop)
    text = ("", "", "")
    try:
        took = {}
        for text in texts:
            signal.setitimer(signal.ITIMER_PROF, STUCK_SECONDS)
            took[text] = seconds(ask, at_length(text, SMALL))
        for text in sorted(took, key=took.__getitem__)[-WORST:]:
            signal.setitimer(signal.ITIMER_PROF, MOST_TIMES * max(took[text], LEAST_SECONDS))
            ask(at_length(text, LARGE))
    except Stuck:
        return False, " ".join(map(repr, text))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return True, ""


def at_length(text: tuple[str, str, str], length: int) -> str:
    start, unit, end = text
    return start + unit * (length // len(unit)) + end


def asker(pattern: re.Pattern, way: str):
    ask = getattr(pattern, way)
    if way in ("sub", "subn"):
        return lambda text: ask("", text)
    if way == "finditer":
        return lambda text: sum(1 for _ in ask(text))
    return ask


@pytest.mark.parametrize(
    "pattern", [r"^(?P<question>.+?)[ _.:/([-]+(?P<rater>a\d+)[)\]]?$", r"\s+\Z", r"(\w+-?)+\Z", r"<v>(.*?)</v>"]
)
def test_the_reader_finds_what_it_looks_for(pattern):
    assert not is_linear(re.compile(pattern, re.S).search, hostile_texts(pattern, re.S))[0]


@pytest.mark.slow
def test_patterns_are_linear():
    found = patterns_of_python()
    assert len(found) > 100
    bad = []
    for (written, flags), ways in found.items():
        pattern = re.compile(written, flags)
        for way in sorted({{"subn": "sub"}.get(way, way) for way in ways}):
            linear, text = is_linear(asker(pattern, way), hostile_texts(written, flags))
            if not linear:
                bad.append(f"{way} {written!r}: {text}")
    assert bad == []


def test_patterns_of_scripts_are_linear():
    found = list(patterns_of_scripts())
    assert len(found) > 15
    bad = [
        (name, written)
        for name, written in found
        if not is_linear(re.compile(written).search, hostile_texts(written, 0))[0]
    ]
    assert bad == []

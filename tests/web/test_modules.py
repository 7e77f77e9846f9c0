"""Scripts are short modules that import one way."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPTS = ROOT / "static/js"
MODULES = {path.relative_to(SCRIPTS).as_posix(): path.read_text("utf-8") for path in sorted(SCRIPTS.rglob("*.js"))}
MOST_LINES = 200


def imports_of(name: str) -> list[str]:
    """The modules that one imports, by their paths in the folder of scripts."""
    folder = (SCRIPTS / name).parent
    found = re.findall(r'^import [^"]*"([^"]+)";', MODULES[name], re.MULTILINE)
    return [(folder / other).resolve().relative_to(SCRIPTS).as_posix() for other in found]


def reached_from(name: str) -> set[str]:
    """The modules that a browser loads for one, itself apart unless it imports itself in a circle."""
    reached, waiting = set(), imports_of(name)
    while waiting:
        other = waiting.pop()
        if other not in reached:
            reached.add(other)
            waiting += imports_of(other)
    return reached


def test_no_script_is_long():
    assert {name: text.count("\n") for name, text in MODULES.items() if text.count("\n") > MOST_LINES} == {}


def test_no_module_imports_itself_in_a_circle():
    assert [name for name in MODULES if name in reached_from(name)] == []

"""Scripts are short modules that import one way, and a page asks for all of its modules at once."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPTS = ROOT / "static/js"
MODULES = {path.relative_to(SCRIPTS).as_posix(): path.read_text("utf-8") for path in sorted(SCRIPTS.rglob("*.js"))}
MOST_LINES = 200
PAGES = {
    "work/main.js": "templates/annotation/work/page.html",
    "desk/main.js": "templates/annotation/adjudication/page.html",
}


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


@pytest.mark.parametrize("main", PAGES)
def test_a_page_preloads_the_modules_that_it_needs(main):
    page = (ROOT / PAGES[main]).read_text("utf-8")
    preloaded = re.findall(r"""modulepreload" href="\{% static 'js/([^']+)' %\}""", page)
    assert preloaded == sorted(reached_from(main))
    assert len(preloaded) > 10

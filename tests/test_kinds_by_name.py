"""No code asks for a task type, a rule or a format by name outside its own module, and task types have one door."""

import ast
import re
from pathlib import Path

from analysis.rules.kinds import KINDS
from annotation.task_types import every_task_type
from tests.test_architecture import MODULES, PAGES, ROOT, is_in, name_of, offenders, tree_of

# Where a type's name may stand: a format names the type that a file's labels fit, the demo's table its projects' types.
NAMING = ("annotation.task_types", "annotation.formats", "annotation.demo.sets")
# What a description is called by. None of it is compared with a text that is written into the code.
CALLED_BY = {"task_type", "slug", "variant", "identifier", "contents", "export_layout", "template"}


def _calls_by_name(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in CALLED_BY
    return isinstance(node, ast.Name) and (node.id == "identifier" or node.id.endswith("task_type"))


def _is_text(node: ast.AST) -> bool:
    """A text that is written into the code, or several."""
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(map(_is_text, node.elts))
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value != ""


def _asks_by_name(node: ast.Compare) -> bool:
    sides = [node.left, *node.comparators]
    # `"x" in slug` looks at letters, not at names.
    is_inside = isinstance(node.ops[0], ast.In | ast.NotIn) and _is_text(node.left)
    return any(map(_calls_by_name, sides)) and any(map(_is_text, sides)) and not is_inside


def types_named_in(path: Path, source: str | None = None) -> list[str]:
    """Identifiers of task types that stand in the code, and comparisons of what a type is called by with a text."""
    if any(is_in(name_of(path), part) for part in NAMING):
        return []
    slugs = {description.slug for description in every_task_type()}
    found = []
    for node in ast.walk(tree_of(path) if source is None else ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            slug, slash, rest = node.value.partition("/")
            if slug in slugs and slash and rest.count("/") <= 1 and " " not in rest:
                found.append(node.value)
        elif isinstance(node, ast.Compare):
            if _asks_by_name(node):
                found.append(ast.unparse(node))
        elif isinstance(node, ast.Match) and _calls_by_name(node.subject):
            found.append(f"match {ast.unparse(node.subject)}")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            asks = node.func.attr in ("startswith", "endswith", "removeprefix", "partition", "split")
            if asks and _calls_by_name(node.func.value):
                found.append(ast.unparse(node))
    return found


def test_no_task_type_is_asked_for_by_name():
    assert offenders(types_named_in, MODULES) == {}


ASKING_BY_NAME = [
    "if project.task_type == 'claim-evidence/six-way/1': pass",
    "x = kind.slug == 'triplets'",
    "x = type.slug in ('triplets', 'nli')",
    "x = 'nli' == description.slug",
    "x = project.task_type.startswith('nli/')",
    "match kind.variant:\n    case 'two-way': pass",
    "DEFAULT = 'claim-evidence/six-way/1'",
    "DEFAULT = {'answer-grade/-/1': 3}",
    "x = dimension.slug != 'stance'",
]


def test_a_name_would_be_found():
    module = ROOT / "annotation/exports/releasing.py"
    assert [line for line in ASKING_BY_NAME if not types_named_in(module, line)] == []


def rules_named_in(path: Path, source: str | None = None) -> list[str]:
    """Comparisons with the name of a kind of rule, and look-ups by one: what differs is a field of its entry."""
    if not is_in(name_of(path), "analysis.rules") or path.name == "kinds.py":
        return []
    found = []
    for node in ast.walk(tree_of(path) if source is None else ast.parse(source)):
        named: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            named = [one for side in sides for one in getattr(side, "elts", [side])]
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith("KINDS"):
            named = [node.slice]
        elif isinstance(node, ast.MatchValue):
            named = [node.value]
        found += [ast.unparse(node) for one in named if isinstance(one, ast.Constant) and one.value in KINDS]
    return found


def test_no_rule_is_asked_for_by_name():
    assert offenders(rules_named_in, MODULES) == {}


def test_a_rule_s_name_would_be_found():
    lines = [
        "x = kind == 'lift'",
        "x = run.kind in ('druid', 'weighted')",
        "x = rule is KINDS['lift']",
        "match kind:\n    case 'centre': pass",
    ]
    module = ROOT / "analysis/rules/running.py"
    assert [line for line in lines if not rules_named_in(module, line)] == []
    assert not rules_named_in(module, "x = parameters['centre'] == MEDIAN")


# ---- one door to the task types ----

DOORS = {"task_type", "current_task_types", "every_task_type"}


def types_read_at_import(path: Path, source: str | None = None) -> list[str]:
    """Readers of the table of task types, and callers of its doors that do not wait until they are asked themselves."""
    if is_in(name_of(path), "annotation.task_types"):
        return []
    found = []

    def visit(node: ast.AST, *, waits: bool) -> None:
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if name == "TASK_TYPES" or isinstance(node, ast.alias) and node.name == "TASK_TYPES":
            found.append("TASK_TYPES")
        if isinstance(node, ast.Call) and not waits:
            door = ast.unparse(node.func).rpartition(".")[2]
            found.extend([door] if door in DOORS else [])
        waits = waits or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            visit(child, waits=waits)

    visit(tree_of(path) if source is None else ast.parse(source), waits=False)
    return found


def test_task_types_are_looked_up_when_they_are_needed():
    assert offenders(types_read_at_import, MODULES) == {}


def test_a_task_type_read_at_import_would_be_found():
    module = ROOT / "annotation/projects/managing.py"
    for line in (
        "from annotation.task_types import TASK_TYPES",
        "def first():\n    return task_types.TASK_TYPES[0]",
        "KIND = task_type('x')",
        "class Form:\n    choices = [kind.title for kind in task_types.current_task_types()]",
    ):
        assert types_read_at_import(module, line) != []
    assert types_read_at_import(module, "def first():\n    return task_type('x')") == []


def types_named_on(path: Path, text: str | None = None) -> list[str]:
    """As `types_named_in`, for templates and scripts."""
    text = text if text is not None else path.read_text(encoding="utf-8")
    slugs = "|".join(sorted({description.slug for description in every_task_type()}))
    return [
        *re.findall(r"(?:task_type|type\.(?:slug|variant|identifier|contents))\s*[!=]=+", text),
        *re.findall(rf"(?<!tasks/)\b(?:{slugs})/[\w-]+/\d", text),
    ]


def test_no_page_asks_which_task_type_it_is():
    assert offenders(types_named_on, PAGES) == {}


def test_a_name_on_a_page_would_be_found():
    page = ROOT / "templates/base.html"
    for text in ("{% if type.slug == 'nli' %}", "if (item.task_type !== kind)", "const first = 'nli/three-way/1'"):
        assert types_named_on(page, text) != []


def formats_compared_in(path: Path, source: str | None = None) -> list[str]:
    """Comparisons of what is called `format` with a text in the code: what is so of one format is in its INFO."""
    return [
        ast.unparse(node)
        for node in ast.walk(tree_of(path) if source is None else ast.parse(source))
        if isinstance(node, ast.Compare)
        for sides in [[node.left, *node.comparators]]
        if any(getattr(side, "attr", getattr(side, "id", "")) == "format" for side in sides)
        and any(map(_is_text, sides))
    ]


def test_no_format_is_asked_for_by_name():
    paths = [path for path in MODULES if is_in(name_of(path), "annotation")]
    assert offenders(formats_compared_in, paths) == {}
    asking = ["if request.format == 'assay': pass", "x = format in ('table', 'ratings')", "x = 'druid' != self.format"]
    assert [line for line in asking if not formats_compared_in(ROOT / "x.py", line)] == []

"""Imports point one way, and the web process loads nothing heavy. Every module's imports are parsed, none is run."""

import ast
import re
from pathlib import Path

import pytest

from annotation.task_types import TASK_TYPES

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("config", "analysis", "annotation", "models_runtime")
MODULES = sorted(path for name in PACKAGES for path in (ROOT / name).rglob("*.py") if "migrations" not in path.parts)

# Part of the project (longest prefix wins) -> the parts of the project that it may import, itself apart.
ALLOWED = {
    "config": (
        "analysis",
        "annotation",
        "models_runtime.allowed_models",
        "models_runtime.contracts",
        "models_runtime.llm.endpoints",
        "models_runtime.outside",
        "models_runtime.registry",
    ),
    "analysis": (
        "analysis",
        "annotation",
        "models_runtime.contracts",
        "models_runtime.overlap",
        "models_runtime.registry",
    ),
    "analysis.stats": (),
    "annotation": (),
    "annotation.views": ("annotation", "models_runtime.contracts", "models_runtime.registry"),
    "annotation.api": ("annotation", "models_runtime.contracts", "models_runtime.registry"),
    "annotation.management": ("annotation", "models_runtime.contracts", "models_runtime.registry"),
    "annotation.tasks": ("annotation",),
    "annotation.forms": (
        "annotation.access",
        "annotation.formats",
        "annotation.incoming",
        "annotation.models",
        "annotation.queries",
        "annotation.services",
        "annotation.task_types",
        "models_runtime.contracts",
        "models_runtime.registry",
    ),
    "annotation.templatetags": ("annotation.access", "annotation.models", "annotation.queries"),
    "annotation.services": (
        "annotation.access",
        "annotation.formats",
        "annotation.incoming",
        "annotation.markdown",
        "annotation.models",
        "annotation.queries",
        "annotation.task_types",
        "models_runtime.contracts",
        "models_runtime.registry",
        "models_runtime.batching",
        "models_runtime.extraction",
        "models_runtime.failures",
        "models_runtime.matching",
        "models_runtime.retrieval.contracts",
        "models_runtime.training",
    ),
    "annotation.queries": (
        "annotation.access",
        "annotation.formats",
        "annotation.incoming",
        "annotation.markdown",
        "annotation.models",
        "annotation.services",  # one layer: reads share constants with writes
        "annotation.task_types",
        "models_runtime.contracts",
        "models_runtime.registry",
    ),
    "annotation.access": ("annotation.models",),
    "annotation.markdown": (),
    "annotation.models": ("annotation.task_types",),
    "annotation.formats": ("annotation.incoming",),
    "annotation.incoming": (),
    "annotation.task_types": (),
    "models_runtime": (),
}
WITHOUT_DJANGO = (
    "analysis.stats",
    "annotation.formats",
    "annotation.incoming",
    "annotation.task_types",
    "models_runtime",
)
DJANGO = {"django", "rest_framework", "celery", "allauth", "csp", "django_htmx"}

HEAVY = {
    "bert_score",
    "nltk",
    "rouge_score",
    "sacrebleu",
    "torch",
    "transformers",
    "spacy",
    "sentence_transformers",
    "sklearn",
    "pandas",
    "scipy",
    "statsmodels",
    "matplotlib",
    "pyarrow",
    "numpy",
    "krippendorff",
    "bm25s",
    "faiss",
}
# Only workers and commands import these, so they may say at the top what they compute with.
COMPUTING = {"analysis.stats": {"numpy", "scipy"}}


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path, source: str | None = None, *, top_only: bool = False) -> set[str]:
    """Dotted names that the module imports. `top_only` leaves out functions and what only type checkers see."""
    name = name_of(path)
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = set()

    def visit(node: ast.AST) -> None:
        if top_only and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return
        if top_only and isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            return
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                parts = parts[: len(parts) - node.level + 1]
                base = ".".join([*parts, *([node.module] if node.module else [])])
            found.update(f"{base}.{alias.name}" for alias in node.names)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(source if source is not None else path.read_text(encoding="utf-8")))
    return found


def is_in(name: str, part: str) -> bool:
    return name == part or name.startswith(part + ".")


def part_of(name: str) -> str:
    return max((part for part in ALLOWED if is_in(name, part)), key=len)


def wrong_directions(path: Path, source: str | None = None) -> list[str]:
    part = part_of(name_of(path))
    wrong = []
    for name in imports_of(path, source):
        if name.split(".")[0] not in PACKAGES:
            continue
        if is_in(name, part) and part_of(name) == part:
            continue
        if not any(is_in(name, allowed) for allowed in ALLOWED[part]):
            wrong.append(name)
    return sorted(wrong)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_point_one_way(path):
    assert wrong_directions(path) == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_heavy_libraries_are_imported_where_they_are_used(path):
    allowed = COMPUTING.get(part_of(name_of(path)), set())
    heavy = {name.split(".")[0] for name in imports_of(path, top_only=True)} & HEAVY
    assert heavy - allowed == set()


@pytest.mark.parametrize(
    "path", [path for path in MODULES if any(is_in(name_of(path), part) for part in WITHOUT_DJANGO)], ids=name_of
)
def test_what_a_notebook_can_use_knows_no_django(path):
    assert {name.split(".")[0] for name in imports_of(path)} & DJANGO == set()


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("annotation/models/work.py", "from annotation.services import jobs"),
        ("annotation/services/jobs.py", "from annotation.views import work"),
        ("annotation/queries/projects.py", "from ..views import projects"),
        ("annotation/task_types/base.py", "from annotation import models"),
        ("annotation/access.py", "import analysis.frames"),
        ("analysis/stats/labels.py", "from annotation.models import Unit"),
        ("models_runtime/registry.py", "from annotation import task_types"),
        ("analysis/models.py", "from models_runtime.checkers import lexical"),
    ],
)
def test_a_wrong_direction_would_be_found(module, line):
    assert wrong_directions(ROOT / module, line) != []


def test_the_web_process_loads_nothing_heavy():
    """What the parsing cannot see: a library that a library brings along."""
    import subprocess
    import sys

    code = (
        "import sys, django, os; os.environ['DJANGO_SETTINGS_MODULE'] = 'tests.settings'; django.setup();"
        "from django.urls import get_resolver; get_resolver().url_patterns;"
        f"print(sorted(set(sys.modules) & {HEAVY | {'openai'}!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ---- no task type is asked for by name ----

# Where a type's name may stand: a format names the type that a file's labels fit, the demo's table its projects' types.
NAMING = ("annotation.task_types", "annotation.formats", "annotation.services.demo_sets")
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
    slugs = {description.slug for description in TASK_TYPES}
    found = []
    for node in ast.walk(ast.parse(source if source is not None else path.read_text(encoding="utf-8"))):
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


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_task_type_is_asked_for_by_name(path):
    assert types_named_in(path) == []


@pytest.mark.parametrize(
    "line",
    [
        "if project.task_type == 'claim-evidence/six-way/1': pass",
        "x = kind.slug == 'triplets'",
        "x = type.slug in ('triplets', 'nli')",
        "x = 'nli' == description.slug",
        "x = project.task_type.startswith('nli/')",
        "match kind.variant:\n    case 'two-way': pass",
        "DEFAULT = 'claim-evidence/six-way/1'",
        "DEFAULT = {'answer-grade/-/1': 3}",
        "x = dimension.slug != 'stance'",
    ],
)
def test_a_name_would_be_found(line):
    assert types_named_in(ROOT / "annotation/services/releasing.py", line) != []


@pytest.mark.parametrize(
    "path",
    sorted([*(ROOT / "templates").rglob("*.html"), *(ROOT / "static/js").rglob("*.js")]),
    ids=lambda one: one.name,
)
def test_no_page_asks_which_task_type_it_is(path):
    text = path.read_text(encoding="utf-8")
    assert not re.findall(r"(?:task_type|type\.(?:slug|variant|identifier|contents))\s*[!=]=+", text)
    slugs = "|".join(sorted({description.slug for description in TASK_TYPES}))
    assert not re.findall(rf"(?<!tasks/)\b(?:{slugs})/[\w-]+/\d", text)

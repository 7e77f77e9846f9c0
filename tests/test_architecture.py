"""Imports point one way, and the web process loads nothing heavy. Every module's imports are parsed, none is run."""

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("assay", "config", "analysis", "annotation", "models_runtime", "plugins")
MODULES = sorted(path for name in PACKAGES for path in (ROOT / name).rglob("*.py") if "migrations" not in path.parts)
PAGES = sorted([*(ROOT / "templates").rglob("*.html"), *(ROOT / "static/js").rglob("*.js")])

# The rooms of `annotation`, by what a person looks for. Each imports itself and those before it.
ROOMS = (
    "webhooks",
    "jobs",
    "datasets",
    "projects",
    "participation",
    "work",
    "decisions",
    "imports",
    "machines",
    "exports",
    "demo",
)
ROOMS_UP_TO = {room: [f"annotation.{one}" for one in ROOMS[: index + 1]] for index, room in enumerate(ROOMS)}
BELOW_ROOMS = (
    "annotation.access",
    "annotation.addresses",
    "annotation.bulk",
    "annotation.editing",
    "annotation.formats",
    "annotation.incoming",
    "annotation.markdown",
    "annotation.models",
    "annotation.rendering",
    "annotation.shapes",
    "annotation.statements",
    "annotation.task_types",
    "annotation.task_words",
    "plugins.extras",
)
RUNTIME_OF_EDGES = ("models_runtime.contracts", "models_runtime.egress", "models_runtime.registry")
RUNTIME_OF_ROOMS = (
    *RUNTIME_OF_EDGES,
    "models_runtime.evidence",
    "models_runtime.extractors.contracts",
    "models_runtime.failures",
    "models_runtime.generators.contracts",
    "models_runtime.loading.batching",
    "models_runtime.retrieval.contracts",
    "models_runtime.texts.matching",
    "models_runtime.training",
)

# Those of `analysis`, likewise. `papers` is reached through the table of reports alone, which names its modules.
FIGURES = ("models", "stats", "sources", "figures", "queries", "scopes", "progress")
FIGURES += ("reports", "rules", "releases", "pages")
FIGURES_UP_TO = {room: [f"analysis.{one}" for one in FIGURES[: index + 1]] for index, room in enumerate(FIGURES)}
BELOW_FIGURES = (
    "annotation",
    "models_runtime.contracts",
    "models_runtime.egress",
    "models_runtime.texts.overlap",
    "models_runtime.registry",
    "plugins",
)

# Part of the project (longest prefix wins) -> the parts of the project that it may import, itself apart.
ALLOWED = {
    "assay": ("annotation", "assay.places", "config.database"),
    "assay.places": (),
    "config": (
        "assay.places",
        "analysis.preloading",
        "analysis.sources",
        "annotation",
        "models_runtime.loading.allowed_models",
        "models_runtime.contracts",
        "models_runtime.evidence.providers",
        "models_runtime.llm.endpoints",
        "models_runtime.named_entries",
        "models_runtime.outside",
        "models_runtime.registry",
        "plugins",
    ),
    "analysis": (*BELOW_FIGURES, *FIGURES_UP_TO["pages"]),
    **{f"analysis.{room}": (*BELOW_FIGURES, *FIGURES_UP_TO[room]) for room in FIGURES},
    "analysis.judge": ("analysis.figures", "analysis.sources.releases.files", "analysis.stats", "annotation"),
    "analysis.papers": (*BELOW_FIGURES, *FIGURES_UP_TO["reports"]),
    "analysis.stats": (),
    "annotation": (),
    "annotation.api": ("annotation", *RUNTIME_OF_EDGES),
    "annotation.management": ("annotation", *RUNTIME_OF_EDGES),
    "annotation.tasks": ("annotation",),
    "annotation.templatetags": ("annotation",),
    "annotation.urls": ("annotation",),
    **{f"annotation.{room}": (*BELOW_ROOMS, *ROOMS_UP_TO[room], *RUNTIME_OF_ROOMS) for room in ROOMS},
    "annotation.access": ("annotation.models", "annotation.statements"),
    "annotation.addresses": ("annotation.incoming", "annotation.models"),
    "annotation.bulk": (),
    "annotation.editing": ("annotation.models",),
    "annotation.markdown": (),
    "annotation.models": ("annotation.task_types",),
    "annotation.formats": (
        "annotation.incoming",
        "annotation.rendering",
        "annotation.task_types",
        "plugins",
    ),
    "annotation.rendering": ("models_runtime.texts.turns",),
    "annotation.incoming": (),
    "annotation.shapes": ("annotation.incoming",),
    "annotation.statements": (),
    "annotation.task_types": ("plugins",),
    "annotation.task_words": ("annotation.task_types",),
    "models_runtime": ("plugins",),
    "plugins": (),
}
WITHOUT_DJANGO = (
    "analysis.judge",
    "analysis.stats",
    "annotation.formats",
    "annotation.incoming",
    "annotation.task_types",
    "assay.command",
    "assay.places",
    "assay.serving",
    "assay.supervision",
    "models_runtime",
    "plugins",
)
DJANGO = {"django", "rest_framework", "celery", "allauth", "csp", "django_htmx"}

HEAVY = {
    "bert_score",
    "cassis",
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
COMPUTING = {
    "analysis.judge": {"numpy"},
    "analysis.stats": {"numpy", "scipy"},
    "analysis.reports": {"numpy", "pandas"},
    "analysis.papers": {"numpy", "pandas"},
    "analysis.sources": {"numpy", "pandas"},
    "analysis.releases.writing": {"pandas"},
    "analysis.rules.certainty": {"numpy"},
    "analysis.rules.deciding": {"numpy"},
    "analysis.rules.running": {"numpy"},
    "analysis.rules.snapshots": {"numpy"},
    "analysis.figures.pictures": {"matplotlib"},
    "models_runtime.loading.quick_deberta": {"torch", "transformers"},
    "models_runtime.loading.quick_linear": {"torch"},
    "models_runtime.training.arrays": {"numpy", "scipy", "sklearn"},
    "models_runtime.training.classifiers": {"numpy", "sklearn"},
    "models_runtime.training.evaluation": {"numpy", "sklearn"},
    "models_runtime.training.ridge": {"numpy", "scipy", "sklearn"},
}
# Of these, what pages load as well.
SHOWING = ("report", "result", "show")


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


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

    visit(tree_of(path) if source is None else ast.parse(source))
    return found


def is_in(name: str, part: str) -> bool:
    return name == part or name.startswith(part + ".")


def part_of(name: str) -> str:
    return max((part for part in ALLOWED if is_in(name, part)), key=len)


def edge_of(name: str) -> str:
    """What a module of a room is to the web: "views", "forms", a "kind" that names both, or nothing for what these
    ask."""
    parts = name.split(".")
    inside = parts[2:] if parts[0] == "annotation" and parts[1:2] and parts[1] in ROOMS else []
    return next((part for part in inside if part in MAY_IMPORT), "")


# What imports edges, which parse, check access, call one service or query, and answer.
MAY_IMPORT = {"views": ("views", "forms"), "forms": ("forms",), "kind": ("views", "forms"), "": ()}
ABOVE_ROOMS = ("annotation.api", "annotation.urls", "config", "analysis")


def wrong_directions(path: Path, source: str | None = None) -> list[str]:
    module = name_of(path)
    part, edge = part_of(module), edge_of(module)
    wrong = []
    for name in imports_of(path, source):
        if name.split(".")[0] not in PACKAGES:
            continue
        is_own = is_in(name, part) and part_of(name) == part
        is_allowed = is_own or any(is_in(name, allowed) for allowed in ALLOWED[part])
        if edge and is_in(name, "models_runtime"):
            is_allowed = any(is_in(name, allowed) for allowed in RUNTIME_OF_EDGES)
        if edge_of(name) and not any(is_in(module, above) for above in ABOVE_ROOMS):
            is_allowed = is_allowed and edge_of(name) in MAY_IMPORT[edge]
        if not is_allowed:
            wrong.append(name)
    return sorted(wrong)


def heavy_at_the_top(path: Path, source: str | None = None) -> list[str]:
    parts = [part for part in COMPUTING if is_in(name_of(path), part)]
    allowed = set() if path.stem in SHOWING else {name for part in parts for name in COMPUTING[part]}
    loaded = {name.split(".")[0] for name in imports_of(path, source, top_only=True)}
    return sorted((loaded & HEAVY) - allowed)


def django_in(path: Path, source: str | None = None) -> list[str]:
    return sorted({name.split(".")[0] for name in imports_of(path, source)} & DJANGO)


def offenders(rule: Callable[[Path], list[str]], paths: Iterable[Path]) -> dict[str, list[str]]:
    """What the rule finds, by file; the files in which it finds nothing are left out."""
    return {str(path.relative_to(ROOT)): wrong for path in paths if (wrong := rule(path))}


def test_imports_point_one_way():
    assert offenders(wrong_directions, MODULES) == {}


def test_heavy_libraries_are_imported_where_they_are_used():
    assert offenders(heavy_at_the_top, MODULES) == {}


def test_what_a_notebook_can_use_knows_no_django():
    paths = [path for path in MODULES if any(is_in(name_of(path), part) for part in WITHOUT_DJANGO)]
    assert offenders(django_in, paths) == {}


def test_every_module_is_looked_at():
    """The rules loop: with an empty list, or one that misses a package, they would hold of nothing."""
    assert len(MODULES) > 400
    assert {name_of(path).partition(".")[0] for path in MODULES} == set(PACKAGES)
    assert len(PAGES) > 100


WRONG_DIRECTIONS = [
    ("annotation/models/work.py", "from annotation.jobs import lifecycle"),
    ("annotation/jobs/lifecycle.py", "from annotation.jobs import views"),
    ("annotation/projects/queries/projects.py", "from ..views import projects"),
    ("annotation/projects/forms/projects.py", "from annotation.projects.views import projects"),
    ("annotation/projects/managing.py", "from annotation.work import assigning"),
    ("annotation/imports/views.py", "from annotation.machines.runs.queries import runs"),
    ("annotation/machines/runs/views/runs.py", "from annotation.machines.runs import kind"),
    ("annotation/machines/runs/suggesting.py", "from annotation.machines.runs.kind import KIND"),
    ("annotation/machines/runs/views/runs.py", "from models_runtime.training import features"),
    ("annotation/tasks.py", "from annotation.jobs import views"),
    ("annotation/templatetags/project_pages.py", "from annotation.projects.views import projects"),
    ("annotation/task_types/base.py", "from annotation import models"),
    ("annotation/access.py", "import analysis.frames"),
    ("analysis/stats/labels.py", "from annotation.models import Unit"),
    ("analysis/sources/base.py", "from analysis.releases.kept import next_version"),
    ("analysis/figures/tables.py", "from analysis.reports.options import Option"),
    ("analysis/reports/metrics.py", "from analysis.papers.druid import show"),
    ("analysis/rules/running.py", "from analysis.releases.kept import next_version"),
    ("analysis/pages/reports.py", "from analysis.papers.druid import show"),
    ("plugins/__init__.py", "from annotation.task_types import TaskType"),
    ("models_runtime/registry.py", "from annotation import task_types"),
    ("analysis/models.py", "from models_runtime.checkers import lexical"),
]


def test_a_wrong_direction_would_be_found():
    assert [line for module, line in WRONG_DIRECTIONS if not wrong_directions(ROOT / module, line)] == []


def test_a_heavy_import_and_django_would_be_found():
    module = ROOT / "analysis/stats/labels.py"
    assert heavy_at_the_top(module, "import numpy, pandas.core\nfrom torch import nn") == ["pandas", "torch"]
    assert heavy_at_the_top(module, "def read():\n    import pandas") == []
    assert django_in(module, "def read():\n    from django.db import models") == ["django"]


# ---- sizes and names ----

MOST_MODULES = 20
NAMED_BY_DJANGO = {"Command", "Meta"}


def siblings_of(paths: Iterable[Path]) -> dict[str, list[str]]:
    """The names of modules by folder."""
    folders = defaultdict(list)
    for path in paths:
        if path.name != "__init__.py":
            folders[str(path.parent.relative_to(ROOT))].append(path.stem)
    return folders


def crowded(paths: Iterable[Path]) -> dict[str, int]:
    return {folder: len(names) for folder, names in siblings_of(paths).items() if len(names) > MOST_MODULES}


def unfolded(paths: Iterable[Path]) -> dict[str, list[str]]:
    """Three siblings or more that share the word before `_`: they are a folder of that name."""
    families = defaultdict(list)
    for folder, names in siblings_of(paths).items():
        for name in names:
            families[f"{folder}/{name.partition('_')[0]}_*"].append(name)
    return {family: names for family, names in families.items() if len(names) >= 3}


def defined_twice(trees: dict[str, ast.Module]) -> dict[str, list[str]]:
    """Public classes with the places that define one of their name."""
    places = defaultdict(list)
    for place, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(place)
    return {name: where for name, where in places.items() if len(where) > 1 and name not in NAMED_BY_DJANGO}


def test_a_folder_holds_twenty_modules_at_most():
    assert crowded(MODULES) == {}


def test_three_siblings_of_one_prefix_are_a_folder():
    assert unfolded(MODULES) == {}


def test_a_public_class_name_has_one_definition():
    trees = {str(path.relative_to(ROOT)): tree_of(path) for path in MODULES}
    assert defined_twice(trees) == {}


def test_sizes_and_names_would_be_found():
    jobs = ROOT / "annotation/jobs"
    assert crowded(jobs / f"{letter}.py" for letter in "abcdefghijklmnopqrstu") == {"annotation/jobs": 21}
    assert crowded([*(jobs / f"{letter}.py" for letter in "abcdefghijklmnopqrst"), jobs / "__init__.py"]) == {}
    assert unfolded([jobs / "run.py", jobs / "run_starting.py", jobs / "runs.py"]) == {}
    names = ["run", "run_starting", "run_storing"]
    assert unfolded(jobs / f"{name}.py" for name in names) == {"annotation/jobs/run_*": names}
    source, again = ast.parse("class Source: pass\nclass _Row: pass"), ast.parse("class Source: pass\nclass _Row: pass")
    assert defined_twice({"a.py": source, "b.py": again}) == {"Source": ["a.py", "b.py"]}
    assert defined_twice({"a.py": ast.parse("class Command: pass"), "b.py": ast.parse("class Command: pass")}) == {}


def test_the_web_process_loads_nothing_heavy():
    """What the parsing cannot see: a library that a library brings along."""
    import subprocess
    import sys

    code = (
        "import sys, os; os.environ['DJANGO_SETTINGS_MODULE'] = 'tests.settings'; import config.wsgi;"
        f"print(sorted(set(sys.modules) & {HEAVY | {'openai'}!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_is_left_out_on_postgresql_is_there():
    names = re.findall(r"^tests/\S+", (ROOT / "tests/not_on_postgresql.txt").read_text(encoding="utf-8"), re.MULTILINE)
    for file, _, test in (name.partition("::") for name in names):
        assert f"def {test or 'test_'}" in (ROOT / file).read_text(encoding="utf-8"), (file, test)
    assert len(names) > 40

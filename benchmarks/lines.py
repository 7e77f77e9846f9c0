"""Counts of the working tree: lines, imports inside functions, crowded folders, repeated names.

python -m benchmarks.lines              the counts
python -m benchmarks.lines --lists      and what is counted, by place
"""

from __future__ import annotations

import argparse
import ast
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("annotation", "analysis", "models_runtime", "plugins", "config", "benchmarks", "tests")
PRODUCT = PACKAGES[:5]
MOST_MODULES = 20


def tracked(*patterns: str) -> list[Path]:
    names = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in names.stdout.splitlines() if (ROOT / name).is_file()]


def code_lines(text: str, tree: ast.Module) -> int:
    """Lines that are neither blank, comment nor docstring."""
    left_out = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            left_out.update(range(node.lineno, node.end_lineno + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(number not in left_out and bool(line.strip()) and line.strip()[0] != "#" for number, line in lines)


def imports_inside(tree: ast.Module) -> Iterator[int]:
    """Lines of import statements inside functions."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from (node.lineno for node in ast.walk(function) if isinstance(node, ast.Import | ast.ImportFrom))


def imports_for_types(tree: ast.Module) -> Iterator[int]:
    """Lines of import statements below `if TYPE_CHECKING`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            yield from (inner.lineno for inner in ast.walk(node) if isinstance(inner, ast.Import | ast.ImportFrom))


def keys_subscripted(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(slice=ast.Constant(value=str() as key)):
                yield key


def main() -> None:
    parser = argparse.ArgumentParser(prog="lines", description=__doc__.splitlines()[0])
    parser.add_argument("--lists", action="store_true", help="also the places that are counted")
    shows_places = parser.parse_args().lists
    files, lines, inside, typed = Counter(), Counter(), Counter(), Counter()
    keys = defaultdict(Counter)
    folders, classes = defaultdict(list), defaultdict(list)
    for path in tracked("*.py"):
        package, *_ = path.relative_to(ROOT).parts
        if package not in PACKAGES or "migrations" in path.parts:
            continue
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        files[package] += 1
        lines[package] += code_lines(text, tree)
        inside[package] += len(set(imports_inside(tree)))
        typed[package] += len(set(imports_for_types(tree)))
        keys[package].update(keys_subscripted(tree))
        if package in PRODUCT:
            if path.name != "__init__.py":
                folders[path.parent.relative_to(ROOT)].append(path.stem)
            for node in tree.body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    classes[node.name].append(str(path.relative_to(ROOT)))
    print(f"{'package':16}{'files':>7}{'lines':>8}{'imports inside':>16}{'for types':>11}{'subscripts':>12}{'keys':>6}")
    for name in PACKAGES:
        numbers = files[name], lines[name], inside[name], typed[name], keys[name].total(), len(keys[name])
        print("{:16}{:>7}{:>8}{:>16}{:>11}{:>12}{:>6}".format(name, *numbers))
    templates = tracked("templates/*.html")
    texts = [path.read_text(encoding="utf-8") for path in templates]
    print(f"{'templates':16}{len(templates):>7}{sum(map(len, texts)):>8} bytes")

    crowded = {str(folder): len(modules) for folder, modules in folders.items() if len(modules) > MOST_MODULES}
    prefixes = Counter((str(folder), stem.split("_")[0]) for folder, stems in folders.items() for stem in stems)
    shared = {f"{folder}/{prefix}_*": n for (folder, prefix), n in prefixes.items() if n >= 3}
    twice = {name: places for name, places in classes.items() if len(places) > 1 and name not in ("Command", "Meta")}
    for title, found in (
        (f"folders with more than {MOST_MODULES} modules", crowded),
        ("three siblings with one prefix", shared),
        ("public classes defined more than once", twice),
    ):
        print(f"{title}: {len(found)}")
        if shows_places:
            for name, what in sorted(found.items()):
                print(f"  {name}: {what if isinstance(what, int) else ', '.join(what)}")


if __name__ == "__main__":
    main()

"""Static files under names that carry their content's hash, compressed once, at `collectstatic`.

A page's scripts are many small modules, which import each other by `import { … } from "./other.js"` and export
functions, constants and classes by name. There they become one script.
"""

import posixpath
import re
from collections.abc import Callable

import minify
from django.core.files.base import ContentFile
from django.core.files.storage import InMemoryStorage
from whitenoise.storage import CompressedManifestStaticFilesStorage

FOLDER = "js/"  # our own modules: what packages ship is served as it is
IMPORT = re.compile(r'^import (\{[^}]*\}) from "(\.[^"]+)";$', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?(?:function|const|class) (\w+))", re.MULTILINE)
OTHER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


class HashedStaticFiles(CompressedManifestStaticFilesStorage):
    def post_process(self, paths, **options):
        if not options.get("dry_run"):
            texts = {
                name: storage.open(path).read().decode("utf-8")
                for name, (storage, path) in paths.items()
                if name.startswith(FOLDER) and name.endswith(".js")
            }
            bundles = InMemoryStorage()
            for name, text in bundled(texts).items():
                small = minify.string("application/javascript", text)
                paths[name] = (bundles, bundles.save(name, ContentFile(small.encode())))
        yield from super().post_process(paths, **options)


def bundled(texts: dict[str, str]) -> dict[str, str]:
    """The modules that no other one imports, with all that they import in them. `texts` are those of all
    modules by name; ValueError for one that imports or exports otherwise than this can read."""
    imports = {
        name: [posixpath.normpath(posixpath.join(posixpath.dirname(name), other)) for _, other in IMPORT.findall(text)]
        for name, text in texts.items()
    }
    imported = {other for others in imports.values() for other in others}
    made = {}
    for name in texts.keys() - imported:
        parts = [_script(one, texts[one], iter(imports[one])) for one in _in_order(name, imports.__getitem__)]
        made[name] = "\n".join(parts) if imports[name] else texts[name]
    return made


def _in_order(name: str, imports_of: Callable[[str], list[str]]) -> list[str]:
    """The module and all that it needs, each after what it imports; none imports itself in a circle."""
    order: dict[str, None] = {}
    for other in imports_of(name):
        order |= dict.fromkeys(one for one in _in_order(other, imports_of) if one not in order)
    return [*order, name]


def _script(name: str, text: str, imports) -> str:
    """A module as a function that is called at once and returns what it exports."""
    body = IMPORT.sub(lambda found: f"const {found[1].replace(' as ', ': ')} = {_variable(next(imports))};", text)
    exported = [found[1] for found in EXPORT.findall(body)]
    body = EXPORT.sub(r"\1", body)
    if left := OTHER.search(body):
        raise ValueError(f"{name}: only named imports of own modules and named exports can be bundled, not {left[0]!r}")
    return f"const {_variable(name)} = (() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();"


def _variable(name: str) -> str:
    return "of_" + re.sub(r"\W", "_", name.removeprefix(FOLDER).removesuffix(".js"))

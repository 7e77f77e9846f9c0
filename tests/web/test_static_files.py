"""Static files as production serves them: a page's modules are one small script, under the name of its hash."""

import re

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command
from django.test import override_settings

from config.web.static_files import bundled

HASHED = {"staticfiles": {"BACKEND": "config.web.static_files.HashedStaticFiles"}}
MODULES = {
    "js/a/main.js": 'import { two, three as third } from "../b.js";\nimport { one } from "./c.js";\none(two, third);\n',
    "js/b.js": 'import { one } from "./a/c.js";\nexport const two = one(1);\nexport async function three() {}\n',
    "js/a/c.js": "/** Says it. */\nexport function one(x) { return `${x} // no comment`; }\n",
    "js/alone.js": "go();\n",
}


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("static")
    with override_settings(STATIC_ROOT=str(folder), STORAGES=HASHED):
        call_command("collectstatic", interactive=False, verbosity=0)
        yield folder


@pytest.mark.parametrize("main", ["js/work/main.js", "js/desk/main.js"])
def test_a_page_s_modules_are_collected_as_one_compressed_script(collected, main):
    script = collected / staticfiles_storage.stored_name(main)
    assert re.fullmatch(r"main\.[0-9a-f]{12}\.js", script.name)
    text = script.read_text("utf-8")
    assert not re.search(r"^(import|export)\b", text, re.MULTILINE)
    made = re.findall(r"[ ,](of_\w+)=\(", text)
    assert len(made) > 10 and len(made) == len(set(made))
    for name in made:  # before it is used
        assert re.search(rf"\b{name}\b", text).start() == text.index(f"{name}=(")
    assert script.with_name(f"{script.name}.gz").stat().st_size < 40_000


def test_a_bundle_holds_each_module_once_after_what_it_imports():
    made = bundled(MODULES)
    assert sorted(made) == ["js/a/main.js", "js/alone.js"] and made["js/alone.js"] == "go();\n"
    text = made["js/a/main.js"]
    places = [text.index(f"const of_{name} =") for name in ("a_c", "b", "a_main")]
    assert places == sorted(places) and "${x} // no comment" in text
    assert "const { two, three: third } = of_b;" in text and "return { two, three };" in text


@pytest.mark.parametrize("line", ['import x from "./b.js";', "export default 1;", "export { two };"])
def test_what_cannot_be_bundled_is_refused_with_its_name(line):
    with pytest.raises(ValueError, match=r"^js/b\.js: only named imports"):
        bundled(MODULES | {"js/b.js": f"{line}\n"})

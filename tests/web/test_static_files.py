"""Static files as production serves them: every module names the modules that it imports by their hashes."""

import re

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command
from django.test import override_settings

HASHED = {"staticfiles": {"BACKEND": "config.web.static_files.HashedStaticFiles"}}


@pytest.mark.parametrize("main", ["js/work/main.js", "js/desk/main.js"])
def test_collected_modules_import_each_other_by_hashed_names(tmp_path, main):
    with override_settings(STATIC_ROOT=str(tmp_path), STORAGES=HASHED):
        call_command("collectstatic", interactive=False, verbosity=0)
        waiting = [tmp_path / staticfiles_storage.stored_name(main)]
    reached = set()
    while waiting:
        module = waiting.pop().resolve()
        if module in reached:
            continue
        reached.add(module)
        assert re.fullmatch(r"\w+\.[0-9a-f]{12}\.js", module.name) and module.is_file()
        assert module.with_name(f"{module.name}.gz").is_file()
        waiting += [module.parent / name for name in re.findall(r'from "([^"]+)"', module.read_text("utf-8"))]
    assert len(reached) > 10

"""Static files as production serves them: every module names the modules that it imports by their hashes."""

import re

from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.management import call_command
from django.test import override_settings

HASHED = {"staticfiles": {"BACKEND": "config.web.static_files.HashedStaticFiles"}}


def test_collected_modules_import_each_other_by_hashed_names(tmp_path):
    with override_settings(STATIC_ROOT=str(tmp_path), STORAGES=HASHED):
        call_command("collectstatic", interactive=False, verbosity=0)
        folder = tmp_path / "js" / "work"
        main = tmp_path / staticfiles_storage.stored_name("js/work/main.js")
    imported = re.findall(r'from "\./([^"]+)"', main.read_text("utf-8"))
    assert len(imported) >= 4
    for name in imported:
        assert re.fullmatch(r"\w+\.[0-9a-f]{12}\.js", name) and (folder / name).is_file()
        assert (folder / f"{name}.gz").is_file()

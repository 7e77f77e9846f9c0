"""The project as an app of its own, so that its checks run and its settings pages have a home."""

from django.apps import AppConfig


class AssayConfig(AppConfig):
    name = "config"
    label = "assay"
    verbose_name = "Assay"

    def ready(self) -> None:
        from config import checks  # noqa: F401  (importing registers them)

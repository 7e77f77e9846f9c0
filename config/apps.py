"""The project as an app of its own, so that its checks run and its settings pages have a home."""

from importlib import import_module

from django.apps import AppConfig
from django.conf import settings

from models_runtime import registry


class AssayConfig(AppConfig):
    name = "config"
    label = "assay"
    verbose_name = "Assay"

    def ready(self) -> None:
        import_module("config.checks")  # importing registers them
        import_module("config.database")
        registry.restrict_models(settings.MODELS, settings.MODEL_LIMIT_GB)

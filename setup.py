"""What pyproject.toml cannot say: templates, static files, fixtures and documents lie at the top of a checkout, and in
the package `assay` of a wheel."""

from setuptools import find_packages, setup

PACKAGES = ("analysis", "annotation", "assay", "config", "models_runtime", "plugins")
SHARED = ("templates", "static", "fixtures", "docs", "locale")

setup(
    packages=[
        *find_packages(include=[f"{name}*" for name in PACKAGES]),
        *(f"assay.{name}" for name in SHARED),
    ],
    package_dir={f"assay.{name}": name for name in SHARED},
    package_data={"": ["**/*"]},
    exclude_package_data={"": ["**/__pycache__/*"]},
)

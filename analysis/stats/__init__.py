"""What labels say, as pure numpy and scipy: arrays in, result objects with intervals out. Usable in a notebook.

A family is imported when one of its names is first used: scipy takes longer to start than a verdict on a judge, and
pages use `shares` without numpy."""

from importlib import import_module

OF_LABELS = ("Labels", "encode")
FAMILIES = (
    "accuracy",
    "agreement",
    "annotators",
    "correlation",
    "generation",
    "planning",
    "preferences",
    "resampling",
    "scale",
    "soft",
    "spans",
)


def __getattr__(name: str):
    if name == "__all__":
        return [*OF_LABELS, *(name for family in map(_family, FAMILIES) for name in family.__all__)]
    if name in OF_LABELS:
        return getattr(_family("labels"), name)
    for family in map(_family, FAMILIES):
        if name in family.__all__:
            return getattr(family, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*FAMILIES, *__getattr__("__all__")]


def _family(name: str):
    return import_module(f"{__name__}.{name}")

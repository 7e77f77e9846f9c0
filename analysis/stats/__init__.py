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
    for family in map(_family, ("labels",) if name in OF_LABELS else FAMILIES):
        if name in OF_LABELS or name in family.__all__:
            return globals().setdefault(name, getattr(family, name))  # looked for once
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*FAMILIES, *__getattr__("__all__")]


def _family(name: str):
    return import_module(f"{__name__}.{name}")

"""Statistics of labels, verdicts on judges and checkers, for notebooks. Nothing is imported before it is used.

>>> from assay import Labels, alpha
>>> labels = Labels.from_columns(["a", "a", "b", "b"], ["ann", "ben", "ann", "ben"], ["+", "+", "-", "-"], ["-", "+"])
>>> alpha(labels).estimate
1.0
"""

from importlib import import_module

# Public name: where it is. `analysis.stats` has all other statistics, `models_runtime` what checkers take and give.
NAMES = {
    "CheckerInput": "models_runtime",
    "Labels": "analysis.stats:Labels",
    "RELEVANCE": "models_runtime",
    "STANCE": "models_runtime",
    "alpha": "analysis.stats:krippendorff_alpha",
    "checkers": "models_runtime:list_infos",
    "compare": "analysis.stats:agreement_difference",
    "judge": "analysis.judge.judging:judge",
    "load_checker": "models_runtime:load",
}
__all__ = [*NAMES]  # noqa: PLE0605


def __getattr__(name: str):
    if name not in NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = NAMES[name].partition(":")
    return getattr(import_module(module), attribute or name)


def __dir__() -> list[str]:
    return sorted([*globals(), *NAMES])

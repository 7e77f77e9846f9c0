"""Effects of regressions as figures of a result."""

from __future__ import annotations

import msgspec

from analysis.figures.results import PENDING, EffectEnds, EffectFigure, number
from analysis.stats import Effect
from analysis.stats.resampling.intervals import few_note


def to_effect(effect: Effect, bound: float | None = None, least: float | None = None) -> EffectFigure:
    """An effect with its interval. A difference of shares cannot lie outside -bound..bound, and a share not outside
    least..bound, whatever Student's t says of its interval."""
    low, high = _rounded(effect.low), _rounded(effect.high)
    if bound is not None and low is not None and high is not None:
        low, high = max(low, -bound if least is None else least), min(high, bound)
    ends = EffectEnds.taking(
        effect,
        undefined=effect.undefined or effect.no_interval,
        note=few_note(min(effect.n_clusters), True) if low is not None else "",
    )
    return EffectFigure.taking(effect, estimate=_rounded(effect.estimate), low=low, high=high, interval=ends)


def _rounded(value: float) -> float | None:
    """Without what a regression's arithmetic leaves of 0, and without its sign."""
    rounded = number(value)
    return None if rounded is None else round(rounded, 12) + 0.0


def without_interval(value: float, n: int, reason: str) -> EffectFigure:
    """A figure of a first pass, which has no intervals; without a value (nan) why there is none."""
    if value != value:
        return no_effect(reason)
    return msgspec.structs.replace(no_effect(), estimate=float(value), undefined="", n=n)


def no_effect(reason: str = PENDING) -> EffectFigure:
    """In place of an effect: why there is none; by default, because a first pass leaves it out."""
    ends = EffectEnds(method="", level=0.95, n_clusters=[], undefined=reason, note="")
    return EffectFigure(
        estimate=None, undefined=reason, standard_error=None, p_value=None, n=0, n_left_out=0, interval=ends
    )

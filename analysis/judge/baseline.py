"""Whether a judge, or the data that it is held against, changed since an earlier verdict, and whether the verdict got
worse by more than chance explains."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.judge.table import TableProblem

# What an exit code says, added up.
JUDGE_CHANGED, DATA_CHANGED, FAILED = 10, 20, 1
SAME_RULE = ("level", "floor", "margin")


@dataclass(frozen=True)
class Change:
    """One judge against its baseline. `judge_changed` is None where nothing says it. `before` and `now` are the figure
    that is compared, better where higher, with its ends; `is_worse` is None where they have no interval."""

    judge: str
    judge_changed: bool | None
    data_changed: bool
    figure: str
    before: tuple[float, float, float]
    now: tuple[float, float, float]
    is_worse: bool | None


def exit_code(changed: Sequence[Change], has_failed: bool = False) -> int:
    """What changed, of any judge; and 1 more where a verdict got worse, or something else `has_failed`."""
    code = JUDGE_CHANGED * any(one.judge_changed for one in changed)
    code += DATA_CHANGED * any(one.data_changed for one in changed)
    return code + FAILED * (has_failed or any(one.is_worse for one in changed))


def read_baseline(path: Path) -> list[dict]:
    """What `assay judge --json` wrote. TableProblem for anything else."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TableProblem(f"{path}: {error.strerror}") from None
    except ValueError:
        raise TableProblem(f"{path}: is not JSON; write a baseline with --json") from None
    is_list = isinstance(found, list) and found and all(isinstance(one, dict) for one in found)
    if not is_list or not all({"judge", "fingerprint", "level"} <= one.keys() for one in found):
        raise TableProblem(f"{path}: is no verdict with a fingerprint; write a baseline with `assay judge FILE --json`")
    return found


def changes(path: Path, every: Sequence[dict]) -> list[Change]:
    """Each of the verdicts (as JSON has them) against that of the same judge in the baseline; one alone against one
    alone, whatever they are called. TableProblem where the baseline lacks a judge or was made by another rule."""
    baseline = read_baseline(path)
    by_name = {one["judge"]: one for one in baseline}
    found = []
    for now in every:
        before = by_name.get(now["judge"]) or (baseline[0] if len(baseline) == len(every) == 1 else None)
        if before is None:
            raise TableProblem(f"{path}: has no judge {now['judge']!r}; it has {', '.join(by_name)}")
        for name in SAME_RULE:
            if before.get(name) != now.get(name):
                raise TableProblem(
                    f"{path}: was made with {name} {before.get(name)}, and this verdict has {now.get(name)}; use "
                    f"--{name} or write another baseline"
                )
        found.append(_change(before, now))
    return found


def _change(before: dict, now: dict) -> Change:
    old, new = before["fingerprint"], now["fingerprint"]
    data_changed = old["data"] != new["data"]
    if old["judge"] != new["judge"]:
        judge_changed = True
    elif not data_changed:
        judge_changed = old["labels"] != new["labels"]
    else:
        judge_changed = False if new["judge"] else None
    figure, value = ("distance", _gap) if "distance" in now else ("kappa", _kappa)
    values = value(before), value(now)
    return Change(now["judge"], judge_changed, data_changed, figure, *values, is_worse(*values))


def is_worse(before: tuple[float, float, float], now: tuple[float, float, float]) -> bool | None:
    """Whether a figure with its ends is lower than before by more than the intervals allow:
    ``before - now > sqrt((before - its low)^2 + (its high - now)^2)`` (Zou and Donner 2008, Statistics in Medicine
    27(10), 1693-1702). Of independent data of the same truth that is so in 2.5 %, of the same rows more rarely. A side
    without an interval gets the width of the other; None where neither has one."""
    below, above = before[0] - before[1], now[2] - now[0]
    below, above = (above if math.isnan(below) else below), (below if math.isnan(above) else above)
    if math.isnan(below) or math.isnan(before[0] - now[0]):
        return None
    return before[0] - now[0] > math.hypot(below, above)


def _kappa(one: dict) -> tuple[float, float, float]:
    return tuple(math.nan if value is None else value for value in one.get("kappa") or [None] * 3)


def _gap(one: dict) -> tuple[float, float, float]:
    """Turned around, since a larger distance is worse."""
    gap = one.get("distance") or {}
    return tuple(math.nan if gap.get(name) is None else -gap[name] for name in ("estimate", "high", "low"))


def change_sentence(change: Change) -> str:
    what = {
        (True, True): "The judge and the data changed",
        (True, False): "The judge changed, the data did not",
        (False, True): "The data changed, the judge did not",
        (False, False): "Neither the judge nor the data changed",
        (None, True): "The data changed; the judge is not described, so whether it changed cannot be said (--describe)",
    }[change.judge_changed, change.data_changed]
    sign = -1 if change.figure == "distance" else 1
    name = "the difference of distances" if change.figure == "distance" else "kappa"
    (before, *_), (now, *_) = change.before, change.now
    if change.is_worse is None:
        return f"{change.judge}: {what}. Whether the verdict got worse cannot be said: {name} has no interval."
    verdict = "got worse" if change.is_worse else "is not shown to be worse"
    return f"{change.judge}: {what}. The verdict {verdict} ({name} {sign * before:.3f} before, {sign * now:.3f} now)."

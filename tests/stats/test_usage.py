"""Context usage: by hand, and against the numbers that DRUID's paper prints."""

import itertools
import json
import re

import numpy as np
import pytest

from analysis.stats.generation.usage import (
    ANSWERS,
    CERTAIN_WITHOUT,
    DESIRED,
    NO_STANCE,
    UNKNOWN_PROBABILITY,
    context_usage,
    scaled_change,
)

from .samples import shared

HALF = 0.005  # the paper prints two decimals


def test_changes_are_shares_of_what_was_possible():
    assert scaled_change(0.8, 0.9) == pytest.approx(0.5)
    assert scaled_change(0.8, 0.2) == pytest.approx(-0.75)
    assert scaled_change(0.0, 0.3) == pytest.approx(0.3)
    assert scaled_change(1.0, 0.3) == pytest.approx(-0.7)
    assert (scaled_change(0.0, 1.0), scaled_change(1.0, 0.0), scaled_change(0.4, 0.4)) == (1, -1, 0)
    for wrong in ((-0.1, 0.5), (0.5, 1.1)):
        with pytest.raises(ValueError, match="between 0 and 1"):
            scaled_change(*wrong)


def test_sums_of_probabilities_that_rounding_took_past_an_end_are_that_end():
    assert (scaled_change(0.5, 1 + 2e-16), scaled_change(0.5, -1e-9)) == (1, -1)
    assert np.isnan(scaled_change(1 + 2e-16, 1.0))
    with pytest.raises(ValueError, match="between 0 and 1"):
        scaled_change(0.5, 1.001)


def test_evidence_that_is_followed_entirely_gets_all_and_evidence_that_is_defied_loses_all():
    for stance, signs in DESIRED.items():
        without = np.full((1, 3), 0.5)
        followed = np.array([[1.0 if sign > 0 else 0.0 for sign in signs]])
        found = context_usage(without, followed, [stance])
        assert (found.acu_mean[0], found.acu_sum[0], found.reason[0]) == (1, 3, -1)
        assert context_usage(without, 1 - followed, [stance]).acu_sum[0] == -3
    assert [DESIRED["refutes"][place] for place in (0, 1, 2)] == [1, -1, -1] and ANSWERS == ("False", "None", "True")


def test_what_is_undefined_says_why():
    without = [[0.0, 0.0, 1.0], [0.2, np.nan, 0.3], [0.2, 0.3, 0.5], [0.0, 0.0, 1.0]]
    found = context_usage(without, [[0.0, 0.0, 1.0]] * 3 + [[0.0, 0.1, 0.9]], ["supports", "supports", None, "refutes"])
    assert [found.why_undefined(pair) for pair in range(4)] == [CERTAIN_WITHOUT, UNKNOWN_PROBABILITY, NO_STANCE, ""]
    assert np.isnan(found.acu_mean[:3]).all() and np.isnan(found.acu_sum[:3]).all()
    assert found.acu_sum[3] == pytest.approx(0 - 0.1 + 0.1)
    with pytest.raises(ValueError, match="'neutral'"):
        context_usage([[0.1, 0.2, 0.3]], [[0.1, 0.2, 0.3]], ["neutral"])
    with pytest.raises(ValueError, match="shape"):
        context_usage([[0.1, 0.2]], [[0.1, 0.2]], ["supports"])
    assert context_usage([], [], []).acu_mean.shape == (0,)


def test_the_papers_worked_examples_within_the_rounding_of_their_inputs():
    examples = json.loads(shared("acu_worked_examples.json").read_text(encoding="utf-8"))
    assert len(examples) == 36
    widths = []
    for example in examples:
        given = np.array([[example["p"][answer][mode] for answer in ANSWERS] for mode in ("without", "with")])
        # The change is monotone in each probability, so its extremes lie at the corners of what was rounded.
        corners = np.array(list(itertools.product((-HALF, HALF), repeat=2))).T
        low_high = []
        for sign, before, after in zip(DESIRED[example["stance"]], *given, strict=True):
            ends = sign * scaled_change(np.clip(before + corners[0], 0, 1), np.clip(after + corners[1], 0, 1))
            low_high.append((np.nanmin(ends), np.nanmax(ends)))
        low, high = (sum(end) / 3 for end in zip(*low_high, strict=True))
        assert low - HALF <= example["acu_mean_printed"] <= high + HALF, example
        found = context_usage(given[:1], given[1:], [example["stance"]])
        assert low <= found.acu_mean[0] <= high
        assert found.acu_sum[0] == pytest.approx(3 * found.acu_mean[0])
        widths.append(high - low)
    assert np.median(widths) < 0.05  # so the examples say something


ROW = re.compile(r"<td>([a-z.-]+) <math>\\(\w+)arrow\\(\w+)arrow\\(\w+)arrow</math></td>((?:\s*<td>[^\n]*</td>){4})")


def test_the_papers_table_of_means_prints_signed_sums():
    text = shared("..", "seeds", "druid.txt").read_text(encoding="utf-8")
    table = text[: text.index("Table 22: Averages")].rpartition("<table")[2]
    rows = ROW.findall(table)
    assert len(rows) == 20
    for stance, *arrows, cells in rows:
        stance = stance.replace("contra.", "contradictory")
        assert DESIRED[stance] == tuple({"up": 1, "down": -1}[arrow] for arrow in arrows)
        numbers = [float(cell) for cell in re.findall(r"<td>(-?\d\.\d+)", cells)]
        # The mean of signed changes is the signed sum of the changes' means; four numbers were rounded.
        signed = np.dot(DESIRED[stance], numbers[:3])
        assert signed == pytest.approx(numbers[3], abs=4 * HALF + 1e-9), (stance, numbers)

import sys
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.stats import Marked, gamma
from analysis.stats.spans.gamma import alignment_cost

# The example of Mathet et al. as pygamma-agreement carries it (AlexPaulSuzan.csv), a text of 60.
PAPER = {
    "Alex": (("1", 2, 9), ("2", 11, 17), ("5", 24, 30), ("6", 32, 36), ("6", 36, 44), ("7", 44, 60)),
    "Paul": (("1", 2, 9), ("3", 11, 17), ("5", 19, 25), ("6", 32, 44)),
    "Suzan": (("1", 2, 9), ("4", 11, 17), ("5", 21, 27), ("6", 32, 36), ("6", 36, 40), ("6", 40, 44)),
}


def marked_in(by_rater, length, text="t"):
    return [
        Marked(text, rater, tuple((s, e) for _, s, e in found), length, labels=tuple(label for label, *_ in found))
        for rater, found in by_rater.items()
    ]


@pytest.mark.parametrize(("position_weight", "disorder"), [(1, 0.6535417), (3, 0.9606249)])
def test_the_best_alignment_is_that_of_pygamma_agreement(position_weight, disorder):
    """Observed disorders of pygamma-agreement 0.5.9 (single precision); its own tests have 0.96 for the second."""
    found = gamma(marked_in(PAPER, 60), position_weight, n_draws=5)
    assert found.observed == pytest.approx(disorder, abs=1e-6)
    assert found.n_labels == 16


def test_figures_lie_with_those_of_pygamma_agreement():
    """pygamma-agreement 0.5.9 with 1000 random continua: 0.550 where it moves the annotations and keeps offsets apart,
    0.522 where it draws lengths and gaps from normal distributions."""
    found = gamma(marked_in(PAPER, 60), n_draws=150)
    assert 0.50 < found.estimate < 0.57
    assert found.estimate == 1 - found.observed / found.expected


def test_two_and_four_raters_as_pygamma_agreement_aligns_them():
    """Observed disorders 0.40880594 and 0.74554485 of pygamma-agreement 0.5.9."""
    two = {"x": (("A", 1, 235), ("B", 290, 600)), "y": (("A", 50, 250), ("B", 300, 600), ("C", 800, 900))}
    assert gamma(marked_in(two, 900), n_draws=1).observed == pytest.approx(0.40880594, abs=1e-6)
    four = {
        "r0": ("a1-7", "b13-17", "a20-24", "a29-33", "b44-48", "a49-55", "a62-67", "a72-75"),
        "r1": ("a0-4", "a11-16", "a22-24", "b29-35", "a49-58", "b60-66", "a71-75"),
        "r2": ("a0-4", "a10-17", "a30-37", "a40-46", "b51-55", "a58-67"),
        "r3": ("a0-5", "a12-17", "a22-27", "a41-47", "b50-56", "a62-65", "b72-77"),
    }
    spelled = {r: tuple((u[0], *map(int, u[1:].split("-"))) for u in units) for r, units in four.items()}
    assert gamma(marked_in(spelled, 80), n_draws=1).observed == pytest.approx(0.74554485, abs=1e-6)


def difference(one, other):
    place = (abs(one[0] - other[0]) + abs(one[1] - other[1])) / (one[1] - one[0] + other[1] - other[0])
    return place**2 + (one[2] != other[2])


def cheapest(raters):
    """Best alignment by trying all of them: the first unit's unitary alignment, then the rest's best."""
    left = [(rater, unit) for rater, units in enumerate(raters) for unit in units]
    if not left:
        return 0.0
    first = left[0][0]
    rest = [units if rater != first else units[1:] for rater, units in enumerate(raters)]
    best = np.inf
    for chosen in product(*[[None, *range(len(units))] if r != first else [None] for r, units in enumerate(rest)]):
        members = [rest[r][place] if place is not None else None for r, place in enumerate(chosen)]
        members[first] = left[0][1]
        pairs = list(combinations(members, 2))
        own = sum(1 if a is None or b is None else difference(a, b) for a, b in pairs) / len(pairs)
        others = [
            [unit for place, unit in enumerate(units) if place != taken]
            for units, taken in zip(rest, chosen, strict=True)
        ]
        best = min(best, own + cheapest(others))
    return best


units = st.lists(
    st.tuples(st.integers(0, 20), st.integers(1, 8), st.integers(0, 1)).map(lambda u: (u[0], u[0] + u[1], u[2])),
    max_size=3,
)


@pytest.mark.parametrize("few", [0, 9], ids=["integer program", "subsets"])
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raters=st.lists(units, min_size=2, max_size=3))
def test_the_alignment_is_the_cheapest_of_all(few, raters, monkeypatch):
    # The package's attribute of this name is the function.
    monkeypatch.setattr(sys.modules[alignment_cost.__module__], "FEW_UNITS", few)
    arrays = [np.array(found, dtype=float).reshape(-1, 3) for found in raters]
    assert alignment_cost(arrays, 1.0, 1.0) == pytest.approx(cheapest(raters), abs=1e-7)


def strewn(n_texts, seed, noise=None, wrong=0.0, raters="xyz"):
    """Texts with one true unit each that raters move by at most `noise`, or anywhere, and call wrongly now and then."""
    rng = np.random.default_rng(seed)
    marked = []
    for text in range(n_texts):
        true, label = int(rng.integers(20, 160)), int(rng.integers(2))
        for rater in raters:
            start = int(rng.integers(0, 180)) if noise is None else true + int(rng.integers(-noise, noise + 1))
            own = label if noise is not None and rng.random() >= wrong else int(rng.integers(2))
            marked.append(Marked(text, rater, ((start, start + 20),), 200, cluster=text // 2, labels=(own,)))
    return marked


def test_random_annotation_has_a_gamma_of_about_0():
    assert abs(gamma(strewn(400, 1, raters="xy"), n_draws=1000).estimate) < 0.04


def test_more_noise_in_place_or_label_gives_less():
    place = [gamma(strewn(80, 3, noise, raters="xy"), n_draws=200).estimate for noise in (0, 3, 8, 16)]
    label = [gamma(strewn(80, 3, 0, wrong, raters="xy"), n_draws=200).estimate for wrong in (0, 0.3, 0.6, 1)]
    for found in (place, label):
        assert found[0] == 1
        assert sorted(found, reverse=True) == found
        assert len(set(found)) == 4


def test_without_weight_labels_do_not_count():
    found = gamma(strewn(20, 5, 0, wrong=1), label_weight=0, n_draws=50)
    assert found.estimate == 1


def test_the_same_seed_gives_the_same_figure_and_intervals_resample_clusters():
    marked = strewn(60, 6, 6, 0.2, raters="xy")
    found = gamma(marked, n_draws=150)
    assert gamma(marked, n_draws=150).estimate == found.estimate != gamma(marked, n_draws=150, seed=1).estimate
    interval = found.confidence_interval(300)
    assert interval.n_clusters == 30
    assert interval.low < found.estimate < interval.high


def test_undefined_and_left_out_texts_are_said():
    assert gamma([Marked("t", "x", ((0, 5),), 9)]).undefined == "no text has two raters"
    assert "nobody marked anything" in gamma([Marked("t", rater, (), 9) for rater in "xy"]).undefined
    many = [Marked("t", rater, tuple((i, i + 1) for i in range(150)), 200) for rater in "xyz"]
    found = gamma([*many, *strewn(4, 1, 2), Marked("alone", "x", (), 50)], n_draws=20)
    assert found.left_out == {"one rater only": 1, "too many spans to align": 1}
    assert found.n_pairable == 4


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"position_weight": 0, "label_weight": 0}, "not both 0"),
        ({"label_weight": -1}, "at least 0"),
        ({"n_draws": 0}, "n_draws"),
    ],
)
def test_wrong_settings_are_refused(options, reason):
    with pytest.raises(ValueError, match=reason):
        gamma(strewn(2, 1, 1), **options)

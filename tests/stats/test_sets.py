"""Agreement about sets of labels, against nltk and the krippendorff package with distances handed to them."""

import krippendorff
import numpy as np
import pytest
from nltk.metrics import masi_distance as nltk_masi
from nltk.metrics.agreement import AnnotationTask
from nltk.metrics.distance import jaccard_distance as nltk_jaccard

from analysis.stats import Labels, jaccard_distance, masi_distance, set_alpha

SETS = [frozenset(one) for one in ("a", "b", "ab", "abc", "bc", "c", "d", "acd")]


def drawn(seed: int) -> list[tuple[str, str, frozenset]]:
    """Rows of rater, unit and set; a third of the labels are missing."""
    rng = np.random.default_rng(seed)
    rows = []
    for unit in range(25):
        usual = int(rng.integers(len(SETS)))
        for rater in range(4):
            if rng.random() < 2 / 3:
                chosen = usual if rng.random() < 0.6 else int(rng.integers(len(SETS)))
                rows.append((f"r{rater}", f"u{unit}", SETS[chosen]))
    several = [unit for unit in {row[1] for row in rows} if sum(row[1] == unit for row in rows) > 1]
    return [row for row in rows if row[1] in several]


def coded(rows) -> Labels:
    rater, unit, sets = zip(*rows, strict=True)
    names = ["".join(sorted(one)) for one in SETS]
    return Labels.from_columns(unit, rater, ["".join(sorted(one)) for one in sets], names)


@pytest.mark.parametrize("seed", range(5))
def test_alpha_is_that_of_nltk_and_of_the_krippendorff_package(seed):
    rows = drawn(seed)
    of_nltk = AnnotationTask(data=rows, distance=nltk_jaccard).alpha()
    assert set_alpha(coded(rows), SETS, "jaccard").estimate == pytest.approx(of_nltk, abs=1e-12)
    # NLTK rounds MASI's 2/3 and 1/3 to two digits, so it is near only.
    of_nltk = AnnotationTask(data=rows, distance=nltk_masi).alpha()
    found = set_alpha(coded(rows), SETS, "masi")
    assert found.estimate == pytest.approx(of_nltk, abs=0.005)
    table = np.full((4, 25), np.nan)
    for rater, unit, one in rows:
        table[int(rater[1:]), int(unit[1:])] = SETS.index(one)

    def between(v1, v2, **_):
        of = np.vectorize(lambda a, b: masi_distance(SETS[int(a)], SETS[int(b)]))
        return of(*np.broadcast_arrays(v1, v2))

    expected = krippendorff.alpha(table, value_domain=np.arange(len(SETS)), level_of_measurement=between)
    assert found.estimate == pytest.approx(expected, abs=1e-12)
    interval = found.confidence_interval(n_resamples=200)
    assert interval.low < found.estimate < interval.high


def test_distances_are_passonneaus():
    # Passonneau (2006): 1 for equal sets, 2/3 for a subset, 1/3 for an overlap, 0 for disjoint ones, times Jaccard's.
    assert masi_distance("ab", "ba") == 0 == jaccard_distance("ab", "ba")
    assert masi_distance("a", "ab") == pytest.approx(1 - 1 / 2 * 2 / 3)
    assert masi_distance("ab", "bc") == pytest.approx(1 - 1 / 3 * 1 / 3)
    assert masi_distance("a", "b") == 1 == masi_distance("", "a") == jaccard_distance("", "a")
    assert masi_distance("", "") == 0 == jaccard_distance("", "")
    for a in SETS:
        for b in SETS:
            assert jaccard_distance(a, b) == pytest.approx(nltk_jaccard(a, b))
            assert masi_distance(a, b) == pytest.approx(nltk_masi(a, b), abs=0.005)


def test_the_empty_set_is_an_answer_and_what_cannot_be_is_said():
    labels = Labels.from_columns("aabb", "xyxy", ["none", "p", "none", "none"], ["none", "p"])
    found = set_alpha(labels, [(), ("p",)], "jaccard")
    assert (found.observed, found.expected) == (pytest.approx(1 / 2), pytest.approx(1 / 2))
    assert set_alpha(Labels.from_columns("aa", "xy", "pp", "pq"), ["p", "q"]).undefined
    with pytest.raises(ValueError, match="masi or jaccard"):
        set_alpha(labels, [(), ("p",)], "hamming")
    with pytest.raises(ValueError, match="1 sets for 2"):
        set_alpha(labels, [()])

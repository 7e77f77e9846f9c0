"""Who needs a look: one rule for all people of a project, which names nobody by chance in 95 of 100 projects.

Each person is compared with all the others together: in the share of checks passed, in agreement with others, and in
agreement with decisions, by Fisher's exact test that theirs is lower; and in how agreement with others changes from the
first half of their items to the second, by Woolf's test, since one person who changes takes the agreement of all others
along, and so do items that become harder; who was found to change is left out of the rest for the others. The p of all
people and comparisons are corrected together (Holm). Shares of an item count as a case where they are added up; they
vary less than cases do, so that the tests err on the side of naming nobody.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from analysis.progress.counting import PersonFigures
from analysis.stats.exact import fisher_less, interaction, step_down

LEVEL = 0.05
MIN_ITEMS = 20  # with another answer or a decision: who has fewer is not compared, and shown in grey
MIN_CHECKS = 5
LEAST_DIFFERENCE = 0.05  # a smaller one is not worth a look, however certain it is
# Kind -> what is the matter, for a sentence that begins with the person.
REASONS = {
    "checks": "passed fewer checks than the others",
    "others": "agrees less with others",
    "decided": "agrees less with decisions",
    "drift": "agrees {} with others in the second half of the items than in the first, other than the rest",
}
LEAST_N = {"checks": MIN_CHECKS, "others": MIN_ITEMS, "decided": MIN_ITEMS}
RULE = (
    f"Needs a look: passed fewer checks or agrees less than the others together (Fisher's exact test), or changes "
    f"otherwise than they do from the first half of the items to the second (Woolf's test), by "
    f"{100 * LEAST_DIFFERENCE:.0f} points or more and with p < {LEVEL} after Holm's correction for all people and "
    f"comparisons; who was found to change is not among the others then. Who has fewer than {MIN_ITEMS} items "
    f"with another answer, or {MIN_CHECKS} checks, is not compared."
)

_Test = tuple[float, bool, str, str]  # p, whether it is worth a look, person, what is the matter


def standouts(people: Mapping[str, PersonFigures]) -> dict[str, list[str]]:
    """By person, what is the matter, of those with anything."""
    lower: list[_Test] = []
    for kind, least in LEAST_N.items():
        total, n = (sum(getattr(one, kind)[place] for one in people.values()) for place in (0, 1))
        for who, one in people.items():
            cases, items = getattr(one, kind)
            if items < least or n == items:
                continue
            others, other_n = total - cases, n - items
            p = fisher_less(min(items, _up(cases)), items, math.floor(others + 1e-6), other_n)
            lower.append((p, others / other_n - cases / items >= LEAST_DIFFERENCE, who, REASONS[kind]))
    # One by one, the clearest first, and the others then without them: who did not change would otherwise differ from a
    # rest that holds those who did.
    left, changed = dict(people), []
    while True:
        changes = _changes(left)
        tests = [*lower, *changed, *changes]
        adjusted = step_down([p for p, *_ in tests])
        certain = [test for p, test in zip(adjusted, tests, strict=True) if p < LEVEL and test[1]]
        clearest = min({*certain} & {*changes}, default=None)
        if clearest is None:
            break
        changed.append(clearest)
        del left[clearest[2]]
    found: dict[str, list[str]] = {}
    for _, _, who, words in certain:
        found.setdefault(who, []).append(words)
    return found


def _changes(people: Mapping[str, PersonFigures]) -> list[_Test]:
    """From the first half of the items to the second, each person compared with the rest."""
    found = []
    everybody = [sum(part) for part in zip(*((*one.first, *one.second) for one in people.values()), strict=True)]
    for who, one in people.items():
        own = (*one.first, *one.second)
        rest = tuple(all_of - mine for all_of, mine in zip(everybody, own, strict=True))
        if own[1] + own[3] < 2 * MIN_ITEMS or not rest[1] or not rest[3]:
            continue
        change, usual = ((after / m - before / n) for before, n, after, m in (own, rest))
        words = REASONS["drift"].format("more" if change > usual else "less")
        found.append((interaction(own, rest), abs(change - usual) >= LEAST_DIFFERENCE, who, words))
    return found


def _up(cases: float) -> int:
    return math.ceil(cases - 1e-6)

"""Every kind of judgement from the file to the figure: imported, labelled in Chromium by keyboard alone, exported,
brought into an empty Assay, and with an agreement that was computed by hand.

The whole way is gone with some ten items of two kinds, where everybody sits before Chromium with a keyboard, and in the
slow tests with every kind at the papers' sizes (papers.py says which, and what the papers leave open). There the first
person sits before Chromium for the first items; all others are answered by what the page's requests call
(`outbox.Writer`), for a small part of the processor time. What pages send is always held to `outbox.body_of`.

Labels go round in cycles of units, so the coincidences of the whole are those of one cycle times the number of cycles
k. What stands beside each journey is worked out from one cycle:

    percent agreement     the mean over units of the share of pairs of labels that are equal
    Cohen's kappa         (Po - Pe) / (1 - Pe), Pe from the two persons' own label counts
    Fleiss' kappa         the same with Pe from all persons' labels together
    Krippendorff's alpha  1 - (n - 1) (sum of unequal coincidences) / (n^2 - sum of n_c^2), where n = values in all;
                          a unit with m values adds (ordered pairs of unequal values) / (m - 1) to the coincidences
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction as F
from functools import partial

import pytest
from playwright.sync_api import expect

from annotation.models import Project
from tests.world.exported import export, files_in, through_an_empty_assay

from . import browser, kinds, papers
from .plans import Plan

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@dataclass(frozen=True, slots=True)
class ByHand:
    percent: F
    alpha: Callable[[int], F]  # of the number of cycles
    fleiss: F
    cohen: dict[str, F] = field(default_factory=dict)  # by the two persons' numbers


@dataclass(frozen=True, slots=True)
class Journey:
    make: Callable[..., Plan]
    figures: dict[str, ByHand]
    begin: Callable[..., Project] = kinds.begin
    also: Callable[..., None] = lambda plan, slug, capsys: None
    in_chromium: int = 30  # items of the first person at a paper's size: several cycles, later ones go the same way


def coverage_by_hand(plan: Plan, slug: str, capsys) -> None:
    """The majority says y, n, y, n and so on: what is divided stands seventh (yyn) and eighth (nyn) in the cycle. So
    each answer covers those of its aspects that have an even place in the whole."""
    report = kinds.report(capsys, slug, "coverage")
    found = {row["response"]: (row["covered"], row["n_aspects"], row["coverage"]) for row in report["responses"]}
    place = 0
    for sheet in plan.sheets.values():
        aspects = range(place, place := place + len(sheet.units))
        covered = sum(number % 2 == 0 for number in aspects)
        assert found.pop(sheet.key) == (covered, len(aspects), pytest.approx(covered / len(aspects), abs=1e-9))
    assert not found


JOURNEYS = [
    # Per 8 aspects: yyy 3, nnn 3, yyn 1, nyn 1. Two persons of three agree in one pair of three where they are divided:
    # (6 + 1/3 + 1/3) / 8 = 5/6. Values y 9 + 2 + 1 = 12, n 12: Pe = 1/2, Fleiss (5/6 - 1/2) / (1/2) = 2/3.
    # Alpha: a divided unit has 2 + 2 ordered unequal pairs, over m - 1 = 2 makes 2, so 4 k in all; n = 24 k,
    # n^2 - (12 k)^2 - (12 k)^2 = 288 k^2: 1 - (24 k - 1) 4 k / 288 k^2.
    # y by person: 4, 5, 3 of 8. 0-1: Po 7/8, Pe (20 + 12)/64 = 1/2, kappa 3/4. 0-2: the same. 1-2: Po 6/8,
    # Pe (15 + 15)/64: (48 - 30)/(64 - 30) = 9/17.
    Journey(
        papers.aspect_coverage,
        {
            "coverage": ByHand(
                F(5, 6), lambda k: 1 - F(24 * k - 1, 72 * k), F(2, 3), {"01": F(3, 4), "02": F(3, 4), "12": F(9, 17)}
            )
        },
        also=coverage_by_hand,
    ),
    # Per 5 questions: ss 2, ii 2, si 1. Po 4/5. s: 3 and 2 of 5, Pe (6 + 6)/25: (20 - 12)/(25 - 12) = 8/13.
    # All values s 5, i 5: Fleiss (4/5 - 1/2)/(1/2) = 3/5. Alpha: n = 10 k, unequal 2 k, n^2 - 25 k^2 - 25 k^2 = 50 k^2.
    Journey(
        papers.sufficient_context,
        {"sufficiency": ByHand(F(4, 5), lambda k: 1 - F(10 * k - 1, 25 * k), F(3, 5), {"01": F(8, 13)})},
    ),
    # Per 5 answers: pp, ii, mm, pa, ai. Po 3/5. First p 2 a 1 i 1 m 1, second p 1 a 1 i 2 m 1: Pe (2 + 1 + 2 + 1)/25:
    # (15 - 6)/(25 - 6) = 9/19. All values p 3 a 2 i 3 m 2: Pe (9 + 4 + 9 + 4)/100, Fleiss (60 - 26)/(100 - 26) = 17/37.
    # Alpha: unequal 4 k, n^2 - 26 k^2 = 74 k^2.
    # Derived: correct (c) from p and a, hallucinate (h) from i, abstain (m): cc, hh, mm, cc, ch. Po 4/5. First c 3 h 1
    # m 1, second c 2 h 2 m 1: Pe (6 + 2 + 1)/25: (20 - 9)/(25 - 9) = 11/16. All values c 5 h 3 m 2:
    # Pe (25 + 9 + 4)/100, Fleiss (80 - 38)/(100 - 38) = 21/31. Alpha: unequal 2 k, 62 k^2.
    Journey(
        papers.answer_grade,
        {
            "grade": ByHand(F(3, 5), lambda k: 1 - F(2 * (10 * k - 1), 37 * k), F(17, 37), {"01": F(9, 19)}),
            "grade.outcome": ByHand(F(4, 5), lambda k: 1 - F(10 * k - 1, 31 * k), F(21, 31), {"01": F(11, 16)}),
        },
    ),
    # Per 10 pairs: ee 3, nn 4, en 2, ne 1. Po 7/10. e: 5 and 4 of 10, Pe (20 + 30)/100: (7 - 5)/(10 - 5) = 2/5.
    # All values e 9, n 11: Pe (81 + 121)/400, Fleiss (280 - 202)/(400 - 202) = 78/198 = 13/33.
    # Alpha: n = 20 k, unequal 6 k, n^2 - 202 k^2 = 198 k^2.
    Journey(
        papers.nli_two,
        {"entailment": ByHand(F(7, 10), lambda k: 1 - F(20 * k - 1, 33 * k), F(13, 33), {"01": F(2, 5)})},
        kinds.begin_in_the_browser,
        in_chromium=200,  # one sitting from the first item to the last
    ),
    # Per 10 pairs: ee 3, nn 3, cc 2, en 1, nc 1. Po 4/5. First e 4 n 4 c 2, second e 3 n 4 c 3: Pe (12 + 16 + 6)/100:
    # (80 - 34)/(100 - 34) = 23/33. All values e 7 n 8 c 5: Pe (49 + 64 + 25)/400, Fleiss (320 - 138)/(400 - 138) =
    # 91/131. Alpha: unequal 4 k, n^2 - 138 k^2 = 262 k^2.
    Journey(
        papers.nli_three,
        {"entailment": ByHand(F(4, 5), lambda k: 1 - F(2 * (20 * k - 1), 131 * k), F(91, 131), {"01": F(23, 33)})},
    ),
    # Per 10 documents: ii 5, nn 4, in 1. Po 9/10. i: 6 and 5 of 10, Pe (30 + 20)/100: (9 - 5)/(10 - 5) = 4/5.
    # All values i 11, n 9: Pe (121 + 81)/400, Fleiss (360 - 202)/(400 - 202) = 79/99. Alpha: unequal 2 k, 198 k^2.
    Journey(
        papers.evidence_inclusion,
        {"inclusion": ByHand(F(9, 10), lambda k: 1 - F(20 * k - 1, 99 * k), F(79, 99), {"01": F(4, 5)})},
        kinds.begin_in_the_browser,
    ),
    # Per 10 claims, form: gg 6, bb 3, bg 1. Po 9/10. g: 6 and 7 of 10, Pe (42 + 12)/100: (90 - 54)/(100 - 54) = 18/23.
    # All values g 13, b 7: Pe (169 + 49)/400, Fleiss (360 - 218)/(400 - 218) = 71/91. Alpha: unequal 2 k, 182 k^2.
    # The fault of what is badly formed: cc, pp, pc, and v of one person alone, whom the other's label left unasked.
    # Three units have pairs: Po 2/3; first c 1 p 2, second c 2 p 1, Pe (2 + 2)/9: (6 - 4)/(9 - 4) = 2/5. Fleiss with
    # unequal numbers of labels takes each unit's own shares, the single one included: c (1 + 1/2)/4, p the same, v 1/4,
    # Pe (9 + 9 + 4)/64 = 11/32, (2/3 - 11/32)/(21/32) = 31/63. Alpha leaves the single value out: c 3, p 3, n = 6 k,
    # unequal 2 k, 36 k^2 - 18 k^2 = 18 k^2.
    Journey(
        papers.atomic_claims,
        {
            "form": ByHand(F(9, 10), lambda k: 1 - F(20 * k - 1, 91 * k), F(71, 91), {"01": F(18, 23)}),
            "fault": ByHand(F(2, 3), lambda k: 1 - F(6 * k - 1, 9 * k), F(31, 63), {"01": F(2, 5)}),
        },
    ),
    # Per 10 aspects: rr 8, nn 1, rn 1. Po 9/10. r: 9 and 8 of 10, Pe (72 + 2)/100: (90 - 74)/(100 - 74) = 8/13.
    # All values r 17, n 3: Pe (289 + 9)/400, Fleiss (360 - 298)/(400 - 298) = 31/51. Alpha: unequal 2 k, 102 k^2.
    Journey(
        papers.aspect_relevance,
        {"relevance": ByHand(F(9, 10), lambda k: 1 - F(20 * k - 1, 51 * k), F(31, 51), {"01": F(8, 13)})},
    ),
    # Per 10 pieces: ee 4, nn 2, cc 1, bb 1, en 1, ec 1. Po 4/5. First e 6 n 2 c 1 b 1, second e 4 n 3 c 2 b 1:
    # Pe (24 + 6 + 2 + 1)/100: (80 - 33)/(100 - 33) = 47/67. All values e 10 n 5 c 3 b 2: Pe (100 + 25 + 9 + 4)/400,
    # Fleiss (320 - 138)/(400 - 138) = 91/131. Alpha: unequal 4 k, 262 k^2.
    Journey(
        papers.sub_sentences,
        {"entailment": ByHand(F(4, 5), lambda k: 1 - F(2 * (20 * k - 1), 131 * k), F(91, 131), {"01": F(47, 67)})},
    ),
    # Per 10 triplets: ee 6, nn 2, cc 1, eb 1. Po 9/10. First e 7 n 2 c 1, second e 6 n 2 c 1 b 1: Pe (42 + 4 + 1)/100:
    # (90 - 47)/(100 - 47) = 43/53. All values e 13 n 4 c 2 b 1: Pe (169 + 16 + 4 + 1)/400,
    # Fleiss (360 - 190)/(400 - 190) = 17/21. Alpha: unequal 2 k, 210 k^2.
    Journey(
        papers.triplets,
        {"entailment": ByHand(F(9, 10), lambda k: 1 - F(20 * k - 1, 105 * k), F(17, 21), {"01": F(43, 53)})},
    ),
]


def name_of(journey: Journey) -> str:
    return journey.make.__name__


def expected_figures(by_hand: ByHand, plan: Plan) -> dict[str, float]:
    found = {
        "percent_agreement": by_hand.percent,
        "krippendorff_alpha_nominal": by_hand.alpha(plan.cycles),
        "fleiss_kappa": by_hand.fleiss,
    }
    for (a, b), kappa in by_hand.cohen.items():
        found["cohen " + " ".join(sorted((f"{plan.name}-{a}", f"{plan.name}-{b}")))] = kappa
    return {name: float(value) for name, value in found.items()}


def check_figures(journey: Journey, plan: Plan, report: dict) -> None:
    assert list(report) == list(journey.figures)
    for dimension, by_hand in journey.figures.items():
        shown = kinds.figures(report[dimension])
        for name, value in expected_figures(by_hand, plan).items():
            assert shown[name] == pytest.approx(value, abs=1e-9), (dimension, name)


def check_page(page, journey: Journey, plan: Plan, project: Project, report: dict) -> None:
    """The page shows what the command prints, to three places."""
    page.goto(f"/projects/{project.slug}/agreement/")
    kinds.work_off()
    for dimension, by_hand in journey.figures.items():
        rows = browser.figures(page, report[dimension]["title"])
        shown = {name: cells[0] for name, cells in rows.items()}
        assert shown["Percent agreement (mean over items)"] == f"{float(by_hand.percent):.3f}"
        assert shown["Krippendorff's alpha, nominal"] == f"{float(by_hand.alpha(plan.cycles)):.3f}"
        assert shown["Fleiss' kappa"] == f"{float(by_hand.fleiss):.3f}"


def export_in_the_browser(page, project: Project, folder) -> dict[str, bytes]:
    page.goto(f"/projects/{project.slug}/exports/")
    page.get_by_role("button", name="Export", exact=True).click()
    expect(page.get_by_text("Export of")).to_be_visible(timeout=browser.STEP_MS)
    kinds.work_off()
    links = page.locator('a[href^="/artifacts/"]')
    expect(links.first).to_be_visible(timeout=browser.STEP_MS)
    page.wait_for_load_state()  # else there may be more links to come
    folder.mkdir()
    for link in links.all():
        with page.expect_download() as started:
            link.click()
        started.value.save_as(folder / started.value.suggested_filename.removeprefix(f"{project.slug}-"))
    return files_in(folder)


def same_figures(report: dict, before: dict) -> None:
    """People are called by their pseudonyms elsewhere; everything else is the same."""
    assert list(report) == list(before)
    for dimension in before:
        one, other = report[dimension], before[dimension]
        assert one["figures"] == other["figures"] and one["labels"] == other["labels"]
        assert sorted(pair["estimate"] for pair in one["pairs"]) == sorted(pair["estimate"] for pair in other["pairs"])


def go_the_whole_way(open_context, folder, capsys, journey: Journey, plan: Plan, label_all, empty_assay) -> None:
    project = journey.begin(open_context, plan, folder)
    label_all(open_context, plan, project)
    kinds.check_stored(plan, project)
    report = kinds.agreement(capsys, project.slug)
    check_figures(journey, plan, report)
    journey.also(plan, project.slug, capsys)
    researcher = open_context(project.created_by)
    page = researcher.new_page()
    check_page(page, journey, plan, project, report)
    first = export_in_the_browser(page, project, folder / "first")
    assert export(project, folder / "by command") == first
    researcher.close()
    again, report_again = empty_assay(folder / "first", folder / "again", project.slug, plan.task_type)
    assert again == first
    same_figures(report_again, report)


# Pieces of one answer, and pairs: with everybody in Chromium, and through an Assay that is a process of its own.
BOTH_WAYS = ("triplets", "nli_two")


def in_an_emptied_assay(capsys, source, folder, slug, kind):
    return kinds.in_an_emptied_assay(source, folder, slug, kind), kinds.agreement(capsys, slug)


def in_another_assay(capsys, source, folder, slug, kind):
    files = through_an_empty_assay(source, folder, slug, kind)
    return files, kinds.by_dimension(json.loads((folder / "out-agreement.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("journey", [one for one in JOURNEYS if name_of(one) in BOTH_WAYS], ids=name_of)
def test_the_whole_way_with_some_ten_items(open_context, tmp_path, capsys, journey):
    plan, emptied = journey.make(paper=False), partial(in_an_emptied_assay, capsys)
    go_the_whole_way(open_context, tmp_path, capsys, journey, plan, kinds.everybody_in_chromium, emptied)


@pytest.mark.slow
@pytest.mark.parametrize("journey", JOURNEYS, ids=name_of)
def test_the_whole_way_at_the_papers_size(open_context, tmp_path, capsys, journey):
    empty = in_another_assay if name_of(journey) in BOTH_WAYS else in_an_emptied_assay
    label_all = partial(kinds.one_in_chromium, items=journey.in_chromium)
    plan, emptied = journey.make(), partial(empty, capsys)
    go_the_whole_way(open_context, tmp_path, capsys, journey, plan, label_all, emptied)

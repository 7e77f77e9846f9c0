"""What the page on agreement begins with: the coefficient that fits the design, and what its value means."""

import msgspec
import pytest
from scipy.stats import fisher_exact

from analysis.figures.page import first_that_applies
from analysis.figures.results import PENDING, Ends, Figure
from analysis.reports.agreement.agreement.answer import NEXT, RULES, Recommended, recommended, word_of
from analysis.reports.agreement.agreement.result import QuestionAgreement
from analysis.reports.metrics import get_report
from analysis.sources.files import source_of_files
from annotation.models import Project
from tests.world.labels import items_of, make_rater, project_of, say

pytestmark = pytest.mark.django_db
YES, NO = "relevant", "not_relevant"
REPORT = get_report("agreement")


def question(project, slug: str = "relevance") -> QuestionAgreement:
    return next(one for one in REPORT.read(REPORT.compute(project)).dimensions if one.dimension == slug)


def labelled(labels) -> Project:
    """Two people label the same units: alike but for every fourth. `labels` are those of a unit, one or the other."""
    project = project_of(24, claims=24)
    for name, wrong in (("Anna", 0), ("Ben", 4)):
        rater = make_rater(project, name)
        for number, item in enumerate(items_of(project)):
            say(item, rater, *labels[(number % 3 > 0) != bool(wrong and number % wrong == 0)])
    return project


@pytest.fixture(scope="module")
def relevance(tmp_path_factory) -> QuestionAgreement:
    """The labels of `two_people` as a table, computed once."""
    path = tmp_path_factory.mktemp("labels") / "table.csv"
    people = [(who, unit, wrong and unit % wrong == 0) for who, wrong in (("a", 0), ("b", 4)) for unit in range(24)]
    rows = [f"{unit},{who},{YES if (unit % 3 > 0) != bool(errs) else NO}" for who, unit, errs in people]
    path.write_text("\n".join(["item,rater,label", *rows]))
    [found] = REPORT.read(REPORT.compute(source_of_files(path))).dimensions
    return msgspec.structs.replace(found, title="Relevance")


@pytest.fixture
def two_people():
    return labelled(((NO,), (YES, "supports")))


def test_two_people_on_the_same_units_get_kappa_and_any_other_design_alpha(two_people):
    relevance = question(two_people)
    assert recommended(relevance) == Recommended(relevance, "Cohen's kappa", relevance.pairs[0], False)
    # Of the stance, who finds a unit not relevant says nothing.
    assert recommended(question(two_people, "stance")).title == "Krippendorff's alpha (ordinal)"
    stance = question(labelled(((YES, "refutes"), (YES, "supports"))), "stance")
    found = recommended(stance)
    assert (found.title, found.figure) == ("Cohen's kappa (quadratic weights)", stance.pairs[0].quadratic)
    # One answer is missing: not all units have labels of both.
    two_people.items.order_by("position").last().annotations.filter(rater__name="Ben").update(is_surplus=True)
    found = recommended(question(two_people))
    assert (found.title, found.is_alpha) == ("Krippendorff's alpha (nominal)", True)


def test_a_third_person_and_exchangeable_raters_get_alpha(two_people):
    say(items_of(two_people)[0], make_rater(two_people, "Cleo"), YES)
    assert recommended(question(two_people)).is_alpha
    project = project_of(6)
    for _ in range(2):
        slot = make_rater(project, kind="slot")
        for number, item in enumerate(items_of(project)):
            say(item, slot, YES if number % 2 else NO)
    assert recommended(question(project)).is_alpha


def figure(estimate, low=None, high=None, undefined="", why="", note="") -> Figure:
    ends = Ends(undefined=why, note=note)
    return Figure(estimate=estimate, low=low, high=high, undefined=undefined, interval=ends, n_pairable=40)


# A figure, whether it is alpha, p of the test against chance, what is said of it, what is to be done next.
BELOW = "is below .667, under which"
CASES = {
    "undefined": (figure(None, undefined="only one label was used"), True, None, "is undefined: only one", "other"),
    "pending": (
        figure(0.5, why=PENDING),
        True,
        None,
        "= 0.500, over 40 units with two labels or more (the interval is still being",
        "",
    ),
    "no interval": (
        figure(1.0, why="one cluster"),
        True,
        0.01,
        "(no interval: one cluster). They agree beyond",
        "more",
    ),
    "not shown": (
        figure(0.1, -0.1, 0.3),
        True,
        0.2,
        "beyond chance is not shown (permutation test, p = 0.200)",
        "read",
    ),
    "not shown, and how strong": (figure(0.1, -0.1, 0.3), True, 0.2, f"Alpha {BELOW}", "read the"),
    # The test decides, whatever the interval says: page and sentence never contradict each other.
    "test and interval": (
        figure(0.8, -0.1, 1.0),
        True,
        0.014,
        "agree beyond chance (permutation test, p = 0.014)",
        "plan",
    ),
    "interval and test": (
        figure(0.2, 0.01, 0.4),
        True,
        0.06,
        "beyond chance is not shown (permutation test, p",
        "read",
    ),
    "kappa not shown": (figure(0.1, -0.1, 0.3), False, 0.3, "same two people. Agreement beyond chance is not", "read"),
    "kappa": (
        figure(0.5, 0.3, 0.7),
        False,
        0.001,
        "They agree beyond chance (permutation test, p = 0.001)",
        "read the",
    ),
    "kappa, and how strong": (figure(0.5, 0.3, 0.7), False, 0.001, "Krippendorff's alpha is 0.", "read the"),
    "below chance": (figure(-0.4, -0.6, -0.2), True, 0.99, "In these labels they agree less often than by", "read"),
    "numbers": (figure(0.9, 0.85, 0.95), True, None, "They agree beyond chance (the interval lies above zero)", ""),
    "reliable": (figure(0.9, 0.85, 0.95), True, 0.001, "Alpha reaches .800, from which Krippendorff (2004) calls", ""),
    "reliable?": (
        figure(0.82, 0.7, 0.9),
        True,
        0.001,
        "Its interval includes .800: Krippendorff",
        "plan how many more labels",
    ),
    "tentative": (figure(0.7, 0.68, 0.72), True, 0.001, "tentative conclusions only (Krippendorff 2004).", "read the"),
    "tentative?": (figure(0.7, 0.6, 0.8), True, 0.001, "Its interval includes .667 and .800: Kripp", "read the units"),
    "unreliable": (figure(0.3, 0.2, 0.4), True, 0.001, "[0.200, 0.400], over 40 units with two labels or", "read"),
    "few informative": (
        figure(0.3, 0.2, 0.4, note="rests on only 3 units that differ and may be too narrow"),
        True,
        0.4,
        "or more. Caution: the interval rests on only 3 units that differ and may be too narrow. Agreement",
        "read",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_page_begins_with_its_answer(relevance, name):
    found, is_alpha, p, says, next_step = CASES[name]
    asked = msgspec.structs.replace(relevance, chance=msgspec.structs.replace(relevance.chance, p_value=p))
    one = Recommended(asked, "Krippendorff's alpha (nominal)", found, is_alpha)
    said, then = (first_that_applies(rules, one) for rules in (RULES, NEXT))
    assert said.startswith("Relevance: ") and says in said and said.endswith(".")
    assert next_step in then


WORDS = {
    "undefined": "",
    "pending": "",
    "reliable": "reliable, .800 or more",
    "reliable?": "undecided, the interval includes .800",
    "tentative": "tentative, .667 to .800",
    "tentative?": "undecided, the interval includes .667 and .800",
    "unreliable": "below .667",
}


def test_lists_say_in_a_word_what_alpha_means(two_people):
    asked = question(two_people)
    assert {name: word_of(Recommended(asked, "alpha", CASES[name][0], True)) for name in WORDS} == WORDS
    of_kappa = word_of(Recommended(asked, "Cohen's kappa", CASES["kappa"][0], False))
    assert of_kappa.startswith("alpha 0.")  # the bounds are those of alpha


def from_table(tmp_path, columns) -> str:
    """The first sentence on labels of two people, "-" for none."""
    path = tmp_path / "table.csv"
    both = zip("ab", columns, strict=True)
    rows = [f"{unit},{who},{label}" for who, labels in both for unit, label in enumerate(labels)]
    path.write_text("\n".join(["item,rater,label", *(row for row in rows if not row.endswith("-"))]))
    return REPORT.page_of(REPORT.compute(source_of_files(path))).answer.sentences[0]


def test_a_missing_label_changes_the_coefficient_and_not_the_words(tmp_path):
    """Two people agree on 15 of 20 units; one of 40 labels is missing."""
    a, b = "xxxxxxxxxxyyyyyyyyyy", "xxxxxxxyyyyyyyyyyyxx"
    complete, missing = from_table(tmp_path, (a, b)), from_table(tmp_path, (a, b[:-1] + "-"))
    assert "Cohen's kappa = " in complete and "Krippendorff's alpha (nominal) = " in missing
    for words in ("They agree beyond chance (permutation test, p = 0.0", "ts interval includes .667"):
        assert words in complete and words in missing


def test_few_units_whose_test_finds_agreement_are_said_to_agree(tmp_path):
    """Twelve units, one disagreement: kappa is .800, its interval reaches below 0, and Fisher's exact test has .018."""
    said = from_table(tmp_path, ("pppnnnnnnnnn", "pppnnnnnnnnp"))
    p = fisher_exact([[3, 0], [1, 8]], alternative="greater").pvalue
    assert "Cohen's kappa = 0.800 [" in said and p == pytest.approx(0.018, abs=0.001)
    assert "They agree beyond chance (permutation test, p = 0.01" in said


def test_where_nobody_or_one_person_labelled_the_page_says_so_and_what_to_do():
    project = project_of(3)
    begins = REPORT.page_of(REPORT.compute(project)).answer
    assert begins.sentences == ("Nobody has labelled any of the 3 units yet.",) and "two people" in begins.next
    say(items_of(project)[0], make_rater(project), YES)
    begins = REPORT.page_of(REPORT.compute(project)).answer
    assert begins.sentences == ("Relevance: Krippendorff's alpha (nominal) is undefined: no unit has two labels.",)
    assert begins.next.startswith("let a second person label") and begins.picture is None
    unlabelled = recommended(msgspec.structs.replace(question(project), n_labels=0))
    assert first_that_applies(RULES, unlabelled) == "Relevance: nobody has labelled it."


def test_the_page_holds_answer_picture_and_n_and_the_paragraph_the_results(two_people):
    result = REPORT.compute(two_people)
    begins = REPORT.page_of(result).answer
    kappa = recommended(question(two_people)).figure
    said = f"{kappa.estimate:.3f} [{kappa.low:.3f}, {kappa.high:.3f}]"
    assert f"Cohen's kappa = {said}, over 24 units" in begins.sentences[0]
    assert begins.n.startswith("n = 24 units of 24 items, 2 raters (everyone who labelled); Relevance: 48 labels")
    assert begins.picture.items[0].value == kappa.estimate
    assert f"relevance, Cohen's kappa {said}" in REPORT.methods(result)


def test_people_stand_by_their_pseudonyms_in_tables(two_people):
    tables = {table.title: table.plain() for table in REPORT.tables(REPORT.compute(two_people))}
    ids = sorted(two_people.raters.values_list("pseudonym", flat=True))
    assert "Relevance: pairs of annotators" in tables
    for title, table in tables.items():
        assert not {"Anna", "Ben"} & {cell for row in table.rows for cell in row if isinstance(cell, str)}
        if "pairs of annotators" in title:
            assert all(sorted(row[:2]) == ids for row in table.rows)

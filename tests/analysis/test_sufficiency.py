"""Sufficient context: autoraters, answers by sufficiency, curves and contains-answer, with effects planted by hand."""

import msgspec
import pytest

from analysis.figures.items import Filter, Items
from analysis.figures.page import first_that_applies
from analysis.figures.results import Figure
from analysis.papers.sufficiency.answer import AUTORATER_RULES, CONTEXT_RULES, CURVE_RULES, MODEL_RULES, NEXT
from analysis.papers.sufficiency.grades import contains_answer
from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from annotation.formats.records import EvidenceRecord, QuestionRecord, ResponseRecord
from annotation.models import Judgement, Question, Response
from tests.factories import make_dataset, make_project
from tests.kinds import bring_in
from tests.world.labels import items_of, make_rater, say
from tests.world.planted import decide, score, suggest

pytestmark = pytest.mark.django_db

SUFFICIENCY, GRADE = "sufficient-context/-/1", "answer-grade/-/1"
N = 40
GRADES = {"c": "perfect", "a": "missing", "h": "incorrect"}
# Outcomes of the 20 questions with sufficient context and of the 20 without, by model and setting.
PLANTED = {
    ("bold", "rag"): ("c" * 16 + "h" * 4, "c" * 4 + "h" * 16),
    ("bold", "closed"): ("c" * 8 + "h" * 12, "c" * 8 + "h" * 12),
    ("shy", "rag"): ("c" * 12 + "a" * 6 + "h" * 2, "c" * 2 + "a" * 16 + "h" * 2),
}


def is_sufficient(number):
    return number < N // 2


def records():
    for number in range(N):
        key = f"q{number:02}"
        yield QuestionRecord(key, f"When did harbour {number} freeze?", answers=("in 1963", "January 1963"))
        yield EvidenceRecord(f"{key}/p0", f"Harbour {number} froze.", question=key, rank=0)
        for (model, setting), outcomes in PLANTED.items():
            said = outcomes[not is_sufficient(number)][number % (N // 2)]
            # Who is right says so in the words of the ground truth, but for every fourth question.
            text = {"c": "It froze in 1963." if number % 4 else "In '63.", "a": "", "h": "It froze in 1971."}[said]
            yield ResponseRecord(
                f"{key}/{model}-{setting}",
                text,
                question=key,
                model=model,
                context_setting=setting,
                metadata={"confidence": (0.9 if said == "c" else 0.1) + number / 1000},
            )


@pytest.fixture
def dataset():
    dataset = make_dataset()
    bring_in(dataset, records())
    return dataset


@pytest.fixture
def sufficiency(dataset):
    project = make_project(dataset, SUFFICIENCY)
    labels = {f"q{number:02}": "sufficient" if is_sufficient(number) else "insufficient" for number in range(N)}
    decide(project, labels, "sufficiency")
    return project


@pytest.fixture
def grades(dataset):
    project = make_project(dataset, GRADE)
    labels = {
        f"q{number:02}/{model}-{setting}": GRADES[outcomes[not is_sufficient(number)][number % (N // 2)]]
        for (model, setting), outcomes in PLANTED.items()
        for number in range(N)
    }
    decide(project, labels, "grade")
    return project


def report(project, **options):
    return get_report("sufficiency").compute(DatabaseSource(project), **options)


def of_system(rows, title):
    return next(row for row in rows if row["title"] == title)


def test_outcomes_by_sufficiency_are_the_planted_ones(sufficiency, grades):
    result = report(sufficiency, reference="imported", grades=grades.slug)
    assert (result["n_sufficient"], result["n_insufficient"], result["n_undecided"]) == (20, 20, 0)
    share = result["share_sufficient"]
    # Half of forty questions: about two standard errors of 0.079 to either side.
    assert (share["estimate"], share["low"], share["high"]) == pytest.approx((0.5, 0.34, 0.66), abs=0.03)
    bold = of_system(result["systems"], "bold / rag")
    estimates = {
        group: tuple(bold["groups"][group][one]["estimate"] for one in ("correct", "abstain", "hallucinate"))
        for group in ("all", "sufficient", "insufficient")
    }
    assert estimates == {"all": (0.5, 0, 0.5), "sufficient": (0.8, 0, 0.2), "insufficient": (0.2, 0, 0.8)}
    # Never abstained in 20 questions: by Clopper and Pearson up to 1 - 0.025 ** (1 / 20).
    assert bold["groups"]["sufficient"]["abstain"]["high"] == pytest.approx(0.1684, abs=1e-4)
    found = bold["difference"]["correct"]
    assert found["estimate"] == pytest.approx(0.6) and 0.25 < found["low"] < 0.6 < found["high"] < 0.9
    shy = of_system(result["systems"], "shy / rag")
    assert shy["groups"]["insufficient"]["abstain"]["estimate"] == 0.8 and shy["n_questions"] == 40
    everything = of_system(result["systems"], "all")
    assert (
        everything["groups"]["all"]["correct"]["n"] == 50 and everything["groups"]["all"]["correct"]["n_units"] == 120
    )
    place = result["systems"].index(bold)
    wanted = Filter({f"system{place}.hallucinate": "yes", "context": "insufficient"})
    assert Items.from_json(result["behind"]).count(wanted) == 16


def test_data_sets_have_their_own_shares(sufficiency, grades):
    """Every second question is of another data set: of the ten of either with sufficient context, eight are right."""
    for question in Question.objects.all():
        Question.objects.filter(pk=question.pk).update(metadata={"dataset": "AB"[int(question.key[1:]) % 2]})
    result = report(sufficiency, reference="imported", grades=grades.slug)
    for name in "AB":
        bold = of_system(result["systems"], f"{name} / bold / rag")
        assert bold["groups"]["sufficient"]["correct"]["estimate"] == 0.8
        assert bold["groups"]["sufficient"]["correct"]["n_units"] == 10
    assert {(row["dataset"], row["model"], row["setting"]) for row in result["settings"]} == {
        ("A", "bold", "rag"),
        ("B", "bold", "rag"),
    }


def test_systems_are_never_called_alike(sufficiency, grades):
    """A model named as another's data set and model together: a picture has one row for each."""
    Response.objects.filter(key__endswith="shy-rag").update(model="rag", context_setting="")
    Response.objects.filter(key__endswith="bold-rag").update(model="", context_setting="rag")
    result = report(sufficiency, reference="imported", grades=grades.slug)
    assert [row["title"] for row in result["systems"]] == ["all", "- / - / rag", "- / bold / closed", "- / rag / -"]
    assert get_report("sufficiency").pictures(result)


def test_settings_with_and_without_context_are_compared_on_the_same_questions(sufficiency, grades):
    (found,) = report(sufficiency, reference="imported", grades=grades.slug)["settings"]
    assert (found["model"], found["setting"], found["from"]) == ("bold", "rag", "closed")
    assert found["difference"]["correct"]["estimate"] == pytest.approx(20 / 40 - 16 / 40)
    assert found["difference"]["correct"]["interval"]["n_clusters"] == 40


def test_an_autorater_is_held_against_people_with_thresholds_chosen_out_of_fold(sufficiency):
    """It finds 18 of 20 and takes 4 too many; its probabilities part them at 0.3 but for these."""
    says = {f"q{number:02}": "sufficient" if number < 18 or number >= 36 else "insufficient" for number in range(N)}
    probability = {key: {"sufficient": 0.8 if label == "sufficient" else 0.1} for key, label in says.items()}
    run = suggest(sufficiency, says, "sufficiency", probability)
    result = report(sufficiency, reference="imported")
    (row,) = result["autoraters"]
    assert row["counts"] == {"hits": 18, "false": 4, "missed": 2, "rest": 16} and row["run"] == str(run.uuid)
    assert row["f1"]["estimate"] == pytest.approx(36 / 42) and row["accuracy"]["estimate"] == 34 / 40
    (swept,) = row["thresholds"]
    assert swept["f1"]["estimate"] == pytest.approx(36 / 42) and set(swept["chosen"]) == {0.15}
    assert swept["roc_auc"]["estimate"] == pytest.approx((18 * 16 + (18 * 4 + 2 * 16) / 2) / 400)
    assert Items.from_json(result["behind"]).count(Filter({f"rated.{run.uuid}": "missed"})) == 2
    split = report(sufficiency, reference="imported", by="checker", run=str(run.uuid))
    assert (split["n_sufficient"], split["n_insufficient"]) == (22, 18)


def test_labels_that_an_autorater_touched_do_not_count_for_it(dataset):
    project = make_project(dataset, SUFFICIENCY)
    suggest(project, {f"q{number:02}": "sufficient" for number in range(N)}, "sufficiency")
    rater, items = make_rater(project), items_of(project)
    for item, shown in ((items[0], False), (items[1], True)):
        revision = say(item, rater, shown=shown)
        Judgement.objects.create(revision=revision, unit=item.anchor, dimension="sufficiency", label="sufficient")
    alone, touched = report(project)["autoraters"][0], report(project, touched=True)["autoraters"][0]
    assert (alone["f1"]["n_pairable"], touched["f1"]["n_pairable"]) == (1, 2)


def test_withholding_by_a_good_score_gains_and_by_a_bad_one_does_not(sufficiency, grades):
    chosen = {"reference": "imported", "grades": grades.slug}
    good = report(sufficiency, withhold="confidence", **chosen)
    bold = of_system(good["curves"], "bold / rag")
    assert bold["overall"]["estimate"] == 0.5 and bold["area"]["estimate"] == pytest.approx(bold["best"])
    assert bold["gain"]["low"] > 0 and bold["points"][4] | {"low": 0, "high": 0} == {
        "coverage": 0.5, "accuracy": 1.0, "low": 0, "high": 0,
    }  # fmt: skip
    shy = of_system(good["curves"], "shy / rag")
    assert (shy["n_abstained"], shy["most"]) == (22, pytest.approx(18 / 40))
    run = suggest(sufficiency, {f"q{n:02}": "sufficient" for n in range(N)}, "sufficiency",
                  {f"q{n:02}": {"sufficient": 0.5} for n in range(N)})  # fmt: skip
    flat = report(sufficiency, withhold=f"{run.uuid}/probability", **chosen)
    assert of_system(flat["curves"], "bold / rag")["gain"]["estimate"] == pytest.approx(0)
    other = score(grades, "perplexity", {"perplexity": {f"q{n:02}/bold-rag": float(n) for n in range(N)}})
    named = report(sufficiency, withhold=f"{grades.slug}:{other.uuid}/perplexity", **chosen)
    assert of_system(named["curves"], "bold / rag")["gain"]["estimate"] < 0
    assert of_system(named["curves"], "shy / rag")["area"]["left_out"] == {"no score": 18}


def test_confidence_and_sufficiency_together_gain_more_than_confidence_alone(sufficiency, grades):
    """A confidence that says nothing: only whether the context suffices tells right answers from wrong ones."""
    for row in Response.objects.filter(key__endswith="bold-rag"):
        Response.objects.filter(pk=row.pk).update(metadata={"confidence": int(row.key[1:3]) * 7 % 11 / 11})
    chosen = {"reference": "imported", "grades": grades.slug}
    alone = of_system(report(sufficiency, withhold="confidence", **chosen)["curves"], "bold / rag")
    result = report(sufficiency, withhold="confidence-and-sufficiency", **chosen)
    together = of_system(result["curves"], "bold / rag")
    assert together["area"]["estimate"] > alone["area"]["estimate"] + 0.1 and together["gain"]["estimate"] > 0.1
    # The twenty questions with sufficient context come first: 16 of 20 are right.
    assert together["points"][4]["accuracy"] == pytest.approx(0.8, abs=0.06)
    assert "out of fold" in result["score_title"]


def test_contains_answer_is_set_against_the_judge(sufficiency, grades):
    result = report(sufficiency, reference="imported", grades=grades.slug)
    row = next(one for one in result["contains"] if one["title"] == "bold / rag" and one["group"] == "sufficient")
    # 16 right answers, of which questions 0, 4, 8 and 12 have other words.
    assert row["counts"] == {"both": 12, "contains": 0, "judge": 4, "neither": 4}
    assert [row[name]["estimate"] for name in ("contains", "judged", "agreement")] == [0.6, 0.8, 0.8]
    for name in ("contains", "judged"):
        assert 0 < row[name]["low"] < row[name]["estimate"] < row[name]["high"] < 1
        assert row[name]["interval"]["n_clusters"] == 20  # questions
    everybody = next(one for one in result["contains"] if one["title"] == "all" and one["group"] == "all")
    assert everybody["judged"]["n_pairable"] > everybody["judged"]["interval"]["n_clusters"]
    # Shares of yes 0.6 and 0.8: agreement by chance 0.56.
    assert row["kappa"]["estimate"] == pytest.approx((0.8 - 0.56) / 0.44)
    place = next(place for place, one in enumerate(result["systems"]) if one["title"] == "bold / rag")
    wanted = Filter({f"system{place}.judge": "yes", "context": "sufficient"})
    assert Items.from_json(result["behind"]).count(wanted) == 4


@pytest.mark.parametrize(
    ("text", "answers", "found"),
    [
        ("It was on August 13, 1896.", ["13 August 1896"], 0),
        ("The series is about the Rings of Power.", ["The Rings of Power"], 1),
        ("In 1956", ["5"], 0),
        ("Straße frei", ["STRASSE frei", "straße"], 1),
        ("Anything", [], -1),
        ("Anything", ["?!"], -1),
        ("About 1,000 people", ["1000"], 1),
        ("About 1000 people", ["1,000"], 1),
        ("In 1, 000 and 1,00 ways", ["1000"], 0),
        ("港口在1963年结冰。", ["1963年"], 1),
        ("港口在1963年结冰。", ["3年"], 0),
        ("港が凍った", ["港 が"], 1),
        ("ท่าเรือเป็นน้ำแข็ง", ["น้ำแข็ง"], 1),
    ],
)
def test_words_of_an_answer_stand_in_a_row(text, answers, found):
    assert contains_answer(text, answers) == found


def test_a_judge_may_be_a_run_of_the_other_project(sufficiency, grades):
    labels = {f"q{n:02}/{model}-{setting}": "acceptable" for n in range(N) for model, setting in PLANTED}
    run = suggest(grades, labels, "grade")
    result = report(sufficiency, reference="imported", grades=grades.slug, judge=str(run.uuid))
    assert result["judge"].startswith("fake") and result["systems"][0]["groups"]["all"]["correct"]["estimate"] == 1


def test_what_is_absent_says_what_to_do(dataset):
    project = make_project(dataset, SUFFICIENCY)
    result = report(project)
    assert result["systems"] == [] and [note.partition(":")[0] for note in result["notes"]] == [
        "No question is decided by people's labels",
        "No autorater",
        "No answers",
    ]
    grades = make_project(dataset, GRADE)
    empty = report(project, grades=grades.slug)
    assert any("is graded by people: grade some" in note for note in empty["notes"])
    assert any(note.startswith("No curve") for note in empty["notes"])
    kind = get_report("sufficiency")
    assert "name this project there" in kind.fits(grades.type) and kind.fits(project.type) == ""
    assert kind.body(empty)
    with pytest.raises(ValueError, match="no project 'nothing'"):
        report(project, grades="nothing")
    with pytest.raises(ValueError, match="Name a run"):
        report(project, by="checker")


def test_page_parts_and_words_are_made_of_what_was_computed(sufficiency, grades):
    suggest(sufficiency, {f"q{n:02}": "sufficient" for n in range(N)}, "sufficiency",
            {f"q{n:02}": {"sufficient": n / N} for n in range(N)})  # fmt: skip
    kind = get_report("sufficiency")
    result = report(sufficiency, reference="imported", grades=grades.slug)
    tables, pictures = kind.tables(result), kind.pictures(result)
    assert [picture.name for picture in pictures] == [
        "sufficiency-correct", "sufficiency-abstain", "sufficiency-hallucinate", "sufficiency-accuracy-coverage",
    ]  # fmt: skip
    assert any(table.title == "Answers by sufficiency, graded by people" for table in tables)
    assert "graded by people" in kind.methods(result) and "answers were withheld by fake" in kind.methods(result)
    figures = {cell.figure for table in tables for row in table.rows for cell in row if hasattr(cell, "figure")}
    items = Items.from_json(result["behind"])
    assert figures and all(items.count(Filter.decoded(one)) for one in figures)
    assert all(items.words(Filter.decoded(one)) for one in figures)


def test_every_rule_of_the_answer_says_its_sentence(sufficiency, grades):
    """From a result in which all is known, each rule's case is made by hand."""
    for n in range(2):
        suggest(sufficiency, {f"q{n:02}": "sufficient" for n in range(N)}, "sufficiency",
                {f"q{n:02}": {"sufficient": n / N} for n in range(N)})  # fmt: skip
    kind = get_report("sufficiency")
    whole = kind.read(report(sufficiency, reference="imported", grades=grades.slug, withhold="confidence"))
    unknown = Figure(estimate=None, undefined="nothing counts")

    def with_(part, **values):
        return msgspec.structs.replace(part, **values)

    def over(low: float | None, high: float | None) -> Figure:
        return Figure(estimate=None if low is None else (low + high) / 2, undefined="", low=low, high=high)

    def models(figure: Figure, correct=None):
        first = whole.systems[0]
        everything = with_(first.groups.all, correct=correct or first.groups.all.correct)
        groups, difference = with_(first.groups, all=everything), with_(first.difference, correct=figure)
        return with_(whole, systems=[with_(first, groups=groups, difference=difference)])

    def gains(figure: Figure):
        return with_(whole, curves=[with_(whole.curves[0], gain=figure)])

    ungraded = with_(whole.systems[0].groups.all.correct, estimate=None)
    nothing = with_(whole, share_sufficient=unknown)
    no_raters, no_answers = with_(whole, autoraters=[]), with_(whole, systems=[])
    no_curves = with_(whole, curves=[])
    cases = (
        (CONTEXT_RULES, "nothing decided", nothing, "is not known: no question is decided"),
        (CONTEXT_RULES, "decided", whole, "suffices for a share of 0.500 ["),
        (AUTORATER_RULES, "nothing to compare", no_raters, ""),
        (AUTORATER_RULES, "one autorater", with_(whole, autoraters=whole.autoraters[:1]), "has an F1 of 0.667 ["),
        (AUTORATER_RULES, "several autoraters", whole, "Of 2 autoraters, the one that agrees best"),
        (MODEL_RULES, "no answers", no_answers, ""),
        (MODEL_RULES, "nothing graded", models(unknown, ungraded), "No answer is graded by people yet."),
        (MODEL_RULES, "one context", models(unknown), "cannot be compared, since there are not both"),
        (MODEL_RULES, "without interval", models(Figure(estimate=0.5, undefined="")), "hallucinated answers 0."),
        (MODEL_RULES, "difference", models(over(0.2, 0.4)), ": a difference of 0.300 [0.200, 0.400]"),
        (
            MODEL_RULES,
            "no difference",
            models(over(-0.1, 0.4)),
            "is shown (0.150 [-0.100, 0.400])",
        ),
        (CURVE_RULES, "no curve", no_curves, ""),
        (CURVE_RULES, "no curve", gains(unknown), ""),
        (
            CURVE_RULES,
            "without interval",
            gains(Figure(estimate=0.1, undefined="")),
            "interval is still being computed",
        ),
        (CURVE_RULES, "gain", gains(over(0.1, 0.3)), "gains 0.200 [0.100, 0.300] in mean accuracy"),
        (CURVE_RULES, "loss", gains(over(-0.3, -0.1)), "is worse than withholding them at random"),
        (CURVE_RULES, "nothing shown", gains(over(-0.1, 0.3)), "is shown (0.100 [-0.100, 0.300] in mean accuracy)"),
        (NEXT, "nothing decided", nothing, "label whether the context suffices"),
        (NEXT, "no autorater", no_raters, "run a checker on this project"),
        (NEXT, "no answers", no_answers, "choose the project that grades"),
        (NEXT, "nothing graded", models(unknown, ungraded), f"grade answers in {grades.slug}"),
        (NEXT, "no curve", no_curves, "gives a score to withhold answers by"),
    )
    for rules, name, result, said in cases:
        rule = next(rule for rule in rules if rule.applies(result))
        assert rule.name == name and said in rule.says(result) and bool(said) == bool(rule.says(result)), name
        assert kind.declares(result).answer.sentences
    every = {rule.name for rules in (CONTEXT_RULES, AUTORATER_RULES, MODEL_RULES, CURVE_RULES, NEXT) for rule in rules}
    assert {name for _, name, *_ in cases} == every
    assert first_that_applies(NEXT, whole) == ""


def test_the_first_pass_has_an_answer_without_intervals(sufficiency, grades):
    kind = get_report("sufficiency")
    quick = kind.compute(DatabaseSource(sufficiency), quick=True, reference="imported", grades=grades.slug)
    said = " ".join(kind.page_of(quick).answer.sentences)
    assert "0.500" in said and "[" not in said

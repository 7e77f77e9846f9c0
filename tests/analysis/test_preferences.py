"""The report on preferences: planted systems, what sways choices, judges, and the same from a release."""

from io import StringIO
from itertools import combinations
from pathlib import Path
from statistics import fmean

import pytest
from django.core.management import CommandError, call_command
from scipy.stats import kendalltau

from analysis.figures.page import Text
from analysis.releases import freezing
from analysis.reports.metrics import get_report
from analysis.sources.releases.files import zipped
from annotation.formats.records import SHOWN_ORDER
from annotation.models import OutputComparison, Project, Revision
from tests.kinds import make_kind_project
from tests.world.preferred import PEOPLE, STRENGTHS, import_rows, preferred, ranked, ranked_rows, row, rows

pytestmark = pytest.mark.django_db
REPORT = get_report("preferences")


def report_on(project, **options) -> dict:
    return REPORT.compute(project, **options)


def by_name(result: dict, rows: str = "systems", name: str = "system") -> dict[str, dict]:
    return {one[name]: one for one in result[rows]}


def sentence(result: dict) -> str:
    return REPORT.page_of(result).answer.sentences[0]


def test_planted_systems_come_in_their_order_and_equal_ones_share_a_group():
    result = report_on(preferred())
    systems = by_name(result)
    assert [one["system"] for one in result["systems"]][0] == "oak" and result["systems"][-1]["system"] == "fir"
    assert systems["elm"]["groups"] == systems["ash"]["groups"] != systems["oak"]["groups"]
    assert (systems["elm"]["best"], systems["elm"]["worst"]) == (2, 3)
    for name, planted in STRENGTHS.items():
        assert systems[name]["strength"]["low"] < planted < systems[name]["strength"]["high"]
    assert sentence(result) == "oak is preferred to each of the 3 others, beyond chance."
    assert (result["n_answers"], result["n_units"], result["n_prompts"], result["n_people"]) == (288, 96, 16, 3)
    assert sum(one["n_won"] for one in result["systems"]) == sum(one["n_lost"] for one in result["systems"])


def test_the_judge_is_held_against_people_and_its_liking_of_the_first_output_is_found():
    [judge] = report_on(preferred())["judges"]
    assert judge["checker"] == "outside:judge-x" and judge["n"] > 80
    assert judge["same"]["estimate"] == 0.5  # of three pairs of six it chooses whatever stands first
    assert judge["first"]["estimate"] == 1.0
    assert judge["tau"] > 0.5


def test_without_intervals_the_numbers_are_the_same():
    quick, whole = report_on(preferred(), quick=True), report_on(preferred())
    for one, other in zip(quick["systems"], whole["systems"], strict=True):
        assert one["strength"]["estimate"] == other["strength"]["estimate"] and one["strength"]["low"] is None
    assert sentence(quick).startswith("By strength: oak, ")


def unlike(n: int, first: str = "model_a", who: str = "Ada") -> list[dict]:
    """`n` prompts on which the output that stands first is chosen, each order as often."""
    return [row(prompt, *(("oak", "elm") if prompt % 2 else ("elm", "oak")), first, who) for prompt in range(n)]


def test_a_liking_of_the_first_output_is_not_taken_for_a_better_system():
    result = report_on(import_rows(unlike(40)))
    [first, longer] = result["biases"]
    assert (first["share"]["estimate"], first["n"]) == (1.0, 40)
    assert longer["share"]["estimate"] == 0.5
    assert sentence(result) == "elm and oak cannot be distinguished: no difference between them is beyond chance."


def test_what_gives_no_strength_is_counted_and_named():
    best_of_three = {
        "prompt": "Which?", "output_1": "One.", "output_2": "Two.", "output_3": "Three.", "model_1": "x",
        "model_2": "y", "model_3": "z", "winner": "tie", "judge": "Ada",
    }  # fmt: skip
    more = [best_of_three | {"prompt": f"Which {place}?", "winner": one} for place, one in enumerate("123213")]
    result = report_on(import_rows([best_of_three, *more]))
    assert result["n_choices"] == 12 and result["n_answers"] == 7
    assert result["left_out"] == {"choices without a winner among more than two outputs": 1}
    nameless = [{name: text for name, text in one.items() if "model" not in name} for one in more]
    unnamed = report_on(import_rows(nameless, "nameless"))
    assert sentence(unnamed).startswith("Systems cannot be ranked: the data set does not say")


def test_a_system_that_always_wins_has_no_strength():
    result = report_on(import_rows([row(prompt, "oak", "elm", "model_a", "Ada") for prompt in range(5)]))
    assert "no bound" in sentence(result)
    assert by_name(result)["oak"]["rate"]["estimate"] == 1.0


def test_decisions_can_be_counted_in_place_of_labels():
    found = [one | {"judge": ""} for one in unlike(12)]
    result = report_on(
        import_rows([{k: v for k, v in one.items() if k != "judge"} for one in found]), reference="imported"
    )
    assert (result["n_answers"], result["n_people"]) == (12, 0)


def test_rankings_give_the_planted_strengths_and_how_far_people_agree():
    result = report_on(ranked())
    systems = by_name(result)
    for name, planted in STRENGTHS.items():
        assert systems[name]["strength"]["low"] < planted < systems[name]["strength"]["high"]
    assert [one["system"] for one in result["systems"]][::3] == ["oak", "fir"]
    assert (result["n_answers"], result["n_choices"], result["n_prompts"]) == (120, 720, 40)
    tau, w = (one["figure"] for one in result["concordance"])
    assert 0.3 < tau["low"] < tau["estimate"] < tau["high"] < 0.8
    # Of three people W is at least 1/3; the more the rankings agree, the nearer both are to 1.
    assert w["estimate"] > tau["estimate"] > result["alpha"]["estimate"] - 0.1
    assert result["scores"] == []


def test_a_judges_rankings_are_held_against_each_persons():
    found = list(ranked_rows(20))
    order = " > ".join(STRENGTHS)
    judged = [one | {"ranking": order, "judge": "model:judge-x"} for one in found[:: len(PEOPLE)]]
    [row] = report_on(import_rows([*found, *judged], "ranked"))["judge_rankings"]
    names = list(STRENGTHS)
    places = [[one["ranking"].split(" > ").index(name) for name in names] for one in found]
    taus = [kendalltau(one, range(len(names))).statistic for one in places]
    assert row["n"] == 20 and row["tau"]["estimate"] == pytest.approx(fmean(taus))
    among = [kendalltau(*pair).statistic for at in range(0, 60, 3) for pair in combinations(places[at : at + 3], 2)]
    assert row["between"]["estimate"] == pytest.approx(fmean(among))
    assert row["tau"]["low"] < row["tau"]["estimate"] < row["tau"]["high"]
    assert 0.25 < row["w"]["estimate"] < 1 and row["w_between"]["n"] == 20
    assert report_on(preferred())["judge_rankings"] == []


def texts(result: dict) -> str:
    """All sentences of the page."""
    return " ".join(
        part.words for section in REPORT.page_of(result).sections for part in section.shown if isinstance(part, Text)
    )


def test_what_makes_intervals_wide_is_named():
    few = texts(report_on(ranked(6)))
    assert "wide here: how far people differ is estimated from 3 people; only 6 prompts" in few
    alone = [row(prompt, "oak", "elm", "model_b" if prompt == 7 else "model_a", "Ada") for prompt in range(40)]
    assert "wide here: oak and elm won or lost nearly all choices" in texts(report_on(import_rows(alone, "alone")))
    assert "wide here" not in texts(report_on(import_rows(unlike(80), "even")))


def test_best_and_worst_give_scores_and_strengths():
    result = report_on(ranked(ends=True))
    scores = by_name(result, "scores")
    assert [one["system"] for one in result["scores"]] == [one["system"] for one in result["systems"]]
    for one in result["scores"]:
        assert one["score"]["estimate"] == pytest.approx((one["n_best"] - one["n_worst"]) / one["n"])
        assert one["n"] == 120
    assert scores["oak"]["score"]["low"] > 0 > scores["fir"]["score"]["high"]
    assert result["n_choices"] == 120 * 5  # the best against three, and two more against the worst
    assert result["concordance"] == []


def test_a_ranking_of_two_outputs_is_a_preference():
    found = unlike(30) + [row(50, "oak", "elm", "tie", "Ada"), row(51, "oak", "elm", "model_b", "Bea")]
    orders = {"model_a": "A > B", "model_b": "B > A", "tie": "A = B"}
    ranked_ones = [{k: v for k, v in one.items() if k != "winner"} | {"order": orders[one["winner"]]} for one in found]
    one, other = report_on(import_rows(found)), report_on(import_rows(ranked_ones, "ranked"))
    assert other["ranks"] == "all"
    for part in ("systems", "pairs", "biases", "left_out", "n_choices"):
        assert one[part] == other[part]


def test_an_output_that_two_systems_made_counts_for_each():
    found = [
        row(number, "oak", "elm", "model_a" if number % 3 else "model_b", "Ada") | {"model_b": "elm + ash"}
        for number in range(9)
    ]
    result = report_on(import_rows(found))
    systems = by_name(result)
    assert (systems["elm"]["n_lost"], systems["ash"]["n_lost"], systems["oak"]["n_won"]) == (6, 6, 12)
    strengths = [systems[name]["strength"]["estimate"] for name in ("elm", "ash")]
    assert strengths[0] == pytest.approx(strengths[1])
    assert result["n_choices"] == 18 and result["left_out"] == {}


@pytest.mark.parametrize("ends", [False, True])
def test_a_release_of_rankings_comes_back_with_the_same_hash_and_figures(tmp_path, ends):
    project = import_rows(list(ranked_rows(3, ends)), "ranked")
    other, first, again = released_and_back(project, tmp_path)
    assert (again["sha256"], again["labels_sha256"]) == (first["sha256"], first["labels_sha256"])
    here, there = report_on(project), report_on(other)
    for part in ("systems", "biases", "alpha", "concordance", "scores"):
        assert here[part] == there[part]


def test_ties_are_refused_where_none_are_allowed(capsys):
    found = list(ranked_rows(2))
    found[1]["ranking"] = found[1]["ranking"].replace(" > ", " = ", 1)
    with pytest.raises(CommandError, match="nothing was imported"):
        import_rows(found, "strict", "--task-type", "ranking/-/1")
    refused = capsys.readouterr().err
    assert "is not one of the rankings such as a-b, b-a, a-b-c, a-c-b, with no ties (of p0/elm/" in refused
    assert ", by Bea)" in refused
    assert not OutputComparison.objects.exists()


def test_other_task_types_have_no_preferences():
    with pytest.raises(ValueError, match="side by side"):
        report_on(make_kind_project("nli/two-way/1"))


def released_and_back(project: Project, folder: Path) -> tuple[Project, dict, dict]:
    """The project that a release's files make, and what both releases say of themselves."""
    first = freezing.write_release(project, folder / "a")["release"]
    zipped(folder / "a", folder / "a.zip")
    call_command(
        "import_dataset", str(folder / "a.zip"), format="assay", dataset="elsewhere", project="elsewhere",
        with_settings=True, owner=project.created_by.email, stdout=StringIO(),
    )  # fmt: skip
    other = Project.objects.get(slug="elsewhere")
    return other, first, freezing.write_release(other, folder / "b")["release"]


def test_a_release_comes_back_with_the_same_hash_orders_and_figures(tmp_path):
    people = [one for one in rows(4) if one["judge"] in PEOPLE]  # runs of judges get ids of their own here
    project = import_rows(people)
    other, first, again = released_and_back(project, tmp_path)
    assert (again["sha256"], again["labels_sha256"]) == (first["sha256"], first["labels_sha256"])
    shown = Revision.objects.filter(annotation__item__project=other, metadata__has_key=SHOWN_ORDER)
    assert shown.count() == 4 * 6 * len(PEOPLE)
    here, there = report_on(project), report_on(other)
    for part in ("systems", "biases", "alpha", "cycles"):
        assert here[part] == there[part]

"""The trial of suggestions: what was planted is found, and who counts where is told exactly."""

import json

import msgspec
import numpy as np
import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from analysis.figures.items import JUDGEMENTS, Filter, Items
from analysis.figures.page import first_that_applies
from analysis.figures.results import EffectFigure, Figure, from_json
from analysis.figures.tables import ends_of
from analysis.figures.tabular import Missing
from analysis.models import StoredReport
from analysis.reports.effects import no_effect
from analysis.reports.metrics import get_report
from analysis.reports.people.prefill_trial.report import (
    EVERYBODY_SAW,
    NEXT,
    NOBODY_SAW,
    RULES,
    WRONG,
    AgreementStratum,
    AlphaStratum,
    TrialQuestion,
)
from analysis.stats import clustered_mean, suggestion_effect, wilson_interval
from annotation.jobs import lifecycle
from annotation.models import Assignment, Decision, Job, Suggestion
from tests.factories import make_suggestions
from tests.world.labels import items_of, make_rater, of_dimension, project_of, say

pytestmark = pytest.mark.django_db
YES, NO = "relevant", "not_relevant"


def estimate(figure: dict) -> tuple:
    """The three cells of a figure in files."""
    return ends_of(
        from_json(figure, EffectFigure if isinstance(figure["interval"].get("n_clusters"), list) else Figure)
    )


def other(label: str) -> str:
    return NO if label == YES else YES


def show(revision, run, arm: str = "shown") -> None:
    """The person of this answer had the run's suggestions before their eyes."""
    annotation, now = revision.annotation, timezone.now()
    assignment = Assignment.objects.create(
        project=run.project,
        item=annotation.item,
        position=annotation.item.position,
        state="done",
        rater=annotation.rater,
        done_at=now,
        shown_at=now,
        prefill_arm=arm,
        suggestions_shown_at=now,
        exposure=[{"run": str(run.uuid), "suggestions": 1}],
    )
    annotation.assignment = assignment
    annotation.save(update_fields=["assignment"])


def trial(n_items: int, says, *, n_people: int = 6, per_item: int = 4, decide: bool = True):
    """Of the people who answer an item, every second sees its suggestion. The truth of every second item is 'relevant',
    and every third suggestion is wrong. `says(number, place, seen)` is whether the answer equals the suggestion, or
    with it the seconds that it took. Returns the run and what was said as columns of the statistics."""
    project = project_of(n_items, claims=n_items, prefill="shown")
    run = make_suggestions(project)
    people = [make_rater(project, f"Person {place}") for place in range(n_people)]
    rows = []
    for number, item in enumerate(items_of(project)):
        truth, right = (YES, NO)[number % 2], number % 3 != 0
        suggested = truth if right else other(truth)
        Suggestion.objects.filter(run=run, unit=item.anchor, dimension="relevance").update(label=suggested)
        if decide:
            Decision.objects.create(
                project=project, unit=item.anchor, dimension="relevance", label=truth, method="imported"
            )
        for turn in range(per_item):
            person, seen = (number + turn) % n_people, turn % 2 == 0
            agrees, seconds = says(number, person, seen)
            label = suggested if agrees else other(suggested)
            revision = say(item, people[person], label, shown=seen, active_ms=int(1000 * seconds))
            if seen:
                show(revision, run)
            rows.append((agrees, seen, right, person, number))
    return run, tuple(np.array(column) for column in zip(*rows, strict=True))


def by_stratum(rows: list[dict]) -> dict[str, dict]:
    return {row["stratum"]: row for row in rows}


def report_of(shown, **options):
    return get_report("prefill-trial").compute(shown.project, **{"reference": "imported"} | options)


def followers(number: int, person: int, seen: bool) -> tuple[bool, float]:
    """Whoever sees a suggestion follows it, but for every fifth answer; alone all but every fourth find the truth."""
    if seen:
        return (number + person) % 5 != 0, 5 + person
    finds = (number + 2 * person) % 4 != 0
    return finds == (number % 3 != 0), 10 + 2 * person


def test_shares_effects_and_the_items_behind_them_are_those_of_the_answers():
    run, (agrees, seen, right, person, item) = trial(30, followers)
    report = report_of(run)
    assert (report["n_seen"], report["n_unseen"], report["n_people"]) == (60, 60, 6)
    dimension = of_dimension(report, "relevance")
    expected = suggestion_effect(agrees, seen, right.astype(int), person, item)
    for name, where in (("all", right >= 0), ("right", right), ("wrong", ~right)):
        row = by_stratum(dimension["strata"])[name]
        assert row["n_unseen_agree"] == agrees[where & ~seen].sum()
        for side, rows in (("seen", where & seen), ("unseen", where & ~seen)):
            share, one = row[side], clustered_mean(agrees[rows], [person[rows], item[rows]])
            assert share["estimate"] == pytest.approx(agrees[rows].mean())
            if one.no_interval:  # everybody follows four of five
                assert side == "seen" and estimate(share)[1] == Missing(one.no_interval)
            else:
                ends = pytest.approx((max(one.low, 0), min(one.high, 1)))
                assert (share["low"], share["high"]) == ends and one.low < one.estimate < one.high
        for figure in ("difference", "within", "odds_ratio", "marginal"):
            found, one = row[figure], getattr(expected.strata[name], figure)
            assert (found["estimate"], found["low"]) == pytest.approx((one.estimate, one.low))
        of = {"side": "seen", "agrees": "no"} | ({} if name == "all" else {"right": name})
        wanted = Filter(judgements=({"dimension": "relevance"} | of,))
        items = Items.from_json(report["behind"])
        assert items.count(wanted) == len(set(item[where & seen & ~agrees].tolist()))
        assert items.count(wanted, JUDGEMENTS) == (where & seen & ~agrees).sum()
    assert dimension["contrast"]["estimate"] == pytest.approx(expected.contrast.estimate)
    # Seeing halves the time, so the ratio of geometric means is a half for everybody.
    time = by_stratum(report["time"]["strata"])["all"]
    assert time["within"]["estimate"] == pytest.approx(0.5)
    alpha = by_stratum(dimension["alpha"])
    sides = [alpha["all"][side] for side in ("seen", "unseen")]
    assert alpha["all"]["difference"]["estimate"] == pytest.approx(sides[0]["estimate"] - sides[1]["estimate"])
    assert sides[0]["low"] < sides[0]["estimate"] < sides[0]["high"] <= 1
    # Alone, two who get the same item are always both right or both wrong.
    assert sides[1]["estimate"] == 1 and "is the same without any one" in estimate(sides[1])[1].reason
    assert sides[0]["interval"]["n_clusters"] == [6, 30]
    mean = time["seen"]
    assert mean["estimate"] == pytest.approx(np.exp(np.log(5 + person[seen]).mean()))
    assert mean["low"] < mean["estimate"] < mean["high"]
    said = get_report("prefill-trial").methods(report)
    assert "Krippendorff's alpha (relevance, nominal) and its differences" in said
    assert alpha["wrong"]["n_seen"] == 10


def test_planted_effects_lie_in_the_intervals():
    """Right suggestions are taken over by half and wrong ones by a quarter of those who see them; alone seven of ten
    find the truth. So .85 - .7 = .15 of right ones and .25 + .75 * .3 - .3 = .175 of wrong ones."""
    rng = np.random.default_rng(8)

    def says(number: int, person: int, seen: bool) -> tuple[bool, float]:
        right = number % 3 != 0
        finds = rng.random() < 0.7
        if seen and rng.random() < (0.5 if right else 0.25):
            return True, 8 * rng.lognormal(0, 0.3)
        return finds == right, (8 if seen else 10) * rng.lognormal(0, 0.3)

    run, _ = trial(150, says, n_people=10)
    report = report_of(run)
    strata = by_stratum(of_dimension(report, "relevance")["strata"])
    for name, planted in (("right", 0.15), ("wrong", 0.175)):
        assert strata[name]["difference"]["low"] < planted < strata[name]["difference"]["high"]
        assert strata[name]["within"]["low"] < planted < strata[name]["within"]["high"]
    time = by_stratum(report["time"]["strata"])["all"]["ratio"]
    assert time["low"] < 0.8 < time["high"] < 1


def test_who_takes_over_whatever_is_suggested_comes_first():
    def says(number: int, person: int, seen: bool) -> tuple[bool, float]:
        return (person == 4 and seen) or (number + person) % 3 == 0, 5.0

    run, (agrees, seen, _, person, _) = trial(30, says)
    report = report_of(run)
    first, *others = of_dimension(report, "relevance")["people"]
    own = person == 4
    assert first["name"] == "Person 4" and first["seen"]["estimate"] == 1 and len(others) == 5
    assert (first["n_seen"], first["n_unseen"]) == ((own & seen).sum(), (own & ~seen).sum())
    assert first["unseen"]["estimate"] == pytest.approx(agrees[own & ~seen].mean())
    interval = wilson_interval(int(first["n_seen"]), int(first["n_seen"]))
    assert (first["seen"]["low"], first["seen"]["high"]) == pytest.approx((interval.low, interval.high))
    items = Items.from_json(report["behind"])
    wanted = Filter(judgements=({"dimension": "relevance", "rater": first["id"], "side": "seen"},))
    assert items.count(wanted, JUDGEMENTS) == first["n_seen"]


def test_by_other_peoples_answers_ones_own_does_not_say_what_is_right():
    """One unseen answer alone: nothing says whether the suggestion that it is compared with is right, but to those who
    saw it, it does."""
    run, _ = trial(12, lambda number, person, seen: (not seen, 1.0), per_item=2, decide=False)
    dimension = of_dimension(report_of(run, reference="others"), "relevance")
    strata = by_stratum(dimension["strata"])
    assert strata["right"]["n_seen"] == 12 and strata["right"]["n_unseen"] == 0
    assert dimension["n_without_reference"] == 12
    assert strata["right"]["difference"]["undefined"] == "everybody answered with the suggestion in view"
    assert "decisions" in by_stratum(dimension["alpha"])["right"]["difference"]["undefined"]


def test_answers_changed_after_the_suggestion_appeared_are_compared_with_themselves():
    project = project_of(8, claims=8)
    run = make_suggestions(project, labels={"relevance": YES})
    people = [make_rater(project) for _ in range(3)]
    for number, item in enumerate(items_of(project)):
        for place, person in enumerate(people):
            first = say(item, person, NO if number < 6 else YES, shown=False)
            show(first, run, "after")
            if number < 2 + place:
                say(item, person, YES, shown=True)
    report = report_of(run, reference="others")
    dimension = of_dimension(report, "relevance")
    revised = dimension["revised"]
    assert (revised["n"], revised["n_changed"], revised["n_to_suggestion"]) == (24, 9, 9)
    row = by_stratum(revised["strata"])["all"]
    assert (row["unseen"]["estimate"], row["seen"]["estimate"]) == (6 / 24, 15 / 24)
    assert row["seen"]["low"] < 15 / 24 < row["seen"]["high"]
    assert row["difference"]["estimate"] == pytest.approx(9 / 24)
    assert row["difference"]["interval"]["n_clusters"] == [3, 8]
    assert -1 <= row["difference"]["low"] < 9 / 24 < row["difference"]["high"] <= 1  # as a difference of shares must
    items = Items.from_json(report["behind"])
    for outcome, n in (("kept", 15), ("followed", 9), ("changed", 0)):
        wanted = Filter(judgements=({"dimension": "relevance", "revised": outcome},))
        assert items.count(wanted, JUDGEMENTS) == n
    # None of these saw the suggestion before the first answer.
    assert by_stratum(dimension["strata"])["all"]["n_seen"] == 0


def test_whose_trace_is_lost_and_who_saw_another_runs_suggestion_is_left_out():
    run, _ = trial(6, followers, per_item=2)
    item, project = items_of(run.project)[0], run.project
    say(item, make_rater(project), YES, shown=None)
    elsewhere = make_suggestions(project, checker="other")
    show(say(item, make_rater(project), YES, shown=True), elsewhere)
    slot = make_rater(project, "vote 1", "slot")
    say(item, slot, YES)
    report = report_of(run, run=str(run.uuid))
    assert (report["n_seen"], report["n_unseen"]) == (6, 6)
    assert (report["n_unknown"], report["n_other_run"], report["n_labels_of_slots"]) == (1, 1, 1)
    items = Items.from_json(report["behind"])
    why = {one["rater"]: one["counts"] for one in items.judgements_on(item.anchor_id)}
    assert sorted(why.values()) == [
        "by an exchangeable rater",
        "given with another run's suggestion in view",
        "nobody knows whether a suggestion was seen",
        "yes",
        "yes",
    ]
    assert why[slot.pseudonym] == "by an exchangeable rater"
    # Without being asked for, the trial is of the run that people saw most, not of the newest.
    assert report_of(run)["run"] == str(run.uuid)


def test_without_a_trial_there_is_no_effect_and_the_reason_is_said():
    project = project_of(4)
    with pytest.raises(ValueError, match="no finished checker run that gives labels: start one first"):
        get_report("prefill-trial").compute(project)
    run = make_suggestions(project)
    empty = of_dimension(report_of(run), "relevance")["strata"][0]
    assert empty["difference"]["undefined"] and empty["seen"]["undefined"] == "there are no such answers"
    say(items_of(project)[0], make_rater(project), YES)
    row = of_dimension(report_of(run), "relevance")["strata"][0]
    assert row["n_unseen"] == 1 and row["difference"]["undefined"] == "nobody answered with the suggestion in view"
    show(say(items_of(project)[1], make_rater(project), YES, shown=True), run)
    row = of_dimension(report_of(run), "relevance")["strata"][0]
    assert (
        estimate(row["difference"])[0] is not None
        and "fewer than two clusters" in estimate(row["difference"])[1].reason
    )
    with pytest.raises(ValueError, match="reference is one of"):
        report_of(run, reference="majority")


@pytest.mark.parametrize(("seen", "who", "do"), [(False, "Nobody", "choose a run"), (True, "Everybody", "withhold")])
def test_where_nobody_or_everybody_saw_suggestions_it_says_so_and_what_to_do(seen, who, do):
    project = project_of(6)
    run = make_suggestions(project)
    for person in (make_rater(project), make_rater(project)):
        for item in items_of(project):
            revision = say(item, person, YES, shown=seen)
            if seen:
                show(revision, run)
    report = report_of(run)
    [note] = [note for note in report["notes"] if note.startswith(f"{who} answered with a suggestion of {run.checker}")]
    assert do in note and "“Suggestions of checkers” in the project's settings" in note
    assert "everything compared" not in json.dumps(report)
    words = f"{who.lower()} answered with the suggestion in view"
    relevance = of_dimension(report, "relevance")
    parts = [relevance["strata"][0][name] for name in ("difference", "within", "odds_ratio", "marginal")]
    parts.append(relevance["alpha"][0]["difference"])
    assert {part["undefined"] for part in parts} == {words}
    assert not [note for note in report["notes"] if "0 people" in note]


def test_an_undefined_contrast_says_what_to_do():
    run, _ = trial(12, lambda number, person, seen: (not seen, 1.0), per_item=2, decide=False)
    report = get_report("prefill-trial")
    page = report.page_of(report_of(run, reference="others"))
    [words] = [part.note for part in page.in_files() if getattr(part, "title", "").startswith("Relevance: labels that")]
    assert "wrong is undefined" not in words and "To have it, run a trial" in words


def effect_of(estimate=None, low=None, high=None, undefined=""):
    """An effect as given; without an estimate, undefined."""
    nothing = no_effect(undefined)
    ends = msgspec.structs.replace(nothing.interval, undefined="" if low is not None else undefined or "too few")
    return msgspec.structs.replace(nothing, estimate=estimate, low=low, high=high, interval=ends)


def question(effect, wrong=None, n: int = 10, n_left: int = 0) -> TrialQuestion:
    """A question with this effect of seeing suggestions, and this one of wrong ones."""
    share, nothing = effect_of(0.8, 0.7, 0.9), effect_of(undefined="there are no such answers")
    strata = [
        AgreementStratum(
            stratum=name,
            n_seen=n,
            n_seen_agree=n,
            seen=share,
            n_unseen=n,
            n_unseen_agree=n,
            unseen=share,
            difference=difference or nothing,
            within=nothing,
            odds_ratio=nothing,
            marginal=nothing,
        )
        for name, difference in (("all", effect), ("right", wrong), ("wrong", wrong))
    ]
    return TrialQuestion(
        dimension="relevance",
        title="Relevance",
        level="nominal",
        n_without_suggestion=n_left,
        n_without_reference=0,
        strata=strata,
        contrast=nothing,
        alpha=[AlphaStratum(stratum="all", level="nominal", difference=nothing)],
        people=[],
        revised=None,
        derived_from=None,
    )


UP, DOWN, OPEN = effect_of(0.2, 0.1, 0.3), effect_of(-0.2, -0.3, -0.1), effect_of(0.1, -0.1, 0.3)


@pytest.mark.parametrize(
    ("asked", "says", "of_wrong", "next_step"),
    [
        (question(OPEN, n=0), "no first answer has a suggestion", "", "some with suggestions and some without"),
        (question(OPEN, n=0, n_left=7), "none for the units of 7 labels", "", "choose a run that has suggestions"),
        (
            question(no_effect()),
            "the suggestion with it in view, and 0.800 [0.700, 0.900] without it.",
            "",
            "",
        ),
        (question(effect_of(undefined=NOBODY_SAW)), f"cannot be estimated: {NOBODY_SAW}", "", "choose a run whose"),
        (question(effect_of(undefined=EVERYBODY_SAW)), EVERYBODY_SAW, "", "run a trial"),
        (question(effect_of(0.2)), "a difference of 0.200 without an interval: too few", "", "adjudicate or import"),
        (question(effect_of(0.2), effect_of(0.1)), "without an interval", "", "have more people answer"),
        (
            question(UP, UP),
            "the suggested label more often when they see it, by 0.200 [0.100, 0.300] (95 % intervals).",
            "Wrong suggestions are adopted: the difference is 0.200 [0.100, 0.300]",
            "read the labels of relevance that equal a wrong suggestion",
        ),
        (question(DOWN, DOWN), "less often when they see it, by -0.200", "are given less often when seen", ""),
        (
            question(OPEN, OPEN),
            "is not shown (difference 0.100 [-0.100, 0.300]",
            "not shown that wrong suggestions are adopted",
            "",
        ),
        (question(UP), "more often", "", "to tell right suggestions from wrong ones"),
    ],
)
def test_the_page_begins_with_its_answer(asked, says, of_wrong, next_step):
    assert says in first_that_applies(RULES, asked)
    for rules, words in ((WRONG, of_wrong), (NEXT, next_step)):
        found = first_that_applies(rules, asked)
        assert words in found and bool(words) == bool(found)


def test_page_items_and_command(client, capsys):
    run, _ = trial(12, followers)
    project = run.project
    client.force_login(project.created_by)
    address = reverse("project_report", args=[project.slug, "prefill-trial"])
    client.get(address)
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        lifecycle.run_here(job)
    page = client.get(address).content.decode()
    stored = StoredReport.objects.get()
    row = of_dimension(stored.result, "relevance")["strata"][0]
    assert f"{row['difference']['estimate']:.3f}" in page and "only if chance decided" in page
    assert "clustered in two ways" in page and ">the one that people saw most</option>" in page
    behind = reverse("project_behind", args=[project.slug, "prefill-trial"])
    figure = Filter(judgements=({"dimension": "relevance", "side": "seen", "right": "wrong", "agrees": "yes"},)).encoded
    answer = client.get(behind, {"report": stored.parameters_hash, "figure": figure}).content.decode()
    words = "First answer: with the suggestion in view, Suggestion: wrong, Against the suggestion: equal to it"
    assert f"a judgement with Question: Relevance, {words}" in answer
    call_command("report", project.slug, "prefill-trial", "--reference", "imported", "--format", "json")
    assert json.loads(capsys.readouterr().out)["dimensions"] == stored.result["dimensions"]
    for form in ("table", "md", "csv", "latex", "methods"):
        call_command("report", project.slug, "prefill-trial", "--format", form)
        assert "suggestion" in capsys.readouterr().out

"""Difference between two checker runs: hand-made answers with known figures, and its page."""

from urllib.parse import quote

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from msgspec.structs import replace

from analysis.figures.items import Filter, Items
from analysis.figures.page import first_that_applies
from analysis.figures.tabular import value_of
from analysis.models import StoredReport
from analysis.reports.checkers.difference.report import LABEL_RULES, NEXT, SCORE_RULES
from analysis.reports.metrics import REPORTS, get_report
from annotation.jobs import lifecycle
from annotation.machines.runs import suggesting
from annotation.models import CheckerRun, Item, ItemUnit, Job, RunFailure, Score, Suggestion
from tests import factories
from tests.world.labels import make_rater, say, units_behind

pytestmark = pytest.mark.django_db


def project_of(n):
    dataset = factories.make_dataset()
    factories.make_claim_evidence(dataset, n)
    return factories.make_project(dataset)


def units_of(project) -> list[int]:
    return list(ItemUnit.objects.filter(item__project=project).order_by("item__pk").values_list("unit_id", flat=True))


def make_run(project, relevance, *, version="1", scores=(), failed=(), **provenance) -> CheckerRun:
    """`relevance`: by unit the probability of `relevant`; the label follows from one half."""
    job = Job.objects.create(
        kind=Job.Kind.CHECKER_RUN,
        state=Job.State.DONE,
        project=project,
        created_by=project.created_by,
        result={"scores": {"draw": {}}} if scores else {},
    )
    run = CheckerRun.objects.create(
        project=project,
        job=job,
        checker="fake",
        version=version,
        parameters_hash="",
        created_by=project.created_by,
        provenance=provenance,
    )
    for unit, probability in relevance.items():
        Suggestion.objects.create(
            run=run,
            unit_id=unit,
            dimension="relevance",
            label="relevant" if probability > 0.5 else "not_relevant",
            probability=max(probability, 1 - probability),
            probabilities={"relevant": probability, "not_relevant": 1 - probability},
        )
    Score.objects.bulk_create(Score(run=run, unit_id=unit, name="draw", value=value) for unit, value in scores)
    RunFailure.objects.bulk_create(RunFailure(run=run, unit_id=unit, reason="away") for unit in failed)
    return run


@pytest.fixture
def project():
    return project_of(8)


@pytest.fixture
def runs(project):
    """Six units in both: four stay (2 relevant, 2 not), two go from relevant to not. One more in each alone."""
    a, b, c, d, e, f, only_before, only_now = units_of(project)
    before = make_run(
        project,
        {a: 0.9, b: 0.9, c: 0.2, d: 0.2, e: 0.6, f: 0.6, only_before: 0.9},
        scores=[(a, 1.0), (b, 2.0), (c, None), (d, 4.0)],
        failed=[only_now],
        parameters={"seed": 1, "label": ""},
        libraries={"numpy": "1"},
        device="cpu",
    )
    now = make_run(
        project,
        {a: 0.9, b: 0.8, c: 0.2, d: 0.1, e: 0.2, f: 0.1, only_now: 0.9},
        version="2",
        scores=[(a, 2.0), (b, 2.0), (c, 5.0), (d, 6.0)],
        failed=[only_before],
        parameters={"seed": 2, "label": ""},
        libraries={"numpy": "1"},
        device="cpu",
        reused_from=["x"],
    )
    return before, now


def compute(project, runs):
    before, now = runs
    return get_report("difference").compute(project, run=str(now.uuid), other=str(before.uuid))


def test_labels_failures_and_probabilities_are_compared_by_hand(project, runs):
    result = compute(project, runs)
    a, b, c, d, e, f, only_before, only_now = units_of(project)
    [relevance] = result["dimensions"]
    names = [label["label"] for label in relevance["labels"]]
    table = {(said, says): relevance["confusion"][i][j] for i, said in enumerate(names) for j, says in enumerate(names)}
    assert table == {
        ("relevant", "relevant"): 2,
        ("relevant", "not_relevant"): 2,
        ("not_relevant", "not_relevant"): 2,
        ("not_relevant", "relevant"): 0,
    }
    assert [relevance[name] for name in ("n_both", "n_changed", "n_only_run", "n_only_other")] == [6, 2, 1, 1]
    assert relevance["agreement"]["estimate"] == pytest.approx(4 / 6)
    # Expected by chance: 4/6 * 2/6 + 2/6 * 4/6 = 16/36.
    assert relevance["kappa"]["estimate"] == pytest.approx((24 / 36 - 16 / 36) / (20 / 36))
    shift = relevance["shift"]
    assert shift["n"] == 6 and shift["mean"]["estimate"] == pytest.approx((0 + 0.1 + 0 + 0.1 + 0.4 + 0.5) / 6)
    assert sum(bar["n"] for bar in shift["bars"]) == 6
    means = {row["label"]: (row["other"]["estimate"], row["run"]["estimate"]) for row in shift["labels"]}
    for one in (shift["mean"], *(row[side] for row in shift["labels"] for side in ("other", "run"))):
        assert one["low"] < one["estimate"] < one["high"] and one["interval"]["n_resamples"] == 1000
    tables = {table.title: table for table in get_report("difference").tables(result)}
    assert [(row[1], row[4]) for row in tables["Relevance: mean probabilities"].rows] == list(means.values())
    assert sum(value_of(row[1]) for row in tables["Relevance: change of probabilities"].rows) == 6
    assert means["relevant"] == (pytest.approx(3.4 / 6), pytest.approx(2.3 / 6))

    for figure, units in (
        ("relevance.changed=yes", [e, f]),
        ("relevance.first=relevant&relevance.second=not_relevant", [e, f]),
        ("relevance.labelled=second&relevance.second=relevant", [only_now]),
        ("relevance.labelled=first&relevance.first=relevant", [only_before]),
        ("relevance.moved=0&relevance.labelled=both", [a, d, b, c]),
        ("failed=second", [only_before]),
        ("failed=first", [only_now]),
        ("score.draw=yes", [a, d, b]),
    ):
        assert units_behind(result, figure) == units, figure


def test_what_made_them_differ_is_named_and_nothing_else(project, runs):
    rows = {row["name"]: (row["other"], row["run"]) for row in compute(project, runs)["made_by"]}
    assert rows == {"version": ("1", "2"), "parameters seed": ("1", "2")}


def test_scores_are_compared_where_both_are_defined(project, runs):
    [score] = compute(project, runs)["scores"]
    assert (score["name"], score["n"], score["moved"]["estimate"]) == ("draw", 3, 1.0)
    assert [score[side]["estimate"] for side in ("other", "run")] == pytest.approx([7 / 3, 10 / 3])
    assert score["pearson"]["estimate"] == pytest.approx(60 / (42 * 96) ** 0.5)
    for name in ("other", "run", "moved"):
        assert score[name]["low"] < score[name]["estimate"] < score[name]["high"]
        assert "rests on only 2 clusters" in score[name]["interval"]["note"]
    Score.objects.filter(run=runs[1]).update(value=2.0)  # constant
    pearson = compute(project, runs)["scores"][0]["pearson"]
    assert pearson["estimate"] is None and pearson["undefined"] == "one of the two is the same for every unit"


def test_the_other_way_round_is_the_mirror(project, runs):
    there, back = compute(project, runs), compute(project, runs[::-1])
    assert back["dimensions"][0]["confusion"] == [
        list(row) for row in zip(*there["dimensions"][0]["confusion"], strict=True)
    ]
    assert back["dimensions"][0]["kappa"]["estimate"] == pytest.approx(there["dimensions"][0]["kappa"]["estimate"])
    assert units_behind(back, "failed=second") == units_behind(there, "failed=first") != []


def test_runs_that_cannot_be_compared_are_refused_by_name(project, runs, capsys):
    before, now = runs
    report = get_report("difference")
    with pytest.raises(ValueError, match="cannot be compared with itself"):
        report.compute(project, run=str(now.uuid), other=str(now.uuid))
    with pytest.raises(ValueError, match="no finished checker run"):
        report.compute(project_of(2), run=str(now.uuid), other=str(before.uuid))
    Job.objects.filter(pk=before.job_id).update(state=Job.State.CANCELLED)
    with pytest.raises(ValueError, match="no finished checker run"):
        report.compute(project, run=str(now.uuid), other=str(before.uuid))
    with pytest.raises(CommandError, match="needs two runs"):
        call_command("report", project.slug, "difference", "--run", str(now.uuid))


def test_the_command_prints_what_changed(project, runs, capsys):
    before, now = runs
    call_command("report", project.slug, "difference", "--run", str(now.uuid), "--other", str(before.uuid))
    said = capsys.readouterr().out
    assert "Relevance: 2 of 6 labels changed (33.3%); the share of equal labels is 0.667 [" in said
    rows = [line.split() for line in said.splitlines()]
    assert ["version", "1", "2"] in rows and ["Relevant", "2", "2"] in rows and ["Not", "relevant", "0", "2"] in rows
    for failed in ("second", "first"):
        assert ["failed", "in", "the", failed, "run", "only", "1"] in rows


def page_of(client, project, runs, **query):
    before, now = runs
    query = {"run": str(now.uuid), "other": str(before.uuid)} | query
    return client.get(reverse("project_difference", args=[project.slug]), query)


def compute_reports():
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state=Job.State.QUEUED):
        assert lifecycle.run_here(job).state == Job.State.DONE, job.message


def test_the_page_shows_the_table_and_the_changed_units_and_opens_them(client, project, runs):
    say(Item.objects.get(item_units__unit=units_of(project)[4]), make_rater(project, "Ann"), "relevant")
    client.force_login(project.created_by)
    assert "for the first time" in page_of(client, project, runs).content.decode()
    compute_reports()
    page = page_of(client, project, runs).content.decode()
    *_, e, f, only_before, only_now = units_of(project)
    assert "parameters seed" in page and "2 of 6 labels changed" in page
    assert " style=" not in page

    address = reverse("project_behind", args=[project.slug, "difference"])
    start = page.index(f"{address}?report=")
    report = page[start : page.index("&amp;", start)]
    for figure, n in [("relevance.changed=yes", 2), ("failed=second", 1), ("relevance.labelled=second", 1)]:
        answer = client.get(f"{report}&figure={quote(figure)}")
        assert answer.status_code == 200
        assert f"{n} unit" in answer.content.decode()
    changed = client.get(f"{report}&figure={quote('relevance.changed=yes')}").content.decode()
    for item in ItemUnit.objects.filter(unit__in=[e, f]).select_related("item", "unit"):
        assert reverse("item_detail", args=[project.slug, item.item.uuid]) in changed
    untouched = ItemUnit.objects.select_related("item").get(unit=units_of(project)[0])
    assert str(untouched.item.uuid) not in changed
    # Both runs' answers, with their probabilities, and people's.
    for words in ("fake 1", "Relevant (0.60)", "fake 2", "Not relevant (0.80)", "Not relevant (0.90)", "Ann"):
        assert words in changed, words


def test_one_run_alone_and_a_choice_of_the_same_run_twice(client, project):
    client.force_login(project.created_by)
    address = reverse("project_difference", args=[project.slug])
    assert "has no finished checker run" in client.get(address).content.decode()
    runs = [make_run(project, {units_of(project)[0]: 0.9})]
    assert "needs two finished checker runs" in client.get(address).content.decode()
    runs += [make_run(project, {units_of(project)[0]: 0.9}) for _ in range(2)]
    newest = str(runs[2].uuid)
    response = client.get(address, {"run": newest, "other": newest})
    [(_, fields)] = response.context["options"]
    chosen = {option.name: value for option, value, *_ in fields}
    assert chosen == {"run": newest, "other": str(runs[1].uuid)}
    assert client.get(address, {"run": "nonsense"}).status_code == 404


def test_real_runs_differ_on_the_page_and_the_number_of_queries_is_constant(client):
    def queries(n):
        project = project_of(n)
        client.force_login(project.created_by)
        runs = []
        for seed in (1, 2):
            run = suggesting.start_run(project, project.created_by, "fake", {"seed": seed}, wake_workers=False)
            assert lifecycle.run_here(run.job).state == Job.State.DONE
            runs.append(run)
        page_of(client, project, runs)
        compute_reports()
        with CaptureQueriesContext(connection) as captured:
            response = page_of(client, project, runs)
        changed = response.context["result"]["dimensions"][0]["n_changed"]
        report = StoredReport.objects.get(project=project)
        assert changed == len(Items.from_json(report.behind).units_of(Filter({"relevance.changed": "yes"})))
        assert changed
        return len(captured)

    assert queries(12) == queries(120)


def test_each_answer_follows_from_the_figures(project, runs):
    result = REPORTS["difference"].read(compute(project, runs))
    [labels], [score] = result.dimensions, result.scores

    def kappa(**values):
        return replace(labels, kappa=replace(labels.kappa, **values))

    nothing = replace(result, n_failures_gained=0, dimensions=[], scores=[])
    unchanged = replace(labels, n_changed=0)
    cases = (
        (LABEL_RULES, "nothing of both", replace(labels, n_both=0), "no unit has a label of both runs"),
        (LABEL_RULES, "nothing changed", unchanged, "6 units with a label of both runs, and none changed"),
        (LABEL_RULES, "no kappa", kappa(estimate=None), "(33.3%); the share of equal labels is 0.667 ["),
        (LABEL_RULES, "not shown", kappa(low=-0.1), "not shown (Cohen's kappa 0.400 [-0.100, 1.000])."),
        (LABEL_RULES, "changed", kappa(low=0.1), ", Cohen's kappa 0.400 [0.100, 1.000]."),
        (SCORE_RULES, "nothing of both", replace(score, moved=replace(score.moved, estimate=None)), "draw: no unit"),
        (SCORE_RULES, "nothing moved", replace(score, moved=replace(score.moved, estimate=0.0)), "same in both runs"),
        (SCORE_RULES, "moved", score, "the mean score is 2.333 ["),
        (NEXT, "failures", result, "look at the 1 unit that failed in the second run only"),
        (NEXT, "nothing of both", nothing, "the same units"),
        (NEXT, "changes", replace(result, n_failures_gained=0), "the answers of both runs"),
    )
    for rules, name, about, said in cases:
        rule = next(rule for rule in rules if rule.applies(about))
        assert rule.name == name and said in rule.says(about), name
    assert {name for _, name, *_ in cases} == {
        rule.name for rules in (LABEL_RULES, SCORE_RULES, NEXT) for rule in rules
    }
    assert first_that_applies(NEXT, replace(result, n_failures_gained=0, dimensions=[unchanged])) == ""
    answer = REPORTS["difference"].declares(result).answer
    assert answer.picture.values == ((2, 2), (0, 2)) and "From fake 1 (" in answer.n
    assert REPORTS["difference"].declares(nothing).answer.sentences[0].startswith("Neither run has")
    assert "0.667" in REPORTS["difference"].paragraph(result) and "of scores were: draw 1.000" in REPORTS[
        "difference"
    ].paragraph(result)

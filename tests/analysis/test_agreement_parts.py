"""What the agreement report says of each label, of chance, of arms, and of the two parts of a project."""

import json
from importlib.metadata import version

import krippendorff
import numpy as np
import pytest
from django.core.management import call_command
from django.urls import reverse
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from analysis.figures.results import PENDING
from analysis.models import StoredReport
from analysis.reports.agreement.agreement.parts import pairs
from analysis.reports.metrics import get_report
from analysis.reports.text import as_text
from analysis.stats import Labels
from annotation.jobs import lifecycle
from annotation.models import Annotation, Assignment, Job
from tests.world.labels import (
    in_order_of_keys,
    items_of,
    make_rater,
    of_dimension,
    of_name,
    project_of,
    quickly,
    say,
    units_behind,
)
from tests.world.remembered import remembered

pytestmark = pytest.mark.django_db
YES, NO = "relevant", "not_relevant"
OF_LABEL = ("percent_agreement", "alpha", "fleiss_kappa", "gwet_ac1", "brennan_prediger")
SCALE = ("refutes", "insufficient-refutes", "insufficient-contradictory", "insufficient-neutral",
         "insufficient-supports", "supports")  # fmt: skip


def agreement(project, **parameters):
    return get_report("agreement").compute(project, all=True, **parameters)


def in_arm(item, rater, arm, label):
    """A label that was given in an arm, by way of its assignment."""
    revision = say(item, rater, label)
    row = Assignment.objects.create(
        project=item.project, item=item, rater=rater, position=item.position, state="done", prefill_arm=arm
    )
    Annotation.objects.filter(pk=revision.annotation_id).update(assignment=row)


@pytest.fixture
@remembered
def on_a_scale():
    project = project_of(12)
    anna, ben = make_rater(project, "Anna"), make_rater(project, "Ben")
    codes = [(0, 0), (0, 1), (1, 1), (2, 4), (3, 3), (3, 5), (4, 4), (5, 5), (5, 4), (0, 3), (2, 2), (5, 5)]
    for item, (a, b) in zip(items_of(project), codes, strict=True):
        say(item, anna, YES, SCALE[a])
        say(item, ben, YES, SCALE[b])
    return project, codes


def test_weighted_kappas_are_those_of_scikit_learn(on_a_scale):
    project, codes = on_a_scale
    [pair] = of_dimension(agreement(project), "stance")["pairs"]
    a, b = zip(*codes, strict=True)
    for weights in ("linear", "quadratic"):
        expected = cohen_kappa_score(a, b, weights=weights, labels=range(6))
        assert pair[weights]["estimate"] == pytest.approx(expected)
        assert pair[weights]["low"] < expected < pair[weights]["high"]
        table = [[codes.count((x, y)) for y in range(6)] for x in range(6)]
        of_statsmodels = cohens_kappa(np.array(table), wt=weights)
        expected = (of_statsmodels.kappa_low, min(1, of_statsmodels.kappa_upp))
        assert (pair[weights]["analytic"]["low"], pair[weights]["analytic"]["high"]) == pytest.approx(expected)
    # Scott's pi by hand: the mean of both people's shares, squared.
    agreed = sum(x == y for x, y in codes) / 12
    chance = sum(((a.count(code) + b.count(code)) / 24) ** 2 for code in range(6))
    assert pair["scott_pi"]["estimate"] == pytest.approx((agreed - chance) / (1 - chance))
    [yes] = of_dimension(agreement(project), "relevance")["pairs"]
    assert yes["linear"] is None and "0/0" in yes["scott_pi"]["undefined"]


def test_packages_compute_the_headlines_again_and_a_difference_is_shown(on_a_scale, monkeypatch, caplog):
    project, _ = on_a_scale

    def said() -> tuple[dict, str, str]:
        result = agreement(project)
        again = {one["package"]: one for one in of_dimension(result, "stance")["recomputed"]}
        report = get_report("agreement")
        return again, str(report.page_of(result)), report.methods(result)

    again, page, methods = said()
    assert {name: one["n"] for name, one in again.items()} == {"krippendorff": 2, "statsmodels": 1, "scikit-learn": 1}
    assert all(one["difference"] <= 1e-9 for one in again.values())
    words = f"Krippendorff's alpha with krippendorff {version('krippendorff')}, Fleiss' kappa with statsmodels "
    assert words in page and words in methods and "no figure differs by more than 1e-09" in methods

    alpha = krippendorff.alpha
    monkeypatch.setattr(krippendorff, "alpha", lambda **data: alpha(**data) + 0.25)
    again, page, methods = said()
    assert again["krippendorff"]["difference"] == pytest.approx(0.25)
    for text in (page, methods, caplog.text):
        assert "0.25" in text and "krippendorff" in text


@pytest.mark.django_db
def test_packages_are_not_asked_for_what_they_do_not_define():
    project = project_of(6)
    anna, ben = make_rater(project, "Anna"), make_rater(project, "Ben")
    for number, item in enumerate(items_of(project)):
        say(item, anna, YES, SCALE[number])
        if number:  # the first has one label, which counts in the chance agreement of Fleiss' kappa here
            say(item, ben, YES, SCALE[number - number % 2])
    again = of_dimension(agreement(project), "stance")["recomputed"]
    assert {one["package"] for one in again} == {"krippendorff", "scikit-learn"}
    assert all(one["difference"] <= 1e-9 for one in again)


def test_ac_and_brennan_prediger_by_hand_with_their_analytic_interval(on_a_scale):
    project, codes = on_a_scale
    figures = of_dimension(agreement(project), "stance")["figures"]
    agreed = sum(x == y for x, y in codes) / 12
    share = [sum((x == code) + (y == code) for x, y in codes) / 24 for code in range(6)]
    chance = sum(p * (1 - p) for p in share) / 5
    ac1, bp = of_name(figures, "gwet_ac1"), of_name(figures, "brennan_prediger")
    assert ac1["estimate"] == pytest.approx((agreed - chance) / (1 - chance))
    assert bp["estimate"] == pytest.approx((agreed - 1 / 6) / (5 / 6))
    assert ac1["n_pairable"] == 12
    for figure in figures:
        analytic = figure["analytic"]
        assert analytic["low"] < figure["estimate"] < analytic["high"] <= 1, figure["name"]
        assert "Cochran" in analytic["method"] if "pooled" in figure["name"] else "Gwet" in analytic["method"]
    assert of_name(figures, "gwet_ac2_ordinal")["estimate"] > ac1["estimate"]


def test_each_label_against_the_rest_is_alpha_and_ac1_of_the_labels_recoded(on_a_scale):
    project, codes = on_a_scale
    rows = of_dimension(agreement(project), "stance")["per_label"]
    assert [row["label"] for row in rows] == list(SCALE)
    for code, row in enumerate(rows):
        one = np.array([[said == code for said in both] for both in codes], dtype=int)  # unit, rater
        alpha = krippendorff.alpha(one.T, level_of_measurement="nominal")
        assert row["alpha"]["estimate"] == pytest.approx(alpha)
        agreed, share = (one[:, 0] == one[:, 1]).mean(), one.mean()
        chance = 2 * share * (1 - share)
        assert row["gwet_ac1"]["estimate"] == pytest.approx((agreed - chance) / (1 - chance))
        assert row["percent_agreement"]["estimate"] == pytest.approx(agreed)
        for name in ("alpha", "gwet_ac1"):
            assert row[name]["low"] < row[name]["estimate"] <= row[name]["high"] <= 1
    assert len({round(row["alpha"]["estimate"], 6) for row in rows}) == 3  # so that a mix-up of labels would be seen


def test_each_label_against_the_rest_where_labels_are_missing():
    project = project_of(6)
    said = [(0, 0, 1), (1, None, 1), (2, 3, None), (0, None, None), (3, 3, 3), (1, 2, 1)]
    raters = [make_rater(project) for _ in range(3)]
    for item, codes in zip(items_of(project), said, strict=True):
        for rater, code in zip(raters, codes, strict=True):
            if code is not None:
                say(item, rater, YES, SCALE[code])
    rows = of_dimension(agreement(project), "stance")["per_label"]
    for code, row in enumerate(rows[:4]):
        one = np.array([[np.nan if each is None else each == code for each in unit] for unit in said])
        alpha = krippendorff.alpha(one.T, level_of_measurement="nominal")
        assert row["alpha"]["estimate"] == pytest.approx(alpha)
        n = (~np.isnan(one)).sum(axis=1)
        with_it = np.nansum(one, axis=1)
        pairs = n > 1
        same = with_it * (with_it - 1) + (n - with_it) * (n - with_it - 1)
        agreed = (same[pairs] / (n * (n - 1))[pairs]).mean()
        share = (with_it / n).mean()  # a unit with one label counts for chance, not for agreement
        chance = 2 * share * (1 - share)
        assert row["gwet_ac1"]["estimate"] == pytest.approx((agreed - chance) / (1 - chance))
        assert row["fleiss_kappa"]["estimate"] == pytest.approx((agreed - 1 + chance) / chance)
        assert row["brennan_prediger"]["estimate"] == pytest.approx(2 * agreed - 1)
        assert (row["alpha"]["n_pairable"], row["gwet_ac1"]["n_pairable"]) == (5, 5)
    unused = rows[4]
    assert unused["n"] == 0 and unused["alpha"]["estimate"] is None and "one label" in unused["alpha"]["undefined"]
    assert unused["gwet_ac1"]["estimate"] == 1  # which is why both stand side by side
    assert unused["brennan_prediger"]["estimate"] == 1 and "one label" in unused["fleiss_kappa"]["undefined"]


def test_each_label_against_the_rest_opens_its_units(on_a_scale):
    project, codes = on_a_scale
    report = agreement(project)
    rows = {row["label"]: row for row in of_dimension(report, "stance")["per_label"]}
    supports = rows["supports"]
    same = sum((x == 5) == (y == 5) for x, y in codes) / 12
    assert supports["n"] == 6 and supports["percent_agreement"]["estimate"] == pytest.approx(same)
    assert units_behind(report, "1.dimension=stance&1.label=supports") == in_order_of_keys(
        [item for item, said in zip(items_of(project), codes, strict=True) if 5 in said]
    )
    assert of_dimension(report, "relevance")["per_label"] == []  # of two labels each is the other's rest


def test_everything_of_a_label_and_of_a_pair_has_its_interval_but_for_a_first_pass(on_a_scale):
    stance = of_dimension(agreement(on_a_scale[0]), "stance")
    supports = next(row for row in stance["per_label"] if row["label"] == "supports")
    [pair] = stance["pairs"]
    for found in (*(supports[name] for name in OF_LABEL), pair["percent_agreement"]):
        assert found["low"] < found["estimate"] < found["high"] and found["interval"]["n_resamples"] == 1000
    with quickly():
        first = of_dimension(agreement(on_a_scale[0]), "stance")
    row = next(row for row in first["per_label"] if row["label"] == "supports")
    assert row["fleiss_kappa"] == row["brennan_prediger"] and row["fleiss_kappa"]["undefined"] == PENDING
    assert row["alpha"]["estimate"] == supports["alpha"]["estimate"]
    assert first["pairs"][0]["percent_agreement"]["estimate"] == pair["percent_agreement"]["estimate"]
    assert first["pairs"][0]["percent_agreement"]["low"] is None


def test_agreement_beyond_chance_has_a_p_value_and_none_where_alpha_is_undefined(on_a_scale):
    report = agreement(on_a_scale[0])
    chance = of_dimension(report, "stance")["chance"]
    alpha = of_name(of_dimension(report, "stance")["figures"], "krippendorff_alpha_ordinal")
    assert chance["statistic"] == alpha["estimate"] and chance["n_permutations"] == 999
    assert 0.001 <= chance["p_value"] < 0.05 and 0 < chance["n_movable"] <= chance["n_labels"]
    told = next(line for line in as_text(report).splitlines() if line.startswith("  ordinal"))
    assert [chance["n_movable"], chance["n_labels"], 999] == [int(n) for n in told.split()[5:8]]
    nothing = of_dimension(report, "relevance")["chance"]
    assert nothing["p_value"] is None and "only one label" in nothing["undefined"]


def test_arms_have_their_own_figures_and_a_difference():
    project = project_of(8, claims=8)
    anna, ben = make_rater(project), make_rater(project)
    for number, item in enumerate(items_of(project)):
        label = YES if number % 4 < 2 else NO
        for rater, said in ((anna, label), (ben, YES if number % 2 else NO)):
            in_arm(item, rater, "shown" if number < 4 else "off", label if number < 4 else said)
    dimension = of_dimension(agreement(project), "relevance")
    off, shown = dimension["by_arm"]
    assert (off["arm"], shown["arm"]) == ("off", "shown") and (off["n_units"], off["n_labels"]) == (4, 8)
    assert (off["percent_agreement"]["estimate"], shown["percent_agreement"]["estimate"]) == (0.5, 1.0)
    [found] = dimension["arm_differences"]
    assert found["estimate"] == pytest.approx(off["alpha_nominal"]["estimate"] - 1) and found["n_shared"] == 0


def test_one_arm_alone_has_no_table_of_arms():
    project = project_of(2)
    for rater in (make_rater(project), make_rater(project)):
        for item in items_of(project):
            in_arm(item, rater, "off", YES)
    assert of_dimension(agreement(project), "relevance")["by_arm"] == []


def test_intervals_in_closed_form_stand_on_the_page_and_in_the_tables(client, on_a_scale, capsys):
    project = on_a_scale[0]
    client.force_login(project.created_by)
    address = reverse("project_agreement", args=[project.slug]) + "?all=1"
    client.get(address)
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        lifecycle.run_here(job)
    page = " ".join(client.get(address).content.decode().split())
    stance = of_dimension(StoredReport.objects.get().result, "stance")
    kappa = of_name(stance["figures"], "fleiss_kappa")["analytic"]
    said = f"{kappa['method']}; {kappa['note']}"
    row = (
        f'<span class="interval">[{kappa["low"]:.3f}, {kappa["high"]:.3f}]</span></td><td class="why long">{said}</td>'
    )
    assert kappa["note"].startswith("rests on only ")
    assert (
        page.split(">Stance: intervals assuming independent units</caption>")[1].partition("</table>")[0].count(row)
        == 1
    )
    call_command("report", project.slug, "agreement", "--all", "--format", "csv")
    printed = capsys.readouterr().out
    assert "intervals assuming independent units" in printed and "Everitt 1969" in printed
    assert f"{stance['pairs'][0]['analytic']['low']:.4f}" in printed
    assert said in printed


def test_members_and_imported_raters_are_compared_on_the_same_items():
    project = project_of(6, claims=6)
    members, imported = ([make_rater(project, kind=kind) for _ in range(2)] for kind in ("member", "external"))
    for number, item in enumerate(items_of(project)):
        truth = YES if number % 2 else NO
        for rater in members:
            say(item, rater, truth)
        say(item, imported[0], truth)
        say(item, imported[1], YES if number < 3 else NO)
    found = of_dimension(agreement(project), "relevance")["members_against_imported"]
    assert found["of_a"] == 1.0 and found["estimate"] == pytest.approx(1 - found["of_b"])
    assert found["n_shared"] == 6
    assert of_dimension(agreement(project, raters="members"), "relevance")["members_against_imported"] is None


def test_a_source_stands_against_the_rest():
    project = project_of(8, claims=4)  # claims come from two sources in turn
    anna, ben = make_rater(project), make_rater(project)
    for number, item in enumerate(items_of(project)):
        agreed = item.anchor.evidence.claim.source.startswith("source0")
        say(item, anna, YES if number % 3 else NO)
        say(item, ben, YES if (number % 3 if agreed else number % 2) else NO)
    rows = {row["source"]: row for row in of_dimension(agreement(project), "relevance")["by_source"]}
    first, second = (rows[f"source{number}.example.org"] for number in (0, 1))
    difference = first["against_the_rest"]
    expected = first["alpha_nominal"]["estimate"] - second["alpha_nominal"]["estimate"]
    assert difference["estimate"] == pytest.approx(expected)
    assert second["against_the_rest"]["estimate"] == pytest.approx(-expected)


def test_the_page_shows_what_the_command_prints_in_every_form(client, on_a_scale, capsys):
    project = on_a_scale[0]
    client.force_login(project.created_by)
    address = reverse("project_agreement", args=[project.slug]) + "?all=1"
    client.get(address)
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        lifecycle.run_here(job)
    page = client.get(address).content.decode()
    report = StoredReport.objects.get()
    stance = of_dimension(report.result, "stance")
    assert f">{stance['chance']['p_value']:.3f}<" in page and "each label against the rest" in page
    assert f"{stance['pairs'][0]['quadratic']['estimate']:.3f}" in page
    files = reverse("project_report_tables", args=[project.slug, "agreement"])
    for form, ending in (("md", "md"), ("csv", "csv"), ("latex", "tex")):
        answer = client.get(files, {"report": report.parameters_hash, "format": form})
        assert answer.status_code == 200 and f'.{ending}"' in answer["Content-Disposition"]
        call_command("report", project.slug, "agreement", "--all", "--format", form)
        assert capsys.readouterr().out == answer.content.decode()
    assert client.get(files, {"report": report.parameters_hash, "format": "exe"}).status_code == 404
    assert client.get(files, {"report": "nothing", "format": "md"}).status_code == 404
    call_command("report", project.slug, "agreement", "--all", "--format", "json")
    assert json.loads(capsys.readouterr().out) == report.result


def test_which_pairs_are_listed_does_not_depend_on_names():
    """Files of a release have no names: of 210 pairs that share as much, the same 200 are listed with and without."""
    rng = np.random.default_rng(3)
    unit, rater = np.repeat(np.arange(4), 21), np.tile([f"p{number:02}" for number in range(21)], 4)
    coded = Labels.from_columns(unit, rater, rng.choice(["a", "b"], 84), ["a", "b"])
    people = coded.rater_names
    alike, turned = dict.fromkeys(people, "somebody"), dict(zip(people, sorted(people, reverse=True), strict=True))
    listed = [
        {frozenset((row.a_id, row.b_id)) for row in pairs(coded, "nominal", names, quick=True, all=False)[0]}
        for names in (dict(zip(people, people, strict=True)), alike, turned)
    ]
    assert len(listed[0]) == 200 and listed[0] == listed[1] == listed[2]

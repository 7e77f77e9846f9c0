"""Links lead to the units that they count: each list against one that is worked out from the rows of the database."""

from itertools import combinations

import pytest
from sklearn.metrics import confusion_matrix

from analysis.reports.agreement import compute as agreement
from analysis.reports.figures import quickly
from analysis.reports.metrics import get_report
from analysis.reports.opened import name_of, part_of
from analysis.sources.database import DatabaseSource
from analysis.templatetags.pairs import label_by_label, pair_rows
from annotation.models import Judgement, Response, Suggestion
from tests.analysis.leaked import leaked, pair_labels
from tests.analysis.planted import decide, suggest
from tests.analysis.study import PEOPLE, run_of, study
from tests.analysis.test_behind import opened
from tests.analysis.world import in_order_of_keys, items_of, make_rater, of_dimension, project_of, say
from tests.factories import make_project

pytestmark = pytest.mark.django_db
YES, NO = "relevant", "not_relevant"
STANCE = "Stance: pairs of annotators"


def report(name: str, project, **options) -> dict:
    with quickly():
        return get_report(name).compute(DatabaseSource(project), **options)


def units(result: dict, figure: str) -> list[int]:
    found = get_report(result["report"]).units_behind(result["behind"], figure)
    assert found is not None, figure
    return found


def said(project, dimension: str) -> dict[int, dict[str, str]]:
    """By unit, what each person (a pseudonym) last said."""
    found: dict[int, dict[str, str]] = {}
    rows = Judgement.objects.filter(revision__annotation__item__project=project, dimension=dimension)
    for unit, rater, label in rows.order_by("revision__number").values_list(
        "unit", "revision__annotation__rater__pseudonym", "label"
    ):
        found.setdefault(unit, {})[rater] = label
    return found


def ordered(project, wanted) -> list[int]:
    return [unit for unit in in_order_of_keys(items_of(project)) if unit in wanted]


def pseudonym(project, name: str) -> str:
    return project.raters.get(name=name).pseudonym


@pytest.fixture
def studied(db):
    return study()


def test_pairs_of_annotators_open_what_both_label_and_where_they_part(studied):
    result = report("agreement", studied)
    answers = said(studied, "stance")
    rows = of_dimension(result, "stance")["pairs"]
    assert len(rows) == 3 and {row["a"] for row in rows} | {row["b"] for row in rows} == set(PEOPLE)
    for row in rows:
        a, b = pseudonym(studied, row["a"]), pseudonym(studied, row["b"])
        assert (row["a_id"], row["b_id"]) == (a, b)
        both = {unit for unit, by in answers.items() if {a, b} <= set(by)}
        same = {unit for unit in both if answers[unit][a] == answers[unit][b]}
        key = f"stance/pair/{a}/{b}"
        assert units(result, f"{key}/both") == ordered(studied, both)
        assert units(result, f"{key}/agree") == ordered(studied, same)
        assert units(result, f"{key}/differ") == ordered(studied, both - same)
        assert (row["n_pairable"], row["n_agree"], row["n_differ"]) == (len(both), len(same), len(both - same))
        assert 0 < len(same) < len(both)
    page = opened(studied, "agreement", f"stance/pair/{a}/{b}/differ").content.decode()
    assert f"where {row['a']} and {row['b']} give different labels" in page
    assert a not in page.partition('id="main"')[2].replace(f"pair%2F{a}", "")
    kind = get_report("agreement")
    for wrong in (
        f"{key}/never",
        f"stance/pair/{a}/nobody/both",
        "stance/nothing",
        "nothing/paired",
        "stance/source/x",
    ):
        assert kind.units_behind(result["behind"], wrong) is None


def test_what_two_people_say_label_by_label_opens_its_units(studied):
    result = report("agreement", studied)
    found, answers = of_dimension(result, "stance"), said(studied, "stance")
    labels = [label["label"] for label in found["labels"]]
    titles = {label["label"]: label["title"] for label in found["labels"]}
    for row in found["pairs"]:
        a, b = row["a_id"], row["b_id"]
        both = [by for by in answers.values() if {a, b} <= set(by)]
        expected = confusion_matrix([by[a] for by in both], [by[b] for by in both], labels=labels)
        assert row["counts"] == expected.tolist()
        assert sum(map(sum, row["counts"])) == row["n_pairable"]
        assert sum(counts[place] for place, counts in enumerate(row["counts"])) == row["n_agree"]
        for of_a, counts in zip(labels, row["counts"], strict=True):
            for of_b, n in zip(labels, counts, strict=True):
                wanted = {unit for unit, by in answers.items() if (by.get(a), by.get(b)) == (of_a, of_b)}
                key = f"stance/pair/{a}/{b}/{of_a}/{of_b}"
                assert len(wanted) == n
                if wanted:
                    assert units(result, key) == ordered(studied, wanted)
                    some = key, f"{titles[of_a]} by {row['a']}, {titles[of_b]} by {row['b']}"
                else:
                    assert get_report("agreement").units_behind(result["behind"], key) is None
    assert get_report("agreement").units_behind(result["behind"], f"stance/pair/{a}/nobody/{of_a}/{of_b}") is None
    # Behind the pairs stand the lists of each person alone.
    assert not any("/pair/" in name for name in result["behind"])
    (table,) = (one for one in get_report("agreement").tables(result) if one.title == f"{STANCE}, label by label")
    assert sum(cells[-1] for cells in table.rows) == sum(row["n_pairable"] for row in found["pairs"])
    key, words = some
    assert words in opened(studied, "agreement", key).content.decode()


def test_a_page_shows_the_tables_of_as_many_pairs_as_fit():
    counts = [[3, 0], [1, 2000]]
    labels = [{"label": "yes", "title": "Yes"}, {"label": "no", "title": "<No>"}]
    pair = {"a": "Ann & co", "b": "Ben", "a_id": "p1", "b_id": "p2", "counts": counts}
    dimension = {"dimension": "stance", "labels": labels, "pairs": [pair] * 600}
    assert len(label_by_label(dimension)) == 500
    assert label_by_label(dimension | {"pairs": [{"a": "computed before there were counts"}]}) == []
    rows = pair_rows({"behind": "/behind/?report=1"}, dimension, pair)
    assert rows.count("<tr>") == 2 and rows.count("<a ") == 3 and "<td>0</td>" in rows
    assert 'href="/behind/?report=1&amp;figure=stance/pair/p1/p2/no/yes"' in rows
    assert 'aria-label="2,000 units: &lt;No&gt; by Ann &amp; co, &lt;No&gt; by Ben">2,000</a>' in rows


def test_sources_arms_and_versions_open_their_units(studied):
    result = agreement(DatabaseSource(studied))
    found, answers = of_dimension(result, "relevance"), said(studied, "relevance")
    items = {item.anchor_id: item for item in items_of(studied)}
    paired = {unit for unit, by in answers.items() if len(by) > 1}
    assert units(result, "relevance/paired") == ordered(studied, paired)
    assert {row["source"] for row in found["by_source"]} == {"north.example", "south.example"}
    for row in found["by_source"]:
        mine = {unit for unit, item in items.items() if row["source"] in item.anchor.evidence.claim.source}
        assert name_of(row["key"]) == row["source"]
        assert units(result, f"source/{row['key']}") == ordered(studied, mine)
        assert units(result, f"relevance/source/{row['key']}") == ordered(studied, mine & paired)
        assert row["n_units"] == len(mine) == 18
    for arm in found["by_arm"]:
        of_arm = {
            unit: item.annotations.filter(assignment__prefill_arm=arm["arm"]).count() for unit, item in items.items()
        }
        assert units(result, f"relevance/arm/{arm['arm']}") == ordered(studied, {u for u, n in of_arm.items() if n})
        pairs = {unit for unit, n in of_arm.items() if n > 1}
        assert units(result, f"relevance/arm/{arm['arm']}/pair") == ordered(studied, pairs)
        assert arm["alpha_nominal"]["n_pairable"] == len(pairs) < arm["n_units"] == sum(n > 0 for n in of_arm.values())
    first = in_order_of_keys(items_of(studied)[:20])
    assert units(result, "relevance/version/1/pair") == units(result, "relevance/version/1") == first


def test_the_page_of_an_arm_shows_the_answers_given_in_it(studied):
    page = opened(studied, "agreement", "relevance/arm/shown/pair")
    assert "with a pair of labels given where suggestions were" in page.content.decode()
    for row in page.context["rows"]:
        in_arm = row.item.annotations.filter(assignment__prefill_arm="shown")
        people = [answer.name for answer in page.context["beside"].people[row.unit.pk]]
        assert people == sorted(in_arm.values_list("rater__name", flat=True)) and len(people) > 1


def test_members_and_raters_of_files_are_opened_apart():
    project = project_of(4)
    people = [make_rater(project, f"Member {n}") for n in (1, 2)]
    files = [make_rater(project, f"File {n}", "external") for n in (1, 2)]
    both, members, imported, single = items_of(project)
    for item, raters in ((both, people + files), (members, people), (imported, files), (single, [people[0], files[0]])):
        for rater in raters:
            say(item, rater, YES if rater.name.endswith("1") else NO)
    result = report("agreement", project)
    assert units(result, "relevance/group/members/pair") == [both.anchor_id, members.anchor_id]
    assert units(result, "relevance/group/imported/pair") == [both.anchor_id, imported.anchor_id]
    found = of_dimension(result, "relevance")["members_against_imported"]
    assert (found["n_paired_members"], found["n_paired_imported"]) == (2, 2)
    page = opened(project, "agreement", "relevance/group/imported/pair")
    assert [one.name for one in page.context["beside"].people[both.anchor_id]] == ["File 1", "File 2"]


def test_annotators_open_their_units_and_where_they_stand_against_the_majority(studied):
    result = report("annotators", studied)
    answers = said(studied, "relevance")
    for row in of_dimension(result, "relevance")["raters"]:
        mine = {unit for unit, by in answers.items() if row["id"] in by}
        against = {
            unit
            for unit in mine
            for others in [list(answers[unit].values())]
            if others.count(answers[unit][row["id"]]) == 1 and len(others) == 3
        }
        assert units(result, f"relevance/by/{row['id']}") == ordered(studied, mine)
        assert units(result, f"relevance/by/{row['id']}/shared") == ordered(studied, mine)
        assert units(result, f"relevance/by/{row['id']}/against") == ordered(studied, against)
        assert (row["n_labels"], row["n_against"]) == (len(mine), len(against)) and against
    name = row["name"]
    page = opened(studied, "annotators", f"relevance/by/{row['id']}/against").content.decode()
    assert f"where {name} gives another label than the majority" in page


def test_a_test_against_each_person_opens_its_units(studied):
    result = report("alternative-annotator", studied, min_units=2)
    for row in of_dimension(result, "relevance")["checkers"]:
        every = set()
        for one in row["people"]:
            found = units(result, f"relevance/{row['run']}/{one['id']}/units")
            every |= set(found)
            assert found == ordered(studied, found) and len(found) == one["n_units"] > 0
        assert units(result, f"relevance/{row['run']}") == ordered(studied, every)
        assert len(every) == row["advantage"]["n_pairable"]
    unseen, anna = run_of(studied, "unseen"), pseudonym(studied, "Anna")
    assert units(result, f"relevance/{unseen}/{anna}/units") == ordered(studied, said(studied, "relevance"))
    few = report("alternative-annotator", studied, min_units=37)
    [row] = [row for row in of_dimension(few, "relevance")["checkers"] if row["run"] == unseen]
    assert not row["people"] and len(row["left_out"]) == 3
    assert units(few, f"relevance/{unseen}/{anna}/few") == units(result, f"relevance/{unseen}/{anna}/units")


def majority_of(by: dict[str, str]) -> str | None:
    votes = sorted(by.values(), key=lambda label: -list(by.values()).count(label))
    counts = [votes.count(label) for label in dict.fromkeys(votes)]
    return votes[0] if counts and counts.count(counts[0]) == 1 else None


def test_shares_open_the_units_that_people_gave_the_label(studied):
    run = run_of(studied, "unseen")
    result = report("prevalence", studied, run=run)
    labels = {unit: majority_of(by) for unit, by in said(studied, "relevance").items()}
    for row in of_dimension(result, "relevance")["labels"]:
        mine = {unit for unit, label in labels.items() if label == row["label"]}
        assert units(result, f"relevance/label/{row['label']}") == ordered(studied, mine)
        assert len(mine) == row["n_by_people"] > 0
    assert len(units(result, "relevance/by-people")) == sum(label is not None for label in labels.values())


def test_a_comparison_opens_rows_columns_and_everybody_beside_everybody(studied):
    run, other = run_of(studied, "unseen"), run_of(studied, "seen")
    result = get_report("comparison").compute(studied, run=run, other=other, touched=True)
    people = {unit: majority_of(by) for unit, by in said(studied, "relevance").items()}
    rows = Suggestion.objects.filter(run__uuid=run, dimension="relevance")
    checker = dict(rows.values_list("unit", "label"))
    for label in (YES, NO):
        by_people = {unit for unit, found in people.items() if found == label and unit in checker}
        assert units(result, f"relevance/people/{label}") == ordered(studied, by_people)
        by_checker = {unit for unit, found in checker.items() if found == label and people.get(unit)}
        assert units(result, f"relevance/checker/{label}") == ordered(studied, by_checker)
    compared = {unit for unit in people if people[unit] and unit in checker}
    assert units(result, "relevance/of/compared") == ordered(studied, compared)
    answers = said(studied, "relevance")
    for name in PEOPLE:
        person = pseudonym(studied, name)
        both = {unit for unit, by in answers.items() if person in by and unit in checker}
        same = {unit for unit in both if answers[unit][person] == checker[unit]}
        assert units(result, f"relevance/pair/{run}/{person}/both") == ordered(studied, both)
        assert units(result, f"relevance/pair/{run}/{person}/agree") == ordered(studied, same)
        against = {
            unit for unit in both if majority_of({who: one for who, one in answers[unit].items() if who != person})
        }
        assert units(result, f"relevance/against/{person}") == ordered(studied, against)
    stance = units(result, "stance/of/with-unasked")
    figures = of_dimension(result, "stance")["with_unasked"]["figures"]
    assert [one["n_pairable"] for one in figures] == [len(stance)] * len(figures)


def test_two_runs_open_what_both_or_one_of_them_labels(studied):
    run, other = run_of(studied, "unseen"), run_of(studied, "seen")
    gone = items_of(studied)[:3]
    Suggestion.objects.filter(run__uuid=run, unit__in=[item.anchor_id for item in gone]).delete()
    result = report("difference", studied, run=run, other=other)
    assert units(result, "relevance/only-before") == in_order_of_keys(gone)
    assert units(result, "relevance/only-now") == []
    assert units(result, "relevance/both") == in_order_of_keys(items_of(studied)[3:])


def test_rates_open_the_pieces_of_each_model_with_each_label():
    project = project_of(4, "triplets/-/1", triplets=[2, 1, 1, 0])
    responses = list(Response.objects.order_by("pk"))
    for response, model in zip(responses, ("lab/a", "lab/a", "b", "b"), strict=True):
        Response.objects.filter(pk=response.pk).update(model=model, context_setting="no/context")
    rater = make_rater(project)
    one, two, three, silent = items_of(project)
    say(one, rater, labels={0: "entailment", 1: "contradiction"})
    say(two, rater, labels={0: "contradiction"})
    result = report("rates", project)
    pieces = {item: [link.unit_id for link in item.item_units.order_by("index")] for item in (one, two, three)}
    setting, a = part_of("no/context"), part_of("lab/a")
    assert set(units(result, f"answers/{setting}/{a}")) == {*pieces[one], *pieces[two]}
    everything = {*pieces[one], *pieces[two], *pieces[three], silent.anchor_id}
    assert set(units(result, f"answers/{setting}")) == everything
    assert units(result, f"abstained/{setting}") == units(result, f"abstained/{setting}/b") == [silent.anchor_id]
    contradicted = {pieces[one][1], *pieces[two]}
    for model in (a, "*"):
        assert set(units(result, f"entailment/{setting}/{model}/contradiction")) == contradicted
    [found] = result["settings"]
    [of_a] = [row for row in found["models"] if row["name"] == "lab/a"]
    assert (of_a["n_units"], of_a["n_of"]["contradiction"], found["mean"]["n_units"]) == (3, 2, 5)
    page = opened(project, "rates", f"entailment/{setting}/{a}/contradiction").content.decode()
    assert "no/context, lab/a: " in page and "<h1>2 units behind a figure</h1>" in page
    page = opened(project, "rates", f"abstained/{setting}/b").content.decode()
    assert "answers without pieces of b" in page and silent.key in page


def test_matched_documents_and_claims_open_their_pairs():
    project = make_project(leaked(), "nli/two-way/1")
    labels = pair_labels("entailment", "non-entailment")
    decide(project, labels, "entailment")
    suggest(project, labels, "entailment")
    result = report("matched", project, reference="imported")
    rows = {item.anchor_id: item.anchor.pair for item in items_of(project)}
    entailed = {pair.response_id for pair in rows.values() if labels[pair.key] == "entailment"}
    mine = {unit for unit, pair in rows.items() if pair.response_id in entailed}
    assert units(result, "all/people/documents/matched") == ordered(project, mine)
    claims = {pair.response.claim_id for pair in rows.values() if pair.response_id in entailed}
    mine = {unit for unit, pair in rows.items() if pair.response.claim_id in claims}
    assert units(result, "all/people/claims/matched") == ordered(project, mine)
    of_sources = [units(result, f"{row['key']}/people/documents/matched") for row in result["sources"]]
    assert sum(map(len, of_sources)) == len(units(result, "all/people/documents/matched"))


def test_the_trial_and_the_plan_open_what_they_count(studied):
    trial = report("prefill-trial", studied, run=run_of(studied, "seen"))
    items = {item.anchor_id: item for item in items_of(studied)}
    seen = {unit: item.annotations.filter(assignment__prefill_arm="shown").count() for unit, item in items.items()}
    assert units(trial, "relevance/all/seen") == ordered(studied, {unit for unit, n in seen.items() if n})
    assert units(trial, "relevance/paired/all/seen") == ordered(studied, {unit for unit, n in seen.items() if n > 1})
    [row] = [row for row in of_dimension(trial, "relevance")["alpha"] if row["stratum"] == "all"]
    assert row["n_seen"] == sum(n > 1 for n in seen.values())
    plan = report("planning", studied, judgements=3)
    assert units(plan, "stance/full") == ordered(
        studied, {u for u, by in said(studied, "stance").items() if len(by) > 2}
    )


def test_pairs_who_marked_open_what_both_looked_at(studied):
    for who in ("answered", "same-label"):
        result = report("spans", studied, who=who)
        answers = said(studied, "stance")
        rows = of_dimension(result, "stance")["pairs"]
        assert len(rows) == 3
        for row, (a, b) in zip(rows, combinations(PEOPLE, 2), strict=False):
            a, b = (pseudonym(studied, name) for name in (row["a"], row["b"]))
            both = {unit for unit, by in answers.items() if {a, b} <= set(by)}
            if who == "same-label":
                both = {unit for unit in both if answers[unit][a] == answers[unit][b]}
            assert units(result, f"stance/pair/{row['a_id']}/{row['b_id']}") == ordered(studied, both)
            assert row["figures"][-1]["n_pairable"] == len(both) > 0

"""Links lead to the units that they count: each list against one that is worked out from the rows of the database."""

from itertools import combinations

import pytest
from sklearn.metrics import confusion_matrix

from analysis.figures.items import Filter
from analysis.reports.checkers.comparison import filters
from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from annotation.models import Judgement, Project, Response, Suggestion
from tests.analysis.test_behind import opened
from tests.factories import make_project
from tests.world.labels import in_order_of_keys, items_of, make_rater, of_dimension, project_of, quickly, say
from tests.world.labels import units_behind as units
from tests.world.leaked import leaked, pair_labels
from tests.world.planted import decide, suggest
from tests.world.study import PEOPLE, run_of, study

pytestmark = pytest.mark.django_db
YES, NO = "relevant", "not_relevant"
MORE = ("agreement", "comparison")  # reports with more statistics
STANCE = "Stance: pairs of annotators"


def report(name: str, project, **options) -> dict:
    with quickly():
        return get_report(name).compute(DatabaseSource(project), **({"all": True} if name in MORE else {}) | options)


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


def of_two(dimension: str, a: dict[str, str], b: dict[str, str], pair: str = "") -> str:
    """The filter of units with two such judgements."""
    return Filter({}, tuple({"dimension": dimension, **side} for side in (a, b)), pair).encoded


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
        sides = {"rater": a}, {"rater": b}
        assert units(result, of_two("stance", *sides)) == ordered(studied, both)
        assert units(result, of_two("stance", *sides, "same")) == ordered(studied, same)
        assert units(result, of_two("stance", *sides, "other")) == ordered(studied, both - same)
        assert (row["n_pairable"], row["n_agree"], row["n_differ"]) == (len(both), len(same), len(both - same))
        assert 0 < len(same) < len(both)
    page = opened(studied, "agreement", of_two("stance", *sides, "other"))
    named = (f"a judgement with Question: Stance, Annotator: {row[who]}" for who in ("a", "b"))
    assert page.context["figure"] == "; ".join((*named, "of these two different labels"))
    for wrong in (
        of_two("stance", *sides) + "&pair=never",
        of_two("stance", sides[0], {"rater": "nobody"}),
        "stance=nothing",
        "nothing=agree",
        "source=x",
    ):
        assert get_report("agreement").units_behind(result["behind"], wrong) is None


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
                assert len(wanted) == n
                if wanted:
                    figure = of_two("stance", {"rater": a, "label": of_a}, {"rater": b, "label": of_b})
                    assert units(result, figure) == ordered(studied, wanted)
                    some = (
                        figure,
                        *(
                            f"Annotator: {row[who]}, Label: {titles[label]}"
                            for who, label in (("a", of_a), ("b", of_b))
                        ),
                    )
    # A table of judgements stands for all pairs.
    assert not any(row["a_id"] in name for name in result["behind"]["columns"])
    (table,) = (one for one in get_report("agreement").tables(result) if one.title == f"{STANCE}, label by label")
    counts = [cells[-1].value for cells in table.rows]
    assert 0 not in counts and sum(counts) == sum(row["n_pairable"] for row in found["pairs"])
    figure, *words = some
    assert all(one in opened(studied, "agreement", figure).context["figure"] for one in words)


def test_sources_arms_and_versions_open_their_units(studied):
    result = get_report("agreement").compute(DatabaseSource(studied), all=True)
    found, answers = of_dimension(result, "relevance"), said(studied, "relevance")
    items = {item.anchor_id: item for item in items_of(studied)}
    paired = {unit for unit, by in answers.items() if len(by) > 1}
    with_pair = "relevance=agree&relevance=disagree"
    assert units(result, with_pair) == ordered(studied, paired)
    assert {row["source"] for row in found["by_source"]} == {"north.example", "south.example"}
    for row in found["by_source"]:
        mine = {unit for unit, item in items.items() if row["source"] in item.anchor.evidence.claim.source}
        assert units(result, f"source={row['source']}") == ordered(studied, mine)
        assert units(result, f"source={row['source']}&{with_pair}") == ordered(studied, mine & paired)
        assert row["n_units"] == len(mine) == 18
    for arm in found["by_arm"]:
        of_arm = {
            unit: item.annotations.filter(assignment__prefill_arm=arm["arm"]).count() for unit, item in items.items()
        }
        side = {"arm": arm["arm"]}
        once = Filter({}, ({"dimension": "relevance", **side},)).encoded
        assert units(result, once) == ordered(studied, {u for u, n in of_arm.items() if n})
        pairs = {unit for unit, n in of_arm.items() if n > 1}
        assert units(result, of_two("relevance", side, side)) == ordered(studied, pairs)
        assert arm["alpha_nominal"]["n_pairable"] == len(pairs) < arm["n_units"] == sum(n > 0 for n in of_arm.values())
    first = in_order_of_keys(items_of(studied)[:20])
    version = {"version": "1"}
    assert units(result, of_two("relevance", version, version)) == first
    assert units(result, Filter({}, ({"dimension": "relevance", **version},)).encoded) == first


def test_the_page_of_an_arm_shows_the_answers_given_in_it(studied):
    page = opened(studied, "agreement", of_two("relevance", {"arm": "shown"}, {"arm": "shown"}))
    arm = Project.Prefill.SHOWN.label
    assert page.context["figure"].count(f"a judgement with Question: Relevance, Suggestions were: {arm}") == 2
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
    of_members, of_files = (
        of_two("relevance", {"group": group}, {"group": group}) for group in ("members", "imported")
    )
    assert units(result, of_members) == [both.anchor_id, members.anchor_id]
    assert units(result, of_files) == [both.anchor_id, imported.anchor_id]
    found = of_dimension(result, "relevance")["members_against_imported"]
    assert (found["n_paired_members"], found["n_paired_imported"]) == (2, 2)
    page = opened(project, "agreement", of_files)
    assert [one.name for one in page.context["beside"].people[both.anchor_id]] == ["File 1", "File 2"]


def labelled_by(person: str, *, only: str = "", **said: str) -> str:
    said = {"rater": person, "dimension": "relevance", **said, "counts": "yes"}
    return Filter({only: "yes"} if only else {}, (said,)).encoded


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
        assert units(result, labelled_by(row["id"])) == ordered(studied, mine)
        assert units(result, labelled_by(row["id"], only="relevance.shared")) == ordered(studied, mine)
        assert units(result, labelled_by(row["id"], against="yes")) == ordered(studied, against)
        assert (row["n_labels"], row["n_against"]) == (len(mine), len(against)) and against
    name = row["name"]
    page = opened(studied, "annotators", labelled_by(row["id"], against="yes")).content.decode()
    assert f"Annotator: {name}, Question: Relevance, which is not the majority" in page


def units_of_tests(run: str, person: str = "", sides: tuple[str, ...] = ("checker", "person", "tied")) -> str:
    by = {"rater": person} if person else {}
    return Filter(judgements=({**by, "dimension": "relevance", f"test.{run}": sides},)).encoded


def test_a_test_against_each_person_opens_its_units(studied):
    result = report("alternative-annotator", studied, min_units=2)
    for row in of_dimension(result, "relevance")["checkers"]:
        every = set()
        for one in row["people"]:
            found = units(result, units_of_tests(row["run"], one["id"]))
            every |= set(found)
            assert found == ordered(studied, found) and len(found) == one["n_units"] > 0
        assert units(result, units_of_tests(row["run"])) == ordered(studied, every)
        assert len(every) == row["advantage"]["n_pairable"]
    unseen, anna = run_of(studied, "unseen"), pseudonym(studied, "Anna")
    assert units(result, units_of_tests(unseen, anna)) == ordered(studied, said(studied, "relevance"))
    few = report("alternative-annotator", studied, min_units=37)
    [row] = [row for row in of_dimension(few, "relevance")["checkers"] if row["run"] == unseen]
    assert not row["people"] and len(row["left_out"]) == 3
    assert units(few, units_of_tests(unseen, anna, ("few",))) == units(result, units_of_tests(unseen, anna))


def majority_of(by: dict[str, str]) -> str | None:
    votes = sorted(by.values(), key=lambda label: -list(by.values()).count(label))
    counts = [votes.count(label) for label in dict.fromkeys(votes)]
    return votes[0] if counts and counts.count(counts[0]) == 1 else None


def test_shares_open_the_units_that_people_gave_the_label(studied):
    run = run_of(studied, "unseen")
    result = report("prevalence", studied, run=run)
    labels = {unit: set(by.values()) for unit, by in said(studied, "relevance").items()}
    for row in of_dimension(result, "relevance")["labels"]:
        mine = {unit for unit, found in labels.items() if row["label"] in found}
        assert units(result, f"relevance.voted.{row['label']}=yes") == ordered(studied, mine)
        assert len(mine) == row["n_by_people"] > 0
    divided = {unit for unit, found in labels.items() if len(found) > 1}
    assert divided and units(result, "relevance.divided=yes") == ordered(studied, divided)
    assert len(units(result, "relevance.judged=both&relevance.judged=people")) == sum(map(bool, labels.values()))


def test_a_comparison_opens_rows_columns_and_everybody_beside_everybody(studied):
    run, other = run_of(studied, "unseen"), run_of(studied, "seen")
    result = get_report("comparison").compute(studied, run=run, other=other, touched=True, all=True)
    people = {unit: majority_of(by) for unit, by in said(studied, "relevance").items()}
    rows = Suggestion.objects.filter(run__uuid=run, dimension="relevance")
    checker = dict(rows.values_list("unit", "label"))
    for label in (YES, NO):
        by_people = {unit for unit, found in people.items() if found == label and unit in checker}
        assert units(result, f"relevance.people={label}&relevance.checker.has=label") == ordered(studied, by_people)
        by_checker = {unit for unit, found in checker.items() if found == label and people.get(unit)}
        assert units(result, f"relevance.checker={label}&relevance.people.has=label") == ordered(studied, by_checker)
    compared = {unit for unit in people if people[unit] and unit in checker}
    assert units(result, "relevance.people.has=label&relevance.checker.has=label") == ordered(studied, compared)
    answers = said(studied, "relevance")
    for name in PEOPLE:
        person = pseudonym(studied, name)
        both = {unit for unit, by in answers.items() if person in by and unit in checker}
        same = {unit for unit in both if answers[unit][person] == checker[unit]}
        labels = [{f"relevance.by.{who}": (YES, NO) for who in (run, person)}]
        labels += [{f"relevance.by.{who}": label for who in (run, person)} for label in (YES, NO)]
        of_both, *of_same = (set(units(result, Filter(one).encoded)) for one in labels)
        assert of_both == both and set.union(*of_same) == same
        against = {
            unit for unit in both if majority_of({who: one for who, one in answers[unit].items() if who != person})
        }
        assert units(result, filters.against_reference("relevance", person).encoded) == ordered(studied, against)
    stance = units(result, filters.with_unasked("stance").encoded)
    figures = of_dimension(result, "stance")["with_unasked"]["figures"]
    assert [one["n_pairable"] for one in figures] == [len(stance)] * len(figures)


def test_two_runs_open_what_both_or_one_of_them_labels(studied):
    run, other = run_of(studied, "unseen"), run_of(studied, "seen")
    gone = items_of(studied)[:3]
    Suggestion.objects.filter(run__uuid=run, unit__in=[item.anchor_id for item in gone]).delete()
    result = report("difference", studied, run=run, other=other)
    assert units(result, "relevance.labelled=first") == in_order_of_keys(gone)
    assert units(result, "relevance.labelled=second") == []
    assert units(result, "relevance.labelled=both") == in_order_of_keys(items_of(studied)[3:])


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
    here = {"setting": "no/context"}

    def of(**more) -> str:
        return Filter(here | more).encoded

    assert set(units(result, of(model="lab/a"))) == {*pieces[one], *pieces[two]}
    assert set(units(result, of())) == {*pieces[one], *pieces[two], *pieces[three], silent.anchor_id}
    assert units(result, of(abstained="yes")) == units(result, of(abstained="yes", model="b")) == [silent.anchor_id]
    contradicted = {"label.entailment": "contradiction"}
    for filtered in (of(model="lab/a", **contradicted), of(**contradicted)):
        assert set(units(result, filtered)) == {pieces[one][1], *pieces[two]}
    [found] = result["settings"]
    [of_a] = [row for row in found["models"] if row["name"] == "lab/a"]
    assert (of_a["n_units"], of_a["n_of"]["contradiction"], found["mean"]["n_units"]) == (3, 2, 5)
    page = opened(project, "rates", of(model="lab/a", **contradicted)).content.decode()
    assert "Setting: no/context; Model: lab/a; " in page and "<h1>2 units behind a figure</h1>" in page
    page = opened(project, "rates", of(abstained="yes", model="b")).content.decode()
    assert "Answers without pieces" in page and silent.key in page


def test_matched_documents_and_claims_open_their_pairs():
    project = make_project(leaked(), "nli/two-way/1")
    labels = pair_labels("entailment", "non-entailment")
    decide(project, labels, "entailment")
    suggest(project, labels, "entailment")
    result = report("matched", project, reference="imported")
    rows = {item.anchor_id: item.anchor.pair for item in items_of(project)}
    entailed = {pair.response_id for pair in rows.values() if labels[pair.key] == "entailment"}
    mine = {unit for unit, pair in rows.items() if pair.response_id in entailed}
    assert units(result, "document.people=matched") == ordered(project, mine)
    claims = {pair.response.claim_id for pair in rows.values() if pair.response_id in entailed}
    mine = {unit for unit, pair in rows.items() if pair.response.claim_id in claims}
    assert units(result, "claim.people=matched") == ordered(project, mine)
    named = [row["of"] for row in result["shares"] if row["of"] and row["group"] == "documents"]
    of_sources = [units(result, Filter(of | {"document.people": "matched"}).encoded) for of in named]
    assert sum(map(len, of_sources)) == len(units(result, "document.people=matched"))


def test_the_trial_and_the_plan_open_what_they_count(studied):
    trial = report("prefill-trial", studied, run=run_of(studied, "seen"))
    items = {item.anchor_id: item for item in items_of(studied)}
    seen = {unit: item.annotations.filter(assignment__prefill_arm="shown").count() for unit, item in items.items()}
    assert units(trial, "1.dimension=relevance&1.side=seen") == ordered(
        studied, {unit for unit, n in seen.items() if n}
    )
    assert units(trial, "relevance.paired.all.seen=yes") == ordered(
        studied, {unit for unit, n in seen.items() if n > 1}
    )
    [row] = [row for row in of_dimension(trial, "relevance")["alpha"] if row["stratum"] == "all"]
    assert row["n_seen"] == sum(n > 1 for n in seen.values())
    plan = report("planning", studied, judgements=3)
    assert units(plan, "stance.full=yes") == ordered(
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
            sides = ({"rater": rater, "compared": "yes"} for rater in (a, b))
            if who == "same-label":
                both = {unit for unit in both if answers[unit][a] == answers[unit][b]}
            assert units(result, of_two("stance", *sides, "same" if who == "same-label" else "")) == ordered(
                studied, both
            )
            assert row["figures"][-1]["n_pairable"] == len(both) > 0

"""Leakage in query expansion: proportions, matching against people, retrieval and verdicts, with planted effects."""

import json
import sys

import msgspec
import numpy as np
import pandas as pd
import pytest

from analysis.figures.items import Filter, Items
from analysis.figures.page import first_that_applies
from analysis.figures.results import Figure
from analysis.papers.leakage.answer import AGREEMENT_RULES, MATCHED_RULES, NEXT, RETRIEVAL_RULES
from analysis.papers.leakage.texts import Texts
from analysis.papers.leakage.verdicts import truth_of
from analysis.releases import freezing
from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from analysis.sources.files import source_of_files
from annotation.models import Claim, Evidence, Item, Judgement, RankedPassage
from annotation.task_types import task_type
from models_runtime.texts.overlap import BertScored
from tests.factories import make_project
from tests.world.labels import make_rater, quickly, say
from tests.world.leaked import REPETITIONS, N, claim, document, is_matched, leaked, pair_labels, retrieve
from tests.world.planted import decide, score, suggest

pytestmark = pytest.mark.django_db
PAIRS, DOCUMENTS, EVIDENCE = "nli/two-way/1", "evidence-inclusion/-/1", "claim-evidence/three-way/1"
E, NO = "entailment", "non-entailment"


@pytest.fixture
def dataset():
    return leaked()


@pytest.fixture
def pairs(dataset):
    project = make_project(dataset, PAIRS)
    decide(project, pair_labels(E, NO), "entailment")
    return project


def report(project, **options):
    options = {"reference": "imported", "similarity": "none"} | options
    return get_report("leakage").compute(DatabaseSource(project), **options)


def test_the_proportion_matched_is_told_per_generator_and_repetition(pairs):
    (row,) = report(pairs)["generators"]
    people = row["sides"]["people"]
    assert (row["method"], row["model"], row["n_claims"], row["n_documents"]) == ("query2doc", "m1", 40, 80)
    assert (people["matched"], people["unmatched"], people["undecided"]) == (39, 41, 0)
    # 20 of 40 in one repetition and 19 in the other.
    assert people["share"]["estimate"] == pytest.approx(0.4875)
    assert people["standard_error"] == pytest.approx(0.0125)
    assert people["share"]["interval"]["n_clusters"] == 40


def test_gold_evidence_is_found_where_documents_leak(pairs):
    for repetition in REPETITIONS:
        retrieve(pairs, repetition)
    result = report(pairs)
    (family,) = result["families"]
    assert family["generator"] == {"method": "query2doc", "model": "m1", "setting": ""} and len(family["runs"]) == 2
    assert (family["n_rows"], family["n_undecided"]) == ({"all": 80, "matched": 39, "unmatched": 41}, 0)
    recall = family["measures"]["recall@5"]
    means = {group: found["estimate"] for group, found in recall["groups"].items()}
    assert means == {"all": pytest.approx(0.4875), "matched": 1, "unmatched": 0}
    assert recall["groups"]["all"]["standard_error"] == pytest.approx(0.0125)
    assert recall["groups"]["all"]["n_repetitions"] == 2 and recall["groups"]["matched"]["n_claims"] == 20
    assert recall["difference"]["estimate"] == 1
    test = recall["test"]
    # The claim that is matched in one repetition only stands in both groups.
    assert (test["n_matched"], test["n_unmatched"], test["n_in_both"]) == (20, 21, 1)
    assert (test["u"], test["effect"]["estimate"], test["rank_biserial"]) == (420, 1, 1)
    assert test["p_value"] < 1e-9 and test["p_holm"] == pytest.approx(4 * test["p_value"], rel=1)
    # One of two pieces at the seventh place: DCG 1 / log2(8) of an ideal 1 + 1 / log2(3).
    ndcg = family["measures"]["ndcg@10"]["groups"]["unmatched"]["estimate"]
    assert ndcg == pytest.approx((1 / 3) / (1 + 1 / np.log2(3)))
    assert family["measures"]["recall@10"]["groups"]["unmatched"]["estimate"] == 0.5
    assert Items.from_json(result["behind"]).count(Filter({"retrieval0.recall@5.matched": "yes"})) == 20 * 4


def test_a_retrieval_without_documents_is_split_by_any_document_of_the_claim(pairs):
    retrieve(pairs, None)
    retrieve(pairs, 0, top=5)
    plain, expanded = report(pairs)["families"]
    assert plain["generator"] == {} and plain["n_rows"] == {"all": 40, "matched": 20, "unmatched": 20}
    assert plain["measures"]["recall@5"]["difference"]["estimate"] == 0
    assert plain["measures"]["recall@5"]["test"]["p_value"] == 1
    assert plain["measures"]["recall@5"]["groups"]["all"]["standard_error"] is None
    assert expanded["measures"]["recall@10"]["groups"]["all"]["undefined"] == "no query has a value"
    assert "kept 5 passages" in expanded["notes"][0]


def test_retrievals_that_differ_in_a_parameter_or_a_version_are_told_apart(pairs):
    for place, changed in enumerate(({"k1": 0.9}, {"k1": 1.5}, {"k1": 1.5})):
        run = retrieve(pairs, None)
        version = "2" if place == 2 else "1"
        type(run).objects.filter(pk=run.pk).update(parameters=run.parameters | changed, version=version)
    result = report(pairs)
    first, second, third = [family["title"] for family in result["families"]]
    assert first == "bm25, all evidence, k1 0.9"
    assert second.startswith("bm25, all evidence, run ") and second != third
    assert get_report("leakage").pictures(result)


def test_automatic_matching_is_set_against_people_by_pair_and_by_document(dataset, pairs):
    labels = pair_labels(E, NO)
    for number in (1, 2, 30):  # two matched documents missed, one found too many
        labels[f"{document(number, 0)}/p0"] = NO if is_matched(number, 0) else E
    run = suggest(pairs, labels, "entailment")
    whole = make_project(dataset, DOCUMENTS)
    said = {document(n, r): "included" if n < 22 else "not_included" for n in range(N) for r in REPETITIONS}
    decide(whole, said, "inclusion")
    result = report(pairs, run=str(run.uuid), documents=whole.slug)
    by_pair, by_document, against_whole, people = result["comparisons"]
    assert by_pair["counts"] == {"both": 37, "checker": 1, "people": 2, "neither": 120}
    assert by_pair["f1"]["estimate"] == pytest.approx(74 / 77) and by_pair["level"] == "pairs"
    assert by_document["counts"] == {"both": 37, "checker": 1, "people": 2, "neither": 40}
    for name, n in (("share_people", 39), ("share_checker", 38)):
        share = by_document[name]
        assert share["low"] < share["estimate"] == n / 80 < share["high"] and share["interval"]["n_clusters"] == N
    # Agreement 77 / 80; both say matched 39 and 38 of 80 times.
    expected = (39 * 38 + 41 * 42) / 6400
    assert by_document["kappa"]["estimate"] == pytest.approx((77 / 80 - expected) / (1 - expected))
    assert against_whole["people"].startswith("people, by documents") and against_whole["counts"]["people"] == 7
    assert people["counts"] == {"both": 39, "checker": 0, "people": 5, "neither": 36}
    assert Items.from_json(result["behind"]).count(Filter({"comparison1": "people"})) == 4  # two documents of two pairs
    by_run = report(pairs, run=str(run.uuid), by="checker")
    assert by_run["generators"][0]["sides"]["checker"]["matched"] == 38 and by_run["by_title"] == "the run's labels"


def test_verdicts_are_right_where_documents_leak(dataset, pairs):
    """A judge that is right from gold evidence, and says the opposite of anything else."""
    for repetition in REPETITIONS:
        retrieve(pairs, repetition)
    evidence = make_project(dataset, EVIDENCE)
    keys = Evidence.objects.published().filter(dataset=dataset).values_list("key", flat=True)
    truth = {key: key.startswith("c") and int(key[1:3]) % 2 == 1 for key in keys}
    probabilities = {
        "verdict_true": {key: 0.9 if is_true else 0.05 for key, is_true in truth.items()},
        "verdict_none": {key: 0.05 for key in truth},
        "verdict_false": {key: 0.05 if is_true else 0.9 for key, is_true in truth.items()},
    }
    # Other passages speak for nothing.
    for key in (one for one in truth if one.startswith("x/")):
        for name, value in zip(probabilities, (0.4, 0.3, 0.3), strict=True):
            probabilities[name][key] = value
    score(evidence, "verdict", probabilities)
    (family,) = report(pairs, verdicts=evidence.slug)["families"]
    found = family["measures"]["verdict@5"]
    assert found["groups"]["matched"]["estimate"] == 1
    # Of unmatched claims all are called true: half are. F1 of true 2/3, of false 0.
    assert found["groups"]["unmatched"]["estimate"] == pytest.approx(1 / 3, abs=0.01)
    assert found["test"]["effect"]["estimate"] == pytest.approx(0.75, abs=0.02) and found["test"]["p_value"] < 0.01
    Claim.objects.filter(key=claim(0)).update(verdict="Mostly harmless")
    (family,) = report(pairs, verdicts=evidence.slug)["families"]
    assert family["measures"]["verdict@5"]["groups"]["all"]["left_out"] == {"no reference": 2}


def verdicts_by(project, retrieval, first: int, of: dict[str, str]):
    run = suggest(project, of, "verdict")
    type(run).objects.filter(pk=run.pk).update(
        version="1", provenance={"retrieved": {"retrieval": str(retrieval.uuid), "first": first}}
    )


def test_verdicts_on_passages_together_are_in_the_labels_of_the_project(dataset, pairs):
    """Right for matched claims; for others everything is refuted, of which half are."""
    claims = make_project(dataset, "claim-verdict/four-way/1")
    for repetition in REPETITIONS:
        said = {claim(n): "supported" if n % 2 and is_matched(n, repetition) else "refuted" for n in range(N)}
        verdicts_by(claims, retrieve(pairs, repetition), 5, said)
    result = report(pairs, verdicts=claims.slug)
    assert result["verdict_by"] == "together" and len(result["verdict_labels"]) == 4
    (family,) = result["families"]
    found = family["measures"]["verdict@5"]["groups"]
    assert found["matched"]["estimate"] == 1 and found["all"]["n_repetitions"] == 2
    # F1 of refuted 2/3, of supported 0; the other two labels never come.
    assert found["unmatched"]["estimate"] == pytest.approx(1 / 3, abs=0.01)
    assert family["measures"]["verdict@10"]["groups"]["all"]["undefined"]  # nobody judged ten together
    Claim.objects.filter(key__in=[claim(0), claim(1)]).update(verdict="Conflicting Evidence/Cherrypicking")
    judged = report(pairs, verdicts=claims.slug)["families"][0]["measures"]["verdict@5"]["groups"]
    assert not judged["all"]["left_out"] and judged["matched"]["estimate"] < 1
    assert "on the first k passages together" in get_report("leakage").methods(result)


def test_a_claims_verdict_is_found_among_the_labels_by_value_title_or_usual_name():
    said = ["SUPPORTS", "Not Enough Evidence", "true", "conflicting_evidence", "half-true", ""]
    claims = pd.DataFrame({"key": list(map(str, range(6))), "verdict": said})
    shipped = [(one.value, one.title) for one in task_type("claim-verdict/four-way/1").dimensions[0].labels]
    assert list(truth_of(claims, shipped).values()) == [2, 1, 2, 3, -1, -1]
    own = [("pants_on_fire", "Pants on fire"), ("half-true", "Half true"), ("mostly_true", "SUPPORTS")]
    assert list(truth_of(claims, own).values()) == [2, -1, 2, -1, 1, -1]


def test_texts_are_compared_by_the_best_assignment(pairs):
    retrieve(pairs, 0)
    result = report(pairs, similarity="rouge-l")
    (family,) = result["families"]
    found = family["measures"]["similarity@5"]["groups"]
    assert found["matched"]["estimate"] == 1
    # Nothing in common but no word: "Perch 0 is rare." against "Harbour 20 froze in 0." shares "0" at most.
    assert 0 <= found["unmatched"]["estimate"] < 0.25
    tables = get_report("leakage").tables(result)
    assert any(table.title.startswith("ROUGE-L, best assignment") for table in tables)


def test_what_a_comparison_of_texts_lacks_is_said(monkeypatch):
    monkeypatch.setattr("models_runtime.texts.overlap.Meteor.__init__", lambda self: setattr(self, "wordnet", ""))
    meteor = Texts("meteor")
    assert not meteor.is_on and "needs WordNet" in meteor.problem
    monkeypatch.setitem(Texts.LIMITS, "rouge-l", 3)
    rouge = Texts("rouge-l")
    rouge.learn([(["a b", "c d"], ["a b", "x"])])
    assert not rouge.is_on and "4 pairs are more than the 3" in rouge.problem
    with pytest.raises(ValueError, match="similarity is one of"):
        Texts("bleu")
    monkeypatch.setitem(sys.modules, "rouge_score", None)
    assert "needs rouge_score" in Texts("rouge-l").problem and not Texts("rouge-l").is_on


def test_in_a_corpus_gold_evidence_is_known_by_the_id_of_its_document(pairs):
    run = retrieve(pairs, 0)
    type(run).objects.filter(pk=run.pk).update(corpus="papers")
    result = report(pairs)
    assert result["families"][0]["measures"]["recall@5"]["groups"]["all"]["estimate"] is None
    assert any("No gold evidence is named among the documents of papers" in note for note in result["notes"])
    for row in Evidence.objects.filter(is_gold=True):
        Evidence.objects.filter(pk=row.pk).update(metadata={"document": f"doc {row.key}"})
    for row in RankedPassage.objects.filter(document__contains="/g"):
        RankedPassage.objects.filter(pk=row.pk).update(document=f"doc {row.document}")
    assert report(pairs)["families"][0]["measures"]["recall@5"]["groups"]["matched"]["estimate"] == 1


def test_documents_judged_as_a_whole_can_be_what_is_matched(dataset):
    whole = make_project(dataset, DOCUMENTS)
    said = {document(n, r): "included" if is_matched(n, r) else "not_included" for n in range(N) for r in REPETITIONS}
    decide(whole, said, "inclusion")
    retrieve(whole, 0)
    result = report(whole)
    assert result["unit"] == "documents" and result["generators"][0]["sides"]["people"]["matched"] == 39
    assert result["families"][0]["measures"]["recall@5"]["difference"]["estimate"] == 1


def test_what_is_absent_says_what_to_run_or_label(dataset):
    project = make_project(dataset, PAIRS)
    kind = get_report("leakage")
    result = kind.compute(DatabaseSource(project))
    starts = [note.partition(":")[0].partition(",")[0] for note in result["notes"]]
    assert starts == ["Nobody has labelled anything yet", "No automatic matching",
                      "Whole documents are judged in another project on the data set", "No retrieval",
                      "No verdicts"]  # fmt: skip
    assert result["generators"][0]["sides"]["people"]["share"]["undefined"] == "no query has a value"
    assert kind.body(result) and kind.methods(result)
    evidence = make_project(dataset, EVIDENCE)
    empty = kind.compute(DatabaseSource(project), verdicts=evidence.slug)
    assert any(note.startswith(f"Project {evidence.slug} has no run that gives verdicts") for note in empty["notes"])
    assert "pairs of gold evidence" in kind.fits(evidence.type) and kind.fits(project.type) == ""
    with pytest.raises(ValueError, match="Name a run"):
        report(project, by="checker")
    with pytest.raises(ValueError, match="no project 'nothing'"):
        report(project, documents="nothing")


def test_page_parts_and_words_are_made_of_what_was_computed(pairs):
    retrieve(pairs, 0)
    run = suggest(pairs, pair_labels(E, NO), "entailment")
    kind = get_report("leakage")
    result = report(pairs, run=str(run.uuid), similarity="rouge-l")
    tables, pictures = kind.tables(result), kind.pictures(result)
    assert "leakage-recall-5" in [picture.name for picture in pictures]
    figures = {cell.figure for table in tables for row in table.rows for cell in row if hasattr(cell, "figure")}
    items = Items.from_json(result["behind"])
    assert figures and all(items.count(Filter.decoded(one)) for one in figures)
    assert all(items.words(Filter.decoded(one)) for one in figures)
    said = kind.methods(result)
    assert "Mann-Whitney" in said and "trec_eval" in said and "ROUGE-L" in said and "pairs was judged" in said
    with quickly():
        first = report(pairs, run=str(run.uuid), similarity="rouge-l")
    assert first["families"][0]["measures"]["recall@5"]["groups"]["matched"]["low"] is None and kind.body(first)


NO_WORDS = f"Harbour {N - 1} froze in 1."


def alike(text: str, reference: str) -> float | None:
    """Of a claim's two pieces of gold evidence: taking the greatest entry first (0.9) would leave 0.1 for the other."""
    if reference == NO_WORDS:
        return None
    if text.rpartition(" in ")[0] != reference.rpartition(" in ")[0]:
        return 0.0
    return {("0.", "0."): 0.9, ("0.", "1."): 0.8, ("1.", "0."): 0.7, ("1.", "1."): 0.1}[text[-2:], reference[-2:]]


class FixedMeteor:
    wordnet = "3.0"

    def score(self, text, reference):
        return alike(text, reference)


class FixedBertScore:
    def __init__(self, model):
        pass

    def score(self, pairs):
        found = [alike(*pair) for pair in pairs]
        return [None if f1 is None else BertScored(f1, f1, f1, False) for f1 in found]


@pytest.mark.parametrize(("measure", "title"), [("meteor", "METEOR"), ("bertscore", "BERTScore by MiniLM")])
def test_the_best_assignment_counts_and_undefined_pairs_are_no_zeros(pairs, monkeypatch, measure, title):
    monkeypatch.setattr("models_runtime.texts.overlap.Meteor", FixedMeteor)
    monkeypatch.setattr("models_runtime.texts.overlap.BertScore", FixedBertScore)
    retrieve(pairs, 0)
    result = report(pairs, similarity=measure)
    (family,) = result["families"]
    means = {
        k: {group: found["estimate"] for group, found in family["measures"][f"similarity@{k}"]["groups"].items()}
        for k in (5, 10)
    }
    # Both pieces found: (0.8 + 0.7) / 2. One of them at the seventh place: 0.9 / 2 of the first ten passages.
    assert means[5]["matched"] == means[10]["matched"] == pytest.approx(0.75)
    assert (means[5]["unmatched"], means[10]["unmatched"]) == (0, pytest.approx(0.45))
    assert means[10]["all"] == pytest.approx((20 * 0.75 + 19 * 0.45) / 39)
    unmatched = family["measures"]["similarity@10"]["groups"]["unmatched"]
    assert (unmatched["n_pairable"], unmatched["left_out"]) == (19, {"no value": 1})
    (note,) = [note for note in result["notes"] if "is undefined for" in note]
    assert note.startswith(f"{title} is undefined for 10 of ")
    assert f"{title}, best assignment @10" in str(get_report("leakage").tables(result))


def test_a_passage_without_words_has_no_rouge(pairs):
    retrieve(pairs, 0)
    RankedPassage.objects.filter(document=f"{claim(N - 1)}/g0").update(text="...")
    (family,) = report(pairs, similarity="rouge-l")["families"]
    unmatched = {k: family["measures"][f"similarity@{k}"]["groups"]["unmatched"] for k in (5, 10)}
    # It stands in the seventh place.
    assert {k: row["n_pairable"] for k, row in unmatched.items()} == {5: 20, 10: 19}


def test_beside_a_checker_only_labels_it_did_not_touch_count(dataset):
    """Two documents are matched by people, one of them after the checker's suggestions had been shown."""
    project = make_project(dataset, PAIRS)
    run = suggest(project, pair_labels(E, NO), "entailment")
    rater = make_rater(project)
    for number, shown in ((1, True), (2, False)):
        for place in range(2):
            item = Item.objects.get(project=project, anchor__key=f"{document(number, 0)}/p{place}")
            revision = say(item, rater, shown=shown)
            Judgement.objects.create(
                revision=revision, unit=item.anchor, dimension="entailment", label=NO if place else E
            )
    options = {"reference": "majority"}, {"run": str(run.uuid)}, {"run": str(run.uuid), "touched": True}
    alone, beside, touched = (report(project, **{"reference": "majority"} | more) for more in options)
    people = [result["generators"][0]["sides"]["people"] for result in (alone, beside, touched)]
    assert [side["matched"] for side in people] == [2, 1, 2]
    counts = [result["comparisons"][0]["counts"] for result in (beside, touched)]
    assert [(one["both"], one["neither"]) for one in counts] == [(1, 1), (2, 2)]
    words = "labels given after a suggestion of that checker was shown did not count"
    assert [words in get_report("leakage").methods(result) for result in (beside, touched)] == [True, False]


def test_files_of_two_projects_give_the_same_numbers_as_the_database(dataset, pairs, tmp_path):
    for repetition in REPETITIONS:
        retrieve(pairs, repetition)
    whole = make_project(dataset, DOCUMENTS)
    decide(whole, {document(n, 0): "included" if n % 3 else "not_included" for n in range(N)}, "inclusion")
    run = suggest(pairs, pair_labels(E, NO), "entailment")
    claims = make_project(dataset, "claim-verdict/three-way/1")
    said = {claim(n): "supported" if n % 3 else "refuted" for n in range(N)}
    for retrieval in pairs.retrieval_runs.all():
        verdicts_by(claims, retrieval, 5, said)
    options = {"reference": "imported", "run": str(run.uuid), "documents": whole.slug, "similarity": "rouge-l"}
    options["verdicts"] = claims.slug
    kind = get_report("leakage")
    found = kind.compute(DatabaseSource(pairs), **options)
    assert found["families"][0]["measures"]["verdict@5"]["groups"]["all"]["n_repetitions"] == 2
    projects = (pairs, whole, claims)
    for project in projects:
        freezing.write_release(project, tmp_path / project.slug)
    files = source_of_files(tmp_path / pairs.slug, siblings=[tmp_path / one.slug for one in projects[1:]])
    from_files = kind.compute(files, **options)
    for result in (found, from_files):
        result.pop("behind")
        result.pop("made_from")
    assert json.dumps(from_files, sort_keys=True) == json.dumps(found, sort_keys=True)
    with pytest.raises(ValueError, match="no release of"):
        kind.compute(source_of_files(tmp_path / pairs.slug), **options)


def test_every_rule_of_the_answer_says_its_sentence(dataset, pairs):
    """From a result in which all is known, each rule's case is made by hand."""
    for repetition in REPETITIONS:
        retrieve(pairs, repetition)
    run = suggest(pairs, pair_labels(E, NO), "entailment")
    kind = get_report("leakage")
    whole = kind.read(report(pairs, run=str(run.uuid)))
    unknown, with_ = Figure(estimate=None, undefined="nothing counts"), msgspec.structs.replace
    generator, (compared, *_), (family,) = whole.generators[0], whole.comparisons, whole.families
    nothing = with_(
        whole, generators=[with_(generator, sides={"people": with_(generator.sides["people"], share=unknown)})]
    )

    def differing(estimate: float | None, low: float | None = None, high: float | None = None):
        found = Figure(estimate=estimate, undefined="" if estimate else "one group", low=low, high=high)
        recall = family.measures["recall@5"]
        is_shown = low is not None and low > 0
        test = with_(recall.test, p_holm=0.01 if is_shown else 0.4)
        measures = family.measures | {"recall@5": with_(recall, difference=found, test=test)}
        return with_(whole, families=[with_(family, measures=measures)])

    no_retrieval, no_checker = with_(whole, families=[]), with_(whole, run="")
    cases = (
        (MATCHED_RULES, "nothing decided", nothing, "is not known: none is decided by people's labels"),
        (MATCHED_RULES, "one generator", whole, "a share of 0.487 ["),
        (MATCHED_RULES, "several generators", with_(whole, generators=[generator] * 2), "most common in the gener"),
        (AGREEMENT_RULES, "nothing to compare", with_(whole, comparisons=[]), ""),
        (AGREEMENT_RULES, "nothing to compare", with_(whole, comparisons=[with_(compared, f1=unknown)]), ""),
        (AGREEMENT_RULES, "compared", whole, "has an F1 of 1.000"),
        (RETRIEVAL_RULES, "no retrieval", no_retrieval, ""),
        (RETRIEVAL_RULES, "one group", differing(None), "it takes both matched and unmatched claims"),
        (RETRIEVAL_RULES, "without interval", differing(0.5), "for matched and 0.000 for unmatched claims ("),
        (RETRIEVAL_RULES, "difference", differing(0.5, 0.2, 0.8), ": a difference of 0.500 [0.200, 0.800]"),
        (RETRIEVAL_RULES, "no difference", differing(0.5, -0.2, 0.8), "no difference is shown (0.500 [-0.200, 0.800])"),
        (NEXT, "nothing decided", nothing, "label pairs"),
        (NEXT, "no checker", no_checker, "run a checker"),
        (NEXT, "no retrieval", no_retrieval, "run a retrieval"),
        (NEXT, "no verdicts", whole, "verdict"),
    )
    for rules, name, result, said in cases:
        rule = next(rule for rule in rules if rule.applies(result))
        assert rule.name == name and said in rule.says(result) and bool(said) == bool(rule.says(result)), name
        assert kind.declares(result).answer.sentences
    every = {rule.name for rules in (MATCHED_RULES, AGREEMENT_RULES, RETRIEVAL_RULES, NEXT) for rule in rules}
    assert {name for _, name, *_ in cases} == every
    assert first_that_applies(NEXT, with_(whole, verdict_run="verdict 1")) == ""

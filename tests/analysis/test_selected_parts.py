"""Figures of a part of a project: answers without pieces are of their source, other projects and retrievals follow."""

import itertools
import json
from datetime import UTC, datetime

import pytest

from analysis.figures.items import Items
from analysis.papers.refchecker.data import study_of
from analysis.releases import freezing
from analysis.reports.metrics import get_report
from analysis.reports.words.methods import paragraph
from analysis.sources.base import Source
from analysis.sources.database import DatabaseSource
from analysis.sources.files import source_of_files
from analysis.sources.selected import SelectedSource
from analysis.sources.selection import Selection
from annotation.formats.records import AspectRecord, QuestionRecord, ResponseRecord, response_aspect_key
from annotation.models import Claim, Judgement, Question, Response, RunFailure
from tests.analysis.test_leakage import DOCUMENTS, EVIDENCE, NO, PAIRS
from tests.analysis.test_refchecker_report import C, E, label_all, planted, run_of
from tests.analysis.test_sufficiency import GRADE, GRADES, PLANTED, SUFFICIENCY, is_sufficient
from tests.analysis.test_sufficiency import records as graded_records
from tests.factories import make_dataset, make_project
from tests.kinds import bring_in
from tests.world.labels import items_of, make_rater, project_of, quickly, say
from tests.world.leaked import REPETITIONS, N, claim, document, is_matched, leaked, pair_labels, retrieve
from tests.world.planted import decide, score, suggest, units_of
from tests.world.remembered import remembered

pytestmark = pytest.mark.django_db


def selected(inner: Source, /, **conditions) -> SelectedSource:
    return SelectedSource(inner, Selection.of(conditions))


def sources_of(tmp_path, *projects) -> list[Source]:
    """The first project, beside the others: from the database, and from releases' files."""
    for project in projects:
        freezing.write_release(project, tmp_path / project.slug)
    first, *others = (tmp_path / project.slug for project in projects)
    return [DatabaseSource(projects[0]), source_of_files(first, siblings=others)]


def report(name: str, source: Source, **options) -> dict:
    with quickly():
        return get_report(name).compute(source, **options)


def alike(results: list[dict]) -> dict:
    """The numbers from the database, which those from files must equal."""
    found = []
    for result in results:
        result["behind"] |= {"units": len(Items.from_json(result["behind"]).units)}  # they are numbered otherwise
        found.append(json.dumps({name: part for name, part in result.items() if name != "made_from"}, sort_keys=True))
    assert found[0] == found[1]
    return results[0]


# Answers without pieces


@pytest.fixture(scope="module")
def answers(django_db_setup, django_db_blocker, tmp_path_factory):
    """The planted study of RefChecker from the database and from files: d abstains from 5 of 20 questions in either
    setting, and so does nobody else."""
    from django.db import transaction

    with django_db_blocker.unblock(), transaction.atomic():
        project, labels = planted()
        label_all(project, labels)
        yield sources_of(tmp_path_factory.mktemp("releases"), project)
        transaction.set_rollback(True)


@pytest.mark.parametrize(
    ("conditions", "n_responses", "n_abstained", "rate"),
    [
        ({"source": "zero_context"}, 80, 5, 0.0625),
        ({"split": "response.model", "source": "d"}, 20, 5, 0.25),
        ({"split": "response.model", "source": "a"}, 20, 0, 0),
    ],
)
def test_abstained_answers_are_of_their_answers_source(answers, conditions, n_responses, n_abstained, rate):
    found = alike([report("refchecker", selected(source, **conditions)) for source in answers])["rates"][-1]
    assert (found["setting"], found["n_responses"], found["n_abstained"]) == ("zero_context", n_responses, n_abstained)
    assert found["abstained"]["mean"]["estimate"] == pytest.approx(rate)
    (setting,) = [
        one
        for one in alike([report("rates", selected(source, **conditions)) for source in answers])["settings"]
        if one["setting"] == "zero_context"
    ]
    assert (setting["n_responses"], setting["n_without_units"]) == (n_responses, n_abstained)
    assert setting["mean"]["abstained"]["estimate"] == pytest.approx(rate)
    agreement = alike([report("agreement", selected(source, **conditions)) for source in answers])
    assert agreement["n_items_without_units"] == n_abstained * (2 if "split" in conditions else 1)


@pytest.mark.parametrize(
    ("conditions", "why"),
    [
        ({"label": f"{E}:{C}"}, "what has no triplets has no label to be chosen by"),
        ({"split": "triplet.index", "source": "1"}, "what has no triplets comes under no index of the triplet"),
    ],
)
def test_where_no_abstained_answer_can_be_chosen_their_share_is_undefined(answers, conditions, why):
    assert DatabaseSource(answers[0].project).why_without_units_are_unknown() == ""
    refchecker = alike([report("refchecker", selected(source, **conditions)) for source in answers])
    for found in refchecker["rates"]:
        assert found["n_abstained"] is None and found["n_responses"] > 0
        assert {(one["estimate"], one["undefined"]) for one in found["abstained"]["models"]} == {(None, why)}
        assert found["abstained"]["mean"]["undefined"] == why
    rates = report("rates", selected(answers[0], **conditions))
    for setting in rates["settings"]:
        assert setting["mean"]["abstained"]["undefined"] == setting["models"][0]["abstained"]["undefined"] == why
    for kind, result in ((get_report("refchecker"), refchecker), (get_report("rates"), rates)):
        assert any(f"undefined: {why}" in row for table in kind.tables(result) for row in table.rows)
        assert "abstain rate" not in kind.methods(result)
    assert f"Answers that abstained are not counted: {why}." in refchecker["notes"]


def test_numbers_of_an_unknown_share_have_no_interval(answers):
    source = selected(answers[0], label=f"{E}:{C}", source="zero_context")
    for setting in get_report("rates").compute(source)["settings"]:
        found = setting["mean"]["abstained"]
        assert (found["estimate"], found["low"], found["high"]) == (None, None, None)


def test_other_pieces_are_of_the_answers_to_the_same_questions():
    project, labels = planted()
    label_all(project, labels)
    sibling = make_project(project.dataset, "triplets/-/1", slug="coarser", overlap=1)
    run_of(sibling, "blind", dict.fromkeys(labels, E))
    source = selected(DatabaseSource(project), source="zero_context")
    study = study_of(source.sibling("coarser"))
    assert (len(study.responses), set(study.responses["setting"])) == (80, {"zero_context"})
    assert (study.responses["n_units"] == 0).sum() == 5
    beside = report("refchecker", source, other_pieces="coarser")["granularity"][-1]
    assert [one["setting"] for one in beside["settings"]] == ["zero_context"]


def test_answers_to_questions_without_aspects_are_of_their_model(tmp_path):
    """Of two models' answers to two questions the second question has no aspects; a scorer failed for one answer."""
    dataset = make_dataset()
    bring_in(dataset, aspects_in_answers())
    project = make_project(dataset, "aspect-coverage/-/1", slug="aspects")
    keys = [response_aspect_key(f"{model}/q0", f"q0/a{place}") for model in ("a", "b") for place in range(2)]
    run = suggest(project, dict.fromkeys(keys[:3], "covered"), "coverage")
    RunFailure.objects.create(run=run, unit=units_of(project, keys[3:])[keys[3]], reason="too long")
    sources = sources_of(tmp_path, project)
    for model, failures in (("a", {}), ("b", {"too long": 1})):
        of_model = [selected(source, split="response.model", source=model) for source in sources]
        result = alike([report("icat", source) for source in of_model])
        assert (result["n_responses"], result["n_queries"], result["n_units"]) == (2, 2, 2)
        assert result["compared"][0]["failures"] == failures
        assert any(note.startswith("1 answer is to questions without aspects") for note in result["notes"])
        coverage = alike([report("coverage", source) for source in of_model])
        assert [row["n_aspects"] for row in coverage["responses"]] == [2, 0]
        assert report("rates", of_model[0])["settings"][0]["n_without_units"] == 1


def test_what_machines_say_is_of_the_units_that_are_looked_at(tmp_path):
    """The second run doubts evidence from the north, and failed for some from elsewhere."""
    project = project_of(8, claims=4)
    Claim.objects.filter(dataset=project.dataset).update(source="")
    Claim.objects.filter(dataset=project.dataset, key__in=("c0", "c1")).update(source="https://north.example/1")
    north = {item.anchor.key: item.anchor.evidence.claim.key in ("c0", "c1") for item in items_of(project)}
    runs = []
    for doubt in (0.0, 0.3):
        sure = {key: 0.9 - doubt * is_north for key, is_north in north.items()}
        probability = {key: {"relevant": value, "not_relevant": 1 - value} for key, value in sure.items()}
        runs.append(suggest(project, dict.fromkeys(north, "relevant"), "relevance", probability))
    failed = [key for key, is_north in north.items() if not is_north][:2]
    RunFailure.objects.bulk_create(
        RunFailure(run=runs[1], unit=unit, reason="away") for unit in units_of(project, failed).values()
    )
    options = {"run": str(runs[1].uuid), "other": str(runs[0].uuid)}
    sources = sources_of(tmp_path, project)
    for source, n_failed, shift in (("north.example", 0, 0.3), ("unknown", 2, 0.0)):
        result = alike([report("difference", selected(one, source=source), **options) for one in sources])
        assert (result["n_units"], result["n_failed"]) == (4, n_failed)
        (found,) = result["dimensions"]
        assert (found["shift"]["n"], found["shift"]["mean"]["estimate"]) == (4, pytest.approx(shift))


def aspects_in_answers():
    for number in range(2):
        yield QuestionRecord(f"q{number}", f"What of {number}?")
    for place in range(2):
        yield AspectRecord(f"q0/a{place}", "q0", place, f"Aspect {place}")
    for model, number in itertools.product("ab", range(2)):
        yield ResponseRecord(f"{model}/q{number}", "It froze.", question=f"q{number}", model=model)


# Another project beside


@pytest.fixture
@remembered
def graded():
    """The planted study of sufficient context; five of the questions of either kind are of data set A."""
    dataset = make_dataset()
    bring_in(dataset, graded_records())
    for question in Question.objects.filter(dataset=dataset):
        number = int(question.key[1:])
        Question.objects.filter(pk=question.pk).update(metadata={"dataset": "A" if number % 20 < 5 else "B"})
    sufficiency, grades = make_project(dataset, SUFFICIENCY, slug="enough"), make_project(dataset, GRADE, slug="grades")
    numbers = range(40)
    labels = {f"q{number:02}": "sufficient" if is_sufficient(number) else "insufficient" for number in numbers}
    decide(sufficiency, labels, "sufficiency")
    outcomes = {
        f"q{number:02}/{model}-{setting}": GRADES[found[not is_sufficient(number)][number % 20]]
        for (model, setting), found in PLANTED.items()
        for number in numbers
    }
    decide(grades, outcomes, "grade")
    return sufficiency, grades


OF_A = {"split": "question.dataset", "source": "A"}


def test_graded_answers_are_to_the_questions_that_are_looked_at(graded, tmp_path):
    sufficiency, grades = graded
    options = {"reference": "imported", "grades": grades.slug, "withhold": "confidence"}
    sources = [selected(source, **OF_A) for source in sources_of(tmp_path, sufficiency, grades)]
    result = alike([report("sufficiency", source, **options) for source in sources])
    assert (result["n_questions"], result["n_sufficient"]) == (10, 5)
    every, closed = (next(one for one in result["systems"] if name in one["title"]) for name in ("all", "closed"))
    assert (every["n_questions"], every["groups"]["all"]["correct"]["n_units"]) == (10, 30)
    assert every["n_without_sufficiency"] == 0
    # Of either kind bold's first eight answers without context are right, and A has the first five.
    groups = ("all", "sufficient", "insufficient")
    assert [closed["groups"][name]["correct"]["estimate"] for name in groups] == [1, 1, 1]
    assert result["curves"][0]["overall"]["n_units"] == 30 and result["contains"][0]["n"] == 30
    kind = get_report("sufficiency")
    assert "only units of the dataset of the question A count" in (said := paragraph(kind, result))
    assert "Of grades only what comes from the same claims or questions counts" in said
    whole = report("sufficiency", sources[0].whole(), **options)
    assert whole["systems"][0]["n_questions"] == 40 and "Of grades" not in paragraph(kind, whole)


def test_nothing_that_is_looked_at_has_nothing_beside(graded):
    sufficiency, grades = graded
    dimension = sufficiency.type.dimensions[0]
    source = selected(DatabaseSource(sufficiency), label=f"{dimension.slug}:{dimension.values[0]}")  # by nobody
    result = report("sufficiency", source, reference="imported", grades=grades.slug)
    assert (result["n_questions"], result["systems"][0]["n_questions"]) == (0, 0)


def test_days_and_arms_hold_for_labels_beside_but_people_and_guidelines_do_not(graded, tmp_path):
    """Of the answers to question 0 the first two were graded in May and the third in June."""
    sufficiency, grades = graded
    rater = make_rater(grades)
    items = [item for item in items_of(grades) if item.key.startswith("q00/")]
    for place, item in enumerate(items):
        when = datetime(2026, 5 + place // 2, 3, tzinfo=UTC)
        revision = say(item, rater, submitted_at=when, guideline_version=1)
        Judgement.objects.create(revision=revision, unit=item.anchor, dimension="grade", label="perfect")
    anna = make_rater(sufficiency, "Anna")
    sources = sources_of(tmp_path, sufficiency, grades)

    def n_graded(**conditions) -> int:
        results = [report("sufficiency", selected(one, **conditions), grades=grades.slug) for one in sources]
        return alike(results)["systems"][0]["groups"]["all"]["correct"]["n_pairable"]

    assert [n_graded(until="2026-05-31"), n_graded(since="2026-06-01"), n_graded(since="2026-07-01")] == [2, 1, 0]
    assert n_graded(annotator=anna.pseudonym) == n_graded(guidelines="2") == 3
    assert n_graded(arm="shown") == 0  # nobody knows in which arm these were given
    result = report("sufficiency", selected(sources[0], since="2026-06-01", guidelines="2"), grades=grades.slug)
    said = paragraph(get_report("sufficiency"), result)
    assert "Of grades of their labels only answers given on or after 2026-06-01 count." in said


def test_evidence_beside_is_of_the_claims_that_are_looked_at(tmp_path):
    project = project_of(12, claims=6, slug="here")
    Claim.objects.filter(dataset=project.dataset, key__in=("c0", "c1")).update(source="https://north.example/1")
    other = make_project(project.dataset, "claim-evidence/three-way/1", slug="there")
    for one in (project, other):
        hedged = {item.anchor.key: float(item.anchor.evidence.claim.key == "c0") for item in items_of(one)}
        score(one, "characteristics", {"hedging": hedged})
    rater = make_rater(project)
    for item in items_of(project)[:3]:
        say(item, rater, "relevant", "supports")
    sources = sources_of(tmp_path, project, other)
    for conditions, n_claims in (({"source": "north.example"}, 2), ({}, 6)):
        mine = [selected(source, **conditions) for source in sources]
        found = alike([get_report("druid").compute(source, evidence_beside=other.slug) for source in mine])
        assert [(one["n_pairs"], one["n_claims"]) for one in found["beside"]] == [(2 * n_claims, n_claims)] * 2
        means = [one["characteristics"][-1]["estimate"] for one in found["beside"]]
        assert means == [pytest.approx(1 / n_claims)] * 2


# Retrievals


@pytest.fixture
def pairs():
    project = make_project(leaked(), PAIRS, slug="pairs")
    decide(project, pair_labels(E, NO), "entailment")
    for repetition in REPETITIONS:
        retrieve(project, repetition)
    return project


SUPPORTED = {"split": "claim.verdict", "source": "Supported"}
WITHOUT_TEXTS = {"reference": "imported", "similarity": "none"}


def test_retrieval_is_measured_over_the_claims_that_are_looked_at(pairs, tmp_path):
    """Claims of odd numbers are supported: ten of them matched, in both repetitions, and ten not."""
    evidence = make_project(pairs.dataset, EVIDENCE, slug="verdicts")
    truth = {item.anchor.key: item.key.startswith("c") and int(item.key[1:3]) % 2 for item in items_of(evidence)}
    # It is sure of gold evidence and calls all other passages false, of which all come from a claim not looked at.
    sure = {key: 0.9 if is_true else 0.05 for key, is_true in truth.items()}
    probabilities = {"verdict_true": sure, "verdict_none": dict.fromkeys(truth, 0.0)}
    score(evidence, "verdict", probabilities | {"verdict_false": {key: 1 - value for key, value in sure.items()}})
    sources = sources_of(tmp_path, pairs, evidence)
    options = WITHOUT_TEXTS | {"verdicts": evidence.slug}
    result = alike([report("leakage", selected(source, **SUPPORTED), **options) for source in sources])
    (family,) = result["families"]
    assert (family["n_claims"], family["n_rows"]) == (20, {"all": 40, "matched": 20, "unmatched": 20})
    assert family["n_undecided"] == 0
    recall = family["measures"]["recall@5"]["groups"]
    assert {name: found["estimate"] for name, found in recall.items()} == {"all": 0.5, "matched": 1, "unmatched": 0}
    ndcg = family["measures"]["ndcg@5"]["groups"]["all"]
    assert (ndcg["estimate"], ndcg["n_claims"]) == (0.5, 20)
    # What was found for an unmatched claim speaks against it, whosever claim's evidence it is.
    verdict = family["measures"]["verdict@5"]["groups"]
    assert (verdict["unmatched"]["estimate"], verdict["all"]["n_pairable"]) == (0, 40)
    assert verdict["unmatched"]["left_out"] == {}
    columns = [one["behind"]["columns"].keys() for one in (result, report("leakage", sources[0], **options))]
    assert columns[0] == columns[1]


def test_whole_documents_beside_are_of_the_claims_that_are_looked_at(pairs, tmp_path):
    whole = make_project(pairs.dataset, DOCUMENTS, slug="documents")
    said = {document(n, r): "included" if is_matched(n, r) else "not_included" for n in range(N) for r in REPETITIONS}
    decide(whole, said, "inclusion")
    sources = sources_of(tmp_path, pairs, whole)
    options = WITHOUT_TEXTS | {"documents": whole.slug}
    found = alike([report("leakage", selected(source, **SUPPORTED), **options) for source in sources])
    (row,) = found["comparisons"]
    assert row["counts"] == {"both": 20, "checker": 0, "people": 0, "neither": 20}
    units = selected(sources[0], **SUPPORTED).sibling(whole.slug).unit_frame("response")
    assert set(units["claim"]) == {claim(number) for number in range(1, N, 2)} and len(units) == 40


def test_retrievals_with_documents_that_are_not_looked_at_are_left_out(pairs, tmp_path):
    """They searched with documents of the project, so nobody may take them for retrievals without any."""
    Response.objects.filter(repetition=1).update(metadata={"batch": "late"})
    Response.objects.filter(repetition=0).update(metadata={"batch": "early"})
    sources = sources_of(tmp_path, pairs)
    of_early = {"split": "response.batch", "source": "early"}
    result = alike([report("leakage", selected(source, **of_early), **WITHOUT_TEXTS) for source in sources])
    (family,) = result["families"]
    assert (family["n_rows"], len(family["runs"])) == ({"all": 40, "matched": 20, "unmatched": 20}, 1)
    assert family["generator"]["method"] == "query2doc"
    assert "Retrievals that searched with documents that are not selected are left out: 1." in result["notes"]


def test_claims_that_a_run_tells_apart_are_those_that_are_looked_at(pairs):
    run = suggest(pairs, pair_labels(E, NO), "entailment")
    source = selected(DatabaseSource(pairs), **SUPPORTED)
    result = report("leakage", source, **WITHOUT_TEXTS, run=str(run.uuid), by="checker")
    assert result["families"][0]["n_rows"] == {"all": 40, "matched": 20, "unmatched": 20}
    assert [row["counts"]["both"] + row["counts"]["neither"] for row in result["comparisons"]] == [80, 40]

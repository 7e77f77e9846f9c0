"""The ICAT report: planted factuality and coverage come back, what is undefined or missing says so, and what was
imported counts as ICAT's own program said it."""

import json
from dataclasses import dataclass

import pytest
from django.core.management import call_command
from django.db import transaction
from django.urls import reverse
from msgspec import structs
from scipy.stats import spearmanr

from analysis.figures.items import Filter, Items
from analysis.figures.page import Answer
from analysis.figures.pictures import Lines, Scatter
from analysis.figures.tabular import Grid
from analysis.papers.icat.data import UNKNOWN, covered_of, topics_of
from analysis.releases import freezing
from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from analysis.sources.files import source_of_files
from annotation.formats.records import (
    AspectRecord,
    AtomicClaimRecord,
    EvidenceRecord,
    QuestionRecord,
    ResponseRecord,
    response_aspect_key,
)
from annotation.jobs import lifecycle
from annotation.models import Annotation, Job, Judgement, Project, Revision, RunFailure, Unit
from annotation.task_types import every_task_type
from tests.factories import make_dataset, make_project
from tests.kinds import bring_in
from tests.world import client_of
from tests.world.labels import make_rater
from tests.world.planted import decide, score, suggest
from tests.world.remembered import remembered

pytestmark = pytest.mark.django_db

TASK, DIMENSION = "aspect-coverage/-/1", "coverage"
QUERIES, ASPECTS = 20, 4
# Supported of four claims, and aspects that people find covered in even and in odd queries. ICAT's scorer finds the
# same ones but for the last of each answer by the wild model, which an unsupported claim covers.
PLANTED = {"good": (3, (3, 4)), "brief": (4, (1, 2)), "wild": (1, (2, 3))}


def by_people(model: str, number: int) -> int:
    return PLANTED[model][1][number % 2]


def by_machine(model: str, number: int) -> int:
    return by_people(model, number) - (model == "wild")


def content():
    for number in range(QUERIES):
        query = f"q{number:02}"
        yield QuestionRecord(query, f"What of {query}?")
        for place in range(ASPECTS):
            yield AspectRecord(f"{query}/a{place}", query, place, f"Aspect {place} of {query}")
        yield EvidenceRecord(f"{query}/d", "A passage.", question=query)
        for model in PLANTED:
            key = f"{model}/{query}"
            yield ResponseRecord(key, f"What {model} says of {query}.", question=query, model=model)
            for place in range(4):
                yield AtomicClaimRecord(f"{key}/c{place}", key, place, f"Claim {place} of {key}.")


def units(covered) -> dict[str, bool]:
    """Key of every unit -> whether it is among the first so many of its answer."""
    return {
        response_aspect_key(f"{model}/q{number:02}", f"q{number:02}/a{place}"): place < covered(model, number)
        for number in range(QUERIES)
        for model in PLANTED
        for place in range(ASPECTS)
    }


def icat_scores(covered=by_machine) -> dict[str, dict[str, float]]:
    keys = units(covered)
    return {
        "claims": dict.fromkeys(keys, 4.0),
        "claims_supported": {key: float(PLANTED[key.partition("/")[0]][0]) for key in keys},
        "covered": {key: float(is_covered) for key, is_covered in keys.items()},
    }


def baseline_scores() -> dict[str, dict[str, float]]:
    """ROUGE-1 follows people, BLEU goes against them, the others do not know; METEOR and BERTScore are not there."""
    keys = units(by_people)
    share = {key: by_people(key.split("/")[0], int(key[-5:-3])) / ASPECTS for key in keys}
    even = {key: float((int(key[-5:-3]) // 2 + len(key.split("/")[0])) % 2) for key in keys}
    return {"rouge1": share, "bleu": {key: 1 - value for key, value in share.items()}, "rouge2": even, "rougeL": even}


def labels_of_people() -> dict[str, str]:
    return {key: "covered" if is_covered else "not_covered" for key, is_covered in units(by_people).items()}


@pytest.fixture(scope="module")
def labels() -> dict[str, str]:
    return labels_of_people()


@remembered
def make_planted(labels) -> Project:
    """Three annotators who saw no suggestion; the third says of every aspect 0 that it is not covered, and is
    outvoted."""
    dataset = make_dataset()
    bring_in(dataset, content())
    project = make_project(dataset, TASK)
    items = list(project.items.all())
    keys = dict(Unit.objects.filter(dataset=dataset, kind="response_aspect").values_list("pk", "key"))
    of_item = {item.pk: list(item.item_units.values_list("unit", flat=True)) for item in items}
    for name in ("Ann", "Bea", "Cyd"):
        rater = make_rater(project, name)
        annotations = Annotation.objects.bulk_create(Annotation(item=item, rater=rater) for item in items)
        revisions = Revision.objects.bulk_create(
            Revision(annotation=annotation, number=1, suggestion_shown=False) for annotation in annotations
        )
        Judgement.objects.bulk_create(
            Judgement(revision=revision, unit_id=unit, dimension=DIMENSION, label=label)
            for revision in revisions
            for unit in of_item[revision.annotation.item_id]
            for label in ["not_covered" if name == "Cyd" and keys[unit].endswith("/a0") else labels[keys[unit]]]
        )
    return project


@pytest.fixture
def project(labels) -> Project:
    return make_planted(labels)


def make_runs(project) -> dict[str, str]:
    icat = score(project, "icat", icat_scores())
    everything = dict.fromkeys(units(by_people), "covered")
    checker = suggest(project, everything, DIMENSION, checker="lexical")
    baselines = score(project, "text-baselines", baseline_scores())
    some = {key: None for key in units(by_people)}
    for name in ("meteor", "bertscore"):
        add_scores(baselines, name, some)
    return {"icat": str(icat.uuid), "lexical": str(checker.uuid), "baselines": str(baselines.uuid)}


@pytest.fixture
def runs(project) -> dict[str, str]:
    return make_runs(project)


@dataclass(frozen=True)
class Planted:
    result: dict
    runs: dict[str, str]
    unit_keys: dict[int, str]


@pytest.fixture(scope="module")
def planted(labels, django_db_setup, django_db_blocker) -> Planted:
    """The report on the planted project, computed once for all tests that only read it."""
    with django_db_blocker.unblock(), transaction.atomic():
        project = make_planted(labels)
        runs = make_runs(project)
        keys = dict(Unit.objects.filter(dataset=project.dataset).values_list("pk", "key"))
        found = Planted(report_of(project), runs, keys)
        transaction.set_rollback(True)
    return found


def add_scores(run, name: str, values: dict) -> None:
    from annotation.models import Score

    found = {unit.key: unit for unit in Unit.objects.filter(dataset=run.project.dataset, key__in=list(values))}
    Score.objects.bulk_create(Score(run=run, unit=found[key], name=name, value=value) for key, value in values.items())


def report_of(project, **options) -> dict:
    report, source = get_report("icat"), DatabaseSource(project)
    quick = options.pop("quick", False)
    return report.compute(source, quick=quick, **report.values(source, options))


def by_title(rows: list[dict], title: str) -> dict:
    return next(row for row in rows if row["title"].startswith(title))


def f_measure(factuality: float, coverage: float, beta: float = 1.0) -> float:
    return (1 + beta**2) * factuality * coverage / (beta**2 * factuality + coverage)


def test_what_was_planted_in_models_comes_back(planted):
    result = planted.result
    assert result["automatic"] == planted.runs["icat"]  # the newest is meant where nothing is said
    found = {row["model"]: row for row in result["models"]}
    for model, (supported, covered) in PLANTED.items():
        machine = [(n - (model == "wild")) / ASPECTS for n in covered]
        expected = {
            "people": sum(covered) / 2 / ASPECTS,
            "factuality": supported / 4,
            "coverage": sum(machine) / 2,
            "score": sum(f_measure(supported / 4, share) for share in machine) / 2,
        }
        assert {name: found[model][name]["estimate"] for name in expected} == pytest.approx(expected), model
        assert found[model]["score"]["interval"]["n_clusters"] == QUERIES
        assert found[model]["score"]["low"] < expected["score"] < found[model]["score"]["high"]
    assert found["wild"]["factuality"]["low"] is None  # all of its answers are alike
    assert result["all"]["factuality"]["estimate"] == pytest.approx(8 / 12)
    assert found["good"]["score"]["estimate"] > found["brief"]["score"]["estimate"] > found["wild"]["score"]["estimate"]


def test_the_curve_shows_whom_a_greater_beta_favours(planted):
    result = planted.result
    curve = {row["model"]: row for row in result["curve"]}
    at_one, at_two = (result["betas"].index(beta) for beta in (1.0, 2.0))
    for model in PLANTED:
        row = next(one for one in result["models"] if one["model"] == model)
        assert curve[model]["estimate"][at_one] == pytest.approx(row["score"]["estimate"])
        assert curve[model]["low"][at_one] == pytest.approx(row["score"]["low"], abs=0.02)
        supported, covered = PLANTED[model]
        shares = [(n - (model == "wild")) / ASPECTS for n in covered]
        expected = sum(f_measure(supported / 4, share, 2) for share in shares) / 2
        assert curve[model]["estimate"][at_two] == pytest.approx(expected)
    brief, wild = curve["brief"]["estimate"], curve["wild"]["estimate"]
    assert brief == sorted(brief, reverse=True)  # factual and incomplete
    assert wild == sorted(wild)  # the other way round
    assert brief[0] > 0.9 and curve[""]["n"] == 3 * QUERIES


def test_machines_are_held_against_the_majority_of_three(planted):
    result, runs = planted.result, planted.runs
    icat, lexical = (by_title(result["compared"], name) for name in ("icat", "lexical"))
    assert icat["is_of_supported_claims"] and not lexical["is_of_supported_claims"]
    counts = icat["detection"]["counts"]
    covered = sum(sum(shares) for _, shares in PLANTED.values()) * QUERIES // 2  # 15 of 24 in two queries
    assert counts == {"both": covered - QUERIES, "machine": 0, "people": QUERIES, "neither": 240 - covered}
    pooled = {name: one["estimate"] for name, one in icat["detection"]["pooled"].items()}
    assert pooled == pytest.approx({"precision": 1, "recall": 13 / 15, "f1": 26 / 28})
    mean = {name: one["estimate"] for name, one in icat["detection"]["mean"].items()}
    # The wild model's answers: 1 of 2 found, and 2 of 3; all others' are found as they are.
    assert mean == pytest.approx(
        {"precision": 1, "recall": (2 + (1 / 2 + 2 / 3) / 2) / 3, "f1": (2 + (2 / 3 + 4 / 5) / 2) / 3}
    )
    assert lexical["detection"]["pooled"]["precision"]["estimate"] == pytest.approx(15 / 24)
    assert lexical["detection"]["pooled"]["recall"]["estimate"] == 1
    items = Items.from_json(result["behind"])
    assert items.columns["m0.cell"].run == runs["icat"]
    keys = {planted.unit_keys[unit] for unit in items.units_of(Filter({"m0.cell": "people"}))}
    assert all(key.startswith("wild/") for key in keys) and len(keys) == QUERIES
    agreement = result["agreement"]
    assert agreement["n_three"] == 240 and 0 < agreement["fleiss"]["estimate"] < 1


def test_correlations_find_what_follows_people_and_nothing_in_what_does_not(planted):
    result = planted.result
    shares = {
        name: [function(model, number) / ASPECTS for number in range(QUERIES) for model in sorted(PLANTED)]
        for name, function in (("people", by_people), ("machine", by_machine))
    }
    from scipy import stats

    for one in by_title(result["compared"], "icat")["correlations"]:
        scipy_name = {"pearson": "pearsonr", "spearman": "spearmanr", "kendall_tau_b": "kendalltau"}[one["name"]]
        expected = getattr(stats, scipy_name)(shares["machine"], shares["people"]).statistic
        assert one["figure"]["estimate"] == pytest.approx(expected)
        assert one["figure"]["low"] - 1e-9 <= expected <= one["figure"]["high"] + 1e-9
        assert one["figure"]["n_pairable"] == 60 and one["figure"]["interval"]["n_clusters"] == QUERIES
        assert one["test"]["p_value"] <= one["test"]["p_holm"]
    lexical = by_title(result["compared"], "lexical")["correlations"][0]
    assert lexical["figure"]["estimate"] is None and "same for every item" in lexical["figure"]["undefined"]
    rows = {row["key"]: row["correlations"][0] for row in result["baseline_rows"]}
    assert rows["rouge1"]["figure"]["estimate"] == pytest.approx(1)
    assert rows["bleu"]["figure"]["estimate"] == pytest.approx(-1)
    assert rows["rouge1"]["test"]["p_value"] < 0.01 and rows["rouge1"]["test"]["p_holm"] < 0.05
    assert rows["rouge2"]["test"]["p_value"] > 0.05
    assert rows["meteor"]["figure"]["estimate"] is None
    assert any("METEOR needs WordNet" in note for note in result["notes"])
    assert any("run was started without one" in note for note in result["notes"])


def test_labels_that_a_checker_touched_count_against_others_alone(project, runs):
    wild = Revision.objects.filter(annotation__item__key__startswith="wild/")
    wild.update(suggestion_shown=True)
    for annotation in {revision.annotation for revision in wild}:
        annotation.revisions.update(suggestion_shown=True)
    result = report_of(project)
    lexical, icat = (by_title(result["compared"], name) for name in ("lexical", "icat"))
    assert (lexical["n_labels_untouched"], lexical["n_labels_all"]) == (480, 720)
    assert lexical["detection"]["pooled"]["f1"]["left_out"] == {"without a label by people": 80}
    assert icat["n_labels_untouched"] == 720 and icat["correlations"][0]["figure"]["n_pairable"] == 60
    assert any(note.startswith("lexical") and "480 of 720" in note for note in result["notes"])
    everything = report_of(project, touched="1")
    assert by_title(everything["compared"], "lexical")["n_labels_untouched"] == 720


def test_what_was_not_extracted_is_left_out_named_and_told_how_to_get(project):
    keys = units(by_machine)
    gone = {key for key in keys if key.startswith("brief/q0")}
    scores = {name: {key: v for key, v in values.items() if key not in gone} for name, values in icat_scores().items()}
    run = score(project, "icat", scores)
    for unit in Unit.objects.filter(key__in=gone):
        RunFailure.objects.create(run=run, unit=unit, reason="no-atomic-claims")
    result = report_of(project)
    brief = next(row for row in result["models"] if row["model"] == "brief")
    assert brief["score"]["left_out"] == {"without judged claims": 10} and brief["score"]["n_pairable"] == 10
    assert brief["coverage"]["left_out"] == {"with aspects that nobody judged": 10}
    assert brief["people"]["n_pairable"] == 20
    assert any("40 no-atomic-claims" in note for note in result["notes"])
    # The published 0 is for what has no claims, not for what was not looked at.
    zero = report_of(project, convention="zero")
    assert next(row for row in zero["models"] if row["model"] == "brief")["score"]["n_pairable"] == 10


def test_without_a_run_the_report_says_what_to_start():
    dataset = make_dataset()
    bring_in(
        dataset,
        [QuestionRecord("q", "What?"), AspectRecord("q/a0", "q", 0, "One"), QuestionRecord("p", "Who?")]
        + [ResponseRecord(f"m/{query}", "Text.", question=query, model="m") for query in ("p", "q")],
    )
    result = report_of(make_project(dataset, TASK))
    notes = " ".join(result["notes"])
    assert "start the checker “Facts and aspects (ICAT)”" in notes
    assert "2 of 2 answers have no atomic claims" in notes and "2 of 2 questions have no passages" in notes
    assert "1 answer is to questions without aspects" in notes and "No baselines: start" in notes
    assert result["curve"] is None and result["compared"] == [] and result["points"] is None
    tables = get_report("icat").body(result)
    assert [type(part) for part in tables] == [Grid, Grid]
    empty = report_of(make_project(make_dataset(), TASK))
    assert empty["all"]["people"]["undefined"] == "no response has a coverage"
    assert get_report("icat").body(empty) and get_report("icat").methods(empty)
    answer = answer_of(empty)
    assert answer.sentences == ("People's coverage of aspects is not known: no response has a coverage.",)
    assert answer.next == "import answers to questions with aspects"
    assert answer_of(result).next == "label the aspects of answers"


def answer_of(result: dict, **changes) -> Answer:
    report = get_report("icat")
    return report.declares(structs.replace(report.read(result), **changes)).answer


def test_the_page_begins_with_what_is_known(planted):
    result = get_report("icat").read(planted.result)
    coverage, score, measure = answer_of(planted.result).sentences
    assert coverage.startswith("According to people, an answer covers on average 0.625 [")
    assert score.startswith(f"The mean ICAT score by {result.automatic_title} (beta = 1) is 0.")
    assert "highest for good, 0." in score and "lowest for wild, 0." in score
    words = "Spearman's correlation with people's coverage is 1.000 for ROUGE-1, which has the greatest of 8 measures."
    assert measure == words
    assert answer_of(planted.result).next == ""
    baselines = "start the checker “ROUGE, BLEU, METEOR and BERTScore”, to compare it with baselines"
    assert answer_of(planted.result, baselines="").next == baselines
    good = [one for one in result.models if one.model == "good"]
    assert answer_of(planted.result, models=good).sentences[1].endswith("].")
    without = structs.replace(result.all, score=structs.replace(result.all.score, estimate=None, undefined="so it is"))
    words = f"There is no ICAT score by {result.automatic_title}: so it is."
    assert answer_of(planted.result, all=without).sentences[1] == words
    some = [one for one in result.baseline_rows if one.key == "rouge2"]
    by_chance = answer_of(planted.result, compared=[], baseline_rows=some, points=None).sentences[-1]
    assert by_chance.endswith("for ROUGE-2; it is not shown to increase with people's coverage.")
    nothing = [one for one in result.baseline_rows if one.missing]
    words = "No automatic measure has a defined correlation with people's coverage."
    assert answer_of(planted.result, compared=[], baseline_rows=nothing, points=None).sentences[-1] == words
    assert answer_of(planted.result, automatic="").next == "start the checker “Facts and aspects (ICAT)”"
    assert get_report("icat").methods(planted.result).endswith(" ".join((coverage, score, measure)))


def imported(variant: str, topics: list[int], **more) -> dict:
    listed = [{"topic_id": number, "evidence": [0]} for number in topics]
    return {variant: {"metrics": {"coverage": 0, "factuality": 0, "f1": 0}, "covered_topics": listed} | more}


@pytest.fixture
@remembered
def with_results():
    """Results of ICAT's program: S covers the aspects of the question, A made up five topics of its own."""
    dataset = make_dataset()
    covered = {"q0": [1], "q1": [1, 2], "q2": []}
    records = []
    for query, topics in covered.items():
        records += [QuestionRecord(query, "What?")]
        records += [AspectRecord(f"{query}/a{place}", query, place, f"Aspect {place}") for place in range(2)]
        own = imported("A", [1, 5], generated_topics=["a", "b", "c", "d", "e"])
        metadata = {"icat": imported("S", topics) | own}
        records += [ResponseRecord(f"m/{query}", "Text.", question=query, model="m", metadata=metadata)]
        records += [
            AtomicClaimRecord(f"m/{query}/c{place}", f"m/{query}", place, "Fact.", {"entailed": place < len(topics)})
            for place in range(4)
        ]
    bring_in(dataset, records)
    project = make_project(dataset, TASK)
    labels = {f"m/{query} # {query}/a{place}": query == "q1" for query in covered for place in range(2)}
    decide(project, {key: "covered" if yes else "not_covered" for key, yes in labels.items()}, DIMENSION)
    return project


def test_imported_results_count_as_they_are(with_results):
    result = report_of(with_results, reference="imported")
    assert result["automatic"] == "imported-s" and result["automatic_title"] == "ICAT-S, as imported"
    assert result["all"]["factuality"]["estimate"] == pytest.approx((1 / 4 + 2 / 4 + 0) / 3)
    assert result["all"]["coverage"]["estimate"] == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert result["all"]["score"]["estimate"] == pytest.approx((f_measure(0.25, 0.5) + f_measure(0.5, 1)) / 2)
    assert result["all"]["score"]["left_out"] == {"with neither a supported claim nor a covered aspect (0/0)": 1}
    zero = report_of(with_results, reference="imported", convention="zero")["all"]["score"]
    assert zero["estimate"] == pytest.approx((f_measure(0.25, 0.5) + f_measure(0.5, 1)) / 3) and not zero["left_out"]
    aspects, topics = (by_title(result["compared"], name) for name in ("ICAT-S", "ICAT-A"))
    assert aspects["detection"]["counts"] == {"both": 2, "machine": 1, "people": 0, "neither": 3}
    assert topics["detection"] is None  # its topics are its own
    own = report_of(with_results, reference="imported", automatic="imported-a")
    assert own["all"]["coverage"]["estimate"] == pytest.approx(2 / 5)


@pytest.mark.parametrize(
    ("row", "topics", "covered"),
    [
        ({"covered_topics": [{"topic_id": 2, "evidence": [0]}, {"topic_id": "3"}]}, {2, 3}, UNKNOWN),
        ({"covered_topics": [1, 2, None]}, {1, 2}, UNKNOWN),
        ({"covered_topics": []}, set(), UNKNOWN),
        ({"metrics": {"coverage": 2 / 3}}, None, 2),
        ({"metrics": {"coverage": 0.667}}, None, 2),
        ({"metrics": {"coverage": 0.5}}, None, UNKNOWN),  # of three aspects nothing is a half
        ({"metrics": {"coverage": "most"}}, None, UNKNOWN),
        ({}, None, UNKNOWN),
    ],
)
def test_what_a_row_of_results_says_is_covered(row, topics, covered):
    assert topics_of(row) == topics and covered_of(row, 3) == covered


def test_the_same_from_a_release_s_files(project, runs, tmp_path):
    freezing.write_release(project, tmp_path / "release")
    report, source = get_report("icat"), source_of_files(tmp_path / "release")
    from_files, from_database = report.compute(source, **report.values(source, {})), report_of(project)
    for result in (from_files, from_database):
        result.pop("made_from")
        result["behind"].pop("units")  # they are numbered otherwise
    assert from_files == from_database and from_files["automatic"] == runs["icat"]


def test_what_the_page_shows(planted):
    result, report = planted.result, get_report("icat")
    parts = report.body(result)
    curve, scatter = (next(part for part in parts if isinstance(part, kind)) for kind in (Lines, Scatter))
    assert {one.title for one in curve.series} == {*PLANTED, "all models"} and "20 questions" in curve.caption
    assert len(scatter.points) == 60 and "Pearson 0." in scatter.caption
    assert [x for x, _ in curve.series[0].points] == pytest.approx([power / 4 for power in range(-12, 13)])
    baselines = next(part for part in parts if isinstance(part, Grid) and part.title.startswith("Baselines"))
    (meteor,) = (row for row in baselines.rows if row[0] == "METEOR")
    assert meteor[3].startswith("undefined: METEOR needs WordNet")
    for part in parts:
        if isinstance(part, Grid):
            assert all(len(row) == len(part.columns) for row in part.rows), part.title
    text = report.methods(result)
    assert "60 answers to 20 questions" in text and "beta = 1" in text and "Fleiss' kappa is 0." in text
    assert "999 permutations" in text and "left out of means" in text


def test_first_figures_come_without_what_is_drawn_at_random(planted, project, runs):
    first = report_of(project, quick=True)
    assert first["all"]["score"]["low"] is None and first["compared"][0]["correlations"][0]["test"] is None
    assert first["all"]["score"]["estimate"] == planted.result["all"]["score"]["estimate"]
    assert get_report("icat").body(first)


def test_the_page_the_command_and_who_may_see_them(project, runs, capsys):
    address = reverse("project_report", args=[project.slug, "icat"])
    client = client_of(project.created_by)
    client.get(address)
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        lifecycle.run_here(job)
    html = client.get(address).content.decode()
    assert "ICAT over beta" in html and "Factuality, coverage and ICAT" in html and "ROUGE-L" in html
    assert "all models" in html
    call_command("report", project.slug, "icat", "--beta", "2", "--format", "json")
    printed = json.loads(capsys.readouterr().out)
    assert printed["beta"] == 2 and printed["automatic"] == runs["icat"]
    call_command("report", project.slug, "icat", "--automatic", runs["icat"], "--format", "latex")
    assert "Automatic coverage of answers against people" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reference": "nobody"}, "reference is one of"),
        ({"ties": "half"}, "ties is one of"),
        ({"k": 0}, "k is at least 1|min_labels"),
        ({"automatic": "imported-x"}, "automatic is one of none"),
        ({"baselines": "x"}, "no finished run of the text baselines"),
        ({"beta": 0}, "beta"),
        ({"convention": "half"}, "convention"),
    ],
)
def test_wrong_options_are_refused(options, message):
    project = make_project(make_dataset(), TASK)
    with pytest.raises(ValueError, match=message):
        get_report("icat").compute(project, **options)


def test_which_kinds_it_is_for():
    assert [kind.slug for kind in every_task_type() if not get_report("icat").fits(kind)] == ["aspect-coverage"]
    assert not Judgement.objects.exists()


def test_another_set_of_aspects_stands_beside_this_one(project, labels):
    """Another project judges the same answers, half of which it has no labels for; scipy says what goes with what."""
    other = make_project(project.dataset, TASK, slug="others")
    rater = make_rater(other, "Dee")
    found: dict[str, float] = {}
    for item in other.items.all():
        model, query = item.key.split("/")
        if int(query[1:]) % 4 > 1:
            continue
        there = (by_people(model, int(query[1:])) + int(query[1:]) // 4) % (ASPECTS + 1)
        revision = Revision.objects.create(
            annotation=Annotation.objects.create(item=item, rater=rater), number=1, suggestion_shown=False
        )
        for place, unit in enumerate(item.item_units.order_by("unit__key").values_list("unit", flat=True)):
            label = "covered" if place < there else "not_covered"
            Judgement.objects.create(revision=revision, unit_id=unit, dimension=DIMENSION, label=label)
        found[item.key] = there / ASPECTS
    report = get_report("icat")
    source = DatabaseSource(project)
    result = report.compute(source, other_aspects="others")
    [[row]] = [one["rows"] for one in result["sets"]["others"]]
    here = {}
    for key, label in labels.items():
        answer = next(one for one in found if key.startswith(one)) if any(map(key.startswith, found)) else None
        if answer:
            here.setdefault(answer, []).append(label == "covered")
    shares = [sum(here[key]) / ASPECTS for key in found]
    assert row["here"]["n_pairable"] == len(found) == 30
    assert row["there"]["estimate"] == pytest.approx(sum(found.values()) / 30)
    assert row["here"]["estimate"] == pytest.approx(sum(shares) / 30)
    expected = spearmanr(shares, list(found.values())).statistic
    assert next(one for one in row["correlations"] if one["name"] == "spearman")["figure"]["estimate"] == (
        pytest.approx(expected)
    )
    items = Items.from_json(result["behind"])
    assert items.count(Filter({"other0.correlated": "yes"})) == 30 * ASPECTS
    page = report.page_of(result)
    assert any(section.title == "Other sets of aspects" for section in page.sections)
    assert "coverage is by majority of people" in report.methods(result)
    with pytest.raises(ValueError, match="nowhere"):
        report.compute(source, other_aspects="nowhere", quick=True)

    # A third set, which nobody has judged, beside both.
    third = make_project(project.dataset, TASK, slug="third")
    source = DatabaseSource(project)
    asked = report.values(source, {"other_aspects": "third+others+third"})
    assert asked["other_aspects"] == "others+third" and report.sibling_slugs(asked) == ["others", "third"]
    option = next(one for one in report.options if one.name == "other_aspects")
    assert option.offered(source)["others+third"] == "all 2 of them"
    with pytest.raises(ValueError, match="is one of others, third, others.third, not 'others.nowhere'"):
        report.values(source, {"other_aspects": "others+nowhere"})
    both = report.compute(source, **asked)
    first, second = both["sets"]["others"]
    assert (first, second["project"]) == (result["sets"]["others"][0], third.slug)
    [unjudged] = second["rows"]
    assert unjudged["name"] == "other1" and unjudged["here"]["n_pairable"] == 0
    assert report.page_of(both)

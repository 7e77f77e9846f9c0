"""The RefChecker report: the effects planted in a small study, what counts, and the figures of the public files."""

import itertools
import json
import random
from collections import defaultdict
from pathlib import Path
from statistics import fmean

import pytest
from django.core.management import call_command
from msgspec import structs

from analysis.figures.items import Filter, Items
from analysis.figures.page import Answer
from analysis.figures.results import to_json
from analysis.figures.tabular import Grid
from analysis.papers.refchecker.checkers import pieces
from analysis.papers.refchecker.columns import PieceItems
from analysis.papers.refchecker.data import study_of
from analysis.papers.refchecker.models import rankings
from analysis.papers.refchecker.result import RefChecker
from analysis.papers.refchecker.texts import copying
from analysis.releases import freezing
from analysis.reports.metrics import get_report
from analysis.sources.database import DatabaseSource
from analysis.sources.files import source_of_files
from analysis.sources.selected import SelectedSource
from analysis.sources.selection import Selection
from annotation.models import (
    Annotation,
    Evidence,
    Judgement,
    Project,
    Question,
    Rater,
    Response,
    Revision,
    Suggestion,
    Triplet,
    Unit,
)
from annotation.task_types import task_type
from tests.factories import make_batch, make_dataset, make_project, make_suggestions, make_user
from tests.world.labels import make_rater, make_scores
from tests.world.remembered import remembered

REFCHECKER = Path(__file__).resolve().parent.parent.parent.parent / "shared" / "data" / "refchecker"
E, N, C, BAD = "entailment", "neutral", "contradiction", "bad_triplet"
SETTINGS, MODELS, QUESTIONS, PIECES = ("accurate_context", "zero_context"), ("a", "b", "c", "d"), 20, 4
# How often each model is contradicted, in either setting; a quarter of what is not is neutral.
CONTRADICTED = {"a": 0.0, "b": 0.2, "c": 0.4, "d": 0.7}

pytestmark = pytest.mark.django_db
REPORT = get_report("refchecker")


@remembered
def planted(seed: int = 0) -> tuple[Project, dict[int, str]]:
    """Four models in two settings; model d abstains from every fourth question. Entailed triplets are copied from a
    passage, others are not. Returns the project and everybody's label of each unit."""
    rng = random.Random(seed)
    dataset = make_dataset()
    base = {"dataset": dataset, "batch": make_batch(dataset)}
    questions, responses, triplets, said = [], [], [], []
    for setting, number in itertools.product(SETTINGS, range(QUESTIONS)):
        question = Question(**base, key=f"{setting}/{number}", text="What froze?")
        questions.append(question)
        for model in MODELS:
            key = f"{setting}/{model}/{number}"
            response = Response(
                **base, key=key, question=question, model=model, context_setting=setting, text="An answer."
            )
            responses.append(response)
            for index in range(0 if model == "d" and number % 4 == 0 else PIECES):
                label = C if rng.random() < CONTRADICTED[model] else (N if rng.random() < 0.25 else E)
                parts = ("the lake", f"number {number}", "froze over") if label == E else ("a pond", "thawed", "later")
                head, relation, tail = parts
                triplets.append(
                    Triplet(
                        **base,
                        key=f"{key}/{index}",
                        response=response,
                        index=index,
                        head=head,
                        relation=relation,
                        tail=tail,
                    )
                )
                said.append(label)
    Question.objects.bulk_create(questions)
    text = "The lake number {} froze over in that winter. Nobody had seen the like of it before."
    Evidence.objects.bulk_create(
        Evidence(**base, key=f"{one.key}/p", question=one, text=text.format(one.key.rsplit("/", 1)[1]), rank=1)
        for one in questions
    )
    Response.objects.bulk_create(responses)
    Unit.objects.bulk_create(Unit(**base, kind="response", key=one.key, response=one) for one in responses)
    Triplet.objects.bulk_create(triplets)
    units = Unit.objects.bulk_create(Unit(**base, kind="triplet", key=one.key, triplet=one) for one in triplets)
    labels = dict(zip((unit.pk for unit in units), said, strict=True))
    return make_project(dataset, "triplets/-/1", overlap=1), labels


def label_all(project: Project, labels: dict[int, str], *, shown: bool | None = False) -> Rater:
    """One rater's labels of all these units."""
    rater = make_rater(project)
    units = {
        item: [link.unit_id for link in item.item_units.all() if link.unit_id in labels]
        for item in project.items.prefetch_related("item_units")
    }
    annotations = Annotation.objects.bulk_create(Annotation(item=item, rater=rater) for item in units if units[item])
    revisions = Revision.objects.bulk_create(
        Revision(annotation=annotation, number=1, suggestion_shown=shown) for annotation in annotations
    )
    Judgement.objects.bulk_create(
        Judgement(revision=revision, unit_id=unit, dimension=E, label=labels[unit])
        for revision in revisions
        for unit in units[revision.annotation.item]
    )
    return rater


def run_of(project: Project, checker: str, labels: dict[int, str]):
    """A finished run that says so of each unit."""
    run = make_suggestions(project, checker=checker)
    rows = list(Suggestion.objects.filter(run=run))
    for row in rows:
        row.label = labels.get(row.unit_id, E)
    Suggestion.objects.bulk_update(rows, ["label"])
    Suggestion.objects.filter(run=run).exclude(unit__in=labels).delete()
    return run


def compute(project: Project, **options) -> dict:
    """Without intervals, which single parts are asked for."""
    result = REPORT.compute(DatabaseSource(project), quick=True, **options)
    json.dumps(result, allow_nan=False)
    check_parts(result)
    return result


def codes(project: Project, run=None) -> tuple:
    """The study, what people say of its pieces and, of a run, what it says."""
    source = DatabaseSource(project)
    study = study_of(source)
    people = study.people(source.label_frame(study.units), "majority")
    return (study, people, study.checker(source.run(run.uuid))) if run else (study, people)


def check_parts(result: dict) -> None:
    """Rows fit their columns, pictures can be described, and the page begins with an answer."""
    for part in REPORT.body(result):
        if not isinstance(part, Grid):
            assert part.to_dict() and part.table().rows
            continue
        assert all(len(row) == len(part.columns) for row in part.rows), part.title
    answer = REPORT.page_of(result).answer
    assert answer.sentences and all(sentence.endswith(".") for sentence in answer.sentences)
    assert REPORT.methods(result).endswith(".")


def of_setting(rows: list[dict], setting: str) -> dict:
    [found] = [row for row in rows if row["setting"] == setting]
    return found


def answers_of(labels: dict[int, str]) -> dict[tuple[str, str], dict[int, list[str]]]:
    """Per setting and model the labels of each answer's pieces."""
    found: dict = defaultdict(lambda: defaultdict(list))
    columns = ("pk", "triplet__response__context_setting", "triplet__response__model", "triplet__response_id")
    for unit, setting, model, response in Unit.objects.filter(pk__in=labels).values_list(*columns):
        found[setting, model][response].append(labels[unit])
    return found


def test_planted_rates_of_models_are_found_by_each_rule():
    project, labels = planted()
    label_all(project, labels)
    said = answers_of(labels)
    result = compute(project)
    assert [row["setting"] for row in result["rates"]] == list(SETTINGS)
    for one in result["rates"]:
        soft, strict, major = one["rules"]
        assert [rule["rule"] for rule in one["rules"]] == ["soft", "strict", "major"]
        for row in soft["models"]:  # the mean over answers of the share of their pieces
            answers = said[one["setting"], row["model"]].values()
            for label in (E, N, C):
                expected = fmean(answer.count(label) / len(answer) for answer in answers)
                assert row["shares"][label]["estimate"] == pytest.approx(expected), (row["model"], label)
        for row in strict["models"]:  # the worst label that occurs
            answers = said[one["setting"], row["model"]].values()
            worst = [next(label for label in (C, N, E) if label in answer) for answer in answers]
            for label in (E, N, C):
                assert row["shares"][label]["estimate"] == pytest.approx(worst.count(label) / len(worst))
            assert sum(share["estimate"] for share in row["shares"].values()) == pytest.approx(1)
        assert [figure["estimate"] for figure in one["abstained"]["models"]] == [0, 0, 0, 0.25]
        assert one["abstained"]["mean"]["estimate"] == 0.0625
        assert (one["n_responses"], one["n_abstained"], soft["n_counted"]) == (80, 5, 75)
        assert major["n_not_counted"] == 0
        for rule in (soft, strict, major):
            means = [row["shares"][N]["estimate"] for row in rule["models"]]
            assert rule["mean"][N]["estimate"] == pytest.approx(sum(means) / 4)


def test_ties_of_the_major_rule_go_as_chosen():
    project, labels = planted()
    halves = {unit: (E, C)[place % 2] for place, unit in enumerate(labels)}  # two and two in every answer
    label_all(project, halves)
    worst, none = compute(project)["rates"][0], compute(project, major_ties="undecided")["rates"][0]
    assert worst["rules"][2]["mean"][C]["estimate"] == 1
    assert (none["rules"][2]["n_counted"], none["rules"][2]["n_not_counted"]) == (0, 75)
    assert none["rules"][2]["mean"][C]["undefined"]
    with pytest.raises(ValueError, match="major_ties is one of worst, undecided"):
        compute(project, major_ties="best")


def test_a_planted_checker_is_measured_piece_by_piece_and_answer_by_answer():
    project, labels = planted()
    label_all(project, labels)
    rng = random.Random(3)
    noisy = {unit: rng.choice((E, N, C)) if rng.random() < 0.3 else label for unit, label in labels.items()}
    run_of(project, "good", labels)
    run = run_of(project, "noisy", noisy)
    result = compute(project)
    good, poor = result["checkers"]
    assert (good["title"], poor["title"]) == ("good 1", "noisy 1")
    assert good["pieces"]["mean"]["accuracy"]["estimate"] == good["pieces"]["mean"]["macro_f1"]["estimate"] == 1
    mean = to_json(pieces(*codes(project, run), quick=False))["mean"]["accuracy"]
    assert mean["interval"]["n_clusters"] == 2 * QUESTIONS
    assert mean["low"] < 0.8 < mean["high"]  # 0.7 and a third of 0.3
    by_setting = [row["accuracy"]["estimate"] for row in poor["pieces"]["settings"]]
    assert mean["estimate"] == pytest.approx(sum(by_setting) / 2)
    for row in good["answers"]:
        figures = [row[name]["estimate"] for name in ("accuracy", "spearman", "strict_macro_f1")]
        assert figures == pytest.approx([1, 1, 1])
        assert row["n_factual"] == row["n_predicted_factual"]
        assert (row["n"], row["n_abstained"], row["n_responses"]) == (75, 5, 80)
    [table, _] = [one for one in REPORT.tables(result) if one.title.endswith("accuracy over answers")]
    of_noisy = dict(zip(table.columns, table.rows[1], strict=True))
    assert of_noisy["Strict macro-F1"].value == poor["answers"][0]["strict_macro_f1"]["estimate"] < 1
    for row in poor["answers"]:
        assert row["accuracy"]["estimate"] < 0.95 and 0.3 < row["pearson"]["estimate"] < 0.98
    units = Items.from_json(result["behind"]).units_of(Filter({"c1.people": C, "c1": E}))
    assert sorted(units) == sorted(unit for unit in labels if (labels[unit], noisy[unit]) == (C, E))
    [*_, checkers, ranking] = REPORT.page_of(result).answer.sentences
    assert checkers.startswith("Of 2 checkers, good 1 agrees best with people over triplets: macro-F1 1.000")
    assert "Spearman's correlation 1.000 with people's, without an interval" in ranking


def test_checkers_rank_models_as_people_do_or_the_other_way_round():
    project, labels = planted()
    label_all(project, labels)
    upside_down = {unit: {E: C, C: E, N: N}[label] for unit, label in labels.items()}
    runs = run_of(project, "same", labels), run_of(project, "opposite", upside_down)
    compute(project)
    same, opposite = (to_json(rankings(*codes(project, run), quick=False)) for run in runs)
    for found, expected in ((same, 1), (opposite, -1)):
        for setting in found["settings"]:
            [of] = [row for row in setting["labels"] if row["label"] == C]
            assert (of["by_item"]["estimate"], of["n_models"]) == (expected, 4)
            assert of["p_value"] == pytest.approx(2 / 24)  # the two extreme ones of all 24 orders
            ranks = {row["model"]: row[C]["people_rank"] for row in setting["models"]}
            assert ranks == {"a": 1, "b": 2, "c": 3, "d": 4}
            for row in setting["models"]:
                people, checker = row[C]["people"], row[C if expected == 1 else E]["checker"]
                assert people == checker and people["n_pairable"] == row["n"]
                if row["model"] == "a":  # is never contradicted
                    assert people["estimate"] == 0 and "the same figure" in people["interval"]["undefined"]
                else:
                    assert people["low"] < people["estimate"] < people["high"]
                    assert people["interval"]["n_clusters"] == row["n"]  # questions
        assert found["mean"][C]["estimate"] == expected


def test_a_setting_in_which_no_answer_counts_has_no_picture_of_rates():
    project, labels = planted()
    here = Unit.objects.filter(triplet__response__context_setting=SETTINGS[1]).values_list("pk", flat=True)
    label_all(project, {unit: labels[unit] for unit in here})
    result = compute(project)
    assert [one["rules"][0]["n_counted"] for one in result["rates"]] == [0, 75]
    captions = [one.caption for one in REPORT.pictures(result) if one.name.startswith("label-rates")]
    assert len(captions) == 1 and f"{SETTINGS[1]}, 75 answers" in captions[0]


def test_models_can_be_left_out_of_the_figures_over_answers():
    project, labels = planted()
    label_all(project, labels)
    run_of(project, "good", labels)
    [one] = compute(project, without="d")["checkers"]
    assert [(row["n"], row["n_responses"]) for row in one["answers"]] == [(60, 60)] * 2
    assert [row["accuracy"]["n_pairable"] for row in one["pieces"]["settings"]] == [300, 300]
    with pytest.raises(ValueError, match="no model e to leave out; there are a, b, c, d"):
        compute(project, without="a, e")
    with pytest.raises(ValueError, match="all models are left out"):
        compute(project, without="a,b,c,d")


def test_labels_that_the_checker_touched_do_not_count_against_it():
    project, labels = planted()
    rater = label_all(project, labels)
    run_of(project, "good", labels)
    some = Annotation.objects.filter(rater=rater).order_by("pk")[:10]
    Revision.objects.filter(annotation__in=list(some)).update(suggestion_shown=True)
    [clean], [every] = (compute(project, touched=touched)["checkers"] for touched in (False, True))
    assert (clean["n_labels_all"], clean["n_labels_untouched"]) == (600, 560)
    counts = [sum(row["accuracy"]["n_pairable"] for row in one["pieces"]["settings"]) for one in (clean, every)]
    assert counts == [560, 600]
    assert sum(row["n"] for row in clean["answers"]) == 140
    assert "good 1: 560 of 600 labels count; it touched the others." in compute(project)["notes"]


def test_bad_triplets_and_half_labelled_answers():
    """A bad triplet is nobody's hallucination; a rule that needs all labels waits for them."""
    project, labels = planted()
    response = Response.objects.get(key="zero_context/a/1")
    first, second, *_ = Unit.objects.filter(triplet__response=response).order_by("key").values_list("pk", flat=True)
    labels |= {first: BAD, second: C}
    other = Response.objects.get(key="zero_context/b/1")
    unlabelled = Unit.objects.filter(triplet__response=other).order_by("key").first().pk
    said = {unit: label for unit, label in labels.items() if unit != unlabelled}
    label_all(project, said)
    run_of(project, "good", labels | {first: C})
    result = compute(project)
    assert result["n_bad"] == 1
    zero = of_setting(result["rates"], "zero_context")
    assert [rule["n_counted"] for rule in zero["rules"]] == [75, 74, 74]
    [one] = result["checkers"]
    answers = of_setting(one["answers"], "zero_context")
    assert (answers["n"], answers["accuracy"]["left_out"]["no reference"]) == (74, 1)
    # What it says of the bad one does not matter.
    assert [answers[name]["estimate"] for name in ("accuracy", "pearson")] == pytest.approx([1, 1])
    accuracy = of_setting(one["pieces"]["settings"], "zero_context")["accuracy"]
    assert (accuracy["n_pairable"], accuracy["estimate"]) == (298, 1)


def test_copied_triplets_are_entailed_more_often():
    project, labels = planted()
    label_all(project, labels)
    study, people = codes(project)
    for one in to_json(copying(study, PieceItems(study, ""), people, quick=False))["settings"]:
        copied = {row["label"]: row["all"]["estimate"] for row in one["labels"]}
        # All of its 1- to 4-grams are in the passage; of the others not one word is.
        assert copied == pytest.approx({E: 1, N: 0, C: 0})
        assert one["spearman"]["high"] < -0.5
        assert one["test"]["p_value"] == 0.001 and one["test"]["p_holm"] == 0.002
    assert compute(project)["copying"] is None  # a first pass leaves out what takes longer


def test_what_a_model_knows_by_what_people_say():
    project, labels = planted()
    label_all(project, labels)
    run = make_suggestions(project, checker="model-knowledge")
    Suggestion.objects.filter(run=run).delete()
    # It knows what is contradicted, not what is entailed, and is unsure of the rest: all is from the other place.
    make_scores(run, "knows", {unit: {C: 1.0, E: -1.0, N: 0.0}[label] for unit, label in labels.items()})
    result = compute(project)
    [found] = result["knowledge"]
    for row in found["rows"]:
        ids = Unit.objects.filter(triplet__response__model=row["model"], key__startswith=row["setting"])
        share = {
            label: sum(labels[pk] == label for pk in ids.values_list("pk", flat=True)) / row["n"] for label in "ENC"
        }
        assert share is not None
        said = [labels[pk] for pk in ids.values_list("pk", flat=True)]
        n = {label: said.count(label) for label in (E, N, C)}
        assert row["counts"] == {"yes": [n[C], 0, 0], "no": [0, 0, n[E]], "unsure": [0, n[N], 0]}
        assert row["memory"]["estimate"] == pytest.approx(n[C] / row["n"])
        assert row["context"]["estimate"] == pytest.approx(n[E] / row["n"])
        assert row["neither"]["estimate"] == 0
    assert not any("own knowledge" in note for note in result["notes"])


def test_a_run_on_masked_references_shows_what_a_checker_remembers():
    project, labels = planted()
    label_all(project, labels)
    assert any("Start the checker masked-reference" in note for note in compute(project)["notes"])
    run = make_suggestions(project, checker="masked-reference")
    Suggestion.objects.filter(run=run).delete()
    run.parameters = {"mask": "object"}
    run.save()
    # Of every four triplets one is remembered as entailed, two as nothing, and of one nothing was masked.
    values = dict(zip(labels, itertools.cycle((1.0, 0.0, None, 0.0)), strict=False))
    make_scores(run, "masked_label", values)
    result = compute(project)
    assert result["checkers"] == []
    [found] = result["masked"]
    assert found["title"] == "masked-reference 1, object masked"
    for row in found["rows"]:
        assert [share["estimate"] for share in row["shares"]] == pytest.approx([1 / 3, 2 / 3, 0])
        assert row["n"] == 3 * row["n_without"]
    assert not any("masked" in note for note in result["notes"])


def test_other_pieces_of_the_same_answers_stand_beside():
    project, labels = planted()
    label_all(project, labels)
    run_of(project, "good", labels)
    sibling = make_project(project.dataset, "triplets/-/1", slug="coarser", overlap=1)
    run_of(sibling, "blind", {unit: E for unit in labels})
    here, beside = compute(project, other_pieces="coarser")["granularity"]
    assert here["mean"]["macro_f1"]["estimate"] == 1
    assert (beside["checker"], beside["pieces"]) == ("blind 1", "Triplets")
    assert beside["mean"]["accuracy"]["estimate"] < 0.5 and beside["settings"][0]["accuracy"]["n_pairable"] == 75
    with pytest.raises(ValueError, match="there is no project 'nowhere'"):
        compute(project, other_pieces="nowhere")


def test_runs_of_one_checker_with_other_settings_are_told_apart():
    project, labels = planted()
    label_all(project, labels)
    for name, model in (("first", "x/small"), ("second", "x/large"), ("third", "x/large")):
        run = run_of(project, "nli", labels)
        run.parameters = {"model": model, "name": name} if name != "third" else {"model": model, "name": "second"}
        run.save()
    titles = [one["title"] for one in compute(project)["checkers"]]
    assert titles == ["nli 1, small", "nli 1, large"]  # the newest of two equal ones


def test_nothing_labelled_and_no_answers():
    project, _ = planted()
    result = compute(project)
    assert result["rates"][0]["rules"][0]["mean"][E]["undefined"]
    assert "No checker has run yet. Start one on the project's page to compare it with people." in result["notes"]
    assert any(note.startswith("150 answers have no label") for note in result["notes"])
    empty = make_project(make_dataset(), "triplets/-/1", overlap=1)
    assert compute(empty)["rates"] == []


def test_a_release_s_files_give_the_same(tmp_path):
    project, labels = planted()
    rater = label_all(project, labels)
    run_of(project, "good", labels)
    some = Annotation.objects.filter(rater=rater).order_by("pk")[:10]
    Revision.objects.filter(annotation__in=list(some)).update(suggestion_shown=True)
    knows = make_suggestions(project, checker="model-knowledge")
    Suggestion.objects.filter(run=knows).delete()
    make_scores(knows, "knows", {unit: {C: 1.0, E: -1.0, N: 0.0}[label] for unit, label in labels.items()})
    freezing.write_release(project, tmp_path / "release")
    files = source_of_files(tmp_path / "release")
    found = [REPORT.compute(source, **REPORT.values(source, {})) for source in (files, DatabaseSource(project))]
    for result in found:
        result.pop("made_from")
        result["behind"].pop("units")  # they are numbered otherwise
    assert json.dumps(found[0], sort_keys=True) == json.dumps(found[1], sort_keys=True)
    assert found[0]["copying"] and found[0]["knowledge"] and found[0]["checkers"][0]["n_labels_untouched"] == 560


def ranked(result: RefChecker, *, low: float | None, high: float | None) -> RefChecker:
    """The same with this interval of the correlation of rankings, mean of settings."""
    [one] = result.checkers
    figure = structs.replace(one.rankings.mean[C], low=low, high=high)
    rankings = structs.replace(one.rankings, mean=one.rankings.mean | {C: figure})
    return structs.replace(result, checkers=[structs.replace(one, rankings=rankings)])


def test_the_page_begins_with_what_is_known():
    project, labels = planted()
    before = REPORT.read(compute(project))
    assert answer_of(before).sentences == ("No rate can be given yet: no answer has a label that counts.",)
    assert answer_of(before).next == "label the 150 answers without a label that counts"
    label_all(project, labels)
    alone = REPORT.read(compute(project))
    [rates] = answer_of(alone).sentences
    assert rates.startswith("The mean share of an answer's triplets labelled contradiction, averaged over models, is ")
    assert ", and" not in rates and "By model it runs from 0.000 (a) to " in rates and "(d) in zero_context" in rates
    assert answer_of(alone).next == "start a checker, to compare it with people"
    assert answer_of(alone).n == "n = 150 answers of 160, by 4 models; 600 of 600 triplets have a label by people"
    run_of(project, "good", labels)
    known = REPORT.read(compute(project))
    _, checkers, _ = answer_of(known).sentences
    assert checkers == "good 1 is measured over triplets: macro-F1 1.000, accuracy 1.000, mean of settings."
    assert answer_of(known).next.startswith("add answers of more models")
    said = {
        (None, None): "has Spearman's correlation 1.000 with people's, without an interval.",
        (
            -0.1,
            1.0,
        ): "That it ranks models as people do by contradiction rate is not shown: Spearman's correlation 1.000 "
        "[-0.100, 1.000].",
        (0.5, 1.0): "It ranks models by contradiction rate as people do: Spearman's correlation 1.000 [0.500, 1.000].",
        (-1.0, -0.5): "It ranks models by contradiction rate in the opposite order of people's: Spearman's correlation "
        "1.000 [-1.000, -0.500].",
    }
    for (low, high), words in said.items():
        assert answer_of(ranked(known, low=low, high=high)).sentences[-1].endswith(words)
        assert words in REPORT.paragraph(ranked(known, low=low, high=high))


def test_the_page_of_one_model_of_no_answers_and_of_a_checker_that_says_nothing_here():
    project, labels = planted()
    Response.objects.exclude(model="b").update(model="b")
    label_all(project, labels)
    run_of(project, "silent", {})
    [rates, checkers] = answer_of(REPORT.read(compute(project))).sentences
    assert "averaged over models" in rates and "By model" not in rates
    assert checkers == "Checkers cannot be measured: no triplets have labels of both a checker and people."
    empty = make_project(make_dataset(), "triplets/-/1", overlap=1)
    assert answer_of(REPORT.read(compute(empty))).next == "import answers with triplets"


def answer_of(result: RefChecker) -> Answer:
    return REPORT.declares(result).answer


def test_only_pieces_of_answers_fit():
    assert REPORT.fits(task_type("triplets/-/1")) == REPORT.fits(task_type("triplets/sub-sentences/1")) == ""
    assert "pieces of models' answers" in REPORT.fits(task_type("claim-evidence/six-way/1"))
    other = make_project(make_dataset(), "claim-evidence/six-way/1")
    with pytest.raises(ValueError, match="pieces of models' answers"):
        compute(other)


@pytest.mark.slow
@pytest.mark.skipif(not REFCHECKER.exists(), reason="the RefChecker files are not there")
def test_the_public_files_have_the_published_figures():
    make_user(is_superuser=True)
    files = sorted(str(path) for path in REFCHECKER.rglob("*_answers.json"))
    call_command("import_dataset", *files, "--format", "refchecker", "--dataset", "rc", "--project", "rc", verbosity=0)
    project = Project.objects.get(slug="rc")
    said = dict(Judgement.objects.filter(dimension=E).values_list("unit_id", "label"))
    rng = random.Random(1)
    run_of(project, "noisy", {unit: rng.choice((E, N, C)) if rng.random() < 0.3 else x for unit, x in said.items()})
    result = compute(project, without="davinci001")
    expected = {  # E, N, C pieces; means of E, N, C, abstained; C of two models; strict answers; six models' n, factual
        "zero_context": (
            (1047, 1818, 454),
            (38.64, 36.19, 25.17, 12.43),
            {"gpt4": 12.89, "davinci001": 54.25},
            (129, 210, 274, 87),
            (518, 122),
        ),
        "accurate_context": (
            (3350, 368, 276),
            (87.44, 6.73, 5.83, 4.71),
            {"gpt4": 1.00, "davinci001": 12.80},
            (472, 106, 89, 33),
            (568, 411),
        ),
    }
    [checker] = result["checkers"]
    for setting, (n_pieces, means, of_models, strict, six) in expected.items():
        found = of_setting(result["rates"], setting)
        soft, worst, _ = found["rules"]
        shares = [soft["mean"][label]["estimate"] for label in (E, N, C)] + [found["abstained"]["mean"]["estimate"]]
        assert [100 * share for share in shares] == pytest.approx(means, abs=0.005)
        assert {
            row["model"]: round(100 * row["shares"][C]["estimate"], 2)
            for row in soft["models"]
            if row["model"] in of_models
        } == of_models
        counted = [
            round(sum(row["shares"][label]["estimate"] * row["shares"][label]["n_pairable"] for row in worst["models"]))
            for label in (E, N, C)
        ]
        assert (*counted, found["n_abstained"]) == strict and found["n_responses"] == 700
        confusion = of_setting(checker["pieces"]["settings"], setting)["confusion"]
        assert tuple(sum(row) for row in confusion) == n_pieces
        answers = of_setting(checker["answers"], setting)
        assert (answers["n"], answers["n_factual"]) == six
    zero = SelectedSource(DatabaseSource(project), Selection(source="zero_context"))
    [alone] = REPORT.compute(zero, quick=True)["rates"]
    assert 100 * alone["abstained"]["mean"]["estimate"] == pytest.approx(12.43, abs=0.005)
    assert (alone["n_responses"], alone["n_abstained"]) == (700, 87)


def test_scores_of_answers_by_methods_elsewhere_stand_beside_peoples_rates():
    """A method that sees the rate, and one whose numbers have nothing to do with it."""
    project, labels = planted()
    label_all(project, labels)
    units = Unit.objects.filter(pk__in=labels).values_list("pk", "triplet__response")
    of_answer = defaultdict(list)
    for unit, response in units:
        of_answer[response].append(unit)
    rate = {key: fmean(labels[unit] != E for unit in mine) for key, mine in of_answer.items()}
    rng = random.Random(3)
    for method, score_of in (("selfcheckgpt", lambda key: rate[key] / 2), ("factool", lambda key: rng.random())):
        run = make_suggestions(project, checker=f"outside:{method}", labels={})
        type(run).objects.filter(pk=run.pk).update(origin={"gives": "scores"})
        given = {key: score_of(key) for key in of_answer}
        make_scores(run, method, {unit: given[key] for key, mine in of_answer.items() for unit in mine})
    sees, blind = compute(project)["scored"]
    assert [one["title"].split()[0] for one in (sees, blind)] == ["selfcheckgpt", "factool"]
    for of_setting in sees["settings"]:
        assert [of_setting[name]["estimate"] for name in ("pearson", "spearman")] == pytest.approx([1, 1])
        assert of_setting["pearson"]["n_pairable"] == len(of_answer) / 2
    assert all(abs(one["spearman"]["estimate"]) < 0.4 for one in blind["settings"])
    titles = [table.title for table in REPORT.tables(compute(project))]
    assert "Scores of answers against people's hallucination rates" in titles

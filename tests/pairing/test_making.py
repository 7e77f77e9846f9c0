"""Pairs of gold evidence and generated sentences: which are made, under which keys, and what a second run does."""

import io

import pytest
from django.core.management import call_command

from annotation.imports.pairs import pairing
from annotation.imports.pairs.pairing import PairingProblem
from annotation.jobs import lifecycle
from annotation.models import Decision, Pair, Response, Unit
from tests.factories import make_dataset, make_project
from tests.importing.files import command as import_command
from tests.pairing.harbour import CLAIM, DOCUMENT, GOLD, KEPT, OTHER, bring_in, command, line, make, pairs, start

pytestmark = pytest.mark.django_db


def test_every_gold_evidence_meets_every_sentence_that_is_left(tmp_path):
    dataset = bring_in(tmp_path, line())
    job = make(dataset)
    made = pairs(dataset)
    assert {key: (pair.premise, pair.hypothesis) for key, pair in made.items()} == {
        "c1/d0/g0/s1": (GOLD[0], KEPT[0]),
        "c1/d0/g0/s2": (GOLD[0], KEPT[1]),
        "c1/d0/g1/s1": (GOLD[1], KEPT[0]),
        "c1/d0/g1/s2": (GOLD[1], KEPT[1]),
    }
    for pair in made.values():
        trace = pair.metadata
        assert DOCUMENT[trace["start"] : trace["end"]] == pair.hypothesis
        assert (trace["sentence"], trace["times"]) == ((1, 2) if pair.hypothesis == KEPT[0] else (2, 1))
        assert pair.response.key == "c1/d0" and pair.evidence.text == pair.premise
        assert trace["rouge_2"] == 0 and trace["sentences_by"] == "sentencizer"
    units = Unit.objects.published().filter(kind="pair")
    assert set(units.values_list("key", flat=True)) == set(made)
    assert job.result["counts"] == {
        "documents": 1,
        "documents_left_out": 0,
        "documents_without_gold": 0,
        "documents_without_pairs": 0,
        "claims": 1,
        "gold_evidence": 2,
        "repeated_evidence": 0,
        "sentences": 5,
        "pairs": 4,
    }
    assert job.result["dropped"] == {
        "reproduces the claim": 1,
        "has no word": 1,
        "stands in the document before": 1,
    }
    [example] = job.result["examples"]["reproduces the claim"]
    assert example == {"document": "c1/d0", "sentence": CLAIM, "claim": CLAIM, "rouge_2": 1.0}


def test_a_second_run_changes_nothing_and_new_documents_only_add(tmp_path):
    dataset = bring_in(tmp_path, line())
    make(dataset)
    before = {key: (pair.pk, pair.version) for key, pair in pairs(dataset).items()}
    again = make(dataset)
    assert again.result["is_unchanged"] and again.result["content"]["pair"]["unchanged"] == 4
    bring_in(tmp_path, line(documents=(DOCUMENT, "The ice held for weeks.")), dataset=dataset)
    third = make(dataset)
    assert third.result["content"]["pair"] == {"created": 2, "unchanged": 4, "changed": 0}
    after = {key: (pair.pk, pair.version) for key, pair in pairs(dataset).items()}
    assert {key: after[key] for key in before} == before
    assert set(after) - set(before) == {"c1/d1/g0/s0", "c1/d1/g1/s0"}


def test_another_threshold_keeps_more_under_the_same_keys(tmp_path):
    almost = CLAIM.removesuffix(".") + ", they say."  # 8 of 10 and of 8 bigrams: F-measure 16 / 18
    dataset = bring_in(tmp_path, line(documents=(f"{almost} Ferries stayed in port.",), gold=GOLD[:1]))
    make(dataset, threshold=0.88)
    assert set(pairs(dataset)) == {"c1/d0/g0/s1"}
    job = make(dataset)
    assert set(pairs(dataset)) == {"c1/d0/g0/s0", "c1/d0/g0/s1"}
    assert job.result["content"]["pair"] == {"created": 1, "unchanged": 1, "changed": 0}
    assert pairs(dataset)["c1/d0/g0/s0"].metadata["rouge_2"] == round(16 / 18, 4)


def test_offsets_count_code_points(tmp_path):
    document = "\U0001f468\u200d\U0001f680 The crew watched. \u0628\u062d\u064a\u0631\u0629! Cafe\u0301s closed."
    dataset = bring_in(tmp_path, line(documents=(document,), gold=GOLD[:1]))
    make(dataset)
    found = [(pair.metadata["start"], pair.metadata["end"], pair.hypothesis) for pair in pairs(dataset).values()]
    assert len(found) == 3 and all(document[start:end] == text for start, end, text in found)
    assert found[0][2].startswith("\U0001f468\u200d\U0001f680 The crew")


def test_equal_gold_evidence_is_a_premise_once(tmp_path):
    dataset = bring_in(tmp_path, line(gold=(GOLD[0], GOLD[0])))
    job = make(dataset)
    assert set(pairs(dataset)) == {"c1/d0/g0/s1", "c1/d0/g0/s2"}
    assert job.result["counts"]["repeated_evidence"] == 1


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "no documents that were generated for claims"),
        ([line(documents=())], "no documents that were generated for claims"),
        ([line(gold=())], "None of these documents belongs to a claim with gold evidence"),
    ],
)
def test_without_documents_or_gold_evidence_there_is_nothing_to_start(tmp_path, lines, message):
    dataset = bring_in(tmp_path, *lines) if lines else make_dataset()
    with pytest.raises(PairingProblem, match=message):
        start(dataset)
    code, said = command(dataset.slug)
    assert code == 1 and message in said
    assert not dataset.jobs.filter(kind="pairs").exists()


def test_documents_of_claims_without_gold_evidence_are_counted(tmp_path):
    dataset = bring_in(tmp_path, line(), line(2, gold=()), line(3, documents=("...",)))
    counts = make(dataset).result["counts"]
    assert (counts["documents"], counts["documents_without_gold"], counts["documents_without_pairs"]) == (2, 1, 1)
    assert {pair.response.claim.key for pair in pairs(dataset).values()} == {"c1"}
    assert OTHER not in {pair.premise for pair in pairs(dataset).values()}


def document(name, **about):
    return {"id": name, "text": f"Sentence of {name}.", **about}


def test_documents_are_chosen_by_method_model_and_setting(tmp_path):
    dataset = bring_in(
        tmp_path,
        line(
            gold=GOLD[:1],
            documents=(
                document("a", method="hyde", model="m1", setting="short"),
                document("b", method="query2doc", model="m1"),
                document("c", method="query2doc", model="m2"),
                document("d"),
            ),
        ),
    )
    assert pairing.values_to_choose(dataset) == {
        "methods": {"": 1, "hyde": 1, "query2doc": 2},
        "models": {"": 1, "m1": 2, "m2": 1},
        "settings": {"": 3, "short": 1},
    }

    def chosen(**options):
        return dry_counts(dataset, **options)["documents"]

    assert chosen(methods=("query2doc",)) == 2
    assert chosen(methods=("query2doc", ""), models=("m2", "")) == 2
    assert chosen(settings=("short",)) == 1
    with pytest.raises(PairingProblem, match="No document of a claim has the chosen method"):
        start(dataset, methods=("hyde",), models=("m2",))
    make(dataset, models=("m2",))
    assert set(pairs(dataset)) == {"c/g0/s0"}


def dry_counts(dataset, **options):
    return make(dataset, is_dry_run=True, **options).result["counts"]


def test_a_drawn_sample_is_the_same_each_time_and_grows(tmp_path):
    names = [f"d{n}" for n in range(40)]
    dataset = bring_in(tmp_path, line(gold=GOLD[:1], documents=tuple(document(name) for name in names)))

    def drawn(limit, seed):
        counts = dry_counts(dataset, limit=limit, seed=seed)
        assert (counts["documents"], counts["documents_left_out"]) == (limit, 40 - limit)
        request = pairing.settled(dataset, pairing.PairRequest(limit=limit, seed=seed))
        return {record.response for record in pairing.Pairing(dataset, request).records()}

    ten = drawn(10, seed=3)
    assert len(ten) == 10 and drawn(10, seed=3) == ten < drawn(20, seed=3)
    assert drawn(10, seed=4) != ten
    make(dataset, limit=10, seed=3)
    assert {pair.response.key for pair in pairs(dataset).values()} == ten


def test_a_dry_run_writes_nothing(tmp_path):
    dataset = bring_in(tmp_path, line())
    job = make(dataset, is_dry_run=True)
    assert job.result["content"]["pair"]["created"] == 4
    assert not Pair.objects.exists() and not dataset.batches.filter(job=job).exists()


@pytest.mark.parametrize("on_judged", ["refuse", "supersede", "keep"])
def test_judged_pairs_are_changed_only_when_asked(tmp_path, on_judged):
    dataset = bring_in(tmp_path, line())
    make(dataset)
    project = make_project(dataset, "nli/two-way/1")
    unit = Unit.objects.get(kind="pair", key="c1/d0/g0/s1")
    Decision.objects.create(project=project, unit=unit, dimension="entailment", label="entailment", method="imported")
    bring_in(tmp_path, line(gold=("The lake was frozen.", GOLD[1])), dataset=dataset)
    job = lifecycle.run_here(start(dataset, on_judged=on_judged))
    now = pairs(dataset)["c1/d0/g0/s1"]
    if on_judged == "refuse":
        assert job.state == "failed" and "1 changed row already judged; nothing was made" in job.message
        assert now.premise == pairs(dataset)["c1/d0/g0/s2"].premise == GOLD[0]
        return
    assert job.state == "done", job.message
    assert pairs(dataset)["c1/d0/g0/s2"].premise == "The lake was frozen."
    assert (now.premise, now.version) == (("The lake was frozen.", 2) if on_judged == "supersede" else (GOLD[0], 1))
    assert Decision.objects.get().unit.pair.premise == GOLD[0]


def test_other_sentence_borders_do_not_mix(tmp_path, monkeypatch):
    dataset = bring_in(tmp_path, line())
    make(dataset)
    monkeypatch.setattr(pairing, "installed_segmenters", lambda: ("en_core_web_sm", "sentencizer"))
    assert start(dataset).parameters["segmenter"] == "sentencizer"
    with pytest.raises(PairingProblem, match="come from sentences by sentencizer"):
        start(dataset, segmenter="en_core_web_sm")
    with pytest.raises(PairingProblem, match="en_core_web_lg is not installed here"):
        start(bring_in(tmp_path, line()), segmenter="en_core_web_lg")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 0.0}, "threshold of ROUGE-2"),
        ({"threshold": 1.1}, "threshold of ROUGE-2"),
        ({"limit": 0}, "number of documents"),
        ({"on_judged": "ask"}, "choose one of refuse"),
    ],
)
def test_choices_that_mean_nothing_are_refused(tmp_path, options, message):
    with pytest.raises(PairingProblem, match=message):
        start(bring_in(tmp_path, line()), **options)


def test_two_pairs_with_one_key_stop_the_making(tmp_path):
    """Ids with slashes of their own may meet: x + y/z and x/y + z."""
    lines = line(documents=(document("x"), document("x/y")), gold=())
    lines["passages"] = [{"id": "c1/y/z", "text": GOLD[0], "gold": True}, {"id": "c1/z", "text": GOLD[1], "gold": True}]
    dataset = bring_in(tmp_path, lines)
    code, said = command(dataset.slug)
    assert code == 1 and "'x/y/z/s0' would be the key of two pairs" in said and not Pair.objects.exists()


def test_the_command_makes_pairs_and_says_what_it_left_out(tmp_path):
    dataset = bring_in(tmp_path, line(), line(2, gold=()))
    code, said = command(dataset.slug, "--dry-run")
    assert code == 0 and "Would be 4 created, 0 changed, 0 unchanged" in said and not Pair.objects.exists()
    assert "Sentences left out: 1 (reproduces the claim)" in said
    assert "1 document of a claim without gold evidence" in said
    assert "Made: 4 created" in command(dataset.slug)[1]
    assert "Made: 0 created, 0 changed, 4 unchanged" in command(dataset.slug, "--threshold", 0.95)[1]
    assert command("nowhere") == (1, "There is no data set 'nowhere'")
    assert Response.objects.count() == 2


def test_made_pairs_go_out_and_come_back_the_same(tmp_path):
    """An export imported elsewhere is the same bytes again, and pairs made there change nothing."""
    dataset = bring_in(tmp_path, line())
    make(dataset)
    project = make_project(dataset, "nli/two-way/1", order="file")
    for key, label in (("c1/d0/g0/s1", "non-entailment"), ("c1/d0/g1/s1", "entailment")):
        unit = Unit.objects.get(kind="pair", key=key)
        Decision.objects.create(project=project, unit=unit, dimension="entailment", label=label, method="imported")
    call_command("export_dataset", project.slug, tmp_path / "there", stdout=io.StringIO())
    there = tmp_path / "there" / "content.jsonl"
    wish = ("--format", "content", "--dataset", "elsewhere", "--project", "again", "--task-type", "nli/two-way/1")
    code, said = import_command(there, *wish, "--owner", dataset.owner.email)
    assert code == 0, said
    call_command("export_dataset", "again", tmp_path / "back", stdout=io.StringIO())
    assert (tmp_path / "back" / "content.jsonl").read_bytes() == there.read_bytes()
    assert "Made: 0 created, 0 changed, 4 unchanged" in command("elsewhere")[1]

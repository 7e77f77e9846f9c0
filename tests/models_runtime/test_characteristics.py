"""Context characteristics: each measure on texts where it can be counted by hand."""

from __future__ import annotations

import math
import string

import pytest

from models_runtime import CheckerInput, load, registry
from models_runtime.contracts import ModelError, ParameterError
from models_runtime.texts import entities
from models_runtime.texts.lists import is_listed, phrase_finder, read_list, read_sites, site_of
from models_runtime.texts.splitting import treebank_words

CLAIM = "The harbour can't freeze."
EVIDENCE = "It is FALSE, he said, that the harbour might freeze. However, true ice is rare here."


def scores_of(claim=CLAIM, evidence=EVIDENCE, parameters=None, **origin):
    (found,) = load("characteristics", parameters=parameters).predict(
        [CheckerInput("1", {"claim": claim, "evidence": evidence} | origin)]
    )
    assert not found.labels and found.error is None, found.error
    assert list(found.scores) == [score.name for score in registry.get_info("characteristics").scores]
    return found.scores


def test_words_and_lengths():
    found = scores_of()
    # the, harbour, ca, n't, freeze: three of five; of either: 5 + 16 distinct words, less those three.
    assert found["overlap"] == found["overlap_treebank"] == pytest.approx(3 / 5)
    assert found["jaccard"] == pytest.approx(3 / (5 + 15 - 3))
    assert (found["claim_length"], found["evidence_length"]) == (25, len(EVIDENCE))
    assert (found["contains_true"], found["contains_false"], found["repeats_claim"]) == (1, 1, 0)
    assert scores_of(evidence=f"He said: {CLAIM} So there.")["repeats_claim"] == 1
    assert scores_of(evidence="An untrue story.")["contains_true"] == 1  # a substring, as in the public code


def test_the_two_ways_to_count_words_differ_where_they_are_said_to():
    found = scores_of("It cannot freeze", "It can not freeze")
    assert (found["overlap"], found["overlap_treebank"]) == (pytest.approx(2 / 3), 1)
    assert treebank_words("Wait... it's the U.S. (really).") == ["wait", "...", "it", "'s", "the", "u.s.", "really"]


# What word_tokenize of NLTK 3.10.4 makes of these sentences.
NLTK = [
    ("They'll say \"it can't be 1,000.5\"!", "They 'll say `` it ca n't be 1,000.5 '' !"),
    ("Costs: $3.88 (about 5%); dogs' and a dog's.", "Costs : $ 3.88 ( about 5 % ) ; dogs ' and a dog 's ."),
    ("I'm gonna go, d'ye hear -- wanna come?", "I 'm gon na go , d 'ye hear -- wan na come ?"),
    ("«Oui», “yes” — he’s from the U.K.…", "« Oui » , “ yes ” — he ’ s from the U.K.…"),
    ("Ice,,snow,:and rain", "Ice , ,snow , :and rain"),
    ("'Twas 'good' at 10:30 a.m...", "' Twas ' good ' at 10:30 a.m ..."),
]


@pytest.mark.parametrize(("sentence", "expected"), NLTK)
def test_treebank_tokens_are_those_of_nltk(sentence, expected):
    assert treebank_words(sentence) == [one.lower() for one in expected.split() if one not in string.punctuation]


def test_hedging_counts_whole_words_and_phrases_in_any_case():
    assert (scores_of()["hedging"], scores_of()["hedging_discourse"]) == (1, 1)
    found = scores_of(evidence="In May the mayor's mighty ship sank for good.")
    assert found["hedging_discourse"] == 0
    assert scores_of(evidence="The mightiest ship sank.")["hedging"] == 0
    says = phrase_finder(["to some extent", "couldn't"])
    assert says("He COULDN\u2019T") and says("to  some\nextent.") and not says("to some extents") and not says("n't")
    assert phrase_finder([]) is None


@pytest.mark.parametrize(
    ("origin", "unreliable", "fact_check"),
    [
        ({"url": "https://www.politifact.com/factchecks/1"}, None, 1),
        ({"url": "https://science.feedback.org/review"}, None, 1),
        ({"url": "http://notpolitifact.com/"}, None, 0),
        ({"url": "https://www.reuters.com/fact-check/ice"}, 0, 1),
        ({"url": "https://www.reuters.com/world/"}, 0, 0),
        ({"url": "https://local.theonion.com"}, 1, 0),
        ({"url": "", "publisher": "snopes.com"}, None, 1),
        ({"url": "https://[bad", "publisher": "The Example"}, None, None),
        ({}, None, None),
    ],
)
def test_sources(origin, unreliable, fact_check):
    found = scores_of(**origin)
    assert (found["unreliable_source"], found["fact_check_source"]) == (unreliable, fact_check)


@pytest.mark.parametrize(
    ("claim_date", "evidence_date", "expected"),
    [
        ("2020-01-01", "2020-01-02", 1),
        ("2020-01-01", "2020-01-01", 0),
        ("2020-01-02", "2019-12-31", 0),
        ("", "2020-01-01", None),
        ("2020-01-01", "", None),
    ],
)
def test_published_after_the_claim(claim_date, evidence_date, expected):
    found = scores_of(claim_date=claim_date, evidence_date=evidence_date)
    assert found["published_after_claim"] == expected


def test_gold_and_what_fails_alone():
    assert [scores_of(is_gold=given)["gold_source"] for given in ("yes", "no", "")] == [1, 0, None]
    fields = [
        {"claim": "a", "evidence": "b", "claim_date": "May 2020"},
        {"claim": "a", "evidence": " "},
        {"claim": "a", "evidence": "b", "url": "\0"},
        {"claim": "a", "passages": ("b", "c")},
        {"claim": "a", "evidence": "b"},
        {"claim": "!", "evidence": "😀" * 100_000},
        {"claim": "\ud800", "evidence": "b"},
    ]
    found = load("characteristics").predict([CheckerInput(str(place), one) for place, one in enumerate(fields)])
    reasons = [one.error.reason if one.error else "" for one in found]
    several = "several-passages"
    assert reasons == ["bad-date", "empty-evidence", "nul-character", several, "", "", "lone-surrogate"]
    assert found[5].scores["overlap"] is None and found[5].scores["evidence_flesch"] is None
    assert all(value is None or math.isfinite(value) for one in found for value in one.scores.values())


def test_names_are_found_by_the_model_that_comes_with_the_requirements():
    evidence = "The mayor of Berlin met Angela Merkel, who had come from Paris."
    assert scores_of("Angela Merkel came to Berlin in 2019.", evidence)["entity_overlap"] == pytest.approx(2 / 3)
    assert load("characteristics").describe()["model"].startswith("en_core_web_sm")


def test_entities_are_undefined_without_a_model_and_compared_by_name_with_one(tmp_path, monkeypatch):
    import spacy

    with monkeypatch.context() as without:
        without.setattr(entities, "DEFAULT_MODEL", "en_core_web_sm_that_is_not_here")
        without.setattr(entities, "packaged_model", lambda: "")
        assert entities.entities_of(entities.DEFAULT_MODEL) is None
    assert scores_of(parameters={"entity_model": ""})["entity_overlap"] is None
    with pytest.raises(ModelError, match="python -m spacy download en_core_web_trf"):
        load("characteristics", parameters={"entity_model": "en_core_web_trf"})
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(ModelError, match="finds no entities"):
        load("characteristics", parameters={"entity_model": str(tmp_path / "blank")})
    pipeline = spacy.blank("en")
    names = ("Lindau", "lindau", "Lake  Constance", "Lake Constance", "1963")
    pipeline.add_pipe("entity_ruler").add_patterns([{"label": "X", "pattern": name} for name in names])
    pipeline.to_disk(tmp_path / "ruler")
    parameters = {"entity_model": str(tmp_path / "ruler")}
    claim = "Lake  Constance at Lindau froze in 1963, says Lindau"
    found = scores_of(claim, "In lindau they know: Lake Constance froze, in 1880.", parameters)
    assert found["entity_overlap"] == pytest.approx(2 / 3)
    assert scores_of("It froze", "Lindau", parameters)["entity_overlap"] is None
    assert load("characteristics", parameters=parameters).describe()["model"].startswith("en_pipeline")


def test_lists_can_be_replaced_by_an_administrators_and_chosen_by_name_only(tmp_path, monkeypatch):
    before = load("characteristics").describe()
    assert set(before["lists"].values()) == {"shipped"}
    monkeypatch.delenv("ASSAY_LEXICONS_DIR", raising=False)
    with pytest.raises(ParameterError, match="has to set ASSAY_LEXICONS_DIR"):
        load("characteristics", parameters={"lexicons": "study"})
    (tmp_path / "lists" / "study").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "hedges.txt").write_text("harbour")
    (tmp_path / "lists" / "study" / "hedges.txt").write_text("# own\nrare  # a comment\nn\u00e4mlich\n", "utf-8")
    (tmp_path / "lists" / "discourse.txt").write_text("")
    monkeypatch.setenv("ASSAY_LEXICONS_DIR", str(tmp_path / "lists"))
    for name in ("../secret", str(tmp_path / "secret"), "..", ".", "study/", "nowhere"):
        with pytest.raises(ParameterError, match="has no folder .*; it has study"):
            load("characteristics", parameters={"lexicons": name})
    found = scores_of(evidence="It might be.", parameters={"lexicons": "study"})
    assert (found["hedging"], found["hedging_discourse"]) == (0, None)
    described = load("characteristics", parameters={"lexicons": "study"}).describe()
    assert (described["lists"]["hedges"], described["lists"]["discourse"]) == ("study/hedges.txt", "discourse.txt")
    assert described["lists"]["rated_sources"] == "shipped" and described["revision"] != before["revision"]
    (tmp_path / "lists" / "study" / "hedges.txt").write_bytes(b"caf\xe9")
    with pytest.raises(ModelError, match="study/hedges.txt is not UTF-8 at byte 3"):
        read_list("hedges", "study")
    with pytest.raises(ModelError, match="'no site' is not a domain"):
        read_sites(("example.org", "no site"))


def test_shipped_lists_are_readable_and_their_sites_do_not_contradict_each_other():
    sites = {name: read_sites(read_list(name).entries) for name in ("unreliable_sources", "rated_sources")}
    assert all(sites.values()) and not sites["unreliable_sources"] & sites["rated_sources"]
    assert len(read_sites(read_list("fact_check_sources").entries)) > 30
    for name in ("hedges", "discourse"):
        entries = read_list(name).entries
        assert len(entries) > 30 and all(entry == entry.lower().strip() for entry in entries)
    assert is_listed(site_of("a.b.example.org/x/y"), read_sites(("example.org/x",)))
    assert not is_listed(site_of("example.org"), read_sites(("example.org/x", "b.example.org")))

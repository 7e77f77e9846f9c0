"""ROUGE-2 against numbers by hand and by rouge-score 0.1.2, and what becomes of a document's sentences."""

import pytest

from models_runtime.texts import matching
from models_runtime.texts.matching import (
    DUPLICATE,
    REPRODUCED,
    SENTENCIZER,
    WORDLESS,
    document_sentences,
    installed_segmenters,
    matching_pairs,
    rouge_2,
    rouge_words,
    sentences,
)

FROZE = "The harbour froze over in January 1963."
ALPHABET = "a b c d e f g h i j k l m n o p q r s t u"  # 21 words, 20 bigrams


@pytest.mark.parametrize(
    ("target", "prediction", "precision", "recall", "fmeasure"),
    [
        # By rouge-score 0.1.2: RougeScorer(["rouge2"]).score(target, prediction).
        (FROZE, FROZE, 1.0, 1.0, 1.0),
        (FROZE, "In fact, the harbour froze over in January 1963.", 0.75, 1.0, 0.8571428571428571),
        (FROZE, "The harbour froze.", 1.0, 0.3333333333333333, 0.5),
        (ALPHABET, ALPHABET + " v", 0.9523809523809523, 1.0, 0.975609756097561),
        (ALPHABET, ALPHABET.upper() + " V W X", 0.8695652173913043, 1.0, 0.9302325581395349),
        ("the cat the cat the cat", "the cat", 1.0, 0.2, 0.33333333333333337),
        ("a a a b", "a a b a a", 0.75, 1.0, 0.8571428571428571),
        ("It isn't 3.5 % of 1,000!", "it isn t 3 5 of 1 000", 1.0, 1.0, 1.0),
        ("Yes", "Yes", 0.0, 0.0, 0.0),
        # By hand: 2 of 3 bigrams of the one and of 4 of the other.
        ("Die Brücke über Köln", "Die Brücke über den Rhein", 2 / 4, 2 / 3, 4 / 7),
        ("Cafe\u0301 au lait", "Café au lait", 1.0, 1.0, 1.0),
        ("", "a b", 0.0, 0.0, 0.0),
    ],
)
def test_rouge_2(target, prediction, precision, recall, fmeasure):
    found = rouge_2(target, prediction)
    assert (found.precision, found.recall, found.fmeasure) == pytest.approx((precision, recall, fmeasure), abs=1e-15)


def test_letters_of_every_script_are_words():
    assert rouge_words("Été 2020: état_d’urgence, \u0645\u0631\u062d\u0628\u0627!") == [
        "été", "2020", "état", "d", "urgence", "\u0645\u0631\u062d\u0628\u0627"
    ]  # fmt: skip


def reasons(claim, document, threshold=0.95):
    found = document_sentences(claim, document, threshold)
    return [sentence.text for sentence in found.kept], [(s.text, reason) for s, reason in found.dropped]


def test_a_sentence_at_the_threshold_is_dropped_and_one_below_it_is_kept():
    last_differs = ALPHABET[:-1] + "z"  # 19 of 20 bigrams each: exactly 0.95
    assert rouge_2(ALPHABET, last_differs).fmeasure == 0.95
    assert reasons(ALPHABET, last_differs) == ([], [(last_differs, REPRODUCED)])
    assert reasons(ALPHABET, last_differs, 0.951) == ([last_differs], [])
    longer = ALPHABET + " v w x"  # 20 of 23 bigrams: recall 1, F-measure 0.93
    assert rouge_2(ALPHABET, longer).recall == 1
    assert reasons(ALPHABET, longer) == ([longer], [])
    assert reasons(ALPHABET, longer, 0.93) == ([], [(longer, REPRODUCED)])


def test_a_claim_too_short_for_bigrams_is_told_by_its_words():
    assert reasons("Fake!", "Fake. True.") == (["True."], [("Fake.", REPRODUCED)])


def test_what_has_no_word_and_what_is_said_twice_is_left_out():
    document = "Ice melts.\n***\n- - -\nSeas rise. Ice melts.\n\U0001f9ca\U0001f9ca\nIce melts."
    found = document_sentences("Another claim altogether.", document)
    assert [(s.text, s.times, s.place) for s in found.kept] == [("Ice melts.", 3, 0), ("Seas rise.", 1, 3)]
    assert [(s.place, reason) for s, reason in found.dropped] == [
        (1, WORDLESS),
        (2, WORDLESS),
        (4, DUPLICATE),
        (5, WORDLESS),
        (6, DUPLICATE),
    ]


def test_offsets_are_code_points_of_the_document():
    crew, hebrew = "\U0001f468\u200d\U0001f680 flew.", "\u05e9\u05dc\u05d5\u05dd."
    water, ice = "\u6c34\u306f\u51b7\u305f\u3044\u3002", "\u6c37\u3082\u3002"
    document = f"  {crew} Cafe\u0301s\r\nclosed!\n{hebrew}\n{water}{ice}"
    found = document_sentences("Something else.", document)
    assert [s.text for s in found.kept] == [crew, "Cafe\u0301s", "closed!", hebrew, water, ice]
    assert all(document[s.start : s.end] == s.text == s.text.strip() for s in found.kept)
    assert [s.place for s in found.kept] == list(range(6))


@pytest.mark.parametrize("document", ["", "  \n ", "...", "\u200b"])
def test_a_document_without_words_gives_no_pair(document):
    assert list(matching_pairs("A claim.", ["Gold."], document)) == []


def test_every_evidence_meets_every_sentence():
    found = matching_pairs("C.", ["one", "two"], "First thing. Second thing.")
    assert [(place, s.text) for place, s in found] == [
        (0, "First thing."),
        (0, "Second thing."),
        (1, "First thing."),
        (1, "Second thing."),
    ]
    assert list(matching_pairs("C.", [], "First thing.")) == []


def test_a_model_divides_where_one_is_installed(monkeypatch):
    import spacy

    class Rules:
        """As a package of spaCy's would be loaded."""

        max_length = 60

        def __call__(self, text):
            pipeline = spacy.blank("en")
            pipeline.add_pipe("sentencizer", config={"punct_chars": [";"]})
            return pipeline(text)

    monkeypatch.setattr(
        matching.importlib.util, "find_spec", lambda name: name if name == "spacy" or name.endswith("_sm") else None
    )
    assert installed_segmenters() == ("en_core_web_sm", SENTENCIZER)
    monkeypatch.setattr(spacy, "load", lambda name, exclude: Rules())
    matching._pipeline.cache_clear()
    text = "One. Two;   three \n"
    assert [text[a:b] for a, b in sentences(text, "en_core_web_sm")] == ["One. Two;", "three"]
    with pytest.raises(ValueError, match="has 61 characters; en_core_web_sm takes 60, the sentencizer any number"):
        sentences("x" * 61, "en_core_web_sm")
    matching._pipeline.cache_clear()
    with pytest.raises(ValueError, match="There is no sentence segmenter 'nltk'"):
        sentences(text, "nltk")

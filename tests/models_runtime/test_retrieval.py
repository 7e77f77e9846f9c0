"""The retrievers against numbers by hand, plain formulas, brute force and the libraries that trained such models."""

from __future__ import annotations

import doctest
import importlib.util
import itertools
import json
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models_runtime import load_retriever
from models_runtime.checkers.embedding import Embedded, Encoder, packaged_model_folder
from models_runtime.contracts import (
    InputError,
    MissingPackageError,
    ModelError,
    ParameterError,
    UnknownCheckerError,
)
from models_runtime.retrieval import dense, stages
from models_runtime.retrieval.chunkers import CHUNKERS
from models_runtime.retrieval.contracts import Document, Query

from .tiny import tiny_bert

SLUGS = ("bm25", "dense", "hybrid")
SEA = [
    Document("ice", "Ice melts."),
    Document("sea", "The sea rises, sea by sea."),
    Document("bread", "Bread is baked in ovens."),
]


def ranked(ranking) -> list[tuple[str, int]]:
    return [(hit.passage.document, hit.passage.start) for hit in ranking.hits]


def indexed(slug: str, documents, **parameters):
    retriever = load_retriever(slug, parameters)
    retriever.index(iter(documents))
    return retriever


def test_examples_in_docstrings_hold():
    results = doctest.testmod(stages)
    assert results.attempted > 0 and results.failed == 0


# ---- BM25 ----


def plain_bm25(passages: list[list[str]], query: list[str], k1: float, b: float) -> list[float]:
    """Lucene's formula, written out."""
    mean = sum(map(len, passages)) / len(passages)
    total = [0.0] * len(passages)
    for word in query:
        having = sum(word in passage for passage in passages)
        idf = math.log(1 + (len(passages) - having + 0.5) / (having + 0.5))
        for place, passage in enumerate(passages):
            often = passage.count(word)
            total[place] += idf * often / (often + k1 * (1 - b + b * len(passage) / mean))
    return total


def test_a_score_by_hand():
    # Three passages of 2, 3 and 1 words, 2 on average. "sea" is in one of them, twice:
    # ln(1 + 2.5 / 1.5) = 0.980829; 1.5 * (0.25 + 0.75 * 3 / 2) = 2.0625; 0.980829 * 2 / (2 + 2.0625) = 0.482870
    documents = [Document("1", "Ice melts."), Document("2", "Sea rises: sea!"), Document("3", "Bread")]
    (found,) = indexed("bm25", documents).search([Query("q", "SEA")], 3)
    assert ranked(found) == [("2", 0)]
    assert found.hits[0].score == found.hits[0].scores["bm25"] == pytest.approx(0.482870, abs=1e-6)


@pytest.mark.parametrize(("k1", "b"), [(1.5, 0.75), (0.9, 0.4), (1.2, 0.0), (2.0, 1.0), (0.1, 0.5)])
def test_all_scores_are_those_of_the_formula(k1, b):
    draw = random.Random(7)
    passages = [[draw.choice("abcdefgh") for _ in range(draw.randint(1, 12))] for _ in range(40)]
    documents = [Document(f"{place:02}", " ".join(passage)) for place, passage in enumerate(passages)]
    retriever = indexed("bm25", documents, chunker="whole", k1=k1, b=b)
    for query in ("a", "a a a b", "h g zzz", "c d e f g h a b"):
        expected = plain_bm25(passages, query.split(), k1, b)
        (found,) = retriever.search([Query("q", query)], 40)
        assert {hit.passage.document: hit.score for hit in found.hits} == pytest.approx(
            {f"{place:02}": score for place, score in enumerate(expected) if score > 0}, abs=1e-6
        )
        order = sorted(range(40), key=lambda place: (-round(expected[place], 6), place))
        assert ranked(found) == [(f"{place:02}", 0) for place in order if expected[place] > 0]
        (few,) = retriever.search([Query("q", query)], 5)
        assert few.hits == found.hits[:5]


def test_a_query_in_some_documents_keeps_the_scores_of_the_whole_index():
    retriever = indexed("bm25", SEA)
    everywhere, here, nowhere = retriever.search(
        [
            Query("1", "the sea is ice"),
            Query("2", "the sea is ice", frozenset({"bread", "ice", "unknown"})),
            Query("3", "the sea is ice", frozenset()),
        ],
        3,
    )
    scores = {hit.passage.document: hit.score for hit in everywhere.hits}
    assert set(scores) == {"ice", "sea", "bread"}
    assert {hit.passage.document: hit.score for hit in here.hits} == {one: scores[one] for one in ("bread", "ice")}
    assert nowhere.hits == () and nowhere.error is None


def test_what_shares_no_word_is_not_found():
    found = indexed("bm25", SEA).search([Query("1", "quartz"), Query("2", "ice quartz")], 3)
    assert [ranked(one) for one in found] == [[], [("ice", 0)]]


# ---- dense ----

VECTORS = {
    "north": (0, 1),
    "north again": (0, 1),
    "east": (1, 0),
    "south": (0, -1),
    "north-east": (math.sqrt(0.5), math.sqrt(0.5)),
    "up": (0.6, 0.8),
}


@pytest.fixture
def by_hand(monkeypatch):
    """Embeddings from the table above; `failing` texts cannot be embedded."""
    import numpy as np

    failing: set[str] = set()

    def embed(self, texts):
        failures = {text: RuntimeError("bad tensor") for text in texts if text in failing}
        vectors = {text: np.array(VECTORS[text], dtype=np.float32) for text in texts if text not in failures}
        return Embedded(vectors, set(), failures)

    monkeypatch.setattr(Encoder, "embed", embed)
    return failing


def test_cosines_of_vectors_set_by_hand(by_hand):
    documents = [Document(str(place), text) for place, text in enumerate(VECTORS)]
    found = indexed("dense", documents).search([Query("q", "up"), Query("r", "east", frozenset("024"))], 9)
    assert ranked(found[0]) == [("5", 0), ("4", 0), ("0", 0), ("1", 0), ("2", 0), ("3", 0)]
    expected = [1.0, 1.4 * math.sqrt(0.5), 0.8, 0.8, 0.6, -0.8]
    assert [hit.score for hit in found[0].hits] == pytest.approx(expected, abs=1e-6)
    assert [hit.rank for hit in found[0].hits] == [1, 2, 3, 4, 5, 6]
    assert ranked(found[1]) == [("2", 0), ("4", 0), ("0", 0)]


def test_a_query_that_cannot_be_embedded_fails_alone_and_a_passage_stops_the_index(by_hand):
    retriever = indexed("dense", [Document("1", "north"), Document("2", "east")])
    by_hand.add("up")
    found = retriever.search([Query("1", "north"), Query("2", "up"), Query("3", "east")], 1)
    assert [one.error and one.error.reason for one in found] == [None, "encoding-failed", None]
    assert [ranked(one) for one in found] == [[("1", 0)], [], [("2", 0)]]
    with pytest.raises(InputError, match="bad tensor.*'up'"):
        retriever.index([Document("1", "north"), Document("2", "up")])


def test_faiss_finds_what_brute_force_finds(monkeypatch):
    """Also at the border: 300 passages, of which many are as near as the tenth."""
    import numpy as np

    draw = np.random.default_rng(5)
    kinds = draw.normal(size=(60, 16)).astype(np.float32)
    kinds /= np.linalg.norm(kinds, axis=1, keepdims=True)
    of_text = {f"p{place}": kinds[draw.integers(60)] for place in range(300)}
    of_text |= {f"q{place}": kinds[place % 60] for place in range(50)}
    monkeypatch.setattr(Encoder, "embed", lambda self, texts: Embedded({one: of_text[one] for one in texts}, set(), {}))
    documents = [Document(f"d{place}", f"p{place}") for place in draw.permutation(300)]
    retriever = indexed("dense", documents)
    some = frozenset(f"d{place}" for place in range(0, 300, 3))
    queries = [Query(f"{place}", f"q{place}", some if place % 5 == 0 else None) for place in range(50)]
    for top in (1, 10, 300):
        for query, found in zip(queries, retriever.search(queries, top), strict=True):
            allowed = [one.id for one in documents if query.documents is None or one.id in query.documents]
            cosines = {one: round(float(of_text["p" + one[1:]] @ of_text[query.text]), 6) for one in allowed}
            expected = sorted(allowed, key=lambda one: (-cosines[one], one))[:top]
            assert [hit.passage.document for hit in found.hits] == expected or [
                hit.score for hit in found.hits
            ] == pytest.approx([cosines[one] for one in expected], abs=2e-6)
            assert len({hit.passage.document for hit in found.hits}) == len(expected)


def test_the_real_model_agrees_with_its_library():
    from sentence_transformers import SentenceTransformer, util

    model = SentenceTransformer(str(packaged_model_folder()), device="cpu", local_files_only=True)
    (found,) = indexed("dense", SEA, query_prefix="query: ", passage_prefix="passage: ").search(
        [Query("q", "ocean levels go up")], 3
    )
    vectors = model.encode(["passage: " + one.text for one in SEA])
    (cosines,) = util.cos_sim(model.encode(["query: ocean levels go up"]), vectors).tolist()
    expected = dict(zip((one.id for one in SEA), cosines, strict=True))
    assert {hit.passage.document: hit.score for hit in found.hits} == pytest.approx(expected, abs=1e-5)
    assert found.hits[0].passage.document == "sea"


def test_passages_longer_than_the_window_are_counted():
    retriever = indexed("dense", [Document("1", "word " * 300), Document("2", "word")], chunker="whole")
    assert retriever.describe()["stages"]["dense"]["truncated"] == 1


# ---- both together ----


def test_fusion_by_hand(by_hand):
    # "north-east east" has the words of two passages; by hand it is nearest to "north-east".
    VECTORS["east up"] = VECTORS["north-east"]
    try:
        documents = [Document(text, text) for text in ("east", "up", "north-east")]
        (found,) = indexed("hybrid", documents, rrf_constant=1).search([Query("q", "east up")], 3)
    finally:
        del VECTORS["east up"]
    # BM25: east and up are equal, so in the order of their ids; dense: north-east, up (0.99), east (0.71).
    fused = {"east": 1 / 2 + 1 / 4, "up": 1 / 3 + 1 / 3, "north-east": 1 / 2}
    assert [hit.passage.document for hit in found.hits] == ["east", "up", "north-east"]
    assert {hit.passage.document: hit.score for hit in found.hits} == pytest.approx(fused)
    assert [list(hit.scores) for hit in found.hits] == [["bm25", "dense", "fused"]] * 2 + [["dense", "fused"]]


# ---- reranking ----


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory):
    vocabulary = ["ice", "melts", ".", "the", "sea", "rises", ",", "by", "bread", "is", "baked", "in", "ovens", "what"]
    return str(tiny_bert(tmp_path_factory.mktemp("reranker"), vocabulary, ["score"], seed=3))


def test_a_cross_encoder_orders_as_its_library_would(cross_encoder):
    import torch
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(cross_encoder, device="cpu", local_files_only=True, activation_fn=torch.nn.Identity())
    question = "what rises in the sea"
    expected = dict(
        zip((one.id for one in SEA), model.predict([(question, one.text) for one in SEA]).tolist(), strict=True)
    )
    assert len({round(score, 3) for score in expected.values()}) == 3
    retriever = indexed("dense", SEA, reranker=cross_encoder)
    (found,) = retriever.search([Query("q", question)], 3)
    assert [hit.passage.document for hit in found.hits] == sorted(expected, key=expected.get, reverse=True)
    assert {hit.passage.document: hit.score for hit in found.hits} == pytest.approx(expected, abs=1e-5)
    assert all(hit.scores["rerank"] == hit.score and -1 <= hit.scores["dense"] <= 1 for hit in found.hits)
    described = retriever.describe()["stages"]["rerank"]
    assert described["model"] == cross_encoder and described["revision"].startswith("sha256:")


def test_only_the_best_are_ordered_again(cross_encoder):
    plain = indexed("dense", SEA).search([Query("q", "ice")], 3)[0]
    (found,) = indexed("dense", SEA, reranker=cross_encoder, rerank_top=2).search([Query("q", "ice")], 3)
    assert sorted(ranked(found)) == sorted(ranked(plain)[:2])


def test_a_pair_that_the_reranker_cannot_read_fails_its_query_alone(cross_encoder, monkeypatch):
    retriever = indexed("bm25", SEA, reranker=cross_encoder)
    judge = retriever.reranker._judge

    def failing(encoded):
        if any(len(one) > 12 for one in encoded):
            raise ValueError("bad tensor")
        return judge(encoded)

    monkeypatch.setattr(retriever.reranker, "_judge", failing)
    found = retriever.search([Query("1", "ice"), Query("2", "the sea rises by the sea"), Query("3", "bread")], 1)
    assert [one.error and one.error.reason for one in found] == [None, "model-failed", None]


def test_rerankers_that_give_no_single_score_are_refused(tmp_path):
    folder = str(tiny_bert(tmp_path, ["ice"]))
    with pytest.raises(ModelError, match="3 labels.*a single score"):
        load_retriever("bm25", {"reranker": folder})
    with pytest.raises(ModelError, match="neither the absolute path"):
        load_retriever("bm25", {"reranker": "somewhere"})


# ---- all of them ----


@pytest.mark.parametrize("slug", SLUGS)
def test_equal_passages_are_ordered_by_document_and_start(slug):
    text = "Ice melts. Ice melts. Ice melts."
    documents = [Document(one, text) for one in ("b", "c", "a")] + [Document("d", "Ovens bake bread.")]
    retriever = indexed(slug, documents, chunker="words", chunk_words=2)
    (found,) = retriever.search([Query("q", "ice")], 4)
    expected = [("a", 0), ("a", 11), ("a", 22), ("b", 0)]
    if slug == "hybrid":  # both rankings are cut before they are joined
        expected = ranked(found)
        assert expected[0] == ("a", 0)
    assert ranked(found) == expected
    again = indexed(slug, documents[::-1], chunker="words", chunk_words=2).search([Query("q", "ice")], 4)
    assert again[0].hits == found.hits


@pytest.mark.parametrize("slug", SLUGS)
def test_passages_are_stretches_of_their_documents(slug):
    documents = [
        Document("1", " \n Ice  melts.\u2003In spring\n"),
        Document("2", "\t"),
        Document("3", "😀 ice 🌊🌊 melts"),
    ]
    texts = {one.id: one.text for one in documents}
    (found,) = indexed(slug, documents, chunker="words", chunk_words=3, chunk_overlap=1).search([Query("q", "ice")], 9)
    assert {hit.passage.document for hit in found.hits} == {"1", "3"}
    for hit in found.hits:
        passage = hit.passage
        assert passage.text == texts[passage.document][passage.start : passage.end] != ""


@pytest.mark.parametrize("slug", SLUGS)
def test_provenance_says_what_was_indexed_with_what(slug):
    retriever = indexed(slug, [*SEA, Document("4", " ")])
    described = retriever.describe()
    assert json.loads(json.dumps(described)) == described
    assert described["retriever"] == slug and described["chunker"] == "words-128-32"
    assert (described["documents"], described["passages"]) == (4, 3)
    assert described["revision"].startswith("sha256:" if slug != "bm25" else "")
    assert described["libraries"]["faiss-cpu" if slug == "dense" else "bm25s"]


@pytest.mark.parametrize("slug", SLUGS)
def test_documents_are_taken_as_they_come(slug, monkeypatch):
    """So an index of many documents never holds a list of them."""
    monkeypatch.setattr("models_runtime.retrieval.retriever.AT_ONCE", 4)
    taken = []
    retriever = load_retriever(slug, {"chunker": "whole"})
    stage = retriever.stages[0]
    add, counts = stage.add, []
    monkeypatch.setattr(stage, "add", lambda texts: counts.append((len(taken), len(texts))) or add(texts))
    retriever.index(taken.append(place) or Document(str(place), f"ice {place}") for place in range(10))
    assert counts == [(4, 4), (8, 4), (10, 2)]
    assert len(retriever.search([Query("q", "ice")], 20)[0].hits) == 10


@pytest.mark.parametrize("slug", SLUGS)
def test_an_index_of_nothing_finds_nothing(slug):
    for documents in ([], [Document("1", " \n")], [Document("1", "...")]):
        retriever = indexed(slug, documents)
        (found,) = retriever.search([Query("q", "ice")], 3)
        assert found.error is None and len(found.hits) <= (documents != [] and documents[0].text == "...")


UNREADABLE = {
    "empty-query": " \n",
    "nul-character": "ice\0",
    "lone-surrogate": "ice \ud83d",
    "not-text": 7,
}


@pytest.mark.parametrize("slug", SLUGS)
def test_a_bad_query_fails_alone(slug):
    queries = [Query("good", "ice"), *(Query(reason, text) for reason, text in UNREADABLE.items()), Query("too", "sea")]
    found = indexed(slug, SEA).search(queries, 1)
    assert [one.id for one in found] == [query.id for query in queries]
    assert [one.error and one.error.reason for one in found] == [None, *UNREADABLE, None]
    assert ranked(found[0]) == [("ice", 0)] and ranked(found[-1]) == [("sea", 0)]


@pytest.mark.parametrize("slug", SLUGS)
@pytest.mark.parametrize(("bad", "problem"), [("a\0b", "'x'.*NUL at 1"), ("\udc00", "'x'.*surrogate"), (None, "'x'")])
def test_a_bad_document_is_refused_by_name_and_leaves_nothing_half_done(slug, bad, problem):
    retriever = indexed(slug, SEA)
    with pytest.raises(InputError, match=problem):
        retriever.index([Document("1", "fine"), Document("x", bad)])
    with pytest.raises(ValueError, match="index"):
        retriever.search([Query("q", "ice")], 1)
    retriever.index(SEA)
    assert ranked(retriever.search([Query("q", "ice")], 1)[0]) == [("ice", 0)]


def test_a_query_without_words_is_searched_by_its_meaning_where_there_is_one():
    found = {slug: indexed(slug, SEA).search([Query("1", "?!"), Query("2", "ice")], 3) for slug in SLUGS}
    assert [one.error and one.error.reason for one in found["bm25"]] == ["no-words", None]
    assert found["dense"][0].error is None and ranked(found["hybrid"][0]) == ranked(found["dense"][0])


TEXTS = st.one_of(
    st.text(max_size=60),
    st.text("ice sea.\n", max_size=60),
    st.text(st.sampled_from("😀🌊👩‍🔬🇩🇪❤️"), max_size=20),
    st.text(st.characters(categories=["Cs", "L"]), max_size=10),
)


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(TEXTS, max_size=6),
    queries=st.lists(TEXTS, max_size=4),
    chunker=st.sampled_from(CHUNKERS),
    size=st.integers(1, 4),
    top=st.integers(1, 9),
)
def test_whatever_the_texts_rankings_are_whole_or_there_is_a_reason(texts, queries, chunker, size, top):
    retriever = load_retriever("bm25", {"chunker": chunker, "chunk_words": size, "chunk_overlap": size - 1})
    documents = [Document(str(place), text) for place, text in enumerate(texts)]
    try:
        retriever.index(documents)
    except InputError as error:
        assert error.reason in ("nul-character", "lone-surrogate")
        return
    asked = [Query(str(place), text, None if place % 2 else frozenset("024")) for place, text in enumerate(queries)]
    found = retriever.search(asked, top)
    assert [one.id for one in found] == [query.id for query in asked]
    for query, one in zip(asked, found, strict=True):
        if one.error:
            assert one.error.reason in (*UNREADABLE, "no-words") and not one.hits
            continue
        assert [hit.rank for hit in one.hits] == list(range(1, len(one.hits) + 1)) and len(one.hits) <= top
        assert [hit.score for hit in one.hits] == sorted((hit.score for hit in one.hits), reverse=True)
        for hit in one.hits:
            passage = hit.passage
            assert passage.text == texts[int(passage.document)][passage.start : passage.end] != ""
            assert query.documents is None or passage.document in query.documents


def test_a_model_fetched_from_the_hub_is_found_by_its_name(tmp_path, monkeypatch):
    kept = tmp_path / "models--me--minilm"
    (kept / "refs").mkdir(parents=True)
    (kept / "refs" / "main").write_text("abc")
    (kept / "snapshots").mkdir()
    (kept / "snapshots" / "abc").symlink_to(packaged_model_folder())
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    named, packaged = (indexed("dense", SEA, model=model) for model in ("me/minilm", "all-MiniLM-L6-v2"))
    assert named.search([Query("1", "ice")], 3)[0].hits == packaged.search([Query("1", "ice")], 3)[0].hits
    assert named.describe()["model"] == "me/minilm"
    assert named.describe()["revision"] == packaged.describe()["revision"]


def test_two_documents_of_one_id_are_refused():
    with pytest.raises(InputError, match="'ice' comes twice"):
        indexed("bm25", [*SEA, SEA[0]])


HUNDRED_THOUSAND = ["Ice melts. " * 9_091, "a" * 100_000, "😀" * 100_000, "\u0301" * 100_000]


@pytest.mark.parametrize(
    ("slug", "chunker", "text"),
    [
        *(("bm25", chunker, text) for chunker in ("paragraphs", "words-128-32") for text in HUNDRED_THOUSAND),
        ("dense", "whole", HUNDRED_THOUSAND[1]),
        ("dense", "whole", HUNDRED_THOUSAND[2]),
    ],
    ids=lambda value: value[:12],
)
def test_a_hundred_thousand_characters(slug, chunker, text):
    retriever = indexed(slug, [Document("long", text), *SEA], chunker=chunker)
    (found, other) = retriever.search([Query("q", text), Query("r", "ice")], 2)
    assert found.error is None and found.hits[0].passage.document == "long"
    assert other.error is None and other.hits


def test_searching_first_or_for_nothing_is_refused():
    retriever = load_retriever("bm25")
    with pytest.raises(ValueError, match="index"):
        retriever.search([Query("q", "ice")], 1)
    retriever.index(SEA)
    with pytest.raises(ValueError, match="top is 0"):
        retriever.search([Query("q", "ice")], 0)
    assert retriever.search([], 3) == []


def test_what_is_no_retriever_or_has_wrong_parameters_is_refused(monkeypatch):
    with pytest.raises(UnknownCheckerError, match="lexical is no retriever: it gives labels"):
        load_retriever("lexical")
    with pytest.raises(UnknownCheckerError):
        load_retriever("bm26")
    for parameters, name in (
        ({"chunker": "pages"}, "chunker"),
        ({"chunker": "words", "chunk_words": 5, "chunk_overlap": 5}, "chunk_overlap"),
        ({"b": 2}, "b"),
    ):
        with pytest.raises(ParameterError) as refusal:
            load_retriever("bm25", parameters)
        assert refusal.value.name == name

    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "torch" else real(name))
    with pytest.raises(MissingPackageError, match=r"pip install torch==\d"):
        load_retriever("bm25", {"reranker": "/some/where"})


def test_each_retriever_is_a_new_one():
    first, second = load_retriever("bm25"), load_retriever("bm25")
    first.index(SEA)
    assert first is not second and second.corpus is None


def test_prefixes_reach_the_model(monkeypatch):
    seen: list[str] = []
    embed = Encoder.embed
    monkeypatch.setattr(Encoder, "embed", lambda self, texts: seen.extend(texts) or embed(self, texts))
    indexed("dense", SEA[:1], query_prefix="query: ", passage_prefix="passage: ").search([Query("q", "sea")], 1)
    assert seen == ["passage: Ice melts.", "query: sea"]


def test_the_window_of_ties_grows_until_it_is_complete(by_hand, monkeypatch):
    """40 passages are equally near; the first by id comes last in the index, behind what FAISS was asked for."""
    monkeypatch.setattr(dense, "_SPARE", 2)
    names = [f"{place:02}" for place in range(40)]
    retriever = indexed("dense", [Document(one, "north") for one in reversed(names)] + [Document("east", "east")])
    (found,) = retriever.search([Query("q", "north")], 3)
    assert [hit.passage.document for hit in found.hits] == ["00", "01", "02"]


def test_ranks_do_not_hang_on_what_else_is_asked():
    queries = [Query(str(place), text) for place, text in enumerate(("ice", "sea", "bread", "ovens melt", "rise"))]
    retriever = indexed("hybrid", SEA)
    together = retriever.search(queries * 5, 3)
    alone = list(itertools.chain.from_iterable(retriever.search([query], 3) for query in queries))
    assert [one.hits for one in together] == [one.hits for one in alone] * 5

"""The evidence pipeline over documents: what is searched for and how, what each filter drops, what is chosen and how it
is joined."""

from __future__ import annotations

import pytest

from models_runtime import load_retriever
from models_runtime.evidence.presets import PRESETS
from models_runtime.retrieval.contracts import Document, Query
from models_runtime.retrieval.reranking import Reranker

from .tiny import tiny_bert

CLAIM = "Thick ice closed the harbour of Lindau in January."
ABOUT = {"claimant": "A sailor", "date": "2020-06-01", "source": "https://www.checks.example.org/ice"}
EVERYTHING = {"pages": 0, "earlier_pages": 0, "passages_per_page": 0}


def document(key: str, text: str, day: str = "", url: str = "") -> Document:
    source = {"url": url or f"https://{key}.example.org/", "publisher": f"The {key}", "is_gold": False}
    return Document(key, text, source | ({"date": day} if day else {}))


DOCUMENTS = [
    document("log", "The ice log says the harbour was closed by ice in January.\nNo ship left it.", "2019-02-03"),
    document("rail", "Trains ran on time in January, and the harbour of Lindau had ice.", "2021-02-03"),
    document("fish", "Perch was rare in the lake of Lindau that year."),
    document("again", "No  SHIP left it.\nIce."),
    document("repeat", f"It began in autumn. {CLAIM} So it was.", "2018-01-01"),
    document("check", "We checked whether ice closed the harbour.", url="https://checks.example.org/ice/?utm=1"),
    document("other", "Another check of ours is about harbour ice.", url="https://checks.example.org/other"),
]


def searched(documents=DOCUMENTS, text: str = CLAIM, top: int = 20, about=ABOUT, **parameters):
    retriever = load_retriever("evidence", {"repeat_limit": 1.0, **EVERYTHING, **parameters})
    retriever.index(documents)
    (found,) = retriever.search([Query("q", text, about=about)], top)
    assert found.error is None, found.error
    return found


def names(found) -> list[str]:
    return [hit.passage.document for hit in found.hits]


def dropped(found, step: str) -> dict[str, int]:
    (said,) = (one for one in found.steps if one["step"] == step)
    return said.get("dropped", {})


@pytest.mark.parametrize(
    ("parameters", "sought"),
    [
        ({"query": "text"}, ""),
        ({"query": "claimant"}, f"A sailor {CLAIM}"),
        (
            {"query": "template", "query_template": "{text} {date}  said {claimant}"},
            f"{CLAIM} 2020-06-01 said A sailor",
        ),
    ],
)
def test_what_is_searched_for(parameters, sought):
    """A document that only the words around the claim find."""
    documents = [*DOCUMENTS, document("sailor", "Sailor!")]
    found = searched(documents, **parameters)
    assert found.expanded == sought and ("sailor" in names(found)) == bool(sought)


@pytest.mark.parametrize("search", ["bm25", "dense", "hybrid"])
@pytest.mark.parametrize("rerank", ["bm25", "dense"])
def test_each_search_goes_with_each_order_and_sources_come_through(search, rerank):
    found = searched(search=search, rerank=rerank, results=3)
    assert len(found.hits) == 3 and "log" in names(found)
    best = found.hits[0]
    assert set(best.scores) == {rerank} and best.score == best.scores[rerank]
    (log,) = (hit.passage for hit in found.hits if hit.passage.document == "log")
    assert {name: log.source[name] for name in ("url", "publisher", "date", "is_gold")} == DOCUMENTS[0].source
    assert len(log.source["sha256"]) == 64 and log.source["search_ranks"].keys() == {search}
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)


def test_a_cross_encoder_orders_passages(tmp_path):
    words = sorted({word.strip(".,").lower() for one in DOCUMENTS for word in f"{one.text} {CLAIM}".split()})
    folder = str(tiny_bert(tmp_path, words, ["score"], seed=3))
    found = searched(rerank="cross-encoder", reranker=folder, join=False, device="cpu")
    texts = [hit.passage.text for hit in found.hits]
    wanted = Reranker("evidence", folder, "cpu", 4096).scores([(CLAIM, text) for text in texts])
    assert [hit.score for hit in found.hits] == pytest.approx(wanted, abs=1e-5) and len(set(wanted)) > 3
    assert all(hit.scores == {"rerank": hit.score} for hit in found.hits)


def test_the_preset_of_icat_gives_the_nearest_passages_as_the_search_has_them():
    long = " ".join(f"word{number}" for number in range(300))
    given = PRESETS["icat"]
    found = searched([*DOCUMENTS, document("long", f"{long} {CLAIM}")], top=given.top, **given.parameters)
    assert len(found.hits) == given.top and found.hits[0].scores == {"dense": found.hits[0].score}
    cut = [hit.passage for hit in found.hits if hit.passage.document == "long"]
    assert cut and all(len(one.text.split()) <= 128 for one in cut)
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)


def test_each_filter_drops_what_it_is_for_and_the_preset_of_druid_keeps_it():
    found = searched(drop_fact_check=True, results=50)
    assert dropped(found, "filter pages") == {"the fact-check itself": 1} and "check" not in names(found)
    found = searched(drop_publisher=True, results=50)
    assert dropped(found, "filter pages") == {"of the fact-check's publisher": 2} and "other" not in names(found)
    found = searched(drop_later=True)
    assert dropped(found, "filter pages") == {"published after the claim": 1} and "rail" not in names(found)
    found = searched(text="ship ice harbour Lindau", least_words=3, most_words=10, join=False)
    assert dropped(found, "filter passages") == {
        "the same words again": 1, "shorter than 3 words": 1, "longer than 10 words": 3
    }  # fmt: skip
    assert all(3 <= len(hit.passage.text.split()) <= 10 for hit in found.hits)
    kept = searched(text="ship ice harbour Lindau", drop_duplicates=False, join=False)
    assert names(kept).count("again") == 2
    druid = searched(**PRESETS["druid-plus"].parameters)
    assert not dropped(druid, "filter pages") and {"check", "other", "rail"} <= set(names(druid))
    assert dropped(druid, "filter passages") == {"sentence that repeats the claim": 1, "the same words again": 1}
    (repeat,) = (hit.passage for hit in druid.hits if hit.passage.document == "repeat")
    assert repeat.text == "It began in autumn. So it was." and repeat.source["pieces"] == [[0, len(DOCUMENTS[4].text)]]


def test_without_a_day_of_the_claim_nothing_is_later_or_earlier():
    found = searched(about={}, drop_fact_check=True, drop_publisher=True, drop_later=True, pages=2, earlier_pages=2)
    assert not dropped(found, "filter pages") and len(found.hits) == 2


YEARS = ["2021", "2022", "2019", "2023", "2018", "2017"]


@pytest.mark.parametrize(
    ("earlier", "chosen"),
    [
        (0, ["2021", "2022", "2019"]),
        (1, ["2021", "2022", "2019"]),
        (2, ["2021", "2019", "2018"]),
        (3, ["2019", "2018", "2017"]),
        (4, ["2019", "2018", "2017"]),  # there are no more places
    ],
)
def test_so_many_pages_are_older_than_the_claim_and_the_best_later_ones_stay(earlier, chosen):
    """The pages come in the order of YEARS: the more often a page says ice, the better."""
    documents = [
        document(year, "ice " * (9 - place) + f"page {place}", f"{year}-01-01") for place, year in enumerate(YEARS)
    ]
    found = searched(documents, text="ice", pages=3, earlier_pages=earlier)
    assert names(found) == chosen
    assert dropped(found, "choose") == {"not among the 3 pages that were chosen": 3}


def test_passages_of_a_page_are_limited_joined_in_its_order_and_cut_at_a_number_of_words():
    text = "\n".join(["ice first here", "nothing at all", "ice ice ice best", "ice ice second " + "more " * 20])
    found = searched([document("page", text)], text="ice", passages_per_page=3, join_words=1000)
    (hit,) = found.hits
    assert hit.passage.text.split(" [...] ") == [line.strip() for line in text.split("\n") if "ice" in line]
    assert dropped(found, "choose") == {"not among the best 3 of its page": 1}
    assert [text[start:end].strip() for start, end in hit.passage.source["pieces"]] == hit.passage.text.split(" [...] ")
    found = searched([document("page", text)], text="ice", passages_per_page=3, join_words=9)
    assert found.hits[0].passage.text == "ice first here [...] ice ice ice best"
    assert dropped(found, "join") == {"more than 9 words together": 1}
    found = searched([document("page", "ice " * 50)], text="ice", join_words=9)
    assert found.hits[0].passage.text == " ".join(["ice"] * 9)
    apart = searched([document("page", text)], text="ice", passages_per_page=3, join=False, top=2)
    assert [hit.passage.text for hit in apart.hits][0] == "ice ice ice best" and len(apart.hits) == 2
    assert dropped(apart, "join") == {"not among the first 2": 1}

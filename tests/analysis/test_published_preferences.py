"""Published sets of preferences, from their votes to the orders of systems and the figures that others give of them.

`PANDALM` names a clone of https://github.com/WeOpenML/PandaLM: 999 pairs of outputs of five models, each with the
choices of three people. `MT_BENCH` names the votes on MT-bench (lmsys/mt_bench_human_judgments, split `human`) as JSON
Lines, with conversations, or without them as in https://github.com/aliabbas-muhammadi/judgelab, where stand-ins take
their place.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from statistics import mode

import pytest

from analysis.reports.metrics import get_report
from tests.world.preferred import import_rows

PANDALM, MT_BENCH = (os.environ.get(name, "") for name in ("PANDALM", "MT_BENCH"))
pytestmark = [pytest.mark.slow, pytest.mark.django_db]
needs_pandalm = pytest.mark.skipif(not PANDALM, reason="PANDALM names no clone of WeOpenML/PandaLM")
needs_mt_bench = pytest.mark.skipif(not MT_BENCH, reason="MT_BENCH names no votes of lmsys/mt_bench_human_judgments")

PEOPLE = ("annotator1", "annotator2", "annotator3")
WINNERS = ("tie", "model_a", "model_b")
# "Human-annotated" in PandaLM's README of 2023-06-09 (commit 6fdac72): pairs won, lost and tied by most votes, and a
# graph of who beats whom. Both have bloom before pythia by 49 to 47; the votes in the file are 49 to 47 for pythia.
PANDALM_ORDER = ("llama-7b", "pythia-6.9b", "bloom-7b", "opt-7b", "cerebras-gpt-6.7B")
PANDALM_PAIRS = {
    ("llama-7b", "bloom-7b"): (72, 28, 11),
    ("llama-7b", "cerebras-gpt-6.7B"): (80, 24, 6),
    ("llama-7b", "opt-7b"): (71, 24, 11),
    ("llama-7b", "pythia-6.9b"): (58, 27, 9),
    ("bloom-7b", "cerebras-gpt-6.7B"): (59, 30, 11),
    ("bloom-7b", "opt-7b"): (43, 35, 11),
    ("pythia-6.9b", "bloom-7b"): (49, 47, 11),
    ("opt-7b", "cerebras-gpt-6.7B"): (49, 33, 9),
    ("pythia-6.9b", "cerebras-gpt-6.7B"): (53, 27, 11),
    ("pythia-6.9b", "opt-7b"): (53, 32, 15),
}
PANDALM_KAPPAS = (0.85, 0.86, 0.88)  # the same README: Cohen's kappa of two people
# By Elo ratings from people's votes in the Chatbot Arena (https://lmsys.org/blog/2023-06-22-leaderboard/): 1227, 1178,
# 1130, 1061, 930, 826. GPT-4's scores on MT-bench there have the second before the third by 0.04 of 10.
MT_BENCH_ORDER = ("gpt-4", "claude-v1", "gpt-3.5-turbo", "vicuna-13b-v1.2", "alpaca-13b", "llama-13b")
MT_BENCH_ALPHA = 0.485  # of the people, in reports/mtbench-gpt4.md of judgelab


def pandalm_rows() -> Iterator[dict]:
    """A row for each vote, and one without a judge for what most people chose."""
    for one in json.loads((Path(PANDALM) / "data" / "testset-v1.json").read_text("utf-8")):
        systems = one["cmp_key"].split("_")
        row = {"prompt": "\n\n".join(filter(None, (one["instruction"], str(one["input"]))))}
        row |= {f"model_{place}": system for place, system in zip("ab", systems, strict=True)}
        row |= {f"response_{place}": str(one[f"response{at}"]).strip() or "(empty)" for at, place in enumerate("ab", 1)}
        votes = [one[who] for who in PEOPLE]
        for who, vote in zip(("", *PEOPLE), (mode(votes), *votes), strict=True):
            yield row | {"winner": WINNERS[vote], "judge": who}


def mt_bench_rows() -> Iterator[dict]:
    """One person voted twice on a pair, and counts as another one."""
    seen = set()
    for line in Path(MT_BENCH).read_text("utf-8").splitlines():
        row = json.loads(line)
        if "conversation_a" not in row:
            row["prompt"] = f"Question {row['question_id']}, turn {row['turn']}"
            row |= {f"response_{place}": f"{row['prompt']}: {row[f'model_{place}']}" for place in "ab"}
        place = row["question_id"], row["turn"], row["judge"], *sorted((row["model_a"], row["model_b"]))
        if place in seen:
            row["judge"] += ", again"
        seen.add(place)
        yield row


@needs_pandalm
def test_pandalm_has_its_published_order_pairs_and_agreement():
    project = import_rows(list(pandalm_rows()), "pandalm")
    people = get_report("preferences").compute(project)
    decided = get_report("preferences").compute(project, reference="imported")
    assert (people["n_answers"], people["n_units"], decided["n_answers"]) == (2_997, 999, 999)
    won = {(one["system"], one["other"]): (one["n_won"], one["n_lost"], one["n_tied"]) for one in decided["pairs"]}
    won |= {(other, one): (lost, n, tied) for (one, other), (n, lost, tied) in won.items()}
    assert {pair: won[pair] for pair in PANDALM_PAIRS} == PANDALM_PAIRS
    for result in (people, decided):
        assert tuple(one["system"] for one in result["systems"]) == PANDALM_ORDER
        assert set(result["systems"][1]["groups"]) & set(result["systems"][2]["groups"])
    agreement = get_report("agreement").compute(project)
    kappas = sorted(pair["estimate"] for pair in agreement["dimensions"][0]["pairs"])
    assert kappas == pytest.approx(PANDALM_KAPPAS, abs=5e-3)


@needs_mt_bench
def test_mt_bench_has_its_published_order_and_agreement():
    result = get_report("preferences").compute(import_rows(list(mt_bench_rows()), "mt-bench"))
    assert (result["n_answers"], len(result["systems"])) == (3_355, 6)
    assert tuple(one["system"] for one in result["systems"]) == MT_BENCH_ORDER
    assert set(result["systems"][1]["groups"]) & set(result["systems"][2]["groups"])
    assert result["alpha"]["estimate"] == pytest.approx(MT_BENCH_ALPHA, abs=1.5e-3)
    assert result["alpha"]["n_pairable"] == 961

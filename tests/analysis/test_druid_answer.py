"""What the page on DRUID's analyses begins with: each rule, and what to do next."""

import pytest
from msgspec.structs import replace

from analysis.figures.page import first_that_applies
from analysis.papers.druid.result import NOT_YET, Druid
from analysis.papers.druid.show import CONFLICT_RULES, CORRELATION_RULES, NEXT, USE_RULES
from analysis.reports.metrics import get_report
from tests.analysis.test_druid import FALSE, TRUE, planted, small
from tests.world.druid import answer_scores

REPORT = get_report("druid")


def result_of(source, **options) -> Druid:
    return REPORT.read(REPORT.compute(source, **options))


@pytest.fixture(scope="module")
def found() -> Druid:
    return result_of(planted(n=600, n_claims=80))


def test_conflicting_evidence_is_a_share_of_claims_where_any_can_conflict(found):
    said = first_that_applies(CONFLICT_RULES, found)
    share = found.content.sources[0].conflicts
    assert f"a share of {share.estimate:.3f} [{share.low:.3f}, {share.high:.3f}] has conflicting evidence" in said
    assert said.endswith("(95 % interval).")
    quick = first_that_applies(CONFLICT_RULES, result_of(small(), quick=True))
    assert "a share of 0.500 has" in quick and "interval" not in quick
    lone = result_of(small(claim=range(7), sources=["a.org"] * 7))
    assert first_that_applies(CONFLICT_RULES, lone) == (
        "The share of claims with conflicting evidence is unknown: no claim has two pieces of evidence with a stance."
    )


def test_use_of_evidence_is_said_of_each_model_and_not_shown_where_the_interval_includes_zero(found):
    assert first_that_applies(USE_RULES, replace(found, usage=None)) == ""
    said = first_that_applies(USE_RULES, found)
    assert said.startswith("Mean context usage (acu_mean, from -1 to 1) of relevant evidence is follower 0.")
    assert said.endswith("follower moves towards what the evidence says and dreamer is not shown to do either.")
    assert "(acu_sum, from -3 to 3)" in first_that_applies(USE_RULES, replace(found, acu="sum"))
    dreamer = [one for one in found.usage.models if one.model == "dreamer"]
    alone = replace(found, usage=replace(found.usage, models=dreamer))
    assert first_that_applies(USE_RULES, alone).endswith("; it is not shown that the evidence is used.")
    certain = [[0.0, 0.0, 1.0]] * 7
    sure = small(scores=[("answer-probabilities", {"model": "sure"}, answer_scores(certain, certain))])
    assert first_that_applies(USE_RULES, result_of(sure)) == "How models use the evidence is undefined for every pair."


def test_models_that_move_against_the_evidence_are_counted():
    stance = ["supports", "refutes"] * 6
    against = [FALSE if one == "supports" else TRUE for one in stance]
    before = [[0.3 + place / 100, 0.4, 0.3 - place / 100] for place in range(12)]
    scores = [("answer-probabilities", {"model": name}, answer_scores(before, against)) for name in "ab"]
    away = result_of(small(claim=range(12), labels=[stance], scores=scores, sources=["a.org"] * 12))
    assert first_that_applies(USE_RULES, away).endswith(": 2 move away from it.")


def test_correlations_are_counted_after_correction(found):
    assert first_that_applies(CORRELATION_RULES, replace(found, correlations=[])) == ""
    assert first_that_applies(CORRELATION_RULES, found).startswith(
        "1 correlation of characteristics with context usage is significant after correction; the strongest is that of "
        "evidence length (Spearman 0."
    )
    strict = replace(found, alpha=1e-300)
    assert "is shown after correction" in first_that_applies(CORRELATION_RULES, strict)


def test_what_to_do_next(found):
    assert first_that_applies(NEXT, found) == ""
    nobody = result_of(small(labels=[[None] * 7]))
    assert first_that_applies(NEXT, nobody) == "label the evidence: no pair has a stance"
    assert first_that_applies(NEXT, result_of(small())) == "label or decide the 1 pair without a stance"
    stance = ["supports", "refutes"] * 3 + ["supports"]
    unmeasured = small(labels=[stance], scores=[])
    assert "“Answer probabilities”" in first_that_applies(NEXT, result_of(unmeasured))
    answers = small(labels=[stance], scores=[("answer-probabilities", {}, answer_scores([TRUE] * 7, [FALSE] * 7))])
    assert "“Context characteristics”" in first_that_applies(NEXT, result_of(answers))
    quick = result_of(unmeasured, quick=True)
    assert quick.notes == [NOT_YET] and first_that_applies(NEXT, quick) == ""


def test_the_page_and_the_paragraph_hold_the_answer(found):
    page = REPORT.declares(found)
    assert page.answer.picture.name == "usage" and len(page.answer.sentences) == 3
    assert page.answer.n == (
        "n = 600 pairs of evidence and 80 claims; 600 have a stance (majority of people, ties excluded)"
    )
    assert all(sentence in REPORT.paragraph(found) for sentence in page.answer.sentences)
    assert next(section.title for section in page.sections if section.shown) == "Claims and evidence"

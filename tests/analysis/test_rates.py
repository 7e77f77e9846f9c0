"""Label and abstain rates of models: what counts as answered, abstained, pending."""

import pytest

from analysis.reports.metrics import get_report
from annotation.models import Decision, Question, Response
from tests.world.labels import items_of, make_rater, project_of, say

pytestmark = pytest.mark.django_db
E, N, C, BAD = "entailment", "neutral", "contradiction", "bad_triplet"


def rates(project, **parameters):
    return get_report("rates").compute(project, **parameters)


def test_shares_are_means_over_answers_then_models():
    project = project_of(4, "triplets/-/1", triplets=[2, 1, 1, 0])
    responses = list(Response.objects.order_by("pk"))
    for response, model in zip(responses, ("a", "a", "b", "b"), strict=True):
        Response.objects.filter(pk=response.pk).update(model=model, context_setting="zero_context")
    rater = make_rater(project)
    one, two, three, _ = items_of(project)
    say(one, rater, labels={0: E, 1: C})
    say(two, rater, labels={0: C})
    say(three, rater, labels={0: E})
    [setting] = rates(project)["settings"]
    assert (setting["setting"], setting["n_responses"], setting["n_pending"]) == ("zero_context", 4, 0)
    a, b = setting["models"]
    assert (a["shares"][C]["estimate"], b["shares"][C]["estimate"]) == (0.75, 0.0)
    assert setting["mean"]["shares"][C]["estimate"] == 0.375
    assert (a["abstained"]["estimate"], b["abstained"]["estimate"]) == (0.0, 0.5)
    assert setting["mean"]["abstained"]["estimate"] == 0.25


def test_bad_triplets_are_left_out_of_shares_and_counted():
    project = project_of(2, "triplets/-/1", triplets=[3, 1])
    rater = make_rater(project)
    one, two = items_of(project)
    say(one, rater, labels={0: E, 1: C, 2: BAD})
    say(two, rater, labels={0: BAD})
    [setting] = rates(project)["settings"]
    [model] = setting["models"]
    assert setting["excluded"] == [BAD] and BAD not in model["shares"]
    assert (model["shares"][C]["estimate"], model["n_answered"], model["n_excluded"]) == (0.5, 1, 2)
    assert model["abstained"]["estimate"] == 0.0  # nobody abstained: there were triplets, if bad ones


def test_answers_without_labels_yet_are_pending_and_do_not_change_the_abstain_rate():
    project = project_of(4, "triplets/-/1", triplets=[1, 1, 1, 0])
    say(items_of(project)[0], make_rater(project), labels={0: N})
    [setting] = rates(project)["settings"]
    [model] = setting["models"]
    assert (setting["n_pending"], model["n_pending"], model["n_answered"]) == (2, 2, 1)
    assert model["abstained"]["estimate"] == 0.25  # one of four, known before anybody labels
    assert model["shares"][N]["estimate"] == 1.0


def test_nothing_labelled_has_no_shares_and_says_so():
    [setting] = rates(project_of(2, "triplets/-/1"))["settings"]
    assert setting["mean"]["shares"][E]["estimate"] is None
    assert setting["mean"]["shares"][E]["undefined"]
    assert setting["mean"]["abstained"]["estimate"] == 0.0


def test_decisions_can_be_the_reference():
    project = project_of(1, "triplets/-/1", triplets=1)
    [item] = items_of(project)
    say(item, make_rater(project), labels={0: N})
    Decision.objects.create(
        project=project, unit=item.item_units.get().unit, dimension="entailment", label=E, method="adjudicated"
    )
    [setting] = rates(project, reference="adjudicated")["settings"]
    assert setting["mean"]["shares"][E]["estimate"] == 1.0
    with pytest.raises(ValueError, match="reference is one of"):
        rates(project, reference="nobody")


def test_projects_without_answers_of_models_have_no_rates():
    with pytest.raises(ValueError, match="model answers"):
        rates(project_of(1))


def test_an_empty_project_has_no_settings():
    report = rates(project_of(0, "triplets/-/1"))
    assert report["settings"] == [] and report["votes"]["decided"] == 0


def test_intervals_draw_whole_questions_the_same_for_all_models():
    """A hard question is hard for every model: five models that err on the same questions say no more than one."""
    project = project_of(60, "triplets/-/1")
    questions = list(Question.objects.order_by("pk"))[:12]
    rater = make_rater(project)
    for place, item in enumerate(items_of(project)):
        question, model = place % 12, f"m{place // 12}"
        Response.objects.filter(key=item.key).update(model=model, question=questions[question])
        say(item, rater, labels={0: C if question < 4 else E})
    [setting] = rates(project)["settings"]
    of_one, of_all = setting["models"][0]["shares"][C], setting["mean"]["shares"][C]
    assert of_one["interval"]["n_clusters"] == of_all["interval"]["n_clusters"] == 12
    assert of_all["high"] - of_all["low"] == pytest.approx(of_one["high"] - of_one["low"], rel=0.2)
    assert setting["mean"]["abstained"]["estimate"] == 0.0
    paragraph = get_report("rates").methods(rates(project))
    assert "whole claims or questions" in paragraph and "the same claims or questions for all models" in paragraph

"""The pages of figures in a browser, with every part folded out: nothing that axe calls grave, nothing wider than a
phone but tables, which scroll by themselves."""

import pytest
from django.urls import reverse

from annotation.models import Suggestion
from tests.analysis.looks import in_every_look, is_fit_to_be_seen, opened
from tests.factories import make_suggestions
from tests.world.labels import items_of, make_rater, project_of, say

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
N = 36
SCALE = ("refutes", "insufficient-neutral", "supports")


@pytest.fixture
def project():
    project = project_of(N, claims=N // 2)
    for place, name in enumerate(("Anna", "Ben", "Cleo")):
        rater = make_rater(project, name)
        for number, item in enumerate(items_of(project)):
            stance = SCALE[number % 3] if (number + place) % 7 else SCALE[(number + 1) % 3]
            if number % 8 == 7:
                say(item, rater, "not_relevant", active_ms=4000 + 100 * number)
            else:
                say(item, rater, "relevant", stance, active_ms=9000 + 300 * number)
    for checker, wrong in (("first", 4), ("second", 6)):
        run = make_suggestions(project, checker=checker, labels={"relevance": "relevant", "stance": "supports"})
        for number, item in enumerate(items_of(project)):
            label = SCALE[number % 3] if number % wrong else SCALE[(number + 2) % 3]
            values = project.type.dimension("stance").values
            share = {
                value: 0.6 - number % 5 / 20 if value == label else (0.4 + number % 5 / 20) / 5 for value in values
            }
            Suggestion.objects.filter(run=run, unit=item.anchor, dimension="stance").update(
                label=label, probability=share[label], probabilities=share
            )
    return project


def pages_of(project) -> dict[str, str]:
    first, second = project.checker_runs.order_by("pk")
    names = {
        "agreement": "project_agreement",
        "annotators": "project_annotators",
        "alternative": "project_alternative_annotator",
        "comparison": "project_comparison",
        "prevalence": "project_prevalence",
    }
    found = {name: reverse(address, args=[project.slug]) for name, address in names.items()}
    found["comparison"] += f"?run={first.uuid}&other={second.uuid}"
    found["annotators"] += "?checkers=with"
    return found


@pytest.mark.slow
@in_every_look
def test_pages_of_figures_look_right(open_context, client, project, scheme, width):
    for name, page in opened(open_context, client, project.created_by, pages_of(project), scheme, width):
        for summary in page.locator("#figures > section > details > summary, #figures details summary").all():
            if summary.is_visible() and not summary.evaluate("element => element.parentElement.open"):
                summary.click()
        assert page.locator("#figures table").count() > 1, name
        is_fit_to_be_seen(page, name, scheme, width)

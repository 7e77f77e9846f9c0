"""What an address asks that cannot be had: every page says which choice it is and what there is, and keeps the rest."""

import html
import re

import pytest
from django.core.management import CommandError, call_command
from django.http import QueryDict
from django.urls import reverse

from analysis.models import StoredReport
from analysis.pages.frame import command_of
from analysis.reports.metrics import REPORTS
from analysis.sources.selection import NAMES
from annotation.jobs import lifecycle
from annotation.models import Job
from tests.world import client_of
from tests.world.labels import project_of
from tests.world.study import WORLDS, study

pytestmark = pytest.mark.django_db

NONSENSE = "nonsense"
# Of the choices of labels: what is wrong, and what the page says of it.
SCOPES = {
    "release": ("99", "keeps no release"),
    "split": ("nonsense.column", "is a kind of content and a column of it"),
    "label": ("relevance:nonsense", "“With a label” is one of "),
    "arm": (NONSENSE, "“Arm” is one of off, shown, after, not"),
    "annotator": (NONSENSE, "“Annotator” is the pseudonym of a member who labels here"),
    "guidelines": ("99", "“Guidelines” is one of the versions "),
    "since": ("soon", "“From” is a day such as"),
    "until": ("2026-13-01", "“to” is a day such as"),
    "labels_seen": (NONSENSE, "“Answers after others’ labels” is included or empty"),
}
# What only the whole of the labels can tell: the figures are refused by whoever computes them.
TOLD_LATER = {("refchecker", "without"): "there is no model nonsense to leave out"}


def words(response) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", response.content.decode()))


@pytest.mark.parametrize("name", WORLDS)
def test_every_report_says_which_choice_is_wrong_and_keeps_the_rest(name, monkeypatch):
    monkeypatch.setattr("tests.world.study.study", lambda: study(8))  # as much can be chosen of fewer pairs
    project, options = WORLDS[name]()
    report, client = REPORTS[name], client_of(project.created_by)
    page = reverse(report.page, args=report.address(project.slug))
    others = {"since": "2026-05-01"} | {name: "1" if value is True else value for name, value in options.items()}
    shown: list[dict[str, str]] = []

    def refused(wrong: dict[str, str], says: str) -> None:
        answer = client.get(page, others | wrong)
        said = words(answer)
        assert answer.status_code == 404 and "This report cannot be shown" in said, (wrong, said)
        assert says in said, (wrong, says, said)
        assert not re.search("is one of none, not '[^']+'(?!:)", said), (wrong, said)  # but for what to start first
        [back] = re.findall(r'href="(\?[^"]*)">Show it without', answer.content.decode())
        kept = QueryDict(html.unescape(back).removeprefix("?")).dict()
        assert kept == {key: value for key, value in others.items() if key not in wrong}
        if kept not in shown:
            assert client.get(page, kept).status_code == 200
            shown.append(kept)

    for option in report.options:
        if said := TOLD_LATER.get((name, option.name)):
            client.get(page, others | {option.name: NONSENSE})
            lifecycle.run_here(Job.objects.filter(kind=Job.Kind.REPORT, state="queued").latest("pk"))
            answer = client.get(page, others | {option.name: NONSENSE})
            assert said in words(answer) and f'value="{NONSENSE}"' in answer.content.decode()
            StoredReport.objects.all().delete()
            continue
        refused({option.name: NONSENSE}, NONSENSE)
        for bound, beyond in ((option.low, -1), (option.high, 1)):
            if bound is not None and option.kind in ("count", "number"):
                refused({option.name: f"{bound + beyond:g}"}, f"{bound + beyond:g}")
    StoredReport.objects.all().delete()
    for key, (value, says) in SCOPES.items():
        refused({key: value}, says)


def test_there_is_a_wrong_value_for_every_choice_of_labels():
    assert {*SCOPES, "source"} == {"release", *NAMES}


def test_all_that_is_wrong_is_said_at_once_and_nothing_is_computed():
    project = study(8)
    client = client_of(project.created_by)
    page = reverse("project_agreement", args=[project.slug])
    answer = client.get(page, {"raters": "x", "arm": "y", "annotator": project.raters.first().pseudonym})
    assert "“Labels of” is one of" in words(answer) and "“Arm” is one of" in words(answer)
    assert "without these choices" in words(answer) and not StoredReport.objects.exists()
    assert f'value="{project.raters.first().pseudonym}" selected' in answer.content.decode()  # in the form


def test_a_first_day_after_the_last_is_refused_with_both():
    project = study(8)
    message = r"since \(2026-06-02\) is later than until \(2026-06-01\)"
    with pytest.raises(CommandError, match=message):
        call_command("report", project.slug, "agreement", only_since="2026-06-02", only_until="2026-06-01")
    answer = client_of(project.created_by).get(
        reverse("project_agreement", args=[project.slug]), {"since": "2026-06-02", "until": "2026-06-01"}
    )
    assert answer.status_code == 404 and re.search(message, words(answer), re.I)
    assert "2026-06" not in re.search(r'href="\?([^"]*)">Show it without', answer.content.decode())[1]
    call_command("report", project.slug, "agreement", only_since="2026-05-01", only_until="2026-05-01")


def test_options_that_the_command_has_can_be_asked_of_the_pages_too():
    project = study()
    client = client_of(project.created_by)
    for name, option, value in (
        ("prevalence", "touched", "1"),
        ("alternative-annotator", "min_units", "12"),
        ("alternative-annotator", "touched", "1"),
    ):
        report = REPORTS[name]
        answer = client.get(reverse(report.page, args=report.address(project.slug)), {option: value})
        stored = StoredReport.objects.filter(name=name).latest("pk")
        assert answer.status_code == 200 and stored.parameters[option] == int(value)
        assert f"--{option.replace('_', '-')}" in command_of(project, stored)


def test_forms_say_what_to_start_first_where_there_is_nothing_to_choose():
    """No select without a choice: of this project alone, with one run that gives labels."""
    empty = re.compile(r"<select[^>]*>(\s*<option value=\"\"[^>]*>[^<]*</option>)?\s*</select>")
    for name, says in {
        "icat": ["“Facts and aspects (ICAT)” first", "“ROUGE, BLEU, METEOR and BERTScore” first"],
        "druid": ["“Answer probabilities” first", "“Context characteristics” first", "no other project"],
        "refchecker": ["no other project on this data set judges pieces"],
        "leakage": ["judges gold evidence in generated documents", "no checker that gives labels"],
    }.items():
        # RefChecker's world has another project whose pieces could be chosen.
        project, options = (project_of(2, "triplets/-/1"), {}) if name == "refchecker" else WORLDS[name]()
        project.checker_runs.all().delete()
        page = reverse("project_report", args=[project.slug, name])
        answer = client_of(project.created_by).get(page, options)
        form = answer.content.decode().partition('<form method="get"')[2].partition("</form>")[0]
        assert not empty.search(form), (name, empty.search(form))
        assert all(one in form for one in says), (name, form)
        assert 'name="automatic"' not in form and 'name="probabilities"' not in form

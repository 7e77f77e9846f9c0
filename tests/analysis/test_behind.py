"""The items behind a figure: the whole text, and everybody's answers as the figure counted them."""

import html
import json
import random
import re
from datetime import UTC, datetime

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from analysis.figures.items import Items
from analysis.models import StoredReport
from analysis.releases.kept import start_freezing
from analysis.reports.metrics import REPORTS, get_report
from analysis.sources import touched
from analysis.sources.database import DatabaseSource
from analysis.sources.selected import SelectedSource
from analysis.sources.selection import Selection
from annotation.jobs import lifecycle
from annotation.models import Dataset, Decision, Evidence, Job, Rater
from tests.analysis.test_prefill_trial import show
from tests.factories import make_dataset, make_project, make_responses_with_triplets, make_suggestions
from tests.importing.files import run as import_file
from tests.world import client_of
from tests.world.labels import items_of, make_rater, make_scores, project_of, say

pytestmark = pytest.mark.django_db
YES, NO = "relevant", "not_relevant"
CELL = f"relevance.people={NO}&relevance.checker={YES}"


def opened(project, name: str, figure: str, **asked):
    """The page behind a figure, its report computed."""
    client = client_of(project.created_by)
    kind = REPORTS[name]
    page = reverse(kind.page, args=kind.address(project.slug))
    client.get(page, asked)
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        lifecycle.run_here(job)
    return behind(client, client.get(page, asked).context["report"], figure)


def behind(client, report, figure: str, **asked):
    where = reverse("project_behind", args=[report.project.slug, report.name])
    answer = client.get(where, {"report": report.parameters_hash, "figure": figure, **asked})
    assert answer.status_code == 200
    return answer


def facts(answer) -> list[tuple[str, str]]:
    """What stands beside the texts: a name and words, as a reader reads them."""
    rows = re.findall(r"<dt>(.*?)</dt><dd[^>]*>(.*?)</dd>", answer.content.decode(), re.DOTALL)
    return [tuple(html.unescape(re.sub("<[^>]+>", "", part)) for part in row) for row in rows]


def frozen(project, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    release = start_freezing(project, project.created_by)
    lifecycle.run_here(release.job)
    return release


def test_of_first_answers_the_page_tells_what_became_of_them():
    project = project_of(1)
    run = make_suggestions(project, labels={"relevance": YES})
    [item] = items_of(project)
    anna, ben = make_rater(project, "Anna"), make_rater(project, "Ben")
    show(say(item, anna, NO, shown=False), run, "after")
    say(item, anna, YES, "supports", shown=True)
    show(say(item, ben, YES, "supports", shown=True), make_suggestions(project, checker="other"))
    figure = "1.dimension=relevance&1.side=unseen&1.revised=followed"
    answer = opened(project, "prefill-trial", figure, run=str(run.uuid))
    [of_anna] = [words for name, words in facts(answer) if name == "Anna"]
    [of_ben] = [words for name, words in facts(answer) if name == "Ben"]
    assert of_anna.startswith("Not relevant") and "later Relevant" in of_anna
    assert "before the suggestion" not in of_anna
    assert "does not count: given with another run's suggestion in view" in of_ben


def test_a_cell_shows_the_answers_that_it_counted_and_what_was_said_after_the_suggestion():
    project = project_of(2)
    run = make_suggestions(project, labels={"relevance": YES, "stance": "supports"})
    first, second = items_of(project)
    anna, ben = make_rater(project, "Anna"), make_rater(project, "Ben")
    say(first, anna, NO)
    show(say(first, anna, YES, "supports", shown=True), run, "after")
    show(say(first, ben, YES, "supports", shown=True), run)
    say(second, ben, NO)
    answer = opened(project, "comparison", CELL)
    assert ("Anna", "Not relevant, before the suggestion; later Relevant, Supports") in facts(answer)
    assert ("Ben", "Relevant, Supports, does not count: given after the suggestion") in facts(answer)
    assert ("Ben", "Not relevant") in facts(answer)
    touched_too = opened(project, "comparison", CELL, touched="1")
    assert [row for row in facts(touched_too) if row[0] in ("Anna", "Ben")] == [("Ben", "Not relevant")]


def test_what_came_in_after_the_figure_was_computed_is_said_to_have():
    project = project_of(1)
    [item], anna = items_of(project), make_rater(project, "Anna")
    say(item, anna, NO)
    answer = opened(project, "agreement", "relevance=single")
    say(item, anna, YES, "supports")
    say(item, make_rater(project, "Ben"), YES)
    later = behind(client_of(project.created_by), StoredReport.objects.get(), "relevance=single")
    assert facts(answer) == [("Anna", "Not relevant")]
    assert facts(later) == [
        ("Anna", "Not relevant, since then Relevant, Supports"),
        ("Ben", "Relevant, since the figure was computed"),
    ]


def test_a_figure_of_a_release_shows_its_labels_and_nobody_who_came_later(settings, tmp_path):
    project = project_of(2)
    anna, items = make_rater(project, "Anna"), items_of(project)
    for item in items:
        say(item, anna, NO)
    Decision.objects.create(
        project=project, unit=items[0].anchor, dimension="relevance", label=NO, method="adjudicated", seen={"runs": []}
    )
    make_suggestions(project, labels={"relevance": YES, "stance": "supports"})
    frozen(project, settings, tmp_path)
    for item in items:
        say(item, anna, YES, "supports")
        say(item, make_rater(project), YES)
    Decision.objects.update(label=YES)
    answer = opened(project, "agreement", "relevance=single", release="1")
    assert facts(answer) == [("Anna", "Not relevant")] * 2
    assert "release 1</a>, with labels and texts as they were frozen on" in answer.content.decode()
    decided = opened(project, "comparison", CELL, release="1", reference="adjudicated")
    assert facts(decided)[0] == ("Decision, adjudicated", "Not relevant")
    assert ("Anna", "Not relevant") in facts(decided)
    now = opened(project, "comparison", f"relevance.people={YES}&relevance.checker={YES}", reference="adjudicated")
    assert facts(now)[0] == ("Decision, adjudicated", "Relevant")


def content_file(tmp_path, text: str):
    row = {
        "claim": {"id": "c1", "text": "The harbour froze."},
        "passages": [{"id": "e1", "text": text}, {"id": "e2", "text": "Another report."}],
    }
    path = tmp_path / "content.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return path


def test_an_item_that_was_retired_since_is_shown_with_the_text_that_was_judged(settings, tmp_path):
    dataset = make_dataset()
    assert import_file(dataset, content_file(tmp_path, "As it was judged."), format="content").state == "done"
    project = make_project(dataset, order="file")
    anna = make_rater(project, "Anna")
    for item in items_of(project):
        say(item, anna, NO)
    frozen(project, settings, tmp_path)
    before = opened(project, "agreement", "relevance=single")
    changed = content_file(tmp_path, "As it was changed.")
    assert import_file(dataset, changed, format="content", on_judged="supersede").state == "done"
    for item in project.items.filter(state="active", annotations=None):
        say(item, anna, YES)
    # The release, computed only now, and the figure of before.
    stale = behind(client_of(project.created_by), before.context["report"], "relevance=single")
    for answer in (opened(project, "agreement", "relevance=single", release="1"), stale):
        text = answer.content.decode()
        assert "<h1>2 units behind a figure</h1>" in text
        assert "As it was judged." in text and "As it was changed." not in text
        assert facts(answer) == [("Anna", "Not relevant")] * 2
        assert text.count("retired since") == 1
    now = opened(project, "agreement", "relevance=single").content.decode()
    assert "As it was changed." in now and "retired since" not in now


def test_the_whole_text_is_there_and_a_long_one_is_reached_by_keyboard():
    project = project_of(2)
    long, short = items_of(project)
    text = "Ice & snow <reported> here. " * 400 + "The last words."
    Evidence.objects.filter(pk=long.anchor.evidence_id).update(text=text)
    for item in (long, short):
        say(item, make_rater(project), NO)
    page = opened(project, "agreement", "relevance=single").content.decode()
    assert html.escape(text) in page
    assert f'tabindex="0" role="region" aria-label="Text of {long.key}"' in page
    assert f'aria-label="Text of {short.key}"' not in page


def test_the_run_that_a_figure_is_about_says_its_labels_probabilities_and_the_score_compared():
    project = project_of(2)
    run = make_suggestions(project, labels={"relevance": YES, "stance": "supports"})
    other = make_suggestions(project, checker="other", labels={"relevance": NO})
    first, second = items_of(project)
    make_scores(run, "overlap", {first.anchor_id: 0.25})
    make_scores(run, "length", {first.anchor_id: 11})
    for item in (first, second):
        say(item, make_rater(project, f"Person {item.key}"), NO)
    answer = opened(project, "comparison", CELL, run=str(run.uuid), score="overlap")
    machines = [row for row in facts(answer) if not row[0].startswith("Person")]
    assert machines == [
        ("fake 1", "Relevant (0.88), Supports (0.88); overlap 0.25"),
        ("fake 1", "Relevant (0.88), Supports (0.88)"),
    ]
    people = opened(project, "agreement", "relevance=single").content.decode()
    assert "fake 1" not in people and other.checker not in people.split("behind a figure")[1]


def test_a_selection_leaves_out_those_whom_its_figures_leave_out():
    project = project_of(1)
    [item] = items_of(project)
    moment = datetime(2026, 5, 1, 23, 30, tzinfo=UTC)
    for day, name in enumerate(("Anna", "Ben"), 1):
        say(item, make_rater(project, name), NO, submitted_at=moment.replace(day=day), guideline_version=day)
    ben = project.raters.get(name="Ben")
    for asked in ({"annotator": ben.pseudonym}, {"guidelines": "2"}, {"since": "2026-05-02"}):
        answer = opened(project, "agreement", "relevance=single", **asked)
        assert facts(answer) == [("Ben", "Not relevant")], asked


def test_of_marked_passages_the_quotes_are_there(settings, tmp_path):
    project = project_of(1)
    [item], anna = items_of(project), make_rater(project, "Anna")
    say(item, anna, YES, "supports", spans=(("evidence", 0, 8, "Report 0"),))
    Dataset.objects.update(text_formats={"evidence": "markdown"})
    frozen(project, settings, tmp_path)
    for asked in ({}, {"release": "1"}):
        answer = opened(project, "spans", "stance.single=yes", **asked)
        assert facts(answer) == [("Anna", "Relevant, SupportsReport 0")], asked
        assert '<q class="muted" dir="auto">Report 0</q>' in answer.content.decode()
        assert '<p dir="auto"><span data-at="0"><mark>Report 0</mark>' in answer.content.decode()
    page = opened(project, "agreement", "stance=single").content.decode()
    assert "<q" not in page and "<mark>" not in page and '<p dir="auto"><span data-at="0">Report 0' in page


def test_what_counts_beside_a_text_is_what_counts_in_the_frames():
    """For nobody, and for one checker or the other, in every selection."""
    chance = random.Random(5)
    project = project_of(12)
    runs = [make_suggestions(project, checker=checker) for checker in ("first", "second")]
    people = [make_rater(project, f"Person {n}", kind) for n, kind in enumerate(("member", "member", "external"))]
    for item in items_of(project):
        for person in people:
            revisions = [
                say(
                    item,
                    person,
                    *((YES, "supports") if chance.random() < 0.5 else (NO,)),
                    shown=chance.choice((False, True, None)),
                    submitted_at=datetime(2026, 5, chance.randint(1, 9), 12, tzinfo=UTC),
                    guideline_version=chance.choice((None, 1, 2)),
                )
                for _ in range(chance.randint(1, 3))
            ]
            if person.kind == Rater.Kind.MEMBER and chance.random() < 0.6:
                show(revisions[-1], chance.choice(runs), chance.choice(("shown", "after")))
    n_counted = set()
    for selection in (Selection(), Selection(guidelines="2"), Selection(since="2026-05-04"), Selection(arm="after")):
        for run in (None, *runs):
            labels = SelectedSource(DatabaseSource(project), selection)
            units = labels.unit_frame("evidence")
            frame = labels.label_frame(units, every_revision=True)
            counted = touched.untouched(labels, frame, labels.run(run.uuid)) if run else touched.latest(frame)
            expected = set(counted[["unit", "rater", "dimension", "label"]].itertuples(index=False, name=None))
            name, options = ("prevalence", {"run": str(run.uuid)}) if run else ("agreement", {})
            items = Items.from_json(get_report(name).compute(labels, quick=True, **options)["behind"])
            beside = {
                (unit, one["rater"], one["dimension"], one["label"])
                for unit in items.units
                for one in items.judgements_on(unit)
                if one["counts"] == "yes"
            }
            assert beside == expected
            n_counted.add(len(expected))
    assert len(n_counted) > 5  # the conditions tell answers apart


def test_it_takes_as_many_queries_for_many_rows_and_shows_them_by_pages(settings, tmp_path):
    project = project_of(60, claims=20)
    make_suggestions(project)
    anna = make_rater(project, "Anna")
    items = items_of(project)
    taken = {}
    for count, release in ((3, 1), (60, 2)):
        for item in items[:count]:
            if not item.annotations.exists():
                say(item, anna, NO)
        frozen(project, settings, tmp_path)
        for scope in ({}, {"release": str(release)}):
            answer = opened(project, "comparison", f"relevance.people={NO}&relevance.checker=not_relevant", **scope)
            report, client = answer.context["report"], client_of(project.created_by)
            for page in (1, 2):
                behind(
                    client, report, f"relevance.people={NO}&relevance.checker=not_relevant", page=page
                )  # notes what is shown, once
                with CaptureQueriesContext(connection) as captured:
                    shown = behind(client, report, f"relevance.people={NO}&relevance.checker=not_relevant", page=page)
                taken.setdefault(bool(scope), []).append(len(captured))
        if count == 60:
            assert shown.context["page"].paginator.count == 60 and len(shown.context["rows"]) == 10
    assert all(len(set(numbers)) == 1 for numbers in taken.values()), taken


def test_passages_of_an_answer_stay_folded_beside_it():
    dataset = make_dataset()
    make_responses_with_triplets(dataset, 2)
    project = make_project(dataset, "triplets/-/1", order="file")
    assert Evidence.objects.filter(dataset=dataset).update(text=F("key")) > 0
    for item in items_of(project):
        say(item, make_rater(project), labels={0: "entailment"})
    answer = opened(project, "agreement", "entailment=single")
    page = answer.content.decode()
    for row in answer.context["rows"]:
        assert row.passages and all(f'dir="auto">{passage.text}</div>' in page for passage in row.passages)
    assert page.count("<details") >= 2

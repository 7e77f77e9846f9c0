"""How a plan comes true: imported, labelled by keyboard alone, looked at in the database, exported and brought back."""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from django.core.management import call_command
from playwright.sync_api import Page, expect

from annotation.imports import importing
from annotation.imports.importing import FileChoices, ImportRequest
from annotation.jobs import lifecycle
from annotation.models import Annotation, Assignment, Item, Job, Judgement, Project, Revision, Span
from annotation.task_types import task_type
from tests.factories import join, make_dataset, make_project, make_user
from tests.world.exported import arguments_for, files_in

from . import browser, outbox
from .plans import Mark, Plan, Said, Sheet

MAPPING = {"pair_id": "No", "premise": "Evidence", "hypothesis": "Sentence"}

# ---- content ----


def write_files(plan: Plan, folder: Path) -> list[Path]:
    paths = [folder / name for name in plan.files]
    for path, rows in zip(paths, plan.files.values(), strict=True):
        if path.suffix == ".csv":
            with path.open("w", encoding="utf-8", newline="") as file:
                table = csv.DictWriter(file, list(rows[0]))
                table.writeheader()
                table.writerows(rows)
        else:
            path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return paths


def work_off() -> None:
    """What the workers have to do now."""
    while job := Job.objects.filter(state=Job.State.QUEUED).order_by("pk").first():
        assert lifecycle.run_here(job).state == Job.State.DONE, job.message


def begin(open_context, plan: Plan, folder: Path) -> Project:
    """The plan's content in a data set of its own, and its project: every item for every person."""
    dataset = make_dataset(make_user("researcher", is_staff=True))
    choices = FileChoices(mapping=MAPPING) if plan.format == "table" else FileChoices()
    request = ImportRequest(plan.format, importing.files_of_paths(write_files(plan, folder)), choices)
    job = lifecycle.run_here(importing.start(dataset.owner, dataset, request, is_dry_run=False, wake_workers=False))
    assert job.state == Job.State.DONE, (job.message, job.result.get("errors"))
    return _staffed(plan, make_project(dataset, plan.task_type, overlap=plan.people, slug=plan.name))


def begin_in_the_browser(open_context, plan: Plan, folder: Path) -> Project:
    """The same by what a researcher clicks and fills in."""
    page = open_context(make_user("researcher", is_staff=True)).new_page()
    page.goto("/datasets/")
    browser.new_dataset(page, plan.name, f"{plan.name}-content")
    page.get_by_label("Files").set_input_files(write_files(plan, folder))
    page.get_by_role("button", name="Continue").click()
    if plan.format == "table":
        page.get_by_role("link", name="Premises and hypotheses").click()
        for target, column in MAPPING.items():
            page.get_by_label(f"Role of {column}", exact=True).select_option(f"pairs/{target}")
        page.get_by_role("button", name="Continue").click()
    page.wait_for_url("**/imports/*/")
    work_off()
    expect(page.get_by_role("heading", name="Contents of the file")).to_be_visible(timeout=browser.STEP_MS)
    looked_at = page.url
    page.get_by_role("button", name="Import now").click()
    page.wait_for_url(lambda address: "/imports/" in address and address != looked_at)
    work_off()
    expect(page.get_by_text("The file was imported.")).to_be_visible(timeout=browser.STEP_MS)
    page.get_by_role("link", name="Go to the data set").click()
    page.get_by_role("link", name="New project").click()
    page.get_by_label("Title").fill(plan.name)
    page.get_by_label(task_type(plan.task_type).title, exact=True).check()
    page.get_by_label("Judgements per item").fill(str(plan.people))
    page.get_by_role("button", name="Create the project").click()
    expect(page.get_by_role("heading", name=plan.name)).to_be_visible(timeout=browser.STEP_MS)
    work_off()
    page.context.close()
    return _staffed(plan, Project.objects.get(slug=plan.name))


def _staffed(plan: Plan, project: Project) -> Project:
    for number in range(plan.people):
        join(project, make_user(f"{plan.name}-{number}"))
    assert set(project.items.values_list("key", flat=True)) == set(plan.sheets)
    assert project.items.filter(planned=plan.people).count() == len(plan.sheets)
    return project


def people_of(plan: Plan, project: Project) -> list:
    """In the order of the plan."""
    users = {m.user.name: m.user for m in project.memberships.filter(role="annotator").select_related("user")}
    return [users[f"{plan.name}-{number}"] for number in range(plan.people)]


# ---- the keyboard ----

# Which item is on the screen, once it is another one than `before`; null when none is left. A page that stays as it is
# says why.
NEXT = """(before) => new Promise((done, fail) => {
  const stage = document.getElementById("stage");
  const look = () => {
    const shown = stage.querySelector("[data-item]");
    if (shown && shown.dataset.item !== before && shown.querySelector(".is-current")) {
      const texts = [...shown.querySelectorAll("[data-field]")].map((text) => [text.dataset.field, text.textContent]);
      return { ...JSON.parse(shown.querySelector("script").textContent), texts: Object.fromEntries(texts) };
    }
    return stage.querySelector("[data-empty]") && { item: null };
  };
  const change = new MutationObserver(() => found(look()));
  const found = (what) => what && (change.disconnect(), clearTimeout(limit), done(what.item ? what : null));
  const status = () => new Error(document.querySelector("[data-status]")?.textContent ?? "no item");
  const limit = setTimeout(() => fail(status()), 30000);
  change.observe(stage, { childList: true, subtree: true, attributes: true });
  found(look());
})"""


class Caret:
    """Where the keyboard's caret is: the words that it covers in which of the texts that take highlights."""

    def __init__(self, fields: list[str]):
        self.fields, self.field, self.first, self.last = fields, 0, 0, 0
        self.places: dict[int, tuple[int, int]] = {}

    def to(self, mark: Mark) -> Iterator[str]:
        """The keys that make it cover the words of a mark."""
        wanted = self.fields.index(mark.field)
        if wanted != self.field:
            yield from ["Tab" if wanted > self.field else "Shift+Tab"] * abs(wanted - self.field)
            yield "Home"
            self.field, self.first, self.last = wanted, 0, 0
        if self.first <= mark.first <= self.last and self.first < self.last:
            yield "ArrowRight"
            self.first = self.last = self.last + 1
        step = "ArrowRight" if mark.first > self.last else "ArrowLeft"
        start = self.last if mark.first > self.last else self.first
        yield from [step] * abs(mark.first - start)
        yield from ["Shift+ArrowRight"] * (mark.words - 1)
        self.first, self.last = mark.first, mark.first + mark.words - 1


def keys_for(sheet: Sheet, said: dict[str, Said], page: dict) -> Iterator[str]:
    """What a person presses to say all of this about the item on the screen."""
    caret = Caret(list(sheet.texts))
    by_units = _by_units if page["unit_picks"] else _by_labels
    yield from by_units(sheet, said, page, caret)


def _key_of(page: dict, dimension: str, label: str) -> str:
    labels = next(each["labels"] for each in page["dimensions"] if each["slug"] == dimension)
    return next(each["key"] for each in labels if each["value"] == label)


def _is_implied(page: dict, dimension: str, label: str) -> bool:
    """A unit's first highlight brings its label where no other may carry one; an only unit stays the current one."""
    rule = next(each["spans"] for each in page["dimensions"] if each["slug"] == dimension)
    return len(page["units"]) == 1 and rule is not None and rule["labels"] == [label]


def _by_labels(sheet: Sheet, said: dict[str, Said], page: dict, caret: Caret) -> Iterator[str]:
    """Digits are labels: each answers the current group and goes on to the next one."""
    was_in_text = False
    for place, unit in enumerate(sheet.units):
        is_last = place == len(sheet.units) - 1
        for dimension, label in said[unit].labels.items():
            if not (said[unit].marks and _is_implied(page, dimension, label)):
                yield _key_of(page, dimension, label)
        if not (said[unit].marks or said[unit].whole):
            continue
        if not is_last:
            yield "ArrowUp"
        if said[unit].whole:
            yield from ("p", said[unit].whole.removeprefix("passage-"))
        else:
            yield "h"
            if not was_in_text:
                yield "Home"
            was_in_text = True
            for mark in said[unit].marks:
                yield from caret.to(mark)
                yield "Enter"
            yield "Escape"
        if not is_last:
            yield "ArrowDown"


def _by_units(sheet: Sheet, said: dict[str, Said], page: dict, caret: Caret) -> Iterator[str]:
    """Digits are units: picked inside the text, one takes the stretch under the caret and with it the only label that
    may carry it; the others get their label outside."""
    picks = dict(zip(sheet.units, page["unit_picks"], strict=True))
    for unit in sheet.units:
        if not said[unit].marks:
            (dimension, label), *_ = said[unit].labels.items()
            yield from (picks[unit], _key_of(page, dimension, label))
    marked = [(unit, mark) for unit in sheet.units for mark in said[unit].marks]
    if marked:
        yield "h"
        for unit, mark in marked:
            yield from caret.to(mark)
            yield picks[unit]
        yield "Escape"


@dataclass(slots=True)
class Desk:
    """One person before the labelling page, with nothing but a keyboard."""

    page: Page
    plan: Plan
    project: Project
    person: int
    last: str = ""  # the assignment that was answered last
    guidelines: int | None = None  # the version that the page holds
    answered: dict[str, tuple[Sheet, dict]] = field(default_factory=dict)  # by assignment
    sent: dict[str, dict] = field(default_factory=dict)  # the same, where the page is listened to

    def listen(self) -> "Desk":
        """Keep what the page sends, for `check_sent`."""

        def keep(request) -> None:
            if request.url.endswith("/submit"):
                self.sent[request.url.split("/")[-2]] = request.post_data_json

        self.page.on("request", keep)
        return self

    def open(self) -> "Desk":
        self.page.goto(f"/projects/{self.project.slug}/work/", timeout=browser.STEP_MS)
        self.guidelines = browser.acknowledge(self.page)
        return self

    def look(self) -> tuple[Sheet, dict] | None:
        """What is on the screen after the item that was answered last; None when nothing is left."""
        shown = self.page.evaluate(NEXT, self.last)
        if shown is None:
            return None
        sheet = self.plan.sheets[Item.objects.values_list("key", flat=True).get(uuid=shown["item"])]
        for name, text in sheet.texts.items():
            assert shown["texts"][name] == text
        return sheet, shown

    def press(self, keys: Iterable[str]) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def answer(self) -> bool:
        """Say all that is planned about the next item. False when there is none."""
        if (found := self.look()) is None:
            return False
        sheet, shown = found
        self.answered[shown["assignment"]] = found
        if note := self.plan.notes[self.person].get(sheet.key):
            self.press("t")
            self.page.keyboard.type(note)
            self.press(["Escape"])
        self.press(keys_for(sheet, self.plan.said[self.person], shown))
        self.submit(shown)
        return True

    def submit(self, shown: dict) -> None:
        self.press(["Enter"])
        self.last = shown["assignment"]

    def is_saved(self) -> None:
        expect(self.page.locator("[data-save-state=saved]")).to_be_visible(timeout=browser.STEP_MS)

    def leave(self) -> None:
        self.is_saved()
        self.page.context.close()

    def check_sent(self) -> None:
        assert self.sent.keys() == self.answered.keys()
        said, notes = self.plan.said[self.person], self.plan.notes[self.person]
        for assignment, (sheet, shown) in self.answered.items():
            shown |= {"guideline_version": self.guidelines}  # acknowledged before the first item
            outbox.check_sent(self.sent[assignment], outbox.body_of(sheet, said, notes.get(sheet.key, ""), shown))


def everybody_in_chromium(open_context, plan: Plan, project: Project) -> None:
    """Everybody by keyboard alone."""
    people = enumerate(people_of(plan, project))
    desks = [Desk(open_context(user).new_page(), plan, project, person).listen() for person, user in people]
    _label_all(desks, plan)
    for desk in desks:
        desk.check_sent()


@dataclass(slots=True)
class Mover:
    """One person who closes the browser after so many answers and goes on elsewhere, with the item that was open."""

    at: Desk | outbox.Writer
    then: outbox.Writer
    answers_left: int

    @property
    def person(self) -> int:
        return self.at.person

    def open(self) -> "Mover":
        self.at.open()
        return self

    def answer(self) -> bool:
        if self.answers_left == 0:
            self.at.leave()
            self.at = self.then.open()
        self.answers_left -= 1
        return self.at.answer()

    def leave(self) -> None:
        self.at.leave()


def one_in_chromium(open_context, plan: Plan, project: Project, items: int) -> None:
    """The first person by keyboard alone for so many items; they go on, and the others do all, without a page."""
    people = people_of(plan, project)
    first, *others = [outbox.Writer(user, plan, project, person) for person, user in enumerate(people)]
    desk = Desk(open_context(first.user).new_page(), plan, project, 0).listen()
    _label_all([Mover(desk, first, items), *others], plan)
    desk.check_sent()


def _label_all(people: Sequence[Desk | outbox.Writer | Mover], plan: Plan) -> None:
    """Everything that everybody has to do, all at the same time: each answers an item in turn."""
    answered = dict.fromkeys(range(plan.people), 0)
    at_work = [one.open() for one in people]
    while at_work:
        at_work = [one for one in at_work if one.answer()]
        for one in at_work:
            answered[one.person] += 1
    for one in people:
        one.leave()
    assert answered == dict.fromkeys(range(plan.people), len(plan.sheets))


# ---- what is stored ----


def check_stored(plan: Plan, project: Project) -> None:
    """Exactly what was planned, by whom it was planned, and nothing beside it."""
    of_project = {"annotation__item__project": project}
    everything = plan.people * len(plan.sheets)
    assert Assignment.objects.filter(project=project, state=Assignment.State.DONE).count() == everything
    assert Assignment.objects.filter(project=project).count() == everything
    assert Annotation.objects.filter(item__project=project, is_surplus=False).count() == everything
    assert Annotation.objects.filter(item__project=project).count() == everything
    assert set(Revision.objects.filter(**of_project).values_list("number", "is_latest", "comment")) == {(1, True, "")}

    judgements = Judgement.objects.filter(revision__annotation__item__project=project)
    spans = Span.objects.filter(judgement__in=judgements)
    notes = dict(
        Revision.objects.filter(**of_project, metadata__free_text__isnull=False).values_list(
            "annotation", "metadata__free_text__answer"
        )
    )
    for person, user in enumerate(people_of(plan, project)):
        mine = judgements.filter(revision__annotation__rater__user=user)
        planned = {(unit, *label) for unit, said in plan.said[person].items() for label in said.labels.items()}
        assert set(mine.values_list("unit__key", "dimension", "label")) == planned
        assert mine.count() == len(planned)
        expected = {
            (unit, *span)
            for sheet in plan.sheets.values()
            for unit in sheet.units
            for span in plan.said[person][unit].spans(sheet.texts)
        }
        of_mine = spans.filter(judgement__in=mine)
        assert set(of_mine.values_list("judgement__unit__key", "field", "start", "end", "quote")) == expected
        assert of_mine.count() == len(expected)
        own = Annotation.objects.filter(item__project=project, rater__user=user)
        written = {key: notes[pk] for pk, key in own.values_list("pk", "item__key") if notes.get(pk)}
        assert written == plan.notes[person]


# ---- figures and files ----


def report(capsys, slug: str, name: str) -> dict:
    """As the command prints it."""
    capsys.readouterr()
    call_command("report", slug, name, "--format", "json")
    return json.loads(capsys.readouterr().out)


def agreement(capsys, slug: str) -> dict:
    return by_dimension(report(capsys, slug, "agreement"))


def by_dimension(report: dict) -> dict:
    return {each["dimension"]: each for each in report["dimensions"]}


def figures(dimension: dict) -> dict[str, float | None]:
    """All estimates of one dimension by name; Cohen's kappa by the two names."""
    found = {figure["name"]: figure["estimate"] for figure in dimension["figures"]}
    return found | {f"cohen {pair['a']} {pair['b']}": pair["estimate"] for pair in dimension["pairs"]}


def in_an_emptied_assay(source: Path, folder: Path, slug: str, task_type: str) -> dict[str, bytes]:
    """What comes out again after this Assay's database has been emptied and the files have been imported."""
    call_command("flush", interactive=False, verbosity=0)
    make_user("second", is_superuser=True)
    files, settings = arguments_for(source)
    chosen = ["--dataset", "second", "--project", slug, "--task-type", task_type, *settings]
    call_command("import_dataset", *files, "--format", "assay", *chosen, verbosity=0)
    call_command("export_dataset", slug, str(folder), verbosity=0)
    return files_in(folder)

"""Every cell of the RefChecker report opens what it stands for, counted here by hand, whatever models are called."""

import html
import itertools
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import quote as quoted
from urllib.parse import unquote

import pytest
from django.urls import reverse

from analysis.pictures import Intervals
from analysis.releases import freezing
from analysis.reports.figures import quickly
from analysis.reports.metrics import get_report
from analysis.reports.refchecker_data import study_of
from analysis.reports.refchecker_texts import copying
from analysis.reports.tabular import Linked, Table, value_of
from analysis.sources.database import DatabaseSource
from analysis.sources.files import source_of_files
from annotation.models import Evidence, Job, Project, Question, Response, Suggestion, Triplet, Unit
from annotation.services import jobs
from tests.analysis.test_behind import frozen
from tests.analysis.test_refchecker_report import run_of
from tests.analysis.world import make_rater, make_scores, say
from tests.factories import make_batch, make_dataset, make_project, make_suggestions
from tests.world import client_of

pytestmark = pytest.mark.django_db
REPORT = get_report("refchecker")
E, N, C, BAD = "entailment", "neutral", "contradiction", "bad_triplet"
TITLES = {"Entailment": E, "Neutral": N, "Contradiction": C}
# Names with what stands between parts of keys and addresses, and a setting that begins as another one does.
SETTINGS = ("noisy", "noisy/context: 50 %2F")
MODELS = ("meta/llama-2", "a*b", "meta", "zürich & co?")
LEFT_OUT = "a*b"
QUESTIONS = 5
MEAN_OF_SETTINGS, MEAN_OF_MODELS, ALL_MODELS = "mean of settings", "mean of models", "all"


@dataclass
class Piece:
    """A triplet with what everybody says of it. `before` is what people said before any suggestion."""

    unit: int
    setting: str
    model: str
    now: str | None
    before: str | None
    said: dict[str, str | None]
    knows: float | None
    masked: float | None
    has_passage: bool


@dataclass
class Answer:
    unit: int
    setting: str
    model: str
    pieces: list[Piece] = field(default_factory=list)


@dataclass
class World:
    project: Project
    answers: list[Answer]
    runs: dict[str, str]  # title -> UUID

    @property
    def pieces(self) -> list[Piece]:
        return [piece for answer in self.answers for piece in answer.pieces]


def make_world() -> World:
    rng = random.Random(11)
    dataset = make_dataset()
    base = {"dataset": dataset, "batch": make_batch(dataset)}
    answers, triplets = [], []
    for (place, setting), number in itertools.product(enumerate(SETTINGS), range(QUESTIONS)):
        question = Question.objects.create(**base, key=f"q{place}-{number}", text="What froze?")
        if number:
            text = f"The lake number {number} froze over in that winter."
            Evidence.objects.create(**base, key=f"{question.key}/p", question=question, text=text, rank=1)
        for of, model in enumerate(MODELS):
            response = Response.objects.create(
                **base,
                key=f"{question.key}/{of}",
                question=question,
                model=model,
                context_setting=setting,
                text=f"Answer {place}-{number}-{of}.",
            )
            unit = Unit.objects.create(**base, kind="response", key=response.key, response=response)
            answers.append(Answer(unit.pk, setting, model))
            for index in range((3, 1, 2, 0)[(of + number) % 4] if of > 1 else 2):
                parts = {"head": "the lake", "relation": f"number {number}", "tail": "froze over"}
                triplet = Triplet.objects.create(
                    **base, key=f"{response.key}/{index}", response=response, index=index, **parts
                )
                piece = Unit.objects.create(**base, kind="triplet", key=triplet.key, triplet=triplet)
                triplets.append(Piece(piece.pk, setting, model, None, None, {}, None, None, number > 0))
                answers[-1].pieces.append(triplets[-1])
    project = make_project(dataset, "triplets/-/1", overlap=1)
    rater = make_rater(project, "Anna")
    for number, item in enumerate(project.items.order_by("key")):
        of = {link.unit_id: link.index for link in item.item_units.all()}
        mine = [piece for piece in triplets if piece.unit in of]
        if not mine:
            continue
        first, last = ({one.unit: any_label(rng) for one in mine} for _ in range(2))
        if number % 9 == 4:
            last.pop(mine[0].unit)  # labelled in part
        is_touched, says_twice = number % 5 == 2, number % 7 == 3
        if says_twice:
            say(item, rater, labels={of[unit]: label for unit, label in first.items()})
        is_touched |= says_twice
        say(item, rater, labels={of[unit]: label for unit, label in last.items()}, shown=is_touched)
        for one in mine:
            one.now = last.get(one.unit)
            one.before = first[one.unit] if says_twice else None if is_touched else one.now
    for name, chance in (("good", 0.15), ("poor", 0.7)):
        for one in triplets:
            label = any_label(rng) if rng.random() < chance else one.now or E
            one.said[f"{name} 1"] = None if rng.random() < 0.05 else label
    runs = {}
    for name in ("good 1", "poor 1"):
        labels = {one.unit: one.said[name] for one in triplets if one.said[name]}
        runs[name] = str(run_of(project, name.split()[0], labels).uuid)
    score_run(project, "model-knowledge", "knows", triplets, (1.0, -1.0, 0.0, None))
    score_run(project, "masked-reference", "masked_label", triplets, (1.0, 0.0, None, -1.0, 0.0))
    other = make_project(dataset, "triplets/-/1", slug="coarser", overlap=1)
    for one in triplets:
        one.said["blind 1"] = None if rng.random() < 0.1 else rng.choice((E, E, E, C))
    run_of(other, "blind", {one.unit: one.said["blind 1"] for one in triplets if one.said["blind 1"]})
    return World(project, answers, runs)


def any_label(rng: random.Random) -> str:
    return rng.choices((E, N, C, BAD), (6, 2, 2, 1))[0]


def score_run(project: Project, checker: str, name: str, pieces: list[Piece], values: tuple) -> None:
    run = make_suggestions(project, checker=checker)
    Suggestion.objects.filter(run=run).delete()
    rng = random.Random(name)
    for one in pieces:
        setattr(one, {"knows": "knows", "masked_label": "masked"}[name], rng.choice(values))
    make_scores(run, name, {one.unit: getattr(one, name.split("_")[0]) for one in pieces})


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker):
    from django.db import transaction

    with django_db_blocker.unblock(), transaction.atomic():
        yield make_world()
        transaction.set_rollback(True)


def compute(source, **options) -> dict:
    """All of the report but its intervals."""
    with quickly():
        result = REPORT.compute(source, **options)
        study = study_of(source)
        copied, behind = copying(study, study.people(source.label_frame(study.units), "majority"))
    return result | {"copying": copied, "behind": result["behind"] | behind}


# What each cell stands for


def worst(labels: list[str | None]) -> str | None:
    """None where a piece has no label, or none has one on the scale."""
    return None if None in labels else next((label for label in (C, N, E) if label in labels), None)


def most_frequent(labels: list[str | None]) -> str | None:
    counts = Counter(label for label in labels if label != BAD)
    if None in labels or not counts:
        return None
    return max((C, N, E), key=lambda label: counts[label])  # the first, and worst, of those that tie


def now(answer: Answer) -> list[str | None]:
    return [piece.now for piece in answer.pieces]


def both_worst(answer: Answer, run: str) -> tuple[str, str] | None:
    """The worst labels by people and by a run, of an answer that both label in full. What people find bad is asked of
    nobody, and a run's label off the scale is none."""
    people = [piece.before for piece in answer.pieces]
    of_run = [piece.said[run] if piece.said[run] != BAD else None for piece in answer.pieces]
    asked = [BAD if label == BAD else found for label, found in zip(people, of_run, strict=True)]
    sides = worst(people), worst(asked)
    return sides if None not in sides else None


def run_alone(answer: Answer) -> str | None:
    return worst([piece.said["blind 1"] for piece in answer.pieces])


class Expected:
    """Units by the words of a table."""

    def __init__(self, world: World, without: str = ""):
        self.world, self.without = world, without

    def pieces(self, setting: str, model: str, test: Callable[[Piece], object]) -> set[int]:
        return {one.unit for one in self.world.pieces if is_at(one, setting, model) and test(one)}

    def answers(self, setting: str, model: str, test: Callable[[Answer], object]) -> list[Answer]:
        return [one for one in self.world.answers if is_at(one, setting, model) and test(one)]

    def of_answers(self, setting: str, model: str, test: Callable[[Answer], object]) -> set[int]:
        return {piece.unit for one in self.answers(setting, model, test) for piece in one.pieces}

    def rates(self, rule: str, setting: str, row: dict) -> dict[str, set[int]]:
        model = "" if row["Model"] == MEAN_OF_MODELS else row["Model"]
        if rule == "soft":
            counts = self.of_answers(setting, model, lambda one: {E, N, C} & set(now(one)))
            shares = {
                title: self.pieces(setting, model, lambda one, of=of: one.now == of) for title, of in TITLES.items()
            }
            silent = {one.unit for one in self.answers(setting, model, lambda one: not one.pieces)}
            return {"Answers that count": counts, **shares, "Abstained": silent}
        label_of = {"strict": worst, "major": most_frequent}[rule]
        shares = {
            title: self.of_answers(setting, model, lambda one, of=of: label_of(now(one)) == of)
            for title, of in TITLES.items()
        }
        return {"Answers that count": self.of_answers(setting, model, lambda one: label_of(now(one))), **shares}

    def of_pieces(self, row: dict) -> dict[str, set[int]]:
        run, setting = row["Checker"], "" if row["Setting"] == MEAN_OF_SETTINGS else row["Setting"]
        scale = set(TITLES.values())
        both = self.pieces(setting, "", lambda one: one.before in scale and one.said[run] in scale)
        differ = self.pieces(setting, "", lambda one: one.unit in both and one.before != one.said[run])
        return {
            "By both": both,
            "Differ": differ,
            "By people": self.pieces(setting, "", lambda one: one.before in scale),
            "All labels": self.pieces("", "", lambda one: one.now),
            "Untouched labels": self.pieces("", "", lambda one: one.before),
            "Accuracy": both,
            "Macro-F1": both,
        }

    def confusion(self, run: str, setting: str, row: dict) -> dict[str, set[int]]:
        said = TITLES[row["People"]]
        return {
            f"{title} by the checker": self.pieces(
                setting, "", lambda one, found=found: one.before == said and one.said[run] == found
            )
            for title, found in TITLES.items()
        }

    def of_answers_compared(self, setting: str, row: dict) -> dict[str, set[int]]:
        def those(test) -> set[int]:
            return self.of_answers(
                setting,
                "",
                lambda one: one.model != self.without and (found := both_worst(one, row["Checker"])) and test(*found),
            )

        every = those(lambda people, checker: True)
        differ = those(lambda people, checker: (people == E) != (checker == E))
        found = {
            "Answers": every,
            "Factual by people": those(lambda people, checker: people == E),
            "Factual by the checker": those(lambda people, checker: checker == E),
            "Factual by one only": differ,
            "Other worst label": those(lambda people, checker: people != checker),
            "Factual F1": those(lambda people, checker: E in (people, checker)),
            "Non-factual F1": those(lambda people, checker: (people, checker) != (E, E)),
        }
        return found | dict.fromkeys(("Accuracy", "Pearson", "Spearman", "Strict accuracy", "Strict macro-F1"), every)

    def ranked(self, row: dict) -> dict[str, set[int]]:
        setting = "" if row["Setting"] == MEAN_OF_SETTINGS else row["Setting"]
        return {"Spearman": self.of_answers(setting, "", lambda one: both_worst(one, row["Checker"]))}

    def ranks(self, setting: str, row: dict) -> dict[str, set[int]]:
        run, model = row["Checker"], row["Model"]
        every = self.of_answers(setting, model, lambda one: both_worst(one, run))
        of_run = lambda one: one.unit in every and one.before != BAD and one.said[run] == C  # noqa: E731
        return {
            "Answers": every,
            "By people": self.pieces(setting, model, lambda one: one.unit in every and one.before == C),
            "By the checker": self.pieces(setting, model, of_run),
        }

    def granularity(self, row: dict) -> dict[str, set[int]]:
        run, setting = row["Checker"], "" if row["Setting"] == MEAN_OF_SETTINGS else row["Setting"]

        def sides(one: Answer) -> tuple[str, str] | None:
            if run != "blind 1":
                return both_worst(one, run)
            found = worst(now(one)), run_alone(one)
            return found if None not in found else None

        every = self.of_answers(setting, "", sides)
        differ = self.of_answers(setting, "", lambda one: sides(one) and len(set(sides(one))) > 1)
        return {"Answers": every, "Differ": differ, "Accuracy": every, "Macro-F1": every}

    def copied(self, setting: str, row: dict) -> dict[str, set[int]]:
        model = "" if row["Model"] == ALL_MODELS else row["Model"]
        label = TITLES[row["Label"]]
        found = self.pieces(setting, model, lambda one: one.now == label and one.has_passage)
        return {"n": found, "Copy rate": found}

    def known(self, row: dict) -> dict[str, set[int]]:
        where, scale = (row["Setting"], row["Answers of"]), set(TITLES.values())

        def those(test) -> set[int]:
            return self.pieces(*where, lambda one: one.now in scale and one.knows is not None and test(one))

        values = {"yes": 1.0, "no": -1.0, "unsure": 0.0}
        return {
            "n": those(lambda one: True),
            "From memory, against the reference": those(lambda one: one.knows == 1 and one.now != E),
            "From the reference": those(lambda one: one.knows < 1 and one.now == E),
            "From neither": those(lambda one: one.knows == -1 and one.now == C),
        } | {
            f"{knows}, {title}": those(lambda one, both=(value, label): (one.knows, one.now) == both)
            for knows, value in values.items()
            for title, label in TITLES.items()
        }

    def masked(self, row: dict) -> dict[str, set[int]]:
        where = row["Setting"], row["Answers of"]
        values = {"Entailment": 1.0, "Neutral": 0.0, "Contradiction": -1.0}
        return {
            "n": self.pieces(*where, lambda one: one.masked is not None),
            "Nothing masked": self.pieces(*where, lambda one: one.masked is None),
        } | {
            title: self.pieces(*where, lambda one, value=value: one.masked == value) for title, value in values.items()
        }

    def cells(self, title: str, row: dict) -> dict[str, set[int]]:
        """What opens, by column."""
        setting = max((one for one in SETTINGS if title.startswith(f"{one}: ")), key=len, default="")
        rest = title.removeprefix(f"{setting}: ")
        match rest.split(" ")[:3]:
            case ["label", "rates", _]:
                return self.rates(rest.split(", ")[1].split(":")[0], setting, row)
            case ["Checkers", "against", _]:
                return self.of_pieces(row)
            case ["what", "people", _]:
                return self.confusion(re.search(r"and (\w+ 1) say", rest)[1], setting, row)
            case ["checkers", "against", _]:
                return self.of_answers_compared(setting, row)
            case ["Do", "checkers", _]:
                return self.ranked(row)
            case ["models", "by", _]:
                return self.ranks(setting, row)
            case ["Granularity:", *_]:
                return self.granularity(row)
            case ["how", "much", _]:
                return self.copied(setting, row)
            case ["What", "model-knowledge", _]:
                return self.known(row)
            case ["What", "masked-reference", _]:
                return self.masked(row)
        raise AssertionError(title)


def is_at(one: Piece | Answer, setting: str, model: str) -> bool:
    return one.setting == (setting or one.setting) and one.model == (model or one.model)


def tables_of(result: dict) -> list[Table]:
    return [part for part in REPORT.body(result) if isinstance(part, Table)]


def rows_of(table: Table) -> list[dict]:
    assert len(set(table.columns)) == len(table.columns), table.title
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


@pytest.mark.parametrize("without", ["", LEFT_OUT])
def test_every_cell_opens_what_it_stands_for(world, without):
    result = compute(DatabaseSource(world.project), other_pieces="coarser", without=without)
    expected, tables = Expected(world, without), tables_of(result)
    keys = dict(Unit.objects.values_list("pk", "key"))
    n_opened, n_empty = Counter(), 0
    for table in tables:
        for row in rows_of(table):
            wanted = expected.cells(table.title, {name: value_of(cell) for name, cell in row.items()})
            assert set(wanted) <= set(row), table.title
            assert {name for name, cell in row.items() if isinstance(cell, Linked)} <= set(wanted), table.title
            for column, units in wanted.items():
                where = table.title, column, list(row.values())[:3]
                if not units:
                    assert not isinstance(row[column], Linked), where
                    n_empty += 1
                    continue
                found = REPORT.units_behind(result["behind"], row[column].figure)
                assert found is not None and set(found) == units, where
                assert len(found) == len(units), where
                if column != "Abstained":
                    assert [keys[unit] for unit in found] == sorted(keys[unit] for unit in units), where
                n_opened[table.title] += 1
    assert len(tables) == len(n_opened) == 21 and sum(n_opened.values()) > 400 and n_empty > 30


def test_counts_are_those_of_what_they_open(world):
    """Of columns that count pieces; others count answers or labels, or are shares."""
    result = compute(DatabaseSource(world.project), other_pieces="coarser")
    counted = Counter()
    for table in tables_of(result):
        for row in rows_of(table):
            of_pieces = {"By both", "Differ", "By people", "n", "Nothing masked"} if "Answers" not in row else set()
            of_pieces |= {name for name in row if name.endswith(" by the checker") and "People" in row}
            of_pieces |= {name for name in row if re.match("(yes|no|unsure), ", name)}
            for column in of_pieces & set(row):
                if isinstance(row[column], Linked):
                    cell = row[column]
                    assert cell.value == len(REPORT.units_behind(result["behind"], cell.figure)), (table.title, column)
                    counted[column] += 1
    assert len(counted) == 5 + 3 + 9 and sum(counted.values()) > 100


def test_places_of_the_picture_open_what_the_table_s_cells_do(world):
    result = compute(DatabaseSource(world.project))
    pictures = [part for part in REPORT.body(result) if isinstance(part, Intervals)]
    expected = Expected(world)
    assert len(pictures) == 2
    for picture, setting in zip(pictures, SETTINGS, strict=True):
        for item in picture.items:
            units = expected.rates("soft", setting, {"Model": item.row})[item.series]
            assert bool(item.figure) == bool(units) == bool(item.value)
            if units:
                assert set(REPORT.units_behind(result["behind"], item.figure)) == units


def test_decided_by_touched_labels_too_the_checkers_cells_follow(world):
    result = compute(DatabaseSource(world.project), touched=True)
    run = world.runs["poor 1"]
    expected = {one.unit for one in world.pieces if (one.now, one.said["poor 1"]) == (C, E)}
    found = [
        unit
        for table in tables_of(result)
        for row in rows_of(table)
        for cell in row.values()
        if isinstance(cell, Linked) and cell.figure.startswith(f"checker/{run}/cell/{C}/{E}/")
        for unit in REPORT.units_behind(result["behind"], cell.figure)
    ]
    assert sorted(found) == sorted(expected) and expected


def quote(name: str) -> str:
    return quoted(name, safe="")


def figures_of(result: dict) -> set[str]:
    cells = (cell for table in tables_of(result) for row in table.rows for cell in row)
    return {cell.figure for cell in cells if isinstance(cell, Linked)}


def test_a_release_s_files_open_the_same(world, tmp_path):
    for slug in (world.project.slug, "coarser"):
        freezing.write_release(Project.objects.get(slug=slug), tmp_path / slug)
    files = source_of_files(tmp_path / world.project.slug, beside=[tmp_path / "coarser"])
    found = []
    for source in (files, DatabaseSource(world.project)):
        result = compute(source, other_pieces="coarser")
        units, items = source.unit_frame("triplet"), source.item_frame()
        keys = dict(zip(units["unit"], units["unit_key"], strict=True))
        without = items[items["n_units"] == 0]
        keys |= dict(zip(source.anchors(without["item"].tolist()), without["item_key"], strict=True))
        opened = {one: REPORT.units_behind(result["behind"], one) for one in figures_of(result)}
        found.append({one: [keys[unit] for unit in ids] for one, ids in opened.items()})
    assert found[0] == found[1] and any(one.startswith("abstained") for one in found[0])


def opened_report(project: Project, client, **asked):
    """The report's page with its first figures."""
    page = reverse("project_report", args=[project.slug, "refchecker"])
    client.get(page, asked)
    for job in Job.objects.filter(kind=Job.Kind.REPORT, state="queued"):
        with quickly():
            jobs.run_here(job)
    return client.get(page, asked)


def links_of(page) -> dict[str, str]:
    """Address by figure, of the tables and pictures of a page."""
    found = map(html.unescape, re.findall(r'href="([^"]*/behind/[^"]*figure=[^"]*)"', page.content.decode()))
    return {unquote(address.rsplit("figure=", 1)[1]): address for address in found}


def head_of(answer) -> str:
    return html.unescape(re.search(r'<p class="muted">(.*?); (?:as of|of <a)', answer.content.decode(), re.DOTALL)[1])


def test_the_pages_say_what_they_open(world):
    client = client_of(world.project.created_by)
    page = opened_report(world.project, client, other_pieces="coarser")
    links = links_of(page)
    assert set(links) >= figures_of(page.context["result"])
    of_kind = {}
    for figure in sorted(links, reverse=True):
        what, *parts = figure.split("/")
        kind = parts[1] if what == "checker" else parts[0] if what == "counted" else ""
        of_kind.setdefault((what, kind, len(parts)), figure)
    heads = {}
    for figure in of_kind.values():
        answer = client.get(links[figure])
        assert answer.status_code == 200, figure
        assert len(answer.context["rows"]) == min(answer.context["page"].paginator.count, 50) > 0, figure
        heads[figure] = head_of(answer)
    same = [words for words, times in Counter(heads.values()).items() if times > 1]
    assert not same and len(heads) > 30
    run, silent = world.runs["poor 1"], f"abstained/noisy/{quote('zürich & co?')}"
    words = {
        f"people/{C}/{quote(SETTINGS[1])}/a%2Ab": f"triplets that people judge contradiction, of a*b ({SETTINGS[1]})",
        f"checker/{run}/factual/not/{E}/noisy": "triplets of answers that people or the checker do not find factual "
        "(noisy)",
        silent: "answers without triplets, of zürich & co? (noisy)",
    }
    for figure, expected in words.items():
        assert head_of(client.get(links[figure])) == f"Hallucinations, piece by piece: {expected}"
    for wrong in ("%2Fmore", "%2F", "%00"):
        assert client.get(links[silent] + wrong).status_code == 404
    assert "Answer 0-" in client.get(links[silent]).content.decode()


def test_pages_of_a_release_show_its_answers_without_pieces_too(world, settings, tmp_path):
    frozen(world.project, settings, tmp_path)
    client, (_, odd) = client_of(world.project.created_by), SETTINGS
    links = links_of(opened_report(world.project, client, release="1"))
    silent = {one.unit for one in Expected(world).answers(odd, "", lambda one: not one.pieces)}
    answer = client.get(links[f"abstained/{quote(odd)}"])
    assert {row.unit.pk for row in answer.context["rows"]} == silent and len(silent) > 1
    assert all(row.item and row.text.startswith("Answer 1-") for row in answer.context["rows"])
    assert "release 1</a>, with labels and texts as they were frozen on" in answer.content.decode()
    run = world.runs["good 1"]
    shown = client.get(links[f"checker/{run}/cell/{N}/{N}/noisy"]).context["rows"]
    expected = Expected(world).confusion("good 1", "noisy", {"People": "Neutral"})["Neutral by the checker"]
    assert {row.unit.pk for row in shown} == expected


def test_beside_a_checkers_cells_stand_the_labels_that_it_did_not_touch(world):
    client, run = client_of(world.project.created_by), world.runs["poor 1"]
    links = links_of(opened_report(world.project, client))
    figures = [f"checker/{run}/cell/{said}/{C}/noisy" for said in (E, N, C)]
    answers = [client.get(links[figure]) for figure in figures]
    titles = {label: title for title, label in TITLES.items()}
    n_changed = 0
    for said, answer in zip((E, N, C), answers, strict=True):
        people, runs = answer.context["beside"].people, answer.context["beside"].runs
        for row in answer.context["rows"]:
            [anna] = people[row.unit.pk]
            assert anna.counts and anna.words == titles[said]
            assert runs[row.unit.pk][0].words.startswith("Contradiction") and runs[row.unit.pk][0].name == "poor 1"
            n_changed += "before the suggestion" in anna.aside
    assert n_changed
    [piece, *_] = [one for one in world.pieces if one.now == C and one.before is None and one.setting == "noisy"]
    now = client.get(links[f"people/{C}/noisy"]).context["beside"].people[piece.unit]
    assert [one.words for one in now] == ["Contradiction"]

"""Answers of four models, cut into triplets, with what people, checkers and models say of them; and what is behind the
cells of the RefChecker report on them, counted by hand."""

import itertools
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from annotation.models import Evidence, Project, Question, Response, Suggestion, Triplet, Unit
from tests.analysis.test_refchecker_report import BAD, C, E, N, run_of
from tests.factories import make_batch, make_dataset, make_project, make_suggestions
from tests.world.labels import make_rater, make_scores, say
from tests.world.remembered import remembered

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


@remembered
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

        def of_run(one) -> bool:
            return one.unit in every and one.before != BAD and one.said[run] == C

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
        if "Does it know?" in row:
            value = values[row["Does it know?"]]
            return {
                title: those(lambda one, both=(value, label): (one.knows, one.now) == both)
                for title, label in TITLES.items()
            }
        return {
            "n": those(lambda one: True),
            "From memory, against the reference": those(lambda one: one.knows == 1 and one.now != E),
            "From the reference": those(lambda one: one.knows < 1 and one.now == E),
            "From neither": those(lambda one: one.knows == -1 and one.now == C),
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
            case ["labels", "by", "people"]:
                return self.confusion(re.search(r"people and (\w+ 1) of", rest)[1], setting, row)
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
            case ["Labels", "of", "masked-reference"]:
                return self.masked(row)
        raise AssertionError(title)


def is_at(one: Piece | Answer, setting: str, model: str) -> bool:
    return one.setting == (setting or one.setting) and one.model == (model or one.model)

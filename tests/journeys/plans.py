"""What a journey needs: content, its items, and what each annotator will say about them, all made by rule.

Labels go round in a cycle of units: entry `u % len(cycle)` has the label of each person for unit `u`, in the order of
the content. So the table of coincidences is that of one cycle times the number of cycles, and every figure of agreement
follows by hand. Texts are ours, made of a small vocabulary.
"""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

# Words that a browser and `WORD` divide alike. One is outside ASCII and texts begin with an emoji now and then, so that
# offsets in bytes, in UTF-16 and in code points differ.
WORD = re.compile(r"\w+")
VOCABULARY = WORD.findall("""
    harbour ferry winter ice pilot crew storm quay lantern captain lake town bridge fog coal steam engine rope anchor
    signal keeper ledger council Überlingen spring harvest vineyard cellar market baker tower bell road river valley
    mill forest saw timber raft current depth shore reed heron pike net boat oar sail wind gust calm mist morning noon
""")


def prose(words: int, seed: str) -> str:
    """Sentences of eight to fourteen words in paragraphs of six sentences."""
    chance = random.Random(seed)
    sentences: list[str] = []
    while words > 0:
        length = min(words, chance.randint(8, 14))
        chosen = [chance.choice(VOCABULARY) for _ in range(length)]
        chosen[0] = chosen[0].capitalize()
        sentences.append(" ".join(chosen) + ".")
        words -= length
    paragraphs = [" ".join(sentences[start : start + 6]) for start in range(0, len(sentences), 6)]
    return ("⚓ " if chance.random() < 0.5 else "") + "\n\n".join(paragraphs)


@dataclass(frozen=True, slots=True)
class Mark:
    """A highlight: `words` words of a text from its word number `first` (from 0) on."""

    field: str
    first: int
    words: int = 1

    def span(self, text: str) -> tuple[int, int, str]:
        found = list(WORD.finditer(text))[self.first : self.first + self.words]
        start, end = found[0].start(), found[-1].end()
        return start, end, text[start:end]


@dataclass(frozen=True, slots=True)
class Said:
    """What one person says about one unit: labels in the order in which they are asked."""

    labels: dict[str, str]
    marks: tuple[Mark, ...] = ()
    whole: str = ""  # the text that decided as a whole

    def spans(self, texts: dict[str, str]) -> set[tuple[str, int, int, str]]:
        found = {(mark.field, *mark.span(texts[mark.field])) for mark in self.marks}
        return found | ({(self.whole, 0, len(texts[self.whole]), texts[self.whole])} if self.whole else set())


@dataclass(frozen=True, slots=True)
class Sheet:
    """One item: its units in their order on the page, and the texts that take highlights, in theirs."""

    key: str
    units: tuple[str, ...]
    texts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    name: str
    task_type: str
    people: int
    files: dict[str, list[dict]]  # name -> rows
    sheets: dict[str, Sheet]
    said: list[dict[str, Said]]  # by person and unit
    notes: list[dict[str, str]]  # by person and item
    cycles: int
    format: str = "content"

    @property
    def units(self) -> int:
        return sum(len(sheet.units) for sheet in self.sheets.values())


Marks = Callable[[int, int, Sheet, str], tuple[Mark, ...]]


def no_marks(number: int, person: int, sheet: Sheet, label: str) -> tuple[Mark, ...]:
    return ()


def plan(
    name: str,
    task_type: str,
    files: dict[str, list[dict]],
    sheets: Sequence[Sheet],
    dimensions: Sequence[str],
    cycle: Sequence[Sequence],
    *,
    marks: Marks = no_marks,
    whole: Callable[[int, int, Sheet, str], str] = lambda number, person, sheet, label: "",
    note: Callable[[int, int], str] = lambda number, person: "",
    format: str = "content",
) -> Plan:
    """`cycle` has one entry per unit: for each person a label, or several labels where several dimensions are asked."""
    people = len(cycle[0])
    said: list[dict[str, Said]] = [{} for _ in range(people)]
    notes: list[dict[str, str]] = [{} for _ in range(people)]
    number = 0
    for place, sheet in enumerate(sheets):
        for person in range(people):
            if words := note(place, person):
                notes[person][sheet.key] = words
        for unit in sheet.units:
            for person, labels in enumerate(cycle[number % len(cycle)]):
                labels = (labels,) if isinstance(labels, str) else labels
                chosen = whole(number, person, sheet, labels[-1])
                marked = () if chosen else marks(number, person, sheet, labels[-1])
                said[person][unit] = Said(dict(zip(dimensions, labels, strict=False)), marked, chosen)
            number += 1
    cycles, rest = divmod(number, len(cycle))
    assert rest == 0, f"{name}: {number} units are no whole number of cycles of {len(cycle)}"
    return Plan(name, task_type, people, files, {s.key: s for s in sheets}, said, notes, cycles, format)

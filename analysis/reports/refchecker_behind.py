"""Pieces behind the figures of the RefChecker report, as they are stored: in parts that do not overlap, by what people
and checkers say of them or of their answers, by setting and model. `refchecker_opened` puts figures together from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.reports.opened import Behind, part_of
from analysis.reports.refchecker_data import NONE, Study

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from analysis.sources import Run

PIECES = "pieces"  # the key of all of them, in the order of keys


def key(*parts: str) -> str:
    """
    >>> key("people", "neutral", "noisy/context", "meta/llama 2")
    'people/neutral/noisy%2Fcontext/meta%2Fllama%202'
    """
    return "/".join(map(part_of, parts))


def split(units: pd.DataFrame, where: np.ndarray, prefix: tuple[str, ...], *by: np.ndarray) -> Behind:
    """Of the units that are meant, those with equal names in `by` under a key of `prefix` and these names."""
    import numpy as np
    import pandas as pd

    rows = pd.DataFrame({str(place): np.asarray(names)[where] for place, names in enumerate(by)})
    rows["unit"] = units["unit"].to_numpy()[where]
    parts = rows.groupby([str(place) for place in range(len(by))], sort=True)["unit"]
    return {key(*prefix, *names): part.tolist() for names, part in parts}


def names_of(study: Study, codes: np.ndarray) -> np.ndarray:
    """The label of each code, empty for one that is none on the scale."""
    import numpy as np

    names = np.array([*study.labels, ""], dtype=object)
    return names[np.where(codes >= 0, codes, len(study.labels))]


def places_of(study: Study) -> tuple[np.ndarray, np.ndarray]:
    """Setting and model of each piece."""
    return study.units["setting"].to_numpy(), study.units["model"].to_numpy()


def of_people(study: Study, people: np.ndarray, by_rule: dict[str, np.ndarray], labelled: pd.Series) -> Behind:
    """Pieces by people's label, and by their answer's label by each rule (a code per response); those of answers that
    only the soft rule counts, those that nobody has labelled (`labelled` are units), and answers without pieces."""
    units, where = study.units, places_of(study)
    place = units["place"].to_numpy()
    found = {PIECES: units["unit"].tolist()}
    found |= split(units, people >= 0, ("people",), names_of(study, people), *where)
    for rule, code in by_rule.items():
        found |= split(units, code[place] >= 0, (rule,), names_of(study, code[place]), *where)
    has_label = study.counts(people).sum(axis=1) > 0
    found |= split(units, (has_label & ~study.complete(people))[place], ("partly",), *where)
    found["unlabelled"] = units["unit"][~units["unit"].isin(labelled)].tolist()
    return found | _abstained(study)


def _abstained(study: Study) -> Behind:
    responses = study.responses[study.responses["n_units"] == 0]
    if study.abstained_unknown or not len(responses):
        return {}
    responses = responses.assign(unit=study.source.anchors(responses["number"].tolist()))
    parts = responses.groupby(["setting", "model"], sort=True)["unit"]
    return {key("abstained", *names): part.tolist() for names, part in parts}


def of_checker(
    study: Study, run: Run, people: np.ndarray, checker: np.ndarray, without: frozenset[str], clean: pd.Series
) -> Behind:
    """Pieces by the labels of both sides, and by the worst labels of their answers where both label these in full;
    answers of models left out stand aside. And pieces without any label that the checker had not touched; `clean` are
    units that have one."""
    units, (setting, model) = study.units, places_of(study)
    prefix, sides = ("checker", run.uuid), (people, study.beside(people, checker))
    said, found = (study.worst_labels(codes)[units["place"].to_numpy()] for codes in sides)
    is_whole, is_aside = (said >= 0) & (found >= 0), units["model"].isin(without).to_numpy()
    behind = split(units, people >= 0, (*prefix, "cell"), names_of(study, people), names_of(study, checker), setting)
    for name, where in (("answers", is_whole & ~is_aside), ("aside", is_whole & is_aside)):
        behind |= split(units, where, (*prefix, name), names_of(study, said), names_of(study, found), setting, model)
    return behind | {key(*prefix, "touched"): units["unit"][~units["unit"].isin(clean)].tolist()}


def of_other_pieces(study: Study, name: str, by_people: dict[str, int], by_checker: dict[str, int]) -> Behind:
    """Pieces by the worst labels of their answers, one of which is by pieces of another project; responses by key."""
    import numpy as np

    responses, place = study.responses["response"], study.units["place"].to_numpy()
    sides = [np.array([side.get(one, NONE) for one in responses], dtype=int)[place] for side in (by_people, by_checker)]
    names = (names_of(study, side) for side in sides)
    return split(study.units, (sides[0] >= 0) & (sides[1] >= 0), ("other", name), *names, places_of(study)[0])


def of_memory(study: Study, run: Run, asked: np.ndarray, knows: np.ndarray, people: np.ndarray) -> Behind:
    """Pieces by whether a model knows them to be so (names), and by people's label; `asked` are those that count."""
    return split(study.units, asked, ("memory", run.uuid), knows, names_of(study, people), *places_of(study))


def of_masked(study: Study, run: Run, codes: np.ndarray, is_unmasked: np.ndarray) -> Behind:
    """Pieces by the label that they get where the reference does not tell, and those of which nothing was masked."""
    where = places_of(study)
    found = split(study.units, ~is_unmasked, ("masked", run.uuid), names_of(study, codes), *where)
    return found | split(study.units, is_unmasked, ("unmasked", run.uuid), *where)

"""Hallucinations in models' answers, piece by piece (RefChecker): how often, by whom, and which checkers see them.

Pieces are claim-triplets, sub-sentences or atomic claims, judged against reference passages. Answers come in settings
(without context, with retrieved passages, with one clean reference), models in all of them.
"""

from __future__ import annotations

from analysis.reports.figures import is_quick
from analysis.reports.numbers import either, n_of
from analysis.reports.opened import Behind
from analysis.reports.refchecker_behind import of_checker, of_other_pieces, of_people
from analysis.reports.refchecker_checkers import answers, granularity, pieces, strict_by_response
from analysis.reports.refchecker_data import NONE, OFF_SCALE, Study, distinct_runs, judged_dimension, study_of
from analysis.reports.refchecker_models import RULES, TIES, adjusted, labels_by_rule, rankings, rates
from analysis.reports.refchecker_opened import in_words, opened
from analysis.reports.refchecker_tables import body, methods
from analysis.reports.refchecker_texts import copying, knowledge, masked
from analysis.reports.reference import REFERENCES, decisions_left_out
from analysis.sources import Source
from analysis.sources.touched import latest, untouched
from annotation.task_types import TaskType

__all__ = ["HAS_QUICK_PASS", "TIES", "body", "compute", "fits", "in_words", "methods", "opened", "projects_beside"]

HAS_QUICK_PASS = True


def fits(kind: TaskType) -> str:
    if judged_dimension(kind) is None:
        return f"It needs judgements of pieces of models' answers; {kind.title!r} judges something else"
    return ""


def projects_beside(source: Source) -> dict[str, str]:
    """What can stand beside: other projects on the data set whose pieces are of answers too."""
    slugs = source.siblings()
    return {"": "None"} | {slug: title for slug, title in slugs.items() if not fits(source.sibling(slug).type)}


def compute(
    source: Source,
    reference: str = "majority",
    touched: bool = False,
    without: str = "",
    major_ties: str = "worst",
    other_pieces: str = "",
) -> dict:
    """The RefChecker report.

    `reference` is a key of REFERENCES; with `touched`, labels given after a checker's suggestion was seen count against
    it too; `without` names models, with commas between them, to be left out of the figures over answers; `major_ties`
    is a key of TIES; `other_pieces` is the slug of a project on the same answers cut into other pieces. Wrong values
    raise ValueError.
    """
    if major_ties not in TIES:
        raise ValueError(f"major_ties is one of {', '.join(TIES)}, not {major_ties!r}")
    study = study_of(source)
    left_out = _models_named(study, without)
    labels = source.label_frame(study.units, every_revision=True)
    everything = latest(labels)
    people = study.people(everything, reference)
    by_rule = labels_by_rule(study, people, major_ties)
    behind = of_people(study, people, by_rule, everything["unit"])
    checkers, strict = [], {}
    for run, title in distinct_runs(source):
        clean = untouched(source, labels, run)
        counted = people if touched else study.people(clean, reference, [run])
        said = study.checker(run)
        checkers.append(
            {
                "run": run.uuid,
                "title": title,
                "n_labels_all": len(everything),
                "n_labels_untouched": len(clean),
                "decisions_left_out": decisions_left_out(source, reference, study.units, () if touched else [run]),
                "pieces": pieces(study, counted, said),
                "answers": answers(study, counted, said, left_out),
                "rankings": rankings(study, counted, said),
            }
        )
        behind |= of_checker(study, run, counted, said, left_out, clean["unit"])
        sides = strict_by_response(study, counted), strict_by_response(study, study.beside(counted, said))
        strict[title] = run.uuid, *sides
    beside, of_beside = _granularity(study, strict, other_pieces, strict_by_response(study, people))
    copied, of_copied = (None, {}) if is_quick() else copying(study, people)
    known, of_known = knowledge(study, people, source.runs())
    from_memory, of_masks = masked(study, source.runs())
    adjusted([of for one in checkers for found in one["rankings"]["settings"] for of in found["labels"]])
    result = {
        "report": "refchecker",
        "project": source.slug,
        "task_type": source.task_type,
        "reference": reference,
        "reference_title": REFERENCES[reference],
        "touched": touched,
        "without": sorted(left_out),
        "major_ties": major_ties,
        "other_pieces": other_pieces,
        "unit_words": study.kind.units_title.lower(),
        "labels": [{"label": name, "title": title} for name, title in zip(study.labels, study.titles, strict=True)],
        "rules": RULES,
        "n_responses": len(study.responses),
        "n_units": len(study.units),
        "abstained_unknown": study.abstained_unknown,
        "n_decided": int((people != NONE).sum()),
        "n_bad": int((people == OFF_SCALE).sum()),
        "rates": rates(study, people, by_rule),
        "checkers": checkers,
        "granularity": beside,
        "copying": copied,
        "knowledge": known,
        "masked": from_memory,
        "behind": behind | of_beside | of_copied | of_known | of_masks,
    }
    return result | {"notes": _notes(result, study)}


def _models_named(study: Study, without: str) -> frozenset[str]:
    named = frozenset(name.strip() for name in without.split(",") if name.strip())
    if unknown := sorted(named - set(study.models)):
        known = ", ".join(study.models) or "none"
        raise ValueError(f"there is no model {', '.join(unknown)} to leave out; there are {known}")
    if named and named == frozenset(study.models):
        raise ValueError("all models are left out; leave at least one")
    return named


def _granularity(
    study: Study, strict: dict[str, tuple[str, dict, dict]], other_pieces: str, people: dict[str, int]
) -> tuple[list[dict], Behind]:
    """Strict labels by every run (UUID) of this project and, where one is named, of the other one, whose checkers have
    touched no label here; and the pieces behind the latter. `figures` are keys, but for the setting, of all
    answers and of those labelled otherwise."""
    here = study.kind.units_title
    found = [
        {
            "pieces": here,
            "checker": title,
            "figures": [f"checker/{run}/ranked", f"checker/{run}/ranked-otherwise"],
            **granularity(study, by_people, by_checker),
        }
        for title, (run, by_people, by_checker) in strict.items()
    ]
    behind: Behind = {}
    if not other_pieces:
        return found, behind
    other = study_of(study.source.sibling(other_pieces))
    if other.labels != study.labels:
        raise ValueError(f"{other_pieces} has other labels ({', '.join(other.labels)}) than {', '.join(study.labels)}")
    for place, (run, title) in enumerate(distinct_runs(other.source)):
        by_checker = strict_by_response(other, other.checker(run))
        found.append(
            {
                "pieces": other.kind.units_title,
                "checker": title,
                "figures": [f"beside/{place}/both", f"beside/{place}/differ"],
                **granularity(study, people, by_checker),
            }
        )
        behind |= of_other_pieces(study, str(place), people, by_checker)
    return found, behind


def _notes(result: dict, study: Study) -> list[str]:
    notes = []
    pending = sum(rule["n_not_counted"] for one in result["rates"] for rule in one["rules"] if rule["rule"] == "soft")
    if pending:
        notes.append(
            f"{n_of(pending, 'answers')} {either(pending, 'has', 'have')} no label that counts yet, "
            f"and {either(pending, 'enters', 'enter')} no rate."
        )
    if result["abstained_unknown"]:
        notes.append(f"Answers that abstained are not looked at: {result['abstained_unknown']}.")
    if result["n_bad"]:
        words = result["unit_words"]
        notes.append(f"Left out of every figure: {n_of(result['n_bad'], words)} judged to be bad.")
    if not result["checkers"]:
        notes.append("No checker has run yet. Start one on the project's page to compare it with people.")
    for one in result["checkers"]:
        touched = one["n_labels_all"] - one["n_labels_untouched"]
        if touched and not result["touched"]:
            notes.append(
                f"{one['title']}: {one['n_labels_untouched']:,} of {n_of(one['n_labels_all'], 'labels')} count; it "
                "touched the others."
            )
        if one["decisions_left_out"]:
            notes.append(one["decisions_left_out"]["words"])
    if not is_quick() and result["copying"] is None:
        notes.append("No copy rate: the data set has no passages. Import the context of the questions to see it.")
    if not result["knowledge"]:
        notes.append(
            "Nothing is known of the models' own knowledge. Start the checker model-knowledge, with the endpoint that "
            "serves the model whose answers these are."
        )
    if not result["masked"]:
        notes.append(
            "No run read masked references. Start the checker masked-reference or masked-reference-server to see what "
            "a checker answers from memory."
        )
    if len(study.settings) > 1:
        notes.append("A mean over settings gives each of them the same weight.")
    return notes

"""The page of the comparison: a checker against people."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from analysis.figures.items import Filter
from analysis.figures.page import Counts, Page, Part, Section, Text
from analysis.reports.checkers.comparison import correlation_tables, filters, pictures, scale_tables, tables
from analysis.reports.checkers.comparison.answer import answer
from analysis.reports.checkers.comparison.methods import counts_places, methods
from analysis.reports.checkers.comparison.result import ComparedDimension, Comparison
from analysis.reports.common import (
    ALL_STATISTICS,
    ANY_RUN,
    DAWID_SKENE,
    FINAL,
    NUMERIC,
    RATINGS,
    TOUCHED,
    WITH_MODEL,
    references_here,
)
from analysis.reports.labels.derived import DERIVED_NOTE
from analysis.reports.options import CHECKER, LABELS, STATISTICS, Option
from analysis.reports.report import Report
from analysis.reports.words.sentences import checker_name, checker_title, taken_together
from analysis.sources.outline import Outline, Run
from analysis.sources.wrong import WrongChoice

MARGIN = 0.05
Titled = tuple[str, list[Part | None]]
RELIABILITY = "On the dotted line the checker is perfectly calibrated; below it, it is overconfident."


def page(result: Comparison) -> Page:
    def shown(sections: Callable[[Comparison, ComparedDimension], list[Titled]]) -> list[Section]:
        return [
            Section(f"{dimension.title}: {title}", parts)
            for dimension in result.dimensions
            for title, parts in sections(result, dimension)
        ]

    questions = Section(tables.QUESTIONS, [tables.questions(result)])
    more = shown(_more) if result.all else []
    return Page(answer(result), [questions, *shown(_sections)], _notes(result), more)


def _notes(result: Comparison) -> list[str]:
    notes = [result.decisions_left_out.words] if result.decisions_left_out else []
    if result.reference in ("majority", FINAL) and not result.touched:
        notes.append("Only labels given before a suggestion of the checker was seen count.")
    if result.reference == "majority" and not any(one.n_labels_all for one in result.dimensions):
        notes.append("No rater's labels are here; choose decisions as the reference where there are any.")
    if result.unanswered:
        notes.append(f"Nobody answered: {', '.join(result.unanswered)}. The checker's answers to it exclude no units.")
    if not result.gives_labels:
        notes.append(f"{checker_title(result.checker)} gives scores but no labels, so only correlations are reported.")
    if result.pooled:
        notes.append(f"{taken_together(result.pooled)} Choose one of them as “Annotator”.")
    if result.without_labels:
        notes.append(
            f"Left out: {', '.join(result.without_labels)}. Dawid-Skene is a model of labels, and numbers are none; "
            "take the majority as the reference, which is the mean of the raters for numbers."
        )
    if result.reference == DAWID_SKENE and any(one.correlations and one.level in NUMERIC for one in result.dimensions):
        notes.append(
            "Dawid-Skene takes ratings as labels without an order: the score goes with the value of the most probable "
            "one. Take the majority as the reference for the mean or the median of the raters."
        )
    return notes


def _sections(result: Comparison, dimension: ComparedDimension) -> list[Titled]:
    sections: list[Titled] = [
        ("on the scale", scale_tables.on_scale(result, dimension)),
        ("agreement with people", _against_people(result, dimension)),
        ("soft labels", scale_tables.soft_labels(result, dimension)),
        ("correlations with a score", correlation_tables.associations(result, dimension)),
        ("two scores", correlation_tables.scores(result, dimension)),
    ]
    if dimension.versus:
        sections.append(
            (f"compared with {checker_name(result.other)}", tables.versus(result, dimension, dimension.versus))
        )
    everybody = [pictures.draw_labellers(result, dimension), *tables.labellers(result, dimension)]
    return [*sections, ("every checker and every person", everybody)]


def _more(result: Comparison, dimension: ComparedDimension) -> list[Titled]:
    sections: list[Titled] = []
    if dimension.rivals:
        sections.append(("compared with every other checker", tables.rivals(result, dimension)))
    pairs = [pictures.draw_agreement(result, dimension), tables.against_people(dimension)]
    sections.append(("every checker against every person", pairs))
    if dimension.probabilities:
        reliability, *curves = pictures.draw_probabilities(result, dimension, dimension.probabilities) or [None]
        listed = tables.probabilities(result, dimension, dimension.probabilities)
        sections.append(("probabilities", [reliability, Text(RELIABILITY), *curves, *listed]))
    return sections


def _against_people(result: Comparison, dimension: ComparedDimension) -> list[Part | None]:
    parts: list[Part | None] = [Text(DERIVED_NOTE) if dimension.derived_from else None, _counts(result, dimension)]
    parts.append(tables.measures(result, dimension))
    if result.gives_labels:
        parts += [pictures.draw_confusion(result, dimension), tables.per_label(dimension), tables.confusion(dimension)]
    return parts


def _counts(result: Comparison, dimension: ComparedDimension) -> Counts:
    slug, votes = dimension.dimension, dimension.votes
    rows = [
        ("labels untouched by the checker", dimension.n_labels_untouched, None),
        ("labels in all", dimension.n_labels_all, None),
    ]
    if not counts_places(result, dimension):
        return Counts(rows)
    rows += [
        ("units with a reference label", votes.decided, filters.of_people(slug, "label")),
        ("ties, excluded", votes.tied, filters.of_people(slug, "tied")),
        ("decided by one label", votes.single, Filter({f"{slug}.single": "yes"})),
    ]
    if dimension.with_unasked:
        rows.append(("not asked, according to people", votes.not_asked, filters.of_people(slug, "not-asked")))
        if result.gives_labels:
            not_asked = Filter({f"{slug}.checker.has": "not-asked"})
            rows.append(("not asked, according to the checker", dimension.n_checker_not_asked, not_asked))
    rows.append(("units without a reference label", votes.unlabelled, filters.of_people(slug, "none")))
    return Counts(rows)


# ---- options ----


def references_with_model(source: Outline) -> dict[str, str]:
    """Final labels come first where there are decisions as well as labels. A model of the people can be learned where
    a person who labelled has a name."""
    here = list(references_here(source))
    if source.has_people():
        here.insert(1, DAWID_SKENE)
    if here[0] == "majority" and source.decision_methods():
        here.insert(0, FINAL)
    return {name: WITH_MODEL[name] for name in here}


def ratings_here(source: Outline) -> dict[str, str]:
    """Nothing to choose where no question's labels have an order."""
    has_order = any(dimension.level != "nominal" for dimension in source.type.dimensions)
    return RATINGS if has_order else {"": RATINGS[""]}


def has_one_checker(source: Outline) -> bool:
    return len({run.checker for run in source.labelling_runs()}) < 2


def has_no_score(source: Outline) -> bool:
    return not any(run.scores for run in source.runs())


def offers(source: Outline, values: dict) -> dict[str, dict[str, str]]:
    """What can be chosen of options that hang on the run: its scores, and runs and scores to compare with."""
    run = source.run(values["run"])
    other = source.run(values["other"]) if values["other"] not in ("", run.uuid) else None
    score = values["score"] or next(iter(run.scores), "")
    theirs = [name for name in (other or run).scores if other or name != score] if run.scores else []
    titles = OTHER_RUN.offered(source)
    return {
        "score": {name: name for name in run.scores} if len(run.scores) > 1 else {},
        "other": {one.uuid: titles[one.uuid] for one in source.runs() if one != run and _share_something(run, one)},
        "other_score": {"": "of the same name" if other else "no other score"} | {name: name for name in theirs}
        if theirs
        else {},
    }


def _share_something(run: Run, other: Run) -> bool:
    return "scores" not in (run.gives, other.gives) or bool(run.scores and other.scores)


def resolve_options(source: Outline, values: dict) -> dict:
    """Without what stands at its own other side: choosing a run, or a score, that was the other one leaves no other. A
    score that the run does not have raises WrongChoice."""
    run = source.run(values["run"])
    values = values | {"other": "" if values["other"] == run.uuid else values["other"]}
    offered = offers(source, values)
    if values["score"] and values["score"] not in run.scores:
        raise _wrong("score", values, run.scores)
    if not values["other"] and values["other_score"] == (values["score"] or next(iter(run.scores), "")):
        values["other_score"] = ""
    if values["other_score"] and values["other_score"] not in offered["other_score"]:
        raise _wrong("other_score", values, [*filter(None, offered["other_score"])])
    return values


def _wrong(name: str, values: dict, there: Sequence[str]) -> WrongChoice:
    what = f"one of {', '.join(there)}" if there else "to be left empty, since there is nothing to choose"
    return WrongChoice(f"{name} is {what}, not {values[name]!r}", name)


OTHER_RUN = Option(
    "other", "Compare with", kind="run", default="", help="another run", unchosen="no other run", group=CHECKER
)
OPTIONS = (
    ANY_RUN,
    Option(
        "reference",
        "Reference",
        choices=references_with_model,
        known=WITH_MODEL,
        help="labels to compare with: final, majority, dawid-skene, ...",
        group=LABELS,
    ),
    TOUCHED,
    Option("score", "Score", kind="text", default="", group=CHECKER),
    Option(
        "ratings",
        "Summary of people's labels",
        choices=ratings_here,
        default="",
        help="which summary of people's labels a score is correlated with",
        hides=has_no_score,
        group=LABELS,
    ),
    OTHER_RUN,
    Option(
        "other_score",
        "Compare the score with",
        kind="text",
        default="",
        help="a score to compare --score with",
        group=CHECKER,
    ),
    Option(
        "margin",
        "Smallest difference of interest",
        kind="number",
        default=MARGIN,
        low=0.001,
        high=1,
        help="for tests of equivalence",
        group=STATISTICS,
    ),
    Option(
        "own_units",
        "Each checker on all units that it labels",
        kind="flag",
        default=False,
        help="each checker on all units that it labels, not on those that all of them do",
        hides=has_one_checker,
        group=STATISTICS,
    ),
    ALL_STATISTICS,
)
REPORT = Report(
    "comparison",
    "A checker against people",
    "analysis.reports.checkers.comparison.compute",
    OPTIONS,
    "Whether a checker's labels, probabilities and scores agree with people's. Unless you choose otherwise, only "
    "labels given before a suggestion of the checker was seen count.",
    own_page="project_comparison",
    tab="project_comparison",
    kind=Comparison,
    declares=page,
    paragraph=methods,
    quick=True,
    takes_numbers=True,
    resolve_options=resolve_options,
    offers=offers,
    more="Every other checker on the same units, each checker against each person and the Dawid-Skene model, "
    "probabilities with their curves and thresholds, and correlations within sources and models.",
)

"""Pictures of the comparison: confusion, curves, reliability, and all pairs of labellers."""

from __future__ import annotations

from analysis.figures.items import Filter
from analysis.figures.pictures import Axis, IntervalRow, Intervals, Lines, Matrix, Picture, Series, picture_name
from analysis.figures.results import Figure
from analysis.reports.checkers.comparison import filters
from analysis.reports.checkers.comparison.result import (
    ComparedDimension,
    Comparison,
    Labeller,
    LabelProbabilities,
    Probabilities,
    is_of_people,
    others_of,
)
from analysis.reports.labels.raters import public_name
from analysis.reports.words.numbers import either, n_of
from analysis.reports.words.sentences import checker_name, checker_title


def _against(result: Comparison) -> str:
    untouched = not result.touched and is_of_people(result)
    labels = ", untouched labels" if untouched else ""
    return f"{checker_name(result)} against people ({result.reference_title.lower()}{labels})"


def draw_confusion(result: Comparison, dimension: ComparedDimension) -> Matrix | None:
    accuracy = dimension.accuracy
    if not result.gives_labels or not accuracy.n_pairable:
        return None
    counts, labels = dimension.confusion, dimension.labels
    right, n = sum(row[place] for place, row in enumerate(counts)), sum(map(sum, counts))
    return Matrix.of_counts(
        counts,
        [label.title for label in labels],
        lambda people, checker: filters.of_cell(dimension.dimension, labels[people].label, labels[checker].label),
        name=picture_name("confusion", dimension.dimension),
        title=f"{dimension.title}: confusion of people and {checker_title(result.checker)}",
        caption=(
            f"{result.project}: {_against(result)}, n = {n_of(accuracy.n_pairable, 'units')}. Colours and "
            "percentages are shares of the row."
        ),
        alt=f"{right:,} of {n_of(n, 'units')} {either(right, 'has', 'have')} the same label from people and the "
        "checker.",
        rows_title="people",
        columns_title=checker_name(result),
    )


def draw_probabilities(result: Comparison, dimension: ComparedDimension, probabilities: Probabilities) -> list[Picture]:
    n = probabilities.brier.n_pairable
    about = f"{result.project}: {_against(result)}, n = {n_of(n, 'units')} with probabilities."
    pictures: list[Picture] = []
    if any(row.n for row in probabilities.bins):
        pictures.append(_reliability(dimension, probabilities, about))
    if curves := [row for row in probabilities.labels if row.curve.recall]:
        pictures += [_roc(dimension, curves, about), _precision_recall(dimension, curves, about)]
    return pictures


def _reliability(dimension: ComparedDimension, probabilities: Probabilities, about: str) -> Lines:
    bins = [row for row in probabilities.bins if row.n]
    right = [row.accuracy for row in bins]
    # A band says something of every point; where one has no interval the table says which others have.
    has_band = all(one.low is not None for one in right)
    return Lines(
        name=picture_name("reliability", dimension.dimension),
        title=f"{dimension.title}: reliability of probabilities",
        caption=(
            f"{about} Units are in {len(probabilities.bins)} equal bins by the probability of their most probable "
            f"label; expected calibration error {written(probabilities.ece)}."
            f"{' The band joins 95 % intervals of the share right in each bin.' if has_band else ''}"
        ),
        alt="; ".join(
            f"mean probability {row.confidence:.2f}: {written(row.accuracy)} right of {row.n}" for row in bins
        )
        + ".",
        series=(
            Series(
                "bins",
                tuple((row.confidence, row.accuracy.estimate) for row in bins),
                low=tuple(one.low for one in right) if has_band else (),
                high=tuple(one.high for one in right) if has_band else (),
                dots=True,
                figures=tuple(
                    Filter({f"{dimension.dimension}.bin": str(place)}).encoded
                    for place, row in enumerate(probabilities.bins)
                    if row.n
                ),
            ),
        ),
        x=Axis("Mean probability of the most probable label", 0, 1),
        y=Axis("Share correct", 0, 1),
        diagonal="perfectly calibrated",
        square=True,
    )


def _roc(dimension: ComparedDimension, rows: list[LabelProbabilities], about: str) -> Lines:
    areas = "; ".join(f"{row.title} {written(row.roc_auc)}" for row in rows)
    return _curves(
        dimension,
        {row.title: ((0.0, 0.0), *zip(row.curve.false_positive_rate, row.curve.recall, strict=True)) for row in rows},
        name="roc",
        title="ROC curves",
        caption=f"{about} Areas with 95 % intervals: {areas}.",
        alt=f"Areas under the curves: {areas}.",
        axes=("False positive rate", "True positive rate"),
        diagonal="chance",
    )


def _precision_recall(dimension: ComparedDimension, rows: list[LabelProbabilities], about: str) -> Lines:
    precision = "; ".join(f"{row.title} {written(row.average_precision)}" for row in rows)
    return _curves(
        dimension,
        {row.title: tuple(zip(row.curve.recall, row.curve.precision, strict=True)) for row in rows},
        name="precision-recall",
        title="precision and recall",
        caption=f"{about} Average precision with 95 % intervals: {precision}.",
        alt=f"Average precision: {precision}.",
        axes=("Recall", "Precision"),
    )


def _curves(
    dimension: ComparedDimension,
    points: dict[str, tuple],
    *,
    name: str,
    title: str,
    caption: str,
    alt: str,
    axes: tuple[str, str],
    diagonal: str = "",
) -> Lines:
    """A curve per label, in a square from 0 to 1 both ways."""
    return Lines(
        name=picture_name(name, dimension.dimension),
        title=f"{dimension.title}: {title}, each label against the rest",
        caption=caption,
        alt=alt,
        series=tuple(Series(label, curve) for label, curve in points.items()),
        series_title="Label",
        x=Axis(axes[0], 0, 1),
        y=Axis(axes[1], 0, 1),
        diagonal=diagonal,
        square=True,
    )


def written(figure: Figure) -> str:
    """An estimate with its interval in a sentence, or why there is none."""
    return figure.written() if figure.is_defined else f"undefined ({figure.undefined})"


def draw_labellers(result: Comparison, dimension: ComparedDimension) -> Intervals | None:
    """The accuracy of every checker and every person; None where nobody's is known."""
    labellers = dimension.labellers
    if labellers is None or not any(row.accuracy.n_pairable for row in labellers.labellers):
        return None
    rows, slug = labellers.labellers, dimension.dimension
    method = rows[0].accuracy.interval.method or "no interval"
    others = f"; a person against {others_of(result)}, which is another reference" if is_of_people(result) else ""
    return Intervals(
        name=picture_name("labellers", slug),
        title=f"{dimension.title}: accuracy of every checker and every person",
        caption=(
            f"{result.project}: against {result.reference_title.lower()}{others}. "
            f"n of each labeller: {_sizes([row.accuracy for row in rows])}. "
            f"Lines are 95 % intervals: {method}."
        ),
        alt="; ".join(f"{public_name(row)}: {written(row.accuracy)}" for row in rows) + ".",
        items=tuple(
            IntervalRow.of_figure(
                _unlike(row, rows),
                row.accuracy,
                filters.against_reference(slug, row.id) if row.accuracy.n_pairable else None,
                series=row.kind if labellers.people else "",
            )
            for row in rows
        ),
        values=Axis("Accuracy", 0, 1),
        rows_title="Labeller",
        series_title="Kind",
    )


def draw_agreement(result: Comparison, dimension: ComparedDimension) -> Matrix | None:
    labellers = dimension.labellers
    if not (labellers and labellers.people and labellers.against_people) or not draw_labellers(result, dimension):
        return None
    checkers, people = labellers.of_kind("checker"), labellers.of_kind("person")
    rows = list(zip(checkers, labellers.against_people, strict=True))
    sizes = "; ".join(f"{checker.name} {_sizes(cells)}" for checker, cells in rows)
    return Matrix(
        name=picture_name("checkers-people", dimension.dimension),
        title=f"{dimension.title}: share of equal labels, every checker and every person",
        caption=(
            f"{result.project}: share of the units labelled by both on which a checker gives the person's "
            f"label{'' if result.touched else '; labels untouched by all checkers shown'}. n of each cell: {sizes}."
        ),
        alt="A row per checker, a column per person; the numbers stand in the table.",
        rows=tuple(checker.name for checker in checkers),
        columns=tuple(public_name(person) for person in people),
        values=tuple(tuple(cell.estimate for cell in cells) for _, cells in rows),
        rows_title="Checker",
        columns_title="Person",
        value_title="share of equal labels",
        figures=tuple(
            tuple(
                filters.by_two(dimension, checker.id, person.id).encoded if cell.n_pairable else ""
                for person, cell in zip(people, cells, strict=True)
            )
            for checker, cells in rows
        ),
        low=0,
        high=1,
    )


def _sizes(figures: list[Figure]) -> str:
    return ", ".join(f"{one.n_pairable:,}" for one in figures)


def _unlike(row: Labeller, rows: list[Labeller]) -> str:
    """A labeller's name; where a person's pseudonym is a checker's name, with what they are."""
    name = public_name(row)
    return name if sum(public_name(one) == name for one in rows) == 1 else f"{name} ({row.kind})"

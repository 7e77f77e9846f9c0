"""Projects whose labels a test writes down itself: `say` stores what one rater says about one item."""

import itertools
from contextlib import contextmanager
from unittest.mock import patch

from django.db.models import F

from analysis.reports.metrics import get_report
from analysis.reports.report import Report
from annotation.models import Annotation, Item, Judgement, Project, Rater, Revision, Score, Span
from tests.factories import make_claim_evidence, make_dataset, make_project, make_responses_with_triplets, make_user
from tests.world.remembered import remembered

_number = itertools.count(1)


@remembered
def project_of(n: int, identifier: str = "claim-evidence/six-way/1", *, claims: int | None = None, **fields) -> Project:
    dataset = make_dataset()
    if identifier.startswith("triplets"):
        make_responses_with_triplets(dataset, n, triplets=fields.pop("triplets", 3))
    else:
        make_claim_evidence(dataset, n, claims=claims)
    return make_project(dataset, identifier, order="file", **fields)


def items_of(project: Project) -> list[Item]:
    return list(project.items.order_by("position"))


def make_rater(project: Project, name: str = "", kind: str = "member") -> Rater:
    name = name or f"Rater {next(_number)}"
    user = make_user(f"rater{next(_number)}") if kind == "member" else None
    return Rater.objects.create(project=project, user=user, kind=kind, name=name)


def say(
    item: Item,
    rater: Rater,
    relevance: str | None = None,
    stance: str | None = None,
    *,
    labels: dict[int, str] | None = None,
    shown: bool | None = False,
    surplus: bool = False,
    spans: tuple = (),
    **fields,
) -> Revision:
    """The next revision by this rater. `labels` are those of triplets, by index; spans go to the stance."""
    annotation, _ = Annotation.objects.get_or_create(item=item, rater=rater, defaults={"is_surplus": surplus})
    annotation.revisions.update(is_latest=False)
    revision = Revision.objects.create(
        annotation=annotation, number=annotation.revisions.count() + 1, suggestion_shown=shown, **fields
    )
    units = list(item.item_units.order_by("index"))
    said = [(units[index].unit_id, "entailment", label) for index, label in (labels or {}).items()]
    said += [(item.anchor_id, "relevance", relevance)] if relevance else []
    said += [(item.anchor_id, "stance", stance)] if stance else []
    for unit, dimension, label in said:
        judgement = Judgement.objects.create(revision=revision, unit_id=unit, dimension=dimension, label=label)
        if dimension == "stance":
            for field, start, end, quote in spans:
                Span.objects.create(judgement=judgement, field=field, start=start, end=end, quote=quote)
    Rater.objects.filter(pk=rater.pk).update(label_version=F("label_version") + 1)
    return revision


def make_scores(run, name: str, values: dict[int, float | None]) -> None:
    Score.objects.bulk_create(Score(run=run, unit_id=unit, name=name, value=value) for unit, value in values.items())


def in_order_of_keys(items: list[Item]) -> list[int]:
    """Units of the items as every figure lists those behind it."""
    return [item.anchor_id for item in sorted(items, key=lambda item: item.key)]


def units_behind(result: dict, figure: str) -> list[int] | None:
    """Units behind a figure of a computed report; None where there is no such figure."""
    return get_report(result["report"]).units_behind(result["behind"], figure)


def of_dimension(report: dict, slug: str) -> dict:
    return next(dimension for dimension in report["dimensions"] if dimension["dimension"] == slug)


def of_name(figures: list[dict], name: str) -> dict:
    return next(figure for figure in figures if figure["name"] == name)


@contextmanager
def quickly():
    """Reports computed inside give their first figures, as pages get them."""
    whole = Report.compute
    with patch.object(Report, "compute", lambda self, source, **options: whole(self, source, quick=True, **options)):
        yield

"""Projects whose labels a test writes down itself: `say` stores what one rater says about one item."""

import itertools
from collections.abc import Collection
from contextlib import contextmanager
from unittest.mock import patch

from django.db.models import F

from analysis.reports.metrics import REPORTS, get_report
from analysis.reports.report import Report
from annotation.models import Annotation, Item, Judgement, Project, Rater, Revision, Score, Span
from annotation.task_types import task_type
from tests.factories import make_claim_evidence, make_dataset, make_project, make_responses_with_triplets, make_user
from tests.kinds import EVERY_TIME
from tests.world.remembered import remembered

STUDIES = "analysis.reports.planning.planning.compute.STUDIES"  # half of the time of a plan
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
    annotation, before = Annotation.objects.filter(item=item, rater=rater).first(), 0
    if annotation is None:
        annotation = Annotation.objects.create(item=item, rater=rater, is_surplus=surplus)
    else:
        before = annotation.revisions.update(is_latest=False)
    revision = Revision.objects.create(annotation=annotation, number=before + 1, suggestion_shown=shown, **fields)
    units = list(item.item_units.order_by("index")) if labels else []
    said = [(units[index].unit_id, "entailment", label) for index, label in (labels or {}).items()]
    said += [(item.anchor_id, "relevance", relevance)] if relevance else []
    said += [(item.anchor_id, "stance", stance)] if stance else []
    judgements = Judgement.objects.bulk_create(
        Judgement(revision=revision, unit_id=unit, dimension=dimension, label=label) for unit, dimension, label in said
    )
    for field, start, end, quote in spans if stance else ():
        Span.objects.create(judgement=judgements[-1], field=field, start=start, end=end, quote=quote)
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
def quickly(but: Collection[str] = ()):
    """Reports computed inside, `but` these, give their first figures, as pages get them; plans try few studies."""
    whole = Report.compute

    def compute(self, source, **options):
        return whole(self, source, quick=self.name not in but, **options)

    with patch.object(Report, "compute", compute), patch(STUDIES, 50):
        yield


def quickly_but_at_first_kind(identifier: str):
    """Where a test computes every report of every kind: each is computed whole for the first kind that it fits, and for
    the other kinds its first figures."""
    first = task_type(EVERY_TIME[0])
    return quickly([one.name for one in REPORTS.values() if identifier == EVERY_TIME[0] or one.fits(first)])
